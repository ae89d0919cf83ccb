/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/box/box*.c: the processes, the modules in them, and checks of their answers
 * (box.c); steps (box-step.c); calls, during which the process asks the host (box-call.c). The
 * process is one that runs Lua code (worldfs-code); a run is one step or call in it; message.h has
 * the messages, wire.h their kinds (WFS_WIRE_…), and kernel/lua/lua.h the kinds of failures
 * (WFS_LUA_FAILURE_…). Functions that return int return 0, or -errno with @error filled.
 */
#pragma once

#include <errno.h>
#include <stdatomic.h>

#include "kernel/base/hash.h"
#include "kernel/base/json.h"
#include "kernel/box/box.h"
#include "kernel/box/message.h"
#include "kernel/box/process.h"
#include "kernel/box/quarantine.h"

enum {
	BOX_SEND_OVERHEAD_BYTES = 4 << 10, /* bytes of a message besides its arguments or result */
	BOX_MESSAGE_KEPT_BYTES = 1 << 20,  /* a larger buffer is freed after a run */
	BOX_IDLE_MAX = 16,                 /* processes without a run, each for another author */
	BOX_PROCESSES_MAX = WFS_BOX_DEPTH_MAX + BOX_IDLE_MAX,
	BOX_MODULES_BYTES =
		128 << 20, /* approximate memory of modules in all processes but the one in use */
};

/* A step that was run in advance. */
struct ahead_step {
	struct wfs_code *code; /* borrowed */
	const json_t *event;   /* borrowed */
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32];
	uint64_t instructions; /* bound of the step's budget when the step was added */
	int state_of;          /* as for wfs_code_ahead_add() (box.h) */
	size_t state_at;       /* offsets in `sent` */
	size_t state_size;
	size_t key_at;
	size_t key_size;
	bool done; /* the step succeeded: `budget` and `result` are set */
	struct wfs_lua_budget budget;
	struct wfs_lua_result result; /* borrows `received` of struct ahead */
};

/* All steps that were run in advance, by one message and its answer. */
struct ahead {
	struct wfs_buffer sent;
	struct wfs_buffer received;
	struct ahead_step steps[WFS_CODE_AHEAD_MAX];
	size_t count;
	size_t next;  /* the first that was not taken or skipped yet */
	size_t taken; /* results that were taken */
};

struct wfs_box {
	int image_fd;     /* of process_image() (process.h); -1: no process was started yet */
	uint64_t last_id; /* of a module */
	size_t depth;     /* unfinished runs, each waiting for the one nested in it */
	struct process processes[BOX_PROCESSES_MAX];
	struct process *at
		[WFS_BOX_DEPTH_MAX]; /* the process of the last run at each depth; NULL: none yet */
	uint64_t run_count;          /* runs so far */
	/* by depth of a waiting run: bytes that it leaves to the run nested in it */
	size_t memory_left[WFS_BOX_DEPTH_MAX];
	pthread_mutex_t lock; /* for every `pid` */
	atomic_bool interrupted;
	_Atomic int64_t
		end_ns; /* no code runs after that; monotonic clock; INT64_MAX: no end is set */
	struct wfs_quarantine *quarantine; /* borrowed; NULL: none */
	bool run_interrupted; /* an interruption made a run fail since the last wfs_box_resume() */
	struct ahead ahead;
};

struct wfs_code {
	struct wfs_box *box; /* borrowed */
	uint64_t id;         /* in messages; never reused */
	struct wfs_lua_options options;
	char *name;      /* owned */
	char *author;    /* owned; NULL: the world */
	char *source;    /* owned */
	uint64_t passed; /* generation of the quarantine when it last did not refuse this code */
	size_t running;  /* runs of this code that have not ended */
};

/** box_ready() - start or choose the process for the next run of @code, and load the module into it
 *  @functions: names, ended by NULL, one of which the module must define; NULL: that was checked
 *  before. @ret_process: borrowed from the box. @run: the next run. Loading is charged to its
 *  budget; if another run waits for its host, run->memory_bytes is set to what that one has left;
 *  after a failure, run->failure says why */
int box_ready(struct wfs_code *code, const char *const *functions, struct process **ret_process,
	struct wfs_lua_run *run, struct wfs_error *error);

/** box_exchange() - send process->out, and receive the answer. @ret_reader: borrows process->in
 *  @code: its bound of instructions gives the processor time that the answer may take
 *  Return: 0, a failure of process_send() or process_receive() (process.h), or -EINTR (the box was
 *  interrupted, or its end has come, before anything was sent). No error is filled: after a failure
 *  the caller calls box_give_up(). */
int box_exchange(
	struct wfs_code *code, struct process *process, struct wfs_wire_reader *ret_reader);

/** box_get_run() - read the state of a run (used budget, failure, memory left) from a message into
 *  @run, which has the state as of the message before
 *  Return: false for impossible values: less budget used than before, or as much as months of work
 *  would use, or an unknown kind of failure; the used budget in @run is then unchanged. */
bool box_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run);

/** box_get_json() - parse a JSON text that the process has sent. @what: name of the text, for
 *  messages
 *  @ret_json: caller owns it. Return: 0, -EBADMSG (not JSON: the caller calls box_give_up()), -EIO
 *  (runtime_error: too many values), or -ENOMEM. */
int box_get_json(const struct wfs_code *code, struct wfs_bytes text, const char *what,
	json_t **ret_json, struct wfs_error *error);

/** box_take_failure() - read an answer that is not WFS_WIRE_DONE: WFS_WIRE_FAILED with an error, or
 *  one that no correct process sends, for which the process is killed (box_give_up())
 *  @run: gets why the run has failed and, from WFS_WIRE_FAILED, its used budget
 *  Return: the -errno of the run, with @error filled. */
int box_take_failure(struct wfs_code *code, struct process *process, struct wfs_wire_reader *reader,
	struct wfs_lua_run *run, struct wfs_error *error);

/** box_give_up() - end the process (if it is alive) of a run whose box_exchange() has failed, or
 *  whose answer is impossible, and count a crash of @code if the code may be to blame
 *  @reason: what box_exchange() has returned; -EBADMSG: an impossible answer
 *  @ret_failure: why the run has failed
 *  Return: the -errno that the run returns, with @error filled; -EINTR if the box was interrupted,
 *  or its end has come. */
int box_give_up(struct wfs_code *code, struct process *process, int reason,
	enum wfs_lua_failure *ret_failure, struct wfs_error *error);

/** box_trim() - free the memory of each buffer of the process that has more than
 *  BOX_MESSAGE_KEPT_BYTES, which few messages need. */
void box_trim(struct process *process);

/** box_seed_of() - hash the seed of a run, for the random numbers of its code. From these numbers
 *  the code cannot learn the seed itself, from which the seeds of other runs are made. */
void box_seed_of(const uint8_t seed[static 32], uint8_t ret_seed[static 32]);

/** box_failure_of() - get the kind of failure of a run. @r: what the function that ran it returns
 *  Return: WFS_LUA_FAILURE_NONE if @r is 0; otherwise run->failure or, if that is
 *  WFS_LUA_FAILURE_NONE (the answer was refused here, for instance because it has too many JSON
 *  values), WFS_LUA_FAILURE_HOST for -ENOMEM, and WFS_LUA_FAILURE_CODE for any other @r. */
enum wfs_lua_failure box_failure_of(const struct wfs_lua_run *run, int r);
