/* SPDX-License-Identifier: Apache-2.0 */
/* Cells, by number and by name; walking those of a reducer. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

/* Key of cell_by_name: at most 4 + WFS_KEY_SIZE_MAX bytes, below LMDB's 511. */
struct name_key {
	uint8_t bytes[4 + WFS_KEY_SIZE_MAX];
	size_t size;
};

static int name_key_of(uint32_t reducer_id, struct wfs_bytes key, struct name_key *ret)
{
	struct row id = row_key_u32(reducer_id);

	if (key.size > WFS_KEY_SIZE_MAX)
		return -ENOENT;
	memcpy(ret->bytes, id.bytes, id.size);
	if (key.size)
		memcpy(ret->bytes + id.size, key.data, key.size);
	ret->size = id.size + key.size;
	return 0;
}

int wfs_cell_name_put(
	struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes key, uint64_t cell_id)
{
	struct row row = row_key_u64(cell_id);
	struct name_key name;

	if (name_key_of(reducer_id, key, &name))
		return -EFBIG;
	return row_put(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size), &row,
		WFS_BYTES(NULL, 0), 0);
}

int wfs_cell_find(
	struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes key, uint64_t *ret_cell_id)
{
	struct name_key name;
	struct wfs_bytes value;
	int r = name_key_of(reducer_id, key, &name);

	if (!r)
		r = row_find(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size), &value);
	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	uint64_t cell_id = row_take_u64(&reader);
	if (reader.bad || wfs_cell_reducer(cell_id) != reducer_id)
		return row_bad(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size));
	*ret_cell_id = cell_id;
	return 0;
}

int wfs_cell_find_next(struct wfs_txn *txn, uint32_t reducer_id, const struct wfs_bytes *after,
	struct wfs_bytes *ret_key, uint64_t *ret_cell_id)
{
	struct name_key from;
	struct wfs_bytes value;
	int r = name_key_of(reducer_id, after ? *after : WFS_BYTES(NULL, 0), &from);

	if (r)
		return r;
	struct wfs_bytes wanted = WFS_BYTES(from.bytes, from.size);
	struct wfs_bytes key = wanted;
	r = row_seek_first(txn, WFS_TABLE_CELL_BY_NAME, &key, &value);
	if (!r && after && wfs_bytes_equal(key, wanted))
		r = row_seek(txn, WFS_TABLE_CELL_BY_NAME, MDB_NEXT, &key, &value);
	if (r)
		return r;
	struct row_reader name = row_reader_of(key);
	struct row_reader reader = row_reader_of(value);
	uint32_t found = row_take_u32(&name);
	uint64_t cell_id = row_take_u64(&reader);
	if (name.bad || reader.bad)
		return row_bad(txn, WFS_TABLE_CELL_BY_NAME, key);
	if (found != reducer_id)
		return -ENOENT;
	if (wfs_cell_reducer(cell_id) != reducer_id)
		return row_bad(txn, WFS_TABLE_CELL_BY_NAME, key);
	*ret_key = row_rest_of(&name);
	*ret_cell_id = cell_id;
	return 0;
}

enum { CELL_LIVE = 1 << 0, CELL_REMOVED = 1 << 1 };

int wfs_cell_put(struct wfs_txn *txn, const struct wfs_cell *cell)
{
	struct row key = row_key_u64(cell->cell_id);
	struct row row = row_key_u64(cell->head_vid);

	row_add_u64(&row, cell->head_height);
	row_add_u64(&row, cell->created_height);
	row_add_u64(&row, cell->version_count);
	row_add_u64(&row, cell->size_bytes);
	row_add_u64(&row, (uint64_t)cell->time_ns);
	row_add_byte(&row, cell->live ? CELL_LIVE : 0);
	return row_put(txn, WFS_TABLE_CELL, row_bytes(&key), &row, cell->key, 0);
}

static int cell_decode(struct wfs_bytes key, struct wfs_bytes value, struct wfs_cell *ret_cell)
{
	struct row_reader id = row_reader_of(key);
	struct row_reader reader = row_reader_of(value);
	struct wfs_cell cell = {.cell_id = row_take_u64(&id), .head_vid = row_take_u64(&reader)};

	cell.head_height = row_take_u64(&reader);
	cell.created_height = row_take_u64(&reader);
	cell.version_count = row_take_u64(&reader);
	cell.size_bytes = row_take_u64(&reader);
	cell.time_ns = (int64_t)row_take_u64(&reader);
	uint8_t flags = row_take_byte(&reader);
	cell.live = flags & CELL_LIVE;
	cell.key = row_rest_of(&reader);
	if (id.bad || reader.bad || cell.key.size > WFS_KEY_SIZE_MAX ||
		cell.size_bytes > INT64_MAX || cell.head_vid > WFS_VID_MAX ||
		wfs_cell_reducer(cell.cell_id) > WFS_REDUCER_ID_MAX)
		return -EIO;
	if (flags & CELL_REMOVED)
		return -ENOENT;
	*ret_cell = cell;
	return 0;
}

int wfs_cell_get(struct wfs_txn *txn, uint64_t cell_id, struct wfs_cell *ret_cell)
{
	struct row key = row_key_u64(cell_id);
	struct wfs_bytes value;
	int r = row_get(txn, WFS_TABLE_CELL, row_bytes(&key), &value);

	if (r == -ENOENT)
		row_absent(txn, WFS_TABLE_CELL, cell_id);
	if (r)
		return r;
	r = cell_decode(row_bytes(&key), value, ret_cell);
	return r == -EIO ? row_bad(txn, WFS_TABLE_CELL, row_bytes(&key)) : r;
}

/* Gets the id of the reducer's newest cell. */
static int last_cell(struct wfs_txn *txn, uint32_t reducer_id, uint64_t *ret_id)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	uint64_t count = 0;
	int r = wfs_reducer_name(txn, reducer_id, &name);

	if (!r)
		r = wfs_reducer_get(txn, name.data, name.size, &reducer);
	if (!r)
		r = row_count(txn, WFS_TABLE_CELL, &count);
	if (r)
		return r;
	/* Removed cells keep their rows, so there are at least as many rows as ordinals. */
	if (reducer.cell_count > count)
		return row_bad(txn, WFS_TABLE_REDUCER, name);
	*ret_id = wfs_cell_id(reducer_id, reducer.cell_count);
	return 0;
}

int wfs_cell_walk_init(
	struct wfs_cell_walk *walk, struct wfs_txn *txn, uint32_t reducer_id, uint64_t after_id)
{
	const uint64_t first = wfs_cell_id(reducer_id, 1);
	MDB_cursor *cursor;
	uint64_t last_id = 0;
	int r = last_cell(txn, reducer_id, &last_id);

	if (r && r != -ENOENT)
		return r;
	r = row_cursor_open(txn, WFS_TABLE_CELL, &cursor);
	if (r)
		return r;
	*walk = (struct wfs_cell_walk){
		.cursor = cursor,
		.txn = txn,
		.reducer_id = reducer_id,
		.next_id = after_id < first ? first : after_id + (after_id < UINT64_MAX),
		.last_id = last_id,
	};
	return 0;
}

/* The walk has met no further row of the reducer. */
static int end_walk(const struct wfs_cell_walk *walk)
{
	return walk->last_id && walk->next_id <= walk->last_id
		? wfs_row_lost(walk->txn, WFS_TABLE_CELL, walk->next_id)
		: 0;
}

/* Passes a damaged row. Its key may be damaged, too, so it counts as a row of the reducer as long
 * as rows of that are missing. */
static int skip_row(struct wfs_cell_walk *walk, uint64_t cell_id)
{
	if (walk->last_id ? walk->next_id > walk->last_id
			  : wfs_cell_reducer(cell_id) != walk->reducer_id)
		return 0;
	walk->next_id++;
	walk->row_damaged = true;
	return -EIO;
}

/* Moves by one row. Return: 1 and a cell, -ENOENT for a removed cell, 0 at the end, or -errno. */
static int walk_row(struct wfs_cell_walk *walk, struct wfs_cell *ret_cell)
{
	const struct row_cursor cursor = {walk->txn, WFS_TABLE_CELL, walk->cursor};
	struct row row = row_key_u64(walk->positioned ? walk->next_id - 1 : walk->next_id);
	struct wfs_bytes key = row_bytes(&row);
	struct wfs_bytes value;
	int r = row_cursor_move(&cursor, walk->positioned ? MDB_NEXT : MDB_SET_RANGE, &key, &value);

	walk->row_damaged = false;
	if (r == -ENOENT)
		return end_walk(walk);
	if (r && r != -EBADMSG)
		return r;
	walk->positioned = true;
	struct row_reader reader = row_reader_of(key);
	const uint64_t cell_id = row_take_u64(&reader);
	if (r)
		return skip_row(walk, cell_id);
	/* The caller's @after_id may be beyond the reducer's last cell. */
	if (wfs_cell_reducer(cell_id) != walk->reducer_id)
		return end_walk(walk);
	const uint64_t missed = walk->last_id && cell_id != walk->next_id ? walk->next_id : 0;
	walk->next_id = cell_id + 1;
	r = cell_decode(key, value, ret_cell);
	walk->row_damaged = r == -EIO || missed;
	if (walk->row_damaged)
		return missed ? wfs_row_lost(walk->txn, WFS_TABLE_CELL, missed)
			      : row_bad(walk->txn, WFS_TABLE_CELL, key);
	return r ? r : 1;
}

int wfs_cell_walk_next(struct wfs_cell_walk *walk, struct wfs_cell *ret_cell)
{
	int r;

	do
		r = walk_row(walk, ret_cell);
	while (r == -ENOENT);
	return r;
}

void wfs_cell_walk_done(struct wfs_cell_walk *walk)
{
	if (walk->cursor)
		mdb_cursor_close(walk->cursor);
	walk->cursor = NULL;
}

int wfs_cell_put_removed(struct wfs_txn *txn, uint64_t cell_id)
{
	struct row key = row_key_u64(cell_id);
	struct row row = row_key_u64(0);

	for (size_t i = 0; i < 5; i++)
		row_add_u64(&row, 0);
	row_add_byte(&row, CELL_REMOVED);
	return row_put(txn, WFS_TABLE_CELL, row_bytes(&key), &row, WFS_BYTES(NULL, 0), 0);
}

int wfs_cell_remove(struct wfs_txn *txn, uint64_t cell_id)
{
	struct name_key name;
	struct wfs_cell cell;
	int r = wfs_cell_get(txn, cell_id, &cell);

	if (!r)
		r = name_key_of(wfs_cell_reducer(cell_id), cell.key, &name);
	if (!r)
		r = row_drop(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size));
	/* The row stays, without a key: ordinals have no gaps, so that a lost row is noticed. */
	return r ? r : wfs_cell_put_removed(txn, cell_id);
}
