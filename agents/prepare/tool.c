/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/tool.h"

#include <ctype.h>
#include <string.h>

#include "agents/prepare/question.h"
#include "caps/session-tools.h"
#include "caps/session-turn.h"
#include "kernel/base/json.h"
#include "kernel/query/query.h"
#include "kernel/schema/schema.h"
#include "kernel/value/tool.h"

enum { TOOL_NAME_MAX = 64 }; /* bytes; servers of models take no longer ones */

#define RESULT_NAME "submit_result"
#define RESULT_DESCRIPTION "End the run, with its result."
#define RESULT_PARAMETERS                                                                    \
	"{\"additionalProperties\":false,\"properties\":{\"result\":{\"description\":\"The " \
	"result, any JSON value.\"}},\"required\":[\"result\"],\"type\":\"object\"}"

#define WAIT_NAME "wait_until"
#define WAIT_DESCRIPTION                                                                    \
	"Wait until a time has come, or an event. The result says in 'woken' what it was: " \
	"time, event or step (somebody woke you); an event is in 'event'."
#define WAIT_PARAMETERS                                                                      \
	"{\"additionalProperties\":false,\"properties\":{"                                   \
	"\"after_ms\":{\"description\":\"How many milliseconds to wait.\",\"minimum\":0,"    \
	"\"type\":\"integer\"},"                                                             \
	"\"at\":{\"description\":\"Or a time, such as 2026-11-27T08:00:00+01:00.\","         \
	"\"type\":\"string\"},"                                                              \
	"\"until_event\":{\"description\":\"Name of a schema: an event of it ends the wait " \
	"earlier.\",\"type\":\"string\"}},\"type\":\"object\"}"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "make the tools of an agent")

bool agents_tool_is(const json_t *tool, const char *kind)
{
	return strcmp(wfs_json_text(tool, "kind"), kind) == 0;
}

/* A helper of the mount's side, which has the table of them. */
static bool is_helper(const json_t *tool)
{
	return agents_tool_is(tool, WFS_TOOL_KIND_READ) ||
		agents_tool_is(tool, WFS_TOOL_KIND_ACT) ||
		agents_tool_is(tool, WFS_TOOL_KIND_DRIVE);
}

json_t *agents_tool_find(const json_t *tools, const char *name)
{
	size_t i;
	json_t *tool;

	json_array_foreach(tools, i, tool)
		if (strcmp(wfs_json_text(tool, "name"), name) == 0)
			return tool;
	return NULL;
}

/* --- names --- */

/* {alias, name of the tool}; a name with a method is NAME.METHOD. A name of a tool is never an
 * alias. */
static const struct {
	const char *name;
	const char *method;
	const char *canonical;
} aliases[] = {
	{"artifact", "delete", "delete_artifact"},
	{"artifact", "edit", "edit_artifact"},
	{"artifact", "invoke", "invoke_artifact"},
	{"artifact", "read", "read_artifact"},
	{"artifact", "write", "write_artifact"},
	{"file", "cat", "fs_read"},
	{"file", "dir", "fs_ls"},
	{"file", "ls", "fs_ls"},
	{"file", "read", "fs_read"},
	{"file", "stat", "fs_stat"},
	{"kernel", "query", "query_kernel"},
	{"memory", "add", "genesis_memory_add"}, /* in worlds that have this artifact */
	{"memory", "search", "genesis_memory_search"},
};

const char *agents_tool_alias(const char *name, const char *method)
{
	const char *const dot = strchr(name, '.');
	const size_t size = !*method && dot ? (size_t)(dot - name) : strlen(name);
	const char *const part = !*method && dot ? dot + 1 : method;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(aliases); i++)
		if (strlen(aliases[i].name) == size && strncmp(aliases[i].name, name, size) == 0 &&
			strcmp(aliases[i].method, part) == 0)
			return aliases[i].canonical;
	return NULL;
}

/* --- artifacts as tools --- */

/* An artifact whose schema is of an object takes that one argument; others take the list `args`. */
static json_t *parameters_of(json_t *input, bool object)
{
	if (object)
		return json_incref(input);
	return json_pack("{s:b, s:{s:o}, s:[s], s:s}", "additionalProperties", 0, "properties",
		"args", input ? json_incref(input) : json_pack("{s:s}", "type", "array"),
		"required", "args", "type", "object");
}

/* The method of this name; "": the first. NULL: not found. */
static const json_t *method_of(const json_t *interface, const char *name)
{
	const json_t *const methods = json_object_get(interface, "methods");
	size_t i;
	const json_t *method;

	if (!*name)
		return json_array_get(methods, 0);
	json_array_foreach(methods, i, method)
		if (strcmp(wfs_json_text(method, "name"), name) == 0)
			return method;
	return NULL;
}

static json_t *tool_of_artifact(const char *id, const json_t *interface, const json_t *method)
{
	json_t *const input = json_object_get(method, "input");
	const char *const described = wfs_json_text(method, "description");
	const char *const name = wfs_json_text(method, "name");
	const bool object = json_object_get(input, "type")
		? strcmp(wfs_json_text(input, "type"), "object") == 0
		: json_object_get(input, "properties") != NULL;
	char tool_name[TOOL_NAME_MAX + 1] = ""; /* servers allow fewer characters than ids have */

	for (size_t i = 0; id[i] && i < TOOL_NAME_MAX; i++)
		tool_name[i] = (char)(isalnum((unsigned char)id[i]) || id[i] == '-' ? id[i] : '_');
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "artifact_id", id, "description",
		*described ? described : wfs_json_text(interface, "description"), "kind",
		WFS_TOOL_KIND_ARTIFACT, "method", *name ? name : "run", "name", tool_name, "object",
		(int)object, "parameters", parameters_of(input, object));
}

static int make_of_artifact(const struct agents_catalog *catalog, const char *id,
	const char *method, json_t **ret_tool, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = wfs_session_offers(catalog->caller, catalog->view, id, &artifact);

	if (r < 0)
		return wfs_error_from_errno(error, r, "find a tool");
	if (r == 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"unknown tool '%.140s': expected an action, fs_…, query, invoke, step, "
			"chat, wait_until, submit_result, an outside tool, or an executable "
			"artifact",
			id);
	if (!artifact.executable)
		return wfs_error_set(error, WFS_E_INVALID_TYPE,
			"the tool '%.140s' is an artifact that is not executable", id);
	const json_t *const found = method_of(artifact.interface, method);
	if (*method && !found && strcmp(method, "run") != 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"the artifact '%.140s' has no method '%.60s'", id, method);
	*ret_tool = tool_of_artifact(id, artifact.interface, found);
	return *ret_tool ? 0 : no_memory(error);
}

/* --- outside tools --- */

/* A name of a server's tool that the caller's grants cover names no artifact, even if the server
 * has not listed its tools: an artifact must not get what is meant for a tool.
 * Return: 1, 0 (the name is another one), -ENOENT, -ENOMEM. */
static int make_of_outside(const struct agents_catalog *catalog, const char *name,
	const char *method, json_t **ret_tool, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *row = NULL;
	char full[WFS_TOOL_NAME_MAX + 1];
	char model_name[WFS_TOOL_MODEL_NAME_MAX + 1];
	const int size = snprintf(full, sizeof(full), "%s%s%s", name, *method ? "." : "", method);

	if ((size_t)size >= sizeof(full) || !wfs_tool_name_valid(full))
		return 0;
	int r = wfs_session_tool(catalog->caller, full, &row);
	if (r == -ENOENT)
		r = wfs_session_is_tool(catalog->caller, full);
	if (r > 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"there is no tool '%.200s': its server does not list it, the policy denies "
			"it, or it has changed since it was pinned",
			full);
	if (r || !row)
		return r ? no_memory(error) : 0;
	wfs_tool_model_name(full, model_name);
	*ret_tool = json_pack("{s:O, s:s, s:s, s:s, s:O}", "description",
		json_object_get(row, "description"), "kind", WFS_TOOL_KIND_OUTSIDE, "name",
		model_name, "outside", full, "parameters", json_object_get(row, "schema"));
	return *ret_tool ? 1 : no_memory(error);
}

/* --- making --- */

static const char *kind_of_helper(const json_t *helper)
{
	if (json_is_true(json_object_get(helper, "acts")))
		return WFS_TOOL_KIND_ACT;
	return json_is_true(json_object_get(helper, "drives")) ? WFS_TOOL_KIND_DRIVE
							       : WFS_TOOL_KIND_READ;
}

static int make_tool(const struct agents_catalog *catalog, const json_t *helpers, const char *name,
	const char *method, json_t **ret_tool, struct wfs_error *error)
{
	const enum wfs_effect effect = wfs_effect_find_action(name);
	const json_t *const helper = agents_tool_find(helpers, name);
	const char *kind = NULL;

	if (effect < WFS_EFFECT_COUNT && effect != WFS_EFFECT_ACTION_RESOLVE_MINT)
		kind = WFS_TOOL_KIND_ACTION;
	else if (helper)
		kind = kind_of_helper(helper);
	else if (strcmp(name, RESULT_NAME) == 0)
		kind = WFS_TOOL_KIND_RESULT;
	else if (strcmp(name, WAIT_NAME) == 0)
		kind = WFS_TOOL_KIND_WAIT;
	if (!kind) {
		const int r = make_of_outside(catalog, name, method, ret_tool, error);

		if (r == 0)
			return make_of_artifact(catalog, name, method, ret_tool, error);
		return r > 0 ? 0 : r;
	}
	*ret_tool = json_pack("{s:s, s:s}", "kind", kind, "name", name);
	return *ret_tool ? 0 : no_memory(error);
}

/* If an outside tool has the model's name of another tool, it gets a number. Return: 0, -ENOMEM. */
static int number(const json_t *tools, json_t *tool)
{
	char base[WFS_TOOL_MODEL_NAME_MAX + 1];
	char numbered[WFS_TOOL_MODEL_NAME_MAX + 1];
	int n = 1;

	snprintf(base, sizeof(base), "%s", wfs_json_text(tool, "name"));
	while (agents_tool_find(tools, wfs_json_text(tool, "name"))) {
		char end[16];

		n++;
		snprintf(end, sizeof(end), "_%d", n);
		snprintf(numbered, sizeof(numbered), "%.*s%s",
			(int)(sizeof(numbered) - 1 - strlen(end)), base, end);
		if (json_object_set_new(tool, "name", json_string(numbered)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int agents_tool_make(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *definitions = catalog->helpers->definitions();

	return definitions ? make_tool(catalog, definitions, name, method, ret_tool, error)
			   : no_memory(error);
}

int agents_tools_make(const struct agents_catalog *catalog, const json_t *names, json_t **ret_tools,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *definitions = catalog->helpers->definitions();
	WFS_AUTO_JSON json_t *tools = json_array();
	size_t i;
	const json_t *name;
	int r = definitions && tools ? 0 : no_memory(error);

	json_array_foreach(names, i, name) {
		json_t *tool = NULL;

		if (r)
			break;
		if (!json_is_string(name))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'tools': expected an array of names");
		const char *const alias = agents_tool_alias(json_string_value(name), "");
		r = make_tool(catalog, definitions, alias ? alias : json_string_value(name), "",
			&tool, error);
		if (!r && agents_tool_is(tool, WFS_TOOL_KIND_OUTSIDE) && number(tools, tool))
			r = no_memory(error);
		if (!r && agents_tool_find(tools, wfs_json_text(tool, "name"))) {
			r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"two tools have the name '%s'", wfs_json_text(tool, "name"));
			json_decref(tool);
		} else if (!r && json_array_append_new(tools, tool) < 0) {
			r = no_memory(error);
		}
	}
	if (!r)
		*ret_tools = WFS_STEAL(tools);
	return r;
}

/* --- expanding --- */

/* The types of queries and their params have a table of their own. */
static json_t *query_parameters(void)
{
	WFS_AUTO_JSON json_t *parameters = wfs_effect_params_schema(WFS_EFFECT_ACTION_QUERY_KERNEL);
	json_t *const properties = json_object_get(parameters, "properties");

	return json_object_set_new(properties, "query_type", wfs_query_type_schema()) == 0 &&
			json_object_set_new(properties, "params", wfs_query_params_schema(false)) ==
				0
		? WFS_STEAL(parameters)
		: NULL;
}

static json_t *expand_action(const char *name)
{
	const enum wfs_effect effect = wfs_effect_find_action(name);

	if (effect == WFS_EFFECT_COUNT)
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:o}", "description", wfs_effect_help(effect), "kind",
		WFS_TOOL_KIND_ACTION, "name", name, "parameters",
		effect == WFS_EFFECT_ACTION_QUERY_KERNEL ? query_parameters()
							 : wfs_effect_params_schema(effect));
}

static json_t *expand_own(
	const char *kind, const char *name, const char *description, const char *text)
{
	json_t *parameters = NULL;

	if (wfs_json_parse(text, strlen(text), &parameters, NULL))
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:o}", "description", description, "kind", kind, "name",
		name, "parameters", parameters);
}

static json_t *expand_helper(const json_t *definitions, const json_t *tool)
{
	json_t *const definition =
		wfs_json_copy(agents_tool_find(definitions, wfs_json_text(tool, "name")));

	(void)json_object_del(definition, "acts");
	(void)json_object_del(definition, "drives");
	if (definition && json_object_set(definition, "kind", json_object_get(tool, "kind")) < 0) {
		json_decref(definition);
		return NULL;
	}
	return definition;
}

/* A new reference; NULL without memory, or if this program does not have the tool any more. */
static json_t *expand(const json_t *definitions, json_t *tool)
{
	if (agents_tool_is(tool, WFS_TOOL_KIND_ACTION))
		return expand_action(wfs_json_text(tool, "name"));
	if (agents_tool_is(tool, WFS_TOOL_KIND_RESULT))
		return expand_own(
			WFS_TOOL_KIND_RESULT, RESULT_NAME, RESULT_DESCRIPTION, RESULT_PARAMETERS);
	if (agents_tool_is(tool, WFS_TOOL_KIND_WAIT))
		return expand_own(WFS_TOOL_KIND_WAIT, WAIT_NAME, WAIT_DESCRIPTION, WAIT_PARAMETERS);
	if (is_helper(tool))
		return expand_helper(definitions, tool);
	return json_incref(tool);
}

int agents_tools_expand(const struct wfs_helpers *helpers, const json_t *tools, json_t **ret_tools,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *definitions = helpers->definitions();
	WFS_AUTO_JSON json_t *expanded = json_array();
	size_t i;
	json_t *tool;

	if (!definitions || !expanded)
		return no_memory(error);
	json_array_foreach(tools, i, tool)
		if (json_array_append_new(expanded, expand(definitions, tool)) < 0)
			return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
				"the tool '%s' cannot be described", wfs_json_text(tool, "name"));
	*ret_tools = WFS_STEAL(expanded);
	return 0;
}

int agents_tool_expand(
	const struct wfs_helpers *helpers, json_t *tool, json_t **ret_tool, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *list = json_pack("[O]", tool);
	WFS_AUTO_JSON json_t *expanded = NULL;
	const int r =
		list ? agents_tools_expand(helpers, list, &expanded, error) : no_memory(error);

	if (!r)
		*ret_tool = json_incref(json_array_get(expanded, 0));
	return r;
}

/* --- calls --- */

/* Checks params of an action or a question as for any client. Optional params that are null count
 * as absent. */
static int check_params(enum wfs_effect effect, const json_t *arguments, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *given = wfs_json_copy(arguments);
	struct wfs_params params;

	if (!given)
		return no_memory(error);
	wfs_effect_drop_nulls(effect, given);
	return wfs_effect_decode(effect, given, &params, error);
}

/* An artifact whose argument is one object takes the arguments; any other takes them as `args`. */
static int check_shape(const json_t *tool, const json_t *arguments, struct wfs_error *error)
{
	if (json_is_true(json_object_get(tool, "object")))
		return 0;
	int r = wfs_json_members(arguments, wfs_json_text(tool, "name"), "args", error);
	if (r)
		return r;
	WFS_AUTO_JSON json_t *invoked =
		json_pack("{s:O, s:O}", "args", json_object_get(arguments, "args"), "artifact_id",
			json_object_get(tool, "artifact_id"));
	return invoked ? check_params(WFS_EFFECT_ACTION_INVOKE_ARTIFACT, invoked, error)
		       : no_memory(error);
}

/* @lax: a schema that is not valid here allows everything. @what: for the message */
static int check_schema(
	json_t *schema, const json_t *value, bool lax, const char *what, struct wfs_error *error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *compiled = NULL;
	struct wfs_error reason = {0};
	int r = wfs_schema_new(schema, NULL, "", &problems, &compiled);

	if (lax && r && r != -ENOMEM)
		return 0;
	if (!r)
		r = wfs_schema_check(compiled, value, &reason);
	if (r == -ENOMEM)
		return no_memory(error);
	return r ? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			   "the arguments do not fit the interface of '%s': %s", what,
			   problems.count > 0 ? wfs_buffer_text(&problems.lines) : reason.message)
		 : 0;
}

/* Checks an invocation against the interface that the turn keeps. */
static int check_artifact(const json_t *tool, const json_t *arguments, struct wfs_error *error)
{
	const bool object = json_is_true(json_object_get(tool, "object"));
	json_t *const parameters = json_object_get(tool, "parameters");
	json_t *const input = object
		? parameters
		: json_object_get(json_object_get(parameters, "properties"), "args");
	const int r = check_shape(tool, arguments, error);

	return r || !input
		? r
		: check_schema(input, object ? arguments : json_object_get(arguments, "args"),
			  false, wfs_json_text(tool, "artifact_id"), error);
}

/* The server of an outside tool checks what its schema says in words that are unknown here. */
static int check_outside(const json_t *tool, const json_t *arguments, struct wfs_error *error)
{
	return check_schema(json_object_get(tool, "parameters"), arguments, true,
		wfs_json_text(tool, "outside"), error);
}

int agents_tool_check(const struct wfs_helpers *helpers, const json_t *tool,
	const json_t *arguments, struct wfs_error *error)
{
	const char *const name = wfs_json_text(tool, "name");
	const enum wfs_effect question = agents_question_find(name);

	if (!json_is_object(arguments))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the arguments: expected a JSON object, got another value");
	if (agents_tool_is(tool, WFS_TOOL_KIND_ACTION))
		return check_params(wfs_effect_find_action(name), arguments, error);
	if (agents_tool_is(tool, WFS_TOOL_KIND_READ) && question != WFS_EFFECT_COUNT)
		return check_params(question, arguments, error);
	if (is_helper(tool))
		return helpers->check(name, arguments, error);
	if (agents_tool_is(tool, WFS_TOOL_KIND_WAIT)) /* the rest is checked with the action */
		return wfs_json_members(arguments, WAIT_NAME, "after_ms? at? until_event?", error);
	if (agents_tool_is(tool, WFS_TOOL_KIND_OUTSIDE))
		return check_outside(tool, arguments, error);
	return agents_tool_is(tool, WFS_TOOL_KIND_ARTIFACT)
		? check_artifact(tool, arguments, error)
		: wfs_json_members(arguments, RESULT_NAME, "result", error);
}

/* Members that are null count as absent, as for helpers that make an action. Return: 0, or -1
 * without memory. */
static int take_members(json_t *asked, const json_t *from)
{
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)(uintptr_t)from, name, value)
		if (!json_is_null(value))
			r |= json_object_set(asked, name, value);
	return r;
}

/* A model may put members of the action beside `action`. An action without a type is an
 * invocation. */
static json_t *asked_of_helper(const json_t *arguments)
{
	WFS_AUTO_JSON json_t *asked = json_pack("{s:s}", "action_type", "invoke_artifact");

	if (!asked || take_members(asked, arguments) < 0 ||
		take_members(asked, json_object_get(arguments, "action")) < 0)
		return NULL;
	return WFS_STEAL(asked);
}

json_t *agents_tool_asked(const json_t *tool, json_t *arguments)
{
	json_t *const listed = json_is_true(json_object_get(tool, "object"))
		? NULL
		: json_object_get(arguments, "args");

	if (agents_tool_is(tool, WFS_TOOL_KIND_ARTIFACT))
		return json_pack("{s:s, s:o, s:O, s:O}", "action_type", "invoke_artifact", "args",
			listed ? json_incref(listed) : json_pack("[O]", arguments), "artifact_id",
			json_object_get(tool, "artifact_id"), "method",
			json_object_get(tool, "method"));
	if (agents_tool_is(tool, WFS_TOOL_KIND_ACT))
		return asked_of_helper(arguments);
	WFS_AUTO_JSON json_t *action = wfs_json_copy(arguments);
	return action && json_object_set(action, "action_type", json_object_get(tool, "name")) == 0
		? WFS_STEAL(action)
		: NULL;
}

int agents_tool_action(const struct wfs_helpers *helpers, const json_t *tool, json_t *arguments,
	json_t **ret_action, struct wfs_error *error)
{
	if (agents_tool_is(tool, WFS_TOOL_KIND_ACT))
		return helpers->action(wfs_json_text(tool, "name"), arguments, ret_action, error);
	*ret_action = agents_tool_asked(tool, arguments);
	return *ret_action ? 0 : no_memory(error);
}
