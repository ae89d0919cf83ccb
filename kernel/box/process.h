/* SPDX-License-Identifier: Apache-2.0 */
/* One process that runs code: starts it, sends requests, ends it. Private to kernel/box. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/box/wire.h"

enum {
	PROCESS_MODULES_MAX = 60,         /* modules of a process; it has room for 64 */
	PROCESS_MODULES_BYTES = 64 << 20, /* memory of these modules, approximately */
};

/* A module that the process has. */
struct process_module {
	uint64_t id;   /* of struct wfs_code (box-impl.h) */
	size_t bytes;  /* memory, approximately */
	uint64_t used; /* value of `use_count` at its last use */
};

struct process {
	pid_t pid;       /* 0: not started */
	char *author;    /* of the code that it runs; owned; NULL: the world */
	bool waits;      /* its run waits for the host */
	uint64_t chosen; /* value of the box's `run_count` when it was chosen for a run */
	int fd;
	int cpu; /* the only processor that it may use; -1: any */
	struct process_module modules[PROCESS_MODULES_MAX];
	size_t module_count;
	uint64_t use_count;
	const _Atomic int64_t *end_ns; /* of the box: no code runs after that; monotonic */
	int64_t time_limit_ns; /* processor time at which the sandbox stops the current run */
	int64_t time_start_ns; /* its processor time when its answer became late; 0: it is not */
	int64_t time_spent_ns; /* monotonic time at which it may reach RLIMIT_CPU; 0: not set yet */
	int64_t time_seen_ns;  /* its processor time when that was last looked at */
	int64_t sleep_start_ns; /* monotonic time since when it sleeps; 0: its answer is not late */
	struct wfs_buffer out;
	struct wfs_buffer in;
};

/** process_start() - start the program in @image_fd (process_image())
 *  @process: not started; the caller has set `end_ns`
 *  @lock: held while the pid is set, so that other threads can kill the process
 *  Return: 0, -ECHILD (the process ended, or did not get ready; no code ran in it), or another
 *  -errno; after a failure @process is not started. */
int process_start(struct process *process, int image_fd, pthread_mutex_t *lock);

/** process_is_quiet() - is the process, which has no run, alive, and has it sent nothing
 *  unasked? */
bool process_is_quiet(const struct process *process);

/** process_end() - kill the process, if it was started, and wait for it; its author and buffers
 *  stay. @lock: held while the pid is set to 0
 *  Return: its wait status (waitpid(2)); 0 if it was not started. */
int process_end(struct process *process, pthread_mutex_t *lock);

/** process_send() - send the frame process->out. Return: 0, -EFBIG (larger than WFS_WIRE_FRAME_MAX,
 *  wire.h; nothing was sent), or -EPIPE, -ETIMEDOUT, -EDEADLK, -EINTR, -ENOMEM or another -errno
 *  for the reasons that process_receive() gives. */
int process_send(struct process *process);

/** process_receive() - receive the answer to the frame that was sent last. @ret_reader: borrows
 *  process->in
 *  Return: 0, -EPIPE (the process ended), -ETIMEDOUT (it uses far more processor time than it may),
 *  -EDEADLK (it sleeps instead of answering), -EINTR (the time *process->end_ns has come), -EBADMSG
 *  (the frame is too large, or bytes follow it), -ENOMEM, or another -errno. After any failure of
 *  this function or process_send() the caller calls process_end(), which these two do not. */
int process_receive(struct process *process, struct wfs_wire_reader *ret_reader);

/** process_image() - copy worldfs-code, the program that runs code, into a sealed memfd.
 *  Return: the memfd, a descriptor that the caller closes, for process_start(); or -errno. */
int process_image(void);
