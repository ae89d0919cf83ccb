/* SPDX-License-Identifier: Apache-2.0 */
/* Makes directories and removes directory trees, with system calls alone. */
#include "kernel/base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

enum {
	LIST_SIZE = 4096, /* bytes of names that are read at once, on the stack of each level */
	DEPTH_MAX = 128,  /* nesting of directories; deeper ones stay */
};

static void remove_content(int fd, unsigned int depth);

/* Return: was the name removed? */
static bool remove_name(int parent_fd, const char *name, unsigned int depth)
{
	if (unlinkat(parent_fd, name, 0) == 0)
		return true;
	if (errno != EISDIR || depth == 0)
		return false;
	WFS_AUTO_FD int fd =
		openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		remove_content(fd, depth - 1);
	return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0;
}

/* A listing may miss names while others are removed, so it is repeated until it removes nothing. */
static void remove_content(int fd, unsigned int depth)
{
	_Alignas(struct dirent64) char names[LIST_SIZE];
	bool removed;
	ssize_t size;

	do {
		removed = false;
		(void)lseek(fd, 0, SEEK_SET);
		while ((size = getdents64(fd, names, sizeof(names))) > 0) {
			for (const char *at = names; at < names + size;) {
				const struct dirent64 *const entry = (const void *)at;

				at += entry->d_reclen;
				if (strcmp(entry->d_name, ".") != 0 &&
					strcmp(entry->d_name, "..") != 0)
					removed |= remove_name(fd, entry->d_name, depth);
			}
		}
	} while (removed);
}

void wfs_directory_clear(int fd)
{
	remove_content(fd, DEPTH_MAX);
}

void wfs_directory_remove(const char *directory)
{
	(void)remove_name(AT_FDCWD, directory, DEPTH_MAX);
}

int wfs_directory_make(int directory_fd, const char *name)
{
	return mkdirat(directory_fd, name, 0700) && errno != EEXIST ? -errno : 0;
}
