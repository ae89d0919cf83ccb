/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory `tools`: what outside servers have listed, of which no record exists. A principal
 * sees the tools that it may call. Neither names nor attributes are cached, because a server may
 * list others at any time.
 */
#include <sys/stat.h>

#include "caps/session-tools.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/json.h"

#define SUFFIX ".json"

enum { TOOL_NAME_SIZE = WFS_TOOL_OWN_MAX + sizeof(SUFFIX) };

int wfs_tree_sees_tools(const struct wfs_tree *tree)
{
	struct wfs_listed_server server;

	return wfs_session_server_from(tree->session, 0, &server);
}

int wfs_tree_server_find(const struct wfs_tree *tree, const struct wfs_node *node,
	struct wfs_listed_server *ret_server)
{
	int r = wfs_session_server_from(tree->session, node->cell, ret_server);

	return r ? r : ret_server->number == node->cell ? 0 : -ENOENT;
}

/* --- attributes --- */

static int server_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_listed_server *server, struct wfs_attr *ret_attr)
{
	const struct wfs_node node = {.kind = WFS_NODE_DIRECTORY,
		.directory = WFS_DIRECTORY_SERVER,
		.cell = server->number};
	int r = wfs_tree_node_attr(tree, view, &node, ret_attr);

	if (!r)
		ret_attr->cookie = server->number;
	return r;
}

static int attr_of(struct wfs_view *view, const json_t *tool, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const struct wfs_node node = {.kind = WFS_NODE_TOOL, .number = wfs_tool_number(tool)};
	int64_t created_ns;
	int r = wfs_unjudged_record_time(view, 0, &created_ns);

	wfs_json_write_document(tool, &text);
	if (wfs_buffer_check(&text) < 0 || !node.number)
		return -ENOMEM;
	if (r)
		return r;
	*ret_attr = wfs_tree_file_attr(wfs_ino_encode(&node), text.size, created_ns);
	ret_attr->cookie = node.number;
	ret_attr->uncached = true;
	return 0;
}

int wfs_tree_tool_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	WFS_AUTO_JSON json_t *tool = NULL;
	int r = wfs_session_tool_numbered(tree->session, node->number, &tool);

	return r ? r : attr_of(view, tool, ret_attr);
}

int wfs_tree_tool_document(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *tool = NULL;
	int r = wfs_session_tool_numbered(tree->session, node->number, &tool);

	if (r)
		return r;
	wfs_json_write_document(tool, buffer);
	return wfs_buffer_check(buffer);
}

/* --- look-ups --- */

static int lookup_tool(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_listed_server *server, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_JSON json_t *tool = NULL;
	const size_t size = strlen(name);
	const size_t suffix_size = strlen(SUFFIX);
	char full[WFS_TOOL_NAME_MAX + 1];

	if (size <= suffix_size || size >= TOOL_NAME_SIZE ||
		strcmp(name + size - suffix_size, SUFFIX) != 0)
		return -ENOENT;
	snprintf(full, sizeof(full), "%s.%.*s", server->name, (int)(size - suffix_size), name);
	int r = wfs_session_tool(tree->session, full, &tool);
	return r ? r : attr_of(view, tool, ret_attr);
}

int wfs_tree_tool_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_listed_server server;
	int r;

	if (parent->number != WFS_HEIGHT_HEAD)
		return -ENOENT;
	if (parent->directory == WFS_DIRECTORY_TOOLS) {
		r = wfs_session_server(tree->session, name, &server);
		return r ? r : server_attr(tree, view, &server, ret_attr);
	}
	r = wfs_tree_server_find(tree, parent, &server);
	return r ? r : lookup_tool(tree, view, &server, name, ret_attr);
}

/* --- listings --- */

static int list_servers(const struct wfs_tree *tree, struct wfs_view *view, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	struct wfs_listed_server server;
	struct wfs_attr attr;
	int r;

	while ((r = wfs_session_server_from(tree->session, cookie + 1, &server)) == 0) {
		if (wfs_tree_scan_ends(tree, cookie))
			return 0;
		cookie = server.number;
		r = server_attr(tree, view, &server, &attr);
		if (r == -ENOENT) /* it has gone since */
			continue;
		if (r)
			return r;
		if (!each(context,
			    &(struct wfs_tree_entry){
				    .name = server.name, .attr = &attr, .cookie = cookie}))
			return 0;
	}
	return r == -ENOENT ? 0 : r;
}

static int list_tools(const struct wfs_tree *tree, struct wfs_view *view, const char *server,
	uint64_t cookie, bool (*each)(void *context, const struct wfs_tree_entry *entry),
	void *context)
{
	const size_t server_size = strlen(server) + 1;
	struct wfs_attr attr;
	char name[TOOL_NAME_SIZE];
	bool go_on = true;
	int r = 0;

	while (!r && go_on) {
		WFS_AUTO_JSON json_t *tool = NULL;

		r = wfs_session_tool_from(tree->session, server, cookie + 1, &tool);
		if (!r && wfs_tree_scan_ends(tree, cookie))
			return 0;
		if (!r)
			r = attr_of(view, tool, &attr);
		if (r)
			break;
		cookie = attr.cookie;
		snprintf(
			name, sizeof(name), "%s" SUFFIX, wfs_json_text(tool, "name") + server_size);
		go_on = each(context,
			&(struct wfs_tree_entry){.name = name, .attr = &attr, .cookie = cookie});
	}
	return r == -ENOENT ? 0 : r;
}

int wfs_tree_tools_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	struct wfs_listed_server server;

	if (node->number != WFS_HEIGHT_HEAD)
		return -ENOENT;
	if (node->directory == WFS_DIRECTORY_TOOLS)
		return list_servers(tree, view, cookie, each, context);
	int r = wfs_tree_server_find(tree, node, &server);
	return r ? r : list_tools(tree, view, server.name, cookie, each, context);
}
