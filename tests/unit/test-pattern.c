/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns: which compile, where they match, and that a hostile pattern ends. */
#include "tests/fixture/json.h"

#include "kernel/schema/pattern.h"

static struct wfs_pattern *pattern_of(const char *text, enum wfs_pattern_flags flags)
{
	struct wfs_pattern *pattern = NULL;
	struct wfs_error error = {0};

	if (wfs_pattern_new(text, strlen(text), flags, &pattern, &error) != 0)
		fail_msg("%s: %s", text, error.message);
	return pattern;
}

static int match(const char *pattern_text, enum wfs_pattern_flags flags, const char *text)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = pattern_of(pattern_text, flags);
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = NULL;

	assert_int_equal(wfs_matcher_new(&matcher), 0);
	return wfs_pattern_match(pattern, matcher, text, strlen(text), WFS_PATTERN_MATCH_MAX);
}

TEST(a_pattern_matches_anywhere_unless_it_is_held_to_the_start)
{
	assert_int_equal(match("b.", 0, "abc"), 1);
	assert_int_equal(match("b.", WFS_PATTERN_AT_START, "abc"), 0);
	assert_int_equal(match("a.", WFS_PATTERN_AT_START, "abc"), 1);
	assert_int_equal(match("x|bc", WFS_PATTERN_AT_START, "abc"), 0);
}

TEST(a_pattern_tells_whether_it_can_match_at_the_start_only)
{
	WFS_AUTO_PATTERN struct wfs_pattern *held = pattern_of("a", WFS_PATTERN_AT_START);
	WFS_AUTO_PATTERN struct wfs_pattern *written = pattern_of("^a", 0);
	WFS_AUTO_PATTERN struct wfs_pattern *free_one = pattern_of("a", 0);

	assert_true(wfs_pattern_at_start(held));
	assert_true(wfs_pattern_at_start(written));
	assert_false(wfs_pattern_at_start(free_one));
}

TEST(a_pattern_that_does_not_compile_is_refused_with_the_reason)
{
	struct wfs_pattern *pattern = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_pattern_new("a(", 2, 0, &pattern, &error), -EINVAL);

	assert_null(pattern);
	assert_int_equal(error.code, WFS_E_INVALID_PATTERN);
	assert_string_equal(error.message,
		"the pattern does not compile: missing closing parenthesis at byte 2");
}

TEST(a_pattern_has_a_size_at_most)
{
	WFS_AUTO_PATTERN struct wfs_pattern *longest = NULL;
	struct wfs_pattern *pattern = NULL;
	char text[WFS_PATTERN_SIZE_MAX + 1];
	struct wfs_error error = {0};
	memset(text, 'a', sizeof(text));

	assert_int_equal(wfs_pattern_new(text, sizeof(text) - 1, 0, &longest, &error), 0);
	assert_int_equal(wfs_pattern_new(text, sizeof(text), 0, &pattern, &error), -EINVAL);

	assert_string_equal(error.message, "a pattern has at most 4096 bytes, this one has 4097");
}

TEST(a_hostile_pattern_ends_at_the_limit_of_work)
{
	assert_int_equal(
		match("(a+)+$", WFS_PATTERN_AT_START, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"), -EAGAIN);
}

TEST(a_deep_pattern_ends_at_the_limit_of_depth)
{
	char text[64 << 10];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';

	assert_int_equal(match("(?:a(?=(.))|b)*$", WFS_PATTERN_AT_START, text), -E2BIG);
}

TEST(a_text_that_is_not_utf8_is_refused)
{
	assert_int_equal(match("a", 0, "\xff"), -EINVAL);
}
