/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a world: the process that holds its lock, and serves its control socket and its
 * mounts.
 *
 * Started by `mount`, it ends with its last mount; started by `serve`, it stays until it is asked
 * to end. It ends in order: it begins nothing new, answers what has begun, takes the mounts down,
 * and closes the world.
 * Source: docs/design.md §7.
 */
#pragma once

#include "fs/server/mounts.h"

/* Option struct: plain value; borrowed during wfs_owner_run. */
struct wfs_owner_options {
	const char *directory;           /* of the world, absolute */
	struct wfs_mount_options *mount; /* to be served before `ready`; NULL: none */
	wfs_driver_start *drive;         /* for the world's agents; NULL: they are not driven */
	bool paused;                     /* do not continue unfinished turns and plans */
	bool keep;                       /* stay after the last mount is gone */
	uint32_t wait_ms; /* how long to wait for the lock of a short-lived command */
	/* Called when the socket answers and the mount is usable; not by wfs_owner_start(). */
	void (*ready)(void *context);
	/* For wfs_owner_start(): called in the new process, to close what belongs to the old one;
	 * may be NULL. */
	void (*forked)(void *context);
	void *context;
};

/** wfs_owner_run() - own the world until the process is asked to end or, unless options->keep, the
 *  last mount is gone
 *  SIGTERM, SIGINT and SIGHUP stay blocked when it returns: the process should end.
 *  Return: 0, or -errno when it did not start (@error; `ready` was not called). */
int wfs_owner_run(const struct wfs_owner_options *options, struct wfs_error *error);

/** wfs_owner_start() - call wfs_owner_run() in a new process, in a session (setsid(2)) of its own
 *  The new process logs to worldfs.log in the world. Waits until it is ready. Thread: the calling
 *  process must have only this one.
 *  Return: 0; the -errno of wfs_owner_run() with its @error; or -errno with @error: no process can
 *  be started, or it has ended before it was ready (-EIO). */
int wfs_owner_start(const struct wfs_owner_options *options, struct wfs_error *error);
