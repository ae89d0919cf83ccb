/* SPDX-License-Identifier: Apache-2.0 */
/* The grants that a principal holds, at any height. */
#include "kernel/domain/principal/principal-file.h"

#include "kernel/base/json.h"
#include "kernel/read/index.h"
#include "kernel/store/row-name.h"

/* Appends a grant to the list if it is to this principal. */
static int add_grant(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_bytes principal, json_t *grants, int64_t *time_ns)
{
	WFS_AUTO_JSON json_t *grant = NULL;
	int r = wfs_view_state(view, version, &grant);

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

/* At an older height the index does not help, so all grants are read. */
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

/* Sorts grants by name: a world restored from a copy may have made them in another order. */
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

int wfs_principal_grants(struct wfs_view *view, struct wfs_bytes principal, json_t **ret_grants,
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

int wfs_principal_write_grants(struct wfs_view *view, struct wfs_bytes principal,
	struct wfs_buffer *buffer, int64_t *ret_time_ns)
{
	WFS_AUTO_JSON json_t *grants = NULL;
	int r = wfs_principal_grants(view, principal, &grants, ret_time_ns);

	if (r)
		return wfs_trace(r);
	wfs_json_write_document(grants, buffer);
	return wfs_buffer_check(buffer);
}
