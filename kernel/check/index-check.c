/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing the index with the cells that it follows from. */
#include "kernel/read/index.h"

enum { PROGRESS_COUNT = 4096 }; /* cells between two reports */

struct check {
	struct wfs_store *store;
	struct wfs_txn *txn;
	const struct wfs_index_checker *checker;
	uint64_t done;   /* cells */
	uint64_t wanted; /* items that the index must have, by the cells */

	/* The set at hand, of a walk over all rows. */
	struct wfs_index_set set;
	struct wfs_index_sum told; /* in the row of its sum */
	struct wfs_index_sum found;
	uint64_t last_id;
	uint64_t items; /* found in all sets of cells */
	uint64_t runs_records;
};

/* Reports the last item that the walk over all rows has met, in the set at hand. */
static void wrong(struct check *check, const char *reason)
{
	check->checker->wrong(check->checker->context, &check->set, check->last_id, reason);
}

/* Does the failure of a look-up mean that the row is damaged? Otherwise this process has failed. */
static bool is_damage(int r)
{
	return r == -EIO || r == -ENOENT;
}

/* --- from the cells to the index --- */

static int check_cell(struct check *check, enum wfs_indexed indexed, const struct wfs_cell *cell)
{
	WFS_AUTO_INDEX_PLACES struct wfs_index_places places = {0};
	int r = wfs_index_places_now(check->store, check->txn, indexed, cell, &places);

	if (is_damage(r)) /* of the version; the check of versions reports it */
		return 0;
	for (size_t i = 0; !r && i < places.count; i++) {
		uint64_t amount;

		check->wanted++;
		r = wfs_index_get(check->txn, &places.items[i].set, cell->cell_id, &amount);
		const char *reason = NULL;
		if (is_damage(r))
			reason = "is missing in a set where it belongs";
		else if (!r && amount != places.items[i].amount)
			reason = "has another part of a sum than it should";
		if (reason)
			check->checker->wrong(check->checker->context, &places.items[i].set,
				cell->cell_id, reason);
		r = is_damage(r) ? 0 : r;
	}
	return wfs_trace(r);
}

static int check_cells(struct check *check, enum wfs_indexed indexed, uint32_t reducer_id)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_cell cell;
	int r = wfs_cell_walk_init(&walk, check->txn, reducer_id, 0);

	if (r)
		return is_damage(r) ? 0 : wfs_trace(r);
	while ((r = wfs_cell_walk_next(&walk, &cell)) > 0 || walk.row_damaged) {
		r = walk.row_damaged ? 0 : check_cell(check, indexed, &cell);
		if (!r && ++check->done % PROGRESS_COUNT == 0)
			r = check->checker->progress(check->checker->context, check->done);
		if (r)
			return wfs_trace(r);
	}
	return is_damage(r) ? 0 : wfs_trace(r);
}

static int check_reducers(struct check *check)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r;

	for (uint32_t id = WFS_REDUCER_ID_KERNEL;
		(r = wfs_reducer_next(check->txn, id, &name, &reducer)) == 0;
		id = reducer.reducer_id) {
		const enum wfs_indexed indexed = wfs_indexed_find(name);

		r = indexed ? check_cells(check, indexed, reducer.reducer_id) : 0;
		if (r)
			return wfs_trace(r);
	}
	return is_damage(r) ? 0 : wfs_trace(r);
}

/* --- the index in itself --- */

static void close_set(struct check *check)
{
	if (check->told.count != check->found.count || check->told.amount != check->found.amount)
		wrong(check, "is in a set whose sum is another one");
}

static int check_row(void *context, const struct wfs_index_row *row)
{
	struct check *const check = context;
	const bool same = wfs_bytes_equal(WFS_BYTES(row->set.bytes, row->set.size),
		WFS_BYTES(check->set.bytes, check->set.size));

	if (!same) {
		close_set(check);
		check->set = row->set;
		check->found = check->told = (struct wfs_index_sum){0};
	}
	if (row->is_sum) {
		check->told = row->sum;
	} else {
		check->found.count++;
		check->found.amount += row->sum.amount;
		check->last_id = row->cell_id;
		if (!wfs_index_is_run(&row->set))
			check->items++;
		else if (row->cell_id < check->checker->height &&
			row->cell_id >= check->checker->first_seq)
			check->runs_records++;
	}
	return 0;
}

static int check_rows(struct check *check)
{
	int r = wfs_index_each(check->txn, check_row, check);

	if (r == -EIO)
		wrong(check, "is the last one whose row can be read");
	else if (r)
		return wfs_trace(r);
	close_set(check);
	if (check->items > check->wanted)
		wrong(check, "is the last item, and there are more than belong");
	if (check->runs_records > check->checker->runs_records)
		wrong(check, "is the last item, and there are more records of runs than belong");
	return 0;
}

int wfs_index_check(
	struct wfs_store *store, struct wfs_txn *txn, const struct wfs_index_checker *checker)
{
	struct check check = {.store = store, .txn = txn, .checker = checker};
	int r = check_reducers(&check);

	return wfs_trace(r ? r : check_rows(&check));
}
