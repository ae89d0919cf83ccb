/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification: checks that a store is undamaged, and agrees with itself.
 *
 * Checks the chain of the journal, the hash of every version and blob, that each record's `changes`
 * is the hash of the versions of its height, that the derived tables agree with the versions, and
 * every recorded snapshot. It only reads, and may run beside the owner.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/world/world.h"

/* A caller's function that long work calls now and then, on the thread on which the work was begun.
 * @what: name of the work. @done, @total: how many of its parts are done; @total is 0 if not known
 * Return: true to go on, false to end the work. */
typedef bool wfs_progress_fn(void *context, const char *what, uint64_t done, uint64_t total);

/** wfs_verify() - check the store of @world, up to the height that the world has now
 *  @problems: gets everything that is wrong. @progress: called with @context; may be NULL
 *  Return: 0 (see problems->count), or -errno if the check could not be finished: -EINTR
 *  (cancelled: @progress ended it), … */
int wfs_verify(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error);
