/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs and plans want from outside: each wish is an `intent` record and a cell, as long as it is
 * open. So there is one list of what is to be done, which whoever drives the world looks at.
 *
 *   sys.intent, key intent id: {effect, principal, state, …}; state: open, asked (it waits for an
 *                              approval) or approved
 *     of a run:       began?, call?, run_id, turn   (kernel/domain/turn/turn.h)
 *     of a chat:      chat_id                       (kernel/domain/plan/plan.h)
 *     of a plan:      not_before_ns?, plan_id, step?
 *
 * Each is answered once: by a receipt, or, when it is a tool call that is an action, by that action.
 * Source: docs/design.md §11.
 */
#pragma once

#include "kernel/fold/fold-work.h"

enum { WFS_INTENTS_MAX = 65536 }; /* open, of a world */

#define WFS_INTENT_ADAPTER "kernel.intent" /* adapter_id of receipts that folding gives */

/** wfs_intent_check_receipt() - the form of a receipt that is sent: {adapter_id, intent_id, payload,
 *  status}. Return: 0, -EINVAL. */
int wfs_intent_check_receipt(const json_t *receipt, struct wfs_error *error);

/* What is asked for, and by whom. Plain value. */
struct intent {
	enum wfs_effect effect;
	enum wfs_builtin_reducer reducer; /* of the cell that asks */
	const char *key;                  /* its */
	json_t *params;   /* of the record; taken; NULL: there was no memory for them */
	json_t *document; /* members of its cell beside effect and state; taken; NULL: the same */
};

/** intent_open() - @ret_id: text of its id */
int intent_open(struct wfs_fold *fold, const struct intent *intent,
	char ret_id[static WFS_HASH_TEXT_SIZE], struct wfs_error *error);

/** intent_check_room() - may something begin that will open intents? Return: 0, -EAGAIN (overloaded). */
int intent_check_room(const struct wfs_fold *fold, struct wfs_error *error);

/**
 * intent_load() - the document of an open one; caller owns it
 * @ret_cell: its cell; may be NULL
 * Return: 0, -ENOENT (not_found: there never was one), -ESTALE (conflict: it is answered), …
 */
int intent_load(struct wfs_fold *fold, const char *intent_id, size_t *ret_cell,
	json_t **ret_document, struct wfs_error *error);

/**
 * intent_begin() - what this tool call of a run asks for begins by the action of record 0: another run, or a chat.
 * So whoever drives the world again finds what was begun, and a call begins one thing.
 * @began: its id
 * @ret_document: of the intent; caller owns it; may be NULL
 * Return: as intent_check_called, -ESTALE (conflict: it has begun something), or as fold_begun() of its domain.
 */
int intent_begin(struct wfs_fold *fold, const char *intent_id, const char *began,
	json_t **ret_document, struct wfs_error *error);

/** intent_close() - it is answered. */
int intent_close(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_cancel() - nobody waits for it any more: closed, with a receipt that says so. */
int intent_cancel(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_forget() - take an intent out of a list of objects that have `intent_id`. */
void intent_forget(json_t *list, const char *intent_id);

/* --- for kernel/fold/fold.c: parts of record 0 of a fold --- */

/** intent_fold_receipt() - fold the answer to an intent. Return: as intent_load, … */
int intent_fold_receipt(struct wfs_fold *fold, const json_t *receipt, struct wfs_error *error);

/** intent_check_called() - may the action of record 0 answer this intent? Return: as intent_load, or
 *  -EINVAL. */
int intent_check_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_call_of() - the tool call of a run that an open intent asks for: {call_id, run_id, tool_name, turn}
 *  @ret_call: NULL: the intent is of a plan; caller owns it */
int intent_call_of(
	struct wfs_fold *fold, const char *intent_id, json_t **ret_call, struct wfs_error *error);

/** intent_fold_called() - the action of record 0 has answered it; what it gave becomes part of the
 *  outcome's result, which an action out of a journal has already. */
int intent_fold_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);
