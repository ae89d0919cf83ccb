/* SPDX-License-Identifier: Apache-2.0 */
/* What a write to the control file of an artifact does. */
#include "tests/fixture/test.h"

#include <stdlib.h>
#include <string.h>

#include "fs/control/control-content.h"
#include "kernel/base/json.h"
#include "kernel/world/request.h"

#define PAYLOAD(content) \
	"{\"action\":{\"action_type\":\"write_artifact\",\"artifact_id\":\"note\"" content "}}"

static struct wfs_control_content begun(void)
{
	struct wfs_control_content content = {.pending = false};

	wfs_control_content_begin(&content, true);
	return content;
}

static void write_at(struct wfs_control_content *content, uint64_t offset, const char *text)
{
	assert_int_equal(0, wfs_control_content_write(content, offset, wfs_bytes_text(text), NULL));
}

static void assert_gives(struct wfs_control_content *content, const char *expected)
{
	WFS_AUTO_JSON json_t *payload = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_true(content->pending);
	assert_int_equal(0, wfs_control_content_take(content, "note", &payload, NULL));
	wfs_json_write(payload, &text);
	assert_string_equal(expected, wfs_buffer_text(&text));
	assert_false(content->pending);
}

static void assert_spoilt(struct wfs_control_content *content, int r, int expected,
	const struct wfs_error *error, enum wfs_error_code code)
{
	assert_int_equal(expected, r);
	assert_int_equal(code, error->code);
	assert_false(content->pending);
	assert_int_equal(-EINVAL, wfs_control_content_write(content, 0, wfs_bytes_text("x"), NULL));
	assert_false(content->pending);
}

TEST(content_of_a_file_that_was_only_opened_is_nothing_to_do)
{
	struct wfs_control_content content = {.pending = false};

	assert_false(content.pending);
	wfs_control_content_done(&content);
}

TEST(content_is_all_that_was_written_in_pieces)
{
	struct wfs_control_content content = begun();

	write_at(&content, 0, "one ");
	write_at(&content, 4, "two");
	assert_gives(&content, PAYLOAD(",\"content\":\"one two\""));
	wfs_control_content_done(&content);
}

TEST(content_stays_for_whoever_writes_more_after_it_was_taken)
{
	struct wfs_control_content content = begun();

	write_at(&content, 0, "one ");
	assert_gives(&content, PAYLOAD(",\"content\":\"one \""));
	write_at(&content, 4, "two");
	assert_gives(&content, PAYLOAD(",\"content\":\"one two\""));
	wfs_control_content_done(&content);
}

TEST(content_can_be_written_over)
{
	struct wfs_control_content content = begun();

	write_at(&content, 0, "abcdef");
	write_at(&content, 1, "XY");
	write_at(&content, 5, "ZZZ");
	assert_gives(&content, PAYLOAD(",\"content\":\"aXYdeZZZ\""));
	wfs_control_content_done(&content);
}

TEST(content_that_is_truncated_is_empty)
{
	struct wfs_control_content content = {.pending = false};

	wfs_control_content_begin(&content, true);
	assert_gives(&content, PAYLOAD(",\"content\":\"\""));
	write_at(&content, 0, "abc");
	assert_int_equal(0, wfs_control_content_truncate(&content, 1, NULL));
	assert_gives(&content, PAYLOAD(",\"content\":\"a\""));
	wfs_control_content_done(&content);
}

/* An artifact that exists unseen must keep its content. */
TEST(content_of_a_new_file_is_not_given_before_it_is_written)
{
	struct wfs_control_content content = {.pending = false};

	wfs_control_content_begin(&content, false);
	assert_gives(&content, PAYLOAD(""));
	write_at(&content, 0, "a");
	assert_gives(&content, PAYLOAD(",\"content\":\"a\""));
	wfs_control_content_done(&content);
}

/* The tail of the old content would be lost. */
TEST(content_that_is_there_is_not_written_into)
{
	struct wfs_control_content written = {.pending = false};
	struct wfs_control_content truncated = {.pending = false};
	struct wfs_error error = {0};

	int r = wfs_control_content_write(&written, 0, wfs_bytes_text("x"), &error);
	assert_string_equal(
		"expected the whole new content, got a change of the old one; open with "
		"O_TRUNC, or change a part with edit_artifact",
		error.message);
	assert_spoilt(&written, r, -EINVAL, &error, WFS_E_INVALID_REQUEST);
	r = wfs_control_content_truncate(&truncated, 1, &error);
	assert_spoilt(&truncated, r, -EINVAL, &error, WFS_E_INVALID_REQUEST);
	wfs_control_content_done(&written);
	wfs_control_content_done(&truncated);
}

TEST(content_begins_when_it_is_truncated_to_nothing)
{
	struct wfs_control_content content = {.pending = false};

	assert_int_equal(0, wfs_control_content_truncate(&content, 0, NULL));
	write_at(&content, 0, "AB");
	assert_gives(&content, PAYLOAD(",\"content\":\"AB\""));
	wfs_control_content_done(&content);
}

TEST(content_has_no_gap)
{
	struct wfs_control_content written = begun();
	struct wfs_control_content truncated = begun();
	struct wfs_error error = {0};

	write_at(&written, 0, "abc");
	int r = wfs_control_content_write(&written, 5, wfs_bytes_text("x"), &error);
	assert_string_equal("expected the whole content: bytes 3 to 4 did not come", error.message);
	assert_spoilt(&written, r, -EINVAL, &error, WFS_E_INVALID_REQUEST);
	r = wfs_control_content_truncate(&truncated, 1, &error);
	assert_spoilt(&truncated, r, -EINVAL, &error, WFS_E_INVALID_REQUEST);
	wfs_control_content_done(&written);
	wfs_control_content_done(&truncated);
}

TEST(content_ends_at_its_bound)
{
	struct wfs_control_content content = begun();
	struct wfs_error error = {0};
	char *const most = malloc(WFS_REQUEST_SIZE_MAX);

	assert_non_null(most);
	memset(most, 'a', WFS_REQUEST_SIZE_MAX);
	int r = wfs_control_content_write(
		&content, 0, WFS_BYTES(most, WFS_REQUEST_SIZE_MAX), &error);
	assert_int_equal(0, r);
	r = wfs_control_content_write(&content, WFS_REQUEST_SIZE_MAX, WFS_BYTES(most, 1), &error);
	assert_spoilt(&content, r, -EFBIG, &error, WFS_E_TOO_LARGE);
	free(most);
	wfs_control_content_done(&content);
}

TEST(content_is_text)
{
	struct wfs_control_content content = begun();
	struct wfs_error error = {0};
	json_t *payload = NULL;

	write_at(&content, 0, "h\xc3\xa9\xff");
	assert_int_equal(-EINVAL, wfs_control_content_take(&content, "note", &payload, &error));
	assert_int_equal(WFS_E_INVALID_ARGUMENT, error.code);
	assert_string_equal(
		"'content': expected UTF-8 text, got byte 0xff at offset 3", error.message);
	assert_false(content.pending);
	assert_null(payload);
	write_at(&content, 3, "!");
	assert_gives(&content, PAYLOAD(",\"content\":\"h\xc3\xa9!\""));
	wfs_control_content_done(&content);
}

TEST(content_may_hold_nul)
{
	struct wfs_control_content content = begun();

	assert_int_equal(0, wfs_control_content_write(&content, 0, WFS_BYTES("a\0b", 3), NULL));
	assert_gives(&content, PAYLOAD(",\"content\":\"a\\u0000b\""));
	wfs_control_content_done(&content);
}

TEST(content_that_is_refused_says_why)
{
	struct wfs_control_content content = {.pending = false};
	struct wfs_error error = {0};

	wfs_control_content_begin(&content, true);
	const int r = wfs_control_content_refuse(&content, "no", &error);
	assert_string_equal("no", error.message);
	assert_spoilt(&content, r, -EINVAL, &error, WFS_E_INVALID_REQUEST);
	wfs_control_content_done(&content);
}

TEST(content_that_is_dropped_is_nothing_to_do)
{
	struct wfs_control_content content = begun();

	write_at(&content, 0, "half");
	wfs_control_content_drop(&content);
	assert_false(content.pending);
	wfs_control_content_done(&content);
}
