/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of plans as models write them. */
#include "tests/fixture/normalize.h"

/* --- ids --- */

TEST(ids_are_texts_or_numbers)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt(
		"{'steps':[{'id':7},{'id':' a b '},{'id':2.5},{'id':'ä.x','depends_on':[7,' a b']},"
		"{'id':-0,'depends_on':2.50}]}"));

	assert_string_equal(text_of_step(&made, 0, "id"), "7");
	assert_string_equal(text_of_step(&made, 1, "id"), "a b");
	assert_string_equal(text_of_step(&made, 2, "id"), "2.5");
	assert_json_is(json_incref(of_step(&made, 3, "depends_on")), "['7','a b']");
	assert_string_equal(text_of_step(&made, 4, "id"), "0");
	assert_json_is(json_incref(of_step(&made, 4, "depends_on")), "['2.5']");
	assert_stays(&made, "look around");
}

/* Case 123. */
TEST(a_step_without_id_and_title_gets_both)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'steps':[{'title':null},{'id':null,'title':5},{'id':' ','title':' '},"
			"{'title':['x']}]}"));

	assert_string_equal(text_of_step(&made, 0, "id"), "s1");
	assert_string_equal(text_of_step(&made, 0, "title"), "step-1");
	assert_string_equal(text_of_step(&made, 1, "id"), "s2");
	assert_string_equal(text_of_step(&made, 1, "title"), "5");
	assert_string_equal(text_of_step(&made, 2, "id"), "s3");
	assert_string_equal(text_of_step(&made, 2, "title"), "step-3");
	assert_string_equal(text_of_step(&made, 3, "title"), "step-4");
	assert_stays(&made, "look around");
}

TEST(an_id_that_is_made_is_nobody_elses)
{
	ATTEMPT_AUTO struct attempt made =
		taken(attempt("{'steps':[{},{'id':'s1'},{'id':'s3-2'},{'id':'s5'},{},{'id':'s3'},"
			      "{'depends_on':['s1-2','s5-2']}]}"));

	assert_string_equal(text_of_step(&made, 0, "id"), "s1-2");
	assert_string_equal(text_of_step(&made, 4, "id"), "s5-2");
	assert_string_equal(text_of_step(&made, 6, "id"), "s7");
	assert_stays(&made, "look around");
}

/* Case 118. */
TEST(two_steps_with_one_id_are_refused)
{
	assert_refusal(attempt("{'steps':[{'id':'y'},{'id':'x'},{'id':' x'}]}"), -EINVAL,
		"steps[2]: 'id': 'x' is the id of steps[1] already",
		"{'code':'DUPLICATE_STEP_ID','index':2,'step':'x'}");
	assert_refusal(attempt("{'steps':[{'id':7},{'id':'7'}]}"), -EINVAL,
		"steps[1]: 'id': '7' is the id of steps[0] already",
		"{'code':'DUPLICATE_STEP_ID','index':1,'step':'7'}");
}

TEST(ids_that_could_be_mistaken_are_refused)
{
	static const char rule[] = "steps[0]: 'id': expected at most 128 bytes without control "
				   "characters, '{', '}' and '$', got ";
	static const char *const ids[] = {"a{", "a}", "$a", "a\\nb", "a\\u007fb", "a\\u0000b"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_buffer_printf(&text, "{'steps':[{'id':'%s'}]}", ids[i]);
		ATTEMPT_AUTO struct attempt made = attempt(wfs_buffer_text(&text));
		if (made.status != -EINVAL || strncmp(made.error.message, rule, strlen(rule)) != 0)
			fail_msg("%s: %s", ids[i], made.error.message);
	}
	assert_refusal(attempt("{'steps':[{'id':['a']}]}"), -EINVAL,
		"steps[0]: 'id': expected a text or a number, got an array",
		"{'code':'INVALID_STEP','index':0}");
	assert_refusal(attempt("{'steps':[{'id':true}]}"), -EINVAL,
		"steps[0]: 'id': expected a text or a number, got a boolean",
		"{'code':'INVALID_STEP','index':0}");
}

/* @size: of the id of the only step */
static struct attempt with_id(size_t size)
{
	WFS_AUTO_FREE char *id = calloc(size + 1, 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	memset(id, 'i', size);
	wfs_buffer_printf(&text, "{'steps':[{'id':'%s'}]}", id);
	return attempt(wfs_buffer_text(&text));
}

TEST(an_id_has_at_most_128_bytes)
{
	ATTEMPT_AUTO struct attempt longest = taken(with_id(128));

	assert_int_equal(json_string_length(of_step(&longest, 0, "id")), 128);
	assert_refusal(with_id(129), -EINVAL,
		"steps[0]: 'id': expected at most 128 bytes without control characters, '{', '}' "
		"and '$', got 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii' (129 "
		"bytes)",
		"{'code':'INVALID_STEP','index':0}");
	assert_refusal(with_id(1 << 20), -EINVAL,
		"steps[0]: 'id': expected at most 128 bytes without control characters, '{', '}' "
		"and '$', got 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii' "
		"(1048576 bytes)",
		"{'code':'INVALID_STEP','index':0}");
}

/* --- types --- */

/* Checks the type of the only step. */
static void assert_type(const char *members, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "{'steps':[{%s}]}", members);
	ATTEMPT_AUTO struct attempt made = taken(attempt(wfs_buffer_text(&text)));
	assert_string_equal(text_of_step(&made, 0, "type"), expected);
	assert_stays(&made, "look around");
}

/* Case 122. */
TEST(a_type_is_known_in_any_case)
{
	assert_type("'type':' TOOL ','tool':'x'", "tool");
	assert_type("'type':'Llm'", "llm");
	assert_type("'type':'note'", "note");
}

TEST(a_type_follows_from_what_there_is)
{
	assert_type("'tool':{'name':'x'},'prompt':'p'", "tool");
	assert_type("'type':null,'prompt':'p','tool':null", "llm");
	assert_type("'prompt':null", "note");
}

/* Case 122. */
TEST(a_type_that_is_not_known_is_refused)
{
	assert_refusal(attempt("{'steps':[{'id':'a'},{'id':'b','type':'shell'}]}"), -EINVAL,
		"step 'b': 'type': expected tool, llm or note, got 'shell'",
		"{'code':'UNKNOWN_STEP_TYPE','index':1,'step':'b'}");
	assert_refusal(attempt("{'steps':[{'type':''}]}"), -EINVAL,
		"step 's1': 'type': expected tool, llm or note, got ''",
		"{'code':'UNKNOWN_STEP_TYPE','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'type':['tool']}]}"), -EINVAL,
		"step 's1': 'type': expected tool, llm or note, got an array",
		"{'code':'UNKNOWN_STEP_TYPE','index':0,'step':'s1'}");
}

TEST(only_its_type_has_a_tool_or_a_prompt)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt(
		"{'steps':[{'type':'note','tool':5,'prompt':'p'},"
		"{'type':'llm','tool':5,'prompt':'p'},{'type':'tool','tool':'x','prompt':5}]}"));

	assert_true(json_is_null(of_step(&made, 0, "tool")));
	assert_true(json_is_null(of_step(&made, 0, "prompt")));
	assert_true(json_is_null(of_step(&made, 1, "tool")));
	assert_string_equal(text_of_step(&made, 1, "prompt"), "p");
	assert_true(json_is_null(of_step(&made, 2, "prompt")));
}

/* --- tools and prompts --- */

TEST(a_tool_may_be_just_its_name)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt("{'steps':[{'tool':' fs_ls '}]}"));

	assert_json_is(
		json_incref(of_step(&made, 0, "tool")), "{'args':{},'method':'','name':'fs_ls'}");
	assert_stays(&made, "look around");
}

TEST(a_tool_without_a_name_is_refused)
{
	assert_refusal(attempt("{'steps':[{'id':'a','type':'tool'}]}"), -EINVAL,
		"step 'a': 'tool': expected an object with the tool's name, got nothing",
		"{'code':'TOOL_WITHOUT_NAME','index':0,'step':'a'}");
	assert_refusal(attempt("{'steps':[{'tool':{'name':' '}}]}"), -EINVAL,
		"step 's1': 'tool': expected an object with the tool's name, got an object without "
		"one",
		"{'code':'TOOL_WITHOUT_NAME','index':0,'step':'s1'}");
	assert_refusal(attempt("{'tool_calls':[{'name':'a'},{'args':{}}]}"), -EINVAL,
		"step 's2': 'tool': expected an object with the tool's name, got an object without "
		"one",
		"{'code':'TOOL_WITHOUT_NAME','index':1,'step':'s2'}");
}

TEST(a_tool_of_another_form_is_refused)
{
	assert_refusal(attempt("{'steps':[{'tool':['x']}]}"), -EINVAL,
		"step 's1': 'tool': expected an object {name, method?, args}, got an array",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'tool':{'name':5}}]}"), -EINVAL,
		"step 's1': 'name' of the tool: expected a text, got an integer",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'tool':{'name':'x','method':{}}}]}"), -EINVAL,
		"step 's1': 'method' of the tool: expected a text, got an object",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'tool':{'name':'x','method':'a\\u0001'}}]}"), -EINVAL,
		"step 's1': 'method' of the tool: expected at most 256 bytes without control "
		"characters, got 'a\x01' (2 bytes)",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'type':'llm','prompt':['x']}]}"), -EINVAL,
		"step 's1': 'prompt': expected a text, got an array",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
}

TEST(the_name_of_a_tool_has_at_most_256_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	while (name.size < WFS_PLAN_TOOL_NAME_MAX)
		wfs_buffer_append_byte(&name, 'n');
	wfs_buffer_printf(&text, "{'steps':[{'tool':'%s'}]}", wfs_buffer_text(&name));
	ATTEMPT_AUTO struct attempt longest = taken(attempt(wfs_buffer_text(&text)));
	wfs_buffer_reset(&text);
	wfs_buffer_printf(&text, "{'steps':[{'tool':'%sn'}]}", wfs_buffer_text(&name));
	ATTEMPT_AUTO struct attempt longer = attempt(wfs_buffer_text(&text));

	assert_int_equal(strlen(wfs_json_text(of_step(&longest, 0, "tool"), "name")), 256);
	assert_int_equal(longer.status, -EINVAL);
	assert_non_null(strstr(longer.error.message, "(257 bytes)"));
}

TEST(a_model_without_a_prompt_is_asked_the_title)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'steps':[{'type':'llm','title':'Sum up'},{'type':'llm','prompt':' '},"
			"{'type':'llm','prompt':42}]}"));

	assert_string_equal(text_of_step(&made, 0, "prompt"), "Sum up");
	assert_string_equal(text_of_step(&made, 1, "prompt"), "step-2");
	assert_string_equal(text_of_step(&made, 2, "prompt"), "42");
	assert_stays(&made, "look around");
}

/* --- lengths --- */

/* @count: characters of two bytes each; then a blank, and more */
static void append_long(struct wfs_buffer *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wfs_buffer_append_text(text, "ä");
	wfs_buffer_append_text(text, " more");
}

/* Case 124. */
TEST(what_is_too_long_is_cut_at_a_character)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'goal':'");
	append_long(&text, 7998);
	wfs_buffer_append_text(&text, "','steps':[{'type':'llm','title':'");
	append_long(&text, 300);
	wfs_buffer_append_text(&text, "','prompt':'");
	append_long(&text, 9000);
	wfs_buffer_append_text(&text, "'},{'title':'");
	append_long(&text, 199); /* the last of 200 characters is a blank */
	wfs_buffer_append_text(&text, "'}]}");
	ATTEMPT_AUTO struct attempt made = taken(attempt(wfs_buffer_text(&text)));

	assert_int_equal(json_string_length(made.plan.goal), 7998 * 2 + 2);
	assert_int_equal(json_string_length(of_step(&made, 0, "title")), 200 * 2);
	assert_int_equal(json_string_length(of_step(&made, 0, "prompt")), 8000 * 2);
	assert_int_equal(json_string_length(of_step(&made, 1, "title")), 199 * 2);
	assert_stays(&made, NULL);
}

TEST(a_goal_that_is_not_said_is_that_of_the_chat)
{
	static const char *const goals[] = {"null", "''", "' '", "5", "['x']"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(goals); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_buffer_printf(&text, "{'goal':%s,'steps':[]}", goals[i]);
		ATTEMPT_AUTO struct attempt made = taken(attempt(wfs_buffer_text(&text)));
		assert_string_equal(json_string_value(made.plan.goal), "look around");
	}
}

TEST(a_plan_without_any_goal_has_an_empty_one)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID};

	ATTEMPT_AUTO struct attempt made = taken(attempt_as(&origin, "{'steps':[]}"));

	assert_string_equal(json_string_value(made.plan.goal), "");
}

TEST(attempts_are_kept_between_1_and_10)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'steps':[{'max_attempts':0},{'max_attempts':11},{'max_attempts':'3'},"
			"{'max_attempts':2.0},{'max_attempts':-9223372036854775808}]}"));
	static const json_int_t expected[] = {1, 10, 1, 2, 1};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(expected); i++)
		assert_int_equal(
			json_integer_value(of_step(&made, i, "max_attempts")), expected[i]);
}

/* Case 121. */
TEST(what_a_model_says_of_results_is_not_taken)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'plan_id':'mine','status':'done','created_utc':'x','steps':[{'id':'a',"
			"'status':'done','result':{'ok':true},'result_ref':{'sha256':'x'},"
			"'attempts':5,'reason':'r'}],'tool_results':[{'_step_id':'a'}]}"));
	ATTEMPT_AUTO struct attempt without = taken(attempt("{'steps':[{'id':'a'}]}"));

	assert_string_equal(made.plan.plan_id, without.plan.plan_id);
	assert_true(json_equal(made.plan.parts, without.plan.parts));
}

/* A document in a model's reply does not restore a plan. */
TEST(a_document_is_a_plan_only_when_it_is_imported)
{
	assert_refusal(attempt("{'schema_version':1,'plan':{'steps':[]}}"), -EINVAL,
		"expected an object with 'steps' or 'tool_calls', got an object without them",
		"{'code':'UNSUPPORTED_PLAN_FORMAT','type':'object'}");
}

/* --- dependencies --- */

TEST(dependencies_have_several_forms)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt(
		"{'steps':[{'id':1},{'id':'b','depends_on':null},{'depends_on':1},"
		"{'depends_on':' b '},{'depends_on':['b',1,'b','1',' b']},{'depends_on':[]}]}"));

	assert_json_is(json_incref(of_step(&made, 1, "depends_on")), "[]");
	assert_json_is(json_incref(of_step(&made, 2, "depends_on")), "['1']");
	assert_json_is(json_incref(of_step(&made, 3, "depends_on")), "['b']");
	assert_json_is(json_incref(of_step(&made, 4, "depends_on")), "['b','1']");
	assert_json_is(json_incref(json_object_get(normalized_part(&made, 0), "next")), "[2,4]");
	assert_int_equal(
		json_integer_value(json_object_get(normalized_part(&made, 4), "waiting")), 2);
	assert_null(json_object_get(normalized_part(&made, 5), "next"));
	assert_stays(&made, "look around");
}

TEST(a_step_may_depend_on_a_later_one)
{
	ATTEMPT_AUTO struct attempt made =
		taken(attempt("{'steps':[{'id':'a','depends_on':['b']},{'id':'b'}]}"));

	assert_string_equal(text_of_step(&made, 0, "id"), "a");
	assert_json_is(json_incref(json_object_get(normalized_part(&made, 1), "next")), "[0]");
}

/* Case 119. */
TEST(a_dependency_on_nothing_is_refused)
{
	assert_refusal(attempt("{'steps':[{'id':'a'},{'id':'b','depends_on':['a','c d']}]}"),
		-EINVAL, "step 'b': 'depends_on': unknown step 'c d'",
		"{'code':'UNKNOWN_DEPENDENCY','dependency':'c d','index':1,'step':'b'}");
	assert_refusal(attempt("{'steps':[{'depends_on':['']}]}"), -EINVAL,
		"step 's1': 'depends_on': unknown step ''",
		"{'code':'UNKNOWN_DEPENDENCY','dependency':'','index':0,'step':'s1'}");
}

TEST(dependencies_of_another_form_are_refused)
{
	assert_refusal(attempt("{'steps':[{'depends_on':{'a':1}}]}"), -EINVAL,
		"step 's1': 'depends_on': expected an array of ids of steps, got an object",
		"{'code':'INVALID_DEPENDENCIES','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{'depends_on':true}]}"), -EINVAL,
		"step 's1': 'depends_on': expected an array of ids of steps, got a boolean",
		"{'code':'INVALID_DEPENDENCIES','index':0,'step':'s1'}");
	assert_refusal(attempt("{'steps':[{},{'depends_on':['s1',['s1']]}]}"), -EINVAL,
		"step 's2': 'depends_on': expected ids of steps, got an array",
		"{'code':'INVALID_DEPENDENCIES','index':1,'step':'s2'}");
}

/* Case 120. */
TEST(cycles_are_refused_and_printed)
{
	assert_refusal(attempt("{'steps':[{'id':'a','depends_on':'a'}]}"), -EINVAL,
		"step 'a': 'depends_on': it depends on itself: a -> a",
		"{'code':'SELF_DEPENDENCY','index':0,'step':'a'}");
	assert_refusal(attempt("{'steps':[{'id':'a','depends_on':'b'},{'id':'b',"
			       "'depends_on':'a'}]}"),
		-EINVAL, "step 'a': steps depend on one another: a -> b -> a",
		"{'code':'CYCLE','cycle':['a','b','a'],'index':0,'length':2,'step':'a'}");
	assert_refusal(attempt("{'steps':[{'id':'x'},{'id':'y','depends_on':['x','z']},"
			       "{'id':'z','depends_on':'w'},{'id':'w','depends_on':['x','z']}]}"),
		-EINVAL, "step 'z': steps depend on one another: z -> w -> z",
		"{'code':'CYCLE','cycle':['z','w','z'],'index':2,'length':2,'step':'z'}");
}

/* --- placeholders --- */

TEST(steps_that_placeholders_name_are_told)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'steps':[{'id':'a','tool':'x'},{'id':'a.b','tool':'x'},"
			"{'tool':{'name':'x','args':{'p':['${a.b.c}',{'q':'${a.x} ${nobody}'}]}}},"
			"{'prompt':'${s3}','title':'${a}'},{'type':'note','prompt':'${a}'}]}"));

	assert_json_is(
		json_incref(json_object_get(normalized_part(&made, 2), "refs")), "{'a':0,'a.b':1}");
	assert_json_is(json_incref(json_object_get(normalized_part(&made, 3), "refs")), "{'s3':2}");
	assert_null(json_object_get(normalized_part(&made, 4), "refs"));
}
