/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/plan/: one plan while a record is folded into it.
 *
 * A caller that loads a plan changes its state and its blocks in memory, and stores them once, at
 * the end. plan.h has the documents. A block is a cell of sys.plan_block: for WFS_PLAN_BLOCK steps,
 * what each waits for. Steps are counted from 0. Functions that return int return 0, or -errno with
 * @error filled. A "reference taken" is taken also on failure. After a failure results (@ret_…) are
 * to be ignored, and need not be freed, unless the comment says otherwise. Whether the sender may
 * take an action was decided before, in caps/. The functions intent_…() are in
 * kernel/fold/intent.h, wfs_document_done() is in kernel/manifest/document.h, and
 * fold_write_chat_message() in kernel/fold/fold-work.h.
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
	struct wfs_document_plan state; /* its `ready` is not used: see below */
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
 *  with plan_done(). Return: 0, -ENOENT (not_found: no such plan), … */
int plan_load(
	struct wfs_fold *fold, const char *plan_id, struct plan *ret_plan, struct wfs_error *error);

/** plan_new() - make a plan whose cell does not exist yet; plan_store() makes the cell
 *  @state: document of sys.plan; reference taken, also on failure; NULL: the caller had no memory,
 *  and the function returns -ENOMEM. @ret_plan: set on success; caller ends it with plan_done()
 *  Return: 0, -EEXIST (already_exists: a live plan has the plan_id of @state), -EINVAL (this
 *  plan_id is not 1 to WFS_PLAN_ID_SIZE letters, digits, `-` and `_`), … */
int plan_new(struct wfs_fold *fold, json_t *state, struct plan *ret_plan, struct wfs_error *error);

/** plan_store() - store the plan's state and changed blocks in their cells. */
int plan_store(struct plan *plan, struct wfs_error *error);

/** plan_own() - keep a value for plan->state until plan_done(). @value: reference taken; NULL: the
 *  caller had no memory. Return: @value; NULL without memory, and plan_store() then fails. */
json_t *plan_own(struct plan *plan, json_t *value);

/** plan_counter() - get the address, in plan->state, of the count of steps with the status
 *  @status, which must be done, failed or skipped. */
int64_t *plan_counter(struct plan *plan, const char *status);

/** plan_is() - is @text, such as plan->state.phase, equal to @value? Neither is NULL. */
static inline bool plan_is(const char *text, const char *value)
{
	return strcmp(text, value) == 0;
}

/** plan_open_count() - count the intents of the plan that are not answered yet. */
size_t plan_open_count(const struct plan *plan);

/** plan_is_number() - is @value, which may be NULL, an integer in [@minimum, @maximum]? */
bool plan_is_number(const json_t *value, int64_t minimum, int64_t maximum);

/** plan_ask() - open an intent of the plan
 *  @params: of the effect; reference taken; NULL: the caller had no memory, and the function
 *  returns -ENOMEM. @step: index of the step that the intent is for; -1: none
 *  @not_before_ns: the driver waits until this time, in nanoseconds since 1970; 0: it begins at
 *  once */
int plan_ask(struct plan *plan, enum wfs_effect effect, json_t *params, int64_t step,
	int64_t not_before_ns, struct wfs_error *error);

/** plan_answered() - delete the cell of an intent of the plan that was answered, and remove the
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
 *  if the step has no such cell; caller ends it with wfs_document_done(), also after a failure */
int plan_edge_load(struct plan *plan, int64_t index, struct wfs_document_plan_edge *ret_edge,
	struct wfs_error *error);

/** plan_step_load() - load step @index from its cell. @ret_step: caller ends it with
 *  wfs_document_done(), also after a failure. Return: 0, -EIO (internal_error: no such step), … */
int plan_step_load(
	struct plan *plan, int64_t index, struct plan_step *ret_step, struct wfs_error *error);

/** plan_step_set() - set status and reason of a step, and store the step in its cell
 *  @status: pending, ready, running, done, failed or skipped; static. @reason: copied; NULL: the
 *  step keeps the reason that it has, if any */
int plan_step_set(struct plan *plan, struct plan_step *step, const char *status, const char *reason,
	struct wfs_error *error);

/** plan_step_define() - append a step to a plan that has fewer than `total` steps
 *  @part: {next?, refs?, result?, step, waiting}: `step` is the document of sys.plan_step; next and
 *  refs go into sys.plan_edge, result into sys.plan_result, waiting into sys.plan_block (plan.h)
 *  Return: 0, -EINVAL (@part has another form), … */
int plan_step_define(struct plan *plan, const json_t *part, struct wfs_error *error);

/** plan_step_keep() - store the result of a step in its cell of sys.plan_result, and set
 *  step->state.result_ref; the caller then stores the step. @result: borrowed during the call */
int plan_step_keep(
	struct plan *plan, struct plan_step *step, const json_t *result, struct wfs_error *error);

/** plan_wait_less() - make step @index wait for one dependency less, because a dependency has
 *  ended
 *  @failed: id of the dependency if it has failed or was skipped; otherwise NULL; copied */
int plan_wait_less(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error);

/** plan_wait_more() - make step @index wait for @more dependencies more, and forget that a
 *  dependency has failed. If the step was taken into a batch, it is not taken any more. */
int plan_wait_more(struct plan *plan, int64_t index, int64_t more, struct wfs_error *error);

/** plan_give_back() - undo plan_take() for step @index, so that the step can be taken again. */
int plan_give_back(struct plan *plan, int64_t index, struct wfs_error *error);

/** plan_take() - mark as taken the step with the lowest index that waits for no dependency and is
 *  not taken; the caller puts the step into the batch, or skips it
 *  @ret_index: of the step; -1: no step waits for nothing, and @ret_doomed is not set
 *  @ret_doomed: id of a dependency that failed or was skipped, because of which the caller is to
 *  skip the step; NULL: the step is to be run. Borrowed until the step's block is changed */
int plan_take(
	struct plan *plan, int64_t *ret_index, const char **ret_doomed, struct wfs_error *error);

/* --- running: plan-run.c --- */

/** plan_go_on() - begin steps that may run now
 *  If no step runs or can run any more: if all steps have ended and at least one is done (or the
 *  plan has no steps), ask a model for the answer; otherwise set plan->state.error, and end the
 *  plan. When the record has ended or reopened as many steps as one may (WFS_PLAN_ADVANCE_MAX, or
 *  WFS_PLAN_ADVANCE_BYTES in kernel/value/bounds.h), begin no more steps, and open an intent of
 *  plan.advance; when the driver has answered this intent, plan_fold_receipt() calls plan_go_on()
 *  again. */
int plan_go_on(struct plan *plan, struct wfs_error *error);

/** plan_retry() - have plan_go_on() run the failed and skipped steps again, and drop the plan's
 *  error and answer. */
void plan_retry(struct plan *plan);

/** plan_stop() - cancel all open intents of the plan, and give back the steps of its batch that
 *  have not ended, so that a later plan_go_on() can run them; the caller sets
 *  plan->state.status. */
int plan_stop(struct plan *plan, struct wfs_error *error);

/** plan_stepped() - store the result of step @index, of type `tool` or `llm`, end the step, and
 *  call plan_go_on()
 *  @result: {details, error, method, name, ok, result}, of which details and error say why a step
 *  with `ok` false has failed; borrowed during the call; the function adds `_step_id` and
 *  `asked` to it. @retry: true: a step that has failed and was tried less than max_attempts times
 *  is not ended, but tried again after a pause, and @result is not stored */
int plan_stepped(
	struct plan *plan, int64_t index, json_t *result, bool retry, struct wfs_error *error);

/** plan_ask_answer() - open the intent that asks a model for the plan's answer, set the phase
 *  `answering`, and drop plan->state.error. Called only after all steps have ended. */
int plan_ask_answer(struct plan *plan, struct wfs_error *error);

/** plan_end() - set the phase `ended`, and the status: `done` if all steps are done, `partial` if
 *  some are, otherwise `failed`; the caller stores the plan. @error: not used. Return: 0. */
int plan_end(struct plan *plan, struct wfs_error *error);

/* --- answers: plan-receipt.c --- */

/** plan_spend() - charge the tokens of a model's answer to the account of @principal, and the
 *  tokens and one call to the grant that allowed the request to the model, if any
 *  @receipt: body of the record with the answer or failure; without payload.usage no tokens are
 *  charged */
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
 *  @chat: `fold` and `id` are set; caller ends it with chat_done(), also on failure, and stores
 *  chat->message, if it is changed, with fold_write_chat_message()
 *  Return: 0, -ENOENT (not_found: no such message), … */
int plan_chat_load(struct chat *chat, struct wfs_error *error);

/** plan_chat_principal() - copy the id of the principal out of @chat_id, the key of a message in a
 *  chat of this principal. Return: @ret_principal. */
const char *plan_chat_principal(
	const char *chat_id, char ret_principal[static WFS_CHAT_ID_MAX + 1]);

/** plan_chat_ask() - open an intent for a question in a chat, and set chat->message.open to its id;
 *  the caller stores the message
 *  @params: of the effect, without chat_id, which the function adds; reference taken; NULL: the
 *  caller had no memory, and the function returns -ENOMEM */
int plan_chat_ask(
	struct chat *chat, enum wfs_effect effect, json_t *params, struct wfs_error *error);

/** plan_say() - append a message to a chat; a chat that does not exist is made, for the principal
 *  of the request
 *  @chat: key of sys.chat. @message: borrowed during the call; members with numbers that it does
 *  not have are -1. @ret_id: key of the message */
int plan_say(struct wfs_fold *fold, const char *chat,
	const struct wfs_document_chat_message *message, char ret_id[static WFS_CHAT_ID_MAX + 1],
	struct wfs_error *error);

/** plan_reply() - append to a chat, as plan_say() does, a message with the text of a model's answer
 *  @text: a JSON string, borrowed during the call. @plan_id: of the plan that the answer is about,
 *  or NULL. @ret_id: key of the message */
int plan_reply(struct wfs_fold *fold, const char *chat, json_t *text, const char *plan_id,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error);

/** plan_fold_chat_receipt() - fold the answer to an intent of a chat: from a model the text of a
 *  plan, or other text; from the driver a part of the plan's steps; or a failure of either
 *  @intent: document of the intent's cell; @receipt: body of the receipt's record */
int plan_fold_chat_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);

/* --- actions and answers, for plan-domain.c --- */

/* The forms of the actions. */
extern const struct wfs_form plan_chat_form, plan_import_form, plan_resume_form, plan_stop_form;

/** plan_fold_chat() - do the action `chat` (plan.h): ask a model for a plan or, with `plan_id`,
 *  continue that plan. @ret_answer: {chat_id, plan_id?}; caller owns it
 *  Return: 0, -EAGAIN (overloaded: too many intents are open), -ENOENT (not_found: no such plan),
 *  -ESTALE (conflict: the plan has no steps), -EACCES (not_authorized: the plan is of another
 *  principal or session), or as intent_begin() if the action has `called_by`, … */
int plan_fold_chat(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_import() - do the action `import`: take the plan in the blob `blob`, by asking the
 *  driver to cut it into steps. @ret_answer: {chat_id}; caller owns it
 *  Return: 0, -EAGAIN (overloaded: too many intents are open), … */
int plan_fold_import(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_resume() - do the action `resume`: continue the plan that its member `plan_id` names,
 *  if it was stopped or lacks only the model's answer; with `retry_failed`, also if it has ended,
 *  and run its failed and skipped steps again. Without `retry_failed`, nothing changes if the
 *  plan runs or has ended.
 *  @ret_answer: {chat_id, plan_id}; caller owns it
 *  Return: 0, -EAGAIN (overloaded: too many intents are open), -ENOENT (not_found: no such plan),
 *  -ESTALE (conflict: the plan has no steps; with `retry_failed`: the plan runs, or no step of it
 *  has failed), … */
int plan_fold_resume(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_cancel() - do the action `stop`: stop the plan `plan_id`, or the chat `chat_id` or the
 *  plan that it has become. @ret_answer: {plan_id} or {chat_id}, as in @action; caller owns it
 *  Return: 0, -ENOENT (not_found: no such plan or chat), -ESTALE (conflict: the plan does not run,
 *  or the chat waits for nothing), … */
int plan_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_receipt() - fold the receipt that answers @intent, of a chat or a plan
 *  @receipt: body of the receipt's record */
int plan_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** plan_fold_called() - when the action of the request's record 0 was the tool call of a step: end
 *  the step with the action's result
 *  @intent_id, @intent: of the call
 *  The function makes the step's result from fold->outcome. When a journal is folded again, it
 *  takes the result from the action's record instead. It sets the result as member `step` of
 *  fold->outcome.result, which goes into the record. */
int plan_fold_called(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error);
