/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of cells: from JSON values, from events by a dotted path, and their limit. */
#include "tests/fixture/test.h"

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/fold/key.h"

static json_t *parse(const char *text)
{
	json_t *json = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &json, NULL), 0);
	return json;
}

static void assert_key(const char *json, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_JSON json_t *value = parse(json);

	assert_int_equal(wfs_key_append(value, &key, NULL), 0);
	assert_string_equal(wfs_buffer_text(&key), expected);
}

TEST(text_is_taken_as_it_is)
{
	assert_key("\"\"", "");
	assert_key("\"plain\"", "plain");
	assert_key("\"a/b \\\" \\u00e9\"", "a/b \" \xc3\xa9");
}

TEST(integers_are_decimal)
{
	assert_key("0", "0");
	assert_key("-17", "-17");
	assert_key("9223372036854775807", "9223372036854775807");
	assert_key("1e3", "1000");
}

TEST(other_values_are_canonical_text)
{
	assert_key("null", "null");
	assert_key("true", "true");
	assert_key("1.50", "1.5");
	assert_key("[1, \"x\"]", "[1,\"x\"]");
	assert_key("{\"b\": 1, \"a\": 2}", "{\"a\":2,\"b\":1}");
}

TEST(a_nul_byte_is_part_of_the_key)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_JSON json_t *value = parse("\"a\\u0000b\"");

	assert_int_equal(wfs_key_append(value, &key, NULL), 0);

	assert_int_equal(key.size, 3);
	assert_memory_equal(key.data, "a\0b", 3);
}

TEST(a_key_is_appended)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_JSON json_t *value = parse("\"b\"");

	wfs_buffer_append_text(&key, "a");
	assert_int_equal(wfs_key_append(value, &key, NULL), 0);

	assert_string_equal(wfs_buffer_text(&key), "ab");
}

/* A key of @count times @part. */
static int key_of_many(const char *part, size_t count, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};

	for (size_t i = 0; i < count; i++)
		wfs_buffer_append_text(&text, part);
	WFS_AUTO_JSON json_t *value = json_stringn(text.data, text.size);
	assert_non_null(value);
	wfs_buffer_append_text(&key, "what was there before does not count");
	return wfs_key_append(value, &key, error);
}

TEST(a_key_may_fill_a_file_name)
{
	assert_int_equal(key_of_many("k", WFS_NAME_MAX, NULL), 0);
	assert_int_equal(key_of_many("/", WFS_NAME_MAX / 3, NULL), 0);
}

TEST(a_key_whose_file_name_is_too_long_is_refused)
{
	struct wfs_error error = {0};

	assert_int_equal(key_of_many("k", WFS_NAME_MAX + 1, &error), -EFBIG);

	assert_int_equal(error.code, WFS_E_KEY_TOO_LONG);
	assert_non_null(strstr(error.message, "256"));
}

TEST(a_key_is_measured_as_its_encoded_name)
{
	struct wfs_error error = {0};

	assert_int_equal(key_of_many("/", WFS_NAME_MAX / 3 + 1, &error), -EFBIG);

	assert_int_equal(error.code, WFS_E_KEY_TOO_LONG);
}

static int key_at(const char *event, const char *path, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_JSON json_t *value = parse(event);
	struct wfs_error error = {0};
	int r = wfs_key_from_event(value, path, &key, &error);

	if (!r)
		assert_string_equal(wfs_buffer_text(&key), expected);
	else
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	if (r)
		assert_non_null(strstr(error.message, path));
	return r;
}

TEST(a_key_is_found_by_name_and_by_dotted_path)
{
	assert_int_equal(key_at("{\"a\":\"x\"}", "a", "x"), 0);
	assert_int_equal(key_at("{\"a\":{\"b\":{\"c\":5}}}", "a.b.c", "5"), 0);
	assert_int_equal(key_at("{\"a\":{\"b\":1},\"ab\":2}", "ab", "2"), 0);
	assert_int_equal(key_at("{\"a\":null}", "a", "null"), 0);
}

TEST(a_member_that_is_not_there_is_refused)
{
	assert_int_equal(key_at("{\"a\":\"x\"}", "b", NULL), -EINVAL);
	assert_int_equal(key_at("{\"a\":\"x\"}", "a.b", NULL), -EINVAL);
	assert_int_equal(key_at("{\"a.b\":\"x\"}", "a.b", NULL), -EINVAL);
	assert_int_equal(key_at("[1]", "0", NULL), -EINVAL);
	assert_int_equal(key_at("7", "a", NULL), -EINVAL);
}
