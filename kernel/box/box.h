/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of reducers and artifacts, run in a process of its own.
 *
 * A *box* has processes (kernel/box/inside/) that hold a Lua sandbox each and nothing else: no file, no
 * environment, no system call but those that waiting and ending take. A process is started when code
 * runs for the first time, and again after it has ended. What it says is input of an enemy: sizes, kinds,
 * order and JSON are checked, and a process that says what cannot be is ended.
 *
 * Code that calls its host may have that run other code; the code that waits keeps its process, and what
 * is called runs in another one. A process runs code of one author only, so code that has taken its process
 * over can give wrong results for code of that author, and for no other. Each run begins with the same
 * memory in any process.
 *
 * A failure because the process ended (WFS_LUA_FAILURE_CRASH, code_crashed) does not depend on the arguments
 * alone, so a caller that folds the run again must not run it again.
 * Thread: a box, and all code in it, belong to one thread at a time, but for wfs_box_interrupt() and wfs_box_end().
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/box/quarantine.h"
#include "kernel/lua/lua.h"

enum { WFS_BOX_DEPTH_MAX = 32 }; /* calls within calls */

struct wfs_box;

/** wfs_box_new() - a box without a process. Return: 0, -ENOMEM. */
int wfs_box_new(struct wfs_box **ret_box);
void wfs_box_free(struct wfs_box *box);
WFS_DEFINE_AUTO(box, struct wfs_box, wfs_box_free)
#define WFS_AUTO_BOX WFS_CLEANUP(wfs_auto_box)

/**
 * wfs_box_interrupt() - end the code that runs now, if any does
 *
 * Its run fails with the code cancelled (-EINTR), and so does every later one, until wfs_box_resume().
 * Thread: any.
 */
void wfs_box_interrupt(struct wfs_box *box);

/**
 * wfs_box_resume() - have code run again; not while any does, and not beside wfs_box_interrupt()
 * Return: has a run failed because it was interrupted?
 */
bool wfs_box_resume(struct wfs_box *box);

/**
 * wfs_box_check() - is what its thread does to be ended, too, as code that runs there would be?
 * @name: of what is done, for the message
 * Return: 0, or -EINTR (cancelled), of which wfs_box_resume() tells.
 */
int wfs_box_check(struct wfs_box *box, const char *name, struct wfs_error *error);

/**
 * wfs_box_end() - have no code run any more from @time_ns on, by the monotonic clock
 *
 * Its run fails with the code cancelled (-EINTR) a moment later, and so does every later one. wfs_box_resume() tells of
 * it, and does not undo it. Thread: any.
 */
void wfs_box_end(struct wfs_box *box, int64_t time_ns);

/** wfs_box_pid() - for tests: the id of the process that had the last run at @depth (0: the
 *  outermost), or 0 if the box has ended that process since. */
int wfs_box_pid(const struct wfs_box *box, size_t depth);

/* What the module of a reducer must define. */
extern const char *const wfs_code_step_functions[];

/* One module: the source, and where it has been compiled. Belongs to a box, and must end before that. */
struct wfs_code;

/* What it is made from. Plain value; everything but the bindings is copied. */
struct wfs_code_options {
	bool program; /* code of an artifact; otherwise a reducer's module */
	const struct wfs_lua_limits *limits;
	const char *name;        /* chunk name for messages */
	const char *author;      /* the principal whose code it is; NULL: the world's */
	struct wfs_bytes source; /* text, at most WFS_LUA_SOURCE_MAX */
	/* NULL-ended: it must define one of these, which is checked at once. NULL: it was checked before,
	 * and is compiled when it runs. */
	const char *const *functions;
	const struct wfs_lua_binding *bindings; /* used as long as the code lives */
	size_t binding_count;
	struct wfs_lua_budget *budget;     /* of checking; may be NULL */
	enum wfs_lua_failure *ret_failure; /* of checking; may be NULL */
};

/**
 * wfs_box_quarantine() - refuse code that ended its process too often, and note what ends it here
 * @quarantine: borrowed, must live as long as the box
 */
void wfs_box_quarantine(struct wfs_box *box, struct wfs_quarantine *quarantine);

/**
 * wfs_code_new() - have a module, compiled and checked if there are functions to look for
 * Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines none of them;
 *         depth_exceeded: more than WFS_BOX_DEPTH_MAX calls within calls),
 *         -EIO (runtime_error: the main chunk failed or hit a bound; code_crashed),
 *         -EACCES (code_quarantined), -EINTR (cancelled), -EAGAIN (unavailable: no process could be
 *         started), or -ENOMEM.
 */
int wfs_code_new(struct wfs_box *box, const struct wfs_code_options *options,
	struct wfs_code **ret_code, struct wfs_error *error);
void wfs_code_free(struct wfs_code *code);
WFS_DEFINE_AUTO(code, struct wfs_code, wfs_code_free)
#define WFS_AUTO_CODE WFS_CLEANUP(wfs_auto_code)

/** wfs_code_is_by() - is that the author of the code? @author: NULL: the world */
bool wfs_code_is_by(const struct wfs_code *code, const char *author);

/** wfs_code_is_running() - does it wait for its host, so that it must not be freed? */
bool wfs_code_is_running(const struct wfs_code *code);

/* What one step gets. All pointers are borrowed for the call. */
struct wfs_code_step {
	struct wfs_bytes state; /* canonical document of the cell; size 0: there is no cell (nil) */
	const json_t *event;    /* the event's value */
	struct wfs_bytes key;   /* ctx.key: UTF-8 text; empty for a reducer without keys */
	const char *reducer;
	const char *schema;
	const char *principal;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(), which gets its hash; differs from step to step */
	struct wfs_lua_budget
		*budget; /* of its request, charged; NULL: it has its own bounds only */
	enum wfs_lua_failure failure; /* set by the step */
};

/* What one step answered. Plain value; release with wfs_code_result_done. */
struct wfs_code_result {
	bool deleted;            /* the new state is nil */
	struct wfs_buffer state; /* canonical document with its newline; empty when deleted */
	json_t *events;          /* array of {schema, value, key?} as the module gave it, or NULL */
	json_t *effects;         /* array, or NULL */
};

void wfs_code_result_done(struct wfs_code_result *result);
#define WFS_AUTO_CODE_RESULT WFS_CLEANUP(wfs_code_result_done)

/**
 * wfs_code_step() - run `step(state, event, ctx)`
 * @result: zero-initialised or used before; overwritten on success only
 * Return: 0, -EIO (runtime_error with the Lua message and line; an exceeded bound says which and
 *         its value; a result that is not JSON says where in it; code_crashed), -ENOMEM, or else as
 *         wfs_code_new(), which checks the code only if it is given functions.
 */
int wfs_code_step(struct wfs_code *code, struct wfs_code_step *step, struct wfs_code_result *result,
	struct wfs_error *error);

/*
 * Steps ahead: many steps that are likely to be asked for next, sent at once. A later wfs_code_step() that has
 * the arguments of one of them takes its result, if that is a success. So nothing but time depends on what was
 * sent ahead.
 */
enum {
	WFS_CODE_AHEAD_MAX = 64,
	WFS_CODE_AHEAD_BYTES_MAX = 4 << 20, /* of all states and events */
};

/** wfs_code_ahead_begin() - forget the steps that were sent ahead. */
void wfs_code_ahead_begin(struct wfs_box *box);

/**
 * wfs_code_ahead_add() - have one more step; at most WFS_CODE_AHEAD_MAX
 * @step: as of wfs_code_step(); its event must live until the result was taken, or the next beginning
 * @event_text: the event's canonical text
 * @state_of: -1, or the place (from 0) of the step whose new state is the state of this one; step->state is
 *            then left out
 * Return: 0, -EFBIG (more than WFS_CODE_AHEAD_BYTES_MAX), or another -errno: then the step is left out, and none may follow.
 */
int wfs_code_ahead_add(struct wfs_code *code, const struct wfs_code_step *step,
	struct wfs_bytes event_text, int state_of);

/** wfs_code_ahead_run() - send them, and wait for the results. Failures show when the steps are asked for. */
void wfs_code_ahead_run(struct wfs_box *box);

/** wfs_code_ahead_work() - instructions that the steps used that gave a result. */
uint64_t wfs_code_ahead_work(const struct wfs_box *box);

/** wfs_code_ahead_taken() - results that were taken since the beginning. */
size_t wfs_code_ahead_taken(const struct wfs_box *box);

/* The host. Embedded in what it works on. */
struct wfs_code_host {
	/**
	 * call() - do what the program asks for; it may call other programs
	 * @binding_index: of the row in the table of bindings
	 * @arguments: array; nil is null, but at the end it is left out
	 * @ret_value: takes a reference; what the function returns; NULL: nil
	 * @error: filled unless 0 is returned
	 *
	 * Return: 0; 1: the message is raised, and the program may catch it; or a negative errno: the
	 * host has failed, the program ends there whatever it catches, and its caller gets that.
	 */
	int (*call)(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
		json_t **ret_value, struct wfs_error *error);
};

/* What one call gets. All pointers are borrowed for the call. */
struct wfs_code_call {
	const char *function;
	const json_t *arguments;    /* array */
	const json_t *deps;         /* the global `deps`; NULL: nil */
	struct wfs_code_host *host; /* NULL: the host's functions raise */

	/* Of the global `ctx`; a text may be NULL. */
	const char *caller;
	const char *origin;
	const char *artifact_id;
	const char *method;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(), which gets its hash; differs from call to call */

	/* The agent's tool call that this is; the texts are NULL if no agent has called it. */
	const char *call_id;
	const char *tool_name;
	const char *run_id;
	int64_t turn;

	struct wfs_lua_budget
		*budget;              /* of all calls of a nest; NULL: it has its own bounds only */
	enum wfs_lua_failure failure; /* set by the call */
};

/**
 * wfs_code_call() - call a function that the program defines
 *
 * A call while another one waits for its host is nested in that: it has the memory that the other one
 * leaves.
 * @ret_value: caller owns one reference; nil, and no result at all, is null
 * Return: as wfs_code_step(), or what the host returned.
 */
int wfs_code_call(struct wfs_code *code, struct wfs_code_call *call, json_t **ret_value,
	struct wfs_error *error);
