/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox: its state, and running a C function in it under the bounds.
 *
 * Everything that can raise runs inside of one lua_pcall (call), so there is nothing for Lua's panic
 * function to do. A state that was stopped, or that failed in a way that may have left it odd, is
 * thrown away; the next run builds it again from the source.
 */
#include "kernel/lua/lua.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"

enum {
	NAME_SHOWN_BYTES = LUA_IDSIZE - 1, /* Lua cuts chunk names there */
	SCRATCH_KEPT_BYTES = 1 << 20,      /* of a buffer; larger ones are given back after a run */
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
			wfs_buffer_printf(&what, "more than %llu instructions for one %s",
				(unsigned long long)lua->budget->instructions, lua->budget_of);
		else
			wfs_buffer_printf(&what, "more than %llu instructions",
				(unsigned long long)lua->limits.instructions);
		break;
	case WFS_LUA_STOP_MEMORY:
		wfs_buffer_printf(&what, "more than %zu bytes of memory%s", lua->memory_bytes,
			lua->memory_bytes < lua->limits.memory_bytes ? ", which its callers left"
								     : "");
		break;
	case WFS_LUA_STOP_TIME:
		wfs_buffer_append_text(
			&what, "too much processor time for its instructions (huge values?)");
		break;
	case WFS_LUA_STOP_HOST:
		if (error)
			*error = lua->calling->error;
		return lua->calling->host_result;
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

/* Calls @function(@context) protected. Return: a status of Lua's; the error value is on the stack. */
static int call(struct wfs_lua *lua, lua_CFunction function, void *context)
{
	lua_State *const L = lua->state;

	/* None of these allocates. */
	lua_settop(L, 0);
	lua_pushcfunction(L, add_place);
	lua_pushcfunction(L, function);
	lua_pushlightuserdata(L, context);
	return lua_pcall(L, 1, 0, 1);
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
	wfs_lua_check_source(L);
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

/* --- running --- */

/* Calls @function(@context) under the bounds. A stopped state is thrown away. */
static int call_bounded(
	struct wfs_lua *lua, lua_CFunction function, void *context, struct wfs_error *error)
{
	int status = LUA_OK;
	int r = 0;

	wfs_lua_limit_start(lua);
	status = call(lua, function, context);
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

int wfs_lua_run(struct wfs_lua *lua, lua_CFunction function, void *context, struct wfs_error *error)
{
	const locale_t locale = uselocale(lua->locale);
	int r = 0;

	if (!wfs_lua_limit_left(lua))
		r = stop_error(lua, error);
	else if (!lua->state)
		r = build_state(lua, error);
	if (r == 0)
		r = call_bounded(lua, function, context, error);
	wfs_lua_limit_settle(lua);
	uselocale(locale);
	return r;
}

void wfs_lua_push_globals(lua_State *L)
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
}

bool wfs_lua_push_function(lua_State *L, int globals, const char *name)
{
	globals = lua_absindex(L, globals);
	lua_pushstring(L, name);
	lua_rawget(L, globals);
	if (lua_isfunction(L, -1))
		return true;
	lua_pop(L, 1);
	return false;
}

/* --- life --- */

/* What is looked for after a first run of the main chunk, and whether it was there. */
struct expectation {
	const char *const *functions;
	bool met;
};

static int protected_expect(lua_State *L)
{
	struct expectation *const expectation = lua_touserdata(L, 1);

	wfs_lua_push_globals(L);
	for (const char *const *name = expectation->functions; *name; name++)
		expectation->met |= wfs_lua_push_function(L, 2, *name);
	return 0;
}

int wfs_lua_expect(struct wfs_lua *lua, const char *const *functions, struct wfs_error *error)
{
	struct expectation expectation = {.functions = functions};
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	int r = 0;

	r = wfs_lua_run(lua, protected_expect, &expectation, error);
	if (r < 0 || expectation.met)
		return r;
	for (const char *const *name = functions; *name; name++)
		wfs_buffer_printf(&names, "%s'%s'", name == functions ? "" : " or ", *name);
	return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
		"%s: expected a global function %s, found none", lua->name,
		wfs_buffer_text(&names));
}

int wfs_lua_init(struct wfs_lua *lua, const struct wfs_lua_limits *limits, const char *name,
	struct wfs_bytes source, struct wfs_error *error)
{
	if (source.size > WFS_LUA_SOURCE_MAX)
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: %zu bytes, the greatest size of a module is %d", name, source.size,
			(int)WFS_LUA_SOURCE_MAX);
	lua->limits = *limits;
	lua->memory_bytes = limits->memory_bytes;
	lua->budget_of = "event";
	lua->name = strndup(name, NAME_SHOWN_BYTES);
	lua->source = malloc(source.size + 1);
	lua->source_size = source.size;
	lua->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!lua->name || !lua->source || !lua->locale)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", name);
	if (source.size > 0)
		memcpy(lua->source, source.data, source.size);
	return 0;
}

void wfs_lua_done(struct wfs_lua *lua)
{
	discard_state(lua);
	wfs_lua_pool_done(lua);
	if (lua->locale)
		freelocale(lua->locale);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		wfs_buffer_done(&lua->output[i]);
	free(lua->members);
	free(lua->source);
	free(lua->name);
}

int wfs_lua_parse_output(const struct wfs_lua *lua, size_t i, const char *what, json_t **ret_json,
	struct wfs_error *error)
{
	const struct wfs_buffer *const output = &lua->output[i];
	int r = wfs_buffer_check(output);

	if (r < 0)
		return wfs_error_from_errno(error, r, "run '%s'", lua->name);
	r = wfs_json_parse_bounded(output->data, output->size, ret_json, error);
	if (r == -EFBIG)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"%s: more than %d values of JSON in %s", lua->name, WFS_JSON_VALUES_MAX,
			what);
	/* What the writer accepts is JSON. */
	return r == -EINVAL
		? wfs_error_set(error, WFS_E_INTERNAL_ERROR, "%s: %s: not JSON", lua->name, what)
		: r;
}

void wfs_lua_trim(struct wfs_lua *lua)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		if (lua->output[i].capacity_bytes > SCRATCH_KEPT_BYTES)
			wfs_buffer_done(&lua->output[i]);
	if (lua->member_capacity * sizeof(*lua->members) > SCRATCH_KEPT_BYTES) {
		free(lua->members);
		lua->members = NULL;
		lua->member_capacity = 0;
	}
}
