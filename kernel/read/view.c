/* SPDX-License-Identifier: Apache-2.0 */
/* Reads at a height. */
#include "kernel/read/view.h"

#include <inttypes.h>

#include "kernel/base/damage.h"
#include "kernel/base/encode.h"
#include "kernel/store/row-name.h"

/* Is the height there, and not dropped? @head: the newest height in this transaction */
static int check_height(
	struct wfs_txn *txn, uint64_t head, uint64_t height, struct wfs_error *error)
{
	uint64_t first = 1;
	int r = height != WFS_HEIGHT_HEAD ? wfs_first_height_get(txn, &first) : 0;

	if (r)
		return wfs_error_from_errno(error, r, "read the journal's height");
	if (height > head)
		return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"height %llu is not reached yet, the head is %llu",
			(unsigned long long)height, (unsigned long long)head);
	if (height != WFS_HEIGHT_HEAD && height < first)
		return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"height %llu was dropped, the first that is kept is %llu",
			(unsigned long long)height, (unsigned long long)first);
	return 0;
}

int wfs_view_of(struct wfs_store *store, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	uint64_t head;
	int r = wfs_store_read(store, &txn);

	if (r == -EAGAIN)
		return wfs_error_set(error, WFS_E_OVERLOADED, "too many readers at once");
	if (!r)
		r = wfs_journal_height(txn, &head);
	if (r)
		return wfs_error_from_errno(error, r, "read the journal's height");
	r = wfs_view_within(store, txn, head, height, ret_view, error);
	if (r)
		return r;
	ret_view->txn_borrowed = false;
	(void)WFS_STEAL(txn);
	return 0;
}

int wfs_view_within(struct wfs_store *store, struct wfs_txn *txn, uint64_t head, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error)
{
	int r = check_height(txn, head, height, error);

	if (r)
		return r;
	*ret_view = (struct wfs_view){
		.store = store,
		.txn = txn,
		.txn_borrowed = true,
		.height = height == WFS_HEIGHT_HEAD ? head : height,
		.head = height == WFS_HEIGHT_HEAD || height == head,
	};
	return 0;
}

void wfs_view_close(struct wfs_view *view)
{
	if (!view->txn_borrowed)
		wfs_txn_end(view->txn);
	view->txn = NULL;
}

int wfs_view_then(const struct wfs_view *view, uint64_t height, struct wfs_view *ret_view)
{
	uint64_t first;
	int r = wfs_first_height_get(view->txn, &first);

	if (r)
		return wfs_trace(r);
	*ret_view = *view;
	ret_view->txn_borrowed = true;
	ret_view->height = height < first ? first : height;
	ret_view->head = false;
	return 0;
}

int wfs_view_manifest(struct wfs_view *view, struct wfs_version *ret_version)
{
	return wfs_history_at(view->txn,
		wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_MANIFEST), view->height,
		ret_version);
}

int wfs_view_meta(struct wfs_view *view, struct wfs_meta *ret_meta)
{
	const uint64_t snapshot = wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_SNAPSHOT);
	struct wfs_meta meta = {.journal_height = view->height};
	struct wfs_version version;
	struct wfs_cell cell;
	int r = wfs_view_manifest(view, &version);

	if (r == -ENOENT)
		r = wfs_row_lost(view->txn, WFS_TABLE_CELL,
			wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_MANIFEST));
	if (r)
		return wfs_trace(r);
	meta.manifest_hash = version.hash;
	r = wfs_history_at(view->txn, snapshot, view->height, &version);
	/* The first heights show no snapshot, but the cell exists: making a world makes a
	 * snapshot. */
	if (r == -ENOENT && wfs_cell_get(view->txn, snapshot, &cell) == -ENOENT)
		r = wfs_row_lost(view->txn, WFS_TABLE_CELL, snapshot);
	if (r && r != -ENOENT)
		return wfs_trace(r);
	if (!r) {
		meta.has_snapshot = true;
		r = wfs_hash_parse(
			version.bytes.data, version.bytes.size, &meta.snapshot_hash, NULL);
		if (r)
			return wfs_trace(-EIO);
	}
	*ret_meta = meta;
	return 0;
}

int wfs_view_reducer(
	struct wfs_view *view, const char *name, size_t name_size, struct wfs_reducer *ret_reducer)
{
	struct wfs_reducer reducer;
	int r = wfs_reducer_get(view->txn, name, name_size, &reducer);

	if (r)
		return r;
	if (reducer.created_height > view->height)
		return -ENOENT;
	*ret_reducer = reducer;
	return 0;
}

int wfs_view_builtin(
	struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_reducer *ret_reducer)
{
	const char *const name = wfs_builtin_reducer_name(builtin);
	int r = wfs_view_reducer(view, name, strlen(name), ret_reducer);

	if (r == -ENOENT && !wfs_builtin_reducer_late(builtin)) { /* its row is damaged */
		wfs_damage_note("reducer '%s' is missing", name);
		return -EIO;
	}
	return r;
}

int wfs_view_reducer_by_id(
	struct wfs_view *view, uint32_t reducer_id, struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes name;
	int r = wfs_reducer_name(view->txn, reducer_id, &name);

	return r ? r : wfs_view_reducer(view, name.data, name.size, ret_reducer);
}

int wfs_view_reducer_next(struct wfs_view *view, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer)
{
	int r = wfs_reducer_next(view->txn, after, ret_name, ret_reducer);

	/* Ids rise with the height that made them. */
	if (!r && ret_reducer->created_height > view->height)
		r = -ENOENT;
	return r;
}

int wfs_view_reducer_next_name(struct wfs_view *view, struct wfs_bytes after,
	struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer)
{
	for (;;) {
		int r = wfs_reducer_next_name(view->txn, after, ret_name, ret_reducer);

		if (r || ret_reducer->created_height <= view->height)
			return r;
		after = *ret_name;
	}
}

int wfs_view_cell(struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes key,
	struct wfs_version *ret_version)
{
	struct wfs_version version;
	uint64_t cell_id;
	struct wfs_cell cell;
	int r = wfs_cell_find(view->txn, reducer_id, key, &cell_id);

	if (r)
		return r;
	r = wfs_history_at(view->txn, cell_id, view->height, &version);
	if (r == -ENOENT && wfs_cell_get(view->txn, cell_id, &cell) == -ENOENT)
		return wfs_row_needed(view->txn, -ENOENT); /* a name leads to it */
	if (!r && version.tombstone)
		r = -ENOENT;
	if (!r)
		*ret_version = version;
	return r;
}

int wfs_view_version(struct wfs_view *view, uint64_t vid, struct wfs_version *ret_version)
{
	return wfs_version_get(view->txn, vid, ret_version);
}

int wfs_view_name(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_bytes *ret_reducer, struct wfs_bytes *ret_key)
{
	struct wfs_cell cell;
	int r = wfs_cell_get(view->txn, version->cell_id, &cell);

	if (!r)
		r = wfs_reducer_name(view->txn, wfs_cell_reducer(version->cell_id), ret_reducer);
	if (!r)
		*ret_key = cell.key;
	return r;
}

/* Finds the id of a cell of a built-in reducer. */
static int find_builtin_cell(struct wfs_view *view, enum wfs_builtin_reducer builtin,
	struct wfs_bytes key, uint64_t *ret_cell_id)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	return r ? r : wfs_cell_find(view->txn, reducer.reducer_id, key, ret_cell_id);
}

int wfs_view_number(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	uint64_t *ret_number)
{
	uint64_t cell_id;
	int r = find_builtin_cell(view, builtin, key, &cell_id);

	if (!r)
		*ret_number = wfs_cell_ordinal(cell_id);
	return r;
}

int wfs_view_key(struct wfs_view *view, enum wfs_builtin_reducer builtin, uint64_t number,
	struct wfs_bytes *ret_key)
{
	struct wfs_reducer reducer;
	struct wfs_cell cell;
	int r = wfs_view_builtin(view, builtin, &reducer);

	if (!r)
		r = wfs_cell_get(view->txn, wfs_cell_id(reducer.reducer_id, number), &cell);
	if (!r)
		*ret_key = cell.key;
	return r;
}

int wfs_view_newest(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	struct wfs_version *ret_version)
{
	struct wfs_cell cell;
	uint64_t cell_id;
	int r = find_builtin_cell(view, builtin, key, &cell_id);

	if (r)
		return r;
	r = wfs_cell_get(view->txn, cell_id, &cell);
	if (!r)
		r = wfs_version_get(view->txn, cell.head_vid, ret_version);
	return wfs_row_needed(view->txn, r);
}

int wfs_view_is_of(
	struct wfs_view *view, const struct wfs_version *version, enum wfs_builtin_reducer builtin)
{
	const uint32_t reducer_id = wfs_cell_reducer(version->cell_id);
	const char *const wanted = wfs_builtin_reducer_name(builtin);
	struct wfs_bytes name;

	if (reducer_id == WFS_REDUCER_ID_KERNEL)
		return 0;
	int r = wfs_reducer_name(view->txn, reducer_id, &name);
	return r ? r : name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0;
}

int wfs_entry_walk_init(
	struct wfs_entry_walk *walk, struct wfs_view *view, uint32_t reducer_id, uint64_t after_id)
{
	walk->view = view;
	return wfs_cell_walk_init(&walk->cells, view->txn, reducer_id, after_id);
}

/* Return: 1 and an entry, 0 (the cell is not live in the view), or -errno. */
static int entry_of(struct wfs_view *view, const struct wfs_cell *cell, struct wfs_entry *ret_entry)
{
	struct wfs_version version;

	if (cell->head_height <= view->height) {
		if (cell->live)
			*ret_entry = (struct wfs_entry){cell->cell_id, cell->head_vid,
				cell->head_height, cell->size_bytes, cell->time_ns, cell->key};
		return cell->live;
	}
	if (cell->created_height > view->height)
		return 0;
	int r = wfs_history_at(view->txn, cell->cell_id, view->height, &version);
	if (r || version.tombstone)
		return r;
	*ret_entry = (struct wfs_entry){cell->cell_id, version.vid, version.height,
		version.size_bytes, version.time_ns, cell->key};
	return 1;
}

int wfs_view_entry(struct wfs_view *view, uint64_t cell_id, struct wfs_entry *ret_entry)
{
	struct wfs_cell cell;
	int r = wfs_cell_get(view->txn, cell_id, &cell);

	return r ? r : entry_of(view, &cell, ret_entry);
}

int wfs_entry_walk_next(struct wfs_entry_walk *walk, struct wfs_entry *ret_entry)
{
	struct wfs_cell cell;
	int r;

	for (;;) {
		r = wfs_cell_walk_next(&walk->cells, &cell);
		/* Cells are numbered in the order of their creation: no later one is older. */
		if (r <= 0 || cell.created_height > walk->view->height)
			return r <= 0 ? r : 0;
		r = entry_of(walk->view, &cell, ret_entry);
		if (r)
			return r;
	}
}

void wfs_entry_walk_done(struct wfs_entry_walk *walk)
{
	wfs_cell_walk_done(&walk->cells);
}

int wfs_view_next_key(struct wfs_view *view, uint32_t reducer_id, const struct wfs_bytes *after,
	struct wfs_bytes *ret_key, struct wfs_version *ret_version)
{
	struct wfs_bytes from = after ? *after : WFS_BYTES(NULL, 0);
	const struct wfs_bytes *position = after;

	for (;;) {
		struct wfs_version version;
		uint64_t cell_id;
		int r = wfs_cell_find_next(view->txn, reducer_id, position, &from, &cell_id);

		if (r)
			return r;
		position = &from;
		r = wfs_history_at(view->txn, cell_id, view->height, &version);
		if (r == -ENOENT || (!r && version.tombstone))
			continue;
		if (r)
			return r;
		*ret_key = from;
		*ret_version = version;
		return 0;
	}
}

int wfs_view_blob_content(struct wfs_view *view, const struct wfs_blob *blob,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error)
{
	WFS_AUTO_CONTENT struct wfs_content found = {0};
	int r = wfs_value_read(view->store, blob, range, &found.read, &found.bytes, error);

	if (r)
		return wfs_trace(r);
	*ret_content = found;
	found = (struct wfs_content){0};
	return 0;
}

int wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error)
{
	const struct wfs_blob value = wfs_version_value(version);

	if (version->tombstone)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "the cell is deleted");
	int r = wfs_view_blob_content(view, &value, range, ret_content, error);
	return r == -EIO ? wfs_row_name_error(view->txn, WFS_TABLE_VERSION, version->vid, error)
			 : r;
}

int wfs_view_blob_listed(struct wfs_view *view, uint64_t listed_id, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing)
{
	struct wfs_blob_listing listing;
	int r = wfs_blob_listing_get(view->txn, listed_id, &listing);

	if (!r && listing.height > view->height)
		r = -ENOENT;
	if (r)
		return r;
	r = wfs_blob_get(view->txn, &listing.hash, ret_blob);
	if (r)
		return r == -ENOENT ? -EIO : r; /* what is listed stays */
	*ret_listing = listing;
	return 0;
}

int wfs_view_blob(struct wfs_view *view, const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing)
{
	struct wfs_blob blob;
	int r = wfs_blob_get(view->txn, hash, &blob);

	if (!r && blob.listed_id == 0)
		r = -ENOENT;
	return r ? r : wfs_view_blob_listed(view, blob.listed_id, ret_blob, ret_listing);
}

int wfs_view_blob_last(struct wfs_view *view, uint64_t *ret_listed_id)
{
	return wfs_blob_listing_last(view->txn, ret_listed_id);
}

int wfs_view_record(struct wfs_view *view, uint64_t seq, struct wfs_bytes *ret_line)
{
	struct wfs_journal_cut cut;
	uint64_t offset;

	if (seq >= view->height)
		return -ENOENT;
	int r = wfs_journal_get(view->txn, seq, &offset, ret_line);
	if (r != -ENOENT)
		return r;
	r = wfs_journal_cut_get(view->txn, &cut);
	if (r || seq < cut.first_seq)
		return r ? r : -ENOENT;
	return wfs_row_lost(view->txn, WFS_TABLE_JOURNAL, seq); /* the journal has no gaps */
}

int wfs_view_record_time(struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns)
{
	static const char prefix[] = "{\"at_ns\":";
	const size_t prefix_size = sizeof(prefix) - 1;
	struct wfs_journal_cut cut;
	struct wfs_bytes line;
	uint64_t at_ns;
	int r = wfs_journal_cut_get(view->txn, &cut);

	if (!r && seq < cut.first_seq) {
		*ret_at_ns = cut.genesis_ns;
		return 0;
	}
	if (!r)
		r = wfs_view_record(view, seq, &line);
	if (r)
		return r;
	const char *text = line.data;
	if (line.size <= prefix_size || memcmp(text, prefix, prefix_size) != 0 ||
		!wfs_decimal_read(text + prefix_size, line.size - prefix_size, &at_ns) ||
		at_ns > INT64_MAX)
		return wfs_row_bad(view->txn, WFS_TABLE_JOURNAL, seq);
	*ret_at_ns = (int64_t)at_ns;
	return 0;
}

int wfs_view_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log)
{
	struct wfs_view_log log = {.cut = number};
	struct wfs_journal_cut cut;
	struct wfs_bytes line;
	uint64_t offset;
	int r = wfs_journal_cut_get(view->txn, &cut);

	if (!r && number == WFS_LOG_NOW)
		log.cut = cut.count % WFS_JOURNAL_CUTS_MAX;
	log.first_seq = cut.first_seq;
	if (!r)
		r = wfs_journal_begin_of(view->txn, log.cut, &log.begin);
	if (!r)
		r = wfs_journal_get(view->txn, view->height - 1, &offset, &line);
	if (r)
		return r;
	log.end = offset + line.size;
	*ret_log = log;
	return 0;
}

/* Reads bytes before the kept lines, which the baseline has changed, and which a reader of an older
 * file of the log knows: the end of them, which is in a page with bytes that are kept.
 * @offset: counts from record 0; moves on. Return: 0, -ENOENT (dropped), -EIO. */
static int read_dropped(struct wfs_view *view, const struct wfs_view_log *log, uint64_t *offset,
	size_t *size, struct wfs_buffer *buffer)
{
	struct wfs_journal_tail tail;
	struct wfs_journal_cut cut;
	struct wfs_bytes line;
	uint64_t start;
	int r = wfs_journal_cut_get(view->txn, &cut);

	if (r || log->cut == cut.count % WFS_JOURNAL_CUTS_MAX)
		return r;
	r = wfs_journal_get(view->txn, cut.first_seq, &start, &line);
	const uint64_t kept = r ? 0 : start + line.size;
	if (r || *offset >= kept)
		return r;
	r = wfs_journal_tail(view->txn, &tail);
	if (r)
		return r;
	const uint64_t from = kept - tail.bytes.size;
	const bool is_last = log->cut == (cut.count - 1) % WFS_JOURNAL_CUTS_MAX;
	if (*offset < from || (!is_last && *offset < tail.same_from))
		return -ENOENT;
	const size_t left = (size_t)(kept - *offset);
	const size_t part = left < *size ? left : *size;
	wfs_buffer_append(buffer, (const char *)tail.bytes.data + (*offset - from), part);
	*offset += part;
	*size -= part;
	return 0;
}

int wfs_view_log_read(struct wfs_view *view, const struct wfs_view_log *log, uint64_t offset,
	size_t size, struct wfs_buffer *buffer)
{
	const size_t begin = buffer->size;
	uint64_t seq;

	if (offset > UINT64_MAX - log->begin)
		return 0;
	offset += log->begin;
	int r = read_dropped(view, log, &offset, &size, buffer);
	if (r)
		return r;
	r = wfs_journal_at_offset(view->txn, offset, &seq);
	for (; !r && size > 0 && seq < view->height; seq++) {
		struct wfs_bytes line;
		uint64_t start;

		r = wfs_journal_get(view->txn, seq, &start, &line);
		if (!r && (offset < start || offset - start >= line.size))
			r = wfs_row_bad(view->txn, WFS_TABLE_JOURNAL, seq);
		if (r)
			break;
		size_t skip = (size_t)(offset - start);
		size_t part = line.size - skip < size ? line.size - skip : size;
		wfs_buffer_append(buffer, (const char *)line.data + skip, part);
		offset += part;
		size -= part;
	}
	if (r == -ENOENT) /* @offset is at the end, or after it: nothing to read */
		return 0;
	if (r == -EIO && buffer->size > begin) /* the next read begins at the damage and fails */
		r = 0;
	return r ? r : wfs_buffer_check(buffer);
}
