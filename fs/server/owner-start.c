/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts an owner in the background. The new process reports through a pipe whether it has
 * started, in one struct report.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>

#include "fs/server/owner.h"
#include "kernel/base/world-file.h"

/* The report of the new process. Both ends are this program, so it needs no encoding. */
struct report {
	int r;
	struct wfs_error error;
};

static int write_report(int fd, int r, const struct wfs_error *error)
{
	const struct report report = {.r = r, .error = *error};

	/* Less than PIPE_BUF, so written as a whole or not at all. */
	_Static_assert(sizeof(report) < PIPE_BUF, "a report is one write");
	return write(fd, &report, sizeof(report)) == (ssize_t)sizeof(report) ? 0 : -EIO;
}

static void on_ready(void *context)
{
	const struct wfs_error none = {.code = WFS_OK};
	int *const fd = context;

	(void)write_report(*fd, 0, &none); /* the waiting process may be gone */
	close(*fd);
	*fd = -1;
}

/* Leaves the terminal and the working directory. */
static int leave_terminal(const char *directory, struct wfs_error *error)
{
	WFS_AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	WFS_AUTO_FD int log_fd = -1;

	if (null_fd < 0)
		return wfs_error_from_errno(error, -errno, "open '/dev/null'");
	log_fd =
		wfs_world_file_open(directory, "worldfs.log", O_WRONLY | O_CREAT | O_APPEND, error);
	if (log_fd ==
		-EROFS) { /* readers get EIO for damaged data, and nothing else would be logged */
		log_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, 0);
		if (log_fd < 0)
			return wfs_error_from_errno(error, -errno, "duplicate a descriptor");
	}
	if (log_fd < 0)
		return log_fd;
	if (setsid() < 0 || chdir("/") < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
		dup2(log_fd, STDOUT_FILENO) < 0 || dup2(log_fd, STDERR_FILENO) < 0)
		return wfs_error_from_errno(error, -errno, "leave the terminal");
	return 0;
}

static _Noreturn void run_in_background(const struct wfs_owner_options *options, int fd)
{
	struct wfs_owner_options own = *options;

	if (own.forked)
		own.forked(own.context);
	struct wfs_error error = {.code = WFS_OK};
	int r = leave_terminal(options->directory, &error);

	own.ready = on_ready;
	own.context = &fd;
	if (!r)
		r = wfs_owner_run(&own, &error);
	if (r && fd >= 0)
		(void)write_report(fd, r, &error);
	_exit(r ? 1 : 0);
}

int wfs_owner_start(const struct wfs_owner_options *options, struct wfs_error *error)
{
	WFS_AUTO_FD int read_fd = -1;
	struct report report;
	ssize_t size;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return wfs_error_from_errno(error, -errno, "make a pipe");
	read_fd = fds[0];
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		run_in_background(options, fds[1]);
	}
	close(fds[1]);
	if (pid < 0)
		return wfs_error_from_errno(error, -errno, "start a process");
	do {
		size = read(read_fd, &report, sizeof(report));
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(report)) {
		(void)waitpid(pid, NULL, 0);
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the process that should own '%s' ended; its worldfs.log may say why",
			options->directory);
	}
	if (report.r) {
		(void)waitpid(pid, NULL, 0);
		*error = report.error;
	}
	return report.r;
}
