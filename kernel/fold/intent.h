/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents: what turns, chats and plans want from outside of the fold. Each is an `intent` record,
 * and a cell as long as it is open. So the driver finds everything that is to be done in one place.
 *
 *   sys.intent, key intent id: {effect, principal, state, …}; state: open, asked (it waits for an
 *                              approval), approved, waiting (for a time or an event), or unknown
 *                              (its answer was lost)
 *     of a turn:      began?, call?, run_id, turn   (kernel/domain/turn/turn.h)
 *     of a chat:      chat_id                       (kernel/domain/plan/plan.h)
 *     of a plan:      not_before_ns?, plan_id, step?
 *     of an outside tool: origin, outside           (kernel/domain/outside/outside.h)
 *
 * Each intent is answered once: by a receipt or, if it asks for a tool call that is an action, by
 * the record of this action.
 * Record 0 is the request's own record in the fold of a request. Functions that return int return
 * 0, or -errno with @error filled.
 * Source: docs/design.md §11.
 */
#pragma once

#include "kernel/fold/fold-work.h"

enum { WFS_INTENTS_MAX = 65536 }; /* open intents of a world */

#define WFS_INTENT_UNKNOWN "unknown"       /* status of a receipt, and state of an intent */
#define WFS_INTENT_ADAPTER "kernel.intent" /* adapter_id of receipts that folding gives */

/** wfs_intent_check_receipt() - check a receipt that a client sends: its intent_id must be a hash,
 *  its payload an object, and its status ok, error, timeout, cancelled or unknown. Return: 0,
 *  -EINVAL. */
int wfs_intent_check_receipt(const struct wfs_body_receipt *receipt, struct wfs_error *error);

/* An intent that is to be opened. Plain value. */
struct intent {
	enum wfs_effect effect;
	enum wfs_builtin_reducer reducer; /* of the cell (of a turn, chat or plan) that asks */
	const char *key;                  /* of this cell; NULL: document.origin says what asks */
	json_t *params; /* of the effect, for the intent's record; taken, also on failure; NULL: the
			 * caller had no memory, and intent_open() fails */
	struct wfs_document_intent document; /* without effect and state */
};

/** intent_open() - open an intent: add its record to the fold, and make its cell, in state `open`
 *  @ret_id: the intent's id, as text */
int intent_open(struct wfs_fold *fold, const struct intent *intent,
	char ret_id[static WFS_HASH_TEXT_SIZE], struct wfs_error *error);

/** intent_check_room() - check that a turn, chat or plan may begin, which will open intents
 *  Return: 0, -EAGAIN (overloaded: WFS_INTENTS_MAX are open). */
int intent_check_room(const struct wfs_fold *fold, struct wfs_error *error);

/** intent_load() - read the document of an open intent
 *  @ret_intent: caller ends it with wfs_document_done() (kernel/manifest/document.h), also on
 *  failure
 *  Return: 0, -ENOENT (not_found: no intent ever had this id), -ESTALE (conflict: the intent was
 *  answered), … */
int intent_load(struct wfs_fold *fold, const char *intent_id,
	struct wfs_document_intent *ret_intent, struct wfs_error *error);

/** intent_begin() - store in the cell of the intent @intent_id that the action of record 0, the
 *  tool call that the intent asks for, has begun a turn or a chat
 *  So a driver that starts again finds what was begun, and a call begins only one turn or chat.
 *  @began: id of the turn or chat; borrowed by @ret_intent
 *  @ret_intent: the intent's document after this; zeros before; caller ends it as for intent_load()
 *  Return: as intent_check_called(), -ESTALE (conflict: the call has begun one before), -EINVAL
 *  (the call is a plan's, not a turn's), -EAGAIN (overloaded: WFS_TURN_BELOW_MAX turns and chats
 *  (kernel/mind/turn-bounds.h) are under way below the topmost turn), … */
int intent_begin(struct wfs_fold *fold, const char *intent_id, const char *began,
	struct wfs_document_intent *ret_intent, struct wfs_error *error);

/** intent_pass_on() - store in the cell of the intent @intent_id, which asks for a tool call, that
 *  the call is made by the intent @to, whose answer will also be the answer to @intent_id
 *  So a driver that starts again finds @to, and a call is passed on only once. The action of
 *  record 0 must have the principal of @intent_id.
 *  Return: as intent_check_called(), -ESTALE (conflict: the call has begun something before), … */
int intent_pass_on(
	struct wfs_fold *fold, const char *intent_id, const char *to, struct wfs_error *error);

/** intent_close() - delete the cell of an intent that has been answered, and its cell in sys.wait,
 *  which a call of wait_until has; does nothing for a cell that is not live. */
int intent_close(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_cancel() - close an open intent whose answer is not needed any more, and add a receipt
 *  with the status `cancelled`. */
int intent_cancel(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_answer() - answer an intent while a record that says what the answer is, but is not a
 *  receipt, is folded; no receipt is added to the journal
 *  @receipt: the body that a receipt with this answer would have; its texts are borrowed
 *  Return: as intent_load(), … */
int intent_answer(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** intent_forget() - remove the object whose member `intent_id` is @intent_id from the array @list,
 *  such as the member `open` of a turn. */
void intent_forget(json_t *list, const char *intent_id);

/* --- for kernel/fold/fold.c: parts of record 0 of a fold --- */

/** intent_fold_receipt() - give @receipt, the body of a receipt's record, to the domain of the
 *  intent that it answers. Return: as intent_load(), -EINVAL (wfs_intent_check_receipt() refuses
 *  it), … */
int intent_fold_receipt(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** intent_check_called() - check that the intent asks for a tool call, and has the principal of the
 *  action of record 0. Return: as intent_load(), or -EINVAL (another effect or principal). */
int intent_check_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);

/** intent_call_of() - get the tool call of a turn that an open intent asks for; the caller has
 *  checked with intent_check_called() that the intent asks for a tool call
 *  @ret_call: {call_id, run_id, tool_name, turn}; caller owns it; not set if the call is not that
 *  of a turn. Return: 0 (also if @ret_call is not set), or as intent_load(), … */
int intent_call_of(
	struct wfs_fold *fold, const char *intent_id, json_t **ret_call, struct wfs_error *error);

/** intent_fold_called() - answer the intent @intent_id, which asks for a tool call, with the
 *  outcome of this call, the action of record 0, which gets a record even if it only reads
 *  The answer is added to fold->outcome.result, which goes into the record; for an action from a
 *  journal the answer is taken from the action's record. */
int intent_fold_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error);
