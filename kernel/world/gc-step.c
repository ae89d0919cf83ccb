/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection: removes rows and files of dropped heights. */
#include "kernel/world/gc-step.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/damage.h"
#include "kernel/fold/head.h"
#include "kernel/read/record.h"
#include "kernel/store/row-name.h"

static int raise_first(struct wfs_gc_step *step, struct wfs_txn *txn)
{
	uint64_t first;
	int r = wfs_first_height_get(txn, &first);

	if (r)
		return wfs_trace(r);
	step->done = first >= step->first_height;
	if (step->done)
		return 0;
	uint64_t target = step->first_height;
	if (target - first > WFS_GC_STEP_HEIGHTS)
		target = first + WFS_GC_STEP_HEIGHTS;
	r = wfs_first_height_put(txn, target);
	if (r)
		return wfs_trace(r);
	step->rows_changed = true;
	step->dropped_from = first;
	step->dropped_to = target;
	step->done = target == step->first_height;
	return 0;
}

/* Did the baseline make the version? It must stay, because no record has it. */
static bool is_of_baseline(const struct wfs_gc_step *step, uint64_t cell_id, uint64_t height)
{
	return step->baseline && height == WFS_BASELINE_SEQ + 1 &&
		wfs_cell_reducer(cell_id) != WFS_REDUCER_ID_KERNEL;
}

static int drop_version(
	struct wfs_gc_step *step, struct wfs_txn *txn, const struct wfs_version *version)
{
	const uint64_t size_bytes = version->in_file ? 0 : version->size_bytes;
	int r = wfs_version_remove(txn, version);

	if (r)
		return wfs_trace(r);
	step->rows_changed = true;
	step->figures.version_count++;
	step->figures.version_bytes += size_bytes;
	return 0;
}

/* Removes a cell that is deleted at the first height. If it was made again since, it is another
 * cell, and stays. */
static int drop_deleted(struct wfs_gc_step *step, struct wfs_head *head,
	const struct wfs_version *version, bool *ret_fatal)
{
	const uint64_t cell_id = version->cell_id;
	struct wfs_cell cell;
	int r = wfs_cell_get(head->txn, cell_id, &cell);

	if (r)
		return wfs_trace(wfs_row_needed(head->txn, r));
	/* The newest version of the world stays, so that its number is not used again. */
	if (cell.head_vid != version->vid || version->vid + 1 == head->next_vid ||
		is_of_baseline(step, cell_id, cell.created_height))
		return 0;
	*ret_fatal = true;
	r = drop_version(step, head->txn, version);
	if (!r)
		r = wfs_cell_remove(head->txn, cell_id);
	if (r)
		return wfs_trace(r);
	*ret_fatal = false;
	step->figures.cell_count++;
	return 0;
}

static int look_at_version(struct wfs_gc_step *step, struct wfs_head *head, uint64_t first,
	const struct wfs_version *version, bool *ret_fatal)
{
	struct wfs_version in_force;

	if (is_of_baseline(step, version->cell_id, version->height))
		return 0;
	int r = wfs_history_at(head->txn, version->cell_id, first, &in_force);

	if (r)
		return wfs_trace(wfs_row_needed(head->txn, r));
	if (in_force.vid == version->vid)
		return version->tombstone ? drop_deleted(step, head, version, ret_fatal) : 0;
	r = drop_version(step, head->txn, version);
	*ret_fatal = r != 0;
	return wfs_trace(r);
}

/* Removes rows of versions. Their numbers rise with their heights, so it ends at the first version
 * that is younger than the first height. */
static int drop_rows(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error)
{
	uint64_t first;
	int r = wfs_first_height_get(head->txn, &first);

	for (uint32_t i = 0; !r && i < step->rows_max; i++) {
		struct wfs_version version;

		r = wfs_version_next(head->txn, step->after_vid, &version);
		step->done = r == -ENOENT || (!r && version.height > first);
		if (step->done)
			return 0;
		if (!r)
			r = look_at_version(step, head, first, &version, ret_fatal);
		if (!r)
			step->after_vid = version.vid;
	}
	if (r == -EIO)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"%s; versions after %" PRIu64
			" were not dropped, 'worldfs verify' lists all damage",
			*wfs_damage_noted() ? wfs_damage_noted() : "a row is damaged",
			step->after_vid);
	return r ? wfs_error_from_errno(error, r, "drop old versions") : 0;
}

int wfs_gc_compare_hashes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct wfs_hash));
}

int wfs_gc_take_out_mentioned(struct wfs_txn *txn, struct wfs_hash *hashes, size_t *count,
	uint64_t *after_vid, uint64_t rows_max)
{
	struct wfs_version version;
	uint64_t rows = 0;
	int r = 0;

	while (!r && (rows_max == 0 || rows < rows_max)) {
		r = wfs_version_next(txn, *after_vid, &version);
		if (r)
			break;
		rows++;
		*after_vid = version.vid;
		struct wfs_hash *const found = version.in_file && *count > 0
			? bsearch(&version.hash, hashes, *count, sizeof(*hashes),
				  wfs_gc_compare_hashes)
			: NULL;
		if (found)
			memmove(found, found + 1,
				(size_t)(hashes + --*count - found) * sizeof(*hashes));
	}
	return r;
}

/* Removes files that no row mentions. Rows may have come since the caller looked, so this looks
 * again; during the step none can come. */
static int remove_files(struct wfs_gc_step *step, struct wfs_head *head)
{
	size_t count = step->file_count;
	int r = wfs_gc_take_out_mentioned(head->txn, step->files, &count, &step->after_vid, 0);

	if (r != -ENOENT)
		return wfs_trace(r);
	for (size_t i = 0; i < count; i++) {
		struct wfs_blob blob;
		uint64_t size_bytes;

		r = wfs_blob_get(head->txn, &step->files[i], &blob);
		if (!r && blob.in_file)
			continue;
		if (r && r != -ENOENT)
			return wfs_trace(r);
		r = wfs_blob_file_remove(head->store, &step->files[i], &size_bytes);
		if (r && r != -EBUSY && r != -ENOENT)
			return wfs_trace(r);
		if (!r) {
			step->figures.file_count++;
			step->figures.file_bytes += size_bytes;
		}
	}
	step->done = true;
	return 0;
}

int wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error)
{
	int r = 0;

	switch (step->kind) {
	case WFS_GC_RAISE:
		r = raise_first(step, head->txn);
		*ret_fatal = r != 0;
		break;
	case WFS_GC_SETTLE:
		step->rows_changed = step->done = true;
		break;
	case WFS_GC_DROP:
		return drop_rows(step, head, ret_fatal, error);
	case WFS_GC_FILES:
		r = remove_files(step, head);
		break;
	}
	return r ? wfs_error_from_errno(error, r, "drop old heights") : 0;
}
