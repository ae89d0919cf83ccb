/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of one owner process: each is a data connection and a control connection that live and
 * die together, and leave nothing behind.
 * Source: spec 2, "Mount life".
 */
#pragma once

#include "fs/mount/guardian.h"
#include "fs/verb/verb.h"

struct wfs_mounts;

/* Option struct: plain value. */
struct wfs_mount_options {
	const char *directory; /* absolute path */
	const char *principal;
	bool allow_other;
	bool nest_ctl; /* mount the control connection inside, at DIR/ctl */
};

/**
 * wfs_mounts_new() - no mount yet
 * @authority: of the world; must outlive the mounts
 * @guardian: is told of every mount; must outlive them
 * @host: given to the control connections' verbs
 * @reaped: called, on a thread of its own, after a mount was taken down from outside (umount); may be
 *          NULL
 */
int wfs_mounts_new(struct wfs_authority *authority, struct wfs_guardian *guardian,
	struct wfs_host *host, void (*reaped)(void *context), void *context,
	struct wfs_mounts **ret_mounts);

/** wfs_mounts_free() - take down all of them; accepts NULL. */
void wfs_mounts_free(struct wfs_mounts *mounts);
WFS_DEFINE_AUTO(mounts, struct wfs_mounts, wfs_mounts_free)
#define WFS_AUTO_MOUNTS WFS_CLEANUP(wfs_auto_mounts)

/**
 * wfs_mounts_add() - clear a dead mount of ours if there is one, then mount both connections
 * Return: 0 (the tree is usable), -ENOENT (not_found: no such directory or principal), -EBUSY
 *         (something is mounted there), -EINVAL (the directory lies inside the world, or the world
 *         inside a mount of ours), -EINTR (cancelled: closed), -EACCES / -ENOENT for /dev/fuse with
 *         what would help, …
 */
int wfs_mounts_add(struct wfs_mounts *mounts, const struct wfs_mount_options *options,
	struct wfs_error *error);

/** wfs_mounts_remove() - take one down. Return: 0, -ENOENT (not mounted by us), -EBUSY. */
int wfs_mounts_remove(struct wfs_mounts *mounts, const char *directory, struct wfs_error *error);

/**
 * wfs_mounts_close_if_none() - when there is no mount, let nobody add one any more
 * Waits for one that is being added or removed. Return: is there none?
 */
bool wfs_mounts_close_if_none(struct wfs_mounts *mounts);

/** wfs_mounts_status() - appends {directory, principal, ctl} objects to @array. */
void wfs_mounts_status(struct wfs_mounts *mounts, json_t *array);
