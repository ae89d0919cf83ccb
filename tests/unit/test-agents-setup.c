/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn is set up from: defaults, members of the agent, and what is refused before the
 * turn begins. */
#include "tests/fixture/agents.h"

#include "agents/prepare/setup.h"
#include "caps/session.h"
#include "kernel/mind/form.h"

/* These agents are from worlds that an older program wrote, so their content was never checked. */
/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
bool __wrap_wfs_mind_form_has(const char *type);

bool __wrap_wfs_mind_form_has(const char *type)
{
	(void)type;
	return false;
}
/* NOLINTEND(readability-identifier-naming) */

static int make(struct agents_fixture *fixture, const char *params, json_t **ret_step)
{
	WFS_AUTO_JSON json_t *json = json_of(params);

	fixture->error = (struct wfs_error){0};
	WFS_AUTO_JSON json_t *content = NULL;

	return agents_setup_make(
		fixture->operator, & fixture_helpers, json, &content, ret_step, &fixture->error);
}

static json_t *made(struct agents_fixture *fixture, const char *params)
{
	json_t *step = NULL;

	if (make(fixture, params, &step))
		fail_msg("%s: %s", params, fixture->error.message);
	return step;
}

static void refused(struct agents_fixture *fixture, const char *params, enum wfs_error_code code,
	const char *message)
{
	json_t *step = NULL;

	assert_int_equal(make(fixture, params, &step), -wfs_error_info(code)->number);
	assert_null(step);
	assert_int_equal(fixture->error.code, code);
	if (!strstr(fixture->error.message, message))
		fail_msg("%s", fixture->error.message);
}

/* Expects that this content of ada is refused. */
static void expect_refused(struct agents_fixture *fixture, const char *content,
	enum wfs_error_code code, const char *message)
{
	print_message("%s\n", content);
	fixture_configure(fixture, "ada", content);
	refused(fixture, "{'agent':'ada'}", code, message);
}

UNDRIVEN(an_agent_that_says_nothing_has_the_defaults)
{
	put_file(fixture->directory, "host.json",
		"{\"models\":{\"default\":{\"provider\":\"script\",\"file\":\"s\"}}}");
	assert_int_equal(trust_host(fixture->directory, wfs_world_id(fixture->world)), 0);
	fixture_configure(fixture, "ada", "{}");
	assert_json_is(made(fixture, "{'agent':'ada'}"),
		"{'agent':'ada','max_turns':20,'messages':[{'content':'Take your turn.','role':"
		"'user'}],'setup':{'model':'default','offered':[],'settings':{'max_concurrency':1,"
		"'max_history_messages':50,'max_tokens':4096,'run_timeout_ms':3600000,"
		"'temperature':0.1,'tool_choice':'auto','tool_timeout_ms':60000},'tools':[]}}");
}

UNDRIVEN(what_an_agent_says_is_taken)
{
	fixture_configure(fixture, "ada",
		"{'model':'script','system_prompt':'be','prompt':'do','tools':['fs_echo','noop'],"
		"'max_turns':0,'max_history_messages':0,'max_concurrency':-1,'max_tokens':7,"
		"'temperature':1,'tool_choice':'required','extra_body':{'top_k':5},"
		"'tool_timeout_ms':8,'run_timeout_ms':9}");
	assert_json_is(made(fixture, "{'agent':'ada'}"),
		"{'agent':'ada','max_turns':0,'messages':[{'content':'be','role':'system'},"
		"{'content':'do','role':'user'}],'setup':{'model':'script','offered':['fs_echo',"
		"'noop'],'settings':{'extra_body':{'top_k':5},'max_concurrency':-1,"
		"'max_history_messages':0,'max_tokens':7,'run_timeout_ms':9,'temperature':1,"
		"'tool_choice':'required','tool_timeout_ms':8},'tools':[{'kind':'read','name':"
		"'fs_echo'},{'kind':'action','name':'noop'}]}}");
}

static void expect_messages(
	struct agents_fixture *fixture, const char *params, const char *messages)
{
	WFS_AUTO_JSON json_t *step = made(fixture, params);

	assert_json_is(json_incref(json_object_get(step, "messages")), messages);
}

UNDRIVEN(who_asks_says_what_the_agent_is_told)
{
	fixture_configure(fixture, "ada", "{'model':'script','system_prompt':'be','prompt':'do'}");
	expect_messages(fixture, "{'agent':'ada','message':'hear'}",
		"[{'content':'be','role':'system'},{'content':'hear','role':'user'}]");
	expect_messages(fixture, "{'agent':'ada','messages':[{'content':'x','role':'user'}]}",
		"[{'content':'x','role':'user'}]");
	refused(fixture, "{'agent':'ada','message':'a','messages':[]}", WFS_E_INVALID_ARGUMENT,
		"expected one of them");
}

/* The seed's AgentConfigDict has this name. */
UNDRIVEN(a_model_may_be_named_as_the_seed_does)
{
	fixture_configure(fixture, "ada", "{'llm_model':'script'}");
	WFS_AUTO_JSON json_t *step = made(fixture, "{'agent':'ada'}");

	assert_string_equal(wfs_json_text(json_object_get(step, "setup"), "model"), "script");
	expect_refused(fixture, "{'llm_model':'script','model':'script'}", WFS_E_INVALID_ARGUMENT,
		"'model' and 'llm_model'");
}

UNDRIVEN(who_asks_can_offer_fewer_tools_and_less_time)
{
	fixture_configure(fixture, "ada",
		"{'model':'script','tools':['fs_echo','noop'],'run_timeout_ms':50}");
	WFS_AUTO_JSON json_t *fewer =
		made(fixture, "{'agent':'ada','tools':['noop'],'timeout_ms':40}");
	WFS_AUTO_JSON json_t *longer = made(fixture, "{'agent':'ada','timeout_ms':60}");
	const json_t *const setup = json_object_get(fewer, "setup");

	assert_json_is(json_incref(json_object_get(setup, "offered")), "['noop']");
	assert_int_equal(json_array_size(json_object_get(setup, "tools")), 2);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(setup, "settings"), "run_timeout_ms")),
		40);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json_object_get(longer, "setup"), "settings"),
				 "run_timeout_ms")),
		50);
	refused(fixture, "{'agent':'ada','tools':['fs_fail']}", WFS_E_NOT_FOUND,
		"no tool 'fs_fail' (it has: fs_echo noop)");
	refused(fixture, "{'agent':'ada','messages':[]}", WFS_E_INVALID_ARGUMENT,
		"'messages': expected one at least");
	refused(fixture, "{'agent':'ada','tools':['noop','noop']}", WFS_E_INVALID_ARGUMENT,
		"each name once");
}

UNDRIVEN(an_asker_can_have_fewer_requests_made_and_not_more)
{
	fixture_configure(fixture, "ada", "{'model':'script','max_turns':3}");
	WFS_AUTO_JSON json_t *fewer = made(fixture, "{'agent':'ada','max_turns':2}");

	assert_int_equal(json_integer_value(json_object_get(fewer, "max_turns")), 2);
	refused(fixture, "{'agent':'ada','max_turns':4}", WFS_E_INVALID_ARGUMENT, "max_turns");
}

UNDRIVEN(who_may_not_read_the_agent_is_not_told_its_tools)
{
	WFS_AUTO_JSON json_t *params = json_of("{'agent':'ada','tools':['fs_fail']}");
	struct wfs_session *eve = NULL;
	json_t *content = NULL;
	json_t *step = NULL;

	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_echo','noop']}");
	assert_int_equal(wfs_session_new(fixture->authority, "eve", &eve, &fixture->error), 0);
	int r = agents_setup_make(eve, &fixture_helpers, params, &content, &step, &fixture->error);
	wfs_session_free(eve);

	assert_int_equal(r, -ENOENT);
	assert_string_equal(fixture->error.message, "'tools': the agent has no tool 'fs_fail'");
}

UNDRIVEN(what_is_no_agent_is_refused)
{
	refused(fixture, "{'agent':'nobody'}", WFS_E_NOT_FOUND, "Agent 'nobody' not found");
	refused(fixture, "{'agent':'page'}", WFS_E_INVALID_TYPE, "expected 'agent'");
	refused(fixture, "{}", WFS_E_MISSING_ARGUMENT, "agent");
}

UNDRIVEN(a_deleted_agent_is_refused)
{
	json_t *step = NULL;

	fixture_act(fixture, "ada",
		json_pack("{s:s, s:s}", "action_type", "delete_artifact", "artifact_id", "ada"));
	assert_int_equal(make(fixture, "{'agent':'ada'}", &step), -ENOENT);
	assert_null(step);
}

UNDRIVEN(a_content_that_is_no_configuration_is_refused)
{
	expect_refused(fixture, "words", WFS_E_INVALID_JSON, "the content of the agent 'ada'");
	expect_refused(fixture, "[]", WFS_E_INVALID_ARGUMENT, "expected an object");
	expect_refused(fixture, "{'max_turn':3}", WFS_E_INVALID_ARGUMENT, "max_turn");
	expect_refused(fixture, "{'model':5}", WFS_E_INVALID_ARGUMENT, "model");
	expect_refused(fixture, "{'prompt':['x']}", WFS_E_INVALID_ARGUMENT, "prompt");
	expect_refused(fixture, "{'system_prompt':1}", WFS_E_INVALID_ARGUMENT, "system_prompt");
}

UNDRIVEN(a_content_that_is_too_large_is_refused)
{
	const size_t size = (1 << 20) + 64;
	WFS_AUTO_FREE char *content = malloc(size);

	assert_non_null(content);
	const int head = snprintf(content, size, "{'prompt':'");
	memset(content + head, 'x', size - (size_t)head);
	snprintf(content + size - 3, 3, "'}");
	fixture_configure(fixture, "ada", content);
	refused(fixture, "{'agent':'ada'}", WFS_E_TOO_LARGE, "expected at most 1048576 bytes");
}

#define SCRIPTED "'model':'script',"

UNDRIVEN(settings_out_of_their_range_are_refused)
{
	static const char *const settings[][2] = {
		{"'max_turns':-1", "max_turns"},
		{"'max_turns':10001", "max_turns"},
		{"'max_turns':'3'", "max_turns"},
		{"'max_concurrency':65", "max_concurrency"},
		{"'max_history_messages':1", "max_history_messages"},
		{"'max_history_messages':-1", "max_history_messages"},
		{"'max_tokens':0", "max_tokens"},
		{"'tool_timeout_ms':0", "tool_timeout_ms"},
		{"'run_timeout_ms':0", "run_timeout_ms"},
		{"'temperature':3", "temperature"},
		{"'temperature':'hot'", "temperature"},
		{"'tool_choice':'some'", "tool_choice"},
		{"'extra_body':[]", "extra_body"},
		{"'extra_body':{'messages':[]}", "messages"},
		{"'extra_body':{'tools':[]}", "tools"},
		{"'extra_body':{'model':'x'}", "model"},
		{"'extra_body':{'stream':true}", "stream"},
		{"'tools':'fs_echo'", "tools"},
		{"'tools':null", "tools"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(settings); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer content = {0};

		wfs_buffer_printf(&content, "{" SCRIPTED "%s}", settings[i][0]);
		expect_refused(
			fixture, wfs_buffer_text(&content), WFS_E_INVALID_ARGUMENT, settings[i][1]);
	}
}

UNDRIVEN(a_model_that_the_host_does_not_have_is_refused)
{
	expect_refused(fixture, "{'model':'other'}", WFS_E_NOT_FOUND,
		"host.json has no model 'other' (there are: script)");
}

UNDRIVEN(tools_that_there_are_not_are_refused)
{
	expect_refused(
		fixture, "{" SCRIPTED "'tools':['none']}", WFS_E_NOT_FOUND, "unknown tool 'none'");
	expect_refused(fixture, "{" SCRIPTED "'tools':['noop','noop']}", WFS_E_INVALID_ARGUMENT,
		"two tools have the name 'noop'");
}

UNDRIVEN(a_constraint_without_its_schema_is_refused)
{
	expect_refused(fixture, "{" SCRIPTED "'constraint':{'kind':'json_schema'}}",
		WFS_E_MISSING_ARGUMENT, "schema");
}

UNDRIVEN(a_constraint_that_the_server_would_ignore_is_refused)
{
	put_file(fixture->directory, "host.json",
		"{\"models\":{\"llama\":{\"provider\":\"openai\",\"profile\":\"llamacpp\","
		"\"base_url\":\"http://127.0.0.1:1/v1\"}}}");
	assert_int_equal(trust_host(fixture->directory, wfs_world_id(fixture->world)), 0);
	expect_refused(fixture, "{'model':'llama','constraint':{'kind':'regex','regex':'a+'}}",
		WFS_E_INVALID_ARGUMENT, "agent 'ada'");
	assert_non_null(strstr(fixture->error.message, "regex"));
	assert_non_null(strstr(fixture->error.message, "llamacpp"));
}
