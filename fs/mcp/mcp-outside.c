/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools of outside servers, which a client gets beside our own. Their names are those that models
 * get (kernel/value/tool.h), and are kept from the newest list on, so a name that a client has seen
 * means the same tool until the client sees another list.
 */
#include <string.h>

#include "fs/mcp/mcp-impl.h"
#include "kernel/base/json.h"
#include "kernel/value/tool.h"

/* Names the tools of a list. Return: {name: full name}, new reference, NULL without memory. */
static json_t *names_of(const json_t *list)
{
	WFS_AUTO_JSON json_t *own = json_object();
	json_t *names = NULL;
	int r = own ? 0 : -1;

	for (size_t i = 0; i < wfs_tool_count; i++)
		r |= json_object_set_new(own, wfs_tools[i].name, json_null());
	if (!r)
		(void)wfs_tool_model_names(json_object_get(list, "tools"), own, &names);
	return names;
}

static void keep_names(struct wfs_mcp *mcp, json_t *names)
{
	if (!names)
		return;
	json_decref(mcp->outside_names);
	mcp->outside_names = json_incref(names);
}

/* --- the list --- */

static int list_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "tools", json_object());
}

static int list_answered(struct wfs_task *task, const json_t *result)
{
	task->notes = names_of(result);
	task->result = task->notes ? wfs_json_copy(result) : NULL;
	return task->result ? 0 : -ENOMEM;
}

static const struct wfs_task_kind list_kind = {
	.changes = true, .start = list_start, .answered = list_answered};

/* Names and tools are in the same order. */
static int add_outside(json_t *tools, json_t *names, const json_t *list)
{
	const json_t *const rows = json_object_get(list, "tools");
	const char *name;
	json_t *full;
	size_t i = 0;
	int r = 0;

	json_object_foreach(names, name, full) {
		const json_t *const row = json_array_get(rows, i++);

		r |= json_array_append_new(tools,
			json_pack("{s:O, s:O, s:O, s:s}", "annotations",
				json_object_get(row, "annotations"), "description",
				json_object_get(row, "description"), "inputSchema",
				json_object_get(row, "schema"), "name", name));
	}
	return r;
}

/* A client that may call no outside tool, or whose world drives no agents, gets our own alone. */
static void finish_list(struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	const struct wfs_task *const task = &call->task;
	WFS_AUTO_JSON json_t *tools = wfs_mcp_own_tools();
	int r = tools ? 0 : -1;

	if (!r && !task->status)
		r = add_outside(tools, task->notes, task->result);
	keep_names(mcp, task->notes);
	wfs_rpc_result(&mcp->output, call->id, r ? NULL : json_pack("{s:O}", "tools", tools));
}

void wfs_mcp_outside_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	wfs_mcp_call_begin(mcp, message->id, &list_kind, NULL, finish_list);
}

/* --- a call --- */

enum { FIND_NAME, CALL_TOOL };

static int call_tool(struct wfs_task *task, json_t *full)
{
	task->index = CALL_TOOL;
	return wfs_task_ask(task, "tool",
		json_pack("{s:O, s:O*}", "name", full, "arguments",
			json_object_get(task->arguments, "arguments")));
}

static int call_start(struct wfs_task *task)
{
	json_t *const full = json_object_get(task->arguments, "full");

	return full ? call_tool(task, full) : wfs_task_ask(task, "tools", json_object());
}

static int call_answered(struct wfs_task *task, const json_t *result)
{
	if (task->index == CALL_TOOL) {
		task->result = wfs_json_copy(result);
		return 0;
	}
	task->notes = names_of(result);
	if (!task->notes)
		return -ENOMEM;
	json_t *const full = json_object_get(task->notes, wfs_task_text(task, "name"));
	return full ? call_tool(task, full)
		    : wfs_error_set(&task->error, WFS_E_NOT_FOUND, "no such tool");
}

static const struct wfs_task_kind call_kind = {
	.changes = true, .start = call_start, .answered = call_answered};

/* Makes the result of a call that was made. Return: new reference, NULL without memory. */
static json_t *result_of(const struct wfs_task *task)
{
	const json_t *const output = json_object_get(task->result, "output");
	json_t *const structured = json_object_get(task->result, "structured");
	WFS_AUTO_JSON json_t *content = json_array();
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r;

	if (task->status)
		wfs_buffer_append_text(&text, task->error.message);
	else if (json_is_string(output))
		wfs_buffer_append(&text, json_string_value(output), json_string_length(output));
	else
		wfs_json_write(output, &text);
	r = wfs_buffer_check(&text) < 0
		? -1
		: wfs_mcp_add_text(content, wfs_buffer_text(&text), text.size);
	if (r)
		return NULL;
	if (task->status)
		return json_pack("{s:O, s:b, s:o}", "content", content, "isError", 1,
			"structuredContent", wfs_mcp_error_document(task));
	return json_pack("{s:O, s:b, s:O*, s:{s:O*}}", "content", content, "isError", 0,
		"structuredContent", json_is_object(structured) ? structured : NULL, "_meta",
		"worldfs/intent_id", json_object_get(task->result, "intent_id"));
}

static void finish_call(struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	const struct wfs_task *const task = &call->task;

	keep_names(mcp, task->notes);
	if (task->status && task->index == FIND_NAME)
		wfs_rpc_error(&mcp->output, call->id, WFS_RPC_INVALID_PARAMS, NULL,
			"Unknown tool: %.60s", wfs_task_text(task, "name"));
	else
		wfs_rpc_result(&mcp->output, call->id, result_of(task));
}

void wfs_mcp_outside_call(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const char *const name = wfs_json_text(message->params, "name");
	json_t *const arguments = json_object_get(message->params, "arguments");
	json_t *const full = json_object_get(mcp->outside_names, name);

	if (arguments && !json_is_object(arguments)) {
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL,
			"'arguments': expected an object");
		return;
	}
	wfs_mcp_call_begin(mcp, message->id, &call_kind,
		json_pack("{s:s, s:O*, s:O*}", "name", name, "full", full, "arguments", arguments),
		finish_call);
}
