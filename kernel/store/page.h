/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: one page of one of LMDB's trees, read from data.mdb as untrusted bytes.
 *
 * After page_check() has accepted a page, page_node() can be called for each of its nodes: offsets,
 * keys, and values that are stored on the page lie within it.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/store/layout.h"

/* The parts of a node. Plain value; `key` and `value` are borrowed from the page. */
struct page_node {
	struct wfs_bytes key;
	uint64_t child;         /* of a branch: number of the page below */
	uint16_t flags;         /* of a leaf: enum node_flag */
	uint64_t value_size;    /* of a leaf: bytes of the value */
	struct wfs_bytes value; /* of a leaf: the value, or (NODE_IS_BIG) its first page's number */
};

/** page_check() - check that these bytes are a branch or a leaf that LMDB could have written
 *  @bytes: @size bytes, aligned for a struct page (layout.h)
 *  @number: of the page that the bytes were read from
 *  Return: NULL if they are; otherwise a static text that says what is wrong. */
const char *page_check(const uint8_t *bytes, size_t size, uint64_t number);

bool page_is_leaf(const uint8_t *bytes);
size_t page_node_count(const uint8_t *bytes);
void page_node(const uint8_t *bytes, size_t index, struct page_node *ret_node);
