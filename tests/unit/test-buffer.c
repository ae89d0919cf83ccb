/* SPDX-License-Identifier: Apache-2.0 */
/* Growable bytes: how they grow, errors that stick, text. */
#include "tests/fixture/test.h"

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

TEST(buffer_starts_empty)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	assert_int_equal(wfs_buffer_check(&buffer), 0);
	assert_string_equal(wfs_buffer_text(&buffer), "");
	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&buffer), WFS_BYTES(NULL, 0)));
}

TEST(buffer_keeps_what_is_appended_in_order)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append(&buffer, "ab", 2);
	wfs_buffer_append_text(&buffer, "cd");
	wfs_buffer_append_byte(&buffer, 'e');
	wfs_buffer_printf(&buffer, "%s-%d", "f", 7);
	wfs_buffer_append(&buffer, NULL, 0);

	assert_int_equal(wfs_buffer_check(&buffer), 0);
	assert_string_equal(wfs_buffer_text(&buffer), "abcdef-7");
	assert_int_equal(buffer.size, 8);
}

TEST(buffer_keeps_nul_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append(&buffer, "a\0b", 3);

	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&buffer), WFS_BYTES("a\0b", 3)));
	assert_int_equal(wfs_buffer_text(&buffer)[3], '\0');
}

TEST(buffer_grows_past_its_first_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	for (int i = 0; i < 100000; i++)
		wfs_buffer_append_byte(&buffer, (char)('a' + i % 26));

	assert_int_equal(wfs_buffer_check(&buffer), 0);
	assert_int_equal(buffer.size, 100000);
	assert_int_equal(buffer.data[99999], 'a' + 99999 % 26);
	assert_int_equal(strlen(wfs_buffer_text(&buffer)), 100000);
}

TEST(buffer_printf_grows_for_a_long_result)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append_text(&buffer, "x");
	wfs_buffer_printf(&buffer, "%01000d", 7);

	assert_int_equal(buffer.size, 1001);
	assert_int_equal(buffer.data[1000], '7');
	assert_int_equal(buffer.data[999], '0');
}

TEST(buffer_writes_the_extreme_integers)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append_int(&buffer, INT64_MIN);
	wfs_buffer_append_byte(&buffer, ' ');
	wfs_buffer_append_int(&buffer, INT64_MAX);
	wfs_buffer_append_byte(&buffer, ' ');
	wfs_buffer_append_int(&buffer, 0);
	wfs_buffer_append_byte(&buffer, ' ');
	wfs_buffer_append_int(&buffer, -1);

	assert_string_equal(
		wfs_buffer_text(&buffer), "-9223372036854775808 9223372036854775807 0 -1");
}

TEST(buffer_reserve_makes_room_that_appending_then_uses)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	const char *data = NULL;

	assert_int_equal(wfs_buffer_reserve(&buffer, 5000), 0);
	data = buffer.data;
	for (int i = 0; i < 5000; i++)
		wfs_buffer_append_byte(&buffer, 'x');
	wfs_buffer_text(&buffer);

	assert_ptr_equal(buffer.data, data);
}

TEST(buffer_reserve_refuses_a_size_that_cannot_be)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append_text(&buffer, "abc");

	assert_int_equal(wfs_buffer_reserve(&buffer, SIZE_MAX), -ENOMEM);
	assert_int_equal(wfs_buffer_check(&buffer), -ENOMEM);
}

TEST(buffer_reserve_reports_when_memory_is_out)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	/* The size is valid, but no machine has an address space with so much room. */
	assert_int_equal(wfs_buffer_reserve(&buffer, PTRDIFF_MAX / 2), -ENOMEM);
	assert_int_equal(wfs_buffer_check(&buffer), -ENOMEM);
}

TEST(buffer_that_failed_takes_nothing_until_reset)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append_text(&buffer, "abc");
	wfs_buffer_reserve(&buffer, SIZE_MAX);
	wfs_buffer_append_text(&buffer, "d");
	wfs_buffer_append_byte(&buffer, 'e');
	wfs_buffer_append_int(&buffer, 1);
	wfs_buffer_printf(&buffer, "f");

	assert_int_equal(buffer.size, 3);
	assert_string_equal(wfs_buffer_text(&buffer), "");

	wfs_buffer_reset(&buffer);
	wfs_buffer_append_text(&buffer, "new");

	assert_int_equal(wfs_buffer_check(&buffer), 0);
	assert_string_equal(wfs_buffer_text(&buffer), "new");
}

TEST(buffer_done_leaves_an_empty_buffer)
{
	struct wfs_buffer buffer = {0};

	wfs_buffer_done(&buffer);
	wfs_buffer_append_text(&buffer, "abc");
	wfs_buffer_done(&buffer);
	wfs_buffer_done(&buffer);

	assert_null(buffer.data);
	assert_int_equal(buffer.size, 0);
	assert_int_equal(buffer.capacity_bytes, 0);
}

TEST(bytes_are_equal_by_size_and_content)
{
	assert_true(wfs_bytes_equal(wfs_bytes_text("ab"), WFS_BYTES("abc", 2)));
	assert_false(wfs_bytes_equal(wfs_bytes_text("ab"), wfs_bytes_text("abc")));
	assert_false(wfs_bytes_equal(wfs_bytes_text("ab"), wfs_bytes_text("ac")));
}
