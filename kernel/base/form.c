/* SPDX-License-Identifier: Apache-2.0 */
/* Reads objects by their forms, and writes forms as JSON Schema. */
#include "kernel/base/form.h"

#include <string.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

const struct wfs_form wfs_form_text = {.kind = WFS_FORM_TEXT};
const struct wfs_form wfs_form_nat = {.kind = WFS_FORM_NAT, .max = INT64_MAX};
const struct wfs_form wfs_form_integer = {
	.kind = WFS_FORM_INTEGER, .min = INT64_MIN, .max = INT64_MAX};
const struct wfs_form wfs_form_bool = {.kind = WFS_FORM_BOOL};
const struct wfs_form wfs_form_hash = {.kind = WFS_FORM_HASH};
const struct wfs_form wfs_form_hash_bytes = {.kind = WFS_FORM_HASH_BYTES};
const struct wfs_form wfs_form_value = {.kind = WFS_FORM_VALUE, .ref = "sys/Value@1"};

void wfs_form_usage(const struct wfs_form *form, struct wfs_buffer *buffer)
{
	for (const struct wfs_field *field = form->fields; field->name; field++)
		wfs_buffer_printf(buffer, "%s%s%s", field == form->fields ? "" : " ", field->name,
			field->optional ? "?" : "");
}

/* --- reading --- */

static int refuse(const char *name, const char *expected, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected %s", name, expected);
}

bool wfs_form_has_word(const struct wfs_form *form, const char *text)
{
	const size_t size = strcspn(text, " ");

	for (const char *word = form->words; word; word = strchr(word, ' ')) {
		word += *word == ' ';
		if (strncmp(word, text, size) == 0 && (word[size] == ' ' || !word[size]))
			return !text[size];
	}
	return !form->words;
}

static int check_list(const struct wfs_field *field, const json_t *list, struct wfs_error *error)
{
	size_t i;
	const json_t *item;

	if (!json_is_array(list))
		return refuse(field->name, "an array", error);
	json_array_foreach(list, i, item) {
		if (field->form->of && field->form->of->kind == WFS_FORM_TEXT &&
			!json_is_string(item))
			return refuse(field->name, "an array of texts", error);
	}
	return 0;
}

/* Reads a member that is there, with @value, into its place in a struct. */
static int read_value(const struct wfs_field *field, const json_t *object, const json_t *value,
	void *place, struct wfs_error *error)
{
	const struct wfs_form *const form = field->form;
	struct wfs_hash hash;
	const char *text = json_string_value(value);
	const int64_t number = json_integer_value(value);
	int r;

	switch (form->kind) { /* the getters of json.h say what is wrong */
	case WFS_FORM_TEXT:
		*(const char **)place = text;
		if (!text || strlen(text) != json_string_length(value))
			return wfs_json_get_string(object, field->name, place, error);
		return !form->words || wfs_form_has_word(form, text)
			? 0
			: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				  "'%s': expected one of: %s, got '%.60s'", field->name,
				  form->words, text);
	case WFS_FORM_HASH:
		r = wfs_json_get_string(object, field->name, place, error);
		return r ? r : wfs_hash_parse(text, strlen(text), &hash, error);
	case WFS_FORM_HASH_BYTES:
		r = wfs_json_get_string(object, field->name, &text, error);
		return r ? r : wfs_hash_parse(text, strlen(text), place, error);
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		*(int64_t *)place = number;
		return json_is_integer(value) && number >= form->min && number <= form->max
			? 0
			: wfs_json_get_integer(
				  object, field->name, form->min, form->max, place, error);
	case WFS_FORM_BOOL:
		*(bool *)place = json_is_true(value);
		return json_is_boolean(value) ? 0 : refuse(field->name, "true or false", error);
	default:
		break;
	}
	*(const json_t **)place = value;
	if (form->kind == WFS_FORM_LIST)
		return check_list(field, value, error);
	return form->kind == WFS_FORM_VALUE || json_is_object(value)
		? 0
		: refuse(field->name, "an object", error);
}

static void set_absent(const struct wfs_form *form, void *place)
{
	switch (form->kind) {
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		*(int64_t *)place = -1;
		break;
	case WFS_FORM_BOOL:
		*(bool *)place = false;
		break;
	case WFS_FORM_TEXT:
	case WFS_FORM_HASH:
		*(const char **)place = NULL;
		break;
	case WFS_FORM_HASH_BYTES:
		*(struct wfs_hash *)place = (struct wfs_hash){0};
		break;
	default:
		*(const json_t **)place = NULL;
	}
}

/* The list of members is made only for a message. */
static int refuse_members(const struct wfs_form *form, const char *what, const json_t *object,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer members = {0};

	wfs_form_usage(form, &members);
	return wfs_buffer_check(&members)
		? wfs_error_from_errno(error, -ENOMEM, "check members")
		: wfs_json_members(object, what, wfs_buffer_text(&members), error);
}

int wfs_form_read(const struct wfs_form *form, const char *what, const json_t *object,
	void *ret_struct, struct wfs_error *error)
{
	int r = form->members ? wfs_json_members(object, what, form->members, error) : 0;
	bool complete = json_is_object(object);
	size_t count = 0;
	void *next = json_object_iter((json_t *)object); /* mostly what the next field reads */

	for (const struct wfs_field *field = form->fields; field && field->name; field++) {
		const bool is_next = next && strcmp(json_object_iter_key(next), field->name) == 0;
		const json_t *const value = is_next ? json_object_iter_value(next)
						    : json_object_get(object, field->name);
		int64_t unused[WFS_HASH_SIZE / sizeof(int64_t)];
		void *const place =
			ret_struct ? (void *)((char *)ret_struct + field->offset) : unused;

		if (is_next)
			next = json_object_iter_next((json_t *)object, next);
		count += value != NULL;
		complete &= value || field->optional;
		set_absent(field->form, place);
		if (r || !value || (field->optional == WFS_NULLABLE && json_is_null(value)))
			continue;
		r = read_value(field, object, value, place, error);
		if (!r && field->form->then)
			r = field->form->then(field->name, value, error);
	}
	if (form->fields && !form->members && (!complete || count < json_object_size(object)))
		return refuse_members(form, what, object, error);
	return r || !form->then ? r : form->then(what, object, error);
}

/* --- writing --- */

static bool is_absent(const struct wfs_form *form, const void *place)
{
	switch (form->kind) {
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return *(const int64_t *)place == -1;
	case WFS_FORM_BOOL:
		return !*(const bool *)place;
	case WFS_FORM_HASH_BYTES:
		return wfs_hash_equal(place, &(const struct wfs_hash){0});
	default:
		return *(const void *const *)place == NULL;
	}
}

static json_t *write_value(const struct wfs_form *form, const void *place)
{
	switch (form->kind) {
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return json_integer(*(const int64_t *)place);
	case WFS_FORM_BOOL:
		return json_boolean(*(const bool *)place);
	case WFS_FORM_TEXT:
	case WFS_FORM_HASH:
		return json_string(*(const char *const *)place);
	case WFS_FORM_HASH_BYTES:
		return json_string(WFS_HASH_TEXT((const struct wfs_hash *)place));
	default:
		return json_incref(*(json_t *const *)place);
	}
}

json_t *wfs_form_write(const struct wfs_form *form, const void *value)
{
	WFS_AUTO_JSON json_t *object = json_object();

	for (const struct wfs_field *field = form->fields; field->name; field++) {
		const void *const place = (const char *)value + field->offset;
		const bool absent = field->optional && is_absent(field->form, place);

		if (absent && field->optional == WFS_OPTIONAL)
			continue;
		if (json_object_set_new(object, field->name,
			    absent ? json_null() : write_value(field->form, place)) < 0)
			return NULL;
	}
	return WFS_STEAL(object);
}

static void append_value(const struct wfs_form *form, const void *place, struct wfs_buffer *buffer)
{
	const void *pointer;

	switch (form->kind) {
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		wfs_buffer_append_int(buffer, *(const int64_t *)place);
		return;
	case WFS_FORM_BOOL:
		wfs_buffer_append_text(buffer, *(const bool *)place ? "true" : "false");
		return;
	case WFS_FORM_HASH_BYTES:
		wfs_json_write_string(buffer, WFS_HASH_TEXT(place), WFS_HASH_TEXT_SIZE - 1);
		return;
	default:
		pointer = *(const void *const *)place;
	}
	if (!pointer)
		buffer->failed = true;
	else if (form->kind == WFS_FORM_TEXT || form->kind == WFS_FORM_HASH)
		wfs_json_write_string(buffer, pointer, strlen(pointer));
	else
		wfs_json_write(pointer, buffer);
}

void wfs_form_append(const struct wfs_form *form, const void *value, struct wfs_buffer *buffer)
{
	const char *before = "{\"";

	for (const struct wfs_field *field = form->fields; field->name; field++) {
		const void *const place = (const char *)value + field->offset;
		const bool absent = field->optional && is_absent(field->form, place);

		if (absent && field->optional == WFS_OPTIONAL)
			continue;
		wfs_buffer_append_text(buffer, before);
		wfs_buffer_append_text(buffer, field->name);
		wfs_buffer_append_text(buffer, "\":");
		before = ",\"";
		if (absent)
			wfs_buffer_append_text(buffer, "null");
		else
			append_value(field->form, place, buffer);
	}
	wfs_buffer_append_text(buffer, *before == '{' ? "{}" : "}");
}

void wfs_form_drop_nulls(const struct wfs_form *form, json_t *object)
{
	for (const struct wfs_field *field = form->fields; field->name; field++)
		if (field->optional &&
			(field->form->kind != WFS_FORM_VALUE || field->optional == WFS_NULLABLE) &&
			json_is_null(json_object_get(object, field->name)))
			(void)json_object_del(object, field->name);
}

/* --- JSON Schema --- */

static json_t *record_schema(const struct wfs_field *field, bool strict)
{
	WFS_AUTO_JSON json_t *properties = json_object();
	WFS_AUTO_JSON json_t *required = json_array();
	int r = 0;

	for (; field->name; field++) {
		json_t *const schema = wfs_form_schema(field->form, strict);
		json_t *const type = json_object_get(schema, "type");

		if (field->help && !field->form->comment)
			r |= json_object_set_new(schema, "description", json_string(field->help));
		if (strict && field->optional && type)
			r |= json_object_set_new(schema, "type", json_pack("[O, s]", type, "null"));
		if (strict || !field->optional)
			r |= json_array_append_new(required, json_string(field->name));
		r |= json_object_set_new(properties, field->name, schema);
	}
	return r ? NULL
		 : json_pack("{s:s, s:O, s:O, s:b}", "type", "object", "properties", properties,
			   "required", required, "additionalProperties", 0);
}

static json_t *kind_schema(const struct wfs_form *form, bool strict)
{
	switch (form->kind) {
	case WFS_FORM_TEXT:
		return json_pack("{s:s}", "type", "string");
	case WFS_FORM_NAT:
		return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
	case WFS_FORM_INTEGER:
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
			(json_int_t)form->min, "maximum", (json_int_t)form->max);
	case WFS_FORM_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case WFS_FORM_HASH:
	case WFS_FORM_HASH_BYTES:
		return json_pack(
			"{s:s, s:s}", "type", "string", "pattern", "^sha256:[0-9a-f]{64}$");
	case WFS_FORM_LIST:
		return json_pack("{s:s, s:o*}", "type", "array", "items",
			form->of ? wfs_form_schema(form->of, strict) : NULL);
	case WFS_FORM_RECORD:
		return record_schema(form->fields, strict);
	case WFS_FORM_OBJECT:
		return json_pack("{s:s}", "type", "object");
	case WFS_FORM_VALUE:
		return json_object();
	}
	return NULL;
}

json_t *wfs_form_schema(const struct wfs_form *form, bool strict)
{
	WFS_AUTO_JSON json_t *schema = kind_schema(form, strict);
	WFS_AUTO_JSON json_t *rest = form->schema ? form->schema(strict) : NULL;

	if (!schema || (form->schema && (!rest || json_object_update_missing(schema, rest) < 0)) ||
		(form->comment &&
			json_object_set_new(schema, "description", json_string(form->comment)) < 0))
		return NULL;
	return WFS_STEAL(schema);
}
