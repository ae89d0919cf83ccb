/* SPDX-License-Identifier: Apache-2.0 */
/* The owner's lock: one process has it at a time, others can wait and see which process has it,
 * and it ends with its process. */
#include "tests/fixture/store.h"

#include <signal.h>
#include <sys/wait.h>

#include "kernel/base/clock.h"
#include "kernel/base/lock.h"

/* A process that holds the lock until the test releases it. */
struct holder {
	pid_t pid;
	int fd; /* closing this descriptor releases the holder */
};

static struct holder hold(const struct store_fixture *fixture)
{
	int go[2];
	int ready[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (wfs_lock_take(fixture->directory, 0, NULL) < 0)
			_exit(1);
		if (write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return (struct holder){.pid = pid, .fd = go[1]};
}

static void release(struct holder *holder)
{
	close(holder->fd);
	assert_int_equal(waitpid(holder->pid, NULL, 0), holder->pid);
}

IN_DIRECTORY(a_free_directory_can_be_owned)
{
	pid_t owner = -1;

	assert_int_equal(wfs_lock_owner(fixture->directory, &owner), 0);
	assert_int_equal(owner, 0);
	WFS_AUTO_FD int fd = wfs_lock_take(fixture->directory, 0, &fixture->error);

	assert_true(fd >= 0);
	assert_int_equal(wfs_lock_owner(fixture->directory, &owner), 0);
	assert_int_equal(owner, getpid());
}

IN_DIRECTORY(an_owned_directory_is_busy_and_names_the_owner)
{
	struct holder holder = hold(fixture);
	char text[32];

	int r = wfs_lock_take(fixture->directory, 0, &fixture->error);
	snprintf(text, sizeof(text), "%ld", (long)holder.pid);
	release(&holder);

	assert_int_equal(r, -EBUSY);
	assert_int_equal(fixture->error.code, WFS_E_BUSY);
	assert_non_null(strstr(fixture->error.message, text));
}

IN_DIRECTORY(one_process_does_not_own_a_directory_twice)
{
	WFS_AUTO_FD int fd = wfs_lock_take(fixture->directory, 0, &fixture->error);

	assert_true(fd >= 0);

	assert_int_equal(wfs_lock_take(fixture->directory, 0, &fixture->error), -EBUSY);
}

IN_DIRECTORY(waiting_ends_after_the_time_given)
{
	WFS_AUTO_FD int held = wfs_lock_take(fixture->directory, 0, &fixture->error);
	int64_t start = wfs_clock_monotonic_ns();

	assert_true(held >= 0);
	assert_int_equal(wfs_lock_take(fixture->directory, 100, &fixture->error), -EBUSY);

	assert_true(wfs_clock_monotonic_ns() - start >= INT64_C(100) * 1000000);
}

static void *release_soon(void *holder)
{
	release(holder);
	return NULL;
}

IN_DIRECTORY(waiting_gets_what_is_let_go_of)
{
	struct holder holder = hold(fixture);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, release_soon, &holder), 0);
	WFS_AUTO_FD int fd = wfs_lock_take(fixture->directory, 10000, &fixture->error);
	pthread_join(thread, NULL);

	assert_true(fd >= 0);
}

IN_DIRECTORY(a_killed_owner_owns_nothing)
{
	struct holder holder = hold(fixture);
	pid_t owner = -1;

	assert_int_equal(kill(holder.pid, SIGKILL), 0);
	release(&holder);

	assert_int_equal(wfs_lock_owner(fixture->directory, &owner), 0);
	assert_int_equal(owner, 0);
	WFS_AUTO_FD int fd = wfs_lock_take(fixture->directory, 0, &fixture->error);
	assert_true(fd >= 0);
}

static void *ask_often(void *directory)
{
	pid_t owner;

	for (int i = 0; i < 2000; i++)
		(void)wfs_lock_owner(directory, &owner);
	return NULL;
}

IN_DIRECTORY(asking_for_the_owner_keeps_nobody_from_owning)
{
	pthread_t thread;
	int refused = 0;

	assert_int_equal(pthread_create(&thread, NULL, ask_often, fixture->directory), 0);
	for (int i = 0; i < 2000; i++) {
		WFS_AUTO_FD int fd = wfs_lock_take(fixture->directory, 0, NULL);

		refused += fd < 0;
	}
	pthread_join(thread, NULL);

	assert_int_equal(refused, 0);
}

IN_DIRECTORY(a_directory_that_does_not_exist_is_not_owned)
{
	pid_t owner = -1;

	wfs_directory_remove(fixture->directory);

	assert_int_equal(wfs_lock_owner(fixture->directory, &owner), 0);
	assert_int_equal(owner, 0);
	assert_int_equal(wfs_lock_take(fixture->directory, 0, &fixture->error), -ENOENT);
}

TEST(a_path_that_is_too_long_is_refused)
{
	char path[5000];
	pid_t owner;

	memset(path, 'd', sizeof(path));
	path[sizeof(path) - 1] = '\0';

	assert_int_equal(wfs_lock_take(path, 0, NULL), -ENAMETOOLONG);
	assert_int_equal(wfs_lock_owner(path, &owner), -ENAMETOOLONG);
}
