/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index: sets of cells of built-in reducers, and of records, by which queries find and count
 * cells without reading all of them. The store keeps the number of members of each set, and the sum
 * of an amount that each member adds.
 *
 * | a set for each                           | holds             | sums           |
 * |------------------------------------------|-------------------|----------------|
 * | some of: owner, type, executable         | artifacts         |                |
 * | artifact that others depend on           | artifacts         |                |
 * | artifact, invoker, or both               | invocations       | milliseconds   |
 * | of these, with the code of an error      | those that failed | milliseconds   |
 * | `status`: pending, or not                | bids of the mint  |                |
 * | holder                                   | grants            |                |
 * | principal                                | timers            |                |
 * | due time                                 | timers, waits of turns |           |
 * | schema of events                         | waits of turns    |                |
 * | turn of an agent                         | records           | bytes in `events.jsonl` |
 *
 * A wait is a cell of sys.wait: a turn that is to go on when an event comes, or at a time.
 * The sets that a cell is in follow from its state alone. wfs_head_set_cell() changes them in the
 * transaction that sets the cell, so the index always shows the head, and nothing of the past. A
 * restored world can have a state without the shape that its reducer gives; such a cell is in the
 * sets that follow from the members it has.
 * Records of turns stay in their sets (kernel/domain/turn/turn-index.h), which show the past, too.
 * Thread: the one of the transaction.
 */
#pragma once

#include "kernel/store/tables.h"

enum {
	/* dependencies of one artifact; more, which a restored world may have, are in no set */
	WFS_INDEX_DEPENDENCIES_MAX = 1024,
};

/* How the cells of a reducer are indexed. */
enum wfs_indexed {
	WFS_INDEXED_NONE,
	WFS_INDEXED_ARTIFACTS,
	WFS_INDEXED_INVOCATIONS,
	WFS_INDEXED_BIDS,
	WFS_INDEXED_GRANTS,
	WFS_INDEXED_TIMERS,
	WFS_INDEXED_WAITS,
};

/** wfs_indexed_find() - Return: how the cells of the reducer with the name @reducer are indexed;
 *  WFS_INDEXED_NONE: they are in no set. */
enum wfs_indexed wfs_indexed_find(struct wfs_bytes reducer);

/* --- names of sets: most functions write the name of one to @set, a plain value --- */

/** wfs_index_artifacts() - write to @set the name of the set of artifacts with this owner, type and
 *  executable. @owner, @type: NULL: any. @executable: 0, 1, or -1: any
 *  At least one of the three must not be "any". */
void wfs_index_artifacts(
	struct wfs_index_set *set, const char *owner, const char *type, int executable);

/** wfs_index_dependents() - write to @set the name of the set of artifacts that depend on the
 *  artifact @artifact_id. */
void wfs_index_dependents(struct wfs_index_set *set, const char *artifact_id);

/** wfs_index_invocations() - write to @set the name of the set of invocations of one artifact by
 *  one invoker. @artifact_id, @invoker_id: NULL: any; both NULL: all invocations */
void wfs_index_invocations(
	struct wfs_index_set *set, const char *artifact_id, const char *invoker_id);

/** wfs_index_failures() - write to @set the name of the set of those invocations of
 *  wfs_index_invocations() that ended with the error @code. */
void wfs_index_failures(struct wfs_index_set *set, const char *artifact_id, const char *invoker_id,
	enum wfs_error_code code);

/** wfs_index_bids() - write to @set the name of a set of bids of the mint. @pending: true: those
 *  that wait for an auction; false: all others */
void wfs_index_bids(struct wfs_index_set *set, bool pending);

/** wfs_index_grants() - write to @set the name of the set of grants that @principal holds. */
void wfs_index_grants(struct wfs_index_set *set, struct wfs_bytes principal);

/** wfs_index_timers() - write to @set the name of the set of timers of @principal. */
void wfs_index_timers(struct wfs_index_set *set, struct wfs_bytes principal);

/** wfs_index_waiting() - write to @set the name of the set of waits for an event of the schema
 *  @schema. */
void wfs_index_waiting(struct wfs_index_set *set, struct wfs_bytes schema);

/** wfs_index_due() - write to @set the name of the set of timers and waits that are next due at
 *  @due_ns, in nanoseconds since 1970, not negative. These names sort in the order of the times. */
void wfs_index_due(struct wfs_index_set *set, int64_t due_ns);

/** wfs_index_due_time() - Return: the @due_ns with which wfs_index_due() has written the name @set;
 *  -1: another function has written it. */
int64_t wfs_index_due_time(const struct wfs_index_set *set);

/** wfs_index_run() - write to @set the name of the set of the records of the turn @run_id, which
 *  are ordered by seq. */
void wfs_index_run(struct wfs_index_set *set, struct wfs_bytes run_id);

/** wfs_index_runs() - write to @set a name that sorts before all names that wfs_index_run() writes:
 *  where wfs_index_remove_below() (kernel/store/tables.h) begins. */
void wfs_index_runs(struct wfs_index_set *set);

/** wfs_index_is_run() - is @set the name of a set of records of a turn (wfs_index_run())? */
bool wfs_index_is_run(const struct wfs_index_set *set);

/* --- changing sets --- */

/* The sets that a cell is in. Plain value: a function below fills zeros, and
 * wfs_index_places_done() frees what it has added. */
struct wfs_index_places {
	struct wfs_index_place *items; /* owned */
	size_t count;
	size_t capacity;
};

/* A set, and what the cell adds to its sum. Plain value. */
struct wfs_index_place {
	struct wfs_index_set set;
	uint64_t amount;
};

void wfs_index_places_done(struct wfs_index_places *places);
#define WFS_AUTO_INDEX_PLACES WFS_CLEANUP(wfs_index_places_done)

/** wfs_index_places_of() - find the sets that a cell with the state @state (JSON text) is in
 *  @indexed: of the cell's reducer
 *  @places: empty; caller ends it with wfs_index_places_done(), also after an error
 *  Return: 0, or -ENOMEM. */
int wfs_index_places_of(
	enum wfs_indexed indexed, struct wfs_bytes state, struct wfs_index_places *places);

/** wfs_index_places_now() - find the sets that a cell is in because of its state in the store; none
 *  if @cell is not live, or is new (cell->cell_id is 0)
 *  @indexed: of the cell's reducer. @places: as for wfs_index_places_of()
 *  Return: 0, -EIO, -ENOMEM. */
int wfs_index_places_now(struct wfs_store *store, struct wfs_txn *txn, enum wfs_indexed indexed,
	const struct wfs_cell *cell, struct wfs_index_places *places);

/** wfs_index_move() - take a cell out of the places (set and amount) that are only in @from, and
 *  put it into those that are only in @to; if a set is in both with different amounts, the cell is
 *  taken out of it and put in again
 *  Return: 0, -EIO (the cell was missing in a set of @from, or was in one of @to), -ENOSPC; after a
 *  failure some sets may be changed, so the caller gives up the transaction. */
int wfs_index_move(struct wfs_txn *txn, uint64_t cell_id, const struct wfs_index_places *from,
	const struct wfs_index_places *to);

/* --- checking --- */

/* Receives the findings of wfs_index_check(). Callback table. */
struct wfs_index_checker {
	/* Report a member of a set that is wrong or missing. @id: of a cell; in the set of a turn,
	 * the seq of a record */
	void (*wrong)(
		void *context, const struct wfs_index_set *set, uint64_t id, const char *reason);
	/* Report how many cells were checked. Return: 0, or -errno that ends the check. */
	int (*progress)(void *context, uint64_t done);
	void *context;
	uint64_t first_seq;    /* records before it were not checked */
	uint64_t height;       /* records below it were checked */
	uint64_t runs_records; /* rows that these records have in the sets of turns */
};

/** wfs_index_check() - compare all sets with the cells in the store, and report cells that are
 *  missing in a set, and cells that are in a wrong one
 *  Whether records are in the sets of their turns is checked by kernel/domain/turn/turn-check.h,
 *  which counts checker->runs_records. In these sets, wfs_index_check() only counts the members
 *  from checker->first_seq on, below checker->height, and reports one finding if they are more than
 *  checker->runs_records. Cells that cannot be read are skipped, so their places in sets are
 *  reported as wrong.
 *  Return: 0, the -errno of `progress`, -ENOMEM, … */
int wfs_index_check(
	struct wfs_store *store, struct wfs_txn *txn, const struct wfs_index_checker *checker);
