/* SPDX-License-Identifier: Apache-2.0 */
/* Converts paths to addresses, and back. */
#include "fs/mcp/uri.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "kernel/base/encode.h"

#define SCHEME "worldfs:///"

void wfs_uri_append(struct wfs_buffer *buffer, const char *path)
{
	wfs_buffer_append_text(buffer, SCHEME);
	for (path += strspn(path, "/"); *path; path++) {
		const unsigned char byte = (unsigned char)*path;

		/* Unreserved and reserved characters of RFC 3986, and `%` of a file name. */
		if (byte < 0x80 && (isalnum(byte) || strchr("-._~/:?#[]@!$&'()*+,;=%", byte)))
			wfs_buffer_append_byte(buffer, *path);
		else
			wfs_buffer_printf(buffer, "%%%02X", (unsigned int)byte);
	}
}

static int hex(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit = (char)toupper((unsigned char)digit);
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Is this byte written as `%XX` in names of the tree? (wfs_name_append; invalid UTF-8 is checked
 * later.) @first: it is the first of its name */
static bool stays_encoded(int byte, bool first)
{
	return byte == '/' || byte == '%' || byte < 0x20 || byte == 0x7f ||
		(first && (byte == '.' || byte == '_'));
}

/* Decodes each `%XX` that names of the tree do not have themselves. */
static int decode(const char *text, struct wfs_buffer *buffer)
{
	for (bool first = true; *text; text++) {
		const int high = *text == '%' ? hex(text[1]) : -1;
		const int low = high >= 0 ? hex(text[2]) : -1;

		if (*text == '%' && low < 0)
			return -EINVAL;
		const int byte = *text == '%' ? high * 16 + low : (unsigned char)*text;
		if (*text == '%' && stays_encoded(byte, first))
			wfs_buffer_printf(buffer, "%%%02X", (unsigned int)byte);
		else
			wfs_buffer_append_byte(buffer, (char)byte);
		first = *text == '/';
		if (*text == '%')
			text += 2;
	}
	return wfs_buffer_check(buffer);
}

int wfs_uri_path(const char *uri, struct wfs_buffer *buffer)
{
	WFS_AUTO_BUFFER struct wfs_buffer decoded = {0};
	const size_t size = strlen(SCHEME);
	int r;

	if (strncmp(uri, SCHEME, size) != 0)
		return -EINVAL;
	r = decode(uri + size, &decoded);
	if (r)
		return r;
	for (size_t i = 0; i < decoded.size;) {
		const unsigned char byte = (unsigned char)decoded.data[i];
		size_t count = 1;

		if (byte >= 0x80)
			count = wfs_utf8_sequence(decoded.data + i, decoded.size - i);
		if (count > 0)
			wfs_buffer_append(buffer, decoded.data + i, count);
		else
			wfs_buffer_printf(buffer, "%%%02X", (unsigned int)byte);
		i += count > 0 ? count : 1;
	}
	return wfs_buffer_check(buffer);
}
