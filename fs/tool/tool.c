/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools, their definitions, and the check of arguments. */
#include "fs/tool/tool.h"

#include <inttypes.h>
#include <string.h>

#include "fs/tool/tool-impl.h"
#include "kernel/base/json.h"

#define PATH_ARGUMENT(what)                                                               \
	{                                                                                 \
		.name = "path", .type = WFS_TOOL_TEXT, .required = true,                  \
		.description = what " such as 'reducers/<name>/<key>', from the root of " \
				    "the tree. '/' is the root. 'at/<height>/' is the "   \
				    "tree as it was after that many journal records.",    \
	}

#define CONSISTENCY_ARGUMENT                                                                  \
	{                                                                                     \
		.name = "consistency",                                                        \
		.description = "'head', the default, is the newest height; 'exact:<height>' " \
			       "is the world after that many journal records; "               \
			       "'at_least:<height>' is the newest height, and an error if "   \
			       "the world has fewer records.",                                \
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
		.arguments = {CONSISTENCY_ARGUMENT},
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
				{
					.name = "name",
					.required = true,
					.description = "Name of the reducer; fs_ls of "
						       "'reducers' lists them.",
				},
				{
					.name = "key",
					.description = "The key itself, not its file name; fs_ls "
						       "of 'reducers/<name>' lists "
						       "keys as file names. Omit it for a reducer "
						       "without keys.",
				},
				CONSISTENCY_ARGUMENT,
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
				PATH_ARGUMENT("Path of a directory,"),
				{
					.name = "depth",
					.type = WFS_TOOL_INTEGER,
					.minimum = 1,
					.maximum = WFS_TOOL_DEPTH_MAX,
					.description = "How many levels to list, by default 1; "
						       "from 2 on at most 100 names of "
						       "each directory.",
				},
			},
		.task = {.start = wfs_tool_list_start, .answered = wfs_tool_list_answered},
	},
	{
		.name = "fs_stat",
		.signature = "fs_stat(path)",
		.summary = "type, size, time and hashes of a path",
		.description =
			"Get type, size, time of change and hashes of a path in the world's tree.",
		.arguments = {PATH_ARGUMENT("Path of a file or directory,")},
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
				PATH_ARGUMENT("Path of a file,"),
				{
					.name = "offset",
					.type = WFS_TOOL_INTEGER,
					.maximum = INT64_MAX,
					.description = "First byte to read, by default 0.",
				},
				{
					.name = "limit",
					.type = WFS_TOOL_INTEGER,
					.minimum = 1,
					.maximum = WFS_TOOL_READ_MAX,
					.description = "Maximum number of bytes, by default 65536.",
				},
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
				{
					.name = "query_type",
					.required = true,
					.schema = wfs_tool_query_type_schema,
				},
				{
					.name = "params",
					.type = WFS_TOOL_OBJECT,
					.schema = wfs_tool_query_schema,
				},
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
				{
					.name = "action",
					.type = WFS_TOOL_OBJECT,
					.required = true,
					.schema = wfs_tool_action_schema,
					.description = "The action to perform, and why; members "
						       "that the action does not take "
						       "must be null.",
				},
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
				{
					.name = "agent",
					.required = true,
					.description = "Id of an artifact of the type 'agent'.",
				},
				{
					.name = "message",
					.description = "The message for the agent; by default the "
						       "prompt in its configuration.",
				},
				{
					.name = "messages",
					.type = WFS_TOOL_ARRAY,
					.schema = wfs_tool_messages_schema,
					.description = "Instead of 'message': the whole history "
						       "that the turn begins with.",
				},
				{
					.name = "tools",
					.type = WFS_TOOL_ARRAY,
					.schema = wfs_tool_names_schema,
					.description = "Which of its tools the agent is offered; "
						       "by default all.",
				},
				{
					.name = "max_turns",
					.type = WFS_TOOL_INTEGER,
					.maximum = WFS_TOOL_TURNS_MAX,
					.description = "Maximum number of requests to its model, "
						       "up to the agent's own limit.",
				},
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
				{
					.name = "message",
					.required = true,
					.description = "The message.",
				},
				{
					.name = "session_id",
					.description = "Which of several conversations the message "
						       "belongs to, by default "
						       "'default'. The model is given its earlier "
						       "messages.",
				},
				{
					.name = "plan_id",
					.description = "A plan of that conversation to continue, "
						       "instead of making a new one.",
				},
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

/* --- definitions --- */

static const char *const type_names[] = {
	[WFS_TOOL_TEXT] = "string",
	[WFS_TOOL_INTEGER] = "integer",
	[WFS_TOOL_OBJECT] = "object",
	[WFS_TOOL_ARRAY] = "array",
};

/* Makes the schema of an argument. Return: new reference, NULL without memory. */
static json_t *argument_schema(const struct wfs_tool_argument *argument, bool strict)
{
	const bool nullable = strict && !argument->required;
	WFS_AUTO_JSON json_t *schema = argument->schema ? argument->schema(strict) : json_object();
	const char *const type = type_names[argument->type];
	int r = 0;

	if (argument->description)
		r |= json_object_set_new(schema, "description", json_string(argument->description));
	r |= json_object_set_new(
		schema, "type", nullable ? json_pack("[s, s]", type, "null") : json_string(type));
	if (argument->type == WFS_TOOL_INTEGER) {
		r |= json_object_set_new(schema, "minimum", json_integer(argument->minimum));
		r |= json_object_set_new(schema, "maximum", json_integer(argument->maximum));
	}
	return r ? NULL : WFS_STEAL(schema);
}

json_t *wfs_tool_schema(const struct wfs_tool *tool, bool strict)
{
	WFS_AUTO_JSON json_t *properties = json_object();
	WFS_AUTO_JSON json_t *required = json_array();
	int r = 0;

	for (const struct wfs_tool_argument *argument = tool->arguments; argument->name;
		argument++) {
		r |= json_object_set_new(
			properties, argument->name, argument_schema(argument, strict));
		if (strict || argument->required)
			r |= json_array_append_new(required, json_string(argument->name));
	}
	return r ? NULL
		 : json_pack("{s:b, s:O, s:O, s:s}", "additionalProperties", 0, "properties",
			   properties, "required", required, "type", "object");
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

/* --- the check --- */

static int check_argument(
	const struct wfs_tool_argument *argument, const json_t *arguments, struct wfs_error *error)
{
	const json_t *const value = json_object_get(arguments, argument->name);
	const bool array = argument->type == WFS_TOOL_ARRAY;
	const char *text;
	int64_t number;

	if (!argument->required && (!value || json_is_null(value)))
		return 0;
	switch (argument->type) {
	case WFS_TOOL_INTEGER:
		return wfs_json_get_integer(arguments, argument->name, argument->minimum,
			argument->maximum, &number, error);
	case WFS_TOOL_TEXT:
		return wfs_json_get_string(arguments, argument->name, &text, error);
	case WFS_TOOL_ARRAY:
	case WFS_TOOL_OBJECT:
		break;
	}
	return (array ? json_is_array(value) : json_is_object(value))
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected %s", argument->name,
			  array ? "an array" : "an object");
}

/* Refuses unknown and missing arguments, with the messages for members of requests. */
static int check_names(
	const struct wfs_tool *tool, const json_t *arguments, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer members = {0};

	for (const struct wfs_tool_argument *argument = tool->arguments; argument->name; argument++)
		wfs_buffer_printf(&members, "%s%s%s", members.size > 0 ? " " : "", argument->name,
			argument->required ? "" : "?");
	return wfs_buffer_check(&members)
		? wfs_error_from_errno(error, -ENOMEM, "check arguments")
		: wfs_json_members(arguments, tool->name, wfs_buffer_text(&members), error);
}

int wfs_tool_check(const struct wfs_tool *tool, const json_t *arguments, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *nothing = arguments ? NULL : json_object();
	const json_t *const given = arguments ? arguments : nothing;
	int r = check_names(tool, given, error);

	for (const struct wfs_tool_argument *argument = tool->arguments; !r && argument->name;
		argument++)
		r = check_argument(argument, given, error);
	return r;
}
