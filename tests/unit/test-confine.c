/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs code can still do if the code has taken it over. Each attempt has a
 * process of its own. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/box/inside/confine.h"

enum { X32 = 0x40000000 }; /* __X32_SYSCALL_BIT of asm/unistd.h */

/* Return: the wait status of a process that is confined and then does @act. */
static int status_of(void (*act)(void))
{
	int pair[2];
	int status = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	const pid_t pid = fork();
	if (pid == 0) {
		if (dup2(pair[0], 0) < 0 || confine(0) < 0)
			syscall(SYS_exit_group, 99);
		act();
		syscall(SYS_exit_group, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(pair[0]);
	close(pair[1]);
	return status;
}

/* Ends an attempt that Linux did not stop, whatever its result was. */
#define ATTEMPT(name, ...)                  \
	static void name(void)              \
	{                                   \
		(void)syscall(__VA_ARGS__); \
	}

ATTEMPT(opens, SYS_openat, AT_FDCWD, "/", O_RDONLY)
ATTEMPT(makes_a_socket, SYS_socket, AF_UNIX, SOCK_STREAM, 0)
ATTEMPT(kills, SYS_kill, getppid(), 0)
ATTEMPT(traces, SYS_ptrace, 0, 0, 0, 0)
ATTEMPT(reads_its_parent, SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0)
ATTEMPT(forks, SYS_clone, SIGCHLD, 0, 0, 0, 0)
ATTEMPT(makes_code, SYS_mprotect, 0x10000, 4096, PROT_READ | PROT_EXEC)
ATTEMPT(sends_a_message, SYS_sendmsg, 0, NULL, 0)
ATTEMPT(receives_a_message, SYS_recvmsg, 0, NULL, 0)
ATTEMPT(controls, SYS_ioctl, 0, 0, 0)
ATTEMPT(writes, SYS_write, 0, "x", 1)
ATTEMPT(sends_to_another, SYS_sendto, 1, "x", 1, MSG_NOSIGNAL, NULL, 0)
ATTEMPT(sends_out_of_band, SYS_sendto, 0, "x", 1, MSG_OOB | MSG_NOSIGNAL, NULL, 0)
ATTEMPT(sends_to_an_address, SYS_sendto, 0, "x", 1, MSG_NOSIGNAL, "x", 1)
ATTEMPT(receives_out_of_band, SYS_recvfrom, 0, (char[1]){0}, 1, MSG_OOB, NULL, NULL)
ATTEMPT(looks_at_the_wall_clock, SYS_clock_gettime, CLOCK_REALTIME, &(struct timespec){0})
ATTEMPT(gives_memory_away, SYS_madvise, 0x10000, 4096, MADV_HUGEPAGE)
#if defined(__x86_64__)
ATTEMPT(calls_as_x32, X32 | SYS_getpid)
static void calls_as_i386(void)
{
	long result = 20; /* getpid */

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
}
#endif

TEST(each_system_call_but_a_few_ends_the_process)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} attempts[] = {
#define ROW(name) {#name, name}
		ROW(opens),
		ROW(makes_a_socket),
		ROW(kills),
		ROW(traces),
		ROW(reads_its_parent),
		ROW(forks),
		ROW(makes_code),
		ROW(sends_a_message),
		ROW(receives_a_message),
		ROW(controls),
		ROW(writes),
		ROW(sends_to_another),
		ROW(sends_out_of_band),
		ROW(sends_to_an_address),
		ROW(receives_out_of_band),
		ROW(looks_at_the_wall_clock),
		ROW(gives_memory_away),
#if defined(__x86_64__)
		ROW(calls_as_x32),
		ROW(calls_as_i386),
#endif
#undef ROW
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(attempts); i++) {
		const int status = status_of(attempts[i].act);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			print_error("%s: status %x\n", attempts[i].name, (unsigned int)status);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}

static void waits_and_answers(void)
{
	char byte = 0;
	struct timespec now;

	if (recv(0, &byte, 1, 0) != 1 || byte != 'x' || send(0, "y", 1, MSG_NOSIGNAL) != 1 ||
		syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now) != 0 ||
		syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			-1 ||
		errno != ENOMEM)
		syscall(SYS_exit_group, 1);
}

TEST(waiting_and_answering_are_left)
{
	const int status = status_of(waits_and_answers);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
