/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/box/box*.c: the processes, the modules in them and what is believed of an answer (box.c), steps (box-step.c),
 * calls, in which the process asks the host (box-call.c).
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
	BOX_SEND_OVERHEAD_BYTES = 4 << 10, /* of a question or a result, beside the arguments */
	BOX_MESSAGE_KEPT_BYTES = 1 << 20,  /* of a buffer, between two runs */
	BOX_IDLE_MAX = 16,                 /* processes without a run, each for another author */
	BOX_PROCESSES_MAX = WFS_BOX_DEPTH_MAX + BOX_IDLE_MAX,
	BOX_MODULES_BYTES =
		128 << 20, /* memory of the modules in all processes but the one in use, about */
};

/* A step that was sent ahead. */
struct ahead_step {
	struct wfs_code *code; /* borrowed */
	const json_t *event;   /* borrowed */
	uint64_t seq;
	int64_t at_ns;
	uint8_t seed[32];
	uint64_t instructions; /* of its budget */
	int state_of;
	size_t state_at; /* places in `sent` */
	size_t state_size;
	size_t key_at;
	size_t key_size;
	bool done; /* it gave the following; the texts are in `received` */
	struct wfs_lua_budget budget;
	struct wfs_lua_result result; /* borrows `received` */
};

struct ahead {
	struct wfs_buffer sent;
	struct wfs_buffer received;
	struct ahead_step steps[WFS_CODE_AHEAD_MAX];
	size_t count;
	size_t next; /* those before it were asked for, or passed by */
	size_t taken;
};

struct wfs_box {
	int image_fd; /* -1: no process was started yet */
	uint64_t last_id;
	size_t depth; /* runs that are under way, each waiting for the one within it */
	struct process processes[BOX_PROCESSES_MAX];
	struct process *at
		[WFS_BOX_DEPTH_MAX]; /* the process of the last run at each depth; NULL: none yet */
	uint64_t run_count;
	size_t memory_left[WFS_BOX_DEPTH_MAX]; /* by runs that wait, for those within them */
	pthread_mutex_t lock;                  /* of every `pid` */
	atomic_bool interrupted;
	_Atomic int64_t
		end_ns; /* no code runs any more then; monotonic clock; INT64_MAX: it is not known */
	struct wfs_quarantine *quarantine; /* borrowed; NULL: none */
	bool run_interrupted; /* a run has failed for that since the last wfs_box_resume() */
	struct ahead ahead;
};

struct wfs_code {
	struct wfs_box *box; /* borrowed */
	uint64_t id;         /* in messages; never used again */
	struct wfs_lua_options options;
	char *name;      /* owned */
	char *author;    /* owned; NULL: the world */
	char *source;    /* owned */
	uint64_t passed; /* generation of the quarantine in which it was not refused */
	size_t running;
};

/**
 * box_ready() - the process of the run to come, with the module in it
 * @functions: to check the module for; NULL: it was checked before
 */
int box_ready(struct wfs_code *code, const char *const *functions, struct process **ret_process,
	struct wfs_lua_run *run, struct wfs_error *error);

/** box_exchange() - send what is in process->out. Return: as process_receive() */
int box_exchange(
	struct wfs_code *code, struct process *process, struct wfs_wire_reader *ret_reader);

/**
 * box_get_run() - read how a run stands
 * Return: false: what it says cannot be. A budget never gets smaller, nor larger than months of work, and every kind of failure is known.
 */
bool box_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run);

/** box_get_json() - parse a text that the process sent. @what: names the text in messages.
 *  Return: 0, -EBADMSG (not JSON), -EIO (runtime_error: too many values), or -ENOMEM. */
int box_get_json(const struct wfs_code *code, struct wfs_bytes text, const char *what,
	json_t **ret_json, struct wfs_error *error);

/** box_take_failure() - what a process says that answers FAILED, or something else than it was asked for. Return: -errno */
int box_take_failure(struct wfs_code *code, struct process *process, struct wfs_wire_reader *reader,
	struct wfs_lua_run *run, struct wfs_error *error);

/**
 * box_give_up() - end a process that is of no use any more
 * @reason: of a send or receive
 * Return: -errno, with the message of it
 */
int box_give_up(struct wfs_code *code, struct process *process, int reason,
	enum wfs_lua_failure *ret_failure, struct wfs_error *error);

/** box_trim() - give the memory of large messages back: they are rare. */
void box_trim(struct process *process);

/** box_seed_of() - the seed for code, a hash: what code draws must not tell it the seed of which others are made. */
void box_seed_of(const uint8_t seed[static 32], uint8_t ret_seed[static 32]);

/** box_failure_of() - why a run failed that returned @r. A result too large for values of JSON is the code's failure. */
enum wfs_lua_failure box_failure_of(const struct wfs_lua_run *run, int r);
