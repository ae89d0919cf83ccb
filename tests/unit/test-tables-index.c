/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sets: which members they have, in which order, and their sums. */
#include "tests/fixture/store.h"

#include <inttypes.h>

static struct wfs_index_set set_of(uint8_t kind, const char *a, const char *b)
{
	struct wfs_index_set set;

	wfs_index_set_init(&set, kind);
	if (a)
		wfs_index_set_add(&set, wfs_bytes_text(a));
	if (b)
		wfs_index_set_add(&set, wfs_bytes_text(b));
	return set;
}

static void assert_walk(
	struct wfs_txn *txn, const struct wfs_index_set *set, bool newest_first, const char *ids)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	uint64_t cell_id;
	int r;

	assert_int_equal(wfs_index_walk_init(&walk, txn, set, newest_first), 0);
	while ((r = wfs_index_walk_next(&walk, &cell_id)) == 1)
		wfs_buffer_printf(&found, "%" PRIu64 " ", cell_id);
	assert_int_equal(r, 0);
	assert_string_equal(wfs_buffer_text(&found), ids);
}

IN_TXN(sets_are_walked_both_ways_and_never_into_others)
{
	const struct wfs_index_set sets[] = {set_of(1, NULL, NULL), set_of(1, "a", NULL),
		set_of(1, "a", "b"), set_of(2, "a", "b")};

	assert_walk(txn, &sets[0], true, "");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(sets); i++)
		for (uint64_t id = 300; id > 0; id -= 100)
			assert_int_equal(wfs_index_add(txn, &sets[i], id + i, 1), 0);

	assert_walk(txn, &sets[0], false, "100 200 300 ");
	assert_walk(txn, &sets[0], true, "300 200 100 ");
	assert_walk(txn, &sets[1], true, "301 201 101 ");
	assert_walk(txn, &sets[2], false, "102 202 302 ");
	assert_walk(txn, &sets[2], true, "302 202 102 ");
	assert_walk(txn, &sets[3], true, "303 203 103 ");
	const struct wfs_index_set none = set_of(3, "a", NULL);
	assert_walk(txn, &none, true, "");
	assert_walk(txn, &none, false, "");
}

IN_TXN(items_below_a_number_are_removed_from_the_sets_of_a_kind)
{
	const struct wfs_index_set sets[] = {set_of(1, "a", NULL), set_of(2, "a", NULL),
		set_of(2, "b", NULL), set_of(2, "c", NULL), set_of(3, "a", NULL)};
	struct wfs_index_set at = set_of(2, NULL, NULL);
	struct wfs_index_sum sum;
	int r;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sets); i++)
		for (uint64_t id = 1; id <= (i == 2 ? 3 : 6); id++)
			assert_int_equal(wfs_index_add(txn, &sets[i], id, 10), 0);
	while ((r = wfs_index_remove_below(txn, &at, 5, 3)) == 1)
		;

	assert_int_equal(r, 0);
	assert_walk(txn, &sets[0], false, "1 2 3 4 5 6 ");
	assert_walk(txn, &sets[1], false, "5 6 ");
	assert_walk(txn, &sets[2], false, "");
	assert_walk(txn, &sets[3], false, "5 6 ");
	assert_walk(txn, &sets[4], false, "1 2 3 4 5 6 ");
	assert_int_equal(wfs_index_sum_get(txn, &sets[3], &sum), 0);
	assert_int_equal(sum.count, 2);
	assert_int_equal(sum.amount, 20);
}

IN_TXN(a_cell_is_in_a_set_once)
{
	const struct wfs_index_set set = set_of(1, "a", NULL);
	struct wfs_index_sum sum;
	uint64_t amount;

	assert_int_equal(wfs_index_remove(txn, &set, 5), -ENOENT);
	assert_int_equal(wfs_index_add(txn, &set, 5, 40), 0);
	assert_int_equal(wfs_index_add(txn, &set, 5, 1), -EEXIST);
	assert_int_equal(wfs_index_add(txn, &set, 6, 2), 0);

	assert_int_equal(wfs_index_get(txn, &set, 5, &amount), 0);
	assert_int_equal(amount, 40);
	assert_int_equal(wfs_index_sum_get(txn, &set, &sum), 0);
	assert_int_equal(sum.count, 2);
	assert_int_equal(sum.amount, 42);
	assert_int_equal(wfs_index_remove(txn, &set, 5), 0);
	assert_int_equal(wfs_index_get(txn, &set, 5, &amount), -ENOENT);
	assert_int_equal(wfs_index_sum_get(txn, &set, &sum), 0);
	assert_int_equal(sum.count, 1);
	assert_int_equal(sum.amount, 2);
}

static int count_row(void *context, const struct wfs_index_row *row)
{
	(void)row;
	(*(size_t *)context)++;
	return 0;
}

IN_TXN(an_empty_set_leaves_no_row)
{
	const struct wfs_index_set set = set_of(1, "a", NULL);
	size_t count = 0;

	assert_int_equal(wfs_index_add(txn, &set, 5, 40), 0);
	assert_int_equal(wfs_index_each(txn, count_row, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(wfs_index_remove(txn, &set, 5), 0);

	count = 0;
	assert_int_equal(wfs_index_each(txn, count_row, &count), 0);
	assert_int_equal(count, 0);
}
