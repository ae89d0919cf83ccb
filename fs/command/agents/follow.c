/* SPDX-License-Identifier: Apache-2.0 */
/* Describes turns in lines for users. */
#include "fs/command/agents/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fs/command/frame/run.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

/* Copies a name, which a model may have chosen; a long one is cut after a whole character. */
static void set_text(char *to, size_t size, const char *text)
{
	size_t kept = strnlen(text, size - 1);

	kept = wfs_utf8_cut(text, kept);
	memcpy(to, text, kept);
	to[kept] = '\0';
}

/* --- the events --- */

static void take_start(struct wfs_follow *follow, const json_t *event)
{
	follow->request = 0;
	follow->request_max = wfs_run_integer(event, "max_turns");
	follow->call_count = 0;
	follow->waits = false;
}

static void take_request(struct wfs_follow *follow, const json_t *event)
{
	follow->request = wfs_run_integer(event, "turn");
	follow->call_count = 0;
	follow->waits = false;
}

static void take_response(struct wfs_follow *follow, const json_t *event)
{
	follow->token_count += wfs_run_integer(json_object_get(event, "usage"), "total_tokens");
}

static void take_call(struct wfs_follow *follow, const json_t *event)
{
	follow->call_count++;
	set_text(follow->tool, sizeof(follow->tool), wfs_json_text(event, "tool_name"));
}

static void take_result(struct wfs_follow *follow, const json_t *event)
{
	(void)event;
	if (follow->call_count > 0)
		follow->call_count--;
	follow->waits = false;
}

/* The agent's next turn may belong to the same request. */
static void take_end(struct wfs_follow *follow, const json_t *event)
{
	(void)event;
	follow->turn_id[0] = '\0';
}

static void take_event(struct wfs_follow *follow, const json_t *event)
{
	static const struct {
		const char *type;
		void (*take)(struct wfs_follow *follow, const json_t *event);
	} types[] = {
		{"KernelStart", take_start},
		{"ModelRequest", take_request},
		{"ModelResponse", take_response},
		{"ToolCall", take_call},
		{"ToolResult", take_result},
		{"KernelEnd", take_end},
	};
	const char *const type = wfs_json_text(event, "type");
	const char *const run_id = wfs_json_text(event, "run_id");

	if (!*follow->turn_id && strcmp(type, "KernelStart") == 0 &&
		strcmp(wfs_json_text(event, "agent"), follow->agent) == 0)
		set_text(follow->turn_id, sizeof(follow->turn_id), run_id);
	if (!*run_id || strcmp(run_id, follow->turn_id) != 0)
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(types); i++)
		if (strcmp(types[i].type, type) == 0)
			types[i].take(follow, event);
}

/* --- approvals --- */

static void take_intent(struct wfs_follow *follow, const json_t *body)
{
	const json_t *const params = json_object_get(body, "params");

	if (strcmp(wfs_json_text(body, "effect"), "tool.call") != 0 ||
		strcmp(wfs_json_text(params, "run_id"), follow->turn_id) != 0)
		return;
	set_text(follow->intent_id, sizeof(follow->intent_id), wfs_json_text(body, "intent_id"));
	set_text(follow->call_id, sizeof(follow->call_id), wfs_json_text(params, "call_id"));
}

static void take_action(struct wfs_follow *follow, const json_t *body)
{
	const json_t *const action = json_object_get(body, "action");
	const char *const type = wfs_json_text(action, "action_type");

	if (strcmp(wfs_json_text(json_object_get(body, "result"), "run_id"), follow->turn_id) != 0)
		return;
	if (strcmp(type, "ask") == 0 &&
		strcmp(wfs_json_text(action, "intent_id"), follow->intent_id) == 0)
		follow->waits = true;
	else if (strcmp(type, "approve") == 0)
		follow->waits = false;
}

void wfs_follow_take(struct wfs_follow *follow, const json_t *record)
{
	const json_t *const body = json_object_get(record, "body");
	const char *const kind = wfs_json_text(record, "kind");

	if (strcmp(kind, "event") == 0)
		take_event(follow, json_object_get(body, "value"));
	else if (strcmp(kind, "intent") == 0)
		take_intent(follow, body);
	else if (strcmp(kind, "action") == 0)
		take_action(follow, body);
}

/* --- the line --- */

void wfs_follow_line(const struct wfs_follow *follow, int64_t seconds, struct wfs_buffer *line)
{
	const size_t start = line->size;

	wfs_buffer_append_text(line, *follow->turn_id ? follow->turn_id : follow->agent);
	if (!*follow->turn_id)
		wfs_buffer_append_text(line, ": waits to begin");
	else if (follow->request > 0)
		wfs_buffer_printf(
			line, ": %" PRId64 " of %" PRId64, follow->request, follow->request_max);
	if (*follow->turn_id && follow->waits)
		wfs_buffer_printf(line, ", waits for 'worldfs approve %s %s'", follow->turn_id,
			follow->call_id);
	else if (*follow->turn_id && follow->call_count == 1)
		wfs_buffer_printf(line, ", runs %s", follow->tool);
	else if (*follow->turn_id && follow->call_count > 1)
		wfs_buffer_printf(line, ", runs %u tools", follow->call_count);
	else if (*follow->turn_id)
		wfs_buffer_append_text(line, ", asks the model");
	if (follow->token_count > 0)
		wfs_buffer_printf(line, ", %" PRId64 " tokens", follow->token_count);
	wfs_buffer_printf(line, ", %" PRId64 " s", seconds);
	if (wfs_buffer_check(line) == 0)
		wfs_line_clean(line->data + start, line->size - start);
}
