/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the action that begins a run. agents/ has made its setup, so this only checks that the
 * other files of this folder can work with it. */
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/fold/fold-work.h"
#include "kernel/manifest/grant.h"

static int expected(struct wfs_error *error, const char *where, const char *what)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "%s: expected %s", where, what);
}

static bool has_role(const json_t *message, const char *role)
{
	const char *const text = json_string_value(json_object_get(message, "role"));

	return text && strcmp(text, role) == 0;
}

static int check_role(const char *name, const json_t *value, struct wfs_error *error)
{
	static const char *const roles[] = {"system", "developer", "user", "assistant", "tool"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(roles); i++)
		if (strcmp(json_string_value(value), roles[i]) == 0)
			return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected system, developer, user, assistant or tool, got '%.40s'", name,
		json_string_value(value));
}
static const struct wfs_field message_fields[] = {
	{"role", WFS_FORM(.kind = WFS_FORM_TEXT, .then = check_role)}, {NULL}};
static const struct wfs_form message_form = {
	.members = "content role tool_call_id? tool_calls?", .fields = message_fields};

/* How many messages has the group at @index? One, or an assistant's and the results of all its
 * calls. 0: calls and results do not match. */
static size_t group_size(const json_t *messages, size_t index)
{
	const json_t *const first = json_array_get(messages, index);
	const json_t *const calls = json_object_get(first, "tool_calls");
	size_t size = 1;

	if (has_role(first, "tool"))
		return 0;
	for (; size <= json_array_size(calls); size++) {
		const json_t *const result = json_array_get(messages, index + size);
		const json_t *const call = json_array_get(calls, size - 1);

		if (!has_role(result, "tool") || !json_object_get(call, "id") ||
			!json_equal(json_object_get(result, "tool_call_id"),
				json_object_get(call, "id")))
			return 0;
	}
	return size;
}

static int check_messages(const char *name, const json_t *messages, struct wfs_error *error)
{
	size_t i;
	const json_t *message;
	size_t size;

	if (!json_is_array(messages) || json_array_size(messages) > WFS_TURN_MESSAGES_MAX)
		return expected(error, name, "an array of at most 1024");
	json_array_foreach(messages, i, message) {
		int r = wfs_form_read(&message_form, "a message", message, NULL, error);

		if (r)
			return r;
	}
	for (i = 0; i < json_array_size(messages); i += size) {
		size = group_size(messages, i);
		if (size == 0)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"messages/%zu: expected the results of all calls right behind "
				"them, in their order, and no others",
				i);
	}
	return 0;
}

static int check_tools(const char *name, const json_t *setup, struct wfs_error *error)
{
	const json_t *const tools = json_object_get(setup, "tools");
	const json_t *const offered = json_object_get(setup, "offered");
	const char *text;
	size_t i;
	const json_t *item;

	(void)name;
	if (!json_is_array(tools) || json_array_size(tools) > WFS_TURN_TOOLS_MAX)
		return expected(error, "setup/tools", "an array of at most 256");
	json_array_foreach(tools, i, item) {
		int r = wfs_json_get_string(item, "name", &text, error);

		if (!r)
			r = wfs_json_get_string(item, "kind", &text, error);
		if (r)
			return r;
	}
	if (!json_is_array(offered))
		return expected(error, "setup/offered", "an array of names");
	json_array_foreach(offered, i, item)
		if (!json_is_string(item))
			return expected(error, "setup/offered", "an array of names");
	return 0;
}

static int check_setup(const char *name, const json_t *setup, struct wfs_error *error)
{
	static const struct wfs_field fields[] = {{"model", &wfs_form_text}, {NULL}};
	static const struct wfs_form form = {
		.members = "asked_model? mind? model offered settings tools",
		.fields = fields,
		.then = check_tools,
	};

	(void)name;
	return wfs_form_read(&form, "a setup", setup, NULL, error);
}

static int check_agent(const char *name, const json_t *value, struct wfs_error *error)
{
	return wfs_grant_name_valid(json_string_value(value))
		? 0
		: expected(error, name, "the id of an agent");
}

static const struct wfs_field step_fields[] = {
	{"agent", WFS_FORM(.kind = WFS_FORM_TEXT, .then = check_agent)},
	{"called_by", &wfs_form_text}, {"max_turns", WFS_FORM_FROM_TO(0, WFS_TURN_TURNS_MAX)},
	{"messages", WFS_FORM(.kind = WFS_FORM_VALUE, .then = check_messages)},
	{"setup", WFS_FORM(.kind = WFS_FORM_VALUE, .then = check_setup)}, {NULL}};
const struct wfs_form turn_step_form = {
	.members = "action_type agent called_by? failure? max_turns messages notes? reflex? setup",
	.fields = step_fields,
	.then = turn_check_mind,
};

/* --- the fold --- */

/* Finds the groups that are always sent: the leading system messages and the latest user
 * message. */
static json_t *pins_of(const json_t *messages)
{
	WFS_AUTO_JSON json_t *pins = json_array();
	const size_t count = json_array_size(messages);
	json_int_t latest = -1;
	json_int_t group = 0;
	bool leading = true;
	int r = 0;

	for (size_t i = 0; i < count; i += group_size(messages, i), group++) {
		const json_t *const message = json_array_get(messages, i);

		leading =
			leading && (has_role(message, "system") || has_role(message, "developer"));
		if (leading)
			r |= json_array_append_new(pins, json_integer(group));
		if (has_role(message, "user"))
			latest = group;
	}
	if (latest >= 0)
		r |= json_array_append_new(pins, json_integer(latest));
	return r ? NULL : WFS_STEAL(pins);
}

/* Sets the state before the first turn. */
static void set_first(struct turn *turn, const json_t *action)
{
	turn->state = (struct wfs_document_turn){
		.agent = json_string_value(json_object_get(action, "agent")),
		.asked_by = turn->fold->input.principal,
		.below = -1,
		.calls = turn_own(turn, json_object()),
		.depth = -1,
		.ended_ns = -1,
		.groups = turn_own(turn, json_array()),
		.last_assistant = -1,
		.raw = -1,
		.max_turns = json_integer_value(json_object_get(action, "max_turns")),
		.model = wfs_json_text(json_object_get(action, "setup"), "model"),
		.open = turn_own(turn, json_array()),
		.pins = turn_own(turn, pins_of(json_object_get(action, "messages"))),
		.run_id = turn->run_id,
		.started_ns = turn->fold->input.at_ns,
		.status = "running",
		.tool_calls = -1,
		.usage = turn_own(turn,
			json_pack("{s:i, s:i, s:i}", "completion_tokens", 0, "prompt_tokens", 0,
				"total_tokens", 0)),
	};
}

/* Adds a message of the initial history, with the results of its calls. */
static int add_group(
	struct turn *turn, const json_t *messages, size_t index, struct wfs_error *error)
{
	const size_t size = group_size(messages, index);
	WFS_AUTO_JSON json_t *message = wfs_json_copy(json_array_get(messages, index));
	WFS_AUTO_JSON json_t *results = json_array();

	for (size_t i = 1; i < size; i++)
		if (json_array_append(results, json_array_get(messages, index + i)) < 0)
			return fold_no_memory(error);
	if (!message || !results || (size > 1 && json_object_set(message, "results", results) < 0))
		return fold_no_memory(error);
	return wfs_trace(turn_add_message(turn, message, (int64_t)size, error));
}

static int begin(struct turn *turn, const json_t *action, struct wfs_error *error)
{
	const json_t *const messages = json_object_get(action, "messages");
	const json_t *const failure = json_object_get(action, "failure");
	const json_t *const reflex = json_object_get(action, "reflex");
	int r = wfs_document_read_turn_setup(
		json_incref(json_object_get(action, "setup")), &turn->setup, error);

	if (!r)
		r = fold_put_turn_setup(turn->fold, turn->run_id, &turn->setup, error);
	for (size_t i = 0; !r && i < json_array_size(messages); i += group_size(messages, i))
		r = add_group(turn, messages, i, error);
	if (!r)
		r = turn_emit(turn, WFS_KERNEL_START,
			json_pack("{s:I, s:O, s:I}", "initial_messages_count",
				(json_int_t)json_array_size(messages), "max_turns",
				json_object_get(action, "max_turns"), "tools_count",
				(json_int_t)json_array_size(turn->setup.tools)),
			error);
	if (!r)
		r = turn_begin_mind(turn, action, error);
	if (!r && failure)
		r = turn_fail(turn, "error", "prompt", wfs_json_text(failure, "code"),
			wfs_json_text(failure, "message"), error);
	else if (!r)
		r = reflex ? turn_begin_reflex(turn, reflex, error) : turn_request(turn, error);
	return wfs_trace(r ? r : turn_store(turn, error));
}

/* Notes the caller of a run. A run begun by a tool call has the number of runs above it, so that
 * any chain of runs is bounded, even if it leads back to one agent. */
static int set_caller(struct turn *turn, const json_t *action, struct wfs_error *error)
{
	json_t *const intent_id = json_object_get(action, "called_by");
	TURN_AUTO struct turn caller = {.fold = turn->fold};
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	int r = intent_id ? intent_begin(turn->fold, json_string_value(intent_id), turn->run_id,
				    &intent, error)
			  : 0;

	if (!r && intent_id)
		r = turn_load(turn->fold, intent.run_id, &caller, error);
	if (r || !intent_id)
		return wfs_trace(r);
	const int64_t depth = caller.state.depth < 0 ? 1 : caller.state.depth + 1;
	if (depth > WFS_TURN_DEPTH_MAX)
		return wfs_error_set(error, WFS_E_DEPTH_EXCEEDED,
			"the run would have the depth %lld below the first one ('%s' asks for "
			"it), at most %d are possible",
			(long long)depth, caller.run_id, WFS_TURN_DEPTH_MAX);
	turn->state.called_by = json_string_value(intent_id);
	turn->state.depth = depth;
	turn->state.top = json_string_value(
		turn_own(turn, json_string(depth > 1 ? caller.state.top : caller.state.run_id)));
	return 0;
}

static int begin_paid(struct wfs_fold *fold, const json_t *action, const char *agent,
	json_t **ret_answer, struct wfs_error *error)
{
	char run_id[WFS_TURN_ID_MAX + 1];
	TURN_AUTO struct turn turn = {.fold = fold, .run_id = run_id};
	int r = action_pay_run(fold, agent, error);

	if (r)
		return wfs_trace(r);
	snprintf(run_id, sizeof(run_id), "%s.%llu", agent, (unsigned long long)fold->head->height);
	set_first(&turn, action);
	r = set_caller(&turn, action, error);
	if (r)
		return wfs_trace(r);
	r = fold_touch_unread(fold, fold_builtin(fold, WFS_BUILTIN_TURN), wfs_bytes_text(run_id),
		&turn.state.own.cell, error);
	if (!r)
		r = begin(&turn, action, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:s}", "run_id", run_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

int turn_fold_step(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const agent = json_string_value(json_object_get(action, "agent"));

	int r = intent_check_room(fold, error);
	if (r)
		return r;
	r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, agent, error);
	if (r < 0)
		return wfs_trace(r);
	if (!r && !fold->input.partial)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"Agent '%.140s' not found: there is no such principal", agent);
	const struct fold_mark mark = fold_mark(fold);
	r = begin_paid(fold, action, agent, ret_answer, error);
	if (r)
		fold_take_back(fold, &mark);
	else
		fold_keep(fold, &mark);
	return wfs_trace(r);
}
