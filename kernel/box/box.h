/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs code of reducers and artifacts in processes of its own.
 *
 * A *box* has processes (kernel/box/inside/) that each hold Lua sandboxes and nothing else: no
 * file, no environment, no system calls but those for waiting and ending. A process is started when
 * code runs for the first time, and again after it has ended. Its messages are treated as an
 * attacker's input: sizes, kinds, order and JSON are checked, and a process that sends an
 * impossible message is killed.
 *
 * Code that calls its host may cause other code to run; the waiting code keeps its process, and the
 * other code runs in another one. A process runs code of one author only, so code that has taken
 * over its process can falsify results of code by that author, and of no other. Each run begins
 * with the same memory contents in any process.
 *
 * A failure because the process ended (WFS_LUA_FAILURE_CRASH in lua.h, code_crashed) does not
 * depend on the arguments alone, so a caller that folds the record again must take the failure from
 * the record, and not run the code again.
 * Thread: a box and all its code belong to one thread at a time, except for wfs_box_interrupt() and
 * wfs_box_end().
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

enum { WFS_BOX_DEPTH_MAX = 32 }; /* calls that run within one another */

struct wfs_box;

/** wfs_box_new() - make a box without processes. @ret_box: caller frees it. Return: 0, -ENOMEM. */
int wfs_box_new(struct wfs_box **ret_box);
void wfs_box_free(struct wfs_box *box);
WFS_DEFINE_AUTO(box, struct wfs_box, wfs_box_free)
#define WFS_AUTO_BOX WFS_CLEANUP(wfs_auto_box)

/** wfs_box_interrupt() - stop the code that is running, if any
 *  The run fails with the code cancelled (-EINTR), and so do all later runs until wfs_box_resume().
 *  Thread: any. */
void wfs_box_interrupt(struct wfs_box *box);

/** wfs_box_resume() - allow code to run again after wfs_box_interrupt(). No code may be running,
 *  and no thread may be in wfs_box_interrupt().
 *  Return: true if a run has failed because of the interruption. */
bool wfs_box_resume(struct wfs_box *box);

/** wfs_box_check() - check that the box was not interrupted, and that its end (wfs_box_end()) has
 *  not come; for long work of the box's thread that is not the running of code
 *  @name: of the work, for the message
 *  Return: 0, or -EINTR (cancelled), which wfs_box_resume() counts as an interrupted run. */
int wfs_box_check(struct wfs_box *box, const char *name, struct wfs_error *error);

/** wfs_box_end() - allow no code to run after @time_ns, by CLOCK_MONOTONIC
 *  A run that goes on at that time fails with the code cancelled (-EINTR) a moment later, and so do
 *  all later runs. wfs_box_resume() returns true for such a failure, but does not lift the end.
 *  @time_ns: replaces an end that was set before; INT64_MAX: no end. Thread: any. */
void wfs_box_end(struct wfs_box *box, int64_t time_ns);

/** wfs_box_pid() - get the pid of the process that had the last run at nesting @depth (0: the
 *  outermost); 0 if no code ran at this depth, or that process has ended since; for tests. */
int wfs_box_pid(const struct wfs_box *box, size_t depth);

/* What the module of a reducer must define. */
extern const char *const wfs_code_step_functions[];

/* One module: its source, and the processes that have it compiled. Must be freed before its box. */
struct wfs_code;

/* What a module is made from. Plain value; everything except the bindings is copied. */
struct wfs_code_options {
	bool program; /* code of an artifact; otherwise a reducer's module */
	const struct wfs_lua_limits *limits;
	const char *name;        /* chunk name for messages */
	const char *author;      /* the principal whose code it is; NULL: the world's */
	struct wfs_bytes source; /* text, at most WFS_LUA_SOURCE_MAX bytes */
	/* NULL-terminated: the module must define one of these, which is checked at once. NULL: the
	 * module was checked before, and is compiled when it runs. */
	const char *const *functions;
	/* functions of the host that the code can call; must live as long as the code */
	const struct wfs_lua_binding *bindings;
	size_t binding_count;
	struct wfs_lua_budget *budget;     /* charged for checking; may be NULL */
	enum wfs_lua_failure *ret_failure; /* why checking failed; may be NULL */
};

/** wfs_box_quarantine() - set the list of code that is refused because it has crashed too often;
 *  code that crashes in this box is added. Without a list, no code is refused.
 *  @quarantine: borrowed, must live as long as the box; NULL: no list */
void wfs_box_quarantine(struct wfs_box *box, struct wfs_quarantine *quarantine);

/** wfs_code_new() - make a module; with options->functions, compile and check it, too
 *  @ret_code: caller frees it
 *  Return: 0, -EINVAL (syntax_error: too large, does not compile, or defines none of `functions`;
 *  depth_exceeded: more than WFS_BOX_DEPTH_MAX nested calls), -EIO (runtime_error: the statements
 *  of the module outside of functions failed or hit a bound; code_crashed), -EACCES
 *  (code_quarantined), -EINTR (cancelled), -EAGAIN (unavailable: no process could be started), or
 *  -ENOMEM. */
int wfs_code_new(struct wfs_box *box, const struct wfs_code_options *options,
	struct wfs_code **ret_code, struct wfs_error *error);
void wfs_code_free(struct wfs_code *code);
WFS_DEFINE_AUTO(code, struct wfs_code, wfs_code_free)
#define WFS_AUTO_CODE WFS_CLEANUP(wfs_auto_code)

/** wfs_code_is_by() - is @author (NULL: the world) the author of the code? */
bool wfs_code_is_by(const struct wfs_code *code, const char *author);

/** wfs_code_is_running() - has the code a run that waits for its host, so that @code must not be
 *  freed? */
bool wfs_code_is_running(const struct wfs_code *code);

/* Arguments of one step. All pointers are borrowed for the call. */
struct wfs_code_step {
	struct wfs_bytes state; /* canonical document of the cell; size 0: no cell (nil in Lua) */
	const json_t *event;    /* the event's value */
	struct wfs_bytes key;   /* ctx.key: UTF-8 text; empty for a reducer without keys */
	const char *reducer;
	const char *schema;
	const char *principal;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(), which uses its hash; differs from step to step */
	struct wfs_lua_budget
		*budget; /* of the request, charged; NULL: only the step's own bounds apply */
	enum wfs_lua_failure failure; /* set by the step */
};

/* Result of one step. Plain value; release with wfs_code_result_done. */
struct wfs_code_result {
	bool deleted;            /* the new state is nil */
	struct wfs_buffer state; /* canonical document with its newline; empty when deleted */
	json_t *events;  /* array of {schema, value, key?} as returned by the module, or NULL */
	json_t *effects; /* array, or NULL */
};

void wfs_code_result_done(struct wfs_code_result *result);
#define WFS_AUTO_CODE_RESULT WFS_CLEANUP(wfs_code_result_done)

/** wfs_code_step() - run the function `step(state, event, ctx)` of a reducer's module
 *  @result: zero-initialised or used before; overwritten on success only, but -ENOMEM may free the
 *  state that it had
 *  Return: 0, -EIO (runtime_error with the Lua message and line: if a bound was exceeded, the
 *  message gives the bound; if the result is not JSON, the place in it that is not; or
 *  code_crashed), or a failure of wfs_code_new(), because the code may have to be loaded first. */
int wfs_code_step(struct wfs_code *code, struct wfs_code_step *step, struct wfs_code_result *result,
	struct wfs_error *error);

/*
 * Steps ahead: many steps that will probably be asked for next, sent in one message. A later
 * wfs_code_step() with the arguments of one of them returns the result that is there already, if
 * that step succeeded. So running steps ahead changes nothing but the time that they take.
 */
enum {
	WFS_CODE_AHEAD_MAX = 64,
	WFS_CODE_AHEAD_BYTES_MAX = 4 << 20, /* bytes of all states and events */
};

/** wfs_code_ahead_begin() - forget all steps ahead, their results included, to begin a new set. */
void wfs_code_ahead_begin(struct wfs_box *box);

/** wfs_code_ahead_add() - add a step to those that wfs_code_ahead_run() will run; at most
 *  WFS_CODE_AHEAD_MAX may be added after wfs_code_ahead_begin()
 *  @code: must live until wfs_code_ahead_run() has returned
 *  @step: as for wfs_code_step(), with a budget; step->event must live until the result is taken,
 *  or until the next wfs_code_ahead_begin(); everything else is borrowed for the call
 *  @event_text: the event's canonical text, borrowed for the call
 *  @state_of: -1: the state is step->state; otherwise the index, in the order of adding, of the
 *  step whose new state is the state of this step
 *  Return: 0, -EFBIG (more than WFS_CODE_AHEAD_BYTES_MAX; the step is left out), or -ENOMEM (no
 *  step will be run ahead). After a failure no other step may be added. */
int wfs_code_ahead_add(struct wfs_code *code, const struct wfs_code_step *step,
	struct wfs_bytes event_text, int state_of);

/** wfs_code_ahead_run() - run all steps that were added, if there are at least two
 *  Reports no failure: if this function has no result for a step, wfs_code_step() runs the step
 *  when it is asked for, and reports its failure. */
void wfs_code_ahead_run(struct wfs_box *box);

/** wfs_code_ahead_work() - Return: the instructions of those steps that wfs_code_ahead_run() has
 *  run with success since wfs_code_ahead_begin(). */
uint64_t wfs_code_ahead_work(const struct wfs_box *box);

/** wfs_code_ahead_taken() - Return: how many results of wfs_code_ahead_run() wfs_code_step() has
 *  taken since wfs_code_ahead_begin(). */
size_t wfs_code_ahead_taken(const struct wfs_box *box);

/* The side that answers calls of running code. The maker embeds it in a struct of its own. */
struct wfs_code_host {
	/**
	 * call() - do what a program (running code of an artifact) asks for; may run other programs
	 * Called on the thread of wfs_code_call(), while that function runs.
	 * @binding_index: of the function, in the bindings of the code
	 * @arguments: array, borrowed for the call; nil is null, but trailing nils are left out
	 * @ret_value: the function's result; the caller owns the reference; NULL: nil
	 * @error: filled unless the result is 0
	 *
	 * Return: 0; 1: raise the message of @error, which the program may catch; or a negative
	 * errno: the host has failed, which ends the program and is returned to its caller.
	 */
	int (*call)(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
		json_t **ret_value, struct wfs_error *error);
};

/* Arguments of one call. All pointers are borrowed for the call. */
struct wfs_code_call {
	const char *function;
	const json_t *arguments;    /* array */
	const json_t *deps;         /* the global `deps`; NULL: nil */
	struct wfs_code_host *host; /* NULL: calling the host's functions raises an error */

	/* Members of the global `ctx`; a text may be NULL. */
	const char *caller;
	const char *origin;
	const char *artifact_id;
	const char *method;
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32]; /* of ctx.random(), which uses its hash; differs from call to call */

	/* The agent's tool call that caused this call; the texts are NULL otherwise. */
	const char *call_id;
	const char *tool_name;
	const char *run_id;
	int64_t turn;

	struct wfs_lua_budget
		*budget;              /* of a call and all nested ones; NULL: only its own bounds */
	enum wfs_lua_failure failure; /* set by the call */
};

/** wfs_code_call() - call the function call->function that a program, the code of an artifact,
 *  defines
 *  A call that begins while another one waits for its host is nested in that one, and may use only
 *  the memory that the outer call has left.
 *  @ret_value: what the function returns; the caller owns the reference; JSON's null for nil and
 *  for no result; not set after a failure
 *  Return: as wfs_code_step(), or the negative errno of call->host. */
int wfs_code_call(struct wfs_code *code, struct wfs_code_call *call, json_t **ret_value,
	struct wfs_error *error);
