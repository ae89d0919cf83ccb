/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection (kernel/copy/gc.h), which the kernel thread does between requests. */
#pragma once

#include "kernel/fold/head.h"

enum {
	WFS_GC_STEP_ROWS = 1000,     /* versions of one transaction; fewer on a full disk */
	WFS_GC_STEP_HEIGHTS = 10000, /* that one transaction drops; mounts are told of each */
	WFS_GC_STEP_FILES = 64,      /* removed in one go of the kernel thread */
};

/* What went. Plain value. */
struct wfs_gc_figures {
	uint64_t version_count;
	uint64_t version_bytes; /* of their values, those in files not counted */
	uint64_t cell_count;
	uint64_t file_count;
	uint64_t file_bytes;
};

enum wfs_gc_step_kind {
	WFS_GC_RAISE,  /* the first height */
	WFS_GC_SETTLE, /* nothing: commits, so that pages that the last commit freed can be used */
	WFS_GC_DROP,   /* rows behind after_vid */
	WFS_GC_FILES,  /* remove those files, if they are mentioned nowhere still */
};

struct wfs_gc_step {
	enum wfs_gc_step_kind kind;
	uint64_t first_height;  /* raise */
	uint64_t after_vid;     /* drop: moves on; files: every version up to it is known */
	uint32_t rows_max;      /* drop: versions to look at, at most WFS_GC_STEP_ROWS */
	struct wfs_hash *files; /* files; borrowed, sorted */
	size_t file_count;
	bool baseline; /* drop: the world begins with one, whose versions stay */

	/* Filled in. */
	bool done;             /* there is nothing more to do of this kind */
	bool rows_changed;     /* there is something to commit */
	uint64_t dropped_from; /* raise: heights that went, up to … */
	uint64_t dropped_to;   /* … the one before this */
	struct wfs_gc_figures figures;
};

/**
 * wfs_gc_step_run() - do one step inside the write transaction of @head
 * @ret_fatal: set when the transaction cannot go on
 * Thread: the kernel thread.
 */
int wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);

/** wfs_gc_compare_hashes() - of two struct wfs_hash, for qsort(3). */
int wfs_gc_compare_hashes(const void *a, const void *b);

/**
 * wfs_gc_take_out_mentioned() - take the hashes out of a list that versions after @after_vid mention
 * @hashes: sorted
 * @after_vid: moves on
 * @rows_max: of versions to look at; 0: all
 * Return: 0, -ENOENT (that was the last version), -EIO.
 */
int wfs_gc_take_out_mentioned(struct wfs_txn *txn, struct wfs_hash *hashes, size_t *count,
	uint64_t *after_vid, uint64_t rows_max);
