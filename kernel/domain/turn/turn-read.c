/* SPDX-License-Identifier: Apache-2.0 */
/* Reads runs from a view. */
#include "kernel/domain/turn/turn-read.h"

#include "kernel/base/json.h"

/* Output of a call that was not answered before its run ended. */
#define NO_RESULT "(no result)"

static int read_cell(struct wfs_view *view, enum wfs_builtin_reducer reducer, const char *key,
	json_t **ret_document, struct wfs_error *error)
{
	int r = wfs_view_document(view, reducer, key, ret_document, error);

	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "%s has no cell '%s'",
			wfs_builtin_reducer_name(reducer), key);
	return wfs_trace(r);
}

int wfs_turn_state(struct wfs_view *view, const char *run_id, struct wfs_document_turn *ret_run,
	struct wfs_error *error)
{
	json_t *json = NULL;
	int r = wfs_view_document(view, WFS_BUILTIN_TURN, run_id, &json, error);
	const int read = wfs_document_read_turn(json, ret_run, r ? NULL : error);

	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Turn '%.200s' not found", run_id);
	return wfs_trace(r ? r : read);
}

int wfs_turn_version(
	struct wfs_view *view, const struct wfs_version *version, struct wfs_document_turn *ret_run)
{
	json_t *json = NULL;
	int r = wfs_view_state(view, version, &json);
	const int read = wfs_document_read_turn(json, ret_run, NULL);

	return wfs_trace(r ? r : read);
}

int wfs_turn_setup(
	struct wfs_view *view, const char *run_id, json_t **ret_setup, struct wfs_error *error)
{
	return wfs_trace(read_cell(view, WFS_BUILTIN_TURN_SETUP, run_id, ret_setup, error));
}

int wfs_turn_call(struct wfs_view *view, const char *run_id, int64_t turn, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error)
{
	char key[WFS_TURN_ID_MAX + 48];
	json_t *json = NULL;

	snprintf(key, sizeof(key), "%s.%lld.%lld", run_id, (long long)turn, (long long)index);
	int r = read_cell(view, WFS_BUILTIN_TOOL_CALL, key, &json, error);
	const int read = wfs_document_read_tool_call(json, ret_call, r ? NULL : error);
	return wfs_trace(r ? r : read);
}

/* --- messages --- */

static int no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "read a turn");
}

/* Appends a call to the message that wants it, and makes the message that answers it. */
static int add_call(const struct wfs_document_tool_call *call, json_t *tool_calls, json_t *messages,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *none = json_string(NO_RESULT);
	json_t *const wanted = json_pack("{s:O, s:s, s:s}", "arguments", call->arguments, "id",
		call->id, "name", call->name);
	json_t *const answer = json_pack("{s:O, s:s, s:s}", "content",
		call->output ? call->output : none, "role", "tool", "tool_call_id", call->id);
	const int failed =
		json_array_append_new(tool_calls, wanted) | json_array_append_new(messages, answer);

	return failed ? no_memory(error) : 0;
}

/* Appends an assistant's message with its calls, and then their answers. */
static int add_calls(struct wfs_view *view, const char *run_id, json_t *message, json_t *messages,
	struct wfs_error *error)
{
	const int64_t count = json_integer_value(json_object_get(message, "tool_call_count"));
	const int64_t turn = json_integer_value(json_object_get(message, "turn"));
	json_t *const tool_calls = json_array();
	int r = json_object_set_new(message, "tool_calls", tool_calls) ? no_memory(error) : 0;

	(void)json_object_del(message, "tool_call_count");
	(void)json_object_del(message, "turn");
	for (int64_t i = 0; !r && i < count; i++) {
		WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;

		r = wfs_turn_call(view, run_id, turn, i, &call, error);
		if (!r)
			r = add_call(&call, tool_calls, messages, error);
	}
	return wfs_trace(r);
}

int wfs_turn_group(struct wfs_view *view, const char *run_id, size_t group, json_t *messages,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *message = NULL;
	char key[WFS_TURN_ID_MAX + 24];

	snprintf(key, sizeof(key), "%s.%zu", run_id, group);
	int r = read_cell(view, WFS_BUILTIN_MESSAGE, key, &message, error);
	if (r)
		return wfs_trace(r);
	if (json_array_append(messages, message) < 0)
		return no_memory(error);
	if (json_object_get(message, "tool_call_count"))
		return wfs_trace(add_calls(view, run_id, message, messages, error));
	/* The results of a message that the run began with. */
	WFS_AUTO_JSON json_t *results = json_incref(json_object_get(message, "results"));
	(void)json_object_del(message, "results");
	return results && json_array_extend(messages, results) < 0 ? no_memory(error) : 0;
}

/* Reads messages. @from: first group; earlier groups are read only if pinned */
static int read_messages(struct wfs_view *view, const struct wfs_document_turn *run, size_t from,
	json_t **ret_messages, struct wfs_error *error)
{
	const size_t count = json_array_size(run->groups);
	WFS_AUTO_JSON json_t *messages = json_array();
	int r = messages ? 0 : no_memory(error);

	for (size_t i = 0; !r && i < json_array_size(run->pins); i++) {
		const size_t pin = (size_t)json_integer_value(json_array_get(run->pins, i));

		if (pin < from)
			r = wfs_turn_group(view, run->run_id, pin, messages, error);
	}
	for (size_t i = from; !r && i < count; i++)
		r = wfs_turn_group(view, run->run_id, i, messages, error);
	if (!r)
		*ret_messages = WFS_STEAL(messages);
	return wfs_trace(r);
}

int wfs_turn_history(struct wfs_view *view, const struct wfs_document_turn *run,
	json_t **ret_messages, struct wfs_error *error)
{
	return wfs_trace(read_messages(view, run, 0, ret_messages, error));
}

int wfs_turn_sent(struct wfs_view *view, const struct wfs_document_turn *run, json_t **ret_messages,
	struct wfs_error *error)
{
	return wfs_trace(read_messages(view, run, (size_t)run->from, ret_messages, error));
}

/* --- the result --- */

static json_t *usage_of(const struct wfs_document_turn *run)
{
	WFS_AUTO_JSON json_t *usage = wfs_json_copy(run->usage);

	return json_object_set_new(usage, "incomplete", json_boolean(run->usage_incomplete)) == 0
		? WFS_STEAL(usage)
		: NULL;
}

static bool has_role(const json_t *message, const char *role)
{
	const char *const text = json_string_value(json_object_get(message, "role"));

	return text && strcmp(text, role) == 0;
}

/* Adds the last message of an assistant, if the last message is a tool's. */
static int add_last_assistant(json_t *result, const json_t *history)
{
	size_t i = json_array_size(history);

	if (i == 0 || !has_role(json_array_get(history, i - 1), "tool"))
		return 0;
	while (i > 0 && !has_role(json_array_get(history, i - 1), "assistant"))
		i--;
	return i > 0
		? json_object_set(result, "last_assistant_message", json_array_get(history, i - 1))
		: 0;
}

json_t *wfs_turn_compose(const struct wfs_document_turn *run, json_t *history)
{
	const size_t count = json_array_size(history);
	json_t *const final = json_object_get(run->final, "result");
	const bool cancelled = run->reason && strcmp(run->reason, "cancelled") == 0;
	WFS_AUTO_JSON json_t *nothing = json_pack("{s:s, s:s}", "content", "", "role", "assistant");
	WFS_AUTO_JSON json_t *result = json_pack("{s:s, s:O, s:O, s:b, s:s, s:s?, s:o, s:I}",
		"agent", run->agent, "final_message",
		count > 0 ? json_array_get(history, count - 1) : nothing, "history", history, "ok",
		!run->error && !cancelled, "run_id", run->run_id, "termination_reason", run->reason,
		"total_usage", usage_of(run), "turn_count", (json_int_t)run->turn);

	if (!result || (final && json_object_set(result, "final_tool_result", final) < 0) ||
		(run->error && json_object_set(result, "error", run->error) < 0) ||
		add_last_assistant(result, history) < 0)
		return NULL;
	return WFS_STEAL(result);
}

int wfs_turn_result(
	struct wfs_view *view, const char *run_id, json_t **ret_result, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	WFS_AUTO_JSON json_t *history = NULL;
	int r = wfs_turn_state(view, run_id, &run, error);

	if (!r && !run.reason)
		return wfs_error_set(error, WFS_E_BUSY, "turn '%s' goes on", run_id);
	if (!r)
		r = wfs_turn_history(view, &run, &history, error);
	if (r)
		return wfs_trace(r);
	*ret_result = wfs_turn_compose(&run, history);
	return *ret_result ? 0 : no_memory(error);
}
