/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that all parts of a manifest use: of values, members, lists, names. */
#include <stdio.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/manifest/manifest-impl.h"

#define NOT_ENABLED "not enabled in this version"

void manifest_expected(const struct manifest_reader *reader, struct wfs_place place,
	const char *what, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_json_describe(value, &came);
	wfs_problems_add(reader->problems, NULL, place.text, "expected %s, got %s", what,
		wfs_buffer_text(&came));
}

const char *manifest_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool is_member(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

bool manifest_check_members(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *const *names, const char *const *optional)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value)) {
		manifest_expected(reader, place, "object", value);
		return false;
	}
	json_object_foreach((json_t *)value, name, member) {
		WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};

		if (is_member(name, names) || (optional && is_member(name, optional)))
			continue;
		wfs_buffer_append_text(&pointer, place.text);
		wfs_json_pointer_append(&pointer, name);
		wfs_problems_add(reader->problems, NULL, wfs_buffer_text(&pointer),
			"no such member is known");
	}
	for (; *names; names++) {
		if (!json_object_get(value, *names) && strcmp(*names, "$kind") != 0)
			wfs_problems_add(reader->problems, NULL,
				wfs_place_at("%s/%s", place.text, *names).text, "missing");
	}
	return true;
}

const json_t *manifest_list(
	const struct manifest_reader *reader, const char *name, size_t max, size_t builtin_count)
{
	const json_t *list = json_object_get(reader->manifest->document, name);
	struct wfs_place place = wfs_place_at("/%s", name);

	if (!list)
		return NULL;
	if (!json_is_array(list)) {
		manifest_expected(reader, place, "array", list);
		return NULL;
	}
	if (json_array_size(list) > max + builtin_count) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"at most %zu are allowed, got %zu", max,
			json_array_size(list) - builtin_count);
		return NULL;
	}
	return list;
}

void manifest_check_text(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *wanted)
{
	const char *text = manifest_text(value);
	WFS_AUTO_BUFFER struct wfs_buffer quoted = {0};

	if (!value || (text && strcmp(text, wanted) == 0))
		return;
	wfs_json_write_string(&quoted, wanted, strlen(wanted));
	manifest_expected(reader, place, wfs_buffer_text(&quoted), value);
}

void manifest_check_kind(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const char *wanted)
{
	const struct wfs_place inner = wfs_place_at("%s/$kind", place.text);
	const json_t *const value = json_object_get(item, "$kind");

	manifest_check_text(reader, inner, value, wanted);
	if (!value)
		wfs_problems_add(
			reader->problems, NULL, inner.text, "expected \"%s\", got nothing", wanted);
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skips the characters after the first one of a name; reducers and namespaces have no capitals. */
static const char *skip_name(const char *at, bool capitals)
{
	while (is_digit(*at) || *at == '_' || *at == '.' || *at == '-' || is_lower(*at) ||
		(capitals && is_letter(*at)))
		at++;
	return at;
}

bool manifest_is_reducer_name(const char *text)
{
	return is_lower(*text) && !*skip_name(text + 1, false) &&
		strlen(text) <= WFS_REDUCER_NAME_MAX;
}

/* `[a-z][a-z0-9_.-]*` `/` `[A-Za-z][A-Za-z0-9_.-]*` `@` `[1-9][0-9]*` */
bool manifest_is_definition_name(const char *text)
{
	const char *at = text;

	if (strlen(text) > WFS_SCHEMA_NAME_MAX || !is_lower(*at))
		return false;
	at = skip_name(at + 1, false);
	if (*at++ != '/' || !is_letter(*at))
		return false;
	at = skip_name(at + 1, true);
	if (*at++ != '@' || !is_digit(*at) || *at == '0')
		return false;
	while (is_digit(*at))
		at++;
	return !*at;
}

int manifest_enter(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, size_t index, const struct manifest_naming *naming,
	const char **ret_name)
{
	const char *text = manifest_text(value);
	const json_t *first = text ? json_object_get(naming->index_of, text) : NULL;

	*ret_name = NULL;
	if (!value)
		return 0; /* was reported as missing */
	if (!text || !naming->fits(text))
		manifest_expected(reader, place, naming->form, value);
	else if (naming->reserved && strncmp(text, naming->reserved, strlen(naming->reserved)) == 0)
		wfs_problems_add(reader->problems, NULL, place.text,
			"names that begin with %s are those of built-in definitions",
			naming->reserved);
	if (!text)
		return 0;
	if (first) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"the name is taken by the item at index %lld",
			(long long)json_integer_value(first));
		return 0;
	}
	*ret_name = text;
	if (json_object_set_new(naming->index_of, text, json_integer((json_int_t)index)) < 0)
		return -ENOMEM;
	return 0;
}

int manifest_check_builtin(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const json_t *builtin)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (builtin && json_equal(item, builtin))
		return 1;
	wfs_json_write(item, &text);
	if (text.failed)
		return -ENOMEM;
	if (wfs_builtin_was(wfs_buffer_bytes(&text)))
		return 1;
	if (builtin)
		wfs_problems_add(reader->problems, NULL, place.text,
			"differs from the built-in definition of this name");
	else
		manifest_expected(reader, wfs_place_at("%s/name", place.text),
			"the name of a built-in definition", json_object_get(item, "name"));
	return 0;
}

json_t *manifest_find_named(const json_t *list, const json_t *name)
{
	size_t index;
	json_t *item;

	json_array_foreach(list, index, item) {
		if (name && json_equal(json_object_get(item, "name"), name))
			return item;
	}
	return NULL;
}
