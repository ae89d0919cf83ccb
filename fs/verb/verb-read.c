/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that read the world: manifest, cells, journal. */
#include <inttypes.h>

#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/unjudged.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* Answers with the receipt of an effect of introspection, which has meta also if it failed. */
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

/* Appends a record to the answer, unless the session may not see it. */
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

/* The records of one answer. */
struct journal_page {
	struct wfs_call *call;
	struct wfs_view view;
	json_t *records; /* borrowed from the call's result */
	uint64_t limit;
	uint64_t seq;  /* of the next record to look at */
	size_t looked; /* records that were looked at, with hidden ones */
	size_t size;   /* bytes of the records of the answer */
};

static bool is_full(const struct journal_page *page)
{
	return json_array_size(page->records) >= page->limit ||
		page->size >= WFS_VERB_JOURNAL_MAX || page->looked == WFS_VERB_SCAN_MAX;
}

/* A page ends before a damaged record, which is then the first of the next page, and refused.
 * Return: 0, 1 (the page ends here), or -errno. */
static int take_record(struct journal_page *page)
{
	int r = append_record(page->call, &page->view, page->records, page->seq, &page->size);

	if (r == -EIO && page->looked > 0)
		return 1;
	if (r == -EIO)
		page->call->error_details = json_pack("{s:I}", "seq", (json_int_t)page->seq);
	page->looked++;
	page->seq++;
	return r;
}

static int read_journal(struct journal_page *page)
{
	int r = 0;

	while (!r && page->seq < page->view.height && !is_full(page))
		r = take_record(page);
	return r > 0 ? 0 : r;
}

/* Reads records of a turn. After the last one the page ends at the height. A turn whose records are
 * all hidden is not found. */
static int read_turn(struct journal_page *page, const char *turn_id)
{
	const bool first = page->seq == 0;
	int r = 1;

	while (r > 0 && !is_full(page)) {
		r = wfs_unjudged_turn_record(&page->view, wfs_bytes_text(turn_id), &page->seq);
		if (r <= 0)
			break;
		const int taken = take_record(page);
		if (taken)
			return taken > 0 ? 0 : taken;
	}
	if (r == 0)
		page->seq = page->view.height;
	if (r == 0 && first && json_array_size(page->records) == 0)
		return wfs_error_set(
			&page->call->error, WFS_E_NOT_FOUND, "Turn '%.200s' not found", turn_id);
	return r > 0 ? 0 : r;
}

/* A client that asks for record 0 gets the journal from its oldest record on. */
static int check_from(struct journal_page *page)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(&page->view, WFS_LOG_NOW, &log);

	if (r || page->seq >= log.first_seq)
		return r;
	if (page->seq > 0)
		return wfs_error_set(&page->call->error, WFS_E_HEIGHT_UNAVAILABLE,
			"record %" PRIu64 " was dropped, the first that is kept is %" PRIu64,
			page->seq, log.first_seq);
	page->seq = log.first_seq;
	return 0;
}

static int journal_read(struct journal_page *page)
{
	struct wfs_call *const call = page->call;
	const char *const turn_id = wfs_verb_text(call, "turn");
	int64_t from = 0;
	int r = wfs_json_get_integer(call->payload, "from", 0, INT64_MAX, &from, &call->error);

	if (!r)
		r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &page->limit);
	if (!r)
		r = wfs_verb_view(call, NULL, &page->view);
	if (r)
		return r;
	page->seq = (uint64_t)from;
	if (!turn_id)
		r = check_from(page);
	if (r)
		return r;
	page->records = json_array();
	call->result = json_pack("{s:o}", "records", page->records);
	if (!call->result)
		return -ENOMEM;
	r = turn_id ? read_turn(page, turn_id) : read_journal(page);
	if (!r && page->seq < page->view.height &&
		json_object_set_new(
			call->result, "next_from", json_integer((json_int_t)page->seq)) < 0)
		return -ENOMEM;
	return r;
}

int wfs_verb_journal_read(struct wfs_call *call)
{
	struct journal_page page = {.call = call};
	int r = journal_read(&page);

	wfs_session_view_close(&page.view);
	return r;
}

int wfs_verb_query(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_session_query query = {.type = wfs_verb_text(call, "query_type"),
		.params = json_object_get(call->payload, "params"),
		.gone = &call->gone};
	int r = wfs_verb_view(call, NULL, &view);

	return r ? r : wfs_session_query(call->session, &view, &query, &call->result, &call->error);
}
