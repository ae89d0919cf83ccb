/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at a path that a user gave. It may lead through a file system that hangs, and a thread
 * that waits there can neither be ended nor joined. So a process looks, and its caller waits only
 * up to a limit. The process is not a child of the caller, so the caller need not reap it; it ends
 * by its alarm, or when the file system answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount/mount-table.h"
#include "kernel/base/clock.h"

enum {
	LOOK_LIMIT_S = 10,
	LOOK_GRACE_MS = 1000, /* the caller waits so much longer than the alarm of the process */
};

/* The answer of the process, through a pipe. Both ends are this program, so it needs no
 * encoding. */
struct answer {
	int result;
	char text[PATH_MAX];
};

typedef int look_function(const char *path, char text[static PATH_MAX]);

/* --- in the process: only what is safe in the child of one with threads, signal-safety(7) --- */

static int look_link(const char *path, char text[static PATH_MAX])
{
	/* readlink asks the directory entry, not what is mounted on it. */
	return readlink(path, text, 1) >= 0;
}

static int look_canonical(const char *path, char text[static PATH_MAX])
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	char link[sizeof("/proc/self/fd/") + 1] = "/proc/self/fd/";

	if (fd < 0)
		return -errno;
	wfs_require(fd <= 9); /* everything else is closed */
	link[sizeof("/proc/self/fd/") - 1] = (char)('0' + fd);
	const ssize_t size = readlink(link, text, PATH_MAX - 1);
	if (size < 0)
		return -errno;
	text[size] = '\0';
	return text[0] == '/' ? 0 : -ENOENT;
}

static int look_directory(const char *path, char text[static PATH_MAX])
{
	struct stat found;

	(void)text;
	return stat(path, &found) < 0 ? -errno : S_ISDIR(found.st_mode);
}

static int look_answers(const char *path, char text[static PATH_MAX])
{
	struct stat found;

	(void)text;
	return lstat(path, &found) < 0 ? -errno : 0;
}

_Noreturn static void looker_main(look_function *look, const char *path, int fd)
{
	static struct answer answer;
	sigset_t alarms;

	/* Closes every other descriptor, above all those of the world's lock and of /dev/fuse. */
	if (dup2(fd, STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0U, 0) < 0)
		_exit(1);
	prctl(PR_SET_NAME, "wfs-look");
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	(void)signal(SIGALRM, SIG_DFL);
	(void)pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(LOOK_LIMIT_S);
	answer.result = look(path, answer.text);
	(void)!write(STDIN_FILENO, &answer, sizeof(answer));
	_exit(0);
}

/* --- outside --- */

/* Return: 0 or -errno. */
static int start_looker(look_function *look, const char *path, int fd)
{
	const pid_t between = fork();
	int status;

	if (between == 0) {
		const pid_t looker = _Fork();

		if (looker == 0)
			looker_main(look, path, fd);
		_exit(looker < 0 ? errno : 0);
	}
	if (between < 0)
		return -errno;
	while (waitpid(between, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* Reads the answer. Return: 0, -ETIMEDOUT, -EIO (the process ended without an answer). */
static int read_answer(int fd, struct answer *ret_answer)
{
	const int64_t until_ns =
		wfs_clock_monotonic_ns() + (LOOK_LIMIT_S * 1000 + LOOK_GRACE_MS) * INT64_C(1000000);
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	size_t size = 0;

	while (size < sizeof(*ret_answer)) {
		const int64_t left_ns = until_ns - wfs_clock_monotonic_ns();
		const int n = poll(&polled, 1, left_ns > 0 ? (int)(left_ns / 1000000) : 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? -ETIMEDOUT : -errno;
		if (n < 0)
			continue;
		const ssize_t more =
			read(fd, (char *)ret_answer + size, sizeof(*ret_answer) - size);
		if (more <= 0) /* the process was ended, most likely by its alarm */
			return -ETIMEDOUT;
		size += (size_t)more;
	}
	return 0;
}

/* Has a process call @look. Return: as @look, or -errno; @error is set only if there is no
 * answer. */
static int look_at(
	look_function *look, const char *path, struct answer *ret_answer, struct wfs_error *error)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return wfs_error_from_errno(error, -errno, "look at '%s'", path);
	WFS_AUTO_FD int from = fds[0];
	int r = start_looker(look, path, fds[1]);
	close(fds[1]);
	if (r < 0)
		return wfs_error_from_errno(error, r, "look at '%s'", path);
	r = read_answer(from, ret_answer);
	if (r == -ETIMEDOUT)
		return wfs_error_set(error, WFS_E_TIMEOUT,
			"'%s' does not answer: a file system there, or on the way, hangs", path);
	if (r < 0)
		return wfs_error_from_errno(error, r, "look at '%s'", path);
	return 0;
}

int wfs_mount_look_link(const char *path, struct wfs_error *error)
{
	struct answer answer = {.result = -EIO};
	int r = look_at(look_link, path, &answer, error);

	return r < 0 ? r : answer.result;
}

int wfs_mount_look_canonical(const char *path, char **ret_path, struct wfs_error *error)
{
	struct answer answer = {.result = -EIO};
	int r = look_at(look_canonical, path, &answer, error);

	if (r < 0)
		return r;
	if (answer.result < 0)
		return wfs_error_from_errno(error, answer.result, "resolve '%s'", path);
	*ret_path = strdup(answer.text);
	return *ret_path ? 0 : wfs_error_from_errno(error, -ENOMEM, "resolve '%s'", path);
}

int wfs_mount_look_directory(const char *path, struct wfs_error *error)
{
	struct answer answer = {.result = -EIO};
	int r = look_at(look_directory, path, &answer, error);

	if (r < 0)
		return r;
	if (answer.result < 0)
		return wfs_error_from_errno(error, answer.result, "mount on '%s'", path);
	if (answer.result == 0)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s' is not a directory", path);
	return 0;
}

int wfs_mount_look_answers(const char *path, int *ret_result, struct wfs_error *error)
{
	struct answer answer = {.result = -EIO};
	int r = look_at(look_answers, path, &answer, error);

	if (r < 0)
		return r;
	*ret_result = answer.result;
	return 0;
}
