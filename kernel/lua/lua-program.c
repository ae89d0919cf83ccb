/* SPDX-License-Identifier: Apache-2.0 */
/* The code of an artifact: calls a function of it. */
#include "kernel/lua/lua-impl.h"

/* Leaves the one value above @below on the stack: nil without values; raises if there are more. */
static void expect_one_value(lua_State *L, const struct wfs_lua_call *call, int below)
{
	const int count = lua_gettop(L) - below;

	if (count > 1) {
		lua_settop(L, below); /* the values may fill the stack */
		luaL_error(L, "%s: %s returned %d values, expected one", wfs_lua_of(L)->name,
			call->function, count);
	}
	if (count == 0)
		lua_pushnil(L);
}

static void write_result(lua_State *L, const struct wfs_lua_call *call)
{
	struct wfs_lua *const lua = wfs_lua_of(L);
	struct wfs_buffer *const text = &lua->output[0];

	if (lua_isnil(L, -1)) {
		wfs_buffer_reset(text);
		wfs_buffer_append_text(text, "null");
		return;
	}
	lua_pushfstring(L, "result of %s", call->function);
	wfs_lua_write_json(L, -2, text, lua_tostring(L, -1), false);
	wfs_lua_charge(L, text->size / WFS_LUA_CHARGE_JSON_BYTES);
}

/* Replaces the array on top by its elements. Return: how many they are */
static int spread(lua_State *L, const struct wfs_lua_call *call)
{
	const int array = lua_gettop(L);
	const lua_Unsigned count = lua_istable(L, array) ? lua_rawlen(L, array) : 0;

	if (!lua_istable(L, array))
		luaL_error(L, "%s: the arguments are not an array", call->function);
	luaL_checkstack(L, count < INT32_MAX ? (int)count : INT32_MAX, "too many arguments");
	for (lua_Unsigned i = 1; i <= count; i++)
		lua_rawgeti(L, array, (lua_Integer)i);
	lua_remove(L, array);
	return (int)count;
}

static int protected_call(lua_State *L)
{
	enum { GLOBALS = 2, FUNCTION };
	struct wfs_lua_calling *const calling = lua_touserdata(L, 1);
	const struct wfs_lua_call *const call = calling->call;
	int count = 0;

	wfs_lua_push_globals(L);
	if (!wfs_lua_push_function(L, GLOBALS, call->function))
		return luaL_error(L, "%s: no function '%s'", wfs_lua_of(L)->name, call->function);
	wfs_lua_push_call_context(L, call);
	lua_setfield(L, GLOBALS, "ctx");
	if (call->deps.size > 0)
		wfs_lua_push_json(L, call->deps);
	else
		lua_pushnil(L);
	lua_setfield(L, GLOBALS, "deps");

	calling->open = true;
	wfs_lua_push_json(L, call->arguments);
	count = spread(L, call);
	lua_call(L, count, LUA_MULTRET);
	expect_one_value(L, call, FUNCTION - 1);
	write_result(L, call);
	return 0;
}

int wfs_lua_call(struct wfs_lua *lua, struct wfs_lua_call *call, struct wfs_bytes *ret_value,
	struct wfs_error *error)
{
	struct wfs_lua_calling calling = {.call = call};
	int r = 0;

	lua->calling = &calling;
	lua->seed = call->seed;
	r = wfs_lua_run(lua, &call->run, protected_call, &calling, error);
	lua->calling = NULL;
	if (r == 0)
		r = wfs_buffer_check(&lua->output[0]);
	if (r == 0)
		*ret_value = wfs_buffer_bytes(&lua->output[0]);
	return r;
}
