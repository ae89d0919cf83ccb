/* SPDX-License-Identifier: Apache-2.0 */
/* The action that begins a run. Who sends it has made its setup (agents/), so what is checked here is
 * that the rest of this folder can work with it. */
#include "kernel/base/json.h"
#include "kernel/manifest/grant.h"
#include "kernel/turn/turn-impl.h"

static int expected(struct wfs_error *error, const char *where, const char *what)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "%s: expected %s", where, what);
}

static int check_text(
	const json_t *object, const char *where, const char *member, struct wfs_error *error)
{
	const char *text;

	(void)where;
	return wfs_json_get_string(object, member, &text, error);
}

static int check_messages(const json_t *messages, struct wfs_error *error)
{
	size_t i;
	const json_t *message;
	int r = 0;

	if (!json_is_array(messages) || json_array_size(messages) > WFS_TURN_MESSAGES_MAX)
		return expected(error, "messages", "an array of at most 1024");
	json_array_foreach(messages, i, message)
	{
		r = wfs_json_members(message, "a message",
			"content role tool_call_id? tool_calls? name?", error);
		if (!r)
			r = check_text(message, "a message", "role", error);
		if (r)
			return r;
	}
	return 0;
}

static int check_tools(const json_t *setup, struct wfs_error *error)
{
	const json_t *const tools = json_object_get(setup, "tools");
	const json_t *const offered = json_object_get(setup, "offered");
	size_t i;
	const json_t *item;

	if (!json_is_array(tools) || json_array_size(tools) > WFS_TURN_TOOLS_MAX)
		return expected(error, "setup/tools", "an array of at most 256");
	json_array_foreach(tools, i, item)
	{
		int r = check_text(item, "setup/tools", "name", error);

		if (!r)
			r = check_text(item, "setup/tools", "kind", error);
		if (r)
			return r;
	}
	if (!json_is_array(offered))
		return expected(error, "setup/offered", "an array of names");
	json_array_foreach(offered, i, item) if (!json_is_string(item)) return expected(
		error, "setup/offered", "an array of names");
	return 0;
}

int wfs_turn_check_step(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	const json_t *const setup = json_object_get(action, "setup");
	const char *agent;
	int64_t max_turns = 0;

	(void)manifest;
	int r = wfs_json_members(
		action, "step", "action_type agent max_turns messages setup", error);
	if (!r)
		r = wfs_json_get_string(action, "agent", &agent, error);
	if (!r && !wfs_grant_name_valid(agent))
		r = expected(error, "agent", "the id of an agent");
	if (!r)
		r = wfs_json_get_integer(
			action, "max_turns", 0, WFS_TURN_TURNS_MAX, &max_turns, error);
	if (!r)
		r = check_messages(json_object_get(action, "messages"), error);
	if (!r)
		r = wfs_json_members(setup, "a setup", "model offered settings tools", error);
	if (!r)
		r = check_text(setup, "setup", "model", error);
	return r ? r : check_tools(setup, error);
}

/* --- the fold --- */

static bool has_role(const json_t *message, const char *role)
{
	return strcmp(json_string_value(json_object_get(message, "role")), role) == 0;
}

/* Indices of messages that are always sent: the leading system messages, the latest user message. */
static json_t *pins_of(const json_t *messages)
{
	WFS_AUTO_JSON json_t *pins = json_array();
	const size_t count = json_array_size(messages);
	size_t i = 0;
	int r = 0;

	for (; i < count; i++) {
		const json_t *const message = json_array_get(messages, i);

		if (!has_role(message, "system") && !has_role(message, "developer"))
			break;
		r |= json_array_append_new(pins, json_integer((json_int_t)i));
	}
	for (size_t j = count; j > i; j--) {
		if (!has_role(json_array_get(messages, j - 1), "user"))
			continue;
		r |= json_array_append_new(pins, json_integer((json_int_t)j - 1));
		break;
	}
	return r ? NULL : WFS_STEAL(pins);
}

/* A state before the first turn. NULL without memory. */
static json_t *first_state(const struct wfs_fold *fold, const json_t *action, const char *run_id)
{
	WFS_AUTO_JSON json_t *pins = pins_of(json_object_get(action, "messages"));

	return json_pack(
		"{s:O, s:s, s:{}, s:i, s:i, s:[], s:O, s:O, s:[], s:O, s:b, s:s, s:I, s:s, "
		"s:i, s:{s:i, s:i, s:i}, s:b}",
		"agent", json_object_get(action, "agent"), "asked_by", fold->input.principal,
		"calls", "event_seq", 0, "from", 0, "groups", "max_turns",
		json_object_get(action, "max_turns"), "model",
		json_object_get(json_object_get(action, "setup"), "model"), "open", "pins", pins,
		"retried", 0, "run_id", run_id, "started_ns", (json_int_t)fold->input.at_ns,
		"status", "running", "turn", 0, "usage", "completion_tokens", 0, "prompt_tokens", 0,
		"total_tokens", 0, "usage_incomplete", 0);
}

static int set_setup(struct turn *turn, const json_t *action, struct wfs_error *error)
{
	size_t cell;

	turn->setup = json_incref(json_object_get(action, "setup"));
	int r = fold_touch_unread(turn->fold, fold_builtin(turn->fold, WFS_BUILTIN_TURN_SETUP),
		wfs_bytes_text(turn->run_id), &cell, error);
	return wfs_trace(r ? r : fold_set_document(turn->fold, cell, turn->setup, error));
}

static int begin(struct turn *turn, const json_t *action, struct wfs_error *error)
{
	const json_t *const messages = json_object_get(action, "messages");
	size_t i;
	json_t *message;
	int r = set_setup(turn, action, error);

	json_array_foreach(messages, i, message)
	{
		if (!r)
			r = turn_add_message(turn, message, 1, error);
	}
	if (!r)
		r = turn_emit(turn, WFS_KERNEL_START,
			json_pack("{s:I, s:O, s:I}", "initial_messages_count",
				(json_int_t)json_array_size(messages), "max_turns",
				json_object_get(action, "max_turns"), "tools_count",
				(json_int_t)json_array_size(json_object_get(turn->setup, "tools"))),
			error);
	if (!r)
		r = turn_request(turn, error);
	return wfs_trace(r ? r : turn_store(turn, error));
}

int turn_fold_step(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const agent = json_string_value(json_object_get(action, "agent"));
	char run_id[WFS_TURN_ID_MAX + 1];
	TURN_AUTO struct turn turn = {.fold = fold};

	if (fold_live_count(fold, WFS_BUILTIN_INTENT) >= WFS_TURN_INTENTS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d effects are in flight, which is the most that there may be",
			WFS_TURN_INTENTS_MAX);
	snprintf(run_id, sizeof(run_id), "%s.%llu", agent, (unsigned long long)fold->head->height);
	turn.state = first_state(fold, action, run_id);
	if (!turn.state)
		return fold_no_memory(error);
	turn.run_id = json_string_value(json_object_get(turn.state, "run_id"));
	int r = fold_touch_unread(fold, fold_builtin(fold, WFS_BUILTIN_TURN),
		wfs_bytes_text(run_id), &turn.cell, error);
	if (!r)
		r = begin(&turn, action, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:s}", "run_id", run_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}
