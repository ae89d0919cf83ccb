/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic functions that are not Lua's own (lua-stock.c) and have nothing to do with metatables
 * or order. Absent on purpose: `load` and its relatives, `collectgarbage`, `print`, `warn`,
 * `rawset`, coroutines. (`require` is a function of a host: lua-module.c.)
 */
#include "kernel/lua/lua-impl.h"

/* --- errors --- */

/* Raises again what pcall must not catch: a stop, and a lack of memory. */
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
 * Called with an error instead of the module's handler, which it calls only if the state goes on: a
 * handler that is called from within the hook runs with hooks off, so nothing could stop it.
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

const luaL_Reg wfs_lua_base[] = {
	{"pcall", base_pcall},
	{"tostring", base_tostring},
	{"xpcall", base_xpcall},
	{NULL, NULL},
};
