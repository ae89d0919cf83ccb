/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-ahead across files.
 *
 * The first read of each small file costs a round trip, and a scan of many small files is nothing
 * else. When reads go through a directory in listing order, a helper thread pushes the pages of
 * the next siblings into the page cache, in a window that grows while the scan keeps hitting it.
 * It only ever stores what a read would have answered, and stops as soon as the kernel does not
 * know the siblings.
 * Source: docs/design.md §8.
 */
#pragma once

#include "fs/data/numbers.h"
#include "fs/mount/fuse.h"
#include "fs/tree/tree.h"

struct wfs_readahead;

/** wfs_readahead_new() - start the helper. @tree, @numbers, @fuse: borrowed until stop. */
int wfs_readahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct fuse_session *fuse, struct wfs_readahead **ret_readahead);

/** wfs_readahead_stop() - end the helper, once; requests may still come. */
void wfs_readahead_stop(struct wfs_readahead *readahead);

/** wfs_readahead_free() - when requests come no more; accepts NULL. */
void wfs_readahead_free(struct wfs_readahead *readahead);

/** wfs_readahead_listed() - the directory @ino is being listed: a scan may follow. */
void wfs_readahead_listed(struct wfs_readahead *readahead, uint64_t ino);

/** wfs_readahead_read() - the file @ino was read from the daemon, not from the cache. */
void wfs_readahead_read(struct wfs_readahead *readahead, uint64_t ino);
