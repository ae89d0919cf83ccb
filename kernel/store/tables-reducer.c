/* SPDX-License-Identifier: Apache-2.0 */
/* Reducers, by name and by number. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

int wfs_reducer_put(struct wfs_txn *txn, const char *name, const struct wfs_reducer *reducer)
{
	struct row key = row_key_u32(reducer->reducer_id);
	struct row row = row_key_u32(reducer->reducer_id);

	row_add_byte(&row, reducer->keyed);
	row_add_u64(&row, reducer->created_height);
	row_add_u64(&row, reducer->live_count);
	row_add_u64(&row, reducer->cell_count);
	row_add_u64(&row, (uint64_t)reducer->names_ns);
	int r = row_put(txn, WFS_TABLE_REDUCER, wfs_bytes_text(name), &row, WFS_BYTES(NULL, 0), 0);
	if (r)
		return r;
	return row_put(txn, WFS_TABLE_REDUCER_NAME, row_bytes(&key), &(struct row){.size = 0},
		wfs_bytes_text(name), 0);
}

static int reducer_decode(struct wfs_bytes value, struct wfs_reducer *ret_reducer)
{
	struct row_reader reader = row_reader_of(value);
	struct wfs_reducer reducer = {.reducer_id = row_take_u32(&reader)};

	reducer.keyed = row_take_byte(&reader);
	reducer.created_height = row_take_u64(&reader);
	reducer.live_count = row_take_u64(&reader);
	reducer.cell_count = row_take_u64(&reader);
	reducer.names_ns = (int64_t)row_take_u64(&reader);
	if (reader.bad || reducer.reducer_id == WFS_REDUCER_ID_KERNEL ||
		reducer.reducer_id > WFS_REDUCER_ID_MAX ||
		reducer.live_count >> WFS_CELL_ORDINAL_BITS ||
		reducer.cell_count >> WFS_CELL_ORDINAL_BITS)
		return -EIO;
	*ret_reducer = reducer;
	return 0;
}

/* Two names must not have the same id: callers would meet that id again and again. */
static int checked_reducer(struct wfs_txn *txn, struct wfs_bytes name, struct wfs_bytes value,
	struct wfs_reducer *ret_reducer)
{
	struct wfs_reducer reducer;
	struct wfs_bytes known;
	int r = reducer_decode(value, &reducer);

	if (r)
		return row_bad(txn, WFS_TABLE_REDUCER, name);
	r = wfs_reducer_name(txn, reducer.reducer_id, &known);
	if (r && r != -ENOENT)
		return r;
	if (r || !wfs_bytes_equal(known, name))
		return row_bad(txn, WFS_TABLE_REDUCER, name);
	*ret_reducer = reducer;
	return 0;
}

int wfs_reducer_get(
	struct wfs_txn *txn, const char *name, size_t name_size, struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes value;

	if (name_size == 0 || name_size > WFS_KEY_SIZE_MAX)
		return -ENOENT; /* LMDB would call these bad keys */
	int r = row_find(txn, WFS_TABLE_REDUCER, WFS_BYTES(name, name_size), &value);
	return r ? r : checked_reducer(txn, WFS_BYTES(name, name_size), value, ret_reducer);
}

int wfs_reducer_next_name(struct wfs_txn *txn, struct wfs_bytes after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes key = after;
	struct wfs_bytes value;
	int r = row_seek(
		txn, WFS_TABLE_REDUCER, after.size ? MDB_SET_RANGE : MDB_FIRST, &key, &value);

	if (!r && after.size && wfs_bytes_equal(key, after))
		r = row_seek(txn, WFS_TABLE_REDUCER, MDB_NEXT, &key, &value);
	if (!r)
		r = checked_reducer(txn, key, value, ret_reducer);
	if (r)
		return r;
	*ret_name = key;
	return 0;
}

int wfs_reducer_next(struct wfs_txn *txn, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes name;
	uint64_t count;

	if (after >= WFS_REDUCER_ID_MAX)
		return -ENOENT;
	/* Ids have no gaps. */
	int r = row_count(txn, WFS_TABLE_REDUCER_NAME, &count);
	if (!r && after >= count)
		return -ENOENT;
	if (!r)
		r = wfs_reducer_name(txn, after + 1, &name);
	if (!r)
		r = wfs_reducer_get(txn, name.data, name.size, ret_reducer);
	/* A name with another id would lead the caller round in circles. */
	if (!r && ret_reducer->reducer_id != after + 1)
		r = wfs_row_bad(txn, WFS_TABLE_REDUCER_NAME, after + 1);
	if (r)
		return r == -ENOENT ? wfs_row_lost(txn, WFS_TABLE_REDUCER_NAME, after + 1) : r;
	*ret_name = name;
	return 0;
}

int wfs_reducer_name(struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes *ret_name)
{
	struct row key = row_key_u32(reducer_id);

	return row_get(txn, WFS_TABLE_REDUCER_NAME, row_bytes(&key), ret_name);
}
