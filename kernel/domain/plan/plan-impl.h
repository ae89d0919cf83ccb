/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/plan/: one plan while a record is folded into it.
 *
 * A caller that loads a plan changes its state and its blocks in memory, and stores them once, at
 * the end.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/fold/intent.h"

struct plan_block {
	json_t *document; /* owned; NULL: not loaded */
	size_t cell;
	bool changed;
};

/* A plan. Plain value; plan_load or plan_new, plan_done. */
struct plan {
	struct wfs_fold *fold;
	json_t *state; /* document of its cell of sys.plan; owned */
	size_t cell;
	const char *plan_id;       /* borrowed from the state */
	struct plan_block *blocks; /* owned */
	size_t block_count;
	uint8_t *ready; /* bitmap of the blocks with a step that can be taken into a batch; owned */
	size_t ended_count; /* steps that this fold has ended or reopened */
	bool failed;        /* there was no memory for a member; plan_store() fails */
};
void plan_done(struct plan *plan);
#define PLAN_AUTO WFS_CLEANUP(plan_done)

/** plan_load() - load the state of a plan. Return: 0, -ENOENT (not_found), … */
int plan_load(
	struct wfs_fold *fold, const char *plan_id, struct plan *ret_plan, struct wfs_error *error);

/** plan_new() - make a plan. @state: with `plan_id` and `total`; taken. Return: 0, -EEXIST, … */
int plan_new(struct wfs_fold *fold, json_t *state, struct plan *ret_plan, struct wfs_error *error);

/** plan_store() - store state and changed blocks in their cells. */
int plan_store(struct plan *plan, struct wfs_error *error);

/* Members of the state. An absent number is 0, an absent text is "". */
int64_t plan_number(const struct plan *plan, const char *member);
void plan_set_number(struct plan *plan, const char *member, int64_t value);
void plan_add(struct plan *plan, const char *member, int64_t amount);
const char *plan_text(const struct plan *plan, const char *member);
/** plan_set() - set a member of the state. @value: taken; NULL: its caller had no memory. */
void plan_set(struct plan *plan, const char *member, json_t *value);
bool plan_is(const struct plan *plan, const char *member, const char *value);
size_t plan_open_count(const struct plan *plan);

/** plan_is_number() - is @value an integer in [@minimum, @maximum]? @value: may be NULL */
bool plan_is_number(const json_t *value, int64_t minimum, int64_t maximum);

/** plan_ask() - open an intent. @step: index, or -1. @params: taken */
int plan_ask(struct plan *plan, enum wfs_effect effect, json_t *params, int64_t step,
	int64_t not_before_ns, struct wfs_error *error);

/** plan_answered() - close an answered intent. */
int plan_answered(struct plan *plan, const char *intent_id, struct wfs_error *error);

/** plan_cancel_open() - cancel all open intents of the plan. */
int plan_cancel_open(struct plan *plan, struct wfs_error *error);

/* --- steps and their blocks: plan-step.c --- */

/* A step that is being changed. Plain value; plan_step_load, plan_step_done. */
struct plan_step {
	int64_t index;
	size_t cell;
	json_t *document; /* owned */
	const char *id;   /* borrowed from it */
};
void plan_step_done(struct plan_step *step);
#define PLAN_STEP_AUTO WFS_CLEANUP(plan_step_done)

/** plan_load_part() - load a document of step @index, in the cell of @reducer. @ret_document:
 *  NULL: not there; caller owns it */
int plan_load_part(struct plan *plan, enum wfs_builtin_reducer reducer, int64_t index,
	size_t *ret_cell, json_t **ret_document, struct wfs_error *error);

/** plan_step_load() - load the document of step @index. */
int plan_step_load(
	struct plan *plan, int64_t index, struct plan_step *ret_step, struct wfs_error *error);

/** plan_step_set() - set the status of a step, and store the step. @reason: NULL: none */
int plan_step_set(struct plan *plan, struct plan_step *step, const char *status, const char *reason,
	struct wfs_error *error);

/** plan_step_define() - append a step; the plan has room. @part: {next?, refs?, result?, step,
 *  waiting}
 *  Return: 0, -EINVAL, … */
int plan_step_define(struct plan *plan, const json_t *part, struct wfs_error *error);

/** plan_step_keep() - store the result of a step. The step gets a reference to it; the caller
 *  stores the step. */
int plan_step_keep(
	struct plan *plan, struct plan_step *step, const json_t *result, struct wfs_error *error);

/** plan_wait_less() - note that a dependency of step @index has ended. @failed: its id if it was
 *  not done; otherwise NULL */
int plan_wait_less(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error);

/** plan_wait_more() - make step @index wait for @more dependencies, and forget that one of them
 *  has failed. */
int plan_wait_more(struct plan *plan, int64_t index, int64_t more, struct wfs_error *error);

/** plan_give_back() - let a step that plan_take() has taken be taken again. */
int plan_give_back(struct plan *plan, int64_t index, struct wfs_error *error);

/**
 * plan_take() - take the next step that waits for nothing
 * @ret_index: -1: no step is ready
 * @ret_doomed: id of a failed dependency, because of which the step is not run; NULL: it is run.
 * Borrowed until the step's block is changed
 */
int plan_take(
	struct plan *plan, int64_t *ret_index, const char **ret_doomed, struct wfs_error *error);

/* --- running: plan-run.c --- */

/** plan_go_on() - begin steps that may begin; after the last has ended, ask for the answer or end
 *  the plan. */
int plan_go_on(struct plan *plan, struct wfs_error *error);

/** plan_retry() - have plan_go_on() run failed and skipped steps again. */
void plan_retry(struct plan *plan);

/** plan_stop() - stop running; steps that have begun may begin again later. */
int plan_stop(struct plan *plan, struct wfs_error *error);

/** plan_stepped() - end a step of type `tool` or `llm` with its result
 *  @result: {details, error, method, name, ok, result}; borrowed; gets the step's id. @retry: a
 *  failed step may be tried again */
int plan_stepped(
	struct plan *plan, int64_t index, json_t *result, bool retry, struct wfs_error *error);

/** plan_ask_answer() - after all steps have ended, ask a model for the answer. */
int plan_ask_answer(struct plan *plan, struct wfs_error *error);

/** plan_end() - end the plan with the status that follows from its steps. */
int plan_end(struct plan *plan, struct wfs_error *error);

/* --- answers: plan-receipt.c --- */

/** plan_spend() - charge the tokens of a model's answer, whatever it contains. */
int plan_spend(struct wfs_fold *fold, const char *principal, const json_t *receipt,
	struct wfs_error *error);

/* --- chats: chat.c, chat-receipt.c --- */

/** plan_chat_load() - load a message of a chat. Return: 0, -ENOENT (not_found), … */
int plan_chat_load(struct wfs_fold *fold, const char *chat_id, size_t *ret_cell,
	json_t **ret_message, struct wfs_error *error);

/** plan_chat_principal() - get the principal of a chat from its id. Return: @ret_principal. */
const char *plan_chat_principal(
	const char *chat_id, char ret_principal[static WFS_CHAT_ID_MAX + 1]);

/** plan_chat_ask() - open an intent of a chat
 *  @params: in addition to chat_id; taken, also on failure; NULL: its caller had no memory
 *  @message: of the chat; gets the intent as `open` */
int plan_chat_ask(struct wfs_fold *fold, const char *chat_id, enum wfs_effect effect,
	json_t *params, json_t *message, struct wfs_error *error);

/** plan_say() - append a message to a chat. @chat: its key; @message: borrowed; @ret_id: of the
 *  message */
int plan_say(struct wfs_fold *fold, const char *chat, const json_t *message,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error);

/** plan_fold_chat_receipt() - fold the answer to what a chat has asked for before it has a plan. */
int plan_fold_chat_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/* --- actions and answers, for plan-domain.c --- */

/* Each checks the form of an action of its type. Return: 0, -EINVAL, -EFBIG. */
int plan_check_chat(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_import(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_resume(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_cancel(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** plan_fold_chat() - fold {message, session_id, …}: ask for a plan or, with `plan_id`, continue
 *  one.
 *  @ret_answer: {chat_id, plan_id?} */
int plan_fold_chat(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_import() - take a plan from a blob. @ret_answer: {chat_id} */
int plan_fold_import(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_resume() - continue {plan_id}. @ret_answer: {chat_id, plan_id} */
int plan_fold_resume(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_cancel() - stop the plan {plan_id}, or the chat {chat_id} or its plan. */
int plan_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_receipt() - fold the answer to an intent of a chat or a plan. @intent: its document */
int plan_fold_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/** plan_fold_called() - the action of record 0 was a step: end the step with its result.
 *  The step's result becomes part of the outcome's result, where an action from a journal already
 *  has it. */
int plan_fold_called(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);
