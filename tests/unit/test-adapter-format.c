/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests. (Numbers such as "case 49" are those of our research on model servers.) */
#include "tests/fixture/adapter.h"

#include "agents/adapter/format.h"

#define ENTRY "{'provider':'openai','model':'m'}"
#define TOOL_A                                                              \
	"{'type':'function','function':{'name':'a','description':'does a'," \
	"'parameters':{'type':'object','properties':{'k':{'type':'integer'}}}}}"
#define TOOL_B "{'type':'function','function':{'name':'b','description':'does b'}}"

static json_t *body_of(
	const char *entry_text, const char *offered, const char *settings, bool stream)
{
	WFS_AUTO_JSON json_t *setup = setup_of(offered, settings);
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	WFS_AUTO_JSON json_t *messages = json_of("[{'role':'user','content':'hi'}]");
	struct wfs_error error = {0};
	json_t *body = NULL;

	if (wfs_adapter_check(setup, entry, &error) != 0 ||
		wfs_format_request(setup, entry, messages, stream, &body, &error) != 0)
		fail_msg("%s", error.message);
	json_object_del(body, "messages");
	return body;
}

static void assert_messages(const char *neutral, const char *wire)
{
	WFS_AUTO_JSON json_t *messages = json_of(neutral);
	json_t *formatted = NULL;

	assert_int_equal(wfs_format_messages(messages, &formatted), 0);
	assert_json_is(formatted, wire);
}

/* Section 30 of research. */
TEST(a_conversation_is_sent_as_servers_have_it)
{
	assert_messages("[{'role':'system','content':'s'},{'role':'user','content':'2+3?'},"
			"{'role':'assistant','content':null,'tool_calls':[{'id':'c1','name':'add',"
			"'arguments':'{\\'x\\':2}'}]},"
			"{'role':'tool','tool_call_id':'c1','content':'5'}]",
		"[{'role':'system','content':'s'},{'role':'user','content':'2+3?'},"
		"{'role':'assistant','content':null,'tool_calls':[{'id':'c1','type':'function',"
		"'function':{'name':'add','arguments':'{\\'x\\':2}'}}]},"
		"{'role':'tool','tool_call_id':'c1','content':'5'}]");
}

TEST(content_is_always_there_and_null_only_beside_calls)
{
	assert_messages("[{'role':'assistant','content':null},{'role':'user'},"
			"{'role':'tool','tool_call_id':'c','content':null}]",
		"[{'role':'assistant','content':''},{'role':'user','content':''},"
		"{'role':'tool','tool_call_id':'c','content':''}]");
	assert_messages("[{'role':'assistant','content':'t','tool_calls':[{'id':'c','name':'a',"
			"'arguments':'{}'}]}]",
		"[{'role':'assistant','content':'t','tool_calls':[{'id':'c','type':'function',"
		"'function':{'name':'a','arguments':'{}'}}]}]");
}

TEST(no_calls_are_not_sent_as_an_empty_list)
{
	assert_messages("[{'role':'assistant','content':'t','tool_calls':[]}]",
		"[{'role':'assistant','content':'t'}]");
}

TEST(members_of_ours_are_not_sent)
{
	assert_messages(
		"[{'role':'assistant','content':'t','reasoning':'r','tool_calls':["
		"{'id':'c','name':'a','arguments':'{}','index':0}]},"
		"{'role':'tool','content':'x','tool_call_id':'c','name':'a','is_error':true}]",
		"[{'role':'assistant','content':'t','tool_calls':[{'id':'c','type':'function',"
		"'function':{'name':'a','arguments':'{}'}}]},"
		"{'role':'tool','content':'x','tool_call_id':'c'}]");
}

/* Case 74. */
TEST(arguments_go_back_byte_for_byte)
{
	static const char arguments[] =
		"{ \"k\" : 12345678901234567890, \"l\":1.0,\"m\":\"\\u00e4\"}";
	WFS_AUTO_JSON json_t *messages =
		json_pack("[{s:s, s:n, s:[{s:s, s:s, s:s}]}]", "role", "assistant", "content",
			"tool_calls", "id", "c", "name", "a", "arguments", arguments);
	WFS_AUTO_JSON json_t *formatted = NULL;
	const char *echoed = NULL;

	assert_int_equal(wfs_format_messages(messages, &formatted), 0);

	assert_int_equal(json_unpack(formatted, "[{s:[{s:{s:s}}]}]", "tool_calls", "function",
				 "arguments", &echoed),
		0);
	assert_string_equal(echoed, arguments);
}

/* Case 68. */
TEST(arguments_that_did_not_come_are_an_empty_object)
{
	static const char wire[] = "[{'role':'assistant','content':null,'tool_calls':[{'id':'c',"
				   "'type':'function','function':{'name':'a','arguments':'{}'}}]}]";

	assert_messages(
		"[{'role':'assistant','tool_calls':[{'id':'c','name':'a','arguments':''}]}]", wire);
	assert_messages("[{'role':'assistant','tool_calls':[{'id':'c','name':'a'}]}]", wire);
}

TEST(names_that_models_made_up_do_not_get_the_history_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer neutral = {0};
	WFS_AUTO_BUFFER struct wfs_buffer wire = {0};
	static const char *const names[][2] = {{"fs.read it", "fs_read_it"}, {"", "unnamed"},
		{"0123456789012345678901234567890123456789012345678901234567890123more",
			"0123456789012345678901234567890123456789012345678901234567890123"}};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		wfs_buffer_reset(&neutral);
		wfs_buffer_reset(&wire);
		wfs_buffer_printf(&neutral,
			"[{'role':'assistant','tool_calls':[{'id':'c','name':'%s'}]}]",
			names[i][0]);
		wfs_buffer_printf(&wire,
			"[{'role':'assistant','content':null,'tool_calls':[{'id':'c',"
			"'type':'function','function':{'name':'%s','arguments':'{}'}}]}]",
			names[i][1]);
		print_message("%s\n", names[i][0]);
		assert_messages(wfs_buffer_text(&neutral), wfs_buffer_text(&wire));
	}
}

#define SENDS(name, entry, tools, settings, stream, body)                      \
	TEST(name)                                                             \
	{                                                                      \
		assert_json_is(body_of(entry, tools, settings, stream), body); \
	}

/* Case 49. */
SENDS(without_tools_nothing_about_tools_is_sent,
	"{'model':'m','extra_body':{'parallel_tool_calls':false,"
	"'tool_choice':'auto'}}",
	"[]", "{'tool_choice':'required'}", false, "{'model':'m'}")

/* Case 50. */
SENDS(offered_tools_are_sent_in_their_order_with_the_choice, ENTRY, "['b','a']",
	"{'tool_choice':'required'}", false,
	"{'model':'m','tool_choice':'required','tools':[" TOOL_B "," TOOL_A "]}")

/* Case 51, on the side of the request. */
SENDS(tools_are_sent_with_the_choice_none, ENTRY, "['b']", "{'tool_choice':'none'}", false,
	"{'model':'m','tool_choice':'none','tools':[" TOOL_B "]}")
SENDS(a_named_tool_is_chosen_by_an_object, ENTRY, "['b']",
	"{'tool_choice':{'type':'function','function':{'name':'b'}}}", false,
	"{'model':'m','tool_choice':{'type':'function','function':{'name':'b'}},"
	"'tools':[" TOOL_B "]}")

/* Also case 76: without a constraint, no member constrains the answer. */
TEST(settings_are_sent_under_the_names_that_the_model_wants)
{
	static const char settings[] =
		"{'max_tokens':64,'temperature':0.1,'constraint':null,'extra_body':null}";

	assert_json_is(body_of(ENTRY, "[]", settings, false),
		"{'model':'m','max_tokens':64,'temperature':0.1}");
	assert_json_is(body_of("{'model':'m','max_tokens_name':'max_completion_tokens'}", "[]",
			       settings, false),
		"{'model':'m','max_completion_tokens':64,'temperature':0.1}");
	assert_json_is(body_of(ENTRY, "[]", "{'temperature':null}", false), "{'model':'m'}");
}

SENDS(a_stream_is_asked_for_with_usage, ENTRY, "[]", "{}", true,
	"{'model':'m','stream':true,'stream_options':{'include_usage':true}}")
SENDS(a_model_without_a_name_of_the_server_has_its_own, "{'provider':'script'}", "[]", "{}", false,
	"{'model':'default'}")

/* Case 103. */
SENDS(extra_members_replace_settings_the_agents_those_of_the_model,
	"{'model':'m','extra_body':{'top_k':5,'seed':1,'stop':null}}", "[]",
	"{'temperature':0.1,'extra_body':{'temperature':0,'seed':2}}", false,
	"{'model':'m','top_k':5,'temperature':0,'seed':2,'stop':null}")

/* Case 81. */
SENDS(a_constraint_replaces_an_extra_member_of_its_name, "{'model':'m','profile':'vllm'}", "[]",
	"{'constraint':{'kind':'regex','regex':'[0-9]{4}'},"
	"'extra_body':{'structured_outputs':{'regex':'x'}}}",
	false, "{'model':'m','structured_outputs':{'regex':'[0-9]{4}'}}")
