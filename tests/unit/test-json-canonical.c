/* SPDX-License-Identifier: Apache-2.0 */
/* kernel/base/json-canonical: a text is canonical exactly when the writer would write it. */
#include "tests/fixture/test.h"

#include "kernel/base/array.h"
#include "kernel/base/json.h"

static const char *const canonical[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"9223372036854775807",
	"-9223372036854775808",
	"999999999999999999",
	"1000000000000000000",
	"1.5",
	"-1e-7",
	"1e+21",
	"\"\"",
	"\"a\"",
	"[]",
	"{}",
	"[1,[2,{}],\"x\"]",
	"{\"\":1,\"a\":2,\"b\":{\"c\":[]}}",
	"{\"\\n\":1,\"\\u001f\":2,\" \":3}",
	"\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f/\"",
	"\"\xc3\xa9\xf0\x9f\x98\x80\"",
	/* The order is that of UTF-16 units: U+10000 comes before U+FF21. */
	"{\"\xf0\x90\x80\x80\":1,\"\xef\xbc\xa1\":2}",
};

static const char *const not_canonical[] = {
	"",
	" ",
	"1 ",
	" 1",
	"1\n",
	"nul",
	"nulll",
	"+1",
	"01",
	"-0",
	"00",
	"1.0",
	"1.50",
	"1e2",
	"1E+21",
	"9223372036854775808",
	"-",
	".5",
	"\"",
	"\"a",
	"\"\n\"",
	"\"\\u000a\"",
	"\"\\u001F\"",
	"\"\\/\"",
	"\"\\u0041\"",
	"\"\\ud83d\\ude00\"",
	"\"\xff\"",
	"\"\xed\xa0\x80\"",
	"[",
	"[1",
	"[1,",
	"[1,]",
	"[,1]",
	"[1 ,2]",
	"{",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1,}",
	"{a:1}",
	"{\"b\":1,\"a\":2}",
	"{\"a\":1,\"a\":2}",
	"{\"\\u001f\":1,\"\\n\":2}",
	"{\"\xef\xbc\xa1\":1,\"\xf0\x90\x80\x80\":2}",
	"{\"a\\u0000b\":1}", /* no parser takes such a name */
	"{\"\\u0000\":{}}",
	"[1]]",
	"{}{}",
	"NaN",
	"Infinity",
};

TEST(what_is_written_is_canonical)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(canonical); i++) {
		WFS_AUTO_JSON json_t *json = NULL;
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		print_message("%s\n", canonical[i]);
		assert_true(wfs_json_is_canonical(wfs_bytes_text(canonical[i])));
		assert_int_equal(
			wfs_json_parse(canonical[i], strlen(canonical[i]), &json, NULL), 0);
		wfs_json_write(json, &text);
		assert_string_equal(wfs_buffer_text(&text), canonical[i]);
	}
}

TEST(what_is_written_otherwise_is_not)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(not_canonical); i++) {
		print_message("%s\n", not_canonical[i]);
		assert_false(wfs_json_is_canonical(wfs_bytes_text(not_canonical[i])));
	}
}

TEST(nesting_is_bounded)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (int i = 0; i < WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&text, '[');
	for (int i = 0; i < WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&text, ']');
	assert_true(wfs_json_is_canonical(wfs_buffer_bytes(&text)));

	wfs_buffer_reset(&text);
	for (int i = 0; i <= WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&text, '[');
	for (int i = 0; i <= WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&text, ']');
	assert_false(wfs_json_is_canonical(wfs_buffer_bytes(&text)));
}

/* For every cut and every changed byte, the check agrees with parsing and writing again. */
TEST(it_agrees_with_the_parser_and_the_writer)
{
	static const char text[] = "{\"a\":[1,-2.5,null,\"\\u001f\xc3\xa9\"],\"b\":{\"\":true}}";
	static const char bytes[] = "\"\\{}[],:01-.eE tn\x1f\x80\xc3";

	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
			WFS_AUTO_JSON json_t *json = NULL;
			WFS_AUTO_BUFFER struct wfs_buffer again = {0};
			char changed[sizeof(text)];

			memcpy(changed, text, sizeof(text));
			changed[at] = bytes[i];
			const struct wfs_bytes whole = WFS_BYTES(changed, sizeof(text) - 1);
			if (wfs_json_parse(changed, whole.size, &json, NULL) == 0)
				wfs_json_write(json, &again);
			assert_int_equal(wfs_json_is_canonical(whole),
				json && wfs_bytes_equal(wfs_buffer_bytes(&again), whole));
		}
	}
}
