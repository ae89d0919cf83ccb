/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of help: words are broken into lines. */
#include "tests/fixture/test.h"

#include "kernel/base/page.h"

#define INDENT "                            "
#define TWENTY "abcdefghi abcdefghi "

TEST(an_item_stands_in_two_columns)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_item(&page, "  --name", "what it does");
	assert_string_equal(wfs_buffer_text(&page), "  --name                    what it does\n");
}

TEST(an_item_with_a_long_name_has_a_line_more)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_item(&page, "  a_name_of_27_bytes_or_more", "what");
	assert_string_equal(
		wfs_buffer_text(&page), "  a_name_of_27_bytes_or_more\n" INDENT "what\n");
}

TEST(words_go_on_below_where_they_began)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_item(&page, "", TWENTY TWENTY "abcdefghijk next");
	assert_string_equal(
		wfs_buffer_text(&page), INDENT TWENTY TWENTY "abcdefghijk\n" INDENT "next\n");
}

TEST(a_word_that_is_too_long_stands_alone)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_words(&page, 0, 0,
		wfs_bytes_text("a " TWENTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
			       "abcdefghijklmnopqrstuvwxyz b"));
	assert_string_equal(wfs_buffer_text(&page),
		"a abcdefghi abcdefghi\n"
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\n"
		"b\n");
}
