/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns that wait for a time, or for an event: a call of the tool `wait_until`.
 *
 *   sys.wait, key intent id: {intent_id, next_ns, principal, run_id, seq?, until_event?, woken?}
 *
 * The intent of the call stays open, in the state `waiting`, until its receipt. The driver answers
 * it when `next_ns` has come; that becomes 0 when an event of the schema `until_event` is folded,
 * which is record `seq`, or when somebody wakes the turn. `woken` then says by what: event or step.
 * The cell goes with the intent's.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/fold/fold-work.h"

enum { WFS_WAITS_SCHEMA_MAX = 1024 }; /* turns that wait for events of one schema */

/** timer_wait_begin() - make a cell of sys.wait with the document @wait
 *  Return: 0, -ENOENT (not_found: no such schema), -EDQUOT (quota_exceeded), … */
int timer_wait_begin(
	struct wfs_fold *fold, const struct wfs_document_wait *wait, struct wfs_error *error);

/** timer_wait_wake() - end the wait of an intent, so that the driver answers the intent at once
 *  @woken: event or step; static. @seq: number of the event's record; -1 with step
 *  Return: 1, 0 (the intent does not wait, or its wait was ended before), or -errno. */
int timer_wait_wake(struct wfs_fold *fold, const char *intent_id, const char *woken, int64_t seq,
	struct wfs_error *error);

/** timer_wait_end() - at the end of a request: wake the turns that wait for one of its events. */
int timer_wait_end(struct wfs_fold *fold, struct wfs_error *error);
