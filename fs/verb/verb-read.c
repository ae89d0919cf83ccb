/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that look at the world: manifest, cells, journal. Source: spec 1, "Introspection". */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* What the session says is the answer; it has meta in either case. */
static int introspect(struct wfs_call *call)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	int r = wfs_session_introspect(
		call->session, call->effect, call->payload, &answer, &call->error);

	json_decref(call->meta);
	call->meta = json_incref(json_object_get(answer, "meta"));
	if (!r)
		call->result = WFS_STEAL(answer);
	return r;
}

int wfs_verb_manifest_read(struct wfs_call *call)
{
	return introspect(call);
}

int wfs_verb_journal_head(struct wfs_call *call)
{
	return introspect(call);
}

int wfs_verb_query_state(struct wfs_call *call)
{
	return introspect(call);
}

int wfs_verb_list_cells(struct wfs_call *call)
{
	return introspect(call);
}

/* One that is not seen is passed over. */
static int append_record(
	struct wfs_call *call, struct wfs_view *view, json_t *records, uint64_t seq, size_t *size)
{
	WFS_AUTO_JSON json_t *record = NULL;
	struct wfs_bytes line;
	int r = wfs_session_record(call->session, view, seq, &line);

	if (r == -ENOENT)
		return 0;
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
		if (size >= WFS_VERB_JOURNAL_MAX || seq - (uint64_t)from == WFS_VERB_SCAN_MAX)
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

int wfs_verb_query(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	const char *type;
	int r = wfs_json_get_string(call->payload, "query_type", &type, &call->error);

	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	return r ? r
		 : wfs_session_query(call->session, &view, type,
			   json_object_get(call->payload, "params"), &call->result, &call->error);
}
