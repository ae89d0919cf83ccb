/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans, for readers outside of folding. kernel/domain/plan/plan.h describes the documents;
 * plan-file.h what files show.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/plan/plan.h"
#include "kernel/read/view-document.h"

enum { WFS_PLAN_KEY_SIZE = WFS_PLAN_ID_SIZE + 24 }; /* `plan.n`, and a NUL */

/** wfs_plan_key() - write the key of the cell of a step or a block: `plan_id.n`. @index: n, of the
 *  step or block */
void wfs_plan_key(const char *plan_id, int64_t index, char ret_key[static WFS_PLAN_KEY_SIZE]);

/** wfs_plan_summary() - make {batch{ended, size}, batches, chat_id, created_ns, done, failed, goal,
 *  phase, plan_id, principal, running, session_id, skipped, status, tool_batches, tool_calls,
 *  total, updated_ns, waits}
 *  running: how many steps have begun and not ended; waits: whether an intent of the plan
 *  is open. @plan: document of sys.plan, borrowed. Return: new reference, NULL without memory. */
json_t *wfs_plan_summary(const struct wfs_document_plan *plan);
