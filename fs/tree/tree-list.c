/* SPDX-License-Identifier: Apache-2.0 */
/* Listing directories. Cookies are ids of the listed nodes, so they stay right when names
 * change. */
#include <inttypes.h>

#include "caps/session-list.h"
#include "caps/session-text.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

/* The receiver of the names. */
struct sink {
	const struct wfs_tree *tree;
	struct wfs_view *view;
	const struct wfs_node *node;
	bool (*each)(void *context, const struct wfs_tree_entry *entry);
	void *context;
};

static bool give(
	const struct sink *sink, const char *name, const struct wfs_attr *attr, uint64_t cookie)
{
	const struct wfs_tree_entry entry = {.name = name, .attr = attr, .cookie = cookie};

	return sink->each(sink->context, &entry);
}

static int list_root(const struct sink *sink, uint64_t cookie)
{
	struct wfs_root_name name;

	for (uint64_t i = cookie; wfs_tree_root(i, &name); i++) {
		struct wfs_attr attr;
		int r = wfs_tree_root_attr(sink->tree, sink->view, sink->node, &name, &attr);

		if (r == -ENOENT || r == -EACCES)
			continue;
		if (r)
			return r;
		if (!give(sink, name.name, &attr, i + 1))
			return 0;
	}
	return 0;
}

static int list_reducers(const struct sink *sink, uint64_t cookie)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r;

	if (cookie > WFS_REDUCER_ID_MAX)
		return 0;
	while ((r = wfs_session_reducer_next(
			sink->tree->session, sink->view, (uint32_t)cookie, &name, &reducer)) == 0) {
		const struct wfs_node node = {
			.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_REDUCER,
			.reducer_id = reducer.reducer_id,
			.number = sink->node->number,
		};
		char text[WFS_NAME_MAX + 1];
		struct wfs_attr attr;

		snprintf(text, sizeof(text), "%.*s", (int)name.size, (const char *)name.data);
		cookie = reducer.reducer_id;
		r = wfs_tree_node_attr(sink->tree, sink->view, &node, &attr);
		if (r)
			return r;
		if (!give(sink, text, &attr, cookie))
			return 0;
	}
	return r == -ENOENT ? 0 : r;
}

static uint64_t look_max(const struct sink *sink)
{
	return sink->tree->scan ? sink->tree->scan->left : 0;
}

/* Notes that a listing was ended by tree->scan. @cookie: of the last node that the walk looked
 * at */
static void note_cut(const struct sink *sink, const struct wfs_session_walk *walk, uint64_t cookie)
{
	if (!wfs_session_walk_cut(walk))
		return;
	sink->tree->scan->cookie = cookie;
	sink->tree->scan->ended = true;
}

static int list_cells(const struct sink *sink, uint64_t cookie)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {0};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_entry entry;
	int r = wfs_session_cells(sink->tree->session, sink->view, sink->node->reducer_id, cookie,
		&walk, sink->tree->refusal);

	walk.look_max = look_max(sink);
	while (!r && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		const struct wfs_attr attr =
			wfs_tree_version_attr(entry.vid, entry.size_bytes, entry.time_ns);

		wfs_buffer_reset(&name);
		wfs_name_append(&name, entry.key.data, entry.key.size);
		r = wfs_buffer_check(&name);
		if (!r && !give(sink, wfs_buffer_text(&name), &attr, entry.cell_id))
			return 0;
	}
	note_cut(sink, &walk, walk.cell_id);
	return r;
}

/* Gives the directory of one artifact, principal, turn or plan. */
static int give_entity(const struct sink *sink, enum wfs_entity entity,
	const struct wfs_entry *entry, const char *name, bool *go_on)
{
	const struct wfs_node node = wfs_tree_entity_node(sink->node, entity, entry->cell_id);
	struct wfs_attr attr;

	if (!wfs_node_fits(&node))
		return 0;
	int r = wfs_tree_node_attr(sink->tree, sink->view, &node, &attr);
	if (!r)
		*go_on = give(
			sink, name, &attr, wfs_tree_entity_cookie(entity, entry->cell_id, false));
	return r;
}

/* Gives the file beside the directory of a plan. @name: of this directory */
static int give_beside(const struct sink *sink, const struct wfs_entry *entry,
	struct wfs_buffer *name, bool *go_on)
{
	struct wfs_attr attr;
	int r = wfs_tree_entity_beside(sink->tree, sink->view, entry->key, &attr);

	wfs_buffer_append_text(name, wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE));
	if (!r)
		r = wfs_buffer_check(name);
	if (!r && name->size <= WFS_NAME_MAX)
		*go_on = give(sink, wfs_buffer_text(name), &attr, attr.cookie);
	return r == -ENOENT ? 0 : r;
}

/* Was the directory of this cell given already? @cookie: of the entry before */
static bool is_given(enum wfs_entity entity, const struct wfs_entry *entry, uint64_t cookie)
{
	return cookie >= wfs_tree_entity_cookie(entity, entry->cell_id, false);
}

static uint64_t last_cell(enum wfs_entity entity, uint64_t cookie)
{
	if (entity != WFS_ENTITY_PLAN || cookie == 0)
		return cookie;
	/* the file beside it is still to come */
	return cookie & 1 ? cookie >> 1 : (cookie >> 1) - 1;
}

static int list_entities(const struct sink *sink, enum wfs_entity entity, uint64_t cookie)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = entity};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_entry entry;
	bool go_on = true;
	int r = wfs_session_entities(sink->tree->session, sink->view, entity,
		last_cell(entity, cookie), &walk, sink->tree->refusal);

	walk.look_max = look_max(sink);
	while (!r && go_on && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		wfs_buffer_reset(&name);
		wfs_name_append(&name, entry.key.data, entry.key.size);
		r = wfs_buffer_check(&name);
		if (!r && walk.sees_directory && !is_given(entity, &entry, cookie))
			r = give_entity(sink, entity, &entry, wfs_buffer_text(&name), &go_on);
		if (!r && go_on && walk.sees_beside)
			r = give_beside(sink, &entry, &name, &go_on);
	}
	if (go_on)
		note_cut(sink, &walk, wfs_tree_entity_cookie(entity, walk.cell_id, true));
	return r;
}

/* Lists the files of one entity; the cookie is the place in the table. */
static int list_files(const struct sink *sink, enum wfs_entity entity, uint64_t cookie)
{
	for (uint64_t i = cookie; i < (uint64_t)wfs_entity_file_count(); i++) {
		const enum wfs_entity_file file = (enum wfs_entity_file)i;
		struct wfs_attr attr;

		if (wfs_entity_file_entity(file) != entity ||
			wfs_entity_file_form(file) == WFS_ENTITY_BESIDE)
			continue;
		int r = wfs_tree_entity_file(sink->tree, sink->view, sink->node, file, &attr);
		if (r == -ENOENT)
			continue;
		if (r)
			return r;
		if (!give(sink, wfs_entity_file_name(file), &attr, i + 1))
			return 0;
	}
	return 0;
}

static int list_blobs(const struct sink *sink, uint64_t cookie)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;
	int r = wfs_session_blob_last(sink->tree->session, sink->view, &last);

	for (uint64_t id = cookie + 1; !r && cookie < last && id <= last; id++) {
		char hex[WFS_HASH_HEX_SIZE + 1];

		if (wfs_tree_scan_ends(sink->tree, id - 1))
			break;
		r = wfs_session_blob_listed(sink->tree->session, sink->view, id, &blob, &listing);
		if (r == -ENOENT) { /* listed later than this height, or gone */
			r = 0;
			continue;
		}
		if (r)
			break;
		const struct wfs_attr attr = wfs_tree_blob_attr(&blob, &listing);
		wfs_hash_hex(&blob.hash, hex);
		if (!give(sink, hex, &attr, id))
			break;
	}
	return r;
}

static int list_journal(const struct sink *sink, uint64_t cookie)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(sink->view, WFS_LOG_NOW, &log);

	if (r)
		return r;
	for (uint64_t i = cookie; i < WFS_TREE_JOURNAL_FIXED + sink->view->height; i++) {
		if (i >= WFS_TREE_JOURNAL_FIXED && i - WFS_TREE_JOURNAL_FIXED < log.first_seq)
			i = WFS_TREE_JOURNAL_FIXED + log.first_seq;
		struct wfs_node node = {
			.kind = WFS_NODE_RECORD, .number = i - WFS_TREE_JOURNAL_FIXED};
		char name[sizeof("18446744073709551615.json")];
		struct wfs_attr attr;

		if (wfs_tree_scan_ends(sink->tree, i))
			break;
		if (i == 0) {
			node = (struct wfs_node){
				.kind = WFS_NODE_HEAD, .number = sink->view->height};
			snprintf(name, sizeof(name), "head");
		} else if (i == 1) {
			node = (struct wfs_node){.kind = WFS_NODE_LOG,
				.number = sink->node->number,
				.cut = (uint32_t)log.cut};
			snprintf(name, sizeof(name), "log.jsonl");
		} else if (i == 2) {
			node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY,
				.directory = WFS_DIRECTORY_TEXTS,
				.number = sink->node->number};
			snprintf(name, sizeof(name), "texts");
		} else {
			node.cut = node.number == log.first_seq ? (uint32_t)log.cut : 0;
			snprintf(name, sizeof(name), "%" PRIu64 ".json", node.number);
		}
		r = wfs_tree_node_attr(sink->tree, sink->view, &node, &attr);
		if (r == -ENOENT)
			continue;
		if (r)
			return r;
		if (!give(sink, name, &attr, i + 1))
			break;
	}
	return 0;
}

static int list_texts(const struct sink *sink, uint64_t cookie)
{
	struct wfs_tree_scan *const scan = sink->tree->scan;
	uint64_t all = UINT64_MAX;
	struct wfs_text text = {.number = cookie};
	char hex[WFS_HASH_HEX_SIZE + 1];
	struct wfs_attr attr;
	int r;

	while ((r = wfs_session_text_next(sink->tree->session, sink->view, text.number,
			scan ? &scan->left : &all, &text)) == 0) {
		wfs_hash_hex(&text.hash, hex);
		r = wfs_tree_text_file(sink->view, &text, &attr);
		if (r || !give(sink, hex, &attr, text.number))
			return r;
	}
	if (r > 0)
		(void)wfs_tree_scan_ends(sink->tree, text.number);
	return r == -ENOENT || r > 0 ? 0 : r;
}

int wfs_tree_count(const struct wfs_tree *tree, uint64_t ino, uint64_t *ret_count)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_view_log log;
	struct wfs_reducer reducer;
	struct wfs_node node;
	int64_t names_ns;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	*ret_count = 0;
	int r = wfs_tree_view(tree, &node, &view);
	if (r)
		return r;
	if (node.directory == WFS_DIRECTORY_JOURNAL) {
		r = wfs_unjudged_log(&view, WFS_LOG_NOW, &log);
		*ret_count = r ? 0 : WFS_TREE_JOURNAL_FIXED + view.height - log.first_seq;
		return r;
	}
	if (node.directory == WFS_DIRECTORY_BLOB)
		return wfs_session_blob_last(tree->session, &view, ret_count);
	if (node.directory == WFS_DIRECTORY_ENTITIES)
		return wfs_unjudged_entity_names(
			&view, (enum wfs_entity)node.entity, ret_count, &names_ns);
	if (node.directory == WFS_DIRECTORY_ITEMS)
		return wfs_tree_items_count(tree, &view, &node, ret_count);
	if (node.directory != WFS_DIRECTORY_REDUCER)
		return 0;
	r = wfs_session_reducer_by_id(tree->session, &view, node.reducer_id, &reducer);
	if (!r)
		*ret_count = reducer.live_count;
	return r;
}

int wfs_tree_list(const struct wfs_tree *tree, uint64_t ino, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	if (node.kind != WFS_NODE_DIRECTORY)
		return -ENOTDIR;
	int r = wfs_tree_sees(tree, &node);
	if (!r)
		r = wfs_tree_view(tree, &node, &view);
	if (r)
		return r;
	const struct sink sink = {tree, &view, &node, each, context};
	switch (node.directory) {
	case WFS_DIRECTORY_ENTITIES:
		return list_entities(&sink, (enum wfs_entity)node.entity, cookie);
	case WFS_DIRECTORY_ENTITY:
		return list_files(&sink, (enum wfs_entity)node.entity, cookie);
	case WFS_DIRECTORY_ITEMS:
		return wfs_tree_items_list(tree, &view, &node, cookie, each, context);
	case WFS_DIRECTORY_ROOT:
		return list_root(&sink, cookie);
	case WFS_DIRECTORY_REDUCERS:
		return list_reducers(&sink, cookie);
	case WFS_DIRECTORY_REDUCER:
		return list_cells(&sink, cookie);
	case WFS_DIRECTORY_BLOB:
		return list_blobs(&sink, cookie);
	case WFS_DIRECTORY_JOURNAL:
		return list_journal(&sink, cookie);
	case WFS_DIRECTORY_TEXTS:
		return list_texts(&sink, cookie);
	case WFS_DIRECTORY_TOOLS:
	case WFS_DIRECTORY_SERVER:
		return wfs_tree_tools_list(tree, &view, &node, cookie, each, context);
	default: /* `at` has too many names to list; the other kinds are empty */
		return 0;
	}
}
