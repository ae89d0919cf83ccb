/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox: runs one Lua module, under bounds. It is linked only into the process `worldfs-code`
 * (kernel/box/); all other code sends requests to that process.
 *
 * A module is either that of a reducer, which defines `step`, or the code of an artifact, a
 * *program*, whose functions are called with JSON and may call functions of their *host*. The
 * sandbox exchanges canonical JSON as text, and knows only the names of the host's functions.
 *
 * Invariant: a run is a function of its arguments. Each run begins with the same bytes at the same
 * addresses (lua-arena.c): those of the memory after the module was compiled. Every run executes
 * the main chunk again, in a new global table. Code has no clock, no I/O and no `load`,
 * `tostring` shows no addresses, and `pairs`/`next` use the sorted order of keys. So replay
 * is exact. Lua never sees a metatable that code can write (lua-metatable.c): no table is weak, and
 * no code runs when an object is collected or goes out of scope.
 * Instructions, memory and the work of library functions are bounded; `pcall` cannot catch a bound
 * that was hit.
 * Source: docs/design.md §5; worldfs-lua(7).
 * Thread: one for all objects of the process, because they share one region of memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Option struct: plain value. */
struct wfs_lua_limits {
	uint64_t instructions; /* VM instructions of one run, plus library work charged like them */
	uint64_t memory_bytes; /* live memory of the state */
	uint64_t output_bytes; /* canonical JSON of each result, and of the host's arguments */
};

enum {
	WFS_LUA_NS_PER_INSTRUCTION = 200,         /* allowed processor time; 3 to 10 ns are usual */
	WFS_LUA_TIME_MIN_NS = 1000 * 1000 * 1000, /* processor time that any run may take */
};

/** wfs_lua_time_limit_ns() - Return: the processor time that code with the bound @instructions may
 *  take. */
static inline int64_t wfs_lua_time_limit_ns(uint64_t instructions)
{
	const uint64_t most = INT64_MAX / WFS_LUA_NS_PER_INSTRUCTION / 2;
	const uint64_t counted = instructions < most ? instructions : most;
	const int64_t limit = (int64_t)counted * WFS_LUA_NS_PER_INSTRUCTION;

	return limit > WFS_LUA_TIME_MIN_NS ? limit : WFS_LUA_TIME_MIN_NS;
}

/* For a step. */
#define WFS_LUA_LIMITS_DEFAULT    \
	((struct wfs_lua_limits){ \
		.instructions = 10000000, .memory_bytes = 64 << 20, .output_bytes = 16 << 20})

/* For a call of a program. */
#define WFS_LUA_PROGRAM_LIMITS_DEFAULT \
	((struct wfs_lua_limits){      \
		.instructions = 50000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 20})

/* Bytes of a module.
 * Compiling cannot be stopped; programs are charged 4 instructions for each byte. */
enum { WFS_LUA_SOURCE_MAX = 256 << 10 };

/* Instructions that a call of the host costs, besides its arguments. */
enum { WFS_LUA_CHARGE_HOST = 100 };

/* What the runs of one request share: plain value. Initialise to zero except `instructions`. */
struct wfs_lua_budget {
	uint64_t instructions; /* bound; bytes of states and results are charged to it, too */
	uint64_t used;         /* instructions so far */
	uint64_t step_count;   /* runs so far */
	uint64_t time_used_ns; /* processor time from the second run on */
};

/* Why a run failed; callers treat these differently. */
enum wfs_lua_failure {
	WFS_LUA_FAILURE_NONE,
	WFS_LUA_FAILURE_CODE,  /* the code raised an error, or its result is not one JSON value */
	WFS_LUA_FAILURE_BOUND, /* instructions, memory or processor time were used up */
	WFS_LUA_FAILURE_HOST,  /* the host failed, or memory ran out */
	WFS_LUA_FAILURE_CRASH, /* the process ended; set by kernel/box */
	WFS_LUA_FAILURE_COUNT,
};

/* A function of the host, as programs see it. Plain value; rows of one table must be adjacent. */
struct wfs_lua_binding {
	const char *table; /* name of a global table, or NULL for a global function */
	const char *name;
	bool gives_module; /* the host returns Lua source; the program gets what this returns */
};

/* What a module is made from. Plain value. */
struct wfs_lua_options {
	bool program; /* code of an artifact; otherwise a reducer's module */
	struct wfs_lua_limits limits;
	const char *name;        /* chunk name for messages, e.g. "package.lua"; copied */
	struct wfs_bytes source; /* text only, at most WFS_LUA_SOURCE_MAX; copied */
	/* NULL-terminated: the module must define one of these. NULL: the module was checked
	 * before, and is compiled when it first runs. */
	const char *const *functions;
	const struct wfs_lua_binding *bindings; /* must live as long as the object */
	size_t binding_count;
};

/* Bounds and results of one run, besides the limits of its module. */
struct wfs_lua_run {
	uint64_t memory_bytes;         /* bound, if lower than limits.memory_bytes; 0: none */
	struct wfs_lua_budget *budget; /* charged; NULL: only the run's own bounds apply */
	enum wfs_lua_failure failure;  /* set by the run */
	uint64_t memory_left_bytes;    /* for nested runs; set before each call of the host */
};

/* Bound of a module's image that is kept between two runs;
 * a larger one is made again for each run. */
enum {
	WFS_LUA_MODULE_BYTES = 128 << 10, /* for a module without source */
	WFS_LUA_MODULE_BYTES_SOURCE = 24, /* plus this for each byte of source */
};

/** wfs_lua_arena_map() - map the memory region in which modules run, at its fixed address; called
 *  once in a process, before wfs_lua_new(). Return: 0, or -errno (-ENOTSUP: Linux has mapped the
 *  region at another address). */
int wfs_lua_arena_map(void);

/** wfs_lua_arena_trim() - give the region's memory beyond 8 MiB back to the system; not called
 *  during a run. */
void wfs_lua_arena_trim(void);

struct wfs_lua;

/** wfs_lua_new() - make a sandbox for a module
 *  Compiles the module, runs its main chunk, and checks that it defines one of options->functions.
 *  If that list is NULL, only copies the source: the first run compiles it, and may return -EINVAL.
 *  @run: bounds and failure of this check. @ret_lua: caller frees it with wfs_lua_free()
 *  Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines none of the
 *  functions), -EIO (runtime_error: the main chunk failed or hit a bound), -ENOMEM. */
int wfs_lua_new(const struct wfs_lua_options *options, struct wfs_lua_run *run,
	struct wfs_lua **ret_lua, struct wfs_error *error);
void wfs_lua_free(struct wfs_lua *lua);
WFS_DEFINE_AUTO(lua, struct wfs_lua, wfs_lua_free)
#define WFS_AUTO_LUA WFS_CLEANUP(wfs_auto_lua)

/** wfs_lua_trim() - free memory that the last run needed and most runs do not; the result of that
 *  run must not be used any more. */
void wfs_lua_trim(struct wfs_lua *lua);

/* Arguments of one step. Plain value, all borrowed for the call. Texts end with NUL. */
struct wfs_lua_step {
	struct wfs_bytes
		state; /* canonical text of the cell's state; size 0: no cell (nil in Lua) */
	struct wfs_bytes event; /* canonical text of the event's value */
	struct wfs_bytes key;   /* ctx.key: UTF-8 text; empty for a reducer without keys */
	const char *reducer;
	const char *schema;
	const char *principal;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(); differs from step to step */
	struct wfs_lua_run run;
};

/* Result of one step, borrowed from the sandbox until its next run. */
struct wfs_lua_result {
	bool deleted;             /* the new state is nil */
	struct wfs_bytes state;   /* canonical text without a newline; empty when deleted */
	struct wfs_bytes events;  /* array of {schema, value, key?}; size 0: none */
	struct wfs_bytes effects; /* array; size 0: none */
};

/** wfs_lua_step() - run the function `step(state, event, ctx)` of a reducer's module
 *  @ret_result: borrowed from @lua until its next run
 *  Return: 0, -EIO (runtime_error with the Lua message and line: if a bound was exceeded, the
 *  message gives the bound; if the result is not JSON, the place in it that is not;
 *  internal_error: the state or the event is not in canonical form), -ENOMEM. */
int wfs_lua_step(struct wfs_lua *lua, struct wfs_lua_step *step, struct wfs_lua_result *ret_result,
	struct wfs_error *error);

/* The functions that a program can call on its host, which embeds this in a struct of its own. */
struct wfs_lua_host {
	/**
	 * call() - do what the program asks for; called on the thread of wfs_lua_call(), while
	 * that function runs
	 * @binding_index: in the table of bindings
	 * @arguments: text of an array; nil is null, but trailing nils are left out
	 * @ret_value: canonical text of the function's result, valid until the next call of
	 *             call() or the end of the run; size 0: nil
	 * @error: filled unless the result is 0
	 *
	 * Return: 0; 1: raise the message of @error, which the program may catch; or a negative
	 * errno: the host has failed, which ends the program and is returned to its caller.
	 */
	int (*call)(struct wfs_lua_host *host, size_t binding_index, struct wfs_bytes arguments,
		struct wfs_bytes *ret_value, struct wfs_error *error);
};

/* Arguments of one call of a program. Plain value, all borrowed for the call. */
struct wfs_lua_call {
	const char *function;
	struct wfs_bytes arguments; /* canonical text of an array */
	struct wfs_bytes deps;      /* the global `deps`; size 0: nil */
	struct wfs_lua_host *host;  /* NULL: calling the host's functions raises an error */

	/* Members of the global `ctx`; a text may be NULL. */
	const char *caller;
	const char *origin;
	const char *artifact_id;
	const char *method;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(): differs from call to call */

	/* The agent's tool call that caused this call; the texts are NULL without one. */
	const char *call_id;
	const char *tool_name;
	const char *run_id;
	int64_t turn;

	struct wfs_lua_run run;
};

/** wfs_lua_call() - call the function call->function that a program (the code of an artifact)
 *  defines. @ret_value: canonical text of its result, borrowed until the next run; null for nil and
 *  for no result
 *  Return: 0, -EIO (runtime_error with the Lua message and line: if a bound was exceeded, the
 *  message gives the bound; also if the program does not define the function), -ENOMEM, or the
 *  negative errno that the host returned. @ret_value is set on success only. */
int wfs_lua_call(struct wfs_lua *lua, struct wfs_lua_call *call, struct wfs_bytes *ret_value,
	struct wfs_error *error);
