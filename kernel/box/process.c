/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that runs code, waits for it and ends it. */
#include "kernel/box/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"

enum {
	SEAL_TRIES = 100,
	SEAL_PAUSE_NS = 10 * 1000 * 1000,
	LATE_MS = 200, /* after this its processor time is checked, again and again */
	NS_PER_SECOND = 1000 * 1000 * 1000,
	SLACK_NS = NS_PER_SECOND, /* processor time beyond that at which the sandbox stops code */
	SLEEP_MAX_NS = NS_PER_SECOND, /* without using a processor; code never sleeps */
};

/* The same bound for systems that hide its state: it may be waiting for a processor. */
#define IDLE_MAX_NS (INT64_C(5) * NS_PER_SECOND)

/* Processor time that RLIMIT_CPU allows beyond that of a run,
 * to code that has taken over the process. */
#define SPARE_NS (INT64_C(60) * NS_PER_SECOND)

/* The program; made by the build from its file (make-image). */
extern const char wfs_code_image[];
extern const char wfs_code_image_end[];

/* Linux refuses with EBUSY while it still uses pages of the file, which takes a moment. */
static int seal(int fd)
{
	const struct timespec pause = {.tv_nsec = SEAL_PAUSE_NS};

	for (int i = 0; i < SEAL_TRIES; i++) {
		if (fcntl(fd, F_ADD_SEALS,
			    F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
			return 0;
		if (errno != EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return -errno;
}

int process_image(void)
{
	const size_t size = (size_t)(wfs_code_image_end - wfs_code_image);
	WFS_AUTO_FD int fd = memfd_create("worldfs-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size;) {
		const ssize_t written = write(fd, wfs_code_image + done, size - done);

		if (written < 0)
			return -errno;
		done += (size_t)written;
	}
	int r = seal(fd);
	return r < 0 ? r : WFS_STEAL_FD(fd);
}

/* The child of vfork(), which shares the parent's memory, so it only makes system calls. */
_Noreturn static void become(int image_fd, int socket)
{
	static char name[] = "worldfs-code";
	char *const arguments[] = {name, NULL};
	char *const environment[] = {NULL};
	sigset_t limit;

	/* Unblock the signal of the limit that allow_time() sets; all others stay blocked. */
	sigemptyset(&limit);
	sigaddset(&limit, SIGXCPU);
	(void)pthread_sigmask(SIG_UNBLOCK, &limit, NULL);
	if (socket == STDIN_FILENO ? fcntl(socket, F_SETFD, 0) == 0
				   : dup2(socket, STDIN_FILENO) >= 0)
		(void)syscall(SYS_execveat, image_fd, "", arguments, environment, AT_EMPTY_PATH);
	_exit(127);
}

static pid_t spawn(int image_fd, int socket)
{
	sigset_t all;
	sigset_t before;
	pid_t pid = 0;

	/* Blocked, because no handler of the parent may run in the child. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	/* fork() would copy the page tables.
	 * NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork) */
	pid = vfork();
	if (pid == 0)
		/* It makes system calls alone. NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
		become(image_fd, socket);
	const int reason = errno;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -reason : pid;
}

bool process_is_quiet(const struct process *process)
{
	char byte;

	return recv(process->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

int process_end(struct process *process, pthread_mutex_t *lock)
{
	const pid_t pid = process->pid;
	int status = 0;

	if (pid == 0)
		return 0;
	/* Once the process is waited for, its id may be given to another one, which
	 * wfs_box_interrupt() must not kill. */
	pthread_mutex_lock(lock);
	process->pid = 0;
	pthread_mutex_unlock(lock);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	close(process->fd);
	process->fd = -1;
	return status;
}

/* Return: 0 also when the system does not say */
static int64_t processor_time_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec now;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) < 0)
		return 0;
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Is the process asleep or stopped? Waiting for a processor or a disk is neither.
 * Return: 1, 0, or -1: unknown, without a descriptor or where /proc hides it */
static int sleeps(pid_t pid)
{
	char path[32];
	char text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	WFS_AUTO_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (size < 0)
		return -1;
	text[size] = '\0';
	/* The process chooses the name in front of its state, which may contain anything. */
	const char *const state = strrchr(text, ')');
	return state && (strncmp(state, ") S", 3) == 0 || strncmp(state, ") T", 3) == 0);
}

static int go_on(void *context)
{
	struct process *const process = context;
	const int64_t used = processor_time_ns(process->pid);
	const int64_t now = wfs_clock_monotonic_ns();
	const int asleep = sleeps(process->pid);
	const int64_t most = asleep < 0 ? IDLE_MAX_NS : SLEEP_MAX_NS;

	if (now >= atomic_load(process->end_ns))
		return -EINTR;
	if (process->time_start_ns == 0)
		process->time_start_ns = used;
	if (used - process->time_start_ns > process->time_limit_ns + SLACK_NS)
		return -ETIMEDOUT;
	if (process->sleep_start_ns == 0 || used != process->time_seen_ns || asleep == 0)
		process->sleep_start_ns = now;
	process->time_seen_ns = used;
	return now - process->sleep_start_ns > most ? -EDEADLK : 0;
}

static void begin_waiting(struct process *process)
{
	process->time_start_ns = 0;
	process->sleep_start_ns = 0;
}

/*
 * Moves the process to the caller's processor, which is free while the caller sleeps: waking
 * another processor takes longer than most code runs. This is for speed only; where it is not
 * allowed, the process runs anywhere.
 */
static void follow_caller(struct process *process)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == process->cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(process->pid, sizeof(set), &set);
	process->cpu = cpu;
}

/*
 * Raises the limit at which Linux ends the process to make room for the next run. The limit is for
 * code that has taken over the process and uses a processor without a run. A process of one thread
 * uses no more processor time than time passes, so most runs only need to read the clock. Where the
 * owner may not set the limit (as root of some containers), such code goes on until the process is
 * needed.
 */
static void allow_time(struct process *process)
{
	const int64_t now = wfs_clock_monotonic_ns();
	const int64_t needed = process->time_limit_ns + SLACK_NS;
	struct rlimit limit;

	if (now + needed < process->time_spent_ns ||
		prlimit(process->pid, RLIMIT_CPU, NULL, &limit) < 0)
		return;
	process->time_spent_ns = now + needed + SPARE_NS;
	limit.rlim_cur =
		1 + (rlim_t)((processor_time_ns(process->pid) + needed + SPARE_NS) / NS_PER_SECOND);
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	(void)prlimit(process->pid, RLIMIT_CPU, &limit, NULL);
}

int process_send(struct process *process)
{
	allow_time(process);
	begin_waiting(process);
	follow_caller(process);
	return wfs_wire_send(process->fd, &process->out, go_on, process);
}

int process_receive(struct process *process, struct wfs_wire_reader *ret_reader)
{
	begin_waiting(process);
	return wfs_wire_receive(process->fd, &process->in, ret_reader, go_on, process);
}

/* Waits for READY. Without memory, or where it cannot be confined, the process ends before it. */
static int wait_until_ready(struct process *process, pthread_mutex_t *lock)
{
	struct wfs_wire_reader reader;
	const int r = process_receive(process, &reader);

	if (r == 0 && reader.kind == WFS_WIRE_READY && wfs_wire_is_whole(&reader))
		return 0;
	process_end(process, lock);
	return r == -ENOMEM ? r : -ECHILD;
}

/* Starts the process. When this returns, only the process has the other end of the socket. */
static int begin(struct process *process, int image_fd, pthread_mutex_t *lock)
{
	const struct timeval late = {.tv_usec = (suseconds_t)LATE_MS * 1000};
	int pair[2];
	pid_t pid = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	WFS_AUTO_FD int own = pair[0];
	WFS_AUTO_FD int other = pair[1];
	if (setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &late, sizeof(late)) < 0 ||
		setsockopt(own, SOL_SOCKET, SO_SNDTIMEO, &late, sizeof(late)) < 0)
		return -errno;
	pid = spawn(image_fd, other);
	if (pid < 0)
		return (int)pid;
	process->fd = WFS_STEAL_FD(own);
	process->cpu = -1;
	process->module_count = 0;
	process->time_spent_ns = 0;
	pthread_mutex_lock(lock);
	process->pid = pid;
	pthread_mutex_unlock(lock);
	return 0;
}

int process_start(struct process *process, int image_fd, pthread_mutex_t *lock)
{
	const int r = begin(process, image_fd, lock);

	return r < 0 ? r : wait_until_ready(process, lock);
}
