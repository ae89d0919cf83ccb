/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical JSON: RFC 8785 (JCS) with exact signed 64-bit integers.
 *
 * Values are jansson's `json_t`. Parsing refuses what has no canonical form (duplicate keys, lone
 * surrogates, invalid UTF-8, integers beyond 64 bits, reals whose form would be such an integer),
 * and turns reals that are whole numbers below 2^63 into integers, so that equal documents are
 * equal values. A *document* is the canonical text plus one newline; hashes are over documents.
 * Source: docs/design.md §3; RFC 8785.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"

struct wfs_permutation;

enum {
	/* Nesting levels, arrays and objects together: of a text from outside, and of a stored
	 * text, which may be a record or a document around such a text. */
	WFS_JSON_DEPTH_MAX = 128,
	WFS_JSON_STORED_DEPTH_MAX = WFS_JSON_DEPTH_MAX + 16,
	WFS_JSON_VALUES_MAX = 1 << 20, /* values in a text from outside, on all levels */
	WFS_JSON_VALUE_BYTES = 128,    /* approximate memory of one parsed value */
};

static inline void wfs_auto_json(json_t **json)
{
	json_decref(*json);
}
#define WFS_AUTO_JSON WFS_CLEANUP(wfs_auto_json)

/** wfs_json_parse() - parse one JSON value, with nothing but white space after it, of a text that
 *  WorldFS wrote; it may have WFS_JSON_STORED_DEPTH_MAX levels
 *  @ret_json: caller owns the reference
 *  Return: 0, -EINVAL (invalid_json; the message names line and column or a JSON pointer),
 *  -ENOMEM. */
int wfs_json_parse(const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

/** wfs_json_parse_bounded() - wfs_json_parse() for a text that comes from outside
 *  It may have WFS_JSON_DEPTH_MAX levels. A value takes many times the memory of its text, so a
 *  text with more than WFS_JSON_VALUES_MAX values is refused before any is made. (Stored texts are
 *  read without these bounds: the record of an event has a few levels and values more than the
 *  event.)
 *  Return: as wfs_json_parse(), or -EFBIG (too_large: more than WFS_JSON_VALUES_MAX values). */
int wfs_json_parse_bounded(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

/** wfs_json_parse_counted() - wfs_json_parse_bounded() for a caller that has another bound for the
 *  number of values, and has checked it. Return: as wfs_json_parse(). */
int wfs_json_parse_counted(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

/** wfs_json_look() - parse a text whose value is only read, and never stored
 *  Accepts also JSON that wfs_json_parse() refuses: integers beyond 64 bits (as reals), repeated
 *  members (the last counts), any depth that jansson takes. The value may have no canonical form,
 *  so it must not be written. @ret_json: caller owns the reference
 *  Return: 0, -EINVAL (the text is not JSON, or has a number beyond a double), -EFBIG (it has more
 *  than WFS_JSON_VALUES_MAX values), -ENOMEM. */
int wfs_json_look(const char *text, size_t size, json_t **ret_json);

/** wfs_json_count() - count the values of a JSON text, on all levels, arrays and objects included
 *  For a text that is not JSON, the result is at least the number of values that parsing makes
 *  until it fails. */
size_t wfs_json_count(const char *text, size_t size);

/** wfs_json_check_count() - check that @count, the number of values of a text, is at most
 *  WFS_JSON_VALUES_MAX. Return: 0, or -EFBIG (too_large: @count is larger). */
int wfs_json_check_count(size_t count, struct wfs_error *error);

/** wfs_json_write() - append the canonical text of @json to @buffer, without a newline
 *  @json: from wfs_json_parse(), or built from integers, finite reals and valid UTF-8 */
void wfs_json_write(const json_t *json, struct wfs_buffer *buffer);

/** wfs_json_is_canonical() - is @text byte for byte what wfs_json_write() appends for its value?
 *  Return: false also without memory. */
bool wfs_json_is_canonical(struct wfs_bytes text);

/** wfs_json_write_document() - append the canonical text of @json and a newline to @buffer. */
void wfs_json_write_document(const json_t *json, struct wfs_buffer *buffer);

/** wfs_json_write_string() - append @text as a JSON string, with its quotes, to @buffer; @text must
 *  be valid UTF-8. */
void wfs_json_write_string(struct wfs_buffer *buffer, const char *text, size_t size);

/** wfs_json_plain_size() - count the bytes of @text before the first that a JSON string must
 *  escape: a quote, a backslash or a control byte. */
size_t wfs_json_plain_size(const char *text, size_t size);

/** wfs_json_write_real() - append a finite number to @buffer in ECMAScript's shortest form (RFC
 *  8785 3.2.2.3) */
void wfs_json_write_real(struct wfs_buffer *buffer, double value);

/** wfs_json_real_canonical() - find out how canonical JSON writes the real @value
 *  Return: 1: as a real; 2: as the integer that is put into @ret_integer; 0: not at all (@value is
 *  not finite, or its canonical form would be an integer beyond 64 bits). */
int wfs_json_real_canonical(double value, int64_t *ret_integer);

/** wfs_json_key_compare() - compare member names by UTF-16 code units (RFC 8785 3.2.3).
 *  Return: below 0: @a comes before @b; 0: they are equal; above 0: @a comes after @b. */
int wfs_json_key_compare(const char *a, size_t a_size, const char *b, size_t b_size);

/** wfs_json_describe() - append a short description of a value to @buffer: `integer 5`, `array of
 *  3 items`. @value: NULL gives `nothing` */
void wfs_json_describe(const json_t *value, struct wfs_buffer *buffer);

/** wfs_json_pointer_append() - append `/` and @name to @buffer, escaped as in a JSON pointer
 *  Control characters are escaped as in a JSON string (RFC 6901 section 5), so that a message stays
 *  one line. */
void wfs_json_pointer_append(struct wfs_buffer *buffer, const char *name);

/*
 * Reading members of a request. Functions that return int return 0, or -EINVAL with @error filled
 * (missing_argument or invalid_argument), which names the missing, mistyped or unknown member, or
 * says that @object is NULL or not an object.
 */

/** wfs_json_get_string() - get the string member @name, which must exist and have no NUL; borrowed
 *  from @object. Return: 0, or -EINVAL. */
int wfs_json_get_string(
	const json_t *object, const char *name, const char **ret_text, struct wfs_error *error);

/** wfs_json_text() - get the text of the member @name; "" if the member is absent or not a string;
 *  borrowed from @object. */
const char *wfs_json_text(const json_t *object, const char *name);

/** wfs_json_get_integer() - get the integer member @name, if it exists; it must be between @minimum
 *  and @maximum
 *  @ret_value: the caller sets it to the default; unchanged when the member is absent
 *  Return: 0, or -EINVAL (not an integer, or out of range). */
int wfs_json_get_integer(const json_t *object, const char *name, int64_t minimum, int64_t maximum,
	int64_t *ret_value, struct wfs_error *error);

/** wfs_json_only() - check that @object has only members that are in the list @names, which ends
 *  with NULL. Return: 0, or -EINVAL. */
int wfs_json_only(const json_t *object, const char *const *names, struct wfs_error *error);

/** wfs_json_members() - check that @object has only known members, and all required ones
 *  @what: words for what has the members, for messages, such as "an agent"
 *  @members: names separated by spaces; a `?` after a name makes the member optional
 *  Return: 0, or -EINVAL (invalid_argument or missing_argument), naming the member. */
int wfs_json_members(
	const json_t *object, const char *what, const char *members, struct wfs_error *error);

/** wfs_json_get_base64() - decode the base64 string member @name, if it exists, and append its
 *  bytes to @buffer
 *  Return: 0 (also without the member), -EINVAL (@buffer is unchanged), or -ENOMEM (@buffer is
 *  marked as failed, @error is not filled). */
int wfs_json_get_base64(
	const json_t *object, const char *name, struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_json_get_cursor() - get the member `cursor`, which a client copies from the `next_cursor` of
 *  an earlier page of a listing
 *  @permutation: hides numbers from a client that may not learn how much exists; NULL: cursors are
 *  plain numbers. A plain cursor is refused where cursors are hidden, and a hidden one where they
 *  are plain.
 *  @ret_cursor: the number that wfs_json_set_cursor() was given; 0 when the member is absent
 *  Return: 0, -EINVAL (invalid_argument: not a text, or not a cursor of this kind). */
int wfs_json_get_cursor(const json_t *object, const struct wfs_permutation *permutation,
	uint64_t *ret_cursor, struct wfs_error *error);

/** wfs_json_set_cursor() - set the member `next_cursor` of @object, which a client sends as
 *  `cursor` to get the next page
 *  @permutation: as for wfs_json_get_cursor(). @cursor: says where that page begins; not 0, which
 *  means the first page. Return: 0, or -ENOMEM. */
int wfs_json_set_cursor(json_t *object, const struct wfs_permutation *permutation, uint64_t cursor);

/** wfs_json_copy() - make an object with the members of @object, whose values are shared
 *  (json_copy() of jansson leaves out members when memory runs out; this function fails then.)
 *  Return: a new reference, or NULL (without memory, or if @object is not an object). */
json_t *wfs_json_copy(const json_t *object);

/** wfs_json_has() - does @array have an element equal to @value? */
bool wfs_json_has(const json_t *array, const json_t *value);

/** wfs_json_add_missing() - append to @array those elements of the array @values that @array does
 *  not have. Return: 0, or -ENOMEM (some of them may have been appended). */
int wfs_json_add_missing(json_t *array, const json_t *values);

/** wfs_json_set_base64() - set the member @name to the base64 of @size bytes. Return: 0, or
 *  -ENOMEM. */
int wfs_json_set_base64(json_t *object, const char *name, const void *data, size_t size);

/** wfs_json_set_hash() - set the member @name to the text `sha256:…` of a hash. Return: 0, or
 *  -ENOMEM. */
int wfs_json_set_hash(json_t *object, const char *name, const struct wfs_hash *hash);
