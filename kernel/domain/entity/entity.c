/* SPDX-License-Identifier: Apache-2.0 */
/* The files of artifacts, principals, turns and plans: sources and contents. */
#include "kernel/domain/entity/entity.h"

#include "kernel/base/json.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/domain/turn/turn-file.h"

/* --- where they come from --- */

static int live_cell(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes id,
	struct wfs_version *ret_version)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	return r ? r : wfs_view_cell(view, reducer.reducer_id, id, ret_version);
}

/* Has the turn ended? Return: 0: yes; -ENOENT: no; … */
static int has_ended(struct wfs_view *view, const struct wfs_version *version)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_view_state(view, version, &state);

	return !r && !json_object_get(state, "reason") ? -ENOENT : r;
}

/* Finds the source of the directory `entries`. @version: of the artifact. Return: 0, -ENOENT: it
 * is not a memory store, … */
static int entries_source(struct wfs_view *view, struct wfs_bytes id,
	const struct wfs_version *version, struct wfs_version *ret_version)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_view_state(view, version, &state);

	if (!r && !wfs_memory_is_store(state))
		r = -ENOENT;
	if (r)
		return r;
	r = live_cell(view, WFS_BUILTIN_MEMORY_STORE, id, ret_version);
	if (r == -ENOENT) { /* the store never had an entry */
		*ret_version = *version;
		r = 0;
	}
	return r;
}

int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version)
{
	struct wfs_version version;
	int r = live_cell(view, wfs_entity_reducer(wfs_entity_file_entity(file)), id, &version);

	wfs_require(wfs_entity_file_form(file) != WFS_ENTITY_GRANTS);
	if (!r && wfs_entity_file_form(file) == WFS_ENTITY_RESULT)
		r = has_ended(view, &version);
	if (!r && wfs_entity_file_form(file) == WFS_ENTITY_ENTRIES)
		return entries_source(view, id, &version, ret_version);
	if (r || wfs_entity_file_form(file) == WFS_ENTITY_STEPS ||
		wfs_entity_file_reducer(file) == wfs_entity_reducer(wfs_entity_file_entity(file))) {
		if (!r)
			*ret_version = version;
		return r;
	}
	r = live_cell(view, wfs_entity_file_reducer(file), id, ret_version);
	if (r == -ENOENT && wfs_entity_file_reducer(file) == WFS_BUILTIN_RESOURCE) {
		*ret_version = version;
		r = 0;
	}
	return r;
}

int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version)
{
	int r = wfs_view_is_of(view, version, wfs_entity_file_reducer(file));

	if (r == 0 && wfs_entity_file_reducer(file) == WFS_BUILTIN_RESOURCE)
		r = wfs_view_is_of(view, version, WFS_BUILTIN_LEDGER);
	return r;
}

/* --- forms --- */

static void write_text(const json_t *value, struct wfs_buffer *buffer)
{
	if (json_is_string(value))
		wfs_buffer_append(buffer, json_string_value(value), json_string_length(value));
	else if (value)
		wfs_json_write(value, buffer);
	wfs_buffer_append_byte(buffer, '\n');
}

static int write_document(json_t *document, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *owned = document;

	if (!owned)
		return -ENOMEM;
	wfs_json_write_document(owned, buffer);
	return wfs_buffer_check(buffer);
}

/* Writes a file of a turn. @then: the view at the height of the turn's version */
static int write_turn(struct wfs_view *then, enum wfs_entity_form form, const json_t *state,
	struct wfs_buffer *buffer)
{
	switch (form) {
	case WFS_ENTITY_STATUS:
		return wfs_turn_write_status(then, state, buffer);
	case WFS_ENTITY_MESSAGES:
		return wfs_turn_write_messages(then, state, buffer);
	case WFS_ENTITY_TRANSCRIPT:
		return wfs_turn_write_transcript(then, state, buffer);
	default:
		return wfs_turn_write_result(then, state, buffer);
	}
}

/* Writes a whole file. @then: the view at the height of the cell's version */
static int write_whole(struct wfs_view *then, enum wfs_entity_file file, const json_t *state,
	struct wfs_buffer *buffer)
{
	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_STATE:
		return write_document(json_incref((json_t *)state), buffer);
	case WFS_ENTITY_META:
		return write_document(wfs_artifact_document(state, true), buffer);
	case WFS_ENTITY_QUOTAS:
		return write_document(wfs_query_quotas(state), buffer);
	case WFS_ENTITY_FROZEN:
		wfs_buffer_append_text(buffer, wfs_query_frozen(state) ? "true\n" : "false\n");
		break;
	case WFS_ENTITY_MEMBER:
		write_text(json_object_get(state, wfs_entity_file_name(file)), buffer);
		break;
	case WFS_ENTITY_STATUS:
	case WFS_ENTITY_MESSAGES:
	case WFS_ENTITY_TRANSCRIPT:
	case WFS_ENTITY_RESULT:
		return write_turn(then, wfs_entity_file_form(file), state, buffer);
	case WFS_ENTITY_PLAN_STATUS:
		return wfs_plan_write_status(state, buffer);
	case WFS_ENTITY_PLAN_GRAPH:
		return wfs_plan_write_graph(then, state, buffer);
	default:
		return -EINVAL;
	}
	return wfs_buffer_check(buffer);
}

/* Reads the document of the cell that a file is made from. */
static int source_state(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, json_t **ret_state)
{
	/* The version is of the ledger: the principal has no resources yet. */
	if (wfs_view_is_of(view, version, wfs_entity_file_reducer(file)) != 0)
		return wfs_trace(wfs_view_state(view, version, ret_state));
	*ret_state = json_object();
	return *ret_state ? 0 : -ENOMEM;
}

/* Appends the bytes of @whole within the range. Return: 0, -ENOMEM. */
static int append_part(struct wfs_bytes whole, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes)
{
	const size_t skip = range.offset < whole.size ? (size_t)range.offset : whole.size;
	const size_t left = whole.size - skip;

	*ret_size_bytes = whole.size;
	if (range.size == 0)
		return 0;
	if (left > 0)
		wfs_buffer_append(buffer, (const char *)whole.data + skip,
			left < range.size ? left : range.size);
	return wfs_buffer_check(buffer);
}

/* The other cells of a turn or plan are read at the height of its version. If that height was
 * dropped, these cells are unchanged up to the first height that is kept. */
int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_view then;
	int r = wfs_view_then(view, version->height, &then);

	if (!r && wfs_entity_file_form(file) == WFS_ENTITY_STEPS)
		return wfs_trace(wfs_plan_step_file(&then, version, range, buffer, ret_size_bytes));
	if (!r)
		r = source_state(view, file, version, &state);
	if (r)
		return wfs_trace(r);
	if (wfs_entity_file_form(file) == WFS_ENTITY_PLAN_DOCUMENT ||
		wfs_entity_file_form(file) == WFS_ENTITY_BESIDE)
		return wfs_trace(wfs_plan_document(&then, state, range, buffer, ret_size_bytes));
	r = write_whole(&then, file, state, &whole);
	return r ? r : append_part(wfs_buffer_bytes(&whole), range, buffer, ret_size_bytes);
}

int wfs_entity_write_bare_meta(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_view_state(view, version, &state);

	if (!r)
		r = write_document(wfs_artifact_document(state, false), &whole);
	return r ? wfs_trace(r)
		 : append_part(wfs_buffer_bytes(&whole), range, buffer, ret_size_bytes);
}
