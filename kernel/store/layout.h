/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: how LMDB lays out data.mdb, for the checks that LMDB does not make.
 *
 * Numbers have the byte order and the alignment of the machine, as LMDB writes them.
 * Source: LMDB 0.9, mdb.c: MDB_page, MDB_node, MDB_db, MDB_meta.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum page_flag {
	PAGE_IS_BRANCH = 0x01,
	PAGE_IS_LEAF = 0x02,
	PAGE_IS_OVERFLOW = 0x04,
	PAGE_IS_ROOT = 0x08,
};

enum node_flag {
	NODE_IS_BIG = 0x01,   /* the value is on pages of its own; the node has their number */
	NODE_IS_TABLE = 0x02, /* the value is a struct tree */
};

enum {
	PAGE_SIZE_MIN = 512,
	PAGE_SIZE_MAX = 32768,
	ROOT_COUNT = 2,
	KEY_SIZE_MAX = 511,  /* MDB_MAXKEYSIZE */
	TREE_DEPTH_MAX = 32, /* CURSOR_STACK */
};

#define PAGE_NONE UINT64_MAX /* the root of an empty tree */

/* The beginning of a page; the offsets of its nodes follow, 16 bits each. */
struct page {
	uint64_t number;
	uint16_t unused;
	uint16_t flags;
	union {
		struct {
			uint16_t lower; /* end of the offsets */
			uint16_t upper; /* begin of the nodes */
		};
		uint32_t page_count; /* of an overflow page: how many pages the value takes */
	};
};
static_assert(sizeof(struct page) == 16, "as LMDB has it");

/* The beginning of a node. The key follows, then the value. */
struct node {
	uint16_t low; /* of a leaf: size of the value; of a branch: number of a page */
	uint16_t high;
	uint16_t flags; /* of a branch: the number's third part */
	uint16_t key_size;
};
static_assert(sizeof(struct node) == 8, "as LMDB has it");

/* One table. */
struct tree {
	uint32_t pad; /* in the root's first tree: the page size */
	uint16_t flags;
	uint16_t depth;
	uint64_t branch_pages;
	uint64_t leaf_pages;
	uint64_t overflow_pages;
	uint64_t entries;
	uint64_t root;
};
static_assert(sizeof(struct tree) == 48, "as LMDB has it on 64-bit machines");

/* The beginning of a root's page. */
struct root {
	struct page page;
	uint32_t magic;
	uint32_t version;
	uint64_t address;
	uint64_t map_size;
	struct tree free_pages;
	struct tree tables;
	uint64_t last_page;
	uint64_t txn_id;
};
static_assert(sizeof(struct root) == 152, "as LMDB has it on 64-bit machines");
