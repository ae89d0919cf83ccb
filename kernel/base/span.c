/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where JSON values begin and end in a text. */
#include "kernel/base/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

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

size_t wfs_span_blank(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && is_blank(bytes[size]))
		size++;
	return size;
}

static size_t span_string(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t at = 1;

	while (at < text.size) {
		at += wfs_json_plain_size(bytes + at, text.size - at);
		if (at < text.size && bytes[at] == '"')
			return at + 1;
		at += at < text.size && bytes[at] == '\\' ? 2 : 1;
	}
	return 0;
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
		else if (size == 0 ||
			(byte != '"' && byte != ',' && byte != ':' && !is_word(byte) &&
				!is_blank(byte)))
			return 0;
		at += size;
		if (depth == 0)
			return at;
	}
	return 0;
}

size_t wfs_span_value(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	switch (first(text)) {
	case '{':
	case '[':
		return span_nested(text);
	case '"':
		return span_string(text);
	default:
		while (size < text.size && is_word(bytes[size]))
			size++;
		return size;
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

/* --- values by the grammar of RFC 8259 --- */

static size_t escape_size(const char *text, size_t size)
{
	if (size < 2)
		return 0;
	if (text[1] != 'u')
		return text[1] && strchr("\"\\/bfnrt", text[1]) ? 2 : 0;
	for (size_t i = 2; i < 6; i++)
		if (i >= size || wfs_hex_value(text[i]) < 0)
			return 0;
	return 6;
}

static size_t string_size(const char *text, size_t size)
{
	size_t at = 1;

	for (;;) {
		at += wfs_json_plain_size(text + at, size - at);
		if (at == size)
			return 0;
		if (text[at] == '"')
			return at + 1;
		const size_t escape = text[at] == '\\' ? escape_size(text + at, size - at) : 0;
		if (escape == 0)
			return 0;
		at += escape;
	}
}

/* Return: the first place from @at on without a digit. */
static size_t skip_digits(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] >= '0' && text[at] <= '9')
		at++;
	return at;
}

static size_t number_size(const char *text, size_t size)
{
	const size_t sign = text[0] == '-';
	const size_t whole = skip_digits(text, size, sign);
	size_t at = whole > sign && text[sign] == '0' ? sign + 1 : whole;

	if (whole == sign)
		return 0;
	if (at < size && text[at] == '.') {
		const size_t end = skip_digits(text, size, at + 1);

		at = end > at + 1 ? end : at;
	}
	if (at < size && (text[at] == 'e' || text[at] == 'E')) {
		const bool is_signed =
			at + 1 < size && (text[at + 1] == '+' || text[at + 1] == '-');
		const size_t begin = at + 1 + is_signed;
		const size_t end = skip_digits(text, size, begin);

		at = end > begin ? end : at;
	}
	return at;
}

size_t wfs_span_scalar(struct wfs_bytes text)
{
	static const char *const words[] = {"true", "false", "null"};

	if (text.size == 0)
		return 0;
	if (first(text) == '"')
		return string_size(text.data, text.size);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		if (text.size >= strlen(words[i]) &&
			memcmp(text.data, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return number_size(text.data, text.size);
}

/* --- finding an object: runs by that grammar, each from a brace that may begin one --- */

enum expected {
	VALUE,
	VALUE_OR_END, /* after `[` */
	NAME,
	NAME_OR_END, /* after `{` */
	COLON,
	COMMA_OR_END,
};

struct run {
	const char *text;
	size_t size;
	size_t at;
	enum expected expected;
	uint32_t *open; /* positions of the open brackets; owned */
	size_t open_count;
	size_t open_capacity;
};

static int take(struct run *run, size_t size, enum expected expected)
{
	if (size == 0)
		return -EINVAL;
	run->at += size;
	run->expected = expected;
	return 0;
}

static char innermost(const struct run *run)
{
	return run->text[run->open[run->open_count - 1]];
}

static int open_bracket(struct run *run, char byte)
{
	uint32_t *const open =
		wfs_array_reserve(run->open, run->open_count, &run->open_capacity, sizeof(*open));

	if (!open)
		return -ENOMEM;
	run->open = open;
	run->open[run->open_count++] = (uint32_t)run->at;
	return take(run, 1, byte == '{' ? NAME_OR_END : VALUE_OR_END);
}

static int close_bracket(struct run *run, char byte)
{
	if (run->expected == VALUE || (byte == '}') != (innermost(run) == '{'))
		return -EINVAL;
	run->open_count--;
	return take(run, 1, COMMA_OR_END);
}

/* Reads one token. Return: 0, -EINVAL (this is not JSON), -ENOMEM. */
static int step(struct run *run)
{
	run->at += wfs_span_blank(WFS_BYTES(run->text + run->at, run->size - run->at));
	const struct wfs_bytes rest = WFS_BYTES(run->text + run->at, run->size - run->at);
	const char byte = first(rest);

	if (run->expected == COLON)
		return take(run, byte == ':', VALUE);
	if (run->expected == NAME || (run->expected == NAME_OR_END && byte != '}'))
		return take(run, byte == '"' ? wfs_span_scalar(rest) : 0, COLON);
	if (byte == '}' || byte == ']')
		return close_bracket(run, byte);
	if (run->expected == COMMA_OR_END)
		return take(run, byte == ',', innermost(run) == '{' ? NAME : VALUE);
	if (byte == '{' || byte == '[')
		return open_bracket(run, byte);
	return take(run, wfs_span_scalar(rest), COMMA_OR_END);
}

/* Reads an object from the brace @at on. Return: 0 (the object ends at `at`), -EINVAL (at `at` the
 * text is not JSON), -ENOMEM. */
static int run_from(struct run *run, size_t at)
{
	run->at = at;
	run->open_count = 0;
	run->expected = VALUE;
	int r = step(run);
	while (!r && run->open_count > 0)
		r = step(run);
	return r;
}

/* @failed: a bit for each byte of the text: set if no object begins there */
static int search(struct run *run, uint8_t *failed, struct wfs_bytes *ret_object)
{
	const char *brace = memchr(run->text, '{', run->size);

	for (; brace; brace = memchr(brace + 1, '{', (size_t)(run->text + run->size - brace) - 1)) {
		const size_t at = (size_t)(brace - run->text);

		if (failed[at / 8] & 1U << (at % 8))
			continue;
		const int r = run_from(run, at);
		if (r == 0)
			*ret_object = WFS_BYTES(brace, run->at - at);
		if (r != -EINVAL)
			return r ? r : 1;
		for (size_t i = 0; i < run->open_count; i++)
			failed[run->open[i] / 8] |= (uint8_t)(1U << (run->open[i] % 8));
	}
	return 0;
}

int wfs_find_object(struct wfs_bytes text, struct wfs_bytes *ret_object)
{
	struct run run = {.text = text.data, .size = text.size};

	if (text.size > UINT32_MAX)
		return -EFBIG;
	if (text.size == 0)
		return 0;
	WFS_AUTO_FREE uint8_t *failed = calloc(text.size / 8 + 1, 1);
	const int r = failed ? search(&run, failed, ret_object) : -ENOMEM;
	free(run.open);
	return r;
}
