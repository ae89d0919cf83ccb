/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about what happened: records of the journal, invocations. */
#include "kernel/domain/query/query-impl.h"
#include "kernel/read/index.h"
#include "kernel/store/row-name.h"

/* --- events --- */

/* Finds the first of the newest records: @limit of them, or as many as fit in one answer. */
static int first_event(struct query_run *run, uint64_t *ret_seq)
{
	uint64_t seq = run->view->height;
	uint64_t oldest;
	size_t size = 0;
	int r = wfs_journal_first(run->view->txn, &oldest);

	for (int64_t left = run->query->events.limit; !r && left > 0 && seq > oldest; left--) {
		struct wfs_bytes line;

		r = wfs_view_record(run->view, seq - 1, &line);
		if (r)
			break;
		size += line.size;
		if (seq < run->view->height && size > WFS_QUERY_EVENTS_BYTES_MAX)
			break;
		seq--;
	}
	*ret_seq = seq;
	return wfs_trace(r);
}

int query_events(struct query_run *run)
{
	WFS_AUTO_JSON json_t *events = json_array();
	uint64_t seq = run->view->height;
	int r = events ? 0 : -ENOMEM;

	if (!r && query_sees(run, WFS_QUERY_PART_JOURNAL, wfs_bytes_text("log.jsonl")))
		r = first_event(run, &seq);
	for (; !r && seq < run->view->height; seq++) {
		struct wfs_bytes line;
		json_t *event = NULL;

		r = wfs_view_record(run->view, seq, &line);
		if (!r)
			r = wfs_json_parse(line.data, line.size, &event, run->error);
		if (!r && json_array_append_new(events, event) < 0)
			r = -ENOMEM;
	}
	if (!r)
		r = query_set(run, "returned", json_integer((json_int_t)json_array_size(events)));
	return wfs_trace(r ? r : query_set(run, "events", json_incref(events)));
}

/* --- invocations --- */

/* Statistics of invocations. */
struct record_stats {
	uint64_t total;
	uint64_t duration_ms;
	uint64_t failures[WFS_ERROR_CODE_COUNT];
};

static int kept_stats(struct query_run *run, struct record_stats *stats)
{
	const char *const artifact_id = run->query->invocations.artifact_id;
	const char *const invoker_id = run->query->invocations.invoker_id;
	struct wfs_index_set set;
	struct wfs_index_sum sum;
	int r;

	wfs_index_invocations(&set, artifact_id, invoker_id);
	r = wfs_index_sum_get(run->view->txn, &set, &sum);
	stats->total = sum.count;
	stats->duration_ms = sum.amount;
	for (int code = WFS_OK + 1; !r && code < WFS_ERROR_CODE_COUNT; code++) {
		wfs_index_failures(&set, artifact_id, invoker_id, (enum wfs_error_code)code);
		r = wfs_index_sum_get(run->view->txn, &set, &sum);
		stats->failures[code] = sum.count;
	}
	return wfs_trace(r);
}

static int set_stats(struct query_run *run, const struct record_stats *stats)
{
	WFS_AUTO_JSON json_t *types = json_object();
	uint64_t failed = 0;

	for (int code = WFS_OK + 1; code < WFS_ERROR_CODE_COUNT; code++) {
		const char *const name = wfs_error_info((enum wfs_error_code)code)->name;

		failed += stats->failures[code];
		if (stats->failures[code] > 0 &&
			json_object_set_new(
				types, name, json_integer((json_int_t)stats->failures[code])) < 0)
			return -ENOMEM;
	}
	const uint64_t successful = stats->total - failed;
	return query_set(run, "stats",
		json_pack("{s:I, s:I, s:I, s:o, s:o, s:O}", "total", (json_int_t)stats->total,
			"successful", (json_int_t)successful, "failed", (json_int_t)failed,
			"success_rate", query_ratio(successful, stats->total), "avg_duration_ms",
			query_ratio(stats->duration_ms, stats->total), "failure_types", types));
}

/* Counts and appends an invocation, if the invoked artifact is seen. */
static int add_record(
	struct query_run *run, uint64_t cell_id, json_t *records, struct record_stats *stats)
{
	static const char *const names[] = {"seq", "invoker_id", "artifact_id", "method", "success",
		"duration_ms", "error_code", "at_ns", NULL};
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_cell cell;
	int r = wfs_cell_get(run->view->txn, cell_id, &cell);
	const struct wfs_entry entry = {.vid = r ? 0 : cell.head_vid};

	if (!r)
		r = query_entry_state(run, &entry, &state);
	if (r)
		return wfs_trace(wfs_row_needed(run->view->txn, r));
	const json_t *const id = json_object_get(state, "artifact_id");
	if (!query_sees_listed(run, WFS_QUERY_PART_INVOCATION,
		    WFS_BYTES(json_string_value(id), json_string_length(id))))
		return 0;
	const char *const text = json_string_value(json_object_get(state, "error_code"));
	const enum wfs_error_code code = text ? wfs_error_find(text) : WFS_OK;
	const json_int_t duration = json_integer_value(json_object_get(state, "duration_ms"));
	stats->total++;
	stats->duration_ms += duration > 0 ? (uint64_t)duration : 0;
	if (!json_is_true(json_object_get(state, "success")))
		stats->failures[code == WFS_OK ? WFS_E_INTERNAL_ERROR : code]++;
	if (json_array_size(records) >= (size_t)run->query->invocations.limit)
		return 0;
	return json_array_append_new(records, query_copy(state, names)) < 0 ? -ENOMEM : 0;
}

/* @counting: look at all invocations, for the statistics. The index has these only for the whole
 * world and for single artifacts. */
static int add_records(
	struct query_run *run, json_t *records, bool counting, struct record_stats *stats)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_index_set set;
	uint64_t cell_id;

	wfs_index_invocations(
		&set, run->query->invocations.artifact_id, run->query->invocations.invoker_id);
	int r = wfs_index_walk_init(&walk, run->view->txn, &set, true);
	while (!r &&
		(counting || json_array_size(records) < (size_t)run->query->invocations.limit) &&
		(r = wfs_index_walk_next(&walk, &cell_id)) > 0)
		r = add_record(run, cell_id, records, stats);
	return wfs_trace(r);
}

int query_invocations(struct query_run *run)
{
	const char *const artifact_id = run->query->invocations.artifact_id;
	WFS_AUTO_JSON json_t *records = json_array();
	struct record_stats stats = {0};
	const bool counting = run->sight &&
		(!artifact_id ||
			!query_sees_listed(
				run, WFS_QUERY_PART_INVOCATION, wfs_bytes_text(artifact_id)));
	int r = records ? add_records(run, records, counting, &stats) : -ENOMEM;

	if (!r && !counting)
		r = kept_stats(run, &stats);
	if (!r)
		r = query_set(run, "returned", json_integer((json_int_t)json_array_size(records)));
	if (!r)
		r = query_set(run, "records", json_incref(records));
	return wfs_trace(r ? r : set_stats(run, &stats));
}
