/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes rows, with the checksum after each. */
#include "kernel/store/row.h"

#include <xxhash.h>

#include "kernel/base/damage.h"
#include "kernel/store/guard.h"

enum {
	ROW_SIZE_MAX = 64 << 20, /* every row is smaller: bounds what a damaged size costs */
	LMDB_KEY_MAX = 511,      /* MDB_MAXKEYSIZE */
	ROW_ROOM_MIN = 20, /* bytes of a page for one row: offset, head, key of one byte, seal */
};

void wfs_row_seal(enum wfs_table table, struct wfs_bytes key, struct wfs_bytes value,
	uint8_t ret_seal[static WFS_SEAL_SIZE])
{
	const uint64_t seed = XXH3_64bits_withSeed(key.data, key.size, table);
	const uint64_t seal = htobe64(XXH3_64bits_withSeed(value.data, value.size, seed));

	memcpy(ret_seal, &seal, sizeof(seal));
}

/* --- guarded calls --- */

/* Arguments and results of a guarded call that reads or writes one row. */
struct access {
	struct wfs_txn *txn;
	enum wfs_table table;
	MDB_cursor *cursor; /* NULL: the transaction's own */
	MDB_cursor_op op;
	unsigned int flags;
	MDB_val key;
	/* Empty at first, because LMDB may return success for a damaged page without setting it. */
	MDB_val value;
	bool damaged; /* LMDB found a row, but its seal does not fit */
	MDB_stat stat;
	void *copy; /* gets the row as it is, damaged or not */
	size_t copy_size;
};

/* --- noting damage for a user --- */

static void note(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, const char *how)
{
	struct wfs_row_name name;

	if (txn->naming)
		return;
	txn->store->name_row(txn, table, key, &name);
	wfs_damage_note("%s %s", name.text, how);
}

/* Notes a row that LMDB could not reach. */
static int note_failure(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, int r)
{
	if (r == -EIO)
		note(txn, table, key, "cannot be reached: a page of data.mdb is damaged");
	return r;
}

void row_note_bad(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	note(txn, table, key, "is damaged");
}

void row_note_lost(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	note(txn, table, key, "is missing");
}

struct row row_of_number(enum wfs_table table, uint64_t number)
{
	return table == WFS_TABLE_REDUCER_NAME ? row_key_u32((uint32_t)number)
					       : row_key_u64(number);
}

void wfs_row_note_lost(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	const struct row key = row_of_number(table, number);

	row_note_lost(txn, table, row_bytes(&key));
}

void wfs_row_note_bad(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	const struct row key = row_of_number(table, number);

	row_note_bad(txn, table, row_bytes(&key));
}

static MDB_dbi table_of(const struct access *access)
{
	return wfs_store_table(access->txn->store, access->table);
}

/* Checks the seal of a value and removes it. This reads all of the value, so a size that leads out
 * of the file is found here, under the guard, and not by a caller later. */
static void unseal(struct access *access)
{
	MDB_val *value = &access->value;
	uint8_t seal[WFS_SEAL_SIZE];

	access->damaged = value->mv_size < WFS_SEAL_SIZE || value->mv_size > ROW_SIZE_MAX;
	if (access->damaged)
		return;
	value->mv_size -= WFS_SEAL_SIZE;
	wfs_row_seal(access->table, row_bytes_of(access->key), row_bytes_of(*value), seal);
	access->damaged =
		memcmp(seal, (const uint8_t *)value->mv_data + value->mv_size, WFS_SEAL_SIZE) != 0;
}

static int get(void *context)
{
	struct access *access = context;
	int r = mdb_get(access->txn->mdb, table_of(access), &access->key, &access->value);

	if (!r)
		unseal(access);
	return r;
}

/* Is the cursor's key readable, and on the right side of @from, where the move began? A damaged
 * page can send a cursor round in circles. */
static bool follows(const struct access *access, const MDB_val *from)
{
	const MDB_val *key = &access->key;

	if (key->mv_size == 0 || key->mv_size > LMDB_KEY_MAX)
		return false;
	(void)*((const volatile uint8_t *)key->mv_data + key->mv_size - 1);
	if (access->op != MDB_SET_RANGE && access->op != MDB_NEXT)
		return true;
	const size_t size = key->mv_size < from->mv_size ? key->mv_size : from->mv_size;
	int order = memcmp(key->mv_data, from->mv_data, size);
	if (order == 0)
		order = (key->mv_size > from->mv_size) - (key->mv_size < from->mv_size);
	return order > 0 || (order == 0 && access->op == MDB_SET_RANGE);
}

static int move(void *context)
{
	struct access *access = context;
	const MDB_val from = access->key;
	int r = access->cursor ? 0 : wfs_txn_cursor(access->txn, access->table, &access->cursor);

	if (!r)
		r = mdb_cursor_get(access->cursor, &access->key, &access->value, access->op);
	if (!r && !follows(access, &from))
		r = MDB_CORRUPTED;
	if (!r)
		unseal(access);
	return r;
}

static int count(void *context)
{
	struct access *access = context;

	return mdb_stat(access->txn->mdb, table_of(access), &access->stat);
}

static int open_cursor(void *context)
{
	struct access *access = context;
	int r = count(access); /* as in wfs_txn_cursor(), finds the table's root before mallocs */

	if (!r)
		r = mdb_cursor_open(access->txn->mdb, table_of(access), &access->cursor);
	return r;
}

/* Uses the transaction's cursors, because mdb_put() and mdb_del() would put a cursor on the stack
 * into the transaction's list, where a jump out of the call would leave it. */
static int put(void *context)
{
	struct access *access = context;
	int r = wfs_txn_cursor(access->txn, access->table, &access->cursor);

	if (!r)
		r = mdb_cursor_put(
			access->cursor, &access->key, &access->value, access->flags | MDB_RESERVE);
	return r;
}

static int drop(void *context)
{
	struct access *access = context;
	int r = wfs_txn_cursor(access->txn, access->table, &access->cursor);

	if (!r)
		r = mdb_cursor_get(access->cursor, &access->key, &access->value, MDB_SET);
	return r ? r : mdb_cursor_del(access->cursor, 0);
}

static int get_as_it_is(void *context)
{
	struct access *access = context;
	int r = mdb_get(access->txn->mdb, table_of(access), &access->key, &access->value);

	if (r)
		return r;
	if (access->value.mv_size < access->copy_size)
		access->copy_size = access->value.mv_size;
	memcpy(access->copy, access->value.mv_data, access->copy_size);
	return 0;
}

/* --- rows --- */

/* Makes a guarded call that reads; a table that an older format lacks has no rows. */
static int look(int (*call)(void *context), struct access *access)
{
	if (!wfs_store_has(access->txn->store, access->table))
		return MDB_NOTFOUND;
	return guard_call(call, access);
}

int row_get(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value)
{
	struct access access = {.txn = txn, .table = table, .key = row_val_of(key)};
	int r = wfs_store_error(look(get, &access));

	if (r)
		return note_failure(txn, table, key, r);
	if (access.damaged)
		return row_bad(txn, table, key);
	*ret_value = row_bytes_of(access.value);
	return 0;
}

int row_peek(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, void *ret_bytes,
	size_t size, size_t *ret_size)
{
	struct access access = {.txn = txn,
		.table = table,
		.key = row_val_of(key),
		.copy = ret_bytes,
		.copy_size = size};
	int r = wfs_store_error(look(get_as_it_is, &access));

	if (!r)
		*ret_size = access.copy_size;
	return r;
}

/* Makes a change. If it ends in the middle, the transaction can only be dropped. */
static int change(int (*call)(void *context), struct access *access)
{
	if (access->txn->broken)
		return -EIO;
	const int r = guard_call(call, access);
	access->txn->broken = r == MDB_CORRUPTED;
	return note_failure(
		access->txn, access->table, row_bytes_of(access->key), wfs_store_error(r));
}

/* Reserves the value and writes its parts there, without joining them in memory first. */
int row_put(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, const struct row *row,
	struct wfs_bytes tail, unsigned int flags)
{
	struct access access = {
		.txn = txn,
		.table = table,
		.key = row_val_of(key),
		.value.mv_size = row->size + tail.size + WFS_SEAL_SIZE,
		.flags = flags,
	};
	int r = change(put, &access);

	if (r)
		return r;
	uint8_t *value = access.value.mv_data;
	memcpy(value, row->bytes, row->size);
	if (tail.size)
		memcpy(value + row->size, tail.data, tail.size);
	wfs_row_seal(
		table, key, WFS_BYTES(value, row->size + tail.size), value + row->size + tail.size);
	return 0;
}

int row_drop(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	struct access access = {.txn = txn, .table = table, .key = row_val_of(key)};

	return change(drop, &access);
}

uint64_t row_count_max(const struct wfs_txn *txn)
{
	/* A transaction may have added rows for which the file has not grown yet. */
	return txn->writing ? UINT64_MAX : wfs_store_data_bytes(txn->store) / ROW_ROOM_MIN;
}

int row_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count)
{
	struct access access = {.txn = txn, .table = table};
	int r = wfs_store_error(look(count, &access));

	if (r && r != -ENOENT)
		return r;
	/* A damaged number would keep loops busy for years. */
	if (access.stat.ms_entries > row_count_max(txn)) {
		wfs_damage_note("data.mdb: table '%s' counts more rows than there is room for",
			wfs_table_name(table));
		return -EIO;
	}
	*ret_count = access.stat.ms_entries;
	return 0;
}

int row_cursor_open(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor)
{
	struct access access = {.txn = txn, .table = table};
	int r = wfs_store_error(look(open_cursor, &access));

	if (!r)
		*ret_cursor = access.cursor;
	return r;
}

/* Return: 0, -ENOENT, -EBADMSG (the row is damaged, and the cursor is on it), -EIO (the cursor has
 * no position any more), … */
static int move_to(struct access *access, struct wfs_bytes *key, struct wfs_bytes *ret_value)
{
	access->key = row_val_of(*key);
	int r = wfs_store_error(look(move, access));
	if (r)
		return note_failure(access->txn, access->table, *key, r);
	*key = row_bytes_of(access->key);
	if (access->damaged) {
		note(access->txn, access->table, *key, "is damaged");
		return -EBADMSG;
	}
	*ret_value = row_bytes_of(access->value);
	return 0;
}

int row_cursor_move(const struct row_cursor *cursor, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value)
{
	struct access access = {
		.txn = cursor->txn, .table = cursor->table, .cursor = cursor->mdb, .op = op};

	return move_to(&access, key, ret_value);
}

int row_seek(struct wfs_txn *txn, enum wfs_table table, MDB_cursor_op op, struct wfs_bytes *key,
	struct wfs_bytes *ret_value)
{
	struct access access = {.txn = txn, .table = table, .op = op};
	int r = move_to(&access, key, ret_value);

	/* The position of a cursor that LMDB left in the middle of a move is not to be trusted. */
	if (r && r != -ENOENT && r != -EBADMSG)
		wfs_txn_cursor_drop(txn, table);
	return r == -EBADMSG ? -EIO : r;
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

/* Is the row before the place of @key damaged? It may be the row of @key with a damaged key.
 * Return: 0, -EIO. */
static int check_before(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key)
{
	struct wfs_bytes place = key;
	struct wfs_bytes value;
	int r = row_seek(txn, table, MDB_SET_RANGE, &place, &value);

	if (!r || r == -ENOENT)
		r = row_seek(txn, table, r ? MDB_LAST : MDB_PREV, &place, &value);
	return r == -ENOENT ? 0 : r;
}

int row_find(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_bytes *ret_value)
{
	int r = row_get(txn, table, key, ret_value);

	if (r != -ENOENT)
		return r;
	r = check_before(txn, table, key);
	return r ? r : -ENOENT;
}

int row_seek_first(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes *key,
	struct wfs_bytes *ret_value)
{
	const struct wfs_bytes from = *key;
	int r = row_seek(txn, table, MDB_SET_RANGE, key, ret_value);

	if ((r && r != -ENOENT) || (!r && wfs_bytes_equal(*key, from)))
		return r;
	r = check_before(txn, table, from);
	if (r)
		return r;
	*key = from;
	return row_seek(txn, table, MDB_SET_RANGE, key, ret_value);
}
