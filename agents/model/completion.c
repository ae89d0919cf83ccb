/* SPDX-License-Identifier: Apache-2.0 */
/* Makes completions, and reads one from an answer that is not a stream. */
#include "agents/model/completion.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/base/json.h"

#define REFUSED "content_filter"

static bool has_text(const json_t *json)
{
	return json_is_string(json) && json_string_length(json) > 0;
}

/* --- making --- */

/* Can this be a count of tokens? Counts are summed over turns, so they must stay far below 2^63. */
static bool is_count(const json_t *json)
{
	return json_is_integer(json) && json_integer_value(json) >= 0 &&
		json_integer_value(json) <= UINT32_MAX;
}

/* Servers omit the total, and vLLM sends null for a completion that has no tokens yet. */
static json_t *usage_new(const json_t *usage)
{
	const json_t *const prompt = json_object_get(usage, "prompt_tokens");
	const json_t *const completion = json_object_get(usage, "completion_tokens");
	const json_t *const total = json_object_get(usage, "total_tokens");
	json_int_t sum;

	if (!is_count(prompt) || (completion && !json_is_null(completion) && !is_count(completion)))
		return json_null();
	sum = json_integer_value(prompt) + json_integer_value(completion); /* 0 for null */
	return json_pack("{s:I, s:I, s:I}", "prompt_tokens", json_integer_value(prompt),
		"completion_tokens", json_integer_value(completion), "total_tokens",
		is_count(total) ? json_integer_value(total) : sum);
}

/* Sets a member to a text, or to null for other values. */
static int set_text(json_t *object, const char *name, json_t *text)
{
	return json_is_string(text) ? json_object_set(object, name, text)
				    : json_object_set_new(object, name, json_null());
}

int wfs_completion_new(const struct wfs_completion_parts *parts, json_t **ret_completion)
{
	const bool refused = !has_text(parts->content) && has_text(parts->refusal);
	WFS_AUTO_JSON json_t *completion = json_object();
	int r = completion ? 0 : -1;

	r |= set_text(completion, "content", refused ? parts->refusal : parts->content);
	r |= json_is_array(parts->tool_calls)
		? json_object_set(completion, "tool_calls", parts->tool_calls)
		: json_object_set_new(completion, "tool_calls", json_array());
	r |= refused ? json_object_set_new(completion, "finish_reason", json_string(REFUSED))
		     : set_text(completion, "finish_reason", parts->finish_reason);
	r |= json_object_set_new(completion, "usage", usage_new(parts->usage));
	if (json_is_string(parts->model))
		r |= json_object_set(completion, "model", parts->model);
	if (r)
		return -ENOMEM;
	*ret_completion = WFS_STEAL(completion);
	return 0;
}

/* Return: new reference, NULL without memory. */
static json_t *raw_arguments(json_t *arguments)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (json_is_string(arguments))
		return json_incref(arguments);
	wfs_json_write(arguments, &text);
	if (wfs_buffer_check(&text) < 0)
		return NULL;
	return json_stringn(text.data, text.size);
}

int wfs_completion_call_add(json_t *tool_calls, json_t *id, json_t *name, json_t *arguments)
{
	WFS_AUTO_JSON json_t *call = json_object();
	int r = call ? 0 : -1;

	if (has_text(id))
		r |= json_object_set(call, "id", id);
	if (has_text(name))
		r |= json_object_set(call, "name", name);
	if (arguments && !json_is_null(arguments))
		r |= json_object_set_new(call, "arguments", raw_arguments(arguments));
	r |= json_array_append(tool_calls, call);
	return r ? -ENOMEM : 0;
}

/* --- reading --- */

int wfs_completion_too_many(struct wfs_model_failure *failure)
{
	return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TOO_LARGE, WFS_MODEL_CODE_TOO_LARGE,
		"expected at most %d tool calls, got more", WFS_COMPLETION_CALLS_MAX);
}

static int read_calls(const json_t *list, json_t **ret_calls, struct wfs_model_failure *failure)
{
	WFS_AUTO_JSON json_t *calls = json_array();
	const size_t count = json_array_size(list);

	if (list && !json_is_null(list) && !json_is_array(list))
		return wfs_model_failure_refuse(failure, "expected a list of tool_calls", list);
	if (count > WFS_COMPLETION_CALLS_MAX)
		return wfs_completion_too_many(failure);
	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *const call = json_array_get(list, i);
		const json_t *const function = json_object_get(call, "function");
		const int r = wfs_completion_call_add(calls, json_object_get(call, "id"),
			json_object_get(function, "name"), json_object_get(function, "arguments"));

		if (r < 0)
			return r;
	}
	*ret_calls = WFS_STEAL(calls);
	return 0;
}

/* Some servers send content as parts: [{"type": "text", "text": …}].
 * Return: NULL without memory. */
static json_t *join_parts(const json_t *parts)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *const part = json_object_get(json_array_get(parts, i), "text");

		wfs_buffer_append(&text, json_string_value(part), json_string_length(part));
	}
	if (wfs_buffer_check(&text) < 0)
		return NULL;
	return json_stringn(wfs_buffer_text(&text), text.size);
}

static int read_content(json_t *content, json_t **ret_content, struct wfs_model_failure *failure)
{
	if (json_is_array(content))
		*ret_content = join_parts(content);
	else if (!content || json_is_null(content) || json_is_string(content))
		*ret_content = json_incref(content ? content : json_null());
	else
		return wfs_model_failure_refuse(
			failure, "expected a text as content of the message", content);
	return *ret_content ? 0 : -ENOMEM;
}

int wfs_completion_read(
	const json_t *answer, json_t **ret_completion, struct wfs_model_failure *failure)
{
	const json_t *const choices = json_object_get(answer, "choices");
	const json_t *const choice = json_array_get(choices, 0);
	const json_t *const message = json_object_get(choice, "message");
	WFS_AUTO_JSON json_t *content = NULL;
	WFS_AUTO_JSON json_t *calls = NULL;
	int r;

	if (!json_is_array(choices))
		return wfs_model_failure_refuse(
			failure, "expected a list of choices in the answer", answer);
	if (!choice)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_NO_CHOICES,
			"expected a choice in the answer, got an empty list of choices");
	if (!json_is_object(message))
		return wfs_model_failure_refuse(
			failure, "expected a message in the first choice", choice);
	r = read_content(json_object_get(message, "content"), &content, failure);
	if (r == 0)
		r = read_calls(json_object_get(message, "tool_calls"), &calls, failure);
	if (r < 0)
		return r;
	const struct wfs_completion_parts parts = {
		.content = content,
		.refusal = json_object_get(message, "refusal"),
		.tool_calls = calls,
		.finish_reason = json_object_get(choice, "finish_reason"),
		.usage = json_object_get(answer, "usage"),
		.model = json_object_get(answer, "model"),
	};
	return wfs_completion_new(&parts, ret_completion);
}
