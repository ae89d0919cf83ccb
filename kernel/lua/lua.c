/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox: makes its state, and runs C functions in it under the bounds.
 *
 * Everything that can raise runs inside of one lua_pcall (call), so Lua's panic function is never
 * called. A module is compiled once; the contents of the memory region after that are its image,
 * with which every run begins. So it does not matter in which state a run leaves Lua.
 */
#include "kernel/lua/lua.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum {
	NAME_SHOWN_BYTES = LUA_IDSIZE - 1, /* Lua cuts longer chunk names */
	SCRATCH_KEPT_BYTES = 16 << 10,     /* of a buffer that is kept between two runs */
	PLACE_LEVELS_MAX =
		16, /* stack levels searched for a place: Lua walks through those above each */
};

/* --- errors --- */

static int bound_error(const struct wfs_lua *lua, struct wfs_error *error, const char *what)
{
	if (lua->stop_line > 0)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR, "%s:%d: %s", lua->stop_name,
			lua->stop_line, what);
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

/* Reports the error value on top of the stack as the reason of a failure.
 * Runs no code of the module. */
static int value_error(const struct wfs_lua *lua, enum wfs_error_code code, struct wfs_error *error)
{
	lua_State *const L = lua->state;

	if (lua_type(L, -1) == LUA_TSTRING)
		return wfs_error_set(error, code, "%s", lua_tostring(L, -1));
	return wfs_error_set(error, code, "%s: error with a %s for its message", lua->name,
		luaL_typename(L, -1));
}

static bool begins_with(const char *message, const char *name)
{
	const size_t size = strlen(name);

	return strncmp(message, name, size) == 0 && message[size] == ':';
}

/* Does the message begin with the name of a chunk that is running? */
static bool has_place(lua_State *L, const char *message)
{
	lua_Debug ar;

	if (begins_with(message, wfs_lua_of(L)->name))
		return true;
	for (int level = 1; level <= PLACE_LEVELS_MAX && lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "S", &ar);
		if (begins_with(message, ar.short_src))
			return true;
	}
	return false;
}

/* Puts chunk and line in front of a message without them, such as one from `assert`. */
static int add_place(lua_State *L)
{
	const struct wfs_lua *const lua = wfs_lua_of(L);
	const char *message = NULL;
	lua_Debug ar;

	if (lua->stop != WFS_LUA_GOING || lua_type(L, 1) != LUA_TSTRING)
		return 1;
	message = lua_tostring(L, 1);
	if (has_place(L, message))
		return 1;
	for (int level = 1; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline > 0) {
			lua_pushfstring(L, "%s:%d: %s", ar.short_src, ar.currentline, message);
			return 1;
		}
	}
	lua_pushfstring(L, "%s: %s", lua->name, message);
	return 1;
}

/* --- building a state --- */

/* Calls @function(@context) in protected mode.
 * Return: a status of Lua; an error value is on the stack. */
static int call(struct wfs_lua *lua, lua_CFunction function, void *context)
{
	lua_State *const L = lua->state;

	/* None of these calls allocates. */
	lua_settop(L, 0);
	lua_pushcfunction(L, add_place);
	lua_pushcfunction(L, function);
	lua_pushlightuserdata(L, context);
	return lua_pcall(L, 1, 0, 1);
}

void wfs_lua_compile(lua_State *L, const char *name, struct wfs_bytes source)
{
	const char *const chunk = lua_pushfstring(L, "=%s", name);

	if (luaL_loadbufferx(L, source.data, source.size, chunk, "t") != LUA_OK)
		lua_error(L);
	wfs_lua_check_source(L, name, source);
	lua_remove(L, -2);
}

static int protected_build(lua_State *L)
{
	const struct wfs_lua *const lua = wfs_lua_of(L);

	wfs_lua_open(L);
	wfs_lua_compile(L, lua->name, (struct wfs_bytes){lua->source, lua->source_size});
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

/*
 * Calls lua_newstate() on the stack of the region. Lua makes the seed of its hashes from the
 * addresses of the new state, of a local variable and of lua_newstate, and from the time. On this
 * stack the second is constant; the program fixes the last two (kernel/box/meson.build).
 */
#if defined(__x86_64__)
lua_State *wfs_lua_newstate_on(lua_Alloc allocate, void *context, void *stack);
__asm__(".text\n"
	".type wfs_lua_newstate_on, @function\n"
	"wfs_lua_newstate_on:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov %rdx, %rsp\n"
	"	call lua_newstate@PLT\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size wfs_lua_newstate_on, .-wfs_lua_newstate_on\n");
#else
static lua_State *wfs_lua_newstate_on(lua_Alloc allocate, void *context, void *stack)
{
	(void)stack; /* without this, the seed differs from build to build */
	return lua_newstate(allocate, context);
}
#endif

/* Compiles the module in an empty region, and keeps the image of the region. */
static int build(struct wfs_lua *lua, struct wfs_error *error)
{
	int status = LUA_OK;

	lua->running = false;
	lua->stop = WFS_LUA_GOING;
	lua->stop_line = 0;
	lua->refused = false;
	lua->heap_bytes = 0;
	lua->collect_bytes = WFS_LUA_GARBAGE_BYTES;
	wfs_lua_arena_reset();
	lua->state = wfs_lua_newstate_on(wfs_lua_allocate, lua, wfs_lua_arena_stack());
	if (!lua->state) {
		lua->stop = WFS_LUA_STOP_MEMORY;
		return stop_error(lua, error);
	}
	*(struct wfs_lua **)lua_getextraspace(lua->state) = lua;
	lua_gc(lua->state, LUA_GCSTOP);
	status = call(lua, protected_build, NULL);
	if (status != LUA_OK)
		return build_error(lua, status, error);
	lua_gc(lua->state, LUA_GCCOLLECT);
	const struct wfs_bytes image = wfs_lua_arena_bytes();
	wfs_buffer_reset(&lua->image); /* an earlier attempt may have failed */
	wfs_buffer_append(&lua->image, image.data, image.size);
	lua->image_heap_bytes = lua->heap_bytes;
	return wfs_buffer_check(&lua->image)
		? wfs_error_from_errno(error, -ENOMEM, "keep '%s'", lua->name)
		: 0;
}

/* --- running --- */

void wfs_lua_trim(struct wfs_lua *lua)
{
	if (lua->image.size > WFS_LUA_MODULE_BYTES + lua->source_size * WFS_LUA_MODULE_BYTES_SOURCE)
		wfs_buffer_done(&lua->image);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		wfs_buffer_trim(&lua->output[i], SCRATCH_KEPT_BYTES);
	if (lua->member_capacity * sizeof(*lua->members) > SCRATCH_KEPT_BYTES) {
		free(lua->members);
		lua->members = NULL;
		lua->member_capacity = 0;
	}
}

/* Restores the state as it was after compiling; compiles the module if it has no image. */
static int prepare(struct wfs_lua *lua, struct wfs_error *error)
{
	if (lua->image.size == 0)
		return build(lua, error);
	wfs_lua_arena_restore(wfs_buffer_bytes(&lua->image));
	lua->heap_bytes = lua->image_heap_bytes;
	return 0;
}

/* Calls @function(@context) under the bounds. */
static int call_bounded(
	struct wfs_lua *lua, lua_CFunction function, void *context, struct wfs_error *error)
{
	int status = LUA_OK;

	lua->collect_bytes = lua->heap_bytes + WFS_LUA_GARBAGE_BYTES;
	wfs_lua_limit_start(lua);
	status = call(lua, function, context);
	if (lua->stop == WFS_LUA_GOING && status != LUA_OK &&
		(status == LUA_ERRMEM || lua->refused))
		lua->stop = WFS_LUA_STOP_MEMORY;
	if (lua->stop != WFS_LUA_GOING)
		return stop_error(lua, error);
	return status == LUA_OK ? 0 : value_error(lua, WFS_E_RUNTIME_ERROR, error);
}

static enum wfs_lua_failure failure_of(const struct wfs_lua *lua, int r)
{
	if (r == 0)
		return WFS_LUA_FAILURE_NONE;
	if (lua->stop == WFS_LUA_STOP_HOST || lua->stop == WFS_LUA_STOP_NO_MEMORY || r == -ENOMEM)
		return WFS_LUA_FAILURE_HOST;
	return lua->stop == WFS_LUA_GOING ? WFS_LUA_FAILURE_CODE : WFS_LUA_FAILURE_BOUND;
}

int wfs_lua_run(struct wfs_lua *lua, struct wfs_lua_run *run, lua_CFunction function, void *context,
	struct wfs_error *error)
{
	int r = 0;

	lua->stop = WFS_LUA_GOING;
	lua->used = 0;
	lua->used_settled = 0;
	lua->budget = run->budget;
	lua->memory_bytes = lua->limits.memory_bytes;
	if (run->memory_bytes && run->memory_bytes < lua->memory_bytes)
		lua->memory_bytes = run->memory_bytes;
	if (!wfs_lua_limit_left(lua))
		r = stop_error(lua, error);
	if (r == 0)
		r = prepare(lua, error);
	if (r == 0)
		r = call_bounded(lua, function, context, error);
	wfs_lua_limit_settle(lua);
	lua->running = false;
	lua->budget = NULL;
	run->failure = failure_of(lua, r);
	return r;
}

void wfs_lua_new_globals(lua_State *L)
{
	lua_createtable(L, 0, 4);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "_G");
	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_GLOBALS);
	lua_setmetatable(L, -2);
}

void wfs_lua_push_globals(lua_State *L)
{
	wfs_lua_new_globals(L);
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

/* The functions of which the main chunk must define one, and whether it did. */
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

/* Compiles the module, runs its main chunk, and checks that it defines one of the functions. */
static int expect(struct wfs_lua *lua, struct wfs_lua_run *run, const char *const *functions,
	struct wfs_error *error)
{
	struct expectation expectation = {.functions = functions};
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	int r = 0;

	r = wfs_lua_run(lua, run, protected_expect, &expectation, error);
	if (r < 0 || expectation.met)
		return r;
	for (const char *const *name = functions; *name; name++)
		wfs_buffer_printf(&names, "%s'%s'", name == functions ? "" : " or ", *name);
	run->failure = WFS_LUA_FAILURE_CODE;
	return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
		"%s: expected a global function %s, found none", lua->name,
		wfs_buffer_text(&names));
}

static int copy_source(struct wfs_lua *lua, const struct wfs_lua_options *options)
{
	lua->name = strndup(options->name, NAME_SHOWN_BYTES);
	lua->source = malloc(options->source.size + 1);
	lua->source_size = options->source.size;
	if (!lua->name || !lua->source)
		return -ENOMEM;
	if (options->source.size > 0)
		memcpy(lua->source, options->source.data, options->source.size);
	return 0;
}

int wfs_lua_new(const struct wfs_lua_options *options, struct wfs_lua_run *run,
	struct wfs_lua **ret_lua, struct wfs_error *error)
{
	WFS_AUTO_LUA struct wfs_lua *lua = NULL;
	int r = 0;

	run->failure = WFS_LUA_FAILURE_CODE;
	if (options->source.size > WFS_LUA_SOURCE_MAX)
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: %zu bytes, the greatest size of a module is %d", options->name,
			options->source.size, (int)WFS_LUA_SOURCE_MAX);
	lua = calloc(1, sizeof(*lua));
	if (!lua || copy_source(lua, options) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", options->name);
	lua->limits = options->limits;
	lua->budget_of = options->program ? "invocation" : "event";
	lua->bindings = options->bindings;
	lua->binding_count = options->binding_count;
	/* Each run is charged for its source, compiled now or not, and for the instructions up to
	 * the first look at the bounds, before which a call may end. */
	if (options->program)
		lua->run_charge =
			WFS_LUA_HOOK_PERIOD + options->source.size * WFS_LUA_CHARGE_SOURCE_BYTE;
	run->failure = WFS_LUA_FAILURE_NONE;
	if (options->functions)
		r = expect(lua, run, options->functions, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_lua = WFS_STEAL(lua);
	return 0;
}

void wfs_lua_free(struct wfs_lua *lua)
{
	if (!lua)
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(lua->output); i++)
		wfs_buffer_done(&lua->output[i]);
	wfs_buffer_done(&lua->image);
	free(lua->members);
	free(lua->source);
	free(lua->name);
	free(lua);
}
