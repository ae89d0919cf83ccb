/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the records of each run: those that changed it (`step`, receipts, actions that are
 * its tool calls, `ask`, `approve`, `cancel`) and those derived from these.
 *
 * A row is written and removed together with its record, so the index is right at every height. It
 * has the size of the record's line in `events.jsonl`. A run that came from a copy without a
 * journal has only rows of later records.
 * Thread: the thread of the transaction.
 */
#pragma once

#include "kernel/read/view.h"

/** wfs_turn_event_size() - compute the size in bytes of the line that an event record has in the
 *  file `events.jsonl`; 0: it has none, because @schema is not that of an event of turns
 *  @schema: of the record's event; NULL: the record is not an event. @body_size: bytes of the
 *  record's body, which is {schema, value} */
uint64_t wfs_turn_event_size(const char *schema, size_t body_size);

/** wfs_turn_index_add() - add a row for record @seq of a run
 *  @event_size: from wfs_turn_event_size(); 0: not an event. Return: 0, -EIO (the row exists
 *  already, or the store is damaged), -ENOSPC (the store is full). */
int wfs_turn_index_add(struct wfs_txn *txn, const char *run_id, uint64_t seq, uint64_t event_size);

/* A walk over the records of one run that are in a view. Plain value: init, next …, done. */
struct wfs_turn_walk {
	struct wfs_index_walk rows;
	uint64_t first_seq; /* the oldest record that is kept */
	uint64_t height;
};

/** wfs_turn_walk_init() - begin a walk; @walk: zeros before; the caller ends it with
 *  wfs_turn_walk_done(), also on failure
 *  @view: its transaction must live until the walk ends
 *  @from: lowest record number of the walk, in ascending order; UINT64_MAX: walk all records, the
 *  newest first. Return: 0, or -errno. */
int wfs_turn_walk_init(
	struct wfs_turn_walk *walk, struct wfs_view *view, struct wfs_bytes run_id, uint64_t from);

/** wfs_turn_walk_next() - get the number of the next record of the walk, and the size of its line
 *  in `events.jsonl` (wfs_turn_event_size()). Return: 1, 0 at the end (nothing is set), or
 *  -errno. */
int wfs_turn_walk_next(struct wfs_turn_walk *walk, uint64_t *ret_seq, uint64_t *ret_event_size);
void wfs_turn_walk_done(struct wfs_turn_walk *walk);
#define WFS_AUTO_TURN_WALK WFS_CLEANUP(wfs_turn_walk_done)
