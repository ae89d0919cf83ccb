/* SPDX-License-Identifier: Apache-2.0 */
/* Faults inside and outside of a guarded call. */
#include "tests/fixture/test.h"

#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/store/guard.h"

enum { PAGE = 4096 };

/* Maps two pages of a file that has one page. */
static uint8_t *map_beyond_the_end(void)
{
	int fd = memfd_create("short", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, PAGE), 0);
	uint8_t *map = mmap(NULL, (size_t)2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	return map;
}

static int read_byte(void *context)
{
	return *(const volatile uint8_t *)context;
}

static int give_seven(void *context)
{
	(void)context;
	return 7;
}

static int leave_by_a_signal(void *context)
{
	(void)context;
	return kill(getpid(), SIGSEGV);
}

/* The signal that ends a process in which @call is called; @guarded: through the guard. The
 * process begins with the system's handlers, whatever the test runs under. */
static int ends_by(int (*call)(void *context), void *context, bool guarded)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		(void)signal(SIGSEGV, SIG_DFL);
		(void)signal(SIGBUS, SIG_DFL);
		guard_init();
		_exit(guarded ? guard_call(call, context) : call(context));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* This test and the next one come first: they need a process that has no handlers yet. */
TEST(a_fault_outside_of_a_guarded_call_ends_the_process_as_before)
{
	uint8_t *map = map_beyond_the_end();

	assert_int_equal(ends_by(read_byte, map + PAGE, false), SIGBUS);
	munmap(map, (size_t)2 * PAGE);
}

TEST(a_signal_that_was_sent_ends_the_process_also_in_a_guarded_call)
{
	assert_int_equal(ends_by(leave_by_a_signal, NULL, true), SIGSEGV);
}

TEST(a_call_gives_what_it_returns)
{
	guard_init();

	assert_int_equal(guard_call(give_seven, NULL), 7);
}

TEST(reading_behind_the_end_of_a_file_is_damage_every_time)
{
	uint8_t *map = map_beyond_the_end();

	guard_init();

	for (int i = 0; i < 3; i++) {
		assert_int_equal(guard_call(read_byte, map + PAGE), MDB_CORRUPTED);
		assert_int_equal(guard_call(read_byte, map), 0);
	}
	munmap(map, (size_t)2 * PAGE);
}

TEST(reading_where_nothing_is_is_damage)
{
	uint8_t *map = map_beyond_the_end();

	guard_init();
	munmap(map, (size_t)2 * PAGE);

	assert_int_equal(guard_call(read_byte, map), MDB_CORRUPTED);
}

static void *read_many_times(void *context)
{
	size_t damaged = 0;

	for (int i = 0; i < 1000; i++)
		damaged += guard_call(read_byte, context) == MDB_CORRUPTED;
	return (void *)(uintptr_t)damaged;
}

TEST(threads_fault_apart)
{
	uint8_t *map = map_beyond_the_end();
	pthread_t threads[4];
	void *damaged;

	guard_init();

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_many_times,
					 map + (i % 2 ? PAGE : 0)),
			0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &damaged), 0);
		assert_int_equal((uintptr_t)damaged, i % 2 ? 1000 : 0);
	}
	munmap(map, (size_t)2 * PAGE);
}
