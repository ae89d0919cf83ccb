/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 validity, numbers, and the file names of keys. */
#include "kernel/base/encode.h"

#include <stdint.h>
#include <string.h>

#include "kernel/base/cleanup.h"

/* Well-formed byte sequences by their first byte (Unicode 15, table 3-7). */
static size_t multibyte_sequence(const uint8_t *at, size_t size)
{
	size_t count = 0;
	uint8_t second_min = 0x80;
	uint8_t second_max = 0xbf;

	if (at[0] >= 0xc2 && at[0] <= 0xdf) {
		count = 2;
	} else if (at[0] >= 0xe0 && at[0] <= 0xef) {
		count = 3;
		if (at[0] == 0xe0)
			second_min = 0xa0; /* below: overlong */
		else if (at[0] == 0xed)
			second_max = 0x9f; /* above: surrogates */
	} else if (at[0] >= 0xf0 && at[0] <= 0xf4) {
		count = 4;
		if (at[0] == 0xf0)
			second_min = 0x90; /* below: overlong */
		else if (at[0] == 0xf4)
			second_max = 0x8f; /* above: beyond U+10FFFF */
	}

	if (count == 0 || count > size || at[1] < second_min || at[1] > second_max)
		return 0;
	for (size_t i = 2; i < count; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return count;
}

size_t wfs_utf8_sequence(const void *data, size_t size)
{
	const uint8_t *const at = data;

	if (size == 0)
		return 0;
	return at[0] < 0x80 ? 1 : multibyte_sequence(at, size);
}

bool wfs_utf8_valid(const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size > 0) {
		uint64_t eight = 0;
		size_t count = 0;

		if (size >= sizeof(eight)) {
			memcpy(&eight, at, sizeof(eight));
			if ((eight & UINT64_C(0x8080808080808080)) == 0)
				count = sizeof(eight);
		}
		if (count == 0)
			count = wfs_utf8_sequence(at, size);
		if (count == 0)
			return false;
		at += count;
		size -= count;
	}
	return true;
}

size_t wfs_utf8_cut(const char *text, size_t size)
{
	const uint8_t *const bytes = (const uint8_t *)text;

	/* At most three bytes of an incomplete character can be at the end. */
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		const uint8_t byte = bytes[size - back];

		if (byte >= 0xc2 && byte <= 0xf4) {
			const size_t whole = (size_t)2 + (byte >= 0xe0) + (byte >= 0xf0);

			return back < whole ? size - back : size;
		}
		if ((byte & 0xc0) != 0x80)
			break;
	}
	return size;
}

void wfs_utf8_clean(char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		const size_t count = wfs_utf8_sequence(text + i, size - i);

		if (count == 0)
			text[i] = '?';
		i += count > 0 ? count : 1;
	}
}

static bool is_control(uint8_t byte)
{
	return byte < 0x20 || byte == 0x7f;
}

/* May a character of @count bytes mislead a terminal, or the eye of a reader? */
static bool misleads(const char *text, size_t count)
{
	const uint8_t *const bytes = (const uint8_t *)text;

	if (count == 1)
		return is_control(bytes[0]);
	if (count == 2) /* U+0080 to U+009F, U+061C */
		return (bytes[0] == 0xc2 && bytes[1] < 0xa0) ||
			(bytes[0] == 0xd8 && bytes[1] == 0x9c);
	if (count == 3 && bytes[0] == 0xe2 &&
		bytes[1] == 0x80) /* U+200E, U+200F, U+2028 to U+202E */
		return bytes[2] == 0x8e || bytes[2] == 0x8f ||
			(bytes[2] >= 0xa8 && bytes[2] <= 0xae);
	/* U+2066 to U+2069 */
	return count == 3 && bytes[0] == 0xe2 && bytes[1] == 0x81 && bytes[2] >= 0xa6 &&
		bytes[2] <= 0xa9;
}

/* Overwrites by `?`, as wfs_line_clean(). @kept: control characters that stay */
static void clean(char *text, size_t size, const char *kept)
{
	size_t count;

	wfs_utf8_clean(text, size);
	for (size_t i = 0; i < size; i += count) {
		count = wfs_utf8_sequence(text + i, size - i);
		if (misleads(text + i, count) && !(text[i] && strchr(kept, text[i])))
			memset(text + i, '?', count);
	}
}

void wfs_line_clean(char *text, size_t size)
{
	clean(text, size, "");
}

void wfs_terminal_clean(char *text, size_t size)
{
	clean(text, size, "\n\t");
}

size_t wfs_decimal_read(const char *text, size_t size, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t digits = 0;

	for (; digits < size && text[digits] >= '0' && text[digits] <= '9'; digits++)
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, (uint64_t)(text[digits] - '0'), &number))
			return 0;
	if (digits > 0)
		*ret_number = number;
	return digits;
}

/* Counts the bytes at the start of @at that a name keeps as they are. */
static size_t plain_run(const uint8_t *at, size_t size)
{
	size_t run = 0;

	while (run < size) {
		const size_t count = wfs_utf8_sequence(at + run, size - run);

		if (count == 0 || is_control(at[run]) || at[run] == '/' || at[run] == '%')
			break;
		run += count;
	}
	return run;
}

static bool is_dots(const void *key, size_t size)
{
	return (size == 1 || size == 2) && memcmp(key, "..", size) == 0;
}

/* Encodes a key; @buffer: NULL to count only. Return: bytes of the name. */
static size_t name_encode(struct wfs_buffer *buffer, const uint8_t *key, size_t size)
{
	size_t name_size = 0;
	bool escape_first = is_dots(key, size) || (size == 1 && key[0] == '_');

	if (size == 0) {
		if (buffer)
			wfs_buffer_append_byte(buffer, '_');
		return 1;
	}

	for (size_t i = 0; i < size; escape_first = false) {
		const size_t run = escape_first ? 0 : plain_run(key + i, size - i);

		if (buffer && run > 0)
			wfs_buffer_append(buffer, key + i, run);
		i += run;
		name_size += run;
		if (i == size)
			break;
		if (buffer)
			wfs_buffer_printf(buffer, "%%%02X", key[i]);
		i++;
		name_size += 3;
	}
	return name_size;
}

void wfs_name_append(struct wfs_buffer *buffer, const void *key, size_t size)
{
	name_encode(buffer, key, size);
}

size_t wfs_name_size(const void *key, size_t size)
{
	return name_encode(NULL, key, size);
}

static int name_unescape(const char *name, size_t size, struct wfs_buffer *buffer)
{
	for (size_t i = 0; i < size; i++) {
		int high = 0;
		int low = 0;

		if (name[i] != '%') {
			wfs_buffer_append_byte(buffer, name[i]);
			continue;
		}
		if (size - i < 3)
			return -ENOENT;
		high = wfs_hex_value(name[i + 1]);
		low = wfs_hex_value(name[i + 2]);
		if (high < 0 || low < 0)
			return -ENOENT;
		wfs_buffer_append_byte(buffer, (char)(high << 4 | low));
		i += 2;
	}
	return wfs_buffer_check(buffer);
}

/* Decodes a name with escapes. It is canonical if encoding the key gives the name again. */
static int name_decode_escaped(const char *name, size_t size, struct wfs_buffer *buffer)
{
	WFS_AUTO_BUFFER struct wfs_buffer again = {0};
	const size_t start = buffer->size;
	int r = name_unescape(name, size, buffer);

	if (r == 0) {
		wfs_name_append(&again, buffer->data + start, buffer->size - start);
		r = wfs_buffer_check(&again);
	}
	if (r == 0 && !wfs_bytes_equal(wfs_buffer_bytes(&again), WFS_BYTES(name, size)))
		r = -ENOENT;
	if (r < 0)
		buffer->size = start;
	return r;
}

int wfs_name_decode(const char *name, size_t size, struct wfs_buffer *buffer)
{
	if (size == 0 || is_dots(name, size))
		return -ENOENT;
	if (size == 1 && name[0] == '_')
		return wfs_buffer_check(buffer);
	if (memchr(name, '%', size))
		return name_decode_escaped(name, size, buffer);
	if (plain_run((const uint8_t *)name, size) != size)
		return -ENOENT;
	wfs_buffer_append(buffer, name, size);
	return wfs_buffer_check(buffer);
}
