/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `require`: calls a function of the host that returns source, and returns what that source
 * returns.
 *
 * A module is compiled and run once in each run of the program, with globals of its own, and is
 * charged like the program's own source. Its globals have another `require`, which tells the host
 * the name of the module, so that the host knows which source asks.
 */
#include "kernel/lua/lua-impl.h"

/* Upvalues of a closure. */
enum {
	UPVALUE_INDEX = 1, /* of the binding */
	UPVALUE_ASKER,     /* name of the module that calls it; nil: the program */
	UPVALUE_COUNT = 2,
};

/* Pushes the table of the modules' results;
 * a module that has not returned has a light userdata there. */
static void push_modules(lua_State *L)
{
	if (lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_MODULES) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_rawseti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_MODULES);
}

static int call_require(lua_State *L);

/* Pushes a `require`. @asker: stack index of the name of the module that gets it */
static void push_require(lua_State *L, lua_Integer index, int asker)
{
	lua_pushvalue(L, asker);
	lua_pushinteger(L, index);
	lua_insert(L, -2);
	lua_pushcclosure(L, call_require, UPVALUE_COUNT);
}

/* Replaces the source on top by what it returns. @name: stack index of the module's name */
static void run_module(lua_State *L, lua_Integer index, int name)
{
	struct wfs_bytes source = {0};

	source.data = lua_tolstring(L, -1, &source.size);
	wfs_lua_charge(L, source.size * WFS_LUA_CHARGE_SOURCE_BYTE);
	wfs_lua_compile(L, lua_tostring(L, name), source);
	wfs_lua_new_globals(L);
	push_require(L, index, name);
	lua_setfield(L, -2, wfs_lua_of(L)->bindings[index].name);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 1);
	if (lua_isnil(L, -1))
		luaL_error(L, "%s: a module must return a value other than nil",
			lua_tostring(L, name));
}

static int call_require(lua_State *L)
{
	enum { NAME = 1, MODULES, SOURCE };
	const lua_Integer index = lua_tointeger(L, lua_upvalueindex(UPVALUE_INDEX));
	const char *const function = wfs_lua_of(L)->bindings[index].name;
	const char *const name = luaL_checkstring(L, NAME);

	lua_settop(L, NAME);
	push_modules(L);
	lua_pushvalue(L, NAME);
	(void)lua_rawget(L, MODULES);
	if (lua_touserdata(L, -1) == L) /* the mark set below; `null` is light userdata, too */
		return luaL_error(L, "%s: '%s' requires itself, or has failed", function, name);
	if (!lua_isnil(L, -1))
		return 1;
	lua_settop(L, MODULES);
	lua_pushvalue(L, NAME);
	lua_pushvalue(L, lua_upvalueindex(UPVALUE_ASKER));
	wfs_lua_ask_host(L, (size_t)index, function, SOURCE);
	if (lua_type(L, SOURCE) != LUA_TSTRING)
		return luaL_error(L, "%s: the host gave no source of '%s'", function, name);

	lua_pushvalue(L, NAME);
	lua_pushlightuserdata(L, L);
	lua_rawset(L, MODULES);
	run_module(L, index, NAME);
	lua_pushvalue(L, NAME);
	lua_pushvalue(L, -2);
	lua_rawset(L, MODULES);
	return 1;
}

void wfs_lua_push_module_function(lua_State *L, size_t binding_index)
{
	lua_pushnil(L);
	push_require(L, (lua_Integer)binding_index, lua_gettop(L));
	lua_remove(L, -2);
}
