/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/router.h"

#include <ctype.h>

#include "agents/prepare/question.h"
#include "kernel/base/json.h"
#include "kernel/value/bounds.h"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "find a tool")

/* The text of a member without white space around it; "" if the member is not a text. */
static json_t *trimmed(const json_t *call, const char *member)
{
	const char *text = wfs_json_text(call, member);
	size_t size;

	while (isspace((unsigned char)*text))
		text++;
	size = strlen(text);
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	return json_stringn(text, size);
}

json_t *agents_router_canonical(const json_t *call)
{
	json_t *const args = json_object_get(call, "args");
	WFS_AUTO_JSON json_t *name = trimmed(call, "name");
	WFS_AUTO_JSON json_t *method = trimmed(call, "method");

	if (!name || !method)
		return NULL;
	const char *const canonical =
		agents_tool_alias(json_string_value(name), json_string_value(method));
	if (canonical)
		return json_pack("{s:O?, s:s, s:s}", "args", args, "method", "", "name", canonical);
	return json_pack("{s:O?, s:O, s:O}", "args", args, "method", method, "name", name);
}

/* --- outcomes --- */

static json_t *outcome(const json_t *call, const char *code, json_t *details, json_t *result)
{
	return json_pack("{s:o?, s:s?, s:s, s:s, s:b, s:O?}", "details", details, "error", code,
		"method", wfs_json_text(call, "method"), "name", wfs_json_text(call, "name"), "ok",
		code == NULL, "result", result);
}

json_t *agents_router_failed(
	const json_t *call, const char *code, const char *type, const char *message)
{
	return outcome(call, code, json_pack("{s:s, s:s}", "message", message, "type", type), NULL);
}

json_t *agents_router_done(const json_t *call, json_t *result)
{
	const char *const reported = wfs_json_text(result, "error");

	if (!json_is_false(json_object_get(result, "ok")))
		return outcome(call, NULL, NULL, result);
	return outcome(call, WFS_TOOL_EXCEPTION,
		json_pack("{s:s, s:s}", "message",
			*reported ? reported : "the tool says that it failed", "type", "reported"),
		result);
}

/* --- finding --- */

enum { NAMES_MAX = 256 }; /* of actions and helpers, which have tables of their own */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_effects(json_t *names)
{
	int r = 0;

	for (enum wfs_effect i = 0; i < WFS_EFFECT_COUNT; i++) {
		const char *const name = wfs_effect_action(i);
		const char *const kind = wfs_effect_kind(i);

		if (name && i != WFS_EFFECT_ACTION_RESOLVE_MINT)
			r |= json_array_append_new(names, json_string(name));
		if (agents_question_find(kind) != WFS_EFFECT_COUNT)
			r |= json_array_append_new(names, json_string(kind));
	}
	return r;
}

/* A sorted copy of an array of texts. */
static json_t *sort(const json_t *names)
{
	WFS_AUTO_JSON json_t *sorted = json_array();
	const char *texts[NAMES_MAX];
	const size_t count = json_array_size(names);

	wfs_require(count <= NAMES_MAX);
	for (size_t i = 0; i < count; i++)
		texts[i] = json_string_value(json_array_get(names, i));
	qsort(texts, count, sizeof(texts[0]), compare_names);
	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(sorted, json_string(texts[i])) < 0)
			return NULL;
	return WFS_STEAL(sorted);
}

json_t *agents_router_names(const struct wfs_helpers *helpers)
{
	WFS_AUTO_JSON json_t *definitions = helpers->definitions();
	WFS_AUTO_JSON json_t *names = json_array();
	size_t i;
	json_t *definition;

	if (!definitions || !names || add_effects(names) < 0)
		return NULL;
	json_array_foreach(definitions, i, definition)
		if (!json_is_true(json_object_get(definition, "drives")) &&
			json_array_append(names, json_object_get(definition, "name")) < 0)
			return NULL;
	return sort(names);
}

/* Code without an interface gets the arguments as they are, and no argument for {}. */
static int take_as_arguments(const json_t *tool, json_t *call)
{
	json_t *const args = json_object_get(call, "args");

	if (!agents_tool_is(tool, WFS_TOOL_KIND_ARTIFACT) ||
		json_is_true(json_object_get(tool, "object")) || json_object_get(args, "args"))
		return 0;
	return json_object_set_new(call, "args",
		json_object_size(args) > 0 ? json_pack("{s:[O]}", "args", args)
					   : json_pack("{s:[]}", "args"));
}

int agents_router_tool(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error)
{
	const enum wfs_effect question = agents_question_find(name);
	WFS_AUTO_JSON json_t *made = NULL;

	if (question != WFS_EFFECT_COUNT) {
		*ret_tool = agents_question_tool(question);
		return *ret_tool ? 0 : no_memory(error);
	}
	const int r = agents_tool_make(catalog, name, method, &made, error);
	if (r)
		return r;
	return agents_tool_expand(catalog->helpers, made, ret_tool, error);
}

int agents_router_find(const struct agents_catalog *catalog, json_t *call, json_t **ret_tool,
	json_t **ret_outcome, struct wfs_error *error)
{
	const char *const method = wfs_json_text(call, "method");
	WFS_AUTO_JSON json_t *tool = NULL;
	struct wfs_error reason = {0};

	if (!*wfs_json_text(call, "name") || !json_is_object(json_object_get(call, "args"))) {
		*ret_outcome = outcome(call, WFS_TOOL_INVALID_CALL,
			json_pack("{s:s, s:O}", "message",
				"expected a name, and args that are an object", "call", call),
			NULL);
		return *ret_outcome ? -EINVAL : no_memory(error);
	}
	int r = agents_router_tool(catalog, wfs_json_text(call, "name"), method, &tool, &reason);
	if (r == -ENOENT || r == -EINVAL ||
		(!r && *method && !agents_tool_is(tool, WFS_TOOL_KIND_ARTIFACT) &&
			!agents_tool_is(tool, WFS_TOOL_KIND_OUTSIDE)) ||
		(!r && agents_tool_is(tool, WFS_TOOL_KIND_RESULT)) ||
		(!r && agents_tool_is(tool, WFS_TOOL_KIND_WAIT)) ||
		(!r && agents_tool_is(tool, WFS_TOOL_KIND_DRIVE))) {
		*ret_outcome = outcome(call, WFS_TOOL_UNKNOWN,
			json_pack("{s:o}", "available", agents_router_names(catalog->helpers)),
			NULL);
		return *ret_outcome ? -ENOENT : no_memory(error);
	}
	if (r) {
		*error = reason;
		return r;
	}
	if (take_as_arguments(tool, call) < 0)
		return no_memory(error);
	if (agents_tool_check(catalog->helpers, tool, json_object_get(call, "args"), &reason)) {
		*ret_outcome = agents_router_failed(call, WFS_TOOL_INVALID_CALL,
			wfs_error_info(reason.code)->name, reason.message);
		return *ret_outcome ? -EINVAL : no_memory(error);
	}
	*ret_tool = WFS_STEAL(tool);
	return 0;
}
