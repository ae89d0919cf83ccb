/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of both FUSE connections: a low-level session on a descriptor of a mount, the
 * threads that serve it, and the notice that the mount is gone.
 *
 * A connection ends in one of two ways: a process unmounts it (then `ended` is called), or
 * wfs_fuse_free() unmounts it, lazily if files are in use, so that stopping always ends.
 * Source: docs/design.md §8; libfuse 3.14, fuse_lowlevel.h.
 */
#pragma once

#define FUSE_USE_VERSION 314 /* fuse_loop_cfg_*: fuse_common.h of libfuse 3.14 */
#include <fuse_lowlevel.h>
#include <stdbool.h>

#include "fs/mount/keeper.h"

struct wfs_fuse;

enum {
	WFS_FUSE_THREADS_MAX = 64,
	/* how long to wait for Linux's first request; another process may have taken it */
	WFS_FUSE_START_MS = 10000,
};

/* Option struct: plain value; borrowed during wfs_fuse_new. */
struct wfs_fuse_options {
	const struct fuse_lowlevel_ops *ops;
	size_t ops_size;
	void *userdata;            /* of the session: fuse_req_userdata() gives it; borrowed */
	int fd;                    /* of /dev/fuse, mounted; taken, also on failure */
	const char *directory;     /* the mount point, for messages only: any text */
	struct wfs_keeper *keeper; /* can unmount it (keeper.h); a reference is kept */
	enum wfs_mount_part part;  /* of the keeper's mounts, the one of this session */
	unsigned int threads;      /* number of threads that serve, 1 to WFS_FUSE_THREADS_MAX */
	/* Called once, on the thread of the loop, if the mount is gone before wfs_fuse_free() was
	 * called; must not call wfs_fuse_free(). May be NULL. */
	void (*ended)(void *context);
	void *context; /* of `ended`; borrowed */
};

/** wfs_fuse_new() - make the FUSE session of a mount; wfs_fuse_start() begins to serve it.
 *  @ret_fuse: caller frees it with wfs_fuse_free(). Return: 0, -ENOMEM, … with @error. */
int wfs_fuse_new(const struct wfs_fuse_options *options, struct wfs_fuse **ret_fuse,
	struct wfs_error *error);

/** wfs_fuse_initialised() - note that Linux has begun the FUSE session. The operation `init` must
 *  call this function; otherwise wfs_fuse_start() fails. */
void wfs_fuse_initialised(struct wfs_fuse *fuse);

/** wfs_fuse_is_initialised() - has Linux begun the FUSE session? Before that it has nothing of this
 *  mount in its cache, and libfuse refuses notifications. Thread: any. */
bool wfs_fuse_is_initialised(const struct wfs_fuse *fuse);

/** wfs_fuse_start() - start the threads, wait until `init` was called, and serve; called once
 *  Return: 0, -ENOMEM, -EAGAIN (no thread can be started), -ENODEV (not mounted, or not any more),
 *          -ETIMEDOUT (`init` was not called within WFS_FUSE_START_MS). */
int wfs_fuse_start(struct wfs_fuse *fuse, struct wfs_error *error);

/** wfs_fuse_session() - get libfuse's session, for notifications; valid until wfs_fuse_free(), or,
 *  with wfs_fuse_ref(), until wfs_fuse_unref(). */
struct fuse_session *wfs_fuse_session(struct wfs_fuse *fuse);

/** wfs_fuse_directory() - get options->directory, the mount point as text for messages; valid as
 *  long as wfs_fuse_session(). */
const char *wfs_fuse_directory(const struct wfs_fuse *fuse);

/** wfs_fuse_abort() - have the keeper (fs/mount/keeper.h) end the FUSE connection: requests that
 *  wait, and later ones, get an error
 *  The mount stays, so that its users see the error; but if the keeper has no right to end the
 *  connection, it unmounts the mount instead.
 *  Thread: any that has a reference (wfs_fuse_ref()). */
void wfs_fuse_abort(struct wfs_fuse *fuse);

/** wfs_fuse_ref() - take a reference, which keeps the FUSE session valid after wfs_fuse_free(): a
 *  thread that notifies Linux may still use it then. Return: @fuse. */
struct wfs_fuse *wfs_fuse_ref(struct wfs_fuse *fuse);
void wfs_fuse_unref(struct wfs_fuse *fuse);

/**
 * wfs_fuse_free() - stop the threads, and unmount if it is still mounted; accepts NULL
 *
 * Requests that are not answered yet fail with ENOTCONN. Must not be called from a request or from
 * `ended`.
 */
void wfs_fuse_free(struct wfs_fuse *fuse);
WFS_DEFINE_AUTO(fuse, struct wfs_fuse, wfs_fuse_free)
#define WFS_AUTO_FUSE WFS_CLEANUP(wfs_auto_fuse)

/** fs_reply_result() - answer a request that gives no data
 *  @result: 0 or a negative errno; only this function turns it into FUSE's positive one */
void fs_reply_result(fuse_req_t request, int result);

/** fs_reply_access() - answer access(2). X_OK is granted only for directories. R_OK and W_OK are
 *  always granted, because open(2) judges them. Replies: 0, EACCES. */
void fs_reply_access(fuse_req_t request, bool directory, int mask);
