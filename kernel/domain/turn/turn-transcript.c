/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run as Markdown: what was said, which tools were called, and how it ended. */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-history.h"
#include "kernel/read/text.h"

static long long tokens_of(const struct wfs_document_turn *run, const char *member)
{
	return (long long)json_integer_value(json_object_get(run->usage, member));
}

/* Writes a member as text; a private text as its stand-in. */
static void write_text(struct wfs_buffer *buffer, const json_t *object, const char *member)
{
	const json_t *const value = json_object_get(object, member);

	if (wfs_text_is_hidden(value, NULL))
		wfs_json_write(value, buffer);
	else
		wfs_buffer_append_text(buffer, wfs_json_text(object, member));
}

/* Writes a member as an indented code block. */
static void write_member(struct wfs_buffer *buffer, const json_t *object, const char *member)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};

	write_text(&whole, object, member);
	for (const char *text = wfs_buffer_text(&whole); *text;) {
		const size_t size = strcspn(text, "\n");

		if (size > 0)
			wfs_buffer_append_text(buffer, "    ");
		wfs_buffer_append(buffer, text, size);
		wfs_buffer_append_byte(buffer, '\n');
		text += size + (text[size] == '\n');
	}
	wfs_buffer_append_byte(buffer, '\n');
	buffer->failed |= wfs_buffer_check(&whole) != 0;
}

/* Finds the name of the tool whose call a message answers. @calls: of the message before */
static const char *tool_of(const json_t *calls, const char *id)
{
	size_t i;
	const json_t *call;

	json_array_foreach(calls, i, call) {
		if (strcmp(wfs_json_text(call, "id"), id) == 0)
			return wfs_json_text(call, "name");
	}
	return "";
}

static void write_said(struct wfs_buffer *buffer, const json_t *message)
{
	size_t i;
	const json_t *call;

	wfs_buffer_printf(buffer, "## %s\n\n", wfs_json_text(message, "role"));
	const size_t head = buffer->size;
	write_text(buffer, message, "content");
	if (buffer->size > head)
		wfs_buffer_append_text(buffer, "\n\n");
	json_array_foreach(json_object_get(message, "tool_calls"), i, call) {
		wfs_buffer_printf(buffer, "**Call** `%s` (%s)\n\n", wfs_json_text(call, "name"),
			wfs_json_text(call, "id"));
		write_member(buffer, call, "arguments");
	}
}

static void write_messages(struct wfs_buffer *buffer, const json_t *messages)
{
	const json_t *calls = NULL;
	size_t i;
	const json_t *message;

	json_array_foreach(messages, i, message) {
		if (strcmp(wfs_json_text(message, "role"), "tool") == 0) {
			const char *const id = wfs_json_text(message, "tool_call_id");

			wfs_buffer_printf(
				buffer, "**Result** of `%s` (%s)\n\n", tool_of(calls, id), id);
			write_member(buffer, message, "content");
			continue;
		}
		calls = json_object_get(message, "tool_calls");
		write_said(buffer, message);
	}
}

static void write_end(struct wfs_buffer *buffer, const struct wfs_document_turn *run)
{
	const char *const message = wfs_json_text(run->error, "message");

	wfs_buffer_printf(buffer, "---\n\n%s%s in turn %" PRId64 " of %" PRId64,
		run->reason ? "Ended: " : "Running", run->reason ? run->reason : "", run->turn,
		run->max_turns);
	if (run->ended_ns >= 0)
		wfs_buffer_printf(buffer, ", after %" PRId64 " ms",
			(run->ended_ns - run->started_ns) / 1000000);
	wfs_buffer_printf(buffer, ". Tokens: %lld in, %lld out, %lld in all%s.\n",
		tokens_of(run, "prompt_tokens"), tokens_of(run, "completion_tokens"),
		tokens_of(run, "total_tokens"),
		run->usage_incomplete ? " (not every answer told them)" : "");
	if (*message)
		wfs_buffer_printf(buffer, "\nError: %s\n", message);
}

int wfs_turn_write_transcript(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	WFS_AUTO_JSON json_t *messages = NULL;
	size_t left_out;
	int r = turn_file_read(state, &run);

	if (!r)
		r = turn_newest_messages(view, &run, &messages, &left_out);
	if (r)
		return wfs_trace(r);
	wfs_buffer_printf(buffer, "# %s\n\nAgent %s, model %s, asked by %s.\n\n", run.run_id,
		run.agent, run.model, run.asked_by);
	if (left_out > 0)
		wfs_buffer_printf(buffer, "*The oldest %zu messages are left out.*\n\n", left_out);
	write_messages(buffer, messages);
	write_end(buffer, &run);
	return wfs_buffer_check(buffer);
}
