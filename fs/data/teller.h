/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that tells Linux what is not true any more: one for each mount.
 *
 * A notification waits for a lock of Linux, of a directory or of a page of its listing. A reader
 * has that lock while what he reads is copied into his memory, and his memory may be a page of a
 * file that never comes. So nobody but this thread waits for a notification without a limit. When
 * one takes longer, the teller is given up: the connection is aborted, and its callers go on.
 * Nothing ends the wait itself, not even the abort; so the thread is left behind with all that it
 * still uses, which is its own, and ends when the reader lets go.
 * Source: docs/decisions/0013-tellers.md; fuse_reverse_inval_entry(),
 * fuse_readdir_cached() in Linux fs/fuse.
 */
#pragma once

#include "fs/data/numbers.h"
#include "fs/mount/fuse.h"
#include "kernel/base/buffer.h"

enum {
	/* How long one notification may take; many times what a machine under heavy load needs. */
	WFS_TELLER_LIMIT_MS = 30000,
	WFS_TELLER_LIMIT_MAX_S = 3600, /* in WORLDFS_NOTIFY_LIMIT */
};

struct wfs_teller;

/** wfs_teller_limit_ms() - what the user wants: WORLDFS_NOTIFY_LIMIT (seconds), or the default. */
unsigned int wfs_teller_limit_ms(void);

/**
 * wfs_teller_new() - start the thread
 * @fuse: kept (wfs_fuse_ref)
 * @numbers: copied
 * @limit_ms: see above; at least 10
 * Return: 0, -ENOMEM, -EAGAIN (no thread to be had).
 */
int wfs_teller_new(struct wfs_fuse *fuse, const struct wfs_numbers *numbers, unsigned int limit_ms,
	struct wfs_teller **ret_teller);

/**
 * wfs_teller_run() - have the thread do @job, and wait for it
 * @job: tells by the functions below; what they return but 0 and -ENOENT it must return at once,
 *       touching nothing of its caller's any more: with -ECANCELED the caller is gone
 * Thread: any.
 * Return: what the job returned; -ECANCELED (it was given up now or before, or stopped).
 */
int wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context);

/** wfs_teller_post() - have the thread do @job, for which nobody waits, when there is no other; unless
 *  one is posted, or it has been given up or stopped. Its result does not matter. */
void wfs_teller_post(struct wfs_teller *teller, int (*job)(void *context), void *context);

/** wfs_teller_end() - abort the connection: it does not know what is true. @why: for the log. */
void wfs_teller_end(struct wfs_teller *teller, const char *why);

/** wfs_teller_stop() - nobody is to wait long from now on, and no new job begins; once or more. */
void wfs_teller_stop(struct wfs_teller *teller);

/** wfs_teller_free() - when nobody runs anything any more; accepts NULL. */
void wfs_teller_free(struct wfs_teller *teller);

/* --- for jobs; tried again a few times when Linux has no memory --- */

/** wfs_teller_entry() - a name in a directory is not what it was. @name: at most WFS_NAME_MAX bytes
 *  Return: 0, -ENOENT (it was not known), -ECANCELED, or why it could not be told. */
int wfs_teller_entry(struct wfs_teller *teller, uint64_t directory, const char *name, size_t size);

/* For @offset below: attributes only. */
#define WFS_TELLER_ATTRIBUTES UINT64_MAX

/** wfs_teller_inode() - attributes, and pages or the listing, from @offset. Return: as above. */
int wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset);

/** wfs_teller_store() - put @bytes into a file's pages. They must be the job's own.
 *  Return: as above. */
int wfs_teller_store(
	struct wfs_teller *teller, uint64_t ino, uint64_t offset, struct wfs_bytes bytes);

/** wfs_teller_inode_here() - wfs_teller_inode() of no job, on this thread, also when the teller was
 *  given up; not of a listing's pages, for nobody sees to it that it returns. */
int wfs_teller_inode_here(struct wfs_teller *teller, uint64_t ino, uint64_t offset);

/* --- whole jobs --- */

/** wfs_teller_listing() - run a job that drops a directory's cached listing. */
int wfs_teller_listing(struct wfs_teller *teller, uint64_t directory);
