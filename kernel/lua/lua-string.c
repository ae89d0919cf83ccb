/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `string` without its patterns (lua-pattern.c) and format (lua-format.c), and the arithmetic of
 * strings that look like numbers. Letters are ASCII letters, whatever the host's locale. `dump`,
 * `pack` and `unpack` are absent.
 */
#include <limits.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum { BYTES_RETURNED_MAX = 1000 * 1000 };

size_t wfs_lua_position(lua_Integer position, size_t size)
{
	if (position > 0)
		return (size_t)position;
	if (position == 0 || position < -(lua_Integer)size)
		return 1;
	return size + (size_t)position + 1;
}

/* The same for an end: 0 … @size. */
static size_t end_position(lua_Integer position, size_t size)
{
	if (position > (lua_Integer)size)
		return size;
	if (position >= 0)
		return (size_t)position;
	if (position < -(lua_Integer)size)
		return 0;
	return size + (size_t)position + 1;
}

static int string_len(lua_State *L)
{
	size_t size = 0;

	luaL_checklstring(L, 1, &size);
	lua_pushinteger(L, (lua_Integer)size);
	return 1;
}

static int string_sub(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	const size_t first = wfs_lua_position(luaL_checkinteger(L, 2), size);
	const size_t last = end_position(luaL_optinteger(L, 3, -1), size);

	if (first > last) {
		lua_pushliteral(L, "");
		return 1;
	}
	wfs_lua_charge_bytes(L, last - first + 1);
	lua_pushlstring(L, text + first - 1, last - first + 1);
	return 1;
}

static int string_byte(lua_State *L)
{
	size_t size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	const lua_Integer from = luaL_optinteger(L, 2, 1);
	const size_t first = wfs_lua_position(from, size);
	const size_t last = end_position(luaL_optinteger(L, 3, from), size);

	if (first > last)
		return 0;
	if (last - first >= BYTES_RETURNED_MAX)
		return luaL_error(L, "string slice too long");
	wfs_lua_charge(L, last - first + 1);
	luaL_checkstack(L, (int)(last - first + 1), "string slice too long");
	for (size_t i = first; i <= last; i++)
		lua_pushinteger(L, (unsigned char)text[i - 1]);
	return (int)(last - first + 1);
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
	{"byte", string_byte},
	{"char", string_char},
	{"format", wfs_lua_format},
	{"len", string_len},
	{"lower", string_lower},
	{"rep", string_rep},
	{"reverse", string_reverse},
	{"sub", string_sub},
	{"upper", string_upper},
	{NULL, NULL},
};

/* --- arithmetic --- */

/* Pushes the operand as a number, if it is one or looks like one. */
static bool push_number(lua_State *L, int index)
{
	size_t size = 0;
	const char *text = NULL;

	if (lua_type(L, index) == LUA_TNUMBER) {
		lua_pushvalue(L, index);
		return true;
	}
	if (lua_type(L, index) != LUA_TSTRING)
		return false;
	text = lua_tolstring(L, index, &size);
	wfs_lua_charge_bytes(L, size);
	return lua_stringtonumber(L, text) == size + 1;
}

/* A string is one operand; the other may have the metamethod itself. */
static int arithmetic(lua_State *L, int operation, const char *event)
{
	lua_settop(L, 2);
	if (push_number(L, 1) && push_number(L, 2)) {
		lua_arith(L, operation);
		return 1;
	}
	lua_settop(L, 2);
	if (lua_type(L, 2) == LUA_TSTRING || !luaL_getmetafield(L, 2, event))
		return luaL_error(L, "attempt to perform arithmetic on a %s value",
			luaL_typename(L, lua_type(L, 1) == LUA_TSTRING ? 1 : 2));
	lua_insert(L, 1);
	lua_call(L, 2, 1);
	return 1;
}

#define ARITHMETIC(name, operation)                                  \
	static int arithmetic_##name(lua_State *L)                   \
	{                                                            \
		return arithmetic(L, LUA_OP##operation, "__" #name); \
	}
ARITHMETIC(add, ADD)
ARITHMETIC(sub, SUB)
ARITHMETIC(mul, MUL)
ARITHMETIC(mod, MOD)
ARITHMETIC(pow, POW)
ARITHMETIC(div, DIV)
ARITHMETIC(idiv, IDIV)
#undef ARITHMETIC

static int arithmetic_unm(lua_State *L)
{
	lua_settop(L, 1);
	if (!push_number(L, 1))
		return luaL_error(L, "attempt to perform arithmetic on a string value");
	lua_arith(L, LUA_OPUNM);
	return 1;
}

const luaL_Reg wfs_lua_arithmetic[] = {
	{"__add", arithmetic_add},
	{"__div", arithmetic_div},
	{"__idiv", arithmetic_idiv},
	{"__mod", arithmetic_mod},
	{"__mul", arithmetic_mul},
	{"__pow", arithmetic_pow},
	{"__sub", arithmetic_sub},
	{"__unm", arithmetic_unm},
	{NULL, NULL},
};
