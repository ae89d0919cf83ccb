/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: fold the journal again, from genesis, into a scratch store, and compare every line and
 * every version with the world's. What was computed once must come out the same.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/verify.h"

/**
 * wfs_replay() - fold the journal as it was when this began
 * @problems: the first record that differs, if one does; replay ends there
 * @progress: records folded; may be NULL
 * Return: 0 (see problems->count), or -errno when it could not be finished: -EINTR (cancelled) when
 *         @progress ended it, …
 */
int wfs_replay(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error);
