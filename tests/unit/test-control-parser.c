/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting written bytes into JSON values: borders, several values, broken ones, limits. */
#include "tests/fixture/test.h"

#include "fs/control/control-parser.h"

#define WFS_AUTO_PARSER WFS_CLEANUP(wfs_control_parser_done)

enum { SIZE_MAX_BYTES = 1 << 20 };

/* Takes every complete value, and appends a line for each: its canonical text or its error code. */
static void take_all(struct wfs_control_parser *parser, bool end, struct wfs_buffer *lines)
{
	for (;;) {
		WFS_AUTO_JSON json_t *value = NULL;
		struct wfs_error error = {0};
		int r = wfs_control_parser_take(parser, end, &value, &error);

		if (r == 0)
			return;
		if (r < 0)
			wfs_buffer_append_text(lines, wfs_error_info(error.code)->name);
		else if (value)
			wfs_json_write(value, lines);
		wfs_buffer_append_byte(lines, '\n');
	}
}

static void add(struct wfs_control_parser *parser, const char *text)
{
	assert_int_equal(wfs_control_parser_add(parser, text, strlen(text)), 0);
}

/* Checks the values that come out when @text is written at once and the file is then closed. */
static void assert_gives(const char *text, const char *expected)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, text);
	take_all(&parser, true, &lines);

	assert_string_equal(wfs_buffer_text(&lines), expected);
	assert_false(wfs_control_parser_pending(&parser));
}

/* Checks the values that are complete before the file is closed. */
static void assert_gives_open(const char *text, const char *expected)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, text);
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), expected);
}

TEST(parser_gives_a_value_at_its_newline)
{
	assert_gives_open("{\"a\":1}\n", "{\"a\":1}\n");
}

TEST(parser_waits_for_the_newline_of_a_whole_value)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "{\"a\":1} ");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "");
	assert_true(wfs_control_parser_pending(&parser));
	assert_true(wfs_control_parser_whole(&parser));
}

TEST(parser_does_not_call_half_a_value_whole)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "{\"a\":1");
	take_all(&parser, false, &lines);

	assert_true(wfs_control_parser_pending(&parser));
	assert_false(wfs_control_parser_whole(&parser));
}

TEST(parser_gives_the_last_value_at_the_end)
{
	assert_gives("{\"a\":1}", "{\"a\":1}\n");
}

TEST(parser_gives_several_values_of_one_write_in_order)
{
	assert_gives("{\"a\":1}\n[2]\n\"three\"\n4\nnull", "{\"a\":1}\n[2]\n\"three\"\n4\nnull\n");
}

TEST(parser_takes_a_value_over_several_lines)
{
	assert_gives_open("\n{\r\n  \"a\": [\n    1,\n    true\n  ],\n  \"b\": {}\n}\n",
		"{\"a\":[1,true],\"b\":{}}\n");
}

TEST(parser_is_not_led_astray_by_strings)
{
	assert_gives_open("{\"}]{\\\"\":\"\\\\\"}\n[\"\\n{\",\"\\u007d\"]\n",
		"{\"}]{\\\"\":\"\\\\\"}\n[\"\\n{\",\"}\"]\n");
}

/* A stream that has everything in it, and the values that it must give. */
static const char stream[] = "{\"a\":{\"b\":[1,-2.5e3,{\"c\":\"}\\\\\\\"{\\u00e4\"}]},\"d\":null}\n"
			     "  \n"
			     "[\n true , false\n]\n"
			     "{wrong}\n"
			     "\"text \xc3\xa4\"\n"
			     "17\n"
			     "{\"last\":{}}";
static const char stream_values[] =
	"{\"a\":{\"b\":[1,-2500,{\"c\":\"}\\\\\\\"{\xc3\xa4\"}]},\"d\":null}\n"
	"[true,false]\n"
	"invalid_json\n"
	"\"text \xc3\xa4\"\n"
	"17\n"
	"{\"last\":{}}\n";

TEST(parser_gives_the_same_whichever_byte_border_a_write_has)
{
	for (size_t border = 0; border < sizeof(stream); border++) {
		WFS_AUTO_PARSER struct wfs_control_parser parser = {
			.size_max_bytes = SIZE_MAX_BYTES};
		WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

		assert_int_equal(wfs_control_parser_add(&parser, stream, border), 0);
		take_all(&parser, false, &lines);
		add(&parser, stream + border);
		take_all(&parser, false, &lines);
		take_all(&parser, true, &lines);

		if (strcmp(wfs_buffer_text(&lines), stream_values) != 0)
			fail_msg("border at byte %zu: %s", border, wfs_buffer_text(&lines));
	}
}

TEST(parser_gives_the_same_byte_by_byte)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	for (size_t i = 0; i < sizeof(stream) - 1; i++) {
		assert_int_equal(wfs_control_parser_add(&parser, stream + i, 1), 0);
		take_all(&parser, false, &lines);
	}
	take_all(&parser, true, &lines);

	assert_string_equal(wfs_buffer_text(&lines), stream_values);
}

TEST(parser_refuses_a_wrong_line_at_its_newline_and_reads_on)
{
	static const char *const wrong[] = {"{garbage", "}", "[1 2", "{\"a\" 1", "{\"a\":tru,",
		"{\"a\":01", "[-", "\"open string", "{\"a\":\"\\x\"", "[1}", "{\"a\":1]", "x", "[,",
		"{,", "{\"a\":1,}", "{\"a\":}", "1 2", "{} {}", "{\"a\":1,\"a\":2}", "{1:2}",
		"[1e]", "[.5]", "[1.]", "\x01", "tru", "[+1]"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		WFS_AUTO_PARSER struct wfs_control_parser parser = {
			.size_max_bytes = SIZE_MAX_BYTES};
		WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

		add(&parser, wrong[i]);
		add(&parser, "\n[\"next\"]\n");
		take_all(&parser, false, &lines);

		if (strcmp(wfs_buffer_text(&lines), "invalid_json\n[\"next\"]\n") != 0)
			fail_msg("'%s': %s", wrong[i], wfs_buffer_text(&lines));
	}
}

TEST(parser_drops_what_follows_when_a_later_line_goes_wrong)
{
	assert_gives_open("{\n\"a\": 1,\nwrong\n\"b\": 2\n}\n", "invalid_json\n");
}

TEST(parser_refuses_what_is_incomplete_at_the_end)
{
	assert_gives("{\"a\":1", "invalid_json\n");
	assert_gives("[1,\n", "invalid_json\n");
	assert_gives("\"abc", "invalid_json\n");
	assert_gives("\"abc\\", "invalid_json\n");
}

TEST(parser_ignores_empty_lines_and_white_space)
{
	assert_gives("\n \t\r\n\n  ", "");
}

TEST(parser_gives_empty_lines_when_they_are_requests)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {
		.size_max_bytes = SIZE_MAX_BYTES, .empty_lines = true};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "\n{}\n \n");
	take_all(&parser, true, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "\n{}\n\n");
}

/* Checks the values that come out when words are requests. */
static void assert_gives_words(const char *text, bool end, const char *expected)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {
		.size_max_bytes = SIZE_MAX_BYTES, .words = true};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, text);
	take_all(&parser, end, &lines);

	assert_string_equal(wfs_buffer_text(&lines), expected);
}

TEST(parser_gives_words_when_they_are_requests)
{
	assert_gives_words("alice\n", false, "\"alice\"\n");
	assert_gives_words(" null.7 \r\n12\n", false, "\"null.7\"\n\"12\"\n");
	assert_gives_words("a \"b\" {c\n", false, "\"a \\\"b\\\" {c\"\n");
	assert_gives_words("{\"a\":\n12}\nbob\n", false, "{\"a\":12}\n\"bob\"\n");
}

TEST(parser_waits_for_the_end_of_a_word)
{
	assert_gives_words("alice", false, "");
	assert_gives_words("alice", true, "\"alice\"\n");
}

TEST(parser_refuses_a_word_that_is_not_text_and_reads_on)
{
	assert_gives_words("a\xff\nbob\n", false, "invalid_json\n\"bob\"\n");
}

TEST(parser_refuses_to_nest_deeper_than_the_limit)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	for (int i = 0; i < WFS_JSON_DEPTH_MAX + 1; i++)
		add(&parser, "[");
	add(&parser, "\n[1]\n");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "invalid_json\n[1]\n");
}

TEST(parser_takes_the_deepest_nesting)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_error error = {0};

	for (int i = 0; i < WFS_JSON_DEPTH_MAX; i++)
		add(&parser, i % 2 ? "{\"a\":" : "[");
	add(&parser, "1");
	for (int i = WFS_JSON_DEPTH_MAX - 1; i >= 0; i--)
		add(&parser, i % 2 ? "}" : "]");
	add(&parser, "\n");

	assert_int_equal(wfs_control_parser_take(&parser, false, &value, &error), 1);
	assert_non_null(value);
}

TEST(parser_takes_a_value_of_the_greatest_size)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = 10};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "\"12345678\"\n");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "\"12345678\"\n");
}

TEST(parser_refuses_a_larger_value_and_reads_on)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = 10};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "\"123456789\"\n[1]\n");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "too_large\n[1]\n");
}

TEST(parser_drops_a_value_that_grows_beyond_the_limit)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = 10};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "[1,");
	take_all(&parser, false, &lines);
	add(&parser, "2,3,4,5,");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "too_large\n");
	assert_false(wfs_control_parser_pending(&parser));
}

TEST(parser_keeps_what_is_behind_the_values_given_out)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "[1]\n[2]\n[12");
	take_all(&parser, false, &lines);
	add(&parser, "34]\n");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "[1]\n[2]\n[1234]\n");
}

TEST(parser_forgets_what_is_dropped)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "{\"a\":");
	take_all(&parser, false, &lines);
	wfs_control_parser_drop(&parser);
	add(&parser, "[1]\n");
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "[1]\n");
}

TEST(parser_tells_the_size_of_the_next_value_only_when_it_is_whole)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "[1,\n2");
	assert_int_equal(wfs_control_parser_size(&parser, false), 0);
	assert_int_equal(wfs_control_parser_size(&parser, true), 5);
	add(&parser, "]\n[3]\n");
	assert_int_equal(wfs_control_parser_size(&parser, false), 6);
	assert_int_equal(wfs_control_parser_size(&parser, false), 6);
	take_all(&parser, false, &lines);
	assert_int_equal(wfs_control_parser_size(&parser, false), 0);

	assert_string_equal(wfs_buffer_text(&lines), "[1,2]\n[3]\n");
}

static int admit_little(void *context, size_t bytes, struct wfs_error *error)
{
	size_t *const most = context;

	if (bytes > *most)
		return wfs_error_set(error, WFS_E_OVERLOADED, "expected at most %zu", *most);
	*most -= bytes;
	return 0;
}

TEST(parser_asks_for_the_memory_of_a_value_and_reads_on)
{
	size_t most = (size_t)3 * WFS_JSON_VALUE_BYTES;
	WFS_AUTO_PARSER struct wfs_control_parser parser = {
		.size_max_bytes = SIZE_MAX_BYTES, .admit = admit_little, .context = &most};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "[1]\n[1,2,3,4]\n");
	take_all(&parser, false, &lines);
	assert_int_equal(most, 3 * WFS_JSON_VALUE_BYTES - 2 * WFS_JSON_VALUE_BYTES - 3);
	add(&parser, "[1]\n");
	most = (size_t)3 * WFS_JSON_VALUE_BYTES;
	take_all(&parser, false, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "[1]\noverloaded\n[1]\n");
}

TEST(parser_trims_only_what_is_given_out)
{
	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX_BYTES};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	add(&parser, "[1,");
	wfs_control_parser_trim(&parser, 0);
	add(&parser, "2]\n");
	take_all(&parser, false, &lines);
	wfs_control_parser_trim(&parser, 0);

	assert_string_equal(wfs_buffer_text(&lines), "[1,2]\n");
	assert_int_equal(parser.pending.capacity_bytes, 0);
}

TEST(parser_looks_at_white_space_in_small_writes_twice_at_most)
{
	enum { WRITES = 200000 };

	WFS_AUTO_PARSER struct wfs_control_parser parser = {.size_max_bytes = SIZE_MAX};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};

	/* Looking at all that came before, at each write, takes minutes. */
	for (int i = 0; i < WRITES; i++) {
		add(&parser, "                ");
		assert_false(wfs_control_parser_pending(&parser));
		take_all(&parser, false, &lines);
	}
	add(&parser, "[1]");
	assert_true(wfs_control_parser_pending(&parser));
	take_all(&parser, true, &lines);

	assert_string_equal(wfs_buffer_text(&lines), "[1]\n");
}
