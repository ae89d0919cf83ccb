/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns that wait for a time, or for an event: a call of the tool `wait_until`.
 *
 *   sys.wait, key intent id: {intent_id, next_ns, principal, run_id, seq?, until_event?, woken?}
 *
 * The intent of the call stays open, in the state `waiting`, until its receipt. The driver answers
 * it when `next_ns` has come. `next_ns` becomes 0 when an event of the schema `until_event` is
 * folded (then `seq` is its record, and `woken` is event), or when a principal wakes the turn by
 * the action `wake` (then `woken` is step). The cell is deleted together with the intent's cell.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/fold/fold-work.h"

enum { WFS_WAITS_SCHEMA_MAX = 1024 }; /* turns that wait for events of one schema */

/** timer_wait_begin() - make a cell of sys.wait with the document @wait
 *  Return: 0, -ENOENT (not_found: no such schema), -EDQUOT (quota_exceeded: WFS_WAITS_SCHEMA_MAX
 *  turns wait for events of this schema), -EINVAL (the manifest lacks the reducer sys.timer), … */
int timer_wait_begin(
	struct wfs_fold *fold, const struct wfs_document_wait *wait, struct wfs_error *error);

/** timer_wait_wake() - end the wait of an intent, so that the driver answers the intent at once
 *  @woken: "event" or "step"; static. @seq: number of the event's record; -1 with "step"
 *  Return: 1, 0 (the intent does not wait, or its wait was ended before), or -errno. */
int timer_wait_wake(struct wfs_fold *fold, const char *intent_id, const char *woken, int64_t seq,
	struct wfs_error *error);

/** timer_wait_end() - after all records of a request were folded: end the waits of the turns that
 *  wait for one of its events. Return: 0, or -errno, which fails the request. */
int timer_wait_end(struct wfs_fold *fold, struct wfs_error *error);
