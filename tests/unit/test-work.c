/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks on threads of their own: order, delay, and several threads. */
#include "tests/fixture/test.h"

#include <pthread.h>
#include <string.h>

#include "fs/base/work.h"
#include "kernel/base/clock.h"
#include "kernel/base/error.h"

enum { TASK_COUNT = 3 };

/* What the tasks of a test did; they write it under the lock. */
struct record {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	char order[TASK_COUNT + 1];
	size_t count;
	pthread_t thread;
	int64_t at_ns;
};

struct task {
	struct wfs_work_task task; /* first: functions cast back */
	struct record *record;
	char name;
};

static void note(struct wfs_work_task *base)
{
	struct task *task = (struct task *)base;
	struct record *record = task->record;
	WFS_GUARD(&record->mutex);

	record->order[record->count++] = task->name;
	record->thread = pthread_self();
	record->at_ns = wfs_clock_monotonic_ns();
	pthread_cond_signal(&record->changed);
}

static void wait_for(struct record *record, size_t count)
{
	WFS_GUARD(&record->mutex);

	while (record->count < count)
		pthread_cond_wait(&record->changed, &record->mutex);
}

#define RECORD                                                                          \
	{                                                                               \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

TEST(work_runs_a_task_on_another_thread)
{
	struct record record = RECORD;
	struct task task = {.task = {.run = note}, .record = &record, .name = 'a'};
	WFS_AUTO_WORK struct wfs_work *work = NULL;

	assert_int_equal(wfs_work_new(1, &work), 0);

	wfs_work_add(work, &task.task, 0);
	wait_for(&record, 1);

	assert_string_equal(record.order, "a");
	assert_false(pthread_equal(record.thread, pthread_self()));
}

TEST(work_runs_tasks_in_the_order_they_are_due)
{
	struct record record = RECORD;
	struct task late = {.task = {.run = note}, .record = &record, .name = 'c'};
	struct task middle = {.task = {.run = note}, .record = &record, .name = 'b'};
	struct task first = {.task = {.run = note}, .record = &record, .name = 'a'};
	WFS_AUTO_WORK struct wfs_work *work = NULL;

	assert_int_equal(wfs_work_new(1, &work), 0);

	wfs_work_add(work, &late.task, 60);
	wfs_work_add(work, &middle.task, 30);
	wfs_work_add(work, &first.task, 0);
	wait_for(&record, 3);

	assert_string_equal(record.order, "abc");
}

/* Keeps the thread busy until the other tasks were added. */
static void hold(struct wfs_work_task *base)
{
	struct task *task = (struct task *)base;

	pthread_mutex_lock(&task->record->mutex);
	pthread_mutex_unlock(&task->record->mutex);
}

TEST(work_runs_tasks_of_one_user_after_the_other)
{
	static const char *const users[] = {"alice", "bob"};
	struct record record = RECORD;
	struct task first = {.task = {.run = hold}, .record = &record};
	struct task alice = {.task = {.run = note}, .record = &record, .name = 'a'};
	struct task again = {.task = {.run = note}, .record = &record, .name = 'b'};
	struct task bob = {.task = {.run = note}, .record = &record, .name = 'c'};
	WFS_AUTO_WORK struct wfs_work *work = NULL;

	assert_int_equal(wfs_work_new(1, &work), 0);

	pthread_mutex_lock(&record.mutex);
	wfs_work_add_in_turn(work, &first.task, users[0]);
	wfs_work_add_in_turn(work, &alice.task, users[0]);
	wfs_work_add_in_turn(work, &again.task, users[0]);
	wfs_work_add_in_turn(work, &bob.task, users[1]);
	pthread_mutex_unlock(&record.mutex);
	wait_for(&record, 3);

	assert_true(strchr(record.order, 'c') < strchr(record.order, 'b'));
}

TEST(work_does_not_run_a_task_before_its_delay)
{
	struct record record = RECORD;
	struct task task = {.task = {.run = note}, .record = &record, .name = 'a'};
	WFS_AUTO_WORK struct wfs_work *work = NULL;

	assert_int_equal(wfs_work_new(WFS_WORK_THREADS_MAX, &work), 0);
	int64_t before_ns = wfs_clock_monotonic_ns();

	wfs_work_add(work, &task.task, 20);
	wait_for(&record, 1);

	assert_true(record.at_ns - before_ns >= 20 * INT64_C(1000000));
}

TEST(work_runs_what_is_left_before_it_is_freed)
{
	struct record record = RECORD;
	struct task task = {.task = {.run = note}, .record = &record, .name = 'a'};
	struct wfs_work *work = NULL;

	assert_int_equal(wfs_work_new(1, &work), 0);

	wfs_work_add(work, &task.task, 10);
	wfs_work_free(work);

	assert_string_equal(record.order, "a");
}
