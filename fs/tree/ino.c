/* SPDX-License-Identifier: Apache-2.0 */
/* Inode numbers: packing and unpacking. */
#include "fs/tree/ino.h"

#include "kernel/base/error.h"

enum {
	ROOT_INO = 1, /* FUSE_ROOT_ID */
	KIND_SHIFT = 60,
	DIRECTORY_SHIFT = 56,
	REDUCER_SHIFT = 40,
};

#define NUMBER_MASK ((UINT64_C(1) << KIND_SHIFT) - 1)
#define VIEW_MASK ((UINT64_C(1) << WFS_VIEW_BITS) - 1)
#define REDUCER_MASK UINT64_C(0xffff)
#define DIRECTORY_MASK UINT64_C(0xf)

uint64_t wfs_ino_encode(const struct wfs_node *node)
{
	if (node->kind != WFS_NODE_DIRECTORY) {
		wfs_require(node->number <= NUMBER_MASK);
		return (uint64_t)node->kind << KIND_SHIFT | node->number;
	}
	wfs_require(node->number <= VIEW_MASK && node->reducer_id <= REDUCER_MASK);
	if (node->directory == WFS_DIRECTORY_ROOT && node->number == 0)
		return ROOT_INO;
	return (uint64_t)WFS_NODE_DIRECTORY << KIND_SHIFT |
		(uint64_t)node->directory << DIRECTORY_SHIFT |
		(uint64_t)node->reducer_id << REDUCER_SHIFT | node->number;
}

bool wfs_ino_decode(uint64_t ino, struct wfs_node *ret_node)
{
	if (ino == ROOT_INO) {
		*ret_node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY};
		return true;
	}
	struct wfs_node node = {
		.kind = (enum wfs_node_kind)(ino >> KIND_SHIFT),
		.number = ino & NUMBER_MASK,
	};
	if (node.kind == WFS_NODE_DIRECTORY) {
		node.directory = (enum wfs_directory_kind)(ino >> DIRECTORY_SHIFT & DIRECTORY_MASK);
		node.reducer_id = (uint32_t)(ino >> REDUCER_SHIFT & REDUCER_MASK);
		node.number = ino & VIEW_MASK;
	}
	if (node.kind < WFS_NODE_DIRECTORY || node.kind > WFS_NODE_AT_LINK ||
		(node.kind == WFS_NODE_DIRECTORY && node.directory >= WFS_DIRECTORY_KIND_COUNT))
		return false;
	/* Each node has one number: bits that mean nothing to it are zero. */
	if ((node.kind >= WFS_NODE_README && node.number != 0) ||
		(node.directory != WFS_DIRECTORY_REDUCER && node.reducer_id != 0) ||
		wfs_ino_encode(&node) != ino)
		return false;
	*ret_node = node;
	return true;
}
