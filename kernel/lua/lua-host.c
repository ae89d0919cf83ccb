/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the host: a closure for each binding, in protected tables like those of the library.
 * Arguments and results are exchanged as canonical text.
 */
#include <string.h>

#include "kernel/lua/lua-impl.h"

/* Upvalues of a closure. */
enum {
	UPVALUE_INDEX = 1, /* of the binding */
	UPVALUE_NAME,      /* for messages */
	UPVALUE_COUNT = 2,
};

/*
 * Writes the arguments, from @first on, as the text of an array. If the call has stopped, the
 * charge raises, so that no code (a message handler, for instance) can call the host any more.
 */
static void write_arguments(lua_State *L, const char *name, int first, struct wfs_buffer *buffer)
{
	int count = lua_gettop(L);

	luaL_checkstack(L, LUA_MINSTACK, NULL);
	while (count >= first && lua_isnil(L, count))
		count--;
	wfs_buffer_reset(buffer);
	wfs_buffer_append_byte(buffer, '[');
	for (int i = first; i <= count; i++) {
		if (i > first)
			wfs_buffer_append_byte(buffer, ',');
		if (lua_isnil(L, i)) {
			wfs_buffer_append_text(buffer, "null");
			continue;
		}
		wfs_lua_write_element(
			L, i, buffer, lua_pushfstring(L, "%s: argument #%d", name, i - first + 1));
		lua_pop(L, 1);
	}
	wfs_buffer_append_byte(buffer, ']');
	wfs_lua_charge(L, WFS_LUA_CHARGE_HOST + buffer->size / WFS_LUA_CHARGE_JSON_BYTES);
}

/* Calls the host; nothing raises here. Return: as of the host's function */
static int ask_host(struct wfs_lua *lua, size_t binding_index, const struct wfs_buffer *text,
	struct wfs_bytes *ret_value)
{
	struct wfs_lua_calling *const calling = lua->calling;
	struct wfs_lua_call *const call = calling->call;
	int r = wfs_buffer_check(text);

	if (r < 0)
		return wfs_error_from_errno(&calling->error, r, "run '%s'", lua->name);
	wfs_lua_limit_settle(lua);
	call->run.memory_left_bytes = wfs_lua_limit_memory_left(lua);
	r = call->host->call(
		call->host, binding_index, wfs_buffer_bytes(text), ret_value, &calling->error);
	wfs_lua_limit_resume(lua);
	return r;
}

void wfs_lua_ask_host(lua_State *L, size_t binding_index, const char *name, int first)
{
	struct wfs_lua *const lua = wfs_lua_of(L);
	struct wfs_lua_calling *const calling = lua->calling;
	struct wfs_bytes value = {0};
	int r = 0;

	if (!calling || !calling->open) {
		luaL_error(L, "%s: not available outside of functions", name);
		return; /* not reached */
	}
	if (!calling->call->host) {
		luaL_error(L, "%s: not available in '%s'", name, calling->call->function);
		return; /* not reached */
	}
	write_arguments(L, name, first, &lua->output[0]);
	lua_settop(L, first - 1);
	r = ask_host(lua, binding_index, &lua->output[0], &value);
	if (r < 0) {
		calling->host_result = r;
		wfs_lua_stop_now(L, WFS_LUA_STOP_HOST);
	}
	wfs_lua_charge(L, 1); /* a safe point, because nested runs may have used up a bound */
	if (r > 0)
		luaL_error(L, "%s: %s", name, calling->error.message);
	if (value.size > 0)
		wfs_lua_push_json(L, value);
	else
		lua_pushnil(L);
}

static int call_host(lua_State *L)
{
	const lua_Integer index = lua_tointeger(L, lua_upvalueindex(UPVALUE_INDEX));

	wfs_lua_ask_host(L, (size_t)index, lua_tostring(L, lua_upvalueindex(UPVALUE_NAME)), 1);
	return 1;
}

static void push_closure(lua_State *L, size_t index, const struct wfs_lua_binding *binding)
{
	if (binding->gives_module) {
		wfs_lua_push_module_function(L, index);
		return;
	}
	lua_pushinteger(L, (lua_Integer)index);
	if (binding->table)
		lua_pushfstring(L, "%s.%s", binding->table, binding->name);
	else
		lua_pushstring(L, binding->name);
	lua_pushcclosure(L, call_host, UPVALUE_COUNT);
}

/* Adds the bindings of one table, from @first on. Return: how many they are. */
static size_t open_table(lua_State *L, const struct wfs_lua *lua, size_t first)
{
	const char *const table = lua->bindings[first].table;
	size_t at = first;

	lua_newtable(L);
	for (; at < lua->binding_count; at++) {
		const struct wfs_lua_binding *const binding = &lua->bindings[at];

		if (!binding->table || strcmp(binding->table, table) != 0)
			break;
		push_closure(L, at, binding);
		lua_setfield(L, -2, binding->name);
	}
	wfs_lua_protect(L);
	lua_setfield(L, -2, table);
	return at - first;
}

void wfs_lua_open_host(lua_State *L)
{
	const struct wfs_lua *const lua = wfs_lua_of(L);
	size_t at = 0;

	while (at < lua->binding_count) {
		const struct wfs_lua_binding *const binding = &lua->bindings[at];

		if (binding->table) {
			at += open_table(L, lua, at);
			continue;
		}
		push_closure(L, at, binding);
		lua_setfield(L, -2, binding->name);
		at++;
	}
}
