/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable run of bytes. One byte more than asked for is always reserved, so that
 * wfs_buffer_text can always put its NUL there.
 */
#include "kernel/base/buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CAPACITY_MIN_BYTES = 128,
	INT64_DIGITS_MAX = 20, /* of -9223372036854775808, with the sign */
};

void wfs_buffer_done(struct wfs_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct wfs_buffer){0};
}

static int fail(struct wfs_buffer *buffer)
{
	buffer->failed = true;
	return -ENOMEM;
}

static int grow(struct wfs_buffer *buffer, size_t needed_bytes)
{
	size_t capacity = buffer->capacity_bytes * 2;
	char *data = NULL;

	if (capacity < CAPACITY_MIN_BYTES)
		capacity = CAPACITY_MIN_BYTES;
	if (capacity < needed_bytes)
		capacity = needed_bytes;

	data = realloc(buffer->data, capacity);
	if (!data)
		return fail(buffer);
	buffer->data = data;
	buffer->capacity_bytes = capacity;
	return 0;
}

int wfs_buffer_reserve_more(struct wfs_buffer *buffer, size_t size)
{
	if (buffer->failed)
		return -ENOMEM;
	if (size >= PTRDIFF_MAX - buffer->size)
		return fail(buffer);
	return grow(buffer, buffer->size + size + 1);
}

void wfs_buffer_append(struct wfs_buffer *buffer, const void *data, size_t size)
{
	if (size == 0 || wfs_buffer_reserve(buffer, size) < 0)
		return;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
}

void wfs_buffer_append_text(struct wfs_buffer *buffer, const char *text)
{
	wfs_buffer_append(buffer, text, strlen(text));
}

void wfs_buffer_append_int(struct wfs_buffer *buffer, int64_t value)
{
	char text[INT64_DIGITS_MAX];
	char *const end = text + sizeof(text);
	char *at = end;
	/* Negated as unsigned: -INT64_MIN has no signed form. */
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value >= 0 && value < 10) { /* most values */
		wfs_buffer_append_byte(buffer, (char)('0' + value));
		return;
	}
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		*--at = '-';
	wfs_buffer_append(buffer, at, (size_t)(end - at));
}

void wfs_buffer_vprintf(struct wfs_buffer *buffer, const char *format, va_list arguments)
{
	va_list again;
	size_t room = 0;
	int size = 0;

	if (wfs_buffer_reserve(buffer, 1) < 0)
		return;
	room = buffer->capacity_bytes - buffer->size;

	va_copy(again, arguments);
	size = vsnprintf(buffer->data + buffer->size, room, format, arguments);
	if (size < 0) {
		fail(buffer);
	} else if ((size_t)size >= room && wfs_buffer_reserve(buffer, (size_t)size) == 0) {
		room = buffer->capacity_bytes - buffer->size;
		size = vsnprintf(buffer->data + buffer->size, room, format, again);
	}
	va_end(again);

	if (!buffer->failed)
		buffer->size += (size_t)size;
}

void wfs_buffer_printf(struct wfs_buffer *buffer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	wfs_buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
}

int wfs_buffer_check(const struct wfs_buffer *buffer)
{
	return buffer->failed ? -ENOMEM : 0;
}

const char *wfs_buffer_text(struct wfs_buffer *buffer)
{
	if (buffer->failed || !buffer->data)
		return "";
	buffer->data[buffer->size] = '\0';
	return buffer->data;
}
