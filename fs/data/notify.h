/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling the kernel what a commit changed, so that everything else can be cached for ever.
 *
 * Runs on the mount's teller, while the publisher thread waits for it: an invalidation waits for
 * look-ups and reads in flight, so a thread that serves them must not send it. A mount to which an
 * invalidation cannot be sent, or that does not take it in (teller.h), is ended: its users get
 * errors, not what was true before. Order within a directory:
 * first the entries, whose invalidation takes the directory's lock and so comes after every reply
 * computed from the old state, then the cached listing.
 *
 * log.jsonl grows in place, and its last page has zeros behind the end, which a reader must not
 * get for new lines:
 * - The kernel moves the size before it copies stored bytes. So the last page is dropped first;
 *   a reader gets a new page that has the new lines already, after the end.
 * - When a reply tells another size, the kernel wipes what the page has behind it, possibly after
 *   the next lines are there. So the size moves only by storing: an attribute reply tells what has
 *   been stored, and while lines are being stored it is deferred until they are.
 *
 * Nothing is pushed to a mount whose principal may not see the log.
 * Source: docs/design.md §8; fuse_notify_store() and fuse_change_attributes() in Linux fs/fuse.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "fs/data/teller.h"
#include "fs/tree/tree.h"

struct wfs_known;

/* Plain value inside a data connection. */
struct wfs_notify {
	struct wfs_observer observer;
	const struct wfs_tree *tree;
	struct wfs_teller *teller; /* NULL: it does not observe */
	struct wfs_known *known;
	atomic_bool texts_seen; /* a file of journal/texts was looked up: its pages may be cached */
	atomic_bool log_seen;   /* somebody asked for log.jsonl: its pages and size may be cached */
	atomic_uint_fast64_t log_size_bytes; /* stored so far; set by the teller */
	struct wfs_buffer name;              /* scratch; teller only */
	pthread_mutex_t lock;
	bool log_growing;                     /* lock */
	struct wfs_notify_deferred *deferred; /* lock; owned */
};

/** wfs_notify_init() - observe the session's world. @tree, @teller, @known: borrowed until stop. */
int wfs_notify_init(struct wfs_notify *notify, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known);

/** wfs_notify_stop() - observe no more, and stop the teller; requests may still come. */
void wfs_notify_stop(struct wfs_notify *notify);
void wfs_notify_done(struct wfs_notify *notify);

/**
 * wfs_notify_log_anew() - a job, or part of one: what the mount may see has changed
 * The log's size is what it is now; lines that were not pushed, because they were not to be seen,
 * are read when somebody asks for them.
 * Return: as of jobs (teller.h).
 */
int wfs_notify_log_anew(struct wfs_notify *notify);

/** wfs_notify_log_ino() - the inode of the log that grows. */
uint64_t wfs_notify_log_ino(void);

/**
 * wfs_notify_defer() - let a request for attributes of the log wait while it grows
 * @answer: called by the teller or the publisher thread, soon; replies to @request
 * Return: false when the request is to be answered at once.
 */
bool wfs_notify_defer(
	struct wfs_notify *notify, fuse_req_t request, void (*answer)(fuse_req_t request));
