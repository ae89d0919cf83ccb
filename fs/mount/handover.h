/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process that mounts hands to the world's owner: a descriptor of each of the two FUSE connections,
 * and the socket of a keeper.
 *
 * The process that wants a mount makes it, with its own rights and in its own mount namespace; the
 * owner only serves the descriptors. Whatever fails, and whenever that process is killed, the keeper takes
 * away what was mounted.
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

/** wfs_handed_check() - are they what they have to be? They may come from anybody.
 *  Return: 0, -EINVAL (invalid_argument). */
int wfs_handed_check(const struct wfs_handed *handed, struct wfs_error *error);

/** wfs_handed_close() - close those that nobody took. */
void wfs_handed_close(struct wfs_handed *handed);

/* What a mount that was made here consists of. Plain value; ends with wfs_handover_done. */
struct wfs_handover {
	struct wfs_handed handed; /* owned */
	char *ctl;                /* mount point of the control connection; owned */
	int detached;             /* the mount for @ctl, when that lies inside the other; owned */
	struct wfs_keeper *keeper;
	bool made;
};

/**
 * wfs_handover_make() - check the place, clear a dead mount of ours there, mount both connections
 * @world: canonical directory of the world
 * @directory: canonical, from wfs_mount_resolve()
 * Thread: the process must have no other.
 * Return: 0, -EBUSY (busy: something is mounted there), -EINVAL (the directory lies inside the
 *         world, or inside a mount of it, or the world inside the directory), -ETIMEDOUT, …
 */
int wfs_handover_make(const char *world, const char *directory, bool allow_other, bool nest_ctl,
	struct wfs_handover *ret_handover, struct wfs_error *error);

/** wfs_handover_end() - the owner serves both: put a nested one in its place.
 *  Return: 0 or -errno; then wfs_handover_undo() is called for. */
int wfs_handover_end(struct wfs_handover *handover, struct wfs_error *error);

/** wfs_handover_undo() - take both mounts away; accepts one that was not made. */
void wfs_handover_undo(struct wfs_handover *handover);

/** wfs_handover_done() - close everything; the mounts stay when an owner has them. */
void wfs_handover_done(struct wfs_handover *handover);
