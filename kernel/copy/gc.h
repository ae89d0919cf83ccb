/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collection: drops old heights, and removes the versions that only these show.
 *
 * The store has the number of the first height that is kept, which only ever rises; views of lower
 * heights cannot be opened. A collection first raises this number, then removes rows, oldest first,
 * then files that no row mentions. Each step is a transaction of its own in the kernel thread,
 * between requests. So a collection that ends in the middle leaves a correct world, which is only
 * larger, and the next one removes the rest. Heights that are kept show what they showed before,
 * except in the directory journal. The journal stays, unless wfs_gc.journal is set: then it begins
 * with a baseline of the first kept height. The number of a version or a cell is never used again.
 *
 * A version stays if the first kept height shows it, or if it is younger. A cell that is deleted at
 * that height is removed with its name; if it is made again later, it is a new cell. A listed blob
 * stays, because every later height shows it. The cells of a baseline stay, because no record has
 * them: without them the journal could not be replayed.
 * Source: docs/decisions/0009-gc-by-first-height.md, docs/decisions/0011-gc-of-the-journal.md.
 */
#pragma once

#include "kernel/world/gc-step.h"

struct wfs_world;

/* A collection under way: plain value. Zero-initialise, then wfs_gc_begin(). */
struct wfs_gc {
	uint64_t first_height; /* the first to keep */
	bool journal;          /* the records before first_height are dropped, too */
	/* blobs (kernel/domain/turn/raw.h) of turns that began before this height are dropped; 0:
	 * none */
	uint64_t raw_before;
	bool raw_only;      /* only these blobs are dropped */
	uint64_t after_vid; /* versions up to this one were looked at */
	uint64_t last_vid;  /* number of the last version to look at, approximately */
	bool done;
	bool files_held; /* a reader holds files of earlier commits, so no file was removed */
	struct wfs_gc_figures figures;
};

/** wfs_gc_begin() - begin a collection: fill @gc, remove nothing yet
 *  @keep: true: keep the newest @number heights, or all if they are fewer; false: keep the height
 *  @number and all later ones; heights that were dropped before stay dropped
 *  gc->raw_before, gc->raw_only: set by the caller. If gc->raw_only, @keep and @number are not
 *  used.
 *  gc->journal: set by the caller. If true, the first height to keep may not be between the records
 *  of one request, because a record cannot be folded without the one that has caused it. So it may
 *  be lower than @keep and @number say, or higher if the lower one is dropped already.
 *  Return: 0, -ENOENT (height_unavailable: the height @number or gc->raw_before is not reached
 *  yet), -EINVAL (invalid_argument: @number is 0), … */
int wfs_gc_begin(struct wfs_world *world, bool keep, uint64_t number, struct wfs_gc *gc,
	struct wfs_error *error);

/** wfs_gc_advance() - do steps of a collection that was begun; waits for the kernel thread in each
 *  step. The call that ends the collection also calls wfs_upgrade_drop() (upgrade.h) for old
 *  stores.
 *  @principal: for which the steps are requested
 *  @rows_max: about how many versions to look at; 0: go on until the collection is done
 *  Return: 0 (gc->done: it is complete; otherwise the next call goes on), -EROFS (the world was
 *  opened for reading only), -EIO (damage was found), -ENOSPC (store_full: the disk has no room
 *  even to drop one version), …; after a failure the steps that were done stay, and a later call
 *  goes on from there. */
int wfs_gc_advance(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, struct wfs_error *error);
