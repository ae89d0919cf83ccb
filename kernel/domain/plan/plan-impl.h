/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/plan/: one plan while a record is folded into it.
 *
 * Whoever loads a plan changes its state and its blocks in memory and stores them once, at the end.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/fold/intent.h"

struct plan_block {
	json_t *document; /* owned; NULL: it was not asked for */
	size_t cell;
	bool changed;
};

/* Plain value; plan_load or plan_new, plan_done. */
struct plan {
	struct wfs_fold *fold;
	json_t *state; /* document of its cell of sys.plan; owned */
	size_t cell;
	const char *plan_id;       /* borrowed from the state */
	struct plan_block *blocks; /* owned */
	size_t block_count;
	uint8_t *ready; /* a bit for each block that has a step to be taken into a batch; owned */
	size_t ended_count; /* steps that this fold has ended, or has opened again */
	bool failed;        /* there was no memory for a member: told when it is stored */
};
void plan_done(struct plan *plan);
#define PLAN_AUTO WFS_CLEANUP(plan_done)

/** plan_load() - Return: 0, -ENOENT (not_found), … */
int plan_load(
	struct wfs_fold *fold, const char *plan_id, struct plan *ret_plan, struct wfs_error *error);

/** plan_new() - @state: with `plan_id` and `total`; taken. Return: 0, -EEXIST, … */
int plan_new(struct wfs_fold *fold, json_t *state, struct plan *ret_plan, struct wfs_error *error);

/** plan_store() - state and blocks become those of their cells. */
int plan_store(struct plan *plan, struct wfs_error *error);

int64_t plan_number(const struct plan *plan, const char *member);
void plan_set_number(struct plan *plan, const char *member, int64_t value);
void plan_add(struct plan *plan, const char *member, int64_t amount);
const char *plan_text(const struct plan *plan, const char *member);
/** plan_set() - takes @value; NULL: there was no memory for it. */
void plan_set(struct plan *plan, const char *member, json_t *value);
bool plan_is(const struct plan *plan, const char *member, const char *value);
size_t plan_open_count(const struct plan *plan);

/** plan_is_number() - is this an integer in [@minimum, @maximum]? @value: may be NULL */
bool plan_is_number(const json_t *value, int64_t minimum, int64_t maximum);

/** plan_ask() - open an intent. @step: index, or -1. @params: taken */
int plan_ask(struct plan *plan, enum wfs_effect effect, json_t *params, int64_t step,
	int64_t not_before_ns, struct wfs_error *error);

/** plan_answered() - an intent is answered: it is open no more. */
int plan_answered(struct plan *plan, const char *intent_id, struct wfs_error *error);

/** plan_cancel_open() - nobody waits for any of its intents any more. */
int plan_cancel_open(struct plan *plan, struct wfs_error *error);

/* --- steps and their blocks: plan-step.c --- */

/* A step while it is changed. Plain value; plan_step_load, plan_step_done. */
struct plan_step {
	int64_t index;
	size_t cell;
	json_t *document; /* owned */
	const char *id;   /* borrowed from it */
};
void plan_step_done(struct plan_step *step);
#define PLAN_STEP_AUTO WFS_CLEANUP(plan_step_done)

/** plan_load_part() - a document of step @index. @ret_document: NULL: there is none */
int plan_load_part(struct plan *plan, enum wfs_builtin_reducer reducer, int64_t index,
	size_t *ret_cell, json_t **ret_document, struct wfs_error *error);

int plan_step_load(
	struct plan *plan, int64_t index, struct plan_step *ret_step, struct wfs_error *error);

/** plan_step_set() - its status; then it is stored. @reason: NULL: none */
int plan_step_set(struct plan *plan, struct plan_step *step, const char *status, const char *reason,
	struct wfs_error *error);

/** plan_step_define() - one more step; there is room. @part: {next?, refs?, result?, step, waiting}
 *  Return: 0, -EINVAL, … */
int plan_step_define(struct plan *plan, const json_t *part, struct wfs_error *error);

/** plan_step_keep() - what it gave; the step refers to it, and is not stored. */
int plan_step_keep(
	struct plan *plan, struct plan_step *step, const json_t *result, struct wfs_error *error);

/** plan_wait_less() - a dependency of step @index has ended. @failed: id of one that did not do well, or
 *  NULL */
int plan_wait_less(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error);

/** plan_wait_more() - step @index waits for @more dependencies more. That one has failed before does not count any
 *  more. */
int plan_wait_more(struct plan *plan, int64_t index, int64_t more, struct wfs_error *error);

/** plan_give_back() - a step that was taken may be taken again. */
int plan_give_back(struct plan *plan, int64_t index, struct wfs_error *error);

/**
 * plan_take() - the next step that waits for nothing
 * @ret_index: -1: there is none
 * @ret_doomed: why it is not run; NULL: it is. Borrowed until its block is changed again
 */
int plan_take(
	struct plan *plan, int64_t *ret_index, const char **ret_doomed, struct wfs_error *error);

/* --- running: plan-run.c --- */

/** plan_go_on() - begin steps that may begin; when all have ended, what comes then. */
int plan_go_on(struct plan *plan, struct wfs_error *error);

/** plan_retry() - steps that failed or were skipped are to be run again, by plan_go_on(). */
void plan_retry(struct plan *plan);

/** plan_stop() - nothing is run any more; what was begun may begin again. */
int plan_stop(struct plan *plan, struct wfs_error *error);

/** plan_stepped() - a step of kind `tool` or `llm` has given @result, {details, error, method, name, ok,
 *  result}. @retry: may it be tried again? */
int plan_stepped(
	struct plan *plan, int64_t index, json_t *result, bool retry, struct wfs_error *error);

/** plan_ask_answer() - all steps have ended: have a model say what came of it. */
int plan_ask_answer(struct plan *plan, struct wfs_error *error);

/** plan_end() - with the status that follows from its steps. */
int plan_end(struct plan *plan, struct wfs_error *error);

/* --- answers: plan-receipt.c --- */

/** plan_spend() - what a model has cost, whatever came of it. */
int plan_spend(struct wfs_fold *fold, const char *principal, const json_t *receipt,
	struct wfs_error *error);

/* --- chats: chat.c, chat-receipt.c --- */

/** plan_chat_load() - a message. Return: 0, -ENOENT (not_found), … */
int plan_chat_load(struct wfs_fold *fold, const char *chat_id, size_t *ret_cell,
	json_t **ret_message, struct wfs_error *error);

/** plan_chat_principal() - whose chat it is: @ret_principal, filled in */
const char *plan_chat_principal(
	const char *chat_id, char ret_principal[static WFS_CHAT_ID_MAX + 1]);

/** plan_chat_ask() - open an intent. @params: beside chat_id; taken, also on failure; NULL: there was no
 *  memory for them. @message: of the chat; it is told the intent */
int plan_chat_ask(struct wfs_fold *fold, const char *chat_id, enum wfs_effect effect,
	json_t *params, json_t *message, struct wfs_error *error);

/** plan_say() - one more message of a chat. @chat: its key; @message: borrowed; @ret_id: of the message */
int plan_say(struct wfs_fold *fold, const char *chat, const json_t *message,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error);

/** plan_fold_chat_receipt() - what a chat has asked for, before there is a plan. */
int plan_fold_chat_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/* --- actions and answers, for plan-domain.c --- */

/** plan_check_action() - the form of an action of one of these types. Return: 0, -EINVAL, -EFBIG. */
int plan_check_chat(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_import(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_resume(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int plan_check_cancel(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** plan_fold_chat() - {message, session_id, …}: ask for a plan, or with `plan_id` go on with one;
 *  {chat_id, plan_id?} */
int plan_fold_chat(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_import() - a plan out of a blob; {chat_id} */
int plan_fold_import(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_resume() - go on with {plan_id}; {chat_id, plan_id} */
int plan_fold_resume(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_cancel() - stop {plan_id}, or what has become of {chat_id}. */
int plan_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** plan_fold_receipt() - fold the answer to an intent of a chat or a plan. @intent: its document */
int plan_fold_receipt(struct wfs_fold *fold, const json_t *intent, const json_t *receipt,
	struct wfs_error *error);

/** plan_fold_called() - the action of record 0 was a step; its result becomes part of the outcome's,
 *  which an action out of a journal has already. */
int plan_fold_called(struct wfs_fold *fold, const char *intent_id, const json_t *intent,
	struct wfs_error *error);
