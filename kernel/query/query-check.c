/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and decodes params of queries. */
#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/base/near.h"
#include "kernel/query/query.h"
#include "kernel/schema/pattern.h"

enum { SHOWN_MAX = 200 }; /* bytes of a wrong value, in a message */

static void append_hint(const struct wfs_near *near, struct wfs_buffer *buffer)
{
	if (near->name)
		wfs_buffer_printf(buffer, ". Did you mean '%s'?", near->name);
}

static int refuse_type(const char *query_type, struct wfs_error *error)
{
	struct wfs_near near = {.asked = query_type};
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	wfs_query_names_append(&names);
	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		wfs_near_try(&near, wfs_query_name((enum wfs_query_type)i));
	append_hint(&near, &names);
	return wfs_error_set(error, WFS_E_INVALID_QUERY_TYPE,
		"Unknown query_type '%.*s'. Valid types: %s", SHOWN_MAX, query_type,
		wfs_buffer_text(&names));
}

static int refuse_param(enum wfs_query_type type, const char *name, struct wfs_error *error)
{
	struct wfs_near near = {.asked = name};
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	for (const struct wfs_query_param *param = wfs_query_params(type); param->name; param++) {
		wfs_buffer_printf(&names, "%s%s", names.size > 0 ? ", " : "", param->name);
		wfs_near_try(&near, param->name);
	}
	append_hint(&near, &names);
	return wfs_error_set(error, WFS_E_INVALID_PARAM,
		"Unknown param '%.*s' for %s query. Valid params: %s", SHOWN_MAX, name,
		wfs_query_name(type), wfs_buffer_text(&names));
}

/* Shows a text as it is; every other value, and a text with NUL characters, as JSON. */
static int refuse_value(const struct wfs_query_param *param, const char *expected,
	const json_t *value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *const string = json_string_value(value);

	if (string && strlen(string) == json_string_length(value))
		return wfs_error_set(error, WFS_E_INVALID_PARAM_TYPE,
			"Param '%s' must be %s, got '%.*s'", param->name, expected, SHOWN_MAX,
			string);
	wfs_json_write(value, &text);
	return wfs_error_set(error, WFS_E_INVALID_PARAM_TYPE, "Param '%s' must be %s, got %.*s",
		param->name, expected, SHOWN_MAX, wfs_buffer_text(&text));
}

/* --- decoding --- */

static int decode_text(const struct wfs_query_param *param, const json_t *value,
	const char **ret_text, struct wfs_error *error)
{
	const char *const text = json_string_value(value);

	if (value && (!text || strlen(text) != json_string_length(value)))
		return refuse_value(param, "a string", value, error);
	*ret_text = text;
	return 0;
}

static int decode_flag(const struct wfs_query_param *param, const json_t *value, int *ret_flag,
	struct wfs_error *error)
{
	if (value && !json_is_boolean(value))
		return refuse_value(param, "a boolean", value, error);
	*ret_flag = value ? json_is_true(value) : WFS_QUERY_ABSENT;
	return 0;
}

static int decode_integer(const struct wfs_query_param *param, const json_t *value,
	int64_t *ret_integer, struct wfs_error *error)
{
	if (!value) {
		*ret_integer = param->value_absent;
		return 0;
	}
	if (!json_is_integer(value))
		return refuse_value(param, "an integer", value, error);
	const int64_t integer = json_integer_value(value);
	if (integer < 0 || integer > param->maximum)
		return wfs_error_set(error, WFS_E_INVALID_PARAM_VALUE,
			"Param '%s' must be between 0 and %" PRId64 ", got %" PRId64, param->name,
			param->maximum, integer);
	*ret_integer = integer;
	return 0;
}

static int decode_param(const struct wfs_query_param *param, const json_t *value,
	struct wfs_query *query, struct wfs_error *error)
{
	void *const place = (char *)query + param->offset;

	switch (param->kind) {
	case WFS_QUERY_KIND_TEXT:
	case WFS_QUERY_KIND_PATTERN:
		return decode_text(param, value, place, error);
	case WFS_QUERY_KIND_FLAG:
		return decode_flag(param, value, place, error);
	case WFS_QUERY_KIND_LIMIT:
	case WFS_QUERY_KIND_OFFSET:
		return decode_integer(param, value, place, error);
	}
	return -EINVAL;
}

/* --- the checks, in their order --- */

static int check_names(enum wfs_query_type type, const json_t *params, struct wfs_error *error)
{
	json_t *const iterated = (json_t *)params; /* jansson's iterators take no const */

	for (void *at = json_object_iter(iterated); at; at = json_object_iter_next(iterated, at)) {
		const struct wfs_bytes name =
			WFS_BYTES(json_object_iter_key(at), json_object_iter_key_len(at));

		if (!wfs_query_param_find(type, name))
			return refuse_param(type, name.data, error);
	}
	return 0;
}

/* Return: the value of a param, NULL if it is absent. */
static const json_t *param_value(const json_t *params, const struct wfs_query_param *param)
{
	const json_t *const value = json_object_get(params, param->name);

	return json_is_null(value) ? NULL : value;
}

static int check_required(enum wfs_query_type type, const json_t *params, struct wfs_error *error)
{
	for (const struct wfs_query_param *param = wfs_query_params(type); param->name; param++)
		if (param->required && !param_value(params, param))
			return wfs_error_set(error, WFS_E_MISSING_PARAM,
				"Query '%s' requires '%s' param", wfs_query_name(type),
				param->name);
	return 0;
}

int wfs_query_pattern(const char *text, struct wfs_pattern **ret_pattern, struct wfs_error *error)
{
	int r = wfs_pattern_new(text, strlen(text), WFS_PATTERN_AT_START, ret_pattern, NULL);

	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INVALID_PATTERN, "Invalid regex pattern: '%.*s'",
			SHOWN_MAX, text);
	return r;
}

/* Checked here, so that a wrong pattern is refused even if there is nothing to match it against. */
static int check_patterns(const struct wfs_query *query, struct wfs_error *error)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = NULL;

	if (query->type != WFS_QUERY_ARTIFACTS || !query->artifacts.name_pattern)
		return 0;
	return wfs_query_pattern(query->artifacts.name_pattern, &pattern, error);
}

int wfs_query_check(const char *query_type, const json_t *params, struct wfs_query *ret_query,
	struct wfs_error *error)
{
	struct wfs_query query = {.type = wfs_query_find(query_type)};
	int r;

	if (query.type == WFS_QUERY_COUNT)
		return refuse_type(query_type, error);
	if (params && !json_is_null(params) && !json_is_object(params))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'params': expected an object");
	r = check_names(query.type, params, error);
	if (!r)
		r = check_required(query.type, params, error);
	for (const struct wfs_query_param *param = wfs_query_params(query.type); !r && param->name;
		param++)
		r = decode_param(param, param_value(params, param), &query, error);
	if (!r)
		r = check_patterns(&query, error);
	if (!r)
		*ret_query = query;
	return r;
}
