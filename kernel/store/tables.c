/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to bytes and back, and the look-ups on them. */
#include "kernel/store/tables.h"

#include <endian.h>
#include <xxhash.h>

#include "kernel/store/store-impl.h"

/* No row is as large: a damaged size shall not lead far out of the file. */
enum { ROW_SIZE_MAX = 64 << 20 };

/* A row under construction or being read: fixed fields first, then free bytes. */
struct row {
	uint8_t bytes[128];
	size_t size;
};

static void add_u64(struct row *row, uint64_t value)
{
	uint64_t big = htobe64(value);

	wfs_require(row->size + sizeof(big) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, &big, sizeof(big));
	row->size += sizeof(big);
}

static void add_u32(struct row *row, uint32_t value)
{
	uint32_t big = htobe32(value);

	wfs_require(row->size + sizeof(big) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, &big, sizeof(big));
	row->size += sizeof(big);
}

static void add_byte(struct row *row, uint8_t value)
{
	wfs_require(row->size < sizeof(row->bytes));
	row->bytes[row->size++] = value;
}

static void add_hash(struct row *row, const struct wfs_hash *hash)
{
	wfs_require(row->size + sizeof(hash->bytes) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, hash->bytes, sizeof(hash->bytes));
	row->size += sizeof(hash->bytes);
}

/* Reading; `left` shrinks. A row that is too short sets `bad` and gives zeros. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static bool take(struct reader *reader, void *ret, size_t size)
{
	if (reader->left < size) {
		reader->bad = true;
		memset(ret, 0, size);
		return false;
	}
	memcpy(ret, reader->at, size);
	reader->at += size;
	reader->left -= size;
	return true;
}

static uint64_t take_u64(struct reader *reader)
{
	uint64_t big;

	take(reader, &big, sizeof(big));
	return be64toh(big);
}

static uint32_t take_u32(struct reader *reader)
{
	uint32_t big;

	take(reader, &big, sizeof(big));
	return be32toh(big);
}

static uint8_t take_byte(struct reader *reader)
{
	uint8_t byte;

	take(reader, &byte, sizeof(byte));
	return byte;
}

static struct reader reader_of(struct wfs_bytes bytes)
{
	return (struct reader){.at = bytes.data, .left = bytes.size};
}

static struct wfs_bytes rest_of(const struct reader *reader)
{
	return WFS_BYTES(reader->at, reader->left);
}

static MDB_val val_of(struct wfs_bytes bytes)
{
	/* LMDB does not write through keys and data of these calls. */
	return (MDB_val){.mv_size = bytes.size, .mv_data = (void *)(uintptr_t)bytes.data};
}

static struct wfs_bytes bytes_of(MDB_val val)
{
	return WFS_BYTES(val.mv_data, val.mv_size);
}

static struct wfs_bytes row_bytes(const struct row *row)
{
	return WFS_BYTES(row->bytes, row->size);
}

void wfs_row_seal(enum wfs_table table, struct wfs_bytes key, struct wfs_bytes value,
	uint8_t ret_seal[static WFS_SEAL_SIZE])
{
	const uint64_t seed = XXH3_64bits_withSeed(key.data, key.size, table);
	const uint64_t seal = htobe64(XXH3_64bits_withSeed(value.data, value.size, seed));

	memcpy(ret_seal, &seal, sizeof(seal));
}

/* Takes the seal off a value that was read. Return: 0, or -EIO when it does not fit. */
static int unseal(enum wfs_table table, MDB_val key, MDB_val sealed, struct wfs_bytes *ret_value)
{
	uint8_t seal[WFS_SEAL_SIZE];

	if (sealed.mv_size < WFS_SEAL_SIZE || sealed.mv_size > ROW_SIZE_MAX)
		return -EIO;
	const struct wfs_bytes value = WFS_BYTES(sealed.mv_data, sealed.mv_size - WFS_SEAL_SIZE);
	wfs_row_seal(table, bytes_of(key), value, seal);
	if (memcmp(seal, (const uint8_t *)value.data + value.size, WFS_SEAL_SIZE) != 0)
		return -EIO;
	*ret_value = value;
	return 0;
}

static int get(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value)
{
	MDB_val k = val_of(key);
	MDB_val v;
	int r = wfs_store_error(mdb_get(txn->mdb, wfs_store_table(txn->store, table), &k, &v));

	return r ? r : unseal(table, k, v, ret_value);
}

/* Writes the fixed part, `tail` and the seal as one value, without joining them first. */
static int put(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	const struct row *row, struct wfs_bytes tail, unsigned int flags)
{
	MDB_val k = val_of(key);
	MDB_val v = {.mv_size = row->size + tail.size + WFS_SEAL_SIZE};
	int r = mdb_put(txn->mdb, wfs_store_table(txn->store, table), &k, &v, flags | MDB_RESERVE);

	if (r)
		return wfs_store_error(r);
	memcpy(v.mv_data, row->bytes, row->size);
	if (tail.size)
		memcpy((uint8_t *)v.mv_data + row->size, tail.data, tail.size);
	wfs_row_seal(table, key, WFS_BYTES(v.mv_data, row->size + tail.size),
		(uint8_t *)v.mv_data + row->size + tail.size);
	return 0;
}

/* Moves the table's cursor; the key goes in through @key and comes back through it, also when the
 * row is damaged. */
static int seek(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value)
{
	MDB_cursor *cursor;
	MDB_val k = val_of(*key);
	MDB_val v;
	int r = wfs_txn_cursor(txn, table, &cursor);

	if (r)
		return r;
	r = wfs_store_error(mdb_cursor_get(cursor, &k, &v, op));
	if (r)
		return r;
	*key = bytes_of(k);
	return unseal(table, k, v, ret_value);
}

static int drop(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	MDB_val k = val_of(key);

	return wfs_store_error(mdb_del(txn->mdb, wfs_store_table(txn->store, table), &k, NULL));
}

/* The u64 key of a table's last or first row; @when_empty when there is none. */
static int edge_key(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op,
	uint64_t when_empty, uint64_t *ret_key)
{
	struct wfs_bytes key = {0};
	struct wfs_bytes value;
	int r = seek(txn, table, op, &key, &value);

	if (r == -ENOENT) {
		*ret_key = when_empty;
		return 0;
	}
	if (r)
		return r;
	struct reader reader = reader_of(key);
	*ret_key = take_u64(&reader);
	return reader.bad ? -EIO : 0;
}

/* --- meta --- */

int wfs_meta_put(struct wfs_txn *txn, const char *name, struct wfs_bytes value)
{
	return put(txn, WFS_TABLE_META, wfs_bytes_text(name), &(struct row){.size = 0}, value, 0);
}

int wfs_meta_get(struct wfs_txn *txn, const char *name, struct wfs_bytes *ret_value)
{
	return get(txn, WFS_TABLE_META, wfs_bytes_text(name), ret_value);
}

int wfs_meta_format(struct wfs_txn *txn, uint8_t *ret_format)
{
	MDB_val key = val_of(wfs_bytes_text("format"));
	MDB_val value;
	int r = wfs_store_error(
		mdb_get(txn->mdb, wfs_store_table(txn->store, WFS_TABLE_META), &key, &value));

	if (r)
		return r;
	if (value.mv_size == 0)
		return -EIO;
	*ret_format = *(const uint8_t *)value.mv_data;
	return 0;
}

#define META_FIRST_HEIGHT "first_height"

int wfs_first_height_get(struct wfs_txn *txn, uint64_t *ret_height)
{
	struct wfs_bytes value;
	int r = wfs_meta_get(txn, META_FIRST_HEIGHT, &value);

	if (r == -ENOENT) {
		*ret_height = 1;
		return 0;
	}
	if (r)
		return r;
	struct reader reader = reader_of(value);
	uint64_t height = take_u64(&reader);
	if (reader.bad || height == 0)
		return -EIO;
	*ret_height = height;
	return 0;
}

int wfs_first_height_put(struct wfs_txn *txn, uint64_t height)
{
	const uint64_t big = htobe64(height);

	return wfs_meta_put(txn, META_FIRST_HEIGHT, WFS_BYTES(&big, sizeof(big)));
}

/* --- journal --- */

static struct row key_u64(uint64_t number)
{
	struct row key;

	key.size = 0;
	add_u64(&key, number);
	return key;
}

int wfs_journal_append(struct wfs_txn *txn, uint64_t seq, uint64_t offset, struct wfs_bytes line)
{
	struct row key = key_u64(seq);
	struct row row = key_u64(offset);

	return put(txn, WFS_TABLE_JOURNAL, row_bytes(&key), &row, line, MDB_APPEND);
}

int wfs_journal_get(
	struct wfs_txn *txn, uint64_t seq, uint64_t *ret_offset, struct wfs_bytes *ret_line)
{
	struct row key = key_u64(seq);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_JOURNAL, row_bytes(&key), &value);

	if (r)
		return r;
	struct reader reader = reader_of(value);
	uint64_t offset = take_u64(&reader);
	if (reader.bad || reader.left == 0)
		return -EIO;
	*ret_offset = offset;
	*ret_line = rest_of(&reader);
	return 0;
}

int wfs_journal_height(struct wfs_txn *txn, uint64_t *ret_height)
{
	uint64_t last;
	int r = edge_key(txn, WFS_TABLE_JOURNAL, MDB_LAST, UINT64_MAX, &last);

	if (r)
		return r;
	*ret_height = last + 1;
	return 0;
}

int wfs_journal_first(struct wfs_txn *txn, uint64_t *ret_seq)
{
	return edge_key(txn, WFS_TABLE_JOURNAL, MDB_FIRST, 0, ret_seq);
}

int wfs_journal_at_offset(struct wfs_txn *txn, uint64_t offset, uint64_t *ret_seq)
{
	uint64_t low;
	uint64_t height;
	int r = wfs_journal_first(txn, &low);

	if (!r)
		r = wfs_journal_height(txn, &height);
	if (r)
		return r;
	if (low >= height)
		return -ENOENT;
	/* Invariant: the record sought is in [low, high). Offsets rise with seq. */
	for (uint64_t high = height; high - low > 1;) {
		uint64_t middle = low + (high - low) / 2;
		uint64_t start;
		struct wfs_bytes line;

		r = wfs_journal_get(txn, middle, &start, &line);
		if (r)
			return r;
		if (start <= offset)
			low = middle;
		else
			high = middle;
	}
	uint64_t start;
	struct wfs_bytes line;
	r = wfs_journal_get(txn, low, &start, &line);
	if (r)
		return r;
	if (offset < start || offset - start >= line.size)
		return -ENOENT;
	*ret_seq = low;
	return 0;
}

/* --- reducer --- */

static struct row key_u32(uint32_t number)
{
	struct row key;

	key.size = 0;
	add_u32(&key, number);
	return key;
}

int wfs_reducer_put(struct wfs_txn *txn, const char *name, const struct wfs_reducer *reducer)
{
	struct row key = key_u32(reducer->reducer_id);
	struct row row = key_u32(reducer->reducer_id);

	add_byte(&row, reducer->keyed);
	add_u64(&row, reducer->created_height);
	add_u64(&row, reducer->live_count);
	add_u64(&row, reducer->cell_count);
	add_u64(&row, (uint64_t)reducer->names_ns);
	int r = put(txn, WFS_TABLE_REDUCER, wfs_bytes_text(name), &row, WFS_BYTES(NULL, 0), 0);
	if (r)
		return r;
	return put(txn, WFS_TABLE_REDUCER_NAME, row_bytes(&key), &(struct row){.size = 0},
		wfs_bytes_text(name), 0);
}

static int reducer_decode(struct wfs_bytes value, struct wfs_reducer *ret_reducer)
{
	struct reader reader = reader_of(value);
	struct wfs_reducer reducer = {.reducer_id = take_u32(&reader)};

	reducer.keyed = take_byte(&reader);
	reducer.created_height = take_u64(&reader);
	reducer.live_count = take_u64(&reader);
	reducer.cell_count = take_u64(&reader);
	reducer.names_ns = (int64_t)take_u64(&reader);
	if (reader.bad)
		return -EIO;
	*ret_reducer = reducer;
	return 0;
}

int wfs_reducer_get(
	struct wfs_txn *txn, const char *name, size_t name_size, struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes value;

	if (name_size == 0 || name_size > WFS_KEY_SIZE_MAX)
		return -ENOENT; /* LMDB would call these bad keys */
	int r = get(txn, WFS_TABLE_REDUCER, WFS_BYTES(name, name_size), &value);
	return r ? r : reducer_decode(value, ret_reducer);
}

int wfs_reducer_next_name(struct wfs_txn *txn, struct wfs_bytes after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer)
{
	struct wfs_bytes key = after;
	struct wfs_bytes value;
	int r = seek(txn, WFS_TABLE_REDUCER, after.size ? MDB_SET_RANGE : MDB_FIRST, &key, &value);

	if (!r && after.size && wfs_bytes_equal(key, after))
		r = seek(txn, WFS_TABLE_REDUCER, MDB_NEXT, &key, &value);
	if (!r)
		r = reducer_decode(value, ret_reducer);
	if (r)
		return r;
	*ret_name = key;
	return 0;
}

int wfs_reducer_next(struct wfs_txn *txn, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer)
{
	struct row row = key_u32(after + 1);
	struct wfs_bytes key = row_bytes(&row);
	struct wfs_bytes name;

	if (after >= WFS_REDUCER_ID_MAX)
		return -ENOENT;
	int r = seek(txn, WFS_TABLE_REDUCER_NAME, MDB_SET_RANGE, &key, &name);

	if (!r)
		r = wfs_reducer_get(txn, name.data, name.size, ret_reducer);
	if (r)
		return r;
	*ret_name = name;
	return 0;
}

int wfs_reducer_name(struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes *ret_name)
{
	struct row key = key_u32(reducer_id);

	return get(txn, WFS_TABLE_REDUCER_NAME, row_bytes(&key), ret_name);
}

/* --- cell --- */

/* Key of cell_by_name: at most 4 + WFS_KEY_SIZE_MAX bytes, below LMDB's 511. */
struct name_key {
	uint8_t bytes[4 + WFS_KEY_SIZE_MAX];
	size_t size;
};

static int name_key_of(uint32_t reducer_id, struct wfs_bytes key, struct name_key *ret)
{
	struct row id = key_u32(reducer_id);

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
	struct row row = key_u64(cell_id);
	struct name_key name;

	if (name_key_of(reducer_id, key, &name))
		return -EFBIG;
	return put(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size), &row,
		WFS_BYTES(NULL, 0), 0);
}

int wfs_cell_find(
	struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes key, uint64_t *ret_cell_id)
{
	struct name_key name;
	struct wfs_bytes value;
	int r = name_key_of(reducer_id, key, &name);

	if (!r)
		r = get(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size), &value);
	if (r)
		return r;
	struct reader reader = reader_of(value);
	uint64_t cell_id = take_u64(&reader);
	if (reader.bad)
		return -EIO;
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
	r = seek(txn, WFS_TABLE_CELL_BY_NAME, MDB_SET_RANGE, &key, &value);
	if (!r && after && wfs_bytes_equal(key, wanted))
		r = seek(txn, WFS_TABLE_CELL_BY_NAME, MDB_NEXT, &key, &value);
	if (r)
		return r;
	struct reader name = reader_of(key);
	struct reader reader = reader_of(value);
	uint32_t found = take_u32(&name);
	uint64_t cell_id = take_u64(&reader);
	if (name.bad || reader.bad)
		return -EIO;
	if (found != reducer_id)
		return -ENOENT;
	*ret_key = rest_of(&name);
	*ret_cell_id = cell_id;
	return 0;
}

enum { CELL_LIVE = 1 << 0, CELL_REMOVED = 1 << 1 };

int wfs_cell_put(struct wfs_txn *txn, const struct wfs_cell *cell)
{
	struct row key = key_u64(cell->cell_id);
	struct row row = key_u64(cell->head_vid);

	add_u64(&row, cell->head_height);
	add_u64(&row, cell->created_height);
	add_u64(&row, cell->version_count);
	add_u64(&row, cell->size_bytes);
	add_u64(&row, (uint64_t)cell->time_ns);
	add_byte(&row, cell->live ? CELL_LIVE : 0);
	return put(txn, WFS_TABLE_CELL, row_bytes(&key), &row, cell->key, 0);
}

static int cell_decode(struct wfs_bytes key, struct wfs_bytes value, struct wfs_cell *ret_cell)
{
	struct reader id = reader_of(key);
	struct reader reader = reader_of(value);
	struct wfs_cell cell = {.cell_id = take_u64(&id), .head_vid = take_u64(&reader)};

	cell.head_height = take_u64(&reader);
	cell.created_height = take_u64(&reader);
	cell.version_count = take_u64(&reader);
	cell.size_bytes = take_u64(&reader);
	cell.time_ns = (int64_t)take_u64(&reader);
	uint8_t flags = take_byte(&reader);
	cell.live = flags & CELL_LIVE;
	cell.key = rest_of(&reader);
	if (id.bad || reader.bad || cell.key.size > WFS_KEY_SIZE_MAX)
		return -EIO;
	if (flags & CELL_REMOVED)
		return -ENOENT;
	*ret_cell = cell;
	return 0;
}

int wfs_cell_get(struct wfs_txn *txn, uint64_t cell_id, struct wfs_cell *ret_cell)
{
	struct row key = key_u64(cell_id);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_CELL, row_bytes(&key), &value);

	return r ? r : cell_decode(row_bytes(&key), value, ret_cell);
}

/* The id of the cell that was made last. */
static int last_cell(struct wfs_txn *txn, uint32_t reducer_id, uint64_t *ret_id)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r = wfs_reducer_name(txn, reducer_id, &name);

	if (!r)
		r = wfs_reducer_get(txn, name.data, name.size, &reducer);
	if (r)
		return r;
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
	r = mdb_cursor_open(txn->mdb, wfs_store_table(txn->store, WFS_TABLE_CELL), &cursor);
	if (r)
		return wfs_store_error(r);
	*walk = (struct wfs_cell_walk){
		.cursor = cursor,
		.txn = txn,
		.reducer_id = reducer_id,
		.next_id = after_id < first ? first : after_id + (after_id < UINT64_MAX),
		.last_id = last_id,
	};
	return 0;
}

/* No row of the reducer is left. */
static int end_walk(const struct wfs_cell_walk *walk)
{
	return walk->last_id && walk->next_id <= walk->last_id ? -EIO : 0;
}

/* One row on. Return: 1 and a cell, -ENOENT for one that was removed, 0 at the end, or -errno. */
static int walk_row(struct wfs_cell_walk *walk, struct wfs_cell *ret_cell)
{
	struct row row = key_u64(walk->next_id);
	MDB_val k = val_of(row_bytes(&row));
	struct wfs_bytes value;
	MDB_val v;
	int r = mdb_cursor_get(walk->cursor, &k, &v, walk->positioned ? MDB_NEXT : MDB_SET_RANGE);

	walk->row_damaged = false;
	if (r == MDB_NOTFOUND)
		return end_walk(walk);
	if (r)
		return wfs_store_error(r);
	walk->positioned = true;
	struct reader reader = reader_of(bytes_of(k));
	const uint64_t cell_id = take_u64(&reader);
	/* @after_id is a caller's word: it may point behind the reducer. */
	if (wfs_cell_reducer(cell_id) != walk->reducer_id)
		return end_walk(walk);
	bool missed = walk->last_id && cell_id != walk->next_id;
	walk->next_id = cell_id + 1;
	r = unseal(WFS_TABLE_CELL, k, v, &value);
	if (!r)
		r = cell_decode(bytes_of(k), value, ret_cell);
	walk->row_damaged = r == -EIO || missed;
	if (walk->row_damaged)
		return -EIO;
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

int wfs_cell_remove(struct wfs_txn *txn, uint64_t cell_id)
{
	struct row key = key_u64(cell_id);
	struct name_key name;
	struct wfs_cell cell;
	int r = wfs_cell_get(txn, cell_id, &cell);

	if (!r)
		r = name_key_of(wfs_cell_reducer(cell_id), cell.key, &name);
	if (!r)
		r = drop(txn, WFS_TABLE_CELL_BY_NAME, WFS_BYTES(name.bytes, name.size));
	if (r)
		return r;
	/* The row stays, without a key: ordinals have no gaps, so a row that is lost is missed. */
	struct row row = key_u64(0);
	for (size_t i = 0; i < 5; i++)
		add_u64(&row, 0);
	add_byte(&row, CELL_REMOVED);
	return put(txn, WFS_TABLE_CELL, row_bytes(&key), &row, WFS_BYTES(NULL, 0), 0);
}

/* --- history --- */

static struct row key_history(uint64_t cell_id, uint64_t height)
{
	struct row key = key_u64(cell_id);

	add_u64(&key, height);
	return key;
}

int wfs_history_put(struct wfs_txn *txn, uint64_t cell_id, uint64_t height, uint64_t vid)
{
	struct row key = key_history(cell_id, height);
	struct row row = key_u64(vid);

	return put(txn, WFS_TABLE_HISTORY, row_bytes(&key), &row, WFS_BYTES(NULL, 0), 0);
}

/* --- version --- */

enum { VERSION_TOMBSTONE = 1 << 0, VERSION_IN_FILE = 1 << 1 };

int wfs_version_put(struct wfs_txn *txn, const struct wfs_version *version)
{
	struct row key = key_u64(version->vid);
	struct row row = key_u64(version->cell_id);

	add_u64(&row, version->prev_vid);
	add_u64(&row, version->height);
	add_u64(&row, version->size_bytes);
	add_u64(&row, (uint64_t)version->time_ns);
	add_hash(&row, &version->hash);
	add_byte(&row,
		(version->tombstone ? VERSION_TOMBSTONE : 0) |
			(version->in_file ? VERSION_IN_FILE : 0));
	return put(txn, WFS_TABLE_VERSION, row_bytes(&key), &row, version->bytes, MDB_APPEND);
}

int wfs_version_get(struct wfs_txn *txn, uint64_t vid, struct wfs_version *ret_version)
{
	struct row key = key_u64(vid);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_VERSION, row_bytes(&key), &value);

	if (r)
		return r;
	struct reader reader = reader_of(value);
	struct wfs_version version = {.vid = vid, .cell_id = take_u64(&reader)};
	version.prev_vid = take_u64(&reader);
	version.height = take_u64(&reader);
	version.size_bytes = take_u64(&reader);
	version.time_ns = (int64_t)take_u64(&reader);
	take(&reader, version.hash.bytes, sizeof(version.hash.bytes));
	uint8_t flags = take_byte(&reader);
	version.tombstone = flags & VERSION_TOMBSTONE;
	version.in_file = flags & VERSION_IN_FILE;
	version.bytes = rest_of(&reader);
	if (reader.bad || version.bytes.size != (version.in_file ? 0 : version.size_bytes))
		return -EIO;
	*ret_version = version;
	return 0;
}

int wfs_version_last(struct wfs_txn *txn, uint64_t *ret_vid)
{
	return edge_key(txn, WFS_TABLE_VERSION, MDB_LAST, 0, ret_vid);
}

int wfs_version_next(struct wfs_txn *txn, uint64_t after, struct wfs_version *ret_version)
{
	struct row wanted = key_u64(after + 1);
	struct wfs_bytes key = row_bytes(&wanted);
	struct wfs_bytes value;

	if (after == UINT64_MAX)
		return -ENOENT;
	int r = seek(txn, WFS_TABLE_VERSION, MDB_SET_RANGE, &key, &value);
	if (r)
		return r;
	struct reader reader = reader_of(key);
	uint64_t vid = take_u64(&reader);
	return reader.bad ? -EIO : wfs_version_get(txn, vid, ret_version);
}

int wfs_version_remove(struct wfs_txn *txn, const struct wfs_version *version)
{
	struct row key = key_u64(version->vid);
	struct row indexed = key_history(version->cell_id, version->height);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_HISTORY, row_bytes(&indexed), &value);

	if (!r) {
		struct reader reader = reader_of(value);

		/* A record can give a cell two versions; the row is the later one's. */
		if (take_u64(&reader) == version->vid)
			r = drop(txn, WFS_TABLE_HISTORY, row_bytes(&indexed));
	} else if (r == -ENOENT) {
		r = 0;
	}
	return r ? r : drop(txn, WFS_TABLE_VERSION, row_bytes(&key));
}

/* --- history, searched --- */

/* The vid to search backwards from: the nearest indexed version not before @height, or the head. */
static int history_start(struct wfs_txn *txn, uint64_t cell_id, uint64_t height, uint64_t *ret_vid)
{
	struct row wanted = key_history(cell_id, height);
	struct wfs_bytes key = row_bytes(&wanted);
	struct wfs_bytes value;
	struct wfs_cell cell;
	int r = seek(txn, WFS_TABLE_HISTORY, MDB_SET_RANGE, &key, &value);

	if (!r) {
		struct reader id = reader_of(key);
		struct reader reader = reader_of(value);

		if (take_u64(&id) == cell_id) {
			*ret_vid = take_u64(&reader);
			return id.bad || reader.bad ? -EIO : 0;
		}
	} else if (r != -ENOENT) {
		return r;
	}
	r = wfs_cell_get(txn, cell_id, &cell);
	if (!r)
		*ret_vid = cell.head_vid;
	return r;
}

int wfs_history_at(
	struct wfs_txn *txn, uint64_t cell_id, uint64_t height, struct wfs_version *ret_version)
{
	struct wfs_version version;
	uint64_t vid = 0;
	int r = history_start(txn, cell_id, height, &vid);

	while (!r && vid != 0) {
		r = wfs_version_get(txn, vid, &version);
		if (r || version.cell_id != cell_id || version.prev_vid >= vid)
			return r && r != -ENOENT ? r : -EIO; /* the chain is broken */
		if (version.height <= height) {
			*ret_version = version;
			return 0;
		}
		vid = version.prev_vid;
	}
	return r ? r : -ENOENT;
}

/* --- blob --- */

enum { BLOB_IN_FILE = 1 << 0 };

int wfs_blob_put(struct wfs_txn *txn, const struct wfs_blob *blob)
{
	struct row row = key_u64(blob->size_bytes);

	add_u64(&row, blob->listed_id);
	add_byte(&row, blob->in_file ? BLOB_IN_FILE : 0);
	return put(txn, WFS_TABLE_BLOB, WFS_BYTES(blob->hash.bytes, WFS_HASH_SIZE), &row,
		blob->bytes, 0);
}

static int blob_decode(struct wfs_bytes key, struct wfs_bytes value, struct wfs_blob *ret_blob)
{
	struct reader hash = reader_of(key);
	struct reader reader = reader_of(value);
	struct wfs_blob blob = {.size_bytes = take_u64(&reader)};

	take(&hash, blob.hash.bytes, sizeof(blob.hash.bytes));
	blob.listed_id = take_u64(&reader);
	blob.in_file = take_byte(&reader) & BLOB_IN_FILE;
	blob.bytes = rest_of(&reader);
	if (hash.bad || reader.bad || blob.bytes.size != (blob.in_file ? 0 : blob.size_bytes))
		return -EIO;
	*ret_blob = blob;
	return 0;
}

int wfs_blob_get(struct wfs_txn *txn, const struct wfs_hash *hash, struct wfs_blob *ret_blob)
{
	struct wfs_bytes key = WFS_BYTES(hash->bytes, WFS_HASH_SIZE);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_BLOB, key, &value);

	return r ? r : blob_decode(key, value, ret_blob);
}

int wfs_blob_next(struct wfs_txn *txn, const struct wfs_hash *after, struct wfs_blob *ret_blob)
{
	struct wfs_bytes key = after ? WFS_BYTES(after->bytes, WFS_HASH_SIZE) : WFS_BYTES(NULL, 0);
	struct wfs_bytes value;
	int r = seek(txn, WFS_TABLE_BLOB, after ? MDB_SET_RANGE : MDB_FIRST, &key, &value);

	if (!r && after && wfs_bytes_equal(key, WFS_BYTES(after->bytes, WFS_HASH_SIZE)))
		r = seek(txn, WFS_TABLE_BLOB, MDB_NEXT, &key, &value);
	if (!r)
		r = blob_decode(key, value, ret_blob);
	/* So that the next search can begin behind a damaged row. */
	if (r == -EIO && key.size == WFS_HASH_SIZE &&
		(!after || memcmp(key.data, after->bytes, WFS_HASH_SIZE) > 0)) {
		memcpy(ret_blob->hash.bytes, key.data, WFS_HASH_SIZE);
		return -EBADMSG;
	}
	return r;
}

int wfs_blob_listing_put(struct wfs_txn *txn, const struct wfs_blob_listing *listing)
{
	struct row key = key_u64(listing->listed_id);
	struct row row = key_u64(listing->height);

	add_u64(&row, (uint64_t)listing->time_ns);
	add_hash(&row, &listing->hash);
	return put(
		txn, WFS_TABLE_BLOB_LISTED, row_bytes(&key), &row, WFS_BYTES(NULL, 0), MDB_APPEND);
}

int wfs_blob_listing_get(
	struct wfs_txn *txn, uint64_t listed_id, struct wfs_blob_listing *ret_listing)
{
	struct row key = key_u64(listed_id);
	struct wfs_bytes value;
	int r = get(txn, WFS_TABLE_BLOB_LISTED, row_bytes(&key), &value);

	if (r)
		return r;
	struct reader reader = reader_of(value);
	struct wfs_blob_listing listing = {.listed_id = listed_id, .height = take_u64(&reader)};
	listing.time_ns = (int64_t)take_u64(&reader);
	take(&reader, listing.hash.bytes, sizeof(listing.hash.bytes));
	if (reader.bad)
		return -EIO;
	*ret_listing = listing;
	return 0;
}

int wfs_blob_listing_last(struct wfs_txn *txn, uint64_t *ret_listed_id)
{
	return edge_key(txn, WFS_TABLE_BLOB_LISTED, MDB_LAST, 0, ret_listed_id);
}
