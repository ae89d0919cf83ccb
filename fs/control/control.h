/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection: a FUSE mount whose files are written to change the world.
 *
 * A request ends at a newline that completes a JSON value, at close, or at the first read. The
 * write that completes it returns when its effect is durable and visible through every mount; the
 * answer is read from the same descriptor. A request occupies no FUSE worker while it runs: the
 * reply is sent from the thread on which the verb ends. Each look-up of a control file gives a new
 * node id, because Linux serialises the writers of one inode.
 * Source: worldfs-tree(5); docs/design.md §8.
 */
#pragma once

#include <sys/types.h>

#include "fs/mount/keeper.h"
#include "fs/verb/peer.h"
#include "fs/verb/verb.h"

struct wfs_control;

/* Option struct: plain value; borrowed during wfs_control_new(). */
struct wfs_control_options {
	int fd;                    /* of the mount; taken, also on failure */
	const char *directory;     /* its mount point, for messages */
	struct wfs_keeper *keeper; /* of the mount, see fs/mount/keeper.h */
	bool allow_other;
	bool act;                /* all users act as the principal of the session */
	bool trusted;            /* uids in requests can be trusted */
	struct wfs_peers *peers; /* which users are principals; must outlive the connection */
	uid_t uid;               /* owner of every file; acts as the principal of the session */
	gid_t gid;
	const struct wfs_session *session; /* must outlive the connection */
	struct wfs_host *host;             /* for `status`; may be NULL */
	/* Called once, on a thread of the connection, when the mount was unmounted otherwise than
	 * by wfs_control_free(). */
	void (*ended)(void *context);
	void *context;
};

/** wfs_control_new() - serve a mount; returns when its files are usable. @ret_control: set on
 *  success; caller frees it with wfs_control_free(). Return: 0, or -errno with @error. */
int wfs_control_new(const struct wfs_control_options *options, struct wfs_control **ret_control,
	struct wfs_error *error);

/** wfs_control_free() - refuse new requests, end those that wait for turns, plans or queries with
 *  an error, wait until all others are answered, unmount, and stop the threads; accepts NULL. Must
 *  not be called from `ended` (struct wfs_control_options). */
void wfs_control_free(struct wfs_control *control);
WFS_DEFINE_AUTO(control, struct wfs_control, wfs_control_free)
#define WFS_AUTO_CONTROL WFS_CLEANUP(wfs_auto_control)
