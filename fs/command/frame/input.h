/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files that are given to a command, whole or line by line. `-` is standard input. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** wfs_input_open() - open a file for reading. Return: a descriptor, of standard input a copy
 *  (caller closes), or -errno. */
int wfs_input_open(const char *path, struct wfs_error *error);

/** wfs_input_read() - append the bytes of a whole file to @buffer; on failure perhaps only some.
 *  Return: 0, -EFBIG (more than @size_max bytes), … with @error. */
int wfs_input_read(
	const char *path, size_t size_max, struct wfs_buffer *buffer, struct wfs_error *error);

enum { WFS_LINE_MAX = (16 << 20) - (64 << 10) }; /* bytes: one request with its envelope */

/* Reads lines of a descriptor. Plain value: init, then fill and next in turn, done. */
struct wfs_lines {
	int fd; /* borrowed */
	struct wfs_buffer buffer;
	size_t taken_bytes;
	size_t scanned_bytes; /* of the buffer: known to have no further line end */
	uint64_t number;      /* of the last taken line, from 1 */
	uint64_t read_bytes;  /* of the file, so far */
	bool ended;           /* the file has no more bytes */
	bool drops_long;      /* a line that is too long is dropped, and is not a failure */
	bool dropping;        /* bytes of such a line were dropped; its end has not come yet */
};

void wfs_lines_init(struct wfs_lines *lines, int fd);
void wfs_lines_done(struct wfs_lines *lines);
#define WFS_AUTO_LINES WFS_CLEANUP(wfs_lines_done)

/** wfs_lines_fill() - call read(2) once, and add what comes to the lines that can be taken.
 *  Return: 0 (lines->ended: the file has ended), -EFBIG (a line is too long, and lines->drops_long
 *  is not set), or -errno. */
int wfs_lines_fill(struct wfs_lines *lines);

/** wfs_lines_stop() - drop lines that were not taken, and read no more. */
void wfs_lines_stop(struct wfs_lines *lines);

/** wfs_lines_next() - take the next line, without its end
 *  @ret_line: borrowed until the next fill; its `data` is NULL if the line was dropped
 *  Return: false: no whole line in memory (at the end of the file: no line at all). */
bool wfs_lines_next(struct wfs_lines *lines, struct wfs_bytes *ret_line);
