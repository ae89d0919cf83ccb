/* SPDX-License-Identifier: Apache-2.0 */
/* The file /replication.json of a replicated world, which changes without a commit. Each look-up
 * gives a file of its own, whose bytes never change (caps/nodes.h). */
#include "caps/nodes.h"
#include "caps/session.h"
#include "fs/tree/tree-impl.h"

int wfs_tree_replication_find(const struct wfs_tree *tree, struct wfs_node *ret_node)
{
	struct wfs_nodes_document document;
	const int r = wfs_authority_nodes(wfs_session_authority(tree->session), &document);

	if (!r)
		*ret_node =
			(struct wfs_node){.kind = WFS_NODE_REPLICATION, .number = document.number};
	return r;
}

int wfs_tree_replication_attr(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_nodes_document document;
	const int r = wfs_authority_nodes_read(
		wfs_session_authority(tree->session), node->number, NULL, &document);

	if (r)
		return r;
	*ret_attr = wfs_tree_file_attr(wfs_ino_encode(node), document.size_bytes, document.made_ns);
	ret_attr->uncached = true;
	return 0;
}

int wfs_tree_replication_document(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer)
{
	struct wfs_nodes_document document;

	return wfs_authority_nodes_read(
		wfs_session_authority(tree->session), node->number, buffer, &document);
}
