/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world's store from a stranger, below LMDB: pages of data.mdb that it believes. WORLD names a
 * world, SCRATCH a directory on a tmpfs.
 *
 * An input is a list of edits of 8 bytes: page (2), kind, place, 4 bytes of data. The pages are
 * those of a fresh world: a page leads to another one, rows overlap, lists of free pages name pages
 * in use. After them all of the world is read and verified, and something is written. No crash, no
 * hang, nothing written beside the heap's blocks.
 */
#include "tests/fuzz/damaged.h"

#include "kernel/store/layout.h"

enum {
	PAGE_BYTES = 4096,
	EDIT_SIZE = 8,
	EDITS_MAX = 4,
	PLACES_MAX = 64, /* of rows, that edits reach */
};

static struct damaged world;
static uint8_t *pages;
static size_t page_count;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	damaged_init(&world);
	page_count = world.image_size / PAGE_BYTES;
	pages = malloc(world.image_size);
	FUZZ_MUST(pages && page_count > 4);
	return 0;
}

static uint16_t number_of(const uint8_t *data)
{
	return (uint16_t)(data[0] << 8 | data[1]);
}

static void put16(uint8_t *page, size_t place, uint16_t value)
{
	if (place + sizeof(value) <= PAGE_BYTES)
		memcpy(page + place, &value, sizeof(value));
}

/* Where the row at an index begins, as the page says. */
static size_t row_place(const uint8_t *page, size_t index)
{
	uint16_t place;

	memcpy(&place, page + sizeof(struct page) + index * sizeof(place), sizeof(place));
	return place;
}

/* The row leads to another page: as a branch does, or as a row with a large value does. */
static void lead(uint8_t *page, size_t index, const uint8_t *data)
{
	const size_t place = row_place(page, index);
	const uint64_t target =
		data[1] & 1 ? number_of(data + 2) % page_count : UINT64_C(1) << (data[1] / 2 % 64);
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
	uint8_t *const page = pages + number_of(edit) % page_count * PAGE_BYTES;
	const uint8_t *const data = edit + 4;
	const size_t index = edit[3] % PLACES_MAX;
	const size_t any = number_of(data) % PAGE_BYTES;

	switch (edit[2] % 9) {
	case 0: /* what a page begins with */
		page[edit[3] % 32] = data[0];
		break;
	case 1: /* where a row begins */
		put16(page, sizeof(struct page) + 2 * index, number_of(data));
		break;
	case 2: /* what a row begins with */
		put16(page, row_place(page, index) + data[0] % 4 * 2, number_of(data + 1));
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
