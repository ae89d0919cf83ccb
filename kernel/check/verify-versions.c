/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, and the changes that their records have hashed. */
#include "kernel/check/verify-impl.h"

#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/hash-text.h"
#include "kernel/check/baseline.h"
#include "kernel/read/record.h"

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
	bool told;     /* its record is missing, which verify_journal() has reported */
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
		(void)verify_is_wrong(verify, r);
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
		return verify_failed(verify, -ENOMEM, "the versions");
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

	if (changes->height <= verify_incomplete_height(verify) || changes->told)
		return 0;
	int r = changes->baseline ? hash_baseline(verify, changes, &changed, &hash)
				  : hash_collected(verify, changes, &changed, &hash);
	if (r && r != -EIO) /* damage was reported where it was found */
		return wfs_trace(r);
	if (r || changed != changes->changed ||
		(changed && !wfs_hash_equal(&hash, &changes->recorded)))
		verify_wrong(verify, WFS_TABLE_JOURNAL, changes->height - 1,
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
		return verify_failed(verify, -ENOMEM, "the versions");
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
		if (verify_is_wrong(verify, verify_check_file(verify, &file)))
			verify_wrong(verify, WFS_TABLE_VERSION, version->vid,
				"its blob file is missing or does not have its hash");
		return;
	}
	if (!wfs_hash_fits(&version->hash, version->bytes))
		verify_wrong(
			verify, WFS_TABLE_VERSION, version->vid, "its bytes do not have its hash");
}

/* Is the version from a baseline whose height was dropped? Such versions stay, but later ones of
 * their cells, up to the first height, go. */
static bool is_cut_off(const struct verify *verify, const struct wfs_version *version)
{
	struct wfs_journal_cut cut;

	if (wfs_journal_cut_get(verify->view.txn, &cut) == 0 && cut.count > 0 &&
		version->height <= cut.first_seq + 1)
		return cut.first_seq + 1 < verify_incomplete_height(verify) || !cut.settled;
	return version->height == WFS_BASELINE_SEQ + 1 &&
		version->height < verify_incomplete_height(verify) &&
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
	if ((verify_is_wrong(verify, r) && !is_cut_off(verify, version)) ||
		(!r && found.vid != version->vid))
		verify_wrong(
			verify, WFS_TABLE_VERSION, version->vid, "the history does not lead to it");
	if (version->height < changes->height || version->height > verify->height) {
		verify_wrong(
			verify, WFS_TABLE_VERSION, version->vid, "is out of the order of heights");
		return 0;
	}
	r = pass_height(verify, changes, version->height);
	if (r || wfs_cell_reducer(version->cell_id) == WFS_REDUCER_ID_KERNEL)
		return wfs_trace(r);
	r = wfs_view_name(&verify->view, version, &reducer, &key);
	if (r) {
		if (verify_is_wrong(verify, r))
			verify_wrong(verify, WFS_TABLE_VERSION, version->vid,
				"does not belong to a cell");
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

	if (verify_incomplete_height(verify) == 0 || changes->height > verify->first)
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
	verify_wrong(verify, WFS_TABLE_VERSION, *vid, reason);
	*vid = end - 1;
}

int verify_versions(struct verify *verify)
{
	struct changes changes = {0};
	int r = 0;

	for (uint64_t vid = 1; !r && vid <= verify->last_vid; vid++) {
		struct wfs_version version;

		r = wfs_version_get(verify->view.txn, vid, &version);
		if (r == -ENOENT && !skip_dropped(verify, &changes, &vid))
			miss_versions(verify, &vid);
		else if (r == -EIO)
			verify_damaged(verify, WFS_TABLE_VERSION, vid);
		if (!r)
			r = check_version(verify, &changes, &version);
		else
			r = r == -ENOENT || r == -EIO ? 0 : verify_failed(verify, r, "a version");
		if (!r)
			r = verify_step(verify, "versions", vid, verify->last_vid);
	}
	if (!r)
		r = pass_height(verify, &changes, verify->height);
	if (!r)
		r = close_changes(verify, &changes);
	free(changes.items);
	return wfs_trace(r);
}
