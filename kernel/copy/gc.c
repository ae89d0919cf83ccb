/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping old heights. */
#include "kernel/copy/gc.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/damage.h"
#include "kernel/check/baseline.h"
#include "kernel/copy/gc-raw.h"
#include "kernel/copy/upgrade.h"
#include "kernel/read/index.h"
#include "kernel/read/record.h"
#include "kernel/read/view.h"
#include "kernel/store/row-name.h"
#include "kernel/world/world.h"

#define OLD_STORE_NS (INT64_C(30) * 24 * 3600 * 1000000000) /* how long upgrades' old stores stay */

static int heights(
	struct wfs_world *world, uint64_t *ret_first, uint64_t *ret_head, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(wfs_world_store(world), &txn);

	if (!r)
		r = wfs_first_height_get(txn, ret_first);
	if (!r)
		r = wfs_journal_height(txn, ret_head);
	return r ? wfs_error_from_errno(error, r, "read the world's heights") : 0;
}

/* Does the world begin with a baseline? */
static int find_baseline(struct wfs_world *world, bool *ret_baseline, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	int r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_view_record(&view, WFS_BASELINE_SEQ, &line);
	if (!r)
		r = wfs_record_parse(line, &parsed, error);
	*ret_baseline = !r && parsed.record.kind == WFS_RECORD_BASELINE;
	return r && r != -ENOENT ? wfs_error_from_errno(error, r, "read the journal") : 0;
}

/* Has another record caused record @seq? Return: 1, 0 (also if @seq is the height), -errno. */
static int is_derived(struct wfs_view *view, uint64_t seq, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	int r = wfs_view_record(view, seq, &line);

	if (r == -ENOENT)
		return 0;
	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	return r ? wfs_error_from_errno(error, r, "read record %" PRIu64, seq)
		 : parsed.record.derived;
}

/* Finds the height nearest to @height at which no request is under way: an older one, but not one
 * before @first. */
static int find_boundary(
	struct wfs_world *world, uint64_t first, uint64_t *height, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t found = *height;
	int r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	while ((r = is_derived(&view, found, error)) > 0 && found > first)
		found--;
	while (r > 0) {
		found++;
		r = is_derived(&view, found, error);
	}
	*height = found;
	return wfs_trace(r);
}

int wfs_gc_begin(struct wfs_world *world, bool keep, uint64_t number, struct wfs_gc *gc,
	struct wfs_error *error)
{
	uint64_t first = 0;
	uint64_t head = 0;
	int r = heights(world, &first, &head, error);

	if (r)
		return wfs_trace(r);
	if (gc->raw_before > head)
		return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"height %" PRIu64 " is not reached yet, the head is %" PRIu64,
			gc->raw_before, head);
	gc->first_height = first;
	if (gc->raw_only)
		return 0;
	if (number == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "%s, got 0",
			keep ? "expected the number of heights to keep, at least 1"
			     : "expected a height to keep, 1 or more");
	uint64_t height = number;
	if (keep)
		height = number < head ? head - number + 1 : 1;
	if (height > head)
		return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"height %" PRIu64 " is not reached yet, the head is %" PRIu64, height,
			head);
	gc->first_height = height > first ? height : first;
	return gc->journal ? find_boundary(world, first, &gc->first_height, error) : 0;
}

/* Has the kernel thread do a step. When this returns, the step is committed, and mounts were
 * notified. */
static int try_step(struct wfs_world *world, const char *principal, struct wfs_gc_step *step,
	struct wfs_error *error)
{
	struct wfs_request request = {.kind = WFS_REQUEST_GC, .principal = principal, .gc = step};
	int r = wfs_world_call(world, &request);

	if (r)
		*error = request.error;
	return wfs_trace(r);
}

/*
 * Removing rows writes pages before it frees any, and on a full disk only the free pages of
 * data.mdb can be written. So steps get smaller until one fits, which makes room for larger ones.
 * Pages that a commit frees can be used by the next commit but one, so a commit that changes next
 * to nothing comes between two steps.
 */
static int do_step(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	struct wfs_gc_step *step, struct wfs_error *error)
{
	struct wfs_gc_step done;
	uint32_t rows = WFS_GC_STEP_ROWS;
	int r;

	for (;;) {
		struct wfs_gc_step settle = {.kind = WFS_GC_SETTLE};

		done = *step;
		done.rows_max = rows;
		r = try_step(world, principal, &done, error);
		rows /= 4;
		if (r != -ENOSPC || rows == 0 || try_step(world, principal, &settle, error))
			break;
	}
	if (r == -ENOSPC)
		return wfs_error_set(error, WFS_E_STORE_FULL,
			"the disk has no room even to drop one version: remove something else "
			"from it, 1 MB will do, and try again");
	if (r)
		return wfs_trace(r);
	*step = done;
	gc->figures.version_count += done.figures.version_count;
	gc->figures.version_bytes += done.figures.version_bytes;
	gc->figures.cell_count += done.figures.cell_count;
	gc->figures.file_count += done.figures.file_count;
	gc->figures.file_bytes += done.figures.file_bytes;
	gc->figures.record_count += done.figures.record_count;
	gc->figures.record_bytes += done.figures.record_bytes;
	gc->figures.raw_count += done.figures.raw_count;
	gc->figures.raw_bytes += done.figures.raw_bytes;
	return 0;
}

/* Finds about the last version to look at: numbers of versions rise with their heights. */
static int find_last_vid(struct wfs_world *world, struct wfs_gc *gc, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	uint64_t low = 0;
	uint64_t high = 0;
	int r = wfs_store_read(wfs_world_store(world), &txn);

	if (!r)
		r = wfs_version_last(txn, &high);
	/* Invariant: the last version to look at is in [low, high]. */
	while (!r && low < high) {
		const uint64_t middle = low + (high - low) / 2;
		struct wfs_version version;

		r = wfs_version_next(txn, middle, &version);
		if (!r && version.height <= gc->first_height)
			low = version.vid < high ? version.vid : high;
		else
			high = middle;
	}
	if (r)
		return wfs_error_from_errno(error, r, "read the versions");
	gc->last_vid = high;
	return 0;
}

static int drop_all(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, bool *ret_done, struct wfs_error *error)
{
	uint64_t rows = 0;
	bool baseline = false;
	int r = find_baseline(world, &baseline, error);

	*ret_done = false;
	while (!r && !*ret_done && (rows_max == 0 || rows < rows_max)) {
		struct wfs_gc_step step = {
			.kind = WFS_GC_DROP, .after_vid = gc->after_vid, .baseline = baseline};

		r = do_step(world, gc, principal, &step, error);
		rows += WFS_GC_STEP_ROWS;
		if (!r) {
			gc->after_vid = step.after_vid;
			*ret_done = step.done;
		}
	}
	return wfs_trace(r);
}

/* --- files --- */

/* Files that no row may mention. */
struct leftovers {
	struct wfs_txn *txn;
	struct wfs_hash *hashes; /* owned */
	size_t count;
	size_t capacity;
};

static int add_leftover(void *context, const struct wfs_hash *hash)
{
	struct leftovers *left = context;
	struct wfs_blob blob;
	int r = wfs_blob_get(left->txn, hash, &blob);

	if (!r && blob.in_file)
		return 0;
	if (r && r != -ENOENT)
		return wfs_trace(r);
	struct wfs_hash *const hashes =
		wfs_array_reserve(left->hashes, left->count, &left->capacity, sizeof(*hashes));
	if (!hashes)
		return -ENOMEM;
	left->hashes = hashes;
	left->hashes[left->count++] = *hash;
	return 0;
}

/* Finds files that no version mentions; closes the transaction and opens it again now and then. */
static int find_leftovers(struct wfs_world *world, struct leftovers *left, uint64_t *ret_after_vid)
{
	enum { RENEW_COUNT = 4096 };
	struct wfs_store *store = wfs_world_store(world);
	uint64_t after_vid = 0;
	int r = wfs_store_read(store, &left->txn);

	if (!r)
		r = wfs_blob_files_each(store, add_leftover, left);
	if (!r && left->count > 0)
		qsort(left->hashes, left->count, sizeof(*left->hashes), wfs_gc_compare_hashes);
	while (!r && left->count > 0) {
		r = wfs_gc_take_out_mentioned(
			left->txn, left->hashes, &left->count, &after_vid, RENEW_COUNT);
		if (!r) {
			wfs_txn_end(WFS_STEAL(left->txn));
			r = wfs_store_read(store, &left->txn);
		}
	}
	wfs_txn_end(WFS_STEAL(left->txn));
	*ret_after_vid = after_vid;
	return r == -ENOENT ? 0 : wfs_trace(r);
}

static int remove_leftovers(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	struct leftovers *left, uint64_t after_vid, struct wfs_error *error)
{
	int r = 0;

	for (size_t i = 0; !r && i < left->count; i += WFS_GC_STEP_FILES) {
		struct wfs_gc_step step = {
			.kind = WFS_GC_FILES,
			.after_vid = after_vid,
			.files = left->hashes + i,
			.file_count = left->count - i < WFS_GC_STEP_FILES ? left->count - i
									  : WFS_GC_STEP_FILES,
		};

		r = do_step(world, gc, principal, &step, error);
	}
	return wfs_trace(r);
}

/* Removes files. Their rows were removed and the commit was synced, so new readers cannot find
 * them. */
static int drop_files(
	struct wfs_world *world, struct wfs_gc *gc, const char *principal, struct wfs_error *error)
{
	struct leftovers left = {0};
	uint64_t after_vid;
	int r = wfs_blob_files_settle(wfs_world_store(world));

	gc->files_held = r == -EAGAIN;
	if (gc->files_held)
		return 0;
	if (!r)
		r = find_leftovers(world, &left, &after_vid);
	if (r)
		wfs_error_from_errno(error, r, "look for blob files that nothing mentions");
	else
		r = remove_leftovers(world, gc, principal, &left, after_vid, error);
	free(left.hashes);
	return wfs_trace(r);
}

/* Removes the blobs with what models were sent in old turns; their files become leftovers. */
static int drop_raw(
	struct wfs_world *world, struct wfs_gc *gc, const char *principal, struct wfs_error *error)
{
	struct gc_raw raw = {.hashes = NULL};
	int r = gc_raw_find(world, gc->raw_before, &raw, error);

	for (size_t i = 0; !r && i < raw.count; i += WFS_GC_STEP_FILES) {
		struct wfs_gc_step step = {
			.kind = WFS_GC_RAW,
			.after_vid = raw.after_vid,
			.files = raw.hashes + i,
			.file_count = raw.count - i < WFS_GC_STEP_FILES ? raw.count - i
									: WFS_GC_STEP_FILES,
		};

		r = do_step(world, gc, principal, &step, error);
	}
	gc_raw_done(&raw);
	return wfs_trace(r);
}

/* --- the journal --- */

static int read_cut(
	struct wfs_world *world, struct wfs_journal_cut *ret_cut, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(wfs_world_store(world), &txn);

	if (!r)
		r = wfs_journal_cut_get(txn, ret_cut);
	return r ? wfs_error_from_errno(error, r, "read where the journal was cut") : 0;
}

/* Removes the rows of versions that only heights before the newest cut show: those of the baseline
 * before, too, which stayed until then. */
static int settle_cut(
	struct wfs_world *world, struct wfs_gc *gc, const char *principal, struct wfs_error *error)
{
	struct wfs_gc_step settled = {.kind = WFS_GC_SETTLED};
	const uint64_t after_vid = gc->after_vid;
	struct wfs_journal_cut cut = {0};
	bool done = false;
	int r = read_cut(world, &cut, error);

	if (r)
		return wfs_trace(r);
	settled.cut_number = cut.count;
	gc->after_vid = 0;
	r = drop_all(world, gc, principal, 0, &done, error);
	gc->after_vid = after_vid;
	return wfs_trace(r ? r : do_step(world, gc, principal, &settled, error));
}

/* Makes the line of the baseline. The first height is kept, so nothing that it shows can change. */
static int make_baseline(struct wfs_world *world, uint64_t height, struct wfs_buffer *line,
	struct wfs_gc_cut *cut, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_baseline_facts facts;
	int r = wfs_view_open(world, height, &view, error);

	if (!r)
		r = wfs_baseline_facts(&view, &facts, error);
	if (r)
		return wfs_trace(r);
	r = wfs_baseline_cut(
		&view, height - 1, wfs_world_id(world), &facts, line, &cut->genesis_ns);
	if (r)
		return wfs_error_from_errno(error, r, "write the baseline");
	cut->line = wfs_buffer_bytes(line);
	cut->snapshot_hash = facts.snapshot;
	return 0;
}

static int cut_journal(
	struct wfs_world *world, struct wfs_gc *gc, const char *principal, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct wfs_gc_cut cut;
	struct wfs_gc_step step = {
		.kind = WFS_GC_CUT, .first_height = gc->first_height, .cut = &cut};
	struct wfs_journal_cut last = {0};
	int r = read_cut(world, &last, error);

	if (r)
		return wfs_trace(r);
	/* A cut appends a record, so one that only drops one frees nothing: a world to which nobody
	 * writes would be cut by each collection, whose records would drive out the others. */
	if (gc->first_height > last.first_seq + 2) {
		r = make_baseline(world, gc->first_height, &line, &cut, error);
		if (!r)
			r = do_step(world, gc, principal, &step, error);
		else if (r == -ENOENT && error->code == WFS_E_HEIGHT_UNAVAILABLE)
			r = 0; /* another collection went on meanwhile, as step.was_cut also says */
	}
	if (r || (last.settled && !step.was_cut))
		return wfs_trace(r);
	return wfs_trace(settle_cut(world, gc, principal, error));
}

/* Removes the rows of records before the cut: also those that an earlier collection has left. */
static int remove_records(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, bool *ret_done, struct wfs_error *error)
{
	struct wfs_gc_step runs = {.kind = WFS_GC_RUNS};
	int r = 0;

	*ret_done = false;
	for (uint64_t rows = 0; !r && !*ret_done && (rows_max == 0 || rows < rows_max);
		rows += WFS_GC_STEP_RECORDS) {
		struct wfs_gc_step step = {.kind = WFS_GC_RECORDS};

		r = do_step(world, gc, principal, &step, error);
		*ret_done = !r && step.done;
	}
	wfs_index_runs(&runs.runs);
	while (!r && *ret_done && gc->journal && !runs.done)
		r = do_step(world, gc, principal, &runs, error);
	return wfs_trace(r);
}

/* --- the whole collection --- */

static int raise_first(
	struct wfs_world *world, struct wfs_gc *gc, const char *principal, struct wfs_error *error)
{
	struct wfs_gc_step raise = {.kind = WFS_GC_RAISE, .first_height = gc->first_height};
	int r = 0;

	while (!r && !raise.done) {
		raise.figures = (struct wfs_gc_figures){0};
		raise.dropped_to = raise.dropped_from = 0;
		r = do_step(world, gc, principal, &raise, error);
		if (!r && raise.unsettled) /* a collection ended between cutting and this */
			r = settle_cut(world, gc, principal, error);
	}
	return wfs_trace(r);
}

int wfs_gc_advance(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, struct wfs_error *error)
{
	bool rows_done = gc->raw_only;
	int r = gc->raw_only ? 0 : raise_first(world, gc, principal, error);

	if (!r && !gc->raw_only)
		r = find_last_vid(world, gc, error);
	if (!r && !gc->raw_only)
		r = drop_all(world, gc, principal, rows_max, &rows_done, error);
	if (!r && rows_done && gc->journal)
		r = cut_journal(world, gc, principal, error);
	if (!r && rows_done && !gc->raw_only)
		r = remove_records(world, gc, principal, rows_max, &rows_done, error);
	if (!r && rows_done && gc->raw_before > 0)
		r = drop_raw(world, gc, principal, error);
	if (!r && rows_done)
		r = drop_files(world, gc, principal, error);
	if (!r && rows_done)
		r = wfs_upgrade_drop(wfs_world_directory(world), OLD_STORE_NS, error);
	if (r >= 0)
		gc->done = rows_done;
	return wfs_trace(r < 0 ? r : 0);
}
