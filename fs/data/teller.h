/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that sends notifications to Linux, so that it drops what has changed: one for each
 * mount.
 *
 * A notification waits for a lock of a directory, or of a page of its listing. A reader holds this
 * lock while Linux copies what it reads into its memory, which may be the page of a file that never
 * arrives. So only this thread waits for a notification without a limit. If one takes longer than
 * the limit, the teller is given up: the connection is aborted, and the callers of the teller go
 * on. Nothing ends the wait itself, not even the abort. So the thread stays, with memory that only
 * it uses, and ends after the reader has released the lock.
 * Source: docs/decisions/0013-tellers.md; fuse_reverse_inval_entry(),
 * fuse_readdir_cached() in Linux fs/fuse.
 */
#pragma once

#include "fs/data/numbers.h"
#include "fs/mount/fuse.h"
#include "kernel/base/buffer.h"

enum {
	/* How long one notification may take: many times what a machine under heavy load needs. */
	WFS_TELLER_LIMIT_MS = 30000,
	WFS_TELLER_LIMIT_MAX_S = 3600, /* highest value of WORLDFS_NOTIFY_LIMIT */
};

struct wfs_teller;

/** wfs_teller_limit_ms() - get how long one notification may take before the teller is given up, in
 *  milliseconds: from the environment variable WORLDFS_NOTIFY_LIMIT (seconds, 1 to
 *  WFS_TELLER_LIMIT_MAX_S), or WFS_TELLER_LIMIT_MS if it is not set or has another value. */
unsigned int wfs_teller_limit_ms(void);

/** wfs_teller_new() - start the thread that notifies Linux
 *  @fuse: of the mount; a reference is kept
 *  @numbers: copied
 *  @limit_ms: how long one notification may take; at least 10
 *  @ret_teller: set on success; caller frees it with wfs_teller_free()
 *  Return: 0, -ENOMEM, -EAGAIN (no thread can be started). */
int wfs_teller_new(struct wfs_fuse *fuse, const struct wfs_numbers *numbers, unsigned int limit_ms,
	struct wfs_teller **ret_teller);

/** wfs_teller_run() - have the teller's thread call @job with @context, and wait for its result
 *  @job: notifies Linux by the functions for jobs below. If one of these returns an error other
 *  than -ENOENT, the job must return this error at once, without using memory of the caller: after
 *  -ECANCELED the caller of wfs_teller_run() does not wait any more
 *  Thread: any but the teller's.
 *  Return: what @job has returned; -ECANCELED (the teller was given up or stopped, maybe before
 *  @job was called). If this call gives the teller up, it also calls wfs_teller_end(). */
int wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context);

/** wfs_teller_post() - have the teller's thread call @job with @context when it has no other job,
 *  without waiting for that; the job's result is ignored. Does nothing if a posted job still waits,
 *  or the teller was given up or stopped.
 *  @job: as for wfs_teller_run(); @context: must stay valid until wfs_teller_free() has returned */
void wfs_teller_post(struct wfs_teller *teller, int (*job)(void *context), void *context);

/** wfs_teller_end() - abort the mount's FUSE connection, because Linux may have outdated contents,
 *  and wait until it is aborted, at most about as long as one notification may take; if the
 *  connection is being aborted already, only wait. @why: text for the program's log */
void wfs_teller_end(struct wfs_teller *teller, const char *why);

/** wfs_teller_set_log() - note @ino, the inode number of journal/log.jsonl, whose size Linux must
 *  drop when wfs_teller_end() aborts the connection. Thread: any. */
void wfs_teller_set_log(struct wfs_teller *teller, uint64_t ino);

/** wfs_teller_stop() - begin no new job for wfs_teller_run() or wfs_teller_post(), and have the
 *  teller given up if the notification of a running job takes longer than about a second; does not
 *  wait, and may be called several times. */
void wfs_teller_stop(struct wfs_teller *teller);

/** wfs_teller_free() - wait until a posted job has ended or the teller is given up, and release the
 *  teller; accepts NULL. The caller has called wfs_teller_stop(), and makes sure that no other
 *  thread calls a function here any more. */
void wfs_teller_free(struct wfs_teller *teller);

/* --- for jobs; each tries again a few times if Linux has no memory --- */

/** wfs_teller_entry() - have Linux drop the name @name, of @size bytes (at most WFS_NAME_MAX), from
 *  its cache of @directory, an inode number
 *  Return: 0, -ENOENT (Linux does not know the name or inode, or the mount is gone), -ECANCELED
 *  (the teller was given up), or another -errno. */
int wfs_teller_entry(struct wfs_teller *teller, uint64_t directory, const char *name, size_t size);

/* For @offset below: attributes only. */
#define WFS_TELLER_ATTRIBUTES UINT64_MAX

/** wfs_teller_inode() - have Linux drop the attributes of the inode @ino, and its pages or listing
 *  from @offset on. Return: as wfs_teller_entry(). */
int wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset);

/** wfs_teller_store() - put @bytes into Linux's cached pages of the file @ino, at @offset. @bytes:
 *  must stay valid until this returns, even if the teller is given up: memory of the job, not of
 *  the caller of wfs_teller_run(). Return: as wfs_teller_entry(). */
int wfs_teller_store(
	struct wfs_teller *teller, uint64_t ino, uint64_t offset, struct wfs_bytes bytes);

/** wfs_teller_inode_here() - do the same as wfs_teller_inode(), but on the calling thread, even
 *  after the teller was given up. Not for pages of a listing, because no limit ends the wait.
 *  Return: 0, -ENOENT (Linux does not know the inode, or the mount is gone), or another -errno. */
int wfs_teller_inode_here(struct wfs_teller *teller, uint64_t ino, uint64_t offset);

/* --- whole jobs --- */

/** wfs_teller_listing() - have Linux drop the cached listing of @directory, an inode number, by a
 *  job of its own, and wait for the job. Thread: any but the teller's. Return: as
 *  wfs_teller_entry(). */
int wfs_teller_listing(struct wfs_teller *teller, uint64_t directory);
