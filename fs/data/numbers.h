/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates between our numbers of inodes, and offsets in directories, and those that Linux has.
 *
 * Our numbers count all nodes (fs/tree/ino.h, fs/tree/tree-list.c), also those that the mount's
 * principal may not see. So a principal that does not see everything gets them permuted
 * (kernel/base/permutation.h): they are equal over mounts and restarts, as the tree promises, but
 * their order and gaps mean nothing. A principal that sees everything gets our numbers. This is
 * decided when the mount begins, and does not change, because Linux knows inodes by number. All
 * code but that next to libfuse has our numbers:
 * requests are translated where they come in, replies and notifications where they go out. The root
 * is 1 on both sides, 0 stays 0, and an offset is at least 0.
 * Thread: any; never changed.
 */
#pragma once

#include <sys/types.h>

#include "kernel/base/permutation.h"

struct wfs_session;

/* Plain value; zero-initialised: Linux has our numbers. */
struct wfs_numbers {
	bool permuted;
	struct wfs_permutation inos;
	struct wfs_permutation offsets;
};

enum { WFS_NUMBERS_OFFSET_FIRST = 3 }; /* the first offset after `.` and `..` */

/** wfs_numbers_init() - decide whether a new mount has permuted numbers. @session: of the mount's
 *  principal. @numbers: set on success. Return: 0, -ENOMEM. */
int wfs_numbers_init(struct wfs_numbers *numbers, const struct wfs_session *session);

/** wfs_numbers_ino() - translate our inode number @ino to Linux's. */
uint64_t wfs_numbers_ino(const struct wfs_numbers *numbers, uint64_t ino);

/** wfs_numbers_our_ino() - translate Linux's inode number @ino to ours; the result may be a number
 *  that no node has. */
uint64_t wfs_numbers_our_ino(const struct wfs_numbers *numbers, uint64_t ino);

/** wfs_numbers_offset() - translate our offset @offset in a directory to Linux's. @directory: our
 *  inode number of the directory */
off_t wfs_numbers_offset(const struct wfs_numbers *numbers, uint64_t directory, uint64_t offset);

/** wfs_numbers_our_offset() - translate Linux's offset @offset in a directory to ours; 0 if @offset
 *  is negative. @directory: our inode number of the directory */
uint64_t wfs_numbers_our_offset(
	const struct wfs_numbers *numbers, uint64_t directory, off_t offset);
