/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the guardian ends connections, and when it does not. Daemons are child processes here; calls
 * that would abort a connection are noted in memory that all of the processes share.
 */
#include "tests/fixture/test.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fs/mount/guardian.h"
#include "fs/mount/keeper.h"

enum {
	ABORTS_MAX = 8,
	MESSAGES = 500,
};

/* The connections that guardians have aborted, in order. */
struct aborts {
	atomic_uint count;
	sem_t told; /* posted for each */
	char names[ABORTS_MAX][PATH_MAX];
};

static struct aborts *aborts; /* shared */
static int keeper_fd = -1;    /* a socket of the kind that keepers have */

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int __wrap_wfs_keeper_abort(int fd, const char *name);

int __wrap_wfs_keeper_abort(int fd, const char *name)
{
	const unsigned int i = atomic_load(&aborts->count);

	if (i < ABORTS_MAX)
		snprintf(aborts->names[i], PATH_MAX, "%s%s", name,
			wfs_keeper_is(fd) ? "" : " without its keeper");
	atomic_store(&aborts->count, i + 1);
	return sem_post(&aborts->told);
}
/* NOLINTEND(readability-identifier-naming) */

static int setup(void **state)
{
	*state = NULL;
	aborts = mmap(
		NULL, sizeof(*aborts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* Guardians that lose their daemon become ours, so that we can wait for them. */
	if (aborts == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -1;
	keeper_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return keeper_fd < 0 ? -1 : sem_init(&aborts->told, 1, 0);
}

static int teardown(void **state)
{
	(void)state;
	close(keeper_fd);
	return munmap(aborts, sizeof(*aborts));
}

#define WITH_KEEPER(name) TEST_WITH(name, void *state, setup, teardown)

/* Returns after the guardian has begun to read: a socket does not hold so many messages. */
static int wait_until_it_reads(struct wfs_guardian *guardian)
{
	char path[PATH_MAX];
	int r = 0;

	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (int i = 0; i < MESSAGES && !r; i++) {
		r = wfs_guardian_watch(guardian, path, keeper_fd);
		wfs_guardian_forget(guardian, path);
	}
	return r;
}

/* Runs a daemon with two mounts until the daemon and its guardian have ended. Return: its wait
 * status. */
static int run_daemon(void (*end)(struct wfs_guardian *guardian))
{
	const struct rlimit no_core = {0, 0};
	struct wfs_guardian *guardian = NULL;
	struct wfs_error error;
	int status = -1;
	pid_t daemon = fork();

	if (daemon == 0) {
		if (setrlimit(RLIMIT_CORE, &no_core) || wfs_guardian_new(&guardian, &error) ||
			wait_until_it_reads(guardian) ||
			wfs_guardian_watch(guardian, "/one", keeper_fd) ||
			wfs_guardian_watch(guardian, "/two", keeper_fd))
			_exit(100);
		end(guardian);
		_exit(0);
	}
	assert_true(daemon > 0);
	assert_int_equal(waitpid(daemon, &status, 0), daemon);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return status;
}

static void assert_aborted(const char *first, const char *second)
{
	const unsigned int count = (first ? 1 : 0) + (second ? 1 : 0);

	assert_int_equal(atomic_load(&aborts->count), count);
	if (first)
		assert_string_equal(aborts->names[0], first);
	if (second)
		assert_string_equal(aborts->names[1], second);
}

/* --- daemons that end --- */

static void end_in_order(struct wfs_guardian *guardian)
{
	wfs_guardian_free(guardian);
}

static void just_exit(struct wfs_guardian *guardian)
{
	(void)guardian;
}

static void *exit_when_both_are_aborted(void *argument)
{
	for (int i = 0; i < 2;)
		i += sem_wait(&aborts->told) == 0;
	_exit(0);
	return argument;
}

/* Like a daemon that was killed while one of its threads cannot end: the thread that forked the
 * guardian is gone, and the socket is still open. Here another process keeps the socket open. */
static void be_killed_with_a_thread_that_stays(struct wfs_guardian *guardian)
{
	(void)guardian;
	if (fork() == 0)
		exit_when_both_are_aborted(NULL);
	(void)raise(SIGKILL);
}

static void lose_the_first_thread(struct wfs_guardian *guardian)
{
	pthread_t other;

	(void)guardian;
	if (pthread_create(&other, NULL, exit_when_both_are_aborted, NULL) == 0)
		pthread_exit(NULL);
}

static void forget_one_and_abort(struct wfs_guardian *guardian)
{
	wfs_guardian_forget(guardian, "/one");
	abort();
}

static void abort_at_once(struct wfs_guardian *guardian)
{
	(void)guardian;
	abort();
}

static void take_the_place_of_a_forgotten_one(struct wfs_guardian *guardian)
{
	wfs_guardian_forget(guardian, "/one");
	wfs_guardian_forget(guardian, "/not/watched");
	if (wfs_guardian_watch(guardian, "/three", keeper_fd))
		_exit(100);
	abort();
}

/* --- tests --- */

WITH_KEEPER(a_daemon_that_ends_in_order_aborts_nothing)
{
	assert_int_equal(run_daemon(end_in_order), 0);

	assert_aborted(NULL, NULL);
}

WITH_KEEPER(a_daemon_whose_descriptors_are_closed_aborts_nothing)
{
	assert_int_equal(run_daemon(just_exit), 0);

	assert_aborted(NULL, NULL);
}

WITH_KEEPER(a_killed_daemon_that_is_not_gone_has_its_mounts_aborted)
{
	int status;

	status = run_daemon(be_killed_with_a_thread_that_stays);

	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_aborted("/one", "/two");
}

WITH_KEEPER(a_daemon_without_its_first_thread_has_its_mounts_aborted)
{
	assert_int_equal(run_daemon(lose_the_first_thread), 0);

	assert_aborted("/one", "/two");
}

WITH_KEEPER(a_fatal_signal_has_the_mounts_aborted)
{
	int status;

	status = run_daemon(abort_at_once);

	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_aborted("/one", "/two");
}

WITH_KEEPER(what_was_forgotten_is_not_aborted)
{
	run_daemon(forget_one_and_abort);

	assert_aborted("/two", NULL);
}

WITH_KEEPER(a_new_mount_takes_the_place_of_a_forgotten_one)
{
	run_daemon(take_the_place_of_a_forgotten_one);

	assert_aborted("/three", "/two");
}

WITH_KEEPER(a_path_that_is_too_long_is_refused)
{
	WFS_CLEANUP(wfs_auto_guardian) struct wfs_guardian *guardian = NULL;
	struct wfs_error error;
	char path[PATH_MAX + 2];

	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(wfs_guardian_new(&guardian, &error), 0);

	assert_int_equal(wfs_guardian_watch(guardian, path, keeper_fd), -ENAMETOOLONG);
}
