/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in answers: native, in tags, bare. (Numbers such as "case 64" are those of our research
 * on model servers.) */
#include "tests/fixture/json.h"

#include "agents/adapter/parser.h"

/* The parsed form of an answer that is only a text, when a and b are offered. Caller owns it. */
static json_t *parsed_text(const char *content, size_t size)
{
	WFS_AUTO_JSON json_t *completion =
		json_pack("{s:s%, s:s}", "content", content, size, "finish_reason", "stop");
	WFS_AUTO_JSON json_t *offered = json_of("['a','b']");
	json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);
	return parsed;
}

static void assert_parsed(const char *quoted, const char *content, const char *calls)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_JSON json_t *parsed = parsed_text(text, strlen(text));

	assert_json_is(json_incref(json_object_get(parsed, "content")), content);
	assert_json_is(json_incref(json_object_get(parsed, "tool_calls")), calls);
	assert_int_equal(json_integer_value(json_object_get(parsed, "native_calls_count")), 0);
	if (strcmp(calls, "[]") == 0)
		assert_null(json_object_get(parsed, "raw_content"));
	else
		assert_string_equal(
			json_string_value(json_object_get(parsed, "raw_content")), text);
	assert_string_equal(json_string_value(json_object_get(parsed, "finish_reason")), "stop");
}

/* Case 64. */
TEST(native_calls_win_and_the_text_beside_them_is_kept)
{
	WFS_AUTO_JSON json_t *offered = json_of("['a']");
	WFS_AUTO_JSON json_t *completion =
		json_of("{'content':'<function=a>{}</function>','tool_calls':[{'id':'c1'}]}");
	json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);

	assert_json_is(parsed,
		"{'content':'<function=a>{}</function>','tool_calls':[{'id':'c1'}],"
		"'native_calls_count':1}");
}

#define PARSES(name, text, content, calls)           \
	TEST(name)                                   \
	{                                            \
		assert_parsed(text, content, calls); \
	}

/* Case 71. */
PARSES(a_call_in_tags_is_found_and_the_text_around_it_is_kept,
	"x <tool_call>{'name':'a','arguments':{'k':1}}</tool_call> y", "'x  y'",
	"[{'name':'a','arguments':'{\\'k\\':1}'}]")
PARSES(several_calls_stand_in_the_order_of_the_text,
	"<tool_call>\n{'name': 'b'}\n</tool_call>\n<function=a>{}</function>"
	"<tool_call>{'arguments':{},'name':'b'}</tool_call>",
	"null", "[{'name':'b'},{'name':'a','arguments':'{}'},{'name':'b','arguments':'{}'}]")

/* Case 72. */
TEST(a_string_argument_may_hold_the_closing_tag)
{
	assert_parsed(
		"<tool_call>{'name':'a','arguments':{'k':'</tool_call><tool_call>'}}</tool_call>",
		"null", "[{'name':'a','arguments':'{\\'k\\':\\'</tool_call><tool_call>\\'}'}]");
	assert_parsed("<function=a>{'k':'</function>'}</function>", "null",
		"[{'name':'a','arguments':'{\\'k\\':\\'</function>\\'}'}]");
}

/* Case 73. */
TEST(an_unclosed_tag_is_text)
{
	assert_parsed("<tool_call>{'name':'a'}", "'<tool_call>{\\'name\\':\\'a\\'}'", "[]");
	assert_parsed("<function=a>{", "'<function=a>{'", "[]");
	assert_parsed("a </tool_call> <function", "'a </tool_call> <function'", "[]");
	assert_parsed("<function=a b>{}</function>", "'<function=a b>{}</function>'", "[]");
	assert_parsed("<function=>{}</function>", "'<function=>{}</function>'", "[]");
}

PARSES(an_unclosed_tag_does_not_hide_the_next,
	"<tool_call>{'name':'a'} <tool_call>{'name':'b'}</tool_call>",
	"'<tool_call>{\\'name\\':\\'a\\'} '", "[{'name':'b'}]")

/* Case 74. */
PARSES(arguments_keep_their_bytes,
	"<tool_call>{'name':'a','arguments': { 'k' : 12345678901234567890, 'l':1.0 } "
	"}</tool_call>",
	"null", "[{'name':'a','arguments':'{ \\'k\\' : 12345678901234567890, \\'l\\':1.0 }'}]")

/* Case 75. */
PARSES(the_form_that_a_structural_tag_forces_is_understood,
	"I look. <function=a>{'k':1}</function>", "'I look. '",
	"[{'name':'a','arguments':'{\\'k\\':1}'}]")
PARSES(arguments_may_be_written_as_a_string,
	"<tool_call>{'name':'a','arguments':'{\\'k\\':1}'}</tool_call>", "null",
	"[{'name':'a','arguments':'{\\'k\\':1}'}]")

/* Case 68. */
PARSES(arguments_that_are_null_are_none, "<tool_call>{'name':'a','arguments':null}</tool_call>",
	"null", "[{'name':'a'}]")

/* Cases 66, 67, 70: the caller gets a message that it can send back to the model. */
TEST(what_is_no_call_in_a_tag_becomes_one_without_a_name)
{
	assert_parsed("<tool_call>[{'name':'a'}]</tool_call>", "null",
		"[{'arguments':'[{\\'name\\':\\'a\\'}]'}]");
	assert_parsed("<tool_call>{'name':'a',}</tool_call>", "null",
		"[{'arguments':'{\\'name\\':\\'a\\',}'}]");
	assert_parsed("<tool_call> {bad </tool_call>", "null", "[{'arguments':'{bad'}]");
	assert_parsed("<tool_call>{'arguments':{}}</tool_call>", "null",
		"[{'arguments':'{\\'arguments\\':{}}'}]");
	assert_parsed("<tool_call>{'name':''}</tool_call>", "null",
		"[{'arguments':'{\\'name\\':\\'\\'}'}]");
	assert_parsed(
		"<tool_call>{'name':7}</tool_call>", "null", "[{'arguments':'{\\'name\\':7}'}]");
	assert_parsed("<tool_call>{'name':'a'} more</tool_call>", "null",
		"[{'arguments':'{\\'name\\':\\'a\\'} more'}]");
	assert_parsed("<tool_call></tool_call>", "null", "[{'arguments':''}]");
}

PARSES(arguments_in_a_function_tag_are_given_whatever_they_are,
	"<function=a> <parameter=k>1</parameter> </function>", "null",
	"[{'name':'a','arguments':'<parameter=k>1</parameter>'}]")

TEST(an_answer_that_is_an_action_is_a_call)
{
	assert_parsed(" {'action_type':'a', 'k': 1.0, 'l':{'m':[]}}\n", "null",
		"[{'name':'a','arguments':'{\\'k\\':1.0,\\'l\\':{\\'m\\':[]}}'}]");
	assert_parsed("{'action_type':'b'}", "null", "[{'name':'b','arguments':'{}'}]");
}

TEST(other_json_is_text)
{
	assert_parsed("{'action_type':'zzz'}", "'{\\'action_type\\':\\'zzz\\'}'", "[]");
	assert_parsed("{'action_type':1}", "'{\\'action_type\\':1}'", "[]");
	assert_parsed("{'k':1}", "'{\\'k\\':1}'", "[]");
	assert_parsed("{'action_type':'a'} x", "'{\\'action_type\\':\\'a\\'} x'", "[]");
	assert_parsed("{'action_type':'a','action_type':'b'}",
		"'{\\'action_type\\':\\'a\\',\\'action_type\\':\\'b\\'}'", "[]");
	assert_parsed("[{'action_type':'a'}]", "'[{\\'action_type\\':\\'a\\'}]'", "[]");
}

TEST(a_text_is_not_searched_when_no_tool_is_offered)
{
	WFS_AUTO_JSON json_t *offered = json_array();
	WFS_AUTO_JSON json_t *completion = json_of("{'content':'<function=a>{}</function>'}");
	json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);

	assert_json_is(parsed,
		"{'content':'<function=a>{}</function>','tool_calls':[],'native_calls_count':0}");
}

TEST(an_answer_without_text_has_no_calls)
{
	WFS_AUTO_JSON json_t *offered = json_of("['a']");
	WFS_AUTO_JSON json_t *completion = json_of("{'content':null,'tool_calls':[]}");
	json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);

	assert_json_is(parsed, "{'content':null,'tool_calls':[],'native_calls_count':0}");
}

TEST(a_completion_that_is_parsed_stays_as_it_was)
{
	WFS_AUTO_JSON json_t *offered = json_of("['a']");
	json_t *const completion = json_of("{'content':'x<function=a>{}</function>'}");
	json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);
	json_decref(parsed);

	assert_json_is(completion, "{'content':'x<function=a>{}</function>'}");
}

TEST(a_nul_byte_is_a_byte_of_text)
{
	static const char text[] = "a\0b<function=a>{}</function>";
	WFS_AUTO_JSON json_t *parsed = parsed_text(text, sizeof(text) - 1);

	assert_json_is(json_incref(json_object_get(parsed, "content")), "'a\\u0000b'");
	assert_int_equal(json_array_size(json_object_get(parsed, "tool_calls")), 1);
}

/* --- hostile texts --- */

/* Quadratic time would exceed the time limit of the test for so many bytes. */
enum { HOSTILE_BYTES = 1 << 20 };

/* Parses a text of 1 MiB: @head, @part again and again, @tail. Return: how many calls were
 * found. */
static size_t hostile(const char *head, const char *part, const char *tail)
{
	WFS_AUTO_FREE char *quoted = json_text(part);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, head);
	while (text.size < HOSTILE_BYTES)
		wfs_buffer_append_text(&text, quoted);
	wfs_buffer_append_text(&text, tail);
	WFS_AUTO_JSON json_t *parsed = parsed_text(wfs_buffer_text(&text), text.size);

	return json_array_size(json_object_get(parsed, "tool_calls"));
}

TEST(texts_full_of_tags_take_linear_work)
{
	assert_int_equal(hostile("", "<tool_call>", ""), 0);
	assert_int_equal(hostile("", "<tool_call>", "</tool_call>"), 1);
	assert_int_equal(hostile("", "<function=a>", ""), 0);
	assert_int_equal(hostile("", "<tool_call><function=a>", ""), 0);
	assert_int_equal(hostile("", "<tool_call>{", "</tool_call>"), 1);
	assert_int_equal(hostile("", "<tool_call>{'", "</tool_call>"), 1);
	assert_int_equal(hostile("", "<tool_call>{'\\'", "</tool_call>"), 1);
	assert_int_equal(hostile("", "<tool_call>{''", "</tool_call>"), 1);
	assert_int_equal(hostile("<tool_call>{\"", "<tool_call>{", ""), 0);
	assert_int_equal(hostile("", "<", ""), 0);
	assert_int_equal(hostile("", "</tool_call>", ""), 0);
	assert_int_equal(hostile("", "<function=", ""), 0);
}

TEST(values_may_be_nested_as_deep_as_they_like)
{
	assert_int_equal(
		hostile("<tool_call>{\"name\":\"a\",\"arguments\":", "[", "</tool_call>"), 1);
	assert_int_equal(hostile("<function=a>", "{'a':", "</function>"), 1);
	assert_int_equal(hostile("{\"action_type\":\"a\",\"k\":", "[", ""), 0);
}
