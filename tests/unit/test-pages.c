/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over data.mdb: it finds no problem in a good store, and reports each kind of damage. */
#include "tests/fixture/store.h"

#include <fcntl.h>
#include <string.h>

#include "kernel/base/hash.h"
#include "kernel/base/problems.h"
#include "kernel/store/layout.h"

enum {
	PAGE = 4096,
	ROWS = 400,
	LARGE = 9000, /* bytes of a value that has pages of its own */
};

/* Leaves a closed store with branches, leaves, large values and free pages. */
static void fill(struct store_fixture *fixture)
{
	static const char large[LARGE];
	char line[200];
	struct wfs_txn *txn = store_fixture_write(fixture);

	memset(line, 'x', sizeof(line));
	for (uint64_t seq = 0; seq < ROWS; seq++)
		assert_int_equal(wfs_journal_append(txn, seq, 0, WFS_BYTES(line, sizeof(line))), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		const struct wfs_version version = {.vid = i,
			.cell_id = wfs_cell_id(1, i),
			.height = i,
			.size_bytes = LARGE,
			.bytes = WFS_BYTES(large, LARGE)};

		assert_int_equal(wfs_version_put(txn, &version), 0);
	}
	assert_int_equal(wfs_txn_commit(txn), 0);
	txn = store_fixture_write(fixture);
	for (uint64_t vid = 3; vid <= 20; vid += 2) {
		const struct wfs_version version = {
			.vid = vid, .cell_id = wfs_cell_id(1, vid), .height = vid};

		assert_int_equal(wfs_version_remove(txn, &version), 0);
	}
	assert_int_equal(wfs_txn_commit(txn), 0);
	wfs_store_close(fixture->store);
	fixture->store = NULL;
}

static int data_of(const struct store_fixture *fixture)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	return open(path, O_RDWR | O_CLOEXEC);
}

static struct root newest_root(int fd)
{
	struct root roots[ROOT_COUNT];

	for (size_t i = 0; i < ROOT_COUNT; i++)
		assert_int_equal(pread(fd, &roots[i], sizeof(roots[i]), (off_t)(i * PAGE)),
			sizeof(roots[i]));
	return roots[roots[0].txn_id < roots[1].txn_id];
}

static void put_root(int fd, const struct root *root)
{
	assert_int_equal(
		pwrite(fd, root, sizeof(*root), (off_t)(root->txn_id % 2 * PAGE)), sizeof(*root));
}

static void read_page(int fd, uint64_t number, uint8_t page[static PAGE])
{
	assert_int_equal(pread(fd, page, PAGE, (off_t)number * PAGE), PAGE);
}

static void write_page(int fd, uint64_t number, const uint8_t page[static PAGE])
{
	assert_int_equal(pwrite(fd, page, PAGE, (off_t)number * PAGE), PAGE);
}

/* Reads the tree of a table; @ret_place: its position in the file. */
static struct tree tree_of(int fd, const char *table, uint64_t *ret_place)
{
	const struct root root = newest_root(fd);
	uint8_t page[PAGE];
	struct tree tree;

	read_page(fd, root.tables.root, page);
	const uint8_t *const name = memmem(page, PAGE, table, strlen(table));
	assert_non_null(name);
	memcpy(&tree, name + strlen(table), sizeof(tree));
	*ret_place = root.tables.root * PAGE + (uint64_t)(name + strlen(table) - page);
	return tree;
}

/* The root page of the journal's tree, which is a branch. */
static uint64_t journal_root(int fd)
{
	uint64_t place;

	return tree_of(fd, "journal", &place).root;
}

static size_t place_of(const uint8_t *page, size_t index)
{
	uint16_t place;

	memcpy(&place, page + sizeof(struct page) + index * sizeof(place), sizeof(place));
	return place;
}

static uint64_t child_of(const uint8_t *page, size_t index)
{
	struct node node;

	memcpy(&node, page + place_of(page, index), sizeof(node));
	return (uint64_t)node.low | (uint64_t)node.high << 16;
}

static void set_child(uint8_t *page, size_t index, uint64_t number)
{
	struct node node;

	memcpy(&node, page + place_of(page, index), sizeof(node));
	node.low = (uint16_t)number;
	node.high = (uint16_t)(number >> 16);
	memcpy(page + place_of(page, index), &node, sizeof(node));
}

/* --- kinds of damage --- */

static void lead_a_branch_to_itself(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];

	read_page(fd, number, page);
	set_child(page, 1, number);
	write_page(fd, number, page);
}

static void lead_twice_to_one_page(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];

	read_page(fd, number, page);
	set_child(page, 1, child_of(page, 2));
	write_page(fd, number, page);
}

static void lead_out_of_the_file(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];

	read_page(fd, number, page);
	set_child(page, 1, 1 << 20);
	write_page(fd, number, page);
}

static void swap_two_rows(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];
	uint8_t leaf[PAGE];

	read_page(fd, number, page);
	read_page(fd, child_of(page, 1), leaf);
	uint8_t *const places = leaf + sizeof(struct page);
	for (size_t i = 0; i < sizeof(uint16_t); i++) {
		const uint8_t byte = places[i];

		places[i] = places[i + sizeof(uint16_t)];
		places[i + sizeof(uint16_t)] = byte;
	}
	write_page(fd, child_of(page, 1), leaf);
}

static void swap_two_pages(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];

	read_page(fd, number, page);
	const uint64_t first = child_of(page, 1);
	set_child(page, 1, child_of(page, 2));
	set_child(page, 2, first);
	write_page(fd, number, page);
}

static void change_head(int fd, void (*change)(struct page *head))
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];
	struct page head;

	read_page(fd, number, page);
	memcpy(&head, page, sizeof(head));
	change(&head);
	memcpy(page, &head, sizeof(head));
	write_page(fd, number, page);
}

static void raise_lower(struct page *head)
{
	head->lower = (uint16_t)(head->upper + 2);
}

static void lower_upper(struct page *head)
{
	head->upper = (uint16_t)(head->upper - 2);
}

static void renumber(struct page *head)
{
	head->number++;
}

static void make_overflow(struct page *head)
{
	head->flags = PAGE_IS_OVERFLOW;
}

static void bounds_cross(int fd)
{
	change_head(fd, raise_lower);
}

static void rows_leave_a_gap(int fd)
{
	change_head(fd, lower_upper);
}

static void page_has_another_number(int fd)
{
	change_head(fd, renumber);
}

static void page_is_of_no_tree(int fd)
{
	change_head(fd, make_overflow);
}

static void two_rows_share_bytes(int fd)
{
	const uint64_t number = journal_root(fd);
	uint8_t page[PAGE];

	read_page(fd, number, page);
	memcpy(page + sizeof(struct page), page + sizeof(struct page) + 2, 2);
	write_page(fd, number, page);
}

static void row_is_longer_than_its_page(int fd)
{
	const uint64_t number = journal_root(fd);
	const uint16_t size = 5000;
	uint8_t page[PAGE];
	uint8_t leaf[PAGE];

	read_page(fd, number, page);
	read_page(fd, child_of(page, 0), leaf);
	memcpy(leaf + place_of(leaf, 0), &size, sizeof(size));
	write_page(fd, child_of(page, 0), leaf);
}

static void change_tree(int fd, const char *table, void (*change)(struct tree *tree))
{
	uint64_t place;
	struct tree tree = tree_of(fd, table, &place);

	change(&tree);
	assert_int_equal(pwrite(fd, &tree, sizeof(tree), (off_t)place), sizeof(tree));
}

static void count_more_rows(struct tree *tree)
{
	tree->entries += UINT64_C(1) << 40;
}

static void count_less_depth(struct tree *tree)
{
	tree->depth--;
}

static void count_much_depth(struct tree *tree)
{
	tree->depth = 1000;
}

static void allow_duplicates(struct tree *tree)
{
	tree->flags = 4;
}

static void tree_counts_too_many_rows(int fd)
{
	change_tree(fd, "journal", count_more_rows);
}

static void tree_is_deeper_than_it_says(int fd)
{
	change_tree(fd, "journal", count_less_depth);
}

static void tree_says_it_is_endless(int fd)
{
	change_tree(fd, "journal", count_much_depth);
}

static void table_has_flags(int fd)
{
	change_tree(fd, "journal", allow_duplicates);
}

static void page_of_a_large_value_is_in_a_tree(int fd)
{
	uint64_t place;
	uint8_t page[PAGE];
	const struct tree versions = tree_of(fd, "version", &place);
	const uint64_t target = journal_root(fd);
	struct node node;

	read_page(fd, versions.root, page);
	memcpy(&node, page + place_of(page, 0), sizeof(node));
	assert_int_equal(node.flags, NODE_IS_BIG);
	memcpy(page + place_of(page, 0) + sizeof(node) + node.key_size, &target, sizeof(target));
	write_page(fd, versions.root, page);
}

static void large_value_has_too_few_pages(int fd)
{
	uint64_t place;
	uint64_t number;
	uint8_t page[PAGE];
	const struct tree versions = tree_of(fd, "version", &place);
	const uint32_t count = 1;
	struct node node;

	read_page(fd, versions.root, page);
	memcpy(&node, page + place_of(page, 0), sizeof(node));
	memcpy(&number, page + place_of(page, 0) + sizeof(node) + node.key_size, sizeof(number));
	assert_int_equal(pwrite(fd, &count, sizeof(count),
				 (off_t)(number * PAGE + offsetof(struct page, page_count))),
		sizeof(count));
}

static void free_page_is_in_use(int fd)
{
	const struct root root = newest_root(fd);
	uint64_t list[64];
	uint8_t page[PAGE];
	struct node node;

	read_page(fd, root.free_pages.root, page);
	memcpy(&node, page + place_of(page, 0), sizeof(node));
	uint8_t *const value = page + place_of(page, 0) + sizeof(node) + node.key_size;
	memcpy(list, value, sizeof(*list));
	assert_in_range(list[0], 2, 63);
	memcpy(list, value, sizeof(*list) * (list[0] + 1));
	/* The lowest used page takes the place of the lowest free one: the order stays. */
	uint64_t used = 2;
	while (used == list[list[0]])
		used++;
	assert_true(used < list[list[0] - 1]);
	list[list[0]] = used;
	memcpy(value, list, sizeof(uint64_t) * (list[0] + 1));
	write_page(fd, root.free_pages.root, page);
}

static void list_of_free_pages_is_longer_than_its_row(int fd)
{
	const struct root root = newest_root(fd);
	const uint64_t count = UINT64_C(1) << 60;
	uint8_t page[PAGE];
	struct node node;

	read_page(fd, root.free_pages.root, page);
	memcpy(&node, page + place_of(page, 0), sizeof(node));
	memcpy(page + place_of(page, 0) + sizeof(node) + node.key_size, &count, sizeof(count));
	write_page(fd, root.free_pages.root, page);
}

static void free_pages_are_of_a_later_transaction(int fd)
{
	const struct root root = newest_root(fd);
	const uint64_t later = root.txn_id + 1;
	uint8_t page[PAGE];

	read_page(fd, root.free_pages.root, page);
	memcpy(page + place_of(page, 0) + sizeof(struct node), &later, sizeof(later));
	write_page(fd, root.free_pages.root, page);
}

static void root_counts_branches_of_free_pages(int fd)
{
	struct root root = newest_root(fd);

	root.free_pages.branch_pages = 7;
	put_root(fd, &root);
}

static const struct damage {
	const char *name;
	void (*make)(int fd);
	const char *reason;
} damages[] = {
	{"branch to itself", lead_a_branch_to_itself, "more than one place leads to it"},
	{"one page twice", lead_twice_to_one_page, "more than one place leads to it"},
	{"page outside of the file", lead_out_of_the_file, "leads to a page outside of the file"},
	{"two rows swapped", swap_two_rows, "keys are not in order"},
	{"two pages swapped", swap_two_pages, "keys are not in order"},
	{"bounds cross", bounds_cross, "its bounds are impossible"},
	{"rows leave a gap", rows_leave_a_gap, "its rows leave a gap"},
	{"another number", page_has_another_number, "it has the number of another page"},
	{"page of no tree", page_is_of_no_tree, "it is neither a branch nor a leaf"},
	{"rows share bytes", two_rows_share_bytes, "two rows share bytes"},
	{"row too long", row_is_longer_than_its_page, "a row ends outside of the page"},
	{"too many rows", tree_counts_too_many_rows, "counts other pages or rows than it has"},
	{"deeper", tree_is_deeper_than_it_says, "the tree is deeper than it says"},
	{"endless", tree_says_it_is_endless, "the tree has an impossible depth"},
	{"flags", table_has_flags, "has impossible flags"},
	{"large value in a tree", page_of_a_large_value_is_in_a_tree,
		"more than one place leads to it"},
	{"large value cut short", large_value_has_too_few_pages,
		"it is not the first page of the value that leads to it"},
	{"free page in use", free_page_is_in_use, "more than one place leads to it"},
	{"free list too long", list_of_free_pages_is_longer_than_its_row, "is cut short"},
	{"free pages of the future", free_pages_are_of_a_later_transaction,
		"a key is not the number of an earlier transaction"},
	{"free pages counted wrongly", root_counts_branches_of_free_pages,
		"counts other pages or rows than it has"},
};

IN_STORE(a_store_without_damage_has_no_problems)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};

	fill(fixture);
	assert_int_equal(store_fixture_open(fixture, &(struct wfs_store_options){0}), 0);

	assert_int_equal(wfs_store_check_pages(fixture->store, &problems, NULL, NULL), 0);

	assert_int_equal(problems.count, 0);
}

IN_STORE(every_damage_is_found_and_named)
{
	uint8_t *const before = malloc(1 << 24);
	size_t size;

	fill(fixture);
	int fd = data_of(fixture);
	size = (size_t)pread(fd, before, 1 << 24, 0);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(damages); i++) {
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};

		print_message("%s\n", damages[i].name);
		assert_int_equal(pwrite(fd, before, size, 0), size);
		damages[i].make(fd);
		int r = store_fixture_open(fixture, &(struct wfs_store_options){0});
		if (r) { /* LMDB finds the damage before the walk */
			assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
			continue;
		}
		assert_int_equal(wfs_store_check_pages(fixture->store, &problems, NULL, NULL), 0);
		assert_true(problems.count > 0);
		if (!strstr(wfs_buffer_text(&problems.lines), damages[i].reason))
			fail_msg("%s", wfs_buffer_text(&problems.lines));
		wfs_store_close(fixture->store);
		fixture->store = NULL;
	}
	close(fd);
	free(before);
}

static bool give_up(void *context, uint64_t done, uint64_t total)
{
	(void)context;
	(void)done;
	(void)total;
	return false;
}

/* Numbers are checked before pages are read, and a walk over few pages ends before it asks. */
IN_STORE(a_small_walk_does_not_ask)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};

	assert_int_equal(wfs_store_check_pages(fixture->store, &problems, give_up, NULL), 0);

	assert_int_equal(problems.count, 0);
}
