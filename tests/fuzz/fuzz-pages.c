/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world's store from an attacker, damaged below LMDB: pages of data.mdb that LMDB believes. WORLD
 * names a world, SCRATCH a directory on a tmpfs.
 *
 * An input is a list of edits of 8 bytes: kind of page, number of the page, kind of edit, row, 4
 * bytes of data. The pages are those of a fresh world: an edit leads a page to another one, lets
 * rows overlap, or has lists of free pages name used pages. After the edits the whole world is read
 * and verified, and something is written. No crash, no hang, and no write outside of the heap's
 * blocks.
 */
#include "tests/fuzz/damaged.h"

#include "kernel/store/layout.h"

enum {
	PAGE_BYTES = 4096,
	EDIT_SIZE = 8,
	EDITS_MAX = 4,
	PLACES_MAX = 64, /* of rows that edits reach */
	FOUND_MAX = 256, /* pages of a kind */
};

static struct damaged world;
static uint8_t *pages;
static size_t page_count;
static bool *live; /* pages to which the newest root leads */

/* --- the pages of a fresh world --- */

static uint16_t read16(const uint8_t *page, size_t place)
{
	uint16_t value;

	memcpy(&value, page + place, sizeof(value));
	return value;
}

static void mark(uint64_t number);

static void mark_row(const uint8_t *page, size_t place, bool branch)
{
	const uint8_t *const value = page + place + sizeof(struct node) +
		read16(page, place + offsetof(struct node, key_size));
	struct node node;
	struct tree tree;
	uint64_t large;

	memcpy(&node, page + place, sizeof(node));
	if (branch) {
		mark((uint64_t)node.low | (uint64_t)node.high << 16);
	} else if (node.flags & NODE_IS_TABLE) {
		memcpy(&tree, value, sizeof(tree));
		mark(tree.root);
	} else if (node.flags & NODE_IS_BIG) {
		memcpy(&large, value, sizeof(large));
		mark(large);
	}
}

static void mark(uint64_t number)
{
	struct page head;

	if (number == PAGE_NONE)
		return;
	FUZZ_MUST(number < page_count);
	const uint8_t *const page = world.image + number * PAGE_BYTES;
	memcpy(&head, page, sizeof(head));
	live[number] = true;
	if (head.flags & PAGE_IS_OVERFLOW)
		return;
	for (size_t at = sizeof(head); at < head.lower; at += sizeof(uint16_t))
		mark_row(page, read16(page, at), head.flags & PAGE_IS_BRANCH);
}

static void mark_all(void)
{
	struct root roots[ROOT_COUNT];

	for (size_t i = 0; i < ROOT_COUNT; i++) {
		memcpy(&roots[i], world.image + i * PAGE_BYTES, sizeof(roots[i]));
		live[i] = true;
	}
	const struct root *const newest = &roots[roots[0].txn_id < roots[1].txn_id];
	mark(newest->tables.root);
	mark(newest->free_pages.root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	damaged_init(&world);
	page_count = world.image_size / PAGE_BYTES;
	pages = malloc(world.image_size);
	live = calloc(page_count, sizeof(*live));
	FUZZ_MUST(pages && live && page_count > ROOT_COUNT);
	mark_all();
	return 0;
}

/* --- edits --- */

static uint16_t number_of(const uint8_t *data)
{
	return (uint16_t)(data[0] << 8 | data[1]);
}

static void put16(uint8_t *page, size_t place, uint16_t value)
{
	if (place + sizeof(value) <= PAGE_BYTES)
		memcpy(page + place, &value, sizeof(value));
}

/* Where the row at an index begins, according to the page. */
static size_t row_place(const uint8_t *page, size_t index)
{
	return read16(page, sizeof(struct page) + index * sizeof(uint16_t));
}

/* The @nth page of a kind; after the last one the count begins again. The last kind has all
 * pages. */
static uint8_t *page_find(uint8_t kind, size_t nth)
{
	static const uint16_t kinds[] = {
		PAGE_IS_BRANCH, PAGE_IS_LEAF, PAGE_IS_OVERFLOW, PAGE_IS_ROOT, 0};
	const uint16_t wanted = kinds[kind % WFS_ARRAY_COUNT(kinds)];
	uint8_t *found[FOUND_MAX];
	size_t count = 0;

	for (size_t i = 0; i < page_count && count < FOUND_MAX; i++) {
		struct page head;

		memcpy(&head, world.image + i * PAGE_BYTES, sizeof(head));
		if (!wanted || (live[i] && (head.flags & wanted)))
			found[count++] = pages + i * PAGE_BYTES;
	}
	return count > 0 ? found[nth % count] : pages;
}

static uint64_t target_of(const uint8_t *page, const uint8_t *data)
{
	switch (data[1] % 4) {
	case 0:
		return (uint64_t)(page - pages) / PAGE_BYTES;
	case 1:
		return number_of(data + 2) % page_count;
	case 2:
		return (uint64_t)(page_find(0, data[2]) - pages) / PAGE_BYTES;
	default:
		return UINT64_C(1) << data[2] % 64;
	}
}

/* Leads a row to another page, as rows of a branch and rows with a large value do. */
static void lead(uint8_t *page, size_t index, const uint8_t *data)
{
	const size_t place = row_place(page, index);
	const uint64_t target = target_of(page, data);
	struct node node;

	if (place + sizeof(node) > PAGE_BYTES)
		return;
	memcpy(&node, page + place, sizeof(node));
	if (data[0] & 1) {
		node.low = (uint16_t)target;
		node.high = (uint16_t)(target >> 16);
	} else {
		node.flags |= NODE_IS_BIG;
		if (place + sizeof(node) + node.key_size + sizeof(target) <= PAGE_BYTES)
			memcpy(page + place + sizeof(node) + node.key_size, &target,
				sizeof(target));
	}
	memcpy(page + place, &node, sizeof(node));
}

static void copy_page(uint8_t *page, const uint8_t *data)
{
	const size_t other = number_of(data) % page_count;
	uint64_t number;

	memcpy(&number, page, sizeof(number));
	memcpy(page, pages + other * PAGE_BYTES, PAGE_BYTES);
	if (data[2] & 1)
		memcpy(page, &number, sizeof(number));
}

static void edit(const uint8_t *edit)
{
	uint8_t *const page = page_find(edit[0], edit[1]);
	const uint8_t *const data = edit + 4;
	const size_t index = edit[3] % PLACES_MAX;
	const size_t any = number_of(data) % PAGE_BYTES;

	switch (edit[2] % 9) {
	case 0: /* the head of a page */
		page[edit[3] % 32] = data[0];
		break;
	case 1: /* the place where a row begins */
		put16(page, sizeof(struct page) + 2 * index, number_of(data));
		break;
	case 2: /* the head of a row */
		put16(page, row_place(page, index) + (size_t)data[0] % 4 * 2, number_of(data + 1));
		break;
	case 3:
		lead(page, index, data);
		break;
	case 4:
		copy_page(page, data);
		break;
	case 5:
		page[any] ^= (uint8_t)(1U << data[2] % 8);
		break;
	case 6:
		page[any] = data[2];
		break;
	case 7:
		memset(page + any, data[2] & 1 ? 0xff : 0x7f, any + 8 <= PAGE_BYTES ? 8 : 0);
		break;
	default: /* in the beginning of a tree, of a root or of a list of free pages */
		put16(page, any / 2 * 2, number_of(data + 2) % (2 * page_count) & 0xffff);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memcpy(pages, world.image, world.image_size);
	for (size_t i = 0; (i + 1) * EDIT_SIZE <= size && i < EDITS_MAX; i++)
		edit(data + i * EDIT_SIZE);
	damaged_put(&world, pages, page_count * PAGE_BYTES);
	damaged_use(&world);
	return 0;
}
