/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical JSON text (RFC 8785). Small objects are sorted on the stack; a member that is in
 * order already, as all members of a parsed canonical document are, costs one comparison.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"

enum {
	MEMBERS_ON_STACK = 32,
	SUPPLEMENTARY_LEAD = 0xf0, /* first UTF-8 byte of U+10000 and above */
	PRIVATE_USE_LEAD = 0xee,   /* first UTF-8 byte of U+E000 and above */
};

struct member {
	const char *key;
	size_t key_size;
	const json_t *value;
};

/*
 * UTF-8 bytes sort by code point. UTF-16 differs in one place: characters from U+10000 on are
 * written with surrogates (D800 to DFFF) and so come before U+E000 to U+FFFF.
 */
int wfs_json_key_compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
	const unsigned char *const a_bytes = (const unsigned char *)a;
	const unsigned char *const b_bytes = (const unsigned char *)b;
	const size_t size = a_size < b_size ? a_size : b_size;
	size_t i = 0;

	while (i < size && a_bytes[i] == b_bytes[i])
		i++;
	if (i == size)
		return (a_size > b_size) - (a_size < b_size);

	const bool a_surrogates = a_bytes[i] >= SUPPLEMENTARY_LEAD;
	const bool b_surrogates = b_bytes[i] >= SUPPLEMENTARY_LEAD;

	if (a_surrogates != b_surrogates && a_bytes[i] >= PRIVATE_USE_LEAD &&
		b_bytes[i] >= PRIVATE_USE_LEAD)
		return a_surrogates ? -1 : 1;
	return a_bytes[i] < b_bytes[i] ? -1 : 1;
}

static int member_compare(const void *a, const void *b)
{
	const struct member *const left = a;
	const struct member *const right = b;

	return wfs_json_key_compare(left->key, left->key_size, right->key, right->key_size);
}

static void members_sort_few(struct member *members, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct member moved = members[i];
		size_t at = i;

		for (; at > 0 && member_compare(&members[at - 1], &moved) > 0; at--)
			members[at] = members[at - 1];
		members[at] = moved;
	}
}

static void members_sort(struct member *members, size_t count)
{
	if (count <= MEMBERS_ON_STACK) {
		members_sort_few(members, count);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		if (member_compare(&members[i - 1], &members[i]) > 0) {
			qsort(members, count, sizeof(*members), member_compare);
			return;
		}
	}
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets the top bit of the first byte of @eight that is less than @bound (at most 0x80). Bits of
 * earlier bytes are clear; bits of later bytes mean nothing. */
static uint64_t less_than(uint64_t eight, uint8_t bound)
{
	return (eight - EACH_BYTE(bound)) & ~eight & EACH_BYTE(0x80);
}

size_t wfs_json_plain_size(const char *text, size_t size)
{
	size_t at = 0;

	for (uint64_t eight; size - at >= sizeof(eight); at += sizeof(eight)) {
		memcpy(&eight, text + at, sizeof(eight));
		if (less_than(eight, 0x20) | less_than(eight ^ EACH_BYTE('"'), 1) |
			less_than(eight ^ EACH_BYTE('\\'), 1))
			break;
	}
	while (at < size && (unsigned char)text[at] >= 0x20 && text[at] != '"' && text[at] != '\\')
		at++;
	return at;
}

/* The letter after the backslash ('u': \u00xx) that escapes @byte. */
static char escape_of(unsigned char byte)
{
	/* One for each of the bytes 0x00 to 0x1f. */
	static const char escapes[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
	static_assert(sizeof(escapes) - 1 == 0x20, "one for each control byte");

	if (byte < sizeof(escapes) - 1)
		return escapes[byte];
	return (char)byte;
}

static void append_escaped(struct wfs_buffer *buffer, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char escape = escape_of(byte);

	wfs_buffer_append_byte(buffer, '\\');
	wfs_buffer_append_byte(buffer, escape);
	if (escape == 'u') {
		wfs_buffer_append_text(buffer, "00");
		wfs_buffer_append_byte(buffer, digits[byte >> 4]);
		wfs_buffer_append_byte(buffer, digits[byte & 15]);
	}
}

void wfs_json_write_string(struct wfs_buffer *buffer, const char *text, size_t size)
{
	/* Grow once, for the usual string without escapes. */
	if (wfs_buffer_reserve(buffer, size + 2) < 0)
		return;
	wfs_buffer_append_byte(buffer, '"');
	for (size_t at = 0; at < size; at++) {
		const size_t plain = wfs_json_plain_size(text + at, size - at);

		wfs_buffer_append(buffer, text + at, plain);
		at += plain;
		if (at < size)
			append_escaped(buffer, (unsigned char)text[at]);
	}
	wfs_buffer_append_byte(buffer, '"');
}

static void write_object(const json_t *json, struct wfs_buffer *buffer)
{
	json_t *const object = (json_t *)json; /* jansson's iterators take no const */
	struct member few[MEMBERS_ON_STACK];
	WFS_AUTO_FREE struct member *many = NULL;
	struct member *members = few;
	size_t count = 0;

	if (json_object_size(json) > MEMBERS_ON_STACK) {
		many = calloc(json_object_size(json), sizeof(*many));
		if (!many) {
			buffer->failed = true;
			return;
		}
		members = many;
	}

	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
		members[count++] = (struct member){
			.key = json_object_iter_key(at),
			.key_size = json_object_iter_key_len(at),
			.value = json_object_iter_value(at),
		};
	members_sort(members, count);
	wfs_buffer_append_byte(buffer, '{');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			wfs_buffer_append_byte(buffer, ',');
		wfs_json_write_string(buffer, members[i].key, members[i].key_size);
		wfs_buffer_append_byte(buffer, ':');
		wfs_json_write(members[i].value, buffer);
	}
	wfs_buffer_append_byte(buffer, '}');
}

static void write_array(const json_t *json, struct wfs_buffer *buffer)
{
	const size_t count = json_array_size(json);

	wfs_buffer_append_byte(buffer, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			wfs_buffer_append_byte(buffer, ',');
		wfs_json_write(json_array_get(json, i), buffer);
	}
	wfs_buffer_append_byte(buffer, ']');
}

void wfs_json_write(const json_t *json, struct wfs_buffer *buffer)
{
	int64_t integer = 0;

	switch (json_typeof(json)) {
	case JSON_OBJECT:
		write_object(json, buffer);
		break;
	case JSON_ARRAY:
		write_array(json, buffer);
		break;
	case JSON_STRING:
		wfs_json_write_string(buffer, json_string_value(json), json_string_length(json));
		break;
	case JSON_INTEGER:
		wfs_buffer_append_int(buffer, json_integer_value(json));
		break;
	case JSON_REAL:
		if (wfs_json_real_canonical(json_real_value(json), &integer) == 2)
			wfs_buffer_append_int(buffer, integer);
		else
			wfs_json_write_real(buffer, json_real_value(json));
		break;
	case JSON_TRUE:
		wfs_buffer_append_text(buffer, "true");
		break;
	case JSON_FALSE:
		wfs_buffer_append_text(buffer, "false");
		break;
	case JSON_NULL:
		wfs_buffer_append_text(buffer, "null");
		break;
	}
}

void wfs_json_write_document(const json_t *json, struct wfs_buffer *buffer)
{
	wfs_json_write(json, buffer);
	wfs_buffer_append_byte(buffer, '\n');
}
