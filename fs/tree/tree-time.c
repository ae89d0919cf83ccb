/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of directories. A directory in which something is hidden has the time of the world's
 * creation. Any other time would change when hidden names do; and to find the newest visible
 * change, everything would have to be read.
 */
#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

enum { NAMES_MAX = 3 }; /* of a directory's path */

static int created(struct wfs_view *view, int64_t *ret_mtime_ns)
{
	return wfs_unjudged_record_time(view, 0, ret_mtime_ns);
}

/* --- does the session see everything in a directory? Return: 1, 0, or -errno. --- */

static int sees_whole(
	const struct wfs_tree *tree, struct wfs_path path, struct wfs_bytes reducer_name)
{
	return wfs_session_sees_whole(tree->session, path, reducer_name);
}

/* For `journal`, which has a file for each record. */
static int sees_journal(const struct wfs_tree *tree)
{
	const struct wfs_bytes name = wfs_bytes_text("journal");
	int r = wfs_session_sees(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL,
		(struct wfs_path){&name, 1}, WFS_COVERAGE_WHOLE, NULL);

	return r == -ENOENT || r == -EACCES ? 0 : r ? r : 1;
}

static int sees_reducer(
	const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node)
{
	struct wfs_bytes names[] = {wfs_bytes_text("reducers"), {0}};
	struct wfs_reducer reducer;
	int r = wfs_session_reducer_next(
		tree->session, view, node->reducer_id - 1, &names[1], &reducer);

	if (!r && reducer.reducer_id != node->reducer_id)
		r = -ENOENT;
	return r ? r : sees_whole(tree, (struct wfs_path){names, 2}, names[1]);
}

static struct wfs_bytes reducer_of(enum wfs_entity entity)
{
	return wfs_bytes_text(wfs_builtin_reducer_name(wfs_entity_reducer(entity)));
}

static int sees_entities(const struct wfs_tree *tree, enum wfs_entity entity)
{
	const struct wfs_bytes name = wfs_bytes_text(wfs_entity_directory(entity));

	return sees_whole(tree, (struct wfs_path){&name, 1}, reducer_of(entity));
}

/* For the directory of an artifact, …, or one within it. */
static int sees_entity(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, enum wfs_entity entity)
{
	const char *const within = node->directory == WFS_DIRECTORY_ITEMS
		? wfs_entity_file_name((enum wfs_entity_file)node->file)
		: NULL;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_bytes names[NAMES_MAX] = {wfs_bytes_text(wfs_entity_directory(entity)), {0},
		wfs_bytes_text(within ? within : "")};
	struct wfs_version version;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, node, &id, &version);

	if (r)
		return r;
	wfs_name_append(&name, id.data, id.size);
	r = wfs_buffer_check(&name);
	names[1] = wfs_buffer_bytes(&name);
	return r ? r
		 : sees_whole(tree, (struct wfs_path){names, within ? 3 : 2}, reducer_of(entity));
}

/* For any directory of the head. A directory of a height has the time of the height's last record,
 * which hides nothing. */
static int is_whole(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node)
{
	enum wfs_entity entity;

	if (wfs_session_sees_all(tree->session) || node->directory == WFS_DIRECTORY_BLOB)
		return 1;
	if (node->number != WFS_HEIGHT_HEAD)
		return 0;
	if (node->directory == WFS_DIRECTORY_JOURNAL || node->directory == WFS_DIRECTORY_TEXTS)
		return sees_journal(tree);
	if (node->directory == WFS_DIRECTORY_REDUCER)
		return sees_reducer(tree, view, node);
	if (node->directory == WFS_DIRECTORY_ENTITIES)
		return sees_entities(tree, (enum wfs_entity)node->entity);
	if (wfs_tree_entity_within(node, &entity))
		return sees_entity(tree, view, node, entity);
	return 1; /* other directories never change */
}

/* --- times --- */

static int reducer_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns)
{
	struct wfs_reducer reducer;
	int r = wfs_session_reducer_by_id(tree->session, view, node->reducer_id, &reducer);

	if (!r)
		*ret_mtime_ns = reducer.names_ns;
	return r;
}

static int blobs_mtime(const struct wfs_tree *tree, struct wfs_view *view, int64_t *ret_mtime_ns)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;
	int r = wfs_session_blob_last(tree->session, view, &last);

	if (!r && last == 0)
		return created(view, ret_mtime_ns);
	if (!r)
		r = wfs_session_blob_listed(tree->session, view, last, &blob, &listing);
	if (!r)
		*ret_mtime_ns = listing.time_ns;
	return r;
}

/* A directory of a height has the time of the height; one of the head, that of its newest name. */
static int whole_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns)
{
	enum wfs_entity entity = (enum wfs_entity)node->entity;
	uint64_t count;

	if (node->number != WFS_HEIGHT_HEAD || node->directory == WFS_DIRECTORY_JOURNAL ||
		node->directory == WFS_DIRECTORY_TEXTS)
		return wfs_unjudged_record_time(view, view->height - 1, ret_mtime_ns);
	if (node->directory == WFS_DIRECTORY_ENTITIES)
		return wfs_unjudged_entity_names(view, entity, &count, ret_mtime_ns);
	if (wfs_tree_entity_within(node, &entity))
		return wfs_tree_entity_mtime(tree, view, node, ret_mtime_ns);
	if (node->directory == WFS_DIRECTORY_REDUCER)
		return reducer_mtime(tree, view, node, ret_mtime_ns);
	if (node->directory == WFS_DIRECTORY_BLOB)
		return blobs_mtime(tree, view, ret_mtime_ns);
	return created(view, ret_mtime_ns);
}

int wfs_tree_directory_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns)
{
	int r = is_whole(tree, view, node);

	if (r < 0)
		return r;
	return r ? whole_mtime(tree, view, node, ret_mtime_ns) : created(view, ret_mtime_ns);
}
