/* SPDX-License-Identifier: Apache-2.0 */
/* Wanted heights: every accepted form, and refusals of others. */
#include "tests/fixture/test.h"

#include "kernel/base/cleanup.h"
#include "kernel/read/view.h"
#include "kernel/value/consistency.h"

static struct wfs_consistency parsed(const char *text)
{
	struct wfs_consistency consistency = {0};
	struct wfs_error error = {0};

	print_message("'%s'\n", text);
	assert_int_equal(wfs_consistency_parse(text, &consistency, &error), 0);
	return consistency;
}

TEST(head_exact_and_at_least_are_taken)
{
	assert_int_equal(parsed("head").kind, WFS_CONSISTENCY_HEAD);
	assert_int_equal(parsed("exact:7").kind, WFS_CONSISTENCY_EXACT);
	assert_int_equal(parsed("exact:7").height, 7);
	assert_int_equal(parsed("at_least:18446744073709551615").kind, WFS_CONSISTENCY_AT_LEAST);
	assert_true(parsed("at_least:18446744073709551615").height == UINT64_MAX);
}

TEST(white_space_around_and_case_do_not_matter)
{
	assert_int_equal(parsed(" \tHEAD\n").kind, WFS_CONSISTENCY_HEAD);
	assert_int_equal(parsed("  Exact:12 ").height, 12);
	assert_int_equal(parsed("AT_LEAST:3").kind, WFS_CONSISTENCY_AT_LEAST);
}

TEST(anything_else_is_invalid_consistency)
{
	static const char *const refused[] = {"", " ", "heads", "hea", "exact",
		"exact:", "exact: 1", "exact:+1", "exact:-1", "exact:1x", "exact:0x1",
		"at_least:", "at-least:1", "atleast:1", "exact:18446744073709551616", "12",
		"head exact:1", "exact:1 2"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(refused); i++) {
		struct wfs_consistency consistency = {.height = 42};
		struct wfs_error error = {0};

		print_message("'%s'\n", refused[i]);
		assert_int_equal(wfs_consistency_parse(refused[i], &consistency, &error), -EINVAL);
		assert_int_equal(error.code, WFS_E_INVALID_CONSISTENCY);
		assert_int_equal(consistency.height, 42);
	}
}

TEST(exact_opens_its_height_and_the_others_the_head)
{
	struct wfs_consistency exact = parsed("exact:9");
	struct wfs_consistency at_least = parsed("at_least:9");
	struct wfs_error error = {0};
	uint64_t height = 1;

	assert_int_equal(wfs_consistency_height(&exact, &height, &error), 0);
	assert_int_equal(height, 9);
	assert_int_equal(wfs_consistency_height(&at_least, &height, &error), 0);
	assert_int_equal(height, WFS_HEIGHT_HEAD);
}

TEST(exact_zero_is_unavailable_and_not_the_head)
{
	struct wfs_consistency consistency = parsed("exact:0");
	struct wfs_error error = {0};
	uint64_t height = 1;

	assert_int_equal(wfs_consistency_height(&consistency, &height, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

TEST(at_least_is_unavailable_below_its_height)
{
	struct wfs_consistency consistency = parsed("at_least:9");
	struct wfs_error error = {0};

	assert_int_equal(wfs_consistency_check(&consistency, 9, &error), 0);
	assert_int_equal(wfs_consistency_check(&consistency, 8, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_HEIGHT_UNAVAILABLE);
}
