/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a world: the process that holds its lock, serves its control socket and its mounts.
 *
 * Started by `mount`, it ends with its last mount; started by `serve`, it stays until it is told
 * to end. It ends in order: nothing new is begun, what was begun is answered, the mounts are taken
 * down, the world is closed.
 * Source: docs/design.md §7.
 */
#pragma once

#include "fs/server/mounts.h"

/* Option struct: plain value; borrowed during wfs_owner_run. */
struct wfs_owner_options {
	const char *directory;           /* of the world, absolute */
	struct wfs_mount_options *mount; /* served before `ready`; NULL: none */
	wfs_driver_start *drive;         /* the world's agents; NULL: nobody does */
	bool paused;                     /* what they were doing stays as it is */
	bool keep;                       /* stay when the last mount is gone */
	uint32_t wait_ms;                /* for the lock of a short-lived command */
	void (*ready)(void *context);    /* the socket answers, the mount is usable */
	void *context;
	/* wfs_owner_start: called in the new process, which lets go of what is not its own; may be NULL */
	void (*forked)(void *context);
	void *forked_context;
};

/**
 * wfs_owner_run() - own the world until it is over
 * SIGTERM, SIGINT and SIGHUP stay blocked when it returns: the process is to end.
 * Return: 0, or -errno when it did not come up (@error; `ready` was not called).
 */
int wfs_owner_run(const struct wfs_owner_options *options, struct wfs_error *error);

/**
 * wfs_owner_start() - the same in a new process of its own session, which writes what it has to
 * say to worldfs.log in the world
 * Waits until it is ready. Thread: the process must have no other.
 * Return: 0, or the -errno of wfs_owner_run with its @error.
 */
int wfs_owner_start(const struct wfs_owner_options *options, struct wfs_error *error);
