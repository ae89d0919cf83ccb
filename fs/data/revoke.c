/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping contents, names and listings, in the order that revoke.h gives. */
#include "fs/data/revoke.h"

#include <stddef.h>

#include "caps/session.h"
#include "kernel/base/log.h"

#define CTL_NAME "ctl"

enum {
	ROOM = 1 << 16
}; /* names dropped to make room: a tenth of a second, for which commits wait */

/* The result of a notification, in which errors become 0 if Linux has cached nothing: -ENOENT, it
 * has forgotten the inode; -ENOSYS of libfuse, it has not begun to use the mount. */
static int told(int r)
{
	return r == -ENOENT || r == -ENOSYS ? 0 : r;
}

static bool is_directory(uint64_t ino)
{
	struct wfs_node node;

	return wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_DIRECTORY;
}

/* From where to drop pages: a reader may lock pages of a listing for long, but not those of a
 * file. */
static uint64_t contents_of(uint64_t ino)
{
	return is_directory(ino) ? WFS_TELLER_ATTRIBUTES : 0;
}

static int drop_contents(struct wfs_revoke *revoke)
{
	struct wfs_teller *const teller = revoke->teller;
	struct wfs_known_walk walk;
	uint64_t ino;
	int r = told(wfs_teller_inode(teller, FUSE_ROOT_ID, WFS_TELLER_ATTRIBUTES));

	if (r)
		return r;
	wfs_known_walk_init(&walk, revoke->known);
	while (!r && wfs_known_next(&walk, &ino))
		r = told(wfs_teller_inode(teller, ino, contents_of(ino)));
	return r;
}

void wfs_revoke_contents(struct wfs_teller *teller, struct wfs_known *known)
{
	struct wfs_known_walk walk;
	uint64_t ino;
	int r = 0;

	wfs_known_walk_init(&walk, known);
	while (!r && wfs_known_next(&walk, &ino))
		r = told(wfs_teller_inode_here(teller, ino, contents_of(ino)));
	if (r)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR,
			"cannot drop what is cached, open files may still show it: %s",
			strerrordesc_np(-r));
}

/* Is another file system mounted on the name? Dropping the name would unmount it: d_invalidate() in
 * Linux fs/dcache.c. */
static bool is_mount_point(const struct wfs_tree *tree, const struct wfs_known_name *name)
{
	return tree->ctl_directory && name->parent == FUSE_ROOT_ID &&
		name->size == strlen(CTL_NAME) && memcmp(name->text, CTL_NAME, name->size) == 0;
}

/* Drops up to @count names. */
static int drop_names(struct wfs_revoke *revoke, size_t count)
{
	WFS_AUTO_KNOWN_WALK struct wfs_known_walk walk;
	struct wfs_known_name name;
	int r = 0;

	wfs_known_walk_init(&walk, revoke->known);
	while (!r && count-- > 0 && wfs_known_take_name(&walk, &name))
		if (!is_mount_point(revoke->tree, &name))
			r = told(wfs_teller_entry(
				revoke->teller, name.parent, name.text, name.size));
	return r;
}

/* Drops a listing. If all names of the directory were listed without attributes, known.h has none
 * of them; dropping any name waits for the listings in flight. */
static int drop_listing(struct wfs_teller *teller, uint64_t directory)
{
	int r = told(wfs_teller_entry(teller, directory, "_", 1));

	return r ? r : told(wfs_teller_inode(teller, directory, 0));
}

static int drop_listings(struct wfs_revoke *revoke)
{
	struct wfs_teller *const teller = revoke->teller;
	struct wfs_known_walk walk;
	uint64_t ino;
	int r = drop_listing(teller, FUSE_ROOT_ID);

	if (r)
		return r;
	wfs_known_walk_init(&walk, revoke->known);
	while (!r && wfs_known_next(&walk, &ino)) {
		if (is_directory(ino))
			r = drop_listing(teller, ino);
		else
			r = told(wfs_teller_inode(teller, ino, WFS_TELLER_ATTRIBUTES));
	}
	return r;
}

/* Drops everything; a job of the teller. After -ECANCELED the connection may be gone. */
static int take_back(void *context)
{
	struct wfs_revoke *const revoke = context;
	int r = drop_contents(revoke);

	if (!r)
		r = wfs_notify_log_anew(revoke->notify);
	if (!r)
		r = drop_names(revoke, SIZE_MAX);
	return r ? r : drop_listings(revoke);
}

/* Drops names, so that Linux forgets inodes that are not in use; a job of the teller. */
static int make_room(void *context)
{
	return drop_names(context, ROOM);
}

void wfs_revoke_make_room(struct wfs_revoke *revoke)
{
	wfs_teller_post(revoke->teller, make_room, revoke);
}

static void changed(struct wfs_rights_watcher *watcher)
{
	struct wfs_revoke *const revoke =
		(void *)((char *)watcher - offsetof(struct wfs_revoke, watcher));

	wfs_session_settle(revoke->tree->session);
	int r = wfs_teller_run(revoke->teller, take_back, revoke);
	if (!r)
		return;
	if (r != -ECANCELED)
		wfs_teller_end(revoke->teller, strerrordesc_np(-r));
	/* The mount was ended, but open files would still show their cached pages. */
	wfs_revoke_contents(revoke->teller, revoke->known);
}

/* Is it the directory `tools`, or below it? */
static bool is_of_tools(uint64_t ino)
{
	struct wfs_node node;

	return wfs_ino_decode(ino, &node) &&
		(node.kind == WFS_NODE_TOOL ||
			(node.kind == WFS_NODE_DIRECTORY &&
				(node.directory == WFS_DIRECTORY_TOOLS ||
					node.directory == WFS_DIRECTORY_SERVER)));
}

/* Drops what is cached of `tools`, and the listing of the root, which may not have it; a job of the
 * teller. Linux caches none of the names. */
static int drop_tools(void *context)
{
	struct wfs_revoke *const revoke = context;
	struct wfs_known_walk walk;
	uint64_t ino;
	int r = drop_listing(revoke->teller, FUSE_ROOT_ID);

	wfs_known_walk_init(&walk, revoke->known);
	while (!r && wfs_known_next(&walk, &ino))
		if (is_of_tools(ino))
			r = is_directory(ino) ? drop_listing(revoke->teller, ino)
					      : told(wfs_teller_inode(revoke->teller, ino, 0));
	return r;
}

static void listed(struct wfs_rights_watcher *watcher)
{
	struct wfs_revoke *const revoke =
		(void *)((char *)watcher - offsetof(struct wfs_revoke, watcher));
	const int r = wfs_teller_run(revoke->teller, drop_tools, revoke);

	if (r && r != -ECANCELED)
		wfs_teller_end(revoke->teller, strerrordesc_np(-r));
}

int wfs_revoke_init(struct wfs_revoke *revoke, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known, struct wfs_notify *notify)
{
	*revoke = (struct wfs_revoke){.watcher.changed = changed,
		.watcher.listed = listed,
		.tree = tree,
		.teller = teller,
		.known = known,
		.notify = notify};
	int r = wfs_session_watch(tree->session, &revoke->watcher);
	revoke->watching = r == 0;
	return wfs_trace(r);
}

void wfs_revoke_stop(struct wfs_revoke *revoke)
{
	if (!revoke->watching)
		return;
	wfs_session_unwatch(revoke->tree->session, &revoke->watcher);
	revoke->watching = false;
}
