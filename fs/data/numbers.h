/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boundary between the numbers that Linux has of a mount and ours: of inodes, and offsets in directories.
 *
 * Ours count what there is (fs/tree/ino.h, fs/tree/tree-list.c), also what the mount's principal may not see. So
 * a principal with a limited scope gets them permuted (kernel/base/permutation.h): equal over mounts and restarts,
 * as the tree promises, but without order and without gaps that mean anything. An unlimited scope gets them as
 * they are. Which of both is settled when the mount begins and stays, because Linux knows inodes by number.
 * Everything on our side of libfuse has our numbers: requests are translated where they come in, replies and
 * notifications where they go out. The root is 1 on both sides, 0 stays 0, and an offset is at least 0.
 * Thread: any; never changed.
 */
#pragma once

#include <sys/types.h>

#include "caps/session.h"

/* Plain value; zero-initialised: both have the same numbers. */
struct wfs_numbers {
	bool permuted;
	struct wfs_permutation inos;
	struct wfs_permutation offsets;
};

enum { WFS_NUMBERS_OFFSET_FIRST = 3 }; /* the first offset behind `.` and `..` */

/** wfs_numbers_init() - those of a mount that begins. Return: 0, -ENOMEM. */
int wfs_numbers_init(struct wfs_numbers *numbers, const struct wfs_session *session);

/** wfs_numbers_ino() - what Linux calls this inode of ours. */
uint64_t wfs_numbers_ino(const struct wfs_numbers *numbers, uint64_t ino);

/** wfs_numbers_our_ino() - the inode that Linux means. Return: any number, also one that no node has. */
uint64_t wfs_numbers_our_ino(const struct wfs_numbers *numbers, uint64_t ino);

/** wfs_numbers_offset() - what Linux has for an offset of ours. @directory: our inode */
off_t wfs_numbers_offset(const struct wfs_numbers *numbers, uint64_t directory, uint64_t offset);

/** wfs_numbers_our_offset() - the offset that Linux means; 0 for a negative one. */
uint64_t wfs_numbers_our_offset(
	const struct wfs_numbers *numbers, uint64_t directory, off_t offset);
