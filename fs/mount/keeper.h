/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a small process that the process which mounts leaves behind, with its rights and in its
 * mount namespace.
 *
 * The owner of a world may be another user, in another namespace, so it neither mounts nor unmounts
 * anything: it asks the keeper. The keeper knows the two mounts by the numbers that Linux gave to
 * their connections, so that it never takes away what somebody else has put in their place. It ends when
 * nobody holds the other end of its socket any more; a mount that no owner has taken over is
 * taken away then, and one whose owner was killed stays, dead, to say so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* The two mounts of a world's tree. */
enum wfs_mount_part { WFS_MOUNT_DATA, WFS_MOUNT_CONTROL, WFS_MOUNT_PARTS };

/* What a keeper does. */
enum wfs_keeper_what {
	WFS_KEEPER_MOUNTED = 'm', /* the mount is on its path, its number comes with it */
	WFS_KEEPER_TAKEN = 't',   /* an owner serves both */
	WFS_KEEPER_ABORT = 'a', /* end the connection; where that may not be done, unmount lazily */
	WFS_KEEPER_UNMOUNT = 'u', /* unless files are in use */
	WFS_KEEPER_REMOVE = 'r',  /* unmount, lazily when files are in use */
};

/* For an answer: a foreign keeper may never give one. */
enum {
	WFS_KEEPER_WAIT_MS = 5000,
	WFS_KEEPER_LATE_MS = 50, /* when the time of all keepers together is up */
};

/** wfs_keeper_start() - fork a keeper for mounts on @directory and @ctl, absolute and canonical
 *  @nested: @ctl lies inside the other mount; else its directory is a run-time directory, and
 *  removed with it
 *  Return: the other end of its socket (caller closes), or -errno. */
int wfs_keeper_start(const char *directory, const char *ctl, bool nested, struct wfs_error *error);

/** wfs_keeper_is() - can this descriptor be the other end of a keeper's socket? */
bool wfs_keeper_is(int fd);

/* The owner's end of the socket, counted: a thread that outlives its mount may still use it. */
struct wfs_keeper;

/** wfs_keeper_new() - @fd: taken, also when an error is returned. Return: 0, -ENOMEM. */
int wfs_keeper_new(int fd, struct wfs_keeper **ret_keeper);
struct wfs_keeper *wfs_keeper_ref(struct wfs_keeper *keeper);
void wfs_keeper_unref(struct wfs_keeper *keeper); /* accepts NULL */

/** wfs_keeper_fd() - the socket, to be handed on; borrowed. */
int wfs_keeper_fd(const struct wfs_keeper *keeper);

/** wfs_keeper_ask() - have one thing done; @device only for WFS_KEEPER_MOUNTED
 *  Return: what came of it: 0 or -errno (-EBUSY: files are in use); -ETIMEDOUT (no answer within
 *  WFS_KEEPER_WAIT_MS, or as wfs_keeper_hurry() says), -EPIPE (the keeper is gone). Thread: any. */
int wfs_keeper_ask(struct wfs_keeper *keeper, enum wfs_keeper_what what, enum wfs_mount_part part,
	unsigned long device);

/** wfs_keeper_hurry() - wait less for the answers to later questions: the owner ends, and has other
 *  keepers to ask, too
 *  @until_ns: of the monotonic clock: until then, but WFS_KEEPER_LATE_MS in any case, and not at
 *             all once a question got no answer in time
 *  Thread: any. */
void wfs_keeper_hurry(struct wfs_keeper *keeper, int64_t until_ns);

/** wfs_keeper_abort() - have both connections ended; waits for no answer. @name: of the mount; a test
 *  that takes the place of this function looks at it. Return: 0 or -errno. */
int wfs_keeper_abort(int fd, const char *name);
