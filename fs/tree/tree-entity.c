/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts, principals, turns and plans as directories. What their files hold:
 * kernel/read/entity.h. */
#include <sys/stat.h>

#include "caps/seen.h"
#include "caps/session-entity.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

bool wfs_tree_entity_within(const struct wfs_node *node, enum wfs_entity *ret_entity)
{
	if (node->kind != WFS_NODE_DIRECTORY || node->directory < WFS_DIRECTORY_ENTITY)
		return false;
	*ret_entity = node->directory == WFS_DIRECTORY_ENTITY
		? (enum wfs_entity)node->entity
		: wfs_entity_file_entity((enum wfs_entity_file)node->file);
	return true;
}

static struct wfs_node directory_node(enum wfs_entity entity, uint64_t view, uint64_t cell)
{
	return (struct wfs_node){
		.kind = WFS_NODE_DIRECTORY,
		.directory = WFS_DIRECTORY_ENTITY,
		.entity = entity,
		.cell = cell,
		.number = view,
	};
}

uint64_t wfs_tree_entities_ino(enum wfs_entity entity)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_ENTITIES, .entity = entity};

	return wfs_ino_encode(&node);
}

uint64_t wfs_tree_entity_cookie(enum wfs_entity entity, uint64_t cell_id, bool beside)
{
	return entity == WFS_ENTITY_PLAN ? cell_id << 1 | beside : cell_id;
}

struct wfs_node wfs_tree_entity_node(
	const struct wfs_node *parent, enum wfs_entity entity, uint64_t cell_id)
{
	return directory_node(entity, parent->number, wfs_cell_ordinal(cell_id));
}

/* Return: false if the node does not fit an inode number. */
static bool ino_of(const struct wfs_node *node, uint64_t *ret_ino)
{
	const bool fits = wfs_node_fits(node);

	if (fits)
		*ret_ino = wfs_ino_encode(node);
	return fits;
}

bool wfs_tree_entity_ino(enum wfs_entity entity, uint64_t cell, uint64_t *ret_ino)
{
	const struct wfs_node node = directory_node(entity, WFS_HEIGHT_HEAD, cell);

	return ino_of(&node, ret_ino);
}

struct wfs_node wfs_tree_items_node(enum wfs_entity_file directory, uint64_t view, uint64_t cell)
{
	return (struct wfs_node){
		.kind = WFS_NODE_DIRECTORY,
		.directory = WFS_DIRECTORY_ITEMS,
		.file = directory,
		.cell = cell,
		.number = view,
	};
}

bool wfs_tree_items_ino(enum wfs_entity_file directory, uint64_t cell, uint64_t *ret_ino)
{
	const struct wfs_node node = wfs_tree_items_node(directory, WFS_HEIGHT_HEAD, cell);

	return ino_of(&node, ret_ino);
}

int wfs_tree_entity_find(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_bytes *ret_id, struct wfs_version *ret_version)
{
	struct wfs_seen seen;
	enum wfs_entity entity = WFS_ENTITY_PRINCIPAL;

	(void)wfs_tree_entity_within(node, &entity);
	int r = wfs_session_entity_at(tree->session, view, entity, node->cell, ret_id, ret_version);
	if (r || node->directory != WFS_DIRECTORY_ITEMS)
		return r;
	r = wfs_session_entity_file(
		tree->session, view, (enum wfs_entity_file)node->file, *ret_id, &seen);
	if (!r)
		*ret_version = seen.version;
	return r;
}

int wfs_tree_entity_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns)
{
	struct wfs_version version;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, node, &id, &version);

	if (!r)
		*ret_mtime_ns = version.time_ns;
	return r;
}

int wfs_tree_entity_path(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	struct wfs_bytes id;
	int r = wfs_tree_view(tree, node, &view);

	if (!r)
		r = wfs_tree_entity_find(tree, &view, node, &id, &version);
	if (r)
		return r;
	wfs_buffer_append_byte(buffer, '/');
	wfs_name_append(buffer, id.data, id.size);
	if (node->directory == WFS_DIRECTORY_ITEMS)
		wfs_buffer_printf(
			buffer, "/%s", wfs_entity_file_name((enum wfs_entity_file)node->file));
	return 0;
}

/* --- files --- */

/* Is the file made from a version, with an inode number of its own? */
static bool is_made(enum wfs_entity_form form)
{
	return form == WFS_ENTITY_STATE || form == WFS_ENTITY_MEMBER || form == WFS_ENTITY_MADE ||
		form == WFS_ENTITY_PARTS || form == WFS_ENTITY_ITEMS;
}

static int grants(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_tree_made *ret_made)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	struct wfs_version version;
	struct wfs_seen seen;
	int64_t newest_ns = 0;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, node, &id, &version);

	if (!r)
		r = wfs_session_entity_file(tree->session, view, WFS_ENTITY_FILE_GRANTS, id, &seen);
	if (!r)
		r = wfs_seen_grants(view, &seen, &whole, &newest_ns);
	if (r)
		return r;
	if (range.size > 0) {
		const struct wfs_bytes part =
			wfs_tree_slice(wfs_buffer_bytes(&whole), range.offset, range.size);

		wfs_buffer_append(buffer, part.data, part.size);
		r = wfs_buffer_check(buffer);
	}
	if (!r)
		*ret_made = (struct wfs_tree_made){
			seen.version, newest_ns ? newest_ns : seen.version.time_ns, whole.size};
	return r;
}

int wfs_tree_made(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_tree_made *ret_made)
{
	struct wfs_session_part part = {.range = range, .buffer = buffer};
	struct wfs_seen seen;

	if (node->kind == WFS_NODE_GRANTS)
		return grants(tree, view, node, range, buffer, ret_made);
	if (node->file >= (uint32_t)wfs_entity_file_count())
		return -ENOENT;
	const enum wfs_entity_file file = (enum wfs_entity_file)node->file;
	if (!is_made(wfs_entity_file_form(file)))
		return -ENOENT;
	int r = wfs_session_entity_version(tree->session, view, file, node->number, &seen);
	if (!r)
		r = wfs_session_entity_read(tree->session, view, file, &seen, &part);
	if (!r)
		*ret_made =
			(struct wfs_tree_made){seen.version, seen.version.time_ns, part.size_bytes};
	return r;
}

bool wfs_tree_is_private(const struct wfs_node *node)
{
	return node->kind == WFS_NODE_TEXT ||
		(node->file == WFS_ENTITY_FILE_RAW &&
			(node->kind == WFS_NODE_MADE ||
				(node->kind == WFS_NODE_DIRECTORY &&
					node->directory == WFS_DIRECTORY_ITEMS)));
}

bool wfs_tree_is_events(const struct wfs_node *node)
{
	return node->kind == WFS_NODE_MADE &&
		(node->file == WFS_ENTITY_FILE_EVENTS || node->file == WFS_FILE_GROWING_EVENTS);
}

/* Files that are made of all steps of a plan, or of all events of a turn. */
static const enum wfs_entity_file long_files[] = {
	WFS_ENTITY_FILE_PLAN, WFS_ENTITY_FILE_PLAN_GRAPH, WFS_ENTITY_FILE_EVENTS};

bool wfs_tree_takes_long(uint64_t ino)
{
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node) || node.kind != WFS_NODE_MADE)
		return false;
	if (wfs_tree_is_events(&node))
		return true;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(long_files); i++)
		if ((enum wfs_entity_file)node.file == long_files[i])
			return true;
	return false;
}

static bool is_beside(const char *path, const char *name)
{
	const char *const suffix = wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE);
	const char *const directory = wfs_entity_directory(WFS_ENTITY_PLAN);
	const size_t size = strlen(directory);
	const size_t name_size = strlen(name);
	const char *end = name;

	while (end > path && end[-1] == '/')
		end--;
	return end < name && (size_t)(end - path) >= size &&
		memcmp(end - size, directory, size) == 0 && name_size > strlen(suffix) &&
		strcmp(name + name_size - strlen(suffix), suffix) == 0;
}

bool wfs_tree_path_takes_long(const char *path)
{
	const char *const slash = strrchr(path, '/');
	const char *const name = slash ? slash + 1 : path;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(long_files); i++)
		if (strcmp(name, wfs_entity_file_name(long_files[i])) == 0)
			return true;
	return is_beside(path, name);
}

/* stat of events.jsonl, whose size is known without making its bytes. */
static int events_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	const bool grows = node->file == WFS_FILE_GROWING_EVENTS;
	struct wfs_events events = {.seq = node->number, .height = grows ? view->height : 0};

	if (!wfs_node_fits(node))
		return -ENOENT;
	if (grows && tree->events_height && atomic_load(tree->events_height) > 0)
		events.height = atomic_load(tree->events_height);
	int r = wfs_tree_is_kept(view, node);
	if (!r)
		r = wfs_session_events(tree->session, view, (struct wfs_range){0}, NULL, &events);
	if (r)
		return r;
	*ret_attr = wfs_tree_file_attr(wfs_ino_encode(node), events.size_bytes, events.time_ns);
	ret_attr->uncached = grows;
	return 0;
}

static int made_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_tree_made made;

	if (!wfs_node_fits(node))
		return -ENOENT;
	int r = wfs_tree_made(tree, view, node, (struct wfs_range){0}, NULL, &made);
	if (!r)
		*ret_attr =
			wfs_tree_file_attr(wfs_ino_encode(node), made.size_bytes, made.mtime_ns);
	/* the principal may lose the right to read it, or a collection drops it */
	if (!r)
		ret_attr->uncached = wfs_tree_is_private(node);
	return r;
}

struct wfs_attr wfs_tree_text_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns, bool live)
{
	const struct wfs_node node = {
		.kind = live ? WFS_NODE_LIVE : WFS_NODE_VERSION, .number = vid};

	return wfs_tree_file_attr(wfs_ino_encode(&node), size_bytes, time_ns);
}

int wfs_tree_entity_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_seen seen;

	if (wfs_tree_is_events(node))
		return events_attr(tree, view, node, ret_attr);
	if (node->kind != WFS_NODE_LIVE)
		return made_attr(tree, view, node, ret_attr);
	int r = wfs_session_live_text(tree->session, view, node->number, &seen);
	if (!r)
		*ret_attr = wfs_tree_text_attr(
			seen.version.vid, seen.version.size_bytes, seen.version.time_ns, true);
	return r;
}

int wfs_tree_entity_beside(const struct wfs_tree *tree, struct wfs_view *view,
	struct wfs_bytes plan_id, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_PLAN};
	struct wfs_seen seen;
	int r = wfs_session_entity_file(
		tree->session, view, WFS_ENTITY_FILE_PLAN_BESIDE, plan_id, &seen);

	if (r)
		return r;
	node.number = seen.version.vid;
	r = made_attr(tree, view, &node, ret_attr);
	if (!r)
		ret_attr->cookie =
			wfs_tree_entity_cookie(WFS_ENTITY_PLAN, seen.version.cell_id, true);
	return r;
}
