/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a control socket's address. */
#include "fs/server/socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "kernel/base/cleanup.h"

/* The address by way of @directory_fd, which must stay open while it is used. */
static struct sockaddr_un address_of(int directory_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory_fd,
		WFS_SOCKET_NAME);
	return address;
}

static int directory_open(const char *directory)
{
	const int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* include/uapi/asm-generic/socket.h of Linux 6.16 */
#endif

void wfs_socket_pass_descriptors(int fd, bool pass)
{
	const int value = pass;

	(void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value));
}

int wfs_socket_listen(const char *directory, bool for_others, struct wfs_error *error)
{
	WFS_AUTO_FD int directory_fd = directory_open(directory);
	WFS_AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	int r = 0;

	if (directory_fd < 0)
		return wfs_error_from_errno(error, directory_fd, "open '%s'", directory);
	if (unlinkat(directory_fd, WFS_SOCKET_NAME, 0) < 0 && errno != ENOENT)
		return wfs_error_from_errno(error, -errno, "remove the old control socket");
	address = address_of(directory_fd);
	/* Linux gives the name the mode that the socket has when it is bound, less the umask. */
	if (fd < 0 || fchmod(fd, 0600) < 0 ||
		bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		(for_others && fchmodat(directory_fd, WFS_SOCKET_NAME, 0666, 0) < 0))
		r = -errno;
	if (r)
		return wfs_error_from_errno(
			error, r, "make the control socket '%s/%s'", directory, WFS_SOCKET_NAME);
	wfs_socket_pass_descriptors(fd, false);
	return WFS_STEAL_FD(fd);
}

bool wfs_socket_is_here(pid_t pid)
{
	char path[64];
	struct stat own;
	struct stat other;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return pid > 0 && stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 &&
		own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

int wfs_socket_connect(const char *directory)
{
	WFS_AUTO_FD int directory_fd = directory_open(directory);
	WFS_AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;

	if (directory_fd < 0)
		return directory_fd;
	address = address_of(directory_fd);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return WFS_STEAL_FD(fd);
}
