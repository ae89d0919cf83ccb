/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a small process that the process that mounts leaves running, with its rights and in
 * its mount namespace.
 *
 * The owner of a world may be another user, in another namespace, so it neither mounts nor
 * unmounts: it asks the keeper. The keeper knows the two mounts by the numbers that Linux gave to
 * their connections, so it never unmounts another file system in their place. It ends when the
 * other end of its socket is closed everywhere. It then unmounts a mount that no owner has taken
 * over; a mount whose owner was killed stays, dead, so that its users see errors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* The two mounts of a world's tree. */
enum wfs_mount_part { WFS_MOUNT_DATA, WFS_MOUNT_CONTROL, WFS_MOUNT_PARTS };

/* Messages to a keeper. */
enum wfs_keeper_what {
	/* note that the mount is made; its number comes with the message */
	WFS_KEEPER_MOUNTED = 'm',
	/* note that an owner serves both mounts; sent once, with either part */
	WFS_KEEPER_TAKEN = 't',
	WFS_KEEPER_ABORT = 'a',   /* end the connection; without the right to, unmount lazily */
	WFS_KEEPER_UNMOUNT = 'u', /* unmount, unless files are in use */
	WFS_KEEPER_REMOVE = 'r',  /* unmount, lazily if files are in use */
};

/* How long to wait for an answer: a foreign keeper may never give one. */
enum {
	WFS_KEEPER_WAIT_MS = 5000,
	WFS_KEEPER_LATE_MS = 50, /* after the time of wfs_keeper_hurry() */
};

/** wfs_keeper_start() - fork a keeper for mounts on @directory and @ctl, absolute and canonical
 *  @nested: @ctl is inside the other mount; false: its directory is a run-time directory, which the
 *  keeper removes after unmounting
 *  Return: the other end of its socket (caller closes), or -errno. */
int wfs_keeper_start(const char *directory, const char *ctl, bool nested, struct wfs_error *error);

/** wfs_keeper_is() - can this descriptor be the other end of a keeper's socket? */
bool wfs_keeper_is(int fd);

/* The owner's end of the socket, counted: a thread that outlives its mount may still use it. */
struct wfs_keeper;

/** wfs_keeper_new() - make @ret_keeper, the owner's end of a keeper's socket; caller calls
 *  wfs_keeper_unref(). @fd: the socket; taken, also on failure. Return: 0, -ENOMEM. */
int wfs_keeper_new(int fd, struct wfs_keeper **ret_keeper);
struct wfs_keeper *wfs_keeper_ref(struct wfs_keeper *keeper);
void wfs_keeper_unref(struct wfs_keeper *keeper); /* accepts NULL */

/** wfs_keeper_fd() - get the descriptor of the socket, for the guardian (guardian.h); borrowed. */
int wfs_keeper_fd(const struct wfs_keeper *keeper);

/** wfs_keeper_ask() - send a message about its mount @part to the keeper, and wait for the result
 *  @device: Linux's number of the FUSE connection, only for WFS_KEEPER_MOUNTED
 *  Return: the keeper's result, 0 or -errno (-EBUSY: files are in use); -ETIMEDOUT (no answer
 *  within WFS_KEEPER_WAIT_MS, or the time of wfs_keeper_hurry()), -EPIPE (the keeper is gone).
 *  Thread: any. */
int wfs_keeper_ask(struct wfs_keeper *keeper, enum wfs_keeper_what what, enum wfs_mount_part part,
	unsigned long device);

/** wfs_keeper_hurry() - make each wfs_keeper_ask() from now on wait less, because the owner ends,
 *  and must ask other keepers, too
 *  @until_ns: wait until this time of the monotonic clock, but at least WFS_KEEPER_LATE_MS; if a
 *  message got no answer in time, later ones do not wait at all
 *  Thread: any. */
void wfs_keeper_hurry(struct wfs_keeper *keeper, int64_t until_ns);

/** wfs_keeper_abort() - have the keeper end the FUSE connections of both mounts (data and control),
 *  without waiting for its answer
 *  @fd: the owner's end of the keeper's socket
 *  @name: of the mount, for tests that replace this function
 *  Return: 0, or -errno: a message could not be sent. */
int wfs_keeper_abort(int fd, const char *name);
