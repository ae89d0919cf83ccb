/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection, which drops old heights (kernel/copy/gc.h): the kernel thread does
 * it between requests. A struct wfs_head is the end of the journal in a write transaction
 * (kernel/fold/head.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/error.h"

struct wfs_hash;
struct wfs_head;
struct wfs_txn;

enum {
	WFS_GC_STEP_ROWS = 1000,     /* versions that one step looks at; fewer on a full disk */
	WFS_GC_STEP_HEIGHTS = 10000, /* heights that one step drops; for each, mounts drop a name */
	WFS_GC_STEP_FILES = 64,      /* files that one step removes */
};

/* Counts of what collections or a step have removed. Plain value. */
struct wfs_gc_figures {
	uint64_t version_count;
	uint64_t version_bytes; /* bytes of their values, without those in files */
	uint64_t cell_count;
	uint64_t file_count;
	uint64_t file_bytes;
};

enum wfs_gc_step_kind {
	WFS_GC_RAISE,  /* raise the first height */
	WFS_GC_SETTLE, /* only commit, so that pages that the last commit freed can be used */
	WFS_GC_DROP,   /* remove rows of versions after after_vid */
	WFS_GC_FILES,  /* remove `files`, unless a row mentions them now */
};

struct wfs_gc_step {
	enum wfs_gc_step_kind kind;
	uint64_t first_height; /* raise: the new first height */
	/* drop: number of the version after which it begins, moves on; files: of the last version
	 * whose mention of a file the caller has seen */
	uint64_t after_vid;
	uint32_t rows_max;      /* drop: versions to look at, at most WFS_GC_STEP_ROWS */
	struct wfs_hash *files; /* files: hashes of blob files; borrowed, sorted */
	size_t file_count;
	bool baseline; /* drop: the world begins with a baseline, whose versions stay */

	/* Filled in. */
	bool done;             /* no more work of this kind is left */
	bool rows_changed;     /* the transaction must be committed */
	uint64_t dropped_from; /* raise: the first height that was dropped */
	uint64_t dropped_to;   /* raise: one more than the last height that was dropped */
	struct wfs_gc_figures figures;
};

/** wfs_gc_step_run() - do one step of a collection inside the write transaction head->txn; the
 *  caller commits it if step->rows_changed. @step: what to do; its results are filled in
 *  @head: not changed. @ret_fatal: false before the call; set to true if the transaction must be
 *  given up; after another failure, the caller commits what was removed before it
 *  Return: 0, or -errno. Thread: the kernel thread. */
int wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);

/** wfs_gc_compare_hashes() - compare two struct wfs_hash, for qsort(3). */
int wfs_gc_compare_hashes(const void *a, const void *b);

/** wfs_gc_take_out_mentioned() - remove from a list the hashes that versions after @after_vid
 *  mention, because these versions need the files. @hashes, @count: the list, sorted; changed
 *  @after_vid: number of a version; moves on to the last one that was looked at
 *  @rows_max: how many versions to look at; 0: all
 *  Return: 0 (@rows_max versions were looked at), -ENOENT (there are no more versions), -EIO. */
int wfs_gc_take_out_mentioned(struct wfs_txn *txn, struct wfs_hash *hashes, size_t *count,
	uint64_t *after_vid, uint64_t rows_max);
