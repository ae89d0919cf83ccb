/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans and chats, for those who look: drivers of the world, and people.
 *
 * What each document has is told in kernel/domain/plan/plan.h. What files show of a plan: plan-file.h.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/read/view.h"

enum { WFS_PLAN_KEY_SIZE = WFS_PLAN_ID_SIZE + 24 }; /* `plan.n`, and a NUL */

/** wfs_plan_key() - of a step's cells, or of a block's. */
void wfs_plan_key(const char *plan_id, int64_t index, char ret_key[static WFS_PLAN_KEY_SIZE]);

/*
 * Each gives a document, which the caller owns.
 * Return: 0, -ENOENT (not_found), -EIO, -ENOMEM.
 */

/** wfs_plan_state() - of sys.plan */
int wfs_plan_state(
	struct wfs_view *view, const char *plan_id, json_t **ret_state, struct wfs_error *error);

/** wfs_plan_step() - of sys.plan_step */
int wfs_plan_step(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_step,
	struct wfs_error *error);

/** wfs_plan_result() - what a step gave: of sys.plan_result */
int wfs_plan_result(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_result,
	struct wfs_error *error);

/** wfs_plan_refs() - indices of the steps that the placeholders of step @index name, by their ids. @ret_refs:
 *  NULL: they name none */
int wfs_plan_refs(struct wfs_view *view, const char *plan_id, int64_t index, json_t **ret_refs,
	struct wfs_error *error);

/** wfs_plan_source() - of sys.plan_source */
int wfs_plan_source(struct wfs_view *view, const char *message_id, json_t **ret_source,
	struct wfs_error *error);

/** wfs_chat_message() - of sys.chat_message. @message_id: `chat.n` */
int wfs_chat_message(struct wfs_view *view, const char *message_id, json_t **ret_message,
	struct wfs_error *error);

/** wfs_plan_summary() - {batch{ended, size}, batches, chat_id, created_ns, done, failed, goal, phase, plan_id,
 *  principal, running, session_id, skipped, status, tool_batches, tool_calls, total, updated_ns, waits};
 *  running: steps that were begun and have not ended; waits: something is asked for. NULL without memory; caller owns it. @state: of sys.plan */
json_t *wfs_plan_summary(const json_t *state);
