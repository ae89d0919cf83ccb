/* SPDX-License-Identifier: Apache-2.0 */
/* Writes forms as definitions, and checks values against them. */
#include "kernel/manifest/shape.h"

#include <string.h>

#include "kernel/base/hash.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema.h"

/* --- definitions --- */

static json_t *record_document(const struct wfs_field *member)
{
	WFS_AUTO_JSON json_t *members = json_object();

	for (; members && member->name; member++) {
		json_t *document = wfs_shape_document(member->form);

		if (document && member->optional)
			document = json_pack("{s:o}", "maybe", document);
		if (json_object_set_new(members, member->name, document) < 0)
			return NULL;
	}
	return members ? json_pack("{s:O}", "record", members) : NULL;
}

static json_t *plain_document(const struct wfs_form *shape)
{
	switch (shape->kind) {
	case WFS_FORM_TEXT:
		return json_pack("{s:{}}", "text");
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return json_pack("{s:{}}", "nat");
	case WFS_FORM_BOOL:
		return json_pack("{s:{}}", "bool");
	case WFS_FORM_HASH:
	case WFS_FORM_HASH_BYTES:
		return json_pack("{s:{}}", "hash");
	case WFS_FORM_LIST:
		return json_pack("{s:o}", "list", wfs_shape_document(shape->of));
	case WFS_FORM_RECORD:
		return record_document(shape->fields);
	case WFS_FORM_OBJECT:
	case WFS_FORM_VALUE:
		return json_pack("{s:s}", "ref", shape->ref);
	}
	return NULL;
}

json_t *wfs_shape_document(const struct wfs_form *shape)
{
	WFS_AUTO_JSON json_t *document = plain_document(shape);

	if (document && shape->comment &&
		json_object_set_new(document, "$comment", json_string(shape->comment)) < 0)
		return NULL;
	return WFS_STEAL(document);
}

/* --- the check --- */

/* A check in progress; `pointer` is that of the current value. */
struct check {
	struct wfs_buffer pointer;
	struct wfs_error *error;
};

static int refuse(struct check *check, const char *expected, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_schema_describe(value, &came);
	return wfs_error_set(check->error, WFS_E_SCHEMA_VIOLATION, "%s: expected %s, got %s",
		check->pointer.size ? wfs_buffer_text(&check->pointer) : "/", expected,
		wfs_buffer_text(&came));
}

static int check_value(struct check *check, const struct wfs_form *shape, const json_t *value);

/* Checks the part @name of the current value. */
static int check_inner(
	struct check *check, const char *name, const struct wfs_form *shape, const json_t *value)
{
	const size_t size = check->pointer.size;

	wfs_schema_pointer_append(&check->pointer, name);
	const int r = check_value(check, shape, value);
	check->pointer.size = size;
	return r;
}

static int check_list(struct check *check, const struct wfs_form *shape, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		char name[sizeof("18446744073709551615")];

		snprintf(name, sizeof(name), "%zu", i);
		int r = check_inner(check, name, shape->of, json_array_get(list, i));
		if (r)
			return r;
	}
	return 0;
}

static int check_record(struct check *check, const struct wfs_form *shape, const json_t *record)
{
	size_t found = 0;

	for (const struct wfs_field *member = shape->fields; member->name; member++) {
		const json_t *value = json_object_get(record, member->name);
		int r = 0;

		found += value != NULL;
		if (value || !member->optional)
			r = check_inner(check, member->name, member->form, value);
		if (r)
			return r;
	}
	return found == json_object_size(record)
		? 0
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

static int check_value(struct check *check, const struct wfs_form *shape, const json_t *value)
{
	switch (shape->kind) {
	case WFS_FORM_TEXT:
		return is_text(value) ? 0 : refuse(check, "text", value);
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return json_is_integer(value) && json_integer_value(value) >= 0
			? 0
			: refuse(check, "an integer from 0", value);
	case WFS_FORM_BOOL:
		return json_is_boolean(value) ? 0 : refuse(check, "true or false", value);
	case WFS_FORM_HASH:
	case WFS_FORM_HASH_BYTES:
		return is_hash(value) ? 0 : refuse(check, "a hash (sha256:…)", value);
	case WFS_FORM_LIST:
		return json_is_array(value) ? check_list(check, shape, value)
					    : refuse(check, "an array", value);
	case WFS_FORM_RECORD:
		return json_is_object(value) ? check_record(check, shape, value)
					     : refuse(check, "an object", value);
	case WFS_FORM_OBJECT:
		return json_is_object(value) ? 0 : refuse(check, "an object", value);
	case WFS_FORM_VALUE:
		return value ? 0 : refuse(check, "a value", value);
	}
	return 0;
}

int wfs_shape_check(const struct wfs_form *shape, const json_t *value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
	struct check check = {.pointer = pointer, .error = error};
	const int r = check_value(&check, shape, value);

	pointer = check.pointer;
	return r ? r : wfs_buffer_check(&pointer);
}
