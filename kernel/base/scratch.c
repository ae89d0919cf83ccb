/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory, and the process that removes it. */
#include "kernel/base/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/directory.h"

enum {
	TRIES = 20, /* at removing: the system may be out of descriptors for a moment */
	PAUSE_NS = 5000000,
};

/* The child. Blocks all signals: those to the process group are meant for the parent. */
_Noreturn static void remover_main(const char *path, int end)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	sigset_t all;
	char byte;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "wfs-remover");
	/* Closes all other descriptors, above all the copy of the parent's end of the pipe. */
	if (dup2(end, STDIN_FILENO) < 0)
		_exit(1);
	closefrom(STDIN_FILENO + 1);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < TRIES; i++) {
		wfs_directory_remove(path);
		if (access(path, F_OK) < 0)
			break;
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

static int start_remover(struct wfs_scratch *scratch, struct wfs_error *error)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return wfs_error_from_errno(error, -errno, "make a pipe");
	scratch->remover = fork();
	if (scratch->remover == 0)
		remover_main(scratch->path, ends[0]);
	int r = scratch->remover < 0 ? -errno : 0;
	close(ends[0]);
	scratch->alive = ends[1];
	if (r) {
		scratch->remover = 0;
		close(scratch->alive);
		return wfs_error_from_errno(error, r, "start a process");
	}
	return 0;
}

int wfs_scratch_init(struct wfs_scratch *scratch, const char *name, struct wfs_error *error)
{
	const char *const parent = secure_getenv("TMPDIR");

	*scratch = (struct wfs_scratch){.alive = -1};
	if ((size_t)snprintf(scratch->path, PATH_MAX, "%s/%s-XXXXXX",
		    parent && *parent ? parent : "/tmp", name) >= PATH_MAX)
		return wfs_error_from_errno(error, -ENAMETOOLONG, "make a temporary directory");
	if (!mkdtemp(scratch->path))
		return wfs_error_from_errno(error, -errno, "make '%s'", scratch->path);
	int r = start_remover(scratch, error);
	if (r)
		wfs_directory_remove(scratch->path);
	return r;
}

void wfs_scratch_done(struct wfs_scratch *scratch)
{
	if (scratch->remover == 0)
		return;
	close(scratch->alive);
	while (waitpid(scratch->remover, NULL, 0) < 0 && errno == EINTR)
		continue;
	scratch->remover = 0;
}
