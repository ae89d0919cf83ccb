/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status of a run, its messages and its result. */
#include "kernel/domain/turn/turn-file.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-history.h"

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

static bool waits(const struct wfs_document_turn *run)
{
	size_t i;
	const json_t *open;

	json_array_foreach(run->open, i, open) {
		if (json_is_true(json_object_get(open, "asked")) ||
			json_is_true(json_object_get(open, "waits")))
			return true;
	}
	return false;
}

static int write_waiting(struct wfs_view *view, const struct wfs_document_turn *run,
	const json_t *open, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	int r = wfs_turn_call(view, run->run_id, run->turn,
		json_integer_value(json_object_get(open, "call")), &call, NULL);

	if (r)
		return wfs_trace(r);
	wfs_buffer_append_text(buffer, "waiting for approval: ");
	write_word(buffer, call.id);
	wfs_buffer_append_byte(buffer, ' ');
	write_word(buffer, call.name);
	wfs_buffer_append_byte(buffer, '\n');
	return 0;
}

static const char *word_of(const struct wfs_document_turn *run)
{
	if (run->reason)
		return run->reason;
	return waits(run) ? "waiting" : "running";
}

json_t *wfs_turn_summary(const struct wfs_document_turn *run)
{
	return json_pack("{s:s, s:s, s:o*, s:I, s:s, s:I, s:s, s:I, s:I, s:I, s:s}", "agent",
		run->agent, "asked_by", run->asked_by, "ended_ns",
		run->ended_ns < 0 ? NULL : json_integer(run->ended_ns), "max_turns",
		(json_int_t)run->max_turns, "model", run->model, "started_ns",
		(json_int_t)run->started_ns, "status", word_of(run), "tool_calls",
		(json_int_t)(run->tool_calls < 0 ? 0 : run->tool_calls), "total_tokens",
		json_integer_value(json_object_get(run->usage, "total_tokens")), "turn",
		(json_int_t)run->turn, "turn_id", run->run_id);
}

int wfs_turn_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	int r = turn_file_read(state, &run);
	const char *const message = wfs_json_text(run.error, "message");
	size_t i;
	const json_t *open;

	if (r)
		return wfs_trace(r);
	write_word(buffer, word_of(&run));
	wfs_buffer_printf(buffer, "\nturn %" PRId64 " of %" PRId64 "\n", run.turn, run.max_turns);
	if (*message) {
		wfs_buffer_append_text(buffer, "error: ");
		wfs_buffer_append(buffer, message, strcspn(message, "\n"));
		wfs_buffer_append_byte(buffer, '\n');
	}
	json_array_foreach(run.open, i, open) {
		if (!r && json_is_true(json_object_get(open, "asked")))
			r = write_waiting(view, &run, open, buffer);
	}
	return r ? r : wfs_buffer_check(buffer);
}

/* --- documents --- */

static int read_marked(
	struct wfs_view *view, const struct wfs_document_turn *run, json_t **ret_messages)
{
	size_t left_out;
	WFS_AUTO_JSON json_t *messages = NULL;
	int r = turn_newest_messages(view, run, &messages, &left_out);

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
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	WFS_AUTO_JSON json_t *messages = NULL;
	int r = turn_file_read(state, &run);

	if (!r)
		r = read_marked(view, &run, &messages);
	if (r)
		return wfs_trace(r);
	wfs_json_write_document(messages, buffer);
	return wfs_buffer_check(buffer);
}

int wfs_turn_write_result(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	WFS_AUTO_JSON json_t *messages = NULL;
	WFS_AUTO_JSON json_t *result = NULL;
	int r = turn_file_read(state, &run);

	if (!r)
		r = run.reason ? read_marked(view, &run, &messages) : -ENOENT;
	if (r)
		return r;
	result = wfs_turn_compose(&run, messages);
	if (!result)
		return -ENOMEM;
	wfs_json_write_document(result, buffer);
	return wfs_buffer_check(buffer);
}
