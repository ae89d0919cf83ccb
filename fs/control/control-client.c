/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out about the process that closes a control file.
 *
 * A flush says only that some descriptor of the open file was closed. A child that inherited it
 * flushes when it ends (`{ cat a; cat b; } > ctl/put-blob` flushes three times), and a killed
 * process flushes like one that is done. So an incomplete request counts as complete only when the
 * process that opened the file closes it by itself, and is dropped only when that process is
 * killed: a child must not drop what others wrote. FUSE gives the thread.
 * Source: Linux fs/fuse/dev.c (fuse_get_req: pid_nr_ns(task_pid(current))); proc(5).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fs/control/control-impl.h"

/* linux/sched.h: "Killed by a signal"; the 9th field of /proc/<pid>/stat has it. */
#define CLIENT_PF_SIGNALED 0x00000400UL

/* Reads the start of /proc/<thread>/<name> into @text. Return: false: it cannot be read. */
static bool client_read(pid_t thread, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)thread, name);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, size - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

pid_t wfs_control_process(pid_t thread)
{
	char status[1024];

	if (thread <= 0)
		return 0;
	/* The usual case, without opening a file: the first thread of a process has the number of
	 * the process. */
	if (syscall(SYS_tgkill, thread, thread, 0) == 0 || errno == EPERM)
		return thread;
	if (!client_read(thread, "status", status, sizeof(status)))
		return 0;
	const char *line = strstr(status, "\nTgid:");
	return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : 0;
}

/* Descriptors that are checked: a process with more would take too much of a worker's time. */
enum { CLIENT_DESCRIPTORS_MAX = 4096 };

/* Is a descriptor of the inode? Return: 1, 0, -ENODATA (Linux before 5.14 does not say), or
 * -errno. */
static int descriptor_is_of(int directory, const char *name, uint64_t ino)
{
	char text[256];
	WFS_AUTO_FD int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (got < 0)
		return errno == ENOENT ? 0 : -errno; /* ENOENT: just closed */
	text[got] = '\0';
	const char *const line = strstr(text, "\nino:");
	return line ? strtoumax(line + strlen("\nino:"), NULL, 10) == ino : -ENODATA;
}

/*
 * Compares only numbers: following a path through a mount of this process could hang. Looks at the
 * thread itself, because a process whose first thread has ended shows no descriptors. A process
 * that is ending shows none either, and closes all.
 */
int wfs_control_holds(pid_t thread, uint64_t ino)
{
	char path[64];
	const struct dirent *entry;
	int count = 0;
	int r = 0;

	if (thread <= 0)
		return -ENODATA;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)thread);
	DIR *const directory = opendir(path);
	if (!directory)
		return -errno;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (r == 0 && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		r = count++ < CLIENT_DESCRIPTORS_MAX
			? descriptor_is_of(dirfd(directory), entry->d_name, ino)
			: -E2BIG;
	}
	closedir(directory);
	return r;
}

bool wfs_control_killed(pid_t thread)
{
	char text[1024];

	if (thread <= 0 || !client_read(thread, "stat", text, sizeof(text)))
		return false;
	/* The name in field 2 may hold anything; the last parenthesis ends it. */
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 9; field++)
		at = strchr(at + 1, ' ');
	return at && (strtoul(at + 1, NULL, 10) & CLIENT_PF_SIGNALED) != 0;
}
