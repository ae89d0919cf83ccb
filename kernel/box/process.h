/* SPDX-License-Identifier: Apache-2.0 */
/* One process that runs code: started, asked, ended. Private to kernel/box. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/box/wire.h"

enum {
	PROCESS_MODULES_MAX = 60,         /* kept by a process at once; it could keep 64 */
	PROCESS_MODULES_BYTES = 64 << 20, /* memory that they take, about */
};

/* A module that the process has. */
struct process_module {
	uint64_t id;
	size_t bytes;
	uint64_t used; /* when, in uses of the process */
};

struct process {
	pid_t pid;       /* 0: not started */
	char *author;    /* whose code it runs; owned; NULL: the world's */
	bool waits;      /* its run waits for the host */
	uint64_t chosen; /* when it was chosen for a run, in runs of the box */
	int fd;
	int cpu; /* the processor that it runs on; -1: any */
	struct process_module modules[PROCESS_MODULES_MAX];
	size_t module_count;
	uint64_t use_count;
	const _Atomic int64_t *end_ns; /* the box's; borrowed */
	int64_t time_limit_ns; /* processor time of the run in progress, which it must bound itself */
	int64_t time_start_ns; /* its processor time when it was late for the first time; 0: it was not */
	int64_t time_spent_ns; /* when it can have used all that it may, by the monotonic clock; 0: no limit yet */
	int64_t time_seen_ns; /* its processor time at the last look */
	int64_t sleep_start_ns; /* since when it has slept, by the monotonic clock; 0: it was not late */
	struct wfs_buffer out;
	struct wfs_buffer in;
};

/**
 * process_start() - start the program in @image_fd
 * @lock: held while the pid is set, so that others may end the process
 * Return: 0, -ECHILD (it has ended, or does not get ready; no code ran in it), or another -errno.
 */
int process_start(struct process *process, int image_fd, pthread_mutex_t *lock);

/** process_is_quiet() - has a process without a run neither ended nor sent anything? */
bool process_is_quiet(const struct process *process);

/** process_end() - kill it, if it was started. Return: its wait status. */
int process_end(struct process *process, pthread_mutex_t *lock);

/**
 * process_send() - send it what is in process->out
 * Return: 0, -EFBIG (nothing was sent), or as process_receive().
 */
int process_send(struct process *process);

/**
 * process_receive() - what it answers to the frame that was sent
 * Return: 0, -EPIPE (it has ended), -ETIMEDOUT (it takes much more processor time than it may), -EDEADLK (it
 *         sleeps instead of answering), -EBADMSG, -ENOMEM.
 */
int process_receive(struct process *process, struct wfs_wire_reader *ret_reader);

/** process_image() - a sealed file in memory with the program. Return: the descriptor, or -errno. */
int process_image(void);
