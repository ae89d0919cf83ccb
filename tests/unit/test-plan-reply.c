/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of models: plans and answers. */
#include "kernel/value/bounds.h"
#include "tests/fixture/json.h"

#include "agents/plan/reply.h"

/* @expected: the text, with ' for " */
static void assert_reply(const char *quoted, bool is_plan, const char *expected)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_FREE char *wanted = json_text(expected);
	WFS_AUTO_JSON json_t *found = NULL;
	struct wfs_error error = {0};
	bool found_plan = !is_plan;

	assert_int_equal(wfs_plan_reply(text, &found_plan, &found, &error), 0);
	assert_string_equal(json_string_value(found), wanted);
	if (found_plan != is_plan)
		fail_msg("%s: is %s plan", quoted, found_plan ? "a" : "no");
}

static void assert_plan(const char *quoted, const char *expected)
{
	assert_reply(quoted, true, expected);
}

static void assert_text(const char *quoted, const char *expected)
{
	assert_reply(quoted, false, expected);
}

static void assert_answer(const char *quoted, const char *expected)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_FREE char *wanted = json_text(expected);
	WFS_AUTO_JSON json_t *found = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_plan_answer(text, &found, &error), 0);
	assert_string_equal(json_string_value(found), wanted);
}

/* --- plans and answers --- */

TEST(steps_are_a_plan_as_they_were_written)
{
	assert_plan(" {'steps': [ {'id': 'a'} ]}\n", "{'steps': [ {'id': 'a'} ]}");
	assert_plan("{'steps':[]}", "{'steps':[]}");
	assert_plan("{'steps':{'a':1}}", "{'steps':{'a':1}}");
}

/* Case 127. */
TEST(calls_are_a_plan_whatever_they_are_given_with)
{
	assert_plan("{'tool_calls':[{'name':'a'}],'final':'F'}",
		"{'tool_calls':[{'name':'a'}],'final':'F'}");
	assert_plan("{'final':'','tool_calls':[1]}", "{'final':'','tool_calls':[1]}");
	assert_plan("{'steps':[],'tool_calls':[{}],'final':'F'}",
		"{'steps':[],'tool_calls':[{}],'final':'F'}");
}

/* Case 167. */
TEST(a_plan_is_found_in_a_fence_and_before_other_objects)
{
	assert_plan("Sure!\n```json\n{'steps':[]}\n```\nDone.", "{'steps':[]}");
	assert_plan("{'steps':[1]} {'final':'x'}", "{'steps':[1]}");
	assert_plan("I use {braces}: {'steps':[2]}", "{'steps':[2]}");
}

TEST(what_is_no_json_to_us_is_a_plan_all_the_same)
{
	assert_plan("{'steps':[],'steps':[]}", "{'steps':[],'steps':[]}");
	assert_plan("{'steps':[99999999999999999999]}", "{'steps':[99999999999999999999]}");
}

/* Case 166. */
TEST(plain_text_is_the_answer)
{
	assert_text(" \n There are 7 apples.\t\n", "There are 7 apples.");
	assert_text("", "");
	assert_text("see {'a':1} ", "see {'a':1}");
	assert_text("{'a':1} {'steps':[1]}", "{'a':1} {'steps':[1]}");
}

TEST(a_plan_that_is_cut_off_is_one_that_will_be_refused)
{
	assert_plan("{'steps':[", "{'steps':[");
	assert_plan(" {'goal':'g','steps':[{'id':'a'},{'id':",
		"{'goal':'g','steps':[{'id':'a'},{'id':");
	assert_plan(
		"```json\n{'tool_calls':[{'name':'x'},\n```", "{'tool_calls':[{'name':'x'},\n```");
	assert_text("{'a':[{'b':1},", "{'a':[{'b':1},");
	assert_text("I would write {'steps':[", "I would write {'steps':[");
}

TEST(final_without_steps_is_the_answer)
{
	assert_text("{'final':' yes '}", " yes ");
	assert_text("```\n{'tool_calls':[ ],'final':'yes'}\n```", "yes");
	assert_text("{'tool_calls':null,'final':'yes'}", "yes");
	assert_text("{'steps':null,'final':'yes'}", "yes");
	assert_text("{'steps':[ ],'final':'yes'}", "yes");
	assert_text("{'final':''}", "");
	assert_text("{'final':'a\\u00e4\\n'}", "aä\n");
}

TEST(an_object_that_says_nothing_is_the_answer_as_a_whole)
{
	assert_text("{'final':1}", "{'final':1}");
	assert_text("{'tool_calls':{},'a':2} ", "{'tool_calls':{},'a':2}");
	assert_text("{'steps':null}", "{'steps':null}");
	assert_text("{'final':'\\ud800'}", "{'final':'\\ud800'}");
}

TEST(no_steps_with_nothing_to_say_are_a_plan)
{
	assert_plan("{'steps':[],'final':''}", "{'steps':[],'final':''}");
	assert_plan("{'steps':[],'final':null}", "{'steps':[],'final':null}");
}

TEST(a_plan_that_is_too_long_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *found = NULL;
	struct wfs_error error = {0};
	bool is_plan;

	wfs_buffer_append_text(&text, "{\"steps\":\"");
	while (text.size + 2 < WFS_PLAN_SOURCE_MAX)
		wfs_buffer_append_text(&text, "x");
	wfs_buffer_append_text(&text, "\"}");

	assert_int_equal(wfs_plan_reply(wfs_buffer_text(&text), &is_plan, &found, &error), 0);
	assert_int_equal(json_string_length(found), WFS_PLAN_SOURCE_MAX);
	text.data[text.size - 2] = 'x';
	text.data[text.size - 1] = '"';
	wfs_buffer_append_text(&text, "}");
	assert_int_equal(wfs_plan_reply(wfs_buffer_text(&text), &is_plan, &found, &error), -EFBIG);
	assert_string_equal(error.message, "the plan has 8388609 bytes, at most 8388608 are taken");
}

TEST(a_megabyte_of_braces_is_an_answer)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	while (text.size < 1 << 20)
		wfs_buffer_append_text(&text, "{");

	assert_text(wfs_buffer_text(&text), wfs_buffer_text(&text));
}

/* --- answers of the last stage --- */

TEST(the_answer_is_final_of_the_first_object)
{
	assert_answer("{'final':'done'}", "done");
	assert_answer("so: ```{'final':'done','steps':[1]}``` {'final':'x'}", "done");
	assert_answer("{'final':null}", "");
	assert_answer("{'final': {'b':[1, 2.50],'a':true}}", "{'a':true,'b':[1,2.5]}");
	assert_answer("{'final':7}", "7");
}

TEST(a_text_without_final_is_the_answer)
{
	assert_answer("  All is well. ", "All is well.");
	assert_answer("{'a':1}", "{'a':1}");
	assert_answer("{'a':1} {'final':'x'}", "{'a':1} {'final':'x'}");
	assert_answer("{'final':{'a':1,'a':2}}", "{'final':{'a':1,'a':2}}");
	assert_answer("", "");
}
