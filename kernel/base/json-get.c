/* SPDX-License-Identifier: Apache-2.0 */
/* Reading members of a request, with errors that name the member. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/base/permutation.h"

enum {
	CURSOR_BITS = 60,   /* of a plain cursor; more than any listing needs */
	PERMUTED_SIZE = 17, /* text of a permuted cursor */
};

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

const char *wfs_json_text(const json_t *object, const char *name)
{
	const char *const text = json_string_value(json_object_get(object, name));

	return text ? text : "";
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

/* Reads the next word of `members`: `name` or `name?`. Return: its size, 0 at the end. */
static size_t member_next(const char **members, const char **ret_name, bool *ret_optional)
{
	const char *const name = *members + strspn(*members, " ");
	size_t size = strcspn(name, " ");

	*members = name + size;
	*ret_name = name;
	*ret_optional = size > 0 && name[size - 1] == '?';
	return *ret_optional ? size - 1 : size;
}

static bool member_known(const char *members, struct wfs_bytes key)
{
	const char *name;
	bool optional;
	size_t size;

	while ((size = member_next(&members, &name, &optional)) > 0)
		if (wfs_bytes_equal(WFS_BYTES(name, size), key))
			return true;
	return false;
}

int wfs_json_members(
	const json_t *object, const char *what, const char *members, struct wfs_error *error)
{
	json_t *const iterated = (json_t *)object; /* jansson's iterators take no const */
	const char *words = members;
	const char *name;
	bool optional;
	size_t size;
	int r = require_object(object, error);

	if (r < 0)
		return r;
	for (void *at = json_object_iter(iterated); at; at = json_object_iter_next(iterated, at)) {
		name = json_object_iter_key(at);
		if (!member_known(members, WFS_BYTES(name, json_object_iter_key_len(at))))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"unknown member '%.60s' (%s takes: %s)", name, what,
				*members ? members : "none");
	}
	while ((size = member_next(&words, &name, &optional)) > 0)
		if (!optional && !json_object_getn(object, name, size))
			return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
				"'%.*s' is missing (%s takes: %s)", (int)size, name, what, members);
	return 0;
}

int wfs_json_get_base64(
	const json_t *object, const char *name, struct wfs_buffer *buffer, struct wfs_error *error)
{
	const char *text = "";
	struct wfs_error reason;
	int r = 0;

	if (json_object_get(object, name))
		r = wfs_json_get_string(object, name, &text, error);
	if (r)
		return r;
	r = wfs_base64_decode(text, strlen(text), buffer, &reason);
	if (r == -EINVAL)
		wfs_error_set(error, reason.code, "'%s': %s", name, reason.message);
	return r;
}

/* Reads a permuted cursor: `x` and 16 hexadecimal digits. */
static bool read_permuted(
	const char *text, const struct wfs_permutation *permutation, uint64_t *ret_cursor)
{
	char again[PERMUTED_SIZE + 1];
	uint64_t number;

	if (text[0] != 'x')
		return false;
	number = strtoull(text + 1, NULL, 16);
	snprintf(again, sizeof(again), "x%016" PRIx64, number);
	if (strcmp(again, text) != 0)
		return false;
	*ret_cursor = wfs_unpermute(permutation, 0, number);
	return *ret_cursor >> CURSOR_BITS == 0;
}

static bool read_plain(const char *text, uint64_t *ret_cursor)
{
	const size_t digits = wfs_decimal_read(text, strlen(text), ret_cursor);

	return digits > 0 && !text[digits];
}

int wfs_json_get_cursor(const json_t *object, const struct wfs_permutation *permutation,
	uint64_t *ret_cursor, struct wfs_error *error)
{
	const char *text;

	*ret_cursor = 0;
	if (!json_object_get(object, "cursor"))
		return 0;
	int r = wfs_json_get_string(object, "cursor", &text, error);
	if (r)
		return r;
	if (permutation ? read_permuted(text, permutation, ret_cursor)
			: read_plain(text, ret_cursor))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'cursor': expected the next_cursor of an earlier answer, got '%.60s'", text);
}

int wfs_json_set_cursor(json_t *object, const struct wfs_permutation *permutation, uint64_t cursor)
{
	json_t *const text = permutation
		? json_sprintf("x%016" PRIx64, wfs_permute(permutation, 0, cursor))
		: json_sprintf("%" PRIu64, cursor);

	return json_object_set_new(object, "next_cursor", text) < 0 ? -ENOMEM : 0;
}

json_t *wfs_json_copy(const json_t *object)
{
	WFS_AUTO_JSON json_t *copy = json_object();

	return json_object_update(copy, (json_t *)object) < 0 ? NULL : WFS_STEAL(copy);
}

bool wfs_json_has(const json_t *array, const json_t *value)
{
	const json_t *known;
	size_t i;

	json_array_foreach(array, i, known) {
		if (json_equal(known, value))
			return true;
	}
	return false;
}

int wfs_json_add_missing(json_t *array, const json_t *values)
{
	json_t *value;
	size_t i;

	json_array_foreach(values, i, value) {
		if (!wfs_json_has(array, value) && json_array_append(array, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

int wfs_json_set_base64(json_t *object, const char *name, const void *data, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_base64_append(&text, data, size);
	if (wfs_buffer_check(&text) < 0 ||
		json_object_set_new(
			object, name, json_stringn_nocheck(wfs_buffer_text(&text), text.size)) < 0)
		return -ENOMEM;
	return 0;
}

int wfs_json_set_hash(json_t *object, const char *name, const struct wfs_hash *hash)
{
	json_t *const text = json_string_nocheck(WFS_HASH_TEXT(hash));

	return json_object_set_new(object, name, text) < 0 ? -ENOMEM : 0;
}
