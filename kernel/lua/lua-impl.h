/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/lua/: what its files share.
 *
 * lua.c          making sandboxes, and running functions in them
 * lua-step.c     modules of reducers: one step
 * lua-program.c  code of artifacts: one call
 * lua-arena.c    the memory of all Lua states, at a fixed address
 * lua-host.c     functions of the host
 * lua-module.c   modules whose source the host returns
 * lua-source.c   source that Lua compiles but must not run
 * lua-limit.c    allocator, counters, garbage collection, and stops, which no code can catch
 * lua-json.c     Lua values to canonical text
 * lua-read.c     canonical text to Lua values
 * lua-library.c  the environment: read-only proxies of libraries, and the globals
 * lua-text.c     strings that grow
 * lua-stock.c    functions of Lua's own library, each with a charge
 * lua-base.c lua-metatable.c lua-pairs.c lua-random.c lua-table.c lua-string.c lua-format.c
 * lua-pattern.c  the other functions; lua-match.c is the matcher of lua-pattern.c
 *
 * To push is to push onto the stack of @L, to raise is to raise a Lua error there. The region is
 * the memory at a fixed address in which all Lua states are (lua-arena.c). The main chunk is the
 * function that Lua makes of a module's source; a registry slot of the state has it.
 *
 * Bounds. All processor work that a module can cause is charged to one counter: the count hook adds
 * the instructions, and library functions and large allocations add their own work. Reaching a
 * bound *stops* the state: the stop is stored outside of Lua, every error-catching function raises
 * it again, the hook fires at every instruction, and the state is discarded afterwards.
 */
#pragma once

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/lua/lua.h"

/* Why a state stopped. The order of the constants has no meaning. */
enum wfs_lua_stop {
	WFS_LUA_GOING,
	WFS_LUA_STOP_INSTRUCTIONS,
	WFS_LUA_STOP_MEMORY,
	WFS_LUA_STOP_TIME,      /* processor time, for work that the counter cannot see */
	WFS_LUA_STOP_NO_MEMORY, /* malloc failed, which is not the module's fault */
	WFS_LUA_STOP_HOST,      /* a function of the host failed */
};

/* Registry slots. Integers, because these are the fastest registry keys. */
enum wfs_lua_slot {
	WFS_LUA_SLOT_MAIN = 16, /* the compiled main chunk */
	WFS_LUA_SLOT_GLOBALS,   /* metatable of a run's globals: reads fall back to the library */
	WFS_LUA_SLOT_ARRAY,     /* metatable that marks arrays */
	WFS_LUA_SLOT_OBJECT,    /* metatable that marks objects */
	WFS_LUA_SLOT_MODULES,   /* what modules of the host returned in this run, by name */
};

enum {
	WFS_LUA_HOOK_PERIOD = 1000,        /* instructions between two checks of the bounds */
	WFS_LUA_GARBAGE_BYTES = 256 << 10, /* garbage that is kept before a collection */
	WFS_LUA_IDLE_BYTES = 4 << 20,      /* garbage that is kept while the host works */
	WFS_LUA_CHARGE_BYTES = 32,         /* copied or compared bytes that cost one instruction */
	WFS_LUA_CHARGE_JSON_BYTES = 8,     /* JSON bytes that cost a budget one instruction */
	WFS_LUA_CHARGE_SOURCE_BYTE = 4,    /* instructions for compiling one byte */
	WFS_LUA_MATCH_DEPTH_MAX = 200,     /* nesting of the pattern matcher */
};

/* A member of an object that is sorted. `slot`: stack index of its value, 0: look it up by name. */
struct wfs_lua_member {
	const char *text;
	size_t size;
	int slot;
};

/* A call of a program in progress. */
struct wfs_lua_calling {
	struct wfs_lua_call *call;
	bool open;              /* the main chunk has ended: the program may call the host */
	int host_result;        /* negative: the host failed */
	struct wfs_error error; /* of the host */
};

struct wfs_lua {
	struct wfs_lua_limits limits;
	char *name;   /* owned */
	char *source; /* owned */
	size_t source_size;
	const char *budget_of;   /* what a budget is for, in messages: "event" */
	lua_State *state;        /* in the region, which holds this module during a run only */
	struct wfs_buffer image; /* of the region after compiling; empty: not compiled yet */
	size_t image_heap_bytes; /* `heap_bytes` of that image */

	/* Bounds of the run in progress. */
	bool running;           /* user code may run; the hook and the charges are on */
	bool armed;             /* the hook will fire at the next instruction */
	bool refused;           /* the allocator refused once; Lua collects, and asks again */
	bool collected;         /* Lua collected by itself since the last safe point */
	enum wfs_lua_stop stop; /* the first stop of the run */
	int stop_line;          /* 0: not in Lua code */
	uint64_t instructions;  /* bound: that of the limits, or less if the budget has less left */
	uint64_t used;          /* instructions, and work that is charged like them */
	uint64_t used_checked;  /* `used` at the last safe point, where bounds are checked */
	uint64_t used_settled;  /* the part of `used` that is charged to the budget */
	size_t memory_bytes;    /* bound: limits.memory_bytes, or less */
	size_t heap_bytes;      /* live objects and garbage */
	size_t collect_bytes;   /* a larger heap is collected at the next safe point */
	uint64_t run_charge;    /* instructions that each run costs before it begins */
	int64_t time_start_ns;  /* processor time at the first safe point; 0: none so far */
	char stop_name[LUA_IDSIZE]; /* of the chunk with `stop_line` */

	struct wfs_lua_budget *budget; /* of the run; may be NULL */
	int64_t budget_start_ns;       /* processor time when it was last settled; 0: not counted */
	const uint8_t *seed;           /* of the run; NULL after `random` was made from it */
	uint64_t random[4];            /* xoshiro256** of ctx.random() */

	/* For programs only. */
	const struct wfs_lua_binding *bindings;
	size_t binding_count;
	struct wfs_lua_calling *calling; /* NULL: no call is in progress */

	/* Scratch memory of the JSON writer. */
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

/** wfs_lua_run() - call the C function @function in the sandbox, protected and under the bounds
 *  First restores the region as it was after compiling, or compiles, if lua->image is empty;
 *  charges run->budget. If the run was stopped, lua->stop says why until the next run.
 *  @run: run->failure is set
 *  @context: the argument of @function, as light userdata
 *  Return: 0, -EINVAL (syntax_error: the source does not compile), -EIO (runtime_error: the code
 *  failed, or a bound was hit), -ENOMEM, or the negative errno of a function of the host. */
int wfs_lua_run(struct wfs_lua *lua, struct wfs_lua_run *run, lua_CFunction function, void *context,
	struct wfs_error *error);

/** wfs_lua_compile() - compile @source and push the chunk; raises if @source does not compile, or a
 *  bound is exceeded. @name: of the chunk, for messages */
void wfs_lua_compile(lua_State *L, const char *name, struct wfs_bytes source);

/** wfs_lua_new_globals() - push a globals table with nothing of its own except `_G`; reads of other
 *  names fall back to the read-only environment. */
void wfs_lua_new_globals(lua_State *L);

/** wfs_lua_push_globals() - make a new globals table, run the main chunk (WFS_LUA_SLOT_MAIN) with
 *  it, and push the table; raises what the chunk raises. */
void wfs_lua_push_globals(lua_State *L);

/** wfs_lua_push_function() - push the function that the table at index @globals has under @name,
 *  without calling metamethods. Return: false, with nothing pushed, if the value is not a
 *  function. */
bool wfs_lua_push_function(lua_State *L, int globals, const char *name);

/* --- lua-source.c --- */

/** wfs_lua_check_source() - raise if @source, which Lua has compiled, has more than 200 indices in
 *  a row, such as the two of `a.b[1]` (lua-source.c says why). @name: of the chunk, for messages */
void wfs_lua_check_source(lua_State *L, const char *name, struct wfs_bytes source);

/* --- lua-arena.c --- */

/** wfs_lua_arena_reset() - empty the region: all blocks in it are free then. */
void wfs_lua_arena_reset(void);

/** wfs_lua_arena_stack() - Return: the upper end of that part of the region which is the C stack
 *  while lua_newstate() runs (wfs_lua_newstate_on()). */
void *wfs_lua_arena_stack(void);

/** wfs_lua_arena_bytes() - Return: the used part of the region, borrowed until the region changes.
 *  The caller can copy it, for wfs_lua_arena_restore(). */
struct wfs_bytes wfs_lua_arena_bytes(void);

/** wfs_lua_arena_restore() - copy @image, a copy of wfs_lua_arena_bytes(), back into the region. */
void wfs_lua_arena_restore(struct wfs_bytes image);

/** wfs_lua_arena_resize() - allocate a block in the region (@old_size is 0, and @data is not used),
 *  free the block @data (@new_size is 0), or change its size
 *  @old_size: the size that @data has now. Return: the block, which may have moved; NULL: @data was
 *  freed, or the region is full, and @data stays as it is. */
void *wfs_lua_arena_resize(void *data, size_t old_size, size_t new_size);

/* --- lua-limit.c --- */

/** wfs_lua_allocate() - allocate, resize or free a block by wfs_lua_arena_resize(), count the
 *  memory, and refuse what exceeds the bound; the lua_Alloc function of every state
 *  @context: the struct wfs_lua. Return: the block, or NULL (refused, or freed). */
void *wfs_lua_allocate(void *context, void *block, size_t old_size, size_t new_size);

/** wfs_lua_limit_start() - begin a run: reset the counters, and turn on the hook and the
 *  charges. */
void wfs_lua_limit_start(struct wfs_lua *lua);

/** wfs_lua_limit_left() - count one more run in lua->budget. Return: true, also without a budget;
 *  false, with lua->stop set, if the budget's instructions or processor time are used up. */
bool wfs_lua_limit_left(struct wfs_lua *lua);

/** wfs_lua_limit_settle() - charge the budget, if the run has one, for the instructions and the
 *  processor time that the run has used since the last call. */
void wfs_lua_limit_settle(struct wfs_lua *lua);

/** wfs_lua_limit_resume() - after a call of the host, in which other runs may have used the budget:
 *  set the run's bound on instructions, lua->instructions, to no more than the budget has left. */
void wfs_lua_limit_resume(struct wfs_lua *lua);

/** wfs_lua_limit_memory_left() - Return: the bytes of memory that this run, which waits for its
 *  host, leaves to the runs that the host starts meanwhile. */
size_t wfs_lua_limit_memory_left(struct wfs_lua *lua);

/** wfs_lua_charge() - charge @count instructions for work of a library function; raises if the
 *  charge exceeds a bound. */
void wfs_lua_charge(lua_State *L, uint64_t count);

/** wfs_lua_charge_bytes() - charge for @size bytes that are copied, compared or scanned. */
static inline void wfs_lua_charge_bytes(lua_State *L, size_t size)
{
	wfs_lua_charge(L, 1 + size / WFS_LUA_CHARGE_BYTES);
}

/** wfs_lua_raise_stop() - raise the error of the stop again, in a state that was stopped. */
_Noreturn void wfs_lua_raise_stop(lua_State *L);

/** wfs_lua_stop_now() - stop the state because of @stop, and raise an error that no code can
 *  catch. */
_Noreturn void wfs_lua_stop_now(lua_State *L, enum wfs_lua_stop stop);

/* --- lua-read.c --- */

/** wfs_lua_push_json() - charge for the bytes of @text, and push its value as wfs_lua_read_json()
 *  does; raises if @text is not canonical or nested too deep. Overwrites lua->output[1]. */
void wfs_lua_push_json(lua_State *L, struct wfs_bytes text);

/** wfs_lua_read_json() - push the Lua value of a canonical JSON text, with or without a newline
 *  after it; charges nothing
 *  @scratch: overwritten. Return: true; false, with nothing pushed, if @text is not canonical or
 *  nested too deep. */
bool wfs_lua_read_json(lua_State *L, struct wfs_bytes text, struct wfs_buffer *scratch);

/* --- lua-json.c --- */

/** wfs_lua_write_json() - replace the contents of @buffer by the canonical JSON text of the value
 *  at @index
 *  Raises if the value is not JSON (the message says where) or the text exceeds
 *  limits.output_bytes.
 *  @what: name of the value at the beginning of every message, e.g. "new state"
 *  @array: how to write the value if it is an empty table without one of the metatables of
 *  WFS_LUA_SLOT_ARRAY and WFS_LUA_SLOT_OBJECT: true: `[]`; false: `{}` */
void wfs_lua_write_json(
	lua_State *L, int index, struct wfs_buffer *buffer, const char *what, bool array);

/** wfs_lua_write_element() - append to @buffer the canonical JSON text of the value at @index, an
 *  element of an array that the caller writes
 *  @what, and when it raises: as for wfs_lua_write_json(), but limits.output_bytes bounds all bytes
 *  of @buffer, whose contents mean nothing after an error. */
void wfs_lua_write_element(lua_State *L, int index, struct wfs_buffer *buffer, const char *what);

/* --- lua-pairs.c --- */

/* Does wfs_lua_push_least_key() accept the key at @index? */
typedef bool wfs_lua_key_test(lua_State *L, int index);

/** wfs_lua_push_least_key() - push the first key of the table at @index that @wanted accepts
 *  Searches in the order of `pairs`; keys without an order come last, by the names of their types.
 *  It is for messages that name a key: in Lua's own order the first one would differ between
 *  processes. @wanted: must push nothing. Return: false, with nothing pushed, if @wanted accepts no
 *  key. */
bool wfs_lua_push_least_key(lua_State *L, int index, wfs_lua_key_test *wanted);

/* --- lua-library.c --- */

/** wfs_lua_open() - make the read-only environment of code, and fill the slots GLOBALS, ARRAY and
 *  OBJECT of the registry; pushes nothing. */
void wfs_lua_open(lua_State *L);

/** wfs_lua_protect() - replace the table on top of the stack by a proxy, through which code can
 *  read the table's members, but neither change the table nor get the table itself. */
void wfs_lua_protect(lua_State *L);

/** wfs_lua_push_stable() - push a C function as a closure, for tables that code can reach
 *  A closure is an object of the region. The place of a table's key depends on the key's address,
 *  and the address of a C function that is not a closure differs from build to build. */
void wfs_lua_push_stable(lua_State *L, lua_CFunction function);

/** wfs_lua_push_context() - push the table `ctx` of a step, with the members that worldfs-lua(7)
 *  names. */
void wfs_lua_push_context(lua_State *L, const struct wfs_lua_step *step);

/** wfs_lua_push_call_context() - push the table `ctx` of a call of a program, with the members that
 *  worldfs-lua(7) names. */
void wfs_lua_push_call_context(lua_State *L, const struct wfs_lua_call *call);

/* --- lua-host.c --- */

/** wfs_lua_open_host() - add the functions of lua->bindings to the environment table on top of the
 *  stack. */
void wfs_lua_open_host(lua_State *L);

/** wfs_lua_ask_host() - call a function of the host with the stack's values from index @first on as
 *  arguments, and replace these values by the function's result
 *  Raises the error that the function returns with the result 1, or an error if the run has no host
 *  or is still in the main chunk; stops the state if the host fails (a negative errno).
 *  @binding_index: in lua->bindings. @name: of the function, for messages */
void wfs_lua_ask_host(lua_State *L, size_t binding_index, const char *name, int first);

/* --- lua-module.c --- */

/** wfs_lua_push_module_function() - push the Lua function for a binding with `gives_module`
 *  The function's argument is the name of a module. Once for each name in a run, it runs the source
 *  that the host returns for this name, and it always returns what that source has returned. */
void wfs_lua_push_module_function(lua_State *L, size_t binding_index);

/* --- lua-text.c: growing strings --- */

enum { WFS_LUA_TEXT_SMALL_BYTES = 512 };

/*
 * A Lua string that is being built. Unlike luaL_Buffer it grows through ordinary objects, so that
 * Lua collects garbage before it fails. Lives on the C stack, with one slot of the Lua stack. The
 * functions charge for their work, and raise when a bound, such as that of memory, is exceeded.
 */
struct wfs_lua_text {
	lua_State *L;
	char *data; /* `small`, or a userdata in the slot */
	size_t size;
	size_t capacity_bytes;
	int slot;
	char small[WFS_LUA_TEXT_SMALL_BYTES];
};

/** wfs_lua_text_start() - begin with an empty string; pushes one slot, for the string's memory. */
void wfs_lua_text_start(lua_State *L, struct wfs_lua_text *text);
void wfs_lua_text_append(struct wfs_lua_text *text, const char *data, size_t size);
void wfs_lua_text_append_byte(struct wfs_lua_text *text, char byte);

/** wfs_lua_text_room() - make the string @size bytes longer. Return: the place of these bytes,
 *  which the caller fills before it calls another function with @text. */
char *wfs_lua_text_room(struct wfs_lua_text *text, size_t size);

/** wfs_lua_text_push() - push the Lua string that was built; the slot of @text stays on the stack,
 *  below the string. */
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

/** wfs_lua_add_stock() - add functions of Lua's own library @library, each with a charge, to the
 *  table on top of the stack (lua-stock.c). @library: "basic", "math", "string", "table", "utf8" or
 *  "arithmetic" (the metamethods of strings) */
void wfs_lua_add_stock(lua_State *L, const char *library);

/** wfs_lua_random() - push a random float from 0 to below 1 or, with the Lua arguments `n` or
 *  `m, n`, an integer from 1 or `m` to `n`; the Lua function ctx.random (lua-random.c)
 *  The numbers follow from the seed of the run. Raises if the interval is empty.
 *  Return: 1, the number of values that were pushed. */
int wfs_lua_random(lua_State *L);

/** wfs_lua_push_text() - push the text that `tostring` gives for the value at @index, which never
 *  shows an address. @ret_size: bytes of the text; may be NULL. Return: the text, borrowed while it
 *  is on the stack. */
const char *wfs_lua_push_text(lua_State *L, int index, size_t *ret_size);

/** wfs_lua_position() - convert the start position that a string function was given to one from the
 *  beginning. @position: 1-based, 0 is 1; negative: from the end. @size: bytes of the string
 *  Return: 1 or more; may be beyond @size. */
size_t wfs_lua_position(lua_Integer position, size_t size);
