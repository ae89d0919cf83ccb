/* SPDX-License-Identifier: Apache-2.0 */
/* Cells, their histories and names, and the index. */
#include "kernel/check/verify-impl.h"

#include "kernel/base/encode.h"
#include "kernel/read/index.h"

static void cell_wrong(struct verify *verify, uint64_t cell_id, const char *reason)
{
	verify_wrong(verify, WFS_TABLE_CELL, cell_id, reason);
}

/* --- cells --- */

/* Compares a cell's row with the chain of its versions, which goes back to the version that the
 * first height shows. check_version() reports a chain that is broken, unless it takes the missing
 * version for a dropped one. */
static void check_chain(struct verify *verify, const struct wfs_cell *cell)
{
	struct wfs_version version = {.prev_vid = cell->head_vid};
	uint64_t vid = UINT64_MAX;
	uint64_t count = 0;

	for (; version.prev_vid != 0 && version.prev_vid < vid; count++) {
		vid = version.prev_vid;
		if (wfs_version_get(verify->view.txn, vid, &version)) {
			if (verify_incomplete_height(verify) > 0)
				cell_wrong(verify, cell->cell_id,
					"lacks a version that the first height shows");
			return;
		}
		if (version.height <= verify_incomplete_height(verify))
			return;
	}
	if (count != cell->version_count)
		cell_wrong(verify, cell->cell_id, "counts other versions than it has");
	if (version.height != cell->created_height)
		cell_wrong(verify, cell->cell_id, "was not created with its first version");
}

/* Compares a cell's row with its newest version, from which it has hash, size and height. */
static void check_cell(struct verify *verify, uint32_t reducer_id, const struct wfs_cell *cell)
{
	struct wfs_version version;
	uint64_t found = 0;

	if (wfs_cell_find(verify->view.txn, reducer_id, cell->key, &found) ||
		found != cell->cell_id)
		cell_wrong(verify, cell->cell_id, "its key does not lead to it");
	int r = wfs_history_at(verify->view.txn, cell->cell_id, UINT64_MAX, &version);
	if (verify_is_wrong(verify, r) || (!r && version.vid != cell->head_vid))
		cell_wrong(verify, cell->cell_id, "its head is not its newest version");
	else if (!r &&
		(version.cell_id != cell->cell_id || version.height != cell->head_height ||
			version.size_bytes != cell->size_bytes ||
			version.time_ns != cell->time_ns || version.tombstone == cell->live))
		cell_wrong(verify, cell->cell_id, "does not agree with its newest version");
	check_chain(verify, cell);
}

/* Checks the cells of one reducer in one view, because the owner may change cells during the
 * check. */
static int check_reducer(struct verify *verify, uint32_t reducer_id, uint64_t *done, uint64_t total)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_cell cell;
	uint64_t cells = 0;
	uint64_t live = 0;
	int r = wfs_view_reducer_by_id(&verify->view, reducer_id, &reducer);

	if (!r)
		r = wfs_cell_walk_init(&walk, verify->view.txn, reducer_id, 0);
	if (r == -EIO) {
		verify_wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id,
			"counts other cells than it has, by far");
		return 0;
	}
	if (r)
		return verify_failed(verify, r, "a reducer");
	while ((r = wfs_cell_walk_next(&walk, &cell)) > 0 || walk.row_damaged) {
		cells++;
		if (walk.row_damaged) {
			if (wfs_cell_get(verify->view.txn, walk.next_id - 1, &cell) == -EIO)
				verify_damaged(verify, WFS_TABLE_CELL, walk.next_id - 1);
			else
				verify_wrong(
					verify, WFS_TABLE_REDUCER_NAME, reducer_id, "lacks a cell");
			continue;
		}
		check_cell(verify, reducer_id, &cell);
		live += cell.live;
		if ((*done + cells) % VERIFY_RENEW_COUNT != 0)
			continue;
		r = verify_look(verify, "cells", *done + cells, total);
		if (r)
			return wfs_trace(r);
	}
	if (r == -EIO)
		verify_wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id,
			"its cells cannot be read to the end");
	else if (r)
		return verify_failed(verify, r, "a cell");
	if (cells > reducer.cell_count || live != reducer.live_count ||
		(cells < reducer.cell_count && verify_incomplete_height(verify) == 0))
		verify_wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id,
			"counts other cells than it has");
	*done += cells;
	return 0;
}

int verify_kernel_cells(struct verify *verify)
{
	static const enum wfs_kernel_cell cells[] = {
		WFS_KERNEL_CELL_MANIFEST, WFS_KERNEL_CELL_SNAPSHOT};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cells); i++) {
		const uint64_t cell_id = wfs_cell_id(WFS_REDUCER_ID_KERNEL, cells[i]);
		struct wfs_cell cell;
		int r = wfs_cell_get(verify->view.txn, cell_id, &cell);

		if (!r)
			check_chain(verify, &cell);
		else if (r == -ENOENT && cells[i] == WFS_KERNEL_CELL_SNAPSHOT)
			/* check_snapshot() finds that it is missing, if there is a snapshot */
			continue;
		else if (verify_is_wrong(verify, r))
			cell_wrong(verify, cell_id, "is missing or damaged");
	}
	return 0;
}

int verify_reducers(struct verify *verify)
{
	struct wfs_reducer reducer = {.reducer_id = WFS_REDUCER_ID_KERNEL};
	struct wfs_bytes name;
	uint32_t last = WFS_REDUCER_ID_KERNEL;
	uint64_t total = 0; /* about: removed cells count, too */
	uint64_t done = 0;
	int r;

	while (wfs_view_reducer_next(&verify->view, reducer.reducer_id, &name, &reducer) == 0)
		total += reducer.cell_count;
	while ((r = wfs_view_reducer_next(&verify->view, last, &name, &reducer)) == 0) {
		r = check_reducer(verify, reducer.reducer_id, &done, total);
		if (r)
			return wfs_trace(r);
		last = reducer.reducer_id;
	}
	if (r == -EIO)
		verify_wrong(verify, WFS_TABLE_REDUCER_NAME, last + 1,
			"is damaged; those after it were not checked");
	else if (r != -ENOENT)
		return verify_failed(verify, r, "the reducers");
	return 0;
}

/* --- the index --- */

static void index_wrong(
	void *context, const struct wfs_index_set *set, uint64_t id, const char *reason)
{
	struct verify *const verify = context;
	struct wfs_row_name name;

	wfs_row_name_index(verify->view.txn, set, id, &name);
	wfs_problems_add(verify->problems, name.text, NULL, "%s", reason);
}

static int index_progress(void *context, uint64_t done)
{
	return verify_look(context, "indexed cells", done, 0);
}

/* Checks the index in one view, because it shows the head. */
int verify_index(struct verify *verify)
{
	struct wfs_index_checker checker = {index_wrong, index_progress, verify,
		.height = verify->height, .runs_records = verify->runs_records};

	(void)wfs_journal_own_first(verify->view.txn, &checker.first_seq);
	int r = wfs_index_check(wfs_world_store(verify->world), verify->view.txn, &checker);

	return r && r != -EINTR ? verify_failed(verify, r, "the index") : r;
}
