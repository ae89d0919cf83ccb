/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing and writing canonical JSON. Vectors: RFC 8785 section 3.2.2 and 3.2.3, less what the
 * widening to 64-bit integers changes.
 */
#include "tests/fixture/test.h"

#include <limits.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"

static void assert_canonical_bytes(const char *text, size_t size, const char *expected)
{
	WFS_AUTO_JSON json_t *json = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	struct wfs_error error = {0};

	if (wfs_json_parse(text, size, &json, &error) != 0)
		fail_msg("%s: %s", text, error.message);
	wfs_json_write(json, &buffer);
	assert_string_equal(wfs_buffer_text(&buffer), expected);
}

#define assert_canonical(text, expected) assert_canonical_bytes(text, sizeof(text) - 1, expected)

static void assert_refused_bytes(const char *text, size_t size, const char *reason)
{
	json_t *json = NULL;
	struct wfs_error error = {0};

	if (wfs_json_parse(text, size, &json, &error) != -EINVAL)
		fail_msg("%s: was not refused", text);
	assert_null(json);
	assert_int_equal(error.code, WFS_E_INVALID_JSON);
	if (!strstr(error.message, reason))
		fail_msg("%s: '%s' is not in '%s'", text, reason, error.message);
}

#define assert_refused(text, reason) assert_refused_bytes(text, sizeof(text) - 1, reason)

/* For a text that can be parsed, counting is exact. */
TEST(json_count_is_that_of_the_values)
{
	static const struct {
		const char *text;
		size_t count;
	} cases[] = {
		{"1", 1},
		{"\"a,b[c\"", 1},
		{"[]", 1},
		{" { } ", 1},
		{"[\n]", 1},
		{"[1]", 2},
		{"[1,2,3]", 4},
		{"[[],[]]", 3},
		{"[[[]]]", 3},
		{"[[ ], {}, [{}]]", 5},
		{"{\"a\":1,\"b\":[true,null]}", 5},
		{"[\"\\\"],[\",\"\\\\\",[]]", 4},
		{"[\"]\",\"[\"]", 3},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_JSON json_t *json = NULL;
		const size_t size = strlen(cases[i].text);

		print_message("%s\n", cases[i].text);
		assert_int_equal(wfs_json_parse(cases[i].text, size, &json, NULL), 0);
		assert_int_equal(wfs_json_count(cases[i].text, size), cases[i].count);
	}
}

TEST(json_count_ends_in_any_text)
{
	static const char *const texts[] = {"", "\"", "\"\\", "\"\\\"", "[[", "]]", "\"\x01", ",,"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++)
		assert_in_range(wfs_json_count(texts[i], strlen(texts[i])), 1, 3);
}

/* Return: `[[],[],…]` with @count values; caller frees. */
static char *text_of_values(size_t count, size_t *ret_size)
{
	const size_t size = 3 * (count - 1) + 1;
	char *const text = malloc(size);

	assert_non_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = ",[]"[i % 3];
	text[0] = '[';
	text[size - 1] = ']';
	*ret_size = size;
	return text;
}

TEST(json_parse_bounded_refuses_one_value_too_many)
{
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_error error = {0};
	size_t size;

	WFS_AUTO_FREE char *most = text_of_values(WFS_JSON_VALUES_MAX, &size);
	assert_int_equal(wfs_json_parse_bounded(most, size, &json, &error), 0);
	assert_int_equal(json_array_size(json), WFS_JSON_VALUES_MAX - 1);

	WFS_AUTO_FREE char *more = text_of_values(WFS_JSON_VALUES_MAX + 1, &size);
	json_decref(WFS_STEAL(json));
	assert_int_equal(wfs_json_parse_bounded(more, size, &json, &error), -EFBIG);
	assert_null(json);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_string_equal(
		error.message, "the JSON text has 1048577 values, at most 1048576 are taken");
	assert_int_equal(wfs_json_parse(more, size, &json, &error), 0);
}

TEST(json_parse_takes_every_kind_of_value)
{
	assert_canonical("null", "null");
	assert_canonical(" true\n", "true");
	assert_canonical("false", "false");
	assert_canonical("\"x\"", "\"x\"");
	assert_canonical("-7", "-7");
	assert_canonical("1.5", "1.5");
	assert_canonical("[ ]", "[]");
	assert_canonical("{ }", "{}");
	assert_canonical("[1, [2, {\"a\": [ ]}], \"b\"]", "[1,[2,{\"a\":[]}],\"b\"]");
}

TEST(json_parse_names_line_and_column_of_a_syntax_error)
{
	assert_refused("{\"a\":[1,\n2,}", "line 2 column 3: ");
}

TEST(json_parse_refuses_empty_and_trailing_text)
{
	assert_refused("", "line 1");
	assert_refused_bytes(NULL, 0, "line 1");
	assert_refused(" \n", "line 2");
	assert_refused("1 2", "line 1 column 3");
	assert_refused("{}x", "line 1 column 3");
	assert_refused("\xef\xbb\xbf{}", "line 1 column 1");
}

TEST(json_parse_refuses_what_is_not_json)
{
	assert_refused("nul", "line 1");
	assert_refused("01", "line 1");
	assert_refused("+1", "line 1");
	assert_refused(".5", "line 1");
	assert_refused("1.", "line 1");
	assert_refused("NaN", "line 1");
	assert_refused("Infinity", "line 1");
	assert_refused("[1,]", "line 1");
	assert_refused("'a'", "line 1");
	assert_refused("\"a\nb\"", "line 1");
}

TEST(json_parse_refuses_nul_bytes_wherever_they_stand)
{
	assert_refused("1\0", "line 1 column 2: NUL");
	assert_refused("[1\0,2]", "line 1 column 3: NUL");
	assert_refused("[\n\"a\0b\"]", "line 2 column 3: NUL");
	assert_refused("\0", "line 1 column 1: NUL");
}

TEST(json_parse_keeps_escaped_nul_in_strings_and_refuses_it_in_keys)
{
	assert_canonical("\"a\\u0000b\"", "\"a\\u0000b\"");
	assert_refused("{\"a\\u0000b\":1}", "line 1");
}

TEST(json_parse_refuses_duplicate_keys)
{
	assert_refused("{\"a\":1,\"a\":2}", "duplicate");
	assert_refused("{\"a\":1,\"\\u0061\":2}", "duplicate");
}

TEST(json_parse_refuses_lone_surrogates)
{
	assert_refused("\"\\ud800\"", "line 1");
	assert_refused("\"\\udc00\"", "line 1");
	assert_refused("\"\\ud800\\u0041\"", "line 1");
	assert_refused("\"\\ud800\\ud800\"", "line 1");
	assert_canonical("\"\\ud83d\\ude00\"", "\"\U0001f600\"");
}

TEST(json_parse_refuses_invalid_utf8)
{
	assert_refused("\"\xff\"", "line 1");
	assert_refused("\"\xc0\x80\"", "line 1");
	assert_refused("\"\xed\xa0\x80\"", "line 1");
	assert_refused("\"\xe2\x82\"", "line 1");
	assert_refused("{\"\xff\":1}", "line 1");
}

TEST(json_parse_keeps_integers_of_64_bits_exactly)
{
	assert_canonical("9223372036854775807", "9223372036854775807");
	assert_canonical("-9223372036854775808", "-9223372036854775808");
	assert_canonical("9007199254740993", "9007199254740993");
}

TEST(json_parse_refuses_integers_beyond_64_bits)
{
	assert_refused("9223372036854775808", "line 1");
	assert_refused("-9223372036854775809", "line 1");
	assert_refused("100000000000000000000000", "line 1");
}

TEST(json_parse_turns_whole_reals_into_integers)
{
	WFS_AUTO_JSON json_t *json = NULL;

	assert_canonical("-0", "0");
	assert_canonical("-0.0", "0");
	assert_canonical("1.0", "1");
	assert_canonical("1e18", "1000000000000000000");
	assert_canonical("9223372036854774784.0", "9223372036854774784");
	assert_canonical(
		"{\"b\":[2.0,{\"c\":-3e0}],\"a\":1.5}", "{\"a\":1.5,\"b\":[2,{\"c\":-3}]}");

	assert_int_equal(wfs_json_parse("[1.0]", 5, &json, NULL), 0);
	assert_true(json_is_integer(json_array_get(json, 0)));
}

TEST(json_parse_refuses_reals_that_would_be_written_as_long_integers)
{
	assert_refused("9223372036854775808.0", "2^63");
	assert_refused("-9223372036854775808.0", "2^63");
	assert_refused("1e19", "2^63");
	assert_refused("999999999999999900000.0", "2^63");
	assert_canonical("1e21", "1e+21");
	assert_canonical("-1e21", "-1e+21");
}

TEST(json_parse_names_the_pointer_of_a_refused_real)
{
	assert_refused("1e19", "at ''");
	assert_refused("{\"a~/b\":[0,{\"\":1e19}]}", "at '/a~0~1b/1/'");
}

TEST(json_parse_refuses_reals_out_of_range)
{
	assert_refused("1e400", "line 1");
	assert_refused("-1e400", "line 1");
	assert_canonical("1e-400", "0");
}

static void brackets(char *text, size_t depth)
{
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
}

/* wfs_json_parse() or wfs_json_parse_bounded() */
typedef int parse_function(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error);

static void expect_depth(parse_function *parse, size_t deepest, const char *words)
{
	char text[2 * 200];
	struct wfs_error error = {0};
	json_t *json = NULL;

	brackets(text, deepest);
	assert_int_equal(parse(text, 2 * deepest, &json, NULL), 0);
	json_decref(json);
	json = NULL;
	brackets(text, deepest + 1);
	assert_int_equal(parse(text, 2 * (deepest + 1), &json, &error), -EINVAL);
	assert_null(json);
	assert_non_null(strstr(error.message, words));
}

TEST(json_parse_stops_at_its_depth)
{
	char text[2 * 4000];

	expect_depth(wfs_json_parse_bounded, WFS_JSON_DEPTH_MAX, "greatest depth is 128 levels");
	expect_depth(wfs_json_parse, WFS_JSON_STORED_DEPTH_MAX, "greatest depth is 144 levels");

	/* Beyond jansson's own limit. */
	brackets(text, 4000);
	assert_refused_bytes(text, sizeof(text), "depth");
}

TEST(json_parse_counts_objects_as_depth_too)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (int i = 0; i < WFS_JSON_STORED_DEPTH_MAX; i++)
		wfs_buffer_append_text(&text, "{\"a\":");
	wfs_buffer_append_text(&text, "{}");
	for (int i = 0; i < WFS_JSON_STORED_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&text, '}');

	assert_refused_bytes(text.data, text.size, "depth");
}

TEST(json_parse_works_without_an_error_to_fill)
{
	json_t *json = NULL;

	assert_int_equal(wfs_json_parse("[", 1, &json, NULL), -EINVAL);
	assert_int_equal(wfs_json_parse("[1e19]", 6, &json, NULL), -EINVAL);
}

/* Makes the n-th allocation from now fail, either it alone or all later ones, too; jansson's
 * allocations count as well. */
static int allocations_left = INT_MAX;
static bool all_fail;

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	const int left = allocations_left-- - 1;

	return left == 0 || (all_fail && left < 0) ? NULL : __real_malloc(size);
}
/* NOLINTEND(readability-identifier-naming) */

/* Return: how many allocations parsing makes, each of which failed. */
static int parse_without_each_allocation(const char *text)
{
	int failures = 0;
	int r = -1;

	for (int n = 1; n < 1000 && r < 0; n++) {
		WFS_AUTO_JSON json_t *json = NULL;

		allocations_left = n;
		r = wfs_json_parse(text, strlen(text), &json, NULL);
		allocations_left = INT_MAX;
		if (r != 0 && r != -ENOMEM)
			fail_msg("%s: allocation %d: %d", text, n, r);
		failures += r < 0;
	}
	assert_int_equal(r, 0);
	return failures;
}

/* Has tokens of all sizes, since jansson's scanner forgets a byte when its buffer cannot grow. */
TEST(json_parse_tells_each_failing_allocation_from_bad_syntax)
{
	for (int round = 0; round < 2; round++) {
		all_fail = round;
		for (int size = 0; size < 140; size++) {
			char text[256];

			snprintf(text, sizeof(text), "{\"a\":[1%0*d,2.0],\"b\":\"%0*d\"}",
				size % 18, 0, size, 0);
			assert_true(parse_without_each_allocation(text) > 10);
		}
	}
	all_fail = false;
}

TEST(json_write_sorts_keys_by_utf16_units)
{
	/* RFC 8785 3.2.3 */
	assert_canonical("{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
			 "\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\","
			 "\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
			 "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}",
		"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
		"\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\","
		"\"\U0001f600\":\"Emoji: Grinning Face\","
		"\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}");
}

static int compare(const char *a, const char *b)
{
	const int ab = wfs_json_key_compare(a, strlen(a), b, strlen(b));
	const int ba = wfs_json_key_compare(b, strlen(b), a, strlen(a));

	assert_int_equal((ab > 0) - (ab < 0), (ba < 0) - (ba > 0));
	return ab;
}

TEST(json_key_compare_orders_prefixes_code_points_and_surrogates)
{
	assert_int_equal(compare("a", "a"), 0);
	assert_int_equal(compare("", ""), 0);
	assert_true(compare("", "a") < 0);
	assert_true(compare("a", "ab") < 0);
	assert_true(compare("b", "ab") > 0);
	assert_true(compare("z", "\u00e9") < 0);
	assert_true(compare("\ud7ff", "\U00010000") < 0);
	assert_true(compare("\U00010000", "\ue000") < 0);
	assert_true(compare("\U0010ffff", "\uffff") < 0);
	assert_true(compare("\U00010000", "\U0010ffff") < 0);
	assert_true(compare("\ue000", "\uf000") < 0);
	assert_true(compare("\ucfff", "\ue000") < 0);
}

TEST(json_write_sorts_objects_larger_than_its_stack_array)
{
	WFS_AUTO_JSON json_t *json = json_object();
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	for (int i = 199; i >= 0; i--) {
		char key[8];

		snprintf(key, sizeof(key), "k%03d", i * 7 % 200);
		assert_int_equal(json_object_set_new(json, key, json_integer(i * 7 % 200)), 0);
	}
	for (int i = 0; i < 200; i++)
		wfs_buffer_printf(&expected, "%s\"k%03d\":%d", i > 0 ? "," : "{", i, i);
	wfs_buffer_append_byte(&expected, '}');
	wfs_json_write(json, &buffer);

	assert_string_equal(wfs_buffer_text(&buffer), wfs_buffer_text(&expected));
}

TEST(json_write_sorts_objects_at_the_edge_of_its_stack_array)
{
	for (int count = 31; count <= 34; count++) {
		WFS_AUTO_JSON json_t *json = json_object();
		WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
		WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

		for (int i = count - 1; i >= 0; i--) {
			char key[16];

			snprintf(key, sizeof(key), "%02d", i);
			assert_int_equal(json_object_set_new(json, key, json_null()), 0);
		}
		for (int i = 0; i < count; i++)
			wfs_buffer_printf(&expected, "%s\"%02d\":null", i > 0 ? "," : "{", i);
		wfs_buffer_append_byte(&expected, '}');
		wfs_json_write(json, &buffer);

		if (!wfs_bytes_equal(wfs_buffer_bytes(&buffer), wfs_buffer_bytes(&expected)))
			fail_msg("%d members: %s", count, wfs_buffer_text(&buffer));
	}
}

TEST(json_write_escapes_as_the_standard_says)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	static const char text[] = "\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xc2\x80\u20ac\0z";

	wfs_json_write_string(&buffer, text, sizeof(text) - 1);

	assert_string_equal(wfs_buffer_text(&buffer),
		"\"\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xc2\x80\u20ac\\u0000z\"");
}

TEST(json_plain_size_finds_the_first_byte_to_escape_at_any_place)
{
	char text[24];

	for (int byte = 0; byte < 256; byte++)
		for (size_t at = 0; at < sizeof(text); at++) {
			const bool plain = byte >= 0x20 && byte != '"' && byte != '\\';

			memset(text, 'x', sizeof(text));
			text[at] = (char)byte;
			assert_int_equal(
				wfs_json_plain_size(text, sizeof(text)), plain ? sizeof(text) : at);
			assert_int_equal(wfs_json_plain_size(text, at), at);
		}
}

TEST(json_write_string_takes_the_empty_text)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_json_write_string(&buffer, "", 0);
	wfs_json_write_string(&buffer, NULL, 0);

	assert_string_equal(wfs_buffer_text(&buffer), "\"\"\"\"");
}

TEST(json_write_follows_the_example_of_the_standard)
{
	/* RFC 8785 3.2.2, including its 333333333.33333329 and 1E30. */
	assert_canonical("{\"numbers\":[333333333.33333329,1E30,4.50,2e-3,"
			 "0.000000000000000000000000001],"
			 "\"string\":\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
			 "\"literals\":[null,true,false]}",
		"{\"literals\":[null,true,false],"
		"\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
		"\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST(json_write_document_ends_with_one_newline)
{
	WFS_AUTO_JSON json_t *json = json_pack("{s:i}", "a", 1);
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_json_write_document(json, &buffer);

	assert_string_equal(wfs_buffer_text(&buffer), "{\"a\":1}\n");
}

TEST(json_write_writes_a_built_whole_real_as_the_integer)
{
	WFS_AUTO_JSON json_t *json = json_real(4611686018427387904.0);
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_json_write(json, &buffer);

	assert_string_equal(wfs_buffer_text(&buffer), "4611686018427387904");
}

TEST(json_write_fails_the_buffer_and_does_not_crash)
{
	WFS_AUTO_JSON json_t *json = json_pack("{s:[s,i,f]}", "a", "b\n", 1, 1.5);
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_reserve(&buffer, SIZE_MAX); /* writing marks the buffer as failed */
	wfs_json_write_document(json, &buffer);

	assert_int_equal(wfs_buffer_check(&buffer), -ENOMEM);
}

TEST(json_look_takes_json_that_parse_refuses)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
		{"{\"n\":12345678901234567890}", 0},
		{"{\"n\":1,\"n\":2}", 0},
		{"[1]", 0},
		{"{\"n\":1e400}", -EINVAL},
		{"{\"n\":", -EINVAL},
		{"1 2", -EINVAL},
		{"", -EINVAL},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(rows); i++) {
		WFS_AUTO_JSON json_t *json = NULL;

		print_message("%s\n", rows[i].text);
		assert_int_equal(
			wfs_json_look(rows[i].text, strlen(rows[i].text), &json), rows[i].result);
	}
}

TEST(json_look_refuses_one_value_too_many)
{
	const size_t size = 2 * (size_t)WFS_JSON_VALUES_MAX + 1;
	WFS_AUTO_FREE char *text = malloc(size);
	WFS_AUTO_JSON json_t *json = NULL;
	assert_non_null(text);
	text[0] = '[';
	for (size_t i = 1; i < size; i++)
		text[i] = i % 2 ? '0' : ',';
	text[size - 1] = ']';

	assert_int_equal(wfs_json_look(text, size, &json), -EFBIG);
}
