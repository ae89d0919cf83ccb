/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic functions of a module. What stock Lua has and is not here, is absent on purpose: `load`
 * and its kin, `require`, `collectgarbage`, `print`, `warn`, `rawset`, coroutines.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum { DIGITS_BASE_MAX = 36 };

/* --- errors --- */

static int base_assert(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_toboolean(L, 1))
		return lua_gettop(L);
	lua_remove(L, 1);
	lua_pushliteral(L, "assertion failed!");
	lua_settop(L, 1); /* the message given, or else this one */
	return lua_error(L);
}

static int base_error(lua_State *L)
{
	const lua_Integer level = luaL_optinteger(L, 2, 1);

	lua_settop(L, 1);
	if (lua_type(L, 1) == LUA_TSTRING && level > 0 && level < INT32_MAX) {
		luaL_where(L, (int)level);
		lua_pushvalue(L, 1);
		lua_concat(L, 2);
	}
	return lua_error(L);
}

/* A stop goes through every pcall. So does a refused allocation that nobody asked for again. */
static void pass_stop(lua_State *L, int status)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	if (lua->stop != WFS_LUA_GOING)
		wfs_lua_raise_stop(L);
	if (status == LUA_ERRMEM || (status != LUA_OK && lua->refused))
		wfs_lua_stop_now(L, WFS_LUA_STOP_MEMORY);
}

static int base_pcall(lua_State *L)
{
	int status = LUA_OK;

	luaL_checkany(L, 1);
	lua_pushboolean(L, true);
	lua_insert(L, 1);
	status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
	pass_stop(L, status);
	if (status == LUA_OK)
		return lua_gettop(L);
	lua_pushboolean(L, false);
	lua_replace(L, 1);
	return 2;
}

/*
 * Stands between an error and the module's handler. A handler that is called from within the hook
 * runs with hooks off, so nothing would end it.
 */
static int handle_error(lua_State *L)
{
	if (wfs_lua_of(L)->stop != WFS_LUA_GOING)
		return 1;
	lua_settop(L, 1);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, 1, 1);
	return 1;
}

static int base_xpcall(lua_State *L)
{
	int status = LUA_OK;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_pushvalue(L, 2);
	lua_pushcclosure(L, handle_error, 1);
	lua_replace(L, 2);
	lua_pushboolean(L, true);
	lua_pushvalue(L, 1);
	lua_rotate(L, 3, 2); /* f, handler, true, f, arguments */
	status = lua_pcall(L, lua_gettop(L) - 4, LUA_MULTRET, 2);
	pass_stop(L, status);
	if (status == LUA_OK)
		return lua_gettop(L) - 2;
	lua_pushboolean(L, false);
	lua_insert(L, -2);
	return 2;
}

/* --- values --- */

static int base_type(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_pushstring(L, luaL_typename(L, 1));
	return 1;
}

const char *wfs_lua_push_text(lua_State *L, int index, size_t *ret_size)
{
	index = lua_absindex(L, index);
	if (luaL_callmeta(L, index, "__tostring")) {
		if (!lua_isstring(L, -1))
			luaL_error(L, "'__tostring' must return a string");
		return lua_tolstring(L, -1, ret_size);
	}
	switch (lua_type(L, index)) {
	case LUA_TNUMBER:
		/* The sign of NaN depends on the processor. */
		if (lua_tonumber(L, index) != lua_tonumber(L, index))
			lua_pushliteral(L, "nan");
		else
			lua_pushvalue(L, index);
		break;
	case LUA_TSTRING:
		lua_pushvalue(L, index);
		break;
	case LUA_TBOOLEAN:
		lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
		break;
	case LUA_TLIGHTUSERDATA:
		lua_pushliteral(L, "null");
		break;
	default:
		lua_pushstring(L, luaL_typename(L, index));
		break;
	}
	return lua_tolstring(L, -1, ret_size);
}

static int base_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	wfs_lua_push_text(L, 1, NULL);
	return 1;
}

static int digit_value(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'z')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'Z')
		return byte - 'A' + 10;
	return DIGITS_BASE_MAX;
}

static bool parse_digits(const char *text, size_t size, int base, lua_Integer *ret_value)
{
	static const char space[] = " \f\n\r\t\v";
	uint64_t value = 0; /* wraps around, as the language's own integers do */
	bool negative = false;
	size_t i = 0;

	while (i < size && text[i] && strchr(space, text[i]))
		i++;
	while (size > i && text[size - 1] && strchr(space, text[size - 1]))
		size--;
	if (i < size && (text[i] == '-' || text[i] == '+'))
		negative = text[i++] == '-';
	if (i == size)
		return false;
	for (; i < size; i++) {
		if (digit_value(text[i]) >= base)
			return false;
		value = value * (uint64_t)base + (uint64_t)digit_value(text[i]);
	}
	*ret_value = (lua_Integer)(negative ? -value : value);
	return true;
}

static int base_tonumber(lua_State *L)
{
	lua_Integer base = 0;
	lua_Integer value = 0;
	const char *text = NULL;
	size_t size = 0;

	luaL_checkany(L, 1);
	if (lua_isnoneornil(L, 2)) {
		if (lua_type(L, 1) == LUA_TNUMBER) {
			lua_settop(L, 1);
			return 1;
		}
		text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &size) : NULL;
		wfs_lua_charge_bytes(L, size);
		if (!text || lua_stringtonumber(L, text) != size + 1)
			lua_pushnil(L);
		return 1;
	}
	base = luaL_checkinteger(L, 2);
	luaL_checktype(L, 1, LUA_TSTRING);
	luaL_argcheck(L, base >= 2 && base <= DIGITS_BASE_MAX, 2, "base out of range");
	text = lua_tolstring(L, 1, &size);
	wfs_lua_charge_bytes(L, size);
	if (parse_digits(text, size, (int)base, &value))
		lua_pushinteger(L, value);
	else
		lua_pushnil(L);
	return 1;
}

static int base_select(lua_State *L)
{
	const int count = lua_gettop(L);
	lua_Integer first = 0;

	if (lua_type(L, 1) == LUA_TSTRING && strcmp(lua_tostring(L, 1), "#") == 0) {
		lua_pushinteger(L, count - 1);
		return 1;
	}
	first = luaL_checkinteger(L, 1);
	if (first < 0)
		first = count + first;
	else if (first > count)
		first = count;
	luaL_argcheck(L, first >= 1, 1, "index out of range");
	return count - (int)first;
}

static int base_rawequal(lua_State *L)
{
	luaL_checkany(L, 1);
	luaL_checkany(L, 2);
	lua_pushboolean(L, lua_rawequal(L, 1, 2));
	return 1;
}

static int base_rawlen(lua_State *L)
{
	const int type = lua_type(L, 1);

	luaL_argexpected(L, type == LUA_TTABLE || type == LUA_TSTRING, 1, "table or string");
	lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
	return 1;
}

static int base_rawget(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkany(L, 2);
	lua_settop(L, 2);
	lua_rawget(L, 1);
	return 1;
}

const luaL_Reg wfs_lua_base[] = {
	{"assert", base_assert},
	{"error", base_error},
	{"pcall", base_pcall},
	{"rawequal", base_rawequal},
	{"rawget", base_rawget},
	{"rawlen", base_rawlen},
	{"select", base_select},
	{"tonumber", base_tonumber},
	{"tostring", base_tostring},
	{"type", base_type},
	{"xpcall", base_xpcall},
	{NULL, NULL},
};
