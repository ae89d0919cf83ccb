/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the model, and folds its answer.
 *
 * The model is sent a part of the history, which itself is kept whole. The part is counted in
 * messages and cut in groups: an assistant's message and all results of its calls are kept or left
 * out together. The leading system messages and the latest user message are pinned, that is,
 * always sent; of the others the newest groups are sent, and at least one.
 * Source: docs/design.md §11.
 */
#include "kernel/base/json.h"
#include "kernel/domain/action/act.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/turn/turn-impl.h"

/* --- the part that is sent --- */

static bool is_pinned(const struct turn *turn, size_t group)
{
	const json_t *const pins = turn->state.pins;
	size_t i;
	const json_t *pin;

	json_array_foreach(pins, i, pin)
		if (json_integer_value(pin) == (json_int_t)group)
			return true;
	return false;
}

static int64_t size_of(const struct turn *turn, size_t group)
{
	return json_integer_value(json_array_get(turn->state.groups, group));
}

static size_t group_count(const struct turn *turn)
{
	return json_array_size(turn->state.groups);
}

static int64_t pinned_size(const struct turn *turn)
{
	const json_t *const pins = turn->state.pins;
	int64_t size = 0;
	size_t i;
	const json_t *pin;

	json_array_foreach(pins, i, pin)
		size += size_of(turn, (size_t)json_integer_value(pin));
	return size;
}

/* Sets the first group to be sent, apart from pinned ones. @ret_count: messages that are sent */
static void choose_from(struct turn *turn, int64_t max, int64_t *ret_count)
{
	int64_t count = pinned_size(turn);
	const size_t groups = group_count(turn);
	size_t from = groups;

	for (; from > 0; from--) {
		const int64_t size = is_pinned(turn, from - 1) ? 0 : size_of(turn, from - 1);

		if (from < groups && size > 0 && max > 0 && count + size > max)
			break;
		count += size;
	}
	turn->state.from = (int64_t)from;
	*ret_count = count;
}

/* Leaves out one more group that is not pinned, but never the newest. Return: false: no group can
 * be left out. */
static bool leave_one_out(struct turn *turn, int64_t *ret_count)
{
	const size_t groups = group_count(turn);
	size_t from = (size_t)turn->state.from;
	int64_t count = pinned_size(turn);

	while (from < groups && is_pinned(turn, from))
		from++;
	if (from + 1 >= groups)
		return false;
	for (size_t i = from + 1; i < groups; i++)
		count += is_pinned(turn, i) ? 0 : size_of(turn, i);
	turn->state.from = (int64_t)from + 1;
	*ret_count = count;
	return true;
}

/* --- asking --- */

static int ask(struct turn *turn, int64_t count, bool again, struct wfs_error *error)
{
	const int64_t max = turn_setting(turn, "max_history_messages", 0);
	const json_int_t number = turn->state.turn;
	const char *const entry = turn->setup.model;
	json_t *const asked = turn->setup.asked_model;
	const json_int_t tools = (json_int_t)json_array_size(turn->setup.offered);
	json_t *const event =
		json_pack("{s:s, s:I, s:o, s:I, s:I}", "entry", entry, "messages_count",
			(json_int_t)count, "model", asked ? json_incref(asked) : json_string(entry),
			"tools_count", tools, "turn", number);

	if (again && json_object_set_new(event, "retry", json_true()) < 0) {
		json_decref(event);
		return fold_no_memory(error);
	}
	if (max > 0 && count > max &&
		json_object_set_new(event, "warning",
			json_sprintf(
				"%lld messages are sent, more than max_history_messages (%lld): "
				"pinned ones and the newest group are never left out",
				(long long)count, (long long)max)) < 0) {
		json_decref(event);
		return fold_no_memory(error);
	}
	int r = turn_emit(turn, WFS_KERNEL_REQUEST, event, error);
	if (!r)
		r = turn_ask(turn, WFS_EFFECT_LLM_GENERATE,
			json_pack("{s:s, s:s, s:I}", "model", entry, "run_id", turn->run_id, "turn",
				number),
			-1, error);
	return wfs_trace(r);
}

int turn_request(struct turn *turn, struct wfs_error *error)
{
	const int64_t number = turn->state.turn;
	int64_t count;
	int r = turn_setup(turn, error);

	if (r)
		return wfs_trace(r);
	if (number >= turn->state.max_turns)
		return wfs_trace(turn_end(turn, "max_turns", error));
	turn->state.turn = number + 1;
	turn->state.retried = false;
	turn->state.calls = turn_own(turn,
		json_pack("{s:i, s:i, s:i, s:i}", "count", 0, "done", 0, "errors", 0, "next", 0));
	choose_from(turn, turn_setting(turn, "max_history_messages", 0), &count);
	return wfs_trace(ask(turn, count, false, error));
}

int turn_request_again(struct turn *turn, struct wfs_error *error)
{
	int64_t count;
	int r = turn_setup(turn, error);

	if (r)
		return wfs_trace(r);
	if (turn->state.retried || !leave_one_out(turn, &count))
		return 1;
	turn->state.retried = true;
	return wfs_trace(ask(turn, count, true, error));
}

/* --- the answer --- */

static const char *const usage_members[] = {"completion_tokens", "prompt_tokens", "total_tokens"};

/* Adds to the sums of usage. A turn without usage marks them as incomplete. */
static int64_t add_usage(struct turn *turn, const json_t *usage)
{
	json_t *const sum = turn->state.usage;

	if (!json_is_object(usage))
		turn->state.usage_incomplete = true;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(usage_members); i++) {
		const char *const name = usage_members[i];
		const int64_t one = json_integer_value(json_object_get(usage, name));
		int64_t all = json_integer_value(json_object_get(sum, name));

		if (one < 0 || __builtin_add_overflow(all, one, &all))
			continue;
		turn->failed |= json_object_set_new(sum, name, json_integer(all)) < 0;
	}
	return json_integer_value(json_object_get(usage, "total_tokens"));
}

static int tell_answer(struct turn *turn, const json_t *completion, struct wfs_error *error)
{
	json_t *const raw = json_object_get(completion, "raw_content");
	json_t *const content = raw ? raw : json_object_get(completion, "content");
	json_t *const usage = json_object_get(completion, "usage");
	const json_t *const native = json_object_get(completion, "native_calls_count");

	return wfs_trace(turn_emit(turn, WFS_KERNEL_RESPONSE,
		json_pack("{s:O?, s:I, s:I, s:I, s:O?}", "content", content, "duration_ms",
			json_integer_value(json_object_get(completion, "duration_ms")),
			"tool_calls_count",
			native ? json_integer_value(native)
			       : (json_int_t)json_array_size(
					 json_object_get(completion, "tool_calls")),
			"turn", (json_int_t)turn->state.turn, "usage",
			json_is_object(usage) ? usage : NULL),
		error));
}

/* Keeps the assistant's message. Results of its calls are not messages of their own, but are
 * stored with the calls. */
static int keep_answer(
	struct turn *turn, const json_t *completion, size_t call_count, struct wfs_error *error)
{
	json_t *const content = json_object_get(completion, "content");
	WFS_AUTO_JSON json_t *message = call_count > 0
		? json_pack("{s:O?, s:O*, s:s, s:I, s:I}", "content", content, "raw_content",
			  json_object_get(completion, "raw_content"), "role", "assistant",
			  "tool_call_count", (json_int_t)call_count, "turn",
			  (json_int_t)turn->state.turn)
		: json_pack("{s:O?, s:s}", "content", content, "role", "assistant");

	if (!message)
		return fold_no_memory(error);
	turn->state.last_assistant = (int64_t)json_array_size(turn->state.groups);
	return wfs_trace(turn_add_message(turn, message, 1 + (int64_t)call_count, error));
}

/* Ends the run after an answer without calls. */
static int end_of(struct turn *turn, const char *finish_reason, struct wfs_error *error)
{
	static const char *const reasons[] = {"length", "content_filter"};
	const char *reason = "no_tool_calls";
	int r = turn_emit(turn, WFS_KERNEL_TURN,
		json_pack("{s:i, s:i, s:i, s:I}", "errors_count", 0, "tool_calls_count", 0,
			"tool_results_count", 0, "turn", (json_int_t)turn->state.turn),
		error);

	for (size_t i = 0; finish_reason && i < WFS_ARRAY_COUNT(reasons); i++)
		if (strcmp(finish_reason, reasons[i]) == 0)
			reason = reasons[i];
	return wfs_trace(r ? r : turn_end(turn, reason, error));
}

int turn_spend(struct turn *turn, const json_t *usage, struct wfs_error *error)
{
	const int64_t tokens = add_usage(turn, usage);

	return tokens > 0 ? wfs_trace(account_spend(turn->fold, turn->state.agent,
				    ACCOUNT_LLM_TOKENS, tokens, error))
			  : 0;
}

int turn_answer(struct turn *turn, const json_t *completion, struct wfs_error *error)
{
	const json_t *const calls = json_object_get(completion, "tool_calls");
	const size_t count = json_array_size(calls);
	const char *const finish_reason = wfs_json_text(completion, "finish_reason");
	char message[128];
	int r = tell_answer(turn, completion, error);

	if (!r)
		r = turn_spend(turn, json_object_get(completion, "usage"), error);
	if (r)
		return wfs_trace(r);
	if (count > WFS_TURN_CALLS_MAX) {
		snprintf(message, sizeof(message),
			"Model API call failed: the answer has %zu tool calls, at most %d are "
			"taken",
			count, WFS_TURN_CALLS_MAX);
		return wfs_trace(turn_fail(turn, "error", "answer", "too_large", message, error));
	}
	r = keep_answer(turn, completion, count, error);
	if (r)
		return wfs_trace(r);
	if (count == 0)
		return wfs_trace(end_of(turn, finish_reason, error));
	r = turn_make_calls(
		turn, calls, finish_reason && strcmp(finish_reason, "length") == 0, error);
	return wfs_trace(r ? r : turn_go_on(turn, error));
}
