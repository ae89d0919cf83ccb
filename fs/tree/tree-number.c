/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding nodes by their number alone, for file handles. A number may be guessed, or kept from
 * another time, so this finds only nodes to which a path leads that the session may see. For other
 * nodes, missing or hidden, the answer is the same: -ENOENT.
 */
#include "fs/tree/tree-impl.h"

/* Can a look-up give the number? Some numbers can be read, but no look-up gives them. */
static bool has_path(const struct wfs_tree *tree, const struct wfs_node *node)
{
	const bool head = node->number == WFS_HEIGHT_HEAD;

	if (node->kind == WFS_NODE_CTL_LINK)
		return tree->ctl_target && !tree->ctl_directory;
	if (node->kind == WFS_NODE_HEAD || node->kind == WFS_NODE_GRANTS)
		return !head; /* these have numbers of a height, because their bytes never change */
	if (node->kind != WFS_NODE_DIRECTORY)
		return true;
	if (node->directory == WFS_DIRECTORY_CTL)
		return head && tree->ctl_directory;
	return head ||
		(node->directory != WFS_DIRECTORY_AT && node->directory != WFS_DIRECTORY_TOOLS);
}

/* Can the node be of an earlier time? It is then below at/<height>, which needs another right. */
static bool may_be_past(const struct wfs_node *node)
{
	switch (node->kind) {
	case WFS_NODE_MADE:
		return node->file != WFS_FILE_GROWING_EVENTS;
	case WFS_NODE_VERSION:
	case WFS_NODE_LIVE:
	case WFS_NODE_GRANTS:
	case WFS_NODE_HEAD:
		return true;
	case WFS_NODE_DIRECTORY:
	case WFS_NODE_LOG:
		return node->number != WFS_HEIGHT_HEAD;
	default:
		return false;
	}
}

/* Return: @r, or -ENOENT if the session may not know about the node. */
static int not_there(int r)
{
	return r == -EACCES || r == -EINVAL || r == -ENOTDIR ? -ENOENT : r;
}

int wfs_tree_by_number(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr)
{
	static const struct wfs_node heights = {.kind = WFS_NODE_AT_LINK};
	struct wfs_node node;
	int r = 0;

	if (!wfs_ino_decode(ino, &node) || !has_path(tree, &node))
		return -ENOENT;
	if (may_be_past(&node))
		r = wfs_tree_sees(tree, &heights);
	if (!r)
		r = wfs_tree_attr(tree, ino, ret_attr);
	return not_there(r);
}

/* Removes the last name of a path. */
static void cut_name(struct wfs_buffer *path)
{
	while (path->size > 0 && path->data[path->size - 1] == '/')
		path->size--;
	while (path->size > 0 && path->data[path->size - 1] != '/')
		path->size--;
}

int wfs_tree_parent(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	int r = wfs_tree_by_number(tree, ino, ret_attr);

	if (!r)
		r = wfs_tree_path(tree, ino, &path);
	if (r)
		return not_there(r);
	cut_name(&path);
	r = wfs_tree_resolve(tree, WFS_HEIGHT_HEAD, wfs_buffer_text(&path), ret_attr, NULL);
	return not_there(r);
}
