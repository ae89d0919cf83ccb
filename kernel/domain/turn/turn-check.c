/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a request and the records derived from it belong to the same runs, so they are
 * checked together. Most requests name their run. An answer names its intent, whose record has
 * named the run. Derived records name it, too, which helps with intents that came with the cells
 * of a copy.
 */
#include "kernel/domain/turn/turn-check.h"

#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/domain/turn/events.h"
#include "kernel/manifest/builtin.h"
#include "kernel/read/index.h"

/* A record of the current request. */
struct item {
	uint64_t seq;
	uint64_t event_size; /* bytes in `events.jsonl` */
	json_t *run_id;      /* of the run whose event it is; owned; may be NULL */
};

struct wfs_turn_check {
	void (*wrong)(void *context, uint64_t seq, const char *reason);
	void *context;
	json_t *intents; /* {intent id: run id} of open intents */
	json_t *runs;    /* of the current request: {run id: true} */
	struct item *items;
	size_t count;
	size_t capacity;
	uint64_t rows;
};

int wfs_turn_check_new(void (*wrong)(void *context, uint64_t seq, const char *reason),
	void *context, struct wfs_turn_check **ret_check)
{
	struct wfs_turn_check *const check = calloc(1, sizeof(*check));

	if (!check)
		return -ENOMEM;
	check->wrong = wrong;
	check->context = context;
	check->intents = json_object();
	check->runs = json_object();
	if (!check->intents || !check->runs) {
		wfs_turn_check_free(check);
		return -ENOMEM;
	}
	*ret_check = check;
	return 0;
}

static void forget_items(struct wfs_turn_check *check)
{
	for (size_t i = 0; i < check->count; i++)
		json_decref(check->items[i].run_id);
	check->count = 0;
	(void)json_object_clear(check->runs);
}

void wfs_turn_check_free(struct wfs_turn_check *check)
{
	if (!check)
		return;
	forget_items(check);
	json_decref(check->intents);
	json_decref(check->runs);
	free(check->items);
	free(check);
}

/* --- which runs --- */

static int add_run(struct wfs_turn_check *check, const json_t *run_id)
{
	const char *const text = json_string_value(run_id);

	return text && json_object_set_new(check->runs, text, json_true()) < 0 ? -ENOMEM : 0;
}

/* Finds the run of a successful action on a run; NULL for other actions. */
static const json_t *run_of_action(const struct wfs_body_action *body)
{
	const char *const type = wfs_json_text(body->action, "action_type");

	if (!json_is_true(json_object_get(body->result, "ok")))
		return NULL;
	if (strcmp(type, "step") == 0 || strcmp(type, "ask") == 0 || strcmp(type, "wait") == 0)
		return json_object_get(body->result, "run_id");
	if (strcmp(type, "cancel") == 0 || strcmp(type, "approve") == 0 ||
		strcmp(type, "wake") == 0)
		return json_object_get(body->action, "turn_id");
	return NULL;
}

static int add_intent(struct wfs_turn_check *check, const struct wfs_body_intent *body)
{
	json_t *const run_id = json_object_get(body->origin, "key");

	if (strcmp(wfs_json_text(body->origin, "reducer"),
		    wfs_builtin_reducer_name(WFS_BUILTIN_TURN)) != 0 ||
		!json_is_string(run_id))
		return 0;
	if (json_object_set(check->intents, body->intent_id, run_id) < 0)
		return -ENOMEM;
	return add_run(check, run_id);
}

static int add_runs(struct wfs_turn_check *check, const struct wfs_record_parsed *parsed)
{
	const union wfs_body *const body = &parsed->body;
	const char *intent_id;
	int r = 0;

	switch (parsed->record.kind) {
	case WFS_RECORD_INTENT:
		return add_intent(check, &body->intent);
	case WFS_RECORD_EVENT:
		return wfs_kernel_event_find(body->event.schema) == WFS_KERNEL_EVENT_COUNT
			? 0
			: add_run(check, json_object_get(body->event.value, "run_id"));
	case WFS_RECORD_ACTION:
		r = add_run(check, run_of_action(&body->action));
		intent_id = body->action.intent_id;
		break;
	case WFS_RECORD_RECEIPT:
		intent_id = body->receipt.intent_id;
		break;
	default:
		return 0;
	}
	if (r || !intent_id)
		return r;
	r = add_run(check, json_object_get(check->intents, intent_id));
	(void)json_object_del(check->intents, intent_id);
	return r;
}

/* --- the rows of a request --- */

static int check_row(struct wfs_turn_check *check, struct wfs_txn *txn, const char *run_id,
	const struct item *item)
{
	const bool told = item->run_id && strcmp(json_string_value(item->run_id), run_id) == 0;
	struct wfs_index_set set;
	uint64_t event_size;

	wfs_index_run(&set, wfs_bytes_text(run_id));
	int r = wfs_index_get(txn, &set, item->seq, &event_size);
	check->rows++;
	if (r == -ENOENT || r == -EIO)
		check->wrong(check->context, item->seq, "is missing among the records of its run");
	else if (!r && event_size != (told ? item->event_size : 0))
		check->wrong(
			check->context, item->seq, "has another size among the events of its run");
	return r == -ENOENT || r == -EIO ? 0 : wfs_trace(r);
}

static int close_request(struct wfs_turn_check *check, struct wfs_txn *txn)
{
	const char *run_id;
	json_t *value;
	int r = 0;

	json_object_foreach(check->runs, run_id, value) {
		for (size_t i = 0; !r && i < check->count; i++)
			r = check_row(check, txn, run_id, &check->items[i]);
	}
	forget_items(check);
	return wfs_trace(r);
}

static int add_item(
	struct wfs_turn_check *check, uint64_t seq, const struct wfs_record_parsed *parsed)
{
	const struct wfs_body_event *const event = &parsed->body.event;
	const bool told = parsed->record.kind == WFS_RECORD_EVENT &&
		wfs_kernel_event_find(event->schema) != WFS_KERNEL_EVENT_COUNT;
	json_t *const run_id = told ? json_object_get(event->value, "run_id") : NULL;
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct item *const items =
		wfs_array_reserve(check->items, check->count, &check->capacity, sizeof(*items));

	if (!items)
		return -ENOMEM;
	check->items = items;
	items[check->count] = (struct item){.seq = seq};
	if (json_is_string(run_id)) {
		wfs_json_write(event->value, &line);
		items[check->count].run_id = json_incref(run_id);
		items[check->count].event_size = line.size + 1;
	}
	check->count++;
	return wfs_buffer_check(&line);
}

int wfs_turn_check_record(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t seq,
	const struct wfs_record_parsed *parsed)
{
	int r = parsed->record.derived ? 0 : close_request(check, txn);

	if (!r)
		r = add_item(check, seq, parsed);
	return wfs_trace(r ? r : add_runs(check, parsed));
}

int wfs_turn_check_end(struct wfs_turn_check *check, struct wfs_txn *txn, uint64_t *ret_count)
{
	int r = close_request(check, txn);

	*ret_count = check->rows;
	return wfs_trace(r);
}
