/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable run of bytes, and a borrowed view of one.
 *
 * A failed append marks the buffer as failed; later appends to it do nothing, and
 * `wfs_buffer_check` reports the failure once at the end. So writers of long documents need
 * one check, not fifty.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel/base/cleanup.h"

/* Borrowed bytes; `data` may be NULL when `size` is 0. Plain value. */
struct wfs_bytes {
	const void *data;
	size_t size;
};

#define WFS_BYTES(data_, size_) ((struct wfs_bytes){.data = (data_), .size = (size_)})

static inline struct wfs_bytes wfs_bytes_text(const char *text)
{
	return WFS_BYTES(text, strlen(text));
}

static inline bool wfs_bytes_equal(struct wfs_bytes a, struct wfs_bytes b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Plain value; zero-initialised is empty. `data` is owned. */
struct wfs_buffer {
	char *data;
	size_t size;
	size_t capacity_bytes;
	bool failed; /* an allocation failed; the contents lack what was appended then and later */
};

void wfs_buffer_done(struct wfs_buffer *buffer);
#define WFS_AUTO_BUFFER WFS_CLEANUP(wfs_buffer_done)

/** wfs_buffer_reset() - empty the buffer and clear its failure; keeps the memory for reuse. */
static inline void wfs_buffer_reset(struct wfs_buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = false;
}

/** wfs_buffer_trim() - free the buffer's memory, contents included, if it has more than @kept_bytes
 *  of memory. */
static inline void wfs_buffer_trim(struct wfs_buffer *buffer, size_t kept_bytes)
{
	if (buffer->capacity_bytes > kept_bytes)
		wfs_buffer_done(buffer);
}

/* The slow path of wfs_buffer_reserve(): the buffer must grow, or has failed. */
int wfs_buffer_reserve_more(struct wfs_buffer *buffer, size_t size);

/** wfs_buffer_reserve() - make room for @size more bytes, which the caller writes at
 *  buffer->data + buffer->size, and then adds to buffer->size. Return: 0, or -ENOMEM (the buffer is
 *  marked as failed, by this call or an earlier one). */
static inline int wfs_buffer_reserve(struct wfs_buffer *buffer, size_t size)
{
	if (!buffer->failed && size < buffer->capacity_bytes - buffer->size)
		return 0;
	return wfs_buffer_reserve_more(buffer, size);
}

/* Append to the buffer. @data and @text must not point into the buffer itself. */
void wfs_buffer_append(struct wfs_buffer *buffer, const void *data, size_t size);
void wfs_buffer_append_text(struct wfs_buffer *buffer, const char *text);
void wfs_buffer_append_int(struct wfs_buffer *buffer, int64_t value);
void wfs_buffer_printf(struct wfs_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void wfs_buffer_vprintf(struct wfs_buffer *buffer, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Inline because writers of JSON append a byte or two for each of a million numbers. */
static inline void wfs_buffer_append_byte(struct wfs_buffer *buffer, char byte)
{
	if (wfs_buffer_reserve(buffer, 1) < 0)
		return;
	buffer->data[buffer->size++] = byte;
}

/** wfs_buffer_check() - did every append since the last reset succeed? Return: 0, or -ENOMEM. */
int wfs_buffer_check(const struct wfs_buffer *buffer);

/** wfs_buffer_text() - get the contents as a C string; "" for a failed buffer
 *  Return: borrowed until the buffer changes; the NUL at the end is not counted in `size`. */
const char *wfs_buffer_text(struct wfs_buffer *buffer);

static inline struct wfs_bytes wfs_buffer_bytes(const struct wfs_buffer *buffer)
{
	return WFS_BYTES(buffer->data, buffer->size);
}
