/* SPDX-License-Identifier: Apache-2.0 */
/* stat of any node. */
#include <sys/stat.h>

#include "caps/seen.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"

#include "caps/session-text.h"

/* Has the world private texts? Their directory exists only then. */
static int has_texts(struct wfs_view *view)
{
	int r = wfs_unjudged_has_texts(view);

	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

static int directory_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_attr attr = {.ino = wfs_ino_encode(node), .mode = S_IFDIR | 0555};
	struct wfs_listed_server server;
	struct wfs_reducer reducer;
	enum wfs_entity entity;
	int64_t changed_ns;
	int r = 0;

	if (node->directory == WFS_DIRECTORY_REDUCER)
		r = wfs_session_reducer_by_id(tree->session, view, node->reducer_id, &reducer);
	else if (node->directory == WFS_DIRECTORY_TEXTS)
		r = has_texts(view);
	else if (node->directory == WFS_DIRECTORY_TOOLS)
		r = node->number == WFS_HEIGHT_HEAD ? 0 : -ENOENT;
	else if (node->directory == WFS_DIRECTORY_SERVER)
		r = wfs_tree_server_find(tree, node, &server);
	else if (wfs_tree_entity_within(node, &entity))
		r = wfs_tree_entity_mtime(tree, view, node, &changed_ns);
	attr.uncached =
		node->directory == WFS_DIRECTORY_TOOLS || node->directory == WFS_DIRECTORY_SERVER;
	if (!r)
		r = wfs_tree_directory_mtime(tree, view, node, &attr.mtime_ns);
	if (!r)
		*ret_attr = attr;
	return r;
}

static int link_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	struct wfs_attr attr = {
		.ino = wfs_ino_encode(node),
		.mode = S_IFLNK | 0777,
		.uncached = node->kind == WFS_NODE_AT_LINK,
	};
	int r = wfs_tree_link(tree, attr.ino, &target);

	if (!r)
		r = wfs_unjudged_record_time(view, 0, &attr.mtime_ns);
	if (r)
		return r;
	attr.size_bytes = target.size;
	*ret_attr = attr;
	return 0;
}

static int version_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_seen seen;
	int r = wfs_session_version(tree->session, view, node->number, &seen);

	if (!r && seen.version.tombstone)
		r = -ENOENT;
	if (!r)
		*ret_attr = wfs_tree_version_attr(
			seen.version.vid, seen.version.size_bytes, seen.version.time_ns);
	return r;
}

static int log_size(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	uint64_t *ret_size_bytes)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(view, node->cut, &log);

	if (r)
		return r;
	if (node->number == WFS_HEIGHT_HEAD && tree->log_end_bytes)
		log.end = atomic_load(tree->log_end_bytes);
	*ret_size_bytes = log.end > log.begin ? log.end - log.begin : 0;
	return 0;
}

static int journal_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	struct wfs_attr attr = wfs_tree_file_attr(wfs_ino_encode(node), 0, 0);
	uint64_t seq = node->kind == WFS_NODE_RECORD ? node->number : view->height - 1;
	struct wfs_bytes line = {0};
	int r = node->kind == WFS_NODE_RECORD ? wfs_tree_is_kept(view, node) : 0;

	if (!r)
		r = wfs_unjudged_record_time(view, seq, &attr.mtime_ns);
	if (!r && node->kind == WFS_NODE_RECORD)
		r = wfs_session_record(tree->session, view, seq, &line);
	else if (!r && node->kind == WFS_NODE_LOG)
		r = log_size(tree, view, node, &attr.size_bytes);
	else if (!r)
		r = wfs_tree_head_document(tree, view, &document);
	if (r)
		return r;
	attr.size_bytes += line.size + document.size;
	*ret_attr = attr;
	return 0;
}

int wfs_tree_text_file(
	struct wfs_view *view, const struct wfs_text *text, struct wfs_attr *ret_attr)
{
	const struct wfs_node node = {.kind = WFS_NODE_TEXT, .number = text->number};
	int64_t at_ns;
	int r = wfs_unjudged_record_time(view, text->seq, &at_ns);

	if (r)
		return r;
	*ret_attr = wfs_tree_file_attr(wfs_ino_encode(&node), text->bytes.size, at_ns);
	ret_attr->cookie = text->number;
	ret_attr->uncached = true; /* the principal may lose the right to read it */
	return 0;
}

static int text_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_text text;
	int r = wfs_session_text(tree->session, view, node->number, &text);

	return r ? r : wfs_tree_text_file(view, &text, ret_attr);
}

int wfs_tree_node_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	int64_t genesis_ns;
	int r = wfs_tree_sees(tree, node);

	if (r)
		return r;
	switch (node->kind) {
	case WFS_NODE_DIRECTORY:
		return directory_attr(tree, view, node, ret_attr);
	case WFS_NODE_VERSION:
		return version_attr(tree, view, node, ret_attr);
	case WFS_NODE_LIVE:
	case WFS_NODE_MADE:
	case WFS_NODE_GRANTS:
		return wfs_tree_entity_attr(tree, view, node, ret_attr);
	case WFS_NODE_BLOB:
		r = wfs_session_blob_listed(tree->session, view, node->number, &blob, &listing);
		if (!r)
			*ret_attr = wfs_tree_blob_attr(&blob, &listing);
		return r;
	case WFS_NODE_TEXT:
		return text_attr(tree, view, node, ret_attr);
	case WFS_NODE_TOOL:
		return wfs_tree_tool_attr(tree, view, node, ret_attr);
	case WFS_NODE_REPLICATION:
		return wfs_tree_replication_attr(tree, node, ret_attr);
	case WFS_NODE_RECORD:
	case WFS_NODE_HEAD:
	case WFS_NODE_LOG:
		return journal_attr(tree, view, node, ret_attr);
	case WFS_NODE_README:
		r = wfs_unjudged_record_time(view, 0, &genesis_ns);
		if (!r)
			*ret_attr = wfs_tree_file_attr(
				wfs_ino_encode(node), wfs_tree_readme(tree).size, genesis_ns);
		return r;
	case WFS_NODE_CTL_LINK:
	case WFS_NODE_AT_LINK:
		return link_attr(tree, view, node, ret_attr);
	case WFS_NODE_INVALID:
		break;
	}
	return -ENOENT;
}
