/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/copy/gc-raw.h"

#include "kernel/base/array.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/read/view.h"
#include "kernel/world/gc-step.h"
#include "kernel/world/world.h"

void gc_raw_done(struct gc_raw *raw)
{
	free(raw->hashes);
	*raw = (struct gc_raw){.hashes = NULL};
}
#define AUTO_RAW WFS_CLEANUP(gc_raw_done)

static int add(struct gc_raw *raw, const struct wfs_hash *hash)
{
	struct wfs_hash *const hashes =
		wfs_array_reserve(raw->hashes, raw->count, &raw->capacity, sizeof(*hashes));

	if (!hashes)
		return -ENOMEM;
	raw->hashes = hashes;
	hashes[raw->count++] = *hash;
	return 0;
}

/* Sorts @raw, and drops hashes that are in it twice, or in @others, which is sorted. */
static void settle(struct gc_raw *raw, const struct gc_raw *others)
{
	size_t kept = 0;

	if (raw->count > 0)
		qsort(raw->hashes, raw->count, sizeof(*raw->hashes), wfs_gc_compare_hashes);
	for (size_t i = 0; i < raw->count; i++) {
		const struct wfs_hash *const hash = &raw->hashes[i];

		if (kept > 0 && wfs_hash_equal(hash, &raw->hashes[kept - 1]))
			continue;
		if (others->count == 0 ||
			!bsearch(hash, others->hashes, others->count, sizeof(*hash),
				wfs_gc_compare_hashes))
			raw->hashes[kept++] = *hash;
	}
	raw->count = kept;
}

/* Looks for the turns to which cells belong; those of one turn are neighbours. */
struct turns {
	struct wfs_view *view;
	uint32_t reducer_id; /* of sys.turn */
	uint64_t before;
	struct wfs_buffer run;
	bool old;
};

/* Did the turn begin before the height? A turn without a cell did. Return: 0, or -errno. */
static int look_at_turn(struct turns *turns, struct wfs_bytes key)
{
	struct wfs_bytes run;
	struct wfs_cell cell;
	uint64_t cell_id;

	if (!wfs_raw_run(key, &run) || wfs_bytes_equal(run, wfs_buffer_bytes(&turns->run)))
		return 0;
	wfs_buffer_reset(&turns->run);
	wfs_buffer_append(&turns->run, run.data, run.size);
	int r = wfs_cell_find(turns->view->txn, turns->reducer_id, run, &cell_id);
	if (!r)
		r = wfs_cell_get(turns->view->txn, cell_id, &cell);
	turns->old = r || cell.created_height <= turns->before;
	return r && r != -ENOENT ? r : wfs_buffer_check(&turns->run);
}

static int look_at_cell(
	struct turns *turns, const struct wfs_cell *cell, struct gc_raw *old, struct gc_raw *young)
{
	struct wfs_version version;
	struct wfs_blob blob;
	int r = look_at_turn(turns, cell->key);

	if (!r)
		r = wfs_view_version(turns->view, cell->head_vid, &version);
	if (!r)
		r = wfs_raw_find(turns->view, &version, &blob, NULL);
	if (r)
		return r == -ENOENT ? 0 : wfs_trace(r); /* it was dropped before */
	return add(turns->old ? old : young, &blob.hash);
}

static int look_at_cells(struct turns *turns, struct gc_raw *old, struct gc_raw *young)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_cell cell;
	int r = wfs_view_builtin(turns->view, WFS_BUILTIN_TURN, &reducer);

	if (r)
		return wfs_trace(r);
	turns->reducer_id = reducer.reducer_id;
	r = wfs_view_builtin(turns->view, WFS_BUILTIN_RAW, &reducer);
	if (r)
		return r == -ENOENT ? 0 : wfs_trace(r);
	r = wfs_cell_walk_init(&walk, turns->view->txn, reducer.reducer_id, 0);
	while (!r && (r = wfs_cell_walk_next(&walk, &cell)) > 0)
		r = look_at_cell(turns, &cell, old, young);
	return r;
}

int gc_raw_find(
	struct wfs_world *world, uint64_t before, struct gc_raw *ret_raw, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	AUTO_RAW struct gc_raw young = {.hashes = NULL};
	struct turns turns = {.view = &view, .before = before};
	int r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_version_last(view.txn, &ret_raw->after_vid);
	if (!r)
		r = look_at_cells(&turns, ret_raw, &young);
	wfs_buffer_done(&turns.run);
	if (r)
		return wfs_error_from_errno(error, r, "look for what models were sent");
	settle(&young, &(const struct gc_raw){.hashes = NULL});
	settle(ret_raw, &young);
	return 0;
}
