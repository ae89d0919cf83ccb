/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of kernel/lua/ share; private to this folder.
 *
 * lua.c          life of a sandbox, running in it
 * lua-step.c     modules of reducers, one step
 * lua-program.c  code of artifacts, one call
 * lua-arena.c    the memory of all that, at a fixed address
 * lua-host.c     the functions of its host
 * lua-module.c   modules that its host gives
 * lua-source.c   what Lua compiles and should not
 * lua-limit.c    allocator, counter, collection of garbage, the stop that nothing catches
 * lua-json.c     values to Lua and back to canonical text
 * lua-read.c     canonical text to Lua
 * lua-library.c  the environment: protected proxies, what each global is
 * lua-text.c     strings that grow
 * lua-stock.c    functions of Lua's own library, each with a charge
 * lua-base.c lua-metatable.c lua-pairs.c lua-random.c lua-table.c lua-string.c lua-format.c
 * lua-pattern.c  the other functions; lua-match.c is the matcher of lua-pattern.c
 *
 * Bounds. Everything a module can make the processor do is charged to one counter: the count hook
 * adds the instructions, library functions and large allocations add their own work. Reaching a
 * bound *stops* the state: the stop is remembered outside of Lua, every error-catching function
 * raises it again, the hook fires at every instruction, and the state is thrown away afterwards.
 */
#pragma once

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/lua/lua.h"

/* Why a state stopped. The order has no meaning. */
enum wfs_lua_stop {
	WFS_LUA_GOING,
	WFS_LUA_STOP_INSTRUCTIONS,
	WFS_LUA_STOP_MEMORY,
	WFS_LUA_STOP_TIME,      /* processor time: what the counter cannot see */
	WFS_LUA_STOP_NO_MEMORY, /* malloc failed: the machine's fault, not the module's */
	WFS_LUA_STOP_HOST,      /* a function of the host failed */
};

/* Registry slots. Integers, because these are the cheapest registry keys. */
enum wfs_lua_slot {
	WFS_LUA_SLOT_MAIN = 16, /* the compiled main chunk */
	WFS_LUA_SLOT_GLOBALS,   /* metatable of a step's globals: reads fall to the library */
	WFS_LUA_SLOT_ARRAY,     /* marker metatables */
	WFS_LUA_SLOT_OBJECT,    /* */
	WFS_LUA_SLOT_MODULES,   /* what modules of the host returned in this run, by name */
};

enum {
	WFS_LUA_HOOK_PERIOD = 1000,        /* instructions between two looks at the bounds */
	WFS_LUA_GARBAGE_BYTES = 256 << 10, /* kept before it is collected */
	WFS_LUA_IDLE_BYTES = 4 << 20,      /* beyond the module: collected when the host is asked */
	WFS_LUA_CHARGE_BYTES = 32,         /* copied or compared for one instruction */
	WFS_LUA_CHARGE_JSON_BYTES = 8,     /* read, written or hashed for one of a budget */
	WFS_LUA_CHARGE_SOURCE_BYTE = 4,    /* compiled */
	WFS_LUA_MATCH_DEPTH_MAX = 200,     /* nesting of the pattern matcher */
};

/* One member name while an object is sorted. `slot`: stack index of its value, 0: look it up. */
struct wfs_lua_member {
	const char *text;
	size_t size;
	int slot;
};

/* A call of a program while it runs. */
struct wfs_lua_calling {
	struct wfs_lua_call *call;
	bool open;              /* the main chunk has ended: the host may be asked */
	int host_result;        /* negative: the host failed */
	struct wfs_error error; /* of the host */
};

struct wfs_lua {
	struct wfs_lua_limits limits;
	char *name;   /* owned */
	char *source; /* owned */
	size_t source_size;
	const char *budget_of;   /* what a budget is for, in messages: "event" */
	lua_State *state;        /* in the region, which holds this module while it runs */
	struct wfs_buffer image; /* of the region after compiling; empty: not compiled yet */
	size_t image_heap_bytes; /* `heap_bytes` then */

	/* Bounds of the run in progress. */
	bool running;           /* user code may run; the hook and the charges are on */
	bool armed;             /* the hook was asked to fire at the next instruction */
	bool refused;           /* the allocator refused; Lua is collecting and will ask again */
	bool collected;         /* Lua collected on its own since the last safe point */
	enum wfs_lua_stop stop; /* set once a run */
	int stop_line;          /* 0: not in Lua code */
	uint64_t instructions;  /* bound: that of a step, or less when the budget has less left */
	uint64_t used;          /* instructions and what was charged like them */
	uint64_t used_checked;  /* `used` at the last safe point */
	uint64_t used_settled;  /* `used` as far as the budget knows of it */
	size_t memory_bytes;    /* bound: limits.memory_bytes, or less */
	size_t heap_bytes;      /* live and garbage */
	size_t collect_bytes;   /* collect when the heap is above */
	uint64_t run_charge;    /* what each run costs before it begins */
	int64_t time_start_ns;  /* processor time at the first safe point; 0: none yet */
	char stop_name[LUA_IDSIZE]; /* of the chunk with `stop_line` */

	struct wfs_lua_budget *budget; /* of the run; may be NULL */
	int64_t budget_start_ns;       /* processor time when it was settled last; 0: not counted */
	const uint8_t *seed;           /* of the run; NULL once `random` was made from it */
	uint64_t random[4];            /* xoshiro256** of ctx.random() */

	/* Of a program. */
	const struct wfs_lua_binding *bindings;
	size_t binding_count;
	struct wfs_lua_calling *calling; /* NULL: it does not run */

	/* Scratch of the writer. */
	struct wfs_buffer output[3]; /* state, events, effects */
	struct wfs_lua_member *members;
	size_t member_count;
	size_t member_capacity;
};

/* The sandbox that a state belongs to. */
static inline struct wfs_lua *wfs_lua_of(lua_State *L)
{
	return *(struct wfs_lua **)lua_getextraspace(L);
}

/* --- lua.c --- */

/**
 * wfs_lua_run() - call @function with @context as light userdata, protected and under the bounds
 *
 * Puts the region back to how it was after compiling, or compiles, and counts against the budget of @run.
 * What stopped the run stays in lua->stop until the next one.
 * @run: of the run; its failure is set
 * Return: 0, -EINVAL (syntax_error: the source does not compile), -EIO (runtime_error), -ENOMEM.
 */
int wfs_lua_run(struct wfs_lua *lua, struct wfs_lua_run *run, lua_CFunction function, void *context,
	struct wfs_error *error);

/** wfs_lua_compile() - push the chunk of a source; raises when it does not compile, or keeps no bounds.
 *  @name: of the chunk, for messages */
void wfs_lua_compile(lua_State *L, const char *name, struct wfs_bytes source);

/** wfs_lua_new_globals() - push globals that have nothing of their own but `_G`. */
void wfs_lua_new_globals(lua_State *L);

/** wfs_lua_push_globals() - run the main chunk in fresh globals, and push these. */
void wfs_lua_push_globals(lua_State *L);

/** wfs_lua_push_function() - push the function @name of the table at @globals, raw. Return: false,
 *  with nothing pushed, when it is none. */
bool wfs_lua_push_function(lua_State *L, int globals, const char *name);

/* --- lua-source.c --- */

/** wfs_lua_check_source() - raise unless @source, which Lua has compiled, keeps its bounds. */
void wfs_lua_check_source(lua_State *L, const char *name, struct wfs_bytes source);

/* --- lua-arena.c --- */

/** wfs_lua_arena_reset() - forget all that is in the region. */
void wfs_lua_arena_reset(void);

/** wfs_lua_arena_stack() - the upper end of a stack in the region. */
void *wfs_lua_arena_stack(void);

/** wfs_lua_arena_bytes() - the part of the region that is used; a copy of it can be put back. */
struct wfs_bytes wfs_lua_arena_bytes(void);

/** wfs_lua_arena_restore() - put a copy back. */
void wfs_lua_arena_restore(struct wfs_bytes image);

/** wfs_lua_arena_resize() - malloc, realloc and free in one; sizes are 0 where there is no block.
 *  Return: the block, or NULL (the region is full, or @new_size 0). */
void *wfs_lua_arena_resize(void *data, size_t old_size, size_t new_size);

/* --- lua-limit.c --- */

/** wfs_lua_allocate() - the lua_Alloc of every state; @context is the struct wfs_lua. */
void *wfs_lua_allocate(void *context, void *block, size_t old_size, size_t new_size);

/** wfs_lua_limit_start() - zero the counters; user code may run from here on. */
void wfs_lua_limit_start(struct wfs_lua *lua);

/** wfs_lua_limit_left() - has the budget anything left for another step? Counts it, and sets
 *  `stop` when not. */
bool wfs_lua_limit_left(struct wfs_lua *lua);

/** wfs_lua_limit_settle() - tell the budget what was used since it was told last. */
void wfs_lua_limit_settle(struct wfs_lua *lua);

/** wfs_lua_limit_resume() - others may have used the budget since it was settled. */
void wfs_lua_limit_resume(struct wfs_lua *lua);

/** wfs_lua_limit_memory_left() - of a state that waits in a C function, for others. */
size_t wfs_lua_limit_memory_left(struct wfs_lua *lua);

/** wfs_lua_charge() - count work of a library function; raises when a bound is reached. */
void wfs_lua_charge(lua_State *L, uint64_t count);

/** wfs_lua_charge_bytes() - the same for bytes copied, compared or scanned. */
static inline void wfs_lua_charge_bytes(lua_State *L, size_t size)
{
	wfs_lua_charge(L, 1 + size / WFS_LUA_CHARGE_BYTES);
}

/** wfs_lua_raise_stop() - raise again what stopped the state. */
_Noreturn void wfs_lua_raise_stop(lua_State *L);

/** wfs_lua_stop_now() - stop the state for @stop and raise. */
_Noreturn void wfs_lua_stop_now(lua_State *L, enum wfs_lua_stop stop);

/* --- lua-read.c --- */

/** wfs_lua_push_json() - push the value of a canonical text, charged; raises when it is not canonical. */
void wfs_lua_push_json(lua_State *L, struct wfs_bytes text);

/**
 * wfs_lua_read_json() - push the value of a canonical text, with or without a newline after it
 * @scratch: overwritten
 * Return: true; false with nothing pushed when @text is not in canonical form.
 */
bool wfs_lua_read_json(lua_State *L, struct wfs_bytes text, struct wfs_buffer *scratch);

/* --- lua-json.c --- */

/**
 * wfs_lua_write_json() - make @buffer hold the canonical text of the value at @index, and no more
 * @what: what the value is, begins every message, e.g. "new state"
 * @array: an empty unmarked table is an array here
 * Raises when it is not JSON (the message says where) or the text exceeds limits.output_bytes.
 */
void wfs_lua_write_json(
	lua_State *L, int index, struct wfs_buffer *buffer, const char *what, bool array);

/** wfs_lua_write_element() - append the text of one element of an array that the caller writes
 *  Raises as wfs_lua_write_json(). */
void wfs_lua_write_element(lua_State *L, int index, struct wfs_buffer *buffer, const char *what);

/* --- lua-pairs.c --- */

typedef bool wfs_lua_key_test(lua_State *L, int index);

/**
 * wfs_lua_push_least_key() - push the first key of the table at @index that @wanted accepts
 *
 * In the order of `pairs`, then keys without an order by the names of their types. A message that names
 * a key names this one: Lua's own order differs between processes.
 * @wanted: pushes nothing
 * Return: false, with nothing pushed, when it accepts none.
 */
bool wfs_lua_push_least_key(lua_State *L, int index, wfs_lua_key_test *wanted);

/* --- lua-library.c --- */

/** wfs_lua_open() - build the read-only environment and the registry slots. */
void wfs_lua_open(lua_State *L);

/** wfs_lua_protect() - replace the table on top by a read-only proxy that hides it. */
void wfs_lua_protect(lua_State *L);

/**
 * wfs_lua_push_stable() - push a C function that code can reach
 *
 * It is pushed as a closure, an object of the region: the address of a bare C function differs from build to build, and the
 * place of a table's key follows from the key's address.
 */
void wfs_lua_push_stable(lua_State *L, lua_CFunction function);

/** wfs_lua_push_context() - push a step's `ctx`. */
void wfs_lua_push_context(lua_State *L, const struct wfs_lua_step *step);

/** wfs_lua_push_call_context() - push a call's `ctx`. */
void wfs_lua_push_call_context(lua_State *L, const struct wfs_lua_call *call);

/* --- lua-host.c --- */

/** wfs_lua_open_host() - add the functions of lua->bindings to the environment on top. */
void wfs_lua_open_host(lua_State *L);

/** wfs_lua_ask_host() - ask with what is on the stack from @first on, and leave the answer there instead; raises. */
void wfs_lua_ask_host(lua_State *L, size_t binding_index, const char *name, int first);

/* --- lua-module.c --- */

/** wfs_lua_push_module_function() - push the function of a row that `gives_module`. */
void wfs_lua_push_module_function(lua_State *L, size_t binding_index);

/* --- lua-text.c: a growing string --- */

enum { WFS_LUA_TEXT_SMALL_BYTES = 512 };

/*
 * A string while it is being put together. Unlike luaL_Buffer it grows through ordinary objects, so
 * that Lua collects before it gives up. Lives on the C stack; occupies one slot of the Lua stack.
 */
struct wfs_lua_text {
	lua_State *L;
	char *data; /* `small`, or a userdata in the slot */
	size_t size;
	size_t capacity_bytes;
	int slot;
	char small[WFS_LUA_TEXT_SMALL_BYTES];
};

/** wfs_lua_text_start() - empty; pushes the slot. */
void wfs_lua_text_start(lua_State *L, struct wfs_lua_text *text);
void wfs_lua_text_append(struct wfs_lua_text *text, const char *data, size_t size);
void wfs_lua_text_append_byte(struct wfs_lua_text *text, char byte);

/** wfs_lua_text_room() - @size bytes to be written by the caller; they count as appended. */
char *wfs_lua_text_room(struct wfs_lua_text *text, size_t size);

/** wfs_lua_text_push() - push what was put together. */
void wfs_lua_text_push(struct wfs_lua_text *text);

/* --- functions of the environment, by file --- */

extern const luaL_Reg wfs_lua_base[];      /* lua-base.c */
extern const luaL_Reg wfs_lua_metatable[]; /* lua-metatable.c */
extern const luaL_Reg wfs_lua_pairs[];     /* lua-pairs.c */
extern const luaL_Reg wfs_lua_table[];     /* lua-table.c */
extern const luaL_Reg wfs_lua_string[];    /* lua-string.c */
extern const luaL_Reg wfs_lua_pattern[];   /* lua-pattern.c; joins `string` */
extern const luaL_Reg wfs_lua_utf8[];      /* lua-string.c */

int wfs_lua_format(lua_State *L); /* lua-format.c: string.format */

/** wfs_lua_add_stock() - add functions of Lua's own @library to the table on top (lua-stock.c). */
void wfs_lua_add_stock(lua_State *L, const char *library);

/** wfs_lua_random() - ctx.random (lua-random.c) */
int wfs_lua_random(lua_State *L);

/** wfs_lua_push_text() - push the value at @index as `tostring` shows it: never an address. */
const char *wfs_lua_push_text(lua_State *L, int index, size_t *ret_size);

/**
 * wfs_lua_position() - a start index as the string functions take it, made 1-based and positive
 * @position: as given; negative counts from the end
 * Return: 1 … ; may be beyond @size.
 */
size_t wfs_lua_position(lua_Integer position, size_t size);
