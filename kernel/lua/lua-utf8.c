/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `utf8`. A character is what JSON may carry: at most U+10FFFF, no surrogates, shortest form. There
 * is no "lax" mode.
 */
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/lua/lua-impl.h"

enum {
	CODE_MAX = 0x10ffff,
	SURROGATE_FIRST = 0xd800,
	SURROGATE_LAST = 0xdfff,
	SEQUENCE_MAX = 4, /* bytes of one character */
	CODES_RETURNED_MAX = 1000 * 1000,
};

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Decodes one character of @size bytes or fewer. Return: its bytes, 0: not UTF-8. */
static size_t decode(const char *text, size_t size, uint32_t *ret_code)
{
	const unsigned char *const bytes = (const unsigned char *)text;
	size_t count = 1;
	uint32_t code = 0;

	if (size == 0)
		return 0;
	code = bytes[0];
	if (code >= 0xc0) {
		count = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
		code &= 0x7fu >> count;
	}
	if (count > size || !wfs_utf8_valid(text, count))
		return 0;
	for (size_t i = 1; i < count; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	*ret_code = code;
	return count;
}

static size_t encode(uint32_t code, char ret_bytes[static SEQUENCE_MAX])
{
	if (code < 0x80) {
		ret_bytes[0] = (char)code;
		return 1;
	}
	const size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = count - 1; i > 0; i--) {
		ret_bytes[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	ret_bytes[0] = (char)(((0xf00u >> count) & 0xff) | code);
	return count;
}

static int utf8_char(lua_State *L)
{
	const int count = lua_gettop(L);
	struct wfs_lua_text text;

	wfs_lua_text_start(L, &text);
	for (int i = 1; i <= count; i++) {
		const lua_Unsigned code = (lua_Unsigned)luaL_checkinteger(L, i);
		char bytes[SEQUENCE_MAX];

		luaL_argcheck(L,
			code <= CODE_MAX && (code < SURROGATE_FIRST || code > SURROGATE_LAST), i,
			"value out of range");
		wfs_lua_text_append(&text, bytes, encode((uint32_t)code, bytes));
	}
	wfs_lua_text_push(&text);
	return 1;
}

/* A position in 1 … size + 1, as an offset from the start; negative counts from the end. */
static lua_Integer offset_of(lua_Integer position, size_t size)
{
	if (position >= 0)
		return position - 1;
	if (position < -(lua_Integer)size)
		return -1;
	return (lua_Integer)size + position;
}

static int utf8_len(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	lua_Integer at = offset_of(luaL_optinteger(L, 2, 1), size);
	const lua_Integer last = offset_of(luaL_optinteger(L, 3, -1), size);
	lua_Integer count = 0;
	uint32_t code = 0;

	luaL_argcheck(L, at >= 0 && at <= (lua_Integer)size, 2, "initial position out of bounds");
	luaL_argcheck(L, last < (lua_Integer)size, 3, "final position out of bounds");
	if (last > at)
		wfs_lua_charge_bytes(L, (size_t)(last - at));
	while (at <= last) {
		const size_t bytes = decode(text + at, size - (size_t)at, &code);

		if (bytes == 0) {
			lua_pushnil(L);
			lua_pushinteger(L, at + 1);
			return 2;
		}
		at += (lua_Integer)bytes;
		count++;
	}
	lua_pushinteger(L, count);
	return 1;
}

static int utf8_codepoint(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	const lua_Integer first = luaL_optinteger(L, 2, 1);
	lua_Integer at = offset_of(first, size);
	const lua_Integer last = offset_of(luaL_optinteger(L, 3, first), size);
	int count = 0;

	luaL_argcheck(L, at >= 0, 2, "out of bounds");
	luaL_argcheck(L, last < (lua_Integer)size, 3, "out of bounds");
	if (at > last)
		return 0;
	if (last - at >= CODES_RETURNED_MAX)
		return luaL_error(L, "string slice too long");
	wfs_lua_charge(L, (uint64_t)(last - at + 1));
	luaL_checkstack(L, (int)(last - at + 1), "string slice too long");
	while (at <= last) {
		uint32_t code = 0;
		const size_t bytes = decode(text + at, size - (size_t)at, &code);

		if (bytes == 0)
			return luaL_error(L, "invalid UTF-8 code");
		lua_pushinteger(L, code);
		at += (lua_Integer)bytes;
		count++;
	}
	return count;
}

/* Moves over whole characters; @at is an offset. Negative @count goes back. */
static lua_Integer skip_characters(
	const char *text, lua_Integer size, lua_Integer at, lua_Integer count)
{
	for (; count < 0 && at > 0; count++) {
		do
			at--;
		while (at > 0 && is_continuation(text[at]));
	}
	for (count -= count > 0; count > 0 && at < size; count--) {
		do
			at++;
		while (at < size && is_continuation(text[at]));
	}
	return count == 0 ? at : -1;
}

static int utf8_offset(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	const lua_Integer count = luaL_checkinteger(L, 2);
	const lua_Integer start = count > 0 ? 1 : (lua_Integer)size + 1;
	const lua_Integer from = offset_of(luaL_optinteger(L, 3, start), size);
	lua_Integer at = from;

	luaL_argcheck(L, at >= 0 && at <= (lua_Integer)size, 3, "position out of bounds");
	if (count == 0) {
		while (at > 0 && at < (lua_Integer)size && is_continuation(text[at]))
			at--;
	} else {
		if (at < (lua_Integer)size && is_continuation(text[at]))
			return luaL_error(L, "initial position is a continuation byte");
		at = skip_characters(text, (lua_Integer)size, at, count);
	}
	/* Past the end or the start, the whole way there was gone. */
	wfs_lua_charge_bytes(L, at < 0 ? size : (size_t)(at > from ? at - from : from - at));
	if (at < 0)
		lua_pushnil(L);
	else
		lua_pushinteger(L, at + 1);
	return 1;
}

static int codes_iterate(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	lua_Unsigned at = (lua_Unsigned)luaL_checkinteger(L, 2);
	uint32_t code = 0;

	/* From the start of the last character to the next one. */
	if (at > 0)
		while (at < size && is_continuation(text[at]))
			at++;
	if (at >= size)
		return 0;
	if (decode(text + at, size - at, &code) == 0)
		return luaL_error(L, "invalid UTF-8 code");
	wfs_lua_charge(L, 1);
	lua_pushinteger(L, (lua_Integer)at + 1);
	lua_pushinteger(L, code);
	return 2;
}

static int utf8_codes(lua_State *L)
{
	luaL_checkstring(L, 1);
	lua_pushcfunction(L, codes_iterate);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	return 3;
}

const luaL_Reg wfs_lua_utf8[] = {
	{"char", utf8_char},
	{"codepoint", utf8_codepoint},
	{"codes", utf8_codes},
	{"len", utf8_len},
	{"offset", utf8_offset},
	{NULL, NULL},
};
