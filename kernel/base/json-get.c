/* SPDX-License-Identifier: Apache-2.0 */
/* Reading members of a request, with errors that name the member. */
#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"

static const char *type_name(const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a real number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	}
	return "nothing";
}

static int require_object(const json_t *object, struct wfs_error *error)
{
	if (json_is_object(object))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "expected an object, got %s",
		object ? type_name(object) : "nothing");
}

int wfs_json_get_string(
	const json_t *object, const char *name, const char **ret_text, struct wfs_error *error)
{
	const json_t *value = NULL;
	const char *text = NULL;
	int r = require_object(object, error);

	if (r < 0)
		return r;
	value = json_object_get(object, name);
	if (!value)
		return wfs_error_set(
			error, WFS_E_MISSING_ARGUMENT, "'%s' is missing, expected a string", name);
	if (!json_is_string(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected a string, got %s", name, type_name(value));
	text = json_string_value(value);
	if (strlen(text) != json_string_length(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected a string without NUL characters", name);
	*ret_text = text;
	return 0;
}

int wfs_json_get_integer(const json_t *object, const char *name, int64_t minimum, int64_t maximum,
	int64_t *ret_value, struct wfs_error *error)
{
	const json_t *value = NULL;
	int64_t integer = 0;
	int r = require_object(object, error);

	if (r < 0)
		return r;
	value = json_object_get(object, name);
	if (!value)
		return 0;
	if (!json_is_integer(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected an integer, got %s", name, type_name(value));
	integer = json_integer_value(value);
	if (integer < minimum || integer > maximum)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected an integer from %" PRId64 " to %" PRId64 ", got %" PRId64,
			name, minimum, maximum, integer);
	*ret_value = integer;
	return 0;
}

static bool name_listed(const char *name, size_t size, const char *const *names)
{
	for (; *names; names++)
		if (wfs_bytes_equal(wfs_bytes_text(*names), WFS_BYTES(name, size)))
			return true;
	return false;
}

static int refuse_member(const char *name, const char *const *names, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	for (size_t i = 0; names[i]; i++)
		wfs_buffer_printf(&expected, "%s%s", i > 0 ? ", " : "", names[i]);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "unknown member '%s', expected %s%s",
		name, names[0] ? "only: " : "none", wfs_buffer_text(&expected));
}

int wfs_json_only(const json_t *object, const char *const *names, struct wfs_error *error)
{
	json_t *const members = (json_t *)object; /* jansson's iterators take no const */
	int r = require_object(object, error);

	if (r < 0)
		return r;
	for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) {
		const char *const name = json_object_iter_key(at);

		if (!name_listed(name, json_object_iter_key_len(at), names))
			return refuse_member(name, names, error);
	}
	return 0;
}
