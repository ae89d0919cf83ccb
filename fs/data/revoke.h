/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has Linux drop everything that it has cached of a mount after the rights of its principal have
 * changed.
 *
 * Every request is pinned until it is answered (wfs_session_pin() in caps/session.h). After new
 * rights have come into force, the teller of the mount waits until requests that were judged by the
 * old ones have been answered, and then drops the following, in this order. From the second on, a
 * reader can keep a notification from ending (decision 13); the mount is then ended.
 * - Pages, mappings and attributes of all files. No reader has these locked.
 * - All names. Dropping one takes the lock of its directory, so it comes after every look-up and
 * listing that was in flight.
 * - Listings, and all attributes again, because such a look-up may just have made the inode.
 * A mount that is ended takes no notifications of names, but its pages are dropped.
 * The same is done if a principal gets more rights, because listings lack names that it now sees.
 * Source: docs/decisions/0015-taken-back.md; fuse_reverse_inval_inode() in Linux fs/fuse.
 */
#pragma once

#include "fs/data/known.h"
#include "fs/data/notify.h"
#include "fs/data/teller.h"

/* Plain value inside a data connection. */
struct wfs_revoke {
	struct wfs_rights_watcher watcher;
	const struct wfs_tree *tree;
	struct wfs_teller *teller;
	struct wfs_known *known;
	struct wfs_notify *notify;
	bool watching;
};

/** wfs_revoke_init() - from now on, have Linux drop what it has cached when the rights of
 *  tree->session change. @revoke: filled, also on failure; the other arguments are borrowed until
 *  no function of this header is called any more. Return: 0, -EAGAIN (no thread could be
 *  started). */
int wfs_revoke_init(struct wfs_revoke *revoke, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known, struct wfs_notify *notify);

/** wfs_revoke_stop() - stop watching the rights; to be called after wfs_teller_stop()
 *  (fs/data/teller.h). Requests of Linux may still come. */
void wfs_revoke_stop(struct wfs_revoke *revoke);

/** wfs_revoke_make_room() - have Linux forget some unused inodes, because revoke->known is nearly
 *  full; returns before that is done. Thread: any. */
void wfs_revoke_make_room(struct wfs_revoke *revoke);

/** wfs_revoke_contents() - have Linux drop pages, mappings and attributes of all inodes in @known,
 *  on the calling thread. Other threads may go on serving requests. A failure is only logged. */
void wfs_revoke_contents(struct wfs_teller *teller, struct wfs_known *known);
