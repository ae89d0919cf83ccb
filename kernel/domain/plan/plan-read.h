/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans and chats, for readers outside of folding, such as the driver and the tree.
 *
 * kernel/domain/plan/plan.h describes the documents; plan-file.h what files show.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/read/view.h"

enum { WFS_PLAN_KEY_SIZE = WFS_PLAN_ID_SIZE + 24 }; /* `plan.n`, and a NUL */

/** wfs_plan_key() - write the key of the cell of a step or a block: `plan_id.n`. @index: n, of the
 *  step or block */
void wfs_plan_key(const char *plan_id, int64_t index, char ret_key[static WFS_PLAN_KEY_SIZE]);

/*
 * The next six each read the document of a cell at the view's height; the caller owns it.
 * Return: 0, -ENOENT (not_found), -EIO, -ENOMEM.
 */

/** wfs_plan_state() - read the document of sys.plan of a plan; caller owns it. */
int wfs_plan_state(
	struct wfs_view *view, const char *plan_id, json_t **ret_state, struct wfs_error *error);

/** wfs_plan_step() - read the document of sys.plan_step of step @index; caller owns it. */
int wfs_plan_step(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_step,
	struct wfs_error *error);

/** wfs_plan_result() - read the result of step @index, the document of sys.plan_result; caller owns
 *  it. */
int wfs_plan_result(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_result,
	struct wfs_error *error);

/** wfs_plan_refs() - read which steps' results the prompt of step @index uses by placeholders
 *  @ret_refs: {id of a step: its index}; NULL: none; caller owns it */
int wfs_plan_refs(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_refs,
	struct wfs_error *error);

/** wfs_plan_source() - read the document of sys.plan_source: a plan as the model wrote it, in
 *  answer to @message_id; caller owns it. */
int wfs_plan_source(struct wfs_view *view, const char *message_id, json_t **ret_source,
	struct wfs_error *error);

/** wfs_chat_message() - read the document of sys.chat_message. @message_id: its key, `chat.n`;
 *  caller owns @ret_message */
int wfs_chat_message(struct wfs_view *view, const char *message_id, json_t **ret_message,
	struct wfs_error *error);

/** wfs_plan_summary() - make {batch{ended, size}, batches, chat_id, created_ns, done, failed, goal,
 *  phase, plan_id, principal, running, session_id, skipped, status, tool_batches, tool_calls,
 *  total, updated_ns, waits}
 *  running: how many steps have begun and not ended; waits: whether an intent is open.
 *  @state: document of sys.plan. Return: new reference, NULL without memory. */
json_t *wfs_plan_summary(const json_t *state);
