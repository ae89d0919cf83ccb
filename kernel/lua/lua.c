/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life of an object, and one step.
 *
 * Everything that can raise runs inside of one lua_pcall (call), so there is nothing for Lua's panic
 * function to do. A state that was stopped, or that failed in a way that may have left it odd, is
 * thrown away; the next step builds it again from the source.
 */
#include "kernel/lua/lua.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"

enum {
	OUTPUT_STATE,
	OUTPUT_EVENTS,
	OUTPUT_EFFECTS,
	NAME_SHOWN_BYTES = LUA_IDSIZE - 1, /* Lua cuts chunk names there */
	OUTPUT_KEPT_BYTES = 1 << 20,       /* larger scratch is given back after a step */
};

/* What the protected functions work on, and what they found. */
struct run {
	struct wfs_lua *lua;
	const struct wfs_lua_step *step;
	const json_t *state; /* the stored state, when its text is not canonical */
	bool not_canonical;  /* so it turned out; nothing was run */
	bool has_step;       /* of protected_check */
	bool deleted;
	bool has_output[WFS_ARRAY_COUNT(((struct wfs_lua *)NULL)->output)];
};

/* --- errors --- */

static int bound_error(const struct wfs_lua *lua, struct wfs_error *error, const char *what)
{
	if (lua->stop_line > 0)
		return wfs_error_set(
			error, WFS_E_RUNTIME_ERROR, "%s:%d: %s", lua->name, lua->stop_line, what);
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR, "%s: %s", lua->name, what);
}

static int stop_error(const struct wfs_lua *lua, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer what = {0};

	switch (lua->stop) {
	case WFS_LUA_STOP_INSTRUCTIONS:
		if (lua->instructions < lua->limits.instructions)
			wfs_buffer_printf(&what, "more than %llu instructions for one event",
				(unsigned long long)lua->budget->instructions);
		else
			wfs_buffer_printf(&what, "more than %llu instructions",
				(unsigned long long)lua->limits.instructions);
		break;
	case WFS_LUA_STOP_MEMORY:
		wfs_buffer_printf(&what, "more than %zu bytes of memory", lua->limits.memory_bytes);
		break;
	case WFS_LUA_STOP_TIME:
		wfs_buffer_append_text(
			&what, "too much processor time for its instructions (huge values?)");
		break;
	case WFS_LUA_STOP_WEAK:
		wfs_buffer_append_text(&what, "'__mode' in a metatable is not available");
		break;
	default:
		return wfs_error_from_errno(error, -ENOMEM, "run '%s'", lua->name);
	}
	return bound_error(lua, error, wfs_buffer_text(&what));
}

/* The error value on top of the stack as the reason of a failure. Runs no code of the module. */
static int value_error(const struct wfs_lua *lua, enum wfs_error_code code, struct wfs_error *error)
{
	lua_State *const L = lua->state;

	if (lua_type(L, -1) == LUA_TSTRING)
		return wfs_error_set(error, code, "%s", lua_tostring(L, -1));
	return wfs_error_set(error, code, "%s: error with a %s for its message", lua->name,
		luaL_typename(L, -1));
}

/* Puts the place in front of a message that has none; `assert` gives such. */
static int add_place(lua_State *L)
{
	const struct wfs_lua *const lua = wfs_lua_of(L);
	const size_t name_size = strlen(lua->name);
	const char *message = NULL;
	lua_Debug ar;

	if (lua->stop != WFS_LUA_GOING || lua_type(L, 1) != LUA_TSTRING)
		return 1;
	message = lua_tostring(L, 1);
	if (strncmp(message, lua->name, name_size) == 0 && message[name_size] == ':')
		return 1;
	for (int level = 1; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "l", &ar);
		if (ar.currentline > 0) {
			lua_pushfstring(L, "%s:%d: %s", lua->name, ar.currentline, message);
			return 1;
		}
	}
	lua_pushfstring(L, "%s: %s", lua->name, message);
	return 1;
}

/* --- building a state --- */

static void discard_state(struct wfs_lua *lua)
{
	lua->running = false;
	if (lua->state)
		lua_close(lua->state);
	lua->state = NULL;
}

/* Calls @function(@run) protected. Return: a status of Lua's; the error value is on the stack. */
static int call(struct wfs_lua *lua, lua_CFunction function, struct run *run)
{
	lua_State *const L = lua->state;

	/* None of these allocates. */
	lua_settop(L, 0);
	lua_pushcfunction(L, add_place);
	lua_pushcfunction(L, function);
	lua_pushlightuserdata(L, run);
	return lua_pcall(L, 1, 0, 1);
}

/* The same with code of the module under its bounds. A stopped state is thrown away. */
static int call_bounded(
	struct wfs_lua *lua, lua_CFunction function, struct run *run, struct wfs_error *error)
{
	int status = LUA_OK;
	int r = 0;

	wfs_lua_limit_start(lua);
	status = call(lua, function, run);
	if (lua->stop == WFS_LUA_GOING && status != LUA_OK &&
		(status == LUA_ERRMEM || lua->refused))
		lua->stop = WFS_LUA_STOP_MEMORY;
	if (lua->stop != WFS_LUA_GOING)
		r = stop_error(lua, error);
	else if (status != LUA_OK)
		r = value_error(lua, WFS_E_RUNTIME_ERROR, error);
	if (lua->stop != WFS_LUA_GOING) {
		discard_state(lua);
		return r;
	}
	lua_settop(lua->state, 0);
	wfs_lua_limit_end(lua);
	return r;
}

static const char *read_source(lua_State *L, void *context, size_t *size)
{
	struct wfs_lua *const lua = *(struct wfs_lua **)context;

	(void)L;
	if (!lua)
		return NULL;
	*(struct wfs_lua **)context = NULL; /* all of it at once */
	*size = lua->source_size;
	return lua->source;
}

static int protected_build(lua_State *L)
{
	struct wfs_lua *const lua = wfs_lua_of(L);
	struct wfs_lua *unread = lua;

	wfs_lua_open(L);
	lua_pushfstring(L, "=%s", lua->name);
	if (lua_load(L, read_source, &unread, lua_tostring(L, -1), "t") != LUA_OK)
		return lua_error(L);
	lua_rawseti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_MAIN);
	return 0;
}

static int build_error(struct wfs_lua *lua, int status, struct wfs_error *error)
{
	if (lua->stop == WFS_LUA_GOING && (status == LUA_ERRMEM || lua->refused))
		lua->stop = WFS_LUA_STOP_MEMORY;
	if (lua->stop != WFS_LUA_GOING)
		return stop_error(lua, error);
	return value_error(lua, WFS_E_SYNTAX_ERROR, error);
}

static int build_state(struct wfs_lua *lua, struct wfs_error *error)
{
	int status = LUA_OK;
	int r = 0;

	lua->stop = WFS_LUA_GOING;
	lua->stop_line = 0;
	lua->refused = false;
	lua->heap_bytes = 0;
	lua->collect_bytes = WFS_LUA_GARBAGE_BYTES;
	lua->state = lua_newstate(wfs_lua_allocate, lua);
	if (!lua->state) {
		if (lua->stop == WFS_LUA_GOING)
			lua->stop = WFS_LUA_STOP_MEMORY;
		return stop_error(lua, error);
	}
	*(struct wfs_lua **)lua_getextraspace(lua->state) = lua;
	lua_gc(lua->state, LUA_GCSTOP);
	status = call(lua, protected_build, NULL);
	if (status != LUA_OK) {
		r = build_error(lua, status, error);
		discard_state(lua);
		return r;
	}
	lua_gc(lua->state, LUA_GCCOLLECT);
	lua->module_bytes = lua->heap_bytes;
	lua->collect_bytes = lua->heap_bytes + WFS_LUA_GARBAGE_BYTES;
	return 0;
}

/* --- a step --- */

/* Runs the main chunk in a fresh environment and pushes what it left in the global `step`. */
static void push_step_function(lua_State *L)
{
	lua_createtable(L, 0, 4);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "_G");
	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_GLOBALS);
	lua_setmetatable(L, -2);

	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_MAIN);
	lua_pushvalue(L, -2);
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 0);

	lua_pushliteral(L, "step");
	lua_rawget(L, -2);
	lua_remove(L, -2);
}

static int protected_check(lua_State *L)
{
	struct run *const run = lua_touserdata(L, 1);

	push_step_function(L);
	run->has_step = lua_isfunction(L, -1);
	return 0;
}

/* Members of the second result. */
static const char *const output_names[] = {
	[OUTPUT_EVENTS] = "events", [OUTPUT_EFFECTS] = "effects"};

/* Takes over one of them; the value is on top of the stack, its name below. */
static void write_member(lua_State *L, struct run *run)
{
	struct wfs_lua *const lua = run->lua;
	const char *const name =
		lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);

	for (size_t i = OUTPUT_EVENTS; i < WFS_ARRAY_COUNT(output_names); i++) {
		if (strcmp(name, output_names[i]) != 0)
			continue;
		wfs_lua_write_json(L, -1, &lua->output[i], output_names[i], true);
		if (lua->output[i].data[0] != '[')
			luaL_error(L, "%s: %s: expected an array", lua->name, output_names[i]);
		run->has_output[i] = true;
		return;
	}
	luaL_error(L, "%s: second result: unknown member '%s', expected events or effects",
		lua->name, name);
}

static void write_outputs(lua_State *L, struct run *run)
{
	if (lua_isnil(L, -1))
		return;
	if (!lua_istable(L, -1))
		luaL_error(L,
			"%s: second result: expected a table with events and effects, got a %s",
			run->lua->name, luaL_typename(L, -1));
	lua_pushnil(L);
	while (lua_next(L, -2)) {
		write_member(L, run);
		lua_pop(L, 1);
	}
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
	push_step_function(L);
	if (!lua_isfunction(L, -1))
		return luaL_error(L, "%s: no function 'step'", run->lua->name);
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
	const struct wfs_buffer *const output = &run->lua->output[i];
	int r = 0;

	if (!run->has_output[i])
		return 0;
	r = wfs_json_parse_bounded(output->data, output->size, ret_json, error);
	if (r == -EFBIG)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"%s: more than %d values of JSON in %s", run->lua->name,
			WFS_JSON_VALUES_MAX, output_names[i]);
	/* What the writer accepts is JSON; nesting inside the array is all that can be too much. */
	return r == -EINVAL ? wfs_error_set(error, WFS_E_INTERNAL_ERROR, "%s: %s are not JSON",
				      run->lua->name, output_names[i])
			    : r;
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

static void trim_scratch(struct wfs_lua *lua)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		if (lua->output[i].capacity_bytes > OUTPUT_KEPT_BYTES)
			wfs_buffer_done(&lua->output[i]);
	if (lua->member_capacity * sizeof(*lua->members) > OUTPUT_KEPT_BYTES) {
		free(lua->members);
		lua->members = NULL;
		lua->member_capacity = 0;
	}
}

static int run_step(struct run *run, struct wfs_error *error)
{
	int r = 0;

	if (!run->lua->state)
		r = build_state(run->lua, error);
	if (r < 0)
		return r;
	run->lua->seed = run->step->seed;
	return call_bounded(run->lua, protected_step, run, error);
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

/* Counts what the step did, besides its instructions the bytes that it read and wrote. */
static void charge_budget(const struct run *run)
{
	const struct wfs_lua *const lua = run->lua;
	size_t bytes = run->step->state.size;

	if (!lua->budget)
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		if (i == OUTPUT_STATE ? !run->deleted : run->has_output[i])
			bytes += lua->output[i].size;
	lua->budget->used += lua->used + bytes / WFS_LUA_CHARGE_JSON_BYTES;
}

int wfs_lua_step(struct wfs_lua *lua, const struct wfs_lua_step *step,
	struct wfs_lua_result *result, struct wfs_error *error)
{
	struct run run = {.lua = lua, .step = step};
	const locale_t locale = uselocale(lua->locale);
	int r = 0;

	lua->budget = step->budget;
	r = wfs_lua_limit_left(lua) ? run_step(&run, error) : stop_error(lua, error);
	if (r == 0 && run.not_canonical)
		r = run_step_parsed(&run, error);
	uselocale(locale);
	charge_budget(&run);
	if (r == 0)
		r = take_result(&run, result, error);
	lua->budget = NULL;
	trim_scratch(lua);
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
	discard_state(lua);
	wfs_lua_pool_done(lua);
	if (lua->locale)
		freelocale(lua->locale);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		wfs_buffer_done(&lua->output[i]);
	free(lua->members);
	free(lua->source);
	free(lua->name);
	free(lua);
}

static int check_module(struct wfs_lua *lua, struct wfs_error *error)
{
	struct run run = {.lua = lua};
	const locale_t locale = uselocale(lua->locale);
	int r = 0;

	r = build_state(lua, error);
	if (r == 0)
		r = call_bounded(lua, protected_check, &run, error);
	uselocale(locale);
	if (r == 0 && !run.has_step)
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: expected a global function 'step', found none", lua->name);
	return r;
}

int wfs_lua_new(const struct wfs_lua_limits *limits, const char *name, const char *source,
	size_t source_size, struct wfs_lua **ret_lua, struct wfs_error *error)
{
	WFS_AUTO_LUA struct wfs_lua *lua = NULL;
	int r = 0;

	if (source_size > WFS_LUA_SOURCE_MAX)
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: %zu bytes, the greatest size of a module is %d", name, source_size,
			(int)WFS_LUA_SOURCE_MAX);
	lua = calloc(1, sizeof(*lua));
	if (!lua)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", name);
	lua->limits = *limits;
	lua->name = strndup(name, NAME_SHOWN_BYTES);
	lua->source = malloc(source_size + 1);
	lua->source_size = source_size;
	lua->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!lua->name || !lua->source || !lua->locale)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", name);
	if (source_size > 0)
		memcpy(lua->source, source, source_size);

	r = check_module(lua, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_lua = WFS_STEAL(lua);
	return 0;
}
