/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection (kernel/copy/gc.h), which the kernel thread does between requests. */
#pragma once

#include "kernel/fold/head.h"

enum {
	WFS_GC_STEP_ROWS = 1000,     /* versions that one step looks at; fewer on a full disk */
	WFS_GC_STEP_HEIGHTS = 10000, /* heights that one step drops; mounts drop each name */
	WFS_GC_STEP_FILES = 64,      /* files that one step removes */
};

/* Counts of what was removed. Plain value. */
struct wfs_gc_figures {
	uint64_t version_count;
	uint64_t version_bytes; /* of their values, without those in files */
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
	uint64_t first_height;  /* raise */
	uint64_t after_vid;     /* drop: where to begin, moves on; files: the last version seen */
	uint32_t rows_max;      /* drop: versions to look at, at most WFS_GC_STEP_ROWS */
	struct wfs_hash *files; /* files; borrowed, sorted */
	size_t file_count;
	bool baseline; /* drop: the world begins with a baseline, whose versions stay */

	/* Filled in. */
	bool done;             /* no more work of this kind is left */
	bool rows_changed;     /* the transaction must be committed */
	uint64_t dropped_from; /* raise: the first height that was dropped */
	uint64_t dropped_to;   /* raise: one more than the last height that was dropped */
	struct wfs_gc_figures figures;
};

/**
 * wfs_gc_step_run() - do one step inside the write transaction of @head
 * @ret_fatal: set to true if the transaction must be given up
 * Thread: the kernel thread.
 */
int wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);

/** wfs_gc_compare_hashes() - compare two struct wfs_hash, for qsort(3). */
int wfs_gc_compare_hashes(const void *a, const void *b);

/**
 * wfs_gc_take_out_mentioned() - remove hashes from a list that versions after @after_vid mention
 * @hashes: sorted
 * @after_vid: moves on to the last version that was looked at
 * @rows_max: the number of versions to look at; 0: all
 * Return: 0, -ENOENT (that was the last version), -EIO.
 */
int wfs_gc_take_out_mentioned(struct wfs_txn *txn, struct wfs_hash *hashes, size_t *count,
	uint64_t *after_vid, uint64_t rows_max);
