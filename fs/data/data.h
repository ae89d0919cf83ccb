/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data connection: one FUSE mount that shows the tree, read-only and cached for ever.
 *
 * Opens are never sent to us, every timeout is infinite, and after each commit the publisher
 * invalidates the names that changed before the writer is answered (fs/data/notify.h). The workers only
 * read: they never wait for the writer or for the thread that sends notifications.
 * Source: docs/design.md §8.
 */
#pragma once

#include <sys/types.h>

#include "fs/mount/keeper.h"
#include "fs/tree/tree.h"

struct wfs_data;

/* Option struct: plain value; borrowed during wfs_data_new. */
struct wfs_data_options {
	int fd;                /* of the mount; taken, whatever comes of it */
	const char *directory; /* its mount point, for messages */
	bool here;             /* a child of this process may list @directory */
	struct wfs_keeper *keeper;
	uid_t uid; /* owner of every file */
	gid_t gid;
	struct wfs_tree tree; /* its pointers must outlive the connection */
	/* Called once, on a thread of the connection, when the mount is gone (umount from outside). */
	void (*ended)(void *context);
	void *context;
};

/**
 * wfs_data_new() - serve a mount; returns when the tree is usable
 * Return: 0, -errno (error says what could not be done and what would help).
 */
int wfs_data_new(const struct wfs_data_options *options, struct wfs_data **ret_data,
	struct wfs_error *error);

/** wfs_data_pause() - before an unmount: let go of what keeps the mount busy. */
void wfs_data_pause(struct wfs_data *data);

/** wfs_data_resume() - it was not unmounted. */
void wfs_data_resume(struct wfs_data *data);

/** wfs_data_free() - unmount if it is still mounted, stop the threads; accepts NULL. Not to be
 *  called from `ended`. */
void wfs_data_free(struct wfs_data *data);
WFS_DEFINE_AUTO(data, struct wfs_data, wfs_data_free)
#define WFS_AUTO_DATA WFS_CLEANUP(wfs_auto_data)
