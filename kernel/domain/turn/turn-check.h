/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the index of turn-index.h has a row for each record of each run (turn of an agent).
 * Which records these are is found from the journal, in one pass, without the index.
 * Thread: one at a time.
 */
#pragma once

#include "kernel/read/record.h"
#include "kernel/store/tables.h"

struct wfs_turn_check;

/** wfs_turn_check_new() - begin a check
 *  @wrong: called with @context for each record (@seq) that the index lacks, or has with another
 *  size; called by wfs_turn_check_record() and wfs_turn_check_end(), on their thread. @reason: end
 *  of a message that begins with the record, such as "has another size …"; static
 *  @context: must live until wfs_turn_check_free(). @ret_check: caller frees it with
 *  wfs_turn_check_free()
 *  Return: 0, or -ENOMEM. */
int wfs_turn_check_new(void (*wrong)(void *context, uint64_t seq, const char *reason),
	void *context, struct wfs_turn_check **ret_check);
void wfs_turn_check_free(struct wfs_turn_check *check);

/** wfs_turn_check_record() - give record @seq to the check. A request's own record begins a new
 *  request: the records of the request before it in the journal are then compared with the index.
 *  The caller gives all records of the journal in order, and skips those that the caller cannot
 *  parse. @parsed: the record; borrowed during the call. @txn: of the store with the index
 *  Return: 0 (also if @wrong was called), -ENOMEM, … */
int wfs_turn_check_record(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t seq,
	const struct wfs_record_parsed *parsed);

/** wfs_turn_check_end() - after the newest record was given: compare the records of its request
 *  with the index, too. @ret_count: how many rows the index should have; also set on failure.
 *  Return: 0 (also if @wrong was called), -ENOMEM, … */
int wfs_turn_check_end(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t *ret_count);
