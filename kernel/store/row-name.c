/* SPDX-License-Identifier: Apache-2.0 */
/* Names of rows for messages. */
#include "kernel/store/row-name.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernel/base/damage.h"
#include "kernel/store/row.h"
#include "kernel/store/tables.h"

enum {
	SCAN_MAX = 1 << 20,  /* rows that a search for a referring row reads */
	CHAIN_MAX = 1 << 10, /* versions of a cell that a search follows */
	PEEK_SIZE = 64 + WFS_KEY_SIZE_MAX + WFS_SEAL_SIZE, /* of a cell's row: facts, key, seal */
	MENDED_KEY_MAX = 64, /* bytes of a damaged key that key_of_seal() tries to repair */
	TEXT_SIZE = 512,
};

/* Offset of the key in a cell's row. */
#define CELL_FACTS_SIZE (6 * sizeof(uint64_t) + 1)
/* Offsets in a version's row, which begins with the cell. */
#define VERSION_PREV_AT sizeof(uint64_t)
#define VERSION_HEIGHT_AT (2 * sizeof(uint64_t))
/* Offset in a text's row, which begins with the record. */
#define TEXT_HASH_AT sizeof(uint64_t)
/* Offset in the row of a listed blob, which begins with height and time. */
#define LISTING_HASH_AT (2 * sizeof(uint64_t))

/* --- searching for a row that refers to another one --- */

/* Decodes the number at offset @at of a row. */
static bool number_at(struct wfs_bytes bytes, size_t at, uint64_t *ret_number)
{
	if (bytes.size < at + sizeof(*ret_number))
		return false;
	struct row_reader reader =
		row_reader_of(WFS_BYTES((const uint8_t *)bytes.data + at, sizeof(*ret_number)));
	*ret_number = row_take_u64(&reader);
	return true;
}

/* What find() searches for: rows with a number at an offset of their value. */
struct wanted {
	enum wfs_table table;
	struct wfs_bytes from;   /* the first key of the search; empty: the table's first */
	struct wfs_bytes prefix; /* that a key must have; the search ends at the first other key */
	size_t at;
	size_t size; /* 4 or 8 bytes */
	uint64_t number;
};

static bool is_wanted(const struct wanted *wanted, struct wfs_bytes value)
{
	if (value.size < wanted->at + wanted->size)
		return false;
	struct row_reader reader =
		row_reader_of(WFS_BYTES((const uint8_t *)value.data + wanted->at, wanted->size));
	return (wanted->size == sizeof(uint32_t) ? row_take_u32(&reader) : row_take_u64(&reader)) ==
		wanted->number;
}

static bool has_prefix(struct wfs_bytes key, struct wfs_bytes prefix)
{
	return key.size >= prefix.size &&
		(prefix.size == 0 || memcmp(key.data, prefix.data, prefix.size) == 0);
}

/* Finds an undamaged row. @ret_key and @ret_value are borrowed from the map. */
static bool find(struct wfs_txn *txn, const struct wanted *wanted, struct wfs_bytes *ret_key,
	struct wfs_bytes *ret_value)
{
	struct row_cursor cursor = {.txn = txn, .table = wanted->table};
	MDB_cursor_op op = wanted->from.size ? MDB_SET_RANGE : MDB_FIRST;
	bool found = false;

	*ret_key = wanted->from;
	if (row_cursor_open(txn, wanted->table, &cursor.mdb))
		return false;
	for (size_t i = 0; !found && i < SCAN_MAX; i++) {
		const int r = row_cursor_move(&cursor, op, ret_key, ret_value);

		if ((r && r != -EBADMSG) || !has_prefix(*ret_key, wanted->prefix))
			break;
		found = !r && is_wanted(wanted, *ret_value);
		op = MDB_NEXT;
	}
	mdb_cursor_close(cursor.mdb);
	return found;
}

/* --- reducers and cells --- */

struct text {
	char bytes[TEXT_SIZE];
};

static void set_text(struct text *text, struct wfs_bytes bytes)
{
	snprintf(text->bytes, sizeof(text->bytes), "%.*s", (int)bytes.size,
		(const char *)bytes.data);
}

/* The name in the reducer's own row, which may be damaged.
 * Return: does a reducer of this name exist? */
static bool name_in_row(struct wfs_txn *txn, uint32_t reducer_id, struct text *name)
{
	const struct row key = row_key_u32(reducer_id);
	uint8_t row[TEXT_SIZE];
	struct wfs_bytes reducer;
	size_t size;

	if (row_peek(txn, WFS_TABLE_REDUCER_NAME, row_bytes(&key), row, sizeof(row), &size) ||
		size <= WFS_SEAL_SIZE || size > WFS_KEY_SIZE_MAX + WFS_SEAL_SIZE)
		return false;
	const struct wfs_bytes told = WFS_BYTES(row, size - WFS_SEAL_SIZE);
	set_text(name, told);
	return row_get(txn, WFS_TABLE_REDUCER, told, &reducer) == 0;
}

static void name_reducer(struct wfs_txn *txn, uint32_t reducer_id, struct text *text)
{
	const struct wanted by_id = {
		.table = WFS_TABLE_REDUCER, .size = sizeof(reducer_id), .number = reducer_id};
	struct wfs_bytes name;
	struct wfs_bytes row;
	struct text own;

	if (txn &&
		(wfs_reducer_name(txn, reducer_id, &name) == 0 || find(txn, &by_id, &name, &row)))
		snprintf(text->bytes, sizeof(text->bytes), "reducer '%.*s'", (int)name.size,
			(const char *)name.data);
	else if (txn && name_in_row(txn, reducer_id, &own))
		snprintf(text->bytes, sizeof(text->bytes), "reducer '%.255s'", own.bytes);
	else
		snprintf(text->bytes, sizeof(text->bytes), "reducer number %" PRIu32, reducer_id);
}

/* A key of the table cell_by_name. */
struct cell_name {
	uint8_t bytes[sizeof(uint32_t) + WFS_KEY_SIZE_MAX];
	size_t size;
};

static void cell_name_of(uint64_t cell_id, struct wfs_bytes key, struct cell_name *name)
{
	const struct row id = row_key_u32(wfs_cell_reducer(cell_id));

	memcpy(name->bytes, id.bytes, id.size);
	if (key.size)
		memcpy(name->bytes + id.size, key.data, key.size);
	name->size = id.size + key.size;
}

/* The key that a cell's row says, which may be damaged. Return: does this key lead to the cell? */
static bool key_in_row(struct wfs_txn *txn, uint64_t cell_id, struct text *key)
{
	const struct row id = row_key_u64(cell_id);
	uint8_t row[PEEK_SIZE];
	uint64_t found = 0;
	size_t size;

	if (row_peek(txn, WFS_TABLE_CELL, row_bytes(&id), row, sizeof(row), &size) ||
		size < CELL_FACTS_SIZE + WFS_SEAL_SIZE ||
		size > CELL_FACTS_SIZE + WFS_KEY_SIZE_MAX + WFS_SEAL_SIZE)
		return false;
	const struct wfs_bytes told =
		WFS_BYTES(row + CELL_FACTS_SIZE, size - CELL_FACTS_SIZE - WFS_SEAL_SIZE);
	set_text(key, told);
	return wfs_cell_find(txn, wfs_cell_reducer(cell_id), told, &found) == 0 && found == cell_id;
}

/* Finds the key of a cell by other rows or its own. Return: is it known? */
static bool key_of(struct wfs_txn *txn, uint64_t cell_id, struct text *key)
{
	struct cell_name first;
	struct wfs_cell cell;
	struct wfs_bytes name;
	struct wfs_bytes row;

	if (wfs_cell_get(txn, cell_id, &cell) == 0) {
		set_text(key, cell.key);
		return true;
	}
	if (key_in_row(txn, cell_id, key))
		return true;
	cell_name_of(cell_id, WFS_BYTES(NULL, 0), &first);
	const struct wfs_bytes prefix = WFS_BYTES(first.bytes, first.size);
	const struct wanted by_name = {.table = WFS_TABLE_CELL_BY_NAME,
		.from = prefix,
		.prefix = prefix,
		.size = sizeof(cell_id),
		.number = cell_id};
	if (!find(txn, &by_name, &name, &row))
		return false;
	set_text(key, WFS_BYTES((const uint8_t *)name.data + first.size, name.size - first.size));
	return true;
}

/* Writes "reducer 'cell', key 'a'". The only cell of a reducer that is not keyed has no key. */
static void name_cell(struct wfs_txn *txn, uint64_t cell_id, struct text *text)
{
	struct text reducer;
	struct text key = {.bytes = ""};

	if (cell_id == wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_MANIFEST)) {
		snprintf(text->bytes, sizeof(text->bytes), "the manifest");
		return;
	}
	if (cell_id == wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_SNAPSHOT)) {
		snprintf(text->bytes, sizeof(text->bytes), "the newest snapshot's hash");
		return;
	}
	name_reducer(txn, wfs_cell_reducer(cell_id), &reducer);
	if (!txn || !key_of(txn, cell_id, &key))
		snprintf(text->bytes, sizeof(text->bytes), "%.200s, cell %" PRIu64, reducer.bytes,
			wfs_cell_ordinal(cell_id));
	else if (*key.bytes)
		snprintf(text->bytes, sizeof(text->bytes), "%.200s, key '%.255s'", reducer.bytes,
			key.bytes);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%.200s", reducer.bytes);
}

/* --- versions --- */

/* Is the version in the chain of versions of the cell? */
static bool leads_to(struct wfs_txn *txn, uint64_t cell_id, uint64_t vid)
{
	struct wfs_version version;
	struct wfs_cell cell;

	if (wfs_cell_get(txn, cell_id, &cell))
		return false;
	version.prev_vid = cell.head_vid;
	for (size_t i = 0; i < CHAIN_MAX && version.prev_vid > vid; i++)
		if (wfs_version_get(txn, version.prev_vid, &version))
			return false;
	return version.prev_vid == vid;
}

/* Finds the cell of a version by the next version, or by the row of the cell, that refers to it. */
static bool find_leading(struct wfs_txn *txn, uint64_t vid, uint64_t *ret_cell_id)
{
	const struct row next = row_key_u64(vid + 1);
	const struct wanted versions = {.table = WFS_TABLE_VERSION,
		.from = row_bytes(&next),
		.at = VERSION_PREV_AT,
		.size = sizeof(vid),
		.number = vid};
	const struct wanted cells = {.table = WFS_TABLE_CELL, .size = sizeof(vid), .number = vid};
	struct wfs_bytes key;
	struct wfs_bytes row;

	if (find(txn, &versions, &key, &row))
		return number_at(row, 0, ret_cell_id);
	return find(txn, &cells, &key, &row) && number_at(key, 0, ret_cell_id);
}

/* Finds the cell of a version by other rows or its own, @row. Return: is it known? */
static bool cell_of_version(
	struct wfs_txn *txn, uint64_t vid, struct wfs_bytes row, uint64_t *ret_cell_id)
{
	struct text key;
	uint64_t told = 0;
	const bool tells = number_at(row, 0, &told);

	if (txn->cell_hint) {
		*ret_cell_id = txn->cell_hint;
		return true;
	}
	if ((tells && leads_to(txn, told, vid)) || !find_leading(txn, vid, ret_cell_id)) {
		*ret_cell_id = told;
		return tells &&
			(wfs_cell_reducer(told) == WFS_REDUCER_ID_KERNEL ||
				key_of(txn, told, &key));
	}
	return true;
}

/* The height that a version's row says. Return: can this be a height of the world? */
static bool height_in_row(struct wfs_txn *txn, struct wfs_bytes row, uint64_t *ret_height)
{
	uint64_t height;

	return number_at(row, VERSION_HEIGHT_AT, ret_height) && *ret_height > 0 &&
		wfs_journal_height(txn, &height) == 0 && *ret_height <= height;
}

static void name_version(struct wfs_txn *txn, uint64_t vid, struct wfs_row_name *name)
{
	const struct row key = row_key_u64(vid);
	uint8_t bytes[PEEK_SIZE];
	struct text cell;
	uint64_t cell_id;
	uint64_t height;
	size_t size = 0;

	if (txn)
		(void)row_peek(
			txn, WFS_TABLE_VERSION, row_bytes(&key), bytes, sizeof(bytes), &size);
	const struct wfs_bytes row = WFS_BYTES(bytes, size);
	if (!txn || !cell_of_version(txn, vid, row, &cell_id)) {
		snprintf(name->text, sizeof(name->text), "version %" PRIu64, vid);
		return;
	}
	name_cell(txn, cell_id, &cell);
	if (height_in_row(txn, row, &height))
		snprintf(name->text, sizeof(name->text),
			"%.400s at height %" PRIu64 " (version %" PRIu64 ")", cell.bytes, height,
			vid);
	else
		snprintf(name->text, sizeof(name->text), "%.400s (version %" PRIu64 ")", cell.bytes,
			vid);
}

/* --- other tables --- */

static void name_hash(const char *what, struct wfs_bytes hash, struct wfs_row_name *name)
{
	char text[WFS_HASH_TEXT_SIZE] = "?";
	struct wfs_hash copy;

	if (hash.size == sizeof(copy.bytes)) {
		memcpy(copy.bytes, hash.data, sizeof(copy.bytes));
		wfs_hash_text(&copy, text);
	}
	snprintf(name->text, sizeof(name->text), "%s %s", what, text);
}

static void name_cell_name(struct wfs_txn *txn, struct wfs_bytes key, struct wfs_row_name *name)
{
	struct row_reader reader = row_reader_of(key);
	const uint32_t reducer_id = row_take_u32(&reader);
	const struct wfs_bytes rest = row_rest_of(&reader);
	struct text cell;
	struct wfs_cell row;
	uint8_t id[sizeof(uint64_t)];
	uint64_t cell_id = 0;
	size_t size = 0;

	/* If the key is damaged, the cell's own row still has it. */
	if (txn)
		(void)row_peek(txn, WFS_TABLE_CELL_BY_NAME, key, id, sizeof(id), &size);
	if (number_at(WFS_BYTES(id, size), 0, &cell_id) &&
		wfs_cell_reducer(cell_id) == reducer_id && wfs_cell_get(txn, cell_id, &row) == 0) {
		name_cell(txn, cell_id, &cell);
		snprintf(name->text, sizeof(name->text), "the name of %.450s", cell.bytes);
		return;
	}
	name_reducer(txn, reducer_id, &cell);
	snprintf(name->text, sizeof(name->text), "the name of %.200s, key '%.*s'", cell.bytes,
		(int)rest.size, (const char *)rest.data);
}

static void name_history(struct wfs_txn *txn, struct wfs_bytes key, struct wfs_row_name *name)
{
	struct row_reader reader = row_reader_of(key);
	const uint64_t cell_id = row_take_u64(&reader);
	const uint64_t height = row_take_u64(&reader);
	struct text cell;

	name_cell(txn, cell_id, &cell);
	snprintf(name->text, sizeof(name->text), "the history of %.400s at height %" PRIu64,
		cell.bytes, height);
}

/* Blobs and texts have a number and a hash: one table has the hash for each number, another one the
 * number for each hash. */
struct numbered {
	enum wfs_table by_number;
	enum wfs_table by_hash;
	size_t hash_at;   /* in the row of a number */
	size_t number_at; /* in the row of a hash */
	const char *what;
};

/* The hash that the row of a number says, which may be damaged.
 * Return: is the row undamaged, or is there a row for this hash? */
static bool hash_in_row(struct wfs_txn *txn, const struct numbered *kind, uint64_t number,
	struct wfs_hash *ret_hash)
{
	const struct row key = row_key_u64(number);
	uint8_t row[LISTING_HASH_AT + WFS_HASH_SIZE];
	struct wfs_bytes value;
	size_t size;

	if (row_peek(txn, kind->by_number, row_bytes(&key), row, sizeof(row), &size) ||
		size < kind->hash_at + WFS_HASH_SIZE)
		return false;
	memcpy(ret_hash->bytes, row + kind->hash_at, WFS_HASH_SIZE);
	return row_get(txn, kind->by_number, row_bytes(&key), &value) == 0 ||
		row_get(txn, kind->by_hash, WFS_BYTES(ret_hash->bytes, WFS_HASH_SIZE), &value) == 0;
}

static void name_numbered(struct wfs_txn *txn, const struct numbered *kind, uint64_t number,
	struct wfs_row_name *name)
{
	const struct wanted by_number = {.table = kind->by_hash,
		.at = kind->number_at,
		.size = sizeof(number),
		.number = number};
	struct wfs_bytes hash;
	struct wfs_bytes row;
	struct wfs_hash own;

	if (txn && hash_in_row(txn, kind, number, &own))
		name_hash(kind->what, WFS_BYTES(own.bytes, WFS_HASH_SIZE), name);
	else if (txn && find(txn, &by_number, &hash, &row))
		name_hash(kind->what, hash, name);
	else
		snprintf(name->text, sizeof(name->text), "%s number %" PRIu64, kind->what, number);
}

/* Ids of cells have a reducer id in their upper bits; smaller numbers are records. */
static void name_index(struct wfs_txn *txn, struct wfs_bytes key, struct wfs_row_name *name)
{
	struct wfs_index_row row;
	struct text texts;
	struct text cell;

	if (index_key_read(key, &row)) {
		snprintf(name->text, sizeof(name->text), "a row of the index");
		return;
	}
	index_set_text(&row.set, texts.bytes, sizeof(texts.bytes));
	if (row.is_sum) {
		snprintf(name->text, sizeof(name->text), "the sum of the index of %.400s",
			texts.bytes);
		return;
	}
	if (wfs_cell_reducer(row.cell_id) == WFS_REDUCER_ID_KERNEL)
		snprintf(cell.bytes, sizeof(cell.bytes), "record %" PRIu64, row.cell_id);
	else
		name_cell(txn, row.cell_id, &cell);
	snprintf(name->text, sizeof(name->text), "%.300s in the index of %.150s", cell.bytes,
		texts.bytes);
}

static void name_by_number(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_row_name *name)
{
	static const struct numbered listing = {WFS_TABLE_BLOB_LISTED, WFS_TABLE_BLOB,
		LISTING_HASH_AT, sizeof(uint64_t), "the listing of blob"};
	static const struct numbered private = {
		WFS_TABLE_TEXT, WFS_TABLE_TEXT_BY_HASH, TEXT_HASH_AT, 0, "private text"};
	struct text reducer;
	struct text cell;

	switch (table) {
	case WFS_TABLE_JOURNAL:
		snprintf(name->text, sizeof(name->text), "record %" PRIu64, number);
		break;
	case WFS_TABLE_REDUCER_NAME:
		name_reducer(txn, (uint32_t)number, &reducer);
		snprintf(name->text, sizeof(name->text), "%.450s", reducer.bytes);
		break;
	case WFS_TABLE_CELL:
		name_cell(txn, number, &cell);
		snprintf(name->text, sizeof(name->text), "%.450s", cell.bytes);
		break;
	case WFS_TABLE_VERSION:
		name_version(txn, number, name);
		break;
	case WFS_TABLE_BLOB_LISTED:
		name_numbered(txn, &listing, number, name);
		break;
	default:
		name_numbered(txn, &private, number, name);
	}
}

static void name_row(
	struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, struct wfs_row_name *name)
{
	struct row_reader reader = row_reader_of(key);

	switch (table) {
	case WFS_TABLE_META:
		snprintf(name->text, sizeof(name->text), "the world's value '%.*s'", (int)key.size,
			(const char *)key.data);
		break;
	case WFS_TABLE_REDUCER:
		snprintf(name->text, sizeof(name->text), "reducer '%.*s'", (int)key.size,
			(const char *)key.data);
		break;
	case WFS_TABLE_REDUCER_NAME:
		name_by_number(txn, table, row_take_u32(&reader), name);
		break;
	case WFS_TABLE_CELL_BY_NAME:
		name_cell_name(txn, key, name);
		break;
	case WFS_TABLE_HISTORY:
		name_history(txn, key, name);
		break;
	case WFS_TABLE_BLOB:
		name_hash("blob", key, name);
		break;
	case WFS_TABLE_TEXT_BY_HASH:
		name_hash("the number of private text", key, name);
		break;
	case WFS_TABLE_CODE_CRASH:
		name_hash("the count of crashes of code", key, name);
		break;
	case WFS_TABLE_INDEX:
		name_index(txn, key, name);
		break;
	default:
		name_by_number(txn, table, row_take_u64(&reader), name);
	}
}

/* Repairs the key of a damaged row, if one byte of it has changed: of all keys that differ in one
 * byte, the right one fits the seal. @bytes: room for the right key. Return: the right key, or
 * @key */
static struct wfs_bytes key_of_seal(
	struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key, uint8_t *bytes)
{
	uint8_t row[PEEK_SIZE];
	uint8_t seal[WFS_SEAL_SIZE];
	size_t size;

	if (!txn || key.size > MENDED_KEY_MAX ||
		row_peek(txn, table, key, row, sizeof(row), &size) || size < WFS_SEAL_SIZE ||
		size == sizeof(row))
		return key;
	const struct wfs_bytes value = WFS_BYTES(row, size - WFS_SEAL_SIZE);
	memcpy(bytes, key.data, key.size);
	for (size_t i = 0; i < key.size; i++) {
		const uint8_t was = bytes[i];

		for (unsigned int mask = 0; mask <= UINT8_MAX; mask++) {
			bytes[i] = was ^ (uint8_t)mask;
			wfs_row_seal(table, WFS_BYTES(bytes, key.size), value, seal);
			if (memcmp(seal, row + value.size, WFS_SEAL_SIZE) == 0)
				return WFS_BYTES(bytes, key.size);
		}
		bytes[i] = was;
	}
	return key;
}

void wfs_row_name(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_row_name *ret_name)
{
	uint8_t right[MENDED_KEY_MAX];

	if (key.size == 0) {
		snprintf(ret_name->text, sizeof(ret_name->text), "data.mdb: table '%s'",
			wfs_table_name(table));
		return;
	}
	if (txn)
		txn->naming = true;
	name_row(txn, table, key_of_seal(txn, table, key, right), ret_name);
	if (txn)
		txn->naming = false;
}

void wfs_row_name_number(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_row_name *ret_name)
{
	const struct row key = row_of_number(table, number);

	wfs_row_name(txn, table, row_bytes(&key), ret_name);
}

int wfs_row_needed(struct wfs_txn *txn, int r)
{
	return r == -ENOENT ? wfs_row_lost(txn, txn->absent_table, txn->absent_number) : r;
}

int wfs_row_name_error(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_error *error)
{
	struct wfs_row_name name;

	wfs_row_name_number(txn, table, number, &name);
	if (error)
		wfs_error_set(error, error->code, "%.400s: %s", name.text, error->message);
	wfs_damage_note("%.400s: its bytes are damaged", name.text);
	return -EIO;
}
