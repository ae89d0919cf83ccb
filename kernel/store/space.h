/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: how much of data.mdb is in use.
 *
 * LMDB never gives a page back to the disk. It keeps a table of free pages, but not their sum,
 * which is counted here at most once for each commit.
 */
#pragma once

#include <lmdb.h>

#include "kernel/store/store.h"

/* The last count. Zero-initialise, and initialise the lock. */
struct wfs_space {
	pthread_mutex_t lock;
	uint64_t txn_id;          /* lock; the commit of the last count */
	uint64_t free_page_count; /* lock */
};

void wfs_space_figures(
	struct wfs_space *space, MDB_env *env, struct wfs_store_figures *ret_figures);
