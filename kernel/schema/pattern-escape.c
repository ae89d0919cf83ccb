/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters, escapes and brackets of ECMA-262's patterns.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/schema/pattern-impl.h"

enum { UNICODE_MAX = 0x10ffff };

/* What \d, \w and \s mean, in brackets: PCRE2 10.42 lets `[^\D\p{P}]` match "😀". */
#define DIGITS "0-9"
#define NO_DIGITS "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}"
#define WORDS "0-9A-Z_a-z"
#define NO_WORDS "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}"
/* WhiteSpace and LineTerminator (ECMA-262, 12.2 and 12.3). */
#define SPACES                                                                               \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}" \
	"\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACES                                                                        \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"   \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

/* --- parsing --- */

int pattern_refuse(struct pattern_parser *parser, size_t at, const char *format, ...)
{
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return wfs_error_set(parser->error, WFS_E_INVALID_PATTERN,
		"the pattern does not compile: %s at byte %zu", text, at);
}

bool pattern_looking_at(const struct pattern_parser *parser, const char *text)
{
	const size_t size = strlen(text);

	return parser->size - parser->at >= size &&
		memcmp(parser->text + parser->at, text, size) == 0;
}

bool pattern_take(struct pattern_parser *parser, const char *text)
{
	if (!pattern_looking_at(parser, text))
		return false;
	parser->at += strlen(text);
	return true;
}

uint32_t pattern_take_character(struct pattern_parser *parser)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *const bytes = (const unsigned char *)parser->text + parser->at;
	const size_t size = wfs_utf8_sequence(bytes, parser->size - parser->at);
	uint32_t code = bytes[0] & first_bits[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	parser->at += size;
	return code;
}

static bool is_punctuation(char c)
{
	return c > ' ' && c < 0x7f && !pattern_is_digit(c) && !pattern_is_letter(c);
}

/* Reads exactly @count hexadecimal digits. Return: false, without moving, if there are fewer. */
static bool take_hex(struct pattern_parser *parser, size_t count, uint32_t *ret_code)
{
	uint32_t code = 0;

	for (size_t i = 0; i < count; i++) {
		const int digit = wfs_hex_value(pattern_peek(parser, i));

		if (digit < 0)
			return false;
		code = code << 4 | (uint32_t)digit;
	}
	parser->at += count;
	*ret_code = code;
	return true;
}

/* --- writing --- */

void pattern_write_character(struct pattern_parser *parser, uint32_t code)
{
	if (code < 0x80 && (pattern_is_letter((char)code) || pattern_is_digit((char)code)))
		wfs_buffer_append_byte(parser->out, (char)code);
	else
		wfs_buffer_printf(parser->out, "\\x{%x}", (unsigned)code);
}

void pattern_atom_is(struct pattern_parser *parser, unsigned length, bool can_repeat)
{
	parser->atom = (struct pattern_atom){.length = length,
		.first_capture = parser->captures_begun,
		.can_repeat = can_repeat};
}

/* --- escapes --- */

/* Reads what follows `\u`: four digits, two times four for a surrogate pair,
 * or any number in braces. */
static int take_unicode(struct pattern_parser *parser, size_t from, uint32_t *ret_code)
{
	uint32_t high, low;

	if (pattern_take(parser, "{")) {
		uint32_t code = 0;

		if (pattern_peek(parser, 0) == '}')
			return pattern_refuse(parser, from, "\\u{} has no digits");
		for (; wfs_hex_value(pattern_peek(parser, 0)) >= 0; parser->at++) {
			code = code << 4 | (uint32_t)wfs_hex_value(pattern_peek(parser, 0));
			if (code > UNICODE_MAX)
				return pattern_refuse(parser, from, "\\u{...} is beyond U+10FFFF");
		}
		if (!pattern_take(parser, "}"))
			return pattern_refuse(parser, from, "\\u{...} has no end");
		*ret_code = code;
	} else if (!take_hex(parser, 4, ret_code)) {
		return pattern_refuse(parser, from, "\\u needs four hexadecimal digits");
	}
	high = *ret_code;
	if (high < 0xd800 || high > 0xdfff)
		return 0;
	if (parser->text[parser->at - 1] == '}' || high >= 0xdc00 || !pattern_take(parser, "\\u") ||
		!take_hex(parser, 4, &low) || low < 0xdc00 || low > 0xdfff)
		return pattern_refuse(parser, from, "half a surrogate pair is not a character");
	*ret_code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return 0;
}

static int take_control(struct pattern_parser *parser, size_t from, uint32_t *ret_code)
{
	if (!pattern_is_letter(pattern_peek(parser, 0)))
		return pattern_refuse(parser, from, "\\c needs a letter");
	*ret_code = (uint32_t)pattern_peek(parser, 0) % 32;
	parser->at++;
	return 0;
}

int pattern_take_character_escape(struct pattern_parser *parser, size_t from, uint32_t *ret_code)
{
	static const char letters[] = "tnvfr";
	static const char codes[] = "\t\n\v\f\r";
	const char c = pattern_peek(parser, 0);
	const char *const known = c ? strchr(letters, c) : NULL;

	if (pattern_at_end(parser))
		return pattern_refuse(parser, from, "\\ at the end");
	if (known) {
		*ret_code = (uint32_t)codes[known - letters];
	} else if (c == '0' && !pattern_is_digit(pattern_peek(parser, 1))) {
		*ret_code = 0;
	} else if (is_punctuation(c)) {
		*ret_code = (uint32_t)c;
	} else if (c == 'c' || c == 'x' || c == 'u') {
		parser->at++;
		if (c == 'c')
			return take_control(parser, from, ret_code);
		if (c == 'u')
			return take_unicode(parser, from, ret_code);
		return take_hex(parser, 2, ret_code)
			? 0
			: pattern_refuse(parser, from, "\\x needs two hexadecimal digits");
	} else if (pattern_is_letter(c) || pattern_is_digit(c)) {
		return pattern_refuse(parser, from, "ECMA-262 has no escape \\%c", c);
	} else {
		return pattern_refuse(parser, from, "ECMA-262 has no such escape");
	}
	parser->at++;
	return 0;
}

/* Translates `\p{...}`. Its backslash, at @from, is read already. */
static int read_property(struct pattern_parser *parser, size_t from, bool in_class)
{
	const bool negated = pattern_peek(parser, 0) == 'P';
	const char *const begin = parser->text + parser->at + 2;
	const char *end = NULL;

	if (pattern_peek(parser, 1) == '{')
		end = memchr(begin, '}', parser->size - parser->at - 2);
	if (!end)
		return pattern_refuse(
			parser, from, "\\%c needs a property in braces", negated ? 'P' : 'p');
	const size_t size = (size_t)(end - begin);

	if (!pattern_property(WFS_BYTES(begin, size), negated, in_class, parser->out))
		return pattern_refuse(parser, from, "ECMA-262 has no property '%.*s'",
			(int)wfs_utf8_cut(begin, size < 64 ? size : 64), begin);
	parser->at += 3 + size;
	return 0;
}

int pattern_read_set_escape(struct pattern_parser *parser, size_t from, bool in_class)
{
	static const char letters[] = "dDwWsS";
	static const char *const sets[] = {DIGITS, NO_DIGITS, WORDS, NO_WORDS, SPACES, NO_SPACES};
	const char c = pattern_peek(parser, 0);
	const char *const known = c ? strchr(letters, c) : NULL;

	if (c == 'p' || c == 'P') {
		const int r = read_property(parser, from, in_class);

		return r < 0 ? r : 1;
	}
	if (!known)
		return 0;
	wfs_buffer_printf(parser->out, in_class ? "%s" : "[%s]", sets[known - letters]);
	parser->at++;
	return 1;
}

/* --- brackets --- */

/* Reads one member of a class.
 * Return: 1 (a set, written already), 0 (a character, not written yet), -EINVAL. */
static int take_class_member(struct pattern_parser *parser, uint32_t *ret_code)
{
	const size_t from = parser->at;
	int r;

	if (!pattern_take(parser, "\\")) {
		*ret_code = pattern_take_character(parser);
		return 0;
	}
	r = pattern_read_set_escape(parser, from, true);
	if (r != 0)
		return r;
	if (pattern_take(parser, "b")) {
		*ret_code = '\b';
		return 0;
	}
	return pattern_take_character_escape(parser, from, ret_code);
}

/* Translates a member of a class, or a range. */
static int read_class_range(struct pattern_parser *parser)
{
	const size_t from = parser->at;
	uint32_t first = 0;
	uint32_t last = 0;
	int r = take_class_member(parser, &first);

	if (r != 0)
		return r < 0 ? r : 0;
	pattern_write_character(parser, first);
	if (pattern_peek(parser, 0) != '-' || pattern_peek(parser, 1) == ']' ||
		parser->size - parser->at < 2)
		return 0;
	const size_t dash_at = parser->at++;
	const size_t written = parser->out->size;

	r = take_class_member(parser, &last);
	if (r < 0)
		return r;
	if (r > 0) { /* `a-\w`: three members, the second is `-` */
		parser->at = dash_at + 1;
		parser->out->size = written;
		pattern_write_character(parser, '-');
		return 0;
	}
	if (first > last)
		return pattern_refuse(parser, from, "a range goes from the larger to the smaller");
	wfs_buffer_append_byte(parser->out, '-');
	pattern_write_character(parser, last);
	return 0;
}

int pattern_read_class(struct pattern_parser *parser)
{
	const size_t from = parser->at;
	const bool negated = pattern_take(parser, "[^");
	int r = 0;

	if (!negated)
		parser->at++;
	pattern_atom_is(parser, 1, true);
	if (pattern_take(parser, "]")) {
		wfs_buffer_append_text(parser->out, negated ? "[\\x{0}-\\x{10ffff}]" : "(?:(?!))");
		return 0;
	}
	wfs_buffer_append_text(parser->out, negated ? "[^" : "[");
	while (!r && !pattern_at_end(parser) && pattern_peek(parser, 0) != ']')
		r = read_class_range(parser);
	if (r < 0)
		return r;
	if (!pattern_take(parser, "]"))
		return pattern_refuse(parser, from, "missing ] of the [");
	wfs_buffer_append_byte(parser->out, ']');
	return 0;
}
