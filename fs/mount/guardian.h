/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: a process that ends the connections of a daemon that was killed.
 *
 * When Linux kills the daemon, it closes /dev/fuse after the last thread is gone. A thread that is
 * just telling the kernel of a change may wait there for a directory's lock, whose holder is a
 * reader that waits for the daemon's answer: then neither ever ends, the mount hangs, and the
 * world stays locked. Aborting the connection frees both, and another process must do that.
 *
 * The guardian is forked before the daemon has another thread or opens anything, is given the socket
 * of each mount's keeper (fs/mount/keeper.h), which may abort it, and sleeps until the daemon's first thread is gone, or tells of a signal that ends it and
 * may dump core: Linux waits for all threads before it dumps, and so for ever.
 * Source: fuse_reverse_inval_entry() in Linux fs/fuse; prctl(2), PR_SET_PDEATHSIG.
 * Thread: any, after wfs_guardian_new.
 */
#pragma once

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

struct wfs_guardian;

/** wfs_guardian_new() - to be called by the first thread, while it is the only one; once.
 *  Return: 0 or -errno. */
int wfs_guardian_new(struct wfs_guardian **ret_guardian, struct wfs_error *error);

/** wfs_guardian_free() - the guardian ends and aborts nothing; accepts NULL. */
void wfs_guardian_free(struct wfs_guardian *guardian);
WFS_DEFINE_AUTO(guardian, struct wfs_guardian, wfs_guardian_free)

/** wfs_guardian_watch() - a mount is about to be served. @name: any text that no other has
 *  @keeper: socket of its keeper; borrowed
 *  Return: 0 or -errno (the guardian is not there). */
int wfs_guardian_watch(struct wfs_guardian *guardian, const char *name, int keeper);

/** wfs_guardian_forget() - it was taken down. */
void wfs_guardian_forget(struct wfs_guardian *guardian, const char *name);
