/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding a journal again from a height above 0. A scratch store gets the rows of that height from
 * the world's store: cells and their versions, with the numbers that they have there, reducers,
 * listed blobs, private texts, and the last record.
 *
 * A journal that was cut (kernel/copy/gc.h) begins with a baseline, whose hashes prove that these
 * rows are right. In a world that was upgraded (kernel/copy/upgrade.h), this program does not fold
 * the records before the newest `epoch`; wfs_verify() (verify.h) compares what they left with their
 * hashes, and the epoch has the snapshot hash of its height.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/world/world.h"

/** wfs_seed_find() - find the height at which folding the journal of a world again has to begin
 *  That is the height of the newest epoch; without an epoch, of the newest cut. If the world has
 *  dropped the epoch's height, it is the first kept height at which no request is under way.
 *  @view: of the head. @cut: the newest; zeros if the journal was never cut. @ret_height: 0: the
 *  whole journal can be folded
 *  Return: 0, -EINVAL (format_older: another fold version has folded the journal, which has no
 *  epoch or cut), -EIO, or another -errno. */
int wfs_seed_find(struct wfs_view *view, const struct wfs_journal_cut *cut, uint64_t *ret_height,
	struct wfs_error *error);

/* The world and the store that wfs_seed() copies from and to. Plain value; all is borrowed. */
struct wfs_seed {
	struct wfs_view *view;               /* of the world, at any height that is kept */
	struct wfs_store *scratch;           /* empty */
	uint64_t height;                     /* from wfs_seed_find() */
	const struct wfs_manifest *manifest; /* in force at this height */
	/* Called now and then, when @done rows are copied. Return: 0, or -errno, which ends it. */
	int (*look)(void *context, uint64_t done, struct wfs_error *error);
	void *context;
};

/** wfs_seed() - copy the rows of seed->height from seed->view into seed->scratch
 *  Of each cell only the version that seed->height shows is copied.
 *  @ret_next_vid: number of the first version after this height; not for the height of a cut: there
 *  the caller takes the member next_vid of struct wfs_journal_cut (kernel/store/tables.h)
 *  Return: 0, the -errno of seed->look, -EIO, -ENOSPC, -ENOMEM. */
int wfs_seed(const struct wfs_seed *seed, uint64_t *ret_next_vid, struct wfs_error *error);

/** wfs_seed_check() - compare the baseline of @cut with the rows that wfs_seed() has written to
 *  @scratch. @problems: gets a problem of the baseline's record if they differ
 *  @ret_snapshot_hash: computed from these rows. Return: 0 (also if they differ), or -errno. */
int wfs_seed_check(struct wfs_store *scratch, const struct wfs_journal_cut *cut,
	struct wfs_problems *problems, struct wfs_hash *ret_snapshot_hash, struct wfs_error *error);
