/* SPDX-License-Identifier: Apache-2.0 */
/* Reads input of commands. */
#include "fs/command/frame/input.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 64 << 10 }; /* bytes asked for at once */

int wfs_input_open(const char *path, struct wfs_error *error)
{
	const int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					      : open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? wfs_error_from_errno(error, -errno, "open '%s'", path) : fd;
}

/* Appends available bytes. Return: how many, 0 at the end, or -errno. */
static ssize_t read_some(int fd, struct wfs_buffer *buffer)
{
	ssize_t size;

	if (wfs_buffer_reserve(buffer, READ_SIZE) < 0)
		return -ENOMEM;
	do {
		size = read(fd, buffer->data + buffer->size, READ_SIZE);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	buffer->size += (size_t)size;
	return size;
}

int wfs_input_read(
	const char *path, size_t size_max, struct wfs_buffer *buffer, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = wfs_input_open(path, error);
	const size_t start = buffer->size;
	ssize_t size = 1;

	if (fd < 0)
		return fd;
	while (size > 0) {
		size = read_some(fd, buffer);
		if (size < 0)
			return wfs_error_from_errno(error, (int)size, "read '%s'", path);
		if (buffer->size - start > size_max)
			return wfs_error_set(error, WFS_E_TOO_LARGE, "'%s' has more than %zu bytes",
				path, size_max);
	}
	return 0;
}

void wfs_lines_init(struct wfs_lines *lines, int fd)
{
	*lines = (struct wfs_lines){.fd = fd};
}

void wfs_lines_done(struct wfs_lines *lines)
{
	wfs_buffer_done(&lines->buffer);
}

int wfs_lines_fill(struct wfs_lines *lines)
{
	struct wfs_buffer *const buffer = &lines->buffer;
	ssize_t size;

	if (lines->taken_bytes > 0) {
		buffer->size -= lines->taken_bytes;
		memmove(buffer->data, buffer->data + lines->taken_bytes, buffer->size);
		lines->scanned_bytes -= lines->taken_bytes;
		lines->taken_bytes = 0;
	}
	if (buffer->size > WFS_LINE_MAX && !lines->drops_long)
		return -EFBIG;
	if (buffer->size > WFS_LINE_MAX || lines->dropping) {
		wfs_buffer_reset(buffer);
		lines->scanned_bytes = 0;
		lines->dropping = true;
	}
	size = read_some(lines->fd, buffer);
	if (size < 0)
		return (int)size;
	lines->read_bytes += (uint64_t)size;
	lines->ended = size == 0;
	return 0;
}

void wfs_lines_stop(struct wfs_lines *lines)
{
	lines->ended = true;
	lines->taken_bytes = lines->scanned_bytes = lines->buffer.size;
}

/* Takes the line that begins at @line and ends before @end. */
static void take_line(
	struct wfs_lines *lines, const char *line, const char *end, struct wfs_bytes *ret_line)
{
	const size_t size = (size_t)(end - line);

	lines->scanned_bytes = lines->taken_bytes;
	lines->number++;
	*ret_line = lines->dropping || (size > WFS_LINE_MAX && lines->drops_long)
		? WFS_BYTES(NULL, 0)
		: WFS_BYTES(line, size);
	lines->dropping = false;
}

bool wfs_lines_next(struct wfs_lines *lines, struct wfs_bytes *ret_line)
{
	const struct wfs_buffer *const buffer = &lines->buffer;
	const char *const line = buffer->data + lines->taken_bytes;
	const char *end = NULL;

	if (lines->scanned_bytes < buffer->size)
		end = memchr(buffer->data + lines->scanned_bytes, '\n',
			buffer->size - lines->scanned_bytes);
	if (!end) {
		lines->scanned_bytes = buffer->size;
		if (!lines->ended || (lines->taken_bytes == buffer->size && !lines->dropping))
			return false;
		end = buffer->data + buffer->size; /* a last line without an end */
		lines->taken_bytes = buffer->size;
	} else {
		lines->taken_bytes = (size_t)(end + 1 - buffer->data);
	}
	take_line(lines, line, end, ret_line);
	return true;
}
