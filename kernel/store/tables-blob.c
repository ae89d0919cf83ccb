/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs and their listing. Their files are in blob.c. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

enum { BLOB_IN_FILE = 1 << 0 };

int wfs_blob_put(struct wfs_txn *txn, const struct wfs_blob *blob)
{
	struct row row = row_key_u64(blob->size_bytes);

	row_add_u64(&row, blob->listed_id);
	row_add_byte(&row, blob->in_file ? BLOB_IN_FILE : 0);
	return row_put(txn, WFS_TABLE_BLOB, WFS_BYTES(blob->hash.bytes, WFS_HASH_SIZE), &row,
		blob->bytes, 0);
}

static int blob_decode(struct wfs_bytes key, struct wfs_bytes value, struct wfs_blob *ret_blob)
{
	struct row_reader hash = row_reader_of(key);
	struct row_reader reader = row_reader_of(value);
	struct wfs_blob blob = {.size_bytes = row_take_u64(&reader)};

	row_take(&hash, blob.hash.bytes, sizeof(blob.hash.bytes));
	blob.listed_id = row_take_u64(&reader);
	blob.in_file = row_take_byte(&reader) & BLOB_IN_FILE;
	blob.bytes = row_rest_of(&reader);
	if (hash.bad || reader.bad || blob.bytes.size != (blob.in_file ? 0 : blob.size_bytes) ||
		blob.size_bytes > INT64_MAX)
		return -EIO;
	*ret_blob = blob;
	return 0;
}

int wfs_blob_get(struct wfs_txn *txn, const struct wfs_hash *hash, struct wfs_blob *ret_blob)
{
	struct wfs_bytes key = WFS_BYTES(hash->bytes, WFS_HASH_SIZE);
	struct wfs_bytes value;
	int r = row_find(txn, WFS_TABLE_BLOB, key, &value);

	if (!r && blob_decode(key, value, ret_blob))
		r = row_bad(txn, WFS_TABLE_BLOB, key);
	return r;
}

int wfs_blob_remove(struct wfs_txn *txn, const struct wfs_hash *hash)
{
	return row_drop(txn, WFS_TABLE_BLOB, WFS_BYTES(hash->bytes, WFS_HASH_SIZE));
}

int wfs_blob_next(struct wfs_txn *txn, const struct wfs_hash *after, struct wfs_blob *ret_blob)
{
	struct wfs_bytes key = after ? WFS_BYTES(after->bytes, WFS_HASH_SIZE) : WFS_BYTES(NULL, 0);
	struct wfs_bytes value;
	int r = row_seek(txn, WFS_TABLE_BLOB, after ? MDB_SET_RANGE : MDB_FIRST, &key, &value);

	if (!r && after && wfs_bytes_equal(key, WFS_BYTES(after->bytes, WFS_HASH_SIZE)))
		r = row_seek(txn, WFS_TABLE_BLOB, MDB_NEXT, &key, &value);
	if (!r && blob_decode(key, value, ret_blob))
		r = row_bad(txn, WFS_TABLE_BLOB, key);
	/* Return the hash, so that the next search can begin after the damaged row. */
	if (r == -EIO && key.size == WFS_HASH_SIZE &&
		(!after || memcmp(key.data, after->bytes, WFS_HASH_SIZE) > 0)) {
		memcpy(ret_blob->hash.bytes, key.data, WFS_HASH_SIZE);
		return -EBADMSG;
	}
	return r;
}

int wfs_blob_listing_put(struct wfs_txn *txn, const struct wfs_blob_listing *listing)
{
	struct row key = row_key_u64(listing->listed_id);
	struct row row = row_key_u64(listing->height);

	row_add_u64(&row, (uint64_t)listing->time_ns);
	row_add_hash(&row, &listing->hash);
	return row_put(
		txn, WFS_TABLE_BLOB_LISTED, row_bytes(&key), &row, WFS_BYTES(NULL, 0), MDB_APPEND);
}

int wfs_blob_listing_get(
	struct wfs_txn *txn, uint64_t listed_id, struct wfs_blob_listing *ret_listing)
{
	struct row key = row_key_u64(listed_id);
	struct wfs_bytes value;
	uint64_t count;

	/* Ids begin with 1 and have no gaps. */
	int r = row_count(txn, WFS_TABLE_BLOB_LISTED, &count);
	if (!r && (listed_id == 0 || listed_id > count))
		return -ENOENT;
	if (!r)
		r = row_get(txn, WFS_TABLE_BLOB_LISTED, row_bytes(&key), &value);
	if (r)
		return r == -ENOENT ? wfs_row_lost(txn, WFS_TABLE_BLOB_LISTED, listed_id) : r;
	struct row_reader reader = row_reader_of(value);
	struct wfs_blob_listing listing = {.listed_id = listed_id, .height = row_take_u64(&reader)};
	listing.time_ns = (int64_t)row_take_u64(&reader);
	row_take(&reader, listing.hash.bytes, sizeof(listing.hash.bytes));
	if (reader.bad)
		return row_bad(txn, WFS_TABLE_BLOB_LISTED, row_bytes(&key));
	*ret_listing = listing;
	return 0;
}

int wfs_blob_listing_last(struct wfs_txn *txn, uint64_t *ret_listed_id)
{
	uint64_t count;
	uint64_t last = 0;
	int r = row_edge_key(txn, WFS_TABLE_BLOB_LISTED, MDB_LAST, 0, &last);

	if (!r)
		r = row_count(txn, WFS_TABLE_BLOB_LISTED, &count);
	if (!r && last != count)
		r = wfs_row_bad(txn, WFS_TABLE_BLOB_LISTED, last);
	if (!r)
		*ret_listed_id = last;
	return r;
}
