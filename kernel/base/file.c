/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and copying whole files. */
#include "kernel/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

enum { PIECE_SIZE = 64 << 20 }; /* bytes of one system call */

/* Does this errno mean that copy_file_range(2) does not work between these two files? */
static bool cannot_share(int number)
{
	return number == EXDEV || number == EINVAL || number == EOPNOTSUPP || number == ENOSYS;
}

int wfs_file_copy(int from, int to)
{
	bool share = true;

	for (;;) {
		const ssize_t size = share ? copy_file_range(from, NULL, to, NULL, PIECE_SIZE, 0)
					   : sendfile(to, from, NULL, PIECE_SIZE);

		if (size == 0)
			return 0;
		if (size < 0 && share && cannot_share(errno))
			share = false;
		else if (size < 0 && errno != EINTR)
			return -errno;
	}
}

int wfs_file_read(int fd, size_t size_max, struct wfs_buffer *buffer)
{
	const size_t before = buffer->size;
	ssize_t size;

	do {
		if (wfs_buffer_reserve(buffer, 4096))
			return -ENOMEM;
		size = read(fd, buffer->data + buffer->size, 4096);
		buffer->size += size > 0 ? (size_t)size : 0;
	} while (size > 0 && buffer->size - before <= size_max);
	if (size < 0)
		return -errno;
	return buffer->size - before > size_max ? -EFBIG : 0;
}
