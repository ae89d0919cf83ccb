/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about artifacts: pages of a list, one artifact, libraries, dependencies. */
#include <inttypes.h>

#include "kernel/domain/query/query-impl.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/read/index.h"
#include "kernel/schema/pattern.h"
#include "kernel/store/row-name.h"

enum {
	MATCH_LIMIT = 4 << 10,       /* steps of a pattern on one id; mostly enough */
	MATCH_LIMIT_HARD = 64 << 10, /* steps when MATCH_LIMIT was not enough … */
	MATCH_HARD_MAX = 1000,       /* … so often in one query: they are seconds */
};

/* --- pages --- */

/* A page that is being filled. */
struct page {
	struct query_run *run;
	struct wfs_pattern *pattern; /* owned; may be NULL */
	struct wfs_matcher *matcher; /* owned */
	unsigned int hard;           /* matches that needed MATCH_LIMIT_HARD */
	bool counting;  /* true: the index does not have the total, so all matches are looked at */
	uint64_t total; /* when counting: matches so far */
	uint64_t skipped; /* matches left out so far, of `offset` */
	json_t *results;
};

static void page_done(struct page *page)
{
	wfs_pattern_free(page->pattern);
	wfs_matcher_free(page->matcher);
	json_decref(page->results);
}

static int match(struct page *page, struct wfs_bytes key)
{
	int r = wfs_pattern_match(page->pattern, page->matcher, key.data, key.size, MATCH_LIMIT);

	if (r == -EAGAIN && ++page->hard <= MATCH_HARD_MAX) {
		r = query_work(page->run, QUERY_WORK_OF_HARD_MATCH);
		if (r)
			return wfs_trace(r);
		r = wfs_pattern_match(
			page->pattern, page->matcher, key.data, key.size, MATCH_LIMIT_HARD);
	}
	if (r == -EAGAIN || r == -E2BIG)
		return wfs_error_set(page->run->error, WFS_E_INVALID_PATTERN,
			"Invalid regex pattern: '%.200s': it takes too much work",
			page->run->query->artifacts.name_pattern);
	return r;
}

static int page_append(struct page *page, const struct wfs_entry *entry)
{
	static const char *const names[] = {"id", "type", "created_by", "owner", "executable",
		"content_size", "created_at", "updated_at", "invoke_price", "read_price", NULL};
	WFS_AUTO_JSON json_t *state = NULL;
	int r = query_entry_state(page->run, entry, &state);

	if (r)
		return wfs_trace(r);
	json_t *const row = query_copy(state, names);
	if (json_object_set_new(row, "deleted", json_false()) < 0) {
		json_decref(row);
		return -ENOMEM;
	}
	return json_array_append_new(page->results, row) < 0 ? -ENOMEM : 0;
}

/* Takes the next artifact that is seen and fits the filters beside the pattern. Return: 0, 1 (the
 * page is complete), or -errno. */
static int page_take(struct page *page, const struct wfs_entry *entry)
{
	if (page->pattern) {
		int r = match(page, entry->key);

		if (r <= 0)
			return r;
	}
	page->total++;
	if (page->skipped < (uint64_t)page->run->query->artifacts.offset) {
		page->skipped++;
		return 0;
	}
	if (json_array_size(page->results) == (size_t)page->run->query->artifacts.limit)
		return !page->counting;
	return wfs_trace(page_append(page, entry));
}

static int page_entry(struct query_run *run, const struct wfs_entry *entry, void *context)
{
	(void)run;
	return page_take(context, entry);
}

/* Skips an artifact before `offset` without reading it, if the index has the total. */
static bool passes_over(struct page *page)
{
	if (page->counting || page->skipped >= (uint64_t)page->run->query->artifacts.offset)
		return false;
	page->skipped++;
	return true;
}

static int page_of_set(struct page *page, const struct wfs_index_set *set)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_txn *const txn = page->run->view->txn;
	struct wfs_cell cell;
	uint64_t cell_id;
	int r = wfs_index_walk_init(&walk, txn, set, false);

	if (r)
		return wfs_trace(r);
	while ((r = wfs_index_walk_next(&walk, &cell_id)) > 0) {
		r = query_work(page->run, QUERY_WORK_OF_CELL);
		if (r)
			return wfs_trace(r);
		if (passes_over(page))
			continue;
		r = wfs_cell_get(txn, cell_id, &cell);
		if (r)
			return wfs_trace(wfs_row_needed(txn, r));
		if (!query_sees_listed(page->run, WFS_QUERY_PART_ARTIFACT, cell.key))
			continue;
		const struct wfs_entry entry = {.vid = cell.head_vid, .key = cell.key};
		r = page_take(page, &entry);
		if (r)
			return r > 0 ? 0 : wfs_trace(r);
	}
	return wfs_trace(r);
}

/* How many artifacts fit the filters, before pattern and sight? @set: NULL: no filter */
static int kept_total(struct query_run *run, const struct wfs_index_set *set, uint64_t *ret_total)
{
	struct wfs_reducer reducer = {.live_count = 0};
	struct wfs_index_sum sum = {0};
	int r = set ? wfs_index_sum_get(run->view->txn, set, &sum)
		    : wfs_view_builtin(run->view, WFS_BUILTIN_ARTIFACT, &reducer);

	if (!r)
		*ret_total = set ? sum.count : reducer.live_count;
	return wfs_trace(r == -ENOENT ? -EIO : r);
}

static int page_fill(struct page *page)
{
	struct query_run *const run = page->run;
	const char *const owner = run->query->artifacts.owner;
	const char *const type = run->query->artifacts.type;
	const int executable = run->query->artifacts.executable;
	const bool filtered = owner || type || executable != WFS_QUERY_ABSENT;
	struct wfs_index_set set;
	uint64_t total = 0;
	int r;

	if (filtered)
		wfs_index_artifacts(&set, owner, type, executable);
	page->counting = page->pattern || run->sight;
	r = kept_total(run, filtered ? &set : NULL, &total);
	if (r)
		return wfs_trace(r);
	const bool wanted = page->counting
		? total > 0
		: total > (uint64_t)run->query->artifacts.offset && run->query->artifacts.limit > 0;
	if (wanted)
		r = filtered ? page_of_set(page, &set)
			     : query_each(run, WFS_QUERY_PART_ARTIFACT, page_entry, page);
	if (!page->counting)
		page->total = total;
	return wfs_trace(r);
}

/* Appends the filters as text, e.g. `{owner: 'alpha', executable: true}`. */
static void append_filters(const struct wfs_query *query, struct wfs_buffer *buffer)
{
	const char *between = "";

	wfs_buffer_append_byte(buffer, '{');
	for (const struct wfs_query_param *param = wfs_query_params(query->type); param->name;
		param++) {
		const void *const place = (const char *)query + param->offset;
		const char *text = NULL;

		if (param->kind == WFS_QUERY_KIND_FLAG && *(const int *)place != WFS_QUERY_ABSENT)
			text = *(const int *)place ? "true" : "false";
		if (text)
			wfs_buffer_printf(buffer, "%s%s: %s", between, param->name, text);
		if (param->kind == WFS_QUERY_KIND_TEXT || param->kind == WFS_QUERY_KIND_PATTERN)
			text = *(const char *const *)place;
		if (text && param->kind != WFS_QUERY_KIND_FLAG)
			wfs_buffer_printf(buffer, "%s%s: '%s'", between, param->name, text);
		if (text)
			between = ", ";
	}
	wfs_buffer_append_byte(buffer, '}');
}

int query_artifacts(struct query_run *run)
{
	WFS_CLEANUP(page_done) struct page page = {.run = run, .results = json_array()};
	const char *const pattern = run->query->artifacts.name_pattern;
	int r = page.results ? 0 : -ENOMEM;

	if (!r && pattern)
		r = wfs_query_pattern(pattern, &page.pattern, run->error);
	if (!r && pattern)
		r = wfs_matcher_new(&page.matcher);
	if (!r)
		r = page_fill(&page);
	if (!r)
		r = query_set(run, "total", json_integer((json_int_t)page.total));
	if (!r)
		r = query_set(
			run, "returned", json_integer((json_int_t)json_array_size(page.results)));
	if (!r)
		r = query_set(run, "results", json_incref(page.results));
	if (r || page.total > 0)
		return wfs_trace(r);
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};
	wfs_buffer_append_text(&message, "No artifacts match filters ");
	append_filters(run->query, &message);
	return wfs_trace(query_set(run, "message",
		wfs_buffer_check(&message) ? NULL : json_string(wfs_buffer_text(&message))));
}

/* --- one --- */

static int refuse_artifact(struct query_run *run, const char *id)
{
	return wfs_error_set(run->error, WFS_E_NOT_FOUND, "Artifact '%.200s' not found", id);
}

/* Finds an artifact that exists and is seen. @ret_artifact: also written on failure. Return: 0,
 * -ENOENT (not_found), … */
static int find_artifact(
	struct query_run *run, const char *id, struct wfs_document_artifact *ret_artifact)
{
	json_t *state = NULL;
	int r = -ENOENT;

	if (query_sees(run, WFS_QUERY_PART_ARTIFACT, wfs_bytes_text(id)))
		r = query_state(run, WFS_BUILTIN_ARTIFACT, id, &state);
	const int read = wfs_document_read_artifact(state, ret_artifact, r ? NULL : run->error);
	return r == -ENOENT ? refuse_artifact(run, id) : wfs_trace(r ? r : read);
}

/* Answers with what is left of a deleted artifact. */
static int find_deleted(struct query_run *run, const char *id, json_t **ret_result)
{
	static const char *const names[] = {"deleted_at", "deleted_by", NULL};
	WFS_AUTO_JSON json_t *state = NULL;
	int r = -ENOENT;

	if (query_sees(run, WFS_QUERY_PART_DELETED, wfs_bytes_text(id)))
		r = query_state(run, WFS_BUILTIN_DELETED, id, &state);
	if (r)
		return r == -ENOENT ? refuse_artifact(run, id) : wfs_trace(r);
	json_t *const result = query_copy(state, names);
	if (json_object_set_new(result, "id", json_string(id)) < 0 ||
		json_object_set_new(result, "deleted", json_true()) < 0) {
		json_decref(result);
		return -ENOMEM;
	}
	*ret_result = result;
	return 0;
}

/* Answers for an existing artifact, with hashes of content and code only if the client may read
 * these. */
static int describe(
	struct query_run *run, const struct wfs_document_artifact *artifact, json_t **ret_result)
{
	const int reads = run->sight ? run->sight->reads(run->sight->context, artifact) : 1;

	if (reads < 0)
		return wfs_trace(reads);
	*ret_result = wfs_artifact_document(artifact->own.json, reads > 0);
	return *ret_result ? 0 : -ENOMEM;
}

int query_artifact(struct query_run *run)
{
	const char *const id = run->query->artifact.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;
	json_t *result = NULL;
	int r = find_artifact(run, id, &artifact);

	if (r == -ENOENT)
		r = find_deleted(run, id, &result);
	else if (!r)
		r = describe(run, &artifact, &result);
	return r ? wfs_trace(r) : query_set(run, "result", result);
}

/* --- what belongs to one --- */

/* Adds one seen artifact of a set to the list. Return: 0, or -errno. */
typedef int member_fn(struct query_run *run, const struct wfs_entry *entry, json_t *list);

/* Answers with the list that @each makes of a set's artifacts. */
static int set_list(
	struct query_run *run, const char *name, const struct wfs_index_set *set, member_fn *each)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	WFS_AUTO_JSON json_t *list = json_array();
	struct wfs_cell cell;
	uint64_t cell_id;
	int r = list ? wfs_index_walk_init(&walk, run->view->txn, set, false) : -ENOMEM;

	while (!r && (r = wfs_index_walk_next(&walk, &cell_id)) > 0) {
		r = query_work(run, QUERY_WORK_OF_CELL);
		if (r)
			return wfs_trace(r);
		r = wfs_cell_get(run->view->txn, cell_id, &cell);
		if (r)
			return wfs_trace(wfs_row_needed(run->view->txn, r));
		const struct wfs_entry entry = {.vid = cell.head_vid, .key = cell.key};
		if (query_sees_listed(run, WFS_QUERY_PART_ARTIFACT, cell.key))
			r = each(run, &entry, list);
	}
	return r ? wfs_trace(r) : query_set(run, name, json_incref(list));
}

static int append_id(struct query_run *run, const struct wfs_entry *entry, json_t *list)
{
	(void)run;
	return json_array_append_new(list, query_text(entry->key)) < 0 ? -ENOMEM : 0;
}

int query_dependencies(struct query_run *run)
{
	const char *const id = run->query->dependencies.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;
	struct wfs_index_set set;
	int r = find_artifact(run, id, &artifact);

	if (!r)
		r = query_set(run, "depends_on", json_incref(artifact.depends_on));
	wfs_index_dependents(&set, id);
	return r ? wfs_trace(r) : set_list(run, "dependents", &set, append_id);
}

/* Name and version are claims of the artifact's owner. */
static int append_library(struct query_run *run, const struct wfs_entry *entry, json_t *list)
{
	static const char *const names[] = {"name", "version", NULL};
	WFS_AUTO_JSON json_t *state = NULL;
	WFS_AUTO_JSON json_t *library = NULL;
	int r = query_entry_state(run, entry, &state);

	if (r)
		return wfs_trace(r);
	library = query_copy(json_object_get(state, "metadata"), names);
	if (json_is_null(json_object_get(library, "name")) &&
		json_object_set_new(library, "name", query_text(entry->key)) < 0)
		return -ENOMEM;
	return json_array_append(list, library) < 0 ? -ENOMEM : 0;
}

int query_libraries(struct query_run *run)
{
	const char *const id = run->query->libraries.principal_id;
	WFS_AUTO_JSON json_t *ledger = NULL;
	struct wfs_index_set set;
	int r = query_principal(run, WFS_QUERY_PART_PRINCIPAL, id, &ledger);

	wfs_index_artifacts(&set, id, "library", WFS_QUERY_ABSENT);
	return r ? wfs_trace(r) : set_list(run, "libraries", &set, append_library);
}

/* --- documents --- */

json_t *wfs_artifact_row(const json_t *state)
{
	static const char *const members[] = {"content_size", "created_at", "created_by",
		"executable", "id", "invoke_price", "owner", "read_price", "type", "updated_at"};
	WFS_AUTO_JSON json_t *row = json_pack("{s:b}", "deleted", 0);

	for (size_t i = 0; row && i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const member = json_object_get(state, members[i]);

		if (json_object_set_new(
			    row, members[i], member ? json_incref(member) : json_null()) < 0)
			return NULL;
	}
	return WFS_STEAL(row);
}

json_t *wfs_artifact_document(const json_t *state, bool hashes)
{
	json_t *const document = json_copy((json_t *)(uintptr_t)state);

	if (!hashes) {
		(void)json_object_del(document, "content_hash");
		(void)json_object_del(document, "code_hash");
	}
	if (json_object_set_new(document, "deleted", json_false()) < 0) {
		json_decref(document);
		return NULL;
	}
	return document;
}
