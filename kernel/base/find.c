/* SPDX-License-Identifier: Apache-2.0 */
/* Finds JSON objects in a text: runs by the grammar of RFC 8259,
 * each from a brace that may begin one. */
#include "kernel/base/find.h"

#include <errno.h>

#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/span.h"

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

/* --- tokens: each function returns the bytes of one, or 0 --- */

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* The first byte, or NUL at the end of the text, with which no token begins. */
static char first(const char *text, size_t size)
{
	if (size == 0)
		return '\0';
	return *text;
}

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

	if (size == 0 || text[0] != '"')
		return 0;
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

static size_t digits_size(const char *text, size_t size)
{
	size_t count = 0;

	while (count < size && is_digit(text[count]))
		count++;
	return count;
}

/* A fraction or an exponent: @begin bytes in front, then digits. */
static size_t part_size(const char *text, size_t size, size_t begin)
{
	const size_t digits = begin < size ? digits_size(text + begin, size - begin) : 0;

	return digits > 0 ? begin + digits : 0;
}

static size_t exponent_size(const char *text, size_t size)
{
	if (size < 2 || (text[0] != 'e' && text[0] != 'E'))
		return 0;
	return part_size(text, size, text[1] == '+' || text[1] == '-' ? 2 : 1);
}

static size_t number_size(const char *text, size_t size)
{
	size_t at = size > 0 && text[0] == '-';
	const size_t whole = digits_size(text + at, size - at);

	if (whole == 0)
		return 0;
	at += text[at] == '0' ? 1 : whole;
	if (at < size && text[at] == '.')
		at += part_size(text + at, size - at, 1);
	return at + exponent_size(text + at, size - at);
}

static size_t word_size(const char *text, size_t size)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		if (size >= strlen(words[i]) && memcmp(text, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

static size_t scalar_size(const char *text, size_t size)
{
	const size_t string = string_size(text, size);
	const size_t number = string ? 0 : number_size(text, size);

	return string || number ? string + number : word_size(text, size);
}

/* --- runs --- */

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
	const char *const rest = run->text + run->at;
	const size_t size = run->size - run->at;
	const char byte = first(rest, size);

	if (run->expected == COLON)
		return take(run, byte == ':', VALUE);
	if (run->expected == NAME || (run->expected == NAME_OR_END && byte != '}'))
		return take(run, string_size(rest, size), COLON);
	if (byte == '}' || byte == ']')
		return close_bracket(run, byte);
	if (run->expected == COMMA_OR_END)
		return take(run, byte == ',', innermost(run) == '{' ? NAME : VALUE);
	if (byte == '{' || byte == '[')
		return open_bracket(run, byte);
	return take(run, scalar_size(rest, size), COMMA_OR_END);
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

/* --- the search --- */

static bool has_failed(const uint8_t *failed, size_t at)
{
	return failed[at / 8] & 1U << (at % 8);
}

static void mark_failed(uint8_t *failed, const struct run *run)
{
	for (size_t i = 0; i < run->open_count; i++)
		failed[run->open[i] / 8] |= (uint8_t)(1U << (run->open[i] % 8));
}

/* @failed: a bit for each byte of the text: set if no object begins there */
static int search(struct run *run, uint8_t *failed, struct wfs_bytes *ret_object)
{
	const char *brace = memchr(run->text, '{', run->size);

	while (brace) {
		const size_t at = (size_t)(brace - run->text);
		const int r = has_failed(failed, at) ? -EINVAL : run_from(run, at);

		if (r == 0) {
			*ret_object = WFS_BYTES(brace, run->at - at);
			return 1;
		}
		if (r != -EINVAL)
			return r;
		if (!has_failed(failed, at))
			mark_failed(failed, run);
		brace = memchr(brace + 1, '{', run->size - at - 1);
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
