/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines as datagrams of journald's native protocol, or on stderr with a priority. */
#include "kernel/base/journald.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

enum { PRINCIPAL_FIELD_SIZE = 160 }; /* an id has at most 128 bytes */

/* Written at start-up, read by every thread. */
static unsigned long long stream_device, stream_inode;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char world_field[PATH_MAX + sizeof("WORLD=\n")];

static _Atomic uint64_t world_height;

/* Of syslog(3). */
static const int priorities[] = {
	[WFS_LOG_ERR] = 3,
	[WFS_LOG_WARNING] = 4,
	[WFS_LOG_NOTICE] = 5,
	[WFS_LOG_INFO] = 6,
	[WFS_LOG_DEBUG] = 7,
};

/* Asked for each line: a daemon that leaves its terminal gets another stderr. */
static bool stderr_is_stream(void)
{
	struct stat status;

	return fstat(STDERR_FILENO, &status) == 0 && status.st_dev == stream_device &&
		status.st_ino == stream_inode;
}

/* @ret_field: `NAME=value\n`; empty without a value. An id that does not fit is cut. */
static void principal_write(const char *principal, char ret_field[static PRINCIPAL_FIELD_SIZE])
{
	char id[PRINCIPAL_FIELD_SIZE - sizeof("PRINCIPAL=\n") + 1];

	ret_field[0] = '\0';
	if (!principal)
		return;
	(void)snprintf(id, sizeof(id), "%s", principal);
	wfs_line_clean(id, strlen(id));
	(void)snprintf(ret_field, PRINCIPAL_FIELD_SIZE, "PRINCIPAL=%s\n", id);
}

/* Return: true if journald has the entry. Lines are shorter than a datagram may be. */
static bool entry_send(int priority, const char *principal, const char *line, size_t size)
{
	WFS_AUTO_FD int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const uint64_t height = atomic_load(&world_height);
	char principal_field[PRINCIPAL_FIELD_SIZE];
	char height_field[sizeof("HEIGHT=18446744073709551615\n")] = "";
	char head[64];

	principal_write(principal, principal_field);
	if (height > 0)
		(void)snprintf(height_field, sizeof(height_field), "HEIGHT=%" PRIu64 "\n", height);
	(void)snprintf(
		head, sizeof(head), "SYSLOG_IDENTIFIER=worldfs\nPRIORITY=%d\nMESSAGE=", priority);

	struct iovec parts[] = {
		{.iov_base = world_field, .iov_len = strlen(world_field)},
		{.iov_base = height_field, .iov_len = strlen(height_field)},
		{.iov_base = principal_field, .iov_len = strlen(principal_field)},
		{.iov_base = head, .iov_len = strlen(head)},
		{.iov_base = (char *)line, .iov_len = size},
	};
	const struct msghdr message = {
		.msg_name = &address,
		.msg_namelen = sizeof(address),
		.msg_iov = parts,
		.msg_iovlen = WFS_ARRAY_COUNT(parts),
	};

	return fd >= 0 && sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static bool line_send(
	enum wfs_log_level level, const char *principal, const char *line, size_t size)
{
	char prefix[8];

	if (!stderr_is_stream())
		return false;
	if (entry_send(priorities[level], principal, line, size))
		return true;
	(void)snprintf(prefix, sizeof(prefix), "<%d>", priorities[level]);

	struct iovec parts[] = {
		{.iov_base = prefix, .iov_len = strlen(prefix)},
		{.iov_base = (char *)line, .iov_len = size},
	};

	return writev(STDERR_FILENO, parts, WFS_ARRAY_COUNT(parts)) >= 0;
}

static int stream_parse(
	const char *text, unsigned long long *ret_device, unsigned long long *ret_inode)
{
	char *end = NULL;

	errno = 0;
	const unsigned long long device = strtoull(text, &end, 10);

	if (errno != 0 || end == text || *end != ':')
		return -EINVAL;
	text = end + 1;

	const unsigned long long inode = strtoull(text, &end, 10);

	if (errno != 0 || end == text || *end != '\0')
		return -EINVAL;
	*ret_device = device;
	*ret_inode = inode;
	return 0;
}

int wfs_journald_setup(const char *stream, const char *socket)
{
	int r;

	if (!stream)
		return 0;
	if (strlen(socket) >= sizeof(address.sun_path))
		return -EINVAL;
	r = stream_parse(stream, &stream_device, &stream_inode);
	if (r < 0)
		return r;
	memcpy(address.sun_path, socket, strlen(socket) + 1);
	wfs_log_divert(line_send);
	return 0;
}

void wfs_journald_world(const char *directory)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s", directory);
	wfs_line_clean(path, strlen(path));
	(void)snprintf(world_field, sizeof(world_field), "WORLD=%s\n", path);
}

void wfs_journald_height(uint64_t height)
{
	atomic_store(&world_height, height);
}
