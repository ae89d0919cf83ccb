/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas and patterns of constraints. */
#include <errno.h>
#include <string.h>

#include "agents/adapter/constraint-impl.h"
#include "kernel/base/json.h"

int constraint_schema_new(
	const json_t *constraint, struct wfs_schema **ret_schema, struct wfs_error *error)
{
	json_t *const definition = json_object_get(constraint, "schema");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const int r = wfs_schema_new(definition, NULL, "/schema", &problems, ret_schema);

	if (r != -EINVAL)
		return r;
	const char *const text = wfs_buffer_text(&problems.lines);

	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "%.*s", (int)strcspn(text, "\n"), text);
}

/* First compiles @regex alone: text such as `a)|(b` is not a pattern,
 * but would be one in brackets. */
int constraint_pattern_new(
	const char *regex, struct wfs_pattern **ret_pattern, struct wfs_error *error)
{
	WFS_AUTO_PATTERN struct wfs_pattern *alone = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	int r = wfs_pattern_new(regex, strlen(regex), 0, &alone, error);

	if (r < 0)
		return r;
	wfs_buffer_printf(&whole, "(?:%s)$", regex);
	r = wfs_buffer_check(&whole);
	return r < 0
		? r
		: wfs_pattern_new(whole.data, whole.size, WFS_PATTERN_AT_START, ret_pattern, error);
}

/* --- xgrammar --- */

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

static int check_node(const json_t *node, struct wfs_buffer *where, struct wfs_error *error);

/* @name: of the member; NULL: an item of a list */
static int check_inner(const json_t *node, const char *name, size_t index, struct wfs_buffer *where,
	struct wfs_error *error)
{
	const size_t size = where->size;

	if (name)
		wfs_json_pointer_append(where, name);
	else
		wfs_buffer_printf(where, "/%zu", index);
	const int r = check_node(node, where, error);

	where->size = size;
	return r;
}

/* Checks schemas in an array or an object. */
static int check_members(json_t *members, struct wfs_buffer *where, struct wfs_error *error)
{
	const char *name;
	size_t index;
	json_t *member;
	int r = 0;

	json_array_foreach(members, index, member) {
		r = check_inner(member, NULL, index, where, error);
		if (r < 0)
			return r;
	}
	json_object_foreach(members, name, member) {
		r = check_inner(member, name, 0, where, error);
		if (r < 0)
			return r;
	}
	return r;
}

static int check_keyword(
	const char *name, json_t *value, struct wfs_buffer *where, struct wfs_error *error)
{
	/* Source: vLLM 0.15.1, STRING_SUPPORTED_FORMATS. */
	static const char *const formats[] = {"email", "date", "time", "date-time", "duration",
		"ipv4", "ipv6", "hostname", "uuid", "uri", "uri-reference", "uri-template",
		"json-pointer", "relative-json-pointer", NULL};
	/* vLLM refuses the keywords up to propertyNames; a grammar cannot enforce the others. */
	static const char *const refused[] = {"multipleOf", "uniqueItems", "contains",
		"minContains", "maxContains", "patternProperties", "propertyNames", "if", "then",
		"else", "dependentRequired", "dependentSchemas", "unevaluatedItems",
		"unevaluatedProperties", "$dynamicRef", NULL};
	static const char *const schemas[] = {"items", "additionalProperties", "not", NULL};
	static const char *const groups[] = {
		"properties", "$defs", "prefixItems", "allOf", "anyOf", "oneOf", NULL};
	const size_t size = where->size;
	int r = 0;

	if (is_one_of(name, refused) ||
		(strcmp(name, "format") == 0 && !is_one_of(json_string_value(value), formats)))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s/%s: expected only keywords that are enforced", wfs_buffer_text(where),
			name);
	wfs_json_pointer_append(where, name);
	if (is_one_of(name, schemas))
		r = check_node(value, where, error);
	else if (is_one_of(name, groups))
		r = check_members(value, where, error);
	where->size = size;
	return r;
}

/* The schema has been compiled, so it is not nested more deeply than WFS_SCHEMA_DEPTH_MAX. */
static int check_node(const json_t *node, struct wfs_buffer *where, struct wfs_error *error)
{
	json_t *const members = (json_t *)node; /* jansson's iterators take no const */
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(members, name, value) {
		r = check_keyword(name, value, where, error);
		if (r < 0)
			return r;
	}
	return r;
}

int constraint_check_xgrammar(const json_t *schema, const char *profile, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer where = {0};
	struct wfs_error reason;

	wfs_buffer_append_text(&where, "/schema");
	const int r = check_node(schema, &where, &reason);

	if (r < 0)
		return wfs_error_set(error, reason.code, "%s by a server of profile '%s'",
			reason.message, profile);
	return wfs_buffer_check(&where);
}
