/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks on threads of their own. See work.h. */
#include "fs/base/work.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "kernel/base/clock.h"
#include "kernel/base/error.h"

struct wfs_work {
	pthread_t threads[WFS_WORK_THREADS_MAX];
	unsigned int thread_count; /* started; changed by new and free only */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Lock for the following: mutex. */
	struct wfs_work_task *tasks; /* sorted by due_ns, or by round */
	uint64_t round;              /* of the last task that was taken */
	bool stopping;
};

/* Waits until the first task is due, and takes it. Return: NULL if the threads are to stop. */
static struct wfs_work_task *work_take(struct wfs_work *work)
{
	WFS_GUARD(&work->mutex);

	for (;;) {
		struct wfs_work_task *task = work->tasks;

		if (!task && work->stopping)
			return NULL;
		if (!task) {
			pthread_cond_wait(&work->changed, &work->mutex);
			continue;
		}
		if (task->due_ns <= wfs_clock_monotonic_ns()) {
			work->tasks = task->next;
			work->round = task->round;
			return task;
		}
		struct timespec until = {
			.tv_sec = task->due_ns / 1000000000, .tv_nsec = task->due_ns % 1000000000};
		pthread_cond_clockwait(&work->changed, &work->mutex, CLOCK_MONOTONIC, &until);
	}
}

static void *work_thread(void *argument)
{
	struct wfs_work *work = argument;
	struct wfs_work_task *task;

	while ((task = work_take(work)))
		task->run(task);
	return NULL;
}

static int work_start(struct wfs_work *work, unsigned int threads)
{
	sigset_t all, old;
	int r = 0;

	/* Only the main thread takes the signals of the process. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (r == 0 && work->thread_count < threads) {
		r = -pthread_create(&work->threads[work->thread_count], NULL, work_thread, work);
		if (r == 0)
			work->thread_count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

int wfs_work_new(unsigned int threads, struct wfs_work **ret_work)
{
	wfs_require(threads >= 1 && threads <= WFS_WORK_THREADS_MAX);
	struct wfs_work *work = calloc(1, sizeof(*work));

	if (!work)
		return -ENOMEM;
	pthread_mutex_init(&work->mutex, NULL);
	pthread_cond_init(&work->changed, NULL);
	int r = work_start(work, threads);
	if (r < 0) {
		wfs_work_free(work);
		return wfs_trace(r);
	}
	*ret_work = work;
	return 0;
}

void wfs_work_add(struct wfs_work *work, struct wfs_work_task *task, unsigned int delay_ms)
{
	struct wfs_work_task **at = &work->tasks;

	task->due_ns = wfs_clock_monotonic_ns() + delay_ms * INT64_C(1000000);
	task->round = 0;
	WFS_GUARD(&work->mutex);
	while (*at && (*at)->due_ns <= task->due_ns)
		at = &(*at)->next;
	task->next = *at;
	*at = task;
	/* Wakes all threads: a single one might be waiting for a later task. */
	pthread_cond_broadcast(&work->changed);
}

void wfs_work_add_in_turn(struct wfs_work *work, struct wfs_work_task *task, const void *user)
{
	struct wfs_work_task **at;

	WFS_GUARD(&work->mutex);
	task->due_ns = 0;
	task->user = user;
	task->round = work->round + 1;
	for (const struct wfs_work_task *other = work->tasks; other; other = other->next)
		if (other->user == user)
			task->round = other->round + 1;
	for (at = &work->tasks; *at && (*at)->round <= task->round; at = &(*at)->next)
		continue;
	task->next = *at;
	*at = task;
	pthread_cond_signal(&work->changed);
}

static void work_stop(struct wfs_work *work)
{
	WFS_GUARD(&work->mutex);

	work->stopping = true;
	pthread_cond_broadcast(&work->changed);
}

void wfs_work_free(struct wfs_work *work)
{
	if (!work)
		return;
	work_stop(work);
	for (unsigned int i = 0; i < work->thread_count; i++)
		pthread_join(work->threads[i], NULL);
	wfs_require(!work->tasks);
	pthread_cond_destroy(&work->changed);
	pthread_mutex_destroy(&work->mutex);
	free(work);
}
