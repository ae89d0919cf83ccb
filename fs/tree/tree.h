/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree: what paths there are, what they hold, how they look.
 *
 * One description for everybody who shows the world as files: the FUSE data connection, and the
 * `fs` commands and helpers that work without a mount, so they have the same paths and the same
 * bytes. It knows nothing about FUSE; it reads through a session, statelessly, one view a call.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "caps/session.h"
#include "fs/tree/ino.h"

/* How much one listing looks at. Plain value. */
struct wfs_tree_scan {
	uint64_t left;   /* names that it may look at still, those that are not seen too */
	uint64_t cookie; /* set when it ended for that: start behind what it looked at with this */
	bool ended;      /* it did */
};

/* How a tree is shown. Plain value; pointers are borrowed for the tree's life. */
struct wfs_tree {
	const struct wfs_session *session;
	const char *ctl_target; /* target of the symlink /ctl; NULL: there is none */
	bool ctl_directory;     /* /ctl is an empty directory instead (a nested mount point) */
	struct wfs_error
		*refusal; /* says why it is -EACCES, and else nothing of use; may be NULL */
	/* Size of the head's log.jsonl that may be told (notify.h); NULL: what the journal has. */
	const atomic_uint_fast64_t *log_size_bytes;
	struct wfs_tree_scan *scan; /* of wfs_tree_list; NULL: it looks at all */
};

/* What stat tells. Plain value. */
struct wfs_attr {
	uint64_t ino;
	mode_t mode; /* type and permission bits */
	uint64_t size_bytes;
	int64_t mtime_ns;
	bool uncached; /* changes without a notification (the symlink at/head) */
	/* After a look-up: its cookie in the listing of the directory; 0: not told. */
	uint64_t cookie;
};

/**
 * wfs_tree_attr() - Return: 0, -ENOENT, -EIO, …
 */
int wfs_tree_attr(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/**
 * wfs_tree_lookup() - a name in a directory
 * @ret_attr: on -ENOENT, `uncached` tells that the name may appear without a notification (a
 *            height or record not reached yet), so the miss is not to be cached
 * Return: 0, -ENOENT, -ENOTDIR, -ENAMETOOLONG, …
 */
int wfs_tree_lookup(
	const struct wfs_tree *tree, uint64_t parent, const char *name, struct wfs_attr *ret_attr);

/**
 * wfs_tree_by_number() - stat of a node whose number may be guessed, or kept from another time
 * Return: 0, -ENOENT (no path of this session leads there), -EIO, …
 */
int wfs_tree_by_number(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/** wfs_tree_parent() - the same of the directory above a directory; the root is above itself. */
int wfs_tree_parent(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr);

/** wfs_tree_takes_long() - is this file made of so many others that a part of it takes a while? */
bool wfs_tree_takes_long(uint64_t ino);

/** wfs_tree_path_takes_long() - the same of a path, by its name alone; there may be nothing there. */
bool wfs_tree_path_takes_long(const char *path);

/** wfs_tree_path_first() - a path from its first name on, which may stand behind `/` and `.`; "": it is the root. Borrowed. */
const char *wfs_tree_path_first(const char *path);

/** wfs_tree_path_names_height() - does it begin with `at`? */
bool wfs_tree_path_names_height(const char *path);

/**
 * wfs_tree_resolve() - a whole path (`/`-separated, leading `/` optional) under @height
 * (WFS_HEIGHT_HEAD: the live tree). Symlinks are not followed, but for `at/head`. Only a directory has a `/` behind it.
 * @ret_height: the height of the tree that the path ends in: @height, or the one that a path below
 *              `at/` names; may be NULL; after a failure, as far as the path was followed
 */
int wfs_tree_resolve(const struct wfs_tree *tree, uint64_t height, const char *path,
	struct wfs_attr *ret_attr, uint64_t *ret_height);

/* One name of a listing. Borrowed during the call. */
struct wfs_tree_entry {
	const char *name;
	const struct wfs_attr *attr;
	uint64_t cookie; /* start behind this entry with it; never 0 */
};

/**
 * wfs_tree_list() - the names of a directory, without `.` and `..`
 * @cookie: 0, or the cookie of the last entry taken; stays right under concurrent change
 * @each: called per entry until it returns false; fewer entries come when tree->scan ends
 * Return: 0, -ENOTDIR, -ENOENT, …
 */
int wfs_tree_list(const struct wfs_tree *tree, uint64_t ino, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);

/** wfs_tree_record_cookie() - cookie of a record in the listing of /journal. */
uint64_t wfs_tree_record_cookie(uint64_t seq);

/** wfs_tree_count() - about how many names a directory has, cheaply; never too few at the head. */
int wfs_tree_count(const struct wfs_tree *tree, uint64_t ino, uint64_t *ret_count);

/* Bytes read from a file. Plain value; zero-initialised is empty. */
struct wfs_tree_data {
	struct wfs_bytes bytes;  /* borrowed from the map, or from `built` */
	struct wfs_view view;    /* keeps borrowed bytes alive */
	struct wfs_buffer built; /* read from a file, or made */
};
void wfs_tree_data_done(struct wfs_tree_data *data);
#define WFS_AUTO_TREE_DATA WFS_CLEANUP(wfs_tree_data_done)

/**
 * wfs_tree_read() - up to @size bytes from @offset; fewer only at the end of the file
 * Return: 0, -EISDIR, -ENOENT, -EIO (hash_mismatch), …
 */
int wfs_tree_read(const struct wfs_tree *tree, uint64_t ino, uint64_t offset, size_t size,
	struct wfs_tree_data *ret_data);

/** wfs_tree_read_in() - wfs_tree_read under data->view, which the caller opened; for files only,
 *  whose contents do not depend on the view. */
int wfs_tree_read_in(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data);

/** wfs_tree_link() - target of a symlink, appended to @buffer. Return: 0, -EINVAL (no link), … */
int wfs_tree_link(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer);

/**
 * wfs_tree_xattrs() - all extended attributes of a node
 * @each: called with name (`user.worldfs.…`) and value until it returns false
 */
int wfs_tree_xattrs(const struct wfs_tree *tree, uint64_t ino,
	bool (*each)(void *context, const char *name, struct wfs_bytes value), void *context);

/** wfs_tree_path() - path of a directory below the tree's root, appended to @buffer without a
 *  leading `/`. Return: 0, -ENOTDIR, -ENOENT, … */
int wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer);

/** wfs_tree_root_name() - the names of the root, from 0; NULL after the last. Not each tree has all. */
const char *wfs_tree_root_name(size_t index);

/** wfs_tree_directory_ino() - the inode of a directory of the head. */
uint64_t wfs_tree_directory_ino(enum wfs_directory_kind kind, uint32_t reducer_id);

/** wfs_tree_entities_directory() - the directory of all of them. */
enum wfs_directory_kind wfs_tree_entities_directory(enum wfs_entity entity);

/** wfs_tree_entity_ino() - the inode of the directory of one of them at the head.
 *  @cell: number of its cell. Return: false when it has none. */
bool wfs_tree_entity_ino(enum wfs_entity entity, uint64_t cell, uint64_t *ret_ino);

/** wfs_tree_inner_ino() - the same of the directory `steps` of a plan, or `entries` of an artifact. */
bool wfs_tree_inner_ino(enum wfs_entity_file directory, uint64_t cell, uint64_t *ret_ino);
