/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: rows. Numbers and bytes to keys and values and back, and the only
 * calls that read and write them in LMDB, with the checksum behind each value. What is in them is
 * told by tables.h, each group of tables has a file tables-*.c.
 */
#pragma once

#include <endian.h>

#include "kernel/base/hash.h"
#include "kernel/store/store-impl.h"

/* A row under construction or being read: fixed fields first, then free bytes. */
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

/* Reading; `left` shrinks. A row that is too short sets `bad` and gives zeros. */
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

/** row_get() - Return: 0, -ENOENT, -EIO (damaged). @ret_value is borrowed from the map. */
int row_get(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value);

/** row_put() - @row and @tail, one behind the other. @flags: of mdb_put() */
int row_put(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, const struct row *row,
	struct wfs_bytes tail, unsigned int flags);

int row_drop(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);

/**
 * row_seek() - move the table's cursor
 * @key: the key goes in through it (for MDB_NEXT: the one before), and comes back through it, also
 *       when the row is damaged
 * Return: 0, -ENOENT, -EIO.
 */
int row_seek(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);

/** row_edge_key() - the u64 key of a table's last or first row; @when_empty when there is none. */
int row_edge_key(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, uint64_t when_empty,
	uint64_t *ret_key);

/**
 * row_find() - row_get(), for tables in which a missing row is normal and no other row shows that it was lost
 * A row whose key is damaged cannot be found by its right key, but it still stands where that key belongs. So when
 * @key is not found, the rows on both sides of its place are read.
 * Return: 0, -ENOENT, -EIO (the row, or one beside its place, is damaged).
 */
int row_find(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value);

/** row_seek_first() - row_seek() with MDB_SET_RANGE, to the first row of a range. Also -EIO when the row before the
 *  range is damaged: its right key may be in the range. */
int row_seek_first(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);

/** row_peek() - up to @size bytes of a value, seal included, whether it is damaged or not.
 *  Return: 0, -ENOENT, -EIO. */
int row_peek(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, void *ret_bytes,
	size_t size, size_t *ret_size);

void row_note_bad(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);
void row_note_lost(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key);

/** row_bad() - note that a row is damaged (kernel/base/damage.h). Return: -EIO. */
static inline int row_bad(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	row_note_bad(txn, table, key);
	return -EIO;
}

/** row_absent() - remember what was not found, for wfs_row_needed() */
static inline void row_absent(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	txn->absent_table = table;
	txn->absent_number = number;
}

/** row_lost() - note that a row that must be there is missing. Return: -EIO. */
static inline int row_lost(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	row_note_lost(txn, table, key);
	return -EIO;
}

struct wfs_index_row;
struct wfs_index_set;

/** index_key_read() - set and id of a row of the index. Return: 0, or -EIO. */
int index_key_read(struct wfs_bytes key, struct wfs_index_row *ret_row);

/** index_set_text() - the texts that name a set: 'alice', 'agent' */
void index_set_text(const struct wfs_index_set *set, char *ret_text, size_t size);

/** row_count() - how many rows LMDB says that the table has. Whoever finds another number of them
 *  was led past some, or led astray. */
int row_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count);

/** row_count_max() - how many rows there is room for in the file; unbounded while writing. */
uint64_t row_count_max(const struct wfs_txn *txn);

/* A cursor of one's own: plain value. */
struct row_cursor {
	struct wfs_txn *txn;
	enum wfs_table table;
	MDB_cursor *mdb;
};

/** row_cursor_open() - @ret_cursor: close it before the transaction ends */
int row_cursor_open(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor);

/** row_cursor_move() - like row_seek(). Return: -EBADMSG, too: this row is damaged, but the cursor
 *  can be moved on; after -EIO it cannot. */
int row_cursor_move(const struct row_cursor *cursor, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value);
