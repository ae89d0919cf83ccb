/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: a process that ends the FUSE connections of a daemon that was killed.
 *
 * When Linux kills the daemon, it closes /dev/fuse after the last thread is gone. A thread that is
 * sending a notification may wait for a directory's lock, held by a reader that waits for the
 * daemon's answer:
 * then neither ever ends, the mount hangs, and the world stays locked. Aborting the connection
 * frees both, and only another process can do it.
 *
 * The guardian is forked before the daemon has another thread or opens a file. It gets the socket
 * of each mount's keeper (fs/mount/keeper.h), which can abort the mount. It sleeps until the
 * daemon's first thread is gone, or sends a message about a fatal signal that may dump core: before
 * the dump, Linux waits for all threads, and so would wait for ever.
 * Source: fuse_reverse_inval_entry() in Linux fs/fuse; prctl(2), PR_SET_PDEATHSIG.
 * Thread: any, after wfs_guardian_new().
 */
#pragma once

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

struct wfs_guardian;

/** wfs_guardian_new() - fork the guardian; called once, by the only thread of the process
 *  @ret_guardian: caller frees it with wfs_guardian_free(). Return: 0 or -errno. */
int wfs_guardian_new(struct wfs_guardian **ret_guardian, struct wfs_error *error);

/** wfs_guardian_free() - kill the guardian's process, which then aborts no FUSE connection, and
 *  wait for its end; accepts NULL. */
void wfs_guardian_free(struct wfs_guardian *guardian);
WFS_DEFINE_AUTO(guardian, struct wfs_guardian, wfs_guardian_free)

/** wfs_guardian_watch() - have the guardian abort a mount if this daemon is killed; called before
 *  the mount is served
 *  @name: any text that no other mount has
 *  @keeper: socket of the mount's keeper; borrowed
 *  Return: 0 or -errno (the guardian is gone). */
int wfs_guardian_watch(struct wfs_guardian *guardian, const char *name, int keeper);

/** wfs_guardian_forget() - end wfs_guardian_watch() for the mount @name, which was unmounted. */
void wfs_guardian_forget(struct wfs_guardian *guardian, const char *name);
