/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a collection: removes rows and files of dropped heights. */
#include "kernel/world/gc-step.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/damage.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/fold/head.h"
#include "kernel/read/body.h"
#include "kernel/read/index.h"
#include "kernel/read/record.h"
#include "kernel/store/row-name.h"

/* What stays of dropped heights. Plain value. */
struct stays {
	uint64_t first; /* the first height that is kept */
	/* versions up to this height stay, because replay begins with them; 0: none */
	uint64_t base;
};

static int find_stays(struct wfs_txn *txn, struct stays *ret_stays)
{
	struct stays stays = {0};
	struct wfs_journal_cut cut;
	int r = wfs_first_height_get(txn, &stays.first);

	if (!r)
		r = wfs_journal_cut_get(txn, &cut);
	if (r)
		return wfs_trace(r);
	/* At the height of the cut itself, what it does not show goes. */
	if (cut.count > 0 && stays.first > cut.first_seq + 1)
		stays.base = cut.first_seq + 1;
	*ret_stays = stays;
	return 0;
}

static int raise_first(struct wfs_gc_step *step, struct wfs_txn *txn)
{
	struct wfs_journal_cut cut;
	uint64_t first;
	int r = wfs_first_height_get(txn, &first);

	if (!r)
		r = wfs_journal_cut_get(txn, &cut);
	if (r)
		return wfs_trace(r);
	step->done = first >= step->first_height;
	step->unsettled = !step->done && !cut.settled;
	if (step->done || step->unsettled)
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
static bool is_of_baseline(const struct wfs_gc_step *step, const struct stays *stays,
	uint64_t cell_id, uint64_t height)
{
	if (height <= stays->base)
		return true;
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
static int drop_deleted(struct wfs_gc_step *step, struct wfs_head *head, const struct stays *stays,
	const struct wfs_version *version, bool *ret_fatal)
{
	const uint64_t cell_id = version->cell_id;
	struct wfs_cell cell;
	int r = wfs_cell_get(head->txn, cell_id, &cell);

	if (r)
		return wfs_trace(wfs_row_needed(head->txn, r));
	/* The newest version of the world stays, so that its number is not used again. */
	if (cell.head_vid != version->vid || version->vid + 1 == head->next_vid ||
		is_of_baseline(step, stays, cell_id, cell.created_height))
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

static int look_at_version(struct wfs_gc_step *step, struct wfs_head *head,
	const struct stays *stays, const struct wfs_version *version, bool *ret_fatal)
{
	struct wfs_version in_force;

	if (is_of_baseline(step, stays, version->cell_id, version->height))
		return 0;
	int r = wfs_history_at(head->txn, version->cell_id, stays->first, &in_force);

	if (r)
		return wfs_trace(wfs_row_needed(head->txn, r));
	if (in_force.vid == version->vid)
		return version->tombstone ? drop_deleted(step, head, stays, version, ret_fatal) : 0;
	r = drop_version(step, head->txn, version);
	*ret_fatal = r != 0;
	return wfs_trace(r);
}

/* Removes rows of versions. Their numbers rise with their heights, so it ends at the first version
 * that is younger than the first height. */
static int drop_rows(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error)
{
	struct stays stays;
	int r = find_stays(head->txn, &stays);

	for (uint32_t i = 0; !r && i < step->rows_max; i++) {
		struct wfs_version version;

		r = wfs_version_next(head->txn, step->after_vid, &version);
		step->done = r == -ENOENT || (!r && version.height > stays.first);
		if (step->done)
			return 0;
		if (!r)
			r = look_at_version(step, head, &stays, &version, ret_fatal);
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

/* --- what was sent to models --- */

/* Takes out the hashes that cells name which came since the caller looked. */
static int take_out_new(struct wfs_gc_step *step, struct wfs_head *head, size_t *count)
{
	struct wfs_view view = {.store = head->store,
		.txn = head->txn,
		.txn_borrowed = true,
		.height = head->height};
	uint64_t vid = step->after_vid;
	struct wfs_version version;
	struct wfs_blob blob;
	int r;

	while (!(r = wfs_version_next(head->txn, vid, &version))) {
		vid = version.vid;
		if (version.tombstone || wfs_view_is_of(&view, &version, WFS_BUILTIN_RAW) <= 0 ||
			wfs_raw_find(&view, &version, &blob, NULL))
			continue;
		struct wfs_hash *const found = *count > 0
			? bsearch(&blob.hash, step->files, *count, sizeof(*step->files),
				  wfs_gc_compare_hashes)
			: NULL;
		if (found)
			memmove(found, found + 1,
				(size_t)(step->files + --*count - found) * sizeof(*found));
	}
	return r == -ENOENT ? 0 : wfs_trace(r);
}

static int remove_raw(struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal)
{
	size_t count = step->file_count;
	int r = take_out_new(step, head, &count);

	for (size_t i = 0; !r && i < count; i++) {
		struct wfs_blob blob;

		r = wfs_blob_get(head->txn, &step->files[i], &blob);
		if (r || blob.listed_id) {
			r = r == -ENOENT ? 0 : r;
			continue;
		}
		step->figures.raw_count++;
		step->figures.raw_bytes += blob.size_bytes;
		r = wfs_blob_remove(head->txn, &step->files[i]);
		*ret_fatal = r != 0;
		step->rows_changed = step->raw_dropped = true;
	}
	step->done = true;
	return wfs_trace(r);
}

/* --- cutting the journal --- */

/* Finds the number of the first version after @height, or that of the next one to come. All
 * versions after @height exist. */
static int first_version_after(struct wfs_head *head, uint64_t height, uint64_t *ret_vid)
{
	uint64_t low = 0;
	uint64_t high = head->next_vid;
	uint64_t vid;

	/* Invariant: versions up to `low` are of @height or older, those from `high` on younger. */
	while (low + 1 < high) {
		const uint64_t middle = low + (high - low) / 2;
		struct wfs_version version;
		int r = wfs_version_next(head->txn, middle - 1, &version);

		if (r && r != -ENOENT)
			return wfs_trace(r);
		if (!r && version.height <= height)
			low = version.vid;
		else
			high = middle;
	}
	int r = wfs_version_next_vid(head->txn, low, &vid);
	if (r && r != -ENOENT)
		return wfs_trace(r);
	*ret_vid = r ? head->next_vid : vid;
	return 0;
}

/* Appends the record that proves the baseline, which is chained to no other record. */
static int append_snapshot(
	const struct wfs_gc_step *step, struct wfs_head *head, const struct wfs_hash *hash)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	const struct wfs_body_snapshot members = {
		.height = (int64_t)step->first_height, .snapshot_hash = *hash};
	struct wfs_record record = {
		.at_ns = head->at_ns, .kind = WFS_RECORD_SNAPSHOT, .principal = "kernel"};

	wfs_body_write_snapshot(&body, &members);
	record.body = wfs_buffer_bytes(&body);
	int r = wfs_buffer_check(&body);
	if (!r)
		r = wfs_head_append(head, &record);
	return wfs_trace(r ? r : wfs_head_set_snapshot(head, hash, head->at_ns));
}

static int cut_journal(struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal)
{
	struct wfs_journal_cut wanted = {
		.first_seq = step->first_height - 1, .genesis_ns = step->cut->genesis_ns};
	uint64_t first;
	int r = wfs_first_height_get(head->txn, &first);

	step->done = true;
	if (!r && first != step->first_height) /* another collection went on meanwhile */
		return 0;
	if (!r)
		r = first_version_after(head, first, &wanted.next_vid);
	if (r)
		return wfs_trace(r);
	r = wfs_journal_cut(head->txn, &wanted, step->cut->line);
	if (r == -EINVAL)
		return 0;
	*ret_fatal = true;
	if (!r)
		r = append_snapshot(step, head, &step->cut->snapshot_hash);
	if (r)
		return wfs_trace(r);
	*ret_fatal = false;
	step->rows_changed = step->was_cut = true;
	return 0;
}

static int settle_cut(struct wfs_gc_step *step, struct wfs_txn *txn)
{
	int r = wfs_journal_settle(txn, step->cut_number);

	step->rows_changed = step->done = r == 0;
	return wfs_trace(r);
}

/* How many records may this step look at? At least as many as wfs_index_remove_below() needs. */
static uint32_t records_max(const struct wfs_gc_step *step)
{
	const uint32_t rows_max = step->rows_max < 3 ? 3 : step->rows_max;

	return rows_max < WFS_GC_STEP_RECORDS ? rows_max : WFS_GC_STEP_RECORDS;
}

static int remove_records(struct wfs_gc_step *step, struct wfs_txn *txn)
{
	const uint32_t rows_max = records_max(step);
	uint64_t bytes;
	uint32_t rows;
	int r = wfs_journal_remove(txn, rows_max, &rows, &bytes);

	step->rows_changed = rows > 0;
	step->done = rows < rows_max;
	step->figures.record_count = rows;
	step->figures.record_bytes = bytes;
	return wfs_trace(r);
}

static int remove_from_runs(struct wfs_gc_step *step, struct wfs_txn *txn)
{
	uint64_t end = 0;
	int r = wfs_journal_own_first(txn, &end);

	if (!r)
		r = wfs_index_remove_below(txn, &step->runs, end, records_max(step));
	step->rows_changed = end > 0;
	step->done = r == 0;
	return r > 0 ? 0 : wfs_trace(r);
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
	case WFS_GC_RAW:
		r = remove_raw(step, head, ret_fatal);
		break;
	case WFS_GC_CUT:
		r = cut_journal(step, head, ret_fatal);
		break;
	case WFS_GC_SETTLED:
		r = settle_cut(step, head->txn);
		*ret_fatal = r != 0;
		break;
	case WFS_GC_RECORDS:
		r = remove_records(step, head->txn);
		*ret_fatal = r != 0;
		break;
	case WFS_GC_RUNS:
		r = remove_from_runs(step, head->txn);
		*ret_fatal = r != 0;
		break;
	}
	return r ? wfs_error_from_errno(error, r, "drop old heights") : 0;
}
