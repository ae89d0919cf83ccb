/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worldfs-outside: the process between a daemon and a server of tools. It starts the server, and
 * ends it with all that the server has started.
 *
 * A daemon that was killed cannot end its children, and a server's own children (npx starts node)
 * may have left its process group. So this process adopts every orphan below it, and does not end
 * before they have. It is a program of its own, because it must not have the memory, environment or
 * descriptors of the daemon, which may hold keys.
 *
 * Arguments: the command of the server. Environment: the server's. Descriptors: 0, 1 and 2 are the
 * server's; 3 is a socket to the daemon, see keeper.h. Users never start it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents/outside/keeper/keeper.h"

enum {
	PAUSE_MS = 10,        /* between two looks at processes that were killed */
	KILL_TRIES_MAX = 200, /* looks, after which those that are left are given up */
	MS_PER_S = 1000,
	NS_PER_MS = 1000000,
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

static void tell(enum keeper_kind kind, int value)
{
	const struct keeper_message message = {.kind = kind, .value = value};

	(void)send(KEEPER_SOCKET, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- the server --- */

static int set_limits(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t bound;
	} limits[] = {
		{RLIMIT_CORE, 0},
		{RLIMIT_CPU, KEEPER_PROCESSOR_S_MAX},
		{RLIMIT_FSIZE, KEEPER_FILE_BYTES_MAX},
		{RLIMIT_NOFILE, KEEPER_FILES_MAX},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit both;

		if (getrlimit(limits[i].resource, &both) < 0)
			return -errno;
		if (both.rlim_max > limits[i].bound)
			both.rlim_max = limits[i].bound;
		both.rlim_cur = both.rlim_max;
		if (setrlimit(limits[i].resource, &both) < 0)
			return -errno;
	}
	return 0;
}

static int prepare(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL); /* an ignored signal stays ignored in a program */
	sigemptyset(&none);
	/* Programs with other rights (sudo) could not be killed. The signal ends the server when
	 * something has killed this process. */
	if (pthread_sigmask(SIG_SETMASK, &none, NULL) != 0 || setsid() < 0 || chdir("/") < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return set_limits();
}

static pid_t start(char **command)
{
	const pid_t pid = fork();

	if (pid != 0)
		return pid;
	const int r = prepare();
	if (r == 0)
		execvp(command[0], command);
	tell(KEEPER_NOT_STARTED, r < 0 ? -r : errno);
	_exit(EXIT_FAILURE);
}

/* --- the end --- */

/* Kills the children of this process, which are the server and the orphans below it. */
static void kill_children(void)
{
	char text[4096];
	const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[size < 0 ? 0 : size] = '\0';
	/* A number that was cut is killed at the next look, and is not ours now. */
	for (char *at = text, *end = NULL; (end = strchr(at, ' ')); at = end + 1)
		(void)kill((pid_t)strtol(at, NULL, 10), SIGKILL);
}

static void kill_all(pid_t server)
{
	const struct timespec pause = {.tv_nsec = (long)PAUSE_MS * NS_PER_MS};

	for (int i = 0; i < KILL_TRIES_MAX; i++) {
		pid_t ended = 0;

		(void)kill(-server, SIGKILL);
		kill_children();
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			continue;
		if (ended < 0)
			return; /* there are no children any more */
		(void)nanosleep(&pause, NULL);
	}
}

/* Collects processes that have ended. Return: has the server? */
static bool reap(pid_t server)
{
	bool gone = false;
	pid_t ended = 0;
	int status = 0;

	while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
		if (ended == server) {
			tell(KEEPER_ENDED, status);
			gone = true;
		}
	return gone;
}

/* Waits until the server has ended, or has to be killed. */
static void keep(pid_t server, int signals)
{
	struct pollfd polled[] = {
		{.fd = signals, .events = POLLIN}, {.fd = KEEPER_SOCKET, .events = POLLIN}};
	int64_t asked_ms = 0; /* when the daemon asked for the end; 0: it has not */
	bool terminated = false;

	for (;;) {
		struct signalfd_siginfo info;
		int wait_ms = -1;

		if (asked_ms > 0) {
			const int64_t gone_ms = now_ms() - asked_ms;

			if (gone_ms >= KEEPER_KILL_MS)
				return;
			if (gone_ms >= KEEPER_TERM_MS && !terminated) {
				terminated = true;
				(void)kill(-server, SIGTERM);
			}
			wait_ms = (int)((terminated ? KEEPER_KILL_MS : KEEPER_TERM_MS) - gone_ms);
		}
		if (poll(polled, sizeof(polled) / sizeof(*polled), wait_ms) < 0)
			continue;
		if (polled[0].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGTERM && asked_ms == 0)
				asked_ms = now_ms();
			if (reap(server))
				return;
		}
		if (polled[1].revents) { /* the daemon sends nothing but the end */
			polled[1].fd = -1;
			if (asked_ms == 0)
				asked_ms = now_ms();
		}
	}
}

int main(int argc, char **argv)
{
	sigset_t all;
	sigset_t watched;

	sigfillset(&all);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	(void)prctl(PR_SET_NAME, "worldfs-outside");
	if (argc < 2 || pthread_sigmask(SIG_SETMASK, &all, NULL) != 0 ||
		close_range(KEEPER_SOCKET + 1, ~0U, 0) < 0 ||
		fcntl(KEEPER_SOCKET, F_SETFD, FD_CLOEXEC) < 0 ||
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0)
		return EXIT_FAILURE;
	(void)setsid(); /* signals of the daemon's terminal are not for this process */
	const int signals = signalfd(-1, &watched, SFD_CLOEXEC);
	const pid_t server = signals < 0 ? -1 : start(argv + 1);
	if (server < 0) {
		tell(KEEPER_NOT_STARTED, errno);
		return EXIT_FAILURE;
	}
	tell(KEEPER_STARTED, server);
	/* Otherwise the server's input would stay open when the daemon closes it, and its output
	 * when the server closes that. */
	(void)close_range(0, 2, 0);
	keep(server, signals);
	kill_all(server);
	return EXIT_SUCCESS;
}
