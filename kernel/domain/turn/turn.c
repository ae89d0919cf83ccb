/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run, its events, its intents, and its end. */
#include "kernel/domain/turn/turn-impl.h"

#include <inttypes.h>

#include "kernel/base/json.h"

static const struct {
	const char *type;
	const char *schema;
} events[] = {
#define EVENT_ROW(constant, type, members) {type, "sys/" type "@1"},
	WFS_KERNEL_EVENTS(EVENT_ROW)
#undef EVENT_ROW
};

enum wfs_kernel_event wfs_kernel_event_find(const char *schema)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(events); i++)
		if (strcmp(events[i].schema, schema) == 0)
			return (enum wfs_kernel_event)i;
	return WFS_KERNEL_EVENT_COUNT;
}

/* --- the state --- */

void turn_done(struct turn *turn)
{
	wfs_document_done(&turn->state);
	json_decref(turn->owned);
	wfs_document_done(&turn->setup);
}

int turn_load(
	struct wfs_fold *fold, const char *run_id, struct turn *ret_turn, struct wfs_error *error)
{
	struct turn turn = {.fold = fold};
	int r = fold_read_turn(fold, run_id, &turn.state, error);

	if (r)
		return wfs_trace(r);
	if (!turn.state.own.json)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Turn '%.200s' not found", run_id);
	turn.run_id = turn.state.run_id;
	*ret_turn = turn;
	return 0;
}

static int set_cell(struct turn *turn, struct wfs_error *error)
{
	return turn->failed ? fold_no_memory(error)
			    : wfs_trace(fold_write_turn(turn->fold, &turn->state, error));
}

int turn_store(struct turn *turn, struct wfs_error *error)
{
	turn_note_run(turn->fold, turn->run_id);
	return wfs_trace(set_cell(turn, error));
}

int turn_setup(struct turn *turn, struct wfs_error *error)
{
	int r = turn->setup.own.json
		? 0
		: fold_read_turn_setup(turn->fold, turn->run_id, &turn->setup, error);

	if (!r && !turn->setup.own.json)
		return wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "turn '%s' has no setup", turn->run_id);
	return wfs_trace(r);
}

json_t *turn_own(struct turn *turn, json_t *value)
{
	if (!turn->owned)
		turn->owned = json_array();
	turn->failed |= json_array_append_new(turn->owned, value) < 0;
	return turn->failed ? NULL : value;
}

int64_t turn_setting(const struct turn *turn, const char *name, int64_t otherwise)
{
	const json_t *const value = json_object_get(turn->setup.settings, name);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

size_t turn_open_count(const struct turn *turn)
{
	return json_array_size(turn->state.open);
}

/* --- events --- */

int turn_emit(
	struct turn *turn, enum wfs_kernel_event event, json_t *members, struct wfs_error *error)
{
	struct wfs_fold *const fold = turn->fold;
	WFS_AUTO_JSON json_t *value = members;
	WFS_AUTO_JSON json_t *derived = NULL;
	WFS_AUTO_JSON json_t *common = json_pack("{s:s, s:I, s:s, s:s}", "agent", turn->state.agent,
		"event_seq", (json_int_t)turn->state.event_seq++, "run_id", turn->run_id, "type",
		events[event].type);

	if (json_object_update(value, common) < 0)
		return fold_no_memory(error);
	derived = json_pack("{s:s, s:O}", "schema", events[event].schema, "value", value);
	if (!derived)
		return fold_no_memory(error);
	const struct wfs_body_event body = {
		.due_ns = -1, .schema = events[event].schema, .value = value};
	wfs_buffer_reset(&fold->scratch);
	wfs_body_write_event(&fold->scratch, &body);
	return wfs_trace(fold_add_record(fold, WFS_RECORD_EVENT, fold->folding, derived, error));
}

/* --- runs and chats below it --- */

static json_t *open_item(const struct turn *turn, const char *intent_id)
{
	size_t i;
	json_t *item;

	json_array_foreach(turn->state.open, i, item) {
		if (strcmp(wfs_json_text(item, "intent_id"), intent_id) == 0)
			return item;
	}
	return NULL;
}

/* Changes `below` of the topmost run. If that is @turn itself, its caller stores it. */
static int change_below(struct turn *turn, int change, struct wfs_error *error)
{
	const char *const top_id = turn->state.top;
	TURN_AUTO struct turn above = {.fold = turn->fold};
	struct turn *const top = top_id ? &above : turn;
	int r = top_id ? turn_load(turn->fold, top_id, &above, error) : 0;

	if (r)
		return wfs_trace(r);
	const int64_t below = (top->state.below < 0 ? 0 : top->state.below) + change;
	if (below > WFS_TURN_BELOW_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d runs and chats are under way below the run '%s', which is the most "
			"that there may be at once",
			WFS_TURN_BELOW_MAX, top->run_id);
	top->state.below = below;
	return top_id ? wfs_trace(set_cell(top, error)) : 0;
}

int turn_fold_begun(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error)
{
	TURN_AUTO struct turn turn = {.fold = fold};
	int r = turn_load(fold, intent->run_id, &turn, error);

	if (!r)
		r = change_below(&turn, 1, error);
	if (r)
		return wfs_trace(r);
	turn.failed |= json_object_set_new(open_item(&turn, intent_id), "began", json_true()) < 0;
	return wfs_trace(set_cell(&turn, error));
}

static int forget_begun(struct turn *turn, const json_t *item, struct wfs_error *error)
{
	return json_object_get(item, "began") ? wfs_trace(change_below(turn, -1, error)) : 0;
}

/* --- intents --- */

int turn_ask(struct turn *turn, enum wfs_effect effect, json_t *params, int64_t call,
	struct wfs_error *error)
{
	const struct intent intent = {
		.effect = effect,
		.reducer = WFS_BUILTIN_TURN,
		.key = turn->run_id,
		.params = params,
		.document = {.principal = turn->state.agent,
			.run_id = turn->run_id,
			.turn = turn->state.turn,
			.call = call,
			.step = -1,
			.not_before_ns = -1},
	};
	char id[WFS_HASH_TEXT_SIZE];
	int r = intent_open(turn->fold, &intent, id, error);

	if (r)
		return wfs_trace(r);
	json_t *const open = json_pack("{s:s}", "intent_id", id);
	if (call >= 0)
		turn->failed |= json_object_set_new(open, "call", json_integer(call)) < 0;
	turn->failed |= json_array_append_new(turn->state.open, open) < 0;
	return 0;
}

int turn_answered(struct turn *turn, const char *intent_id, struct wfs_error *error)
{
	int r = intent_close(turn->fold, intent_id, error);

	if (!r)
		r = forget_begun(turn, open_item(turn, intent_id), error);
	/* The id may be borrowed from the item that is removed. */
	intent_forget(turn->state.open, intent_id);
	return wfs_trace(r);
}

/* --- its end --- */

static int close_all(struct turn *turn, struct wfs_error *error)
{
	json_t *const open = turn->state.open;
	int r = 0;

	while (!r && json_array_size(open) > 0) {
		const char *const id =
			json_string_value(json_object_get(json_array_get(open, 0), "intent_id"));

		r = intent_cancel(turn->fold, id ? id : "", error);
		if (!r)
			r = forget_begun(turn, json_array_get(open, 0), error);
		json_array_remove(open, 0);
	}
	return wfs_trace(r);
}

int turn_end(struct turn *turn, const char *reason, struct wfs_error *error)
{
	const int64_t now_ns = turn->fold->input.at_ns;
	bool waits;
	int r = turn_end_mind(turn, reason, &waits, error);

	if (r || waits)
		return wfs_trace(r);
	r = close_all(turn, error);
	turn->state.status = "ended";
	turn->state.reason = reason;
	turn->state.ended_ns = now_ns;
	if (r)
		return wfs_trace(r);
	return wfs_trace(turn_emit(turn, WFS_KERNEL_END,
		json_pack("{s:s, s:I, s:I}", "termination_reason", reason, "total_duration_ms",
			(json_int_t)((now_ns - turn->state.started_ns) / 1000000), "turn_count",
			(json_int_t)turn->state.turn),
		error));
}

int turn_fail(struct turn *turn, const char *reason, const char *phase, const char *code,
	const char *message, struct wfs_error *error)
{
	turn->state.error = turn_own(turn,
		json_pack("{s:s, s:s, s:s}", "code", code, "message", message, "phase", phase));
	int r = turn_emit(turn, WFS_KERNEL_ERROR,
		json_pack("{s:s, s:s, s:s, s:I}", "code", code, "message", message, "phase", phase,
			"turn", (json_int_t)turn->state.turn),
		error);
	return wfs_trace(r ? r : turn_end(turn, reason, error));
}

/* --- its history --- */

int turn_add_message(struct turn *turn, json_t *message, int64_t size, struct wfs_error *error)
{
	json_t *const groups = turn->state.groups;
	char key[WFS_TURN_ID_MAX + 24];

	snprintf(key, sizeof(key), "%s.%zu", turn->run_id, json_array_size(groups));
	turn->failed |= json_array_append_new(groups, json_integer(size)) < 0;
	return wfs_trace(fold_put(turn->fold, WFS_BUILTIN_MESSAGE, key, message, error));
}
