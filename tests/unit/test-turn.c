/* SPDX-License-Identifier: Apache-2.0 */
/* Turns as they are folded. Numbers in comments: the cases of research/agent-kernel.md, part 4. */
#include "tests/fixture/turn.h"

#define ONE_TURN "ModelRequest ModelResponse TurnComplete"
#define TOOL_TURN "ModelRequest ModelResponse ToolCall ToolResult TurnComplete"

/* 1, 16, 18: a model that answers at once. */
WITH_ACTORS(an_answer_without_calls_ends_the_run)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	turn_says(&run, SAYS("hi"));

	assert_ended(&run, "no_tool_calls");
	assert_events(&run, "KernelStart " ONE_TURN " KernelEnd");
	assert_turn(&run, "sys.message", ".2", "{'content':'hi','role':'assistant'}");
	assert_event(&run, 0,
		"{'initial_messages_count':2,'max_turns':3,'tools_count':4,"
		"'agent':'alice','event_seq':0,'type':'KernelStart'}");
	assert_event(&run, 1, "{'messages_count':2,'model':'m','tools_count':4,'turn':1}");
	assert_event(&run, 2,
		"{'content':'hi','duration_ms':7,'tool_calls_count':0,'turn':1,"
		"'usage':null}");
	assert_event(&run, 4, "{'termination_reason':'no_tool_calls','turn_count':1}");
}

/* 2, 17, 65: a call, then an answer. */
WITH_ACTORS(a_call_is_made_and_told_to_the_model)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("call_x", "look", "{}")));
	turn_gives(&run, 0, "a file");
	turn_says(&run, SAYS("done"));

	assert_ended(&run, "no_tool_calls");
	assert_events(&run, "KernelStart " TOOL_TURN " " ONE_TURN " KernelEnd");
	assert_turn(&run, "sys.message", ".2",
		"{'content':null,'role':'assistant','tool_call_count':1,'turn':1}");
	assert_turn(&run, "sys.tool_call", ".1.0",
		"{'arguments':'{}','duration_ms':3,'id':'call_x','is_error':false,'name':'look',"
		"'output':'a file','output_size':6,'status':'done'}");
	assert_turn(&run, "sys.message", ".3", "{'content':'done','role':'assistant'}");
	assert_event(&run, 5, "{'tool_calls_count':1,'tool_results_count':1,'errors_count':0}");
	assert_event(&run, 6, "{'messages_count':4,'turn':2}");
}

/* 3, 6: the last turn that it may have made calls. */
WITH_ACTORS(a_run_has_its_turns_and_no_more)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("2", "{}", TURN_ASK));

	for (int i = 0; i < 2; i++) {
		turn_says(&run, WANTS(WANTS_ONE("c", "look", "{}")));
		turn_gives(&run, 0, "x");
	}

	assert_ended(&run, "max_turns");
	assert_events(&run, "KernelStart " TOOL_TURN " " TOOL_TURN " KernelEnd");
	assert_turn(&run, "sys.turn", "", "{'last_assistant':3,'turn':2}");
}

/* 4. */
WITH_ACTORS(no_turns_are_no_requests)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("0", "{}", TURN_ASK));

	assert_ended(&run, "max_turns");
	assert_events(&run, "KernelStart KernelEnd");
	assert_event(&run, 1, "{'turn_count':0}");
}

/* 7: text beside calls is kept. */
WITH_ACTORS(text_beside_calls_is_kept)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		"{'content':'I look','duration_ms':1,'finish_reason':'tool_calls',"
		"'tool_calls':[" WANTS_ONE("c", "look", "") "],'usage':null}");

	assert_turn(&run, "sys.message", ".2", "{'content':'I look','tool_call_count':1}");
	assert_event(&run, 2, "{'content':'I look','tool_calls_count':1}");
}

/* The event has the answer as it came; the history has the text and the calls. */
WITH_ACTORS(an_answer_with_calls_in_its_text_is_kept_as_it_came)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		"{'content':'Look: ','duration_ms':7,'finish_reason':'stop','native_calls_count':0,"
		"'raw_content':'Look: <function=look>{}</function>','tool_calls':[" WANTS_ONE(
			"a", "look", "{}") "],'usage':null}");
	turn_gives(&run, 0, "x");

	assert_turn(&run, "sys.message", ".2",
		"{'content':'Look: ','raw_content':'Look: <function=look>{}</function>'}");
	WFS_AUTO_JSON json_t *event = turn_event(&run, 2);
	assert_string_equal(wfs_json_text(event, "content"), "Look: <function=look>{}</function>");
}

/* 8: arguments that were cut. The calls before the last are whole. */
WITH_ACTORS(the_last_call_of_a_cut_answer_is_not_made)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		"{'content':null,'duration_ms':1,'finish_reason':'length','tool_calls':[" WANTS_ONE(
			"a", "look", "{}") "," WANTS_ONE("b", "look", "{\\\"p") "],"
										"'usage':null}");
	turn_gives(&run, 0, "x");

	assert_turn(&run, "sys.tool_call", ".1.0", "{'is_error':false}");
	WFS_AUTO_JSON json_t *call = turn_document(&run, "sys.tool_call", ".1.1");
	assert_true(json_is_true(json_object_get(call, "is_error")));
	assert_non_null(
		strstr(json_string_value(json_object_get(call, "output")), "finish_reason length"));
	assert_string_equal(json_string_value(json_object_get(call, "arguments")), "{}");
}

/* 9, and what a filter has stopped. */
WITH_ACTORS(why_an_answer_ended_is_why_the_run_ended)
{
	struct turn_run cut = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	struct turn_run filtered = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&cut,
		"{'content':'and th','duration_ms':1,'finish_reason':'length',"
		"'tool_calls':[],'usage':null}");
	turn_says(&filtered,
		"{'content':'no','duration_ms':1,'finish_reason':'content_filter',"
		"'tool_calls':[],'usage':null}");

	assert_ended(&cut, "length");
	assert_ended(&filtered, "content_filter");
}

#define USED "'usage':{'completion_tokens':5,'prompt_tokens':10,'total_tokens':15}}"

/* 11, 12: usage is summed; an answer without usage is noted. */
WITH_ACTORS(usage_is_summed)
{
	struct turn_run whole = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	struct turn_run part = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&whole,
		"{'content':null,'duration_ms':1,'finish_reason':'stop','tool_calls':[" WANTS_ONE(
			"a", "noop", "{}") "]," USED);
	assert_int_equal(turn_acts(&whole, 0, "{'action_type':'noop'}"), 0);
	turn_says(&whole,
		"{'content':'x','duration_ms':1,'finish_reason':'stop','tool_calls':[]," USED);
	turn_says(&part, WANTS(WANTS_ONE("a", "look", "{}")));
	turn_gives(&part, 0, "x");
	turn_says(&part,
		"{'content':'x','duration_ms':1,'finish_reason':'stop','tool_calls':[]," USED);

	assert_turn(&whole, "sys.turn", "",
		"{'usage':{'completion_tokens':10,'prompt_tokens':20,'total_tokens':30},"
		"'usage_incomplete':false}");
	assert_turn(&part, "sys.turn", "",
		"{'usage':{'completion_tokens':5,'prompt_tokens':10,'total_tokens':15},"
		"'usage_incomplete':true}");
	assert_state(fixture, "sys.resource", "alice",
		"{\"disk\":{\"quota\":1000,\"used\":0},\"llm_tokens\":{\"used\":45}}");
}

/* 13: the tool that ends the turn, beside others. */
WITH_ACTORS(submit_result_ends_the_run)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "submit_result", "{\\\"result\\\":[1]}") "," WANTS_ONE(
			"b", "look", "{}")));
	turn_gives(&run, 0, "x");

	assert_ended(&run, "termination_tool");
	assert_turn(&run, "sys.turn", "", "{'final':{'call':0,'result':[1]}}");
}

/* A query's answer is given as a whole, even one about an artifact, which has a member `result`. */
WITH_ACTORS(a_query_gives_all_of_its_answer)
{
	struct turn_run run = turn_begin(fixture,
		"{'action_type':'step','agent':'alice','max_turns':5,'messages':" TURN_ASK
		",'setup':{'model':'m','offered':['query_kernel'],'settings':{},'tools':"
		"[{'kind':'action','name':'query_kernel'}]}}");

	assert_done(fixture, "alice", WRITE("'artifact_id':'x','content':'c'"));
	turn_says(&run, WANTS(WANTS_ONE("c", "query_kernel", "{}")));
	assert_int_equal(turn_acts(&run, 0,
				 ACTION("query_kernel",
					 "'query_type':'artifact','params':"
					 "{'artifact_id':'x'}")),
		0);

	WFS_AUTO_JSON json_t *call = turn_document(&run, "sys.tool_call", ".1.0");
	const char *const output = json_string_value(json_object_get(call, "output"));
	WFS_AUTO_JSON json_t *told = NULL;
	assert_int_equal(wfs_json_parse(output, strlen(output), &told, NULL), 0);
	assert_true(json_is_true(json_object_get(told, "success")));
	assert_string_equal(wfs_json_text(told, "query_type"), "artifact");
	assert_string_equal(wfs_json_text(json_object_get(told, "result"), "id"), "x");
}

WITH_ACTORS(submit_result_without_one_is_an_error_that_the_model_is_told)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "submit_result", "{}")));

	assert_output(&run, ".1.0", "Tool execution failed: 'result' is missing");
	assert_turn(&run, "sys.turn", "", "{'status':'running','turn':2}");
}

/* 15: turns that run at one time. */
WITH_ACTORS(runs_do_not_mix)
{
	struct turn_run a = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	struct turn_run b = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&b, WANTS(WANTS_ONE("c", "look", "{}")));
	turn_says(&a, SAYS("from a"));
	turn_gives(&b, 0, "x");
	turn_says(&b, SAYS("from b"));

	assert_events(&a, "KernelStart " ONE_TURN " KernelEnd");
	assert_events(&b, "KernelStart " TOOL_TURN " " ONE_TURN " KernelEnd");
	assert_turn(&a, "sys.message", ".2", "{'content':'from a'}");
	assert_turn(&b, "sys.message", ".3", "{'content':'from b'}");
}

/* 19, 33: a name that no tool has. */
WITH_ACTORS(an_unknown_tool_is_told_to_the_model)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "zzz", "{}") "," WANTS_ONE("b", "look", "{}")));
	turn_gives(&run, 0, "x");

	assert_turn(
		&run, "sys.tool_call", ".1.0", "{'is_error':true,'output':'Unknown tool: zzz'}");
	assert_turn(&run, "sys.tool_call", ".1.1", "{'is_error':false}");
	assert_events(&run,
		"KernelStart ModelRequest ModelResponse ToolCall ToolResult ToolCall "
		"ToolResult TurnComplete ModelRequest");
	assert_event(&run, 7, "{'errors_count':1,'tool_calls_count':2,'tool_results_count':2}");
}

/* 21, 34, 51: a tool that is registered, but not offered. */
WITH_ACTORS(a_tool_that_is_not_offered_is_not_run)
{
	struct turn_run run = turn_begin(fixture,
		"{'action_type':'step','agent':'alice','max_turns':5,'messages':" TURN_ASK
		",'setup':{'model':'m','offered':['look'],'settings':{},'tools':" TURN_TOOLS "}}");
	struct turn_run none =
		turn_begin(fixture, TURN_STEP("5", "{'tool_choice':'none'}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}")));
	turn_says(&none, WANTS(WANTS_ONE("a", "noop", "{}")));

	assert_event(&run, 0, "{'tools_count':4}");
	assert_event(&run, 1, "{'tools_count':1}");
	assert_turn(&run, "sys.tool_call", ".1.0",
		"{'is_error':true,'output':'Tool not offered: noop'}");
	assert_turn(&none, "sys.tool_call", ".1.0",
		"{'is_error':true,'output':'Tool not offered: noop'}");
}

/* 20, 35: a tool that fails. */
WITH_ACTORS(a_tool_that_fails_is_told_and_counted)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}")));
	turn_answer_as(&run, 0, "error", "{'code':'not_found','message':'no such file'}");
	turn_gives(&run, 0, "fine");

	assert_turn(&run, "sys.tool_call", ".1.0",
		"{'is_error':true,'output':'Tool execution failed: no such file'}");
	assert_turn(&run, "sys.tool_call", ".1.1", "{'is_error':false,'output':'fine'}");
	assert_event(&run, 7, "{'errors_count':1}");
}

/* A tool that is an action: one record has its effect and the call. */
WITH_ACTORS(an_action_answers_its_call)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "write_artifact", "{\\\"artifact_id\\\":\\\"x\\\"}")));
	assert_int_equal(turn_acts(&run, 0, WRITE("'artifact_id':'x','content':'hello'")), 0);

	const uint64_t height = height_of(fixture);
	assert_turn(&run, "sys.turn", "", "{'turn':2,'status':'running'}");
	assert_turn(&run, "sys.tool_call", ".1.0", "{'is_error':false,'status':'done'}");
	WFS_AUTO_RECORD struct wfs_record_parsed own = record_at(fixture, height - 5);
	WFS_AUTO_RECORD struct wfs_record_parsed result = record_at(fixture, height - 4);
	assert_int_equal(own.record.kind, WFS_RECORD_ACTION);
	assert_string_equal(own.record.principal, "alice");
	assert_non_null(own.body.action.intent_id);
	assert_int_equal(result.record.cause, height - 5);
}

WITH_ACTORS(an_action_that_is_refused_is_told_to_the_model)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "write_artifact", "{}") "," WANTS_ONE(
			"b", "write_artifact", "{}")));
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'delete_artifact','artifact_id':'zz'}"),
		-ENOENT);
	assert_int_equal(
		turn_acts(&run, 0, WRITE("'artifact_id':'genesis_x','content':'q'")), -EACCES);

	assert_output(&run, ".1.0", "Tool execution failed: Artifact 'zz' not found");
	assert_turn(&run, "sys.tool_call", ".1.0", "{'is_error':true}");
	assert_turn(&run, "sys.turn", "", "{'turn':2}");
}

WITH_ACTORS(an_intent_is_answered_once)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	WFS_AUTO_FREE char *intent = turn_waits_for(&run, 0);
	const char *const unknown =
		"sha256:0123456789012345678901234567890123456789012345678901234567890123";

	turn_says(&run, SAYS("hi"));
	const uint64_t height = height_of(fixture);

	assert_int_equal(turn_send_receipt(&run, intent, "ok", SAYS("again")), -ESTALE);
	assert_int_equal(turn_send_receipt(&run, unknown, "ok", SAYS("again")), -ENOENT);
	assert_int_equal(height_of(fixture), height);
}

/* A character of two bytes. */
static void put_e_acute(char *at)
{
	at[0] = '\xc3';
	at[1] = '\xa9';
}

/* 23: half a character is never shown. */
WITH_ACTORS(a_preview_ends_at_a_character)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	char output[601] = "";
	char expected[201] = "";

	for (size_t i = 0; i < 600; i += 2)
		put_e_acute(output + i);
	memcpy(expected, output, 200);
	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
	turn_gives(&run, 0, output);

	WFS_AUTO_JSON json_t *event = turn_event(&run, 4);
	assert_string_equal(json_string_value(json_object_get(event, "output_preview")), expected);
}

/* 40: ten megabytes. */
WITH_ACTORS(a_long_output_is_cut_at_a_character)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	const size_t size = 10 << 20;
	WFS_AUTO_FREE char *output = malloc(size + 2);

	assert_non_null(output);
	output[0] = 'x';
	for (size_t i = 1; i + 1 < size; i += 2)
		put_e_acute(output + i);
	output[size - 1] = '\0';
	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
	turn_gives(&run, 0, output);

	WFS_AUTO_JSON json_t *call = turn_document(&run, "sys.tool_call", ".1.0");
	const char *const kept = json_string_value(json_object_get(call, "output"));
	assert_non_null(strstr(kept, "\n[cut: the first 65535 of 10485759 bytes]"));
	assert_true(strlen(kept) < WFS_TURN_OUTPUT_MAX + 100);
	assert_int_equal(json_integer_value(json_object_get(call, "output_size")), size - 1);
}

/* 39: an empty output is "". */
WITH_ACTORS(an_output_may_be_empty)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
	turn_gives(&run, 0, "");

	assert_turn(&run, "sys.tool_call", ".1.0", "{'output':'','is_error':false}");
	assert_event(&run, 4, "{'output_preview':''}");
}

/* 41, 69: ids. */
WITH_ACTORS(each_call_has_an_id_of_its_own)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE(
			"a", "look", "{}") ",{'name':'look'}"));
	for (int i = 0; i < 3; i++)
		turn_gives(&run, 0, "x");

	WFS_AUTO_JSON json_t *first = turn_document(&run, "sys.tool_call", ".1.0");
	WFS_AUTO_JSON json_t *second = turn_document(&run, "sys.tool_call", ".1.1");
	WFS_AUTO_JSON json_t *third = turn_document(&run, "sys.tool_call", ".1.2");
	assert_string_equal(json_string_value(json_object_get(first, "id")), "a");
	assert_true(!json_equal(json_object_get(first, "id"), json_object_get(second, "id")));
	assert_true(!json_equal(json_object_get(second, "id"), json_object_get(third, "id")));
	assert_true(json_string_length(json_object_get(third, "id")) > 0);
}

/* 66, 67, 70: refused arguments. The turn goes on. */
WITH_ACTORS(a_malformed_call_is_told_to_the_model)
{
	static const struct {
		const char *arguments;
		const char *echoed; /* in the history: JSON as it came */
		const char *reason;
	} wrong[] = {
		{"{bad", "{}", "line 1 column"},
		{"1 2", "{}", "line 1 column"},
		{"null", "null", "expected a JSON object"},
		{" [1]", " [1]", "expected a JSON object"},
		{"{\"n\": 12345678901234567890}", "{\"n\": 12345678901234567890}",
			"too big integer"},
		{"{\"n\":1,\"n\":2}", "{\"n\":1,\"n\":2}", "duplicate"},
		{"{\"n\":1e400}", "{}", "real number overflow"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
		WFS_AUTO_JSON json_t *payload = json_of(WANTS(WANTS_ONE("a", "look", "{}")));
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		print_message("%s\n", wrong[i].arguments);
		json_object_set_new(json_array_get(json_object_get(payload, "tool_calls"), 0),
			"arguments", json_string(wrong[i].arguments));
		wfs_json_write(payload, &text);
		WFS_AUTO_FREE char *intent = turn_waits_for(&run, 0);
		WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:O, s:s}", "adapter_id",
			"test", "intent_id", intent, "payload", payload, "status", "ok");
		struct wfs_request request = {.kind = WFS_REQUEST_RECEIPT,
			.principal = "alice",
			.receipt.document = receipt};
		assert_int_equal(wfs_world_call(run.fixture->world, &request), 0);

		WFS_AUTO_JSON json_t *call = turn_document(&run, "sys.tool_call", ".1.0");
		const char *const output = json_string_value(json_object_get(call, "output"));
		assert_non_null(strstr(output, wrong[i].reason));
		assert_non_null(strstr(output, wrong[i].arguments));
		assert_string_equal(
			json_string_value(json_object_get(call, "arguments")), wrong[i].echoed);
		WFS_AUTO_JSON json_t *event = turn_event(&run, 3);
		assert_string_equal(wfs_json_text(event, "type"), "ToolCall");
		if (wrong[i].echoed[1] != '}')
			assert_string_equal(wfs_json_text(event, "arguments"), wrong[i].echoed);
		assert_turn(&run, "sys.turn", "", "{'turn':2,'status':'running'}");
	}
}

/* The message quotes the arguments, cut at a whole character. */
WITH_ACTORS(long_arguments_that_are_none_are_told_to_the_model)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	char payload[6000];
	size_t size = (size_t)snprintf(payload, sizeof(payload),
		"{'content':null,'duration_ms':1,'finish_reason':'stop','usage':null,'tool_calls':["
		"{"
		"'id':'a','name':'look','arguments':'{");

	for (int i = 0; i < 2000; i++, size += 2)
		put_e_acute(payload + size);
	snprintf(payload + size, sizeof(payload) - size, "'}]}");
	turn_says(&run, payload);

	assert_turn(&run, "sys.tool_call", ".1.0", "{'arguments':'{}','is_error':true}");
	assert_turn(&run, "sys.turn", "", "{'turn':2,'status':'running'}");
}

WITH_ACTORS(a_call_without_a_name_is_told_to_the_model)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS("{'id':'a'}," WANTS_ONE("b", "look", "{}")));
	turn_gives(&run, 0, "x");

	WFS_AUTO_JSON json_t *call = turn_document(&run, "sys.tool_call", ".1.0");
	assert_non_null(
		strstr(json_string_value(json_object_get(call, "output")), "no function name"));
	assert_turn(&run, "sys.turn", "", "{'turn':2}");
}

/* 68, 74: arguments as they came. */
WITH_ACTORS(arguments_are_kept_byte_for_byte)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "look", "{ \\\"n\\\" : 1.0,  \\\"e\\\":1e2 }") "," WANTS_ONE(
			"b", "look", "")));

	assert_turn(&run, "sys.tool_call", ".1.0",
		"{'arguments':'{ \\\"n\\\" : 1.0,  \\\"e\\\":1e2 }'}");
	assert_turn(&run, "sys.tool_call", ".1.1", "{'arguments':'{}'}");
}

#define ALIKE                                                                                \
	"{'hash':'sha256:abababababababababababababababababababababababababababababababab'," \
	"'of':[],'size':3}"

/* A stand-in must belong to a text. */
WITH_ACTORS(what_looks_like_a_private_text_is_refused)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));
	WFS_AUTO_FREE char *asked = turn_waits_for(&run, 0);
	const uint64_t height = height_of(fixture);

	assert_int_equal(turn_send_receipt(&run, asked, "ok",
				 WANTS("{'id':'a','name':'look','arguments':" ALIKE "}")),
		-EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(height_of(fixture), height);
	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
	WFS_AUTO_FREE char *called = turn_waits_for(&run, 0);
	assert_int_equal(turn_send_receipt(&run, called, "ok",
				 "{'duration_ms':3,'output':" ALIKE ",'output_size':3}"),
		-EINVAL);
	turn_gives(&run, 0, "{\"hash\":\"sha256:ab\",\"of\":[],\"size\":3}");
}

/* 25, 26, 28: a model that fails. */
WITH_ACTORS(a_failure_of_the_model_ends_the_run)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
	turn_gives(&run, 0, "x");
	turn_answer_as(&run, 0, "error", "{'code':'http_503','message':'no room'}");

	assert_ended(&run, "error");
	assert_events(&run, "KernelStart " TOOL_TURN " ModelRequest KernelError KernelEnd");
	assert_event(&run, 7,
		"{'code':'http_503','message':'Model API call failed: no room',"
		"'phase':'model_request','turn':2}");
	assert_event(&run, 8, "{'termination_reason':'error','turn_count':2}");
	assert_turn(&run, "sys.turn", "",
		"{'error':{'code':'http_503','message':'Model API call failed: no room',"
		"'phase':'model_request'}}");
}

WITH_ACTORS(an_answer_of_another_form_can_be_read)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));

	turn_answer_as(&run, 0, "error",
		"{'code':'schema_violation','content':'[1','message':'expected an object'}");

	assert_ended(&run, "error");
	assert_turn(&run, "sys.turn", "",
		"{'error':{'code':'schema_violation','content':'[1','message':'Model API call "
		"failed: expected an object','phase':'model_request'}}");
}

WITH_ACTORS(other_ends_of_a_model_have_their_reasons)
{
	struct turn_run late = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	struct turn_run frozen = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));

	turn_answer_as(&late, 0, "timeout", "{'code':'timeout','message':'60 s'}");
	turn_answer_as(&frozen, 0, "error", "{'code':'quota_exceeded','message':'no tokens'}");

	assert_ended(&late, "timeout");
	assert_ended(&frozen, "quota_exceeded");
}

#define TOO_LONG "{'code':'context_length_exceeded','message':'too long'}"

/* A history that the model refuses as too long is sent once more, shortened. */
WITH_ACTORS(a_history_that_is_too_long_is_tried_once_more)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));

	for (int i = 0; i < 2; i++) {
		turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
		turn_gives(&run, 0, "x");
	}
	turn_answer_as(&run, 0, "error", TOO_LONG);
	assert_event(&run, 12, "{'messages_count':4,'retry':true,'turn':3,'type':'ModelRequest'}");
	turn_answer_as(&run, 0, "error", TOO_LONG);

	assert_ended(&run, "error");
}

WITH_ACTORS(a_history_that_cannot_be_shorter_is_an_error)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));

	turn_answer_as(&run, 0, "error", TOO_LONG);

	assert_ended(&run, "error");
}

/* 43: cancelled while tools run. */
WITH_ACTORS(a_cancelled_run_ends_at_once)
{
	struct turn_run run =
		turn_begin(fixture, TURN_STEP("9", "{'max_concurrency':2}", TURN_ASK));
	char cancel[256];

	turn_says(&run,
		WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}") "," WANTS_ONE(
			"c", "look", "{}")));
	WFS_AUTO_FREE char *intent = turn_waits_for(&run, 1);
	snprintf(cancel, sizeof(cancel), "{'action_type':'cancel','turn_id':'%s'}", run.id);
	assert_done(fixture, "tester", cancel);

	assert_ended(&run, "cancelled");
	assert_events(&run, "KernelStart ModelRequest ModelResponse ToolCall ToolCall KernelEnd");
	assert_int_equal(turn_send_receipt(&run, intent, "ok", "{'output':'late'}"), -ESTALE);
	assert_fails(fixture, "tester", cancel, WFS_E_CONFLICT, "has ended already");
}

/* 45, 48: two at once, results in call order, events as they come. */
WITH_ACTORS(calls_are_made_at_once_up_to_a_limit)
{
	struct turn_run run =
		turn_begin(fixture, TURN_STEP("9", "{'max_concurrency':2}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}") "," WANTS_ONE(
			"c", "look", "{}")));
	WFS_AUTO_FREE char *third = turn_waits_for(&run, 2);
	assert_null(third);
	turn_gives(&run, 1, "of b");
	turn_gives(&run, 1, "of c");
	turn_gives(&run, 0, "of a");

	assert_events(&run,
		"KernelStart ModelRequest ModelResponse ToolCall ToolCall ToolResult "
		"ToolCall ToolResult ToolResult TurnComplete ModelRequest");
	assert_event(&run, 5, "{'call_id':'b'}");
	assert_event(&run, 7, "{'call_id':'c'}");
	assert_event(&run, 8, "{'call_id':'a'}");
	assert_turn(&run, "sys.tool_call", ".1.0", "{'output':'of a'}");
	assert_turn(&run, "sys.tool_call", ".1.2", "{'output':'of c'}");
}

/* 46. */
WITH_ACTORS(calls_are_made_one_by_one_when_nothing_is_said)
{
	static const char *const settings[] = {
		"{}", "{'max_concurrency':1}", "{'max_concurrency':0}", "{'max_concurrency':-1}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(settings); i++) {
		char step[2048];

		print_message("%s\n", settings[i]);
		snprintf(step, sizeof(step), TURN_STEP("9", "%s", TURN_ASK), settings[i]);
		struct turn_run run = turn_begin(fixture, step);
		turn_says(
			&run, WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}")));
		WFS_AUTO_FREE char *second = turn_waits_for(&run, 1);
		assert_null(second);
	}
}

/* --- approval --- */

WITH_ACTORS(a_call_waits_until_it_is_approved)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	char action[512];

	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}") "," WANTS_ONE("b", "noop", "{}")));
	WFS_AUTO_FREE char *first = turn_waits_for(&run, 0);
	snprintf(action, sizeof(action), "{'action_type':'ask','intent_id':'%s','policy':'p'}",
		first);
	assert_done(fixture, "alice", action);
	assert_turn(&run, "sys.tool_call", ".1.0", "{'status':'asked'}");
	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'a','decision':'allow'}",
		run.id);
	assert_done(fixture, "tester", action);
	assert_turn(&run, "sys.tool_call", ".1.0", "{'status':'approved'}");
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.intent", first);
	assert_non_null(strstr(text, "\"state\":\"approved\""));
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'noop'}"), 0);

	WFS_AUTO_FREE char *second = turn_waits_for(&run, 0);
	snprintf(action, sizeof(action), "{'action_type':'ask','intent_id':'%s','policy':'p'}",
		second);
	assert_done(fixture, "alice", action);
	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'b','decision':'deny'}", run.id);
	assert_done(fixture, "tester", action);
	assert_output(&run, ".1.1", "Tool execution failed: 'tester' did not approve of the call");
	assert_fails(fixture, "tester", action, WFS_E_NOT_FOUND, "no open call 'b'");
	assert_turn(&run, "sys.turn", "", "{'turn':2}");
}

/* Asks for an approval of the call that waits. */
static void ask_about_it(struct world_fixture *fixture, struct turn_run *run)
{
	WFS_AUTO_FREE char *intent = turn_waits_for(run, 0);
	char action[512];

	snprintf(action, sizeof(action), "{'action_type':'ask','intent_id':'%s','policy':'p'}",
		intent);
	assert_done(fixture, "alice", action);
}

WITH_ACTORS(a_late_decision_is_not_one_on_another_call_with_this_id)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	char action[512], first[512], second[512];

	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'a','decision':'allow'}",
		run.id);
	snprintf(first, sizeof(first),
		"{'action_type':'approve','turn_id':'%s','call_id':'a','turn':1,'decision':'deny'}",
		run.id);
	snprintf(second, sizeof(second),
		"{'action_type':'approve','turn_id':'%s','call_id':'a','turn':2,'decision':'allow'"
		"}",
		run.id);
	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}")));
	ask_about_it(fixture, &run);
	assert_fails(fixture, "tester", second, WFS_E_CONFLICT, "is of turn 1, not 2");
	assert_done(fixture, "tester", first);

	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}")));
	ask_about_it(fixture, &run);
	assert_fails(fixture, "tester", first, WFS_E_CONFLICT, "is of turn 2, not 1");
	assert_fails(fixture, "tester", action, WFS_E_CONFLICT, "(--of-turn 2)");
	assert_turn(&run, "sys.tool_call", ".2.0", "{'status':'asked'}");
	assert_done(fixture, "tester", second);
	assert_turn(&run, "sys.tool_call", ".2.0", "{'status':'approved'}");
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'noop'}"), 0);

	turn_says(&run, WANTS(WANTS_ONE("b", "noop", "{}")));
	ask_about_it(fixture, &run);
	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'b','decision':'allow'}",
		run.id);
	assert_done(fixture, "tester", action);
}

/* --- history --- */

/* A turn after @turns requests, each with two calls. */
static struct turn_run run_with_turns(struct world_fixture *fixture, const char *step, int turns)
{
	struct turn_run run = turn_begin(fixture, step);

	for (int i = 0; i < turns; i++) {
		turn_says(
			&run, WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}")));
		turn_gives(&run, 0, "x");
		turn_gives(&run, 0, "y");
	}
	return run;
}

static int64_t requested(const struct turn_run *run, const char *member)
{
	int64_t found = -1;
	json_t *event;

	for (int64_t i = 0; (event = turn_event(run, i)) != NULL; i++) {
		const char *const type = json_string_value(json_object_get(event, "type"));

		if (strcmp(type, "ModelRequest") == 0)
			found = json_integer_value(json_object_get(event, member));
		json_decref(event);
	}
	return found;
}

/* 53 to 56, 62: groups are left out whole, pinned messages never. */
WITH_ACTORS(old_groups_are_left_out_whole)
{
	struct turn_run run =
		run_with_turns(fixture, TURN_STEP("20", "{'max_history_messages':9}", TURN_ASK), 4);

	assert_int_equal(requested(&run, "messages_count"), 8); /* 2 + 3 + 3 of 14 */
	assert_turn(&run, "sys.turn", "", "{'from':4,'pins':[0,1]}");
	assert_turn(&run, "sys.message", ".2", "{'role':'assistant'}");
}

/* 58: no limit. 61: the newest group is sent whole, with a warning. */
WITH_ACTORS(the_newest_group_is_always_sent)
{
	struct turn_run all =
		run_with_turns(fixture, TURN_STEP("20", "{'max_history_messages':0}", TURN_ASK), 3);
	struct turn_run few =
		run_with_turns(fixture, TURN_STEP("20", "{'max_history_messages':2}", TURN_ASK), 3);

	assert_int_equal(requested(&all, "messages_count"), 11);
	assert_int_equal(requested(&few, "messages_count"), 5);
	assert_turn(&few, "sys.turn", "", "{'from':4}");
	WFS_AUTO_JSON json_t *event = turn_event(&few, 7);
	assert_string_equal(json_string_value(json_object_get(event, "type")), "TurnComplete");
	WFS_AUTO_JSON json_t *request = turn_event(&few, 8);
	assert_non_null(json_object_get(request, "warning"));
}

/* 59, 60: which messages are pinned. */
WITH_ACTORS(leading_system_messages_and_the_latest_user_message_are_pinned)
{
	struct turn_run run = run_with_turns(fixture,
		TURN_STEP("20", "{'max_history_messages':7}",
			"[{'content':'a','role':'system'},{'content':'b','role':'developer'},"
			"{'content':'old','role':'user'},{'content':'c','role':'assistant'},"
			"{'content':'new','role':'user'},{'content':'late','role':'system'}]"),
		2);

	assert_turn(&run, "sys.turn", "", "{'pins':[0,1,4],'from':7}");
	assert_int_equal(requested(&run, "messages_count"), 6);
}

/* --- bounds --- */

WITH_ACTORS(an_answer_with_too_many_calls_ends_the_run)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	struct turn_run most = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	WFS_AUTO_BUFFER struct wfs_buffer calls = {0};
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};

	for (int i = 0; i < WFS_TURN_CALLS_MAX; i++)
		wfs_buffer_append_text(&calls, i > 0 ? ",{'name':'zzz'}" : "{'name':'zzz'}");
	wfs_buffer_printf(&answer, WANTS("%s"), wfs_buffer_text(&calls));
	turn_says(&most, wfs_buffer_text(&answer));
	wfs_buffer_reset(&answer);
	wfs_buffer_printf(&answer, WANTS("%s,{'name':'zzz'}"), wfs_buffer_text(&calls));
	turn_says(&run, wfs_buffer_text(&answer));

	assert_ended(&run, "error");
	assert_turn(&most, "sys.turn", "", "{'turn':2,'status':'running'}");
}

WITH_ACTORS(a_step_is_checked)
{
	assert_fails(fixture, "tester", "{'action_type':'step','agent':'alice'}",
		WFS_E_MISSING_ARGUMENT, "max_turns");
	assert_fails(fixture, "tester", TURN_STEP("10001", "{}", TURN_ASK), WFS_E_INVALID_ARGUMENT,
		"max_turns");
	assert_fails(fixture, "tester", TURN_STEP("1", "{}", "[{'content':'x'}]"),
		WFS_E_MISSING_ARGUMENT, "role");
	assert_fails(fixture, "tester",
		"{'action_type':'step','agent':'nobody','max_turns':1,'messages':[],'setup':{"
		"'model':'m','offered':[],'settings':{},'tools':[]}}",
		WFS_E_NOT_FOUND, "Agent 'nobody' not found");
	assert_fails(fixture, "tester",
		TURN_STEP("1", "{}", "[{'content':'x','role':'tool','tool_call_id':'a'}]"),
		WFS_E_INVALID_ARGUMENT, "results of all calls right behind them");
	assert_fails(fixture, "tester", "{'action_type':'cancel','turn_id':'alice.1'}",
		WFS_E_NOT_FOUND, "Turn 'alice.1' not found");
}
