/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/turn/: one run while a record is folded into it.
 *
 * Whoever loads a run changes its state in memory and stores it once, at the end.
 */
#pragma once

#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/fold/intent.h"

enum { TURN_RUNS_MAX = 2 }; /* the one whose tool call an action is, and the one that it is about */

/* What the domain keeps in a fold. */
struct turn_kept {
	char runs[TURN_RUNS_MAX]
		 [WFS_KEY_SIZE_MAX + 1]; /* ids of the runs whose records these are */
	size_t run_count;
};

static inline struct turn_kept *turn_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "turn");
}

/** turn_note_run() - the records of this fold are records of this run. */
void turn_note_run(struct wfs_fold *fold, const char *run_id);

/** turn_index_record() - record @index was written before @head: index it for its runs. Return: 0, -EIO, -ENOSPC. */
int turn_index_record(struct wfs_fold *fold, struct wfs_head *head, size_t index);

/* Plain value; turn_load or zero, turn_done. */
struct turn {
	struct wfs_fold *fold;
	json_t *state; /* document of its cell of sys.turn; owned */
	json_t *setup; /* of sys.turn_setup; owned; NULL until it is asked for */
	size_t cell;
	const char *run_id; /* borrowed from the state */
	bool failed;        /* there was no memory for a member: told when it is stored */
};
void turn_done(struct turn *turn);
#define TURN_AUTO WFS_CLEANUP(turn_done)

/** turn_load() - Return: 0, -ENOENT (not_found), … */
int turn_load(
	struct wfs_fold *fold, const char *run_id, struct turn *ret_turn, struct wfs_error *error);

/** turn_store() - its state becomes that of its cell, and the records of this fold are records of it. */
int turn_store(struct turn *turn, struct wfs_error *error);

/** turn_setup() - what its step has set; borrowed. */
int turn_setup(struct turn *turn, const json_t **ret_setup, struct wfs_error *error);

int64_t turn_number(const struct turn *turn, const char *member);
void turn_set_number(struct turn *turn, const char *member, int64_t value);
/** turn_set() - takes @value; NULL: there was no memory for it. */
void turn_set(struct turn *turn, const char *member, json_t *value);

/** turn_setting() - a number among the settings of its setup, or @otherwise. */
int64_t turn_setting(const json_t *setup, const char *name, int64_t otherwise);

/** turn_open_count() - intents that it waits for. */
size_t turn_open_count(const struct turn *turn);

/**
 * turn_emit() - one of its events
 * @members: beside those that every event has; taken; NULL: there was no memory for them
 */
int turn_emit(
	struct turn *turn, enum wfs_kernel_event event, json_t *members, struct wfs_error *error);

/**
 * turn_ask() - open an intent
 * @params: taken; NULL: there was no memory for them
 * @call: index of the tool call, or -1
 */
int turn_ask(struct turn *turn, enum wfs_effect effect, json_t *params, int64_t call,
	struct wfs_error *error);

/** turn_answered() - an intent is answered: it is open no more. */
int turn_answered(struct turn *turn, const char *intent_id, struct wfs_error *error);

/** turn_end() - the run is over: why. */
int turn_end(struct turn *turn, const char *reason, struct wfs_error *error);

/** turn_fail() - the same, because of an error in the work of @phase. */
int turn_fail(struct turn *turn, const char *reason, const char *phase, const char *code,
	const char *message, struct wfs_error *error);

/** turn_add_message() - one more of its history, @size messages on the wire. @message: borrowed */
int turn_add_message(struct turn *turn, json_t *message, int64_t size, struct wfs_error *error);

/* --- mind.c --- */

/** turn_check_mind() - the form of what a step has of it. Return: 0, -EINVAL. */
int turn_check_mind(const json_t *action, struct wfs_error *error);

/** turn_begin_mind() - enter the state that the run begins in, and tell the notes of its step. */
int turn_begin_mind(struct turn *turn, const json_t *action, struct wfs_error *error);

/** turn_begin_reflex() - the run is this action, and nothing else. */
int turn_begin_reflex(struct turn *turn, const json_t *reflex, struct wfs_error *error);

/** turn_emit_notes() - an array of them, NULL: none. */
int turn_emit_notes(struct turn *turn, const json_t *notes, struct wfs_error *error);

/**
 * turn_end_mind() - before the run ends: what the agent did, and the state that it is in then
 * @ret_waits: that is asked for, and the run ends when it is known
 */
int turn_end_mind(struct turn *turn, const char *reason, bool *ret_waits, struct wfs_error *error);

/** turn_fold_advance() - it is known. */
int turn_fold_advance(struct turn *turn, const json_t *receipt, struct wfs_error *error);

struct turn_result;

/** turn_remember_action() - what a call gave. */
int turn_remember_action(struct turn *turn, const json_t *call, const struct turn_result *result,
	struct wfs_error *error);

/* --- request.c --- */

/** turn_request() - the next turn: ask the model; or the run ends, because it has had all. */
int turn_request(struct turn *turn, struct wfs_error *error);

/** turn_request_again() - of the same turn, with one group of its history less.
 *  Return: 0, 1 when there is none to leave out, or -errno. */
int turn_request_again(struct turn *turn, struct wfs_error *error);

/** turn_spend() - what an answer of a model took. @usage: that it told; NULL: nothing */
int turn_spend(struct turn *turn, const json_t *usage, struct wfs_error *error);

/** turn_answer() - the model has answered {content, tool_calls …}. */
int turn_answer(struct turn *turn, const json_t *completion, struct wfs_error *error);

/* --- call.c --- */

/** turn_make_calls() - a cell for each of the calls that the model wants. */
int turn_make_calls(struct turn *turn, const json_t *calls, bool cut, struct wfs_error *error);

/** turn_go_on() - begin calls that may begin; when all are done, the next turn. */
int turn_go_on(struct turn *turn, struct wfs_error *error);

/* What a tool gave. Plain value; borrowed. */
struct turn_result {
	bool is_error;
	const char *output; /* at most WFS_TURN_OUTPUT_MAX bytes and the mark */
	json_t *hidden; /* its stand-in, when it is a private text (kernel/read/text.h); or NULL */
	int64_t output_size; /* of all of it */
	int64_t duration_ms;
};

/** turn_result() - call @index of this turn is done. */
int turn_result(struct turn *turn, int64_t index, const struct turn_result *result,
	struct wfs_error *error);

/** turn_call_of() - call @index of turn @number of this run. @ret_call: its document, or NULL; caller owns it */
int turn_call_of(struct turn *turn, int64_t number, int64_t index, json_t **ret_call,
	struct wfs_error *error);
/** turn_call_load() - the cell of call @index of this turn. @ret_call: its document; caller owns it */
int turn_call_load(struct turn *turn, int64_t index, size_t *ret_cell, json_t **ret_call,
	struct wfs_error *error);

/* --- actions and answers, for turn-domain.c --- */

/** turn_check_action() - the form of an action of one of these types. Return: 0, -EINVAL, -EFBIG. */
int turn_check_step(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_cancel(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_ask(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int turn_check_approve(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** turn_fold_step() - begin a run; {run_id} */
int turn_fold_step(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_cancel() - end the run {turn_id}; {run_id} */
int turn_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_ask() - the tool call of {intent_id} waits until somebody approves it. */
int turn_fold_ask(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_approve() - {turn_id, call_id, decision} */
int turn_fold_approve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** turn_fold_receipt() - fold the answer to an intent of a run. @intent: its document */
int turn_fold_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/**
 * turn_fold_begun() - another run or a chat has begun for a tool call of a run.
 * @intent: its document
 * Return: 0, -EAGAIN (overloaded: WFS_TURN_BELOW_MAX of them are under way below the topmost run), …
 */
int turn_fold_begun(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);

/** turn_describe_call() - the call that an intent of a run asks for: {call_id, run_id, tool_name, turn}
 *  @intent: its document; @ret_call: caller owns it */
int turn_describe_call(
	struct wfs_fold *fold, const json_t *intent, json_t **ret_call, struct wfs_error *error);

/** turn_fold_called() - the action of record 0 has answered it; its output becomes part of the
 *  outcome's result, which an action out of a journal has already. */
int turn_fold_called(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);
