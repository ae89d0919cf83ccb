/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the owner of code and the process that runs it: frames on a stream socket.
 *
 * A frame is a kind, a size, and that many bytes: numbers of 64 bits in the machine's order, and texts
 * with their size before them and a NUL behind them. Both ends run on one machine and are built together,
 * so there is no version.
 *
 * A frame that is read may hold anything. When a reader is asked for more than is left, or for a
 * text without its NUL, it becomes bad and stays bad; a bad reader gives zeroes and empty texts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

/* To the process. */
enum wfs_wire_request {
	WFS_WIRE_LOAD = 1, /* keep a module */
	WFS_WIRE_DROP,     /* forget one */
	WFS_WIRE_STEP,
	WFS_WIRE_STEPS, /* many, of which one may begin with the state that another gave */
	WFS_WIRE_CALL,
	WFS_WIRE_GIVE, /* what the host answers */
};

/* From the process. */
enum wfs_wire_answer {
	WFS_WIRE_DONE = 101,
	WFS_WIRE_FAILED,
	WFS_WIRE_ASK,   /* of the host; the call goes on */
	WFS_WIRE_READY, /* before the first request: it has all that it needs, and no more */
};

enum { WFS_WIRE_FRAME_MAX = 96 << 20 };

/* Before each payload. */
struct wfs_wire_header {
	uint32_t kind;
	uint32_t size;
};

/** wfs_wire_begin() - empty @frame and leave room for the header. */
void wfs_wire_begin(struct wfs_buffer *frame, uint32_t kind);

void wfs_wire_put_number(struct wfs_buffer *frame, uint64_t number);
void wfs_wire_put_bytes(struct wfs_buffer *frame, struct wfs_bytes bytes);

/** wfs_wire_put_text() - @text may be NULL, which the reader gets. */
void wfs_wire_put_text(struct wfs_buffer *frame, const char *text);

/**
 * wfs_wire_send() - write the header's size and send the frame
 * @again: asked whenever the socket's time limit has passed; returns 0 to go on; NULL: go on
 * Return: 0, -ENOMEM, -EFBIG (above WFS_WIRE_FRAME_MAX; nothing was sent), -EPIPE, what @again returned, or
 *         another -errno.
 */
int wfs_wire_send(int fd, struct wfs_buffer *frame, int (*again)(void *context), void *context);

/* A frame that is read; borrows the buffer. */
struct wfs_wire_reader {
	uint32_t kind;
	const char *at;
	const char *end;
	bool bad;
};

/**
 * wfs_wire_receive() - wait for a frame
 * @frame: overwritten, and borrowed by the reader
 * @again: asked whenever the socket's time limit has passed, and now and then while a frame comes in many parts;
 *         returns 0 to go on; NULL: go on
 * Return: 0, -EPIPE (the other end is gone), -EBADMSG (a frame that is too large), -ENOMEM, what
 *         @again returned, or another -errno.
 */
int wfs_wire_receive(int fd, struct wfs_buffer *frame, struct wfs_wire_reader *ret_reader,
	int (*again)(void *context), void *context);

uint64_t wfs_wire_get_number(struct wfs_wire_reader *reader);

/** wfs_wire_get_bytes() - a NUL is behind them, which does not count. */
struct wfs_bytes wfs_wire_get_bytes(struct wfs_wire_reader *reader);

/** wfs_wire_get_text() - the text, or NULL; one with a NUL in it makes the reader bad. */
const char *wfs_wire_get_text(struct wfs_wire_reader *reader);

/** wfs_wire_is_whole() - was all of it read, and nothing missing? */
bool wfs_wire_is_whole(const struct wfs_wire_reader *reader);
