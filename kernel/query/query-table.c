/* SPDX-License-Identifier: Apache-2.0 */
/* The table of queries, as data, help and JSON Schema. */
#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/query/query.h"

#define NONE WFS_QUERY_ABSENT
#define MAXIMUM_TEXT 0
#define MAXIMUM_PATTERN 0
#define MAXIMUM_FLAG 0
#define MAXIMUM_LIMIT WFS_QUERY_LIMIT_MAX
#define MAXIMUM_OFFSET WFS_QUERY_OFFSET_MAX
#define NEED_REQUIRED true
#define NEED_OPTIONAL false

#define PARAM_ROW(query, type, name_, need, absent, help_)                       \
	{(#name_), WFS_QUERY_KIND_##type, NEED_##need, (absent), MAXIMUM_##type, \
		offsetof(struct wfs_query, query.name_), (help_)},
#define PARAM_ROWS(constant, name, help, params, data, example) \
	static const struct wfs_query_param name##_params[] = { \
		params(PARAM_ROW, name){NULL},                  \
	};
WFS_QUERIES(PARAM_ROWS)
#undef PARAM_ROWS
#undef PARAM_ROW

static const struct {
	const char *name;
	const char *line;
	const struct wfs_query_param *params;
	const char *data;
	const char *example;
} queries[] = {
#define QUERY_ROW(constant, name_, help_, params_, data_, example_) \
	{#name_, (help_), name_##_params, (data_), (example_)},
	WFS_QUERIES(QUERY_ROW)
#undef QUERY_ROW
};

const char *wfs_query_name(enum wfs_query_type type)
{
	wfs_require(type < WFS_QUERY_COUNT);
	return queries[type].name;
}

enum wfs_query_type wfs_query_find(const char *name)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		if (strcmp(queries[i].name, name) == 0)
			return (enum wfs_query_type)i;
	return WFS_QUERY_COUNT;
}

const char *wfs_query_line(enum wfs_query_type type)
{
	wfs_require(type < WFS_QUERY_COUNT);
	return queries[type].line;
}

const char *wfs_query_example(enum wfs_query_type type)
{
	wfs_require(type < WFS_QUERY_COUNT);
	return queries[type].example;
}

const struct wfs_query_param *wfs_query_params(enum wfs_query_type type)
{
	wfs_require(type < WFS_QUERY_COUNT);
	return queries[type].params;
}

const struct wfs_query_param *wfs_query_param_find(enum wfs_query_type type, struct wfs_bytes name)
{
	for (const struct wfs_query_param *param = wfs_query_params(type); param->name; param++)
		if (wfs_bytes_equal(wfs_bytes_text(param->name), name))
			return param;
	return NULL;
}

void wfs_query_names_append(struct wfs_buffer *buffer)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		wfs_buffer_printf(buffer, "%s%s", i > 0 ? ", " : "", queries[i].name);
}

/* --- JSON Schema --- */

static json_t *type_schema(const struct wfs_query_param *param, const char *type, bool strict)
{
	json_t *const schema = json_object();

	if (json_object_set_new(schema, "type",
		    strict ? json_pack("[s, s]", type, "null") : json_string(type)) < 0) {
		json_decref(schema);
		return NULL;
	}
	if (param->kind == WFS_QUERY_KIND_PATTERN && !strict) /* strict servers know few keywords */
		json_object_set_new(schema, "format", json_string("regex"));
	return schema;
}

static json_t *param_schema(const struct wfs_query_param *param, bool strict)
{
	switch (param->kind) {
	case WFS_QUERY_KIND_TEXT:
	case WFS_QUERY_KIND_PATTERN:
		return type_schema(param, "string", strict);
	case WFS_QUERY_KIND_FLAG:
		return type_schema(param, "boolean", strict);
	case WFS_QUERY_KIND_LIMIT:
	case WFS_QUERY_KIND_OFFSET:
		break;
	}
	WFS_AUTO_JSON json_t *schema = type_schema(param, "integer", strict);
	return json_object_set_new(schema, "minimum", json_integer(0)) == 0 &&
			json_object_set_new(
				schema, "maximum", json_integer((json_int_t)param->maximum)) == 0
		? WFS_STEAL(schema)
		: NULL;
}

/* Describes a param with the queries that take it, grouped where the descriptions are equal. */
static void describe_param(const char *name, struct wfs_buffer *buffer)
{
	const char *help = NULL;

	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const struct wfs_query_param *const param =
			wfs_query_param_find((enum wfs_query_type)i, wfs_bytes_text(name));

		if (!param)
			continue;
		if (help && strcmp(help, param->help) != 0)
			wfs_buffer_printf(buffer, ": %s\n", help);
		else if (help)
			wfs_buffer_append_text(buffer, ", ");
		help = param->help;
		wfs_buffer_append_text(buffer, wfs_query_name((enum wfs_query_type)i));
		if (param->value_absent > 0)
			wfs_buffer_printf(buffer, " (%" PRId64 ")", param->value_absent);
	}
	wfs_buffer_printf(buffer, ": %s", help ? help : "");
}

/* Adds a param, unless another query has added it. Return: 0, -ENOMEM. */
static int add_param(
	json_t *properties, json_t *required, const struct wfs_query_param *param, bool strict)
{
	WFS_AUTO_BUFFER struct wfs_buffer help = {0};

	if (json_object_get(properties, param->name))
		return 0;
	json_t *const schema = param_schema(param, strict);
	describe_param(param->name, &help);
	if (json_object_set_new(properties, param->name, schema) < 0 ||
		json_object_set_new(schema, "description", json_string(wfs_buffer_text(&help))) <
			0 ||
		(strict && json_array_append_new(required, json_string(param->name)) < 0))
		return -ENOMEM;
	return wfs_buffer_check(&help);
}

json_t *wfs_query_params_schema(bool strict)
{
	WFS_AUTO_JSON json_t *properties = json_object();
	WFS_AUTO_JSON json_t *required = json_array();

	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		for (const struct wfs_query_param *param = wfs_query_params((enum wfs_query_type)i);
			param->name; param++)
			if (add_param(properties, required, param, strict) < 0)
				return NULL;
	return json_pack("{s:b, s:s, s:O, s:O, s:s}", "additionalProperties", 0, "description",
		"Those that the query_type takes, and no others.", "properties", properties,
		"required", required, "type", "object");
}

static void describe_type(enum wfs_query_type type, struct wfs_buffer *buffer)
{
	const char *between = "";

	wfs_buffer_printf(buffer, "\n%s(", wfs_query_name(type));
	for (const struct wfs_query_param *param = wfs_query_params(type); param->name; param++) {
		wfs_buffer_printf(
			buffer, "%s%s%s", between, param->name, param->required ? "" : "?");
		between = ", ";
	}
	wfs_buffer_printf(buffer, "): %s", wfs_query_line(type));
}

json_t *wfs_query_type_schema(void)
{
	WFS_AUTO_BUFFER struct wfs_buffer help = {0};
	WFS_AUTO_JSON json_t *names = json_array();

	wfs_buffer_append_text(&help,
		"What to ask; in brackets the params that it takes, '?' after an optional one.");
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		describe_type((enum wfs_query_type)i, &help);
		if (json_array_append_new(names, json_string(queries[i].name)) < 0)
			return NULL;
	}
	return json_pack("{s:s, s:O, s:s}", "description", wfs_buffer_text(&help), "enum", names,
		"type", "string");
}

/* --- help --- */

static void help_param(const struct wfs_query_param *param, struct wfs_buffer *buffer)
{
	wfs_buffer_printf(buffer, "  %-13s ", param->name);
	switch (param->kind) {
	case WFS_QUERY_KIND_TEXT:
		wfs_buffer_append_text(buffer, "string");
		break;
	case WFS_QUERY_KIND_PATTERN:
		wfs_buffer_append_text(buffer, "regular expression");
		break;
	case WFS_QUERY_KIND_FLAG:
		wfs_buffer_append_text(buffer, "boolean");
		break;
	case WFS_QUERY_KIND_LIMIT:
	case WFS_QUERY_KIND_OFFSET:
		wfs_buffer_printf(buffer, "integer, 0 to %" PRId64 ", default %" PRId64,
			param->maximum, param->value_absent);
		break;
	}
	wfs_buffer_printf(buffer, "%s: %s\n", param->required ? ", required" : "", param->help);
}

/* Appends lines of the table, each after two spaces. */
static void help_lines(const char *lines, struct wfs_buffer *buffer)
{
	while (*lines) {
		const size_t size = strcspn(lines, "\n");

		wfs_buffer_printf(buffer, "  %.*s\n", (int)size, lines);
		lines += size + (lines[size] == '\n');
	}
}

/* Appends the example as the command takes it: name=value. */
static void help_example(enum wfs_query_type type, struct wfs_buffer *buffer)
{
	const char *const example = queries[type].example;
	WFS_AUTO_JSON json_t *params = NULL;
	const char *name;
	json_t *value;

	int r = wfs_json_parse(example, strlen(example), &params, NULL);
	wfs_require(r == 0 || r == -ENOMEM);
	buffer->failed = buffer->failed || r;
	wfs_buffer_printf(buffer, "\nExample:\n  worldfs query %s", queries[type].name);
	json_object_foreach(params, name, value) {
		wfs_buffer_printf(buffer, " %s=", name);
		if (json_is_string(value))
			wfs_buffer_append_text(buffer, json_string_value(value));
		else
			wfs_json_write(value, buffer);
	}
	wfs_buffer_append_byte(buffer, '\n');
}

void wfs_query_page(enum wfs_query_type type, struct wfs_buffer *buffer)
{
	wfs_buffer_printf(
		buffer, "%s: %s\n\nParams:\n", wfs_query_name(type), wfs_query_line(type));
	for (const struct wfs_query_param *param = wfs_query_params(type); param->name; param++)
		help_param(param, buffer);
	wfs_buffer_append_text(buffer, "\nAnswer, besides success and query_type:\n");
	help_lines(queries[type].data, buffer);
}

void wfs_query_help(enum wfs_query_type type, struct wfs_buffer *buffer)
{
	wfs_query_page(type, buffer);
	help_example(type, buffer);
}
