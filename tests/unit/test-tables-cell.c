/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of cells and of their versions: round trips, order, and damage. */
#include "tests/fixture/store.h"

#include <inttypes.h>

enum { REDUCER = 7 };

static struct wfs_bytes text(const char *string)
{
	return wfs_bytes_text(string);
}

/* --- cells --- */

TEST(cell_id_holds_reducer_and_ordinal)
{
	assert_true(wfs_cell_id(1, 2) == ((UINT64_C(1) << WFS_CELL_ORDINAL_BITS) | 2));
	assert_int_equal(wfs_cell_reducer(wfs_cell_id(WFS_REDUCER_ID_MAX, 5)), WFS_REDUCER_ID_MAX);
}

static struct wfs_cell some_cell(uint64_t cell_id, const char *key)
{
	return (struct wfs_cell){
		.cell_id = cell_id,
		.head_vid = 11,
		.version_count = 12,
		.head_height = 13,
		.created_height = 14,
		.size_bytes = 15,
		.time_ns = -16,
		.live = true,
		.key = text(key),
	};
}

static void put_cells(struct wfs_txn *txn, uint32_t reducer_id, const char *const *keys)
{
	for (uint64_t i = 0; keys[i]; i++) {
		const struct wfs_cell cell = some_cell(wfs_cell_id(reducer_id, i + 1), keys[i]);

		assert_int_equal(wfs_cell_put(txn, &cell), 0);
		assert_int_equal(wfs_cell_name_put(txn, reducer_id, cell.key, cell.cell_id), 0);
	}
}

IN_TXN(cell_comes_back_as_it_was_put)
{
	const struct wfs_cell cell = some_cell(wfs_cell_id(REDUCER, 1), "the key");
	struct wfs_cell found;

	assert_int_equal(wfs_cell_put(txn, &cell), 0);

	assert_int_equal(wfs_cell_get(txn, cell.cell_id, &found), 0);
	assert_true(found.cell_id == cell.cell_id);
	assert_int_equal(found.head_vid, 11);
	assert_int_equal(found.version_count, 12);
	assert_int_equal(found.head_height, 13);
	assert_int_equal(found.created_height, 14);
	assert_int_equal(found.size_bytes, 15);
	assert_int_equal(found.time_ns, -16);
	assert_true(found.live);
	assert_bytes_text(found.key, "the key");
}

IN_TXN(cell_with_too_long_a_key_is_damage)
{
	char key[WFS_KEY_SIZE_MAX + 2];
	struct wfs_cell found;

	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = '\0';
	const struct wfs_cell cell = some_cell(1, key);
	assert_int_equal(wfs_cell_put(txn, &cell), 0);

	assert_int_equal(wfs_cell_get(txn, 1, &found), -EIO);
}

IN_TXN(cell_is_found_by_reducer_and_key)
{
	static const char *const keys[] = {"a", "b", "", NULL};
	uint64_t cell_id;

	put_cells(txn, REDUCER, keys);

	for (uint64_t i = 0; keys[i]; i++) {
		assert_int_equal(wfs_cell_find(txn, REDUCER, text(keys[i]), &cell_id), 0);
		assert_true(cell_id == wfs_cell_id(REDUCER, i + 1));
	}
	assert_int_equal(wfs_cell_find(txn, REDUCER, text("c"), &cell_id), -ENOENT);
	assert_int_equal(wfs_cell_find(txn, REDUCER + 1, text("a"), &cell_id), -ENOENT);
}

IN_TXN(a_key_of_any_bytes_up_to_the_limit_is_found)
{
	uint8_t key[WFS_KEY_SIZE_MAX + 1];
	uint64_t cell_id;

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	const uint64_t wanted = wfs_cell_id(REDUCER, 5);
	assert_int_equal(
		wfs_cell_name_put(txn, REDUCER, WFS_BYTES(key, WFS_KEY_SIZE_MAX), wanted), 0);

	assert_int_equal(
		wfs_cell_find(txn, REDUCER, WFS_BYTES(key, WFS_KEY_SIZE_MAX), &cell_id), 0);
	assert_true(cell_id == wanted);
	assert_int_equal(
		wfs_cell_find(txn, REDUCER, WFS_BYTES(key, sizeof(key)), &cell_id), -ENOENT);
	assert_int_equal(wfs_cell_name_put(txn, REDUCER, WFS_BYTES(key, sizeof(key)), 6), -EFBIG);
}

IN_TXN(keys_are_walked_in_byte_order_within_their_reducer)
{
	static const char *const keys[] = {"b", "\xff", "a", "", "ab", "B", NULL};
	static const char *const sorted[] = {"", "B", "a", "ab", "b", "\xff"};
	static const char *const others[] = {"other", NULL};
	const struct wfs_bytes *after = NULL;
	struct wfs_bytes key;
	uint64_t cell_id;

	put_cells(txn, REDUCER - 1, others);
	put_cells(txn, REDUCER, keys);
	put_cells(txn, REDUCER + 1, others);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sorted); i++) {
		assert_int_equal(wfs_cell_find_next(txn, REDUCER, after, &key, &cell_id), 0);
		assert_bytes_text(key, sorted[i]);
		after = &key;
	}
	assert_int_equal(wfs_cell_find_next(txn, REDUCER, after, &key, &cell_id), -ENOENT);
	key = text("aa");
	assert_int_equal(wfs_cell_find_next(txn, REDUCER, &key, &key, &cell_id), 0);
	assert_bytes_text(key, "ab");
}

static size_t walk(struct wfs_txn *txn, uint32_t reducer_id, uint64_t after_id, char *ret_keys)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk cells = {0};
	struct wfs_cell cell;
	size_t count = 0;
	int r;

	*ret_keys = '\0';
	assert_int_equal(wfs_cell_walk_init(&cells, txn, reducer_id, after_id), 0);
	while ((r = wfs_cell_walk_next(&cells, &cell)) > 0) {
		ret_keys += snprintf(
			ret_keys, 4, "%.*s ", (int)cell.key.size, (const char *)cell.key.data);
		count++;
	}
	assert_int_equal(r, 0);
	return count;
}

IN_TXN(cells_are_walked_in_creation_order_within_their_reducer)
{
	static const char *const keys[] = {"c", "a", "b", NULL};
	static const char *const others[] = {"x", NULL};
	char found[64];

	put_cells(txn, REDUCER - 1, others);
	put_cells(txn, REDUCER, keys);
	put_cells(txn, REDUCER + 1, others);

	assert_int_equal(walk(txn, REDUCER, 0, found), 3);
	assert_string_equal(found, "c a b ");
	assert_int_equal(walk(txn, REDUCER, wfs_cell_id(REDUCER, 1), found), 2);
	assert_string_equal(found, "a b ");
	assert_int_equal(walk(txn, REDUCER, wfs_cell_id(REDUCER, 3), found), 0);
	assert_int_equal(walk(txn, REDUCER + 1, 0, found), 1);
}

IN_TXN(a_walk_that_starts_behind_its_reducer_gives_nothing)
{
	static const char *const keys[] = {"c", "a", "b", NULL};
	static const char *const others[] = {"x", "y", "z", NULL};
	char found[64];

	put_cells(txn, 0, others);
	put_cells(txn, REDUCER, keys);
	put_cells(txn, REDUCER + 1, others);

	assert_int_equal(walk(txn, REDUCER, wfs_cell_id(REDUCER + 1, 1), found), 0);
	assert_int_equal(walk(txn, REDUCER, UINT64_MAX, found), 0);
}

TEST(a_walk_that_never_began_can_be_ended)
{
	struct wfs_cell_walk cells = {0};

	wfs_cell_walk_done(&cells);
	wfs_cell_walk_done(&cells);
}

/* --- versions and history --- */

IN_TXN(version_comes_back_as_it_was_put)
{
	const struct wfs_version version = {
		.vid = 5,
		.cell_id = 6,
		.prev_vid = 4,
		.height = 7,
		.size_bytes = 6,
		.time_ns = -8,
		.hash = wfs_hash_of("bytes\n", 6),
		.bytes = text("bytes\n"),
	};
	struct wfs_version found;

	assert_int_equal(wfs_version_put(txn, &version), 0);

	assert_int_equal(wfs_version_get(txn, 5, &found), 0);
	assert_int_equal(found.vid, 5);
	assert_int_equal(found.cell_id, 6);
	assert_int_equal(found.prev_vid, 4);
	assert_int_equal(found.height, 7);
	assert_int_equal(found.size_bytes, 6);
	assert_int_equal(found.time_ns, -8);
	assert_true(wfs_hash_equal(&found.hash, &version.hash));
	assert_false(found.tombstone || found.in_file);
	assert_bytes_text(found.bytes, "bytes\n");
}

IN_TXN(version_flags_come_back)
{
	const struct wfs_version tombstone = {.vid = 1, .tombstone = true};
	const struct wfs_version in_file = {.vid = 2, .in_file = true, .size_bytes = 1 << 20};
	struct wfs_version found;

	assert_int_equal(wfs_version_put(txn, &tombstone), 0);
	assert_int_equal(wfs_version_put(txn, &in_file), 0);

	assert_int_equal(wfs_version_get(txn, 1, &found), 0);
	assert_true(found.tombstone && !found.in_file);
	assert_int_equal(wfs_version_get(txn, 2, &found), 0);
	assert_true(!found.tombstone && found.in_file && found.size_bytes == 1 << 20);
}

IN_TXN(version_with_another_size_than_its_bytes_is_damage)
{
	const struct wfs_version version = {.vid = 1, .size_bytes = 3, .bytes = text("four")};
	struct wfs_version found;

	assert_int_equal(wfs_version_put(txn, &version), 0);

	assert_int_equal(wfs_version_get(txn, 1, &found), -EIO);
}

IN_TXN(versions_are_never_overwritten)
{
	const struct wfs_version version = {.vid = 1};
	uint64_t last;

	assert_int_equal(wfs_version_put(txn, &version), 0);

	assert_int_equal(wfs_version_put(txn, &version), -EEXIST);
	assert_int_equal(wfs_version_last(txn, &last), 0);
	assert_int_equal(last, 1);
}

/* Puts a cell with @count versions, at heights 10, 20, …, as wfs_head_set_cell does; between any
 * two of them a version of another cell is written. */
static void put_history(struct wfs_txn *txn, uint64_t cell_id, uint64_t count)
{
	struct wfs_cell cell = some_cell(cell_id, "key");

	cell.head_vid = 0;
	for (uint64_t i = 1; i <= count; i++) {
		const struct wfs_version other = {.vid = 2 * i - 1, .cell_id = 1, .height = 10 * i};
		const struct wfs_version version = {.vid = 2 * i,
			.cell_id = cell_id,
			.prev_vid = cell.head_vid,
			.height = 10 * i};

		assert_int_equal(wfs_version_put(txn, &other), 0);
		assert_int_equal(wfs_version_put(txn, &version), 0);
		if (i % WFS_HISTORY_STRIDE == 0)
			assert_int_equal(wfs_history_put(txn, cell_id, 10 * i, 2 * i), 0);
		cell.head_vid = 2 * i;
	}
	cell.version_count = count;
	assert_int_equal(wfs_cell_put(txn, &cell), 0);
}

static void assert_history(struct wfs_txn *txn, uint64_t cell_id, uint64_t count)
{
	struct wfs_version found;

	for (uint64_t height = 0; height <= 10 * count + 15; height++) {
		uint64_t expected = height / 10 < count ? height / 10 : count;
		int r = wfs_history_at(txn, cell_id, height, &found);

		if (expected == 0) {
			assert_int_equal(r, -ENOENT);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(found.vid, 2 * expected);
		assert_int_equal(found.height, 10 * expected);
	}
	assert_int_equal(wfs_history_at(txn, cell_id, UINT64_MAX, &found), 0);
	assert_int_equal(found.vid, 2 * count);
}

IN_TXN(history_gives_the_version_in_force_at_every_height)
{
	put_history(txn, wfs_cell_id(REDUCER, 1), 3 * WFS_HISTORY_STRIDE + 3);

	assert_history(txn, wfs_cell_id(REDUCER, 1), 3 * WFS_HISTORY_STRIDE + 3);
}

IN_TXN(history_of_as_many_versions_as_one_stride_is_right)
{
	put_history(txn, wfs_cell_id(REDUCER, 1), WFS_HISTORY_STRIDE);

	assert_history(txn, wfs_cell_id(REDUCER, 1), WFS_HISTORY_STRIDE);
}

IN_TXN(history_of_one_version_is_right)
{
	put_history(txn, wfs_cell_id(REDUCER, 1), 1);

	assert_history(txn, wfs_cell_id(REDUCER, 1), 1);
}

IN_TXN(history_of_a_cell_does_not_reach_into_its_neighbours)
{
	const uint64_t cell_id = wfs_cell_id(REDUCER, 2);

	assert_int_equal(wfs_history_put(txn, cell_id - 1, 1000, 999), 0);
	assert_int_equal(wfs_history_put(txn, cell_id + 1, 1, 999), 0);
	put_history(txn, cell_id, 2 * WFS_HISTORY_STRIDE + 1);

	assert_history(txn, cell_id, 2 * WFS_HISTORY_STRIDE + 1);
}

IN_TXN(history_that_leads_to_another_cells_version_is_damage)
{
	const struct wfs_version other = {.vid = 1, .cell_id = 99, .height = 1};
	const struct wfs_version version = {.vid = 2, .cell_id = 5, .prev_vid = 1, .height = 5};
	struct wfs_cell cell = some_cell(5, "key");
	struct wfs_version found;

	cell.head_vid = 2;
	assert_int_equal(wfs_version_put(txn, &other), 0);
	assert_int_equal(wfs_version_put(txn, &version), 0);
	assert_int_equal(wfs_cell_put(txn, &cell), 0);

	assert_int_equal(wfs_history_at(txn, 5, 5, &found), 0);
	assert_int_equal(wfs_history_at(txn, 5, 4, &found), -EIO);
}

IN_TXN(history_that_leads_forward_or_nowhere_is_damage)
{
	const struct wfs_version version = {.vid = 2, .cell_id = 5, .prev_vid = 2, .height = 5};
	struct wfs_cell cell = some_cell(5, "key");
	struct wfs_version found;

	cell.head_vid = 2;
	assert_int_equal(wfs_version_put(txn, &version), 0);
	assert_int_equal(wfs_cell_put(txn, &cell), 0);
	assert_int_equal(wfs_history_at(txn, 5, 4, &found), -EIO);
	cell.head_vid = 3;
	assert_int_equal(wfs_cell_put(txn, &cell), 0);

	assert_int_equal(wfs_history_at(txn, 5, 5, &found), -EIO);
}

IN_TXN(versions_are_walked_by_number_over_those_removed)
{
	const uint64_t cell_id = wfs_cell_id(REDUCER, 1);
	const uint64_t count = UINT64_C(2) * WFS_HISTORY_STRIDE;
	struct wfs_version version;

	put_history(txn, cell_id, count);
	assert_int_equal(wfs_version_next(txn, 0, &version), 0);
	const uint64_t first = version.vid;
	assert_int_equal(wfs_version_remove(txn, &version), 0);

	assert_int_equal(wfs_version_get(txn, first, &version), -ENOENT);
	assert_int_equal(wfs_version_next(txn, 0, &version), 0);
	assert_true(version.vid > first);
	assert_int_equal(wfs_version_next(txn, UINT64_MAX, &version), -ENOENT);
	assert_int_equal(wfs_version_remove(txn, &version), 0);
	assert_int_equal(wfs_version_remove(txn, &version), -ENOENT);
}

IN_TXN(history_above_removed_versions_is_right)
{
	const uint64_t cell_id = wfs_cell_id(REDUCER, 1);
	const uint64_t count = UINT64_C(3) * WFS_HISTORY_STRIDE;
	struct wfs_version version;
	struct wfs_version found;

	put_history(txn, cell_id, count);
	/* One more than a stride: a row of history is removed as well. */
	for (uint64_t i = 1; i <= WFS_HISTORY_STRIDE + 1; i++) {
		assert_int_equal(wfs_version_get(txn, 2 * i, &version), 0);
		assert_int_equal(wfs_version_remove(txn, &version), 0);
	}
	const uint64_t gone = version.height;

	for (uint64_t height = gone + 10; height <= 10 * count; height++) {
		assert_int_equal(wfs_history_at(txn, cell_id, height, &found), 0);
		assert_int_equal(found.height, height / 10 * 10);
	}
	assert_int_equal(wfs_history_at(txn, cell_id, gone, &found), -EIO);
}

IN_TXN(a_removed_cell_leaves_its_neighbours)
{
	static const char *const keys[] = {"a", "b", "c", NULL};
	struct wfs_cell cell;
	uint64_t cell_id;

	put_cells(txn, REDUCER, keys);
	assert_int_equal(wfs_cell_find(txn, REDUCER, text("b"), &cell_id), 0);
	assert_int_equal(wfs_cell_remove(txn, cell_id), 0);

	assert_int_equal(wfs_cell_get(txn, cell_id, &cell), -ENOENT);
	assert_int_equal(wfs_cell_find(txn, REDUCER, text("b"), &cell_id), -ENOENT);
	assert_int_equal(wfs_cell_find(txn, REDUCER, text("a"), &cell_id), 0);
	assert_int_equal(wfs_cell_find(txn, REDUCER, text("c"), &cell_id), 0);
	assert_int_equal(wfs_cell_remove(txn, cell_id + 1), -ENOENT);
}
