/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that act and query. Their objects have the members of all actions, or of all queries,
 * so that a model needs one definition; the kernel refuses members that do not belong together.
 */
#include <string.h>

#include "fs/tool/tool-impl.h"
#include "kernel/base/json.h"
#include "kernel/manifest/effect.h"
#include "kernel/query/query.h"

/* Makes the schema of a value or null. A shape that has no form of its own cannot be in a
 * definition: NULL. */
static json_t *nullable(const struct wfs_form *shape)
{
	switch (shape->kind) {
	case WFS_FORM_TEXT:
	case WFS_FORM_HASH:
	case WFS_FORM_VALUE: /* includes texts */
		return json_pack("{s:[s, s]}", "type", "string", "null");
	case WFS_FORM_NAT:
		return json_pack("{s:i, s:[s, s]}", "minimum", 0, "type", "integer", "null");
	case WFS_FORM_BOOL:
		return json_pack("{s:[s, s]}", "type", "boolean", "null");
	case WFS_FORM_LIST:
		return json_pack("{s:{s:[s, s, s]}, s:[s, s]}", "items", "type", "string", "number",
			"boolean", "type", "array", "null");
	default:
		return NULL;
	}
}

/* Adds a member, unless one of this name exists. Return: 0, or -ENOMEM. */
static int add(json_t *schema, const char *name, json_t *value, const char *help)
{
	json_t *const properties = json_object_get(schema, "properties");

	if (json_object_get(properties, name)) {
		json_decref(value);
		return 0;
	}
	return json_object_set_new(value, "description", json_string(help)) < 0 ||
			json_object_set_new(properties, name, value) < 0
		? -ENOMEM
		: 0;
}

/* With @strict, requires all members, for interfaces that need every member; all but the type may
 * be null. */
static int require(json_t *schema, bool strict)
{
	json_t *const required = json_object_get(schema, "required");
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(json_object_get(schema, "properties"), name, value) {
		if (strict || strcmp(name, "action_type") == 0)
			r |= json_array_append_new(required, json_string(name));
	}
	return r;
}

/* Queries have a tool of their own. */
static bool is_offered(enum wfs_effect effect)
{
	return wfs_effect_action(effect) && strcmp(wfs_effect_cap_type(effect), "act") == 0;
}

static int add_types(json_t *schema)
{
	json_t *const names = json_array();
	WFS_AUTO_BUFFER struct wfs_buffer help = {0};
	int r = 0;

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const char *const name = wfs_effect_action(effect);

		if (!is_offered(effect))
			continue;
		r |= json_array_append_new(names, json_string(name));
		wfs_buffer_printf(
			&help, "%s%s: %s", help.size ? "; " : "", name, wfs_effect_help(effect));
	}
	json_t *const type = json_pack("{s:o, s:s}", "enum", names, "type", "string");
	return r | add(schema, "action_type", type, wfs_buffer_text(&help));
}

json_t *wfs_tool_action_schema(bool strict)
{
	WFS_AUTO_JSON json_t *schema =
		json_pack("{s:b, s:{}, s:[]}", "additionalProperties", 0, "properties", "required");
	int r = schema ? add_types(schema) : -ENOMEM;

	for (int i = 0; !r && i < WFS_EFFECT_COUNT; i++) {
		const struct wfs_field *member = wfs_effect_params((enum wfs_effect)i)->fields;

		for (; is_offered((enum wfs_effect)i) && !r && member->name; member++) {
			json_t *const value = nullable(member->form);

			r = value ? add(schema, member->name, value, member->help) : 0;
		}
	}
	if (!r)
		r = require(schema, strict);
	return r ? NULL : WFS_STEAL(schema);
}

json_t *wfs_tool_names_schema(bool strict)
{
	(void)strict;
	return json_pack("{s:{s:s}}", "items", "type", "string");
}

json_t *wfs_tool_messages_schema(bool strict)
{
	(void)strict;
	return json_pack("{s:{s:b, s:{s:{s:s}, s:{s:[s, s, s, s], s:s}}, s:[s, s], s:s}}", "items",
		"additionalProperties", 0, "properties", "content", "type", "string", "role",
		"enum", "system", "developer", "user", "assistant", "type", "string", "required",
		"content", "role", "type", "object");
}

json_t *wfs_tool_query_type_schema(bool strict)
{
	(void)strict;
	return wfs_query_type_schema();
}

json_t *wfs_tool_query_schema(bool strict)
{
	return wfs_query_params_schema(strict);
}

/* --- queries --- */

/* Copies an object without members that are null. Return: new reference, NULL without memory. */
static json_t *given(const json_t *object)
{
	json_t *const copy = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		if (!json_is_null(value) && json_object_set(copy, name, value) < 0) {
			json_decref(copy);
			return NULL;
		}
	}
	return copy;
}

/* An action without a type is an invocation. */
json_t *wfs_tool_invoke_action(const json_t *arguments)
{
	json_t *const action = given(json_object_get(arguments, "action"));

	if (!json_object_get(action, "action_type") &&
		json_object_set_new(action, "action_type", json_string("invoke_artifact")) < 0) {
		json_decref(action);
		return NULL;
	}
	return action;
}

int wfs_tool_invoke_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "invoke",
		json_pack("{s:o}", "action", wfs_tool_invoke_action(task->arguments)));
}

json_t *wfs_tool_query_action(const json_t *arguments)
{
	return json_pack("{s:s, s:o, s:O}", "action_type", "query_kernel", "params",
		given(json_object_get(arguments, "params")), "query_type",
		json_object_get(arguments, "query_type"));
}

int wfs_tool_query_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "query",
		json_pack("{s:s, s:o}", "query_type", wfs_task_text(task, "query_type"), "params",
			given(json_object_get(task->arguments, "params"))));
}

int wfs_tool_step_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "step", given(task->arguments));
}

int wfs_tool_chat_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "chat",
		json_pack("{s:s, s:s*, s:s*}", "message", wfs_task_text(task, "message"), "plan_id",
			wfs_task_text(task, "plan_id"), "session_id",
			wfs_task_text(task, "session_id")));
}

/* Leaves out histories and plans, which can be much more than a model wants to read; the tree has
 * them. `omitted` names what is left out, unless it is empty. */
static json_t *without_history(const json_t *answer)
{
	static const char *const members[] = {"history", "plan", "tool_results"};
	WFS_AUTO_JSON json_t *copy = wfs_json_copy(answer);
	WFS_AUTO_JSON json_t *omitted = json_array();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		const json_t *const member = json_object_get(answer, members[i]);

		if ((json_object_size(member) > 0 || json_array_size(member) > 0) &&
			json_array_append_new(omitted, json_string(members[i])) < 0)
			return NULL;
		(void)json_object_del(copy, members[i]);
	}
	if (json_array_size(omitted) > 0 && json_object_set(copy, "omitted", omitted) < 0)
		return NULL;
	return WFS_STEAL(copy);
}

static int take_driven(struct wfs_task *task, const json_t *result)
{
	task->result = without_history(result);
	return json_object_set(task->result, "meta", task->meta) < 0 ? -ENOMEM : 0;
}

int wfs_tool_step_answered(struct wfs_task *task, const json_t *result)
{
	return take_driven(task, result);
}

void wfs_tool_step_failed(struct wfs_task *task, const json_t *details)
{
	task->error_details = without_history(details);
}

int wfs_tool_chat_answered(struct wfs_task *task, const json_t *result)
{
	return take_driven(task, result);
}

void wfs_tool_chat_failed(struct wfs_task *task, const json_t *details)
{
	task->error_details = without_history(details);
}
