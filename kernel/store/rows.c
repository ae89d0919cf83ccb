/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all rows to check their checksums. */
#include "kernel/store/rows.h"
#include "kernel/base/problems.h"

#include "kernel/store/row.h"

int wfs_rows_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count)
{
	return row_count(txn, table, ret_count);
}

int wfs_rows_total(struct wfs_txn *txn, uint64_t *ret_count)
{
	uint64_t total = 0;
	int r = 0;

	for (unsigned int table = 0; !r && table < WFS_TABLE_COUNT; table++) {
		uint64_t count = 0;

		r = row_count(txn, table, &count);
		total += count;
	}
	if (!r)
		*ret_count = total;
	return r;
}

static void add_problem(const struct wfs_rows *rows, struct wfs_txn *txn, struct wfs_bytes key,
	const char *reason, struct wfs_problems *problems)
{
	struct wfs_row_name name;

	wfs_row_name(txn, rows->table, key, &name);
	wfs_problems_add(problems, name.text, NULL, "%s", reason);
}

static bool remember(struct wfs_rows *rows, struct wfs_bytes key)
{
	if (key.size > sizeof(rows->key))
		return false;
	memcpy(rows->key, key.data, key.size);
	rows->key_size = key.size;
	rows->inside = true;
	return true;
}

/* Moves to the first row that is not checked yet. Return: as row_cursor_move(). */
static int begin(const struct wfs_rows *rows, const struct row_cursor *cursor,
	struct wfs_bytes *key, struct wfs_bytes *value)
{
	const struct wfs_bytes last = WFS_BYTES(rows->key, rows->key_size);
	int r;

	if (!rows->inside) {
		*key = WFS_BYTES(NULL, 0);
		return row_cursor_move(cursor, MDB_FIRST, key, value);
	}
	*key = last;
	r = row_cursor_move(cursor, MDB_SET_RANGE, key, value);
	if ((r && r != -EBADMSG) || !wfs_bytes_equal(*key, last))
		return r;
	return row_cursor_move(cursor, MDB_NEXT, key, value);
}

/* Checks the next rows of one table. Return: 1, 0 (the table has no more), … */
static int check_table(struct wfs_rows *rows, const struct row_cursor *cursor, size_t *left,
	struct wfs_problems *problems)
{
	struct wfs_bytes key;
	struct wfs_bytes value;
	int r = begin(rows, cursor, &key, &value);

	while (r == 0 || r == -EBADMSG) {
		if (r)
			add_problem(rows, cursor->txn, key, "is damaged", problems);
		rows->done++;
		if (!remember(rows, key)) {
			r = -EIO;
			break;
		}
		if (--*left == 0)
			return 1;
		r = row_cursor_move(cursor, MDB_NEXT, &key, &value);
	}
	if (r == -EIO)
		add_problem(rows, cursor->txn,
			WFS_BYTES(rows->key, rows->inside ? rows->key_size : 0),
			"is the last row of its table that can be reached", problems);
	return r == -ENOENT || r == -EIO ? 0 : r;
}

int wfs_rows_check(
	struct wfs_rows *rows, struct wfs_txn *txn, size_t count, struct wfs_problems *problems)
{
	size_t left = count;
	int r = 0;

	while (!r && rows->table < WFS_TABLE_COUNT) {
		struct row_cursor cursor = {.txn = txn, .table = rows->table};

		r = row_cursor_open(txn, rows->table, &cursor.mdb);
		if (r && r != -ENOENT) /* -ENOENT: a table that an older format lacks */
			return r;
		if (!r) {
			r = check_table(rows, &cursor, &left, problems);
			mdb_cursor_close(cursor.mdb);
		}
		if (r == 0 || r == -ENOENT) {
			r = 0;
			rows->table++;
			rows->inside = false;
		}
	}
	return r;
}
