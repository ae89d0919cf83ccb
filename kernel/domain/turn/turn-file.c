/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status of a run, its messages and its result. */
#include "kernel/domain/turn/turn-file.h"

#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-history.h"

static long long number_of(const json_t *object, const char *member)
{
	return (long long)json_integer_value(json_object_get(object, member));
}

/* --- status --- */

/* Writes an id or name, which a model may have chosen; as JSON if it would break the line. */
static void write_word(struct wfs_buffer *buffer, const char *word)
{
	const size_t size = strlen(word);

	if (size > 0 && wfs_json_plain_size(word, size) == size && !strchr(word, ' '))
		wfs_buffer_append(buffer, word, size);
	else
		wfs_json_write_string(buffer, word, size);
}

static bool waits(const json_t *state)
{
	size_t i;
	const json_t *open;

	json_array_foreach(json_object_get(state, "open"), i, open) {
		if (json_is_true(json_object_get(open, "asked")))
			return true;
	}
	return false;
}

static int write_waiting(
	struct wfs_view *view, const json_t *state, const json_t *open, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	int r = wfs_turn_call(view, wfs_json_text(state, "run_id"), number_of(state, "turn"),
		number_of(open, "call"), &call, NULL);

	if (r)
		return wfs_trace(r);
	wfs_buffer_append_text(buffer, "waiting for approval: ");
	write_word(buffer, call.id);
	wfs_buffer_append_byte(buffer, ' ');
	write_word(buffer, call.name);
	wfs_buffer_append_byte(buffer, '\n');
	return 0;
}

static const char *word_of(const json_t *state)
{
	const char *const reason = wfs_json_text(state, "reason");

	if (*reason)
		return reason;
	return waits(state) ? "waiting" : "running";
}

json_t *wfs_turn_summary(const json_t *state)
{
	return json_pack("{s:s, s:s, s:O*, s:I, s:s, s:I, s:s, s:I, s:I, s:I, s:s}", "agent",
		wfs_json_text(state, "agent"), "asked_by", wfs_json_text(state, "asked_by"),
		"ended_ns", json_object_get(state, "ended_ns"), "max_turns",
		(json_int_t)number_of(state, "max_turns"), "model", wfs_json_text(state, "model"),
		"started_ns", (json_int_t)number_of(state, "started_ns"), "status", word_of(state),
		"tool_calls", (json_int_t)number_of(state, "tool_calls"), "total_tokens",
		(json_int_t)number_of(json_object_get(state, "usage"), "total_tokens"), "turn",
		(json_int_t)number_of(state, "turn"), "turn_id", wfs_json_text(state, "run_id"));
}

int wfs_turn_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	const char *const message = wfs_json_text(json_object_get(state, "error"), "message");
	size_t i;
	const json_t *open;
	int r = 0;

	write_word(buffer, word_of(state));
	wfs_buffer_printf(buffer, "\nturn %lld of %lld\n", number_of(state, "turn"),
		number_of(state, "max_turns"));
	if (*message) {
		wfs_buffer_append_text(buffer, "error: ");
		wfs_buffer_append(buffer, message, strcspn(message, "\n"));
		wfs_buffer_append_byte(buffer, '\n');
	}
	json_array_foreach(json_object_get(state, "open"), i, open) {
		if (!r && json_is_true(json_object_get(open, "asked")))
			r = write_waiting(view, state, open, buffer);
	}
	return r ? r : wfs_buffer_check(buffer);
}

/* --- documents --- */

static int read_marked(struct wfs_view *view, const json_t *state, json_t **ret_messages)
{
	size_t left_out;
	WFS_AUTO_JSON json_t *messages = NULL;
	int r = turn_newest_messages(view, state, &messages, &left_out);

	/* The mark before the oldest message that is shown. */
	if (!r && left_out > 0 &&
		json_array_insert_new(messages, 0,
			json_pack("{s:o, s:I, s:s}", "content",
				json_sprintf("[left out: the oldest %zu messages; they are files "
					     "in reducers/sys.message and reducers/sys.tool_call]",
					left_out),
				"left_out", (json_int_t)left_out, "role", "system")) < 0)
		r = -ENOMEM;
	if (!r)
		*ret_messages = WFS_STEAL(messages);
	return wfs_trace(r);
}

int wfs_turn_write_messages(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *messages = NULL;
	int r = read_marked(view, state, &messages);

	if (r)
		return wfs_trace(r);
	wfs_json_write_document(messages, buffer);
	return wfs_buffer_check(buffer);
}

int wfs_turn_write_result(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *messages = NULL;
	WFS_AUTO_JSON json_t *result = NULL;
	int r = json_object_get(state, "reason") ? 0 : -ENOENT;

	if (!r)
		r = read_marked(view, state, &messages);
	if (r)
		return r;
	result = wfs_turn_compose(state, messages);
	if (!result)
		return -ENOMEM;
	wfs_json_write_document(result, buffer);
	return wfs_buffer_check(buffer);
}
