/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical JSON: RFC 8785 (JCS) with exact signed 64-bit integers.
 *
 * Values are jansson's `json_t`. Parsing refuses what has no canonical form (duplicate keys, lone
 * surrogates, invalid UTF-8, integers beyond 64 bits, reals whose form would be such an integer),
 * and turns reals that are whole numbers below 2^63 into integers, so that equal documents are
 * equal values. A *document* is the canonical text plus one newline; hashes are over documents.
 * Source: spec 1, "Hashes and bytes"; RFC 8785.
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
	WFS_JSON_DEPTH_MAX = 128,      /* nesting levels, arrays and objects together */
	WFS_JSON_VALUES_MAX = 1 << 20, /* values of a text that somebody else wrote, all levels */
	WFS_JSON_VALUE_BYTES = 128,    /* of memory that a parsed value takes, about */
};

static inline void wfs_auto_json(json_t **json)
{
	json_decref(*json);
}
#define WFS_AUTO_JSON WFS_CLEANUP(wfs_auto_json)

/**
 * wfs_json_parse() - one JSON value and nothing behind it but white space
 * @ret_json: caller owns one reference
 * Return: 0, -EINVAL (invalid_json, message names line and column or a JSON pointer), -ENOMEM.
 */
int wfs_json_parse(const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

/**
 * wfs_json_parse_bounded() - the same for a text that comes from outside
 *
 * A value takes many times the memory of its text. More than WFS_JSON_VALUES_MAX of them are refused
 * before any is made. (What is stored is read without this bound: the record of an event has a few
 * values more than the event.)
 * Return: as above, or -EFBIG (too_large).
 */
int wfs_json_parse_bounded(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

/**
 * wfs_json_look() - parse a text whose value is only read, and not stored
 * Takes JSON that wfs_json_parse refuses: integers beyond 64 bits (as reals), members of one name (the last
 * counts), any depth that jansson takes. The value may have no canonical form, so it must not be written.
 * Return: 0, -EINVAL (the text is not JSON, or has a number beyond a double), -EFBIG, -ENOMEM.
 */
int wfs_json_look(const char *text, size_t size, json_t **ret_json);

/** wfs_json_count() - values of a JSON text, arrays, objects and what is in them. Of a text that is
 *  not JSON: at least as many as parsing makes before it finds that out. */
size_t wfs_json_count(const char *text, size_t size);

/** wfs_json_check_count() - may a text with so many values be taken? Return: 0, -EFBIG (too_large). */
int wfs_json_check_count(size_t count, struct wfs_error *error);

/** wfs_json_write() - append the canonical text, no newline. @json must have come from
 *  wfs_json_parse or been built from integers, finite reals and valid UTF-8. */
void wfs_json_write(const json_t *json, struct wfs_buffer *buffer);

/** wfs_json_is_canonical() - is @text what wfs_json_write would write of the value it says? */
bool wfs_json_is_canonical(struct wfs_bytes text);

/** wfs_json_write_document() - canonical text and the newline. */
void wfs_json_write_document(const json_t *json, struct wfs_buffer *buffer);

/** wfs_json_write_string() - one JSON string with its quotes; @text must be valid UTF-8. */
void wfs_json_write_string(struct wfs_buffer *buffer, const char *text, size_t size);

/** wfs_json_plain_size() - bytes of @text up to the first that a JSON string has to escape: a
 *  quote, a backslash or a control byte. */
size_t wfs_json_plain_size(const char *text, size_t size);

/** wfs_json_write_real() - a finite number in ECMAScript's shortest form (RFC 8785 3.2.2.3). */
void wfs_json_write_real(struct wfs_buffer *buffer, double value);

/**
 * wfs_json_real_canonical() - may this real stand in a document?
 * Return: 1 yes, as a real; 2 yes, as the integer in @ret_integer; 0 no (not finite, or its
 * canonical form would be an integer beyond 64 bits).
 */
int wfs_json_real_canonical(double value, int64_t *ret_integer);

/** wfs_json_key_compare() - order of member names: by UTF-16 code units (RFC 8785 3.2.3). */
int wfs_json_key_compare(const char *a, size_t a_size, const char *b, size_t b_size);

/*
 * Reading members of a request. Each reports a missing, mistyped or unknown member through
 * @error (missing_argument / invalid_argument), naming the member.
 */

/** wfs_json_get_string() - borrowed text of a required string member without NUL bytes. */
int wfs_json_get_string(
	const json_t *object, const char *name, const char **ret_text, struct wfs_error *error);

/** wfs_json_text() - borrowed text of a string member; "" when there is none. */
const char *wfs_json_text(const json_t *object, const char *name);

/** wfs_json_get_integer() - an optional integer in [@minimum, @maximum]; @ret_value keeps its
 *  value (the default) when the member is absent. */
int wfs_json_get_integer(const json_t *object, const char *name, int64_t minimum, int64_t maximum,
	int64_t *ret_value, struct wfs_error *error);

/** wfs_json_only() - every member of @object is one of the NULL-ended @names. */
int wfs_json_only(const json_t *object, const char *const *names, struct wfs_error *error);

/** wfs_json_drop_nulls() - remove members that are null and that @members (as below) lets be absent. */
void wfs_json_drop_nulls(json_t *object, const char *members);

/**
 * wfs_json_members() - every member of @object is one of @members, and none that must be is missing
 * @what: what takes them, for messages
 * @members: names with spaces between; `?` behind one that may be absent
 * Return: 0, or -EINVAL (invalid_argument; missing_argument), naming the member.
 */
int wfs_json_members(
	const json_t *object, const char *what, const char *members, struct wfs_error *error);

/** wfs_json_get_base64() - decode an optional string member behind @buffer. */
int wfs_json_get_base64(
	const json_t *object, const char *name, struct wfs_buffer *buffer, struct wfs_error *error);

/**
 * wfs_json_get_cursor() - the member `cursor` as a listing gave it; 0 when it is absent
 * @permutation: of the caller that may not see how much there is; NULL: cursors are plain. A cursor of the other
 *               kind is refused.
 * Return: 0, -EINVAL (invalid_argument).
 */
int wfs_json_get_cursor(const json_t *object, const struct wfs_permutation *permutation,
	uint64_t *ret_cursor, struct wfs_error *error);

/** wfs_json_set_cursor() - the member `next_cursor`. @permutation: as above. Return: 0, or -ENOMEM. */
int wfs_json_set_cursor(json_t *object, const struct wfs_permutation *permutation, uint64_t cursor);

/**
 * wfs_json_copy() - an object that shares the members of @object
 * Unlike json_copy(), which leaves members out when there is no memory for them.
 * Return: new reference, or NULL (also of what is no object).
 */
json_t *wfs_json_copy(const json_t *object);

/** wfs_json_has() - is there a value like @value in @array? */
bool wfs_json_has(const json_t *array, const json_t *value);

/** wfs_json_add_missing() - append those of @values that @array does not have. Return: 0, or -ENOMEM. */
int wfs_json_add_missing(json_t *array, const json_t *values);

/** wfs_json_set_base64() - a member with the base64 of bytes. Return: 0, or -ENOMEM. */
int wfs_json_set_base64(json_t *object, const char *name, const void *data, size_t size);

/** wfs_json_set_hash() - a member with the text of a hash. Return: 0, or -ENOMEM. */
int wfs_json_set_hash(json_t *object, const char *name, const struct wfs_hash *hash);
