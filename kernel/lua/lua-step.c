/* SPDX-License-Identifier: Apache-2.0 */
/* The module of a reducer, and one step of it. */
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum {
	OUTPUT_STATE,
	OUTPUT_EVENTS,
	OUTPUT_EFFECTS,
};

/* What the protected function gets, and what it finds. */
struct run {
	struct wfs_lua *lua;
	const struct wfs_lua_step *step;
	bool not_canonical; /* the state or the event; the step was not run */
	bool deleted;
	bool has_output[WFS_ARRAY_COUNT(((struct wfs_lua *)NULL)->output)];
};

/* Members of the second result. */
static const char *const output_names[] = {
	[OUTPUT_EVENTS] = "events", [OUTPUT_EFFECTS] = "effects"};

static bool is_unknown_member(lua_State *L, int key)
{
	for (size_t i = OUTPUT_EVENTS; i < WFS_ARRAY_COUNT(output_names); i++)
		if (lua_type(L, key) == LUA_TSTRING &&
			strcmp(lua_tostring(L, key), output_names[i]) == 0)
			return false;
	return true;
}

static void write_outputs(lua_State *L, struct run *run)
{
	struct wfs_lua *const lua = run->lua;

	if (lua_isnil(L, -1))
		return;
	if (!lua_istable(L, -1))
		luaL_error(L,
			"%s: second result: expected a table with events and effects, got a %s",
			lua->name, luaL_typename(L, -1));
	if (wfs_lua_push_least_key(L, -1, is_unknown_member))
		luaL_error(L, "%s: second result: unknown member '%s', expected events or effects",
			lua->name,
			lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
						       : luaL_typename(L, -1));
	for (size_t i = OUTPUT_EVENTS; i < WFS_ARRAY_COUNT(output_names); i++) {
		lua_pushstring(L, output_names[i]);
		if (lua_rawget(L, -2) != LUA_TNIL) {
			wfs_lua_write_json(L, -1, &lua->output[i], output_names[i], true);
			if (lua->output[i].data[0] != '[')
				luaL_error(
					L, "%s: %s: expected an array", lua->name, output_names[i]);
			run->has_output[i] = true;
		}
		lua_pop(L, 1);
	}
}

/* Pushes the state and the event. Return: false: one of them is not canonical */
static bool push_input(lua_State *L, const struct run *run)
{
	struct wfs_buffer *const scratch = &run->lua->output[OUTPUT_STATE];

	if (run->step->state.size == 0)
		lua_pushnil(L);
	else if (!wfs_lua_read_json(L, run->step->state, scratch))
		return false;
	return wfs_lua_read_json(L, run->step->event, scratch);
}

static int protected_step(lua_State *L)
{
	struct run *const run = lua_touserdata(L, 1);

	wfs_lua_push_globals(L);
	if (!wfs_lua_push_function(L, -1, "step"))
		return luaL_error(L, "%s: no function 'step'", run->lua->name);
	lua_replace(L, -2);
	if (!push_input(L, run)) {
		run->not_canonical = true;
		return 0;
	}
	wfs_lua_push_context(L, run->step);
	lua_call(L, 3, 2);

	run->deleted = lua_isnil(L, -2);
	if (!run->deleted)
		wfs_lua_write_json(L, -2, &run->lua->output[OUTPUT_STATE], "new state", false);
	write_outputs(L, run);
	return 0;
}

/* Charges the bytes that the step read and wrote; its instructions are charged already. */
static void charge_bytes(const struct run *run)
{
	const struct wfs_lua *const lua = run->lua;
	size_t bytes = run->step->state.size;

	if (!run->step->run.budget)
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		if (i == OUTPUT_STATE ? !run->deleted : run->has_output[i])
			bytes += lua->output[i].size;
	run->step->run.budget->used += bytes / WFS_LUA_CHARGE_JSON_BYTES;
}

/* Return: output @i, or no bytes. */
static struct wfs_bytes output_of(const struct run *run, size_t i)
{
	return run->has_output[i] ? wfs_buffer_bytes(&run->lua->output[i]) : WFS_BYTES(NULL, 0);
}

int wfs_lua_step(struct wfs_lua *lua, struct wfs_lua_step *step, struct wfs_lua_result *ret_result,
	struct wfs_error *error)
{
	struct run run = {.lua = lua, .step = step};
	int r = 0;

	lua->seed = step->seed;
	r = wfs_lua_run(lua, &step->run, protected_step, &run, error);
	if (r == 0 && run.not_canonical) {
		step->run.failure = WFS_LUA_FAILURE_HOST;
		r = wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"%s: the stored state or the event is not canonical JSON", lua->name);
	}
	charge_bytes(&run);
	for (size_t i = 0; r == 0 && i < WFS_ARRAY_COUNT(lua->output); i++)
		r = wfs_buffer_check(&lua->output[i]);
	if (r < 0)
		return wfs_trace(r);
	run.has_output[OUTPUT_STATE] = !run.deleted;
	*ret_result = (struct wfs_lua_result){
		.deleted = run.deleted,
		.state = output_of(&run, OUTPUT_STATE),
		.events = output_of(&run, OUTPUT_EVENTS),
		.effects = output_of(&run, OUTPUT_EFFECTS),
	};
	return 0;
}
