/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records to lines of a script. */
#include "fs/command/agents/recorder.h"

#include <errno.h>
#include <string.h>

#include "fs/command/frame/run.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"

void wfs_recorder_done(struct wfs_recorder *recorder)
{
	json_decref(WFS_STEAL(recorder->requests));
	json_decref(WFS_STEAL(recorder->lines));
}

/* Number of the request to the model; 0: not one. The question for the next state counts as the
 * last request. */
static json_int_t request_of(const struct wfs_recorder *recorder, const json_t *body)
{
	const char *const effect = wfs_json_text(body, "effect");
	const json_t *const params = json_object_get(body, "params");

	if (strcmp(effect, "llm.generate") == 0)
		return json_integer_value(json_object_get(params, "turn"));
	return strcmp(effect, "workflow.advance") == 0 &&
			strcmp(wfs_json_text(params, "mode"), "llm") == 0
		? recorder->request + 1
		: 0;
}

static int take_intent(struct wfs_recorder *recorder, const json_t *body)
{
	const json_t *const params = json_object_get(body, "params");
	const json_int_t request = request_of(recorder, body);

	if (request == 0 || strcmp(wfs_json_text(params, "run_id"), recorder->turn_id) != 0)
		return 0;
	if (!recorder->requests)
		recorder->requests = json_object();
	recorder->request = request;
	return json_object_set_new(recorder->requests, wfs_json_text(body, "intent_id"),
		       json_integer(request)) < 0
		? -ENOMEM
		: 0;
}

/* Makes a line: a completion without its usage, or a failure. An answer about the next state is
 * `text`. */
static json_t *make_line(const json_t *receipt, json_t *number)
{
	static const char *const members[] = {
		"content", "tool_calls", "finish_reason", "usage", "model"};
	const json_t *const payload = json_object_get(receipt, "payload");
	WFS_AUTO_JSON json_t *line = json_pack(
		"{s:O, s:O*}", "turn", number, "content", json_object_get(payload, "text"));
	int r = line ? 0 : -1;

	if (strcmp(wfs_json_text(receipt, "status"), "ok") != 0)
		return json_pack("{s:{s:s, s:s}, s:O}", "error", "code",
			wfs_json_text(payload, "code"), "message",
			wfs_json_text(payload, "message"), "turn", number);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const value = json_object_get(payload, members[i]);

		if (value)
			r |= json_object_set(line, members[i], value);
	}
	return r ? NULL : WFS_STEAL(line);
}

/* If the model was asked again for an answer, only its last one counts. */
static int take_receipt(struct wfs_recorder *recorder, const json_t *body)
{
	json_t *const number =
		json_object_get(recorder->requests, wfs_json_text(body, "intent_id"));

	if (!number || !json_is_object(json_object_get(body, "payload")))
		return 0;
	if (!recorder->lines)
		recorder->lines = json_array();
	json_t *const line = make_line(body, number);
	const size_t count = json_array_size(recorder->lines);
	const json_t *const last = count > 0 ? json_array_get(recorder->lines, count - 1) : NULL;
	const int r = last && json_equal(json_object_get(last, "turn"), number)
		? json_array_set_new(recorder->lines, count - 1, line)
		: json_array_append_new(recorder->lines, line);
	return r < 0 ? -ENOMEM : 0;
}

int wfs_recorder_take(struct wfs_recorder *recorder, const json_t *record)
{
	const json_t *const body = json_object_get(record, "body");
	const char *const kind = wfs_json_text(record, "kind");

	if (strcmp(kind, "intent") == 0)
		return take_intent(recorder, body);
	return strcmp(kind, "receipt") == 0 ? take_receipt(recorder, body) : 0;
}

void wfs_recorder_write(const struct wfs_recorder *recorder, struct wfs_buffer *script)
{
	const json_t *line;
	size_t i;

	json_array_foreach(recorder->lines, i, line) {
		wfs_json_write_document(line, script);
	}
}
