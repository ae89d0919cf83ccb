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
 * Source: docs/decisions/0009-gc-by-first-height.md.
 */
#pragma once

#include "kernel/world/gc-step.h"
#include "kernel/world/world.h"

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
