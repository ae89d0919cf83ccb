/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files in a directory that is not trusted. */
#include "kernel/base/world-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

enum { SAFE_FLAGS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

const char *wfs_file_kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a regular file";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFDIR:
		return "a directory";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "something else";
	}
}

static int check_kind(
	const char *directory, const char *name, const struct stat *st, struct wfs_error *error)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s/%s' is %s: expected a regular file", directory, name,
		wfs_file_kind_name(st->st_mode));
}

/* @path: of a file or directory. */
static int check_owner(const char *path, const struct stat *st, struct wfs_error *error)
{
	const unsigned long owner = st->st_uid;

	if (st->st_uid == geteuid() || st->st_uid == 0)
		return 0;
	if (geteuid() != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' is owned by user %lu: expected root or user %lu. While user %lu "
			"serves the world ('worldfs serve' or a mount), that process performs the "
			"requests of other users",
			path, owner, (unsigned long)geteuid(), owner);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' is owned by user %lu: expected root. As that user: setpriv "
		"--reuid=%lu --regid=%lu --clear-groups --reset-env worldfs … While user "
		"%lu serves the world ('worldfs serve' or a mount), that process performs "
		"the requests of root",
		path, owner, owner, (unsigned long)st->st_gid, owner);
}

int wfs_world_directory_check(int directory_fd, const char *directory, struct wfs_error *error)
{
	struct stat st;

	if (fstat(directory_fd, &st))
		return wfs_error_from_errno(error, -errno, "open '%s'", directory);
	return check_owner(directory, &st, error);
}

int wfs_world_file_open_at(int directory_fd, const char *directory, const char *name, int flags,
	struct wfs_error *error)
{
	char path[PATH_MAX];
	struct stat st;
	int r = wfs_world_directory_check(directory_fd, directory, error);

	if (r)
		return r;
	/* Checked before, so that a device is not even opened, and after,
	 * because it may be replaced. */
	if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		r = check_kind(directory, name, &st, error);
		if (r)
			return r;
	}
	WFS_AUTO_FD int fd = openat(directory_fd, name, flags | SAFE_FLAGS, 0600);
	if (fd < 0 || fstat(fd, &st))
		return wfs_error_from_errno(error, -errno, "open '%s/%s'", directory, name);
	r = check_kind(directory, name, &st, error);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!r)
		r = check_owner(path, &st, error);
	return r ? r : WFS_STEAL_FD(fd);
}

int wfs_world_file_open(const char *directory, const char *name, int flags, struct wfs_error *error)
{
	WFS_AUTO_FD int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory_fd < 0)
		return wfs_error_from_errno(error, -errno, "open '%s'", directory);
	return wfs_world_file_open_at(directory_fd, directory, name, flags, error);
}

int wfs_beneath_open(int directory_fd, const char *path, int flags)
{
	WFS_AUTO_FD int parent = -1;
	const char *slash;
	struct stat st;

	while ((slash = strchr(path, '/'))) {
		char part[NAME_MAX + 1];

		if ((size_t)(slash - path) >= sizeof(part))
			return -ENAMETOOLONG;
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		const int next = openat(parent < 0 ? directory_fd : parent, part,
			O_RDONLY | O_DIRECTORY | SAFE_FLAGS);
		if (next < 0)
			return -errno;
		if (parent >= 0)
			close(parent);
		parent = next;
		path = slash + 1;
	}
	WFS_AUTO_FD int fd =
		openat(parent < 0 ? directory_fd : parent, path, flags | SAFE_FLAGS, 0600);
	if (fd < 0 || (!(flags & O_DIRECTORY) && fstat(fd, &st)))
		return -errno;
	return !(flags & O_DIRECTORY) && !S_ISREG(st.st_mode) ? -EINVAL : WFS_STEAL_FD(fd);
}

static void path_of(const char *directory, char ret_path[static PATH_MAX])
{
	snprintf(ret_path, PATH_MAX, "%s/" WFS_TIMERS_PAUSED, directory);
}

int wfs_timers_pause(const char *directory, struct wfs_error *error)
{
	WFS_AUTO_FD int fd =
		wfs_world_file_open(directory, WFS_TIMERS_PAUSED, O_WRONLY | O_CREAT, error);

	return fd < 0 ? fd : 0;
}

bool wfs_timers_paused(const char *directory)
{
	char path[PATH_MAX];

	path_of(directory, path);
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int wfs_timers_resume(const char *directory, struct wfs_error *error)
{
	char path[PATH_MAX];

	path_of(directory, path);
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return wfs_error_from_errno(error, -errno, "remove '%s'", path);
}
