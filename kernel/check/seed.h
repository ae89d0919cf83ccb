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

/** wfs_seed_find() - find the height at which folding the journal of a world again has to begin;
 *  0: the whole journal can be folded
 *  It is that of the newest epoch; if the world has dropped that height, the first one that is kept
 *  at which no request is under way; without an epoch, that of the newest cut.
 *  @view: of the head. @cut: the newest
 *  Return: 0, -EINVAL (format_older: another version has folded the journal), -EIO, or another
 *  -errno. */
int wfs_seed_find(struct wfs_view *view, const struct wfs_journal_cut *cut, uint64_t *ret_height,
	struct wfs_error *error);

/* The world and the store that wfs_seed() copies from and to. Plain value; all is borrowed. */
struct wfs_seed {
	struct wfs_view *view;               /* of the world, at any height that is kept */
	struct wfs_store *scratch;           /* empty */
	uint64_t height;                     /* as of wfs_seed_find() */
	const struct wfs_manifest *manifest; /* in force at this height */
	int (*look)(void *context, uint64_t done, struct wfs_error *error); /* now and then */
	void *context;
};

/** wfs_seed() - copy the rows of seed->height into an empty store
 *  Of a cell's versions there is the current one only.
 *  @ret_next_vid: number of the first version after this height; of a cut, cut->next_vid has it
 *  Return: 0, the -errno of `look`, -EIO, -ENOSPC, -ENOMEM. */
int wfs_seed(const struct wfs_seed *seed, uint64_t *ret_next_vid, struct wfs_error *error);

/** wfs_seed_check() - compare the baseline of a cut with the rows that wfs_seed() has written.
 *  @problems: gets what differs, for the journal. @ret_snapshot_hash: of the baseline. Return: 0,
 *  or -errno. */
int wfs_seed_check(struct wfs_store *scratch, const struct wfs_journal_cut *cut,
	struct wfs_problems *problems, struct wfs_hash *ret_snapshot_hash, struct wfs_error *error);
