/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a run, found without looking at others: those that folded it on (`step`, receipts,
 * actions that are its tool calls, `ask`, `approve`, `cancel`) and what was derived from these. Each
 * has a row in the index, written with the record and never taken out, so every height has its own.
 * With the row stands how long the record's line in `events.jsonl` is. A run whose cells came out of a
 * copy without a journal has only the records behind that.
 * Thread: the one of the transaction.
 */
#pragma once

#include "kernel/read/view.h"

/** wfs_turn_event_size() - bytes of its line in `events.jsonl` of an event record, 0: it has none.
 *  @body_size: bytes of its body, which has no other members than the schema and the value */
uint64_t wfs_turn_event_size(const char *schema, size_t body_size);

/** wfs_turn_index_add() - a record of a run. Return: 0, -EIO (it is there), -ENOSPC. */
int wfs_turn_index_add(struct wfs_txn *txn, const char *run_id, uint64_t seq, uint64_t event_size);

/* Walks the records of a run that the view has. Plain value: init, next …, done. */
struct wfs_turn_walk {
	struct wfs_index_walk rows;
	uint64_t height;
};

/** wfs_turn_walk_init() - @from: the first seq, in order; UINT64_MAX: all, the newest first */
int wfs_turn_walk_init(
	struct wfs_turn_walk *walk, struct wfs_view *view, struct wfs_bytes run_id, uint64_t from);

/** wfs_turn_walk_next() - @ret_event_size: as above. Return: 1 and a record, 0 at the end, or -errno. */
int wfs_turn_walk_next(struct wfs_turn_walk *walk, uint64_t *ret_seq, uint64_t *ret_event_size);
void wfs_turn_walk_done(struct wfs_turn_walk *walk);
#define WFS_AUTO_TURN_WALK WFS_CLEANUP(wfs_turn_walk_done)
