/* SPDX-License-Identifier: Apache-2.0 */
/* Runs reflexes, and checks what they return. */
#include "agents/mind/reflex.h"

#include "kernel/base/json.h"
#include "kernel/box/box.h"

static const struct wfs_lua_limits limits = {
	.instructions = WFS_MIND_REFLEX_INSTRUCTIONS,
	.memory_bytes = WFS_MIND_REFLEX_MEMORY_BYTES,
	.output_bytes = WFS_MIND_REFLEX_ACTION_MAX,
};

/* Lua's names of types, which the code's author knows. */
static const char *lua_type(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return "table";
	case JSON_STRING:
		return "string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "boolean";
	default:
		return "nil";
	}
}

/* For code that compiles: does it define no reflex? A call itself only says that it has failed. */
static bool defines_none(struct wfs_box *box, const struct wfs_code_options *options)
{
	static const char *const functions[] = {"reflex", NULL};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_code_options checked = *options;

	checked.functions = functions;
	return wfs_code_new(box, &checked, &program, NULL) == -EINVAL;
}

static int run(struct wfs_bytes source, const char *name, const json_t *context, json_t **ret_value,
	struct wfs_error *error)
{
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	WFS_AUTO_JSON json_t *arguments = json_array();
	const struct wfs_code_options options = {
		.program = true, .limits = &limits, .name = name, .source = source};
	struct wfs_code_call call = {.function = "reflex", .arguments = arguments};
	int r;

	if (json_array_append(arguments, (json_t *)context) < 0 || wfs_box_new(&box) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "run reflex '%s'", name);
	r = wfs_code_new(box, &options, &program, error);
	if (!r)
		r = wfs_code_call(program, &call, ret_value, error);
	if (r == -EIO && call.failure == WFS_LUA_FAILURE_CODE && defines_none(box, &options))
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: reflex code must define reflex(context)", name);
	return r;
}

static int check_action(const json_t *value, const char *name, struct wfs_error *error)
{
	const json_t *const type = json_object_get(value, "action_type");

	if (!json_is_object(value) && !json_is_array(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: a reflex returns a table or nil, got %s", name, lua_type(value));
	if (!type)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected a table with 'action_type', got %s", name,
			json_is_array(value) ? "an array" : "one without");
	if (!json_is_string(type) || json_string_length(type) == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: action_type: expected a text, got %s", name,
			json_is_string(type) ? "an empty one" : lua_type(type));
	return 0;
}

int wfs_mind_reflex(struct wfs_bytes source, const char *name, const json_t *context,
	json_t **ret_action, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *value = NULL;
	int r = run(source, name, context, &value, error);

	if (!r && !json_is_null(value))
		r = check_action(value, name, error);
	if (r)
		return wfs_trace(r);
	*ret_action = json_is_null(value) ? NULL : WFS_STEAL(value);
	return 0;
}
