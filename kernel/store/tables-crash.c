/* SPDX-License-Identifier: Apache-2.0 */
/* Code that ended the process it ran in. */
#include "kernel/store/row.h"
#include "kernel/store/tables.h"

static struct wfs_bytes key_of(const struct wfs_hash *code)
{
	return WFS_BYTES(code->bytes, WFS_HASH_SIZE);
}

int wfs_code_crash_put(struct wfs_txn *txn, const struct wfs_code_crash *crash)
{
	struct row row = {.size = 0};

	if (crash->crashes == 0) {
		int r = row_drop(txn, WFS_TABLE_CODE_CRASH, key_of(&crash->code));
		return r == -ENOENT ? 0 : r;
	}
	row_add_u32(&row, crash->crashes);
	row_add_u64(&row, (uint64_t)crash->at_ns);
	return row_put(txn, WFS_TABLE_CODE_CRASH, key_of(&crash->code), &row, crash->name, 0);
}

int wfs_code_crash_next(
	struct wfs_txn *txn, const struct wfs_hash *after, struct wfs_code_crash *ret_crash)
{
	struct wfs_bytes key = after ? key_of(after) : WFS_BYTES(NULL, 0);
	struct wfs_bytes value;
	int r = row_seek(
		txn, WFS_TABLE_CODE_CRASH, after ? MDB_SET_RANGE : MDB_FIRST, &key, &value);

	if (!r && after && wfs_bytes_equal(key, key_of(after)))
		r = row_seek(txn, WFS_TABLE_CODE_CRASH, MDB_NEXT, &key, &value);
	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	struct wfs_code_crash crash = {.crashes = row_take_u32(&reader)};
	crash.at_ns = (int64_t)row_take_u64(&reader);
	crash.name = row_rest_of(&reader);
	/* Keys that do not rise would lead the caller round in circles. */
	if (reader.bad || key.size != WFS_HASH_SIZE ||
		(after && memcmp(key.data, after->bytes, WFS_HASH_SIZE) <= 0))
		return row_bad(txn, WFS_TABLE_CODE_CRASH, key);
	memcpy(crash.code.bytes, key.data, WFS_HASH_SIZE);
	*ret_crash = crash;
	return 0;
}
