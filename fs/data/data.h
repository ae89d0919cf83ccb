/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data connection: one FUSE mount that shows the tree, read-only and cached for ever.
 *
 * Linux sends no opens, and caches everything without a timeout. After each commit, names that
 * changed are invalidated before the client that changed them is answered (fs/data/notify.h). The
 * workers only read: they never wait for the kernel thread, or for the thread that sends
 * notifications.
 * Source: docs/design.md §8.
 */
#pragma once

#include <sys/types.h>

#include "fs/mount/keeper.h"
#include "fs/tree/tree.h"

struct wfs_data;

/* Option struct: plain value; borrowed during wfs_data_new(). */
struct wfs_data_options {
	int fd;                /* of the mount; taken, also on failure */
	const char *directory; /* its mount point, for messages */
	bool here;             /* a child of this process can reach @directory, to list ahead */
	struct wfs_keeper *keeper;
	uid_t uid; /* owner of every file */
	gid_t gid;
	struct wfs_tree tree; /* its pointers must outlive the connection */
	/* Called once, on a thread of the connection, after the mount was unmounted otherwise than
	 * by wfs_data_free(). */
	void (*ended)(void *context);
	void *context;
};

/** wfs_data_new() - serve a mount; returns when the tree can be used
 *  @ret_data: set on success; caller frees it with wfs_data_free()
 *  Return: 0, or -errno (@error says what failed and what would help). */
int wfs_data_new(const struct wfs_data_options *options, struct wfs_data **ret_data,
	struct wfs_error *error);

/** wfs_data_pause() - to be called before an unmount: end the child process that lists ahead
 *  (fs/data/listahead.h) and so keeps the mount busy, and start no other until
 *  wfs_data_resume(). */
void wfs_data_pause(struct wfs_data *data);

/** wfs_data_resume() - undo wfs_data_pause(), because the mount was not unmounted. */
void wfs_data_resume(struct wfs_data *data);

/** wfs_data_free() - unmount @data if it is still mounted, and stop its threads; accepts NULL. Must
 *  not be called from `ended` (struct wfs_data_options). */
void wfs_data_free(struct wfs_data *data);
WFS_DEFINE_AUTO(data, struct wfs_data, wfs_data_free)
#define WFS_AUTO_DATA WFS_CLEANUP(wfs_auto_data)
