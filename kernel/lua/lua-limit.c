/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of a run.
 *
 * Garbage is collected at *safe points* only (the count hook, and charges of library functions),
 * and not when Lua decides to, so that each collection is charged.
 *
 * Memory: the bound applies to live memory. When the allocator refuses, Lua collects everything and
 * asks again; only the second refusal stops the state. The first arms the hook, so that the
 * collection is charged at the next instruction.
 *
 * Single instructions can be slow without being counted (comparing two strings of 30 MiB). A bound
 * on processor time, far above what ordinary instructions take, catches those.
 *
 * A request of many steps also has a *budget* of instructions, from which a bound on processor time
 * follows. Time is measured from the second step on: most requests have one step, and reading the
 * clock costs as much as a small step.
 */
#include <stdlib.h>
#include <time.h>

#include "kernel/lua/lua-impl.h"

enum {
	LARGE_BYTES = 1024,           /* allocations of this size and above are charged */
	COLLECTION_CHARGE_BYTES = 64, /* of live memory, for one instruction of a collection */
	NS_PER_SECOND = 1000 * 1000 * 1000,
};

static void on_count(lua_State *L, lua_Debug *ar);

/* Makes the hook fire at the next instruction. lua_sethook may be called at any moment. */
static void arm(struct wfs_lua *lua)
{
	if (!lua->running || lua->armed)
		return;
	lua->armed = true;
	lua_sethook(lua->state, on_count, LUA_MASKCOUNT, 1);
}

static void set_stop(struct wfs_lua *lua, enum wfs_lua_stop stop)
{
	if (lua->stop == WFS_LUA_GOING)
		lua->stop = stop;
	arm(lua);
}

/* May the heap grow to this size? */
static bool admit(struct wfs_lua *lua, size_t heap_bytes)
{
	if (heap_bytes <= lua->memory_bytes) {
		lua->refused = false;
		return true;
	}
	if (lua->refused) {
		set_stop(lua, WFS_LUA_STOP_MEMORY);
	} else {
		lua->refused = true;
		lua->collected = true;
		arm(lua);
	}
	return false;
}

static void *grow(struct wfs_lua *lua, void *block, size_t old_size, size_t new_size)
{
	void *larger = NULL;

	if (!admit(lua, lua->heap_bytes + (new_size - old_size)))
		return NULL;
	larger = wfs_lua_arena_resize(block, old_size, new_size);
	if (!larger) {
		/* The region is too fragmented: treated as if the bound had been reached. */
		set_stop(lua, WFS_LUA_STOP_MEMORY);
		return NULL;
	}
	lua->heap_bytes += new_size - old_size;
	if (new_size >= LARGE_BYTES)
		lua->used += new_size / COLLECTION_CHARGE_BYTES;
	if (lua->heap_bytes > lua->collect_bytes || lua->used > lua->instructions)
		arm(lua);
	return larger;
}

void *wfs_lua_allocate(void *context, void *block, size_t old_size, size_t new_size)
{
	struct wfs_lua *const lua = context;
	void *smaller = NULL;

	if (!block)
		old_size = 0; /* for a new block, Lua passes the type of the object here */
	if (new_size > old_size)
		return grow(lua, block, old_size, new_size);

	lua->heap_bytes -= old_size - new_size;
	if (!block)
		return NULL;
	smaller = wfs_lua_arena_resize(block, old_size, new_size);
	return smaller || new_size == 0 ? smaller : block;
}

static void note_place(lua_State *L, struct wfs_lua *lua)
{
	lua_Debug ar;

	for (int level = 0; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline > 0) {
			memcpy(lua->stop_name, ar.short_src, sizeof(lua->stop_name));
			lua->stop_line = ar.currentline;
			return;
		}
	}
	lua->stop_line = 0;
}

/* Raises nil as the error value: pushing another value could fail for lack of memory. */
void wfs_lua_raise_stop(lua_State *L)
{
	lua_pushnil(L);
	lua_error(L);
	abort(); /* not reached: lua_error does not return */
}

void wfs_lua_stop_now(lua_State *L, enum wfs_lua_stop stop)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	if (lua->stop == WFS_LUA_GOING)
		note_place(L, lua);
	set_stop(lua, stop);
	wfs_lua_raise_stop(L);
}

static void collect(struct wfs_lua *lua)
{
	size_t room = WFS_LUA_GARBAGE_BYTES;

	lua_gc(lua->state, LUA_GCCOLLECT);
	if (room < lua->heap_bytes)
		room = lua->heap_bytes;
	lua->collect_bytes = lua->heap_bytes + room;
}

static int64_t processor_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static bool budget_time_is_up(const struct wfs_lua *lua, int64_t now)
{
	return lua->budget_start_ns != 0 &&
		(int64_t)lua->budget->time_used_ns + now - lua->budget_start_ns >
		wfs_lua_time_limit_ns(lua->budget->instructions);
}

static bool time_is_up(struct wfs_lua *lua)
{
	const int64_t now = processor_time_ns();

	if (lua->time_start_ns == 0)
		lua->time_start_ns = now;
	return now - lua->time_start_ns > wfs_lua_time_limit_ns(lua->limits.instructions) ||
		budget_time_is_up(lua, now);
}

static void safe_point(lua_State *L)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	if (lua->stop != WFS_LUA_GOING)
		wfs_lua_stop_now(L, lua->stop);
	if (lua->collected || lua->heap_bytes > lua->collect_bytes) {
		if (!lua->collected)
			collect(lua);
		lua->collected = false;
		lua->used += lua->heap_bytes / COLLECTION_CHARGE_BYTES;
	}
	if (lua->used > lua->instructions)
		wfs_lua_stop_now(L, WFS_LUA_STOP_INSTRUCTIONS);
	if (time_is_up(lua))
		wfs_lua_stop_now(L, WFS_LUA_STOP_TIME);
	lua->used_checked = lua->used;
	if (lua->armed) {
		lua->armed = false;
		lua_sethook(L, on_count, LUA_MASKCOUNT, WFS_LUA_HOOK_PERIOD);
	}
}

static void on_count(lua_State *L, lua_Debug *ar)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	(void)ar;
	if (!lua->armed)
		lua->used += WFS_LUA_HOOK_PERIOD;
	safe_point(L);
}

void wfs_lua_charge(lua_State *L, uint64_t count)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	lua->used += count;
	if (lua->running && (lua->armed || lua->used - lua->used_checked >= WFS_LUA_HOOK_PERIOD))
		safe_point(L);
}

static uint64_t budget_left(const struct wfs_lua_budget *budget)
{
	return budget->used < budget->instructions ? budget->instructions - budget->used : 0;
}

bool wfs_lua_limit_left(struct wfs_lua *lua)
{
	struct wfs_lua_budget *const budget = lua->budget;

	lua->budget_start_ns = 0;
	if (!budget || budget->step_count++ == 0)
		return true;
	lua->budget_start_ns = processor_time_ns();
	lua->stop_line = 0;
	if (budget_left(budget) == 0)
		lua->stop = WFS_LUA_STOP_INSTRUCTIONS;
	else if (budget_time_is_up(lua, lua->budget_start_ns))
		lua->stop = WFS_LUA_STOP_TIME;
	else
		return true;
	lua->instructions = 0;
	return false;
}

void wfs_lua_limit_resume(struct wfs_lua *lua)
{
	const uint64_t own = lua->limits.instructions;
	const uint64_t left = lua->budget ? budget_left(lua->budget) : UINT64_MAX;

	lua->instructions = own;
	if (lua->used_settled < own && left < own - lua->used_settled)
		lua->instructions = lua->used_settled + left;
	if (lua->used >= lua->instructions)
		arm(lua);
}

size_t wfs_lua_limit_memory_left(struct wfs_lua *lua)
{
	if (lua->heap_bytes > lua->image_heap_bytes + WFS_LUA_IDLE_BYTES) {
		collect(lua);
		/* The next safe point charges the collection. */
		lua->collected = true;
		arm(lua);
	}
	return lua->heap_bytes < lua->memory_bytes ? lua->memory_bytes - lua->heap_bytes : 0;
}

void wfs_lua_limit_start(struct wfs_lua *lua)
{
	lua->running = true;
	lua->armed = false;
	lua->refused = false;
	lua->collected = false;
	lua->stop = WFS_LUA_GOING;
	lua->stop_line = 0;
	lua->used = lua->run_charge;
	lua->used_checked = lua->used;
	lua->used_settled = 0;
	lua->time_start_ns = 0;
	lua_sethook(lua->state, on_count, LUA_MASKCOUNT, WFS_LUA_HOOK_PERIOD);
	wfs_lua_limit_resume(lua);
}

void wfs_lua_limit_settle(struct wfs_lua *lua)
{
	if (lua->budget)
		lua->budget->used += lua->used - lua->used_settled;
	lua->used_settled = lua->used;
	if (lua->budget && lua->budget_start_ns) {
		const int64_t now = processor_time_ns();

		lua->budget->time_used_ns += (uint64_t)(now - lua->budget_start_ns);
		lua->budget_start_ns = now;
	}
}
