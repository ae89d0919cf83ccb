/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of `string` and `utf8` that build strings, except those with patterns
 * (lua-pattern.c) and format (lua-format.c). Letters are ASCII letters, in any locale. `dump`,
 * `pack` and `unpack` are absent.
 */
#include <limits.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum { CODE_MAX = 0x7fffffff }; /* for utf8.char; JSON refuses codes that are not valid UTF-8 */

size_t wfs_lua_position(lua_Integer position, size_t size)
{
	if (position > 0)
		return (size_t)position;
	if (position == 0 || position < -(lua_Integer)size)
		return 1;
	return size + (size_t)position + 1;
}

static int string_char(lua_State *L)
{
	const int count = lua_gettop(L);
	struct wfs_lua_text text;
	char *room = NULL;

	wfs_lua_charge(L, (uint64_t)count);
	wfs_lua_text_start(L, &text);
	room = wfs_lua_text_room(&text, (size_t)count);
	for (int i = 1; i <= count; i++) {
		const lua_Unsigned byte = (lua_Unsigned)luaL_checkinteger(L, i);

		luaL_argcheck(L, byte <= UCHAR_MAX, i, "value out of range");
		room[i - 1] = (char)byte;
	}
	wfs_lua_text_push(&text);
	return 1;
}

static int string_rep(lua_State *L)
{
	size_t size = 0;
	size_t separator_size = 0;
	size_t total = 0;
	const char *const piece = luaL_checklstring(L, 1, &size);
	const lua_Integer count = luaL_checkinteger(L, 2);
	const char *const separator = luaL_optlstring(L, 3, "", &separator_size);
	struct wfs_lua_text text;

	wfs_lua_text_start(L, &text);
	if (count > 0 && (size > 0 || separator_size > 0)) {
		if (__builtin_mul_overflow(size + separator_size, (size_t)count, &total) ||
			total - separator_size > wfs_lua_of(L)->memory_bytes)
			wfs_lua_stop_now(L, WFS_LUA_STOP_MEMORY);
		char *at = wfs_lua_text_room(&text, total - separator_size);

		wfs_lua_charge(
			L, (uint64_t)count / 4); /* short pieces cost more than their bytes */
		for (lua_Integer i = 0; i < count; i++) {
			at = mempcpy(at, piece, size);
			if (i < count - 1)
				at = mempcpy(at, separator, separator_size);
		}
	}
	wfs_lua_text_push(&text);
	return 1;
}

static char lower(char byte)
{
	if (byte >= 'A' && byte <= 'Z')
		return (char)(byte + ('a' - 'A'));
	return byte;
}

static char upper(char byte)
{
	if (byte >= 'a' && byte <= 'z')
		return (char)(byte - ('a' - 'A'));
	return byte;
}

static int map_bytes(lua_State *L, char (*map)(char byte))
{
	size_t size = 0;
	const char *const from = luaL_checklstring(L, 1, &size);
	struct wfs_lua_text text;
	char *room = NULL;

	wfs_lua_text_start(L, &text);
	room = wfs_lua_text_room(&text, size);
	for (size_t i = 0; i < size; i++)
		room[i] = map(from[i]);
	wfs_lua_text_push(&text);
	return 1;
}

static int string_lower(lua_State *L)
{
	return map_bytes(L, lower);
}

static int string_upper(lua_State *L)
{
	return map_bytes(L, upper);
}

static int string_reverse(lua_State *L)
{
	size_t size = 0;
	const char *const from = luaL_checklstring(L, 1, &size);
	struct wfs_lua_text text;
	char *room = NULL;

	wfs_lua_text_start(L, &text);
	room = wfs_lua_text_room(&text, size);
	for (size_t i = 0; i < size; i++)
		room[i] = from[size - 1 - i];
	wfs_lua_text_push(&text);
	return 1;
}

const luaL_Reg wfs_lua_string[] = {
	{"char", string_char},
	{"format", wfs_lua_format},
	{"lower", string_lower},
	{"rep", string_rep},
	{"reverse", string_reverse},
	{"upper", string_upper},
	{NULL, NULL},
};

/* --- utf8 --- */

static int utf8_char(lua_State *L)
{
	const int count = lua_gettop(L);
	struct wfs_lua_text text;

	wfs_lua_text_start(L, &text);
	for (int i = 1; i <= count; i++) {
		const lua_Unsigned code = (lua_Unsigned)luaL_checkinteger(L, i);
		const char *bytes = NULL;
		size_t size = 0;

		luaL_argcheck(L, code <= CODE_MAX, i, "value out of range");
		lua_pushfstring(L, "%U", (long)code);
		bytes = lua_tolstring(L, -1, &size);
		wfs_lua_text_append(&text, bytes, size);
		lua_pop(L, 1);
	}
	wfs_lua_text_push(&text);
	return 1;
}

const luaL_Reg wfs_lua_utf8[] = {
	{"char", utf8_char},
	{NULL, NULL},
};
