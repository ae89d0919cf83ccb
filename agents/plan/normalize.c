/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan from a text: its form, its order, its parts and its id. */
#include "agents/plan/normalize-impl.h"

#include "agents/plan/placeholder.h"
#include "kernel/base/hash-text.h"
#include "kernel/manifest/entity-name.h"

/* --- refusals --- */

int normalize_no_memory(struct normalize *work)
{
	return wfs_error_from_errno(work->error, -ENOMEM, "normalise a plan");
}

static const struct {
	const char *name;
	enum wfs_error_code code;
} codes[] = {
#define NORMALIZE_ROW(name, code) [NORMALIZE_##name] = {#name, WFS_E_##code},
	NORMALIZE_CODES(NORMALIZE_ROW)
#undef NORMALIZE_ROW
};

int normalize_refuse(
	struct normalize *work, enum normalize_code code, int64_t index, const char *format, ...)
{
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};
	const bool has_step = index != NORMALIZE_NO_STEP;
	const json_t *const id = has_step ? json_array_get(work->ids, (size_t)index) : NULL;
	va_list arguments;

	if (json_is_string(id))
		wfs_buffer_printf(&message, "step '%s': ", json_string_value(id));
	else if (has_step)
		wfs_buffer_printf(&message, "%s[%lld]: ", work->list, (long long)index);
	va_start(arguments, format);
	wfs_buffer_vprintf(&message, format, arguments);
	va_end(arguments);
	json_decref(work->details);
	work->details = has_step
		? json_pack("{s:s, s:I, s:O*}", "code", codes[code].name, "index",
			  (json_int_t)index, "step", json_is_string(id) ? id : NULL)
		: json_pack("{s:s}", "code", codes[code].name);
	if (!work->details || wfs_buffer_check(&message))
		return normalize_no_memory(work);
	return wfs_error_set(work->error, codes[code].code, "%s", wfs_buffer_text(&message));
}

int normalize_tell(struct normalize *work, int r, const char *name, json_t *value)
{
	if (r == -ENOMEM) {
		json_decref(value);
		return r;
	}
	return json_object_set_new(work->details, name, value) < 0 ? normalize_no_memory(work) : r;
}

json_t *normalize_string(struct wfs_bytes text)
{
	return json_stringn(text.data, text.size);
}

/* --- the text --- */

static int parse(struct normalize *work, const char *text, size_t size)
{
	work->value_count = wfs_json_count(text, size);
	if (work->value_count > WFS_PLAN_VALUES_MAX) {
		int r = normalize_refuse(work, NORMALIZE_TOO_MANY_VALUES, NORMALIZE_NO_STEP,
			"the plan has %zu values of JSON, at most %d are taken", work->value_count,
			WFS_PLAN_VALUES_MAX);

		r = normalize_tell(work, r, "max", json_integer(WFS_PLAN_VALUES_MAX));
		return normalize_tell(work, r, "got", json_integer((json_int_t)work->value_count));
	}
	struct wfs_error error = {0};
	int r = wfs_json_parse_counted(text, size, &work->root, &error);
	if (r == -ENOMEM)
		return normalize_no_memory(work);
	return r ? normalize_refuse(
			   work, NORMALIZE_INVALID_JSON, NORMALIZE_NO_STEP, "%s", error.message)
		 : 0;
}

/* --- forms --- */

static int refuse_format(struct normalize *work)
{
	const char *const kind = wfs_mind_kind(work->root);
	const char *const space = strchr(kind, ' ');
	int r = normalize_refuse(work, NORMALIZE_UNSUPPORTED_PLAN_FORMAT, NORMALIZE_NO_STEP,
		"expected an object with 'steps' or 'tool_calls', got %s%s", kind,
		json_is_object(work->root) ? " without them" : "");

	return normalize_tell(work, r, "type", json_string(space ? space + 1 : kind));
}

static int take_list(struct normalize *work, const char *list, const json_t *written)
{
	const size_t count = json_array_size(written);

	work->list = list;
	if (!json_is_array(written))
		return normalize_refuse(work, NORMALIZE_INVALID_STEPS, NORMALIZE_NO_STEP,
			"'%s': expected an array of steps, got %s", list, wfs_mind_kind(written));
	work->written = json_incref((json_t *)written);
	if (count <= WFS_PLAN_STEPS_MAX)
		return 0;
	int r = normalize_refuse(work, NORMALIZE_TOO_MANY_STEPS, NORMALIZE_NO_STEP,
		"'%s': expected at most %d, got %zu", list, WFS_PLAN_STEPS_MAX, count);
	r = normalize_tell(work, r, "max", json_integer(WFS_PLAN_STEPS_MAX));
	return normalize_tell(work, r, "got", json_integer((json_int_t)count));
}

static bool is_empty(const json_t *value)
{
	return wfs_mind_is_absent(value) || (json_is_array(value) && json_array_size(value) == 0);
}

/* Reads a plan that has not begun. `steps` win over `tool_calls`. */
static int take_form(struct normalize *work)
{
	const json_t *const steps = json_object_get(work->root, "steps");
	const json_t *const calls = json_object_get(work->root, "tool_calls");

	work->is_calls = !wfs_mind_is_absent(calls) &&
		(wfs_mind_is_absent(steps) || (is_empty(steps) && !is_empty(calls)));
	if (work->is_calls)
		return take_list(work, "tool_calls", calls);
	return wfs_mind_is_absent(steps) ? refuse_format(work) : take_list(work, "steps", steps);
}

static json_t *plan_of(const struct normalize *work)
{
	return json_object_get(work->root, "plan");
}

static int choose_form(struct normalize *work)
{
	if (!json_is_object(work->root))
		return refuse_format(work);
	if (!work->is_document)
		return take_form(work);
	int r = normalize_check_document(work);
	return r ? r : take_list(work, "plan.steps", json_object_get(plan_of(work), "steps"));
}

int normalize_text(struct normalize *work, const json_t *written, size_t max, json_t **ret_text)
{
	const struct wfs_bytes text = wfs_text_fit(wfs_text_of(written), max);

	if (text.size == 0)
		return 0;
	*ret_text = normalize_string(text);
	return *ret_text ? 0 : normalize_no_memory(work);
}

/* Reads the members of the plan besides its steps. */
static int take_head(struct normalize *work, struct wfs_plan_made *plan)
{
	const char *const origin = work->origin->goal;
	struct wfs_bytes goal =
		wfs_text_fit(wfs_text_of(json_object_get(work->root, "goal")), WFS_PLAN_GOAL_MAX);
	const json_t *const draft = work->is_document ? json_object_get(plan_of(work), "draft")
						      : json_object_get(work->root, "final");

	if (goal.size == 0 && origin)
		goal = wfs_text_fit(wfs_bytes_text(origin), WFS_PLAN_GOAL_MAX);
	plan->in_order = work->is_document
		? json_is_true(json_object_get(plan_of(work), "in_order"))
		: work->is_calls;
	int r = normalize_text(work, draft, WFS_PLAN_DRAFT_MAX, &plan->draft);
	if (r)
		return r;
	plan->goal = normalize_string(goal);
	return plan->goal ? 0 : normalize_no_memory(work);
}

/* --- the order --- */

/* Reports `a -> b -> a`, or the beginning of a long cycle. */
static int refuse_cycle(struct normalize *work)
{
	const struct wfs_graph *const graph = &work->graph;
	const size_t count = graph->order_count;
	const size_t shown = count < WFS_PLAN_CYCLE_SHOWN_MAX ? count : WFS_PLAN_CYCLE_SHOWN_MAX;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *cycle = json_array();

	for (size_t i = 0; i <= shown; i++) {
		json_t *const id = json_array_get(work->ids, graph->order[i < shown ? i : 0]);

		if (i == shown && shown < count)
			wfs_buffer_append_text(&text, " -> …");
		wfs_buffer_printf(&text, "%s%s", i > 0 ? " -> " : "", json_string_value(id));
		if (json_array_append(cycle, id) < 0)
			return normalize_no_memory(work);
	}
	int r = normalize_refuse(work, NORMALIZE_CYCLE, graph->order[0],
		"steps depend on one another: %s", wfs_buffer_text(&text));
	if (wfs_buffer_check(&text))
		return normalize_no_memory(work);
	r = normalize_tell(work, r, "length", json_integer((json_int_t)count));
	return normalize_tell(work, r, "cycle", WFS_STEAL(cycle));
}

static int sort(struct normalize *work)
{
	const int r = wfs_graph_sort(&work->graph);

	if (r == -ELOOP)
		return refuse_cycle(work);
	return r ? normalize_no_memory(work) : 0;
}

/* --- parts --- */

/* Finds the steps that wait for a step, or will if they run again. @ret_next: NULL: none */
static int next_of(struct normalize *work, size_t index, json_t **ret_next)
{
	WFS_AUTO_JSON json_t *next = json_array();
	size_t count;
	const uint32_t *const steps = wfs_edges_of(&work->graph.next, index, &count);
	int r = next ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++)
		if (work->statuses[steps[i]] != NORMALIZE_DONE)
			r = json_array_append_new(next, json_integer(steps[i]));
	if (r)
		return normalize_no_memory(work);
	if (json_array_size(next) > 0)
		*ret_next = WFS_STEAL(next);
	return 0;
}

/* Finds the steps named by placeholders. @ret_refs: NULL: none */
static int refs_of(struct normalize *work, const json_t *document, json_t **ret_refs)
{
	const json_t *const args = json_object_get(json_object_get(document, "tool"), "args");
	WFS_AUTO_JSON json_t *refs = json_object();
	int r = refs ? 0 : -ENOMEM;

	if (!r && args)
		r = wfs_placeholder_refs(args, work->indices, refs);
	if (!r)
		r = wfs_placeholder_refs(json_object_get(document, "prompt"), work->indices, refs);
	if (r)
		return normalize_no_memory(work);
	if (json_object_size(refs) > 0)
		*ret_refs = WFS_STEAL(refs);
	return 0;
}

/* A failed or skipped step may run again: then it waits for those that are pending now. */
static json_int_t waiting_of(const struct normalize *work, size_t index)
{
	size_t count;
	const uint32_t *const on = wfs_edges_of(&work->graph.on, index, &count);
	json_int_t waiting = 0;

	if (work->statuses[index] == NORMALIZE_DONE)
		return -1;
	for (size_t i = 0; i < count; i++)
		waiting += work->statuses[on[i]] == NORMALIZE_PENDING;
	return work->statuses[index] == NORMALIZE_PENDING ? waiting : -1 - waiting;
}

static int make_part(struct normalize *work, size_t index, json_t **ret_part)
{
	json_t *const document = json_array_get(work->documents, index);
	const char *const id = wfs_json_text(document, "id");
	WFS_AUTO_JSON json_t *next = NULL;
	WFS_AUTO_JSON json_t *refs = NULL;
	int r = next_of(work, index, &next);

	if (!r)
		r = refs_of(work, document, &refs);
	if (r)
		return r;
	*ret_part = json_pack("{s:O*, s:O*, s:O*, s:O, s:I}", "next", next, "refs", refs, "result",
		json_object_get(work->results, id), "step", document, "waiting",
		waiting_of(work, index));
	return *ret_part ? 0 : normalize_no_memory(work);
}

static int measure(struct normalize *work, size_t index, const json_t *part,
	struct wfs_buffer *scratch, struct wfs_plan_size *ret_size)
{
	wfs_buffer_reset(scratch);
	wfs_json_write(part, scratch);
	if (wfs_buffer_check(scratch))
		return normalize_no_memory(work);
	const size_t values = wfs_json_count(scratch->data, scratch->size);
	if (scratch->size > WFS_PLAN_STEP_SIZE_MAX || values > WFS_PLAN_STEP_VALUES_MAX)
		return normalize_refuse(work, NORMALIZE_TOO_LARGE_STEP, (int64_t)index,
			"it has %zu bytes and %zu values of JSON, at most %d and %d are taken",
			scratch->size, values, WFS_PLAN_STEP_SIZE_MAX, WFS_PLAN_STEP_VALUES_MAX);
	*ret_size = (struct wfs_plan_size){(uint32_t)scratch->size, (uint32_t)values};
	return 0;
}

static int make_parts(struct normalize *work, struct wfs_plan_made *plan)
{
	const size_t count = json_array_size(work->documents);
	WFS_AUTO_BUFFER struct wfs_buffer scratch = {0};
	int r = 0;

	plan->parts = json_array();
	plan->sizes = calloc(count + 1, sizeof(*plan->sizes));
	if (!plan->parts || !plan->sizes)
		return normalize_no_memory(work);
	for (size_t i = 0; !r && i < count; i++) {
		json_t *part = NULL;

		r = make_part(work, i, &part);
		if (!r && json_array_append_new(plan->parts, part) < 0)
			r = normalize_no_memory(work);
		if (!r)
			r = measure(work, i, part, &scratch, &plan->sizes[i]);
	}
	return r;
}

/* --- the id --- */

static void add(struct wfs_hasher *hasher, struct wfs_buffer *text)
{
	wfs_hasher_add(hasher, text->data, text->size);
	wfs_buffer_reset(text);
}

static void make_id(const struct wfs_hash *hash, char ret_id[static WFS_PLAN_ID_SIZE + 1])
{
	snprintf(ret_id, WFS_PLAN_ID_SIZE + 1, "%.*s", WFS_PLAN_ID_SIZE, WFS_HASH_HEX(hash));
}

/* Hashes {chat_id, goal, steps} as canonical JSON, one step at a time. */
static int identify(struct normalize *work, struct wfs_plan_made *plan)
{
	const char *const chat_id = work->origin->chat_id;
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	bool failed = wfs_hasher_new(&hasher) < 0;
	size_t i;
	const json_t *document;

	wfs_buffer_append_text(&text, "{\"chat_id\":");
	wfs_json_write_string(&text, chat_id, strlen(chat_id));
	wfs_buffer_append_text(&text, ",\"goal\":");
	wfs_json_write(plan->goal, &text);
	wfs_buffer_append_text(&text, ",\"steps\":[");
	json_array_foreach(work->documents, i, document) {
		if (i > 0)
			wfs_buffer_append_byte(&text, ',');
		wfs_json_write(document, &text);
		failed |= text.failed;
		if (!failed)
			add(hasher, &text);
	}
	wfs_buffer_append_text(&text, "]}");
	if (failed || text.failed)
		return normalize_no_memory(work);
	add(hasher, &text);
	const struct wfs_hash hash = wfs_hasher_end(hasher);
	make_id(&hash, plan->plan_id);
	return 0;
}

void wfs_plan_failed_id(const struct wfs_plan_origin *origin, const char *text, size_t size,
	char ret_id[static WFS_PLAN_ID_SIZE + 1])
{
	char names[2 * WFS_HASH_TEXT_SIZE];
	char hashes[2][WFS_HASH_TEXT_SIZE];
	const struct wfs_hash chat = wfs_hash_of(origin->chat_id, strlen(origin->chat_id));
	const struct wfs_hash source = wfs_hash_of(text, size);

	wfs_hash_text(&chat, hashes[0]);
	wfs_hash_text(&source, hashes[1]);
	const int names_size = snprintf(names, sizeof(names), "%s\n%s", hashes[0], hashes[1]);
	const struct wfs_hash hash = wfs_hash_of(names, (size_t)names_size);
	make_id(&hash, ret_id);
}

/* --- normalising --- */

static void normalize_done(struct normalize *work)
{
	json_decref(work->root);
	json_decref(work->written);
	json_decref(work->ids);
	json_decref(work->indices);
	json_decref(work->documents);
	json_decref(work->results);
	free(work->statuses);
	wfs_graph_done(&work->graph);
}

void wfs_plan_made_done(struct wfs_plan_made *plan)
{
	json_decref(plan->goal);
	json_decref(plan->draft);
	json_decref(plan->final);
	json_decref(plan->parts);
	free(plan->sizes);
	*plan = (struct wfs_plan_made){0};
}

static int make(struct normalize *work, struct wfs_plan_made *plan)
{
	work->is_document = work->origin->imported && normalize_is_document(work->root);
	int r = choose_form(work);

	if (r)
		return r;
	work->statuses = calloc(json_array_size(work->written) + 1, sizeof(*work->statuses));
	if (!work->statuses || wfs_graph_init(&work->graph, json_array_size(work->written)) < 0)
		return normalize_no_memory(work);
	r = take_head(work, plan);
	if (!r)
		r = normalize_ids(work);
	if (!r)
		r = normalize_steps(work);
	if (!r)
		r = sort(work);
	if (!r)
		r = work->is_document ? normalize_restore(work, plan) : identify(work, plan);
	return r ? r : make_parts(work, plan);
}

int wfs_plan_normalize(const struct wfs_plan_origin *origin, const char *text, size_t size,
	struct wfs_plan_made *ret_plan, struct wfs_error *error, json_t **ret_details)
{
	struct normalize work = {.origin = origin, .error = error};
	WFS_AUTO_PLAN_MADE struct wfs_plan_made plan = {0};
	int r = parse(&work, text, size);

	if (!r)
		r = make(&work, &plan);
	normalize_done(&work);
	if (r && r != -ENOMEM) {
		*ret_details = work.details;
		return wfs_trace(r);
	}
	json_decref(work.details);
	if (r)
		return wfs_trace(r);
	*ret_plan = plan;
	plan = (struct wfs_plan_made){0};
	return 0;
}
