/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of cells or records in order of creation, and the sum of each set. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

/*
 * The name of a set is its kind, the number of its texts, and each text after its size. So no name
 * is the beginning of another one, and the rows of a set are one range: first the sum, whose key is
 * the name, then the items, whose keys are the name and a cell id.
 */
enum {
	TEXT_HASHED = 0xff, /* instead of a size: the text was too long, its hash follows */
	TEXTS_AT = 1,       /* offset of the number of texts */
};

void wfs_index_set_init(struct wfs_index_set *set, uint8_t kind)
{
	set->bytes[0] = kind;
	set->bytes[TEXTS_AT] = 0;
	set->size = TEXTS_AT + 1;
}

static void set_append(struct wfs_index_set *set, uint8_t mark, const void *data, size_t size)
{
	wfs_require(set->size + 1 + size <= sizeof(set->bytes));
	set->bytes[set->size++] = mark;
	if (size)
		memcpy(set->bytes + set->size, data, size);
	set->size += size;
	set->bytes[TEXTS_AT]++;
}

void wfs_index_set_add(struct wfs_index_set *set, struct wfs_bytes text)
{
	if (text.size <= WFS_INDEX_TEXT_MAX) {
		set_append(set, (uint8_t)text.size, text.data, text.size);
	} else {
		const struct wfs_hash hash = wfs_hash_of(text.data, text.size);

		set_append(set, TEXT_HASHED, hash.bytes, WFS_HASH_SIZE);
	}
}

/* Return: the size of the name that a key begins with, or 0. */
static size_t name_size(struct wfs_bytes key)
{
	const uint8_t *const bytes = key.data;
	size_t size = TEXTS_AT + 1;

	if (key.size < size || bytes[TEXTS_AT] > WFS_INDEX_TEXTS_MAX)
		return 0;
	for (uint8_t i = 0; i < bytes[TEXTS_AT]; i++) {
		if (size >= key.size)
			return 0;
		size += 1 + (bytes[size] == TEXT_HASHED ? (size_t)WFS_HASH_SIZE : bytes[size]);
	}
	return size <= key.size && size <= WFS_INDEX_SET_SIZE_MAX ? size : 0;
}

/* --- rows --- */

/* Key of an item: at most WFS_INDEX_SET_SIZE_MAX + 8 bytes, below LMDB's 511. */
struct item_key {
	uint8_t bytes[WFS_INDEX_SET_SIZE_MAX + sizeof(uint64_t)];
	size_t size;
};

static struct wfs_bytes item_key_of(
	const struct wfs_index_set *set, uint64_t cell_id, struct item_key *key)
{
	const struct row id = row_key_u64(cell_id);

	memcpy(key->bytes, set->bytes, set->size);
	memcpy(key->bytes + set->size, id.bytes, id.size);
	key->size = set->size + id.size;
	return WFS_BYTES(key->bytes, key->size);
}

static struct wfs_bytes sum_key(const struct wfs_index_set *set)
{
	return WFS_BYTES(set->bytes, set->size);
}

int wfs_index_get(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id,
	uint64_t *ret_amount)
{
	struct item_key key;
	struct wfs_bytes value;
	int r = row_find(txn, WFS_TABLE_INDEX, item_key_of(set, cell_id, &key), &value);

	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	const uint64_t amount = row_take_u64(&reader);
	if (reader.bad)
		return row_bad(txn, WFS_TABLE_INDEX, WFS_BYTES(key.bytes, key.size));
	*ret_amount = amount;
	return 0;
}

static int sum_decode(struct wfs_bytes value, struct wfs_index_sum *ret_sum)
{
	struct row_reader reader = row_reader_of(value);
	struct wfs_index_sum sum = {.count = row_take_u64(&reader)};

	sum.amount = row_take_u64(&reader);
	if (reader.bad)
		return -EIO;
	*ret_sum = sum;
	return 0;
}

int wfs_index_sum_get(
	struct wfs_txn *txn, const struct wfs_index_set *set, struct wfs_index_sum *ret_sum)
{
	struct wfs_bytes value;
	int r = row_find(txn, WFS_TABLE_INDEX, sum_key(set), &value);

	if (r == -ENOENT) {
		*ret_sum = (struct wfs_index_sum){0};
		return 0;
	}
	if (!r && sum_decode(value, ret_sum))
		r = row_bad(txn, WFS_TABLE_INDEX, sum_key(set));
	return r;
}

/* Writes the sum of a set, or removes it for an empty set. */
static int sum_put(
	struct wfs_txn *txn, const struct wfs_index_set *set, const struct wfs_index_sum *sum)
{
	struct row row = row_key_u64(sum->count);

	if (sum->count == 0)
		return row_drop(txn, WFS_TABLE_INDEX, sum_key(set));
	row_add_u64(&row, sum->amount);
	return row_put(txn, WFS_TABLE_INDEX, sum_key(set), &row, WFS_BYTES(NULL, 0), 0);
}

int wfs_index_add(
	struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id, uint64_t amount)
{
	const struct row row = row_key_u64(amount);
	struct wfs_index_sum sum;
	struct item_key key;
	uint64_t present;
	int r = wfs_index_get(txn, set, cell_id, &present);

	if (r != -ENOENT)
		return r ? r : -EEXIST;
	r = wfs_index_sum_get(txn, set, &sum);
	if (r)
		return r;
	sum.count++;
	sum.amount += amount;
	r = row_put(
		txn, WFS_TABLE_INDEX, item_key_of(set, cell_id, &key), &row, WFS_BYTES(NULL, 0), 0);
	return r ? r : sum_put(txn, set, &sum);
}

int wfs_index_remove(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id)
{
	struct wfs_index_sum sum;
	struct item_key key;
	uint64_t amount;
	int r = wfs_index_get(txn, set, cell_id, &amount);

	if (!r)
		r = wfs_index_sum_get(txn, set, &sum);
	if (!r && sum.count == 0)
		r = row_bad(txn, WFS_TABLE_INDEX, sum_key(set));
	if (r)
		return r;
	sum.count--;
	sum.amount -= amount;
	r = row_drop(txn, WFS_TABLE_INDEX, item_key_of(set, cell_id, &key));
	return r ? r : sum_put(txn, set, &sum);
}

/* Finds the first row of a set of the kind of @set, from the name of @set on, or the first item
 * after @from of the set itself. */
static int seek_row(
	struct wfs_txn *txn, struct wfs_bytes from, uint8_t kind, struct wfs_index_row *ret_row)
{
	struct wfs_bytes key = from;
	struct wfs_bytes value;
	int r = row_seek(txn, WFS_TABLE_INDEX, MDB_SET_RANGE, &key, &value);

	if (!r && index_key_read(key, ret_row))
		r = row_bad(txn, WFS_TABLE_INDEX, key);
	return !r && ret_row->set.bytes[0] != kind ? -ENOENT : r;
}

int wfs_index_remove_below(
	struct wfs_txn *txn, struct wfs_index_set *set, uint64_t end, uint32_t items_max)
{
	const uint8_t kind = set->bytes[0];
	struct wfs_bytes from = sum_key(set);
	struct wfs_index_row row;
	struct item_key key;
	int r = 0;

	for (uint32_t i = 0; i < items_max; i++) {
		r = seek_row(txn, from, kind, &row);
		if (r)
			break;
		*set = row.set;
		/* Items come after the sum; that of number 0 is a record that no run has. */
		if (row.is_sum)
			from = item_key_of(set, 0, &key);
		else if (row.cell_id < end)
			r = wfs_index_remove(txn, set, row.cell_id);
		else
			from = item_key_of(set, UINT64_MAX, &key);
		if (r)
			break;
	}
	return r == -ENOENT ? 0 : r ? r : 1;
}

int wfs_index_next(struct wfs_txn *txn, struct wfs_index_set *set, uint64_t *cell_id)
{
	const uint8_t kind = set->bytes[0];
	const struct wfs_index_set after = *set;
	struct wfs_index_row row = {.is_sum = true};
	struct item_key key;
	int r = 0;

	(void)item_key_of(&after, *cell_id + 1, &key); /* sums are before items */
	while (!r && row.is_sum) {
		r = seek_row(txn, WFS_BYTES(key.bytes, key.size), kind, &row);
		if (!r && row.is_sum)
			(void)item_key_of(&row.set, 1, &key);
	}
	if (r)
		return r;
	*set = row.set;
	*cell_id = row.cell_id;
	return 0;
}

/* --- names --- */

int index_key_read(struct wfs_bytes key, struct wfs_index_row *ret_row)
{
	const size_t size = name_size(key);
	struct wfs_index_row row = {.set.size = size};

	if (size == 0)
		return -EIO;
	struct row_reader reader =
		row_reader_of(WFS_BYTES((const uint8_t *)key.data + size, key.size - size));
	memcpy(row.set.bytes, key.data, size);
	row.is_sum = reader.left == 0;
	row.cell_id = row.is_sum ? 0 : row_take_u64(&reader);
	if (reader.bad || reader.left > 0)
		return -EIO;
	*ret_row = row;
	return 0;
}

void index_set_text(const struct wfs_index_set *set, char *ret_text, size_t size)
{
	const uint8_t *at = set->bytes + TEXTS_AT + 1;
	size_t done = 0;

	ret_text[0] = '\0';
	for (uint8_t i = 0; i < set->bytes[TEXTS_AT] && done < size; i++) {
		const bool hashed = *at == TEXT_HASHED;
		const size_t part = hashed ? (size_t)WFS_HASH_SIZE : *at;

		done += (size_t)snprintf(ret_text + done, size - done, "%s'%.*s'",
			i > 0 ? ", " : "", hashed ? 3 : (int)part,
			hashed ? "..." : (const char *)at + 1);
		at += 1 + part;
	}
}

void wfs_row_name_index(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t id,
	struct wfs_row_name *ret_name)
{
	struct item_key key;

	wfs_row_name(txn, WFS_TABLE_INDEX, item_key_of(set, id, &key), ret_name);
}

/* --- walking --- */

int wfs_index_walk_init(struct wfs_index_walk *walk, struct wfs_txn *txn,
	const struct wfs_index_set *set, bool newest_first)
{
	MDB_cursor *cursor;
	int r = row_cursor_open(txn, WFS_TABLE_INDEX, &cursor);

	if (r)
		return r;
	*walk = (struct wfs_index_walk){.cursor = cursor,
		.txn = txn,
		.set = *set,
		.newest_first = newest_first,
		.start = newest_first ? UINT64_MAX : 0};
	return 0;
}

/* Moves to the first item, or, for newest first, past the last item and one row back. */
static int walk_start(struct wfs_index_walk *walk, const struct row_cursor *cursor,
	struct item_key *start, struct wfs_bytes *key, struct wfs_bytes *value)
{
	*key = item_key_of(&walk->set, walk->start, start);
	int r = row_cursor_move(cursor, MDB_SET_RANGE, key, value);

	if (!walk->newest_first || (r && r != -ENOENT && r != -EBADMSG))
		return r;
	return row_cursor_move(cursor, r == -ENOENT ? MDB_LAST : MDB_PREV, key, value);
}

static int walk_move(struct wfs_index_walk *walk, struct wfs_bytes *key, struct wfs_bytes *value)
{
	const struct row_cursor cursor = {walk->txn, WFS_TABLE_INDEX, walk->cursor};
	struct item_key from;

	if (!walk->positioned)
		return walk_start(walk, &cursor, &from, key, value);
	*key = item_key_of(&walk->set, walk->cell_id, &from);
	return row_cursor_move(&cursor, walk->newest_first ? MDB_PREV : MDB_NEXT, key, value);
}

int wfs_index_walk_next(struct wfs_index_walk *walk, uint64_t *ret_cell_id)
{
	struct wfs_bytes key;
	struct wfs_bytes value;
	int r = walk_move(walk, &key, &value);

	if (r == -ENOENT)
		return 0;
	if (r)
		return r == -EBADMSG ? -EIO : r;
	if (name_size(key) != walk->set.size ||
		memcmp(key.data, walk->set.bytes, walk->set.size) != 0 ||
		key.size == walk->set.size)
		return 0;
	struct row_reader reader = row_reader_of(
		WFS_BYTES((const uint8_t *)key.data + walk->set.size, key.size - walk->set.size));
	struct row_reader values = row_reader_of(value);
	const uint64_t cell_id = row_take_u64(&reader);
	const uint64_t amount = row_take_u64(&values);
	/* A damaged page can send a cursor round in circles. */
	if (reader.bad || values.bad ||
		(walk->positioned && walk->newest_first && cell_id >= walk->cell_id))
		return row_bad(walk->txn, WFS_TABLE_INDEX, key);
	walk->positioned = true;
	walk->cell_id = cell_id;
	walk->amount = amount;
	*ret_cell_id = cell_id;
	return 1;
}

void wfs_index_walk_done(struct wfs_index_walk *walk)
{
	if (walk->cursor)
		mdb_cursor_close(walk->cursor);
	walk->cursor = NULL;
}

/* --- all rows --- */

static int row_decode(struct wfs_bytes key, struct wfs_bytes value, struct wfs_index_row *ret_row)
{
	struct row_reader values = row_reader_of(value);
	struct wfs_index_row row;
	int r = index_key_read(key, &row);

	if (r)
		return r;
	if (row.is_sum)
		r = sum_decode(value, &row.sum);
	else
		row.sum = (struct wfs_index_sum){1, row_take_u64(&values)};
	if (r || values.bad)
		return -EIO;
	*ret_row = row;
	return 0;
}

int wfs_index_each(struct wfs_txn *txn, wfs_index_each_fn *each, void *context)
{
	struct wfs_bytes key = {0};
	struct wfs_bytes value;
	struct wfs_index_row row;
	int r = row_seek(txn, WFS_TABLE_INDEX, MDB_FIRST, &key, &value);

	while (!r) {
		if (row_decode(key, value, &row))
			return row_bad(txn, WFS_TABLE_INDEX, key);
		r = each(context, &row);
		if (!r)
			r = row_seek(txn, WFS_TABLE_INDEX, MDB_NEXT, &key, &value);
	}
	return r == -ENOENT ? 0 : r;
}
