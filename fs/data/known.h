/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux may have cached of a mount: the inodes that it was given, and the names that lead there.
 *
 * Needed for one thing only: when the rights of the mount's principal change, all of it is taken back
 * (fs/data/revoke.h). Everything is noted before the reply that hands it out, and an inode goes when
 * Linux has forgotten it as often as it was handed out; so nothing is cached that is not known here.
 * Names are kept as they were told, because what is told later must not depend on what can be read
 * then. Linux needs more than ten times as much memory for each of them.
 * Thread: any. The lock is held for moments, and never while Linux is told something.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

struct wfs_known;

enum {
	/* Names that are remembered of one mount; Linux needs about 4 GiB for as many. */
	WFS_KNOWN_NAMES_MAX = 4 << 20,
	WFS_KNOWN_NAMES_MIN = 64, /* in WORLDFS_CACHED_NAMES */
};

/** wfs_known_limit() - what the user wants: WORLDFS_CACHED_NAMES, up to the default. */
size_t wfs_known_limit(void);

/** wfs_known_new() - nothing yet. @names_max: at least 1. Return: 0, -ENOMEM. */
int wfs_known_new(size_t names_max, struct wfs_known **ret_known);
void wfs_known_free(struct wfs_known *known);
WFS_DEFINE_AUTO(known, struct wfs_known, wfs_known_free)
#define WFS_AUTO_KNOWN WFS_CLEANUP(wfs_auto_known)

/**
 * wfs_known_add() - an inode is about to be handed out under a name
 * @name: at most WFS_NAME_MAX bytes
 * Return: 0, 1 (there are nearly too many); -ENOMEM, -ENFILE (too many): it must not be handed out.
 */
int wfs_known_add(struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name);

/** wfs_known_add_inode() - the same without a name: for a file handle. Return: as above. */
int wfs_known_add_inode(struct wfs_known *known, uint64_t ino);

/** wfs_known_forget() - Linux has forgotten @count of the times that it was given @ino. */
void wfs_known_forget(struct wfs_known *known, uint64_t ino, uint64_t count);

/* Plain value, for tests and figures. */
struct wfs_known_figures {
	size_t inodes_count;
	size_t names_count;
};
struct wfs_known_figures wfs_known_figures(struct wfs_known *known);

/* --- walks; while one goes on, others may add and forget, and what they add is not part of it --- */

struct wfs_known_entry;

/* Plain value. There may be one walk at a time; what it has taken is its own. */
struct wfs_known_walk {
	struct wfs_known *known;
	struct wfs_known_entry *names; /* taken and not given yet; owned */
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

/** wfs_known_walk_done() - also when @known is gone. */
void wfs_known_walk_done(struct wfs_known_walk *walk);
#define WFS_AUTO_KNOWN_WALK WFS_CLEANUP(wfs_known_walk_done)

/** wfs_known_next() - the next inode. Return: false after the last. */
bool wfs_known_next(struct wfs_known_walk *walk, uint64_t *ret_ino);

/** wfs_known_take_name() - the next name, which is not remembered any more: the caller tells Linux.
 *  Return: false after the last. */
bool wfs_known_take_name(struct wfs_known_walk *walk, struct wfs_known_name *ret_name);
