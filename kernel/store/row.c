/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing rows, with the checksum behind each. */
#include "kernel/store/row.h"

#include <xxhash.h>

/* No row is as large: a damaged size shall not lead far out of the file. */
enum { ROW_SIZE_MAX = 64 << 20 };

void wfs_row_seal(enum wfs_table table, struct wfs_bytes key, struct wfs_bytes value,
	uint8_t ret_seal[static WFS_SEAL_SIZE])
{
	const uint64_t seed = XXH3_64bits_withSeed(key.data, key.size, table);
	const uint64_t seal = htobe64(XXH3_64bits_withSeed(value.data, value.size, seed));

	memcpy(ret_seal, &seal, sizeof(seal));
}

int row_unseal(enum wfs_table table, MDB_val key, MDB_val sealed, struct wfs_bytes *ret_value)
{
	uint8_t seal[WFS_SEAL_SIZE];

	if (sealed.mv_size < WFS_SEAL_SIZE || sealed.mv_size > ROW_SIZE_MAX)
		return -EIO;
	const struct wfs_bytes value = WFS_BYTES(sealed.mv_data, sealed.mv_size - WFS_SEAL_SIZE);
	wfs_row_seal(table, row_bytes_of(key), value, seal);
	if (memcmp(seal, (const uint8_t *)value.data + value.size, WFS_SEAL_SIZE) != 0)
		return -EIO;
	*ret_value = value;
	return 0;
}

int row_get(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value)
{
	MDB_val k = row_val_of(key);
	MDB_val v;
	int r = wfs_store_error(mdb_get(txn->mdb, wfs_store_table(txn->store, table), &k, &v));

	return r ? r : row_unseal(table, k, v, ret_value);
}

/* Writes the fixed part, `tail` and the seal as one value, without joining them first. */
int row_put(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, const struct row *row,
	struct wfs_bytes tail, unsigned int flags)
{
	MDB_val k = row_val_of(key);
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

int row_seek(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value)
{
	MDB_cursor *cursor;
	MDB_val k = row_val_of(*key);
	MDB_val v;
	int r = wfs_txn_cursor(txn, table, &cursor);

	if (r)
		return r;
	r = wfs_store_error(mdb_cursor_get(cursor, &k, &v, op));
	if (r)
		return r;
	*key = row_bytes_of(k);
	return row_unseal(table, k, v, ret_value);
}

int row_drop(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	MDB_val k = row_val_of(key);

	return wfs_store_error(mdb_del(txn->mdb, wfs_store_table(txn->store, table), &k, NULL));
}

int row_edge_key(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, uint64_t when_empty,
	uint64_t *ret_key)
{
	struct wfs_bytes key = {0};
	struct wfs_bytes value;
	int r = row_seek(txn, table, op, &key, &value);

	if (r == -ENOENT) {
		*ret_key = when_empty;
		return 0;
	}
	if (r)
		return r;
	struct row_reader reader = row_reader_of(key);
	*ret_key = row_take_u64(&reader);
	return reader.bad ? -EIO : 0;
}
