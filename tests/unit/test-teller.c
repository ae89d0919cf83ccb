/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that notifies Linux: what it does when Linux has no memory, refuses, or does not
 * return. The test mounts nothing; the wrapped functions act as Linux. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "fs/data/teller.h"

enum {
	SHORT_MS = 100,
	LONG_MS = 3600 * 1000,
	SLOW_CALLS = 10,
};

struct fixture {
	struct wfs_teller *teller;
	atomic_int references;
	sem_t released; /* the last reference except the fixture's own was given back */
	atomic_int aborts;
	atomic_int calls;
	atomic_bool initialised;
	/* What Linux shall do, set before a job. */
	int failures; /* how many of the first calls fail */
	int failure;  /* the result of these calls */
	atomic_bool hangs;
	sem_t hanging; /* posted when a call hangs */
	sem_t go_on;
	long slow_ns; /* the time that every call takes */
};

static struct fixture *fixture; /* for the wrapped functions */
static const struct wfs_numbers numbers;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
struct fuse_session *__wrap_wfs_fuse_session(struct wfs_fuse *fuse);
const char *__wrap_wfs_fuse_directory(const struct wfs_fuse *fuse);
bool __wrap_wfs_fuse_is_initialised(const struct wfs_fuse *fuse);
struct wfs_fuse *__wrap_wfs_fuse_ref(struct wfs_fuse *fuse);
void __wrap_wfs_fuse_unref(struct wfs_fuse *fuse);
void __wrap_wfs_fuse_abort(struct wfs_fuse *fuse);
int __wrap_fuse_lowlevel_notify_inval_entry(
	struct fuse_session *session, fuse_ino_t parent, const char *name, size_t size);
int __wrap_fuse_lowlevel_notify_inval_inode(
	struct fuse_session *session, fuse_ino_t ino, off_t offset, off_t size);
/* NOLINTEND(readability-identifier-naming) */

struct fuse_session *__wrap_wfs_fuse_session(struct wfs_fuse *fuse)
{
	(void)fuse;
	return NULL;
}

const char *__wrap_wfs_fuse_directory(const struct wfs_fuse *fuse)
{
	(void)fuse;
	return "/somewhere";
}

bool __wrap_wfs_fuse_is_initialised(const struct wfs_fuse *fuse)
{
	(void)fuse;
	return atomic_load(&fixture->initialised);
}

struct wfs_fuse *__wrap_wfs_fuse_ref(struct wfs_fuse *fuse)
{
	atomic_fetch_add(&fixture->references, 1);
	return fuse;
}

void __wrap_wfs_fuse_unref(struct wfs_fuse *fuse)
{
	(void)fuse;
	if (atomic_fetch_sub(&fixture->references, 1) == 1)
		sem_post(&fixture->released);
}

void __wrap_wfs_fuse_abort(struct wfs_fuse *fuse)
{
	(void)fuse;
	atomic_fetch_add(&fixture->aborts, 1);
}

/* The notifications about the root and the log when a mount ends neither hang nor count. */
int __wrap_fuse_lowlevel_notify_inval_entry(
	struct fuse_session *session, fuse_ino_t parent, const char *name, size_t size)
{
	const struct timespec slow = {.tv_nsec = fixture->slow_ns};

	(void)session, (void)name, (void)size;
	if (parent == FUSE_ROOT_ID)
		return 0;
	if (atomic_load(&fixture->hangs)) {
		sem_post(&fixture->hanging);
		sem_wait(&fixture->go_on);
	}
	nanosleep(&slow, NULL);
	return atomic_fetch_add(&fixture->calls, 1) < fixture->failures ? fixture->failure : 0;
}

int __wrap_fuse_lowlevel_notify_inval_inode(
	struct fuse_session *session, fuse_ino_t ino, off_t offset, off_t size)
{
	(void)session, (void)ino, (void)offset, (void)size;
	return 0;
}

static int setup(void **state)
{
	fixture = calloc(1, sizeof(*fixture));
	*state = fixture;
	if (!fixture)
		return -1;
	atomic_store(&fixture->initialised, true);
	sem_init(&fixture->released, 0, 0);
	sem_init(&fixture->hanging, 0, 0);
	sem_init(&fixture->go_on, 0, 0);
	return wfs_teller_new(NULL, &numbers, LONG_MS, &fixture->teller);
}

/* Nothing remains allocated, whatever the test did. */
static int teardown(void **state)
{
	(void)state;
	wfs_teller_free(fixture->teller);
	while (sem_wait(&fixture->released) < 0)
		continue;
	sem_destroy(&fixture->released);
	sem_destroy(&fixture->hanging);
	sem_destroy(&fixture->go_on);
	free(fixture);
	return 0;
}

#define TELLER(name) TEST_WITH(name, void *state, setup, teardown)

static void make_teller(unsigned int limit_ms)
{
	wfs_teller_free(fixture->teller);
	while (sem_wait(&fixture->released) < 0)
		continue;
	assert_int_equal(wfs_teller_new(NULL, &numbers, limit_ms, &fixture->teller), 0);
}

static int one_entry(void *context)
{
	(void)context;
	return wfs_teller_entry(fixture->teller, 7, "name", strlen("name"));
}

static int many_entries(void *context)
{
	int r = 0;

	for (int i = 0; i < SLOW_CALLS && !r; i++)
		r = one_entry(context);
	return r;
}

static int note_thread(void *context)
{
	*(pthread_t *)context = pthread_self();
	return -EXDEV;
}

static void *run_one_entry(void *argument)
{
	*(int *)argument = wfs_teller_run(fixture->teller, one_entry, NULL);
	return NULL;
}

TELLER(a_job_runs_on_a_thread_of_the_tellers_and_gives_its_result)
{
	pthread_t thread = pthread_self();

	assert_int_equal(wfs_teller_run(fixture->teller, note_thread, &thread), -EXDEV);

	assert_false(pthread_equal(thread, pthread_self()));
}

TELLER(a_notification_without_memory_is_sent_again)
{
	fixture->failures = 2;
	fixture->failure = -ENOMEM;

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), 0);

	assert_int_equal(atomic_load(&fixture->calls), 3);
}

TELLER(a_notification_that_never_gets_memory_has_failed)
{
	fixture->failures = 1000;
	fixture->failure = -ENOMEM;

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ENOMEM);

	assert_in_range(atomic_load(&fixture->calls), 2, 20);
}

TELLER(a_notification_that_is_refused_is_not_sent_again)
{
	fixture->failures = 1;
	fixture->failure = -EINVAL;

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -EINVAL);

	assert_int_equal(atomic_load(&fixture->calls), 1);
}

TELLER(of_a_mount_that_is_gone_nothing_was_known)
{
	fixture->failures = 1;
	fixture->failure = -ENODEV;

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ENOENT);
}

/* libfuse refuses notifications then, but a mount with new records must not be ended for that. */
TELLER(before_linux_begins_the_session_nothing_is_known)
{
	atomic_store(&fixture->initialised, false);
	fixture->failures = 1;
	fixture->failure = -ENOSYS;

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ENOENT);

	assert_int_equal(atomic_load(&fixture->calls), 0);
	assert_int_equal(atomic_load(&fixture->aborts), 0);
}

TELLER(a_connection_is_ended_once)
{
	wfs_teller_end(fixture->teller, "a test");
	wfs_teller_end(fixture->teller, "a test");

	assert_int_equal(atomic_load(&fixture->aborts), 1);
}

TELLER(who_waits_for_one_that_hangs_goes_on_and_the_connection_is_ended)
{
	make_teller(SHORT_MS);
	atomic_store(&fixture->hangs, true);

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);

	assert_int_equal(atomic_load(&fixture->aborts), 1);
	assert_int_equal(atomic_load(&fixture->calls), 0);
	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);
	/* The teller is freed before the call returns. */
	wfs_teller_free(WFS_STEAL(fixture->teller));
	sem_post(&fixture->go_on);
}

TELLER(who_waits_for_his_turn_goes_on_as_well)
{
	pthread_t first;
	int r = 0;

	make_teller(SHORT_MS);
	atomic_store(&fixture->hangs, true);
	assert_int_equal(pthread_create(&first, NULL, run_one_entry, &r), 0);
	sem_wait(&fixture->hanging);

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);

	pthread_join(first, NULL);
	assert_int_equal(r, -ECANCELED);
	assert_int_equal(atomic_load(&fixture->aborts), 1);
	sem_post(&fixture->go_on);
}

TELLER(many_that_take_their_time_are_no_hang)
{
	make_teller(10 * SHORT_MS);
	fixture->slow_ns = 3L * SHORT_MS / 2 * 1000 * 1000;

	assert_int_equal(wfs_teller_run(fixture->teller, many_entries, NULL), 0);

	assert_int_equal(atomic_load(&fixture->calls), SLOW_CALLS);
	assert_int_equal(atomic_load(&fixture->aborts), 0);
}

TELLER(a_stopped_teller_begins_nothing)
{
	wfs_teller_stop(fixture->teller);

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);

	assert_int_equal(atomic_load(&fixture->calls), 0);
	assert_int_equal(atomic_load(&fixture->aborts), 0);
}

/* The limit is an hour here. */
TELLER(one_that_is_stopped_is_not_waited_for_long_and_not_ended)
{
	pthread_t first;
	int r = 0;

	atomic_store(&fixture->hangs, true);
	assert_int_equal(pthread_create(&first, NULL, run_one_entry, &r), 0);
	sem_wait(&fixture->hanging);

	wfs_teller_stop(fixture->teller);

	pthread_join(first, NULL);
	assert_int_equal(r, -ECANCELED);
	assert_int_equal(atomic_load(&fixture->aborts), 0);
	sem_post(&fixture->go_on);
}

static int post_done(void *context)
{
	(void)context;
	sem_post(&fixture->hanging);
	return -EXDEV;
}

TELLER(what_is_posted_is_done_and_nobody_waits)
{
	pthread_t thread = pthread_self();

	wfs_teller_post(fixture->teller, post_done, NULL);

	sem_wait(&fixture->hanging);
	assert_int_equal(wfs_teller_run(fixture->teller, note_thread, &thread), -EXDEV);
	assert_int_equal(atomic_load(&fixture->aborts), 0);
}

TELLER(who_waits_for_what_was_posted_gives_up_as_well)
{
	make_teller(SHORT_MS);
	atomic_store(&fixture->hangs, true);
	wfs_teller_post(fixture->teller, one_entry, NULL);
	sem_wait(&fixture->hanging);

	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);

	assert_int_equal(atomic_load(&fixture->aborts), 1);
	sem_post(&fixture->go_on);
}

/* The limit is an hour here. */
TELLER(what_was_posted_and_hangs_is_left_behind)
{
	atomic_store(&fixture->hangs, true);
	wfs_teller_post(fixture->teller, one_entry, NULL);
	sem_wait(&fixture->hanging);

	wfs_teller_free(WFS_STEAL(fixture->teller));

	assert_int_equal(atomic_load(&fixture->calls), 0);
	sem_post(&fixture->go_on);
}

TELLER(nothing_is_posted_to_one_that_is_stopped)
{
	wfs_teller_stop(fixture->teller);

	wfs_teller_post(fixture->teller, one_entry, NULL);

	wfs_teller_free(WFS_STEAL(fixture->teller));
	assert_int_equal(atomic_load(&fixture->calls), 0);
}

/* Pages of a file must be dropped even if the teller's thread has ended. */
TELLER(an_inode_is_told_without_the_thread)
{
	make_teller(SHORT_MS);
	atomic_store(&fixture->hangs, true);
	assert_int_equal(wfs_teller_run(fixture->teller, one_entry, NULL), -ECANCELED);

	assert_int_equal(wfs_teller_inode_here(fixture->teller, 7, 0), 0);

	sem_post(&fixture->go_on);
}

TEST(the_limit_is_what_the_user_says)
{
	static const struct {
		const char *text;
		unsigned int limit_ms;
	} cases[] = {
		{"1", 1000},
		{"3600", 3600 * 1000},
		{"0", WFS_TELLER_LIMIT_MS},
		{"3601", WFS_TELLER_LIMIT_MS},
		{"-1", WFS_TELLER_LIMIT_MS},
		{"2s", WFS_TELLER_LIMIT_MS},
		{"", WFS_TELLER_LIMIT_MS},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("'%s'\n", cases[i].text);
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads the environment */
		setenv("WORLDFS_NOTIFY_LIMIT", cases[i].text, 1);
		assert_int_equal(wfs_teller_limit_ms(), cases[i].limit_ms);
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	unsetenv("WORLDFS_NOTIFY_LIMIT");
	assert_int_equal(wfs_teller_limit_ms(), WFS_TELLER_LIMIT_MS);
}
