/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about outside tools, with a driver without servers: tools, tool call, grant --pin. */
#include "tests/fixture/command.h"
#include "tests/fixture/outside-tools.h"

static int tools_setup(void **state)
{
	command_drive = outside_tools_start;
	return filled_setup(state);
}

#define WITH_TOOLS(name) \
	TEST_WITH(name, struct world_fixture *fixture, tools_setup, world_fixture_teardown)

/* --- tools --- */

WITH_TOOLS(tools_are_listed_with_what_is_said_of_them)
{
	AUTO_PRINTED struct printed list = RUN_IN(fixture, "tools", "--outside");

	assert_int_equal(list.status, WFS_EXIT_DONE);
	assert_says(list.out, "\nfs.ls                            readOnly,idempotent,openWorld ");
	assert_says(list.out, " List files.\n");
	assert_says(list.out, "destructive,idempotent,openWorld Show the log.\n");
	assert_says(list.err, "down: it has ended\n");
}

WITH_TOOLS(programs_get_rows_and_servers)
{
	AUTO_PRINTED struct printed list = RUN_IN(fixture, "--json", "tools", "--outside");
	WFS_AUTO_JSON json_t *document = json_loads(list.out, 0, NULL);
	const json_t *const data = json_object_get(document, "data");

	assert_int_equal(json_array_size(json_object_get(data, "tools")), 5);
	assert_int_equal(json_array_size(json_object_get(data, "servers")), 3);
	assert_non_null(json_object_get(document, "meta"));
}

TEST(our_own_functions_are_listed_without_a_world)
{
	AUTO_PRINTED struct printed list = RUN("tools");

	assert_int_equal(list.status, WFS_EXIT_DONE);
	assert_says(list.out, "fs_read(");
}

/* --- tool call --- */

WITH_TOOLS(the_text_of_an_answer_is_printed)
{
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "tool", "call", "git.log");
	AUTO_PRINTED struct printed some =
		RUN_IN(fixture, "tool", "call", "git.log", "{\"count\": 3}");

	assert_prints(&none, "{}\n");
	assert_prints(&some, "{\"count\":3}\n");
}

WITH_TOOLS(arguments_may_be_in_a_file)
{
	char argument[120];

	put_lines(fixture, "{\"from\":\"file\"}", argument);
	AUTO_PRINTED struct printed call = RUN_IN(fixture, "tool", "call", "git.log", argument);

	assert_prints(&call, "{\"from\":\"file\"}\n");
}

WITH_TOOLS(programs_get_the_whole_answer)
{
	AUTO_PRINTED struct printed call =
		RUN_IN(fixture, "--json", "tool", "call", "git.log", "{\"a\":1}");

	assert_says(call.out, "\"structured\":{\"arguments\":{\"a\":1}}");
}

WITH_TOOLS(a_text_that_was_cut_has_a_blob)
{
	AUTO_PRINTED struct printed call = RUN_IN(fixture, "tool", "call", "git.many");

	assert_prints(&call, "beginning\n");
	assert_says(call.err, "'worldfs blob get " LISTED_HASH("0b") "' prints all 100000 bytes");
}

WITH_TOOLS(a_failed_call_says_what_the_tool_says)
{
	AUTO_PRINTED struct printed failed = RUN_IN(fixture, "tool", "call", "git.fail");
	AUTO_PRINTED struct printed missing = RUN_IN(fixture, "tool", "call", "git.nothing");
	AUTO_PRINTED struct printed wrong = RUN_IN(fixture, "tool", "call", "git.log", "{");
	AUTO_PRINTED struct printed list = RUN_IN(fixture, "tool", "call", "git.log", "[1]");

	assert_failed(&failed, "worldfs: effect_failed: this is not a repository\n");
	assert_failed(&missing, "worldfs: not_found: there is no tool 'git.nothing'\n");
	assert_int_equal(wrong.status, WFS_EXIT_FAILED);
	assert_failed(&list, "'arguments'");
}

/* --- grant --pin --- */

static void add_alice(struct world_fixture *fixture)
{
	AUTO_PRINTED struct printed added = RUN_IN(fixture, "principal", "add", "alice");

	assert_prints(&added, "");
}

WITH_TOOLS(a_pinned_grant_has_the_hashes_of_now)
{
	add_alice(fixture);
	AUTO_PRINTED struct printed grant =
		RUN_IN(fixture, "grant", "alice", "tool", "{\"tools\":[\"git.l*\"]}", "--pin");
	AUTO_PRINTED struct printed state_now =
		RUN_IN(fixture, "state", "sys.grant", "alice.tool.1");

	assert_prints(&grant, "alice.tool.1\n");
	assert_says(state_now.out,
		"\"params\":{\"pinned\":{\"git.log\":\"" LISTED_HASH(
			"04") "\"},"
			      "\"tools\":[\"git.l*\"]}");
}

WITH_TOOLS(a_grant_that_cannot_be_pinned_is_not_made)
{
	add_alice(fixture);
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "grant", "alice", "tool", "--pin");
	AUTO_PRINTED struct printed none =
		RUN_IN(fixture, "grant", "alice", "tool", "{\"tools\":[\"git.x\"]}", "--pin");
	AUTO_PRINTED struct printed other = RUN_IN(fixture, "grant", "alice", "query", "--pin");
	AUTO_PRINTED struct printed list = RUN_IN(fixture, "grant", "alice", "tool", "[]", "--pin");
	AUTO_PRINTED struct printed grants = RUN_IN(fixture, "cells", "sys.grant");

	assert_failed(&all, "unavailable: the server 'down' has listed no tools: it has ended");
	assert_failed(&none, "not_found: the grant would cover no tool");
	assert_misuse(&other, "--pin", "grant --help");
	assert_misuse(&list, "--pin", "grant --help");
	assert_null(strstr(grants.out, "alice"));
}
