/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/turn/: one run while a record is folded into it.
 *
 * A caller that loads a run changes its state in memory, and stores it once, at the end.
 */
#pragma once

#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/fold/intent.h"

enum { TURN_RUNS_MAX = 2 }; /* the run whose tool call an action is, and the run it is about */

/* What the domain keeps in a fold. */
struct turn_kept {
	char runs[TURN_RUNS_MAX]
		 [WFS_KEY_SIZE_MAX + 1]; /* ids of the runs to which the fold's records belong */
	size_t run_count;
};

static inline struct turn_kept *turn_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "turn");
}

/** turn_note_run() - note that the records of this fold belong to this run. */
void turn_note_run(struct wfs_fold *fold, const char *run_id);

/** turn_index_record() - index record @index of the fold, just written before @head, for its runs.
 *  Return: 0, -EIO, -ENOSPC. */
int turn_index_record(struct wfs_fold *fold, struct wfs_head *head, size_t index);

/* A run. Plain value; turn_load or zero, turn_done. */
struct turn {
	struct wfs_fold *fold;
	json_t *state; /* document of its cell of sys.turn; owned */
	json_t *setup; /* document of sys.turn_setup; owned; NULL until turn_setup() */
	size_t cell;
	const char *run_id; /* borrowed from the state */
	bool failed;        /* there was no memory for a member; turn_store() fails */
};
void turn_done(struct turn *turn);
#define TURN_AUTO WFS_CLEANUP(turn_done)

/** turn_load() - load the state of a run. Return: 0, -ENOENT (not_found), … */
int turn_load(
	struct wfs_fold *fold, const char *run_id, struct turn *ret_turn, struct wfs_error *error);

/** turn_store() - store the state in the run's cell, and note that the fold's records belong to
 *  the run. */
int turn_store(struct turn *turn, struct wfs_error *error);

/** turn_setup() - get the setup of the run's `step` action; borrowed from @turn. */
int turn_setup(struct turn *turn, const json_t **ret_setup, struct wfs_error *error);

int64_t turn_number(const struct turn *turn, const char *member);
void turn_set_number(struct turn *turn, const char *member, int64_t value);
/** turn_set() - set a member of the state. @value: taken; NULL: its caller had no memory. */
void turn_set(struct turn *turn, const char *member, json_t *value);

/** turn_setting() - get the integer @name from the member `settings` of @setup; @otherwise if it is
 *  absent. @setup: of a `step` action, see turn_setup() */
int64_t turn_setting(const json_t *setup, const char *name, int64_t otherwise);

/** turn_open_count() - how many intents does the run wait for? */
size_t turn_open_count(const struct turn *turn);

/**
 * turn_emit() - write an event of the run
 * @members: in addition to those of every event; taken; NULL: its caller had no memory
 */
int turn_emit(
	struct turn *turn, enum wfs_kernel_event event, json_t *members, struct wfs_error *error);

/**
 * turn_ask() - open an intent
 * @params: taken; NULL: its caller had no memory
 * @call: index of the tool call, or -1
 */
int turn_ask(struct turn *turn, enum wfs_effect effect, json_t *params, int64_t call,
	struct wfs_error *error);

/** turn_answered() - close an answered intent. */
int turn_answered(struct turn *turn, const char *intent_id, struct wfs_error *error);

/** turn_end() - end the run. @reason: of the end */
int turn_end(struct turn *turn, const char *reason, struct wfs_error *error);

/** turn_fail() - end the run because of an error in the work of @phase. */
int turn_fail(struct turn *turn, const char *reason, const char *phase, const char *code,
	const char *message, struct wfs_error *error);

/**
 * turn_add_message() - append a message to the history; the results of its tool calls belong to it
 * @message: borrowed
 * @size: how many messages the model is sent for it: 1, and one for each tool call
 */
int turn_add_message(struct turn *turn, json_t *message, int64_t size, struct wfs_error *error);

/* --- mind.c --- */

/** turn_check_mind() - check the form of the mind in a `step` action. Return: 0, -EINVAL. */
int turn_check_mind(const json_t *action, struct wfs_error *error);

/** turn_begin_mind() - enter the workflow's state in which the run begins, and write the notes of
 *  its `step` as events. */
int turn_begin_mind(struct turn *turn, const json_t *action, struct wfs_error *error);

/** turn_begin_reflex() - have the run do this one action instead of asking a model. */
int turn_begin_reflex(struct turn *turn, const json_t *reflex, struct wfs_error *error);

/** turn_emit_notes() - write notes as events. @notes: an array; NULL: none */
int turn_emit_notes(struct turn *turn, const json_t *notes, struct wfs_error *error);

/**
 * turn_end_mind() - before the run ends: record what the agent did, and the state that it is in
 * afterwards
 * @ret_waits: true: the next state is asked for, and the run ends when it is known
 */
int turn_end_mind(struct turn *turn, const char *reason, bool *ret_waits, struct wfs_error *error);

/** turn_fold_advance() - fold the answer to the question for the next state, and end the run. */
int turn_fold_advance(struct turn *turn, const json_t *receipt, struct wfs_error *error);

struct turn_result;

/** turn_remember_action() - keep the result of a call as the agent's last action. */
int turn_remember_action(struct turn *turn, const json_t *call, const struct turn_result *result,
	struct wfs_error *error);

/* --- request.c --- */

/** turn_request() - begin the next turn by asking the model, or end the run if it has had all
 *  turns. */
int turn_request(struct turn *turn, struct wfs_error *error);

/** turn_request_again() - ask the model again in this turn, with one group of the history fewer.
 *  Return: 0, 1 (no group can be left out), or -errno. */
int turn_request_again(struct turn *turn, struct wfs_error *error);

/** turn_spend() - count and charge the tokens of a model's answer. @usage: from the model; NULL:
 *  it gave none */
int turn_spend(struct turn *turn, const json_t *usage, struct wfs_error *error);

/** turn_answer() - fold an answer of the model: {content, tool_calls …}. */
int turn_answer(struct turn *turn, const json_t *completion, struct wfs_error *error);

/* --- call.c --- */

/** turn_make_calls() - make a cell for each call that the model wants. @cut: the answer was cut
 *  off */
int turn_make_calls(struct turn *turn, const json_t *calls, bool cut, struct wfs_error *error);

/** turn_go_on() - begin calls that may begin; after the last has ended, begin the next turn. */
int turn_go_on(struct turn *turn, struct wfs_error *error);

/* The result of a tool call. Plain value; borrowed. */
struct turn_result {
	bool is_error;
	const char *output;  /* at most WFS_TURN_OUTPUT_MAX bytes and the mark */
	json_t *hidden;      /* stand-in of a private text (kernel/read/text.h); or NULL */
	int64_t output_size; /* before it was cut */
	int64_t duration_ms;
};

/** turn_result() - end call @index of this turn with its result. */
int turn_result(struct turn *turn, int64_t index, const struct turn_result *result,
	struct wfs_error *error);

/** turn_call_of() - read call @index of turn @number of this run. @ret_call: its document, or
 *  NULL; caller owns it */
int turn_call_of(struct turn *turn, int64_t number, int64_t index, json_t **ret_call,
	struct wfs_error *error);
/** turn_call_load() - load the cell of call @index of this turn. @ret_call: its document; caller
 *  owns it */
int turn_call_load(struct turn *turn, int64_t index, size_t *ret_cell, json_t **ret_call,
	struct wfs_error *error);

/* --- actions and answers, for turn-domain.c --- */

/* Each checks the form of an action of its type. Return: 0, -EINVAL, -EFBIG. */
int turn_check_step(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_cancel(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_ask(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_approve(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** turn_fold_step() - begin a run. @ret_answer: {run_id} */
int turn_fold_step(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_cancel() - end the run {turn_id}. @ret_answer: {run_id} */
int turn_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_ask() - have the tool call of {intent_id} wait until somebody approves it. */
int turn_fold_ask(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_approve() - allow or refuse a waiting call: {turn_id, call_id, decision}. */
int turn_fold_approve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_receipt() - fold the answer to an intent of a run. @intent: its document */
int turn_fold_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/**
 * turn_fold_begun() - count another run or a chat that has begun for a tool call of a run.
 * @intent: its document
 * Return: 0, -EAGAIN (overloaded: WFS_TURN_BELOW_MAX of them are open below the topmost run), …
 */
int turn_fold_begun(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);

/** turn_describe_call() - describe the call that an intent of a run asks for: {call_id, run_id,
 *  tool_name, turn}
 *  @intent: its document; @ret_call: caller owns it */
int turn_describe_call(
	struct wfs_fold *fold, const json_t *intent, json_t **ret_call, struct wfs_error *error);

/** turn_fold_called() - the action of record 0 was a tool call: end the call with its result.
 *  The call's output becomes part of the outcome's result, where an action from a journal already
 *  has it. */
int turn_fold_called(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);
