/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools, their definitions, and the check of arguments. */
#include "fs/tool/tool.h"

#include <string.h>

#include "fs/tool/tool-impl.h"
#include "kernel/base/json.h"

#define PATH_HELP                                                                        \
	" such as 'reducers/<name>/<key>', from the root of the tree. '/' is the root. " \
	"'at/<height>/' is the tree as it was after that many journal records."
#define CONSISTENCY_HELP                                                                  \
	"'head', the default, is the newest height; 'exact:<height>' is the world after " \
	"that many journal records; 'at_least:<height>' is the newest height, and an "    \
	"error if the world has fewer records."
#define CONSISTENCY                                                           \
	{                                                                     \
		"consistency", &wfs_form_text, WFS_NULLABLE, CONSISTENCY_HELP \
	}

/* To add a tool for an enabled verb, add a row here. */
const struct wfs_tool wfs_tools[] = {
	{
		.name = "fs_read_manifest",
		.signature = "fs_read_manifest(consistency?)",
		.summary = "the manifest",
		.description =
			"Read the manifest: the event schemas, reducers and routes of the world. "
			"'meta' has the height.",
		.arguments = {CONSISTENCY},
		.task = {.start = wfs_tool_manifest_start, .answered = wfs_tool_manifest_answered},
	},
	{
		.name = "fs_read_reducer",
		.signature = "fs_read_reducer(name, key?, consistency?)",
		.summary = "the state under a key of a reducer",
		.description =
			"Read the state that a reducer keeps under a key. 'found' is false if "
			"the key does not exist; 'meta' has the height.",
		.arguments =
			{
				{"name", &wfs_form_text, 0,
					"Name of the reducer; fs_ls of 'reducers' lists them."},
				{"key", &wfs_form_text, WFS_NULLABLE,
					"The key itself, not its file name; fs_ls of "
					"'reducers/<name>' lists keys as file names. "
					"Omit it for a reducer without keys."},
				CONSISTENCY,
			},
		.task = {.start = wfs_tool_reducer_start, .answered = wfs_tool_reducer_answered},
	},
	{
		.name = "fs_ls",
		.signature = "fs_ls(path, depth?)",
		.summary = "names below a directory",
		.description =
			"List paths, types and sizes below a directory of the world's tree: at "
			"most 1000 entries, the upper levels first. 'more' is true if something "
			"was left out.",
		.arguments =
			{
				{"path", &wfs_form_text, 0, "Path of a directory," PATH_HELP},
				{"depth", WFS_FORM_FROM_TO(1, WFS_TOOL_DEPTH_MAX), WFS_NULLABLE,
					"How many levels to list, by default 1; from 2 on at most "
					"100 names of each directory."},
			},
		.task = {.start = wfs_tool_list_start, .answered = wfs_tool_list_answered},
	},
	{
		.name = "fs_stat",
		.signature = "fs_stat(path)",
		.summary = "type, size, time and hashes of a path",
		.description =
			"Get type, size, time of change and hashes of a path in the world's tree.",
		.arguments = {{"path", &wfs_form_text, 0,
			"Path of a file or directory," PATH_HELP}},
		.task = {.start = wfs_tool_stat_start, .answered = wfs_tool_plain_answered},
	},
	{
		.name = "fs_read",
		.signature = "fs_read(path, offset?, limit?)",
		.summary = "bytes of a file",
		.description = "Read a file of the world's tree: 'text' if it is UTF-8, otherwise "
			       "'data_b64'. If 'eof' is false, continue at 'next_offset'.",
		.arguments =
			{
				{"path", &wfs_form_text, 0, "Path of a file," PATH_HELP},
				{"offset", WFS_FORM_FROM_TO(0, INT64_MAX), WFS_NULLABLE,
					"First byte to read, by default 0."},
				{"limit", WFS_FORM_FROM_TO(1, WFS_TOOL_READ_MAX), WFS_NULLABLE,
					"Maximum number of bytes, by default 65536."},
			},
		.task = {.start = wfs_tool_read_start, .answered = wfs_tool_read_answered},
	},
	{
		.name = "query",
		.signature = "query(query_type, params?)",
		.summary = "artifacts, principals, scrip, quotas",
		.description =
			"Ask the kernel about artifacts, principals, their scrip and quotas, "
			"invocations and the mint. Answers have no content and no code.",
		.arguments =
			{
				{"query_type",
					WFS_FORM(.kind = WFS_FORM_TEXT,
						.schema = wfs_tool_query_type_schema)},
				{"params",
					WFS_FORM(.kind = WFS_FORM_OBJECT,
						.schema = wfs_tool_query_schema),
					WFS_NULLABLE},
			},
		.task = {.start = wfs_tool_query_start, .answered = wfs_tool_plain_answered},
		.action = wfs_tool_query_action,
	},
	{
		.name = "invoke",
		.signature = "invoke(action)",
		.summary = "perform an action",
		.description = "Perform an action in the world.",
		.arguments =
			{
				{"action",
					WFS_FORM(.kind = WFS_FORM_OBJECT,
						.schema = wfs_tool_action_schema),
					0,
					"The action to perform, and why; members that the action "
					"does not take must be null."},
			},
		.task = {.changes = true,
			.start = wfs_tool_invoke_start,
			.answered = wfs_tool_plain_answered},
		.action = wfs_tool_invoke_action,
	},
	{
		.name = "step",
		.signature = "step(agent, message?, messages?, tools?, max_turns?)",
		.summary = "have an agent take a turn",
		.description =
			"Have an agent take a turn, and wait for its end: the agent gets the "
			"message and works with its own tools and rights. 'final_message' has "
			"its last words; 'turns/<run_id>' of the tree has what it did. "
			"Cancelling the call ends the turn.",
		.arguments =
			{
				{"agent", &wfs_form_text, 0,
					"Id of an artifact of the type 'agent'."},
				{"message", &wfs_form_text, WFS_NULLABLE,
					"The message for the agent; by default the prompt in its "
					"configuration."},
				{"messages",
					WFS_FORM(.kind = WFS_FORM_LIST,
						.schema = wfs_tool_messages_schema),
					WFS_NULLABLE,
					"Instead of 'message': the whole history that the turn "
					"begins with."},
				{"tools",
					WFS_FORM(.kind = WFS_FORM_LIST,
						.schema = wfs_tool_names_schema),
					WFS_NULLABLE,
					"Which of its tools the agent is offered; by default all."},
				{"max_turns", WFS_FORM_FROM_TO(0, WFS_TOOL_TURNS_MAX), WFS_NULLABLE,
					"Maximum number of requests to its model, up to the "
					"agent's own limit."},
			},
		.task = {.changes = true,
			.start = wfs_tool_step_start,
			.answered = wfs_tool_step_answered,
			.failed = wfs_tool_step_failed},
	},
	{
		.name = "chat",
		.signature = "chat(message, session_id?, plan_id?)",
		.summary = "have a model answer; it may make a plan",
		.description =
			"Send a message to the world's own model, and wait for its answer, "
			"'final'. If tools are needed, the model makes a plan, which runs with "
			"your rights; 'plans/<plan_id>' of the tree has its steps and their "
			"results. Cancelling the call stops the plan.",
		.arguments =
			{
				{"message", &wfs_form_text, 0, "The message."},
				{"session_id", &wfs_form_text, WFS_NULLABLE,
					"Which of several conversations the message belongs to, by "
					"default 'default'. The model is given its earlier "
					"messages."},
				{"plan_id", &wfs_form_text, WFS_NULLABLE,
					"A plan of that conversation to continue, instead of "
					"making a new one."},
			},
		.task = {.changes = true,
			.start = wfs_tool_chat_start,
			.answered = wfs_tool_chat_answered,
			.failed = wfs_tool_chat_failed},
	},
};

const size_t wfs_tool_count = WFS_ARRAY_COUNT(wfs_tools);

const struct wfs_tool *wfs_tool_find(const char *name)
{
	for (size_t i = 0; i < wfs_tool_count; i++)
		if (strcmp(wfs_tools[i].name, name) == 0)
			return &wfs_tools[i];
	return NULL;
}

static struct wfs_form form_of(const struct wfs_tool *tool)
{
	return (struct wfs_form){.kind = WFS_FORM_RECORD, .fields = tool->arguments};
}

json_t *wfs_tool_schema(const struct wfs_tool *tool, bool strict)
{
	const struct wfs_form form = form_of(tool);

	return wfs_form_schema(&form, strict);
}

json_t *wfs_tool_definitions(void)
{
	WFS_AUTO_JSON json_t *all = json_array();
	int r = 0;

	for (size_t i = 0; i < wfs_tool_count; i++)
		r |= json_array_append_new(all,
			json_pack("{s:{s:s, s:s, s:o, s:b}, s:s}", "function", "description",
				wfs_tools[i].description, "name", wfs_tools[i].name, "parameters",
				wfs_tool_schema(&wfs_tools[i], true), "strict", 1, "type",
				"function"));
	return r ? NULL : WFS_STEAL(all);
}

int wfs_tool_check(const struct wfs_tool *tool, const json_t *arguments, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *nothing = arguments ? NULL : json_object();
	const struct wfs_form form = form_of(tool);

	return wfs_form_read(&form, tool->name, arguments ? arguments : nothing, NULL, error);
}
