/* SPDX-License-Identifier: Apache-2.0 */
/* Inode numbers: packing and unpacking. */
#include "fs/tree/ino.h"

#include <assert.h>

#include "caps/session-tools.h"
#include "caps/session.h"
#include "kernel/base/error.h"
#include "kernel/manifest/entity-table.h"

enum {
	ROOT_INO = 1, /* FUSE_ROOT_ID */
	KIND_SHIFT = 60,
	DIRECTORY_SHIFT = 56,
	REDUCER_SHIFT = 40,
	FILE_SHIFT = 54,
	CELL_BITS = 28, /* cell of grants.json; the height is above it */
	WHICH_SHIFT = 57,
	ONE_CELL_BITS = 25,    /* cell of one entity; the view is above it */
	TOOL_FILE = 15,        /* in the place of a directory kind */
	REPLICATION_FILE = 14, /* likewise */
};

/* Kinds that only numbers have: directories with the layout LAYOUT_ONE. */
enum {
	TAG_ENTITY = WFS_NODE_TEXT + 1, /* the kinds that follow are no tags */
	TAG_ITEMS,
};
static_assert(TAG_ITEMS <= 15, "a kind has 4 bits");
static_assert(WFS_DIRECTORY_ENTITY <= (int)REPLICATION_FILE, "a directory kind has 4 bits");
static_assert((int)WFS_LISTED_BITS == (int)DIRECTORY_SHIFT, "a tool's number is below 4 bits");
static_assert(WFS_VIEW_BITS + WFS_CUT_BITS <= FILE_SHIFT, "a number and a cut are below a file");
static_assert((int)WFS_ENTITIES_MAX <= 8, "an entity has 3 bits");
static_assert((int)WFS_ENTITY_FILES_MAX <= WFS_FILE_GROWING_EVENTS, "no file has that number");
static_assert(WFS_FILE_GROWING_EVENTS < 64, "a file has 6 bits");
static_assert(
	WHICH_SHIFT - ONE_CELL_BITS == KIND_SHIFT - CELL_BITS, "both have heights of 32 bits");

#define NUMBER_MASK ((UINT64_C(1) << KIND_SHIFT) - 1)
#define VIEW_MASK ((UINT64_C(1) << WFS_VIEW_BITS) - 1)
#define LISTED_MASK ((UINT64_C(1) << WFS_LISTED_BITS) - 1)
#define REDUCER_MASK UINT64_C(0xffff)
#define DIRECTORY_MASK UINT64_C(0xf)
#define FILE_MASK UINT64_C(0x3f)
#define VID_MASK ((UINT64_C(1) << FILE_SHIFT) - 1)
#define CELL_MASK ((UINT64_C(1) << CELL_BITS) - 1)
#define WHICH_MASK UINT64_C(0x7)
#define ONE_CELL_MASK ((UINT64_C(1) << ONE_CELL_BITS) - 1)
#define CUT_MASK ((UINT64_C(1) << WFS_CUT_BITS) - 1)
#define HEIGHT_MASK ((UINT64_C(1) << (KIND_SHIFT - CELL_BITS)) - 1)

/* The layout of the bits below the kind. */
enum layout {
	LAYOUT_NUMBER,
	LAYOUT_DIRECTORY,
	LAYOUT_CELL, /* a height and a cell */
	LAYOUT_ONE,  /* which directory, a height and a cell */
	LAYOUT_FILE,
	LAYOUT_CUT,    /* a cut and a number; of events, also which file */
	LAYOUT_LISTED, /* number of a server, a tool or a document */
};

static enum layout layout_of(const struct wfs_node *node)
{
	switch (node->kind) {
	case WFS_NODE_DIRECTORY:
		return node->directory >= WFS_DIRECTORY_ENTITY    ? LAYOUT_ONE
			: node->directory == WFS_DIRECTORY_SERVER ? LAYOUT_LISTED
								  : LAYOUT_DIRECTORY;
	case WFS_NODE_TOOL:
	case WFS_NODE_REPLICATION:
		return LAYOUT_LISTED;
	case WFS_NODE_GRANTS:
		return LAYOUT_CELL;
	case WFS_NODE_MADE:
		return node->file == WFS_ENTITY_FILE_EVENTS || node->file == WFS_FILE_GROWING_EVENTS
			? LAYOUT_CUT
			: LAYOUT_FILE;
	case WFS_NODE_LOG:
	case WFS_NODE_RECORD:
		return LAYOUT_CUT;
	default:
		return LAYOUT_NUMBER;
	}
}

/* Which directory with a layout of its own: the number of its kind of entity, or its place among
 * the directories that entities have. */
static uint64_t which_of(const struct wfs_node *node)
{
	uint64_t which = 0;

	if (node->directory == WFS_DIRECTORY_ENTITY)
		return node->entity;
	for (uint32_t i = 0; i < node->file; i++)
		which += wfs_entity_file_is_directory((enum wfs_entity_file)i);
	return which;
}

/* The reverse of which_of(). Return: false if such a directory does not exist. */
static bool decode_which(uint64_t which, struct wfs_node *node)
{
	if (node->directory == WFS_DIRECTORY_ENTITY) {
		node->entity = (uint32_t)which;
		return node->entity < (uint32_t)wfs_entity_count();
	}
	for (int i = 0; i < wfs_entity_file_count(); i++) {
		if (wfs_entity_file_is_directory((enum wfs_entity_file)i) && which-- == 0) {
			node->file = (uint32_t)i;
			return true;
		}
	}
	return false;
}

bool wfs_node_fits(const struct wfs_node *node)
{
	switch (layout_of(node)) {
	case LAYOUT_DIRECTORY:
		return node->number <= VIEW_MASK && node->reducer_id <= REDUCER_MASK &&
			node->entity < WFS_ENTITIES_MAX;
	case LAYOUT_CELL:
		return node->number <= HEIGHT_MASK && node->cell <= CELL_MASK;
	case LAYOUT_ONE:
		return node->number <= HEIGHT_MASK && node->cell <= ONE_CELL_MASK &&
			which_of(node) <= WHICH_MASK;
	case LAYOUT_FILE:
		return node->number <= VID_MASK && node->file <= FILE_MASK;
	case LAYOUT_CUT:
		return node->number <= VIEW_MASK && node->cut <= CUT_MASK &&
			node->file <= FILE_MASK;
	case LAYOUT_LISTED:
		return node->number <= LISTED_MASK && node->cell <= LISTED_MASK;
	case LAYOUT_NUMBER:
		break;
	}
	return node->number <= NUMBER_MASK;
}

/* What the file of a listed tool, or /replication.json, has in the place of a directory kind. */
static uint64_t listed_file(enum wfs_node_kind kind)
{
	return kind == WFS_NODE_TOOL ? TOOL_FILE : REPLICATION_FILE;
}

uint64_t wfs_ino_encode(const struct wfs_node *node)
{
	const uint64_t kind = (uint64_t)node->kind << KIND_SHIFT;

	wfs_require(wfs_node_fits(node));
	switch (layout_of(node)) {
	case LAYOUT_DIRECTORY:
		if (node->directory == WFS_DIRECTORY_ROOT && node->number == 0)
			return ROOT_INO;
		return kind | (uint64_t)node->directory << DIRECTORY_SHIFT |
			(uint64_t)(node->reducer_id | node->entity) << REDUCER_SHIFT | node->number;
	case LAYOUT_CELL:
		return kind | node->number << CELL_BITS | node->cell;
	case LAYOUT_ONE:
		return (uint64_t)(node->directory == WFS_DIRECTORY_ENTITY ? TAG_ENTITY : TAG_ITEMS)
			<< KIND_SHIFT |
			which_of(node) << WHICH_SHIFT | node->number << ONE_CELL_BITS | node->cell;
	case LAYOUT_FILE:
		return kind | (uint64_t)node->file << FILE_SHIFT | node->number;
	case LAYOUT_CUT:
		return kind | (uint64_t)node->file << FILE_SHIFT |
			(uint64_t)node->cut << WFS_VIEW_BITS | node->number;
	case LAYOUT_LISTED:
		if (node->kind != WFS_NODE_DIRECTORY)
			return (uint64_t)WFS_NODE_DIRECTORY << KIND_SHIFT |
				listed_file(node->kind) << DIRECTORY_SHIFT | node->number;
		return kind | (uint64_t)node->directory << DIRECTORY_SHIFT | node->cell;
	case LAYOUT_NUMBER:
		break;
	}
	return kind | node->number;
}

uint64_t wfs_ino_shown(uint64_t ino)
{
	const struct wfs_node any = {.kind = WFS_NODE_REPLICATION, .number = LISTED_MASK};
	struct wfs_node node;

	return wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_REPLICATION
		? wfs_ino_encode(&any)
		: ino;
}

/* Reads the kind of a number, and of which kind a directory is. Return: false: not a valid kind. */
static bool decode_kind(uint64_t ino, struct wfs_node *node)
{
	const uint64_t tag = ino >> KIND_SHIFT;
	const uint64_t directory = ino >> DIRECTORY_SHIFT & DIRECTORY_MASK;

	node->kind = tag >= TAG_ENTITY ? WFS_NODE_DIRECTORY : (enum wfs_node_kind)tag;
	if (tag >= TAG_ENTITY) {
		node->directory = tag == TAG_ENTITY ? WFS_DIRECTORY_ENTITY : WFS_DIRECTORY_ITEMS;
		return decode_which(ino >> WHICH_SHIFT & WHICH_MASK, node);
	}
	if (tag == WFS_NODE_DIRECTORY && directory == TOOL_FILE)
		node->kind = WFS_NODE_TOOL;
	else if (tag == WFS_NODE_DIRECTORY && directory == REPLICATION_FILE)
		node->kind = WFS_NODE_REPLICATION;
	else if (tag == WFS_NODE_DIRECTORY)
		node->directory = (enum wfs_directory_kind)directory;
	if (tag == WFS_NODE_MADE) /* says which layout it has */
		node->file = (uint32_t)(ino >> FILE_SHIFT & FILE_MASK);
	return tag >= WFS_NODE_DIRECTORY && node->directory < WFS_DIRECTORY_ENTITY;
}

static bool has_number(const struct wfs_node *node)
{
	return node->kind < WFS_NODE_README || node->kind > WFS_NODE_AT_LINK;
}

bool wfs_ino_decode(uint64_t ino, struct wfs_node *ret_node)
{
	struct wfs_node node = {.number = ino & NUMBER_MASK};

	if (ino == ROOT_INO) {
		*ret_node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY};
		return true;
	}
	if (!decode_kind(ino, &node))
		return false;
	switch (layout_of(&node)) {
	case LAYOUT_DIRECTORY:
		*(node.directory == WFS_DIRECTORY_ENTITIES ? &node.entity : &node.reducer_id) =
			(uint32_t)(ino >> REDUCER_SHIFT & REDUCER_MASK);
		node.number = ino & VIEW_MASK;
		break;
	case LAYOUT_CELL:
		node.cell = ino & CELL_MASK;
		node.number = node.number >> CELL_BITS;
		break;
	case LAYOUT_ONE:
		node.cell = ino & ONE_CELL_MASK;
		node.number = ino >> ONE_CELL_BITS & HEIGHT_MASK;
		break;
	case LAYOUT_FILE:
		node.number = ino & VID_MASK;
		break;
	case LAYOUT_CUT:
		node.cut = (uint32_t)(ino >> WFS_VIEW_BITS & CUT_MASK);
		node.number = ino & VIEW_MASK;
		break;
	case LAYOUT_LISTED:
		node.number = 0;
		*(node.kind == WFS_NODE_DIRECTORY ? &node.cell : &node.number) = ino & LISTED_MASK;
		break;
	case LAYOUT_NUMBER:
		break;
	}
	/* Each node has only one number, so bits that its kind does not use must be zero. */
	if ((!has_number(&node) && node.number != 0) ||
		(layout_of(&node) == LAYOUT_LISTED && (ino & LISTED_MASK) == 0) ||
		node.entity >= (uint32_t)wfs_entity_count() ||
		(node.directory != WFS_DIRECTORY_REDUCER && node.reducer_id != 0) ||
		wfs_ino_encode(&node) != ino)
		return false;
	*ret_node = node;
	return true;
}
