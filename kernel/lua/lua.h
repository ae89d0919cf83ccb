/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox that runs reducers: one Lua module, its `step` function, and bounds.
 *
 * Invariant: a step is a function of its arguments. The module's main chunk runs anew, in a fresh
 * global table, for every step, and everything that survives between steps is read-only; so
 * nothing a step leaves behind can change what a later one computes, and replay is exact. There is
 * no clock, no I/O, no `load`, no address in `tostring`, and `pairs`/`next` go in sorted key order.
 * Lua never sees a metatable that code can write (lua-metatable.c): tables are not weak, and nothing runs
 * code when it is collected or goes out of scope.
 * Instructions, memory and the work of library functions are bounded; a bound that was hit cannot
 * be caught by `pcall`. Near a bound whether a step passes may depend on the garbage that earlier
 * steps left: whoever replays steps that have passed once gives larger limits.
 * What Lua itself leaves open cannot be closed from here: the length `#t` of a table with holes,
 * the last digit of the operator `^`, and the sign in `0/0 .. ""`.
 * Source: design §7; spec 1, "Reducers".
 * Thread: an object is used by one thread at a time.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Option struct: plain value. */
struct wfs_lua_limits {
	uint64_t instructions; /* VM instructions of one step; library work is charged to it too */
	size_t memory_bytes;   /* live memory of the state */
	size_t output_bytes;   /* canonical JSON of the new state, and of the events and effects */
};

#define WFS_LUA_LIMITS_DEFAULT    \
	((struct wfs_lua_limits){ \
		.instructions = 10000000, .memory_bytes = 64 << 20, .output_bytes = 16 << 20})

/* Bytes of a module: the compiler is neither counted nor timed. */
enum { WFS_LUA_SOURCE_MAX = 256 << 10 };

struct wfs_lua;

/**
 * wfs_lua_new() - compile a module and check that running it defines the function `step`
 * @name: chunk name for messages, e.g. "package.lua"; copied
 * @source: text only, precompiled chunks are refused; copied
 * Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines no `step`),
 *         -EIO (runtime_error: the main chunk failed or hit a bound), -ENOMEM.
 */
int wfs_lua_new(const struct wfs_lua_limits *limits, const char *name, const char *source,
	size_t source_size, struct wfs_lua **ret_lua, struct wfs_error *error);
void wfs_lua_free(struct wfs_lua *lua);
WFS_DEFINE_AUTO(lua, struct wfs_lua, wfs_lua_free)
#define WFS_AUTO_LUA WFS_CLEANUP(wfs_auto_lua)

/* What the steps of one request have together: plain value. Zero all but `instructions`. */
struct wfs_lua_budget {
	uint64_t instructions; /* bound; bytes of states and results are charged to it, too */
	uint64_t used;
	uint64_t step_count;
	int64_t time_start_ns; /* processor time when the second step began */
};

/* What one step is told. All pointers are borrowed for the call. */
struct wfs_lua_step {
	struct wfs_bytes
		state;        /* canonical JSON document of the cell; size 0: there is none (nil) */
	const json_t *event;  /* the event's value */
	struct wfs_bytes key; /* ctx.key: UTF-8 text; empty for a reducer without keys */
	const char *reducer;
	const char *schema;
	const char *principal;
	uint64_t seq;
	int64_t at_ns;
	/* Of ctx.random(): differs from step to step, hashed at its first use. */
	uint8_t seed[32];
	struct wfs_lua_budget
		*budget; /* of its request, charged; NULL: it has its own bounds only */
};

/* What one step answered. Plain value; release with wfs_lua_result_done. */
struct wfs_lua_result {
	bool deleted;            /* the new state is nil */
	struct wfs_buffer state; /* canonical document with its newline; empty when deleted */
	json_t *events;          /* array of {schema, value, key?} as the module gave it, or NULL */
	json_t *effects;         /* array, or NULL */
};

void wfs_lua_result_done(struct wfs_lua_result *result);
#define WFS_AUTO_LUA_RESULT WFS_CLEANUP(wfs_lua_result_done)

/**
 * wfs_lua_step() - run `step(state, event, ctx)`
 *
 * After any failure the object stays usable: whatever the step did is gone. (But not what it took
 * of the budget.)
 * @result: zero-initialised or used before; overwritten on success only
 * Return: 0, -EIO (runtime_error with the Lua message and line; an exceeded bound says which and
 *         its value; a result that is not JSON says where in it), -ENOMEM.
 */
int wfs_lua_step(struct wfs_lua *lua, const struct wfs_lua_step *step,
	struct wfs_lua_result *result, struct wfs_error *error);
