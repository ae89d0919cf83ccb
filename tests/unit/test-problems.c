/* SPDX-License-Identifier: Apache-2.0 */
/* The list of problems: form of a line, bound, release. */
#include "tests/fixture/test.h"

#include "kernel/base/buffer.h"
#include "kernel/base/encode.h"
#include "kernel/base/problems.h"

TEST(problem_line_has_file_pointer_and_reason)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	wfs_problems_add(&problems, "world.json", "/name", "expected %s, got %s", "text", "null");

	assert_int_equal(problems.count, 1);
	assert_string_equal(
		wfs_buffer_text(&problems.lines), "world.json: /name: expected text, got null\n");
}

TEST(a_place_is_a_pointer)
{
	assert_string_equal(wfs_place_at("/schemas/%d/name", 7).text, "/schemas/7/name");
}

TEST(problem_line_leaves_out_missing_parts)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	wfs_problems_add(&problems, NULL, "/a", "one");
	wfs_problems_add(&problems, "f", NULL, "two");
	wfs_problems_add(&problems, NULL, NULL, "three");
	wfs_problems_add(&problems, "f", "", "four");

	assert_int_equal(problems.count, 4);
	assert_string_equal(wfs_buffer_text(&problems.lines), "/a: one\nf: two\nthree\nf: four\n");
}

TEST(problem_stays_on_one_line_whatever_it_quotes)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	wfs_problems_add(&problems, "a\nb", "/c\td", "e\nf\xff");

	assert_string_equal(wfs_buffer_text(&problems.lines), "a?b: /c?d: e?f?\n");
}

TEST(problem_reason_is_cut_at_a_character)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (int i = 0; i < 300; i++)
		wfs_buffer_append_text(&text, "\u20ac");
	wfs_problems_add(&problems, NULL, NULL, "%s", wfs_buffer_text(&text));

	assert_int_equal(problems.lines.size, 510 + 1);
	assert_true(wfs_utf8_valid(problems.lines.data, problems.lines.size));
	assert_null(memchr(problems.lines.data, '?', problems.lines.size));
}

TEST(problems_beyond_the_bound_are_counted_but_not_kept)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	size_t kept_size = 0;

	for (int i = 0; i < WFS_PROBLEMS_MAX; i++)
		wfs_problems_add(&problems, NULL, NULL, "x");
	kept_size = problems.lines.size;
	wfs_problems_add(&problems, NULL, NULL, "one too many");

	assert_int_equal(problems.count, WFS_PROBLEMS_MAX + 1);
	assert_int_equal(kept_size, (size_t)WFS_PROBLEMS_MAX * 2);
	assert_int_equal(problems.lines.size, kept_size);
}

TEST(problems_are_counted_when_memory_is_out)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	wfs_buffer_reserve(&problems.lines, SIZE_MAX); /* fails the buffer */
	wfs_problems_add(&problems, "f", "/p", "x");

	assert_int_equal(problems.count, 1);
	assert_int_equal(wfs_buffer_check(&problems.lines), -ENOMEM);
}

TEST(problems_done_leaves_an_empty_list)
{
	struct wfs_problems problems = {0};

	wfs_problems_done(&problems);
	wfs_problems_add(&problems, NULL, NULL, "x");
	wfs_problems_done(&problems);

	assert_int_equal(problems.count, 0);
	assert_null(problems.lines.data);
}
