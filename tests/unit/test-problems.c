/* SPDX-License-Identifier: Apache-2.0 */
/* The list of problems: form of a line, bound, release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/base/buffer.h"
#include "kernel/base/encode.h"
#include "kernel/base/problems.h"

static void problem_line_has_file_pointer_and_reason(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	(void)state;

	wfs_problems_add(&problems, "world.json", "/name", "expected %s, got %s", "text", "null");

	assert_int_equal(problems.count, 1);
	assert_string_equal(
		wfs_buffer_text(&problems.lines), "world.json: /name: expected text, got null\n");
}

static void a_place_is_a_pointer(void **state)
{
	(void)state;

	assert_string_equal(wfs_place_at("/schemas/%d/name", 7).text, "/schemas/7/name");
}

static void problem_line_leaves_out_missing_parts(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	(void)state;

	wfs_problems_add(&problems, NULL, "/a", "one");
	wfs_problems_add(&problems, "f", NULL, "two");
	wfs_problems_add(&problems, NULL, NULL, "three");
	wfs_problems_add(&problems, "f", "", "four");

	assert_int_equal(problems.count, 4);
	assert_string_equal(wfs_buffer_text(&problems.lines), "/a: one\nf: two\nthree\nf: four\n");
}

static void problem_stays_on_one_line_whatever_it_quotes(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	(void)state;

	wfs_problems_add(&problems, "a\nb", "/c\td", "e\nf\xff");

	assert_string_equal(wfs_buffer_text(&problems.lines), "a?b: /c?d: e?f?\n");
}

static void problem_reason_is_cut_at_a_character(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	(void)state;

	for (int i = 0; i < 300; i++)
		wfs_buffer_append_text(&text, "\u20ac");
	wfs_problems_add(&problems, NULL, NULL, "%s", wfs_buffer_text(&text));

	assert_int_equal(problems.lines.size, 510 + 1);
	assert_true(wfs_utf8_valid(problems.lines.data, problems.lines.size));
	assert_null(memchr(problems.lines.data, '?', problems.lines.size));
}

static void problems_beyond_the_bound_are_counted_but_not_kept(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	size_t kept_size = 0;

	(void)state;

	for (int i = 0; i < WFS_PROBLEMS_MAX; i++)
		wfs_problems_add(&problems, NULL, NULL, "x");
	kept_size = problems.lines.size;
	wfs_problems_add(&problems, NULL, NULL, "one too many");

	assert_int_equal(problems.count, WFS_PROBLEMS_MAX + 1);
	assert_int_equal(kept_size, (size_t)WFS_PROBLEMS_MAX * 2);
	assert_int_equal(problems.lines.size, kept_size);
}

static void problems_are_counted_when_memory_is_out(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	(void)state;

	wfs_buffer_reserve(&problems.lines, SIZE_MAX); /* fails the buffer */
	wfs_problems_add(&problems, "f", "/p", "x");

	assert_int_equal(problems.count, 1);
	assert_int_equal(wfs_buffer_check(&problems.lines), -ENOMEM);
}

static void problems_done_leaves_an_empty_list(void **state)
{
	struct wfs_problems problems = {0};

	(void)state;

	wfs_problems_done(&problems);
	wfs_problems_add(&problems, NULL, NULL, "x");
	wfs_problems_done(&problems);

	assert_int_equal(problems.count, 0);
	assert_null(problems.lines.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(problem_line_has_file_pointer_and_reason),
		cmocka_unit_test(a_place_is_a_pointer),
		cmocka_unit_test(problem_line_leaves_out_missing_parts),
		cmocka_unit_test(problem_stays_on_one_line_whatever_it_quotes),
		cmocka_unit_test(problem_reason_is_cut_at_a_character),
		cmocka_unit_test(problems_beyond_the_bound_are_counted_but_not_kept),
		cmocka_unit_test(problems_are_counted_when_memory_is_out),
		cmocka_unit_test(problems_done_leaves_an_empty_list),
	};

	return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
