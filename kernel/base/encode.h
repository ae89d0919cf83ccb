/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text encodings: validity of UTF-8, decimal numbers, base64 (RFC 4648 section 4, padded, strict),
 * and the percent-encoding that gives every key exactly one file name (worldfs-tree(5)).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** wfs_utf8_valid() - are the bytes well-formed UTF-8: no surrogates, no overlong forms,
 *  at most U+10FFFF? */
bool wfs_utf8_valid(const void *data, size_t size);

/** wfs_utf8_sequence() - measure the character at the beginning of @data.
 *  Return: the character's bytes (1 to 4), or 0 if @data does not begin with a well-formed one. */
size_t wfs_utf8_sequence(const void *data, size_t size);

/** wfs_utf8_cut() - find the incomplete character with which @text may end, if it was cut
 *  Return: how many bytes are before that character, or @size, if @text ends with a whole one. */
size_t wfs_utf8_cut(const char *text, size_t size);

/** wfs_utf8_clean() - overwrite every byte of @text that is not part of a well-formed character by
 *  `?`. */
void wfs_utf8_clean(char *text, size_t size);

/** wfs_line_clean() - overwrite by `?` the bytes of @text that may mislead a terminal or its reader
 *  These are every byte of malformed UTF-8, control characters (C0, DEL, C1), line separators, and
 *  the marks that change the direction of writing. The result is one line. */
void wfs_line_clean(char *text, size_t size);

/** wfs_terminal_clean() - overwrite bytes as wfs_line_clean() does, but keep newlines and tabs. */
void wfs_terminal_clean(char *text, size_t size);

/** wfs_hex_value() - Return: the value of a hexadecimal digit of either case,
 *  or -1 for other bytes. */
static inline int wfs_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/** wfs_decimal_read() - read the decimal number at the beginning of @text
 *  Return: how many digits the number has; 0, and @ret_number is unchanged, if @text does not begin
 *  with a digit, or the number is above UINT64_MAX. */
size_t wfs_decimal_read(const char *text, size_t size, uint64_t *ret_number);

/** wfs_base64_append() - append the padded base64 text of @size bytes at @data to @buffer. */
void wfs_base64_append(struct wfs_buffer *buffer, const void *data, size_t size);

/** wfs_base64_decode() - decode base64 and append the bytes to @buffer
 *  Refuses missing padding, unused bits that are not 0, white space and other alphabets.
 *  Return: 0, -EINVAL (invalid_argument; @buffer is unchanged), or -ENOMEM (@buffer is marked as
 *  failed, @error is not filled). */
int wfs_base64_decode(
	const char *text, size_t size, struct wfs_buffer *buffer, struct wfs_error *error);

enum { WFS_NAME_MAX = 255 }; /* bytes of a file name (limits.h NAME_MAX on Linux) */

/** wfs_name_append() - append the file name of a key to @buffer
 *  These bytes of the key are written as `%XX`, in upper case: `/`, `%`, bytes below 0x20, 0x7f,
 *  bytes of invalid UTF-8, the first `.` of the keys `.` and `..`, and the `_` of the key `_`. The
 *  name of the empty key is `_`. */
void wfs_name_append(struct wfs_buffer *buffer, const void *key, size_t size);

/** wfs_name_size() - Return: how many bytes wfs_name_append() would append. */
size_t wfs_name_size(const void *key, size_t size);

/** wfs_name_decode() - append to @buffer the key whose file name is @name
 *  Return: 0, -ENOENT (wfs_name_append() gives no key this name), or -ENOMEM (@buffer may be marked
 *  as failed); after both failures @buffer has the contents that it had before. */
int wfs_name_decode(const char *name, size_t size, struct wfs_buffer *buffer);
