/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/ and its tests: a walk over all pages of data.mdb.
 *
 * LMDB believes its pages. Reading a damaged one ends in an error (guard.h), but a page that leads
 * to a wrong place makes LMDB write there, in the file and in memory. So before a store that may be
 * damaged or crafted is written to, every page that can be reached is checked: its shape, its
 * number, that it is reached once and lies within the file, that keys rise, that the depth and the
 * numbers of pages and rows are those that its tree tells, and that no page in use is in the list of
 * free ones. Values are not read: every row has its checksum.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/store/store.h"

struct root;

struct pages_options {
	const char *const *names; /* of the tables there must be, and no others; NULL-ended */
	bool any_tables; /* others may be there, and some missing: the store may have another format */
	wfs_store_pages_fn *progress; /* may be NULL */
	void *context;
};

/**
 * pages_walk() - walk the pages that one root leads to
 * Time is bounded by the size of the file: no page is looked at twice.
 * @fd: of data.mdb; pages that the root reaches do not change meanwhile
 * @root: it may lie
 * @problems: what is wrong, as "data.mdb: page 17: table 'cell': …"
 * Return: 0 (also with problems), -EINTR (`progress` gave up), -EIO, -ENOMEM.
 */
int pages_walk(int fd, const struct root *root, const struct pages_options *options,
	struct wfs_problems *problems);
