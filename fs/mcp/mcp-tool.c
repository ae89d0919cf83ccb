/* SPDX-License-Identifier: Apache-2.0 */
/* Methods about tools. Source: MCP 2025-06-18, "Tools". */
#include <string.h>

#include "fs/mcp/mcp-impl.h"
#include "kernel/base/json.h"

json_t *wfs_mcp_own_tools(void)
{
	WFS_AUTO_JSON json_t *tools = json_array();
	int r = 0;

	for (size_t i = 0; i < wfs_tool_count; i++) {
		const struct wfs_tool *const tool = &wfs_tools[i];

		r |= json_array_append_new(tools,
			json_pack("{s:{s:b, s:b}, s:s, s:o, s:s}", "annotations", "openWorldHint",
				0, "readOnlyHint", (int)!tool->task.changes, "description",
				tool->description, "inputSchema", wfs_tool_schema(tool, false),
				"name", tool->name));
	}
	return r ? NULL : WFS_STEAL(tools);
}

void wfs_mcp_tools_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	if (wfs_mcp_refuse_cursor(mcp, message))
		return;
	if (mcp->outside)
		wfs_mcp_outside_list(mcp, message);
	else
		wfs_rpc_result(&mcp->output, message->id,
			json_pack("{s:o}", "tools", wfs_mcp_own_tools()));
}

int wfs_mcp_add_text(json_t *content, const char *text, size_t size)
{
	return json_array_append_new(
		content, json_pack("{s:s%, s:s}", "text", text, size, "type", "text"));
}

/*
 * Answers with structured content, and the same content as text for older clients. There the text
 * of a file comes first, byte for byte, and then the rest.
 */
static void finish_tool(struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	const struct wfs_task *const task = &call->task;
	WFS_AUTO_JSON json_t *content = json_array();
	WFS_AUTO_JSON json_t *structured =
		task->status ? wfs_mcp_error_document(task) : json_incref(task->result);
	WFS_AUTO_JSON json_t *rest = wfs_json_copy(structured);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = 0;

	if (!task->status && json_object_del(rest, "text") == 0)
		r = wfs_mcp_add_text(
			content, task->bytes.data ? task->bytes.data : "", task->bytes.size);
	wfs_json_write(rest, &text);
	r |= wfs_buffer_check(&text) < 0 ? -ENOMEM
					 : wfs_mcp_add_text(content, text.data, text.size);
	wfs_rpc_result(&mcp->output, call->id,
		r ? NULL
		  : json_pack("{s:O, s:b, s:O}", "content", content, "isError",
			    (int)(task->status != 0), "structuredContent", structured));
}

void wfs_mcp_tools_call(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const char *const name = json_string_value(json_object_get(message->params, "name"));
	json_t *const arguments = json_object_get(message->params, "arguments");
	const struct wfs_tool *const tool = name ? wfs_tool_find(name) : NULL;
	struct wfs_error error;

	if (!tool && name && mcp->outside)
		wfs_mcp_outside_call(mcp, message);
	else if (!tool)
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL,
			"Unknown tool: %.60s", name ? name : "'name' is missing");
	else if (wfs_tool_check(tool, arguments, &error) < 0)
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS,
			wfs_mcp_error_data(&error, NULL, NULL), "%s: %s", tool->name,
			error.message);
	else
		wfs_mcp_call_begin(
			mcp, message->id, &tool->task, json_incref(arguments), finish_tool);
}
