/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whole values by their forms. */
#include <inttypes.h>
#include <string.h>

#include "kernel/base/form.h"
#include "kernel/base/hash.h"
#include "kernel/base/json.h"

/* A check in progress; `pointer` is that of the current value. */
struct check {
	struct wfs_buffer pointer;
	struct wfs_error *error;
};

static const char *place_of(struct check *check)
{
	return check->pointer.size ? wfs_buffer_text(&check->pointer) : "/";
}

static int refuse(struct check *check, const char *expected, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_json_describe(value, &came);
	return wfs_error_set(check->error, WFS_E_SCHEMA_VIOLATION, "%s: expected %s, got %s",
		place_of(check), expected, wfs_buffer_text(&came));
}

static int check_value(struct check *check, const struct wfs_form *form, const json_t *value);

/* Checks the part @name of the current value. */
static int check_inner(
	struct check *check, const char *name, const struct wfs_form *form, const json_t *value)
{
	const size_t size = check->pointer.size;

	wfs_json_pointer_append(&check->pointer, name);
	const int r = check_value(check, form, value);
	check->pointer.size = size;
	return r;
}

/* Checks the values of an object whose members have any names. */
static int check_members(struct check *check, const struct wfs_form *form, const json_t *object)
{
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)object, name, value)
		if (!r)
			r = check_inner(check, name, form, value);
	return r;
}

static int check_list(struct check *check, const struct wfs_form *form, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		char name[sizeof("18446744073709551615")];

		snprintf(name, sizeof(name), "%zu", i);
		int r = check_inner(check, name, form->of, json_array_get(list, i));
		if (r)
			return r;
	}
	return 0;
}

/* Refuses the first member that the form of a record does not have. */
static int refuse_unknown(struct check *check, const struct wfs_form *form, const json_t *record)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)record, name, value) {
		const struct wfs_field *member = form->fields;

		while (member->name && strcmp(member->name, name) != 0)
			member++;
		if (!member->name) {
			wfs_json_pointer_append(&check->pointer, name);
			return refuse(check, form->comment, value);
		}
	}
	return 0;
}

static int check_record(struct check *check, const struct wfs_form *form, const json_t *record)
{
	size_t found = 0;

	for (const struct wfs_field *member = form->fields; member->name; member++) {
		const json_t *value = json_object_get(record, member->name);
		int r = 0;

		found += value != NULL;
		if (member->optional == WFS_NULLABLE && json_is_null(value))
			continue;
		if (value || !member->optional)
			r = check_inner(check, member->name, member->form, value);
		if (r)
			return r;
	}
	if (found == json_object_size(record))
		return 0;
	return form->comment ? refuse_unknown(check, form, record)
			     : refuse(check, "only the members of its definition", record);
}

static bool is_text(const json_t *value)
{
	const char *const text = json_string_value(value);

	return text && strlen(text) == json_string_length(value);
}

static bool is_hash(const json_t *value)
{
	struct wfs_hash hash;

	return is_text(value) && json_string_length(value) == WFS_HASH_TEXT_SIZE - 1 &&
		wfs_hash_parse(json_string_value(value), json_string_length(value), &hash, NULL) ==
		0;
}

static int check_text(struct check *check, const struct wfs_form *form, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	if (!is_text(value))
		return refuse(check, "text", value);
	if (wfs_form_has_word(form, json_string_value(value)))
		return 0;
	wfs_buffer_printf(&expected, "one of: %s", form->words);
	return refuse(check, wfs_buffer_text(&expected), value);
}

static int check_integer(struct check *check, const struct wfs_form *form, const json_t *value)
{
	char expected[80] = "an integer from 0";

	if (json_is_integer(value) && json_integer_value(value) >= form->min &&
		json_integer_value(value) <= form->max)
		return 0;
	if (form->kind == WFS_FORM_INTEGER)
		snprintf(expected, sizeof(expected), "an integer from %" PRId64 " to %" PRId64,
			form->min, form->max);
	return refuse(check, expected, value);
}

static int check_kind(struct check *check, const struct wfs_form *form, const json_t *value)
{
	switch (form->kind) {
	case WFS_FORM_TEXT:
		return check_text(check, form, value);
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return check_integer(check, form, value);
	case WFS_FORM_BOOL:
		return json_is_boolean(value) ? 0 : refuse(check, "true or false", value);
	case WFS_FORM_HASH:
	case WFS_FORM_HASH_BYTES:
		return is_hash(value) ? 0 : refuse(check, "a hash (sha256:…)", value);
	case WFS_FORM_LIST:
		return json_is_array(value) ? check_list(check, form, value)
					    : refuse(check, "an array", value);
	case WFS_FORM_RECORD:
		return json_is_object(value) ? check_record(check, form, value)
					     : refuse(check, "an object", value);
	case WFS_FORM_OBJECT:
		if (!json_is_object(value))
			return refuse(check, "an object", value);
		return form->of ? check_members(check, form->of, value) : 0;
	case WFS_FORM_VALUE:
		return value ? 0 : refuse(check, "a value", value);
	}
	return 0;
}

static int check_value(struct check *check, const struct wfs_form *form, const json_t *value)
{
	const int r = check_kind(check, form, value);

	return r || !form->then ? r : form->then(place_of(check), value, check->error);
}

int wfs_form_check(const struct wfs_form *form, const json_t *value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
	struct check check = {.pointer = pointer, .error = error};
	const int r = check_value(&check, form, value);

	pointer = check.pointer;
	return r ? r : wfs_buffer_check(&pointer);
}
