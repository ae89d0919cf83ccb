/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: fold the journal again, from genesis, into a scratch store, and compare every line and
 * every version with those of the world, which must be equal.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/verify.h"

/** wfs_replay() - fold a world's journal again, up to the height that the world has now, and
 *  compare the lines and versions that this gives with those of the world
 *  @problems: empty; gets the first record that differs, or that has a version that differs, and
 *  replay ends there; if no record differs, gets every damaged row of the world. Of an upgraded
 *  world, first gets all problems that wfs_verify() (verify.h) finds; if there are any, nothing is
 *  folded.
 *  @progress: called with @context and the number of records folded; may be NULL
 *  Return: 0 (see problems->count), or -errno if it could not be finished: -EINTR (cancelled:
 *  @progress ended it), … */
int wfs_replay(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error);
