/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of one owner process. Each is a data connection and a control connection, which begin and
 * end together and leave nothing behind. Its keeper (fs/mount/keeper.h) is the process that can
 * unmount it; the guardian (fs/mount/guardian.h) is a process that ends it if the owner is killed.
 * Source: docs/design.md §8.
 */
#pragma once

#include "fs/mount/guardian.h"
#include "fs/verb/peer.h"
#include "fs/verb/verb.h"

struct wfs_mounts;

enum { WFS_MOUNTS_MAX = 256 }; /* mounts of one world */

/* Option struct: plain value; what it points at must outlive the mounts. */
struct wfs_mounts_options {
	struct wfs_authority *authority; /* of the world */
	struct wfs_guardian *guardian;   /* watches every mount */
	struct wfs_host *host;           /* for the control connections' verbs */
	struct wfs_peers *peers;         /* which users are principals */
	/* Called, on a thread of its own, after another process has unmounted a mount; may be
	 * NULL. */
	void (*reaped)(void *context);
	void *context;
};

/** wfs_mounts_new() - make an empty set of mounts; caller frees @ret_mounts with wfs_mounts_free().
 *  Return: 0, or -errno with @error. */
int wfs_mounts_new(const struct wfs_mounts_options *options, struct wfs_mounts **ret_mounts,
	struct wfs_error *error);

/** wfs_mounts_free() - take down all mounts, even if files in them are open, and free the set;
 *  accepts NULL. */
void wfs_mounts_free(struct wfs_mounts *mounts);
WFS_DEFINE_AUTO(mounts, struct wfs_mounts, wfs_mounts_free)
#define WFS_AUTO_MOUNTS WFS_CLEANUP(wfs_auto_mounts)

/** wfs_mounts_add() - serve both connections of a mount that another process has made
 *  @options: its descriptors are taken, also on failure; its texts are copied
 *  Return: 0 (the tree is usable), -ENOENT (not_found: no such principal), -EINVAL (not the
 *  descriptors of a mount), -EINTR (cancelled: wfs_mounts_close_if_none() has closed the set),
 *  -EAGAIN (overloaded: the set has WFS_MOUNTS_MAX mounts),
 *  -ETIMEDOUT (Linux sends no request), … */
int wfs_mounts_add(
	struct wfs_mounts *mounts, struct wfs_mount_options *options, struct wfs_error *error);

/** wfs_mounts_remove() - have the keeper of a mount take it down
 *  @directory: as it was given when the mount was added
 *  Return: 0, -ENOENT (no mount has this directory; or its keeper is gone, and the mount stays
 *  without being served); or, and the mount is still served: -EBUSY (files are in use), -ETIMEDOUT
 *  (the keeper does not answer), or another error of the keeper. */
int wfs_mounts_remove(struct wfs_mounts *mounts, const char *directory, struct wfs_error *error);

/** wfs_mounts_close_if_none() - if the set is empty, have wfs_mounts_add() fail from now on
 *  Waits while a mount is being taken down.
 *  Return: was the set empty, with no mount being added? */
bool wfs_mounts_close_if_none(struct wfs_mounts *mounts);

/** wfs_mounts_status() - append an object {directory, principal, ctl} for each mount to @array;
 *  without memory, some are left out. */
void wfs_mounts_status(struct wfs_mounts *mounts, json_t *array);
