/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, and the history that finds the version of a cell at a height. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

static struct row key_history(uint64_t cell_id, uint64_t height)
{
	struct row key = row_key_u64(cell_id);

	row_add_u64(&key, height);
	return key;
}

int wfs_history_put(struct wfs_txn *txn, uint64_t cell_id, uint64_t height, uint64_t vid)
{
	struct row key = key_history(cell_id, height);
	struct row row = row_key_u64(vid);

	return row_put(txn, WFS_TABLE_HISTORY, row_bytes(&key), &row, WFS_BYTES(NULL, 0), 0);
}

/* --- version --- */

enum { VERSION_TOMBSTONE = 1 << 0, VERSION_IN_FILE = 1 << 1 };

static int put(struct wfs_txn *txn, const struct wfs_version *version, unsigned int flags)
{
	struct row key = row_key_u64(version->vid);
	struct row row = row_key_u64(version->cell_id);

	row_add_u64(&row, version->prev_vid);
	row_add_u64(&row, version->height);
	row_add_u64(&row, version->size_bytes);
	row_add_u64(&row, (uint64_t)version->time_ns);
	row_add_hash(&row, &version->hash);
	row_add_byte(&row,
		(version->tombstone ? VERSION_TOMBSTONE : 0) |
			(version->in_file ? VERSION_IN_FILE : 0));
	return row_put(txn, WFS_TABLE_VERSION, row_bytes(&key), &row, version->bytes, flags);
}

int wfs_version_put(struct wfs_txn *txn, const struct wfs_version *version)
{
	return put(txn, version, MDB_APPEND);
}

int wfs_version_insert(struct wfs_txn *txn, const struct wfs_version *version)
{
	return put(txn, version, 0);
}

int wfs_version_get(struct wfs_txn *txn, uint64_t vid, struct wfs_version *ret_version)
{
	struct row key = row_key_u64(vid);
	struct wfs_bytes value;
	int r = row_get(txn, WFS_TABLE_VERSION, row_bytes(&key), &value);

	if (r == -ENOENT)
		row_absent(txn, WFS_TABLE_VERSION, vid);
	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	struct wfs_version version = {.vid = vid, .cell_id = row_take_u64(&reader)};
	version.prev_vid = row_take_u64(&reader);
	version.height = row_take_u64(&reader);
	version.size_bytes = row_take_u64(&reader);
	version.time_ns = (int64_t)row_take_u64(&reader);
	row_take(&reader, version.hash.bytes, sizeof(version.hash.bytes));
	uint8_t flags = row_take_byte(&reader);
	version.tombstone = flags & VERSION_TOMBSTONE;
	version.in_file = flags & VERSION_IN_FILE;
	version.bytes = row_rest_of(&reader);
	if (reader.bad || version.bytes.size != (version.in_file ? 0 : version.size_bytes) ||
		version.size_bytes > INT64_MAX || version.prev_vid >= vid)
		return row_bad(txn, WFS_TABLE_VERSION, row_bytes(&key));
	*ret_version = version;
	return 0;
}

int wfs_version_last(struct wfs_txn *txn, uint64_t *ret_vid)
{
	uint64_t vid;
	int r = row_edge_key(txn, WFS_TABLE_VERSION, MDB_LAST, 0, &vid);

	if (!r && vid > WFS_VID_MAX)
		r = wfs_row_bad(txn, WFS_TABLE_VERSION, vid);
	if (!r)
		*ret_vid = vid;
	return r;
}

int wfs_version_next_vid(struct wfs_txn *txn, uint64_t after, uint64_t *ret_vid)
{
	struct row wanted = row_key_u64(after + 1);
	struct wfs_bytes key = row_bytes(&wanted);
	struct wfs_bytes value;

	if (after >= WFS_VID_MAX)
		return -ENOENT;
	int r = row_seek(txn, WFS_TABLE_VERSION, MDB_SET_RANGE, &key, &value);
	struct row_reader reader = row_reader_of(key);
	const uint64_t vid = row_take_u64(&reader);
	/* The key of a damaged row is returned, too. */
	if (r && (r != -EIO || key.data == wanted.bytes))
		return r;
	if (reader.bad || vid <= after || vid > WFS_VID_MAX)
		return row_bad(txn, WFS_TABLE_VERSION, key);
	*ret_vid = vid;
	return 0;
}

int wfs_version_next(struct wfs_txn *txn, uint64_t after, struct wfs_version *ret_version)
{
	uint64_t vid;
	int r = wfs_version_next_vid(txn, after, &vid);

	return r ? r : wfs_version_get(txn, vid, ret_version);
}

int wfs_version_remove(struct wfs_txn *txn, const struct wfs_version *version)
{
	struct row key = row_key_u64(version->vid);
	struct row indexed = key_history(version->cell_id, version->height);
	struct wfs_bytes value;
	int r = row_get(txn, WFS_TABLE_HISTORY, row_bytes(&indexed), &value);

	if (!r) {
		struct row_reader reader = row_reader_of(value);

		/* A record can give a cell two versions; the row then is that of the later one. */
		if (row_take_u64(&reader) == version->vid)
			r = row_drop(txn, WFS_TABLE_HISTORY, row_bytes(&indexed));
	} else if (r == -ENOENT) {
		r = 0;
	}
	return r ? r : row_drop(txn, WFS_TABLE_VERSION, row_bytes(&key));
}

/* --- searching the history --- */

/* The vid to search backwards from: the nearest indexed version not before @height, or the head. */
static int history_start(struct wfs_txn *txn, uint64_t cell_id, uint64_t height, uint64_t *ret_vid)
{
	struct row wanted = key_history(cell_id, height);
	struct wfs_bytes key = row_bytes(&wanted);
	struct wfs_bytes value;
	struct wfs_cell cell;
	int r = row_seek(txn, WFS_TABLE_HISTORY, MDB_SET_RANGE, &key, &value);

	if (!r) {
		struct row_reader id = row_reader_of(key);
		struct row_reader reader = row_reader_of(value);

		if (row_take_u64(&id) == cell_id) {
			*ret_vid = row_take_u64(&reader);
			return id.bad || reader.bad ? row_bad(txn, WFS_TABLE_HISTORY, key) : 0;
		}
	} else if (r != -ENOENT) {
		return r;
	}
	r = wfs_cell_get(txn, cell_id, &cell);
	if (!r)
		*ret_vid = cell.head_vid;
	return r;
}

/* Gets a version that the cell's row, its history or its next version refers to. */
static int get_of_cell(
	struct wfs_txn *txn, uint64_t cell_id, uint64_t vid, struct wfs_version *ret_version)
{
	txn->cell_hint = cell_id;
	int r = wfs_version_get(txn, vid, ret_version);
	if (r == -ENOENT || (!r && ret_version->cell_id != cell_id))
		r = wfs_row_lost(txn, WFS_TABLE_VERSION, vid);
	txn->cell_hint = 0;
	return r;
}

int wfs_history_at(
	struct wfs_txn *txn, uint64_t cell_id, uint64_t height, struct wfs_version *ret_version)
{
	struct wfs_version version;
	uint64_t vid = 0;
	int r = history_start(txn, cell_id, height, &vid);

	while (!r && vid != 0) {
		r = get_of_cell(txn, cell_id, vid, &version);
		if (r)
			return r;
		if (version.height <= height) {
			*ret_version = version;
			return 0;
		}
		vid = version.prev_vid;
	}
	return r ? r : -ENOENT;
}
