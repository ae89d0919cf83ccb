/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the deltas of a streamed completion together. */
#include "agents/model/stream.h"

#include <errno.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/json.h"

struct stream_call {
	bool indexed;
	json_int_t index;
	json_t *id;   /* owned; NULL: none came */
	json_t *name; /* owned; NULL: none came */
	bool argued;  /* arguments came, maybe empty ones */
	struct wfs_buffer arguments;
};

struct wfs_stream {
	bool ended;
	struct wfs_buffer content;
	struct wfs_buffer refusal;
	struct stream_call *calls;
	size_t call_count;
	size_t call_capacity;
	json_t *finish_reason; /* owned; NULL: none came. So too the next ones */
	json_t *usage;
	json_t *model;
};

int wfs_stream_new(struct wfs_stream **ret_stream)
{
	struct wfs_stream *const stream = calloc(1, sizeof(*stream));

	if (!stream)
		return -ENOMEM;
	*ret_stream = stream;
	return 0;
}

void wfs_stream_free(struct wfs_stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->call_count; i++) {
		json_decref(stream->calls[i].id);
		json_decref(stream->calls[i].name);
		wfs_buffer_done(&stream->calls[i].arguments);
	}
	free(stream->calls);
	wfs_buffer_done(&stream->content);
	wfs_buffer_done(&stream->refusal);
	json_decref(stream->finish_reason);
	json_decref(stream->usage);
	json_decref(stream->model);
	free(stream);
}

/* --- tool calls --- */

/* What one delta says about a call; empty texts are NULL. Borrowed. */
struct call_delta {
	json_t *index;
	json_t *id;
	json_t *name;
	json_t *arguments;
};

static json_t *text_of(const json_t *object, const char *name)
{
	json_t *const text = json_object_get(object, name);

	return json_string_length(text) > 0 ? text : NULL;
}

static struct stream_call *call_with_id(struct wfs_stream *stream, const json_t *id)
{
	for (size_t i = 0; i < stream->call_count; i++)
		if (stream->calls[i].id && json_equal(stream->calls[i].id, id))
			return &stream->calls[i];
	return NULL;
}

/* Some servers number all calls 0, so the last call with the index is meant. */
static struct stream_call *call_with_index(struct wfs_stream *stream, json_int_t index)
{
	for (size_t i = stream->call_count; i-- > 0;)
		if (stream->calls[i].indexed && stream->calls[i].index == index)
			return &stream->calls[i];
	return NULL;
}

/* Finds the call that a delta without an id continues. */
static struct stream_call *call_continued(struct wfs_stream *stream, const struct call_delta *delta)
{
	struct stream_call *const last =
		stream->call_count > 0 ? &stream->calls[stream->call_count - 1] : NULL;

	if (delta->index) {
		struct stream_call *const call =
			call_with_index(stream, json_integer_value(delta->index));

		/* An unknown index without a name: some servers miscount. */
		return call || delta->name ? call : last;
	}
	/* Some servers send whole calls without index and id. */
	return last && last->name && delta->name ? NULL : last;
}

/* Return: the call that the delta belongs to, NULL: it begins a call. */
static struct stream_call *call_find(struct wfs_stream *stream, const struct call_delta *delta)
{
	struct stream_call *call = NULL;

	if (!delta->id)
		return call_continued(stream, delta);
	call = call_with_id(stream, delta->id);
	if (!call && delta->index) {
		call = call_with_index(stream, json_integer_value(delta->index));
		if (call && call->id)
			return NULL;
	}
	return call;
}

/* Return: 0, -EBADMSG, -ENOMEM. */
static int call_open(struct wfs_stream *stream, const struct call_delta *delta,
	struct stream_call **ret_call, struct wfs_model_failure *failure)
{
	struct stream_call *calls = NULL;

	if (stream->call_count == WFS_COMPLETION_CALLS_MAX)
		return wfs_completion_too_many(failure);
	calls = wfs_array_reserve(
		stream->calls, stream->call_count, &stream->call_capacity, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	stream->calls = calls;
	*ret_call = &calls[stream->call_count++];
	**ret_call = (struct stream_call){
		.indexed = delta->index != NULL,
		.index = json_integer_value(delta->index),
	};
	return 0;
}

static int add_call(
	struct wfs_stream *stream, const json_t *call_json, struct wfs_model_failure *failure)
{
	const json_t *const function = json_object_get(call_json, "function");
	json_t *const index = json_object_get(call_json, "index");
	const struct call_delta delta = {
		.index = json_is_integer(index) ? index : NULL,
		.id = text_of(call_json, "id"),
		.name = text_of(function, "name"),
		.arguments = json_object_get(function, "arguments"),
	};
	struct stream_call *call = call_find(stream, &delta);

	if (!call) {
		const int r = call_open(stream, &delta, &call, failure);

		if (r < 0)
			return r;
	}
	/* Id and name come once; servers that repeat them repeat them whole. */
	if (!call->id)
		call->id = json_incref(delta.id);
	if (!call->name)
		call->name = json_incref(delta.name);
	if (!delta.arguments || json_is_null(delta.arguments))
		return 0;
	call->argued = true;
	if (json_is_string(delta.arguments))
		wfs_buffer_append(&call->arguments, json_string_value(delta.arguments),
			json_string_length(delta.arguments));
	else
		wfs_json_write(delta.arguments, &call->arguments);
	return wfs_buffer_check(&call->arguments);
}

/* --- events --- */

static int add_text(struct wfs_buffer *buffer, const json_t *text)
{
	wfs_buffer_append(buffer, json_string_value(text), json_string_length(text));
	return wfs_buffer_check(buffer);
}

/* Keeps the last value that came. */
static void keep(json_t **kept, json_t *value)
{
	if (!value || json_is_null(value))
		return;
	json_decref(*kept);
	*kept = json_incref(value);
}

static int add_choice(
	struct wfs_stream *stream, const json_t *choice, struct wfs_model_failure *failure)
{
	const json_t *const delta = json_object_get(choice, "delta");
	const json_t *const calls = json_object_get(delta, "tool_calls");
	int r = add_text(&stream->content, json_object_get(delta, "content"));

	if (r == 0)
		r = add_text(&stream->refusal, json_object_get(delta, "refusal"));
	for (size_t i = 0; i < json_array_size(calls) && r == 0; i++)
		r = add_call(stream, json_array_get(calls, i), failure);
	keep(&stream->finish_reason, text_of(choice, "finish_reason"));
	return r;
}

int wfs_stream_event(
	struct wfs_stream *stream, struct wfs_bytes data, struct wfs_model_failure *failure)
{
	WFS_AUTO_JSON json_t *event = NULL;
	int r;

	if (stream->ended)
		return 0;
	if (wfs_bytes_equal(data, wfs_bytes_text("[DONE]"))) {
		stream->ended = true;
		return 0;
	}
	r = wfs_json_parse_bounded(data.data, data.size, &event, NULL);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !json_is_object(event))
		return wfs_model_failure_quote(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INVALID, "expected a JSON object in an event of the stream",
			data);
	r = wfs_model_failure_find(failure, event);
	if (r < 0)
		return r;
	keep(&stream->usage, json_object_get(event, "usage"));
	keep(&stream->model, text_of(event, "model"));
	/* One choice was requested; the last chunk has none. */
	return add_choice(stream, json_array_get(json_object_get(event, "choices"), 0), failure);
}

struct wfs_bytes wfs_stream_text(const struct wfs_stream *stream)
{
	return wfs_buffer_bytes(&stream->content);
}

bool wfs_stream_ended(const struct wfs_stream *stream)
{
	return stream->ended;
}

bool wfs_stream_complete(const struct wfs_stream *stream)
{
	return stream->finish_reason != NULL;
}

/* --- finishing --- */

/* Return: new reference, NULL without memory. */
static json_t *text_new(const struct wfs_buffer *buffer)
{
	return json_stringn(buffer->data ? buffer->data : "", buffer->size);
}

static int list_calls(const struct wfs_stream *stream, json_t **ret_calls)
{
	WFS_AUTO_JSON json_t *calls = json_array();

	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < stream->call_count; i++) {
		const struct stream_call *const call = &stream->calls[i];
		WFS_AUTO_JSON json_t *arguments = call->argued ? text_new(&call->arguments) : NULL;

		if ((call->argued && !arguments) ||
			wfs_completion_call_add(calls, call->id, call->name, arguments) < 0)
			return -ENOMEM;
	}
	*ret_calls = WFS_STEAL(calls);
	return 0;
}

int wfs_stream_finish(
	const struct wfs_stream *stream, json_t **ret_completion, struct wfs_model_failure *failure)
{
	/* With calls, a plain answer has null where streams begin with an empty text. */
	const bool silent = stream->content.size == 0 && stream->call_count > 0;
	WFS_AUTO_JSON json_t *content = silent ? json_null() : text_new(&stream->content);
	WFS_AUTO_JSON json_t *refusal = text_new(&stream->refusal);
	WFS_AUTO_JSON json_t *calls = NULL;

	if (!wfs_stream_complete(stream))
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INCOMPLETE,
			"expected a finish_reason, got the end of the stream after %zu bytes of "
			"text",
			stream->content.size);
	if (!content || !refusal || list_calls(stream, &calls) < 0)
		return -ENOMEM;
	const struct wfs_completion_parts parts = {
		.content = content,
		.refusal = refusal,
		.tool_calls = calls,
		.finish_reason = stream->finish_reason,
		.usage = stream->usage,
		.model = stream->model,
	};
	return wfs_completion_new(&parts, ret_completion);
}
