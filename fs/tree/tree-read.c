/* SPDX-License-Identifier: Apache-2.0 */
/* Contents and extended attributes. */
#include <inttypes.h>

#include "caps/seen.h"
#include "caps/session-entity.h"
#include "caps/session-text.h"
#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

void wfs_tree_data_done(struct wfs_tree_data *data)
{
	wfs_session_view_close(&data->view);
	wfs_buffer_done(&data->built);
}

/* Puts @content into @data, which then owns it. Several files may be read, one after the other, in
 * one view. */
static void set_content(struct wfs_tree_data *data, const struct wfs_content *content)
{
	wfs_buffer_done(&data->built);
	data->bytes = content->bytes;
	data->built = content->read;
}

static int read_version(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data)
{
	struct wfs_content content;
	struct wfs_seen seen;
	int r = node->kind == WFS_NODE_LIVE
		? wfs_session_live_text(tree->session, &data->view, node->number, &seen)
		: wfs_session_version(tree->session, &data->view, node->number, &seen);

	if (!r)
		r = wfs_session_content(tree->session, &data->view, &seen,
			(struct wfs_range){offset, size}, &content, tree->refusal);
	if (!r)
		set_content(data, &content);
	return r;
}

static int read_events(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data)
{
	struct wfs_events events = {.seq = node->number,
		.height = node->file == WFS_FILE_GROWING_EVENTS ? data->view.height : 0};

	wfs_buffer_done(&data->built);
	int r = wfs_tree_is_kept(&data->view, node);
	if (!r)
		r = wfs_session_events(tree->session, &data->view, (struct wfs_range){offset, size},
			&data->built, &events);
	if (!r)
		data->bytes = wfs_buffer_bytes(&data->built);
	return r;
}

static int read_made(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data)
{
	struct wfs_tree_made made;

	if (wfs_tree_is_events(node))
		return read_events(tree, node, offset, size, data);
	wfs_buffer_done(&data->built);
	int r = wfs_tree_made(
		tree, &data->view, node, (struct wfs_range){offset, size}, &data->built, &made);
	if (!r)
		data->bytes = wfs_buffer_bytes(&data->built);
	return r;
}

static int read_blob(const struct wfs_tree *tree, uint64_t listed_id, uint64_t offset, size_t size,
	struct wfs_tree_data *data)
{
	struct wfs_content content;
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	int r = wfs_session_blob_listed(tree->session, &data->view, listed_id, &blob, &listing);

	if (!r)
		r = wfs_session_blob_content(tree->session, &data->view, &blob,
			(struct wfs_range){offset, size}, &content, NULL);
	if (!r)
		set_content(data, &content);
	return r;
}

int wfs_tree_read_in(const struct wfs_tree *tree, const struct wfs_node *node, uint64_t offset,
	size_t size, struct wfs_tree_data *data)
{
	struct wfs_view_log log;
	struct wfs_bytes line;
	struct wfs_text text;
	int r = node->kind == WFS_NODE_DIRECTORY ? -EISDIR : wfs_tree_sees(tree, node);

	if (r)
		return r;
	switch (node->kind) {
	case WFS_NODE_VERSION:
	case WFS_NODE_LIVE:
		return read_version(tree, node, offset, size, data);
	case WFS_NODE_MADE:
	case WFS_NODE_GRANTS:
		return read_made(tree, node, offset, size, data);
	case WFS_NODE_BLOB:
		return read_blob(tree, node->number, offset, size, data);
	case WFS_NODE_TEXT:
		r = wfs_session_text(tree->session, &data->view, node->number, &text);
		if (!r)
			data->bytes = wfs_tree_slice(text.bytes, offset, size);
		return r == -ENOENT ? -EACCES : r; /* the reader saw the file when it opened it */
	case WFS_NODE_RECORD:
		r = wfs_tree_is_kept(&data->view, node);
		if (!r)
			r = wfs_session_record(tree->session, &data->view, node->number, &line);
		if (!r)
			data->bytes = wfs_tree_slice(line, offset, size);
		return r;
	case WFS_NODE_HEAD:
		r = wfs_tree_head_document(tree, &data->view, &data->built);
		data->bytes = wfs_tree_slice(wfs_buffer_bytes(&data->built), offset, size);
		return r;
	case WFS_NODE_LOG:
		r = wfs_unjudged_log(&data->view, node->cut, &log);
		if (!r)
			r = wfs_session_journal_read(
				tree->session, &data->view, &log, offset, size, &data->built);
		data->bytes = wfs_buffer_bytes(&data->built);
		return r;
	case WFS_NODE_TOOL:
		wfs_buffer_done(&data->built);
		r = wfs_tree_tool_document(tree, node, &data->built);
		data->bytes = wfs_tree_slice(wfs_buffer_bytes(&data->built), offset, size);
		return r;
	case WFS_NODE_REPLICATION:
		wfs_buffer_done(&data->built);
		r = wfs_tree_replication_document(tree, node, &data->built);
		data->bytes = wfs_tree_slice(wfs_buffer_bytes(&data->built), offset, size);
		return r;
	case WFS_NODE_README:
		data->bytes = wfs_tree_slice(wfs_tree_readme(tree), offset, size);
		return 0;
	default:
		return -EINVAL;
	}
}

int wfs_tree_read(const struct wfs_tree *tree, uint64_t ino, uint64_t offset, size_t size,
	struct wfs_tree_data *ret_data)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	int r = wfs_tree_view(tree, &node, &data.view);
	if (!r)
		r = wfs_tree_read_in(tree, &node, offset, size, &data);
	if (r)
		return r;
	*ret_data = data;
	data = (struct wfs_tree_data){0};
	return 0;
}

/* --- extended attributes --- */

/* The receiver of the attributes; `go_on` is false after it has had enough. */
struct xattr_sink {
	bool (*each)(void *context, const char *name, struct wfs_bytes value);
	void *context;
	bool go_on;
};

static void give(struct xattr_sink *sink, const char *name, const char *value, size_t size)
{
	if (sink->go_on)
		sink->go_on = sink->each(sink->context, name, WFS_BYTES(value, size));
}

static void give_number(struct xattr_sink *sink, const char *name, uint64_t number)
{
	char text[sizeof("18446744073709551615")];
	int n = snprintf(text, sizeof(text), "%" PRIu64, number);

	give(sink, name, text, (size_t)n);
}

static void give_hash(struct xattr_sink *sink, const char *name, const struct wfs_hash *hash)
{
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(hash, text);
	give(sink, name, text, sizeof(text) - 1);
}

static int version_xattrs(
	const struct wfs_tree *tree, struct wfs_view *view, uint64_t vid, struct xattr_sink *sink)
{
	WFS_AUTO_BUFFER struct wfs_buffer key_b64 = {0};
	struct wfs_seen seen;
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	int r = wfs_session_version(tree->session, view, vid, &seen);

	if (r)
		return r;
	r = wfs_session_may_hash(tree->session, view, &seen);
	if (!r)
		give_hash(sink, "user.worldfs.state_hash", &seen.version.hash);
	else if (r != -EACCES)
		return r;
	give_number(sink, "user.worldfs.height", seen.version.height);
	r = wfs_seen_name(view, &seen, &reducer, &key);
	if (r == -ENOENT) /* a cell of the kernel's own: the manifest */
		return 0;
	if (r || wfs_builtin_reducer_hidden(reducer.data, reducer.size))
		return r;
	wfs_base64_append(&key_b64, key.data, key.size);
	give(sink, "user.worldfs.key_b64", wfs_buffer_text(&key_b64), key_b64.size);
	give(sink, "user.worldfs.reducer", reducer.data, reducer.size);
	return wfs_buffer_check(&key_b64);
}

static int live_xattrs(
	const struct wfs_tree *tree, struct wfs_view *view, uint64_t vid, struct xattr_sink *sink)
{
	struct wfs_seen seen;
	int r = wfs_session_live_text(tree->session, view, vid, &seen);

	return r ? r : version_xattrs(tree, view, vid, sink);
}

/* Attributes of events.jsonl: without a hash, as events may be many. */
static int events_xattrs(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct xattr_sink *sink)
{
	const bool grows = node->file == WFS_FILE_GROWING_EVENTS;
	struct wfs_events events = {.seq = node->number, .height = grows ? view->height : 0};
	int r = wfs_session_events(tree->session, view, (struct wfs_range){0}, NULL, &events);

	if (!r)
		give_number(sink, "user.worldfs.height", grows ? view->height : node->number + 1);
	return r;
}

/* Attributes of a file that is made: the hash of its bytes, if they are few, and the height from
 * which on it may be as it is. */
static int made_xattrs(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct xattr_sink *sink)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_tree_made made;

	if (wfs_tree_is_events(node))
		return events_xattrs(tree, view, node, sink);
	const bool is_plan = node->kind == WFS_NODE_MADE && node->file == WFS_ENTITY_FILE_PLAN;
	const struct wfs_range wanted = is_plan ? (struct wfs_range){0} : WFS_RANGE_ALL;
	int r = wfs_tree_made(tree, view, node, wanted, &bytes, &made);
	if (r)
		return r;
	const struct wfs_hash hash = wfs_hash_of(bytes.data, bytes.size);
	if (!is_plan)
		give_hash(sink, "user.worldfs.state_hash", &hash);
	if (node->kind == WFS_NODE_MADE)
		give_number(sink, "user.worldfs.height", made.version.height);
	return 0;
}

static int directory_xattrs(
	const struct wfs_tree *tree, struct wfs_view *view, struct xattr_sink *sink)
{
	struct wfs_meta meta;

	if (!wfs_session_queries(tree->session)) /* as in answers: fs/verb/verb.c */
		return 0;
	int r = wfs_session_meta(tree->session, view, &meta);
	if (r)
		return r;
	give_number(sink, "user.worldfs.journal_height", meta.journal_height);
	if (meta.has_snapshot)
		give_hash(sink, "user.worldfs.snapshot_hash", &meta.snapshot_hash);
	give_hash(sink, "user.worldfs.manifest_hash", &meta.manifest_hash);
	return 0;
}

static int blob_xattrs(const struct wfs_tree *tree, struct wfs_view *view, uint64_t listed_id,
	struct xattr_sink *sink)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	int r = wfs_session_blob_listed(tree->session, view, listed_id, &blob, &listing);

	if (r)
		return r;
	give_hash(sink, "user.worldfs.state_hash", &blob.hash);
	give_number(sink, "user.worldfs.height", listing.height);
	return 0;
}

int wfs_tree_xattrs(const struct wfs_tree *tree, uint64_t ino,
	bool (*each)(void *context, const char *name, struct wfs_bytes value), void *context)
{
	struct xattr_sink sink = {.each = each, .context = context, .go_on = true};
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	int r = wfs_tree_sees(tree, &node);
	if (!r)
		r = wfs_tree_view(tree, &node, &view);
	if (r)
		return r;
	switch (node.kind) {
	case WFS_NODE_VERSION:
		return version_xattrs(tree, &view, node.number, &sink);
	case WFS_NODE_LIVE:
		return live_xattrs(tree, &view, node.number, &sink);
	case WFS_NODE_MADE:
	case WFS_NODE_GRANTS:
		return made_xattrs(tree, &view, &node, &sink);
	case WFS_NODE_BLOB:
		return blob_xattrs(tree, &view, node.number, &sink);
	case WFS_NODE_DIRECTORY:
		return directory_xattrs(tree, &view, &sink);
	default:
		return 0;
	}
}
