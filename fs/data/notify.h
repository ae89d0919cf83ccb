/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifying Linux of the changes of a commit, so that it can cache everything else for ever.
 *
 * This runs on the mount's teller, while the publisher thread waits for it: an invalidation waits
 * for look-ups and reads in flight, so a thread that serves these must not send it. If an
 * invalidation cannot be sent, or Linux does not finish it in time (teller.h), the mount is ended:
 * its users then get errors, and no outdated contents. Order within a directory: first the names,
 * whose invalidation takes the directory's lock and so comes after every reply from the old state;
 * then the cached listing.
 *
 * log.jsonl grows in place, and its last page has zeros after the end, which a reader must not get
 * in place of new lines:
 * - Linux moves the size before it copies stored bytes. So the last page is dropped first; a reader
 * then gets a new page, which has the new lines already.
 * - If a reply has another size, Linux wipes the page after this size, possibly after the next
 * lines were stored there. So only storing moves the size: a reply with attributes has the size
 * that was stored, and waits while lines are being stored.
 *
 * A cut of the journal makes another file of log.jsonl (fs/tree/ino.h). A process may have an older
 * one open, as tail -f has, so new lines are stored in all of them that Linux knows.
 *
 * events.jsonl of a turn grows in place, too, but Linux asks for its size whenever a reader comes
 * to its end. After a commit with events of the turn, all its pages are dropped before a reply may
 * have the new size: a page that is read again has the new lines already. Replies with its
 * attributes wait until the pages are dropped, so that none with an older size comes later.
 *
 * One race is left to Linux: filemap_read() takes a page and then looks at the size. If a reader
 * is interrupted between the two, until the page was dropped and another reader has asked for the
 * size, it gets zeros from the dropped page. Files that grow could be read without the page cache,
 * but Linux asks for that at open, and a mount that answers open is slower for all other files.
 *
 * Nothing is pushed to a mount whose principal may not see the log.
 * Source: docs/design.md §8; fuse_notify_store() and fuse_change_attributes() in Linux fs/fuse.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "caps/authority.h"
#include "fs/data/teller.h"
#include "fs/tree/tree.h"

struct wfs_known;

typedef void wfs_notify_answer_fn(fuse_req_t request, uint64_t ino);

/* Plain value inside a data connection. */
struct wfs_notify {
	struct wfs_observer observer;
	const struct wfs_tree *tree;
	struct wfs_teller *teller; /* NULL: the world is not observed */
	struct wfs_known *known;
	atomic_bool texts_seen; /* a node of wfs_tree_is_private() (fs/tree/tree.h) was looked up */
	atomic_bool log_seen;   /* log.jsonl was looked up: its pages and size may be cached */
	/* up to where lines were stored, counted from record 0; set by the teller */
	atomic_uint_fast64_t log_end_bytes;
	struct wfs_notify_log
		*logs; /* each file of the log that Linux may know; owned, teller only */
	size_t log_count;
	size_t log_capacity;
	/* up to which height `events.jsonl` of turns shows events at the head, 0: not known; set by
	 * the teller */
	atomic_uint_fast64_t events_height;
	struct wfs_buffer name; /* scratch; teller only */
	pthread_mutex_t lock;
	bool log_growing;                     /* lock */
	struct wfs_notify_deferred *deferred; /* lock; owned */
};

/** wfs_notify_init() - begin to notify Linux of each commit of the world of tree->session. @notify:
 *  filled, also on failure; @tree, @teller, @known: borrowed until wfs_notify_stop()
 *  Return: 0, or -errno; in both cases the caller later calls wfs_notify_stop() and then
 *  wfs_notify_done(). */
int wfs_notify_init(struct wfs_notify *notify, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known);

/** wfs_notify_stop() - stop observing, and stop the teller; requests may still come. */
void wfs_notify_stop(struct wfs_notify *notify);
void wfs_notify_done(struct wfs_notify *notify);

/** wfs_notify_log_anew() - have Linux drop what it has cached of the log, after rights have changed
 *  To be called in a job of the teller. Replies then have the present size of the log. Lines that
 *  were not pushed, because the mount's principal could not see the log, are read when a reader
 *  asks for them. Does nothing if the principal may not see the log now. Return: 0, or -errno,
 *  which the job must return at once. */
int wfs_notify_log_anew(struct wfs_notify *notify);

/** wfs_notify_log_ino() - compute the inode number that `journal/log.jsonl`, a node of the kind
 *  WFS_NODE_LOG (fs/tree/ino.h), has at the head after @cut cuts of the journal. */
uint64_t wfs_notify_log_ino(uint32_t cut);

/** wfs_notify_is_log() - is @ino the inode number of `journal/log.jsonl` at the head, now or before
 *  a cut? */
bool wfs_notify_is_log(uint64_t ino);

/** wfs_notify_grows() - is @ino the inode number of a file that grows: of the log, or of
 *  `events.jsonl` of a turn at the head? */
bool wfs_notify_grows(uint64_t ino);

/** wfs_notify_defer() - let a request wait whose reply has attributes of the log or of an
 *  `events.jsonl`, while a commit makes such files grow
 *  @answer: must reply to @request; called once with @request and @ino, when the files have grown,
 *  on the thread of the teller or of the publisher
 *  Return: true: @answer will be called, or was called already; false: it will not, because no file
 *  is growing or memory is lacking: the caller must reply at once. */
bool wfs_notify_defer(
	struct wfs_notify *notify, fuse_req_t request, uint64_t ino, wfs_notify_answer_fn *answer);
