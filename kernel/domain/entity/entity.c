/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of artifacts, principals, turns and plans hold. */
#include "kernel/domain/entity/entity.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/read/index.h"
#include "kernel/store/row-name.h"

static const struct {
	const char *directory;
	enum wfs_builtin_reducer reducer;
} entities[] = {
#define ENTITY_ROW(constant, directory, reducer) {directory, WFS_BUILTIN_##reducer},
	WFS_ENTITIES(ENTITY_ROW)
#undef ENTITY_ROW
};

static const struct {
	const char *name;
	enum wfs_entity entity;
	enum wfs_builtin_reducer reducer;
	enum wfs_entity_form form;
} files[] = {
#define FILE_ROW(constant, name, entity, reducer, form) \
	{name, WFS_ENTITY_##entity, WFS_BUILTIN_##reducer, WFS_ENTITY_##form},
	WFS_ENTITY_FILES(FILE_ROW)
#undef FILE_ROW
};

const char *wfs_entity_directory(enum wfs_entity entity)
{
	return entities[entity].directory;
}

enum wfs_builtin_reducer wfs_entity_reducer(enum wfs_entity entity)
{
	return entities[entity].reducer;
}

const char *wfs_entity_file_name(enum wfs_entity_file file)
{
	return files[file].name;
}

enum wfs_entity wfs_entity_file_entity(enum wfs_entity_file file)
{
	return files[file].entity;
}

enum wfs_builtin_reducer wfs_entity_file_reducer(enum wfs_entity_file file)
{
	return files[file].reducer;
}

enum wfs_entity_form wfs_entity_file_form(enum wfs_entity_file file)
{
	return files[file].form;
}

bool wfs_entity_file_is_directory(enum wfs_entity_file file)
{
	return files[file].form == WFS_ENTITY_STEPS || files[file].form == WFS_ENTITY_ENTRIES;
}

enum wfs_entity_file wfs_entity_file_find(enum wfs_entity entity, const char *name)
{
	for (size_t i = 0; i < WFS_ENTITY_FILE_COUNT; i++)
		if (files[i].entity == entity && files[i].form != WFS_ENTITY_BESIDE &&
			strcmp(files[i].name, name) == 0)
			return (enum wfs_entity_file)i;
	return WFS_ENTITY_FILE_COUNT;
}

/* --- where they come from --- */

static int live_cell(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes id,
	struct wfs_version *ret_version)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	return r ? r : wfs_view_cell(view, reducer.reducer_id, id, ret_version);
}

/* Return: 0, -ENOENT: the run goes on, … */
static int has_ended(struct wfs_view *view, const struct wfs_version *version)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_entity_state(view, version, &state);

	return !r && !json_object_get(state, "reason") ? -ENOENT : r;
}

/* Of the directory `entries`. @version: of the artifact. Return: 0, -ENOENT: it is no memory store, … */
static int entries_source(struct wfs_view *view, struct wfs_bytes id,
	const struct wfs_version *version, struct wfs_version *ret_version)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_entity_state(view, version, &state);

	if (!r && !wfs_memory_is_store(state))
		r = -ENOENT;
	if (r)
		return r;
	r = live_cell(view, WFS_BUILTIN_MEMORY_STORE, id, ret_version);
	if (r == -ENOENT) { /* it never had an entry */
		*ret_version = *version;
		r = 0;
	}
	return r;
}

int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version)
{
	struct wfs_version version;
	int r = live_cell(view, entities[files[file].entity].reducer, id, &version);

	wfs_require(files[file].form != WFS_ENTITY_GRANTS);
	if (!r && files[file].form == WFS_ENTITY_RESULT)
		r = has_ended(view, &version);
	if (!r && files[file].form == WFS_ENTITY_ENTRIES)
		return entries_source(view, id, &version, ret_version);
	if (r || files[file].form == WFS_ENTITY_STEPS ||
		files[file].reducer == entities[files[file].entity].reducer) {
		if (!r)
			*ret_version = version;
		return r;
	}
	r = live_cell(view, files[file].reducer, id, ret_version);
	if (r == -ENOENT && files[file].reducer == WFS_BUILTIN_RESOURCE) {
		*ret_version = version;
		r = 0;
	}
	return r;
}

int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version)
{
	int r = wfs_view_is_of(view, version, files[file].reducer);

	if (r == 0 && files[file].reducer == WFS_BUILTIN_RESOURCE)
		r = wfs_view_is_of(view, version, WFS_BUILTIN_LEDGER);
	return r;
}

int wfs_entity_state(struct wfs_view *view, const struct wfs_version *version, json_t **ret_state)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	int r = wfs_view_content(view, version, WFS_RANGE_ALL, &content, NULL);

	if (r)
		return wfs_trace(r);
	r = wfs_json_parse(content.bytes.data, content.bytes.size, ret_state, NULL);
	if (r == -EINVAL) {
		*ret_state = json_object();
		r = *ret_state ? 0 : -ENOMEM;
	}
	return wfs_trace(r);
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

/* @then: as it was when the run got its version */
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

/* A file as a whole. @then: as it was when the cell got this version */
static int write_whole(struct wfs_view *then, enum wfs_entity_file file, const json_t *state,
	struct wfs_buffer *buffer)
{
	switch (files[file].form) {
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
		write_text(json_object_get(state, files[file].name), buffer);
		break;
	case WFS_ENTITY_STATUS:
	case WFS_ENTITY_MESSAGES:
	case WFS_ENTITY_TRANSCRIPT:
	case WFS_ENTITY_RESULT:
		return write_turn(then, files[file].form, state, buffer);
	case WFS_ENTITY_PLAN_STATUS:
		return wfs_plan_write_status(state, buffer);
	case WFS_ENTITY_PLAN_GRAPH:
		return wfs_plan_write_graph(then, state, buffer);
	default:
		return -EINVAL;
	}
	return wfs_buffer_check(buffer);
}

/* The document of the cell that a file is made from. */
static int source_state(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, json_t **ret_state)
{
	/* Of resources that there are none of yet. */
	if (wfs_view_is_of(view, version, files[file].reducer) != 0)
		return wfs_trace(wfs_entity_state(view, version, ret_state));
	*ret_state = json_object();
	return *ret_state ? 0 : -ENOMEM;
}

/* Return: 0, -ENOMEM. */
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

/* The other cells of a run or a plan are as they were when it got this version; that height may be
 * dropped, but then nothing of it has changed up to the first that is kept. */
int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_view then;
	int r = wfs_view_then(view, version->height, &then);

	if (!r && files[file].form == WFS_ENTITY_STEPS)
		return wfs_trace(wfs_plan_step_file(&then, version, range, buffer, ret_size_bytes));
	if (!r)
		r = source_state(view, file, version, &state);
	if (r)
		return wfs_trace(r);
	if (files[file].form == WFS_ENTITY_PLAN_DOCUMENT || files[file].form == WFS_ENTITY_BESIDE)
		return wfs_trace(wfs_plan_document(&then, state, range, buffer, ret_size_bytes));
	r = write_whole(&then, file, state, &whole);
	return r ? r : append_part(wfs_buffer_bytes(&whole), range, buffer, ret_size_bytes);
}

int wfs_entity_write_bare_meta(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_entity_state(view, version, &state);

	if (!r)
		r = write_document(wfs_artifact_document(state, false), &whole);
	return r ? wfs_trace(r)
		 : append_part(wfs_buffer_bytes(&whole), range, buffer, ret_size_bytes);
}

/* Is it a grant to this principal? Then it becomes part of the list. */
static int add_grant(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_bytes principal, json_t *grants, int64_t *time_ns)
{
	WFS_AUTO_JSON json_t *grant = NULL;
	int r = wfs_entity_state(view, version, &grant);

	if (r)
		return wfs_trace(r);
	const json_t *const to = json_object_get(grant, "to");
	if (!json_is_string(to) || json_string_length(to) != principal.size ||
		memcmp(json_string_value(to), principal.data, principal.size) != 0)
		return 0;
	if (version->time_ns > *time_ns)
		*time_ns = version->time_ns;
	return json_array_append(grants, grant) < 0 ? -ENOMEM : 0;
}

/* At an older height all grants are looked at. */
static int add_all(
	struct wfs_view *view, struct wfs_bytes principal, json_t *grants, int64_t *time_ns)
{
	struct wfs_bytes key = {0};
	struct wfs_reducer reducer;
	struct wfs_version version;
	bool first = true;
	int r = wfs_view_builtin(view, WFS_BUILTIN_GRANT, &reducer);

	while (!r) {
		r = wfs_view_next_key(
			view, reducer.reducer_id, first ? NULL : &key, &key, &version);
		first = false;
		if (!r)
			r = add_grant(view, &version, principal, grants, time_ns);
	}
	return r == -ENOENT ? 0 : wfs_trace(r);
}

static int add_indexed(
	struct wfs_view *view, struct wfs_bytes principal, json_t *grants, int64_t *time_ns)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_index_set set;
	uint64_t cell_id;

	wfs_index_grants(&set, principal);
	int r = wfs_index_walk_init(&walk, view->txn, &set, false);

	while (!r && (r = wfs_index_walk_next(&walk, &cell_id)) > 0) {
		struct wfs_version version;
		struct wfs_cell cell;

		r = wfs_cell_get(view->txn, cell_id, &cell);
		if (!r)
			r = wfs_view_version(view, cell.head_vid, &version);
		if (!r)
			r = add_grant(view, &version, principal, grants, time_ns);
		if (r)
			return wfs_trace(wfs_row_needed(view->txn, r));
	}
	return wfs_trace(r);
}

static int compare_names(const void *a, const void *b)
{
	const char *const name_a = json_string_value(json_object_get(*(json_t *const *)a, "name"));
	const char *const name_b = json_string_value(json_object_get(*(json_t *const *)b, "name"));

	return strcmp(name_a ? name_a : "", name_b ? name_b : "");
}

/* By their names, because a world that is restored from a copy may have made them in another order. */
static int sort_grants(json_t *grants)
{
	const size_t count = json_array_size(grants);
	WFS_AUTO_FREE json_t **items = calloc(count + 1, sizeof(json_t *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = json_incref(json_array_get(grants, i));
	qsort(items, count, sizeof(json_t *), compare_names);
	for (size_t i = 0; i < count; i++)
		(void)json_array_set_new(grants, i, items[i]);
	return 0;
}

int wfs_entity_grants(struct wfs_view *view, struct wfs_bytes principal, json_t **ret_grants,
	int64_t *ret_time_ns)
{
	WFS_AUTO_JSON json_t *grants = json_array();
	int64_t time_ns = 0;
	int r = -ENOMEM;

	if (grants)
		r = view->head ? add_indexed(view, principal, grants, &time_ns)
			       : add_all(view, principal, grants, &time_ns);
	if (!r)
		r = sort_grants(grants);
	if (r)
		return wfs_trace(r);
	*ret_time_ns = time_ns;
	*ret_grants = WFS_STEAL(grants);
	return 0;
}

int wfs_entity_write_grants(struct wfs_view *view, struct wfs_bytes principal,
	struct wfs_buffer *buffer, int64_t *ret_time_ns)
{
	json_t *grants = NULL;
	int r = wfs_entity_grants(view, principal, &grants, ret_time_ns);

	return wfs_trace(r ? r : write_document(grants, buffer));
}
