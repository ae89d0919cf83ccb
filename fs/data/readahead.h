/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-ahead across files.
 *
 * The first read of each small file costs a round trip to the daemon, so a scan of many small files
 * consists of little else. If reads go through a directory in the order of its listing, a helper
 * thread pushes the contents of the next files into the page cache. The window of files grows as
 * long as the scan reads them. The helper stores only bytes that a read would get, and stops when
 * Linux does not know the inodes of the next files.
 * Source: docs/design.md §8.
 */
#pragma once

#include "fs/data/numbers.h"
#include "fs/mount/fuse.h"
#include "fs/tree/tree.h"

struct wfs_readahead;

/** wfs_readahead_new() - start the helper thread. @tree, @numbers, @fuse: borrowed until
 *  wfs_readahead_stop() has returned; @ret_readahead: set on success; caller frees it with
 *  wfs_readahead_free(). Return: 0, -ENOMEM, -EAGAIN (no thread can be started). */
int wfs_readahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct fuse_session *fuse, struct wfs_readahead **ret_readahead);

/** wfs_readahead_stop() - end the helper thread, and wait until it has ended; called once. Later
 *  requests may still call wfs_readahead_listed() and wfs_readahead_read(). */
void wfs_readahead_stop(struct wfs_readahead *readahead);

/** wfs_readahead_free() - release the memory, after wfs_readahead_stop() and after the last
 *  request; accepts NULL. */
void wfs_readahead_free(struct wfs_readahead *readahead);

/** wfs_readahead_listed() - note that the directory with our inode number @ino (not Linux's, see
 *  fs/data/numbers.h) is being listed: a scan may follow. */
void wfs_readahead_listed(struct wfs_readahead *readahead, uint64_t ino);

/** wfs_readahead_read() - note that a process has read the file with our inode number @ino (not
 *  Linux's) from the daemon, because the file was not in the cache of Linux. */
void wfs_readahead_read(struct wfs_readahead *readahead, uint64_t ino);
