/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptors that the process that mounts gives to the world's owner: of each of the two FUSE
 * connections, and of the socket of a keeper (keeper.h), the process that can unmount both.
 *
 * The process that wants a mount makes it, with its own rights and in its own mount namespace; the
 * owner only serves the descriptors. If anything fails, or this process is killed, the keeper
 * unmounts.
 * Source: docs/decisions/0026-who-mounts.md; unix(7), SCM_RIGHTS.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "fs/mount/keeper.h"

/* Places in a hand-over: WFS_MOUNT_DATA, WFS_MOUNT_CONTROL, and this. */
enum { WFS_HANDED_KEEPER = WFS_MOUNT_PARTS, WFS_HANDED_COUNT };

/* The descriptors, in this order. Plain value; -1: taken already. */
struct wfs_handed {
	int fds[WFS_HANDED_COUNT];
};
#define WFS_HANDED_NONE            \
	{                          \
		{                  \
			-1, -1, -1 \
		}                  \
	}

/** wfs_handed_check() - check that descriptors, which any process may have sent, are two of
 *  /dev/fuse and a socket. Return: 0, -EINVAL (invalid_argument: they are not). */
int wfs_handed_check(const struct wfs_handed *handed, struct wfs_error *error);

/** wfs_handed_close() - close the descriptors that are not -1, and set them to -1. */
void wfs_handed_close(struct wfs_handed *handed);

/* The parts of a mount that this process has made. Plain value; ends with wfs_handover_done(). */
struct wfs_handover {
	struct wfs_handed handed; /* owned */
	char *ctl;                /* mount point of the control connection; owned */
	/* descriptor of the mount that wfs_handover_end() attaches to `ctl`, if `ctl` is inside the
	 * other mount; owned; -1: none */
	int detached;
	struct wfs_keeper *keeper;
	bool made; /* the mounts exist, and wfs_handover_undo() has something to do */
};

/** wfs_handover_make() - start a keeper, and make both mounts: of the tree, on @directory, and of
 *  the control files; a dead mount on @directory is unmounted first
 *  @world: canonical directory of the world
 *  @directory: canonical, from wfs_mount_resolve() (fs/mount/mount-table.h)
 *  @allow_other: Linux lets other users use both mounts
 *  @nest_ctl: mount the control files on `ctl` in the tree (root only); false: on a directory of
 *  wfs_mount_run_directory() (fs/mount/mount-table.h)
 *  @ret_handover: caller calls wfs_handover_done(); after a failure it is not set
 *  Thread: the process must have only one.
 *  Return: 0, -EBUSY (busy: a file system is mounted on @directory), -EINVAL (the directory is
 *          inside the world, or inside a mount of it, or the world inside the directory),
 *          -ETIMEDOUT (timeout: a file system on the way does not answer), -EACCES or -EPERM
 *          (not_authorized: this user may not mount, or @nest_ctl is set without root), … */
int wfs_handover_make(const char *world, const char *directory, bool allow_other, bool nest_ctl,
	struct wfs_handover *ret_handover, struct wfs_error *error);

/** wfs_handover_end() - finish a hand-over when the owner serves both mounts: attach the control
 *  files, if they are inside the tree
 *  Return: 0, or -errno; the caller must then call wfs_handover_undo(). */
int wfs_handover_end(struct wfs_handover *handover, struct wfs_error *error);

/** wfs_handover_undo() - unmount both mounts; accepts a hand-over that was not made. The caller
 *  still calls wfs_handover_done(). */
void wfs_handover_undo(struct wfs_handover *handover);

/** wfs_handover_done() - close all descriptors; mounts that an owner serves stay. */
void wfs_handover_done(struct wfs_handover *handover);
