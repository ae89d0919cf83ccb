/* SPDX-License-Identifier: Apache-2.0 */
/* Answering questions about a world. */
#include "kernel/read/introspect.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/damage.h"
#include "kernel/base/json.h"
#include "kernel/value/consistency.h"

/* One question. */
struct asked {
	const struct wfs_introspector *introspector;
	json_t *json; /* the params, without members that are null */
	struct wfs_params params;
	struct wfs_view view;
	json_t *meta;    /* of the view, once it is open; owned */
	json_t *receipt; /* owned */
	struct wfs_error *error;
};

/* --- the view --- */

static int set_meta(struct asked *asked)
{
	struct wfs_meta meta;
	int r = wfs_view_meta(&asked->view, &meta);

	if (r)
		return wfs_error_from_errno(asked->error, r, "read the height of the world");
	if (asked->introspector->filter) /* the hash covers cells that are out of sight, too */
		meta.has_snapshot = false;
	asked->meta = wfs_meta_document(&meta);
	return asked->meta ? 0 : -ENOMEM;
}

/* @consistency: NULL: head */
static int open_view(struct asked *asked, const char *consistency)
{
	struct wfs_consistency wanted = {.kind = WFS_CONSISTENCY_HEAD};
	uint64_t height;
	int r = 0;

	if (consistency)
		r = wfs_consistency_parse(consistency, &wanted, asked->error);
	if (!r)
		r = wfs_consistency_height(&wanted, &height, asked->error);
	if (!r)
		r = asked->introspector->open(
			asked->introspector, height, &asked->view, asked->error);
	if (r)
		return r;
	r = set_meta(asked);
	return r ? r : wfs_consistency_check(&wanted, asked->view.height, asked->error);
}

/* --- reducers --- */

static bool sees_reducer(const struct asked *asked, struct wfs_bytes name)
{
	const struct wfs_introspect_filter *const filter = asked->introspector->filter;

	return !wfs_builtin_reducer_hidden(name.data, name.size) &&
		(!filter || filter->reducer(filter, name));
}

static bool sees_cell(const struct asked *asked, const char *reducer, struct wfs_bytes key)
{
	const struct wfs_introspect_filter *const filter = asked->introspector->filter;

	return !filter || filter->cell(filter, wfs_bytes_text(reducer), key);
}

/* Sets the error reducer_missing, with the names of the world's own reducers; the built-in ones are
 * `sys.*` there. */
static int refuse_reducer(struct asked *asked, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	struct wfs_reducer reducer = {0};
	struct wfs_bytes known;
	bool has_builtin = false;
	int count = 0;

	while (wfs_view_reducer_next(&asked->view, reducer.reducer_id, &known, &reducer) == 0) {
		if (!sees_reducer(asked, known))
			continue;
		if (known.size > 4 && memcmp(known.data, "sys.", 4) == 0) {
			has_builtin = true;
			continue;
		}
		if (count++ == WFS_INTROSPECT_NAMES_MAX) {
			wfs_buffer_append_text(&names, " …");
			break;
		}
		wfs_buffer_append_byte(&names, ' ');
		wfs_buffer_append(&names, known.data, known.size);
	}
	if (has_builtin)
		wfs_buffer_append_text(&names, " sys.*");
	return wfs_error_set(asked->error, WFS_E_REDUCER_MISSING, "no reducer '%.60s' (there %s%s)",
		name, names.size > 0 ? "are:" : "are none", wfs_buffer_text(&names));
}

static int find_reducer(struct asked *asked, const char *name, struct wfs_reducer *ret_reducer)
{
	int r = -ENOENT;

	if (sees_reducer(asked, wfs_bytes_text(name)))
		r = wfs_view_reducer(&asked->view, name, strlen(name), ret_reducer);
	return r == -ENOENT ? refuse_reducer(asked, name) : r;
}

/* --- the effects --- */

static int manifest(struct asked *asked)
{
	const struct wfs_introspect_filter *const filter = asked->introspector->filter;
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_version version;
	int r = open_view(asked, asked->params.introspect_manifest.consistency);

	if (!r && filter && !filter->manifest(filter))
		r = wfs_error_set(asked->error, WFS_E_NOT_FOUND, "no 'manifest'");
	if (!r)
		r = wfs_view_manifest(&asked->view, &version);
	if (!r)
		r = wfs_view_content(&asked->view, &version, WFS_RANGE_ALL, &content, asked->error);
	if (!r)
		r = wfs_json_parse(content.bytes.data, content.bytes.size, &document, asked->error);
	if (r)
		return r;
	asked->receipt = wfs_json_copy(asked->meta);
	return json_object_set(asked->receipt, "manifest", document) < 0 ? -ENOMEM : 0;
}

static int journal_head(struct asked *asked)
{
	int r = open_view(asked, NULL);

	if (r)
		return r;
	asked->receipt = wfs_json_copy(asked->meta);
	return asked->receipt ? 0 : -ENOMEM;
}

static int reducer_state(struct asked *asked)
{
	const char *const name = asked->params.introspect_reducer_state.reducer;
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_json_get_base64(asked->json, "key_b64", &key, asked->error);

	if (!r)
		r = open_view(asked, asked->params.introspect_reducer_state.consistency);
	if (!r)
		r = find_reducer(asked, name, &reducer);
	if (r)
		return r;
	asked->receipt = json_object();
	r = -ENOENT;
	if (sees_cell(asked, name, wfs_buffer_bytes(&key)))
		r = wfs_view_cell(
			&asked->view, reducer.reducer_id, wfs_buffer_bytes(&key), &version);
	if (r) /* a cell that is missing in a known reducer is an answer without state */
		return r == -ENOENT ? 0 : r;
	r = wfs_view_content(&asked->view, &version, WFS_RANGE_ALL, &content, asked->error);
	return r ? r
		 : wfs_json_set_base64(
			   asked->receipt, "state_b64", content.bytes.data, content.bytes.size);
}

static int append_cell(struct asked *asked, json_t *cells, const struct wfs_entry *entry)
{
	WFS_AUTO_JSON json_t *cell = NULL;
	struct wfs_version version;
	int r = wfs_view_version(&asked->view, entry->vid, &version);

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

/* Appends to @cells one page of the cells after @after_id. */
static int list_page(struct asked *asked, struct wfs_entry_walk *walk, uint64_t after_id,
	size_t limit, json_t *cells)
{
	const char *const name = asked->params.introspect_list_cells.reducer;
	struct wfs_entry entry;
	int r;

	for (size_t scanned = 0; (r = wfs_entry_walk_next(walk, &entry)) > 0; scanned++) {
		if (json_array_size(cells) == limit || scanned == WFS_INTROSPECT_SCAN_MAX)
			return wfs_json_set_cursor(
				asked->receipt, asked->introspector->cursors, after_id);
		after_id = entry.cell_id;
		if (sees_cell(asked, name, entry.key))
			r = append_cell(asked, cells, &entry);
		if (r < 0)
			return r;
	}
	return r;
}

static int list_cells(struct asked *asked)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer = {.reducer_id = 0};
	int64_t limit = WFS_INTROSPECT_PAGE_MAX;
	uint64_t after_id = 0;
	json_t *cells;
	int r = wfs_json_get_integer(asked->json, "limit", 1, limit, &limit, asked->error);

	if (!r)
		r = open_view(asked, asked->params.introspect_list_cells.consistency);
	if (!r)
		r = find_reducer(asked, asked->params.introspect_list_cells.reducer, &reducer);
	if (!r)
		r = wfs_json_get_cursor(
			asked->json, asked->introspector->cursors, &after_id, asked->error);
	/* A cursor is the id of the last cell that was looked at: 0, or one of this reducer. */
	if (!r && after_id != 0 && wfs_cell_reducer(after_id) != reducer.reducer_id)
		r = wfs_error_set(asked->error, WFS_E_INVALID_ARGUMENT,
			"'cursor' belongs to another reducer");
	if (!r)
		r = wfs_entry_walk_init(&walk, &asked->view, reducer.reducer_id, after_id);
	if (r)
		return r;
	cells = json_array();
	asked->receipt = json_pack("{s:o}", "cells", cells);
	return asked->receipt ? list_page(asked, &walk, after_id, (size_t)limit, cells) : -ENOMEM;
}

/* --- asking --- */

static int (*const answers[WFS_EFFECT_COUNT])(struct asked *asked) = {
	[WFS_EFFECT_INTROSPECT_MANIFEST] = manifest,
	[WFS_EFFECT_INTROSPECT_REDUCER_STATE] = reducer_state,
	[WFS_EFFECT_INTROSPECT_JOURNAL_HEAD] = journal_head,
	[WFS_EFFECT_INTROSPECT_LIST_CELLS] = list_cells,
};

static int answer(struct asked *asked, enum wfs_effect effect)
{
	int r = wfs_effect_decode(effect, asked->json, &asked->params, asked->error);

	if (!r)
		r = answers[effect](asked);
	if (!r && json_object_set(asked->receipt, "meta", asked->meta) < 0)
		r = -ENOMEM;
	return r ? r : wfs_effect_check_receipt(effect, asked->receipt, asked->error);
}

/* Errors give the height of the world even if nothing was read. */
static json_t *error_payload(struct asked *asked)
{
	struct wfs_error *const error = asked->error;
	struct wfs_error ignored = {0};

	if (!asked->meta) {
		asked->error = &ignored;
		(void)open_view(asked, NULL);
		asked->error = error;
	}
	return json_pack("{s:s, s:s, s:O*}", "code", wfs_error_info(error->code)->name, "message",
		error->message, "meta", asked->meta);
}

int wfs_introspect(const struct wfs_introspector *introspector, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *given =
		json_is_object(params) ? wfs_json_copy(params) : json_incref((json_t *)params);
	struct asked asked = {.introspector = introspector, .json = given, .error = error};

	wfs_require(wfs_introspects(effect));
	wfs_effect_drop_nulls(effect, given);
	int r = given || !params ? answer(&asked, effect) : -ENOMEM;
	if (r) {
		wfs_read_describe(error, r);
		json_decref(asked.receipt);
		asked.receipt = error_payload(&asked);
	}
	wfs_view_close(&asked.view);
	json_decref(asked.meta);
	*ret_payload = asked.receipt;
	return r;
}
