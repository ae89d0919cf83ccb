/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/plan/: one plan while a record is folded into it.
 *
 * A caller that loads a plan changes its state and its blocks in memory, and stores them once, at
 * the end. plan.h has the documents. A block is a cell of sys.plan_block: for WFS_PLAN_BLOCK steps,
 * what each waits for. Steps are counted from 0. Functions that return int return 0, or -errno with
 * @error filled. A "reference taken" is taken also on failure. Whether the sender may take an
 * action was decided before, in caps/.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/fold/intent.h"

struct plan_block {
	struct wfs_document_plan_block state; /* all zeros: not loaded */
	bool changed;                         /* since it was loaded */
};

/* A plan. Plain value; plan_load() or plan_new() fills it, plan_done() releases it. */
struct plan {
	struct wfs_fold *fold;
	struct wfs_document_plan state; /* but for ready */
	json_t *owned;                  /* values that were made for the state */
	const char *plan_id;            /* state.plan_id */
	struct plan_block *blocks;      /* owned */
	size_t block_count;
	uint8_t *ready; /* bitmap of the blocks with a step that can be taken into a batch; owned */
	size_t ended_count; /* steps that this fold has ended or reopened */
	bool failed;        /* there was no memory for a member; plan_store() fails */
};
void plan_done(struct plan *plan);
#define PLAN_AUTO WFS_CLEANUP(plan_done)

/** plan_load() - load the state of a plan from its cell. @ret_plan: set on success; caller ends it
 *  with plan_done(). Return: 0, -ENOENT (not_found), … */
int plan_load(
	struct wfs_fold *fold, const char *plan_id, struct plan *ret_plan, struct wfs_error *error);

/** plan_new() - make a plan whose cell does not exist yet; plan_store() makes the cell
 *  @state: document of sys.plan; reference taken, also on failure; NULL: the caller had no memory
 *  @ret_plan: set on success; caller ends it with plan_done()
 *  Return: 0, -EEXIST (already_exists: a live plan has its plan_id), -EINVAL (its plan_id), … */
int plan_new(struct wfs_fold *fold, json_t *state, struct plan *ret_plan, struct wfs_error *error);

/** plan_store() - store the plan's state and changed blocks in their cells. */
int plan_store(struct plan *plan, struct wfs_error *error);

/** plan_own() - keep a value for plan->state until plan_done(). @value: reference taken; NULL: the
 *  caller had no memory. Return: @value; NULL without memory, and plan_store() then fails. */
json_t *plan_own(struct plan *plan, json_t *value);

/** plan_counter() - get the address, in plan->state, of the count of steps with the status
 *  @status, which must be done, failed or skipped. */
int64_t *plan_counter(struct plan *plan, const char *status);

/** plan_is() - is a text of plan->state equal to @value? */
static inline bool plan_is(const char *text, const char *value)
{
	return strcmp(text, value) == 0;
}

/** plan_open_count() - count the intents of the plan that are not answered yet. */
size_t plan_open_count(const struct plan *plan);

/** plan_is_number() - is @value, which may be NULL, an integer in [@minimum, @maximum]? */
bool plan_is_number(const json_t *value, int64_t minimum, int64_t maximum);

/** plan_ask() - open an intent of the plan
 *  @params: of the effect; reference taken; NULL: the caller had no memory
 *  @step: index of the step that it is for; -1: none
 *  @not_before_ns: the driver waits until this time, since 1970; 0: at once */
int plan_ask(struct plan *plan, enum wfs_effect effect, json_t *params, int64_t step,
	int64_t not_before_ns, struct wfs_error *error);

/** plan_answered() - delete the cell of an intent of the plan that has its answer, and remove the
 *  intent from plan->state.open. */
int plan_answered(struct plan *plan, const char *intent_id, struct wfs_error *error);

/** plan_cancel_open() - cancel all intents of the plan that are not answered yet. */
int plan_cancel_open(struct plan *plan, struct wfs_error *error);

/* --- steps and their blocks: plan-step.c --- */

/* A step that is being changed. Plain value; plan_step_load() fills it, wfs_document_done() ends
 * it. */
struct plan_step {
	struct wfs_document_plan_step state; /* at the beginning, for wfs_document_done() */
	int64_t index;
};

/** plan_edge_load() - read the document of sys.plan_edge (plan.h) of step @index. @ret_edge: zeros
 *  if the step has none; caller ends it with wfs_document_done(), also after a failure */
int plan_edge_load(struct plan *plan, int64_t index, struct wfs_document_plan_edge *ret_edge,
	struct wfs_error *error);

/** plan_step_load() - load step @index from its cell. @ret_step: caller ends it with
 *  wfs_document_done(), also after a failure. Return: 0, -EIO (internal_error: no such step), … */
int plan_step_load(
	struct plan *plan, int64_t index, struct plan_step *ret_step, struct wfs_error *error);

/** plan_step_set() - set status and reason of a step, and store the step in its cell
 *  @status: pending, ready, running, done, failed or skipped; static. @reason: NULL: the step keeps
 *  the reason that it has, if any */
int plan_step_set(struct plan *plan, struct plan_step *step, const char *status, const char *reason,
	struct wfs_error *error);

/** plan_step_define() - append a step to a plan that has fewer than `total` steps
 *  @part: {next?, refs?, result?, step, waiting}: `step` is the document of sys.plan_step; the
 *  others go into sys.plan_edge, sys.plan_result and sys.plan_block (plan.h)
 *  Return: 0, -EINVAL (another form), … */
int plan_step_define(struct plan *plan, const json_t *part, struct wfs_error *error);

/** plan_step_keep() - store the result of a step in its cell of sys.plan_result, and set
 *  step->state.result_ref; the caller then stores the step. @result: borrowed */
int plan_step_keep(
	struct plan *plan, struct plan_step *step, const json_t *result, struct wfs_error *error);

/** plan_wait_less() - make step @index wait for one dependency less, because a dependency has
 *  ended
 *  @failed: id of the dependency if it has failed or was skipped; otherwise NULL */
int plan_wait_less(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error);

/** plan_wait_more() - make step @index, also if it was taken, wait for @more dependencies more, and
 *  forget that a dependency has failed. */
int plan_wait_more(struct plan *plan, int64_t index, int64_t more, struct wfs_error *error);

/** plan_give_back() - undo plan_take() of step @index, so that the step can be taken again. */
int plan_give_back(struct plan *plan, int64_t index, struct wfs_error *error);

/** plan_take() - mark as taken the first step that waits for no dependency and was not taken
 *  before; the caller puts the step into the batch, or skips it
 *  @ret_index: of the step; -1: no step is ready, and @ret_doomed is not set
 *  @ret_doomed: id of a failed dependency, because of which the step is to be skipped; NULL: it is
 *  to be run. Borrowed until the step's block is changed */
int plan_take(
	struct plan *plan, int64_t *ret_index, const char **ret_doomed, struct wfs_error *error);

/* --- running: plan-run.c --- */

/** plan_go_on() - begin steps that may run now
 *  If no step runs or can run any more: if all steps have ended and one of them succeeded (or the
 *  plan has no steps), ask a model for the answer; otherwise set plan->state.error, and end the
 *  plan. After as many steps as one record may end or reopen, begin no more steps, and open an
 *  intent plan.advance, whose receipt has plan_go_on() called again. */
int plan_go_on(struct plan *plan, struct wfs_error *error);

/** plan_retry() - mark the failed and skipped steps to be run again; plan_go_on() then runs
 *  them. Without memory plan_store() fails. */
void plan_retry(struct plan *plan);

/** plan_stop() - cancel all open intents of the plan, and give back the steps of its batch that
 *  have not ended, so that a later plan_go_on() can run them; the caller sets the status. */
int plan_stop(struct plan *plan, struct wfs_error *error);

/** plan_stepped() - store the result of step @index, of type `tool` or `llm`, end the step, and
 *  call plan_go_on()
 *  @result: {details, error, method, name, ok, result}, of which details and error say why a step
 *  with `ok` false has failed; borrowed; the function adds `_step_id` and `asked`
 *  @retry: true: a step that has failed and was tried less than max_attempts times is tried again,
 *  later, and @result is not stored */
int plan_stepped(
	struct plan *plan, int64_t index, json_t *result, bool retry, struct wfs_error *error);

/** plan_ask_answer() - open the intent that asks a model for the plan's answer, and set the phase
 *  `answering`; all steps have ended. */
int plan_ask_answer(struct plan *plan, struct wfs_error *error);

/** plan_end() - set the phase `ended`, and the status: done (all steps are), partial (one step is,
 *  or more) or failed; the caller stores the plan. */
int plan_end(struct plan *plan, struct wfs_error *error);

/* --- answers: plan-receipt.c --- */

/** plan_spend() - charge the tokens of a model's answer to the account of @principal and, with one
 *  call, to the grant that allowed the request, if any
 *  @receipt: body of the record with the answer, good or not; without payload.usage: 0 tokens */
int plan_spend(struct wfs_fold *fold, const char *principal, const struct wfs_body_receipt *receipt,
	struct wfs_error *error);

/* --- chats: chat.c, chat-receipt.c --- */

/* A message of a chat that is being folded. */
struct chat {
	struct wfs_fold *fold;
	const char *id; /* key of the message; borrowed */
	struct wfs_document_chat_message message;
	json_t *owned;                   /* message.error */
	char open[WFS_HASH_TEXT_SIZE];   /* message.open may be this */
	char reply[WFS_CHAT_ID_MAX + 1]; /* message.reply may be this */
};
void chat_done(struct chat *chat);
#define CHAT_AUTO WFS_CLEANUP(chat_done)

/** plan_chat_load() - read chat->message, the document of sys.chat_message with the key chat->id
 *  @chat: `fold` and `id` are set; caller ends it with chat_done(), also on failure, and stores it
 *  with fold_write_chat_message()
 *  Return: 0, -ENOENT (not_found), … */
int plan_chat_load(struct chat *chat, struct wfs_error *error);

/** plan_chat_principal() - copy the id of the principal out of @chat_id, the key of a message in a
 *  chat of this principal. Return: @ret_principal. */
const char *plan_chat_principal(
	const char *chat_id, char ret_principal[static WFS_CHAT_ID_MAX + 1]);

/** plan_chat_ask() - open an intent for a question in a chat, and set chat->message.open to its id;
 *  the caller stores the message
 *  @params: of the effect, without chat_id, which is added; reference taken, also on failure; NULL:
 *  the caller had no memory */
int plan_chat_ask(
	struct chat *chat, enum wfs_effect effect, json_t *params, struct wfs_error *error);

/** plan_say() - append a message to a chat; a chat that does not exist is made, for the principal
 *  of the request
 *  @chat: key of sys.chat. @message: numbers that it lacks are -1. @ret_id: key of the message */
int plan_say(struct wfs_fold *fold, const char *chat,
	const struct wfs_document_chat_message *message, char ret_id[static WFS_CHAT_ID_MAX + 1],
	struct wfs_error *error);

/** plan_reply() - plan_say() of the text with which a model answers
 *  @text: a JSON string. @plan_id: of the plan that it is about, or NULL */
int plan_reply(struct wfs_fold *fold, const char *chat, json_t *text, const char *plan_id,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error);

/** plan_fold_chat_receipt() - fold the answer to an intent of a chat: the text of a plan, or other
 *  text, from a model; or a part of the plan's steps from the driver
 *  @intent: document of the intent's cell; @receipt: body of the receipt's record */
int plan_fold_chat_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);

/* --- actions and answers, for plan-domain.c --- */

/* The forms of the actions. */
extern const struct wfs_form plan_chat_form, plan_import_form, plan_resume_form, plan_stop_form;

/** plan_fold_chat() - do the action `chat` (plan.h): ask a model for a plan or, with `plan_id`,
 *  continue that plan. @ret_answer: {chat_id, plan_id?}; caller owns it
 *  Return: 0, -ENOENT (not_found), -ESTALE (conflict: the plan has no steps), -EACCES
 *  (not_authorized: the plan is of another principal or session), or as intent_begin() if the
 *  action has `called_by`, … */
int plan_fold_chat(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_import() - do the action `import`: take the plan in the blob `blob`, by asking the
 *  driver to cut it into steps. @ret_answer: {chat_id}; caller owns it */
int plan_fold_import(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_resume() - do the action `resume`: continue the plan that its member `plan_id` names,
 *  if it was stopped or lacks only the model's answer; with `retry_failed`, also if it has ended,
 *  and run its failed and skipped steps again. Without `retry_failed`, nothing changes if the
 *  plan runs or has ended.
 *  @ret_answer: {chat_id, plan_id}; caller owns it
 *  Return: 0, -ENOENT (not_found), -ESTALE (conflict: it has no steps; with `retry_failed`: it
 *  runs, or no step has failed), … */
int plan_fold_resume(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_cancel() - do the action `stop`: stop the plan `plan_id`, or the chat `chat_id` or the
 *  plan that it has become. @ret_answer: {plan_id} or {chat_id}, as in @action; caller owns it
 *  Return: 0, -ENOENT (not_found), -ESTALE (conflict: it does not run), … */
int plan_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_receipt() - fold the answer to an intent of a chat or a plan
 *  @receipt: body of the receipt's record */
int plan_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** plan_fold_called() - when the action of the request's record 0 was the tool call of a step: end
 *  the step with the action's result
 *  @intent_id, @intent: of the call
 *  The step's result is made from fold->outcome or, for an action from a journal, taken from the
 *  action's record. It is set as member `step` of fold->outcome.result, which goes into the
 *  record. */
int plan_fold_called(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error);
