/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the index have the records of runs? Which these are is found again here, from the journal
 * alone, in one pass over it.
 * Thread: one at a time.
 */
#pragma once

#include "kernel/read/record.h"
#include "kernel/store/tables.h"

struct wfs_turn_check;

/** wfs_turn_check_new() - @wrong: is told of each record that the index lacks; @context: its own */
int wfs_turn_check_new(void (*wrong)(void *context, uint64_t seq, const char *reason),
	void *context, struct wfs_turn_check **ret_check);
void wfs_turn_check_free(struct wfs_turn_check *check);

/** wfs_turn_check_record() - the next record; one that cannot be read is left out.
 *  Return: 0, -ENOMEM, … */
int wfs_turn_check_record(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t seq,
	const struct wfs_record_parsed *parsed);

/** wfs_turn_check_end() - that was the last. @ret_count: rows that the index must have of these */
int wfs_turn_check_end(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t *ret_count);
