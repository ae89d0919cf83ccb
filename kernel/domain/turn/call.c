/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tool calls: begins those that a model wants, a bounded number at once, and takes their results.
 * A call that cannot be made is answered here with the reason; the others go on.
 */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/read/text.h"

/* --- the cells of calls --- */

static void key_of(const struct turn *turn, int64_t number, int64_t index,
	char ret_key[static WFS_TURN_ID_MAX + 48])
{
	snprintf(ret_key, WFS_TURN_ID_MAX + 48, "%s.%lld.%lld", turn->run_id, (long long)number,
		(long long)index);
}

int turn_call_of(struct turn *turn, int64_t number, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error)
{
	char key[WFS_TURN_ID_MAX + 48];

	key_of(turn, number, index, key);
	return wfs_trace(fold_read_tool_call(turn->fold, key, ret_call, error));
}

int turn_call_load(struct turn *turn, int64_t index, struct wfs_document_tool_call *ret_call,
	struct wfs_error *error)
{
	int r = turn_call_of(turn, turn->state.turn, index, ret_call, error);

	if (!r && !ret_call->own.json)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "turn '%s' has no call %lld",
			turn->run_id, (long long)index);
	return wfs_trace(r);
}

int turn_describe_call(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	json_t **ret_call, struct wfs_error *error)
{
	struct turn turn = {.fold = fold, .run_id = intent->run_id};
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	int r = turn_call_of(&turn, intent->turn, intent->call, &call, error);

	if (r)
		return wfs_trace(r);
	*ret_call = json_pack("{s:s, s:s, s:s, s:I}", "call_id", call.id, "run_id", turn.run_id,
		"tool_name", call.name, "turn", (json_int_t)intent->turn);
	return *ret_call ? 0 : fold_no_memory(error);
}

/* --- refused calls --- */

static bool is_offered(const struct turn *turn, const char *name)
{
	size_t i;
	const json_t *offered;
	const char *const choice = wfs_json_text(turn->setup.settings, "tool_choice");

	if (choice && strcmp(choice, "none") == 0)
		return false;
	json_array_foreach(turn->setup.offered, i, offered)
		if (strcmp(json_string_value(offered), name) == 0)
			return true;
	return false;
}

static const json_t *tool_of(const struct turn *turn, const char *name)
{
	size_t i;
	const json_t *tool;

	json_array_foreach(turn->setup.tools, i, tool)
		if (strcmp(wfs_json_text(tool, "name"), name) == 0)
			return tool;
	return NULL;
}

/* Parses arguments. Return: new reference; NULL with @reason, or without memory. */
static json_t *arguments_of(const char *text, struct wfs_error *reason)
{
	WFS_AUTO_JSON json_t *arguments = NULL;

	if (!*text)
		return json_object();
	if (wfs_json_parse_bounded(text, strlen(text), &arguments, reason))
		return NULL;
	if (json_is_object(arguments))
		return WFS_STEAL(arguments);
	(void)wfs_error_set(
		reason, WFS_E_INVALID_ARGUMENT, "expected a JSON object, got another value");
	return NULL;
}

/*
 * Finds the output of a call that cannot be made; NULL: the call can be made.
 * @reason: the error of its arguments, or NULL
 * @ret_problem: caller frees
 * Return: 0, -ENOMEM.
 */
static int judge_call(const struct turn *turn, const json_t *call, bool cut,
	const struct wfs_error *reason, char **ret_problem)
{
	const char *const name = wfs_json_text(call, "name");
	char *problem = NULL;
	int size = 0;

	if (!*name)
		size = asprintf(&problem,
			"The call has no function name; expected {\"function\": {\"name\", "
			"\"arguments\"}}.");
	else if (!tool_of(turn, name))
		size = asprintf(&problem, "Unknown tool: %s", name);
	else if (!is_offered(turn, name))
		size = asprintf(&problem, "Tool not offered: %s", name);
	else if (cut)
		size = asprintf(&problem,
			"The answer was cut off at its maximum length (finish_reason length), so "
			"the arguments may be incomplete. The tool was not run. Ask for less at "
			"once.");
	else if (reason)
		size = asprintf(&problem,
			"The tool was not run, because its arguments cannot be taken: %s. They "
			"were: %.2000s",
			reason->message, wfs_json_text(call, "arguments"));
	if (size < 0)
		return -ENOMEM;
	if (problem)
		wfs_utf8_clean(problem, (size_t)size); /* a character may have been cut */
	*ret_problem = problem;
	return 0;
}

/* --- making the cells --- */

/* Makes an id that no earlier call has. @ids: those of the earlier calls; gets it */
static json_t *unique_id(const struct turn *turn, const json_t *call, size_t index, json_t *ids)
{
	const char *const given = wfs_json_text(call, "id");
	WFS_AUTO_JSON json_t *id = *given && !json_object_get(ids, given)
		? json_string(given)
		: json_sprintf(
			  "call_%s_%lld_%zu", turn->run_id, (long long)turn->state.turn, index);

	return id && json_object_set_new(ids, json_string_value(id), json_true()) == 0
		? WFS_STEAL(id)
		: NULL;
}

/* Is the text JSON, even of a kind that is refused? Return: 1, 0, -ENOMEM. */
static int is_json(const char *text)
{
	WFS_AUTO_JSON json_t *value = NULL;
	int r = wfs_json_look(text, strlen(text), &value);

	return r == -ENOMEM ? r : r == 0;
}

/* Makes the cell of a call. Arguments are kept as they came. Those that are not JSON are not sent
 * back to the model, because servers refuse a history with them. */
static int make_call(struct turn *turn, const json_t *call, size_t index, bool cut, json_t *ids,
	struct wfs_error *error)
{
	const char *const text = wfs_json_text(call, "arguments");
	json_t *const given = json_object_get(call, "arguments");
	const bool hidden = wfs_text_is_hidden(given, NULL);
	struct wfs_error reason = {0};
	WFS_AUTO_JSON json_t *id = unique_id(turn, call, index, ids);
	WFS_AUTO_JSON json_t *arguments = hidden ? json_incref(given) : arguments_of(text, &reason);
	WFS_AUTO_FREE char *problem = NULL;
	char key[WFS_TURN_ID_MAX + 48];
	int r = arguments || reason.code != WFS_OK ? turn_setup(turn, error)
						   : fold_no_memory(error);

	const int echoed = hidden || arguments || !*text ? 1 : is_json(text);
	if (!r && echoed < 0)
		r = fold_no_memory(error);
	if (!r && judge_call(turn, call, cut, arguments ? NULL : &reason, &problem))
		r = fold_no_memory(error);
	if (r)
		return wfs_trace(r);
	WFS_AUTO_JSON json_t *echo =
		hidden ? json_incref(given) : json_string(*text && echoed ? text : "{}");
	const struct wfs_document_tool_call document = {.arguments = echo,
		.id = json_string_value(id),
		.name = wfs_json_text(call, "name"),
		.status = "waiting",
		.problem = problem,
		.duration_ms = -1,
		.output_size = -1};
	key_of(turn, turn->state.turn, (int64_t)index, key);
	return wfs_trace(fold_put_tool_call(turn->fold, key, &document, error));
}

int turn_make_calls(struct turn *turn, const json_t *calls, bool cut, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *ids = json_object();
	const size_t count = json_array_size(calls);
	int r = ids ? 0 : fold_no_memory(error);

	for (size_t i = 0; !r && i < count; i++)
		r = make_call(turn, json_array_get(calls, i), i, cut && i + 1 == count, ids, error);
	turn->state.calls = turn_own(turn,
		json_pack("{s:I, s:i, s:i, s:i}", "count", (json_int_t)count, "done", 0, "errors",
			0, "next", 0));
	turn->state.tool_calls =
		(turn->state.tool_calls < 0 ? 0 : turn->state.tool_calls) + (int64_t)count;
	return wfs_trace(r);
}

/* --- results --- */

/* Gets the first characters of a text, for an event. */
static json_t *preview_of(const char *text)
{
	size_t size = 0;

	for (int i = 0; i < WFS_TURN_PREVIEW_MAX && text[size]; i++)
		do
			size++;
		while (((unsigned char)text[size] & 0xc0) == 0x80);
	return json_stringn(text, size);
}

static void count(struct turn *turn, const char *member)
{
	json_t *const number = json_object_get(turn->state.calls, member);

	turn->failed |= json_integer_set(number, json_integer_value(number) + 1) < 0;
}

static int64_t counted(const struct turn *turn, const char *member)
{
	return json_integer_value(json_object_get(turn->state.calls, member));
}

int turn_result(
	struct turn *turn, int64_t index, const struct turn_result *result, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	WFS_AUTO_JSON json_t *output =
		result->hidden ? json_incref(result->hidden) : json_string(result->output);
	int r = turn_call_load(turn, index, &call, error);

	if (!r && !output)
		r = fold_no_memory(error);
	if (r)
		return wfs_trace(r);
	call.status = "done";
	call.problem = NULL;
	call.duration_ms = result->duration_ms;
	call.is_error = json_boolean(result->is_error);
	call.output = output;
	call.output_size = result->output_size;
	r = fold_write_tool_call(turn->fold, &call, error);
	count(turn, "done");
	if (result->is_error)
		count(turn, "errors");
	if (!r)
		r = turn_remember_action(turn, call.name, result, error);
	if (r)
		return wfs_trace(r);
	return wfs_trace(turn_emit(turn, WFS_KERNEL_RESULT,
		json_pack("{s:s, s:I, s:b, s:o, s:I, s:s, s:I}", "call_id", call.id, "duration_ms",
			(json_int_t)result->duration_ms, "is_error", result->is_error,
			"output_preview",
			result->hidden ? json_incref(result->hidden) : preview_of(result->output),
			"output_size", (json_int_t)result->output_size, "tool_name", call.name,
			"turn", (json_int_t)turn->state.turn),
		error));
}

/* --- beginning calls --- */

/* Folds `submit_result`, which ends the run with the given result. */
static int take_final(struct turn *turn, int64_t index, json_t *arguments, struct wfs_error *error)
{
	json_t *const given = json_object_get(arguments, "result");
	const char *const output =
		given ? "The result is taken." : "Tool execution failed: 'result' is missing";
	const struct turn_result result = {
		.is_error = !given, .output = output, .output_size = (int64_t)strlen(output)};

	if (given)
		turn->state.final = turn_own(
			turn, json_pack("{s:I, s:O}", "call", (json_int_t)index, "result", given));
	return wfs_trace(turn_result(turn, index, &result, error));
}

static int refuse_call(
	struct turn *turn, int64_t index, const char *problem, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};

	wfs_buffer_append_text(&output, problem);
	wfs_turn_cut(&output);
	const struct turn_result result = {.is_error = true,
		.output = wfs_buffer_text(&output),
		.output_size = (int64_t)strlen(problem)};
	if (wfs_buffer_check(&output))
		return fold_no_memory(error);
	return wfs_trace(turn_result(turn, index, &result, error));
}

static int begin_call(struct turn *turn, int64_t index, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	struct wfs_error reason = {0};
	int r = turn_call_load(turn, index, &call, error);

	if (!r)
		r = turn_setup(turn, error);
	if (r)
		return wfs_trace(r);
	const char *const text = json_string_value(call.arguments);
	WFS_AUTO_JSON json_t *arguments =
		text ? arguments_of(text, &reason) : json_incref(call.arguments); /* hidden */
	if (!arguments && reason.code != WFS_OK) /* the event shows refused arguments as a text */
		arguments = json_incref(call.arguments);
	r = turn_emit(turn, WFS_KERNEL_CALL,
		json_pack("{s:O, s:s, s:s, s:I}", "arguments", arguments, "call_id", call.id,
			"tool_name", call.name, "turn", (json_int_t)turn->state.turn),
		error);
	if (r)
		return wfs_trace(r);
	if (call.problem)
		return wfs_trace(refuse_call(turn, index, call.problem, error));
	const char *const kind = wfs_json_text(tool_of(turn, call.name), "kind");
	if (kind && strcmp(kind, "result") == 0)
		return wfs_trace(take_final(turn, index, arguments, error));
	return wfs_trace(turn_ask(turn, WFS_EFFECT_TOOL_CALL,
		json_pack("{s:I, s:s, s:s, s:s, s:I}", "call", (json_int_t)index, "call_id",
			call.id, "name", call.name, "run_id", turn->run_id, "turn",
			(json_int_t)turn->state.turn),
		index, error));
}

static int complete(struct turn *turn, struct wfs_error *error)
{
	int r = turn_emit(turn, WFS_KERNEL_TURN,
		json_pack("{s:I, s:I, s:I, s:I}", "errors_count",
			(json_int_t)counted(turn, "errors"), "tool_calls_count",
			(json_int_t)counted(turn, "count"), "tool_results_count",
			(json_int_t)counted(turn, "done"), "turn", (json_int_t)turn->state.turn),
		error);

	if (r)
		return wfs_trace(r);
	if (turn->state.final)
		return wfs_trace(turn_end(turn, "termination_tool", error));
	if (turn->state.reflex)
		return wfs_trace(turn_end(turn, "reflex", error));
	return wfs_trace(turn_request(turn, error));
}

static size_t at_once(const struct turn *turn)
{
	const int64_t set = turn_setting(turn, "max_concurrency", 1);

	if (set > WFS_TURN_CONCURRENCY_MAX)
		return WFS_TURN_CONCURRENCY_MAX;
	return set > 1 ? (size_t)set : 1;
}

int turn_go_on(struct turn *turn, struct wfs_error *error)
{
	int r = turn_setup(turn, error);

	while (!r && counted(turn, "next") < counted(turn, "count") &&
		turn_open_count(turn) < at_once(turn)) {
		const int64_t index = counted(turn, "next");

		count(turn, "next");
		r = begin_call(turn, index, error);
	}
	if (r || counted(turn, "done") < counted(turn, "count"))
		return wfs_trace(r);
	return wfs_trace(complete(turn, error));
}
