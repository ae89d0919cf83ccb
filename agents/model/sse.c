/* SPDX-License-Identifier: Apache-2.0 */
/* Parses server-sent events: bytes to lines, lines to events. */
#include "agents/model/sse.h"

#include <errno.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void wfs_sse_done(struct wfs_sse *sse)
{
	wfs_buffer_done(&sse->line);
	wfs_buffer_done(&sse->data);
}

static int dispatch(struct wfs_sse *sse, const struct wfs_sse_sink *sink)
{
	const size_t size = sse->data.size;

	if (size == 0)
		return 0;
	sse->data.size = 0;
	return sink->event(sink->context, WFS_BYTES(sse->data.data, size - 1));
}

static int add_field(struct wfs_sse *sse, struct wfs_bytes line)
{
	const char *const text = line.data;
	const char *const colon = memchr(text, ':', line.size);
	const size_t name_size = colon ? (size_t)(colon - text) : line.size;
	size_t skipped = colon ? name_size + 1 : name_size;

	if (!wfs_bytes_equal(WFS_BYTES(text, name_size), wfs_bytes_text("data")))
		return 0;
	if (skipped < line.size && text[skipped] == ' ')
		skipped++;
	wfs_buffer_append(&sse->data, text + skipped, line.size - skipped);
	wfs_buffer_append_byte(&sse->data, '\n');
	return wfs_buffer_check(&sse->data);
}

static int take_line(struct wfs_sse *sse, const struct wfs_sse_sink *sink)
{
	const size_t mark_size = strlen(BYTE_ORDER_MARK);
	struct wfs_bytes line = wfs_buffer_bytes(&sse->line);

	if (!sse->begun && line.size >= mark_size &&
		memcmp(line.data, BYTE_ORDER_MARK, mark_size) == 0)
		line = WFS_BYTES((const char *)line.data + mark_size, line.size - mark_size);
	sse->begun = true;
	sse->line.size = 0;
	if (line.size == 0)
		return dispatch(sse, sink);
	switch (*(const char *)line.data) {
	case ':':
		return 0;
	case '{':
		return sink->event(sink->context, line);
	default:
		return add_field(sse, line);
	}
}

static size_t line_size(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n' || text[i] == '\r')
			return i;
	return size;
}

static int add_to_line(struct wfs_sse *sse, const char *text, size_t size)
{
	const size_t event_max = sse->event_max > 0 ? sse->event_max : WFS_SSE_EVENT_MAX;

	if (size > event_max - sse->line.size - sse->data.size)
		return -EFBIG;
	wfs_buffer_append(&sse->line, text, size);
	return wfs_buffer_check(&sse->line);
}

int wfs_sse_feed(
	struct wfs_sse *sse, const void *data, size_t size, const struct wfs_sse_sink *sink)
{
	const char *at = data;
	const char *const end = at + size;
	int r = 0;

	while (at < end && r == 0) {
		const bool second_half = sse->after_cr && *at == '\n';

		sse->after_cr = false;
		if (second_half) {
			at++;
			continue;
		}
		const char *const stop = at + line_size(at, (size_t)(end - at));

		r = add_to_line(sse, at, (size_t)(stop - at));
		at = stop;
		if (r < 0 || at == end)
			break;
		sse->after_cr = *at++ == '\r';
		r = take_line(sse, sink);
	}
	return r;
}

int wfs_sse_end(struct wfs_sse *sse, const struct wfs_sse_sink *sink)
{
	if (sse->line.size == 0)
		return dispatch(sse, sink);
	return sse->line.data[0] == '{' ? take_line(sse, sink) : 0;
}
