/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few threads that run tasks, also after a delay, so that a FUSE worker need not wait. The caller
 * embeds each task in a struct of its own; this module allocates no tasks.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/cleanup.h"

struct wfs_work;

/* A task. Plain value; set `run`, which is called once for each time that the task is added. A
 * struct wfs_work uses the task until then; `run` may free it or add it again. */
struct wfs_work_task {
	void (*run)(struct wfs_work_task *task);
	struct wfs_work_task *next; /* private; lock: the work's */
	int64_t due_ns;             /* private; monotonic clock */
	const void *user;           /* private */
	uint64_t round;             /* private; 0: from wfs_work_add(), which has no rounds */
};

enum {
	WFS_WORK_THREADS_MAX = 16,
	WFS_WORK_LONG_NICE = 10, /* nice value of threads for long tasks, see nice(2) */
};

/** wfs_work_new() - start @threads threads (1 to WFS_WORK_THREADS_MAX). @ret_work: set on success;
 *  caller frees it with wfs_work_free(). Return: 0, -EAGAIN (a thread cannot be started),
 *  -ENOMEM. */
int wfs_work_new(unsigned int threads, struct wfs_work **ret_work);

/** wfs_work_add() - run @task on one of the threads, not before @delay_ms from now. @task: must not
 *  be waiting in the work already. Thread: any. */
void wfs_work_add(struct wfs_work *work, struct wfs_work_task *task, unsigned int delay_ms);

/** wfs_work_add_in_turn() - run @task in the next round that has no task of @user yet: a round has
 *  at most one task of each user, so that a user with many tasks does not keep others waiting
 *  For one @work, call either only this function or only wfs_work_add().
 *  @task: as for wfs_work_add(). @user: stands for the user to which the task belongs; only this
 *  address is compared. Thread: any. */
void wfs_work_add_in_turn(struct wfs_work *work, struct wfs_work_task *task, const void *user);

/** wfs_work_free() - run the tasks that are left, each after its delay, and stop the threads;
 *  accepts NULL. The caller makes sure that no other thread adds a task any more. */
void wfs_work_free(struct wfs_work *work);
WFS_DEFINE_AUTO(work, struct wfs_work, wfs_work_free)
#define WFS_AUTO_WORK WFS_CLEANUP(wfs_auto_work)
