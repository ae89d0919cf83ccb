/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a source directory. Whatever it contains, nothing outside of it can be reached.
 */
#include "kernel/manifest/source-impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/manifest/source.h"

/* Relative, without control characters; every component is a name other than `.` and `..`. */
bool source_file_name_valid(const char *name)
{
	size_t size = strlen(name);

	if (size == 0 || size > WFS_SOURCE_FILE_NAME_MAX || name[size - 1] == '/')
		return false;
	for (const char *at = name; *at;) {
		size_t part = strcspn(at, "/");

		if (part == 0 || (part == 1 && at[0] == '.') ||
			(part == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		for (size_t i = 0; i < part; i++) {
			if ((unsigned char)at[i] < 0x20 || at[i] == 0x7f)
				return false;
		}
		at += part;
		at += *at == '/';
	}
	return true;
}

/*
 * Opens component by component without following links, so that nothing outside of the directory
 * can be reached. O_NONBLOCK: opening a pipe must not wait for its writer.
 */
static int file_open(int directory, const char *name, int *ret_fd)
{
	WFS_AUTO_FREE char *copy = strdup(name);
	WFS_AUTO_FD int at = -1;
	char *part = copy;

	if (!copy)
		return -ENOMEM;
	for (;;) {
		char *end = strchrnul(part, '/');
		bool last = !*end;
		int flags = last ? O_NONBLOCK : O_DIRECTORY;
		int next;

		*end = '\0';
		next = openat(at < 0 ? directory : at, part,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | flags);
		if (next < 0)
			return -errno;
		wfs_auto_fd(&at);
		at = next;
		if (last)
			break;
		part = end + 1;
	}
	*ret_fd = WFS_STEAL_FD(at);
	return 0;
}

static int file_read_all(int fd, struct wfs_buffer *buffer)
{
	for (;;) {
		ssize_t size;

		if (wfs_buffer_reserve(buffer, 64 << 10) < 0)
			return -ENOMEM;
		size = read(fd, buffer->data + buffer->size, 64 << 10);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return -errno;
		if (size == 0)
			return 0;
		buffer->size += (size_t)size;
		if (buffer->size > WFS_SOURCE_FILE_MAX)
			return -EFBIG;
	}
}

int source_file_read(int directory, const char *name, struct wfs_buffer *buffer)
{
	WFS_AUTO_FD int fd = -1;
	struct stat status;
	int r = file_open(directory, name, &fd);

	if (r < 0)
		return r;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADF;
	if (status.st_size > WFS_SOURCE_FILE_MAX)
		return -EFBIG;
	return file_read_all(fd, buffer);
}

const char *source_file_reason(int r)
{
	static_assert(WFS_SOURCE_FILE_MAX == 16 << 20, "a reason names the bound");
	switch (r) {
	case -EBADF:
		return "not a regular file";
	case -ELOOP:
		return "a symbolic link, which is not followed";
	case -EFBIG:
		return "larger than 16 MiB";
	default:
		return strerrordesc_np(-r) ? strerrordesc_np(-r) : "unknown error";
	}
}
