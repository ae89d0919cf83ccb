/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the crashes of code, by the hash of its source: how often it ended the process that ran
 * it. After three crashes the code is refused until an administrator lifts that, or its source
 * changes.
 *
 * The counts are kept in memory; wfs_quarantine_changed() returns what has to be stored. Replay has
 * no quarantine: it uses what records say about code that crashed.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/hash.h"

enum {
	WFS_QUARANTINE_CRASHES = 3,     /* crashes after which code is refused */
	WFS_QUARANTINE_ROWS_MAX = 4096, /* codes that are kept at once */
	WFS_QUARANTINE_NAME_MAX = 255,  /* bytes */
};

/* One code. Plain value. */
struct wfs_quarantine_row {
	struct wfs_hash code;
	uint32_t crashes;                       /* 0: lifted or forgotten */
	int64_t at_ns;                          /* of the last crash, by the wall clock */
	char name[WFS_QUARANTINE_NAME_MAX + 1]; /* of the code at that time */
};

struct wfs_quarantine;

/** wfs_quarantine_new() - make a list without rows. @ret_quarantine: caller frees it with
 *  wfs_quarantine_free(). Return: 0, or -ENOMEM. */
int wfs_quarantine_new(struct wfs_quarantine **ret_quarantine);
void wfs_quarantine_free(struct wfs_quarantine *quarantine);

/** wfs_quarantine_load() - add a row that was read from the store; it replaces a row of the code
 *  row->code. Return: 0, or -ENOMEM. */
int wfs_quarantine_load(struct wfs_quarantine *quarantine, const struct wfs_quarantine_row *row);

/** wfs_quarantine_crashed() - count one more crash of a code, now
 *  If rows of WFS_QUARANTINE_ROWS_MAX other codes are kept, the row with the fewest crashes is
 *  forgotten; if all of these codes are refused, the new crash is not counted.
 *  @code: hash of its source. @name: its name, for messages; copied, and cut if it is too long
 *  Return: the crashes of the code so far; 0: not counted, for lack of room or of memory. */
uint32_t wfs_quarantine_crashed(
	struct wfs_quarantine *quarantine, const struct wfs_hash *code, const char *name);

/** wfs_quarantine_refuses() - has the code with this hash crashed so often that it is refused? */
bool wfs_quarantine_refuses(struct wfs_quarantine *quarantine, const struct wfs_hash *code);

/** wfs_quarantine_generation() - Return: a number that is raised whenever the set of refused codes
 *  may have changed; 0: no code was ever refused or lifted. */
uint64_t wfs_quarantine_generation(const struct wfs_quarantine *quarantine);

/** wfs_quarantine_lift() - set the crashes of the code with this hash to 0, so that it may run
 *  again. Return: true, also if an earlier call did so, and wfs_quarantine_settle() has not dropped
 *  the row yet; false: the code has no row. */
bool wfs_quarantine_lift(struct wfs_quarantine *quarantine, const struct wfs_hash *code);

/** wfs_quarantine_rows() - copy the rows of all codes that have crashes, sorted by hash
 *  @ret_rows: caller frees; may be NULL if @ret_count is 0. Return: 0, or -ENOMEM. */
int wfs_quarantine_rows(
	struct wfs_quarantine *quarantine, struct wfs_quarantine_row **ret_rows, size_t *ret_count);

/** wfs_quarantine_changed() - get the next row that has changed and is not stored yet. The caller
 *  stores it, and calls wfs_quarantine_settle() when its transaction has ended; until then, later
 *  calls skip this row, unless it changes again. Return: true; false: no such row is left. */
bool wfs_quarantine_changed(struct wfs_quarantine *quarantine, struct wfs_quarantine_row *ret_row);

/** wfs_quarantine_settle() - end the storing of the rows that wfs_quarantine_changed() has returned
 *  @committed: true: the transaction was committed, and rows without crashes are dropped; false: it
 *  was not, and wfs_quarantine_changed() will return these rows again */
void wfs_quarantine_settle(struct wfs_quarantine *quarantine, bool committed);
