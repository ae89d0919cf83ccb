/* SPDX-License-Identifier: Apache-2.0 */
/* Finding nodes: attributes, look-ups, paths, symlinks. */
#include "fs/tree/tree.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "caps/seen.h"
#include "caps/session-entity.h"
#include "caps/session-text.h"
#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

int wfs_tree_attr(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	int r = wfs_tree_view(tree, &node, &view);
	return r ? r : wfs_tree_node_attr(tree, &view, &node, ret_attr);
}

/* --- look-ups --- */

int wfs_tree_root_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const struct wfs_root_name *name, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {
		.kind = name->kind, .directory = name->directory, .entity = name->entity};
	struct wfs_seen manifest;

	if (name->head_only && parent->number != WFS_HEIGHT_HEAD)
		return -ENOENT;
	if (name->kind == WFS_NODE_DIRECTORY)
		node.number = parent->number;
	if (name->kind == WFS_NODE_VERSION) {
		int r = wfs_tree_sees_name(tree, name);

		if (!r)
			r = wfs_session_manifest(tree->session, view, &manifest);
		if (!r)
			*ret_attr = wfs_tree_version_attr(manifest.version.vid,
				manifest.version.size_bytes, manifest.version.time_ns);
		return r;
	}
	if (name->kind == WFS_NODE_REPLICATION) {
		int r = wfs_tree_sees(tree, &node);

		if (!r)
			r = wfs_tree_replication_find(tree, &node);
		if (r)
			return r;
	}
	if (name->kind == WFS_NODE_CTL_LINK && tree->ctl_directory)
		node = (struct wfs_node){
			.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_CTL};
	else if (name->kind == WFS_NODE_CTL_LINK && !tree->ctl_target)
		return -ENOENT;
	return wfs_tree_node_attr(tree, view, &node, ret_attr);
}

static int lookup_root(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_root_name found;

	for (size_t i = 0; wfs_tree_root(i, &found); i++)
		if (strcmp(name, found.name) == 0)
			return wfs_tree_root_attr(tree, view, parent, &found, ret_attr);
	return -ENOENT;
}

static int lookup_reducer(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_reducer reducer;
	int r = wfs_session_reducer(tree->session, view, name, strlen(name), &reducer);

	if (r)
		return r;
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY,
		.directory = WFS_DIRECTORY_REDUCER,
		.reducer_id = reducer.reducer_id,
		.number = parent->number,
	};
	return wfs_tree_node_attr(tree, view, &node, ret_attr);
}

static int lookup_cell(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	struct wfs_seen seen;
	int r = wfs_name_decode(name, strlen(name), &key);

	if (!r)
		r = wfs_session_cell(
			tree->session, view, parent->reducer_id, wfs_buffer_bytes(&key), &seen);
	if (r)
		return r;
	*ret_attr = wfs_tree_version_attr(
		seen.version.vid, seen.version.size_bytes, seen.version.time_ns);
	ret_attr->cookie = seen.version.cell_id;
	return 0;
}

static int lookup_blob(const struct wfs_tree *tree, struct wfs_view *view, const char *name,
	struct wfs_attr *ret_attr)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_hash hash;

	if (wfs_hash_parse(name, strlen(name), &hash, NULL))
		return -ENOENT;
	int r = wfs_session_blob(tree->session, view, &hash, &blob, &listing);
	if (r)
		return r;
	*ret_attr = wfs_tree_blob_attr(&blob, &listing);
	ret_attr->cookie = listing.listed_id;
	return 0;
}

static int lookup_journal(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	static const char suffix[] = ".json";
	const size_t suffix_size = sizeof(suffix) - 1;
	struct wfs_node node = {.kind = WFS_NODE_RECORD};
	size_t size = strlen(name);
	int r = 0;

	if (strcmp(name, "head") == 0) {
		node = (struct wfs_node){.kind = WFS_NODE_HEAD, .number = view->height};
	} else if (strcmp(name, "log.jsonl") == 0) {
		r = wfs_tree_log_node(view, parent->number, &node);
	} else if (strcmp(name, "texts") == 0) {
		node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_TEXTS,
			.number = parent->number};
	} else if (size <= suffix_size || strcmp(name + size - suffix_size, suffix) != 0 ||
		!wfs_tree_number(name, size - suffix_size, WFS_VIEW_BITS, &node.number)) {
		return -ENOENT;
	} else {
		r = wfs_tree_record_node(view, node.number, &node);
	}
	if (!r)
		r = wfs_tree_node_attr(tree, view, &node, ret_attr);
	if (!r && node.kind == WFS_NODE_RECORD)
		ret_attr->cookie = wfs_tree_record_cookie(node.number);
	return r;
}

static int lookup_text(const struct wfs_tree *tree, struct wfs_view *view, const char *name,
	struct wfs_attr *ret_attr)
{
	struct wfs_hash hash;
	struct wfs_text text;

	if (strlen(name) != WFS_HASH_HEX_SIZE || wfs_hash_parse(name, strlen(name), &hash, NULL))
		return -ENOENT;
	int r = wfs_session_text_find(tree->session, view, &hash, &text);
	return r ? r : wfs_tree_text_file(view, &text, ret_attr);
}

static int lookup_height(const struct wfs_tree *tree, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {.kind = WFS_NODE_AT_LINK};
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};

	if (strcmp(name, "head") != 0) {
		node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY};
		if (!wfs_tree_number(name, strlen(name), WFS_VIEW_BITS, &node.number) ||
			node.number == WFS_HEIGHT_HEAD)
			return -ENOENT;
	}
	int r = wfs_tree_view(tree, &node, &view);
	return r ? r : wfs_tree_node_attr(tree, &view, &node, ret_attr);
}

int wfs_tree_growing_events(
	struct wfs_view *view, struct wfs_bytes turn_id, struct wfs_node *ret_node)
{
	struct wfs_node node = {.kind = WFS_NODE_MADE, .file = WFS_FILE_GROWING_EVENTS};
	struct wfs_view_log log;
	int r = wfs_unjudged_first_event(view, turn_id, &node.number);

	if (!r)
		r = wfs_unjudged_log(view, WFS_LOG_NOW, &log);
	if (r)
		return r;
	node.cut = (uint32_t)log.cut;
	*ret_node = node;
	return 0;
}

/* Completes the node of events.jsonl of a turn below a height. */
static int events_node(struct wfs_view *view, struct wfs_bytes id, struct wfs_node *node)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_last_event(view, id, &node->number);

	if (!r)
		r = wfs_unjudged_log(view, WFS_LOG_NOW, &log);
	if (!r)
		node->cut = (uint32_t)log.cut;
	return r;
}

int wfs_tree_entity_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, enum wfs_entity_file file, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {.kind = WFS_NODE_MADE, .file = file};
	struct wfs_version version;
	struct wfs_seen seen;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, parent, &id, &version);

	if (!r)
		r = wfs_session_entity_file(tree->session, view, file, id, &seen);
	if (r)
		return r;
	node.number = seen.version.vid;
	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_BYTES:
		*ret_attr = wfs_tree_text_attr(seen.version.vid, seen.version.size_bytes,
			seen.version.time_ns, parent->number == WFS_HEIGHT_HEAD);
		return 0;
	case WFS_ENTITY_GRANTS:
		node = (struct wfs_node){
			.kind = WFS_NODE_GRANTS, .cell = parent->cell, .number = view->height};
		break;
	case WFS_ENTITY_ITEMS:
	case WFS_ENTITY_TEXTS:
		node = wfs_tree_items_node(file, parent->number, parent->cell);
		break;
	case WFS_ENTITY_EVENTS:
		r = parent->number == WFS_HEIGHT_HEAD ? wfs_tree_growing_events(view, id, &node)
						      : events_node(view, id, &node);
		break;
	default:
		break;
	}
	return r ? r : wfs_tree_node_attr(tree, view, &node, ret_attr);
}

/* Looks up `<id>.json` beside the directory of a plan. */
static int lookup_beside(const struct wfs_tree *tree, struct wfs_view *view, const char *name,
	struct wfs_attr *ret_attr)
{
	const char *const suffix = wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE);
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};
	const size_t size = strlen(name);
	const size_t id_size = size > strlen(suffix) ? size - strlen(suffix) : 0;

	if (id_size == 0 || strcmp(name + id_size, suffix) != 0)
		return -ENOENT;
	int r = wfs_name_decode(name, id_size, &id);
	return r ? r : wfs_tree_entity_beside(tree, view, wfs_buffer_bytes(&id), ret_attr);
}

static int lookup_directory(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};
	const enum wfs_entity entity = (enum wfs_entity)parent->entity;
	struct wfs_version version;
	int r = wfs_name_decode(name, strlen(name), &id);

	if (!r)
		r = wfs_session_entity(
			tree->session, view, entity, wfs_buffer_bytes(&id), &version);
	if (r)
		return r;
	const struct wfs_node node = wfs_tree_entity_node(parent, entity, version.cell_id);
	if (!wfs_node_fits(&node))
		return -ENOENT;
	r = wfs_tree_node_attr(tree, view, &node, ret_attr);
	if (!r)
		ret_attr->cookie = wfs_tree_entity_cookie(entity, version.cell_id, false);
	return r;
}

static int lookup_entity(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	int r = lookup_directory(tree, view, parent, name, ret_attr);

	if (r == -ENOENT && parent->entity == WFS_ENTITY_PLAN)
		r = lookup_beside(tree, view, name, ret_attr);
	return r;
}

static int lookup_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	const enum wfs_entity_file file =
		wfs_entity_file_find((enum wfs_entity)parent->entity, name);

	return file == WFS_ENTITY_FILES_MAX
		? -ENOENT
		: wfs_tree_entity_file(tree, view, parent, file, ret_attr);
}

static int lookup_in(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	switch (parent->directory) {
	case WFS_DIRECTORY_ENTITIES:
		return lookup_entity(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_ENTITY:
		return lookup_file(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_ITEMS:
		return wfs_tree_item_lookup(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_ROOT:
		return lookup_root(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_REDUCERS:
		return lookup_reducer(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_REDUCER:
		return lookup_cell(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_BLOB:
		return lookup_blob(tree, view, name, ret_attr);
	case WFS_DIRECTORY_JOURNAL:
		return lookup_journal(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_TEXTS:
		return lookup_text(tree, view, name, ret_attr);
	case WFS_DIRECTORY_AT:
		return lookup_height(tree, name, ret_attr);
	case WFS_DIRECTORY_TOOLS:
	case WFS_DIRECTORY_SERVER:
		return wfs_tree_tool_lookup(tree, view, parent, name, ret_attr);
	default:
		return -ENOENT;
	}
}

int wfs_tree_lookup(
	const struct wfs_tree *tree, uint64_t parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(parent, &node))
		return -ENOENT;
	if (node.kind != WFS_NODE_DIRECTORY)
		return -ENOTDIR;
	if (strlen(name) > WFS_NAME_MAX)
		return -ENAMETOOLONG;
	int r = wfs_tree_sees(tree, &node);
	if (!r)
		r = wfs_tree_view(tree, &node, &view);
	if (!r)
		r = lookup_in(tree, &view, &node, name, ret_attr);
	if (r == -ENOENT)
		*ret_attr = (struct wfs_attr){
			/* In these, new names appear without a notification of their own; and a
			 * grant can make names visible that existed before. */
			.uncached = !wfs_session_sees_all(tree->session) ||
				node.directory == WFS_DIRECTORY_JOURNAL ||
				node.directory == WFS_DIRECTORY_TEXTS ||
				(node.directory == WFS_DIRECTORY_ITEMS &&
					node.file == WFS_ENTITY_FILE_RAW) ||
				node.directory == WFS_DIRECTORY_AT ||
				node.directory == WFS_DIRECTORY_BLOB ||
				node.directory == WFS_DIRECTORY_TOOLS ||
				node.directory == WFS_DIRECTORY_SERVER ||
				(node.directory == WFS_DIRECTORY_ROOT &&
					strcmp(name, "tools") == 0),
		};
	return r;
}

/* Follows one name of a path; `at/head` leads to the directory of the height that it names. */
static int resolve_name(const struct wfs_tree *tree, const char *name, struct wfs_attr *attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	uint64_t parent = attr->ino;
	struct wfs_node node;
	int r = wfs_tree_lookup(tree, parent, name, attr);

	if (r || !wfs_ino_decode(attr->ino, &node) || node.kind != WFS_NODE_AT_LINK)
		return r;
	r = wfs_tree_link(tree, attr->ino, &target);
	return r ? r : wfs_tree_lookup(tree, parent, wfs_buffer_text(&target), attr);
}

/* Sets @height if the node is the root of a height. */
static void note_height(uint64_t ino, uint64_t *height)
{
	struct wfs_node node;

	if (wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_DIRECTORY &&
		node.directory == WFS_DIRECTORY_ROOT)
		*height = node.number;
}

/* Is the first name of the path `.`? */
static bool is_dot(const char *path)
{
	return path[0] == '.' && (path[1] == '/' || !path[1]);
}

const char *wfs_tree_path_first(const char *path)
{
	while (*path == '/' || is_dot(path))
		path++;
	return path;
}

static bool begins_with(const char *path, const char *name)
{
	const size_t size = strlen(name);

	path = wfs_tree_path_first(path);
	return strncmp(path, name, size) == 0 && (path[size] == '/' || !path[size]);
}

bool wfs_tree_path_names_height(const char *path)
{
	return begins_with(path, "at");
}

bool wfs_tree_path_is_live(const char *path)
{
	return begins_with(path, "at") || begins_with(path, "tools") ||
		begins_with(path, WFS_TREE_REPLICATION);
}

int wfs_tree_resolve(const struct wfs_tree *tree, uint64_t height, const char *path,
	struct wfs_attr *ret_attr, uint64_t *ret_height)
{
	const struct wfs_node root = {.kind = WFS_NODE_DIRECTORY, .number = height};
	char name[WFS_NAME_MAX + 1];
	struct wfs_attr attr;
	int r = wfs_tree_attr(tree, wfs_ino_encode(&root), &attr);

	if (ret_height)
		*ret_height = height;
	while (!r && *path) {
		size_t size = strcspn(path, "/");

		if (size > WFS_NAME_MAX)
			return -ENAMETOOLONG;
		if (size > 0 && !is_dot(path)) {
			memcpy(name, path, size);
			name[size] = '\0';
			r = resolve_name(tree, name, &attr);
			if (!r && ret_height)
				note_height(attr.ino, ret_height);
		}
		if (!r && path[size] == '/' && !S_ISDIR(attr.mode))
			r = -ENOTDIR;
		path += size + (path[size] == '/');
	}
	if (!r)
		*ret_attr = attr;
	return r;
}

/* Appends the name of a reducer, found as the first one after the number before. */
static int append_reducer(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r = wfs_tree_view(tree, node, &view);

	if (!r)
		r = wfs_session_reducer_next(
			tree->session, &view, node->reducer_id - 1, &name, &reducer);
	if (r)
		return r;
	if (reducer.reducer_id != node->reducer_id)
		return -ENOENT;
	wfs_buffer_append_byte(buffer, '/');
	wfs_buffer_append(buffer, name.data, name.size);
	return 0;
}

int wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer)
{
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	if (node.kind != WFS_NODE_DIRECTORY)
		return -ENOTDIR;
	if (node.number != WFS_HEIGHT_HEAD)
		wfs_buffer_printf(buffer, "at/%" PRIu64 "/", node.number);
	enum wfs_entity entity = (enum wfs_entity)node.entity;
	enum wfs_directory_kind kind = node.directory;
	const bool is_entity = wfs_tree_entity_within(&node, &entity);
	if (kind == WFS_DIRECTORY_REDUCER)
		kind = WFS_DIRECTORY_REDUCERS;
	else if (kind == WFS_DIRECTORY_TEXTS)
		kind = WFS_DIRECTORY_JOURNAL;
	else if (kind == WFS_DIRECTORY_SERVER)
		kind = WFS_DIRECTORY_TOOLS;
	else if (is_entity)
		kind = WFS_DIRECTORY_ENTITIES;
	struct wfs_listed_server server;
	struct wfs_root_name name;
	for (size_t i = 0; wfs_tree_root(i, &name); i++)
		if (name.kind == WFS_NODE_DIRECTORY && name.directory == kind &&
			(kind != WFS_DIRECTORY_ENTITIES || name.entity == entity))
			wfs_buffer_append_text(buffer, name.name);
	int r = 0;
	if (node.directory == WFS_DIRECTORY_REDUCER)
		r = append_reducer(tree, &node, buffer);
	else if (node.directory == WFS_DIRECTORY_TEXTS)
		wfs_buffer_append_text(buffer, "/texts");
	else if (node.directory == WFS_DIRECTORY_SERVER) {
		r = wfs_tree_server_find(tree, &node, &server);
		if (!r)
			wfs_buffer_printf(buffer, "/%s", server.name);
	} else if (is_entity)
		r = wfs_tree_entity_path(tree, &node, buffer);
	return r ? r : wfs_buffer_check(buffer);
}
