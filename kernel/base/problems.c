/* SPDX-License-Identifier: Apache-2.0 */
/* A list of problems, one a line, counted beyond its bound. */
#include "kernel/base/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/encode.h"

struct wfs_place wfs_place_at(const char *format, ...)
{
	struct wfs_place place;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(place.text, sizeof(place.text), format, arguments);
	va_end(arguments);
	return place;
}

void wfs_problems_done(struct wfs_problems *problems)
{
	wfs_buffer_done(&problems->lines);
	problems->count = 0;
}

static void append_part(struct wfs_buffer *lines, const char *part)
{
	if (!part || !*part)
		return;
	wfs_buffer_append_text(lines, part);
	wfs_buffer_append_text(lines, ": ");
}

void wfs_problems_add(struct wfs_problems *problems, const char *file, const char *pointer,
	const char *format, ...)
{
	char reason[WFS_ERROR_MESSAGE_SIZE];
	const size_t start = problems->lines.size;
	va_list arguments;
	int size = 0;

	if (problems->count++ >= WFS_PROBLEMS_MAX)
		return;

	va_start(arguments, format);
	size = vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (size < 0)
		reason[0] = '\0';

	append_part(&problems->lines, file);
	append_part(&problems->lines, pointer);
	wfs_buffer_append(&problems->lines, reason,
		size < (int)sizeof(reason) ? strlen(reason)
					   : wfs_utf8_cut(reason, sizeof(reason) - 1));
	if (problems->lines.size > start)
		wfs_line_clean(problems->lines.data + start, problems->lines.size - start);
	wfs_buffer_append_byte(&problems->lines, '\n');
}
