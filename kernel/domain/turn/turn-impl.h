/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/turn/: one run (turn of an agent) while a record is folded into it; a
 * turn here is one request to the model within the run (turn.h).
 *
 * A caller that loads a run changes its state in memory, and stores it once, at the end. A run's
 * history is cut in groups: one message, and the results of the calls that it has. A mind is what
 * the agent is made of, if artifacts give its prompts, workflow and reflex (mind.c). Record 0 is
 * the request's own. Functions that return int return 0, or -errno with @error filled. A "reference
 * taken" is taken also on failure. After a failure results (@ret_…) are to be ignored, and
 * need not be freed, unless the comment says otherwise. Whether the sender may take an action was
 * decided before, in caps/. The functions intent_…() are in kernel/fold/intent.h,
 * wfs_document_done() in kernel/manifest/document.h, the bounds WFS_TURN_… in
 * kernel/mind/turn-bounds.h.
 */
#pragma once

#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/fold/intent.h"

enum { TURN_RUNS_MAX = 2 }; /* the run whose tool call an action is, and the run it is about */

/* The domain's memory in a fold (fold_kept). */
struct turn_kept {
	char runs[TURN_RUNS_MAX]
		 [WFS_KEY_SIZE_MAX + 1]; /* ids of the runs to which the fold's records belong */
	size_t run_count;
};

static inline struct turn_kept *turn_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "turn");
}

/** turn_note_run() - note that the records of this fold belong to a run, so that
 *  turn_index_record() adds them to the run's index. A fold has at most TURN_RUNS_MAX runs. */
void turn_note_run(struct wfs_fold *fold, const char *run_id);

/** turn_index_record() - add record @index of the fold to the index (turn-index.h) of the runs that
 *  it belongs to. @head: the end of the journal after this record. Return: 0, -EIO (the index
 *  has a row for the record already, or is damaged), -ENOSPC (the store is full). */
int turn_index_record(struct wfs_fold *fold, struct wfs_head *head, size_t index);

/* A run. Plain value; filled by turn_load(), or zeros; turn_done() releases it. */
struct turn {
	struct wfs_fold *fold;
	struct wfs_document_turn state;
	json_t *owned;                        /* values that were made for the state */
	struct wfs_document_turn_setup setup; /* its `own.json` is NULL until turn_setup() */
	const char *run_id;                   /* state.run_id */
	bool failed; /* there was no memory for a member; turn_store() fails */
};
void turn_done(struct turn *turn);
#define TURN_AUTO WFS_CLEANUP(turn_done)

/** turn_load() - load the state of a run from its cell. @ret_turn: set on success; caller ends it
 *  with turn_done(). Return: 0, -ENOENT (not_found: no such run), … */
int turn_load(
	struct wfs_fold *fold, const char *run_id, struct turn *ret_turn, struct wfs_error *error);

/** turn_store() - store turn->state in the run's cell, and note that the fold's records belong to
 *  the run. */
int turn_store(struct turn *turn, struct wfs_error *error);

/** turn_setup() - read turn->setup, the member `setup` of the `step` action that began the run
 *  Does nothing if turn->setup was read already. turn_done() releases turn->setup. */
int turn_setup(struct turn *turn, struct wfs_error *error);

/** turn_own() - keep a value for turn->state until turn_done(). @value: reference taken; NULL: the
 *  caller had no memory. Return: @value; NULL without memory, and turn_store() then fails. */
json_t *turn_own(struct turn *turn, json_t *value);

/** turn_setting() - get the integer @name from the settings in turn->setup; @otherwise if it is
 *  absent or not an integer. @turn: turn_setup() has read its setup */
int64_t turn_setting(const struct turn *turn, const char *name, int64_t otherwise);

/** turn_open_count() - count the intents of the run that are not answered yet. */
size_t turn_open_count(const struct turn *turn);

/** turn_emit() - add an event record of the run to the fold
 *  @members: beside those that every event has (events.h); reference taken; NULL: the caller had no
 *  memory, and the function returns -ENOMEM */
int turn_emit(
	struct turn *turn, enum wfs_kernel_event event, json_t *members, struct wfs_error *error);

/** turn_ask() - open an intent of the run
 *  @params: of the effect; reference taken; NULL: the caller had no memory, and the function
 *  returns -ENOMEM. @call: index, in the present turn, of the tool call that is asked for; -1: the
 *  intent is not for a tool call */
int turn_ask(struct turn *turn, enum wfs_effect effect, json_t *params, int64_t call,
	struct wfs_error *error);

/** turn_answered() - delete the cell of an intent of the run that was answered, and remove the
 *  intent from turn->state.open. */
int turn_answered(struct turn *turn, const char *intent_id, struct wfs_error *error);

/** turn_end() - end the run: cancel its open intents, write its last event, and set @reason as its
 *  termination_reason. If a model must first choose the agent's next state, turn_end() only asks
 *  the model (turn_end_mind()), and folding the model's answer ends the run (turn_fold_advance()).
 *  @reason: a word such as `max_turns` (worldfs-tree(5)), borrowed until the run is stored */
int turn_end(struct turn *turn, const char *reason, struct wfs_error *error);

/** turn_fail() - end the run because of an error
 *  @reason: one of error, timeout, cancelled and quota_exceeded, borrowed as for turn_end()
 *  @phase: what failed, e.g. "answer"; @code, @message: of the error; the three are copied into the
 *  run's state and an event */
int turn_fail(struct turn *turn, const char *reason, const char *phase, const char *code,
	const char *message, struct wfs_error *error);

/** turn_add_message() - append a message, which begins a new group, to the run's history
 *  @message: document of sys.message; borrowed during the call; NULL: the caller had no memory, and
 *  the function returns -ENOMEM. @size: how many messages the group has: 1, and one for the result
 *  of each call in @message */
int turn_add_message(struct turn *turn, json_t *message, int64_t size, struct wfs_error *error);

/* --- mind.c --- */

/** turn_check_mind() - check `setup.mind`, `notes`, `failure` and `reflex` of a `step` action; the
 *  form of the action (turn_step_form, see kernel/base/form.h) calls this function. @name: not used
 *  Return: 0, -EINVAL (a member has another form). */
int turn_check_mind(const char *name, const json_t *action, struct wfs_error *error);

/** turn_begin_mind() - at the beginning of a run: enter the state `setup.mind.state`, if
 *  `setup.mind` has this member and the agent is not yet in a state of its workflow, and write the
 *  `notes` of the `step` action @action as events. @turn: its `setup` is set. */
int turn_begin_mind(struct turn *turn, const json_t *action, struct wfs_error *error);

/** turn_begin_reflex() - begin the run with one tool call, as if a model had asked for this call;
 *  no model is asked
 *  @reflex: the action that the agent's reflex (its own code) has chosen, with `action_type` */
int turn_begin_reflex(struct turn *turn, const json_t *reflex, struct wfs_error *error);

/** turn_emit_notes() - add an event record for each note
 *  @notes: array of {fallback, reason, reference, stage}, each about an artifact
 *  that the agent's mind has used (`fallback` is null) or could not use; NULL:
 *  none */
int turn_emit_notes(struct turn *turn, const json_t *notes, struct wfs_error *error);

/** turn_end_mind() - before a run with a mind ends: count the run in sys.agent and, unless the run
 *  failed or was cancelled, move the agent to the next state of its workflow. Does nothing if the
 *  setup has no `mind`, or if this run was counted already. @reason: termination_reason of the run
 *  @ret_waits: true: a model was asked for the next state, and the run ends when the model has
 *  answered; false: the run can end now; set also on failure */
int turn_end_mind(struct turn *turn, const char *reason, bool *ret_waits, struct wfs_error *error);

/** turn_fold_advance() - fold the answer to the question for the workflow's next state
 *  (turn_end_mind()), and end the run. @receipt: body of the record of the answer */
int turn_fold_advance(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error);

struct turn_result;

/** turn_remember_action() - keep a call and its result in turn->state as the agent's last action,
 *  which turn_end_mind() stores in sys.agent; does nothing if the setup has no `mind`
 *  @name: of the tool */
int turn_remember_action(struct turn *turn, const char *name, const struct turn_result *result,
	struct wfs_error *error);

/* --- request.c --- */

/** turn_request() - begin the next turn of the run by asking the model; if the run has had
 *  max_turns turns, end the run instead. */
int turn_request(struct turn *turn, struct wfs_error *error);

/** turn_request_again() - in the same turn, ask the model once more, without the oldest group that
 *  can be left out, because the first request was too long
 *  Return: 0, 1 (not asked, because this turn has asked again already, or no group can be left
 *  out), or -errno. */
int turn_request_again(struct turn *turn, struct wfs_error *error);

/** turn_spend() - add the tokens of a model's answer to the run's usage, and charge them to the
 *  agent's account
 *  @usage: {completion_tokens, prompt_tokens, total_tokens} from the model; NULL: the model's
 *  server sent no usage, and turn->state.usage_incomplete is set */
int turn_spend(struct turn *turn, const json_t *usage, struct wfs_error *error);

/** turn_answer() - fold an answer of the model: store it as a message, then begin its tool calls.
 *  An answer without calls ends the run; one with more than WFS_TURN_CALLS_MAX is not stored, and
 *  ends the run with an error. @completion: {content, finish_reason, tool_calls, usage, …}, the
 *  payload of the receipt */
int turn_answer(struct turn *turn, const json_t *completion, struct wfs_error *error);

/* --- call.c --- */

/** turn_make_calls() - make a cell of sys.tool_call for each call that the model wants;
 *  turn_go_on() then begins the calls
 *  @calls: array of {arguments, id?, name}
 *  @cut: the answer was cut off, so the last call of @calls may be incomplete, and its tool is not
 *  run */
int turn_make_calls(struct turn *turn, const json_t *calls, bool cut, struct wfs_error *error);

/** turn_go_on() - begin the calls of the present turn that may run now (at most `max_concurrency`
 *  at once). If all have ended, complete the turn, and begin the next turn or, if a call gave the
 *  run's result or was a reflex, end the run. */
int turn_go_on(struct turn *turn, struct wfs_error *error);

/* The result of a tool call. Plain value; borrowed. */
struct turn_result {
	bool is_error;
	const char *output;  /* at most WFS_TURN_OUTPUT_MAX bytes, and a mark if it was cut */
	json_t *hidden;      /* stand-in of a private `output` (kernel/read/text.h); or NULL */
	int64_t output_size; /* bytes before it was cut */
	int64_t duration_ms;
};

/** turn_result() - end call @index of the present turn: store @result, and write an event; the
 *  caller then calls turn_go_on(). */
int turn_result(struct turn *turn, int64_t index, const struct turn_result *result,
	struct wfs_error *error);

/** turn_call_of() - read the document of call @index (from 0) in turn @number of this run
 *  @ret_call: caller ends it with wfs_document_done(), also on failure; its `own.json` is NULL if
 *  no such call exists */
int turn_call_of(struct turn *turn, int64_t number, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error);
/** turn_call_load() - read the document of call @index in the present turn
 *  @ret_call: caller ends it with wfs_document_done(), also on failure
 *  Return: 0, -EIO (internal_error: no such call), … */
int turn_call_load(struct turn *turn, int64_t index, struct wfs_document_tool_call *ret_call,
	struct wfs_error *error);

/* --- actions and answers, for turn-domain.c --- */

/* The forms of the actions. */
extern const struct wfs_form turn_step_form, turn_cancel_form, turn_ask_form, turn_approve_form,
	turn_wait_form, turn_wake_form;

/** turn_fold_step() - do the action `step`: begin a run, for which the request's principal pays the
 *  agent's price. @ret_answer: {run_id}; caller owns it
 *  Return: 0, -EAGAIN (overloaded: too many intents are open), -ENOENT (not_found: `agent` is not a
 *  principal), -EINVAL (depth_exceeded: more than WFS_TURN_DEPTH_MAX runs would be nested), or as
 *  action_pay_run() (kernel/domain/action/action.h) and intent_begin(), … */
int turn_fold_step(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_cancel() - do the action `cancel`: end the run that its member `turn_id` names
 *  @ret_answer: {run_id}; caller owns it. Return: 0, -ENOENT (not_found: no such run), -ESTALE
 *  (conflict: the run has ended already), … */
int turn_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_ask() - do the action `ask`: have the tool call of the intent `intent_id` wait until a
 *  principal approves it. @ret_answer: {run_id}; caller owns it
 *  Return: 0, -EINVAL (the intent asks for no tool call), or as intent_load(), … */
int turn_fold_ask(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_approve() - do the action `approve`, {call_id, decision, turn?, turn_id}: allow or
 *  refuse a call that waits for an approval. @ret_answer: {run_id}; caller owns it
 *  Return: 0, -ENOENT (not_found: no such run or open call), -ESTALE (conflict: the run has ended,
 *  the call does not wait, or without `turn` another call of the run may have had this id), … */
int turn_fold_approve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_wait() - do the action `wait`, {after_ms?, at?, intent_id, until_event?}: have a tool
 *  call of the principal's run wait for a time, or for an event. @ret_answer: {run_id}; caller owns
 *  it
 *  Return: 0, -ENOENT (not_found: no such intent or schema), -EINVAL (the intent does not ask for a
 *  tool call of the principal, or the manifest has no timers), -ESTALE (conflict: the call is
 *  answered, or waits already), -EDQUOT (quota_exceeded: too many turns wait for events of the
 *  schema), … */
int turn_fold_wait(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_wake() - do the action `wake`, {turn_id}: end the waiting of all calls of a run that
 *  wait for a time or an event
 *  @ret_answer: {run_id}; caller owns it. Return: 0, -ENOENT (not_found: no such run), -ESTALE
 *  (conflict: no call of the run waits), … */
int turn_fold_wake(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_receipt() - close @intent, of a run, and fold the receipt that answers this intent
 *  @receipt: body of the receipt's record */
int turn_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** turn_fold_begun() - store that a tool call of a run, `step` or `chat`, has begun another run or
 *  a chat. @intent_id, @intent: of the call
 *  Return: 0, -EAGAIN (overloaded: WFS_TURN_BELOW_MAX runs and chats are already under way below
 *  the topmost run), … */
int turn_fold_begun(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error);

/** turn_describe_call() - describe the call that an intent of a run asks for
 *  @intent: its member `call` is set
 *  @ret_call: {call_id, run_id, tool_name, turn}; caller owns it */
int turn_describe_call(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	json_t **ret_call, struct wfs_error *error);

/** turn_fold_called() - when the action of record 0 was a tool call of a run: end the call with the
 *  action's result. @intent_id, @intent: of the call
 *  The function makes the call's output from the answer or refusal in fold->outcome. When a journal
 *  is folded again, it takes the output from the action's record instead. It sets the output as
 *  member `output` of fold->outcome.result, which goes into the record. */
int turn_fold_called(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error);
