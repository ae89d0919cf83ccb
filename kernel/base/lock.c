/* SPDX-License-Identifier: Apache-2.0 */
/* The owner's lock. */
#include "kernel/base/lock.h"

#include <fcntl.h>
#include <inttypes.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/world-file.h"

enum { LOCK_POLL_MS = 20 };

#define LOCK_NAME "worldfs.lock"

static pid_t read_pid(int fd)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* Writes over the old bytes, and does not truncate first: a full disk may have no room for new
 * ones. A new file may then be left without a pid; only the lock counts. */
static int write_pid(int fd)
{
	char text[sizeof("-9223372036854775808\n")];

	memset(text, ' ', sizeof(text));
	const int size = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	text[size] = ' ';
	const ssize_t n = pwrite(fd, text, sizeof(text), 0);
	return n < 0 && errno != ENOSPC && errno != EDQUOT ? -errno : 0;
}

int wfs_lock_take(const char *directory, uint32_t wait_ms, struct wfs_error *error)
{
	const int64_t until = wfs_clock_monotonic_ns() + (int64_t)wait_ms * 1000000;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const struct timespec pause = {.tv_nsec = LOCK_POLL_MS * 1000000L};
	WFS_AUTO_FD int fd = wfs_world_file_open(directory, LOCK_NAME, O_RDWR | O_CREAT, error);

	if (fd < 0)
		return wfs_trace(fd);
	while (fcntl(fd, F_OFD_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return wfs_error_from_errno(error, -errno, "lock '%s'", directory);
		if (wfs_clock_monotonic_ns() >= until)
			return wfs_error_set(error, WFS_E_BUSY, "'%s' is owned by process %ld",
				directory, (long)read_pid(fd));
		nanosleep(&pause, NULL);
	}
	int r = write_pid(fd);
	if (r)
		return wfs_error_from_errno(error, r, "write '%s/worldfs.lock'", directory);
	return WFS_STEAL_FD(fd);
}

int wfs_lock_owner(const char *directory, pid_t *ret_pid)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	WFS_AUTO_FD int directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (directory_fd < 0 && errno != ENOENT)
		return -errno;
	/* The world may belong to another user: only a number is read from it. */
	WFS_AUTO_FD int fd =
		directory_fd < 0 ? -ENOENT : wfs_beneath_open(directory_fd, LOCK_NAME, O_RDONLY);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	/* Asks without taking, so that no process that wants to own the directory is hindered. */
	if (fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock))
		return -errno;
	*ret_pid = fd >= 0 && lock.l_type != F_UNLCK ? read_pid(fd) : 0;
	return 0;
}
