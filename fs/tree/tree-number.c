/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes found by their number alone, for file handles. A number may be guessed, or kept from another time, so
 * nothing is found here that no path leads to for this session: a node that is not there, and one that the
 * session may not see, are both not there.
 */
#include "fs/tree/tree-impl.h"

/* Numbers that a look-up never gives, although they can be read. */
static bool has_path(const struct wfs_tree *tree, const struct wfs_node *node)
{
	const bool head = node->number == WFS_HEIGHT_HEAD;

	if (node->kind == WFS_NODE_CTL_LINK)
		return tree->ctl_target && !tree->ctl_directory;
	if (node->kind == WFS_NODE_HEAD || node->kind == WFS_NODE_GRANTS)
		return !head; /* they are numbered from a height, because their bytes never change */
	if (node->kind != WFS_NODE_DIRECTORY)
		return true;
	if (node->directory == WFS_DIRECTORY_CTL)
		return head && tree->ctl_directory;
	return head || node->directory != WFS_DIRECTORY_AT;
}

/* May it be of a time before now? Such nodes are below at/<height>, where another right leads. */
static bool may_be_past(const struct wfs_node *node)
{
	switch (node->kind) {
	case WFS_NODE_VERSION:
	case WFS_NODE_LIVE:
	case WFS_NODE_MADE:
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

/* Return: @r, or -ENOENT for what the session may not know of. */
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

/* Cuts the last name off. */
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
