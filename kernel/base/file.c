/* SPDX-License-Identifier: Apache-2.0 */
/* Copying files. */
#include "kernel/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

enum { PIECE_SIZE = 64 << 20 }; /* bytes of one system call */

/* copy_file_range(2) and its file systems, old and new, say so in all of these ways. */
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
