/* SPDX-License-Identifier: Apache-2.0 */
/* Folding one event and what it causes. */
#include "kernel/fold.h"

#include <endian.h>
#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/blob-read.h"
#include "kernel/key.h"

enum { KEPT_BYTES = 4 << 20 }; /* of memory, from one run to the next */

/* A stretch of fold->text: offsets, because the text moves as it grows. */
struct span {
	size_t offset;
	size_t size;
};

/* A cell that the request has touched, with its newest state. */
struct touched {
	size_t reducer_index;
	struct span key;
	struct wfs_cell row; /* as it is in the store; its key is not used */
	bool stored_live;    /* before the request */
	bool live;
	bool changed;         /* by the request */
	struct wfs_hash hash; /* of the state; zero when not live */
	struct span state;
};

/* A state that a record gave a cell. */
struct change {
	size_t record;
	size_t cell;
	bool live;
	struct wfs_hash hash;
	struct span state;
};

/* A record of the request: the first is the request's own. */
struct record {
	json_t *derived;    /* {schema, value, key?}, owned; NULL for the first */
	const char *schema; /* borrowed from `derived` or the request */
	struct span body;   /* in text; of the first: in event.body */
	size_t cause;       /* index of the record that caused it */
	bool changed;
	struct wfs_hash changes;
};

/* A growing array: `items` are owned. */
struct array {
	void *items;
	size_t count;
	size_t capacity;
};

struct wfs_fold {
	uint8_t entropy[WFS_ENTROPY_SIZE];
	const struct wfs_head *head; /* during a run */
	struct wfs_runtime *runtime;
	struct wfs_fold_event event;
	struct wfs_buffer text; /* keys and states */
	struct wfs_buffer scratch;
	struct array cells;   /* struct touched */
	struct array changes; /* struct change; those of one record are adjacent */
	struct array records; /* struct record */
	size_t applied_count; /* changes written so far */
	struct wfs_lua_result result;
	uint64_t steps; /* in this run; part of the random seed */
	struct wfs_lua_budget budget;
	size_t value_count; /* of JSON, in the derived events */
};

static void *array_add(struct array *array, size_t item_size)
{
	void *const items =
		wfs_array_reserve(array->items, array->count, &array->capacity, item_size);

	if (!items)
		return NULL;
	array->items = items;
	return memset((char *)array->items + array->count++ * item_size, 0, item_size);
}

static struct touched *cell_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct touched *)fold->cells.items)[i];
}

static struct change *change_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct change *)fold->changes.items)[i];
}

static struct record *record_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct record *)fold->records.items)[i];
}

static struct wfs_bytes span_bytes(const struct wfs_fold *fold, struct span span)
{
	return WFS_BYTES(span.size ? fold->text.data + span.offset : "", span.size);
}

static int no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "fold an event");
}

/* May @size bytes be added to `text`? */
static int check_text(const struct wfs_fold *fold, size_t size, struct wfs_error *error)
{
	if (size <= WFS_FOLD_BYTES_MAX && fold->text.size <= WFS_FOLD_BYTES_MAX - size)
		return 0;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"the states that the event reads and gives and the events that it causes have more "
		"than %d bytes",
		WFS_FOLD_BYTES_MAX);
}

static int add_text(struct wfs_fold *fold, struct wfs_bytes bytes, struct span *ret_span,
	struct wfs_error *error)
{
	int r = check_text(fold, bytes.size, error);

	if (r)
		return r;
	*ret_span = (struct span){.offset = fold->text.size, .size = bytes.size};
	wfs_buffer_append(&fold->text, bytes.data, bytes.size);
	return wfs_buffer_check(&fold->text) ? no_memory(error) : 0;
}

int wfs_fold_new(const uint8_t *entropy, struct wfs_fold **ret_fold)
{
	struct wfs_fold *fold = calloc(1, sizeof(*fold));

	if (!fold)
		return -ENOMEM;
	memcpy(fold->entropy, entropy, sizeof(fold->entropy));
	*ret_fold = fold;
	return 0;
}

static void trim(struct wfs_buffer *buffer)
{
	wfs_buffer_reset(buffer);
	if (buffer->capacity_bytes > KEPT_BYTES)
		wfs_buffer_done(buffer);
}

void wfs_fold_clear(struct wfs_fold *fold)
{
	for (size_t i = 0; i < fold->records.count; i++)
		json_decref(record_at(fold, i)->derived);
	fold->records.count = 0;
	fold->cells.count = 0;
	fold->changes.count = 0;
	fold->applied_count = 0;
	fold->steps = 0;
	fold->value_count = 0;
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

void wfs_fold_free(struct wfs_fold *fold)
{
	if (!fold)
		return;
	wfs_fold_clear(fold);
	free(fold->records.items);
	free(fold->cells.items);
	free(fold->changes.items);
	wfs_buffer_done(&fold->text);
	wfs_buffer_done(&fold->scratch);
	wfs_lua_result_done(&fold->result);
	free(fold);
}

void wfs_fold_write_body(struct wfs_buffer *buffer, const char *schema, const json_t *value)
{
	wfs_buffer_append_text(buffer, "{\"schema\":");
	wfs_json_write_string(buffer, schema, strlen(schema));
	wfs_buffer_append_text(buffer, ",\"value\":");
	wfs_json_write(value, buffer);
	wfs_buffer_append_byte(buffer, '}');
}

/* --- cells --- */

static const struct wfs_reducer_definition *reducer_of(
	const struct wfs_fold *fold, const struct touched *cell)
{
	return wfs_manifest_reducer(wfs_runtime_manifest(fold->runtime), cell->reducer_index);
}

/* Reads the head version of a cell into `text`. */
static int load_state(struct wfs_fold *fold, struct touched *cell, struct wfs_error *error)
{
	struct wfs_version version;

	if (!cell->row.live)
		return 0;
	int r = wfs_version_get(fold->head->txn, cell->row.head_vid, &version);
	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r, "read a cell");
	r = check_text(fold, version.size_bytes, error);
	if (r)
		return wfs_trace(r);
	cell->live = cell->stored_live = true;
	cell->hash = version.hash;
	cell->state = (struct span){.offset = fold->text.size, .size = version.size_bytes};
	return wfs_trace(wfs_version_read(fold->head->store, &version, &fold->text, error));
}

/* The cell's entry in this fold, read from the store at its first touch. */
static int touch(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key,
	size_t *ret_index, struct wfs_error *error)
{
	uint64_t cell_id;

	for (size_t i = 0; i < fold->cells.count; i++) {
		const struct touched *cell = cell_at(fold, i);

		if (cell->reducer_index == reducer_index &&
			wfs_bytes_equal(span_bytes(fold, cell->key), key)) {
			*ret_index = i;
			return 0;
		}
	}
	struct touched *cell = array_add(&fold->cells, sizeof(*cell));
	if (!cell)
		return no_memory(error);
	int r = add_text(fold, key, &cell->key, error);
	if (r)
		return wfs_trace(r);
	cell->reducer_index = reducer_index;
	*ret_index = fold->cells.count - 1;
	r = wfs_cell_find(fold->head->txn, fold->head->reducers[reducer_index].reducer_id,
		span_bytes(fold, cell->key), &cell_id);
	if (r == -ENOENT)
		return 0;
	if (!r)
		r = wfs_cell_get(fold->head->txn, cell_id, &cell->row);
	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r, "look a cell up");
	return load_state(fold, cell, error);
}

/* --- changes --- */

/* Takes over what the step answered; a cell that is given the bytes it has does not change. */
static int take_state(struct wfs_fold *fold, size_t record, size_t cell_index,
	const struct wfs_lua_result *result, struct wfs_error *error)
{
	struct touched *cell = cell_at(fold, cell_index);
	struct change noted = {.record = record, .cell = cell_index, .live = !result->deleted};

	if (noted.live)
		noted.hash = wfs_hash_of(result->state.data, result->state.size);
	if (cell->live == noted.live && wfs_hash_equal(&cell->hash, &noted.hash))
		return 0;
	int r = noted.live ? add_text(fold, wfs_buffer_bytes(&result->state), &noted.state, error)
			   : 0;
	if (r)
		return wfs_trace(r);
	struct change *change = array_add(&fold->changes, sizeof(*change));
	if (!change)
		return no_memory(error);
	*change = noted;
	cell->changed = true;
	cell->live = noted.live;
	cell->hash = noted.hash;
	cell->state = noted.state;
	return 0;
}

/* --- derived events --- */

/* Is this a well-formed event that the reducer may emit? */
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

static int queue_derived(struct wfs_fold *fold, const struct wfs_reducer_definition *reducer,
	size_t cause, json_t *event, struct wfs_error *error)
{
	struct wfs_error reason = {0};

	if (check_derived(wfs_runtime_manifest(fold->runtime), reducer, event, &reason))
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"reducer '%s' emitted an event that is refused: %.400s", reducer->name,
			reason.message);
	if (fold->records.count > WFS_DERIVED_COUNT_MAX)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"the event caused more than %d others", WFS_DERIVED_COUNT_MAX);
	struct record *record = array_add(&fold->records, sizeof(*record));
	if (!record)
		return no_memory(error);
	record->derived = json_incref(event);
	record->schema = json_string_value(json_object_get(event, "schema"));
	record->cause = cause;
	wfs_buffer_reset(&fold->scratch);
	wfs_fold_write_body(&fold->scratch, record->schema, json_object_get(event, "value"));
	if (wfs_buffer_check(&fold->scratch))
		return no_memory(error);
	fold->value_count += wfs_json_count(fold->scratch.data, fold->scratch.size);
	if (fold->value_count > WFS_JSON_VALUES_MAX)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"the events that the event causes have more than %d values of JSON",
			WFS_JSON_VALUES_MAX);
	return wfs_trace(add_text(fold, wfs_buffer_bytes(&fold->scratch), &record->body, error));
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
	if (json_array_size(fold->result.effects) == 0)
		return 0;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"reducer '%s' asked for an effect that its definition does not declare",
		reducer->name);
}

/* --- one record --- */

/* Differs for every step of the world's life. */
static void seed_of(struct wfs_fold *fold, uint64_t seq, uint8_t ret_seed[static WFS_ENTROPY_SIZE])
{
	const uint64_t place[] = {htobe64(seq), htobe64(fold->steps++)};
	uint8_t bytes[sizeof(place)];

	memcpy(bytes, place, sizeof(bytes));
	memcpy(ret_seed, fold->entropy, WFS_ENTROPY_SIZE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		ret_seed[i] ^= bytes[i];
}

static int step(struct wfs_fold *fold, size_t record, size_t cell_index, const json_t *value,
	struct wfs_error *error)
{
	struct touched *cell = cell_at(fold, cell_index);
	const struct wfs_reducer_definition *reducer = reducer_of(fold, cell);
	struct wfs_lua *lua = NULL;
	int r = wfs_runtime_reducer(
		fold->runtime, fold->head->store, fold->head->txn, reducer, &lua, error);

	if (r)
		return wfs_trace(r);
	struct wfs_lua_step in = {
		.state = cell->live ? span_bytes(fold, cell->state) : WFS_BYTES(NULL, 0),
		.event = value,
		.key = span_bytes(fold, cell->key),
		.reducer = reducer->name,
		.schema = record_at(fold, record)->schema,
		.principal = fold->event.principal,
		.seq = fold->head->height + record,
		.at_ns = fold->event.at_ns,
		.budget = &fold->budget,
	};
	seed_of(fold, in.seq, in.seed);
	r = wfs_lua_step(lua, &in, &fold->result, error);
	if (r)
		return wfs_trace(r);
	r = take_state(fold, record, cell_index, &fold->result, error);
	if (r)
		return wfs_trace(r);
	return queue_all_derived(fold, reducer, record, error);
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

static int compare_changes(const void *a, const void *b, void *context)
{
	const struct wfs_fold *fold = context;
	const struct touched *x = cell_at(fold, ((const struct change *)a)->cell);
	const struct touched *y = cell_at(fold, ((const struct change *)b)->cell);

	return wfs_changes_compare(reducer_of(fold, x)->name, span_bytes(fold, x->key),
		reducer_of(fold, y)->name, span_bytes(fold, y->key));
}

static void write_change(
	struct wfs_fold *fold, struct wfs_buffer *buffer, const struct change *change)
{
	const struct touched *cell = cell_at(fold, change->cell);

	wfs_changes_add(buffer, reducer_of(fold, cell)->name, span_bytes(fold, cell->key),
		change->live ? &change->hash : NULL);
}

static int hash_changes(struct wfs_fold *fold, size_t record, size_t first)
{
	size_t count = fold->changes.count - first;

	if (count == 0)
		return 0;
	if (count > 1)
		qsort_r(change_at(fold, first), count, sizeof(struct change), compare_changes,
			fold);
	wfs_buffer_reset(&fold->scratch);
	for (size_t i = 0; i < count; i++)
		write_change(fold, &fold->scratch, change_at(fold, first + i));
	wfs_changes_end(&fold->scratch);
	record_at(fold, record)->changed = true;
	record_at(fold, record)->changes = wfs_hash_of(fold->scratch.data, fold->scratch.size);
	return wfs_buffer_check(&fold->scratch);
}

static int fold_record(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	const struct wfs_manifest *manifest = wfs_runtime_manifest(fold->runtime);
	const struct record *record = record_at(fold, index);
	const json_t *derived = record->derived;
	const json_t *value = derived ? json_object_get(derived, "value") : fold->event.value;
	const json_t *own_key = derived ? json_object_get(derived, "key") : fold->event.key;
	size_t first_change = fold->changes.count;
	size_t count;
	const struct wfs_route *routes = wfs_manifest_routes(manifest, record->schema, &count);

	for (size_t i = 0; i < count; i++) {
		size_t cell = 0;
		int r = key_for_route(fold, &routes[i], value, own_key, error);

		if (!r)
			r = touch(fold, routes[i].reducer->index, wfs_buffer_bytes(&fold->scratch),
				&cell, error);
		if (!r)
			r = step(fold, index, cell, value, error);
		if (r)
			return wfs_trace(r);
	}
	return hash_changes(fold, index, first_change) ? no_memory(error) : 0;
}

int wfs_fold_run(struct wfs_fold *fold, const struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_event *event, struct wfs_error *error)
{
	wfs_fold_clear(fold);
	fold->head = head;
	fold->runtime = runtime;
	fold->event = *event;
	fold->budget = (struct wfs_lua_budget){
		.instructions = wfs_runtime_limits(runtime)->instructions * WFS_FOLD_STEPS_MAX};
	struct record *own = array_add(&fold->records, sizeof(*own));
	if (!own)
		return no_memory(error);
	own->schema = event->schema;
	/* The list grows while it is walked: breadth first. */
	for (size_t i = 0; i < fold->records.count; i++) {
		int r = fold_record(fold, i, error);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* --- applying --- */

static int apply_change(
	struct wfs_fold *fold, struct wfs_head *head, const struct change *change, uint64_t height)
{
	struct touched *cell = cell_at(fold, change->cell);
	const struct wfs_state state = {
		.live = change->live,
		.bytes = change->live ? span_bytes(fold, change->state) : WFS_BYTES(NULL, 0),
		.hash = change->hash,
	};

	cell->row.key = span_bytes(fold, cell->key);
	return wfs_head_set_cell(
		head, cell->reducer_index, &cell->row, &state, height, fold->event.at_ns);
}

static int apply_record(struct wfs_fold *fold, struct wfs_head *head, uint64_t base, size_t index)
{
	const struct record *record = record_at(fold, index);
	struct wfs_record line = {
		.at_ns = fold->event.at_ns,
		.kind = WFS_RECORD_EVENT,
		.principal = fold->event.principal,
		.derived = index > 0,
		.cause = base + record->cause,
		.changed = record->changed,
		.changes = record->changes,
		.body = index ? span_bytes(fold, record->body) : fold->event.body,
	};

	return wfs_head_append(head, &line);
}

int wfs_fold_apply_record(struct wfs_fold *fold, struct wfs_head *head, size_t index)
{
	const uint64_t base = head->height - index;
	int r = apply_record(fold, head, base, index);

	for (; !r && fold->applied_count < fold->changes.count; fold->applied_count++) {
		const struct change *change = change_at(fold, fold->applied_count);

		if (change->record != index)
			break;
		r = apply_change(fold, head, change, base + index + 1);
	}
	return wfs_trace(r);
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
		const struct touched *cell = cell_at(fold, i);
		struct wfs_change change = {
			.reducer_id = fold->head->reducers[cell->reducer_index].reducer_id,
			.key = span_bytes(fold, cell->key),
			.was_live = cell->stored_live,
			.is_live = cell->live,
		};

		if (cell->changed && (cell->stored_live || cell->live))
			each(context, &change);
	}
}
