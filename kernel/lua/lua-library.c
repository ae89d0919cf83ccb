/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds what a module sees.
 *
 * The environment lives as long as the state, so code must not write to it: every library is an
 * empty table whose metatable reads from the real one, refuses assignments and hides itself; code
 * cannot reach the real tables in any other way. A run's globals are a new table that reads from
 * the environment in the same manner.
 */
#include <math.h>

#include "kernel/lua/lua-impl.h"

#define UTF8_CHARPATTERN "[\0-\x7F\xC2-\xFD][\x80-\xBF]*"

static int refuse_assignment(lua_State *L)
{
	return luaL_error(L, "library tables are read-only");
}

void wfs_lua_protect(lua_State *L)
{
	lua_newtable(L);
	lua_newtable(L);
	lua_rotate(L, -3, -1); /* proxy, metatable, real */
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, refuse_assignment);
	lua_setfield(L, -2, "__newindex");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
}

static void add_number(lua_State *L, const char *name, lua_Number value)
{
	lua_pushnumber(L, value);
	lua_setfield(L, -2, name);
}

static void add_integer(lua_State *L, const char *name, lua_Integer value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

void wfs_lua_push_stable(lua_State *L, lua_CFunction function)
{
	lua_pushnil(L);
	lua_pushcclosure(L, function, 1);
}

static void add_functions(lua_State *L, const luaL_Reg *functions)
{
	for (; functions->name; functions++) {
		wfs_lua_push_stable(L, functions->func);
		lua_setfield(L, -2, functions->name);
	}
}

/* Pushes a library with those functions of Lua's own that only need a charge, and some of ours.
 * @functions: may be NULL */
static void begin_library(lua_State *L, const char *name, const luaL_Reg *functions)
{
	lua_newtable(L);
	wfs_lua_add_stock(L, name);
	if (functions)
		add_functions(L, functions);
}

/* Adds the library on top to the environment below it, and protects it. */
static void end_library(lua_State *L, const char *name)
{
	wfs_lua_protect(L);
	lua_setfield(L, -2, name);
}

/* `string.x` and `("…"):x()` read from one table. */
static void open_string(lua_State *L)
{
	begin_library(L, "string", wfs_lua_string);
	add_functions(L, wfs_lua_pattern);

	begin_library(L, "arithmetic", NULL);
	lua_pushvalue(L, -2);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_pushliteral(L, "");
	lua_insert(L, -2);
	lua_setmetatable(L, -2);
	lua_pop(L, 1);

	end_library(L, "string");
}

static void open_environment(lua_State *L)
{
	begin_library(L, "basic", wfs_lua_base);
	add_functions(L, wfs_lua_metatable);
	add_functions(L, wfs_lua_pairs);
	lua_pushlightuserdata(L, NULL);
	lua_setfield(L, -2, "null");

	begin_library(L, "math", NULL);
	add_number(L, "huge", HUGE_VAL);
	add_number(L, "pi", M_PI);
	add_integer(L, "maxinteger", LUA_MAXINTEGER);
	add_integer(L, "mininteger", LUA_MININTEGER);
	end_library(L, "math");
	open_string(L);
	begin_library(L, "table", wfs_lua_table);
	end_library(L, "table");
	begin_library(L, "utf8", wfs_lua_utf8);
	lua_pushlstring(L, UTF8_CHARPATTERN, sizeof(UTF8_CHARPATTERN) - 1);
	lua_setfield(L, -2, "charpattern");
	end_library(L, "utf8");
	wfs_lua_open_host(L);
}

/* `getmetatable` of a marked table returns the name of the mark. */
static void open_marker(lua_State *L, const char *name, enum wfs_lua_slot slot)
{
	lua_newtable(L);
	lua_pushstring(L, name);
	lua_setfield(L, -2, "__metatable");
	lua_rawseti(L, LUA_REGISTRYINDEX, slot);
}

void wfs_lua_open(lua_State *L)
{
	lua_newtable(L);
	open_environment(L);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_rawseti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_GLOBALS);

	open_marker(L, "array", WFS_LUA_SLOT_ARRAY);
	open_marker(L, "object", WFS_LUA_SLOT_OBJECT);
}

static void add_text(lua_State *L, const char *name, const char *text)
{
	lua_pushstring(L, text); /* NULL gives nil */
	lua_setfield(L, -2, name);
}

void wfs_lua_push_context(lua_State *L, const struct wfs_lua_step *step)
{
	enum { FIELD_COUNT = 7 };

	lua_createtable(L, 0, FIELD_COUNT);
	lua_pushlstring(L, step->key.size ? step->key.data : "", step->key.size);
	lua_setfield(L, -2, "key");
	add_text(L, "reducer", step->reducer);
	add_text(L, "schema", step->schema);
	add_text(L, "principal", step->principal);
	add_integer(L, "seq", (lua_Integer)step->seq);
	add_integer(L, "at_ns", step->at_ns);
	wfs_lua_push_stable(L, wfs_lua_random);
	lua_setfield(L, -2, "random");
}

void wfs_lua_push_call_context(lua_State *L, const struct wfs_lua_call *call)
{
	enum { FIELD_COUNT = 7, TOOL_FIELD_COUNT = 4 };

	lua_createtable(L, 0, call->run_id ? FIELD_COUNT + TOOL_FIELD_COUNT : FIELD_COUNT);
	add_text(L, "caller", call->caller);
	add_text(L, "origin", call->origin);
	add_text(L, "artifact_id", call->artifact_id);
	add_text(L, "method", call->method);
	add_integer(L, "seq", (lua_Integer)call->seq);
	add_integer(L, "at_ns", call->at_ns);
	if (call->run_id) {
		add_text(L, "call_id", call->call_id);
		add_text(L, "tool_name", call->tool_name);
		add_text(L, "run_id", call->run_id);
		add_integer(L, "turn", call->turn);
	}
	wfs_lua_push_stable(L, wfs_lua_random);
	lua_setfield(L, -2, "random");
}
