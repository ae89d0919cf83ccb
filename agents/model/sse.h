/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-sent events, as servers of models write them.
 *
 * The parser takes bytes as they come, cut anywhere, and returns the data of whole events. Lines
 * end with LF, CR or CRLF; comments, unknown fields and a byte order mark are skipped; several
 * `data` lines of an event are joined by LF. An event without a blank line at its end counts only
 * at the end of the stream.
 * Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

enum { WFS_SSE_EVENT_MAX = 4 << 20 }; /* bytes of an event and an unfinished line, by default */

/* Receives events. Plain value. */
struct wfs_sse_sink {
	void *context;
	/* @data: of an event, or a stray line that begins with `{`, as Ollama's errors do; borrowed
	 * for the call. Return: 0, or a negative errno, which feeding returns. */
	int (*event)(void *context, struct wfs_bytes data);
};

/* Plain value; zero-initialised is the beginning of a stream. The other members are private. */
struct wfs_sse {
	size_t event_max;       /* bytes; 0: WFS_SSE_EVENT_MAX */
	struct wfs_buffer line; /* the unfinished line */
	struct wfs_buffer data; /* of the event; an LF after each line */
	bool begun;             /* a line was seen, so no byte order mark can follow */
	bool after_cr;          /* an LF that comes next belongs to the last line end */
};

void wfs_sse_done(struct wfs_sse *sse);
#define WFS_AUTO_SSE WFS_CLEANUP(wfs_sse_done)

/** wfs_sse_feed() - parse the next bytes, and call @sink for each event
 *  Return: 0, -EFBIG (an event or line is too large), -ENOMEM, or the result of the sink. */
int wfs_sse_feed(
	struct wfs_sse *sse, const void *data, size_t size, const struct wfs_sse_sink *sink);

/**
 * wfs_sse_end() - parse what remains at the end of the stream
 *
 * Calls @sink for an event that only lacks its blank line, and for a stray line without an end.
 * Drops an unfinished `data` line.
 * Return: as wfs_sse_feed().
 */
int wfs_sse_end(struct wfs_sse *sse, const struct wfs_sse_sink *sink);
