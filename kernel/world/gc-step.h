/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection, which drops old heights (kernel/copy/gc.h): the kernel thread does
 * it between requests. A struct wfs_head is the end of the journal in a write transaction
 * (kernel/fold/head.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/store/tables.h"

struct wfs_head;

enum {
	WFS_GC_STEP_ROWS = 1000,     /* versions that one step looks at; fewer on a full disk */
	WFS_GC_STEP_HEIGHTS = 10000, /* heights that one step drops; for each, mounts drop a name */
	WFS_GC_STEP_FILES = 64,      /* files that one step removes */
	WFS_GC_STEP_RECORDS = 1000,  /* records that one step removes; fewer on a full disk */
};

/* Counts of what collections or a step have removed. Plain value. */
struct wfs_gc_figures {
	uint64_t version_count;
	uint64_t version_bytes; /* bytes of their values, without those in files */
	uint64_t cell_count;
	uint64_t file_count;
	uint64_t file_bytes;
	uint64_t record_count;
	uint64_t record_bytes; /* of their lines */
	uint64_t raw_count;    /* blobs with what was sent to models, and what came back */
	uint64_t raw_bytes;
};

enum wfs_gc_step_kind {
	WFS_GC_RAISE,  /* raise the first height */
	WFS_GC_SETTLE, /* only commit, so that pages that the last commit freed can be used */
	WFS_GC_DROP,   /* remove rows of versions after after_vid */
	WFS_GC_FILES,  /* remove `files`, unless a row mentions them now */
	/* remove rows of `files`, unless they are listed: blobs with what was sent to models, or
	 * came back (kernel/domain/turn/raw.h) */
	WFS_GC_RAW,
	/* Of a cut of the journal (docs/decisions/0011-gc-of-the-journal.md), in this order: */
	WFS_GC_CUT,     /* put the baseline in its place, and append the snapshot record */
	WFS_GC_SETTLED, /* note that the rows of all versions before the cut were removed */
	WFS_GC_RECORDS, /* remove rows of records before the cut */
	WFS_GC_RUNS,    /* remove these records from the sets of turns (kernel/read/index.h) */
};

/* A cut that is to be made. Plain value. */
struct wfs_gc_cut {
	struct wfs_bytes line; /* of the baseline; borrowed */
	struct wfs_hash snapshot_hash;
	int64_t genesis_ns;
};

struct wfs_gc_step {
	enum wfs_gc_step_kind kind;
	uint64_t first_height; /* raise: the new first height; cut: the baseline's height */
	/* Number of a version, moves on. Drop: the step begins after it. Files, raw: the last
	 * version that the caller has looked at for mentions of these files or blobs */
	uint64_t after_vid;
	/* drop: versions to look at, at most WFS_GC_STEP_ROWS; records, runs: rows to look at, at
	 * most WFS_GC_STEP_RECORDS */
	uint32_t rows_max;
	struct wfs_hash *files; /* files, raw: hashes of blob files or blobs; borrowed, sorted */
	size_t file_count;
	bool baseline; /* drop: the world begins with a baseline, whose versions stay */
	const struct wfs_gc_cut *cut; /* cut: borrowed */
	uint64_t cut_number;       /* settled: of the cut; does nothing if there is a newer one */
	struct wfs_index_set runs; /* runs: the set to begin with; moves on */

	/* Set by wfs_gc_step_run(). */
	bool done;             /* no more work of this kind is left */
	bool unsettled;        /* raise: not done, because WFS_GC_SETTLED must come first */
	bool raw_dropped;      /* raw: a blob was removed */
	bool was_cut;          /* cut: the journal was cut; false: that would free nothing */
	bool rows_changed;     /* the transaction must be committed */
	uint64_t dropped_from; /* raise: the first height that was dropped */
	uint64_t dropped_to;   /* raise: one more than the last height that was dropped */
	struct wfs_gc_figures figures;
};

/** wfs_gc_step_run() - do one step of a collection inside the write transaction head->txn; the
 *  caller commits the transaction if step->rows_changed. @step: what to do; gets the results
 *  @head: only WFS_GC_CUT appends a record to it. @ret_fatal: false before the call; set to true if
 *  the transaction must be given up; after another failure, the caller commits what was removed
 *  before the failure
 *  Return: 0, or -errno. Thread: the kernel thread. */
int wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);

/** wfs_gc_compare_hashes() - compare two struct wfs_hash, for qsort(3). */
int wfs_gc_compare_hashes(const void *a, const void *b);

/** wfs_gc_take_out_mentioned() - remove from a list of hashes of blob files those of the files
 *  which have the bytes of versions after *@after_vid. @hashes, @count: the list, sorted; changed
 *  @after_vid: number of a version; moves on to the last version that was looked at
 *  @rows_max: how many versions to look at; 0: all
 *  Return: 0 (@rows_max versions were looked at), -ENOENT (all versions were looked at), -EIO. */
int wfs_gc_take_out_mentioned(struct wfs_txn *txn, struct wfs_hash *hashes, size_t *count,
	uint64_t *after_vid, uint64_t rows_max);
