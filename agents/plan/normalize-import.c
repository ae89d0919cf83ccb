/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of plans, schema version 1: keeps what has been done, and does again what was in
 * progress.
 *
 * A document may have been edited, or come from another program. So its claims count only where
 * they agree with each other: a step is done if its result is present, and the plan has ended if
 * all its steps have. A step that is done but has no result would run again, so such a document is
 * refused unless the caller wants that.
 */
#include "agents/plan/normalize-impl.h"
#include "agents/plan/placeholder.h"
#include "kernel/base/encode.h"

bool normalize_is_document(const json_t *root)
{
	return json_object_get(root, "schema_version") ||
		(json_is_object(json_object_get(root, "plan")) && !json_object_get(root, "steps") &&
			!json_object_get(root, "tool_calls"));
}

/* --- keys --- */

/* @expected: the expected value */
static int refuse_key(struct normalize *work, const char *key, const char *expected)
{
	const json_t *const value = json_object_get(work->root, key);
	const struct wfs_bytes text = wfs_text_of(value);
	const int shown = (int)(text.size < 60 ? text.size : 60);
	const char *const quote = json_is_string(value) ? "'" : "";
	int r = normalize_refuse(work, value ? NORMALIZE_INVALID_KEY : NORMALIZE_MISSING_KEY,
		NORMALIZE_NO_STEP, "'%s': expected %s, got %s%s%.*s%s", key, expected,
		json_is_string(value) ? "" : wfs_mind_kind(value), quote, shown,
		(const char *)text.data, quote);

	return normalize_tell(work, r, "key", json_string(key));
}

static int check_version(struct normalize *work)
{
	json_t *const version = json_object_get(work->root, "schema_version");

	if (!version)
		return refuse_key(work, "schema_version", "1");
	if (json_is_integer(version) && json_integer_value(version) == 1)
		return 0;
	int r = normalize_refuse(work, NORMALIZE_UNSUPPORTED_SCHEMA_VERSION, NORMALIZE_NO_STEP,
		"'schema_version': expected 1, got %s", wfs_mind_kind(version));
	return json_is_integer(version) ? normalize_tell(work, r, "got", json_incref(version)) : r;
}

/* Is it an id that keys of cells and names of files can begin with? */
static bool id_is_valid(struct wfs_bytes id)
{
	const char *const bytes = id.data;

	for (size_t i = 0; i < id.size; i++) {
		const char byte = bytes[i];

		if (!(byte >= '0' && byte <= '9') && !(byte >= 'a' && byte <= 'z') &&
			!(byte >= 'A' && byte <= 'Z') && byte != '-' && byte != '_')
			return false;
	}
	return id.size > 0 && id.size <= WFS_PLAN_ID_SIZE;
}

/* `2026-11-21T20:46:37.123Z`, or with an offset as +01:00. Return: 0, -EINVAL. */
static int read_time(const json_t *written, int64_t *ret_ns)
{
	static const int64_t second_ns = 1000000000;
	struct tm tm = {0};
	int64_t ns = 0;
	const char *const text = json_string_value(written);
	const char *at = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	if (!at || strlen(text) != json_string_length(written))
		return -EINVAL;
	if (*at == '.')
		for (int64_t unit = second_ns / 10; *++at >= '0' && *at <= '9'; unit /= 10)
			ns += unit * (*at - '0');
	at = strptime(at, "%z", &tm);
	const int64_t offset = tm.tm_gmtoff; /* read first: timegm(3) ignores and overwrites it */
	const int64_t seconds = timegm(&tm) - offset;
	if (!at || *at || seconds < 0 || seconds >= INT64_MAX / second_ns)
		return -EINVAL;
	*ret_ns = seconds * second_ns + ns;
	return 0;
}

static int check_time(struct normalize *work, const char *key)
{
	int64_t ns;

	return read_time(json_object_get(work->root, key), &ns) < 0
		? refuse_key(work, key, "a time such as 2026-11-21T20:46:37.123Z")
		: 0;
}

static int check_status(struct normalize *work)
{
	static const char *const known[] = {"running", "done", "failed", "partial", "cancelled"};
	const char *const status = wfs_json_text(work->root, "status");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(known); i++)
		if (strcmp(status, known[i]) == 0)
			return 0;
	if (strcmp(status, "failed_normalize") != 0)
		return refuse_key(work, "status", "running, done, failed, partial or cancelled");
	int r = normalize_refuse(work, NORMALIZE_UNSUPPORTED_PLAN_FORMAT, NORMALIZE_NO_STEP,
		"'status': a plan that is failed_normalize has no steps");
	return normalize_tell(work, r, "type", json_string(status));
}

/* Checks that the inner plan has the id of the document. */
static int check_plan(struct normalize *work)
{
	json_t *const plan_id = json_object_get(work->root, "plan_id");
	const json_t *const plan = json_object_get(work->root, "plan");
	json_t *const inner = json_object_get(plan, "plan_id");

	if (!json_is_object(plan))
		return refuse_key(work, "plan", "an object");
	if (wfs_mind_is_absent(inner) || json_equal(inner, plan_id))
		return 0;
	int r = normalize_refuse(work, NORMALIZE_PLAN_ID_DIFFERS, NORMALIZE_NO_STEP,
		"'plan_id': '%s' in the document, %s%s%.60s%s in its plan",
		json_string_value(plan_id), json_is_string(inner) ? "" : wfs_mind_kind(inner),
		json_is_string(inner) ? "'" : "", wfs_json_text(plan, "plan_id"),
		json_is_string(inner) ? "'" : "");
	return normalize_tell(work, r, "plan_id", json_incref(plan_id));
}

/* @ret_sum: the digest that the document says.
 * Return: 1, 0 (it says none), -EINVAL (not a digest) */
static int read_digest(const json_t *root, struct wfs_hash *ret_sum)
{
	const json_t *const written =
		json_object_get(json_object_get(root, "tool_results_ref"), "sha256");
	const struct wfs_bytes text = wfs_text_of(written);

	if (wfs_mind_is_absent(written) || !json_object_get(root, "tool_results"))
		return 0;
	return wfs_hash_parse(text.data, text.size, ret_sum, NULL) < 0 ? -EINVAL : 1;
}

static int check_digest(struct normalize *work)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char hex[WFS_HASH_HEX_SIZE + 1];
	struct wfs_hash expected;
	int r = read_digest(work->root, &expected);

	if (r == 0)
		return 0;
	wfs_json_write(json_object_get(work->root, "tool_results"), &text);
	if (wfs_buffer_check(&text))
		return normalize_no_memory(work);
	const struct wfs_hash found = wfs_hash_of(text.data, text.size);
	if (r > 0 && wfs_hash_equal(&expected, &found))
		return 0;
	wfs_hash_hex(&found, hex);
	r = normalize_refuse(work, NORMALIZE_WRONG_DIGEST, NORMALIZE_NO_STEP,
		"'tool_results': its SHA-256 is %s, which is not 'sha256' of 'tool_results_ref'",
		hex);
	return normalize_tell(work, r, "got", json_string(hex));
}

int normalize_check_document(struct normalize *work)
{
	const json_t *const root = work->root;
	const json_t *const results = json_object_get(root, "tool_results");
	int r = check_version(work);

	if (!r && !id_is_valid(wfs_text_of(json_object_get(root, "plan_id"))))
		r = refuse_key(work, "plan_id", "1 to 32 letters, digits, '-' and '_'");
	if (!r && !json_is_string(json_object_get(root, "goal")))
		r = refuse_key(work, "goal", "a text");
	if (!r)
		r = check_time(work, "created_utc");
	if (!r)
		r = check_time(work, "updated_utc");
	if (!r)
		r = check_status(work);
	if (!r)
		r = check_plan(work);
	if (r)
		return r;
	return wfs_mind_is_absent(results) || json_is_array(results)
		? check_digest(work)
		: refuse_key(work, "tool_results", "an array");
}

/* --- results --- */

static json_t *text_or(json_t *value, const char *otherwise)
{
	if (json_is_string(value))
		return json_incref(value);
	return otherwise ? json_string(otherwise) : json_null();
}

static json_t *value_or_null(json_t *value)
{
	return value ? json_incref(value) : json_null();
}

/* Return: the result in the kernel's form. */
static json_t *result_of(const json_t *written)
{
	return json_pack("{s:O, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "_step_id",
		json_object_get(written, "_step_id"), "asked",
		value_or_null(json_object_get(written, "asked")), "details",
		value_or_null(json_object_get(written, "details")), "error",
		text_or(json_object_get(written, "error"), NULL), "method",
		text_or(json_object_get(written, "method"), ""), "name",
		text_or(json_object_get(written, "name"), ""), "ok",
		(int)json_is_true(json_object_get(written, "ok")), "result",
		value_or_null(json_object_get(written, "result")));
}

static int check_result(struct normalize *work, int64_t index, const json_t *result)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!wfs_placeholder_depth_fits(result, WFS_PLACEHOLDER_DEPTH_MAX))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"its result: expected at most %d levels", WFS_PLACEHOLDER_DEPTH_MAX);
	wfs_json_write(json_object_get(result, "result"), &text);
	if (wfs_buffer_check(&text))
		return normalize_no_memory(work);
	if (text.size > WFS_PLAN_RESULT_MAX)
		return normalize_refuse(work, NORMALIZE_TOO_LARGE_STEP, index,
			"its result has %zu bytes, at most %d are taken", text.size,
			WFS_PLAN_RESULT_MAX);
	return 0;
}

/* Keeps the first result of each step that exists. */
static int take_result(struct normalize *work, const json_t *written)
{
	const struct wfs_bytes id = wfs_text_of(json_object_get(written, "_step_id"));
	const json_t *const index = json_object_getn(work->indices, id.data, id.size);

	if (!index || json_object_getn(work->results, id.data, id.size))
		return 0;
	WFS_AUTO_JSON json_t *result = result_of(written);
	int r = result ? check_result(work, json_integer_value(index), result)
		       : normalize_no_memory(work);
	if (!r && json_object_setn(work->results, id.data, id.size, result) < 0)
		r = normalize_no_memory(work);
	return r;
}

static int take_results(struct normalize *work)
{
	const json_t *const written = json_object_get(work->root, "tool_results");
	int r = 0;

	work->results = json_object();
	if (!work->results)
		return normalize_no_memory(work);
	for (size_t i = 0; !r && i < json_array_size(written); i++)
		r = take_result(work, json_array_get(written, i));
	return r;
}

/* --- steps --- */

static const char *const status_names[] = {
	[NORMALIZE_PENDING] = "pending",
	[NORMALIZE_DONE] = "done",
	[NORMALIZE_FAILED] = "failed",
	[NORMALIZE_SKIPPED] = "skipped",
};

static int read_status(struct normalize *work, size_t index, enum normalize_status *ret_status)
{
	const json_t *const written =
		json_object_get(json_array_get(work->written, index), "status");
	const char *const status = json_is_string(written) ? json_string_value(written) : "?";

	*ret_status = NORMALIZE_PENDING;
	if (wfs_mind_is_absent(written) || strcmp(status, "ready") == 0 ||
		strcmp(status, "running") == 0)
		return 0;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(status_names); i++)
		if (strcmp(status, status_names[i]) == 0) {
			*ret_status = (enum normalize_status)i;
			return 0;
		}
	return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
		"'status': expected pending, ready, running, done, failed or skipped, got %s%.60s",
		json_is_string(written) ? "" : wfs_mind_kind(written),
		json_is_string(written) ? status : "");
}

/* Return: the id of a dependency that was not done and will not be, or NULL. */
static const char *failed_dependency(const struct normalize *work, size_t index)
{
	size_t count;
	const uint32_t *const on = wfs_edges_of(&work->graph.on, index, &count);

	for (size_t i = 0; i < count; i++)
		if (work->statuses[on[i]] == NORMALIZE_FAILED ||
			work->statuses[on[i]] == NORMALIZE_SKIPPED)
			return json_string_value(json_array_get(work->ids, on[i]));
	return NULL;
}

/* Keeps a result that agrees with the status.
 * @status: set to pending if the step is done without one */
static void match_result(struct normalize *work, size_t index, enum normalize_status *status)
{
	const json_t *const document = json_array_get(work->documents, index);
	const char *const id = wfs_json_text(document, "id");
	const json_t *const result = json_object_get(work->results, id);
	const bool is_note = strcmp(wfs_json_text(document, "type"), "note") == 0;
	const bool ok = json_is_true(json_object_get(result, "ok"));
	const bool matches = result && !is_note &&
		(ok ? *status == NORMALIZE_DONE : *status == NORMALIZE_FAILED);

	if (!matches)
		(void)json_object_del(work->results, id);
	if (matches || is_note || *status != NORMALIZE_DONE)
		return;
	*status = NORMALIZE_PENDING;
	if (work->lost_count++ == 0)
		work->lost_index = index;
}

static json_int_t attempts_of(const json_t *written)
{
	const json_int_t attempts = json_integer_value(json_object_get(written, "attempts"));

	if (attempts < 0)
		return 0;
	return attempts < WFS_PLAN_ATTEMPTS_MAX ? attempts : WFS_PLAN_ATTEMPTS_MAX;
}

/* @reason: why it was not done; size 0: unknown */
static int set_ended(
	struct normalize *work, size_t index, enum normalize_status status, struct wfs_bytes reason)
{
	const json_t *const written = json_array_get(work->written, index);
	json_t *const document = json_array_get(work->documents, index);
	json_t *const result = json_object_get(work->results, wfs_json_text(document, "id"));
	json_t *const ref = json_object_get(written, "result_ref");
	const struct wfs_bytes fit = wfs_text_fit(reason, WFS_PLAN_REASON_MAX);

	if (json_object_set_new(document, "status", json_string(status_names[status])) < 0 ||
		json_object_set_new(document, "attempts", json_integer(attempts_of(written))) < 0 ||
		(fit.size > 0 &&
			json_object_set_new(document, "reason", normalize_string(fit)) < 0) ||
		(result && json_is_object(ref) && json_object_set(document, "result_ref", ref) < 0))
		return normalize_no_memory(work);
	return 0;
}

static int restore_step(struct normalize *work, size_t index)
{
	const json_t *const written = json_array_get(work->written, index);
	struct wfs_bytes reason = wfs_text_of(json_object_get(written, "reason"));
	enum normalize_status status;
	char text[WFS_PLAN_STEP_ID_MAX + 64];
	int r = read_status(work, index, &status);

	if (r)
		return r;
	match_result(work, index, &status);
	const char *const failed = failed_dependency(work, index);
	if (status == NORMALIZE_PENDING && failed) {
		snprintf(text, sizeof(text), "the step '%s', which it depends on, was not done",
			failed);
		reason = wfs_bytes_text(text);
		status = NORMALIZE_SKIPPED;
	}
	work->statuses[index] = (uint8_t)status;
	return status == NORMALIZE_PENDING ? 0 : set_ended(work, index, status, reason);
}

/* --- the plan --- */

/* The status of a plan that says it has ended, and whose steps have. It follows from the steps. */
static const char *status_of(const struct normalize *work, const struct wfs_plan_made *plan)
{
	const char *const written = wfs_json_text(work->root, "status");
	const size_t total = json_array_size(work->documents);

	if (plan->done + plan->failed + plan->skipped < total || strcmp(written, "running") == 0 ||
		strcmp(written, "cancelled") == 0)
		return NULL;
	if (plan->done == total)
		return "done";
	return plan->done > 0 ? "partial" : "failed";
}

static int restore_plan(struct normalize *work, struct wfs_plan_made *plan)
{
	const json_t *const inner = json_object_get(work->root, "plan");

	plan->restored = true;
	snprintf(plan->plan_id, sizeof(plan->plan_id), "%s", wfs_json_text(work->root, "plan_id"));
	(void)read_time(json_object_get(work->root, "created_utc"), &plan->created_ns);
	for (size_t i = 0; i < json_array_size(work->documents); i++) {
		plan->done += work->statuses[i] == NORMALIZE_DONE;
		plan->failed += work->statuses[i] == NORMALIZE_FAILED;
		plan->skipped += work->statuses[i] == NORMALIZE_SKIPPED;
	}
	plan->status = status_of(work, plan);
	return plan->status ? normalize_text(work, json_object_get(inner, "final"),
				      WFS_PLAN_FINAL_MAX, &plan->final)
			    : 0;
}

static int refuse_lost(struct normalize *work)
{
	const bool one = work->lost_count == 1;
	int r = normalize_refuse(work, NORMALIZE_MISSING_RESULTS, (int64_t)work->lost_index,
		"%zu done %s no %s and would run again: import what 'worldfs plan export' wrote, "
		"or have %s run again with --rerun ('rerun': true)",
		work->lost_count, one ? "step has" : "steps have", one ? "result" : "results",
		one ? "it" : "them");

	return normalize_tell(work, r, "count", json_integer((json_int_t)work->lost_count));
}

int normalize_restore(struct normalize *work, struct wfs_plan_made *plan)
{
	int r = take_results(work);

	for (size_t i = 0; !r && i < work->graph.order_count; i++)
		r = restore_step(work, work->graph.order[i]);
	if (!r && work->lost_count > 0 && !work->origin->reruns)
		r = refuse_lost(work);
	return r ? r : restore_plan(work, plan);
}
