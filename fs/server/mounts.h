/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of one owner process: each is a data connection and a control connection that live and
 * die together, and leave nothing behind.
 * Source: docs/design.md §8.
 */
#pragma once

#include "fs/mount/guardian.h"
#include "fs/verb/verb.h"

struct wfs_mounts;

enum { WFS_MOUNTS_MAX = 256 }; /* of one world */

/* Option struct: plain value; what it points at must outlive the mounts. */
struct wfs_mounts_options {
	struct wfs_authority *authority; /* of the world */
	struct wfs_guardian *guardian;   /* watches every mount */
	struct wfs_host *host;           /* for the control connections' verbs */
	/* Called, on a thread of its own, after somebody has unmounted a mount; may be NULL. */
	void (*reaped)(void *context);
	void *context;
};

/** wfs_mounts_new() - no mount yet */
int wfs_mounts_new(const struct wfs_mounts_options *options, struct wfs_mounts **ret_mounts,
	struct wfs_error *error);

/** wfs_mounts_free() - take down all of them; accepts NULL. */
void wfs_mounts_free(struct wfs_mounts *mounts);
WFS_DEFINE_AUTO(mounts, struct wfs_mounts, wfs_mounts_free)
#define WFS_AUTO_MOUNTS WFS_CLEANUP(wfs_auto_mounts)

/**
 * wfs_mounts_add() - serve both connections of a mount that another process made
 * Return: 0 (the tree is usable), -ENOENT (not_found: no such principal), -EINVAL (these are no
 *         descriptors of a mount), -EINTR (cancelled: closed), -EAGAIN (overloaded: WFS_MOUNTS_MAX),
 *         -ETIMEDOUT (Linux asks nothing of them), …
 */
int wfs_mounts_add(
	struct wfs_mounts *mounts, struct wfs_mount_options *options, struct wfs_error *error);

/** wfs_mounts_remove() - have the keeper of a mount take it down
 *  @directory: as it was given when the mount was added
 *  Return: 0, -ENOENT (no mount has this directory; or its keeper is gone: then the mount is served
 *          no more, and stays, dead), -EBUSY (files are in use), -ETIMEDOUT (the keeper does not
 *          answer: the mount is served on), or what else the keeper answered. */
int wfs_mounts_remove(struct wfs_mounts *mounts, const char *directory, struct wfs_error *error);

/**
 * wfs_mounts_close_if_none() - when there is no mount, let nobody add one any more
 * Waits while a mount is being taken down.
 * Return: true: the owner has no mount and is adding none, and wfs_mounts_add() fails from now on.
 */
bool wfs_mounts_close_if_none(struct wfs_mounts *mounts);

/** wfs_mounts_status() - appends {directory, principal, ctl} objects to @array. */
void wfs_mounts_status(struct wfs_mounts *mounts, json_t *array);
