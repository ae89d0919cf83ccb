/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the trees of data.mdb, and the list of free pages. */
#include "kernel/store/pages.h"

#include <inttypes.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/base/problems.h"
#include "kernel/store/page.h"

enum {
	FREE_PIECE_COUNT = 512,   /* numbers of free pages that are read at once */
	PROGRESS_EVERY = 1 << 14, /* pages */
};

#define PAGE_COUNT_MAX (UINT64_C(1) << 32)

struct walk {
	int fd;
	const struct root *root;
	size_t page_size;
	uint64_t page_count;
	uint8_t *seen;    /* a bit for each page; owned */
	uint8_t *buffers; /* one page for each level; owned */
	const struct pages_options *options;
	size_t name_count;
	struct wfs_problems *problems;
	uint64_t done; /* pages checked so far */
	int failure;   /* ends the walk; -errno */
	/* Of the current tree: */
	const char *table;
	bool numbered;       /* keys are the numbers of transactions, and values lists of pages */
	bool holds_tables;   /* values are trees */
	struct tree counted; /* what was found in it */
	uint16_t depth;      /* what its head says */
};

/* The keys of a page lie between those of the node that leads to it. No bytes: no bound. */
struct bounds {
	struct wfs_bytes low;
	struct wfs_bytes high;
};

static void walk_done(struct walk *walk)
{
	free(walk->seen);
	free(walk->buffers);
}

static void wrong(struct walk *walk, uint64_t page, const char *reason)
{
	wfs_problems_add(walk->problems, "data.mdb", wfs_place_at("page %" PRIu64, page).text,
		"table '%s': %s", walk->table, reason);
}

static bool read_at(struct walk *walk, uint64_t offset, void *ret, size_t size)
{
	const ssize_t got = pread(walk->fd, ret, size, (off_t)offset);

	if (got == (ssize_t)size)
		return true;
	walk->failure = got < 0 ? -errno : -EIO;
	return false;
}

/* Marks a page as reached.
 * Return: false, with a problem, if it was reached before or cannot be one. */
static bool take(struct walk *walk, uint64_t from, uint64_t number)
{
	if (number < ROOT_COUNT || number >= walk->page_count) {
		wrong(walk, from, "it leads to a page outside of the file");
		return false;
	}
	if (walk->seen[number / 8] & 1 << number % 8) {
		wrong(walk, number, "more than one place leads to it");
		return false;
	}
	walk->seen[number / 8] |= (uint8_t)(1 << number % 8);
	if (++walk->done % PROGRESS_EVERY == 0 && walk->options->progress &&
		!walk->options->progress(walk->options->context, walk->done, walk->page_count))
		walk->failure = -EINTR;
	return walk->failure == 0;
}

static int compare(const struct walk *walk, struct wfs_bytes a, struct wfs_bytes b)
{
	if (walk->numbered) {
		uint64_t x;
		uint64_t y;

		memcpy(&x, a.data, sizeof(x));
		memcpy(&y, b.data, sizeof(y));
		return (x > y) - (x < y);
	}
	const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
	return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* --- values --- */

/* Marks the pages of a value as reached. @ret_offset: where its bytes begin */
static bool take_big(
	struct walk *walk, uint64_t from, const struct page_node *node, uint64_t *ret_offset)
{
	const uint64_t needed =
		(sizeof(struct page) + node->value_size + walk->page_size - 1) / walk->page_size;
	struct page page;
	uint64_t number;

	memcpy(&number, node->value.data, sizeof(number));
	if (!take(walk, from, number) ||
		!read_at(walk, number * walk->page_size, &page, sizeof(page)))
		return false;
	if (page.number != number || page.flags != PAGE_IS_OVERFLOW || page.page_count < needed) {
		wrong(walk, number, "it is not the first page of the value that leads to it");
		return false;
	}
	for (uint64_t i = 1; i < page.page_count; i++)
		if (!take(walk, number, number + i))
			return false;
	walk->counted.overflow_pages += page.page_count;
	*ret_offset = number * walk->page_size + sizeof(page);
	return true;
}

/* Checks a piece of a list: numbers fall, as LMDB expects, and no page in use is among them. */
static bool take_free(
	struct walk *walk, uint64_t from, const uint64_t *numbers, size_t count, uint64_t *before)
{
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] >= *before) {
			wrong(walk, from, "numbers of free pages are not in order");
			return false;
		}
		*before = numbers[i];
		if (!take(walk, from, numbers[i]))
			return false;
	}
	return true;
}

/* Checks a list of free pages: their count, then their numbers. @offset: of the list in the file,
 * or 0: the list is in the node */
static void check_free(
	struct walk *walk, uint64_t from, const struct page_node *node, uint64_t offset)
{
	uint64_t numbers[FREE_PIECE_COUNT];
	uint64_t before = UINT64_MAX;
	uint64_t count = 0;
	const uint64_t words = node->value_size / sizeof(count);

	if (words > 0 && offset == 0)
		memcpy(&count, node->value.data, sizeof(count));
	else if (words > 0 && !read_at(walk, offset, &count, sizeof(count)))
		return;
	if (words == 0 || count > words - 1) {
		wrong(walk, from, "a list of free pages is cut short");
		return;
	}
	for (uint64_t at = 0; at < count;) {
		const size_t piece =
			(size_t)(count - at < FREE_PIECE_COUNT ? count - at : FREE_PIECE_COUNT);
		const uint64_t place = (at + 1) * sizeof(count);

		if (offset == 0)
			memcpy(numbers, (const uint8_t *)node->value.data + place,
				piece * sizeof(*numbers));
		else if (!read_at(walk, offset + place, numbers, piece * sizeof(*numbers)))
			return;
		if (!take_free(walk, from, numbers, piece, &before))
			return;
		at += piece;
	}
}

static void check_value(struct walk *walk, uint64_t from, const struct page_node *node)
{
	const uint16_t flags = walk->holds_tables ? NODE_IS_TABLE : 0;
	uint64_t offset = 0;

	if (walk->holds_tables ? node->flags != flags || node->value_size != sizeof(struct tree)
			       : (node->flags & ~NODE_IS_BIG) != 0) {
		wrong(walk, from, "a row has impossible flags");
		return;
	}
	if (node->flags & NODE_IS_BIG && !take_big(walk, from, node, &offset))
		return;
	if (walk->numbered)
		check_free(walk, from, node, offset);
}

/* --- trees --- */

static bool check_key(struct walk *walk, uint64_t from, struct wfs_bytes key)
{
	uint64_t number;

	if (!walk->numbered)
		return true;
	if (key.size == sizeof(number)) {
		memcpy(&number, key.data, sizeof(number));
		if (number <= walk->root->txn_id)
			return true;
	}
	wrong(walk, from, "a key is not the number of an earlier transaction");
	return false;
}

/* LMDB ignores the first key of a branch, so that may be anything. */
static bool check_order(
	struct walk *walk, uint64_t number, const uint8_t *page, struct bounds bounds)
{
	struct wfs_bytes before = bounds.low;

	for (size_t i = page_is_leaf(page) ? 0 : 1; i < page_node_count(page); i++) {
		struct page_node node;

		page_node(page, i, &node);
		if (!check_key(walk, number, node.key))
			return false;
		const int order = before.size ? compare(walk, before, node.key) : -1;
		if (order > 0 || (order == 0 && (i > 0 || !page_is_leaf(page))) ||
			(bounds.high.size && compare(walk, node.key, bounds.high) >= 0)) {
			wrong(walk, number, "keys are not in order");
			return false;
		}
		before = node.key;
	}
	return true;
}

static void walk_page(
	struct walk *walk, uint64_t from, uint64_t number, uint16_t level, struct bounds bounds);

static void walk_children(struct walk *walk, uint64_t number, const uint8_t *page, uint16_t level,
	struct bounds bounds)
{
	const size_t count = page_node_count(page);
	struct page_node node;
	struct page_node next;

	for (size_t i = 0; !walk->failure && i < count; i++) {
		struct bounds within = bounds;

		page_node(page, i, &node);
		if (i > 0)
			within.low = node.key;
		if (i + 1 < count) {
			page_node(page, i + 1, &next);
			within.high = next.key;
		}
		walk_page(walk, number, node.child, level + 1, within);
	}
}

/* @level: from 1. Return: what is wrong with a page on this level, or NULL. */
static const char *check_place(const struct walk *walk, const uint8_t *page, uint16_t level)
{
	if (page_is_leaf(page))
		return level == walk->depth ? NULL : "a leaf is at the wrong depth";
	if (level >= walk->depth)
		return "the tree is deeper than it says";
	/* A branch of the list of free pages may have one child for a while after deletions. */
	return page_node_count(page) > 1 || walk->numbered ? NULL
							   : "a branch leads to one page only";
}

static void walk_page(
	struct walk *walk, uint64_t from, uint64_t number, uint16_t level, struct bounds bounds)
{
	uint8_t *const page = walk->buffers + (size_t)(level - 1) * walk->page_size;
	struct page_node node;

	if (!take(walk, from, number) ||
		!read_at(walk, number * walk->page_size, page, walk->page_size))
		return;
	const char *reason = page_check(page, walk->page_size, number);
	if (!reason)
		reason = check_place(walk, page, level);
	if (reason)
		wrong(walk, number, reason);
	if (reason || !check_order(walk, number, page, bounds))
		return;
	if (!page_is_leaf(page)) {
		walk->counted.branch_pages++;
		walk_children(walk, number, page, level, bounds);
		return;
	}
	walk->counted.leaf_pages++;
	walk->counted.entries += page_node_count(page);
	for (size_t i = 0; !walk->failure && i < page_node_count(page); i++) {
		page_node(page, i, &node);
		check_value(walk, number, &node);
	}
}

static bool counts_fit(const struct tree *counted, const struct tree *tree)
{
	return counted->branch_pages == tree->branch_pages &&
		counted->leaf_pages == tree->leaf_pages &&
		counted->overflow_pages == tree->overflow_pages &&
		counted->entries == tree->entries;
}

static void walk_tree(struct walk *walk, const char *table, const struct tree *tree)
{
	const size_t before = walk->problems->count;

	walk->table = table;
	walk->counted = (struct tree){0};
	walk->depth = tree->depth;
	if (tree->depth > TREE_DEPTH_MAX || (tree->depth == 0) != (tree->root == PAGE_NONE))
		wrong(walk, tree->root, "the tree has an impossible depth");
	else if (tree->depth > 0)
		walk_page(walk, 0, tree->root, 1, (struct bounds){.low = {.size = 0}});
	if (!walk->failure && walk->problems->count == before && !counts_fit(&walk->counted, tree))
		wrong(walk, tree->root, "the tree counts other pages or rows than it has");
}

/* --- tables --- */

/* Checks the tables in a leaf of the table of tables, which itself is checked already. */
static void walk_tables_of(struct walk *walk, const uint8_t *leaf, bool *found)
{
	const char *const *const names = walk->options->names;
	struct page_node node;
	struct tree tree;

	for (size_t i = 0; !walk->failure && i < page_node_count(leaf); i++) {
		size_t table = 0;

		page_node(leaf, i, &node);
		while (names[table] && !wfs_bytes_equal(node.key, wfs_bytes_text(names[table])))
			table++;
		if (table == walk->name_count && !walk->options->any_tables) {
			wfs_problems_add(walk->problems, "data.mdb", NULL,
				"it has a table that no world has");
			continue;
		}
		const char *const name = table < walk->name_count ? names[table] : "unknown";
		memcpy(&tree, node.value.data, sizeof(tree));
		if (table < walk->name_count)
			found[table] = true;
		if (tree.flags || tree.pad)
			wfs_problems_add(walk->problems, "data.mdb", NULL,
				"table '%s' has impossible flags", name);
		else
			walk_tree(walk, name, &tree);
	}
}

/* All names fit on one leaf: fourteen of at most 12 bytes, 70 bytes each, and no row is larger. */
static void walk_tables(struct walk *walk)
{
	const struct tree *const tables = &walk->root->tables;
	const size_t before = walk->problems->count;
	bool found[64] = {false};

	wfs_require(walk->name_count <= WFS_ARRAY_COUNT(found));
	walk->holds_tables = true;
	walk_tree(walk, "of tables", tables);
	walk->holds_tables = false;
	if (walk->failure || walk->problems->count > before)
		return;
	if (tables->depth > 1) {
		wrong(walk, tables->root, "it has more than one page");
		return;
	}
	/* The leaf is copied, because checking the tables reuses the buffers. */
	WFS_AUTO_FREE uint8_t *leaf = malloc(walk->page_size);
	if (!leaf)
		walk->failure = -ENOMEM;
	if (!leaf ||
		(tables->depth == 1 &&
			!read_at(walk, tables->root * walk->page_size, leaf, walk->page_size)))
		return;
	if (tables->depth == 1)
		walk_tables_of(walk, leaf, found);
	for (size_t i = 0; !walk->failure && i < walk->name_count; i++)
		if (!found[i] && !walk->options->any_tables)
			wfs_problems_add(walk->problems, "data.mdb", NULL, "table '%s' is missing",
				walk->options->names[i]);
}

int pages_walk(int fd, const struct root *root, const struct pages_options *options,
	struct wfs_problems *problems)
{
	WFS_CLEANUP(walk_done)
	struct walk walk = {
		.fd = fd,
		.root = root,
		.page_size = root->free_pages.pad,
		.page_count = root->last_page + 1,
		.options = options,
		.problems = problems,
	};

	while (options->names[walk.name_count])
		walk.name_count++;
	if (root->last_page >= PAGE_COUNT_MAX) {
		wfs_problems_add(problems, "data.mdb", NULL, "it tells of %" PRIu64 " pages",
			root->last_page);
		return 0;
	}
	walk.seen = calloc(walk.page_count / 8 + 1, 1);
	walk.buffers = malloc(TREE_DEPTH_MAX * walk.page_size);
	if (!walk.seen || !walk.buffers)
		return -ENOMEM;
	walk_tables(&walk);
	/* Last, because its pages must be those that no table uses. */
	walk.numbered = true;
	if (!walk.failure)
		walk_tree(&walk, "of free pages", &root->free_pages);
	return walk.failure;
}
