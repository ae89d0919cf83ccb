/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/ and its tests: a check of all pages of data.mdb.
 *
 * LMDB believes its pages. Reading a damaged one ends in an error (guard.h), but a page that leads
 * to a wrong place makes LMDB write there, in the file and in memory. So before a store that may be
 * damaged or crafted is written to, every reachable page is checked: that it has a valid shape and
 * its own number, is reached once and lies within the file; that keys rise; that depth, number of
 * pages and number of rows are what struct tree (layout.h) says; and that the list of free pages
 * has no page in use. Values are not read: every row has its checksum.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/store/store.h"

struct root;

struct pages_options {
	const char *const *names; /* NULL-terminated: the only tables that may exist, and must */
	bool any_tables; /* accept other and missing tables: the store may have another format */
	wfs_store_pages_fn *progress; /* may be NULL */
	void *context;
};

/** pages_walk() - check the pages that one root leads to
 *  No page is read twice, so the time is bounded by the size of the file.
 *  @fd: of data.mdb; pages that the root reaches must not change during the call
 *  @root: where to begin; its members may have any value
 *  @problems: gets what is wrong, as "data.mdb: page 17: table 'cell': …"
 *  Return: 0 (also if problems were added), -EINTR (options->progress returned false), -EIO,
 *  -ENOMEM. */
int pages_walk(int fd, const struct root *root, const struct pages_options *options,
	struct wfs_problems *problems);
