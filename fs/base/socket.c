/* SPDX-License-Identifier: Apache-2.0 */
/* Listening on a control socket, and connecting to it. */
#include "fs/base/socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/world-file.h"

enum { FD_PATH_SIZE = 32 };

/* The path in /proc of the file that @fd refers to. */
static void path_of(int fd, char ret_path[static FD_PATH_SIZE])
{
	snprintf(ret_path, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

/* The socket's address through @directory_fd, which must stay open as long as the address is
 * used. */
static struct sockaddr_un address_of(int directory_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory_fd,
		WFS_SOCKET_NAME);
	return address;
}

/* Opens the socket as a file: the descriptor still refers to it if another file gets its name.
 * Return: a descriptor (O_PATH), -ENOENT without @error, or -errno. */
static int file_open(
	int directory_fd, const char *directory, struct stat *ret_status, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = openat(directory_fd, WFS_SOCKET_NAME, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, ret_status) < 0)
		return wfs_error_from_errno(
			error, -errno, "open '%s/%s'", directory, WFS_SOCKET_NAME);
	if (!S_ISSOCK(ret_status->st_mode))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s/%s' is %s: expected a socket", directory, WFS_SOCKET_NAME,
			wfs_file_kind_name(ret_status->st_mode));
	return WFS_STEAL_FD(fd);
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

/* Removes an old socket; a file of another kind stays, and is an error. */
static int remove_left(int directory_fd, const char *directory, struct wfs_error *error)
{
	struct stat status;
	WFS_AUTO_FD int fd = file_open(directory_fd, directory, &status, error);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	return unlinkat(directory_fd, WFS_SOCKET_NAME, 0) < 0 && errno != ENOENT
		? wfs_error_from_errno(error, -errno, "remove the old control socket")
		: 0;
}

/* The name may refer to another file by now, so this changes the mode only of a socket of this
 * user. */
static int admit(int directory_fd, const char *directory, bool others, struct wfs_error *error)
{
	char path[FD_PATH_SIZE];
	struct stat status = {.st_uid = 0};
	WFS_AUTO_FD int fd = file_open(directory_fd, directory, &status, error);

	if (fd == -ENOENT || (fd >= 0 && status.st_uid != geteuid()))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s/%s' was replaced while it was made", directory, WFS_SOCKET_NAME);
	if (fd < 0)
		return fd;
	path_of(fd, path);
	return chmod(path, others ? 0666 : 0600) < 0
		? wfs_error_from_errno(error, -errno, "change which users connect to '%s/%s'",
			  directory, WFS_SOCKET_NAME)
		: 0;
}

int wfs_socket_admit(const char *directory, bool others, struct wfs_error *error)
{
	WFS_AUTO_FD int directory_fd = directory_open(directory);

	return directory_fd < 0 ? wfs_error_from_errno(error, directory_fd, "open '%s'", directory)
				: admit(directory_fd, directory, others, error);
}

int wfs_socket_listen(const char *directory, bool for_others, struct wfs_error *error)
{
	WFS_AUTO_FD int directory_fd = directory_open(directory);
	WFS_AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;

	if (directory_fd < 0)
		return wfs_error_from_errno(error, directory_fd, "open '%s'", directory);
	int r = remove_left(directory_fd, directory, error);
	if (r)
		return r;
	address = address_of(directory_fd);
	/* Linux gives the name the mode that the socket has when it is bound, less the umask. */
	if (fd < 0 || fchmod(fd, 0600) < 0 ||
		bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return wfs_error_from_errno(error, -errno, "make the control socket '%s/%s'",
			directory, WFS_SOCKET_NAME);
	r = for_others ? admit(directory_fd, directory, true, error) : 0;
	if (r)
		return r;
	wfs_socket_pass_descriptors(fd, false);
	return WFS_STEAL_FD(fd);
}

bool wfs_socket_shares(pid_t pid, const char *kind)
{
	char own_path[64];
	char path[64];
	struct stat own;
	struct stat other;

	snprintf(own_path, sizeof(own_path), "/proc/self/ns/%s", kind);
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return pid > 0 && stat(own_path, &own) == 0 && stat(path, &other) == 0 &&
		own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static int check_owner(
	int directory_fd, const char *directory, const struct stat *status, struct wfs_error *error)
{
	struct stat parent;

	if (status->st_uid == geteuid() || status->st_uid == 0 ||
		(fstat(directory_fd, &parent) == 0 && parent.st_uid == status->st_uid))
		return 0;
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s/%s' is owned by user %lu: expected the directory's owner, root, or user %lu",
		directory, WFS_SOCKET_NAME, (unsigned long)status->st_uid,
		(unsigned long)geteuid());
}

/* Source: unix_stream_connect() in Linux net/unix. Return: 0 or -errno. */
static int connect_within(int fd, const struct sockaddr_un *address, unsigned int wait_ms)
{
	const struct timeval limit = {
		.tv_sec = wait_ms / 1000, .tv_usec = (suseconds_t)(wait_ms % 1000) * 1000};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return 0;
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

int wfs_socket_connect(const char *directory, unsigned int wait_ms, struct wfs_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status = {.st_uid = 0};
	WFS_AUTO_FD int directory_fd = directory_open(directory);

	if (directory_fd == -ENOENT)
		return -ENOENT;
	if (directory_fd < 0)
		return wfs_error_from_errno(error, directory_fd, "open '%s'", directory);
	WFS_AUTO_FD int file_fd = file_open(directory_fd, directory, &status, error);
	if (file_fd < 0)
		return file_fd;
	int r = check_owner(directory_fd, directory, &status, error);
	if (r)
		return r;
	path_of(file_fd, address.sun_path);
	WFS_AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = fd < 0 ? -errno : connect_within(fd, &address, wait_ms);
	if (!r)
		return WFS_STEAL_FD(fd);
	return r == -ECONNREFUSED || r == -ETIMEDOUT
		? r
		: wfs_error_from_errno(error, r, "connect to '%s/%s'", directory, WFS_SOCKET_NAME);
}
