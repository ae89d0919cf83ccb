/* SPDX-License-Identifier: Apache-2.0 */
/* A file gets its name when it is complete and on the disk. */
#include "fs/command/frame/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wfs_output_done(struct wfs_output *output)
{
	if (output->fd >= 0) {
		close(output->fd);
		unlink(output->path);
	}
	free(output->path);
}

int wfs_output_make(const char *name, struct wfs_output *output, struct wfs_error *error)
{
	if (asprintf(&output->path, "%s.XXXXXX", name) < 0) {
		output->path = NULL;
		return wfs_error_from_errno(error, -ENOMEM, "write '%s'", name);
	}
	output->fd = mkostemp(output->path, O_CLOEXEC);
	return output->fd < 0 ? wfs_error_from_errno(error, -errno, "write '%s'", name) : 0;
}

static int write_all(int fd, struct wfs_bytes bytes)
{
	size_t written = 0;

	while (written < bytes.size) {
		const ssize_t size =
			write(fd, (const char *)bytes.data + written, bytes.size - written);

		if (size >= 0)
			written += (size_t)size;
		else if (errno != EINTR)
			return -errno;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Syncs the directory, so that the name is on the disk, too. */
static int sync_directory(const char *name)
{
	const char *const slash = strrchr(name, '/');
	WFS_AUTO_FREE char *directory =
		slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
	WFS_AUTO_FD int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (!directory)
		return -ENOMEM;
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int wfs_output_write(struct wfs_output *output, const char *name, struct wfs_bytes bytes,
	struct wfs_error *error)
{
	int r = write_all(output->fd, bytes);

	if (!r && rename(output->path, name) < 0)
		r = -errno;
	if (!r) {
		close(WFS_STEAL_FD(output->fd));
		r = sync_directory(name);
	}
	return r ? wfs_error_from_errno(error, r, "write '%s'", name) : 0;
}
