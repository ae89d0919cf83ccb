/* SPDX-License-Identifier: Apache-2.0 */
/* Where the journal was cut: what the meta table has about it, and removing the rows before it. */
#include "kernel/store/tables.h"

#include "kernel/store/row.h"

/* Names in the meta table. */
#define META_CUT "journal_cut"
#define META_TAIL "journal_tail"     /* struct wfs_journal_tail */
#define META_BEGINS "journal_begins" /* offset of the first line after each cut, by its number */

static int cut_bad(struct wfs_txn *txn, const char *name)
{
	return row_bad(txn, WFS_TABLE_META, wfs_bytes_text(name));
}

static int read_cut(struct wfs_txn *txn, struct wfs_journal_cut *ret_cut)
{
	struct wfs_bytes value;
	int r = wfs_meta_get(txn, META_CUT, &value);

	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	struct wfs_journal_cut cut = {.first_seq = row_take_u64(&reader)};
	cut.count = row_take_u64(&reader);
	cut.begin = row_take_u64(&reader);
	cut.next_vid = row_take_u64(&reader);
	cut.genesis_ns = (int64_t)row_take_u64(&reader);
	cut.settled = row_take_byte(&reader);
	if (reader.bad || cut.count == 0 || cut.first_seq == 0)
		return cut_bad(txn, META_CUT);
	*ret_cut = cut;
	return 0;
}

int wfs_journal_cut_get(struct wfs_txn *txn, struct wfs_journal_cut *ret_cut)
{
	if (!txn->cut_known) {
		struct wfs_journal_cut cut = {.settled = true};
		int r = read_cut(txn, &cut);

		if (r && r != -ENOENT)
			return r;
		txn->cut = cut;
		txn->cut_known = true;
	}
	*ret_cut = txn->cut;
	return 0;
}

static int put_cut(struct wfs_txn *txn, const struct wfs_journal_cut *cut)
{
	struct row row = row_key_u64(cut->first_seq);

	row_add_u64(&row, cut->count);
	row_add_u64(&row, cut->begin);
	row_add_u64(&row, cut->next_vid);
	row_add_u64(&row, (uint64_t)cut->genesis_ns);
	row_add_byte(&row, cut->settled);
	txn->cut_known = false;
	return wfs_meta_put(txn, META_CUT, row_bytes(&row));
}

/* Writes where the log begins after the cut; after WFS_JOURNAL_CUTS_MAX cuts, in the place of the
 * oldest. */
static int put_begin(struct wfs_txn *txn, const struct wfs_journal_cut *cut)
{
	const size_t at = (size_t)(cut->count % WFS_JOURNAL_CUTS_MAX) * sizeof(uint64_t);
	const struct row begin = row_key_u64(cut->begin);
	WFS_AUTO_BUFFER struct wfs_buffer begins = {0};
	struct wfs_bytes value;
	int r = wfs_meta_get(txn, META_BEGINS, &value);

	if (!r)
		wfs_buffer_append(&begins, value.data, value.size);
	else if (r != -ENOENT)
		return r;
	while (!wfs_buffer_check(&begins) && begins.size < at + sizeof(uint64_t))
		wfs_buffer_append(&begins, &(uint64_t){0}, sizeof(uint64_t));
	r = wfs_buffer_check(&begins);
	if (r || !begins.data)
		return r ? r : -ENOMEM;
	memcpy(begins.data + at, begin.bytes, begin.size);
	return wfs_meta_put(txn, META_BEGINS, wfs_buffer_bytes(&begins));
}

int wfs_journal_begin_of(struct wfs_txn *txn, uint64_t number, uint64_t *ret_offset)
{
	struct wfs_journal_cut cut;
	struct wfs_bytes value;
	int r = wfs_journal_cut_get(txn, &cut);

	if (!r && number == cut.count % WFS_JOURNAL_CUTS_MAX) {
		*ret_offset = cut.begin;
		return 0;
	}
	if (!r && number > cut.count)
		r = -ENOENT;
	if (!r)
		r = wfs_meta_get(txn, META_BEGINS, &value);
	if (r)
		return r;
	const size_t at = (size_t)number * sizeof(uint64_t);
	if (value.size < at + sizeof(uint64_t))
		return cut_bad(txn, META_BEGINS);
	struct row_reader reader =
		row_reader_of(WFS_BYTES((const char *)value.data + at, sizeof(uint64_t)));
	*ret_offset = row_take_u64(&reader);
	return 0;
}

/* Collects the lines before those that stay, the last one first, until they are enough. */
static int put_tail(struct wfs_txn *txn, const struct wfs_journal_cut *before, uint64_t last_seq)
{
	char bytes[WFS_JOURNAL_TAIL_MAX];
	size_t left = sizeof(bytes);
	struct row row = row_key_u64(0);

	for (uint64_t seq = last_seq; left > 0 && seq + 1 > before->first_seq; seq--) {
		struct wfs_bytes line;
		uint64_t offset;
		int r = wfs_journal_get(txn, seq, &offset, &line);

		if (r)
			return r;
		const size_t part = line.size < left ? line.size : left;
		left -= part;
		memcpy(bytes + left, (const char *)line.data + line.size - part, part);
		if (seq == before->first_seq && before->count > 0)
			row = row_key_u64(offset + line.size);
		if (seq == 0)
			break;
	}
	return row_put(txn, WFS_TABLE_META, wfs_bytes_text(META_TAIL), &row,
		WFS_BYTES(bytes + left, sizeof(bytes) - left), 0);
}

int wfs_journal_tail(struct wfs_txn *txn, struct wfs_journal_tail *ret_tail)
{
	struct wfs_bytes value;
	int r = wfs_meta_get(txn, META_TAIL, &value);

	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	const uint64_t same_from = row_take_u64(&reader);
	if (reader.bad || reader.left > WFS_JOURNAL_TAIL_MAX)
		return cut_bad(txn, META_TAIL);
	*ret_tail = (struct wfs_journal_tail){row_rest_of(&reader), same_from};
	return 0;
}

int wfs_journal_cut(
	struct wfs_txn *txn, const struct wfs_journal_cut *wanted, struct wfs_bytes line)
{
	struct row key = row_key_u64(wanted->first_seq);
	struct wfs_journal_cut cut;
	struct wfs_bytes old;
	uint64_t offset;
	int r = wfs_journal_cut_get(txn, &cut);

	if (!r)
		r = wfs_journal_get(txn, wanted->first_seq, &offset, &old);
	if (r)
		return r;
	const uint64_t end = offset + old.size;
	if (wanted->first_seq <= cut.first_seq || line.size > end - cut.begin)
		return -EINVAL;
	const struct wfs_journal_cut now = {
		.first_seq = wanted->first_seq,
		.count = cut.count + 1,
		.begin = end - line.size,
		.next_vid = wanted->next_vid,
		.genesis_ns = wanted->genesis_ns,
	};
	const struct row begin = row_key_u64(now.begin);
	r = put_tail(txn, &cut, now.first_seq);
	if (!r)
		r = row_put(txn, WFS_TABLE_JOURNAL, row_bytes(&key), &begin, line, 0);
	if (!r)
		r = put_begin(txn, &now);
	return r ? r : put_cut(txn, &now);
}

int wfs_journal_settle(struct wfs_txn *txn, uint64_t number)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(txn, &cut);

	if (r || cut.settled || cut.count != number)
		return r;
	cut.settled = true;
	return put_cut(txn, &cut);
}

int wfs_journal_remove(
	struct wfs_txn *txn, uint32_t rows_max, uint32_t *ret_rows, uint64_t *ret_bytes)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(txn, &cut);

	*ret_rows = 0;
	*ret_bytes = 0;
	while (!r && *ret_rows < rows_max) {
		struct wfs_bytes key;
		struct wfs_bytes value;

		r = row_seek(txn, WFS_TABLE_JOURNAL, MDB_FIRST, &key, &value);
		if (r)
			break;
		struct row_reader reader = row_reader_of(key);
		const uint64_t seq = row_take_u64(&reader);
		const struct row first = row_key_u64(seq);
		if (reader.bad)
			return row_bad(txn, WFS_TABLE_JOURNAL, key);
		if (seq >= cut.first_seq)
			break;
		*ret_bytes += value.size > sizeof(uint64_t) ? value.size - sizeof(uint64_t) : 0;
		r = row_drop(txn, WFS_TABLE_JOURNAL, row_bytes(&first));
		*ret_rows += !r;
	}
	return r;
}
