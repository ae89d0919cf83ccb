/* SPDX-License-Identifier: Apache-2.0 */
/* Folding one request and what it causes. */
#include <endian.h>

#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/fold/fold-work.h"
#include "kernel/fold/intent.h"
#include "kernel/fold/key.h"

enum {
	KEPT_BYTES = 4 << 20, /* of memory that is kept from one run to the next */
	AHEAD_PAUSE = 64,     /* calls of wfs_fold_ahead() that do nothing after useless ones */
};

int wfs_fold_new(
	const uint8_t *entropy, const struct wfs_domain *const *domains, struct wfs_fold **ret_fold)
{
	WFS_AUTO_FOLD struct wfs_fold *fold = calloc(1, sizeof(*fold));
	size_t count = 0;

	while (domains[count])
		count++;
	if (!fold || !(fold->kept = calloc(count + 1, sizeof(*fold->kept))))
		return -ENOMEM;
	fold->domains = domains;
	for (size_t i = 0; i < count; i++)
		if (!(fold->kept[i] = calloc(1, domains[i]->kept_size + 1)))
			return -ENOMEM;
	memcpy(fold->entropy, entropy, sizeof(fold->entropy));
	if (wfs_box_new(&fold->box) < 0)
		return -ENOMEM;
	*ret_fold = WFS_STEAL(fold);
	return 0;
}

static void trim(struct wfs_buffer *buffer)
{
	wfs_buffer_reset(buffer);
	wfs_buffer_trim(buffer, KEPT_BYTES);
}

void wfs_fold_clear(struct wfs_fold *fold)
{
	for (size_t i = 0; i < fold->records.count; i++)
		json_decref(fold_record_at(fold, i)->derived);
	fold_asks_clear(fold);
	fold->records.count = 0;
	fold_forget_cells(fold, 0);
	fold->changes.count = 0;
	fold->applied_count = 0;
	fold->steps = 0;
	fold->value_count = 0;
	fold->undos.count = 0;
	fold->mark_count = 0;
	for (const struct wfs_domain *const *domain = fold->domains; domain && *domain; domain++)
		if ((*domain)->clear)
			(*domain)->clear(fold);
	json_decref(fold->outcome.details);
	json_decref(fold->outcome.answer);
	json_decref(fold->outcome.action);
	json_decref(fold->outcome.result);
	json_decref(fold->outcome.wanted);
	json_decref(fold->outcome.of);
	json_decref(fold->outcome.said_of);
	wfs_texts_done(&fold->texts);
	fold->outcome = (struct fold_outcome){.unrecorded = false};
	trim(&fold->text);
	trim(&fold->scratch);
	trim(&fold->result.state);
	json_decref(WFS_STEAL(fold->result.events));
	json_decref(WFS_STEAL(fold->result.effects));
}

uint64_t wfs_fold_work(const struct wfs_fold *fold)
{
	return fold->budget.used;
}

size_t wfs_fold_bytes(const struct wfs_fold *fold)
{
	return fold->text.size;
}

void wfs_fold_set_quarantine(struct wfs_fold *fold, struct wfs_quarantine *quarantine)
{
	wfs_box_quarantine(fold->box, quarantine);
}

static void free_kept(struct wfs_fold *fold)
{
	for (size_t i = 0; fold->domains && fold->domains[i]; i++) {
		if (fold->kept[i] && fold->domains[i]->done)
			fold->domains[i]->done(fold->kept[i]);
		free(fold->kept[i]);
	}
	free(fold->kept);
}

void wfs_fold_free(struct wfs_fold *fold)
{
	if (!fold)
		return;
	wfs_fold_clear(fold);
	free(fold->records.items);
	free(fold->cells.items);
	free(fold->seen.items);
	free(fold->slots);
	free(fold->changes.items);
	free(fold->undos.items);
	free(fold->asks.items);
	wfs_buffer_done(&fold->text);
	wfs_buffer_done(&fold->seen_text);
	wfs_buffer_done(&fold->scratch);
	wfs_code_result_done(&fold->result);
	free_kept(fold); /* domains may keep code, which must be freed before the box */
	wfs_box_free(fold->box);
	free(fold);
}

/* Appends the body of an event up to its value. */
static void write_body_start(struct wfs_buffer *buffer, const char *charge, const char *schema)
{
	wfs_record_open_body(buffer, charge);
	wfs_buffer_append_text(buffer, "\"schema\":");
	wfs_json_write_string(buffer, schema, strlen(schema));
	wfs_buffer_append_text(buffer, ",\"value\":");
}

void wfs_fold_write_body(
	struct wfs_buffer *buffer, const char *charge, const char *schema, const json_t *value)
{
	write_body_start(buffer, charge, schema);
	wfs_json_write(value, buffer);
	wfs_buffer_append_byte(buffer, '}');
}

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

int fold_add_record(struct wfs_fold *fold, size_t cause, json_t *derived,
	struct fold_record **ret_record, struct wfs_error *error)
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
	record->kind = WFS_RECORD_EVENT;
	record->derived = json_incref(derived);
	record->schema = json_string_value(json_object_get(derived, "schema"));
	record->cause = cause;
	*ret_record = record;
	return wfs_trace(
		fold_add_text(fold, wfs_buffer_bytes(&fold->scratch), &record->body, error));
}

static int queue_derived(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	size_t cause, json_t *event, struct wfs_error *error)
{
	struct fold_record *record = NULL;
	struct wfs_error reason = {0};

	if (check_derived(fold->manifest, reducer, event, &reason))
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"reducer '%s' emitted an event that is refused: %.400s", reducer->name,
			reason.message);
	wfs_buffer_reset(&fold->scratch);
	wfs_fold_write_body(&fold->scratch, NULL,
		json_string_value(json_object_get(event, "schema")),
		json_object_get(event, "value"));
	return wfs_trace(fold_add_record(fold, cause, event, &record, error));
}

static int queue_all_derived(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	size_t record, struct wfs_error *error)
{
	size_t i;
	json_t *event;

	json_array_foreach(fold->result.events, i, event)
	{
		int r = queue_derived(fold, reducer, record, event, error);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* --- one record --- */

/* The random seed of a step, which no other step of the world has. */
static void seed_of(struct wfs_fold *fold, uint64_t seq, uint8_t ret_seed[static WFS_ENTROPY_SIZE])
{
	const uint64_t place[] = {htobe64(seq), htobe64(fold->steps++)};
	uint8_t bytes[sizeof(place)];

	memcpy(bytes, place, sizeof(bytes));
	memcpy(ret_seed, fold->entropy, WFS_ENTROPY_SIZE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		ret_seed[i] ^= bytes[i];
}

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

	seed_of(fold, step.seq, step.seed);
	return step;
}

static int step(struct wfs_fold *fold, size_t record, size_t cell_index, const json_t *value,
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

static int fold_event(struct wfs_fold *fold, size_t index, struct wfs_error *error)
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
			r = step(fold, index, cell, value, error);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* A failure is recorded if the action itself is the cause, or if code ended its process, because
 * this code must not run again. Failures of the host are not recorded. */
static bool is_refusal(const struct wfs_error *error)
{
	if (error->code == WFS_E_CODE_CRASHED)
		return true;
	return error->code != WFS_OK &&
		strcmp(wfs_error_info(error->code)->category, "system") != 0;
}

/* Does the action. Its form was checked when it was sent, but perhaps by another manifest. */
static int do_action(struct wfs_fold *fold, struct wfs_error *error)
{
	const json_t *const action = fold->input.action;
	const struct wfs_action_type *const type =
		wfs_domain_action(fold->domains, wfs_json_text(action, "action_type"));

	if (type && type->fold_whole)
		return wfs_trace(type->fold_whole(fold, error));
	int r = wfs_domain_check(fold->domains, fold->manifest, action, error);
	if (!r && type)
		r = type->fold(fold, action, &fold->outcome.answer, error);
	if (!fold->outcome.result)
		fold->outcome.result = json_incref(fold->outcome.answer);
	else if (!r && json_object_update(fold->outcome.result, fold->outcome.answer) < 0)
		return fold_no_memory(error);
	return wfs_trace(r);
}

/* Puts the duration into the result. It is known already of an action from a journal, and of code
 * that ran, whose cell has the same duration. */
static int keep_duration(struct wfs_fold *fold, int64_t began_ns, struct wfs_error *error)
{
	const struct wfs_action_recorded *const recorded = fold->input.recorded;
	const json_t *const known =
		recorded ? json_object_get(recorded->result, "duration_ms") : NULL;
	const int64_t took_ms = (wfs_clock_monotonic_ns() - began_ns) / 1000000;

	if (!fold->outcome.result)
		fold->outcome.result = json_object();
	if (json_object_get(fold->outcome.result, "duration_ms"))
		return 0;
	return json_object_set_new(fold->outcome.result, "duration_ms",
		       json_integer(known ? json_integer_value(known) : took_ms)) < 0
		? fold_no_memory(error)
		: 0;
}

/* Takes the outcome of an action that is not done again from its record. */
static int believe(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	const json_t *const recorded = fold->input.recorded->result;
	const char *const code = json_string_value(json_object_get(recorded, "error_code"));

	fold->outcome.action = json_incref((json_t *)fold->input.action);
	fold->outcome.result = wfs_json_copy(recorded);
	if (code)
		(void)wfs_error_set(ret_failure, wfs_error_find(code), "refused, as it was before");
	return fold->outcome.result ? 0 : fold_no_memory(error);
}

/* Does an action that is a tool call. The call is answered, also if the action is refused. */
static int act_called(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	const int64_t began_ns = wfs_clock_monotonic_ns();
	int r = intent_check_called(fold, fold->input.intent_id, error);

	if (r)
		return wfs_trace(r);
	r = fold->input.unacted ? believe(fold, ret_failure, error) : do_action(fold, ret_failure);
	if (r && !is_refusal(ret_failure)) {
		*error = *ret_failure;
		return wfs_trace(r);
	}
	fold->outcome.refusal = *ret_failure;
	r = keep_duration(fold, began_ns, error);
	return wfs_trace(r ? r : intent_fold_called(fold, fold->input.intent_id, error));
}

/* @ret_failure: why it was refused */
static int act(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	int r;

	if (fold->input.intent_id)
		return wfs_trace(act_called(fold, ret_failure, error));
	r = do_action(fold, ret_failure);
	if (!r || is_refusal(ret_failure))
		return 0;
	*error = *ret_failure;
	return wfs_trace(r);
}

/* The `result` of the record: `ok`, `error_code` if it was refused, and outcome->result.
 * Return: a new reference, or NULL without memory. */
static json_t *result_document(const struct fold_outcome *outcome)
{
	const bool done = outcome->refusal.code == WFS_OK;
	WFS_AUTO_JSON json_t *result =
		outcome->result ? wfs_json_copy(outcome->result) : json_object();

	if (json_object_set_new(result, "ok", json_boolean(done)) < 0 ||
		(!done &&
			json_object_set_new(result, "error_code",
				json_string(wfs_error_info(outcome->refusal.code)->name)) < 0))
		return NULL;
	return WFS_STEAL(result);
}

static void write_action_body(struct wfs_fold *fold, struct wfs_buffer *buffer)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	WFS_AUTO_JSON json_t *result = result_document(outcome);

	if (!result) {
		buffer->failed = true;
		return;
	}
	wfs_buffer_append_text(buffer, "{\"action\":");
	wfs_json_write(outcome->action ? outcome->action : fold->input.action, buffer);
	wfs_buffer_append_byte(buffer, ',');
	if (fold->input.charge)
		wfs_record_write_charge(buffer, fold->input.charge);
	if (fold->input.intent_id) {
		wfs_buffer_append_text(buffer, "\"intent_id\":");
		wfs_json_write_string(buffer, fold->input.intent_id, strlen(fold->input.intent_id));
		wfs_buffer_append_byte(buffer, ',');
	}
	wfs_buffer_append_text(buffer, "\"result\":");
	wfs_json_write(result, buffer);
	wfs_buffer_append_byte(buffer, '}');
}

static int fold_action(struct wfs_fold *fold, struct wfs_error *error)
{
	struct fold_record *own = fold_record_at(fold, 0);
	struct wfs_error failure = {0};
	int r = act(fold, &failure, error);

	if (r)
		return wfs_trace(r);
	fold->outcome.refusal = failure;
	wfs_buffer_reset(&fold->scratch);
	write_action_body(fold, &fold->scratch);
	if (wfs_buffer_check(&fold->scratch))
		return fold_no_memory(error);
	return wfs_trace(fold_add_text(fold, wfs_buffer_bytes(&fold->scratch), &own->body, error));
}

static int fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error)
{
	int r = 0;

	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->fold_manifest)
			r = (*domain)->fold_manifest(fold, to, error);
	return wfs_trace(r);
}

static int fold_own(struct wfs_fold *fold, struct wfs_error *error)
{
	switch (fold->input.kind) {
	case WFS_RECORD_EVENT:
		return wfs_trace(fold_event(fold, 0, error));
	case WFS_RECORD_ACTION:
		return wfs_trace(fold_action(fold, error));
	case WFS_RECORD_RECEIPT:
		return wfs_trace(intent_fold_receipt(fold, fold->input.receipt, error));
	case WFS_RECORD_GENESIS:
		return fold->manifest ? wfs_trace(fold_manifest(fold, NULL, error)) : 0;
	case WFS_RECORD_MANIFEST:
		return wfs_trace(fold_manifest(fold, fold->input.manifest, error));
	default:
		return 0; /* a blob or a snapshot changes no cell */
	}
}

/* Folds the answer to an effect that a cell of a built-in reducer asked for. */
static int fold_answer(
	struct wfs_fold *fold, size_t cell, const json_t *answer, struct wfs_error *error)
{
	const size_t reducer = fold_cell_at(fold, cell)->reducer_index;
	int r = 0;

	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->fold_answer && fold_builtin(fold, (*domain)->asker) == reducer)
			r = (*domain)->fold_answer(fold, cell, answer, error);
	return wfs_trace(r);
}

/* Folds record @index, which is not the request's own. */
static int fold_derived(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	const struct fold_record *record = fold_record_at(fold, index);

	if (record->kind == WFS_RECORD_EVENT)
		return wfs_trace(fold_event(fold, index, error));
	if (record->kind == WFS_RECORD_INTENT)
		return 0; /* an intent: only its answer changes cells */
	if (!record->derived)
		return 0; /* the receipt of an intent that was cancelled */
	const json_t *const answer = json_object_get(record->derived, "value");
	return wfs_trace(fold_reducer_of(fold, fold_cell_at(fold, record->cell))->builtin
			? fold_answer(fold, record->cell, answer, error)
			: step(fold, index, record->cell, answer, error));
}

static int fold_record(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	fold->folding = index;
	return wfs_trace(index == 0 ? fold_own(fold, error) : fold_derived(fold, index, error));
}

/* Calls each domain before the request is folded. */
static int begin(struct wfs_fold *fold, struct wfs_error *error)
{
	int r = 0;

	fold->folding = 0;
	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->begin)
			r = (*domain)->begin(fold, error);
	return wfs_trace(r);
}

/* Calls each domain after all records of the request were folded. */
static int end(struct wfs_fold *fold, struct wfs_error *error)
{
	int r = 0;

	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->end)
			r = (*domain)->end(fold, error);
	return wfs_trace(r);
}

static int run(struct wfs_fold *fold, struct wfs_head *head, const struct wfs_fold_input *input,
	struct wfs_error *error)
{
	wfs_fold_clear(fold);
	fold->head = head;
	fold->input = *input;
	struct fold_record *own = fold_array_add(&fold->records, sizeof(*own));
	if (!own)
		return fold_no_memory(error);
	own->kind = input->kind;
	own->schema = input->schema;
	int r = begin(fold, error);
	/* The list grows while it is walked: breadth first. Effects come after all events. */
	for (size_t i = 0; !r && i < fold->records.count; i++) {
		r = fold_record(fold, i, error);
		if (!r && i + 1 == fold->records.count)
			r = fold_answer_asks(fold, error);
	}
	if (!r)
		r = end(fold, error);
	if (r)
		return wfs_trace(r);
	return fold_hash_changes(fold) ? fold_no_memory(error) : 0;
}

static struct wfs_lua_budget fresh_budget(const struct wfs_runtime *runtime)
{
	return (struct wfs_lua_budget){
		.instructions = wfs_runtime_limits(runtime)->instructions * WFS_FOLD_STEPS_MAX};
}

int wfs_fold_run(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *input, struct wfs_error *error)
{
	fold->runtime = runtime;
	fold->manifest = wfs_runtime_manifest(runtime);
	fold->budget = fresh_budget(runtime);
	return wfs_trace(run(fold, head, input, error));
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
	struct wfs_code *code = NULL;
	size_t cell;

	if (route_count != 1 || routes[0].reducer->builtin)
		return 0;
	fold->input = *input;
	fold->steps = 0;
	fold->budget = fresh_budget(fold->runtime);
	wfs_buffer_reset(&fold->scratch);
	write_body_start(&fold->scratch, input->charge, input->schema);
	const size_t start = fold->scratch.size;
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
	trim(&fold->seen_text);
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

void wfs_fold_interrupt(struct wfs_fold *fold)
{
	wfs_box_interrupt(fold->box);
}

void wfs_fold_end(struct wfs_fold *fold, int64_t time_ns)
{
	wfs_box_end(fold->box, time_ns);
}

bool wfs_fold_resume(struct wfs_fold *fold)
{
	return wfs_box_resume(fold->box);
}

int wfs_fold_run_genesis(struct wfs_fold *fold, struct wfs_head *head,
	const struct wfs_manifest *manifest, const struct wfs_fold_input *input,
	struct wfs_error *error)
{
	wfs_require(input->kind == WFS_RECORD_GENESIS);
	fold->runtime = NULL;
	fold->manifest = manifest;
	return wfs_trace(run(fold, head, input, error));
}

int wfs_fold_outcome(const struct wfs_fold *fold, json_t **ret_answer, struct wfs_error *error)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	const bool done = outcome->refusal.code == WFS_OK;

	*ret_answer = json_incref(done ? outcome->answer : outcome->details);
	if (done)
		return 0;
	*error = outcome->refusal;
	return -wfs_error_info(error->code)->number;
}

const json_t *wfs_fold_wanted(const struct wfs_fold *fold)
{
	return fold->outcome.wanted;
}

bool wfs_fold_unrecorded(const struct wfs_fold *fold)
{
	return fold->outcome.unrecorded;
}

/* --- applying --- */

struct wfs_record wfs_fold_record(
	const struct wfs_fold *fold, const struct wfs_head *head, size_t index)
{
	const struct fold_record *record = fold_record_at(fold, index);
	const bool in_text = index > 0 || fold->input.kind == WFS_RECORD_ACTION;

	return (struct wfs_record){
		.seq = head->height,
		.prev = head->prev,
		.at_ns = fold->input.at_ns,
		.kind = record->kind,
		.principal = fold->input.principal,
		.derived = index > 0,
		.cause = head->height - index + record->cause,
		.changed = record->changed,
		.changes = record->changes,
		.body = in_text ? fold_bytes(fold, record->body) : fold->input.body,
	};
}

int wfs_fold_check_texts(
	const struct wfs_fold *fold, const struct wfs_head *head, struct wfs_error *error)
{
	int r = 0;

	for (size_t i = 0; !r && i < fold->records.count; i++) {
		const struct wfs_record record = wfs_fold_record(fold, head, i);

		r = wfs_text_check(head->txn, &fold->texts, fold->input.texts, &record, error);
	}
	return wfs_trace(r);
}

/* Writes the private texts that the request's own record names. */
static int apply_texts(struct wfs_fold *fold, struct wfs_head *head)
{
	const struct wfs_fold_input *const input = &fold->input;
	const char *const to = wfs_text_to(input->action, input->principal);
	int r = wfs_texts_put(head->txn, &fold->texts, head->height - 1, to);

	if (!r && input->texts)
		r = wfs_texts_put(head->txn, input->texts, head->height - 1, to);
	return wfs_trace(r);
}

static void applying(struct wfs_fold *fold, const struct wfs_head *head)
{
	for (const struct wfs_domain *const *domain = fold->domains; *domain; domain++)
		if ((*domain)->applying)
			(*domain)->applying(fold, head);
}

static int apply(struct wfs_fold *fold, struct wfs_head *head, size_t index)
{
	int r = index == 0 ? apply_texts(fold, head) : 0;

	if (!r)
		r = fold_apply_changes(fold, head, index, head->height);
	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->apply)
			r = (*domain)->apply(fold, head, index);
	return wfs_trace(r);
}

int wfs_fold_apply_record(struct wfs_fold *fold, struct wfs_head *head, size_t index)
{
	struct wfs_record record = wfs_fold_record(fold, head, index);

	applying(fold, head);
	int r = wfs_head_append(head, &record);

	return wfs_trace(r ? r : apply(fold, head, index));
}

int wfs_fold_apply_line(
	struct wfs_fold *fold, struct wfs_head *head, size_t index, struct wfs_bytes line)
{
	applying(fold, head);
	int r = wfs_head_append_line(head, line, fold->input.at_ns);

	return wfs_trace(r ? r : apply(fold, head, index));
}

int wfs_fold_apply(struct wfs_fold *fold, struct wfs_head *head)
{
	for (size_t i = 0; i < fold->records.count; i++) {
		int r = wfs_fold_apply_record(fold, head, i);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

size_t wfs_fold_record_count(const struct wfs_fold *fold)
{
	return fold->records.count;
}

void wfs_fold_changes(const struct wfs_fold *fold,
	void (*each)(void *context, const struct wfs_change *change), void *context)
{
	for (size_t i = 0; i < fold->cells.count; i++) {
		const struct fold_cell *cell = fold_cell_at(fold, i);
		struct wfs_change change = {
			.reducer_id = fold->head->reducers[cell->reducer_index].reducer_id,
			.key = fold_bytes(fold, cell->key),
			.was_live = cell->stored_live,
			.is_live = cell->live,
		};

		if (cell->changed && (cell->stored_live || cell->live))
			each(context, &change);
	}
}
