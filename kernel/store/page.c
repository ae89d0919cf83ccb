/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a page: its head, the offsets of its nodes, and the nodes. */
#include "kernel/store/page.h"

#include <string.h>

static const struct page *head_of(const uint8_t *bytes)
{
	return (const void *)bytes;
}

bool page_is_leaf(const uint8_t *bytes)
{
	return head_of(bytes)->flags == PAGE_IS_LEAF;
}

size_t page_node_count(const uint8_t *bytes)
{
	return (head_of(bytes)->lower - sizeof(struct page)) / sizeof(uint16_t);
}

static size_t place_of(const uint8_t *bytes, size_t index)
{
	uint16_t place;

	memcpy(&place, bytes + sizeof(struct page) + index * sizeof(place), sizeof(place));
	return place;
}

static struct node node_at(const uint8_t *bytes, size_t place)
{
	struct node node;

	memcpy(&node, bytes + place, sizeof(node));
	return node;
}

/* Bytes that the node's value takes on the page, after the key. */
static size_t value_room(const uint8_t *bytes, const struct node *node)
{
	if (!page_is_leaf(bytes))
		return 0;
	return node->flags & NODE_IS_BIG ? sizeof(uint64_t)
					 : (size_t)node->low | (size_t)node->high << 16;
}

/* Nodes fill the page from `upper` to its end, without gaps and overlaps; LMDB moves them as one
 * block.
 * @taken: a bit for every two bytes of the page */
static const char *check_node(
	const uint8_t *bytes, size_t size, size_t index, uint8_t *taken, size_t *sum)
{
	const size_t place = place_of(bytes, index);

	if (place < head_of(bytes)->upper || place % 2 != 0 || place + sizeof(struct node) > size)
		return "a row is outside of the page";
	const struct node node = node_at(bytes, place);
	const size_t end = place + sizeof(node) + node.key_size + value_room(bytes, &node);
	if (end > size)
		return "a row ends outside of the page";
	if (node.key_size > KEY_SIZE_MAX ||
		(node.key_size == 0 && (page_is_leaf(bytes) || index > 0)))
		return "a key has an impossible size";
	for (size_t at = place; at < end; at += 2) {
		if (taken[at / 16] & 1 << at / 2 % 8)
			return "two rows share bytes";
		taken[at / 16] |= (uint8_t)(1 << at / 2 % 8);
		*sum += 2;
	}
	return NULL;
}

const char *page_check(const uint8_t *bytes, size_t size, uint64_t number)
{
	const struct page *const head = head_of(bytes);
	uint8_t taken[PAGE_SIZE_MAX / 16] = {0};
	const char *reason = NULL;
	size_t sum = 0;

	if (head->number != number)
		return "it has the number of another page";
	if (head->flags != PAGE_IS_LEAF && head->flags != PAGE_IS_BRANCH)
		return "it is neither a branch nor a leaf";
	if (head->lower < sizeof(*head) || head->lower % 2 != 0 || head->lower > head->upper ||
		head->upper > size)
		return "its bounds are impossible";
	if (page_node_count(bytes) == 0)
		return "it has no rows";
	for (size_t i = 0; !reason && i < page_node_count(bytes); i++)
		reason = check_node(bytes, size, i, taken, &sum);
	if (!reason && sum != size - head->upper)
		reason = "its rows leave a gap";
	return reason;
}

void page_node(const uint8_t *bytes, size_t index, struct page_node *ret_node)
{
	const size_t place = place_of(bytes, index);
	const struct node node = node_at(bytes, place);
	const uint8_t *const key = bytes + place + sizeof(node);
	const uint64_t number = (uint64_t)node.low | (uint64_t)node.high << 16;

	*ret_node = (struct page_node){
		.key = WFS_BYTES(key, node.key_size),
		.child = number | (uint64_t)node.flags << 32,
		.flags = node.flags,
		.value_size = number,
		.value = WFS_BYTES(key + node.key_size, value_room(bytes, &node)),
	};
}
