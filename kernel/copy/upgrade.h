/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upgrade: makes a world of an older store format or fold version one that this program changes.
 *
 * A new store is made in `upgrade/` in the world's directory: a copy of data.mdb, and the blob
 * files under second names. It gets the tables and numbers of this program. If folding has changed,
 * it gets a record `epoch`, and if built-in definitions have, a record `manifest`. It is verified;
 * the old store gets second names in `before-<format>/`; and one rename of data.mdb puts the new
 * store in its place. Until then the world is the old one. The next upgrade removes what a killed
 * one has left.
 *
 * LMDB keeps the number of the last transaction in lock.mdb, which belongs to one data.mdb. So
 * lock.mdb is removed just before the rename; processes that have the old store open keep both, and
 * read on.
 * Source: docs/decisions/0030-upgrade.md.
 */
#pragma once

#include "kernel/check/verify.h"

/* Option struct: plain value. */
struct wfs_upgrade_options {
	bool dry_run;              /* make no change */
	bool keep;                 /* wfs_upgrade_drop() with an age leaves the old store */
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
};

/* What an upgrade did, or would do. Plain value. */
struct wfs_upgraded {
	int from_format;
	int from_fold_version;
	bool needed;          /* false: the world has this program's format and fold version */
	uint64_t height;      /* after the upgrade; in a dry run, as the world is now */
	uint64_t needs_bytes; /* approximate size of the new store */
	char before[32];      /* name of the directory with the old store */
};

/** wfs_upgrade() - upgrade the world in @directory, which no process may own
 *  @problems: gets damage of the old store, which ends the upgrade
 *  @ret_upgraded: set on success only
 *  Return: 0 (also with nothing to do), -EBUSY (busy: the world has an owner), -EIO (hash_mismatch:
 *  the old store is damaged, see @problems), -EEXIST (already_exists: the world's directory has the
 *  old store of another upgrade from this format), -ENOSPC, -EINTR (cancelled: options->progress
 *  has returned false), …; after a failure the world is as it was. */
int wfs_upgrade(const char *directory, const struct wfs_upgrade_options *options,
	struct wfs_problems *problems, struct wfs_upgraded *ret_upgraded, struct wfs_error *error);

/** wfs_upgrade_drop() - remove the old stores that upgrades have left in @directory, that of a
 *  world
 *  @age_ns: remove only stores whose upgrade is longer ago, and did not have the option `keep`; -1:
 *  remove all. Files that cannot be removed stay, without an error.
 *  Return: how many stores this function has tried to remove, or -errno: @directory cannot be
 *  opened. */
int wfs_upgrade_drop(const char *directory, int64_t age_ns, struct wfs_error *error);
