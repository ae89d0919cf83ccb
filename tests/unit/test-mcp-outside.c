/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of outside servers, offered to clients of the Model Context Protocol. */
#include "tests/fixture/mcp.h"
#include "tests/fixture/outside-tools.h"

static int tools_setup(void **state)
{
	command_drive = outside_tools_start;
	return filled_setup(state);
}

#define WITH_TOOLS(name) \
	TEST_WITH(name, struct world_fixture *fixture, tools_setup, world_fixture_teardown)

static struct talk talk_outside(const struct world_fixture *fixture)
{
	struct talk talk = talk_hello(fixture);

	wfs_mcp_set_outside(talk.mcp, true);
	return talk;
}

/* The tool of this name in the answer; NULL: it is not there. */
static const json_t *tool_called(const struct talk *talk, const char *name)
{
	const json_t *const result = json_object_get(answer_of(talk), "result");
	const json_t *tool;
	size_t i;

	json_array_foreach(json_object_get(result, "tools"), i, tool)
		if (strcmp(wfs_json_text(tool, "name"), name) == 0)
			return tool;
	return NULL;
}

static size_t count_tools(const struct talk *talk)
{
	const json_t *const result = json_object_get(answer_of(talk), "result");

	return json_array_size(json_object_get(result, "tools"));
}

WITH_TOOLS(without_the_option_our_own_alone_are_offered)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));
	assert_int_equal(count_tools(&talk), wfs_tool_count);
	ask_mcp(&talk, CALL("2", "git_log", "{}"));
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "Unknown tool: git_log");
}

WITH_TOOLS(outside_tools_come_after_our_own)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));

	assert_int_equal(count_tools(&talk), wfs_tool_count + 5);
	assert_part(tool_called(&talk, "git_log"), "description", "'Show the log.\\nAnd more.'");
	assert_part(tool_called(&talk, "git_log"), "inputSchema", "{'type':'object'}");
	assert_part(tool_called(&talk, "git_log"), "annotations", "{'idempotentHint':true}");
	assert_non_null(tool_called(&talk, "fs_ls"));   /* ours */
	assert_non_null(tool_called(&talk, "fs_ls_2")); /* fs.ls */
}

WITH_TOOLS(a_call_gives_text_and_structured_content)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));
	ask_mcp(&talk, CALL("2", "git_log", "{'a':1}"));

	assert_answer(&talk, "result.content", "[{'text':'{\\\"a\\\":1}','type':'text'}]");
	assert_answer(&talk, "result.isError", "false");
	assert_answer(&talk, "result.structuredContent", "{'arguments':{'a':1}}");
}

WITH_TOOLS(a_client_need_not_list_before_it_calls)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, CALL("1", "git_log", "{}"));
	assert_answer(&talk, "result.isError", "false");
	ask_mcp(&talk, CALL("2", "git_nothing", "{}"));
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "Unknown tool: git_nothing");
	ask_mcp(&talk, CALL("3", "git.log", "{}"));
	assert_mcp_error(&talk, "3", WFS_RPC_INVALID_PARAMS, "Unknown tool: git.log");
}

WITH_TOOLS(a_failure_is_an_answer_of_the_tool)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, CALL("1", "git_fail", "{}"));

	assert_answer(&talk, "result.isError", "true");
	assert_answer(
		&talk, "result.content", "[{'text':'this is not a repository','type':'text'}]");
	assert_answer(&talk, "result.structuredContent.error.code", "'effect_failed'");
}

WITH_TOOLS(arguments_are_an_object)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, CALL("1", "git_log", "[1]"));
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_PARAMS, "'arguments'");
}

WITH_TOOLS(a_cancelled_call_is_abandoned)
{
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));
	outside_tools_abandoned = 0;
	say(&talk, CALL("2", "git_hang", "{}"));
	(void)wfs_mcp_advance(talk.mcp);
	say(&talk, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");
	let_it_work(&talk);
	collect(&talk);

	assert_int_equal(outside_tools_abandoned, 1);
	assert_int_equal(json_array_size(talk.said), 0);
}

WITH_TOOLS(a_world_without_a_driver_has_our_own_alone)
{
	command_drive = NULL;
	AUTO_TALK struct talk talk = talk_outside(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));
	assert_int_equal(count_tools(&talk), wfs_tool_count);
}
