/* SPDX-License-Identifier: Apache-2.0 */
/* Completions in answers that are not streams. */
#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include <errno.h>

#include "agents/model/completion.h"

/* Both texts with ' for ". */
static void expect(const char *answer_text, const char *completion_text)
{
	WFS_AUTO_JSON json_t *answer = json_of(answer_text);
	WFS_AUTO_JSON json_t *completion = NULL;
	WFS_AUTO_FREE char *expected = json_text(completion_text);
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};
	struct wfs_model_failure failure = {0};

	assert_int_equal(wfs_completion_read(answer, &completion, &failure), 0);
	wfs_json_write(completion, &written);
	assert_string_equal(wfs_buffer_text(&written), expected);
}

static struct wfs_model_failure expect_refused(const char *answer_text)
{
	WFS_AUTO_JSON json_t *answer = json_of(answer_text);
	json_t *completion = NULL;
	struct wfs_model_failure failure = {0};

	assert_int_equal(wfs_completion_read(answer, &completion, &failure), -EBADMSG);
	assert_null(completion);
	return failure;
}

/* An answer whose message has these members. */
static void expect_message(const char *message, const char *completion)
{
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};

	wfs_buffer_printf(
		&answer, "{'choices':[{'message':{%s},'finish_reason':'stop'}]}", message);
	expect(wfs_buffer_text(&answer), completion);
}

TEST(a_text_with_usage_and_model_is_read)
{
	expect("{'id':'r1','model':'m','choices':[{'index':0,'message':{'role':'assistant',"
	       "'content':'hi','tool_calls':[],'reasoning':'hm'},'finish_reason':'stop'}],"
	       "'usage':{'prompt_tokens':10,'completion_tokens':5,'total_tokens':15,'x':1}}",
		"{'content':'hi','finish_reason':'stop','model':'m','tool_calls':[],"
		"'usage':{'completion_tokens':5,'prompt_tokens':10,'total_tokens':15}}");
}

TEST(a_call_keeps_its_arguments_byte_for_byte)
{
	WFS_AUTO_JSON json_t *answer = json_of(
		"{'choices':[{'message':{'content':null,'tool_calls':[{'id':'c1','type':'function',"
		"'function':{'name':'add','arguments':'{ "
		"\\'x\\':1.0,'}}]},'finish_reason':null}]}");
	WFS_AUTO_JSON json_t *completion = NULL;
	struct wfs_model_failure failure = {0};
	const json_t *call;

	assert_int_equal(wfs_completion_read(answer, &completion, &failure), 0);
	call = json_array_get(json_object_get(completion, "tool_calls"), 0);
	assert_string_equal(json_string_value(json_object_get(call, "id")), "c1");
	assert_string_equal(json_string_value(json_object_get(call, "name")), "add");
	assert_string_equal(json_string_value(json_object_get(call, "arguments")), "{ \"x\":1.0,");
	assert_true(json_is_null(json_object_get(completion, "content")));
	assert_true(json_is_null(json_object_get(completion, "finish_reason")));
}

TEST(arguments_sent_as_a_value_become_its_text)
{
	expect_message("'content':'t','tool_calls':["
		       "{'function':{'name':'a','arguments':{'b':2,'a':1}}},"
		       "{'function':{'name':'b','arguments':[1]}},"
		       "{'function':{'name':'c','arguments':null}},"
		       "{'function':{'name':'d'}},"
		       "{'function':{'name':'e','arguments':''}}]",
		"{'content':'t','finish_reason':'stop','tool_calls':["
		"{'arguments':'{\\'a\\':1,\\'b\\':2}','name':'a'},"
		"{'arguments':'[1]','name':'b'},{'name':'c'},{'name':'d'},"
		"{'arguments':'','name':'e'}],'usage':null}");
}

TEST(a_call_without_name_or_function_stays_in_the_list)
{
	expect_message("'tool_calls':[{'id':'a'},{'id':'','function':{'name':''}},17,"
		       "{'id':3,'function':{'arguments':'{}'}}]",
		"{'content':null,'finish_reason':'stop','tool_calls':[{'id':'a'},{},{},"
		"{'arguments':'{}'}],'usage':null}");
}

TEST(a_refusal_is_content_when_there_is_none)
{
	expect_message("'content':null,'refusal':'I will not.'",
		"{'content':'I will not.','finish_reason':'content_filter','tool_calls':[],"
		"'usage':null}");
	expect_message("'content':'','refusal':'no'",
		"{'content':'no','finish_reason':'content_filter','tool_calls':[],'usage':null}");
	expect_message("'content':'yes','refusal':'no'",
		"{'content':'yes','finish_reason':'stop','tool_calls':[],'usage':null}");
	expect_message("'content':'yes','refusal':null",
		"{'content':'yes','finish_reason':'stop','tool_calls':[],'usage':null}");
}

TEST(content_in_parts_is_joined)
{
	expect_message("'content':[{'type':'text','text':'a'},{'type':'x'},7,{'text':'b'}]",
		"{'content':'ab','finish_reason':'stop','tool_calls':[],'usage':null}");
	expect_message("'content':[]",
		"{'content':'','finish_reason':'stop','tool_calls':[],'usage':null}");
}

TEST(usage_is_completed_or_absent)
{
	const char *const cases[][2] = {
		{"{'prompt_tokens':3,'completion_tokens':4}",
			"{'completion_tokens':4,'prompt_tokens':3,'total_tokens':7}"},
		{"{'prompt_tokens':3,'completion_tokens':null,'total_tokens':3}",
			"{'completion_tokens':0,'prompt_tokens':3,'total_tokens':3}"},
		{"{'prompt_tokens':3.0}",
			"{'completion_tokens':0,'prompt_tokens':3,'total_tokens':3}"},
		{"null", "null"},
		{"7", "null"},
		{"{'prompt_tokens':-1,'completion_tokens':4}", "null"},
		{"{'prompt_tokens':9223372036854775807,'completion_tokens':4}", "null"},
		{"{'prompt_tokens':3,'completion_tokens':'4'}", "null"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer answer = {0};
		WFS_AUTO_BUFFER struct wfs_buffer completion = {0};

		print_message("%s\n", cases[i][0]);
		wfs_buffer_printf(&answer, "{'choices':[{'message':{}}],'usage':%s}", cases[i][0]);
		wfs_buffer_printf(&completion,
			"{'content':null,'finish_reason':null,'tool_calls':[],'usage':%s}",
			cases[i][1]);
		expect(wfs_buffer_text(&answer), wfs_buffer_text(&completion));
	}
}

/* Case 10. */
TEST(no_choices_is_a_failure)
{
	const struct wfs_model_failure failure = expect_refused("{'choices':[]}");

	assert_string_equal(failure.code, "no_choices");
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_ANSWER);
}

TEST(what_is_no_answer_is_quoted)
{
	const char *const cases[][2] = {
		{"{'ok':true}", "expected a list of choices in the answer, got: {\"ok\":true}"},
		{"[]", "expected a list of choices in the answer, got: []"},
		{"{'choices':[{}]}", "expected a message in the first choice, got: {}"},
		{"{'choices':[{'message':{'content':7}}]}",
			"expected a text as content of the message, got: 7"},
		{"{'choices':[{'message':{'tool_calls':{}}}]}",
			"expected a list of tool_calls, got: {}"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		const struct wfs_model_failure failure = expect_refused(cases[i][0]);

		assert_string_equal(failure.message, cases[i][1]);
		assert_string_equal(failure.code, "invalid_answer");
	}
}

TEST(too_many_calls_are_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};

	wfs_buffer_append_text(&answer, "{'choices':[{'message':{'tool_calls':[1");
	for (int i = 0; i < WFS_COMPLETION_CALLS_MAX; i++)
		wfs_buffer_append_text(&answer, ",1");
	wfs_buffer_append_text(&answer, "]}}]}");

	assert_int_equal(
		expect_refused(wfs_buffer_text(&answer)).kind, WFS_MODEL_FAILURE_TOO_LARGE);
}
