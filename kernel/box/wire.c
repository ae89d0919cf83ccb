/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads frames. */
#include "kernel/box/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
	READ_AHEAD_BYTES = 4096, /* received together with the header: most frames are smaller */
	PARTS_LOOK = 64, /* parts of a frame after which the caller is asked whether to go on */
};

#define NO_TEXT UINT64_MAX

void wfs_wire_begin(struct wfs_buffer *frame, uint32_t kind)
{
	const struct wfs_wire_header header = {.kind = kind};

	wfs_buffer_reset(frame);
	wfs_buffer_append(frame, &header, sizeof(header));
}

void wfs_wire_put_number(struct wfs_buffer *frame, uint64_t number)
{
	wfs_buffer_append(frame, &number, sizeof(number));
}

void wfs_wire_put_bytes(struct wfs_buffer *frame, struct wfs_bytes bytes)
{
	wfs_wire_put_number(frame, bytes.size);
	if (bytes.size > 0)
		wfs_buffer_append(frame, bytes.data, bytes.size);
	wfs_buffer_append_byte(frame, '\0');
}

void wfs_wire_put_text(struct wfs_buffer *frame, const char *text)
{
	if (text)
		wfs_wire_put_bytes(frame, wfs_bytes_text(text));
	else
		wfs_wire_put_number(frame, NO_TEXT);
}

int wfs_wire_send(int fd, struct wfs_buffer *frame, int (*again)(void *context), void *context)
{
	struct wfs_wire_header header;
	int r = wfs_buffer_check(frame);

	if (r < 0)
		return r;
	if (frame->size - sizeof(header) > WFS_WIRE_FRAME_MAX)
		return -EFBIG;
	memcpy(&header, frame->data, sizeof(header));
	header.size = (uint32_t)(frame->size - sizeof(header));
	memcpy(frame->data, &header, sizeof(header));
	for (size_t done = 0; done < frame->size;) {
		const ssize_t sent = send(fd, frame->data + done, frame->size - done, MSG_NOSIGNAL);

		if (sent >= 0) {
			done += (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		r = again ? again(context) : 0;
		if (r)
			return r;
	}
	return 0;
}

/* Receives at least @wanted bytes, and more if they are there, up to the buffer's capacity. */
static int receive(
	int fd, struct wfs_buffer *frame, size_t wanted, int (*again)(void *context), void *context)
{
	int r = wanted > frame->size ? wfs_buffer_reserve(frame, wanted - frame->size) : 0;
	unsigned int parts = 0;

	if (r < 0)
		return r;
	while (frame->size < wanted) {
		const ssize_t size =
			recv(fd, frame->data + frame->size, frame->capacity_bytes - frame->size, 0);

		if (size == 0 || (size < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (size < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (size > 0)
			frame->size += (size_t)size;
		if (size < 0 ? errno == EINTR : ++parts % PARTS_LOOK != 0)
			continue;
		r = again ? again(context) : 0;
		if (r)
			return r;
	}
	return 0;
}

int wfs_wire_receive(int fd, struct wfs_buffer *frame, struct wfs_wire_reader *ret_reader,
	int (*again)(void *context), void *context)
{
	struct wfs_wire_header header;
	int r = 0;

	wfs_buffer_reset(frame);
	r = wfs_buffer_reserve(frame, READ_AHEAD_BYTES);
	if (r == 0)
		r = receive(fd, frame, sizeof(header), again, context);
	if (r)
		return r;
	memcpy(&header, frame->data, sizeof(header));
	if (header.size > WFS_WIRE_FRAME_MAX)
		return -EBADMSG;
	r = receive(fd, frame, sizeof(header) + header.size, again, context);
	if (r)
		return r;
	/* The two ends take turns, so nothing can follow the frame. */
	if (frame->size != sizeof(header) + header.size)
		return -EBADMSG;
	*ret_reader = (struct wfs_wire_reader){
		.kind = header.kind,
		.at = frame->data + sizeof(header),
		.end = frame->data + frame->size,
	};
	return 0;
}

static struct wfs_bytes take(struct wfs_wire_reader *reader, uint64_t size)
{
	const char *const at = reader->at;

	if (reader->bad || size > (uint64_t)(reader->end - at)) {
		reader->bad = true;
		return WFS_BYTES(NULL, 0);
	}
	reader->at += size;
	return WFS_BYTES(at, size);
}

uint64_t wfs_wire_get_number(struct wfs_wire_reader *reader)
{
	const struct wfs_bytes bytes = take(reader, sizeof(uint64_t));
	uint64_t number = 0;

	if (bytes.data)
		memcpy(&number, bytes.data, sizeof(number));
	return number;
}

static struct wfs_bytes bytes_of(struct wfs_wire_reader *reader, uint64_t size)
{
	const struct wfs_bytes bytes = take(reader, size);
	const struct wfs_bytes end = take(reader, 1);

	if (!end.data || *(const char *)end.data != '\0')
		reader->bad = true;
	return reader->bad ? WFS_BYTES("", 0) : bytes;
}

struct wfs_bytes wfs_wire_get_bytes(struct wfs_wire_reader *reader)
{
	return bytes_of(reader, wfs_wire_get_number(reader));
}

const char *wfs_wire_get_text(struct wfs_wire_reader *reader)
{
	const uint64_t size = wfs_wire_get_number(reader);

	if (size == NO_TEXT)
		return NULL;
	const struct wfs_bytes bytes = bytes_of(reader, size);
	if (memchr(bytes.data, '\0', bytes.size)) {
		reader->bad = true;
		return "";
	}
	return bytes.data;
}

bool wfs_wire_is_whole(const struct wfs_wire_reader *reader)
{
	return !reader->bad && reader->at == reader->end;
}
