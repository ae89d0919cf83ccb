/* SPDX-License-Identifier: Apache-2.0 */
/* Records, by number and by place in log.jsonl. */
#include "kernel/store/tables.h"

#include "kernel/base/damage.h"
#include "kernel/store/row.h"

int wfs_journal_append(struct wfs_txn *txn, uint64_t seq, uint64_t offset, struct wfs_bytes line)
{
	struct row key = row_key_u64(seq);
	struct row row = row_key_u64(offset);

	return row_put(txn, WFS_TABLE_JOURNAL, row_bytes(&key), &row, line, MDB_APPEND);
}

int wfs_journal_get(
	struct wfs_txn *txn, uint64_t seq, uint64_t *ret_offset, struct wfs_bytes *ret_line)
{
	struct row key = row_key_u64(seq);
	struct wfs_journal_cut cut;
	struct wfs_bytes value;
	int r = wfs_journal_cut_get(txn, &cut);

	if (!r && seq < cut.first_seq)
		return -ENOENT;
	if (!r)
		r = row_get(txn, WFS_TABLE_JOURNAL, row_bytes(&key), &value);
	if (r)
		return r;
	struct row_reader reader = row_reader_of(value);
	uint64_t offset = row_take_u64(&reader);
	if (reader.bad || reader.left == 0)
		return row_bad(txn, WFS_TABLE_JOURNAL, row_bytes(&key));
	*ret_offset = offset;
	*ret_line = row_rest_of(&reader);
	return 0;
}

int wfs_journal_height(struct wfs_txn *txn, uint64_t *ret_height)
{
	uint64_t first;
	uint64_t last;
	int r = row_edge_key(txn, WFS_TABLE_JOURNAL, MDB_LAST, UINT64_MAX, &last);

	if (!r)
		r = wfs_journal_first(txn, &first);
	/* Records have no gaps, so that loops over them end. */
	if (!r && last + 1 - first > row_count_max(txn))
		r = wfs_row_bad(txn, WFS_TABLE_JOURNAL, last);
	if (r)
		return r;
	*ret_height = last + 1;
	return 0;
}

int wfs_journal_first(struct wfs_txn *txn, uint64_t *ret_seq)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(txn, &cut);

	if (r || cut.count == 0)
		return r ? r : row_edge_key(txn, WFS_TABLE_JOURNAL, MDB_FIRST, 0, ret_seq);
	*ret_seq = cut.first_seq;
	return 0;
}

int wfs_journal_own_first(struct wfs_txn *txn, uint64_t *ret_seq)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(txn, &cut);

	if (!r)
		*ret_seq = cut.count > 0 ? cut.first_seq + 1 : 0;
	return r;
}

/* Finds a readable record between @low and @end (both excluded): the first from @from on, otherwise
 * the last before @from. Return: 0, -EIO (none can be read), … */
static int nearest(struct wfs_txn *txn, uint64_t low, uint64_t from, uint64_t end,
	uint64_t *ret_seq, uint64_t *ret_start)
{
	struct wfs_bytes line;
	int r = -EIO;

	for (uint64_t seq = from; r == -EIO && seq < end; seq++) {
		r = wfs_journal_get(txn, seq, ret_start, &line);
		*ret_seq = seq;
	}
	for (uint64_t seq = from - 1; r == -EIO && seq > low; seq--) {
		r = wfs_journal_get(txn, seq, ret_start, &line);
		*ret_seq = seq;
	}
	return r;
}

int wfs_journal_at_offset(struct wfs_txn *txn, uint64_t offset, uint64_t *ret_seq)
{
	struct wfs_bytes line;
	uint64_t start = 0;
	uint64_t low;
	uint64_t height;
	int r = wfs_journal_first(txn, &low);

	if (!r)
		r = wfs_journal_height(txn, &height);
	if (r)
		return r;
	if (low >= height)
		return -ENOENT;
	/* Invariant: the wanted record is in [low, high). Offsets rise with seq.
	 * Skips damaged records. */
	for (uint64_t high = height; high - low > 1;) {
		uint64_t seq;

		r = nearest(txn, low, low + (high - low) / 2, high, &seq, &start);
		if (r == -EIO)
			break; /* no readable record after low */
		if (r)
			return r;
		if (start <= offset)
			low = seq;
		else
			high = seq;
	}
	r = wfs_journal_get(txn, low, &start, &line);
	if (r)
		return r;
	if (offset >= start && offset - start < line.size) {
		wfs_damage_forget(); /* of records that were skipped */
		*ret_seq = low;
		return 0;
	}
	if (offset < start || low + 1 == height)
		return -ENOENT;
	/* The byte is in a later record, which cannot be read;
	 * or there is a gap between two lines. */
	r = wfs_journal_get(txn, low + 1, &start, &line);
	return r ? r : wfs_row_bad(txn, WFS_TABLE_JOURNAL, low);
}
