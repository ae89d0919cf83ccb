/* SPDX-License-Identifier: Apache-2.0 */
/* Private texts, by number and by hash. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

int wfs_text_last(struct wfs_txn *txn, uint64_t *ret_number)
{
	uint64_t last;
	int r = row_edge_key(txn, WFS_TABLE_TEXT, MDB_LAST, 0, &last);

	/* Numbers have no gaps, so that loops over them end. */
	if (!r && last > row_count_max(txn))
		r = wfs_row_bad(txn, WFS_TABLE_TEXT, last);
	if (!r)
		*ret_number = last;
	return r;
}

int wfs_text_put(struct wfs_txn *txn, const struct wfs_text *text)
{
	const struct wfs_bytes hash = WFS_BYTES(text->hash.bytes, WFS_HASH_SIZE);
	struct row key = row_key_u64(text->number);
	struct row row = row_key_u64(text->seq);
	WFS_AUTO_BUFFER struct wfs_buffer tail = {0};

	row_add_hash(&row, &text->hash);
	row_add_u32(&row, (uint32_t)text->to.size);
	row_add_u32(&row, (uint32_t)text->of.size);
	wfs_buffer_append(&tail, text->to.data, text->to.size);
	wfs_buffer_append(&tail, text->of.data, text->of.size);
	wfs_buffer_append(&tail, text->bytes.data, text->bytes.size);
	int r = wfs_buffer_check(&tail);
	if (!r)
		r = row_put(txn, WFS_TABLE_TEXT, row_bytes(&key), &row, wfs_buffer_bytes(&tail),
			MDB_APPEND);
	return r ? r : row_put(txn, WFS_TABLE_TEXT_BY_HASH, hash, &key, WFS_BYTES(NULL, 0), 0);
}

int wfs_text_get(struct wfs_txn *txn, uint64_t number, struct wfs_text *ret_text)
{
	struct row key = row_key_u64(number);
	struct wfs_bytes value;
	uint64_t count;
	int r = row_get(txn, WFS_TABLE_TEXT, row_bytes(&key), &value);

	/* Numbers have no gaps. */
	if (r == -ENOENT && number > 0 && row_count(txn, WFS_TABLE_TEXT, &count) == 0 &&
		number <= count)
		return row_lost(txn, WFS_TABLE_TEXT, row_bytes(&key));
	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	struct wfs_text text = {.number = number, .seq = row_take_u64(&reader)};
	row_take(&reader, text.hash.bytes, sizeof(text.hash.bytes));
	const size_t to_size = row_take_u32(&reader);
	const size_t of_size = row_take_u32(&reader);
	if (reader.bad || to_size > reader.left || of_size > reader.left - to_size)
		return row_bad(txn, WFS_TABLE_TEXT, row_bytes(&key));
	text.to = WFS_BYTES(reader.at, to_size);
	text.of = WFS_BYTES(reader.at + to_size, of_size);
	text.bytes = WFS_BYTES(reader.at + to_size + of_size, reader.left - to_size - of_size);
	*ret_text = text;
	return 0;
}

int wfs_text_find(struct wfs_txn *txn, const struct wfs_hash *hash, struct wfs_text *ret_text)
{
	struct wfs_bytes value;
	struct wfs_text text;
	int r = row_find(
		txn, WFS_TABLE_TEXT_BY_HASH, WFS_BYTES(hash->bytes, WFS_HASH_SIZE), &value);

	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	const uint64_t number = row_take_u64(&reader);
	r = reader.bad ? -ENOENT : wfs_text_get(txn, number, &text);
	if (r && r != -ENOENT)
		return r;
	if (r || !wfs_hash_equal(&text.hash, hash))
		return row_bad(txn, WFS_TABLE_TEXT_BY_HASH, WFS_BYTES(hash->bytes, WFS_HASH_SIZE));
	*ret_text = text;
	return 0;
}
