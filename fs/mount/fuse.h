/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both FUSE connections share: a low-level session on a descriptor of a mount, the threads that serve it,
 * and the notice that the mount is gone.
 *
 * A connection ends in one of two ways: somebody unmounts it (then `ended` is called), or
 * wfs_fuse_free takes it down, lazily when files are in use, so that stopping always ends.
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
	WFS_FUSE_START_MS = 10000, /* for Linux's first request: another process may have it */
};

/* Option struct: plain value; borrowed during wfs_fuse_new. */
struct wfs_fuse_options {
	const struct fuse_lowlevel_ops *ops;
	size_t ops_size;
	void *userdata;            /* of the session: fuse_req_userdata() gives it; kept */
	int fd;                    /* of /dev/fuse, mounted; taken, whatever comes of it */
	const char *directory;     /* where it is mounted, for messages only: any text */
	struct wfs_keeper *keeper; /* takes the mount away; counted */
	enum wfs_mount_part part;  /* of that keeper */
	unsigned int threads;      /* that serve requests, 1 to WFS_FUSE_THREADS_MAX */
	/* Called once, on the thread of the loop, when the mount is gone and wfs_fuse_free was not
	 * called; must not call wfs_fuse_free. May be NULL. */
	void (*ended)(void *context);
	void *context; /* kept */
};

/** wfs_fuse_new() - make the session of a mount; nobody serves it before wfs_fuse_start.
 *  Return: 0, -ENOMEM, … */
int wfs_fuse_new(const struct wfs_fuse_options *options, struct wfs_fuse **ret_fuse,
	struct wfs_error *error);

/** wfs_fuse_initialised() - to be called by the operation `init`. */
void wfs_fuse_initialised(struct wfs_fuse *fuse);

/** wfs_fuse_start() - have `init` called, on a thread of the session, and serve; once.
 *  Return: 0, -ENOMEM, -EAGAIN (no thread to be had), -ENODEV (unmounted, or not mounted), -ETIMEDOUT. */
int wfs_fuse_start(struct wfs_fuse *fuse, struct wfs_error *error);

/** wfs_fuse_session() - for notifications; valid until wfs_fuse_free, or as long as a reference. */
struct fuse_session *wfs_fuse_session(struct wfs_fuse *fuse);

/** wfs_fuse_directory() - the mount point; valid as long. */
const char *wfs_fuse_directory(const struct wfs_fuse *fuse);

/**
 * wfs_fuse_abort() - end the connection: requests that wait, and later ones, get an error
 * The mount stays, so that its users see the error. Where its keeper may not abort, the keeper
 * takes the mount away instead.
 * Thread: any that has a reference.
 */
void wfs_fuse_abort(struct wfs_fuse *fuse);

/** wfs_fuse_ref() - keep the session beyond wfs_fuse_free, for a thread that may be in a notification
 *  then. Return: @fuse. */
struct wfs_fuse *wfs_fuse_ref(struct wfs_fuse *fuse);
void wfs_fuse_unref(struct wfs_fuse *fuse);

/**
 * wfs_fuse_free() - stop the threads, have what is still mounted unmounted; accepts NULL
 *
 * Requests that were not answered before fail with ENOTCONN. Not to be called from a request or
 * from `ended`.
 */
void wfs_fuse_free(struct wfs_fuse *fuse);
WFS_DEFINE_AUTO(fuse, struct wfs_fuse, wfs_fuse_free)
#define WFS_AUTO_FUSE WFS_CLEANUP(wfs_auto_fuse)

/**
 * fs_reply_result() - answer a request that has nothing to give but its result
 * @result: 0 or a negative errno; the one place where it becomes FUSE's positive one
 */
void fs_reply_result(fuse_req_t request, int result);

/** fs_reply_access() - answer access(2): X_OK is granted for directories alone. R_OK and W_OK are always granted, because
 *  open(2) decides about these. Replies: 0, EACCES. */
void fs_reply_access(fuse_req_t request, bool directory, int mask);
