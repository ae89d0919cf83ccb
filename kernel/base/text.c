/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that models write. */
#include "kernel/base/text.h"

static bool is_blank(char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

struct wfs_bytes wfs_text_trimmed(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t from = 0;

	while (text.size > 0 && is_blank(bytes[text.size - 1]))
		text.size--;
	while (from < text.size && is_blank(bytes[from]))
		from++;
	return WFS_BYTES(bytes + from, text.size - from);
}

struct wfs_bytes wfs_text_cut(struct wfs_bytes text, size_t max)
{
	const uint8_t *const bytes = text.data;
	size_t count = 0;

	for (size_t at = 0; at < text.size; at++) {
		const bool begins_character = (bytes[at] & 0xc0) != 0x80;

		if (begins_character && count++ == max)
			return WFS_BYTES(bytes, at);
	}
	return text;
}

struct wfs_bytes wfs_text_fit(struct wfs_bytes text, size_t max)
{
	return wfs_text_trimmed(wfs_text_cut(wfs_text_trimmed(text), max));
}

struct wfs_bytes wfs_text_of(const json_t *json)
{
	const char *const text = json_string_value(json);

	return WFS_BYTES(text ? text : "", json_string_length(json));
}

bool wfs_text_has_control(struct wfs_bytes text)
{
	const uint8_t *const bytes = text.data;

	for (size_t at = 0; at < text.size; at++)
		if (bytes[at] < 0x20 || bytes[at] == 0x7f)
			return true;
	return false;
}
