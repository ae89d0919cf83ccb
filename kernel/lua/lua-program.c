/* SPDX-License-Identifier: Apache-2.0 */
/* The code of an artifact, and one call of a function in it. */
#include "kernel/lua/lua-program.h"

#include <stdlib.h>

#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"

struct wfs_lua_program {
	struct wfs_lua lua;
};

/* --- a call --- */

/* The value between the function below and the top; nil when there is none. */
static void expect_one_value(lua_State *L, const struct wfs_lua_call *call, int below)
{
	const int count = lua_gettop(L) - below;

	if (count > 1) {
		lua_settop(L, below); /* they may fill the stack */
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

static void push_arguments(lua_State *L, const json_t *arguments)
{
	const size_t count = json_array_size(arguments);

	luaL_checkstack(L, count < INT32_MAX ? (int)count : INT32_MAX, "too many arguments");
	for (size_t i = 0; i < count; i++)
		wfs_lua_push_json(L, json_array_get(arguments, i));
}

static int protected_call(lua_State *L)
{
	enum { GLOBALS = 2, FUNCTION };
	struct wfs_lua_calling *const calling = lua_touserdata(L, 1);
	const struct wfs_lua_call *const call = calling->call;

	wfs_lua_push_globals(L);
	if (!wfs_lua_push_function(L, GLOBALS, call->function))
		return luaL_error(L, "%s: no function '%s'", wfs_lua_of(L)->name, call->function);
	wfs_lua_push_call_context(L, call);
	lua_setfield(L, GLOBALS, "ctx");
	if (call->deps)
		wfs_lua_push_json(L, call->deps);
	else
		lua_pushnil(L);
	lua_setfield(L, GLOBALS, "deps");

	calling->open = true;
	push_arguments(L, call->arguments);
	lua_call(L, (int)json_array_size(call->arguments), LUA_MULTRET);
	expect_one_value(L, call, FUNCTION - 1);
	write_result(L, call);
	return 0;
}

static enum wfs_lua_failure failure_of(const struct wfs_lua *lua, int r)
{
	switch (lua->stop) {
	case WFS_LUA_GOING:
		return r == -ENOMEM ? WFS_LUA_FAILURE_HOST : WFS_LUA_FAILURE_CODE;
	case WFS_LUA_STOP_NO_MEMORY:
	case WFS_LUA_STOP_HOST:
		return WFS_LUA_FAILURE_HOST;
	default:
		return WFS_LUA_FAILURE_BOUND;
	}
}

/* What runs within a call of @outer has the memory that this leaves. */
static void bound_memory(struct wfs_lua *lua, struct wfs_lua_program *outer)
{
	lua->memory_bytes = lua->limits.memory_bytes;
	if (!outer)
		return;
	const size_t left = wfs_lua_limit_memory_left(&outer->lua);
	if (left < lua->memory_bytes)
		lua->memory_bytes = left;
}

static int run_call(struct wfs_lua *lua, struct wfs_lua_calling *calling, json_t **ret_value,
	struct wfs_error *error)
{
	const struct wfs_lua_call *const call = calling->call;
	int r = 0;

	lua->calling = calling;
	lua->budget = call->budget;
	lua->seed = call->seed;
	bound_memory(lua, call->outer);
	r = wfs_lua_run(lua, protected_call, calling, error);
	if (r == 0)
		r = wfs_lua_parse_output(lua, 0, "the result", ret_value, error);
	lua->calling = NULL;
	lua->budget = NULL;
	return r;
}

int wfs_lua_program_call(struct wfs_lua_program *program, struct wfs_lua_call *call,
	json_t **ret_value, struct wfs_error *error)
{
	struct wfs_lua *const lua = &program->lua;
	struct wfs_lua_calling calling = {.call = call};
	int r = 0;

	if (lua->calling) {
		call->failure = WFS_LUA_FAILURE_HOST;
		return wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "%s: called while it runs already", lua->name);
	}
	r = run_call(lua, &calling, ret_value, error);
	call->failure = r < 0 ? failure_of(lua, r) : WFS_LUA_FAILURE_NONE;
	json_decref(calling.value);
	wfs_lua_trim(lua);
	return r;
}

bool wfs_lua_program_is_running(const struct wfs_lua_program *program)
{
	return program->lua.calling;
}

/* --- life --- */

void wfs_lua_program_free(struct wfs_lua_program *program)
{
	if (!program)
		return;
	wfs_lua_done(&program->lua);
	free(program);
}

int wfs_lua_program_new(const struct wfs_lua_program_options *options,
	struct wfs_lua_program **ret_program, struct wfs_error *error)
{
	WFS_AUTO_LUA_PROGRAM struct wfs_lua_program *program = calloc(1, sizeof(*program));
	int r = 0;

	if (!program)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", options->name);
	r = wfs_lua_init(&program->lua, options->limits, options->name, options->source, error);
	if (r < 0)
		return wfs_trace(r);
	program->lua.budget_of = "invocation";
	program->lua.bindings = options->bindings;
	program->lua.binding_count = options->binding_count;
	/* A call may end before it is looked at for the first time. The source counts in each one,
	 * so that it does not matter whether the state was there. */
	program->lua.run_charge =
		WFS_LUA_HOOK_PERIOD + options->source.size * WFS_LUA_CHARGE_SOURCE_BYTE;
	program->lua.budget = options->budget;
	bound_memory(&program->lua, options->outer);
	if (options->functions)
		r = wfs_lua_expect(&program->lua, options->functions, error);
	program->lua.budget = NULL;
	if (r < 0 && options->ret_failure)
		*options->ret_failure = failure_of(&program->lua, r);
	if (r < 0)
		return wfs_trace(r);
	*ret_program = WFS_STEAL(program);
	return 0;
}
