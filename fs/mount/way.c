/* SPDX-License-Identifier: Apache-2.0 */
/* Opening without following links, and paths of open files. See way.h. */
#include "fs/mount/way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

/* Calls openat2(2), for which glibc before 2.43 has no function. */
static int open_without_links(int directory, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	const long fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* Takes @above. */
static int way_init(int above, const char *name, struct wfs_way *ret_way)
{
	struct wfs_way way = {.above = above};
	const int size = snprintf(way.name, sizeof(way.name), "/proc/self/fd/%d/%s", above, name);

	if (size >= (int)sizeof(way.name)) {
		close(above);
		return -ENAMETOOLONG;
	}
	*ret_way = way;
	return 0;
}

int wfs_way_open(const char *path, struct wfs_way *ret_way)
{
	const char *const slash = strrchr(path, '/');

	if (!slash)
		return -EINVAL;
	WFS_AUTO_FREE char *above =
		slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
	const int fd = above ? open_without_links(AT_FDCWD, above) : -ENOMEM;
	return fd < 0 ? fd : way_init(fd, slash[1] ? slash + 1 : ".", ret_way);
}

int wfs_way_open_above(int directory, struct wfs_way *ret_way)
{
	char link[WFS_WAY_LINK_SIZE];
	char path[PATH_MAX];

	wfs_way_link(directory, link);
	const ssize_t size = readlink(link, path, sizeof(path) - 1);
	if (size < 0)
		return -errno;
	path[size] = '\0';
	const char *const slash = strrchr(path, '/');
	const int fd = slash ? open_without_links(directory, "..") : -ENOENT;
	return fd < 0 ? fd : way_init(fd, slash[1] ? slash + 1 : ".", ret_way);
}

void wfs_way_done(struct wfs_way *way)
{
	if (way->above >= 0)
		close(way->above);
	way->above = -1;
}

int wfs_way_directory(const char *path)
{
	return open_without_links(AT_FDCWD, path);
}

int wfs_way_error(struct wfs_error *error, int r, const char *what, const char *path)
{
	if (r != -ELOOP)
		return wfs_error_from_errno(error, r, "%s '%s'", what, path);
	wfs_error_set(error, WFS_E_CONFLICT,
		"cannot %s '%s': a directory of this path has just become a symbolic link", what,
		path);
	return r;
}

void wfs_way_link(int fd, char ret_link[static WFS_WAY_LINK_SIZE])
{
	snprintf(ret_link, WFS_WAY_LINK_SIZE, "/proc/self/fd/%d", fd);
}

static int look(int fd, struct statx *ret_stx)
{
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;

	return statx(fd, "", flags, 0, ret_stx) < 0 ? -errno : 0;
}

int wfs_way_mounted(const struct wfs_way *way, unsigned long *ret_device)
{
	WFS_AUTO_FD int root = open_without_links(way->above, strrchr(way->name, '/') + 1);
	struct statx above = {.stx_mask = 0};
	struct statx on = {.stx_mask = 0};
	int r = root < 0 ? root : look(way->above, &above);

	if (r == 0)
		r = look(root, &on);
	if (r < 0)
		return r;
	if (on.stx_dev_major == above.stx_dev_major && on.stx_dev_minor == above.stx_dev_minor)
		return -ENOENT; /* each connection of FUSE has a number of its own */
	*ret_device = on.stx_dev_minor;
	return WFS_STEAL_FD(root);
}
