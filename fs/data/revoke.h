/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking back what Linux has cached of a mount when the rights of its principal have changed.
 *
 * Every request is pinned until it is answered (wfs_session_pin). When new rights are in force,
 * those that were judged by the old ones are waited for, and then everything that Linux knows is
 * dropped, on the mount's teller: in this order, because from the second on a reader can keep Linux
 * from being told (decision 13), and the mount is ended then.
 * - Pages, mappings and attributes of all files. No reader has these locked.
 * - All names. Their directory's lock comes after every look-up and listing that was in flight.
 * - Listings, and all attributes again, for such a look-up may just have made the inode.
 * Of a mount that is ended, which cannot be told of names any more, the pages are dropped all the same.
 * More rights are taken in the same way: listings have what was seen before.
 * Source: docs/decisions/0015-taken-back.md; fuse_reverse_inval_inode() in Linux fs/fuse.
 */
#pragma once

#include "caps/session.h"
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

/** wfs_revoke_init() - watch the rights of the tree's session. All but @revoke: borrowed
 *  until nobody calls any more.
 *  Return: 0, -EAGAIN (see wfs_session_watch). */
int wfs_revoke_init(struct wfs_revoke *revoke, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known, struct wfs_notify *notify);

/** wfs_revoke_stop() - watch no more; the teller is stopped, requests may still come. */
void wfs_revoke_stop(struct wfs_revoke *revoke);

/** wfs_revoke_make_room() - there is more in @known than there should be: have Linux forget some of
 *  what nobody uses, soon. Thread: any. */
void wfs_revoke_make_room(struct wfs_revoke *revoke);

/** wfs_revoke_contents() - drop pages, mappings and attributes, on this thread; workers must serve. */
void wfs_revoke_contents(struct wfs_teller *teller, struct wfs_known *known);
