/* SPDX-License-Identifier: Apache-2.0 */
/* Checks in one pass, without making values, whether a text is in canonical form. */
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum {
	INTEGER_DIGITS = 18, /* that many always fit 64 bits */
	NUMBER_SIZE = 32,    /* every canonical number is shorter */
};

struct scanner {
	const char *at;
	const char *end;
	struct wfs_buffer
		keys[2]; /* decoded names with escapes: the previous member's, and this one's */
};

static bool scan_value(struct scanner *s, int depth);

static bool take(struct scanner *s, char byte)
{
	if (s->at == s->end || *s->at != byte)
		return false;
	s->at++;
	return true;
}

static bool take_word(struct scanner *s, const char *word, size_t size)
{
	if ((size_t)(s->end - s->at) < size || memcmp(s->at, word, size) != 0)
		return false;
	s->at += size;
	return true;
}

/* A number that is not a short integer is canonical if wfs_json_write() writes it like this. */
static bool scan_long_number(struct scanner *s, size_t size)
{
	WFS_AUTO_JSON json_t *json = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer again = {0};

	if (size >= NUMBER_SIZE || wfs_json_parse(s->at, size, &json, NULL) < 0)
		return false;
	wfs_json_write(json, &again);
	if (!wfs_bytes_equal(wfs_buffer_bytes(&again), WFS_BYTES(s->at, size)))
		return false;
	s->at += size;
	return true;
}

static bool scan_number(struct scanner *s)
{
	const bool negative = *s->at == '-';
	size_t size = 0;
	size_t digits = 0;

	while (s->at + size < s->end && strchr("+-.0123456789Ee", s->at[size]) && s->at[size])
		size++;
	for (size_t i = negative; i < size && s->at[i] >= '0' && s->at[i] <= '9'; i++)
		digits++;
	if (digits == 0)
		return false;
	if (digits + negative != size || digits > INTEGER_DIGITS)
		return scan_long_number(s, size);
	if (s->at[negative] == '0' && size > 1)
		return false;
	s->at += size;
	return true;
}

static bool scan_escape(struct scanner *s, struct wfs_buffer *decoded)
{
	static const char from[] = "\"\\bfnrt";
	static const char to[] = "\"\\\b\f\n\r\t";
	static const char digits[] = "0123456789abcdef";
	const char *found = NULL;

	if (take(s, 'u')) {
		if (!take_word(s, "00", 2) || s->end - s->at < 2 ||
			(s->at[0] != '0' && s->at[0] != '1'))
			return false;
		found = memchr(digits, s->at[1], sizeof(digits) - 1);
		if (!found)
			return false;
		const char byte = (char)((s->at[0] - '0') * 16 + (int)(found - digits));
		/* A byte with a short escape is always written with that. */
		if (memchr(to, byte, sizeof(to) - 1))
			return false;
		wfs_buffer_append_byte(decoded, byte);
		s->at += 2;
		return true;
	}
	found = s->at < s->end ? memchr(from, *s->at, sizeof(from) - 1) : NULL;
	if (!found)
		return false;
	wfs_buffer_append_byte(decoded, to[found - from]);
	s->at++;
	return true;
}

/* Scans after the opening quote. @decoded: scratch; @ret_text: points into the text, or @decoded */
static bool scan_string(struct scanner *s, struct wfs_buffer *decoded, struct wfs_bytes *ret_text)
{
	const char *start = s->at;

	wfs_buffer_reset(decoded);
	for (;;) {
		s->at += wfs_json_plain_size(s->at, (size_t)(s->end - s->at));
		if (s->at == s->end)
			return false;
		if (*s->at == '"')
			break;
		wfs_buffer_append(decoded, start, (size_t)(s->at - start));
		if (!take(s, '\\') || !scan_escape(s, decoded))
			return false;
		start = s->at;
	}
	if (decoded->size > 0) {
		wfs_buffer_append(decoded, start, (size_t)(s->at - start));
		*ret_text = wfs_buffer_bytes(decoded);
	} else {
		*ret_text = WFS_BYTES(start, (size_t)(s->at - start));
	}
	s->at++;
	return wfs_buffer_check(decoded) == 0;
}

static bool scan_array(struct scanner *s, int depth)
{
	if (take(s, ']'))
		return true;
	do
		if (!scan_value(s, depth))
			return false;
	while (take(s, ','));
	return take(s, ']');
}

/* The previous name may be a decoded one, so it is kept while the value is scanned. A name with a
 * NUL is refused, as wfs_json_parse() refuses it. */
static bool scan_object(struct scanner *s, int depth)
{
	WFS_AUTO_BUFFER struct wfs_buffer kept = {0};
	struct wfs_bytes before = {0};

	if (take(s, '}'))
		return true;
	do {
		struct wfs_bytes name = {0};

		if (!take(s, '"') || !scan_string(s, &s->keys[0], &name) ||
			memchr(name.data, '\0', name.size))
			return false;
		if (before.data &&
			wfs_json_key_compare(before.data, before.size, name.data, name.size) >= 0)
			return false;
		before = name;
		if (name.data == s->keys[0].data) {
			wfs_buffer_reset(&kept);
			wfs_buffer_append(&kept, name.data, name.size);
			if (wfs_buffer_check(&kept))
				return false;
			before = wfs_buffer_bytes(&kept);
		}
		if (!take(s, ':') || !scan_value(s, depth))
			return false;
	} while (take(s, ','));
	return take(s, '}');
}

/* @depth: arrays and objects around it */
static bool scan_value(struct scanner *s, int depth)
{
	struct wfs_bytes text;

	if (s->at == s->end)
		return false;
	switch (*s->at) {
	case '[':
		s->at++;
		return depth < WFS_JSON_DEPTH_MAX && scan_array(s, depth + 1);
	case '{':
		s->at++;
		return depth < WFS_JSON_DEPTH_MAX && scan_object(s, depth + 1);
	case '"':
		s->at++;
		return scan_string(s, &s->keys[1], &text);
	case 't':
		return take_word(s, "true", 4);
	case 'f':
		return take_word(s, "false", 5);
	case 'n':
		return take_word(s, "null", 4);
	default:
		return scan_number(s);
	}
}

bool wfs_json_is_canonical(struct wfs_bytes text)
{
	struct scanner scanner = {
		.at = text.data,
		.end = (const char *)text.data + text.size,
	};
	const bool canonical = text.size > 0 && wfs_utf8_valid(text.data, text.size) &&
		scan_value(&scanner, 0) && scanner.at == scanner.end;

	wfs_buffer_done(&scanner.keys[0]);
	wfs_buffer_done(&scanner.keys[1]);
	return canonical;
}
