/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification: is everything that the store says of itself true?
 *
 * Checks the journal's chain, the hash of every version and blob, that each record's `changes` is
 * the hash of the versions of its height, that the derived tables say what the versions say, and
 * every recorded snapshot. It reads only; it may run beside the owner.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/world/world.h"

/* Called now and then with what is being done, how much of it and of how much (0: not known).
 * Return: go on? */
typedef bool wfs_progress_fn(void *context, const char *what, uint64_t done, uint64_t total);

/**
 * wfs_verify() - check the world as it was when this began
 * @problems: everything that is wrong
 * @progress: may be NULL
 * Return: 0 (see problems->count), or -errno when the check could not be finished: -EINTR (cancelled)
 *         when @progress ended it, …
 */
int wfs_verify(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error);
