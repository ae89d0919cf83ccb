/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few threads and a list of tasks for them, with delays: what a FUSE worker must not wait for.
 * Tasks are embedded in what they work on; nothing is allocated.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/cleanup.h"

struct wfs_work;

/* Plain value. Belongs to the work from wfs_work_add until `run` is called. */
struct wfs_work_task {
	void (*run)(struct wfs_work_task *task);
	struct wfs_work_task *next; /* private; lock: the work's */
	int64_t due_ns;             /* private; monotonic clock */
	const void *user;           /* private */
	uint64_t round;             /* private; 0: it has a delay, and no round */
};

enum {
	WFS_WORK_THREADS_MAX = 16,
	WFS_WORK_LONG_NICE = 10, /* priority of threads with what takes long: nice(2) */
};

/** wfs_work_new() - start @threads (1 to WFS_WORK_THREADS_MAX). Return: 0, -EAGAIN, -ENOMEM. */
int wfs_work_new(unsigned int threads, struct wfs_work **ret_work);

/** wfs_work_add() - run @task on one of the threads, not before @delay_ms from now. */
void wfs_work_add(struct wfs_work *work, struct wfs_work_task *task, unsigned int delay_ms);

/**
 * wfs_work_add_in_turn() - run @task when its turn comes: of each user that has tasks one, again and again
 * All tasks of a work are added either so or with delays.
 * @user: whose task it is; compared by address only
 */
void wfs_work_add_in_turn(struct wfs_work *work, struct wfs_work_task *task, const void *user);

/** wfs_work_free() - run the tasks that are left, stop the threads; accepts NULL. */
void wfs_work_free(struct wfs_work *work);
WFS_DEFINE_AUTO(work, struct wfs_work, wfs_work_free)
#define WFS_AUTO_WORK WFS_CLEANUP(wfs_auto_work)
