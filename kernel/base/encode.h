/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text encodings: UTF-8 validity, decimal numbers, base64 (RFC 4648 section 4, padded, strict), and the
 * percent-encoding that gives every key exactly one file name (spec 2, "Names").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** wfs_utf8_valid() - well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool wfs_utf8_valid(const void *data, size_t size);

/** wfs_utf8_sequence() - bytes (1 to 4) of the well-formed character at @data; 0: there is none. */
size_t wfs_utf8_sequence(const void *data, size_t size);

/** wfs_utf8_cut() - @size, less the bytes of a character that was cut off at the end of @text. */
size_t wfs_utf8_cut(const char *text, size_t size);

/** wfs_utf8_clean() - in place, `?` for every byte that is not part of a well-formed character. */
void wfs_utf8_clean(char *text, size_t size);

/**
 * wfs_line_clean() - in place, `?` for every byte that is not part of a well-formed character, or part of one that a
 * terminal may take for a command or that makes a reader see another text: control characters (C0, DEL, C1),
 * separators of lines, and marks that change the direction of writing. It is one line then.
 */
void wfs_line_clean(char *text, size_t size);

/** wfs_terminal_clean() - as wfs_line_clean(), but line ends and tabs stay */
void wfs_terminal_clean(char *text, size_t size);

/** wfs_hex_value() - of a hexadecimal digit of either case; -1: @digit is none. */
static inline int wfs_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/**
 * wfs_decimal_read() - the number whose digits @text begins with
 * Return: how many digits it has, 0 when there is none or the number is above UINT64_MAX.
 */
size_t wfs_decimal_read(const char *text, size_t size, uint64_t *ret_number);

/** wfs_base64_append() - append the padded base64 text of @size bytes. */
void wfs_base64_append(struct wfs_buffer *buffer, const void *data, size_t size);

/**
 * wfs_base64_decode() - appends to @buffer
 * Strict: missing padding, bits behind the last byte, white space and other alphabets are refused.
 * Return: 0, -EINVAL (invalid_argument; @buffer is as before) or -ENOMEM.
 */
int wfs_base64_decode(
	const char *text, size_t size, struct wfs_buffer *buffer, struct wfs_error *error);

enum { WFS_NAME_MAX = 255 }; /* bytes of a file name (limits.h NAME_MAX on Linux) */

/**
 * wfs_name_append() - the file name of a key
 *
 * `%XX` (upper-case) for `/`, `%`, bytes < 0x20, 0x7f, bytes of invalid UTF-8, every `.` of a key
 * that is exactly `.` or `..` in its first place, a `_` that is the whole key; the empty key
 * is `_`.
 */
void wfs_name_append(struct wfs_buffer *buffer, const void *key, size_t size);

/** wfs_name_size() - bytes of the name that wfs_name_append would write. */
size_t wfs_name_size(const void *key, size_t size);

/**
 * wfs_name_decode() - the key of a file name; appends to @buffer
 * Return: 0, -ENOENT when the name is not the canonical spelling of any key (@buffer is as
 * before), or -ENOMEM.
 */
int wfs_name_decode(const char *name, size_t size, struct wfs_buffer *buffer);
