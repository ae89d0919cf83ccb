/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where JSON values end in a text. */
#include "kernel/base/span.h"

#include <errno.h>
#include <string.h>

static struct wfs_bytes behind(struct wfs_bytes text, size_t size)
{
	return WFS_BYTES((const char *)text.data + size, text.size - size);
}

/* The first byte, or NUL at the end of the text, with which no value begins. */
static char first(struct wfs_bytes text)
{
	const char *const bytes = text.data;

	if (text.size == 0)
		return '\0';
	return bytes[0];
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Can the byte be part of a number, true, false or null? */
static bool is_word(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
		(byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '+' || byte == '.';
}

static bool is_between(char byte)
{
	return byte == ',' || byte == ':' || is_word(byte) || is_blank(byte);
}

size_t wfs_span_blank(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && is_blank(bytes[size]))
		size++;
	return size;
}

static size_t span_word(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && is_word(bytes[size]))
		size++;
	return size;
}

static size_t span_string(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t at = 1;

	while (at < text.size && bytes[at] != '"')
		at += bytes[at] == '\\' ? 2 : 1;
	return at < text.size ? at + 1 : 0;
}

/* An object or an array. Whether each bracket closes one of its kind is left to the parser. */
static size_t span_nested(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t depth = 0;
	size_t at = 0;

	while (at < text.size) {
		const char byte = bytes[at];
		const size_t size = byte == '"' ? span_string(behind(text, at)) : 1;

		if (byte == '{' || byte == '[')
			depth++;
		else if (byte == '}' || byte == ']')
			depth--;
		else if (size == 0 || (byte != '"' && !is_between(byte)))
			return 0;
		at += size;
		if (depth == 0)
			return at;
	}
	return 0;
}

size_t wfs_span_value(struct wfs_bytes text)
{
	switch (first(text)) {
	case '{':
	case '[':
		return span_nested(text);
	case '"':
		return span_string(text);
	default:
		return span_word(text);
	}
}

/* --- members --- */

static void skip(struct wfs_span_object *object, size_t size)
{
	object->rest = behind(object->rest, size);
	object->rest = behind(object->rest, wfs_span_blank(object->rest));
}

struct wfs_span_object wfs_span_object(struct wfs_bytes text)
{
	struct wfs_span_object object = {.rest = text};

	skip(&object, 1);
	return object;
}

static int skip_byte(struct wfs_span_object *object, char byte)
{
	if (first(object->rest) != byte)
		return -EINVAL;
	skip(object, 1);
	return 0;
}

static int take_value(struct wfs_span_object *object, struct wfs_bytes *ret_value)
{
	const size_t size = wfs_span_value(object->rest);

	if (size == 0)
		return -EINVAL;
	*ret_value = WFS_BYTES(object->rest.data, size);
	skip(object, size);
	return 0;
}

int wfs_span_next(struct wfs_span_object *object)
{
	if (first(object->rest) == '}') {
		skip(object, 1);
		return object->rest.size == 0 ? 0 : -EINVAL;
	}
	if (object->begun && skip_byte(object, ',') < 0)
		return -EINVAL;
	object->begun = true;
	if (first(object->rest) != '"' || take_value(object, &object->name) < 0 ||
		skip_byte(object, ':') < 0)
		return -EINVAL;
	return take_value(object, &object->value) < 0 ? -EINVAL : 1;
}
