/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping old heights. */
#include "kernel/copy/gc.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/damage.h"
#include "kernel/read/record.h"
#include "kernel/read/view.h"
#include "kernel/store/row-name.h"
#include "kernel/world/world.h"

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

int wfs_gc_begin(struct wfs_world *world, bool keep, uint64_t number, struct wfs_gc *gc,
	struct wfs_error *error)
{
	uint64_t first = 0;
	uint64_t head = 0;
	int r = heights(world, &first, &head, error);

	if (r)
		return wfs_trace(r);
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
	return 0;
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

int wfs_gc_advance(struct wfs_world *world, struct wfs_gc *gc, const char *principal,
	uint64_t rows_max, struct wfs_error *error)
{
	struct wfs_gc_step raise = {.kind = WFS_GC_RAISE, .first_height = gc->first_height};
	bool rows_done;
	int r = 0;

	while (!r && !raise.done) {
		raise.figures = (struct wfs_gc_figures){0};
		raise.dropped_to = raise.dropped_from = 0;
		r = do_step(world, gc, principal, &raise, error);
	}
	if (!r)
		r = find_last_vid(world, gc, error);
	if (!r)
		r = drop_all(world, gc, principal, rows_max, &rows_done, error);
	if (!r && rows_done)
		r = drop_files(world, gc, principal, error);
	if (!r)
		gc->done = rows_done;
	return wfs_trace(r);
}
