/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables: round trips, order, missing rows, and damage. */
#include "tests/fixture/store.h"

#include <inttypes.h>

enum { REDUCER = 7 };

static struct wfs_bytes text(const char *string)
{
	return wfs_bytes_text(string);
}

/* --- what is missing --- */

IN_TXN(getters_of_an_empty_store_find_nothing)
{
	struct wfs_reducer reducer;
	struct wfs_version version;
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_cell cell;
	struct wfs_bytes bytes;
	struct wfs_hash hash = {0};
	uint64_t number;

	assert_int_equal(wfs_meta_get(txn, "name", &bytes), -ENOENT);
	assert_int_equal(wfs_journal_get(txn, 0, &number, &bytes), -ENOENT);
	assert_int_equal(wfs_journal_at_offset(txn, 0, &number), -ENOENT);
	assert_int_equal(wfs_reducer_get(txn, "name", 4, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_next(txn, 0, &bytes, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_next_name(txn, text(""), &bytes, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_name(txn, 1, &bytes), -ENOENT);
	assert_int_equal(wfs_cell_find(txn, 1, text("key"), &number), -ENOENT);
	assert_int_equal(wfs_cell_find_next(txn, 1, NULL, &bytes, &number), -ENOENT);
	assert_int_equal(wfs_cell_get(txn, 1, &cell), -ENOENT);
	assert_int_equal(wfs_history_at(txn, 1, UINT64_MAX, &version), -ENOENT);
	assert_int_equal(wfs_version_get(txn, 1, &version), -ENOENT);
	assert_int_equal(wfs_blob_get(txn, &hash, &blob), -ENOENT);
	assert_int_equal(wfs_blob_next(txn, NULL, &blob), -ENOENT);
	assert_int_equal(wfs_blob_listing_get(txn, 1, &listing), -ENOENT);
}

IN_TXN(counters_of_an_empty_store_are_zero)
{
	uint64_t number = 9;

	assert_int_equal(wfs_journal_height(txn, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(wfs_journal_first(txn, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(wfs_version_last(txn, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(wfs_blob_listing_last(txn, &number), 0);
	assert_int_equal(number, 0);
}

/* --- meta --- */

IN_TXN(meta_gives_back_what_was_put_last)
{
	struct wfs_bytes value;

	assert_int_equal(wfs_meta_put(txn, "name", text("first")), 0);
	assert_int_equal(wfs_meta_put(txn, "name", text("second")), 0);

	assert_int_equal(wfs_meta_get(txn, "name", &value), 0);
	assert_bytes_text(value, "second");
}

IN_TXN(first_height_is_one_until_it_is_put)
{
	uint64_t height;

	assert_int_equal(wfs_first_height_get(txn, &height), 0);
	assert_int_equal(height, 1);
	assert_int_equal(wfs_first_height_put(txn, UINT64_C(1) << 39), 0);
	assert_int_equal(wfs_first_height_get(txn, &height), 0);
	assert_int_equal(height, UINT64_C(1) << 39);
}

IN_TXN(first_height_of_nothing_is_damage)
{
	uint64_t height;

	assert_int_equal(wfs_meta_put(txn, "first_height", text("short")), 0);
	assert_int_equal(wfs_first_height_get(txn, &height), -EIO);
	assert_int_equal(wfs_first_height_put(txn, 0), 0);
	assert_int_equal(wfs_first_height_get(txn, &height), -EIO);
}

/* --- journal --- */

static const char *const lines[] = {"one\n", "x\n", "three three\n", "four\n", "5\n"};

static void append_lines(struct wfs_txn *txn, uint64_t first)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lines); i++) {
		assert_int_equal(wfs_journal_append(txn, first + i, offset, text(lines[i])), 0);
		offset += strlen(lines[i]);
	}
}

IN_TXN(journal_gives_each_line_and_its_offset)
{
	uint64_t expected = 0;
	struct wfs_bytes line;
	uint64_t offset;

	append_lines(txn, 0);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lines); i++) {
		assert_int_equal(wfs_journal_get(txn, i, &offset, &line), 0);
		assert_bytes_text(line, lines[i]);
		assert_int_equal(offset, expected);
		expected += line.size;
	}
	assert_int_equal(wfs_journal_get(txn, WFS_ARRAY_COUNT(lines), &offset, &line), -ENOENT);
}

IN_TXN(journal_finds_the_record_of_every_byte)
{
	uint64_t offset = 0;
	uint64_t seq;

	append_lines(txn, 0);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lines); i++) {
		for (size_t byte = 0; lines[i][byte]; byte++, offset++) {
			assert_int_equal(wfs_journal_at_offset(txn, offset, &seq), 0);
			assert_int_equal(seq, i);
		}
	}
	assert_int_equal(wfs_journal_at_offset(txn, offset, &seq), -ENOENT);
	assert_int_equal(wfs_journal_at_offset(txn, UINT64_MAX, &seq), -ENOENT);
}

IN_TXN(journal_may_begin_late)
{
	uint64_t number;

	append_lines(txn, 100);

	assert_int_equal(wfs_journal_first(txn, &number), 0);
	assert_int_equal(number, 100);
	assert_int_equal(wfs_journal_height(txn, &number), 0);
	assert_int_equal(number, 100 + WFS_ARRAY_COUNT(lines));
	assert_int_equal(wfs_journal_at_offset(txn, 4, &number), 0);
	assert_int_equal(number, 101);
}

IN_TXN(journal_refuses_a_seq_that_is_there)
{
	append_lines(txn, 0);

	assert_int_equal(wfs_journal_append(txn, 2, 0, text("again\n")), -EEXIST);
}

IN_TXN(journal_row_without_a_line_is_damage)
{
	struct wfs_bytes line;
	uint64_t offset;

	assert_int_equal(wfs_journal_append(txn, 0, 0, text("")), 0);

	assert_int_equal(wfs_journal_get(txn, 0, &offset, &line), -EIO);
}

static void cut_at(struct wfs_txn *txn, uint64_t seq, const char *line)
{
	const struct wfs_journal_cut wanted = {.first_seq = seq, .next_vid = 7, .genesis_ns = 9};

	assert_int_equal(wfs_journal_cut(txn, &wanted, text(line)), 0);
}

IN_TXN(a_cut_hides_the_records_before_it_and_keeps_the_offsets_after_it)
{
	struct wfs_journal_cut cut;
	struct wfs_bytes line;
	uint64_t number;

	append_lines(txn, 0);
	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_int_equal(cut.count, 0);
	assert_true(cut.settled);
	cut_at(txn, 2, "cut\n");

	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_int_equal(cut.first_seq, 2);
	assert_int_equal(cut.count, 1);
	assert_int_equal(cut.begin, 4 + 2 + 12 - 4);
	assert_int_equal(cut.next_vid, 7);
	assert_int_equal(cut.genesis_ns, 9);
	assert_false(cut.settled);
	for (uint64_t seq = 0; seq < 2; seq++)
		assert_int_equal(wfs_journal_get(txn, seq, &number, &line), -ENOENT);
	assert_int_equal(wfs_journal_get(txn, 2, &number, &line), 0);
	assert_bytes_text(line, "cut\n");
	assert_int_equal(number, cut.begin);
	assert_int_equal(wfs_journal_get(txn, 3, &number, &line), 0);
	assert_bytes_text(line, "four\n");
	assert_int_equal(number, 18);
	assert_int_equal(wfs_journal_first(txn, &number), 0);
	assert_int_equal(number, 2);
	assert_int_equal(wfs_journal_height(txn, &number), 0);
	assert_int_equal(number, WFS_ARRAY_COUNT(lines));
	assert_int_equal(wfs_journal_at_offset(txn, 13, &number), -ENOENT);
	assert_int_equal(wfs_journal_at_offset(txn, 14, &number), 0);
	assert_int_equal(number, 2);
}

IN_TXN(a_cut_is_settled_once)
{
	struct wfs_journal_cut cut;

	append_lines(txn, 0);
	cut_at(txn, 1, "c\n");
	assert_int_equal(wfs_journal_settle(txn, 1), 0);

	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_true(cut.settled);
	assert_int_equal(cut.count, 1);
	cut_at(txn, 2, "c\n");
	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_false(cut.settled);
	/* A collection that was slow has looked at the versions of the cut before only. */
	assert_int_equal(wfs_journal_settle(txn, 1), 0);
	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_false(cut.settled);
	assert_int_equal(wfs_journal_settle(txn, 2), 0);
	assert_int_equal(wfs_journal_cut_get(txn, &cut), 0);
	assert_true(cut.settled);
}

IN_TXN(a_cut_that_frees_nothing_is_refused)
{
	struct wfs_journal_cut wanted = {.first_seq = 1};
	struct wfs_bytes line;
	uint64_t offset;

	append_lines(txn, 0);

	assert_int_equal(wfs_journal_cut(txn, &wanted, text("longer than all\n")), -EINVAL);
	wanted.first_seq = WFS_ARRAY_COUNT(lines);
	assert_int_equal(wfs_journal_cut(txn, &wanted, text("c\n")), -ENOENT);
	cut_at(txn, 2, "c\n");
	wanted.first_seq = 2;
	assert_int_equal(wfs_journal_cut(txn, &wanted, text("c\n")), -EINVAL);
	assert_int_equal(wfs_journal_get(txn, 2, &offset, &line), 0);
}

IN_TXN(rows_before_a_cut_are_removed_in_steps)
{
	uint32_t rows;
	uint64_t bytes;

	append_lines(txn, 0);
	assert_int_equal(wfs_journal_remove(txn, 10, &rows, &bytes), 0);
	assert_int_equal(rows, 0);
	cut_at(txn, 3, "c\n");

	assert_int_equal(wfs_journal_remove(txn, 2, &rows, &bytes), 0);
	assert_int_equal(rows, 2);
	assert_int_equal(bytes, 4 + 2);
	assert_int_equal(wfs_journal_remove(txn, 2, &rows, &bytes), 0);
	assert_int_equal(rows, 1);
	assert_int_equal(bytes, 12);
	assert_int_equal(wfs_journal_remove(txn, 2, &rows, &bytes), 0);
	assert_int_equal(rows, 0);
}

IN_TXN(the_begin_of_the_log_is_known_for_the_newest_cuts)
{
	enum { RECORDS = WFS_JOURNAL_CUTS_MAX + 10 };
	uint64_t offset;

	for (uint64_t seq = 0; seq < RECORDS; seq++)
		assert_int_equal(wfs_journal_append(txn, seq, seq * 4, text("abc\n")), 0);
	assert_int_equal(wfs_journal_begin_of(txn, 0, &offset), 0);
	assert_int_equal(offset, 0);
	assert_int_equal(wfs_journal_begin_of(txn, 1, &offset), -ENOENT);
	for (uint64_t seq = 1; seq < RECORDS; seq++)
		cut_at(txn, seq, "c\n");

	const uint64_t count = RECORDS - 1;
	for (uint64_t cut = count; cut > count - WFS_JOURNAL_CUTS_MAX; cut--) {
		assert_int_equal(wfs_journal_begin_of(txn, cut % WFS_JOURNAL_CUTS_MAX, &offset), 0);
		assert_int_equal(offset, cut * 4 + 2);
	}
}

/* --- reducers --- */

static const struct wfs_reducer some_reducer = {
	.reducer_id = 3,
	.keyed = true,
	.created_height = UINT64_C(0x0102030405060708),
	.live_count = 5,
	.cell_count = 6,
	.names_ns = -7,
};

static void put_reducers(struct wfs_txn *txn, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct wfs_reducer reducer = {.reducer_id = (uint32_t)i + 1};

		assert_int_equal(wfs_reducer_put(txn, names[i], &reducer), 0);
	}
}

IN_TXN(reducer_comes_back_as_it_was_put)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;

	assert_int_equal(wfs_reducer_put(txn, "counter", &some_reducer), 0);

	assert_int_equal(wfs_reducer_get(txn, "counter", 7, &reducer), 0);
	assert_int_equal(reducer.reducer_id, 3);
	assert_true(reducer.keyed);
	assert_true(reducer.created_height == some_reducer.created_height);
	assert_int_equal(reducer.live_count, 5);
	assert_int_equal(reducer.cell_count, 6);
	assert_int_equal(reducer.names_ns, -7);
	assert_int_equal(wfs_reducer_name(txn, 3, &name), 0);
	assert_bytes_text(name, "counter");
}

IN_TXN(reducer_names_that_cannot_be_are_not_found)
{
	struct wfs_reducer reducer;
	char long_name[1000];

	assert_int_equal(wfs_reducer_put(txn, "counter", &some_reducer), 0);
	memset(long_name, 'n', sizeof(long_name));

	assert_int_equal(wfs_reducer_get(txn, "", 0, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_get(txn, "counte", 6, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_get(txn, long_name, sizeof(long_name), &reducer), -ENOENT);
}

IN_TXN(reducers_are_walked_by_id)
{
	static const char *const names[] = {"zebra", "ape", "mole"};
	struct wfs_reducer reducer = {0};
	struct wfs_bytes name;

	put_reducers(txn, names, 3);

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(wfs_reducer_next(txn, reducer.reducer_id, &name, &reducer), 0);
		assert_bytes_text(name, names[i]);
	}
	assert_int_equal(wfs_reducer_next(txn, reducer.reducer_id, &name, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_next(txn, UINT32_MAX, &name, &reducer), -ENOENT);
}

IN_TXN(a_walk_of_reducers_that_lacks_a_number_is_damage)
{
	struct wfs_reducer reducer = {.reducer_id = 1};
	struct wfs_bytes name;

	assert_int_equal(wfs_reducer_put(txn, "first", &reducer), 0);
	reducer.reducer_id = 3;
	assert_int_equal(wfs_reducer_put(txn, "third", &reducer), 0);

	assert_int_equal(wfs_reducer_next(txn, 0, &name, &reducer), 0);
	assert_int_equal(wfs_reducer_next(txn, 1, &name, &reducer), -EIO);
}

IN_TXN(reducers_are_walked_by_name)
{
	static const char *const names[] = {"zebra", "ape", "mole"};
	static const char *const sorted[] = {"ape", "mole", "zebra"};
	struct wfs_bytes name = text("");
	struct wfs_reducer reducer;

	put_reducers(txn, names, 3);

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(wfs_reducer_next_name(txn, name, &name, &reducer), 0);
		assert_bytes_text(name, sorted[i]);
	}
	assert_int_equal(wfs_reducer_next_name(txn, name, &name, &reducer), -ENOENT);
	assert_int_equal(wfs_reducer_next_name(txn, text("b"), &name, &reducer), 0);
	assert_bytes_text(name, "mole");
}

/* --- blobs --- */

IN_TXN(blob_comes_back_as_it_was_put)
{
	const struct wfs_blob small = {.hash = wfs_hash_of("small", 5),
		.size_bytes = 5,
		.listed_id = 3,
		.bytes = text("small")};
	const struct wfs_blob large = {
		.hash = wfs_hash_of("large", 5), .size_bytes = 1 << 20, .in_file = true};
	struct wfs_blob found;

	assert_int_equal(wfs_blob_put(txn, &small), 0);
	assert_int_equal(wfs_blob_put(txn, &large), 0);

	assert_int_equal(wfs_blob_get(txn, &small.hash, &found), 0);
	assert_true(wfs_hash_equal(&found.hash, &small.hash));
	assert_int_equal(found.listed_id, 3);
	assert_false(found.in_file);
	assert_bytes_text(found.bytes, "small");
	assert_int_equal(wfs_blob_get(txn, &large.hash, &found), 0);
	assert_true(found.in_file);
	assert_int_equal(found.size_bytes, 1 << 20);
	assert_int_equal(found.bytes.size, 0);
}

IN_TXN(blob_with_another_size_than_its_bytes_is_damage)
{
	const struct wfs_blob blob = {.size_bytes = 3, .bytes = text("four")};
	struct wfs_blob found;

	assert_int_equal(wfs_blob_put(txn, &blob), 0);

	assert_int_equal(wfs_blob_get(txn, &blob.hash, &found), -EIO);
	assert_int_equal(wfs_blob_next(txn, NULL, &found), -EBADMSG);
}

IN_TXN(blobs_are_walked_by_hash)
{
	struct wfs_hash last = {0};
	struct wfs_blob found;
	size_t count = 0;

	for (uint8_t i = 0; i < 20; i++) {
		const struct wfs_blob blob = {
			.hash = wfs_hash_of(&i, 1), .size_bytes = 1, .bytes = WFS_BYTES(&i, 1)};

		assert_int_equal(wfs_blob_put(txn, &blob), 0);
	}

	for (; wfs_blob_next(txn, count ? &last : NULL, &found) == 0; count++) {
		assert_true(memcmp(last.bytes, found.hash.bytes, WFS_HASH_SIZE) < 0);
		last = found.hash;
	}
	assert_int_equal(count, 20);
}

IN_TXN(listing_comes_back_as_it_was_put)
{
	const struct wfs_blob_listing listing = {
		.listed_id = 2, .hash = wfs_hash_of("x", 1), .height = 3, .time_ns = -4};
	struct wfs_blob_listing first = {.listed_id = 1};
	struct wfs_blob_listing found;
	uint64_t last;

	assert_int_equal(wfs_blob_listing_put(txn, &first), 0);
	assert_int_equal(wfs_blob_listing_put(txn, &listing), 0);

	assert_int_equal(wfs_blob_listing_get(txn, 2, &found), 0);
	assert_int_equal(found.listed_id, 2);
	assert_int_equal(found.height, 3);
	assert_int_equal(found.time_ns, -4);
	assert_true(wfs_hash_equal(&found.hash, &listing.hash));
	assert_int_equal(wfs_blob_listing_last(txn, &last), 0);
	assert_int_equal(last, 2);
}

IN_TXN(a_listing_that_lacks_a_number_is_damage)
{
	struct wfs_blob_listing listing = {.listed_id = 1};
	struct wfs_blob_listing found;
	uint64_t last;

	assert_int_equal(wfs_blob_listing_put(txn, &listing), 0);
	listing.listed_id = 3;
	assert_int_equal(wfs_blob_listing_put(txn, &listing), 0);

	assert_int_equal(wfs_blob_listing_get(txn, 2, &found), -EIO);
	assert_int_equal(wfs_blob_listing_last(txn, &last), -EIO);
}
