/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the owner of code and the process that runs it: frames on a stream socket.
 *
 * A frame is a kind, a size, and that many bytes: numbers of 64 bits in the machine's byte order,
 * and texts with their size before them and a NUL after them. Both ends run on one machine and are
 * built together, so the protocol has no version.
 *
 * A received frame may contain anything. A reader that is asked for more than is left, or for a
 * text without its NUL, becomes bad and stays bad; a bad reader returns zeros and empty texts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

/* To the process. */
enum wfs_wire_request {
	WFS_WIRE_LOAD = 1, /* load a module */
	WFS_WIRE_DROP,     /* forget a module */
	WFS_WIRE_STEP,
	WFS_WIRE_STEPS, /* many steps; one may begin with the new state of another */
	WFS_WIRE_CALL,
	WFS_WIRE_GIVE, /* the host's answer to WFS_WIRE_ASK */
};

/* From the process. */
enum wfs_wire_answer {
	WFS_WIRE_DONE = 101, /* the run has ended, with a result */
	WFS_WIRE_FAILED,     /* the run has ended, with an error */
	WFS_WIRE_ASK,        /* calls a function of the host, during a call */
	WFS_WIRE_READY,      /* sent before the first request: the process is confined */
};

enum { WFS_WIRE_FRAME_MAX = 96 << 20 }; /* bytes */

/* Before each payload. */
struct wfs_wire_header {
	uint32_t kind;
	uint32_t size;
};

/** wfs_wire_begin() - empty @frame, and append a header with this kind; wfs_wire_send() sets the
 *  size in the header. */
void wfs_wire_begin(struct wfs_buffer *frame, uint32_t kind);

void wfs_wire_put_number(struct wfs_buffer *frame, uint64_t number);
void wfs_wire_put_bytes(struct wfs_buffer *frame, struct wfs_bytes bytes);

/** wfs_wire_put_text() - append a text, or NULL, for wfs_wire_get_text(). */
void wfs_wire_put_text(struct wfs_buffer *frame, const char *text);

/** wfs_wire_send() - send a frame to the socket @fd, after setting the size in its header
 *  @again: called with @context whenever the socket's time limit (SO_SNDTIMEO) has passed; returns
 *  0 to go on, or a -errno, which ends the sending; NULL: always go on
 *  Return: 0, -ENOMEM, -EFBIG (above WFS_WIRE_FRAME_MAX), -EPIPE, the result of @again, or another
 *  -errno. After -ENOMEM and -EFBIG nothing was sent; after others, a part may have been. */
int wfs_wire_send(int fd, struct wfs_buffer *frame, int (*again)(void *context), void *context);

/* Reads a frame; borrows its buffer. */
struct wfs_wire_reader {
	uint32_t kind;
	const char *at;
	const char *end;
	bool bad;
};

/** wfs_wire_receive() - wait for a frame from the socket @fd
 *  @frame: overwritten, and borrowed by @ret_reader
 *  @again: called with @context whenever the socket's time limit (SO_RCVTIMEO) has passed, and now
 *  and then while a frame comes in many parts; returns 0 to go on, or a -errno, which ends the
 *  waiting; NULL: always go on
 *  Return: 0, -EPIPE (the other end is closed), -EBADMSG (the frame is too large, or bytes
 *  follow it), -ENOMEM, the result of @again, or another -errno. */
int wfs_wire_receive(int fd, struct wfs_buffer *frame, struct wfs_wire_reader *ret_reader,
	int (*again)(void *context), void *context);

uint64_t wfs_wire_get_number(struct wfs_wire_reader *reader);

/** wfs_wire_get_bytes() - read bytes; borrowed from the frame. A NUL follows them, which is not
 *  counted. */
struct wfs_bytes wfs_wire_get_bytes(struct wfs_wire_reader *reader);

/** wfs_wire_get_text() - read a text or NULL; borrowed from the frame. A text that contains a NUL
 *  makes the reader bad. */
const char *wfs_wire_get_text(struct wfs_wire_reader *reader);

/** wfs_wire_is_whole() - was the frame read exactly to its end? False for a bad reader. */
bool wfs_wire_is_whole(const struct wfs_wire_reader *reader);
