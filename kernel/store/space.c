/* SPDX-License-Identifier: Apache-2.0 */
/* Counts free pages. */
#include "kernel/store/space.h"

#include <string.h>

#include "kernel/store/guard.h"

enum { FREE_TABLE = 0 }; /* LMDB's table of free pages; mdb_stat.c reads it in this way, too */

struct counting {
	MDB_cursor *cursor;
	uint64_t page_count;
};

/* Sums the rows of the table; each begins with the number of pages in it. */
static int count_pages(void *context)
{
	struct counting *counting = context;
	MDB_val key;
	MDB_val pages = {0};
	uint64_t count = 0;

	while (mdb_cursor_get(counting->cursor, &key, &pages, MDB_NEXT) == 0) {
		size_t row_count = 0;

		if (pages.mv_size >= sizeof(row_count))
			memcpy(&row_count, pages.mv_data, sizeof(row_count));
		/* A row with more pages than it has room for is damaged. */
		if (row_count >= pages.mv_size / sizeof(row_count))
			return MDB_CORRUPTED;
		count += row_count;
	}
	counting->page_count = count;
	return 0;
}

/* Counts the pages that are free in the snapshot of @txn. Return: 0 also if that fails. */
static uint64_t count_in(MDB_txn *txn)
{
	struct counting counting = {0};

	if (mdb_cursor_open(txn, FREE_TABLE, &counting.cursor))
		return 0;
	(void)guard_call(count_pages, &counting);
	mdb_cursor_close(counting.cursor);
	return counting.page_count;
}

static uint64_t free_pages(struct wfs_space *space, MDB_env *env)
{
	WFS_GUARD(&space->lock);
	MDB_txn *txn;

	if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn))
		return 0;
	const uint64_t txn_id = mdb_txn_id(txn);
	if (txn_id != space->txn_id) {
		space->free_page_count = count_in(txn);
		space->txn_id = txn_id;
	}
	mdb_txn_abort(txn);
	return space->free_page_count;
}

void wfs_space_figures(struct wfs_space *space, MDB_env *env, struct wfs_store_figures *ret_figures)
{
	MDB_envinfo info = {0};
	MDB_stat stat = {0};
	const uint64_t free_page_count = free_pages(space, env);

	mdb_env_info(env, &info);
	mdb_env_stat(env, &stat);
	const uint64_t page_count = info.me_last_pgno + 1;
	*ret_figures = (struct wfs_store_figures){
		.map_size_bytes = info.me_mapsize,
		.used_bytes = page_count * stat.ms_psize,
		.free_bytes = (free_page_count < page_count ? free_page_count : page_count) *
			stat.ms_psize,
		.readers_max = info.me_maxreaders,
	};
}
