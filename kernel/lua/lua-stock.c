/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of Lua's own library that only need a charge.
 *
 * The table says which functions, and how each is charged. Other functions are not available, or
 * are written in this folder: because they must not catch a stop (pcall), depend on addresses or on
 * Lua's own order of keys (tostring, next), can run long without being charged (patterns,
 * table.insert), or build a string with luaL_Buffer, which neither collects garbage nor works
 * without variables to close (string.rep, table.concat). Functions whose last digit depends on the
 * C library are not available.
 */
#include <lualib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/lua/lua-impl.h"

enum rule {
	FREE,          /* constant work */
	EACH_ARGUMENT, /* one for each argument */
	EACH_RESULT,   /* one for each result; Lua's stack bounds them */
	EACH_BYTE,     /* one for each byte from argument 2 to argument 3, or that at argument 2 */
	TEXTS,         /* the bytes of arguments 1 and 2 */
	PART,          /* the bytes from argument 2 to argument 3, or to the end */
	WAY,           /* the bytes from argument 3 to the result */
	STEP,          /* the bytes from argument 2 to the result */
	ITERATOR,      /* the first result is a function, which is charged by STEP */
};

static const struct stock {
	const char *library;
	const char *name;
	enum rule rule;
} functions[] = {
	{"basic", "assert", FREE},
	{"basic", "error", FREE},
	{"basic", "ipairs", FREE},
	{"basic", "rawequal", FREE},
	{"basic", "rawget", FREE},
	{"basic", "rawlen", FREE},
	{"basic", "select", EACH_ARGUMENT},
	{"basic", "tonumber", TEXTS},
	{"basic", "type", FREE},
	{"math", "abs", FREE},
	{"math", "ceil", FREE},
	{"math", "floor", FREE},
	{"math", "fmod", FREE},
	{"math", "max", EACH_ARGUMENT},
	{"math", "min", EACH_ARGUMENT},
	{"math", "modf", FREE},
	{"math", "sqrt", FREE},
	{"math", "tointeger", TEXTS},
	{"math", "type", FREE},
	{"math", "ult", FREE},
	{"string", "byte", EACH_BYTE},
	{"string", "len", FREE},
	{"string", "sub", PART},
	{"table", "pack", EACH_ARGUMENT},
	{"table", "unpack", EACH_RESULT},
	{"utf8", "codepoint", EACH_BYTE},
	{"utf8", "codes", ITERATOR},
	{"utf8", "len", PART},
	{"utf8", "offset", WAY},
	/* Metamethods of strings. */
	{"arithmetic", "__add", TEXTS},
	{"arithmetic", "__div", TEXTS},
	{"arithmetic", "__idiv", TEXTS},
	{"arithmetic", "__mod", TEXTS},
	{"arithmetic", "__mul", TEXTS},
	{"arithmetic", "__pow", TEXTS},
	{"arithmetic", "__sub", TEXTS},
	{"arithmetic", "__unm", TEXTS},
};

/* --- charges --- */

static lua_Integer text_size(lua_State *L, int argument)
{
	return lua_type(L, argument) == LUA_TSTRING ? (lua_Integer)lua_rawlen(L, argument) : 0;
}

static lua_Integer from_start(lua_Integer position, lua_Integer size)
{
	return position < 0 ? size + position + 1 : position;
}

/*
 * Return: the bytes of argument 1 from argument 2 to argument 3, which defaults to the end or to
 * argument
 * 2. Wrong arguments give 0 here; the function itself refuses them.
 */
static uint64_t part_size(lua_State *L, bool to_end)
{
	const lua_Integer size = text_size(L, 1);
	lua_Integer first = lua_isnoneornil(L, 2) ? 1 : from_start(lua_tointeger(L, 2), size);
	lua_Integer last = to_end ? size : first;

	if (!lua_isnoneornil(L, 3))
		last = from_start(lua_tointeger(L, 3), size);
	if (first < 1)
		first = 1;
	if (last > size)
		last = size;
	return last >= first ? (uint64_t)(last - first) + 1 : 0;
}

static void charge_before(lua_State *L, enum rule rule)
{
	switch (rule) {
	case EACH_ARGUMENT:
		wfs_lua_charge(L, (uint64_t)lua_gettop(L));
		break;
	case EACH_BYTE:
		wfs_lua_charge(L, part_size(L, false));
		break;
	case TEXTS:
		wfs_lua_charge_bytes(L, (size_t)(text_size(L, 1) + text_size(L, 2)));
		break;
	case PART:
		wfs_lua_charge_bytes(L, part_size(L, true));
		break;
	default:
		break;
	}
}

/* Return: where a WAY or a STEP begins.
 * Called before the function, which consumes the arguments. */
static lua_Integer way_start(lua_State *L, enum rule rule)
{
	const lua_Integer size = text_size(L, 1);

	if (rule == STEP)
		return lua_tointeger(L, 2);
	if (lua_isnoneornil(L, 3))
		return lua_tointeger(L, 2) > 0 ? 1 : size + 1;
	return from_start(lua_tointeger(L, 3), size);
}

/* Charges a WAY or a STEP. If the result is not a position, the whole text may have been read. */
static void charge_way(lua_State *L, lua_Integer start, int count)
{
	const lua_Integer size = text_size(L, 1);
	lua_Integer way = size;

	if (count > 0 && lua_isinteger(L, -count))
		way = lua_tointeger(L, -count) - start;
	else if (count == 0)
		way = size - start;
	if (way < 0)
		way = -way;
	wfs_lua_charge_bytes(L, (size_t)(way > size ? size : way));
}

/* --- the wrapper --- */

/* Calls a function and charges for it. Upvalues: the function, its rule. */
static int charged(lua_State *L)
{
	const lua_CFunction function = lua_tocfunction(L, lua_upvalueindex(1));
	const enum rule rule = (enum rule)lua_tointeger(L, lua_upvalueindex(2));
	lua_Integer start = 0;
	int count = 0;

	charge_before(L, rule);
	if (rule == WAY || rule == STEP)
		start = way_start(L, rule);
	/* Called in this frame, so that messages have the name by which the code called it. */
	count = function(L);
	if (rule == WAY || rule == STEP)
		charge_way(L, start, count);
	if (rule == EACH_RESULT)
		wfs_lua_charge(L, (uint64_t)count);
	if (rule == ITERATOR) {
		lua_pushvalue(L, -count);
		lua_pushinteger(L, STEP);
		lua_pushcclosure(L, charged, 2);
		lua_replace(L, -count - 1);
	}
	return count;
}

/* Opens one of Lua's libraries, and pushes its table. */
static void push_library(lua_State *L, const char *library)
{
	static const struct {
		const char *name;
		lua_CFunction open;
	} libraries[] = {
		{"arithmetic", luaopen_string},
		{"basic", luaopen_base},
		{"math", luaopen_math},
		{"string", luaopen_string},
		{"table", luaopen_table},
		{"utf8", luaopen_utf8},
	};
	size_t i = 0;

	while (strcmp(libraries[i].name, library) != 0)
		i++;
	lua_pushcfunction(L, libraries[i].open);
	lua_call(L, 0, 1);
	if (libraries[i].open == luaopen_base) {
		/* Opening has filled the table of globals, which code must never find. */
		lua_newtable(L);
		lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	} else if (libraries[i].open == luaopen_string) {
		/* Opening has given strings a metatable, which has the arithmetic. */
		lua_pushliteral(L, "");
		lua_getmetatable(L, -1);
		lua_pushnil(L);
		lua_setmetatable(L, -3);
		lua_remove(L, -2);
		lua_remove(L, strcmp(library, "arithmetic") == 0 ? -2 : -1);
	}
}

void wfs_lua_add_stock(lua_State *L, const char *library)
{
	push_library(L, library);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(functions); i++) {
		const struct stock *const stock = &functions[i];

		if (strcmp(stock->library, library) != 0)
			continue;
		lua_getfield(L, -1, stock->name);
		if (stock->rule == FREE) {
			wfs_lua_push_stable(L, lua_tocfunction(L, -1));
			lua_remove(L, -2);
		} else {
			lua_pushinteger(L, stock->rule);
			lua_pushcclosure(L, charged, 2);
		}
		lua_setfield(L, -3, stock->name);
	}
	lua_pop(L, 1);
}
