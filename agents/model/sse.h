/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-sent events, as servers of models write them.
 *
 * Bytes go in as they come, cut anywhere; data of whole events comes out. Lines end with LF, CR or CRLF;
 * comments, unknown fields and a byte order mark are skipped; several `data` lines of an event are
 * joined by LF. An event that no blank line ended is not one, except at the end of the stream.
 * Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

enum { WFS_SSE_EVENT_MAX = 4 << 20 }; /* bytes of an event, with a line that has not ended */

enum wfs_sse_kind {
	WFS_SSE_DATA, /* data of an event */
	WFS_SSE_STRAY, /* a line that begins with `{`, so no field: Ollama reports errors like that */
};

/* Who takes events. Plain value. */
struct wfs_sse_sink {
	void *context;
	/* @data is borrowed for the call. Return: 0, or a negative errno, which ends the feeding. */
	int (*event)(void *context, enum wfs_sse_kind kind, struct wfs_bytes data);
};

/* Plain value; zero-initialised is the beginning of a stream. The members are the parser's own. */
struct wfs_sse {
	struct wfs_buffer line; /* that has not ended */
	struct wfs_buffer data; /* of the event; an LF behind each line */
	bool begun;             /* a line was seen: no byte order mark comes any more */
	bool after_cr;          /* an LF that comes now belongs to the line end before it */
};

void wfs_sse_done(struct wfs_sse *sse);
#define WFS_AUTO_SSE WFS_CLEANUP(wfs_sse_done)

/**
 * wfs_sse_feed() - take the next bytes
 * Return: 0, -EFBIG (more than WFS_SSE_EVENT_MAX), -ENOMEM, or what the sink returned.
 */
int wfs_sse_feed(
	struct wfs_sse *sse, const void *data, size_t size, const struct wfs_sse_sink *sink);

/**
 * wfs_sse_end() - the stream is over
 *
 * Gives what lacks only its blank line, and a stray line without an end. Half a `data` line is dropped.
 * Return: as wfs_sse_feed().
 */
int wfs_sse_end(struct wfs_sse *sse, const struct wfs_sse_sink *sink);
