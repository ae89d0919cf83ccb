/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects in texts. */
#include "tests/fixture/json.h"

#include "kernel/base/span.h"

enum { HOSTILE_SIZE = 1 << 20 };

/* @expected: NULL if the text has no object */
static void assert_found(const char *quoted, const char *expected)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_FREE char *wanted = json_text(expected ? expected : "");
	struct wfs_bytes object = {0};
	const int r = wfs_find_object(wfs_bytes_text(text), &object);

	if (r != (expected ? 1 : 0))
		fail_msg("%s: %d", quoted, r);
	if (!wfs_bytes_equal(object, wfs_bytes_text(wanted)))
		fail_msg("%s: found %.*s", quoted, (int)object.size, (const char *)object.data);
}

TEST(an_object_is_found_in_prose)
{
	assert_found("{}", "{}");
	assert_found("Here: {'a': [1, {'b': null}]}, as you wished.", "{'a': [1, {'b': null}]}");
	assert_found("```json\n{'a':-1.5e+3}\n```", "{'a':-1.5e+3}");
	assert_found("", NULL);
	assert_found("nothing here", NULL);
	assert_found("[1]", NULL);
}

/* Case 167. */
TEST(the_first_of_several_counts)
{
	assert_found("{'a':1} {'b':2}", "{'a':1}");
	assert_found("[{'a':1},{'b':2}]", "{'a':1}");
}

TEST(braces_that_begin_no_object_are_passed_over)
{
	assert_found("f(x) { return {}; }", "{}");
	assert_found("{x} {{'a':1}}", "{'a':1}");
	assert_found("{'a':1,} {'b':2}", "{'b':2}");
	assert_found("{'a' 1} {'b':[1,]} {'c':01} {'d':tru} {'e':.5} {'f':1.} {'g':'\\x'} {'h':1e}",
		NULL);
	assert_found("{'a':[1}]} {1:2} {'a':}", NULL);
	assert_found("{'a\nb':1} {'b':2}", "{'b':2}");
	assert_found("{'a':'\\u00g0'}", NULL);
	assert_found("{'a':'\\u00e4\\\\\\''}", "{'a':'\\u00e4\\\\\\''}");
}

TEST(an_object_in_one_that_is_not_complete_is_found)
{
	assert_found("{'a':{'b':1}", "{'b':1}");
	assert_found("{'a':{'b':{}},'c':{'d':2}", "{'b':{}}");
	assert_found("{'a':{'b':{'c':1},x", "{'c':1}");
}

TEST(an_object_behind_a_quote_that_is_not_closed_is_found)
{
	assert_found("{'a: use {'b':1} please", "{'b':1}");
	assert_found("he said {'so. {'a':'}'}", "{'a':'}'}");
}

TEST(what_cannot_be_parsed_for_another_reason_is_found)
{
	assert_found("{'a':1,'a':2}", "{'a':1,'a':2}");
	assert_found("{'a':99999999999999999999}", "{'a':99999999999999999999}");
}

/* Finds an object as jansson does, by trying from each brace on. */
static bool find_slowly(struct wfs_bytes text, struct wfs_bytes *ret_object)
{
	const char *const bytes = text.data;

	for (size_t at = 0; at < text.size; at++) {
		json_error_t error;
		WFS_AUTO_JSON json_t *json = bytes[at] != '{'
			? NULL
			: json_loadb(bytes + at, text.size - at, JSON_DISABLE_EOF_CHECK, &error);

		if (!json)
			continue;
		*ret_object = WFS_BYTES(bytes + at, (size_t)error.position);
		return true;
	}
	return false;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

TEST(random_texts_give_what_trying_each_brace_gives)
{
	static const char *const words[] = {"{", "}", "{\"", "\"", "\":", ":", ",", "[", "]", "\\",
		"1", "a", " ", "{}", "\"a\":", "{\"a\":", "null", "\\\""};
	uint32_t seed = 7;
	size_t found_count = 0;

	for (int round = 0; round < 200000; round++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};
		struct wfs_bytes found = {0};
		struct wfs_bytes expected = {0};

		for (uint32_t i = next_random(&seed) % 16; i > 0; i--)
			wfs_buffer_append_text(
				&text, words[next_random(&seed) % WFS_ARRAY_COUNT(words)]);
		const bool is_there = find_slowly(wfs_buffer_bytes(&text), &expected);
		const int r = wfs_find_object(wfs_buffer_bytes(&text), &found);
		if (r != is_there || !wfs_bytes_equal(found, expected))
			fail_msg("round %d: %s: %.*s", round, wfs_buffer_text(&text),
				(int)found.size, (const char *)found.data);
		found_count += is_there;
	}
	assert_true(found_count > 10000);
}

/* @unit is repeated up to a megabyte. An algorithm of quadratic time would not end in time. */
static void assert_nothing_in(const char *unit, const char *end)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_bytes object;

	while (text.size < HOSTILE_SIZE)
		wfs_buffer_append_text(&text, unit);
	wfs_buffer_append_text(&text, end);
	if (wfs_find_object(wfs_buffer_bytes(&text), &object) != 0)
		fail_msg("in %s: %.*s", unit, (int)(object.size < 60 ? object.size : 60),
			(const char *)object.data);
}

TEST(a_megabyte_of_braces_is_looked_at_twice_at_most)
{
	assert_nothing_in("{", "");
	assert_nothing_in("{\"", "");
	assert_nothing_in("{\"a\":", "");
	assert_nothing_in("{\"a\":[", "");
	assert_nothing_in("{\"a\":\"{\",\"b\":", "x");
	assert_nothing_in("{\"a\":[\"{\\\"b\\\":\",", "x");
	assert_nothing_in("{\"{\":\"{\",\"{\":[", "}");
	assert_nothing_in("[{", "");
}

/* Each level is closed, and the innermost one is wrong. */
TEST(a_megabyte_of_levels_around_an_error_is_looked_at_once)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_bytes object;

	for (int i = 0; i < HOSTILE_SIZE / 5; i++)
		wfs_buffer_append_text(&text, "{\"a\":");
	wfs_buffer_append_text(&text, "x");
	for (int i = 0; i < HOSTILE_SIZE / 5; i++)
		wfs_buffer_append_text(&text, "}");

	assert_int_equal(wfs_find_object(wfs_buffer_bytes(&text), &object), 0);
}
