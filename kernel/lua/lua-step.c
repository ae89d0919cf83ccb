/* SPDX-License-Identifier: Apache-2.0 */
/* The module of a reducer, and one step of it. */
#include <stdlib.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"
#include "kernel/lua/lua.h"

enum {
	OUTPUT_STATE,
	OUTPUT_EVENTS,
	OUTPUT_EFFECTS,
};

/* What the protected function works on, and what it found. */
struct run {
	struct wfs_lua *lua;
	const struct wfs_lua_step *step;
	const json_t *state; /* the stored state, when its text is not canonical */
	bool not_canonical;  /* so it turned out; nothing was run */
	bool deleted;
	bool has_output[WFS_ARRAY_COUNT(((struct wfs_lua *)NULL)->output)];
};

/* What a module defines. */
static const char *const function_names[] = {"step", NULL};

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

/* Takes over output @i; the second result is on top of the stack. */
static void write_member(lua_State *L, struct run *run, size_t i)
{
	struct wfs_lua *const lua = run->lua;

	lua_pushstring(L, output_names[i]);
	if (lua_rawget(L, -2) != LUA_TNIL) {
		wfs_lua_write_json(L, -1, &lua->output[i], output_names[i], true);
		if (lua->output[i].data[0] != '[')
			luaL_error(L, "%s: %s: expected an array", lua->name, output_names[i]);
		run->has_output[i] = true;
	}
	lua_pop(L, 1);
}

static void write_outputs(lua_State *L, struct run *run)
{
	if (lua_isnil(L, -1))
		return;
	if (!lua_istable(L, -1))
		luaL_error(L,
			"%s: second result: expected a table with events and effects, got a %s",
			run->lua->name, luaL_typename(L, -1));
	if (wfs_lua_push_least_key(L, -1, is_unknown_member))
		luaL_error(L, "%s: second result: unknown member '%s', expected events or effects",
			run->lua->name,
			lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
						       : luaL_typename(L, -1));
	for (size_t i = OUTPUT_EVENTS; i < WFS_ARRAY_COUNT(output_names); i++)
		write_member(L, run, i);
}

static bool push_state(lua_State *L, struct run *run)
{
	const struct wfs_bytes text = run->step->state;

	if (run->state)
		wfs_lua_push_json(L, run->state);
	else if (text.size == 0)
		lua_pushnil(L);
	else
		return wfs_lua_read_json(L, text, &run->lua->output[OUTPUT_STATE]);
	return true;
}

static int protected_step(lua_State *L)
{
	struct run *const run = lua_touserdata(L, 1);

	if (!push_state(L, run)) {
		run->not_canonical = true;
		return 0;
	}
	wfs_lua_push_globals(L);
	if (!wfs_lua_push_function(L, -1, function_names[0]))
		return luaL_error(L, "%s: no function 'step'", run->lua->name);
	lua_replace(L, -2);
	lua_insert(L, -2);
	wfs_lua_push_json(L, run->step->event);
	wfs_lua_push_context(L, run->step);
	lua_call(L, 3, 2);

	run->deleted = lua_isnil(L, -2);
	if (!run->deleted)
		wfs_lua_write_json(L, -2, &run->lua->output[OUTPUT_STATE], "new state", false);
	write_outputs(L, run);
	return 0;
}

/* Output @i as a value; leaves NULL when there is none. */
static int parse_output(struct run *run, size_t i, json_t **ret_json, struct wfs_error *error)
{
	if (!run->has_output[i])
		return 0;
	return wfs_lua_parse_output(run->lua, i, output_names[i], ret_json, error);
}

static int take_result(struct run *run, struct wfs_lua_result *result, struct wfs_error *error)
{
	struct wfs_buffer *const output = &run->lua->output[OUTPUT_STATE];
	WFS_AUTO_JSON json_t *events = NULL;
	WFS_AUTO_JSON json_t *effects = NULL;
	int r = 0;

	r = parse_output(run, OUTPUT_EVENTS, &events, error);
	if (r < 0)
		return wfs_trace(r);
	r = parse_output(run, OUTPUT_EFFECTS, &effects, error);
	if (r < 0)
		return wfs_trace(r);
	if (!run->deleted) {
		wfs_buffer_append_byte(output, '\n');
		r = wfs_buffer_check(output);
		if (r < 0)
			return wfs_error_from_errno(error, r, "keep the new state");
	}

	json_decref(result->events);
	json_decref(result->effects);
	result->events = WFS_STEAL(events);
	result->effects = WFS_STEAL(effects);
	result->deleted = run->deleted;
	if (run->deleted) {
		wfs_buffer_reset(&result->state);
		return 0;
	}
	/* The buffers change places, so that both keep their memory for the next step. */
	const struct wfs_buffer previous = result->state;

	result->state = *output;
	*output = previous;
	return 0;
}

static int run_step(struct run *run, struct wfs_error *error)
{
	run->lua->seed = run->step->seed;
	return wfs_lua_run(run->lua, protected_step, run, error);
}

/* The same for a state that is JSON but not as this program writes it, or not JSON at all. */
static int run_step_parsed(struct run *run, struct wfs_error *error)
{
	const struct wfs_bytes text = run->step->state;
	WFS_AUTO_JSON json_t *state = NULL;
	int r = 0;

	r = wfs_json_parse(text.data, text.size, &state, error);
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "the stored state is not JSON");
	if (r < 0)
		return wfs_trace(r);
	run->state = state;
	r = run_step(run, error);
	run->state = NULL;
	return r;
}

/* Counts the bytes that the step read and wrote; its instructions were counted already. */
static void charge_bytes(const struct run *run)
{
	const struct wfs_lua *const lua = run->lua;
	size_t bytes = run->step->state.size;

	if (!lua->budget)
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		if (i == OUTPUT_STATE ? !run->deleted : run->has_output[i])
			bytes += lua->output[i].size;
	lua->budget->used += bytes / WFS_LUA_CHARGE_JSON_BYTES;
}

int wfs_lua_step(struct wfs_lua *lua, const struct wfs_lua_step *step,
	struct wfs_lua_result *result, struct wfs_error *error)
{
	struct run run = {.lua = lua, .step = step};
	int r = 0;

	lua->budget = step->budget;
	r = run_step(&run, error);
	if (r == 0 && run.not_canonical)
		r = run_step_parsed(&run, error);
	charge_bytes(&run);
	if (r == 0)
		r = take_result(&run, result, error);
	lua->budget = NULL;
	wfs_lua_trim(lua);
	return r;
}

void wfs_lua_result_done(struct wfs_lua_result *result)
{
	wfs_buffer_done(&result->state);
	json_decref(result->events);
	json_decref(result->effects);
	*result = (struct wfs_lua_result){0};
}

/* --- life --- */

void wfs_lua_free(struct wfs_lua *lua)
{
	if (!lua)
		return;
	wfs_lua_done(lua);
	free(lua);
}

int wfs_lua_new(const struct wfs_lua_limits *limits, const char *name, const char *source,
	size_t source_size, struct wfs_lua **ret_lua, struct wfs_error *error)
{
	WFS_AUTO_LUA struct wfs_lua *lua = calloc(1, sizeof(*lua));
	int r = 0;

	if (!lua)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", name);
	r = wfs_lua_init(lua, limits, name, WFS_BYTES(source, source_size), error);
	if (r < 0)
		return wfs_trace(r);
	r = wfs_lua_expect(lua, function_names, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_lua = WFS_STEAL(lua);
	return 0;
}
