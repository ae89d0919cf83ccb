/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world's store from an attacker: rows of data.mdb are changed, with correct checksums and
 * hashes. WORLD names a world, SCRATCH a directory on a tmpfs. An input is a list of edits of 8
 * bytes: table, row, kind of edit, place, 4 bytes of data. After them the whole world is read and
 * verified, and something is written. No crash, and no hang.
 */
#include "tests/fuzz/damaged.h"

#include <endian.h>
#include <lmdb.h>

#include "kernel/base/hash.h"
#include "kernel/store/store-impl.h"

enum {
	ROWS_MAX = 4096,
	KEY_MAX = 511,
	VALUE_MAX = 16384,
	EDIT_SIZE = 8,
	EDITS_MAX = 4,
	MAP_SIZE = 64 << 20,
	/* Where texts in rows begin, and their size and hash are (kernel/store/tables-*.c). */
	VERSION_SIZE_AT = 24,
	VERSION_HASH_AT = 40,
	VERSION_TEXT_AT = 73,
	JOURNAL_TEXT_AT = 8,
	TEXT_TEXT_AT = 48,
};

struct row_copy {
	uint8_t key[KEY_MAX];
	uint8_t value[VALUE_MAX];
	size_t key_size;
	size_t value_size; /* without its seal */
};

static const char *const names[] = {
#define TABLE_NAME(constant, name) name,
	WFS_TABLES(TABLE_NAME)
#undef TABLE_NAME
};

static struct row_copy *rows[WFS_TABLE_COUNT];
static size_t counts[WFS_TABLE_COUNT];
static struct damaged world;

static MDB_env *open_env(void)
{
	MDB_env *env;

	FUZZ_MUST(mdb_env_create(&env) == 0);
	FUZZ_MUST(mdb_env_set_maxdbs(env, WFS_TABLE_COUNT) == 0);
	FUZZ_MUST(mdb_env_set_mapsize(env, MAP_SIZE) == 0);
	FUZZ_MUST(mdb_env_open(env, world.directory, MDB_NOSYNC | MDB_NOTLS, 0600) == 0);
	return env;
}

static void copy_rows(MDB_txn *txn, size_t table)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	MDB_dbi dbi;

	rows[table] = calloc(ROWS_MAX, sizeof(*rows[table]));
	FUZZ_MUST(rows[table] != NULL);
	if (mdb_dbi_open(txn, names[table], 0, &dbi) || mdb_cursor_open(txn, dbi, &cursor))
		return;
	while (counts[table] < ROWS_MAX && mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
		struct row_copy *const row = &rows[table][counts[table]];

		if (value.mv_size > VALUE_MAX || value.mv_size < WFS_SEAL_SIZE)
			continue;
		row->key_size = key.mv_size;
		row->value_size = value.mv_size - WFS_SEAL_SIZE;
		memcpy(row->key, key.mv_data, row->key_size);
		memcpy(row->value, value.mv_data, row->value_size);
		counts[table]++;
	}
	mdb_cursor_close(cursor);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	MDB_txn *txn;

	(void)argc;
	(void)argv;
	damaged_init(&world);
	MDB_env *const env = open_env();
	FUZZ_MUST(mdb_txn_begin(env, NULL, 0, &txn) == 0);
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		copy_rows(txn, i);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return 0;
}

/* --- edits of bytes --- */

static void set_bytes(struct row_copy *row, size_t place, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && place + i < row->value_size; i++)
		row->value[place + i] = bytes[i];
}

static void grow(struct row_copy *row, const uint8_t *edit)
{
	for (size_t i = 0; i < edit[3] && row->value_size + WFS_SEAL_SIZE < VALUE_MAX; i++)
		row->value[row->value_size++] = edit[4 + i % 4];
}

/* --- edits of the texts in rows: JSON that is other JSON --- */

static size_t text_at(size_t table)
{
	return table == WFS_TABLE_VERSION    ? VERSION_TEXT_AT
		: table == WFS_TABLE_JOURNAL ? JOURNAL_TEXT_AT
		: table == WFS_TABLE_TEXT    ? TEXT_TEXT_AT
					     : VALUE_MAX;
}

/* Replaces @size bytes at @place by @text. */
static void put_text(struct row_copy *row, size_t place, size_t size, const char *text)
{
	const size_t new_size = strlen(text);

	if (place + size > row->value_size ||
		row->value_size - size + new_size + WFS_SEAL_SIZE > VALUE_MAX)
		return;
	memmove(row->value + place + new_size, row->value + place + size,
		row->value_size - place - size);
	memcpy(row->value + place, text, new_size);
	row->value_size = row->value_size - size + new_size;
}

static bool is_number(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == 'e';
}

/* Finds the @nth number, text or member's name. Return: where it begins, or the row's end. */
static size_t find_nth(
	const struct row_copy *row, size_t from, char kind, size_t nth, size_t *ret_size)
{
	for (size_t at = from; at < row->value_size; at++) {
		const bool quoted = row->value[at] == '"';
		size_t end = at;

		if (quoted) {
			do
				end += row->value[end] == '\\' ? 2 : 1;
			while (end < row->value_size && row->value[end] != '"');
			end++;
		} else {
			while (end < row->value_size && is_number(row->value[end]))
				end++;
		}
		if (end == at || end > row->value_size)
			continue;
		const bool name = quoted && end < row->value_size && row->value[end] == ':';
		const char of_text = name ? 'm' : 't';
		if ((quoted ? of_text : 'n') == kind && nth-- == 0) {
			*ret_size = end - at;
			return at;
		}
		at = end - 1;
	}
	return row->value_size;
}

static void edit_text(struct row_copy *row, size_t from, const uint8_t *edit)
{
	static const char *const numbers[] = {"9223372036854775807", "-9223372036854775808", "-1",
		"0", "1099511627776", "\"x\"", "null", "1"};
	static const char *const texts[] = {
		"\"\"", "null", "7", "{}", "[]", "\"operator\"", "\"\\u0000\"", "\"a/../b\""};
	static const char *const wholes[] = {
		"null", "[]", "{}", "7", "\"x\"", "[[[[[]]]]]", "", "{\"a\":"};
	static const char kinds[] = {'n', 't', 'm'};
	const size_t what = edit[2] % 4;
	const size_t nth = (size_t)edit[3] | (size_t)(edit[5] & 7) << 8;
	size_t size = 0;

	if (from >= row->value_size)
		return;
	if (what == 3) {
		put_text(row, from, row->value_size - from, wholes[edit[4] % 8]);
		return;
	}
	const size_t at = find_nth(row, from, kinds[what], nth, &size);
	put_text(row, at, size,
		what == 0           ? numbers[edit[4] % 8]
			: what == 1 ? texts[edit[4] % 8]
				    : "\"zz\"");
}

/* Makes a version's size and hash fit its new bytes. */
static void fit_version(struct row_copy *row)
{
	const uint8_t *const bytes = row->value + VERSION_TEXT_AT;
	const uint64_t size = row->value_size - VERSION_TEXT_AT;
	const uint64_t big = htobe64(size);
	const struct wfs_hash hash = wfs_hash_of(bytes, (size_t)size);

	memcpy(row->value + VERSION_SIZE_AT, &big, sizeof(big));
	memcpy(row->value + VERSION_HASH_AT, hash.bytes, WFS_HASH_SIZE);
}

/* --- all of them --- */

/* Return: false if the row was deleted. */
static bool change(
	struct row_copy *row, size_t table, const uint8_t *edit, MDB_txn *txn, MDB_dbi dbi)
{
	static const uint8_t ones[2][8] = {{0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	const size_t place = row->value_size ? edit[3] % row->value_size : 0;
	MDB_val old = {row->key_size, row->key};

	switch (edit[2] % 12) {
	case 0:
		set_bytes(row, place, edit + 4, 4);
		break;
	case 1:
		if (row->value_size)
			set_bytes(row, (size_t)(edit[4] << 8 | edit[5]) % row->value_size, edit + 6,
				1);
		break;
	case 2:
		row->value_size = place;
		break;
	case 3:
		grow(row, edit);
		break;
	case 4:
		(void)mdb_del(txn, dbi, &old, NULL);
		return false;
	case 5:
		(void)mdb_del(txn, dbi, &old, NULL);
		row->key[edit[3] % row->key_size] = edit[4];
		break;
	case 6: {
		const struct row_copy *const other = &rows[table][edit[4] % counts[table]];

		memcpy(row->value, other->value, other->value_size);
		row->value_size = other->value_size;
		break;
	}
	case 7:
		set_bytes(row, place, ones[edit[4] & 1], 8);
		break;
	default:
		edit_text(row, text_at(table), edit);
		if (table == WFS_TABLE_VERSION && row->value_size >= VERSION_TEXT_AT)
			fit_version(row);
		break;
	}
	return true;
}

static void apply(MDB_txn *txn, const uint8_t *edit)
{
	static struct row_copy row;
	const size_t table = edit[0] % WFS_TABLE_COUNT;
	MDB_dbi dbi;

	if (!counts[table] || mdb_dbi_open(txn, names[table], 0, &dbi))
		return;
	row = rows[table][(edit[1] | (edit[7] & 3) << 8) % counts[table]];
	if (!change(&row, table, edit, txn, dbi))
		return;
	wfs_row_seal((enum wfs_table)table, WFS_BYTES(row.key, row.key_size),
		WFS_BYTES(row.value, row.value_size), row.value + row.value_size);
	MDB_val key = {row.key_size, row.key};
	MDB_val value = {row.value_size + WFS_SEAL_SIZE, row.value};
	(void)mdb_put(txn, dbi, &key, &value, 0);
}

static void damage(const uint8_t *data, size_t size)
{
	MDB_txn *txn;

	damaged_put(&world, world.image, world.image_size);
	MDB_env *const env = open_env();
	FUZZ_MUST(mdb_txn_begin(env, NULL, 0, &txn) == 0);
	for (size_t i = 0; (i + 1) * EDIT_SIZE <= size && i < EDITS_MAX; i++)
		apply(txn, data + i * EDIT_SIZE);
	FUZZ_MUST(mdb_txn_commit(txn) == 0);
	mdb_env_close(env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	damage(data, size);
	damaged_use(&world);
	return 0;
}
