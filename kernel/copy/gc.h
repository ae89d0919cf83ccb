/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collection: old heights are dropped, and with them the versions that no later height shows.
 *
 * The first height that is kept stands in the store and only ever rises; opening a view asks for
 * it. It is raised first, then rows go, oldest first, then the files that no row mentions. Each
 * step is a transaction of its own in the kernel thread, between those of others, so a crash or an
 * end in the middle leaves a world that is right, only larger, and the next collection takes up
 * what is left. What a height shows from the first one on stays as it is. So do the journal, and
 * all numbers: that of a version or a cell is never given twice.
 *
 * A version stays if it is the one in force at the first height, or younger. A cell that is
 * deleted there, and was not made again since, goes with its name; made again later it is a new
 * cell. A listed blob stays: no height ever stops showing it. The cells that a baseline gave stay as
 * it gave them, because they are in no record: without them the journal could not be replayed.
 * Source: spec 1, "Snapshot, replay, restore".
 */
#pragma once

#include "kernel/fold/head.h"
#include "kernel/world/world.h"

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

/* A collection under way: plain value. Zero-initialise, then wfs_gc_since or wfs_gc_keep. */
struct wfs_gc {
	uint64_t first_height; /* that is kept */
	uint64_t after_vid;    /* versions up to this one were looked at */
	uint64_t last_vid;     /* about where that ends */
	bool done;
	bool files_held; /* somebody reads files of earlier commits, so none was removed */
	struct wfs_gc_figures figures;
};

/**
 * wfs_gc_since() - keep @height and what is above; what was dropped before stays dropped
 * Return: 0, -ENOENT (height_unavailable: not reached yet), -EINVAL (0), …
 */
int wfs_gc_since(
	struct wfs_world *world, uint64_t height, struct wfs_gc *gc, struct wfs_error *error);

/** wfs_gc_keep() - keep the newest @count heights, all if there are fewer. Return: as above. */
int wfs_gc_keep(
	struct wfs_world *world, uint64_t count, struct wfs_gc *gc, struct wfs_error *error);

/**
 * wfs_gc_advance() - go on; waits for the kernel thread, once a step
 * @rows_max: about how many versions to look at before it returns; 0: until it is done
 * Return: 0 (see gc->done), -EROFS, -EIO (damage was found), -ENOSPC, …
 */
int wfs_gc_advance(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, struct wfs_error *error);

/* --- one step, for the writer --- */

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
