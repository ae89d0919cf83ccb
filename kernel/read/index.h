/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index: which sets the cells of built-in reducers are in, so that queries find and count them
 * without looking at the others.
 *
 * | set                                      | of                | sums           |
 * |------------------------------------------|-------------------|----------------|
 * | owner, type, executable; each may lack   | artifacts         |                |
 * | the artifact that is depended on         | artifacts         |                |
 * | artifact, invoker; each may lack         | invocations       | milliseconds   |
 * | the same, and the code of an error       | those that failed | milliseconds   |
 * | whether its `status` is pending          | bids of the mint  |                |
 * | holder                                   | grants            |                |
 * | the run of an agent                      | records           | bytes in `events.jsonl` |
 *
 * What sets a cell is in follows from its state alone. Whoever sets a cell changes them in the same
 * transaction (wfs_head_set_cell), so they are those of the head, always; nothing is known of the
 * past. A state that has not the shape of its reducer (of a world that was restored from anything)
 * is in the sets that what it has gives.
 * Records of runs are known of the past, too: they are never taken out (kernel/domain/turn/turn-index.h).
 * Thread: the one of the transaction.
 */
#pragma once

#include "kernel/store/tables.h"

enum {
	/* Of one artifact; what a world was restored from may list more: these are in no set. */
	WFS_INDEX_DEPENDENCIES_MAX = 1024,
};

/* What is done with the cells of a reducer. */
enum wfs_indexed {
	WFS_INDEXED_NONE,
	WFS_INDEXED_ARTIFACTS,
	WFS_INDEXED_INVOCATIONS,
	WFS_INDEXED_BIDS,
	WFS_INDEXED_GRANTS,
};

/** wfs_indexed_find() - what is done with those of the reducer of this name. */
enum wfs_indexed wfs_indexed_find(struct wfs_bytes reducer);

/* --- names of sets --- */

/** wfs_index_artifacts() - @owner, @type: NULL, @executable: -1: any; one of them is given. */
void wfs_index_artifacts(
	struct wfs_index_set *set, const char *owner, const char *type, int executable);

/** wfs_index_dependents() - artifacts that depend on this one. */
void wfs_index_dependents(struct wfs_index_set *set, const char *artifact_id);

/** wfs_index_invocations() - @artifact_id, @invoker_id: NULL: any. */
void wfs_index_invocations(
	struct wfs_index_set *set, const char *artifact_id, const char *invoker_id);

/** wfs_index_failures() - those of them that ended with this error. */
void wfs_index_failures(struct wfs_index_set *set, const char *artifact_id, const char *invoker_id,
	enum wfs_error_code code);

/** wfs_index_bids() - those that wait for an auction, or the others. */
void wfs_index_bids(struct wfs_index_set *set, bool pending);

/** wfs_index_grants() - those of a principal. */
void wfs_index_grants(struct wfs_index_set *set, struct wfs_bytes principal);

/** wfs_index_run() - the records of a run, by their seq. */
void wfs_index_run(struct wfs_index_set *set, struct wfs_bytes run_id);

/** wfs_index_is_run() - is it one of those? */
bool wfs_index_is_run(const struct wfs_index_set *set);

/* --- keeping them --- */

/* What sets a cell is in. Plain value: zero, a call below, done. */
struct wfs_index_places {
	struct wfs_index_place *items; /* owned */
	size_t count;
	size_t capacity;
};

/* A set, and the cell's part of its sum. Plain value. */
struct wfs_index_place {
	struct wfs_index_set set;
	uint64_t amount;
};

void wfs_index_places_done(struct wfs_index_places *places);
#define WFS_AUTO_INDEX_PLACES WFS_CLEANUP(wfs_index_places_done)

/** wfs_index_places_of() - of a cell with this state. @places: empty. Return: 0, or -ENOMEM. */
int wfs_index_places_of(
	enum wfs_indexed indexed, struct wfs_bytes state, struct wfs_index_places *places);

/**
 * wfs_index_places_now() - of a cell as it is in the store
 * @cell: one without a number is new, and is in no set
 * Return: 0, -EIO, -ENOMEM.
 */
int wfs_index_places_now(struct wfs_store *store, struct wfs_txn *txn, enum wfs_indexed indexed,
	const struct wfs_cell *cell, struct wfs_index_places *places);

/** wfs_index_move() - the cell leaves @from and enters @to; those in both it stays in.
 *  Return: 0, -EIO (it was not where it should have been), -ENOSPC. */
int wfs_index_move(struct wfs_txn *txn, uint64_t cell_id, const struct wfs_index_places *from,
	const struct wfs_index_places *to);

/* --- checking --- */

/* Who is told. Callback table. */
struct wfs_index_checker {
	/* @id: of a cell; or a seq, in the set of a run */
	void (*wrong)(
		void *context, const struct wfs_index_set *set, uint64_t id, const char *reason);
	/* Now and then, with cells done. Return: 0, or -errno that ends it. */
	int (*progress)(void *context, uint64_t done);
	void *context;
	uint64_t height;       /* records below it were looked at */
	uint64_t runs_records; /* how many rows they have as those of runs */
};

/**
 * wfs_index_check() - is every cell in the sets where it belongs, and nothing else in any?
 * Whether a record is in those of its runs is looked at by kernel/domain/turn/turn-check.h.
 * Cells that cannot be read are skipped: then what the index has of them is too much.
 * Return: 0, what @progress gave, -ENOMEM, …
 */
int wfs_index_check(
	struct wfs_store *store, struct wfs_txn *txn, const struct wfs_index_checker *checker);
