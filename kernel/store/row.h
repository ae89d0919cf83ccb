/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: rows. Encodes and decodes keys and values, and makes the only calls
 * that read and write rows in LMDB, with the checksum after each value. tables.h says what the rows
 * contain; each group of tables has a file tables-*.c.
 */
#pragma once

#include <endian.h>

#include "kernel/base/hash.h"
#include "kernel/store/store-impl.h"

/* A row that is being built: its fixed fields. Plain value. */
struct row {
	uint8_t bytes[128];
	size_t size;
};

static inline void row_add_u64(struct row *row, uint64_t value)
{
	uint64_t big = htobe64(value);

	wfs_require(row->size + sizeof(big) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, &big, sizeof(big));
	row->size += sizeof(big);
}

static inline void row_add_u32(struct row *row, uint32_t value)
{
	uint32_t big = htobe32(value);

	wfs_require(row->size + sizeof(big) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, &big, sizeof(big));
	row->size += sizeof(big);
}

static inline void row_add_byte(struct row *row, uint8_t value)
{
	wfs_require(row->size < sizeof(row->bytes));
	row->bytes[row->size++] = value;
}

static inline void row_add_hash(struct row *row, const struct wfs_hash *hash)
{
	wfs_require(row->size + sizeof(hash->bytes) <= sizeof(row->bytes));
	memcpy(row->bytes + row->size, hash->bytes, sizeof(hash->bytes));
	row->size += sizeof(hash->bytes);
}

/* Reads the fields of a row in order. Reading past the end sets `bad` and gives zeros. */
struct row_reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static inline bool row_take(struct row_reader *reader, void *ret, size_t size)
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

static inline uint64_t row_take_u64(struct row_reader *reader)
{
	uint64_t big;

	row_take(reader, &big, sizeof(big));
	return be64toh(big);
}

static inline uint32_t row_take_u32(struct row_reader *reader)
{
	uint32_t big;

	row_take(reader, &big, sizeof(big));
	return be32toh(big);
}

static inline uint8_t row_take_byte(struct row_reader *reader)
{
	uint8_t byte;

	row_take(reader, &byte, sizeof(byte));
	return byte;
}

static inline struct row_reader row_reader_of(struct wfs_bytes bytes)
{
	return (struct row_reader){.at = bytes.data, .left = bytes.size};
}

static inline struct wfs_bytes row_rest_of(const struct row_reader *reader)
{
	return WFS_BYTES(reader->at, reader->left);
}

static inline MDB_val row_val_of(struct wfs_bytes bytes)
{
	/* LMDB does not write through keys and data of these calls. */
	return (MDB_val){.mv_size = bytes.size, .mv_data = (void *)(uintptr_t)bytes.data};
}

static inline struct wfs_bytes row_bytes_of(MDB_val val)
{
	return WFS_BYTES(val.mv_data, val.mv_size);
}

static inline struct wfs_bytes row_bytes(const struct row *row)
{
	return WFS_BYTES(row->bytes, row->size);
}

static inline struct row row_key_u64(uint64_t number)
{
	struct row key;

	key.size = 0;
	row_add_u64(&key, number);
	return key;
}

static inline struct row row_key_u32(uint32_t number)
{
	struct row key;

	key.size = 0;
	row_add_u32(&key, number);
	return key;
}

/** row_get() - read the row of @table with the key @key, and check its checksum. @ret_value:
 *  borrowed from the map, as tables.h says. Return: 0, -ENOENT, -EIO (damaged). */
int row_get(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value);

/** row_put() - write the row of @table with the key @key and the value @row, followed by @tail.
 *  @flags: of mdb_put(). Return: 0,
 *  -ENOSPC, -EIO, or another -errno. */
int row_put(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, const struct row *row,
	struct wfs_bytes tail, unsigned int flags);

/** row_drop() - delete the row of @table with the key @key. Return: 0, -ENOENT, or another
 *  -errno. */
int row_drop(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);

/** row_seek() - move the transaction's cursor on @table, and read the row at the cursor
 *  @op: as for mdb_cursor_get(). @key: before the call, where to move to, if @op takes a key; after
 *  it, the key of the row, also when the row is damaged. @ret_value: borrowed from the map
 *  Return: 0, -ENOENT (no row there), -EIO. */
int row_seek(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);

/** row_edge_key() - get the key, a u64, of the first or last row of a table; @when_empty if the
 *  table has no rows. @op: MDB_FIRST or MDB_LAST. Return: 0, -EIO. */
int row_edge_key(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, uint64_t when_empty,
	uint64_t *ret_key);

/** row_find() - do row_get() for a table that need not have a row for each key, so that it would
 *  not be noticed if damage made a row impossible to find
 *  A row whose key is damaged is still in the place of its right key. So when @key is not found,
 *  the rows before and after its place are checked.
 *  Return: 0, -ENOENT, -EIO (the row, or one beside its place, is damaged). */
int row_find(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value);

/** row_seek_first() - do row_seek() to the first row of a range: that with the lowest key which is
 *  not below *@key
 *  Return: as row_seek(); -EIO also when the row before the range is damaged, because its right key
 *  may be in the range. */
int row_seek_first(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);

/** row_peek() - copy the first bytes of a row's value and of the checksum after it, even if the row
 *  is damaged
 *  @size: room in @ret_bytes. @ret_size: how many bytes were copied
 *  Return: 0, -ENOENT, -EIO (LMDB cannot find its way to the row). */
int row_peek(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, void *ret_bytes,
	size_t size, size_t *ret_size);

/** row_of_number() - make the key @number for a table whose keys are single numbers (row-name.h has
 *  a list of these tables). */
struct row row_of_number(enum wfs_table table, uint64_t number);

void row_note_bad(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);
void row_note_lost(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);

/** row_bad() - note, for the message of a later error (kernel/base/damage.h), that a row is
 *  damaged. Return: -EIO. */
static inline int row_bad(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	row_note_bad(txn, table, key);
	return -EIO;
}

/** row_absent() - remember in @txn that the cell or version with the key @number was not found, for
 *  wfs_row_needed() (row-name.h). */
static inline void row_absent(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	txn->absent_table = table;
	txn->absent_number = number;
}

/** row_lost() - note, for the message of a later error (kernel/base/damage.h), that a row is
 *  missing which must exist. Return: -EIO. */
static inline int row_lost(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	row_note_lost(txn, table, key);
	return -EIO;
}

struct wfs_index_row;
struct wfs_index_set;

/** index_key_read() - decode the key of a row of the table `index`
 *  @ret_row: `set`, `is_sum` and `cell_id` are set; `sum` is set to zeros, because it is not in the
 *  key, but in the value. Return: 0, or -EIO. */
int index_key_read(struct wfs_bytes key, struct wfs_index_row *ret_row);

/** index_set_text() - write the texts that name a set, separated by commas, such as 'alice',
 *  'agent'. @size: room in @ret_text, in bytes; a longer text is cut off */
void index_set_text(const struct wfs_index_set *set, char *ret_text, size_t size);

/** row_count() - get the number of rows that LMDB says a table has. If a caller then finds another
 *  number of rows, the table is damaged. Return: 0, or -errno. */
int row_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count);

/** row_count_max() - Return: how many rows fit into data.mdb, a bound for walks; UINT64_MAX in a
 *  write transaction. */
uint64_t row_count_max(const struct wfs_txn *txn);

/* A cursor of the caller's own, which moves apart from that of the transaction: plain value. */
struct row_cursor {
	struct wfs_txn *txn;
	enum wfs_table table;
	MDB_cursor *mdb;
};

/** row_cursor_open() - open a cursor (for `mdb` of a struct row_cursor), which the caller closes
 *  with mdb_cursor_close() before the transaction ends. Return: 0, or -errno. */
int row_cursor_open(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor);

/** row_cursor_move() - do row_seek() with the caller's cursor instead of the transaction's
 *  Return: 0, -ENOENT (no row there), -EBADMSG (this row is damaged, but the cursor can move on),
 *  -EIO (the cursor cannot move on). */
int row_cursor_move(const struct row_cursor *cursor, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);
