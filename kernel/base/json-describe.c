/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of messages about JSON values: what a value is, and where it is. */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { SHORT_TEXT_MAX = 64 }; /* bytes of a string that a message repeats */

void wfs_json_describe(const json_t *value, struct wfs_buffer *buffer)
{
	const char *const text = json_string_value(value);
	size_t size = json_string_length(value);

	if (!value) {
		wfs_buffer_append_text(buffer, "nothing");
		return;
	}
	switch (json_typeof(value)) {
	case JSON_NULL:
		wfs_buffer_append_text(buffer, "null");
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		wfs_buffer_append_text(
			buffer, json_is_true(value) ? "boolean true" : "boolean false");
		break;
	case JSON_INTEGER:
		wfs_buffer_append_text(buffer, "integer ");
		wfs_buffer_append_int(buffer, json_integer_value(value));
		break;
	case JSON_REAL:
		wfs_buffer_append_text(buffer, "number ");
		wfs_json_write_real(buffer, json_real_value(value));
		break;
	case JSON_STRING:
		wfs_buffer_append_text(buffer, "string ");
		wfs_json_write_string(buffer, text,
			size > SHORT_TEXT_MAX ? wfs_utf8_cut(text, SHORT_TEXT_MAX) : size);
		if (size > SHORT_TEXT_MAX)
			wfs_buffer_append_text(buffer, "…");
		break;
	case JSON_ARRAY:
		size = json_array_size(value);
		wfs_buffer_printf(buffer, "array of %zu item%s", size, size == 1 ? "" : "s");
		break;
	case JSON_OBJECT:
		size = json_object_size(value);
		wfs_buffer_printf(buffer, "object with %zu member%s", size, size == 1 ? "" : "s");
		break;
	}
}

void wfs_json_pointer_append(struct wfs_buffer *buffer, const char *name)
{
	wfs_buffer_append_byte(buffer, '/');
	for (; *name; name++) {
		unsigned char byte = (unsigned char)*name;

		if (byte == '~')
			wfs_buffer_append_text(buffer, "~0");
		else if (byte == '/')
			wfs_buffer_append_text(buffer, "~1");
		else if (byte < 0x20 || byte == 0x7f)
			wfs_buffer_printf(buffer, "\\u%04x", byte);
		else
			wfs_buffer_append_byte(buffer, *name);
	}
}
