/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string.format: the conversions c, d i, o x X, e E f F g G, s and %. Absent: `p` (shows
 * addresses), `q` (nothing here could read it back) and `a` (its digits depend on the C library).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum {
	FLAGS_MAX = 5,
	DIGITS_MAX = 2,    /* of a width or precision: 99 */
	SPEC_SIZE = 16,    /* %, flags, width, point, precision, ll, conversion, NUL */
	NUMBER_SIZE = 512, /* longest: %99.99f of the greatest real, 310 digits and the fraction */
};

/* One conversion: `%`, flags, width, precision, letter. */
struct conversion {
	char spec[SPEC_SIZE]; /* as written, without the letter */
	size_t spec_size;
	bool left;
	bool alternate; /* # */
	size_t width;
	bool has_precision;
	size_t precision;
	char letter;
};

static const char *read_number(const char *at, const char *end, size_t *ret_value)
{
	*ret_value = 0;
	for (int i = 0; i < DIGITS_MAX && at < end && *at >= '0' && *at <= '9'; i++)
		*ret_value = *ret_value * 10 + (size_t)(*at++ - '0');
	return at;
}

static const char *read_conversion(
	lua_State *L, const char *at, const char *end, struct conversion *ret_conversion)
{
	struct conversion c = {0};
	const char *const start = at;

	for (; at < end && at - start < FLAGS_MAX && *at && strchr("-+ #0", *at); at++) {
		c.left |= *at == '-';
		c.alternate |= *at == '#';
	}
	at = read_number(at, end, &c.width);
	if (at < end && *at == '.') {
		c.has_precision = true;
		at = read_number(at + 1, end, &c.precision);
	}
	if (at == end)
		luaL_error(L, "invalid conversion '%%' at the end of the format");
	c.letter = *at;
	c.spec[0] = '%';
	c.spec_size = 1 + (size_t)(at - start);
	memcpy(c.spec + 1, start, (size_t)(at - start));
	*ret_conversion = c;
	return at + 1;
}

static void append_padded(
	struct wfs_lua_text *text, const struct conversion *c, const char *data, size_t size)
{
	const size_t padding = c->width > size ? c->width - size : 0;

	if (padding && !c->left)
		memset(wfs_lua_text_room(text, padding), ' ', padding);
	wfs_lua_text_append(text, data, size);
	if (padding && c->left)
		memset(wfs_lua_text_room(text, padding), ' ', padding);
}

/* These formats consist of flags and digits that read_conversion has checked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void append_integer(
	lua_State *L, struct wfs_lua_text *text, struct conversion *c, int argument)
{
	const lua_Integer value = luaL_checkinteger(L, argument);
	char digits[NUMBER_SIZE];
	int size = 0;

	if (c->alternate && (c->letter == 'd' || c->letter == 'i'))
		luaL_error(L, "invalid conversion: '#' with '%c'", c->letter);
	c->spec[c->spec_size] = 'l';
	c->spec[c->spec_size + 1] = 'l';
	c->spec[c->spec_size + 2] = c->letter;
	c->spec[c->spec_size + 3] = '\0';
	size = snprintf(digits, sizeof(digits), c->spec, (long long)value);
	wfs_lua_text_append(text, digits, (size_t)size);
}

static void append_real(lua_State *L, struct wfs_lua_text *text, struct conversion *c, int argument)
{
	const lua_Number value = luaL_checknumber(L, argument);
	char digits[NUMBER_SIZE];
	int size = 0;

	c->spec[c->spec_size] = c->letter;
	c->spec[c->spec_size + 1] = '\0';
	/* The sign of NaN depends on the processor. */
	size = snprintf(digits, sizeof(digits), c->spec, isnan(value) ? fabs(value) : value);
	wfs_lua_text_append(text, digits, (size_t)size);
}

#pragma GCC diagnostic pop

static void append_string(
	lua_State *L, struct wfs_lua_text *text, const struct conversion *c, int argument)
{
	size_t size = 0;
	const char *string = NULL;

	luaL_checkany(L, argument);
	string = wfs_lua_push_text(L, argument, &size);
	if (c->has_precision && size > c->precision)
		size = c->precision;
	append_padded(text, c, string, size);
	lua_pop(L, 1);
}

static void append_conversion(
	lua_State *L, struct wfs_lua_text *text, struct conversion *c, int argument)
{
	char byte = 0;

	switch (c->letter) {
	case 'c':
		byte = (char)luaL_checkinteger(L, argument);
		append_padded(text, c, &byte, 1);
		break;
	case 'd':
	case 'i':
	case 'o':
	case 'x':
	case 'X':
		append_integer(L, text, c, argument);
		break;
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		append_real(L, text, c, argument);
		break;
	case 's':
		append_string(L, text, c, argument);
		break;
	default:
		c->spec[c->spec_size] = '\0';
		luaL_error(L, "invalid conversion '%s%c' to 'format'", c->spec, c->letter);
	}
}

int wfs_lua_format(lua_State *L)
{
	size_t size = 0;
	const char *at = luaL_checklstring(L, 1, &size);
	const char *const end = at + size;
	const int arguments = lua_gettop(L);
	int argument = 1;
	struct wfs_lua_text text;

	wfs_lua_text_start(L, &text);
	while (at < end) {
		const char *const percent = memchr(at, '%', (size_t)(end - at));
		struct conversion conversion;

		wfs_lua_text_append(&text, at, (size_t)((percent ? percent : end) - at));
		if (!percent)
			break;
		if (percent + 1 < end && percent[1] == '%') {
			wfs_lua_text_append_byte(&text, '%');
			at = percent + 2;
			continue;
		}
		at = read_conversion(L, percent + 1, end, &conversion);
		luaL_argcheck(L, ++argument <= arguments, argument, "no value");
		append_conversion(L, &text, &conversion, argument);
	}
	wfs_lua_text_push(&text);
	return 1;
}
