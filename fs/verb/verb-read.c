/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that look at the world: manifest, cells, journal. Source: spec 1, "Introspection". */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* Opens the view that the member `consistency` asks for. */
static int view_asked_for(struct wfs_call *call, struct wfs_view *ret_view)
{
	const char *consistency = NULL;
	int r = wfs_verb_text(call, "consistency", &consistency);

	return r ? r : wfs_verb_view(call, consistency, ret_view);
}

/* reducer_missing, with the names that would have been right. */
static int refuse_reducer(struct wfs_call *call, struct wfs_view *view, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	struct wfs_reducer reducer = {0};
	struct wfs_bytes known;

	for (int i = 0;; i++) {
		if (wfs_session_reducer_next(
			    call->session, view, reducer.reducer_id, &known, &reducer) != 0)
			break;
		if (i == WFS_VERB_NAMES_MAX) {
			wfs_buffer_append_text(&names, " …");
			break;
		}
		wfs_buffer_append_byte(&names, ' ');
		wfs_buffer_append(&names, known.data, known.size);
	}
	return wfs_error_set(&call->error, WFS_E_REDUCER_MISSING, "no reducer '%.60s' (there %s%s)",
		name, names.size > 0 ? "are:" : "are none", wfs_buffer_text(&names));
}

/* The reducer that the member `reducer` names. */
static int reducer_asked_for(
	struct wfs_call *call, struct wfs_view *view, struct wfs_reducer *ret_reducer)
{
	const char *name;
	int r = wfs_json_get_string(call->payload, "reducer", &name, &call->error);

	if (!r)
		r = wfs_session_reducer(call->session, view, name, strlen(name), ret_reducer);
	return r == -ENOENT ? refuse_reducer(call, view, name) : r;
}

int wfs_verb_manifest_read(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	WFS_AUTO_JSON json_t *manifest = NULL;
	struct wfs_version version;
	int r = view_asked_for(call, &view);

	if (!r)
		r = wfs_session_manifest(call->session, &view, &version);
	if (!r)
		r = wfs_session_content(
			call->session, &view, &version, WFS_RANGE_ALL, &content, &call->error);
	if (!r)
		r = wfs_json_parse(content.bytes.data, content.bytes.size, &manifest, &call->error);
	if (r)
		return r;
	call->result = json_copy(call->meta);
	return json_object_set(call->result, "manifest", manifest) < 0 ? -ENOMEM : 0;
}

int wfs_verb_journal_head(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_verb_view(call, NULL, &view);

	if (r)
		return r;
	call->result = json_copy(call->meta);
	return call->result ? 0 : -ENOMEM;
}

int wfs_verb_query_state(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_verb_base64(call, "key_b64", &key);

	if (!r)
		r = view_asked_for(call, &view);
	if (!r)
		r = reducer_asked_for(call, &view, &reducer);
	if (r)
		return r;
	call->result = json_object();
	r = wfs_session_cell(
		call->session, &view, reducer.reducer_id, wfs_buffer_bytes(&key), &version);
	if (r) /* a known reducer without that key is an answer, with no state */
		return r == -ENOENT ? 0 : r;
	r = wfs_session_content(
		call->session, &view, &version, WFS_RANGE_ALL, &content, &call->error);
	return r ? r
		 : wfs_json_set_base64(
			   call->result, "state_b64", content.bytes.data, content.bytes.size);
}

static int append_cell(
	struct wfs_call *call, struct wfs_view *view, json_t *cells, const struct wfs_entry *entry)
{
	WFS_AUTO_JSON json_t *cell = NULL;
	struct wfs_version version;
	int r = wfs_session_version(call->session, view, entry->vid, &version);

	if (r)
		return r;
	cell = json_pack("{s:I, s:I, s:I}", "last_active_height", (json_int_t)entry->height,
		"last_active_ns", (json_int_t)entry->time_ns, "size",
		(json_int_t)entry->size_bytes);
	r = cell ? 0 : -ENOMEM;
	if (!r)
		r = wfs_json_set_base64(cell, "key_b64", entry->key.data, entry->key.size);
	if (!r)
		r = wfs_json_set_hash(cell, "state_hash", &version.hash);
	if (!r && json_array_append(cells, cell) < 0)
		r = -ENOMEM;
	return r;
}

/* A cursor is the id of the last cell listed: 0, or one of this reducer. */
static int cell_cursor(
	struct wfs_call *call, const struct wfs_reducer *reducer, uint64_t *ret_after_id)
{
	uint64_t after_id;
	int r = wfs_verb_cursor(call, &after_id);

	if (!r && after_id != 0 && wfs_cell_reducer(after_id) != reducer->reducer_id)
		r = wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"'cursor' belongs to another reducer");
	if (!r)
		*ret_after_id = after_id;
	return r;
}

int wfs_verb_list_cells(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer = {.reducer_id = 0};
	struct wfs_entry entry;
	uint64_t after_id;
	uint64_t limit;
	int r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &limit);

	if (!r)
		r = view_asked_for(call, &view);
	if (!r)
		r = reducer_asked_for(call, &view, &reducer);
	if (!r)
		r = cell_cursor(call, &reducer, &after_id);
	if (!r)
		r = wfs_session_cells(call->session, &view, reducer.reducer_id, after_id, &walk);
	if (r)
		return r;

	json_t *const cells = json_array();
	call->result = json_pack("{s:o}", "cells", cells);
	if (!call->result)
		return -ENOMEM;
	while ((r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		if (json_array_size(cells) == limit)
			return wfs_verb_cursor_set(call->result, after_id);
		r = append_cell(call, &view, cells, &entry);
		if (r)
			return r;
		after_id = entry.cell_id;
	}
	return r;
}

static int append_record(
	struct wfs_call *call, struct wfs_view *view, json_t *records, uint64_t seq, size_t *size)
{
	WFS_AUTO_JSON json_t *record = NULL;
	struct wfs_bytes line;
	int r = wfs_session_record(call->session, view, seq, &line);

	if (!r)
		r = wfs_json_parse(line.data, line.size, &record, &call->error);
	if (!r && json_array_append(records, record) < 0)
		r = -ENOMEM;
	if (!r)
		*size += line.size;
	return r;
}

int wfs_verb_journal_read(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int64_t from = 0;
	uint64_t limit;
	size_t size = 0;
	int r = wfs_json_get_integer(call->payload, "from", 0, INT64_MAX, &from, &call->error);

	if (!r)
		r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &limit);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;

	json_t *const records = json_array();
	uint64_t seq = (uint64_t)from;
	call->result = json_pack("{s:o}", "records", records);
	if (!call->result)
		return -ENOMEM;
	for (; seq < view.height && json_array_size(records) < limit; seq++) {
		if (size >= WFS_VERB_JOURNAL_MAX)
			break;
		r = append_record(call, &view, records, seq, &size);
		if (r)
			return r;
	}
	if (seq < view.height &&
		json_object_set_new(call->result, "next_from", json_integer((json_int_t)seq)) < 0)
		return -ENOMEM;
	return 0;
}
