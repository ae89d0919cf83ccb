/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree: the paths that a world shows, their contents and attributes.
 *
 * The FUSE data connection, the `fs` commands, and helpers that work without a mount all use this
 * module, so they show equal paths and equal bytes. It knows nothing about FUSE. It reads through a
 * session, keeps no state, and opens one view in each call. Unless a comment says otherwise,
 * -ENOENT means that the view does not have the node, or that the session does not see it; -EACCES,
 * that the session may not read any node of this kind, or may no longer read the private text
 * (tree->refusal gets the reason); -EIO, that stored bytes are damaged (hash_mismatch).
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "caps/session-read.h"
#include "fs/tree/ino.h"
#include "kernel/manifest/entity-table.h"

/* Limits how much one listing looks at. Plain value. */
struct wfs_tree_scan {
	uint64_t left;   /* names that it may still look at, with those that are hidden */
	uint64_t cookie; /* if `ended`: of the last name; the next listing begins after it */
	bool ended;      /* the listing ended because `left` was 0 */
};

/* How a tree is shown. Plain value; pointers are borrowed for the tree's life. */
struct wfs_tree {
	const struct wfs_session *session;
	const char *ctl_target;    /* target of the symlink /ctl; NULL: no symlink */
	bool ctl_directory;        /* /ctl is an empty directory instead (a nested mount point) */
	struct wfs_error *refusal; /* gets the reason of -EACCES, if known; may be NULL */
	/* Points to the number of bytes that log.jsonl has at the head, counted from record 0, so
	 * that the file grows only when Linux was notified (fs/data/notify.h); NULL: it has all
	 * records. */
	const atomic_uint_fast64_t *log_end_bytes;
	/* Points to the height below which events are in events.jsonl at the head, so that the file
	 * grows only when Linux was notified (fs/data/notify.h); 0, or NULL: all events. */
	const atomic_uint_fast64_t *events_height;
	struct wfs_tree_scan *scan; /* limits wfs_tree_list(); NULL: no limit */
};

/* Attributes of a node. Plain value. */
struct wfs_attr {
	uint64_t ino;
	mode_t mode; /* type and permission bits */
	uint64_t size_bytes;
	int64_t mtime_ns;
	bool uncached; /* changes without a notification (the symlink at/head) */
	/* After a look-up: cookie of the name in the listing of its directory; 0: not known. */
	uint64_t cookie;
};

/** wfs_tree_attr() - compute the attributes of the node with the inode number @ino, which must come
 *  from a look-up or a listing. Return: 0, -ENOENT, -EACCES, -EIO, … */
int wfs_tree_attr(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/** wfs_tree_is_private() - may @node have private texts in its bytes: is it the file of a private
 *  text, or the directory `raw` of a turn, or a file in `raw`? */
bool wfs_tree_is_private(const struct wfs_node *node);

/** wfs_tree_is_events() - is @node the file `events.jsonl` of a turn, which is read in parts? */
bool wfs_tree_is_events(const struct wfs_node *node);

/** wfs_tree_growing_events() - make the node of a turn's `events.jsonl` in the live tree, where the
 *  file grows, without judging. Return: 0, -ENOENT (the turn has no event), … */
int wfs_tree_growing_events(
	struct wfs_view *view, struct wfs_bytes turn_id, struct wfs_node *ret_node);

/** wfs_tree_lookup() - look a name up in the directory with the inode number @parent
 *  @ret_attr: after -ENOENT, if `uncached` is true, the name may appear without a notification (a
 *  record that does not exist yet, a name that a grant will show), so the miss must not be cached
 *  Return: 0, -ENOENT, -ENOTDIR (@parent is not a directory), -ENAMETOOLONG (@name has more than
 *  WFS_NAME_MAX bytes), … */
int wfs_tree_lookup(
	const struct wfs_tree *tree, uint64_t parent, const char *name, struct wfs_attr *ret_attr);

/** wfs_tree_by_number() - compute the attributes of the node with the inode number @ino, which a
 *  client may have guessed, or kept from an earlier mount
 *  Return: 0, -ENOENT (no path that the session sees leads to such a node), … */
int wfs_tree_by_number(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/** wfs_tree_parent() - compute the attributes of the parent of the directory with the inode number
 *  @ino; the root is its own parent. Return: 0, -ENOENT (this is not a directory, or no path that
 *  the session sees leads to it), … */
int wfs_tree_parent(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/** wfs_tree_takes_long() - is the file with the inode number @ino of a kind that may be made of so
 *  many cells or records that reading a part of it takes seconds? */
bool wfs_tree_takes_long(uint64_t ino);

/** wfs_tree_path_takes_long() - does @path look, by its last names, like that of a file for which
 *  wfs_tree_takes_long() is true? The file may be missing. */
bool wfs_tree_path_takes_long(const char *path);

/** wfs_tree_path_first() - skip `/` and `.` before the first name in @path.
 *  Return: the rest, borrowed from @path; "": @path is the root. */
const char *wfs_tree_path_first(const char *path);

/** wfs_tree_path_names_height() - is the first name in @path `at`? */
bool wfs_tree_path_names_height(const char *path);

/** wfs_tree_path_is_live() - is the first name in @path one that only the live tree has: `at`,
 *  `tools` or `replication.json`? */
bool wfs_tree_path_is_live(const char *path);

/** wfs_tree_resolve() - look a whole path up, with or without a `/` at its beginning
 *  Symlinks are not followed, except `at/head`. Only the path of a directory may end with `/`.
 *  @height: of the tree in which @path begins; WFS_HEIGHT_HEAD: the live tree
 *  @ret_height: height of the tree in which the path ends: @height, or the one that a path below
 *               `at/` names; after a failure, that of the last name that was found; may be NULL
 *  Return: 0, -ENOENT, -ENOTDIR (a name before a `/` is not that of a directory), -ENAMETOOLONG (a
 *  name has more than WFS_NAME_MAX bytes), … */
int wfs_tree_resolve(const struct wfs_tree *tree, uint64_t height, const char *path,
	struct wfs_attr *ret_attr, uint64_t *ret_height);

/* One name of a listing. Borrowed during the call. */
struct wfs_tree_entry {
	const char *name;
	const struct wfs_attr *attr;
	uint64_t cookie; /* a listing that gets it begins after this entry; never 0 */
};

/** wfs_tree_list() - list the names in the directory with the inode number @ino, without `.` and
 *  `..`; the listing of `at`, which has too many names, is empty
 *  @cookie: 0, or the cookie of the entry after which the listing begins; it stays valid when names
 *           change
 *  @each: called on this thread with @context and each entry until it returns false, or until
 *         tree->scan ends the listing
 *  Return: 0, -ENOTDIR (this is not a directory), -ENOENT, … */
int wfs_tree_list(const struct wfs_tree *tree, uint64_t ino, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);

/** wfs_tree_record_cookie() - compute the cookie that a record has in the listing of /journal. */
uint64_t wfs_tree_record_cookie(uint64_t seq);

/** wfs_tree_count() - estimate, without a listing, the number of names in the directory with the
 *  inode number @ino, including those that the session does not see. @ret_count: 0 for directories
 *  of a kind that is not counted, such as the root
 *  Return: 0, or -errno. */
int wfs_tree_count(const struct wfs_tree *tree, uint64_t ino, uint64_t *ret_count);

/* Bytes read from a file. Plain value; zero-initialised is empty. */
struct wfs_tree_data {
	struct wfs_bytes bytes;  /* borrowed from the store's map, or from `built` */
	struct wfs_view view;    /* keeps borrowed bytes alive */
	struct wfs_buffer built; /* owned: bytes that were read from a blob file, or made */
};
void wfs_tree_data_done(struct wfs_tree_data *data);
#define WFS_AUTO_TREE_DATA WFS_CLEANUP(wfs_tree_data_done)

/** wfs_tree_read() - read up to @size bytes, from @offset on, of the file with the inode number
 *  @ino; fewer only at the end of the file
 *  @ret_data: set on success; caller releases it with wfs_tree_data_done()
 *  Return: 0, -EISDIR (this is a directory), -EINVAL (this is a symlink), -ENOENT, -EACCES, -EIO,
 *  … */
int wfs_tree_read(const struct wfs_tree *tree, uint64_t ino, uint64_t offset, size_t size,
	struct wfs_tree_data *ret_data);

/** wfs_tree_read_in() - as wfs_tree_read(), but read the file @node in data->view, which the caller
 *  has opened. Only for files whose contents do not depend on the view.
 *  @data: zeros except `view`, or from an earlier call, whose bytes are then dropped; caller
 *  releases it with wfs_tree_data_done(), also after a failure. Return: as wfs_tree_read(). */
int wfs_tree_read_in(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data);

/** wfs_tree_link() - append the target of the symlink with the inode number @ino to @buffer.
 *  Return: 0, -EINVAL (this is not a symlink), … */
int wfs_tree_link(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer);

/** wfs_tree_xattrs() - list all extended attributes of the node with the inode number @ino
 *  @each: called on this thread with @context and each name (`user.worldfs.…`) and value, both
 *         borrowed for the call, until it returns false
 *  Return: 0, -ENOENT, … */
int wfs_tree_xattrs(const struct wfs_tree *tree, uint64_t ino,
	bool (*each)(void *context, const char *name, struct wfs_bytes value), void *context);

/** wfs_tree_path() - append the path of the directory with the inode number @ino to @buffer,
 *  without a `/` at its beginning; the path of a directory below a height begins with `at/`.
 *  Return: 0, -ENOTDIR (this is not a directory), -ENOENT, … */
int wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer);

/** wfs_tree_root_name() - get the fixed name of the root with the number @index, from 0 on; static;
 *  NULL after the last. A tree may lack some of these names. */
const char *wfs_tree_root_name(size_t index);

/** wfs_tree_directory_ino() - compute the inode number of the directory of the kind @kind at the
 *  head. @reducer_id: for WFS_DIRECTORY_REDUCER, of the reducer; otherwise 0 */
uint64_t wfs_tree_directory_ino(enum wfs_directory_kind kind, uint32_t reducer_id);

/** wfs_tree_entities_ino() - compute the inode number of the directory, at the head, of all
 *  entities of one kind, such as `plans`. */
uint64_t wfs_tree_entities_ino(enum wfs_entity entity);

/** wfs_tree_entity_ino() - compute the inode number of the directory of one artifact, principal,
 *  turn or plan at the head
 *  @cell: number of its cell, see wfs_view_number() (kernel/read/view.h)
 *  Return: false if the number is too large for an inode. */
bool wfs_tree_entity_ino(enum wfs_entity entity, uint64_t cell, uint64_t *ret_ino);

/** wfs_tree_items_ino() - compute the inode number of a directory at the head that is within the
 *  directory of an entity: `steps` of a plan, `entries` of an artifact
 *  @cell: number of the entity's cell, see wfs_view_number() (kernel/read/view.h)
 *  Return: false if the number is too large for an inode. */
bool wfs_tree_items_ino(enum wfs_entity_file directory, uint64_t cell, uint64_t *ret_ino);
