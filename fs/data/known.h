/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inodes that Linux was given of a mount, and their names: Linux can have cached no others.
 *
 * This serves one purpose: when the rights of the mount's principal change, these inodes and names
 * are taken back (fs/data/revoke.h). An inode is noted before the reply that gives it to Linux, and
 * removed after Linux has forgotten it as often as it was given. Names are stored, and not read
 * again from the tree, because later the tree may not show them. Linux itself needs more than ten
 * times as much memory for each name.
 * Thread: any. The lock is held for moments, and never during a notification.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

struct wfs_known;

enum {
	/* Names of one mount that can be stored; Linux needs about 4 GiB for as many. */
	WFS_KNOWN_NAMES_MAX = 4 << 20,
	WFS_KNOWN_NAMES_MIN = 64, /* lowest value of WORLDFS_CACHED_NAMES */
};

/** wfs_known_limit() - get how many names of one mount Linux may have cached at a time: the value
 *  of the environment variable WORLDFS_CACHED_NAMES, or WFS_KNOWN_NAMES_MAX if it is not set, or
 *  not a number from WFS_KNOWN_NAMES_MIN to WFS_KNOWN_NAMES_MAX. */
size_t wfs_known_limit(void);

/** wfs_known_new() - make an empty set of inodes and names. @names_max: how many names it may have,
 *  at least 1; @ret_known: set on success; caller frees it with wfs_known_free(). Return: 0,
 *  -ENOMEM. */
int wfs_known_new(size_t names_max, struct wfs_known **ret_known);
void wfs_known_free(struct wfs_known *known);
WFS_DEFINE_AUTO(known, struct wfs_known, wfs_known_free)
#define WFS_AUTO_KNOWN WFS_CLEANUP(wfs_auto_known)

/** wfs_known_add() - note the inode @ino and its name, before Linux gets them; to be called each
 *  time that Linux gets the inode
 *  @parent: inode number of the directory; @name: in this directory, at most WFS_NAME_MAX bytes;
 *           copied
 *  Return: 0, 1 (noted, but more than seven eighths of the allowed names are in use now); or
 *          nothing is noted, and Linux must not get the inode: -ENOMEM, -ENFILE (the set has as
 *          many names as are allowed). */
int wfs_known_add(struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name);

/** wfs_known_add_inode() - note an inode that was found by a file handle, and so without a name.
 *  Return: as wfs_known_add(). */
int wfs_known_add_inode(struct wfs_known *known, uint64_t ino);

/** wfs_known_forget() - note that Linux has forgotten the inode @ino @count times more. */
void wfs_known_forget(struct wfs_known *known, uint64_t ino, uint64_t count);

/* Plain value, for tests and figures. */
struct wfs_known_figures {
	size_t inodes_count;
	size_t names_count;
};
struct wfs_known_figures wfs_known_figures(struct wfs_known *known);

/* --- walks; other threads may add and forget during a walk, which does not see what they add
 * --- */

struct wfs_known_entry;

/* A walk through a set; a set may have one walk at a time. Plain value. */
struct wfs_known_walk {
	struct wfs_known *known;
	struct wfs_known_entry *names; /* taken, but not given to the caller yet; owned */
	/* Set after init: wfs_known_take_name() takes only names of inodes for which it is true. */
	bool (*wanted)(const void *context, uint64_t ino);
	const void *context;
	size_t bucket;
	size_t bucket_count;
	uint32_t number;
};

/* Plain value. */
struct wfs_known_name {
	uint64_t parent;
	size_t size;
	char text[WFS_NAME_MAX]; /* not terminated */
};

void wfs_known_walk_init(struct wfs_known_walk *walk, struct wfs_known *known);

/** wfs_known_walk_done() - end a walk, and drop names that were taken but not given to the caller;
 *  the set of the walk may have been freed before. */
void wfs_known_walk_done(struct wfs_known_walk *walk);
#define WFS_AUTO_KNOWN_WALK WFS_CLEANUP(wfs_known_walk_done)

/** wfs_known_next() - get the number of an inode that the walk has not given yet, in any order.
 *  Return: false: no inode is left, and @ret_ino is not set. */
bool wfs_known_next(struct wfs_known_walk *walk, uint64_t *ret_ino);

/** wfs_known_take_name() - remove a name of any inode from the set, and give this name to the
 *  caller, which must have Linux drop it; the inode stays in the set. Not for a walk that calls
 *  wfs_known_next().
 *  Return: false: no names are left, and @ret_name is not set. */
bool wfs_known_take_name(struct wfs_known_walk *walk, struct wfs_known_name *ret_name);
