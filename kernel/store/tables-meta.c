/* SPDX-License-Identifier: Apache-2.0 */
/* The world's own values. */
#include "kernel/store/tables.h"

#include <endian.h>

#include "kernel/store/row.h"

int wfs_meta_put(struct wfs_txn *txn, const char *name, struct wfs_bytes value)
{
	return row_put(
		txn, WFS_TABLE_META, wfs_bytes_text(name), &(struct row){.size = 0}, value, 0);
}

int wfs_meta_get(struct wfs_txn *txn, const char *name, struct wfs_bytes *ret_value)
{
	return row_find(txn, WFS_TABLE_META, wfs_bytes_text(name), ret_value);
}

int wfs_meta_format(struct wfs_txn *txn, uint8_t *ret_format)
{
	size_t size;
	int r = row_peek(txn, WFS_TABLE_META, wfs_bytes_text(META_FORMAT), ret_format,
		sizeof(*ret_format), &size);

	return !r && size == 0 ? row_bad(txn, WFS_TABLE_META, wfs_bytes_text(META_FORMAT)) : r;
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
	struct row_reader reader = row_reader_of(value);
	uint64_t height = row_take_u64(&reader);
	if (reader.bad || height == 0)
		return row_bad(txn, WFS_TABLE_META, wfs_bytes_text(META_FIRST_HEIGHT));
	*ret_height = height;
	return 0;
}

int wfs_first_height_put(struct wfs_txn *txn, uint64_t height)
{
	const uint64_t big = htobe64(height);

	return wfs_meta_put(txn, META_FIRST_HEIGHT, WFS_BYTES(&big, sizeof(big)));
}
