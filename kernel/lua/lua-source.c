/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One bound on source that Lua has compiled: the number of indices in a row, such as the four in
 * `a.b[i].c[a.d]`.
 *
 * When such an expression fails, Lua 5.4.4 searches a name for its message by one level of C
 * recursion for each index (getobjname), and reads all instructions of the function at each level.
 * A source of 256 KiB can have 100,000 indices: that takes seven seconds, and then overflows the C
 * stack.
 *
 * Lua has accepted the source, so this file reads tokens only.
 */
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/lua/lua-impl.h"

enum {
	INDICES_MAX = 200,
	NESTING_MAX = 1024, /* of brackets; Lua itself refuses more than 200 */
};

struct scan {
	const char *at;
	const char *end;
	int line;
	bool after_dot; /* the last token is the `.` of an index */
	size_t depth;
	int indices[NESTING_MAX]; /* in a row before the token, for each bracket around it */
};

static bool is_at(const struct scan *s, const char *text)
{
	const size_t size = strlen(text);

	return (size_t)(s->end - s->at) >= size && memcmp(s->at, text, size) == 0;
}

static bool is_one_of(char byte, const char *set)
{
	return byte && strchr(set, byte);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_in_name(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
		byte == '_';
}

static void skip(struct scan *s, size_t count)
{
	for (; count > 0 && s->at < s->end; count--)
		s->line += *s->at++ == '\n';
}

/* Skips `[[…]]` or `[=[…]=]`. Return: false: another kind of token. */
static bool skip_long_bracket(struct scan *s)
{
	const char *at = s->at + 1;
	size_t level = 0;

	while (at < s->end && *at == '=')
		at++;
	if (*s->at != '[' || at >= s->end || *at != '[')
		return false;
	level = (size_t)(at - s->at - 1);
	skip(s, level + 2);
	while (s->at < s->end) {
		size_t equals = 0;

		if (*s->at != ']') {
			skip(s, 1);
			continue;
		}
		skip(s, 1);
		for (; s->at < s->end && *s->at == '='; equals++)
			skip(s, 1);
		if (equals == level && s->at < s->end && *s->at == ']') {
			skip(s, 1);
			break;
		}
	}
	return true;
}

static void skip_comment(struct scan *s)
{
	skip(s, 2);
	if (s->at < s->end && skip_long_bracket(s))
		return;
	while (s->at < s->end && *s->at != '\n' && *s->at != '\r')
		skip(s, 1);
}

static void skip_string(struct scan *s)
{
	const char quote = *s->at;

	skip(s, 1);
	while (s->at < s->end && *s->at != quote)
		skip(s, *s->at == '\\' ? 2 : 1);
	skip(s, 1);
}

/* Skips a number as Lua reads it: `0xE+1` is a number, an operator and a number. */
static void skip_number(struct scan *s)
{
	const bool hexadecimal = is_at(s, "0x") || is_at(s, "0X");
	const char *const exponents = hexadecimal ? "pP" : "eE";

	skip(s, hexadecimal ? 2 : 1);
	while (s->at < s->end) {
		if (is_one_of(*s->at, exponents)) {
			skip(s, 1);
			if (s->at < s->end && is_one_of(*s->at, "+-"))
				skip(s, 1);
		} else if (wfs_hex_value(*s->at) >= 0 || *s->at == '.') {
			skip(s, 1);
		} else {
			break;
		}
	}
}

static void read_word(struct scan *s)
{
	if (!s->after_dot)
		s->indices[s->depth] = 0;
	while (s->at < s->end && is_in_name(*s->at))
		skip(s, 1);
}

static void open_bracket(lua_State *L, struct scan *s)
{
	if (s->depth + 1 == NESTING_MAX)
		luaL_error(
			L, "%s:%d: brackets are nested too deeply", wfs_lua_of(L)->name, s->line);
	s->indices[++s->depth] = 0;
	skip(s, 1);
}

/* Ends a bracket. A value in brackets is named by what is in them, and the arguments of calls are
 * counted in this way, too. */
static void close_bracket(struct scan *s)
{
	const int inner = s->indices[s->depth];

	s->depth -= s->depth > 0;
	s->indices[s->depth] += inner + (*s->at == ']');
	skip(s, 1);
}

static void read_operator(struct scan *s)
{
	s->indices[s->depth] = 0;
	skip(s, 1);
}

/* Reads dots. Return: is it the dot of an index? */
static bool read_dots(struct scan *s)
{
	if (s->end - s->at > 1 && is_digit(s->at[1])) {
		skip_number(s);
		return false;
	}
	if (is_at(s, "..")) {
		read_operator(s);
		while (s->at < s->end && *s->at == '.')
			skip(s, 1);
		return false;
	}
	s->indices[s->depth]++;
	skip(s, 1);
	return true;
}

static void read_token(lua_State *L, struct scan *s)
{
	const char byte = *s->at;
	bool dot = false;

	if (byte == '"' || byte == '\'')
		skip_string(s);
	else if (is_digit(byte))
		skip_number(s);
	else if (is_in_name(byte))
		read_word(s);
	else if (byte == '.')
		dot = read_dots(s);
	else if (is_one_of(byte, ")]}"))
		close_bracket(s);
	else if (!is_one_of(byte, "([{"))
		read_operator(s);
	else if (!skip_long_bracket(s))
		open_bracket(L, s);
	s->after_dot = dot;
}

void wfs_lua_check_source(lua_State *L, const char *name, struct wfs_bytes source)
{
	const char *const text = source.data;
	struct scan s = {.at = text, .end = text + source.size, .line = 1};

	while (s.at < s.end) {
		if (is_one_of(*s.at, " \t\n\r\v\f")) {
			skip(&s, 1);
			continue;
		}
		if (is_at(&s, "--")) {
			skip_comment(&s);
			continue;
		}
		read_token(L, &s);
		if (s.indices[s.depth] > INDICES_MAX)
			luaL_error(L, "%s:%d: more than %d indices in a row", name, s.line,
				(int)INDICES_MAX);
	}
}
