/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox that runs code: one Lua module, and bounds. It is linked into the process `worldfs-code`
 * alone (kernel/box/); everything else asks that process.
 *
 * A module is either that of a reducer, which defines `step`, or the code of an artifact, a *program*,
 * whose functions are called with JSON and can ask their *host* for things. The sandbox takes and gives
 * canonical JSON as text, and knows none of the host's functions but by the names it is given.
 *
 * Invariant: a run is a function of its arguments. Each run begins with the same bytes at the same
 * addresses (lua-arena.c): those that the memory had after the module was compiled. The main chunk runs
 * anew, in a fresh global table, for every run. There is no clock, no I/O, no `load` of texts that code
 * makes, no address in `tostring`, and `pairs`/`next` go in sorted key order. So replay is exact.
 * Lua never sees a metatable that code can write (lua-metatable.c): tables are not weak, and nothing runs
 * code when it is collected or goes out of scope.
 * Instructions, memory and the work of library functions are bounded; a bound that was hit cannot
 * be caught by `pcall`.
 * Source: design §7; spec 1, "Reducers"; spec 4, "Executable artifacts".
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
	uint64_t instructions; /* VM instructions of one run; library work is charged to it too */
	uint64_t memory_bytes; /* live memory of the state */
	uint64_t output_bytes; /* canonical JSON of each result, and of what the host is asked */
};

enum {
	WFS_LUA_NS_PER_INSTRUCTION = 200, /* processor time allowed; usual is 3 to 10 */
	WFS_LUA_TIME_MIN_NS = 1000 * 1000 * 1000,
};

/** wfs_lua_time_limit_ns() - the processor time that @instructions may take; no overflow */
static inline int64_t wfs_lua_time_limit_ns(uint64_t instructions)
{
	const uint64_t most = INT64_MAX / WFS_LUA_NS_PER_INSTRUCTION / 2;
	const uint64_t counted = instructions < most ? instructions : most;
	const int64_t limit = (int64_t)counted * WFS_LUA_NS_PER_INSTRUCTION;

	return limit > WFS_LUA_TIME_MIN_NS ? limit : WFS_LUA_TIME_MIN_NS;
}

/* Of a step. */
#define WFS_LUA_LIMITS_DEFAULT    \
	((struct wfs_lua_limits){ \
		.instructions = 10000000, .memory_bytes = 64 << 20, .output_bytes = 16 << 20})

/* Of a call of a program. */
#define WFS_LUA_PROGRAM_LIMITS_DEFAULT \
	((struct wfs_lua_limits){      \
		.instructions = 50000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 20})

/* Bytes of a module. Compiling cannot be ended; programs are charged 4 instructions for each byte. */
enum { WFS_LUA_SOURCE_MAX = 256 << 10 };

/* Instructions that a call of a function of the host costs, besides its arguments. */
enum { WFS_LUA_CHARGE_HOST = 100 };

/* What the runs of one request share: plain value. Zero all but `instructions`. */
struct wfs_lua_budget {
	uint64_t instructions; /* bound; bytes of states and results are charged to it, too */
	uint64_t used;
	uint64_t step_count;
	uint64_t time_used_ns; /* processor time from the second run on */
};

/* Why a run failed: what to do about it differs. */
enum wfs_lua_failure {
	WFS_LUA_FAILURE_NONE,
	WFS_LUA_FAILURE_CODE,  /* it raised an error, or its result is not one JSON value */
	WFS_LUA_FAILURE_BOUND, /* instructions, memory or processor time were used up */
	WFS_LUA_FAILURE_HOST,  /* the host failed, or had no memory */
	WFS_LUA_FAILURE_CRASH, /* the process ended; set by kernel/box */
	WFS_LUA_FAILURE_COUNT,
};

/* A function of the host, as programs see it. Plain value; rows of one table stand together. */
struct wfs_lua_binding {
	const char *table; /* a global table, or NULL: the function is global itself */
	const char *name;
	bool gives_module; /* the host returns source: the program gets what this returns, once a run */
};

/* What a module is made from. Plain value. */
struct wfs_lua_options {
	bool program; /* its functions are called; otherwise it is a reducer's */
	struct wfs_lua_limits limits;
	const char *name;        /* chunk name for messages, e.g. "package.lua"; copied */
	struct wfs_bytes source; /* text only, at most WFS_LUA_SOURCE_MAX; copied */
	/* NULL-ended: it must define one of these. NULL: it has been checked before, and runs for the
	 * first time when it is called. */
	const char *const *functions;
	const struct wfs_lua_binding *bindings; /* used as long as the object lives */
	size_t binding_count;
};

/* Bounds and counters of one run, beside the limits of its module. */
struct wfs_lua_run {
	uint64_t memory_bytes; /* bound, when less than that of the limits; 0: there is none */
	struct wfs_lua_budget *budget; /* charged; NULL: the run has its own bounds only */
	enum wfs_lua_failure failure;  /* set */
	uint64_t memory_left_bytes;    /* set before the host is asked */
};

/* Memory that a module keeps between two runs, at most; a larger image is made again for each run. */
enum {
	WFS_LUA_MODULE_BYTES = 128 << 10, /* of one without source */
	WFS_LUA_MODULE_BYTES_SOURCE = 24, /* more for each byte of source */
};

/** wfs_lua_arena_map() - have the region that modules run in; before all else. Return: 0, or -errno. */
int wfs_lua_arena_map(void);

/** wfs_lua_arena_trim() - give memory that a run took beyond 8 MiB back to the system; not while code runs. */
void wfs_lua_arena_trim(void);

struct wfs_lua;

/**
 * wfs_lua_new() - compile a module, and check that running it defines one of the functions
 * @run: of checking
 * Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines none of them),
 *         -EIO (runtime_error: the main chunk failed or hit a bound), -ENOMEM.
 */
int wfs_lua_new(const struct wfs_lua_options *options, struct wfs_lua_run *run,
	struct wfs_lua **ret_lua, struct wfs_error *error);
void wfs_lua_free(struct wfs_lua *lua);
WFS_DEFINE_AUTO(lua, struct wfs_lua, wfs_lua_free)
#define WFS_AUTO_LUA WFS_CLEANUP(wfs_auto_lua)

/** wfs_lua_trim() - give back what a run took and no other run needs; what it gave is gone. */
void wfs_lua_trim(struct wfs_lua *lua);

/* What one step gets. Plain value, all borrowed for the call. A text ends with NUL. */
struct wfs_lua_step {
	struct wfs_bytes
		state; /* canonical text of the cell's state; size 0: there is no cell (nil) */
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

/* What one step gave, borrowed from the sandbox until its next run. */
struct wfs_lua_result {
	bool deleted;             /* the new state is nil */
	struct wfs_bytes state;   /* canonical text without a newline; empty when deleted */
	struct wfs_bytes events;  /* array of {schema, value, key?}; size 0: none */
	struct wfs_bytes effects; /* array; size 0: none */
};

/**
 * wfs_lua_step() - run `step(state, event, ctx)` of a reducer's module
 * Return: 0, -EIO (runtime_error with the Lua message and line; an exceeded bound says which and
 *         its value; a result that is not JSON says where in it; internal_error: the state or the
 *         event is not in canonical form), -ENOMEM.
 */
int wfs_lua_step(struct wfs_lua *lua, struct wfs_lua_step *step, struct wfs_lua_result *ret_result,
	struct wfs_error *error);

/* The host. Embedded in what it works on. */
struct wfs_lua_host {
	/**
	 * call() - do what the program asks for
	 * @binding_index: of the row in the table of bindings
	 * @arguments: text of an array; nil is null, but at the end it is left out
	 * @ret_value: canonical text of what the function returns, borrowed until the next call; size
	 *             0: nil
	 *
	 * Return: 0; 1: the message is raised, and the program may catch it; or a negative errno: the
	 * host has failed, the program ends there whatever it catches, and its caller gets that.
	 */
	int (*call)(struct wfs_lua_host *host, size_t binding_index, struct wfs_bytes arguments,
		struct wfs_bytes *ret_value, struct wfs_error *error);
};

/* What one call of a program gets. Plain value, all borrowed for the call. */
struct wfs_lua_call {
	const char *function;
	struct wfs_bytes arguments; /* canonical text of an array */
	struct wfs_bytes deps;      /* the global `deps`; size 0: nil */
	struct wfs_lua_host *host;  /* NULL: the host's functions raise */

	/* Of the global `ctx`; a text may be NULL. */
	const char *caller;
	const char *origin;
	const char *artifact_id;
	const char *method;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(): differs from call to call */

	/* The agent's tool call that this is; the texts are NULL if no agent has called it. */
	const char *call_id;
	const char *tool_name;
	const char *run_id;
	int64_t turn;

	struct wfs_lua_run run;
};

/**
 * wfs_lua_call() - call a function that the program defines
 * @ret_value: canonical text, borrowed until the next run; nil, and no result at all, is null
 * Return: 0, -EIO (runtime_error with the Lua message and line; an exceeded bound says which and its
 *         value), -ENOMEM, or what the host returned.
 */
int wfs_lua_call(struct wfs_lua *lua, struct wfs_lua_call *call, struct wfs_bytes *ret_value,
	struct wfs_error *error);
