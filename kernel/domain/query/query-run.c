/* SPDX-License-Identifier: Apache-2.0 */
/* Runs queries, and makes the parts that several answers share. */
#include "kernel/domain/query/query-run.h"

#include "kernel/base/encode.h"
#include "kernel/domain/query/query-impl.h"
#include "kernel/manifest/entity-table.h"
#include "kernel/read/introspect.h"
#include "kernel/store/row-name.h"

static const struct {
	enum wfs_entity directory;
	enum wfs_builtin_reducer reducer;
} parts[] = {
#define PART_ROW(constant, directory, reducer) {WFS_ENTITY_##directory, WFS_BUILTIN_##reducer},
	WFS_QUERY_PARTS(PART_ROW)
#undef PART_ROW
};

/* --- what is seen --- */

const char *wfs_query_directory(enum wfs_query_part part)
{
	return part == WFS_QUERY_PART_JOURNAL ? "journal"
					      : wfs_entity_directory(parts[part].directory);
}

static bool allows(const struct wfs_rights *rights, const struct wfs_question *asks,
	enum wfs_effect effect, const char *reducer)
{
	const struct wfs_question question = {.effect = effect,
		.origin = asks->origin,
		.now_ns = asks->now_ns,
		.reducer = reducer};

	return wfs_rights_judge(rights, &question).code == WFS_OK;
}

static bool shows_cells(const struct wfs_rights *rights, const struct wfs_question *asks,
	enum wfs_builtin_reducer reducer, bool listed)
{
	const char *const name = wfs_builtin_reducer_name(reducer);

	return allows(rights, asks, WFS_EFFECT_INTROSPECT_REDUCER_STATE, name) &&
		(!listed || allows(rights, asks, WFS_EFFECT_INTROSPECT_LIST_CELLS, name));
}

bool wfs_query_shows(const struct wfs_rights *rights, const struct wfs_question *asks,
	const struct wfs_query_row *row)
{
	const struct wfs_bytes names[] = {
		wfs_bytes_text(wfs_query_directory(row->part)), wfs_bytes_text(row->name)};
	const struct wfs_path path = {names, WFS_ARRAY_COUNT(names)};

	if (wfs_rights_coverage(rights, path, asks->now_ns) != WFS_COVERAGE_WHOLE ||
		wfs_rights_judge(rights, asks).code != WFS_OK)
		return false;
	if (row->part == WFS_QUERY_PART_JOURNAL)
		return allows(rights, asks, WFS_EFFECT_INTROSPECT_JOURNAL, NULL);
	const enum wfs_builtin_reducer directory = wfs_entity_reducer(parts[row->part].directory);
	const enum wfs_builtin_reducer cells = parts[row->part].reducer;

	return shows_cells(rights, asks, directory, row->listed) &&
		(cells == directory || shows_cells(rights, asks, cells, row->listed));
}

static bool sees(
	const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key, bool listed)
{
	char name[WFS_KEY_SIZE_MAX + 1];
	const struct wfs_query_row row = {.part = part, .name = name, .listed = listed};

	if (!run->sight)
		return true;
	if (key.size > WFS_KEY_SIZE_MAX || (key.size && memchr(key.data, '\0', key.size)))
		return false;
	if (key.size)
		memcpy(name, key.data, key.size);
	name[key.size] = '\0';
	return run->sight->sees(run->sight->context, &row);
}

bool query_sees(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key)
{
	return sees(run, part, key, false);
}

bool query_sees_listed(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key)
{
	return sees(run, part, key, true);
}

/* --- what answers share --- */

int query_work(struct query_run *run, uint64_t instructions)
{
	struct wfs_query_work *const work = run->work;

	if (!work)
		return 0;
	const uint64_t steps = work->done / WFS_QUERY_WORK_STEP;
	int r = 0;

	work->done += instructions;
	if (work->done > work->most)
		r = wfs_error_set(run->error, WFS_E_RUNTIME_ERROR,
			"the query '%s' looks at more than what is left of the instructions that "
			"one record may take",
			wfs_query_name(run->query->type));
	else if (work->goes_on && work->done / WFS_QUERY_WORK_STEP > steps)
		r = work->goes_on(work->context, run->error);
	work->given_up = r != 0;
	return r;
}

json_t *query_text(struct wfs_bytes key)
{
	char text[WFS_KEY_SIZE_MAX];

	wfs_require(key.size <= sizeof(text));
	if (key.size)
		memcpy(text, key.data, key.size);
	wfs_utf8_clean(text, key.size);
	return json_stringn_nocheck(text, key.size);
}

int query_set(struct query_run *run, const char *name, json_t *value)
{
	return json_object_set_new(run->answer, name, value) < 0 ? -ENOMEM : 0;
}

int query_version_state(
	struct query_run *run, const struct wfs_version *version, json_t **ret_state)
{
	int r = query_work(run, QUERY_WORK_OF_CELL + version->size_bytes / QUERY_WORK_BYTES);

	return wfs_trace(
		r ? r : wfs_view_version_document(run->view, version, ret_state, run->error));
}

int query_state(struct query_run *run, enum wfs_builtin_reducer reducer, const char *key,
	json_t **ret_state)
{
	return wfs_view_document(run->view, reducer, key, ret_state, run->error);
}

int query_principal(
	struct query_run *run, enum wfs_query_part part, const char *id, json_t **ret_ledger)
{
	int r = -ENOENT;

	if (query_sees(run, part, wfs_bytes_text(id)))
		r = query_state(run, WFS_BUILTIN_LEDGER, id, ret_ledger);
	if (r == -ENOENT)
		return wfs_error_set(
			run->error, WFS_E_NOT_FOUND, "Principal '%.200s' not found", id);
	return wfs_trace(r);
}

int query_each(struct query_run *run, enum wfs_query_part part, query_cell_fn *each, void *context)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer found;
	struct wfs_entry entry;
	int r = wfs_view_builtin(run->view, parts[part].reducer, &found);

	if (!r)
		r = wfs_entry_walk_init(&walk, run->view, found.reducer_id, 0);
	if (r)
		return wfs_trace(r == -ENOENT ? -EIO : r);
	while ((r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		r = query_work(run, QUERY_WORK_OF_CELL);
		if (r)
			return wfs_trace(r);
		if (!query_sees_listed(run, part, entry.key))
			continue;
		r = each(run, &entry, context);
		if (r)
			return r > 0 ? 0 : wfs_trace(r);
	}
	return wfs_trace(r);
}

int query_entry_state(struct query_run *run, const struct wfs_entry *entry, json_t **ret_state)
{
	struct wfs_version version;
	int r = wfs_view_version(run->view, entry->vid, &version);

	if (r)
		return wfs_trace(wfs_row_needed(run->view->txn, r));
	return wfs_trace(query_version_state(run, &version, ret_state));
}

json_t *query_copy(const json_t *state, const char *const *names)
{
	WFS_AUTO_JSON json_t *copy = json_object();

	for (; *names; names++) {
		json_t *const value = json_object_get(state, *names);

		if (json_object_set_new(copy, *names, value ? json_incref(value) : json_null()) < 0)
			return NULL;
	}
	return WFS_STEAL(copy);
}

/* Whole numbers are integers in canonical JSON. */
json_t *query_ratio(uint64_t part, uint64_t whole)
{
	if (whole == 0 || part % whole == 0)
		return json_integer(whole == 0 ? 0 : (json_int_t)(part / whole));
	return json_real((double)part / (double)whole);
}

int wfs_query_run(struct wfs_view *view, const struct wfs_query *query,
	const struct wfs_query_sight *sight, struct wfs_query_work *work, json_t **ret_result,
	struct wfs_error *error)
{
	static int (*const answers[WFS_QUERY_COUNT])(struct query_run * run) = {
		[WFS_QUERY_ARTIFACTS] = query_artifacts,
		[WFS_QUERY_ARTIFACT] = query_artifact,
		[WFS_QUERY_PRINCIPALS] = query_principals,
		[WFS_QUERY_PRINCIPAL] = query_principal_info,
		[WFS_QUERY_BALANCES] = query_balances,
		[WFS_QUERY_RESOURCES] = query_resources,
		[WFS_QUERY_QUOTAS] = query_quotas,
		[WFS_QUERY_MINT] = query_mint,
		[WFS_QUERY_EVENTS] = query_events,
		[WFS_QUERY_INVOCATIONS] = query_invocations,
		[WFS_QUERY_FROZEN] = query_frozen,
		[WFS_QUERY_LIBRARIES] = query_libraries,
		[WFS_QUERY_DEPENDENCIES] = query_dependencies,
	};
	struct wfs_error reason = {0};
	WFS_AUTO_JSON json_t *answer =
		json_pack("{s:b, s:s}", "success", 1, "query_type", wfs_query_name(query->type));
	struct query_run run = {view, query, sight, answer, &reason, work};

	wfs_require(view->head);
	int r = answer ? answers[query->type](&run) : -ENOMEM;
	if (r) {
		wfs_read_describe(&reason, r);
		if (error)
			*error = reason;
		return r;
	}
	*ret_result = WFS_STEAL(answer);
	return 0;
}
