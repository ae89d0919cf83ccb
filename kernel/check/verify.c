/* SPDX-License-Identifier: Apache-2.0 */
/* Checking that a store is undamaged, and agrees with itself. */
#include "kernel/check/verify.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/check/baseline.h"
#include "kernel/domain/turn/turn-check.h"
#include "kernel/read/index.h"
#include "kernel/read/record.h"
#include "kernel/read/snapshot.h"
#include "kernel/read/text.h"
#include "kernel/store/row-name.h"
#include "kernel/store/rows.h"

enum { RENEW_COUNT = 4096 }; /* rows between two renewals of the view */

struct verify {
	struct wfs_world *world;
	struct wfs_problems *problems;
	wfs_progress_fn *progress;
	void *context;
	struct wfs_error *error;
	struct wfs_view view;
	int failure; /* the last -errno of a check that could not be made, or 0 */
	char forbidden[sizeof("blobs/ab/") +
		WFS_HASH_HEX_SIZE]; /* a file that this user may not open */
	uint64_t height;            /* fixed at the start */
	uint64_t first;             /* the oldest that is kept; it may rise during the check */
	uint64_t last_vid;          /* of the height */
	bool file_read;             /* since the last call of look() */
	struct wfs_turn_check *runs;
	uint64_t runs_records; /* that the index must have */
};

/* Reports that a row is wrong. */
static void wrong(struct verify *verify, enum wfs_table table, uint64_t row, const char *reason)
{
	struct wfs_row_name name;

	wfs_row_name_number(verify->view.txn, table, row, &name);
	wfs_problems_add(verify->problems, name.text, NULL, "%s", reason);
}

static void wrong_blob(struct verify *verify, const struct wfs_hash *hash, const char *reason)
{
	struct wfs_row_name name;

	wfs_row_name(
		verify->view.txn, WFS_TABLE_BLOB, WFS_BYTES(hash->bytes, WFS_HASH_SIZE), &name);
	wfs_problems_add(verify->problems, name.text, NULL, "%s", reason);
}

/* Reports a damaged row, unless check_rows() has reported it. */
static void damaged_name(struct verify *verify, const struct wfs_row_name *name)
{
	const struct wfs_buffer *const lines = &verify->problems->lines;
	char line[sizeof(*name) + 32];

	const int size = snprintf(line, sizeof(line), "%s: is damaged\n", name->text);
	wfs_line_clean(line, (size_t)size - 1);
	if (verify->problems->count == 0 || !memmem(lines->data, lines->size, line, (size_t)size))
		wfs_problems_add(verify->problems, name->text, NULL, "is damaged");
}

static void damaged(struct verify *verify, enum wfs_table table, uint64_t row)
{
	struct wfs_row_name name;

	wfs_row_name_number(verify->view.txn, table, row, &name);
	damaged_name(verify, &name);
}

/* Heights up to this one may lack versions. */
static uint64_t incomplete_height(const struct verify *verify)
{
	return verify->first > 1 ? verify->first : 0;
}

static int open_view(struct verify *verify, uint64_t height)
{
	int r = wfs_view_open(verify->world, height, &verify->view, verify->error);

	if (r)
		return r;
	r = wfs_first_height_get(verify->view.txn, &verify->first);
	return r ? wfs_error_from_errno(verify->error, r, "read the first height") : 0;
}

/* Does the failure of a check mean that the row is wrong? Otherwise this process has failed, for
 * example for lack of memory. */
static bool is_wrong(struct verify *verify, int r)
{
	switch (r) {
	case -ENOMEM:
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
	case -EACCES:
	case -EPERM:
		verify->failure = r;
		return false;
	default:
		return r != 0;
	}
}

/* Reports the progress. Return: 0, or -EINTR if the check is to end. */
static int look(struct verify *verify, const char *what, uint64_t done, uint64_t total)
{
	verify->file_read = false;
	if (!verify->progress || verify->progress(verify->context, what, done, total))
		return 0;
	return wfs_error_set(
		verify->error, WFS_E_CANCELLED, "interrupted: not all of the world was checked");
}

/* After every RENEW_COUNT rows, and after every file: reports the progress, and closes the view and
 * opens it again. */
static int step(struct verify *verify, const char *what, uint64_t done, uint64_t total)
{
	if (done % RENEW_COUNT != 0 && done != total && !verify->file_read)
		return 0;
	int r = look(verify, what, done, total);
	if (r)
		return r;
	wfs_view_close(&verify->view);
	return open_view(verify, verify->height);
}

/* Checks the file of a version or a blob. */
static int check_file(struct verify *verify, const struct wfs_blob *file)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	const int r = wfs_blob_file_check(wfs_world_store(verify->world), file);

	verify->file_read = true;
	wfs_hash_hex(&file->hash, hex);
	if (r == -EACCES || r == -EPERM)
		snprintf(verify->forbidden, sizeof(verify->forbidden), "blobs/%.2s/%s", hex,
			hex + 2);
	return r;
}

static int failed(struct verify *verify, int r, const char *what)
{
	return wfs_error_from_errno(verify->error, r, "read %s", what);
}

/* --- private texts that a record names --- */

struct naming {
	struct verify *verify;
	const struct wfs_record_parsed *parsed;
	const struct wfs_hash *wanted; /* NULL: all of them must be there */
	bool found;
};

static int look_for_text(void *context, const json_t *stand_in)
{
	struct naming *const naming = context;
	struct verify *const verify = naming->verify;
	struct wfs_hash hash;
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &hash);
	naming->found |= naming->wanted && wfs_hash_equal(&hash, naming->wanted);
	if (!naming->wanted && is_wrong(verify, wfs_text_find(verify->view.txn, &hash, &text)))
		wrong(verify, WFS_TABLE_JOURNAL, naming->parsed->record.seq,
			"names a private text that is missing or damaged");
	return 0;
}

/* --- all rows --- */

/* Checks that each row is as it was written. The other checks compare rows with one another. */
static int check_rows(struct verify *verify)
{
	struct wfs_rows rows = {0};
	uint64_t total = 0;
	int r = wfs_rows_total(verify->view.txn, &total);

	if (r && r != -EIO)
		return failed(verify, r, "all rows");
	do {
		r = wfs_rows_check(&rows, verify->view.txn, RENEW_COUNT, verify->problems);
		if (r < 0)
			return failed(verify, r, "all rows");
		const int stop = step(verify, "rows", r ? rows.done : total, total);
		if (stop)
			return wfs_trace(stop);
	} while (r > 0);
	return 0;
}

/* --- journal --- */

/* The record before the one at hand. */
struct chain {
	struct wfs_hash hash;
	uint64_t end; /* offset of the end of its line */
	int64_t at_ns;
};

static void run_wrong(void *context, uint64_t seq, const char *reason)
{
	wrong(context, WFS_TABLE_JOURNAL, seq, reason);
}

static void check_record(struct verify *verify, uint64_t seq, struct chain *chain, uint64_t offset,
	struct wfs_bytes line)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = wfs_record_parse(line, &parsed, NULL);

	if (offset != chain->end)
		wrong(verify, WFS_TABLE_JOURNAL, seq,
			"does not begin where the record before it ends");
	if (is_wrong(verify, r)) {
		wrong(verify, WFS_TABLE_JOURNAL, seq, "is not a record");
	} else if (!r) {
		if (parsed.record.seq != seq)
			wrong(verify, WFS_TABLE_JOURNAL, seq, "has another seq");
		if (!wfs_hash_equal(&parsed.record.prev, &chain->hash))
			wrong(verify, WFS_TABLE_JOURNAL, seq,
				"`prev` is not the hash of the record before it");
		if (parsed.record.kind == WFS_RECORD_BASELINE && seq != WFS_BASELINE_SEQ)
			wrong(verify, WFS_TABLE_JOURNAL, seq, "is a baseline in the wrong place");
		if (parsed.record.at_ns < chain->at_ns)
			wrong(verify, WFS_TABLE_JOURNAL, seq, "is older than the record before it");
		if (parsed.record.derived && parsed.record.cause >= seq)
			wrong(verify, WFS_TABLE_JOURNAL, seq, "is caused by a later record");
		struct naming naming = {.verify = verify, .parsed = &parsed};
		(void)wfs_text_each(&parsed, look_for_text, &naming);
		chain->at_ns = parsed.record.at_ns;
		(void)is_wrong(verify,
			wfs_turn_check_record(verify->runs, verify->view.txn, seq, &parsed));
	}
	chain->hash = wfs_hash_of(line.data, line.size);
	chain->end = offset + line.size;
}

static int walk_journal(struct verify *verify)
{
	struct chain chain = {0};

	for (uint64_t seq = 0; seq < verify->height; seq++) {
		struct wfs_bytes line;
		uint64_t offset;
		int r = wfs_journal_get(verify->view.txn, seq, &offset, &line);

		if (r == -EIO)
			damaged(verify, WFS_TABLE_JOURNAL, seq);
		else if (r == -ENOENT)
			wrong(verify, WFS_TABLE_JOURNAL, seq, "is missing");
		else if (r)
			return failed(verify, r, "the journal");
		else
			check_record(verify, seq, &chain, offset, line);
		r = step(verify, "records", seq + 1, verify->height);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* Checks the journal, and that the index has the records of turns. */
static int check_journal(struct verify *verify)
{
	int r = wfs_turn_check_new(run_wrong, verify, &verify->runs);

	if (!r)
		r = walk_journal(verify);
	if (!r)
		r = wfs_turn_check_end(verify->runs, verify->view.txn, &verify->runs_records);
	wfs_turn_check_free(verify->runs);
	verify->runs = NULL;
	return r == -EINTR ? r : r ? failed(verify, r, "the journal") : 0;
}

/* --- versions, and the changes of their records --- */

/* One change of the record at hand, for sorting. */
struct change {
	char reducer[WFS_REDUCER_NAME_MAX + 1];
	uint8_t key[WFS_KEY_SIZE_MAX];
	size_t key_size;
	bool live;
	struct wfs_hash hash;
};

/* The changes of one height, collected from its versions, and the hash that its record has. */
struct changes {
	uint64_t height;
	bool told;     /* its record is missing, which check_journal() has reported */
	bool baseline; /* of a baseline: there may be too many to collect, so the view is hashed */
	bool changed;
	struct wfs_hash recorded;
	struct change *items;
	size_t count;
	size_t capacity;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;

	return wfs_changes_compare(x->reducer, WFS_BYTES(x->key, x->key_size), y->reducer,
		WFS_BYTES(y->key, y->key_size));
}

/* Goes to the next height. */
static void open_changes(struct verify *verify, struct changes *changes)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	int r = wfs_view_record(&verify->view, changes->height++, &line);

	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	changes->count = 0;
	changes->baseline = false;
	changes->told = r != 0;
	if (r) {
		(void)is_wrong(verify, r);
		return;
	}
	changes->baseline =
		parsed.record.kind == WFS_RECORD_BASELINE && parsed.record.seq == WFS_BASELINE_SEQ;
	changes->changed = parsed.record.changed;
	changes->recorded = parsed.record.changes;
}

static int hash_collected(struct verify *verify, struct changes *changes, bool *ret_changed,
	struct wfs_hash *ret_hash)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};

	if (changes->count > 1)
		qsort(changes->items, changes->count, sizeof(*changes->items), compare_changes);
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->items[i];

		wfs_changes_add(&document, change->reducer,
			WFS_BYTES(change->key, change->key_size),
			change->live ? &change->hash : NULL);
	}
	wfs_changes_end(&document);
	if (wfs_buffer_check(&document))
		return failed(verify, -ENOMEM, "the versions");
	*ret_changed = changes->count > 0;
	*ret_hash = wfs_hash_of(document.data, document.size);
	return 0;
}

/* Hashes the changes of a baseline, which are all cells of its height. */
static int hash_baseline(struct verify *verify, const struct changes *changes, bool *ret_changed,
	struct wfs_hash *ret_hash)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_view_open(verify->world, changes->height, &view, verify->error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(wfs_baseline_changes(&view, ret_changed, ret_hash, verify->error));
}

/* Ends a height, all of whose versions were seen: compares their hash with the record's. */
static int close_changes(struct verify *verify, struct changes *changes)
{
	struct wfs_hash hash = {0};
	bool changed = false;

	if (changes->height <= incomplete_height(verify) || changes->told)
		return 0;
	int r = changes->baseline ? hash_baseline(verify, changes, &changed, &hash)
				  : hash_collected(verify, changes, &changed, &hash);
	if (r && r != -EIO) /* damage was reported where it was found */
		return wfs_trace(r);
	if (r || changed != changes->changed ||
		(changed && !wfs_hash_equal(&hash, &changes->recorded)))
		wrong(verify, WFS_TABLE_JOURNAL, changes->height - 1,
			"`changes` is not the hash of the record's changes");
	return 0;
}

/* Checks a height without versions: its record must have no changes. */
static int pass_height(struct verify *verify, struct changes *changes, uint64_t height)
{
	while (changes->height < height) {
		int r = close_changes(verify, changes);

		if (r)
			return wfs_trace(r);
		open_changes(verify, changes);
	}
	return 0;
}

static int add_change(struct verify *verify, struct changes *changes,
	const struct wfs_version *version, struct wfs_bytes reducer, struct wfs_bytes key)
{
	struct change *const items = wfs_array_reserve(
		changes->items, changes->count, &changes->capacity, sizeof(*items));

	if (!items)
		return failed(verify, -ENOMEM, "the versions");
	changes->items = items;
	struct change *change = &changes->items[changes->count++];
	*change = (struct change){.live = !version->tombstone, .hash = version->hash};
	snprintf(change->reducer, sizeof(change->reducer), "%.*s", (int)reducer.size,
		(const char *)reducer.data);
	change->key_size = key.size < sizeof(change->key) ? key.size : sizeof(change->key);
	if (change->key_size)
		memcpy(change->key, key.data, change->key_size);
	return 0;
}

static void check_bytes(struct verify *verify, const struct wfs_version *version)
{
	struct wfs_blob file = {.hash = version->hash, .size_bytes = version->size_bytes};

	if (version->tombstone)
		return;
	if (version->in_file) {
		if (is_wrong(verify, check_file(verify, &file)))
			wrong(verify, WFS_TABLE_VERSION, version->vid,
				"its blob file is missing or does not have its hash");
		return;
	}
	struct wfs_hash hash = wfs_hash_of(version->bytes.data, version->bytes.size);
	if (!wfs_hash_equal(&hash, &version->hash))
		wrong(verify, WFS_TABLE_VERSION, version->vid, "its bytes do not have its hash");
}

/* Is the version from a baseline whose height was dropped? Such versions stay, but later ones of
 * their cells, up to the first height, go. */
static bool is_cut_off(const struct verify *verify, const struct wfs_version *version)
{
	return version->height == WFS_BASELINE_SEQ + 1 &&
		version->height < incomplete_height(verify) &&
		wfs_cell_reducer(version->cell_id) != WFS_REDUCER_ID_KERNEL;
}

static int check_version(
	struct verify *verify, struct changes *changes, const struct wfs_version *version)
{
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	struct wfs_version found;

	check_bytes(verify, version);
	int r = wfs_history_at(verify->view.txn, version->cell_id, version->height, &found);
	if ((is_wrong(verify, r) && !is_cut_off(verify, version)) ||
		(!r && found.vid != version->vid))
		wrong(verify, WFS_TABLE_VERSION, version->vid, "the history does not lead to it");
	if (version->height < changes->height || version->height > verify->height) {
		wrong(verify, WFS_TABLE_VERSION, version->vid, "is out of the order of heights");
		return 0;
	}
	r = pass_height(verify, changes, version->height);
	if (r || wfs_cell_reducer(version->cell_id) == WFS_REDUCER_ID_KERNEL)
		return wfs_trace(r);
	r = wfs_view_name(&verify->view, version, &reducer, &key);
	if (r) {
		if (is_wrong(verify, r))
			wrong(verify, WFS_TABLE_VERSION, version->vid, "does not belong to a cell");
		return 0;
	}
	return changes->baseline ? 0 : add_change(verify, changes, version, reducer, key);
}

/* Skips versions that are missing because their heights were dropped, from *vid on. Numbers rise
 * with heights, so these are all that are missing before the first one of a height that is kept. If
 * a kept height needs one of them, the hash of its changes, or the chain of the cell, shows that it
 * is missing.
 * Return: were they skipped? *vid is then the last of them. */
static bool skip_dropped(struct verify *verify, const struct changes *changes, uint64_t *vid)
{
	struct wfs_version next;

	if (incomplete_height(verify) == 0 || changes->height > verify->first)
		return false;
	if (wfs_version_next(verify->view.txn, *vid, &next) == 0)
		*vid = next.vid - 1;
	return true;
}

/* Reports missing versions, from *vid on, as one problem: a damaged key can leave out very many. */
static void miss_versions(struct verify *verify, uint64_t *vid)
{
	uint64_t next;
	uint64_t end = verify->last_vid + 1;
	char reason[sizeof("is missing, up to 18446744073709551615")];

	if (wfs_version_next_vid(verify->view.txn, *vid, &next) == 0 && next < end)
		end = next;
	snprintf(reason, sizeof(reason),
		end - *vid > 1 ? "is missing, up to %" PRIu64 : "is missing", end - 1);
	wrong(verify, WFS_TABLE_VERSION, *vid, reason);
	*vid = end - 1;
}

static int check_versions(struct verify *verify)
{
	struct changes changes = {0};
	int r = 0;

	for (uint64_t vid = 1; !r && vid <= verify->last_vid; vid++) {
		struct wfs_version version;

		r = wfs_version_get(verify->view.txn, vid, &version);
		if (r == -ENOENT && skip_dropped(verify, &changes, &vid)) {
			r = 0;
		} else if (r == -ENOENT) {
			miss_versions(verify, &vid);
			r = 0;
		} else if (r == -EIO) {
			damaged(verify, WFS_TABLE_VERSION, vid);
			r = 0;
		} else if (r) {
			r = failed(verify, r, "a version");
		} else {
			r = check_version(verify, &changes, &version);
		}
		if (!r)
			r = step(verify, "versions", vid, verify->last_vid);
	}
	if (!r)
		r = pass_height(verify, &changes, verify->height);
	if (!r)
		r = close_changes(verify, &changes);
	free(changes.items);
	return wfs_trace(r);
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
			if (incomplete_height(verify) > 0)
				wrong(verify, WFS_TABLE_CELL, cell->cell_id,
					"lacks a version that the first height shows");
			return;
		}
		if (version.height <= incomplete_height(verify))
			return;
	}
	if (count != cell->version_count)
		wrong(verify, WFS_TABLE_CELL, cell->cell_id, "counts other versions than it has");
	if (version.height != cell->created_height)
		wrong(verify, WFS_TABLE_CELL, cell->cell_id,
			"was not created with its first version");
}

/* Compares a cell's row with its newest version, from which it has hash, size and height. */
static void check_cell(struct verify *verify, uint32_t reducer_id, const struct wfs_cell *cell)
{
	struct wfs_version version;
	uint64_t found = 0;

	if (wfs_cell_find(verify->view.txn, reducer_id, cell->key, &found) ||
		found != cell->cell_id)
		wrong(verify, WFS_TABLE_CELL, cell->cell_id, "its key does not lead to it");
	int r = wfs_history_at(verify->view.txn, cell->cell_id, UINT64_MAX, &version);
	if (is_wrong(verify, r) || (!r && version.vid != cell->head_vid))
		wrong(verify, WFS_TABLE_CELL, cell->cell_id, "its head is not its newest version");
	else if (!r &&
		(version.cell_id != cell->cell_id || version.height != cell->head_height ||
			version.size_bytes != cell->size_bytes ||
			version.time_ns != cell->time_ns || version.tombstone == cell->live))
		wrong(verify, WFS_TABLE_CELL, cell->cell_id,
			"does not agree with its newest version");
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
		wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id,
			"counts other cells than it has, by far");
		return 0;
	}
	if (r)
		return failed(verify, r, "a reducer");
	while ((r = wfs_cell_walk_next(&walk, &cell)) > 0 || walk.row_damaged) {
		cells++;
		if (walk.row_damaged) {
			if (wfs_cell_get(verify->view.txn, walk.next_id - 1, &cell) == -EIO)
				damaged(verify, WFS_TABLE_CELL, walk.next_id - 1);
			else
				wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id, "lacks a cell");
			continue;
		}
		check_cell(verify, reducer_id, &cell);
		live += cell.live;
		if ((*done + cells) % RENEW_COUNT != 0)
			continue;
		r = look(verify, "cells", *done + cells, total);
		if (r)
			return wfs_trace(r);
	}
	if (r == -EIO)
		wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id,
			"its cells cannot be read to the end");
	else if (r)
		return failed(verify, r, "a cell");
	if (cells > reducer.cell_count || live != reducer.live_count ||
		(cells < reducer.cell_count && incomplete_height(verify) == 0))
		wrong(verify, WFS_TABLE_REDUCER_NAME, reducer_id, "counts other cells than it has");
	*done += cells;
	return 0;
}

static int check_kernel_cells(struct verify *verify)
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
		else if (is_wrong(verify, r))
			wrong(verify, WFS_TABLE_CELL, cell_id, "is missing or damaged");
	}
	return 0;
}

/* About how many cells there are, for reports of progress: removed cells count, too. */
static uint64_t count_cells(struct verify *verify)
{
	struct wfs_reducer reducer = {.reducer_id = WFS_REDUCER_ID_KERNEL};
	struct wfs_bytes name;
	uint64_t count = 0;

	while (wfs_view_reducer_next(&verify->view, reducer.reducer_id, &name, &reducer) == 0)
		count += reducer.cell_count;
	return count;
}

static int check_reducers(struct verify *verify)
{
	const uint64_t total = count_cells(verify);
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	uint32_t last = WFS_REDUCER_ID_KERNEL;
	uint64_t done = 0;
	int r;

	while ((r = wfs_view_reducer_next(&verify->view, last, &name, &reducer)) == 0) {
		r = check_reducer(verify, reducer.reducer_id, &done, total);
		if (r)
			return wfs_trace(r);
		last = reducer.reducer_id;
	}
	if (r == -EIO)
		wrong(verify, WFS_TABLE_REDUCER_NAME, last + 1,
			"is damaged; those after it were not checked");
	else if (r != -ENOENT)
		return failed(verify, r, "the reducers");
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
	return look(context, "indexed cells", done, 0);
}

/* Checks the index in one view, because it shows the head. */
static int check_index(struct verify *verify)
{
	const struct wfs_index_checker checker = {index_wrong, index_progress, verify,
		.height = verify->height, .runs_records = verify->runs_records};
	int r = wfs_index_check(wfs_world_store(verify->world), verify->view.txn, &checker);

	return r && r != -EINTR ? failed(verify, r, "the index") : r;
}

/* --- blobs --- */

static void check_blob(struct verify *verify, const struct wfs_blob *blob)
{
	struct wfs_blob_listing listing;
	struct wfs_hash hash;

	if (blob->in_file) {
		if (is_wrong(verify, check_file(verify, blob)))
			wrong_blob(verify, &blob->hash,
				"its file is missing or does not have its hash");
	} else {
		hash = wfs_hash_of(blob->bytes.data, blob->bytes.size);
		if (!wfs_hash_equal(&hash, &blob->hash))
			wrong_blob(verify, &blob->hash, "its bytes do not have its hash");
	}
	if (blob->listed_id &&
		(wfs_blob_listing_get(verify->view.txn, blob->listed_id, &listing) ||
			!wfs_hash_equal(&listing.hash, &blob->hash)))
		wrong_blob(verify, &blob->hash, "its listing does not lead to it");
}

static void damaged_blob(struct verify *verify, const struct wfs_hash *hash)
{
	struct wfs_row_name name;

	wfs_row_name(
		verify->view.txn, WFS_TABLE_BLOB, WFS_BYTES(hash->bytes, WFS_HASH_SIZE), &name);
	damaged_name(verify, &name);
}

static int check_blobs(struct verify *verify)
{
	struct wfs_blob blob;
	struct wfs_hash last = {0};
	uint64_t count = 0;
	int r;

	while ((r = wfs_blob_next(verify->view.txn, count ? &last : NULL, &blob)) == 0 ||
		r == -EBADMSG) {
		last = blob.hash;
		count++;
		if (r)
			damaged_blob(verify, &blob.hash);
		else
			check_blob(verify, &blob);
		r = step(verify, "blobs", count, 0);
		if (r)
			return wfs_trace(r);
	}
	if (r == -EIO)
		wrong_blob(verify, &last, "is the last blob that can be reached");
	else if (r != -ENOENT)
		return failed(verify, r, "a blob");
	return 0;
}

/* Checks that each listed blob exists. */
static int check_listings(struct verify *verify)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;
	int r = wfs_view_blob_last(&verify->view, &last);

	/* check_rows() has reported the last row, whose number cannot be read. */
	if (r == -EIO)
		r = wfs_rows_count(verify->view.txn, WFS_TABLE_BLOB_LISTED, &last);
	for (uint64_t id = 1; !r && id <= last; id++) {
		if (wfs_blob_listing_get(verify->view.txn, id, &listing))
			wrong(verify, WFS_TABLE_BLOB_LISTED, id, "is missing or damaged");
		else if (wfs_blob_get(verify->view.txn, &listing.hash, &blob))
			wrong(verify, WFS_TABLE_BLOB_LISTED, id, "does not name a blob");
		r = step(verify, "listings", id, last);
	}
	return r ? failed(verify, r, "the listed blobs") : 0;
}

/* --- private texts --- */

/* Checks that a text has its hash, and that its record names it. */
static void check_text(struct verify *verify, const struct wfs_text *text, uint64_t seq_before)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	const struct wfs_hash hash = wfs_hash_of(text->bytes.data, text->bytes.size);
	struct naming naming = {.verify = verify, .parsed = &parsed, .wanted = &text->hash};
	struct wfs_text found;
	struct wfs_bytes line;

	if (!wfs_hash_equal(&hash, &text->hash))
		wrong(verify, WFS_TABLE_TEXT, text->number, "its bytes do not have its hash");
	if (text->seq < seq_before)
		wrong(verify, WFS_TABLE_TEXT, text->number,
			"is of a record before that of another");
	if (is_wrong(verify, wfs_text_find(verify->view.txn, &text->hash, &found)))
		wrong(verify, WFS_TABLE_TEXT, text->number, "does not lead to it");
	if (text->seq >= verify->height || wfs_view_record(&verify->view, text->seq, &line) ||
		wfs_record_parse(line, &parsed, NULL))
		/* the text came during the check, or check_journal() has reported its record */
		return;
	(void)wfs_text_each(&parsed, look_for_text, &naming);
	if (!naming.found)
		wrong(verify, WFS_TABLE_TEXT, text->number, "is not named by its record");
}

static int check_texts(struct verify *verify)
{
	struct wfs_text text = {.seq = 0};
	uint64_t last;
	int r = wfs_text_last(verify->view.txn, &last);

	/* check_rows() has reported the last row, whose key cannot be read. */
	if (r == -EIO)
		r = wfs_rows_count(verify->view.txn, WFS_TABLE_TEXT, &last);
	for (uint64_t number = 1; !r && number <= last; number++) {
		const uint64_t seq_before = text.seq;

		const int got = wfs_text_get(verify->view.txn, number, &text);
		if (got == -EIO)
			damaged(verify, WFS_TABLE_TEXT, number);
		else if (is_wrong(verify, got))
			wrong(verify, WFS_TABLE_TEXT, number, "is missing");
		else
			check_text(verify, &text, seq_before);
		r = step(verify, "private texts", number, last);
	}
	return r && r != -EINTR ? failed(verify, r, "the private texts") : r;
}

/* --- snapshots --- */

static int check_snapshot(struct verify *verify, const struct wfs_record_parsed *parsed)
{
	const json_t *text = json_object_get(parsed->body_json, "snapshot_hash");
	const bool baseline = parsed->record.kind == WFS_RECORD_BASELINE;
	json_int_t height = baseline
		? (json_int_t)parsed->record.seq + 1
		: json_integer_value(json_object_get(parsed->body_json, "height"));
	struct wfs_hash recorded;
	struct wfs_hash hash;

	if (height < 1 || (uint64_t)height > parsed->record.seq + baseline ||
		wfs_hash_parse(json_string_value(text) ? json_string_value(text) : "",
			json_string_length(text), &recorded, NULL)) {
		wrong(verify, WFS_TABLE_JOURNAL, parsed->record.seq, "is not a snapshot record");
		return 0;
	}
	const uint64_t newest = wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_SNAPSHOT);
	struct wfs_cell cell;
	if (wfs_cell_get(verify->view.txn, newest, &cell) == -ENOENT)
		wrong(verify, WFS_TABLE_CELL, newest, "is missing");
	if ((uint64_t)height < verify->first)
		return 0;
	int r = wfs_snapshot_hash(
		wfs_world_store(verify->world), (uint64_t)height, NULL, NULL, &hash, verify->error);
	if (r == -EIO) {
		wrong(verify, WFS_TABLE_JOURNAL, parsed->record.seq,
			"the cells of its snapshot cannot be read");
		return 0;
	}
	if (r)
		return wfs_trace(r);
	if (!wfs_hash_equal(&hash, &recorded))
		wrong(verify, WFS_TABLE_JOURNAL, parsed->record.seq,
			"its snapshot hash is not that of its height");
	return 0;
}

/* Can the line be a snapshot record? Most other records are sorted out without parsing them. */
static bool holds_snapshot(struct wfs_bytes line)
{
	static const char member[] = "\"snapshot_hash\":";

	return memmem(line.data, line.size, member, sizeof(member) - 1) != NULL;
}

static int check_snapshots(struct verify *verify)
{
	for (uint64_t seq = 0; seq < verify->height; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
		struct wfs_bytes line;
		int r = wfs_view_record(&verify->view, seq, &line);

		if (!r && holds_snapshot(line) &&
			!is_wrong(verify, wfs_record_parse(line, &parsed, NULL)) &&
			(parsed.record.kind == WFS_RECORD_SNAPSHOT ||
				parsed.record.kind == WFS_RECORD_BASELINE))
			r = check_snapshot(verify, &parsed);
		if (r && r != -EIO) /* check_journal() has reported missing records */
			return wfs_trace(r);
		r = step(verify, "snapshots", seq + 1, verify->height);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* --- pages --- */

static bool pages_progress(void *context, uint64_t done, uint64_t total)
{
	return look(context, "pages", done, total) == 0;
}

/* Checks pages before any row is read: LMDB may follow a damaged page for ever, so no row is read
 * if one is found. @ret_sound: no page is damaged */
static int check_pages(struct verify *verify, bool *ret_sound)
{
	const size_t before = verify->problems->count;
	const int r = wfs_store_check_pages(
		wfs_world_store(verify->world), verify->problems, pages_progress, verify);

	*ret_sound = verify->problems->count == before;
	return r && r != -EINTR ? failed(verify, r, "the pages") : r;
}

/* Finds the number of the newest version. If the last row is damaged, which check_rows() reports,
 * it is the largest number that a walk over the versions meets. */
static int find_last_version(struct verify *verify)
{
	struct wfs_txn *const txn = verify->view.txn;
	int r = wfs_version_last(txn, &verify->last_vid);

	if (r == -EIO) {
		do {
			r = wfs_version_next_vid(txn, verify->last_vid, &verify->last_vid);
		} while (!r);
		r = r == -ENOENT ? 0 : r;
	}
	return r ? failed(verify, r, "the newest version") : 0;
}

int wfs_verify(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error)
{
	static int (*const checks[])(struct verify * verify) = {
		check_rows,
		check_journal,
		check_versions,
		check_kernel_cells,
		check_reducers,
		check_index,
		check_blobs,
		check_listings,
		check_texts,
		check_snapshots,
	};
	struct verify verify = {
		.world = world,
		.problems = problems,
		.progress = progress,
		.context = context,
		.error = error,
	};
	/* Files of versions that are dropped during the check stay until it ends. */
	WFS_AUTO_FD int hold_fd = wfs_blob_files_hold(wfs_world_store(world));
	if (hold_fd < 0 && hold_fd != -ENOENT) /* -ENOENT: each missing file will be reported */
		return wfs_error_from_errno(error, hold_fd, "open the blob files");
	bool sound = false;
	int r = check_pages(&verify, &sound);

	if (r || !sound)
		return wfs_trace(r);
	r = open_view(&verify, WFS_HEIGHT_HEAD);
	verify.height = verify.view.height;
	if (!r)
		r = find_last_version(&verify);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(checks); i++)
		r = checks[i](&verify);
	if (!r && verify.forbidden[0])
		r = wfs_error_from_errno(error, -EACCES, "check all of the world: open '%s/%s'",
			wfs_world_directory(world), verify.forbidden);
	if (!r && verify.failure)
		r = failed(&verify, verify.failure, "all of the world");
	wfs_view_close(&verify.view);
	return wfs_trace(r);
}
