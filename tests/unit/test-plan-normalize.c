/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that are made of texts. */
#include "tests/fixture/normalize.h"

#include "agents/plan/placeholder.h"

enum { DEEP = 1000000 };

/* --- the form of steps --- */

TEST(a_step_has_the_form_that_plan_json_shows)
{
	ATTEMPT_AUTO struct attempt made = taken(
		attempt("{'goal':' fruit ','steps':[{'id':'a','title':'List','type':'tool','tool':"
			"{'name':' fs_ls ','args':{'path':'/'}},'max_attempts':3},"
			"{'id':'b','type':'llm','prompt':'What is ${a.0}?','depends_on':['a']}]}"));

	assert_json_is(json_incref(made.plan.parts),
		"[{'next':[1],'step':{'attempts':0,'depends_on':[],'id':'a','max_attempts':3,"
		"'prompt':null,'result_ref':null,'status':'pending','title':'List','tool':"
		"{'args':{'path':'/'},'method':'','name':'fs_ls'},'type':'tool'},'waiting':0},"
		"{'refs':{'a':0},'step':{'attempts':0,'depends_on':['a'],'id':'b',"
		"'max_attempts':1,'prompt':'What is ${a.0}?','result_ref':null,"
		"'status':'pending','title':'step-2','tool':null,'type':'llm'},'waiting':1}]");
	assert_string_equal(json_string_value(made.plan.goal), "fruit");
	assert_int_equal(strlen(made.plan.plan_id), 32);
	assert_false(made.plan.in_order);
	assert_false(made.plan.restored);
	assert_null(made.plan.draft);
	assert_stays(&made, NULL);
}

TEST(arguments_beside_the_tool_are_those_of_the_tool)
{
	ATTEMPT_AUTO struct attempt made =
		taken(attempt("{'steps':[{'tool':'fs_ls','args':{'path':'/"
			      "'}},{'tool':{'name':'file'},'method':'ls',"
			      "'arguments':'{\\'path\\':1}'}]}"));

	assert_json_is(json_incref(json_object_get(
			       json_object_get(normalized_part(&made, 0), "step"), "tool")),
		"{'args':{'path':'/'},'method':'','name':'fs_ls'}");
	assert_json_is(json_incref(json_object_get(
			       json_object_get(normalized_part(&made, 1), "step"), "tool")),
		"{'args':{'path':1},'method':'ls','name':'file'}");
	assert_refusal(attempt("{'steps':[{'id':'a','tool':{'name':'x','args':{}},'args':{}}]}"),
		-EINVAL, "step 'a': 'args': expected once, got them in 'tool' and beside it",
		"{'code':'INVALID_STEP','index':0,'step':'a'}");
}

TEST(a_step_that_says_otherwise_what_to_do_is_refused)
{
	assert_refusal(attempt("{'steps':[{'id':'a','title':'t','action':'x'}]}"), -EINVAL,
		"step 'a': expected 'tool' {name, method?, args} or 'prompt', or 'type' note, got "
		"'action'",
		"{'code':'INVALID_STEP','index':0,'step':'a'}");
	ATTEMPT_AUTO struct attempt note =
		taken(attempt("{'steps':[{'type':'note','action':'x'},{'title':'t','description':'"
			      "d','x':null}]}"));
	assert_string_equal(text_of_step(&note, 1, "type"), "note");
}

/* Case 116. */
TEST(the_same_text_gives_the_same_plan)
{
	static const char text[] = "{'steps':[{'type':'note'},{'depends_on':'s1','tool':'x'}]}";

	ATTEMPT_AUTO struct attempt one = taken(attempt(text));
	ATTEMPT_AUTO struct attempt other = taken(attempt(text));

	assert_string_equal(one.plan.plan_id, other.plan.plan_id);
	assert_true(json_equal(one.plan.parts, other.plan.parts));
}

TEST(the_id_is_that_of_the_definitions)
{
	WFS_AUTO_FREE char *text = json_text(
		"{'chat_id':'" CHAT_ID "','goal':'look around','steps':[{'attempts':0,"
		"'depends_on':[],'id':'s1','max_attempts':1,'prompt':null,'result_ref':null,"
		"'status':'pending','title':'step-1','tool':null,'type':'note'}]}");
	char hex[WFS_HASH_HEX_SIZE + 1];
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));

	ATTEMPT_AUTO struct attempt made = taken(attempt("{'steps':[{}]}"));

	wfs_hash_hex(&hash, hex);
	assert_memory_equal(made.plan.plan_id, hex, WFS_PLAN_ID_SIZE);
	assert_int_equal(made.plan.plan_id[WFS_PLAN_ID_SIZE], '\0');
}

static void assert_other_id(const struct attempt *one, struct attempt other)
{
	ATTEMPT_AUTO struct attempt owned = other;

	assert_string_not_equal(one->plan.plan_id, owned.plan.plan_id);
}

/* Case 126. */
TEST(another_chat_goal_or_step_gives_another_id)
{
	static const char text[] = "{'steps':[{'id':'a'}]}";
	const struct wfs_plan_origin chat = {.chat_id = "alice+default.4", .goal = "look around"};

	ATTEMPT_AUTO struct attempt one = taken(attempt(text));

	assert_other_id(&one, taken(attempt_as(&chat, text)));
	assert_other_id(&one, taken(attempt("{'goal':'g','steps':[{'id':'a'}]}")));
	assert_other_id(&one, taken(attempt("{'steps':[{'id':'b'}]}")));
	assert_other_id(&one, taken(attempt("{'steps':[{'id':'a','max_attempts':2}]}")));
}

/* @last: the id of the last of so many steps that their first 2,000 characters do not contain it */
static struct attempt long_plan(const char *last)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'steps':[");
	while (text.size < 4000)
		wfs_buffer_append_text(&text, "{'title':'the same'},");
	wfs_buffer_printf(&text, "{'id':'%s'}]}", last);
	return taken(attempt(wfs_buffer_text(&text)));
}

/* Case 125. */
TEST(plans_that_begin_alike_have_other_ids)
{
	ATTEMPT_AUTO struct attempt one = long_plan("x");

	assert_other_id(&one, long_plan("y"));
}

/* --- calls --- */

/* Case 127. */
TEST(calls_become_steps_in_order_and_final_is_kept)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt(
		"{'tool_calls':[{'name':'file','method':'ls','args':{'p':1}},{'name':'ping'}],"
		"'final':' F '}"));
	size_t count;

	assert_string_equal(text_of_step(&made, 0, "id"), "s1");
	assert_string_equal(text_of_step(&made, 0, "title"), "Tool: file.ls");
	assert_string_equal(text_of_step(&made, 0, "type"), "tool");
	assert_json_is(json_incref(of_step(&made, 0, "tool")),
		"{'args':{'p':1},'method':'ls','name':'file'}");
	assert_json_is(json_incref(of_step(&made, 1, "depends_on")), "[]");
	assert_string_equal(text_of_step(&made, 1, "id"), "s2");
	assert_string_equal(text_of_step(&made, 1, "title"), "Tool: ping");
	assert_string_equal(json_string_value(made.plan.draft), "F");
	assert_true(made.plan.in_order);
	assert_stays(&made, "look around");
	WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, 0, &count);
	assert_true(json_is_true(json_object_get(payload, "in_order")));
	assert_int_equal(json_integer_value(json_object_get(payload, "max_concurrency")), 1);
	assert_string_equal(wfs_json_text(payload, "draft"), "F");
}

/* Checks the tool call of a plan with one call. */
static void assert_call(const char *call, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "{'tool_calls':[%s]}", call);
	ATTEMPT_AUTO struct attempt made = taken(attempt(wfs_buffer_text(&text)));
	assert_json_is(json_incref(of_step(&made, 0, "tool")), expected);
	assert_stays(&made, "look around");
}

TEST(calls_of_servers_are_understood)
{
	assert_call("{'id':'call_1','type':'function','function':{'name':'a',"
		    "'arguments':'{\\'x\\':[1]}'}}",
		"{'args':{'x':[1]},'method':'','name':'a'}");
	assert_call("{'name':'a','arguments':{'x':1}}", "{'args':{'x':1},'method':'','name':'a'}");
	assert_call("{'name':'a','arguments':' {} '}", "{'args':{},'method':'','name':'a'}");
	assert_call("{'name':'a','arguments':''}", "{'args':{},'method':'','name':'a'}");
	assert_call("{'name':'a','args':null,'arguments':null,'method':null}",
		"{'args':{},'method':'','name':'a'}");
}

TEST(arguments_that_are_no_object_are_left_to_the_router)
{
	assert_call("{'name':'a','args':[1]}", "{'args':[1],'method':'','name':'a'}");
	assert_call("{'name':'a','args':'{}'}", "{'args':'{}','method':'','name':'a'}");
	assert_call("{'name':'a','arguments':'x y'}", "{'args':'x y','method':'','name':'a'}");
	assert_call("{'name':'a','arguments':'[1]'}", "{'args':'[1]','method':'','name':'a'}");
}

TEST(steps_count_more_than_calls_unless_there_are_none)
{
	ATTEMPT_AUTO struct attempt steps =
		taken(attempt("{'steps':[{'id':'x'}],'tool_calls':[{'name':'a'}],'final':'D'}"));
	ATTEMPT_AUTO struct attempt calls =
		taken(attempt("{'steps':[],'tool_calls':[{'name':'a'}]}"));
	ATTEMPT_AUTO struct attempt null = taken(attempt("{'steps':null,'tool_calls':[]}"));

	assert_string_equal(text_of_step(&steps, 0, "id"), "x");
	assert_string_equal(json_string_value(steps.plan.draft), "D");
	assert_false(steps.plan.in_order);
	assert_true(calls.plan.in_order);
	assert_int_equal(json_array_size(null.plan.parts), 0);
}

/* --- what is refused as a whole --- */

TEST(what_is_no_plan_is_refused)
{
	assert_refusal(attempt("[]"), -EINVAL,
		"expected an object with 'steps' or 'tool_calls', got an array",
		"{'code':'UNSUPPORTED_PLAN_FORMAT','type':'array'}");
	assert_refusal(attempt("{'goal':'g'}"), -EINVAL,
		"expected an object with 'steps' or 'tool_calls', got an object without them",
		"{'code':'UNSUPPORTED_PLAN_FORMAT','type':'object'}");
	assert_refusal(attempt("null"), -EINVAL,
		"expected an object with 'steps' or 'tool_calls', got null",
		"{'code':'UNSUPPORTED_PLAN_FORMAT','type':'null'}");
	assert_refusal(attempt("{'steps':"), -EINVAL,
		"line 1 column 9: unexpected token near end of file", "{'code':'INVALID_JSON'}");
	assert_refusal(attempt("{'steps':[],'steps':[]}"), -EINVAL,
		"line 1 column 19: duplicate object key near '\"steps\"'",
		"{'code':'INVALID_JSON'}");
	assert_refusal(attempt("{'steps':{}}"), -EINVAL,
		"'steps': expected an array of steps, got an object", "{'code':'INVALID_STEPS'}");
	assert_refusal(attempt("{'tool_calls':7}"), -EINVAL,
		"'tool_calls': expected an array of steps, got an integer",
		"{'code':'INVALID_STEPS'}");
	assert_refusal(attempt("{'steps':[{},'x']}"), -EINVAL,
		"steps[1]: expected an object, got a text", "{'code':'INVALID_STEP','index':1}");
	assert_refusal(attempt("{'tool_calls':[null]}"), -EINVAL,
		"tool_calls[0]: expected an object, got null", "{'code':'INVALID_STEP','index':0}");
}

/* Makes a plan that has @text again and again, with commas between. */
static struct attempt repeated(
	const char *before, const char *text, size_t count, const char *after)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID};
	WFS_AUTO_BUFFER struct wfs_buffer all = {0};

	wfs_buffer_append_text(&all, before);
	for (size_t i = 0; i < count; i++)
		wfs_buffer_printf(&all, "%s%s", i > 0 ? "," : "", text);
	wfs_buffer_append_text(&all, after);
	return attempt_bytes(&origin, wfs_buffer_bytes(&all));
}

/* Case 115. */
TEST(a_hundred_thousand_steps_are_taken_and_one_more_is_not)
{
	ATTEMPT_AUTO struct attempt most = taken(repeated("{\"steps\":[", "{}", 100000, "]}"));

	assert_int_equal(json_array_size(most.plan.parts), 100000);
	assert_refusal(repeated("{\"steps\":[", "{}", 100001, "]}"), -EFBIG,
		"'steps': expected at most 100000, got 100001",
		"{'code':'TOO_MANY_STEPS','got':100001,'max':100000}");
	assert_refusal(repeated("{\"tool_calls\":[", "{}", 100001, "]}"), -EFBIG,
		"'tool_calls': expected at most 100000, got 100001",
		"{'code':'TOO_MANY_STEPS','got':100001,'max':100000}");
}

TEST(too_many_values_are_refused_before_they_are_made)
{
	assert_refusal(repeated("{\"steps\":[[", "1", WFS_PLAN_VALUES_MAX, "]]}"), -EFBIG,
		"the plan has 4000003 values of JSON, at most 4000000 are taken",
		"{'code':'TOO_MANY_VALUES','got':4000003,'max':4000000}");
}

TEST(values_of_arguments_in_texts_count_too)
{
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	WFS_AUTO_BUFFER struct wfs_buffer call = {0};

	for (int i = 0; i < 300000; i++)
		wfs_buffer_append_text(&arguments, "1,");
	wfs_buffer_printf(
		&call, "{\"name\":\"a\",\"arguments\":\"[%s1]\"}", wfs_buffer_text(&arguments));

	assert_refusal(repeated("{\"tool_calls\":[", wfs_buffer_text(&call), 14, "]}"), -EFBIG,
		"step 's14': with its arguments the plan has more than 4000000 values of JSON",
		"{'code':'TOO_MANY_VALUES','index':13,'step':'s14'}");
}

TEST(a_step_that_is_too_large_is_refused)
{
	assert_refusal(repeated("{\"steps\":[{\"id\":\"a\",\"tool\":{\"name\":\"x\",\"args\":[",
			       "1", WFS_PLAN_STEP_VALUES_MAX, "]}}]}"),
		-EFBIG,
		"step 'a': it has 1000200 bytes and 500016 values of JSON, at most 8388608 and "
		"500000 are taken",
		"{'code':'TOO_LARGE_STEP','index':0,'step':'a'}");
}

TEST(deep_nesting_is_refused)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{\"steps\":");
	for (int i = 0; i < DEEP; i++)
		wfs_buffer_append_byte(&text, '[');

	assert_refusal(attempt_bytes(&origin, wfs_buffer_bytes(&text)), -EINVAL,
		"line 1 column 2057: nested too deeply, the greatest depth is 128 levels",
		"{'code':'INVALID_JSON'}");
}

/* @depth: the levels of the only step's arguments */
static struct attempt with_depth(int depth)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'steps':[{'tool':{'name':'x','args':");
	for (int i = 0; i < depth; i++)
		wfs_buffer_append_byte(&text, '[');
	for (int i = 0; i < depth; i++)
		wfs_buffer_append_byte(&text, ']');
	wfs_buffer_append_text(&text, "}}]}");
	return attempt(wfs_buffer_text(&text));
}

/* The record adds levels of its own around the arguments. */
TEST(arguments_leave_room_for_the_levels_of_a_record)
{
	ATTEMPT_AUTO struct attempt deepest = taken(with_depth(WFS_PLACEHOLDER_DEPTH_MAX));

	assert_stays(&deepest, "look around");
	assert_refusal(with_depth(WFS_PLACEHOLDER_DEPTH_MAX + 1), -EINVAL,
		"step 's1': 'args': expected at most 100 levels",
		"{'code':'INVALID_STEP','index':0,'step':'s1'}");
}

/* --- large plans --- */

enum shape { CHAIN, WIDE, ROOT, SINK };

/* A plan of @count steps; @cycle: the first depends on the last. */
static struct attempt large(enum shape shape, size_t count, bool cycle)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{\"steps\":[");
	for (size_t i = 0; i < count; i++) {
		wfs_buffer_printf(&text, "%s{\"id\":\"n%zu\",\"depends_on\":[", i ? "," : "", i);
		if (cycle && i == 0)
			wfs_buffer_printf(&text, "\"n%zu\"", count - 1);
		if (shape == CHAIN && i > 0)
			wfs_buffer_printf(&text, "\"n%zu\"", i - 1);
		if (shape == ROOT && i > 0)
			wfs_buffer_append_text(&text, "\"n0\"");
		for (size_t j = 0; shape == SINK && i + 1 == count && j < i; j++)
			wfs_buffer_printf(&text, "%s\"n%zu\"", j ? "," : "", j);
		wfs_buffer_append_text(&text, "]}");
	}
	wfs_buffer_append_text(&text, "]}");
	return attempt_bytes(&origin, wfs_buffer_bytes(&text));
}

static size_t next_count(const struct attempt *made, size_t index)
{
	return json_array_size(json_object_get(normalized_part(made, index), "next"));
}

static json_int_t waiting(const struct attempt *made, size_t index)
{
	return json_integer_value(json_object_get(normalized_part(made, index), "waiting"));
}

static void assert_chain(size_t count)
{
	ATTEMPT_AUTO struct attempt made = taken(large(CHAIN, count, false));

	assert_int_equal(json_array_size(made.plan.parts), count);
	for (size_t i = 0; i < count; i++) {
		const json_t *const next = json_object_get(normalized_part(&made, i), "next");

		assert_int_equal(waiting(&made, i), i > 0);
		assert_int_equal(json_array_size(next), i + 1 < count);
		if (i + 1 < count)
			assert_int_equal(json_integer_value(json_array_get(next, 0)), i + 1);
	}
	assert_stays(&made, NULL);
}

TEST(a_long_chain_is_a_plan)
{
	assert_chain(100000);
}

static void assert_wide(size_t count)
{
	ATTEMPT_AUTO struct attempt made = taken(large(WIDE, count, false));

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(waiting(&made, i), 0);
		assert_int_equal(next_count(&made, i), 0);
	}
}

TEST(a_wide_plan_is_a_plan)
{
	assert_wide(10000);
}

TEST(a_star_is_a_plan)
{
	ATTEMPT_AUTO struct attempt root = taken(large(ROOT, 100000, false));
	ATTEMPT_AUTO struct attempt sink = taken(large(SINK, 10000, false));

	assert_int_equal(next_count(&root, 0), 99999);
	assert_int_equal(waiting(&root, 0), 0);
	assert_int_equal(waiting(&root, 99999), 1);
	assert_int_equal(waiting(&sink, 9999), 9999);
	assert_int_equal(next_count(&sink, 5), 1);
}

TEST(a_long_cycle_is_told_in_part)
{
	ATTEMPT_AUTO struct attempt made = large(CHAIN, 100000, true);
	const json_t *const cycle = json_object_get(made.details, "cycle");

	assert_int_equal(made.status, -EINVAL);
	assert_int_equal(json_integer_value(json_object_get(made.details, "length")), 100000);
	assert_int_equal(json_array_size(cycle), WFS_PLAN_CYCLE_SHOWN_MAX + 1);
	assert_string_equal(json_string_value(json_array_get(cycle, 0)), "n0");
	assert_string_equal(json_string_value(json_array_get(cycle, 1)), "n99999");
	assert_string_equal(json_string_value(json_array_get(cycle, 100)), "n0");
}

/* The search for free ids goes through a row of taken ids; each step has a row of its own. */
TEST(ids_that_are_all_taken_cost_no_more)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{\"steps\":[{},{\"id\":\"s1\"}");
	for (int i = 2; i < 50000; i++)
		wfs_buffer_printf(&text, ",{\"id\":\"s1-%d\"}", i);
	wfs_buffer_append_text(&text, "]}");
	ATTEMPT_AUTO struct attempt made = taken(attempt_bytes(&origin, wfs_buffer_bytes(&text)));

	assert_string_equal(text_of_step(&made, 0, "id"), "s1-50000");
}

/* --- parts --- */

TEST(parts_have_a_thousand_steps)
{
	ATTEMPT_AUTO struct attempt made = taken(large(CHAIN, 2500, false));
	static const size_t expected[] = {1000, 1000, 500};
	size_t offset = 0;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(expected); i++) {
		size_t count = 0;
		WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, offset, &count);
		const json_t *const steps = json_object_get(payload, "steps");

		assert_int_equal(count, expected[i]);
		assert_int_equal(json_array_size(steps), count);
		assert_ptr_equal(json_array_get(steps, 0), normalized_part(&made, offset));
		assert_int_equal(json_integer_value(json_object_get(payload, "offset")), offset);
		assert_int_equal(json_integer_value(json_object_get(payload, "total")), 2500);
		assert_string_equal(wfs_json_text(payload, "plan_id"), made.plan.plan_id);
		assert_non_null(json_object_get(payload, "goal"));
		assert_null(json_object_get(payload, "counts"));
		offset += count;
	}
}

/* A receipt holds as many steps as fit, and is never larger than a receipt may be. */
TEST(parts_are_bounded_in_bytes_and_values)
{
	WFS_AUTO_BUFFER struct wfs_buffer step = {0};
	size_t offset = 0;
	size_t part_count = 0;
	size_t count;

	wfs_buffer_append_text(&step, "{\"tool\":{\"name\":\"x\",\"args\":\"");
	while (step.size < 100000)
		wfs_buffer_append_text(&step, "0123456789");
	wfs_buffer_append_text(&step, "\"}}");
	ATTEMPT_AUTO struct attempt made =
		taken(repeated("{\"steps\":[", wfs_buffer_text(&step), 100, "]}"));

	for (; offset < 100; offset += count, part_count++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};
		WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, offset, &count);

		wfs_json_write(payload, &text);
		assert_true(count > 0 && text.size < WFS_PLAN_PART_SIZE + 1000);
	}
	assert_int_equal(part_count, 3);
}

TEST(a_step_with_many_dependents_has_a_part_of_few)
{
	ATTEMPT_AUTO struct attempt made = taken(large(ROOT, 100000, false));
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	size_t count = 0;

	WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, 0, &count);

	wfs_json_write(payload, &text);
	assert_int_equal(count, 1000);
	assert_true(wfs_json_count(text.data, text.size) <= WFS_PLAN_PART_VALUES + 10);
}

TEST(a_step_that_is_larger_than_a_part_comes_alone)
{
	static const char small[] = "{\"tool\":{\"name\":\"x\",\"args\":[";
	WFS_AUTO_BUFFER struct wfs_buffer step = {0};
	size_t count = 0;

	wfs_buffer_append_text(&step, small);
	for (int i = 0; i < WFS_PLAN_PART_VALUES; i++)
		wfs_buffer_append_text(&step, "1,");
	wfs_buffer_append_text(&step, "1]}}");
	ATTEMPT_AUTO struct attempt made =
		taken(repeated("{\"steps\":[{},", wfs_buffer_text(&step), 2, ",{}]}"));

	for (size_t offset = 0; offset < 4; offset++) {
		json_decref(wfs_plan_payload(&made.plan, offset, &count));
		assert_int_equal(count, 1);
	}
}

TEST(a_plan_without_steps_has_one_part)
{
	ATTEMPT_AUTO struct attempt made = taken(attempt("{'steps':[],'final':'F'}"));
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	size_t count = 1;

	wfs_buffer_printf(&expected,
		"{'draft':'F','goal':'look around','offset':0,'plan_id':'%s','steps':[],'total':0}",
		made.plan.plan_id);
	assert_json_is(wfs_plan_payload(&made.plan, 0, &count), wfs_buffer_text(&expected));
	assert_int_equal(count, 0);
}

TEST(what_a_plan_begins_with_is_in_its_first_part)
{
	size_t count;

	ATTEMPT_AUTO struct attempt made = taken(
		repeated("{\"final\":\"F\",\"tool_calls\":[", "{\"name\":\"x\"}", 1001, "]}"));
	WFS_AUTO_JSON json_t *second = wfs_plan_payload(&made.plan, 1000, &count);

	assert_int_equal(count, 1);
	assert_null(json_object_get(second, "draft"));
	assert_null(json_object_get(second, "in_order"));
}

/* --- ids of plans that are none --- */

TEST(a_plan_that_is_refused_has_an_id_of_its_own)
{
	const struct wfs_plan_origin one = {.chat_id = "a.1"};
	const struct wfs_plan_origin other = {.chat_id = "a.2"};
	char ids[4][WFS_PLAN_ID_SIZE + 1];

	wfs_plan_failed_id(&one, "{x", 2, ids[0]);
	wfs_plan_failed_id(&one, "{x", 2, ids[1]);
	wfs_plan_failed_id(&one, "{y", 2, ids[2]);
	wfs_plan_failed_id(&other, "{x", 2, ids[3]);

	assert_int_equal(strlen(ids[0]), WFS_PLAN_ID_SIZE);
	assert_string_equal(ids[0], ids[1]);
	assert_string_not_equal(ids[0], ids[2]);
	assert_string_not_equal(ids[0], ids[3]);
}

TEST(a_plan_that_was_never_made_is_released)
{
	struct wfs_plan_made plan = {0};

	wfs_plan_made_done(&plan);
}

/* --- whatever is written --- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

/* Changes, removes or doubles bytes in a few places. */
static void mutate(struct wfs_buffer *text, uint32_t *seed)
{
	static const char bytes[] = "{}[]\",:0 -.eas1n\\$\x01\xc3";

	for (uint32_t i = next_random(seed) % 4 + 1; i > 0; i--) {
		const size_t at = next_random(seed) % text->size;
		const size_t left = text->size - at;
		const size_t size = next_random(seed) % (left < 20 ? left : 20);

		switch (next_random(seed) % 3) {
		case 0:
			text->data[at] = bytes[next_random(seed) % (sizeof(bytes) - 1)];
			break;
		case 1:
			memmove(text->data + at, text->data + at + size, left - size);
			text->size -= size;
			break;
		default:
			if (wfs_buffer_reserve(text, size) < 0)
				fail();
			memmove(text->data + at + size, text->data + at, left);
			text->size += size;
			break;
		}
	}
}

/* Tries @text as a plan. If it is accepted, making a plan of it again must change nothing;
 * otherwise the refusal must have a reason. Return: was it accepted? */
static bool survive(struct wfs_bytes text, bool imported)
{
	const struct wfs_plan_origin origin = {
		.chat_id = CHAT_ID, .goal = "look around", .imported = imported};
	ATTEMPT_AUTO struct attempt made = attempt_bytes(&origin, text);

	if (made.status == 0 && !imported)
		assert_stays(&made, "look around");
	if (made.status < 0) {
		assert_true(made.status == -EINVAL || made.status == -EFBIG);
		assert_true(*made.error.message && *wfs_json_text(made.details, "code"));
	}
	return made.status == 0;
}

TEST(mutated_plans_are_taken_or_refused)
{
	static const char *const plans[] = {
		"{'goal':'g','steps':[{'id':'a','tool':{'name':'x','args':{'p':'${b.1}'}}},"
		"{'id':'b','depends_on':['a'],'prompt':'say ${a}','max_attempts':2},"
		"{'type':'note','title':'end','depends_on':['a','b']}]}",
		"{'tool_calls':[{'name':'a','method':'m','args':{}},"
		"{'function':{'name':'b','arguments':'{\\'x\\':1}'}}],'final':'F'}",
		"{'schema_version':1,'plan_id':'p1','goal':'g','created_utc':"
		"'2026-11-21T20:46:37Z','updated_utc':'2026-11-21T20:46:37Z','status':'done',"
		"'plan':{'steps':[{'id':'a','tool':'x','status':'done'},{'id':'b','status':"
		"'done','depends_on':'a'}]},'tool_results':[{'_step_id':'a','ok':true}]}",
	};
	uint32_t seed = 11;
	size_t taken_count = 0;

	for (int round = 0; round < 30000; round++) {
		WFS_AUTO_FREE char *plan = json_text(plans[round % WFS_ARRAY_COUNT(plans)]);
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_buffer_append_text(&text, plan);
		mutate(&text, &seed);
		taken_count += survive(wfs_buffer_bytes(&text), round % 3 == 2);
	}
	assert_true(taken_count > 1000);
}
