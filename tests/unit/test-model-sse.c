/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: line ends, chunks, comments, bounds. */
#include "tests/fixture/test.h"

#include <errno.h>

#include "agents/model/sse.h"

/* Notes what the sink gets, with a `;` after each. */
static int note_event(void *context, struct wfs_bytes data)
{
	struct wfs_buffer *const seen = context;

	wfs_buffer_append(seen, data.data, data.size);
	wfs_buffer_append_byte(seen, ';');
	return wfs_buffer_check(seen);
}

static int refuse_event(void *context, struct wfs_bytes data)
{
	(void)context;
	(void)data;
	return -ECANCELED;
}

static void feed(struct wfs_sse *sse, const char *text, size_t size, struct wfs_buffer *seen)
{
	const struct wfs_sse_sink sink = {.context = seen, .event = note_event};

	assert_int_equal(wfs_sse_feed(sse, text, size, &sink), 0);
}

static void end(struct wfs_sse *sse, struct wfs_buffer *seen)
{
	const struct wfs_sse_sink sink = {.context = seen, .event = note_event};

	assert_int_equal(wfs_sse_end(sse, &sink), 0);
}

/* Feeds the text whole, then cut in two at every byte, then byte by byte. */
static void expect_events(const char *text, const char *expected)
{
	const size_t size = strlen(text);

	for (size_t cut = 0; cut <= size + 1; cut++) {
		WFS_AUTO_SSE struct wfs_sse sse = {0};
		WFS_AUTO_BUFFER struct wfs_buffer seen = {0};

		if (cut <= size) {
			feed(&sse, text, cut, &seen);
			feed(&sse, text + cut, size - cut, &seen);
		} else {
			for (size_t i = 0; i < size; i++)
				feed(&sse, text + i, 1, &seen);
		}
		end(&sse, &seen);
		if (strcmp(wfs_buffer_text(&seen), expected) != 0)
			fail_msg("cut at %zu: expected '%s', got '%s'", cut, expected,
				wfs_buffer_text(&seen));
	}
}

/* Case 107. */
TEST(lines_end_with_lf_cr_or_crlf)
{
	expect_events("data: a\n\ndata: b\n\n", "a;b;");
	expect_events("data: a\r\n\r\ndata: b\r\n\r\n", "a;b;");
	expect_events("data: a\r\rdata: b\r\r", "a;b;");
	expect_events("data: a\r\n\ndata: b\n\r\n", "a;b;");
}

/* Case 107. */
TEST(comments_and_other_fields_are_skipped)
{
	expect_events(
		": keep-alive\n\nevent: x\nid: 1\n: more\ndata: a\nretry: 5\ndatas: b\n\n", "a;");
}

TEST(one_space_behind_the_colon_is_dropped)
{
	expect_events("data:a\n\ndata: b\n\ndata:  c\n\ndata:d: e\n\n", "a;b; c;d: e;");
}

TEST(lines_of_one_event_are_joined)
{
	expect_events("data: a\ndata\ndata: b\n\n", "a\n\nb;");
}

TEST(a_byte_order_mark_is_skipped_only_at_the_beginning)
{
	expect_events("\xef\xbb\xbf"
		      "data: a\n\n\xef\xbb\xbf"
		      "data: b\n\n",
		"a;");
}

TEST(a_line_that_begins_with_a_brace_is_stray)
{
	expect_events("data: a\n\n{\"error\": 1}\n", "a;{\"error\": 1};");
	expect_events("{\"error\": 1}", "{\"error\": 1};");
}

TEST(an_event_without_its_blank_line_counts_at_the_end)
{
	expect_events("data: a\n\ndata: b\n", "a;b;");
}

TEST(half_a_line_is_dropped_at_the_end)
{
	expect_events("data: a\n\ndata: b", "a;");
	expect_events("data: a\n\ndata: b\ndata: c", "a;");
}

TEST(a_line_that_is_too_long_is_refused)
{
	WFS_AUTO_SSE struct wfs_sse sse = {0};
	WFS_AUTO_BUFFER struct wfs_buffer seen = {0};
	const struct wfs_sse_sink sink = {.context = &seen, .event = note_event};
	WFS_AUTO_FREE char *line = malloc(WFS_SSE_EVENT_MAX);

	assert_non_null(line);
	memset(line, ':', WFS_SSE_EVENT_MAX);
	feed(&sse, line, WFS_SSE_EVENT_MAX, &seen);
	assert_int_equal(wfs_sse_feed(&sse, ":", 1, &sink), -EFBIG);
}

TEST(an_event_of_too_many_lines_is_refused)
{
	WFS_AUTO_SSE struct wfs_sse sse = {0};
	WFS_AUTO_BUFFER struct wfs_buffer seen = {0};
	const struct wfs_sse_sink sink = {.context = &seen, .event = note_event};
	const char line[] = "data: 0123456789012345678901234567890123456789\n";
	int r = 0;

	for (size_t size = 0; size <= 2 * (size_t)WFS_SSE_EVENT_MAX && r == 0; size += strlen(line))
		r = wfs_sse_feed(&sse, line, strlen(line), &sink);
	assert_int_equal(r, -EFBIG);
	assert_true(sse.data.size <= WFS_SSE_EVENT_MAX);
}

TEST(what_the_sink_returns_ends_the_feeding)
{
	WFS_AUTO_SSE struct wfs_sse sse = {0};
	const struct wfs_sse_sink sink = {.event = refuse_event};

	assert_int_equal(wfs_sse_feed(&sse, "data: a\n\n", 9, &sink), -ECANCELED);
}
