/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox for the code of artifacts: functions that are called with JSON, answer with JSON, and
 * can ask the *host* for things.
 *
 * The same environment and the same bounds as for reducers (lua.h). What a program can do to the
 * world is what its host does for it, through functions that the host declares in a table; this
 * folder knows none of them. The main chunk runs anew, in fresh globals, for every call: nothing
 * survives between two. It computes the same at every call, because it sees nothing of the call:
 * `ctx` and `deps` are set behind it, and until then the host's functions only raise.
 *
 * A program may be called while another one waits for its host, so calls nest; a program that runs
 * is never called again. All calls of a nest share one budget of instructions and processor time,
 * and each has the memory that those around it leave. Near a bound whether a call passes may depend
 * on the garbage that earlier ones left (lua.h): whoever makes a failure a value for others looks
 * whether it was a bound's.
 * Thread: a program, and all that is nested in its calls, belong to one thread at a time.
 * Source: spec 4, "Executable artifacts".
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/lua/lua.h"

/* A host's value, whether argument or result, is bounded by `output_bytes`, too. */
#define WFS_LUA_PROGRAM_LIMITS_DEFAULT \
	((struct wfs_lua_limits){      \
		.instructions = 50000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 20})

/* A function of the host, as programs see it. Plain value; rows of one table stand together. */
struct wfs_lua_binding {
	const char *table; /* a global table, or NULL: the function is global itself */
	const char *name;
};

/* The host. Embedded in what it works on. */
struct wfs_lua_host {
	/**
	 * call() - do what the program asks for; it may call other programs
	 * @binding_index: of the row in the table of bindings
	 * @arguments: array; nil is null, but at the end it is left out
	 * @ret_value: takes a reference; what the function returns; NULL: nil
	 * @error: filled unless 0 is returned
	 *
	 * Return: 0; 1: the message is raised, and the program may catch it; or a negative errno: the
	 * host has failed, the program ends there whatever it catches, and its caller is given that.
	 */
	int (*call)(struct wfs_lua_host *host, size_t binding_index, const json_t *arguments,
		json_t **ret_value, struct wfs_error *error);
};

struct wfs_lua_program;

/* Why a call failed: what to do about it differs. */
enum wfs_lua_failure {
	WFS_LUA_FAILURE_NONE,
	WFS_LUA_FAILURE_CODE,  /* it raised an error, or its result is not one JSON value */
	WFS_LUA_FAILURE_BOUND, /* instructions, memory or processor time were used up */
	WFS_LUA_FAILURE_HOST,  /* the host failed, or had no memory */
};

/* What a program is made from. Plain value. */
struct wfs_lua_program_options {
	const struct wfs_lua_limits *limits;
	const char *name;        /* chunk name for messages; copied */
	struct wfs_bytes source; /* text only, at most WFS_LUA_SOURCE_MAX; copied */
	/* NULL-ended: it must define one of these. NULL: it has been checked before, and neither
	 * compiles nor runs until it is called. */
	const char *const *functions;
	const struct wfs_lua_binding *bindings; /* used as long as the program lives */
	size_t binding_count;
	/* As of a call, for compiling and checking. */
	struct wfs_lua_budget *budget;
	struct wfs_lua_program *outer;
	enum wfs_lua_failure *ret_failure; /* of checking; may be NULL */
};

/**
 * wfs_lua_program_new() - compile, and check that running it defines one of the functions
 * Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines none of them),
 *         -EIO (runtime_error: the main chunk failed or hit a bound), -ENOMEM.
 */
int wfs_lua_program_new(const struct wfs_lua_program_options *options,
	struct wfs_lua_program **ret_program, struct wfs_error *error);
void wfs_lua_program_free(struct wfs_lua_program *program);
WFS_DEFINE_AUTO(lua_program, struct wfs_lua_program, wfs_lua_program_free)
#define WFS_AUTO_LUA_PROGRAM WFS_CLEANUP(wfs_auto_lua_program)

/* What one call is told. All pointers are borrowed for the call. */
struct wfs_lua_call {
	const char *function;
	const json_t *arguments;   /* array */
	const json_t *deps;        /* the global `deps`; NULL: nil */
	struct wfs_lua_host *host; /* NULL: the host's functions raise */
	/* Waits for its host, which makes this call: what memory it leaves is the bound. NULL: none. */
	struct wfs_lua_program *outer;

	/* Of the global `ctx`; a text may be NULL. */
	const char *caller;
	const char *origin;
	const char *artifact_id;
	const char *method;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(): differs from call to call */

	struct wfs_lua_budget
		*budget; /* of all calls of a nest; NULL: it has its own bounds only */

	enum wfs_lua_failure failure; /* set by the call */
};

/**
 * wfs_lua_program_call() - call a function that the program defines
 *
 * After any failure the program stays usable: whatever the call did in it is gone. (But not what it
 * took of the budget.)
 * @ret_value: caller owns one reference; nil, and no result at all, is null
 * Return: 0, -EIO (runtime_error with the Lua message and line; an exceeded bound says which and its
 *         value; or internal_error: the program is running already), -ENOMEM, or what the host
 *         returned.
 */
int wfs_lua_program_call(struct wfs_lua_program *program, struct wfs_lua_call *call,
	json_t **ret_value, struct wfs_error *error);

/** wfs_lua_program_is_running() - is it waiting for its host, so that it cannot be called? */
bool wfs_lua_program_is_running(const struct wfs_lua_program *program);
