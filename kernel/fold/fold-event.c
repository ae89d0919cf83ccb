/* SPDX-License-Identifier: Apache-2.0 */
/* Folding an event: the steps of the reducers that it is routed to, and the events that they emit;
 * and running such steps ahead. */
#include <endian.h>

#include "kernel/base/json.h"
#include "kernel/fold/fold-work.h"
#include "kernel/fold/key.h"

enum { AHEAD_PAUSE = 64 }; /* calls of wfs_fold_ahead() that do nothing after useless ones */

/* --- derived events --- */

/* Checks that the event is well-formed, and that the reducer may emit it. */
static int check_derived(const struct wfs_manifest *manifest,
	const struct wfs_reducer_definition *reducer, const json_t *event, struct wfs_error *error)
{
	static const char *const members[] = {"schema", "value", "key", NULL};
	const json_t *value = json_object_get(event, "value");
	const char *schema;

	if (!json_is_object(event) || !value)
		return wfs_error_set(
			error, WFS_E_RUNTIME_ERROR, "expected an object {schema, value, key?}");
	int r = wfs_json_only(event, members, error);
	if (!r)
		r = wfs_json_get_string(event, "schema", &schema, error);
	if (r)
		return r;
	if (!wfs_manifest_emits(reducer, schema))
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"its definition does not declare '%s' in emits", schema);
	return wfs_schema_check(wfs_manifest_schema(manifest, schema), value, error);
}

int fold_add_record(struct wfs_fold *fold, enum wfs_record_kind kind, size_t cause, json_t *derived,
	struct wfs_error *error)
{
	if (fold->records.count > WFS_DERIVED_COUNT_MAX)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"the event caused more than %d others", WFS_DERIVED_COUNT_MAX);
	if (wfs_buffer_check(&fold->scratch))
		return fold_no_memory(error);
	fold->value_count += wfs_json_count(fold->scratch.data, fold->scratch.size);
	if (fold->value_count > WFS_JSON_VALUES_MAX)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"the events that the event causes have more than %d values of JSON",
			WFS_JSON_VALUES_MAX);
	struct fold_record *record = fold_array_add(&fold->records, sizeof(*record));
	if (!record)
		return fold_no_memory(error);
	record->kind = kind;
	record->derived = json_incref(derived);
	record->schema = json_string_value(json_object_get(derived, "schema"));
	record->cause = cause;
	return wfs_trace(
		fold_add_text(fold, wfs_buffer_bytes(&fold->scratch), &record->body, error));
}

static int queue_derived(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	size_t cause, json_t *event, struct wfs_error *error)
{
	struct wfs_error reason = {0};

	if (check_derived(fold->manifest, reducer, event, &reason))
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"reducer '%s' emitted an event that is refused: %.400s", reducer->name,
			reason.message);
	const struct wfs_body_event body = {.due_ns = -1,
		.schema = wfs_json_text(event, "schema"),
		.value = json_object_get(event, "value")};
	wfs_buffer_reset(&fold->scratch);
	wfs_body_write_event(&fold->scratch, &body);
	return wfs_trace(fold_add_record(fold, WFS_RECORD_EVENT, cause, event, error));
}

static int queue_all_derived(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	size_t record, struct wfs_error *error)
{
	size_t i;
	json_t *event;

	json_array_foreach(fold->result.events, i, event) {
		int r = queue_derived(fold, reducer, record, event, error);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* --- one record --- */

static int code_of(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	struct wfs_code **ret_code, struct wfs_error *error)
{
	const struct wfs_runtime_place place = {fold->head->store, fold->head->txn, fold->box};

	return wfs_trace(wfs_runtime_reducer(fold->runtime, &place, reducer, ret_code, error));
}

/* The arguments of the next step, borrowed until the fold changes. @record: counts from the
 * height */
static struct wfs_code_step step_of(struct wfs_fold *fold, const struct fold_cell *cell,
	const char *schema, const json_t *value, size_t record)
{
	struct wfs_code_step step = {
		.state = cell->live ? fold_bytes(fold, cell->state) : WFS_BYTES(NULL, 0),
		.event = value,
		.key = fold_bytes(fold, cell->key),
		.reducer = fold_reducer_of(fold, cell)->name,
		.schema = schema,
		.principal = fold->input.principal,
		.seq = fold->head->height + record,
		.at_ns = fold->input.at_ns,
		.budget = &fold->budget,
	};

	/* No other step of the world has this seed. */
	const uint64_t place[] = {htobe64(step.seq), htobe64(fold->steps++)};
	uint8_t bytes[sizeof(place)];
	memcpy(bytes, place, sizeof(bytes));
	memcpy(step.seed, fold->entropy, WFS_ENTROPY_SIZE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		step.seed[i] ^= bytes[i];
	return step;
}

int fold_run_step(struct wfs_fold *fold, size_t record, size_t cell_index, const json_t *value,
	struct wfs_error *error)
{
	struct fold_cell *cell = fold_cell_at(fold, cell_index);
	const struct wfs_reducer_definition *reducer = fold_reducer_of(fold, cell);
	struct wfs_code *code = NULL;
	int r = code_of(fold, reducer, &code, error);

	if (r)
		return wfs_trace(r);
	struct wfs_code_step in =
		step_of(fold, cell, fold_record_at(fold, record)->schema, value, record);
	r = wfs_code_step(code, &in, &fold->result, error);
	if (r)
		return wfs_trace(r);
	r = fold->result.deleted
		? fold_delete(fold, cell_index, error)
		: fold_set(fold, cell_index, wfs_buffer_bytes(&fold->result.state), error);
	if (r)
		return wfs_trace(r);
	r = queue_all_derived(fold, reducer, record, error);
	return wfs_trace(r ? r : fold_ask_all(fold, cell_index, error));
}

static int key_for_route(struct wfs_fold *fold, const struct wfs_route *route, const json_t *value,
	const json_t *own_key, struct wfs_error *error)
{
	wfs_buffer_reset(&fold->scratch);
	if (!route->key_field)
		return 0;
	int r = wfs_key_from_event(value, route->key_field, &fold->scratch, error);
	if (r || !own_key)
		return r;
	size_t size = fold->scratch.size;
	r = wfs_key_append(own_key, &fold->scratch, error);
	if (r)
		return r;
	bool same = fold->scratch.size == 2 * size &&
		(size == 0 || memcmp(fold->scratch.data, fold->scratch.data + size, size) == 0);
	fold->scratch.size = size;
	if (same)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"the event's key does not equal its member '%s', which routing takes the key from",
		route->key_field);
}

int fold_event(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	const struct fold_record *record = fold_record_at(fold, index);
	const json_t *derived = record->derived;
	const json_t *value = derived ? json_object_get(derived, "value") : fold->input.value;
	const json_t *own_key = derived ? json_object_get(derived, "key") : fold->input.key;
	size_t count;
	const struct wfs_route *routes =
		wfs_manifest_routes(fold->manifest, record->schema, &count);

	for (size_t i = 0; i < count; i++) {
		size_t cell = 0;
		int r = key_for_route(fold, &routes[i], value, own_key, error);

		if (!r)
			r = fold_touch(fold, routes[i].reducer->index,
				wfs_buffer_bytes(&fold->scratch), &cell, error);
		if (!r)
			r = fold_run_step(fold, index, cell, value, error);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* --- steps ahead --- */

/* Adds the step that @input will probably cause, if it is a single one, @record records from now.
 * @steps_of: by cell, the place of the last step on it, or -1 */
static int add_ahead(struct wfs_fold *fold, const struct wfs_fold_input *input, size_t record,
	int steps_of[static WFS_CODE_AHEAD_MAX], int *count)
{
	size_t route_count;
	const struct wfs_route *const routes =
		wfs_manifest_routes(fold->manifest, input->schema, &route_count);
	const struct wfs_body_event body = {.dedup = input->dedup,
		.due_ns = -1,
		.grant = input->charge,
		.schema = input->schema,
		.value = json_null()};
	struct wfs_code *code = NULL;
	size_t cell;

	if (route_count != 1 || routes[0].reducer->builtin)
		return 0;
	fold->input = *input;
	fold->steps = 0;
	fold_refresh_budget(fold);
	wfs_buffer_reset(&fold->scratch);
	wfs_body_write_event(&fold->scratch, &body);
	const size_t start = fold->scratch.size - strlen("null}");
	int r = wfs_buffer_check(&fold->scratch);
	if (r || start >= input->body.size)
		return -EINVAL;
	/* The rest of the body is the value and a brace. */
	const struct wfs_bytes text =
		WFS_BYTES((const char *)input->body.data + start, input->body.size - start - 1);
	r = key_for_route(fold, &routes[0], input->value, input->key, NULL);
	if (!r)
		r = fold_touch(fold, routes[0].reducer->index, wfs_buffer_bytes(&fold->scratch),
			&cell, NULL);
	if (!r)
		r = code_of(fold, routes[0].reducer, &code, NULL);
	if (r)
		return 0; /* folding the request will report the error */
	const struct wfs_code_step step =
		step_of(fold, fold_cell_at(fold, cell), input->schema, input->value, record);
	r = wfs_code_ahead_add(code, &step, text, steps_of[cell]);
	if (!r)
		steps_of[cell] = (*count)++;
	return r;
}

/* Forgets the steps that were sent ahead last. If most of them were of no use, the guess is wrong
 * for these events, and no steps are sent for some time. */
static void end_ahead(struct wfs_fold *fold)
{
	if (fold->ahead_count > 2 * wfs_code_ahead_taken(fold->box))
		fold->ahead_pause = AHEAD_PAUSE;
	fold->ahead_count = 0;
	fold->seen.count = 0;
	fold_trim(&fold->seen_text);
	wfs_code_ahead_begin(fold->box);
}

uint64_t wfs_fold_ahead(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *inputs, size_t input_count)
{
	int steps_of[WFS_CODE_AHEAD_MAX];
	int count = 0;
	int r = 0;

	wfs_require(input_count <= WFS_CODE_AHEAD_MAX);
	end_ahead(fold);
	if (input_count < 2 || fold->ahead_pause > 0) {
		fold->ahead_pause -= fold->ahead_pause > 0;
		return 0;
	}
	wfs_fold_clear(fold);
	fold->head = head;
	fold->runtime = runtime;
	fold->manifest = wfs_runtime_manifest(runtime);
	for (size_t i = 0; i < input_count; i++)
		steps_of[i] = -1;
	for (size_t i = 0; !r && i < input_count; i++)
		r = add_ahead(fold, &inputs[i], i, steps_of, &count);
	if (r == -EFBIG)
		r = 0; /* the steps that fit are sent */
	if (r)
		wfs_code_ahead_begin(fold->box);
	else
		wfs_code_ahead_run(fold->box);
	fold->ahead_count = r ? 0 : (size_t)count;
	fold_see(fold);
	wfs_fold_clear(fold);
	return wfs_code_ahead_work(fold->box);
}
