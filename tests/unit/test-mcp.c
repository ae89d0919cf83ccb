/* SPDX-License-Identifier: Apache-2.0 */
/* The Model Context Protocol: messages come in, lines go out. The world has no owner, so the
 * server opens it itself. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/mcp.h"

#include <sys/socket.h>

#include "fs/base/socket.h"

/* --- life --- */

IN_FILLED_WORLD(initialize_tells_what_there_is)
{
	AUTO_TALK struct talk talk = talk_begin(fixture);

	ask_mcp(&talk, HELLO);

	assert_answer(&talk, "id", "0");
	assert_answer(&talk, "result.protocolVersion", "'2025-06-18'");
	assert_answer(&talk, "result.capabilities", "{'resources':{},'tools':{}}");
	assert_answer(&talk, "result.serverInfo.name", "'worldfs'");
}

static void assert_spoken(struct world_fixture *fixture, const char *asked, const char *spoken)
{
	AUTO_TALK struct talk talk = talk_begin(fixture);
	WFS_AUTO_JSON json_t *hello = json_pack("{s:s, s:i, s:s, s:{s:s}}", "jsonrpc", "2.0", "id",
		1, "method", "initialize", "params", "protocolVersion", asked);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(hello, &text);
	say_raw(&talk, wfs_buffer_text(&text));
	collect(&talk);
	assert_answer(&talk, "result.protocolVersion", spoken);
}

IN_FILLED_WORLD(the_client_s_revision_is_spoken_if_it_is_known)
{
	assert_spoken(fixture, "2025-03-26", "'2025-03-26'");
	assert_spoken(fixture, "2024-11-05", "'2024-11-05'");
	assert_spoken(fixture, "2025-06-18", "'2025-06-18'");
	assert_spoken(fixture, "2099-01-01", "'2025-06-18'");
	assert_spoken(fixture, "", "'2025-06-18'");
}

IN_FILLED_WORLD(nothing_but_ping_comes_before_initialize)
{
	AUTO_TALK struct talk talk = talk_begin(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "before 'initialize'");
	ask_mcp(&talk, REQUEST("2", "nonsense"));
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_REQUEST, "before 'initialize'");
	ask_mcp(&talk, REQUEST("'p'", "ping"));
	assert_answer(&talk, "id", "'p'");
	assert_answer(&talk, "result", "{}");
}

IN_FILLED_WORLD(initialize_comes_once_and_with_a_revision)
{
	AUTO_TALK struct talk talk = talk_begin(fixture);

	ask_mcp(&talk, REQUEST("1", "initialize"));
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_PARAMS, "expected an object");
	ask_mcp(&talk, "{'id':2,'jsonrpc':'2.0','method':'initialize','params':{}}");
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "'protocolVersion'");
	ask_mcp(&talk, HELLO);
	assert_answer(&talk, "result.serverInfo.name", "'worldfs'");
	ask_mcp(&talk, HELLO);
	assert_mcp_error(&talk, "0", WFS_RPC_INVALID_REQUEST, "already");
}

/* --- messages --- */

IN_FILLED_WORLD(a_line_that_is_not_json_is_a_parse_error)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "{'id':1,");
	assert_mcp_error(&talk, "null", WFS_RPC_PARSE_ERROR, "");
	ask_mcp(&talk, "\xff");
	assert_mcp_error(&talk, "null", WFS_RPC_PARSE_ERROR, "");
	ask_mcp(&talk, REQUEST("1", "ping"));
	assert_answer(&talk, "result", "{}");
}

IN_FILLED_WORLD(what_is_no_message_is_an_invalid_request)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "7");
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "an object");
	ask_mcp(&talk, "{}");
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "'jsonrpc'");
	ask_mcp(&talk, "{'id':1,'jsonrpc':'1.0','method':'ping'}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "'jsonrpc'");
	ask_mcp(&talk, "{'id':1,'jsonrpc':2.0,'method':'ping'}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "'jsonrpc'");
	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0'}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "'method'");
	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0','method':7}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "'method'");
}

IN_FILLED_WORLD(an_id_is_a_string_or_an_integer)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("null", "ping"));
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "'id'");
	ask_mcp(&talk, REQUEST("1.5", "ping"));
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "'id'");
	ask_mcp(&talk, REQUEST("[1]", "ping"));
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "'id'");
	ask_mcp(&talk, REQUEST("-9223372036854775808", "ping"));
	assert_answer(&talk, "id", "-9223372036854775808");
}

IN_FILLED_WORLD(a_batch_is_refused)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "[" REQUEST("1", "ping") "]");
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "batches");
	ask_mcp(&talk, "[]");
	assert_mcp_error(&talk, "null", WFS_RPC_INVALID_REQUEST, "batches");
}

IN_FILLED_WORLD(an_unknown_method_is_not_found)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("1", "prompts/list"));
	assert_mcp_error(&talk, "1", WFS_RPC_METHOD_NOT_FOUND, "'prompts/list'");
	ask_mcp(&talk, REQUEST("2", "logging/setLevel"));
	assert_mcp_error(&talk, "2", WFS_RPC_METHOD_NOT_FOUND, "'logging/setLevel'");
	/* Notifications are not requests and get no answer. */
	ask_mcp(&talk, REQUEST("3", "notifications/cancelled"));
	assert_mcp_error(&talk, "3", WFS_RPC_METHOD_NOT_FOUND, "notifications/cancelled");
}

IN_FILLED_WORLD(params_are_an_object)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0','method':'ping','params':[1]}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_PARAMS, "'params'");
	ask_mcp(&talk, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':[1]}");
	assert_int_equal(json_array_size(talk.said), 0);
}

IN_FILLED_WORLD(notifications_and_responses_are_not_answered)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "{'jsonrpc':'2.0','method':'tools/list'}");
	assert_int_equal(json_array_size(talk.said), 0);
	ask_mcp(&talk, "{'jsonrpc':'2.0','method':'notifications/unheard/of'}");
	assert_int_equal(json_array_size(talk.said), 0);
	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0','result':{}}");
	assert_int_equal(json_array_size(talk.said), 0);
	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0','error':{'code':1,'message':'x'}}");
	assert_int_equal(json_array_size(talk.said), 0);
}

/* --- tools --- */

IN_FILLED_WORLD(tools_are_listed_with_their_schemas)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("1", "tools/list"));

	const json_t *const tools =
		json_object_get(json_object_get(answer_of(&talk), "result"), "tools");
	assert_int_equal(json_array_size(tools), wfs_tool_count);
	assert_part(tools, "4.name", "'fs_read'");
	assert_part(tools, "4.inputSchema.required", "['path']");
	assert_part(tools, "4.inputSchema.additionalProperties", "false");
	assert_part(tools, "4.annotations", "{'openWorldHint':false,'readOnlyHint':true}");
	assert_part(tools, "5.annotations", "{'openWorldHint':false,'readOnlyHint':true}");
	assert_part(tools, "6.annotations", "{'openWorldHint':false,'readOnlyHint':false}");
}

IN_FILLED_WORLD(a_cursor_that_was_not_given_is_refused)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, "{'id':1,'jsonrpc':'2.0','method':'tools/list','params':{'cursor':'x'}}");
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_PARAMS, "'cursor'");
	ask_mcp(&talk,
		"{'id':2,'jsonrpc':'2.0','method':'resources/templates/list','params':"
		"{'cursor':'x'}}");
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "'cursor'");
	ask_mcp(&talk,
		"{'id':3,'jsonrpc':'2.0','method':'resources/list','params':{'cursor':'x'}}");
	assert_mcp_error(&talk, "3", WFS_RPC_INVALID_PARAMS, "'cursor'");
	ask_mcp(&talk, "{'id':4,'jsonrpc':'2.0','method':'resources/list','params':{'cursor':7}}");
	assert_mcp_error(&talk, "4", WFS_RPC_INVALID_PARAMS, "'cursor'");
}

IN_FILLED_WORLD(a_call_gives_text_and_structure_with_meta)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, CALL("'c'", "fs_read_reducer", "{'name':'cell','key':'b/c'}"));

	assert_answer(&talk, "id", "'c'");
	assert_answer(&talk, "result.isError", "false");
	assert_answer(&talk, "result.structuredContent.state", "{'n':2}");
	assert_answer(&talk, "result.structuredContent.meta.journal_height", "5");
	assert_answer(&talk, "result.content.0.type", "'text'");
	/* Clients that do not know structured results get these as text. */
	WFS_AUTO_JSON json_t *text = NULL;
	const json_t *const result = json_object_get(answer_of(&talk), "result");
	const char *const content = json_string_value(
		json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
	assert_int_equal(wfs_json_parse(content, strlen(content), &text, NULL), 0);
	assert_true(json_equal(text, json_object_get(result, "structuredContent")));
}

IN_FILLED_WORLD(the_text_of_a_file_stands_by_itself)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, CALL("1", "fs_read", "{'path':'reducers/cell/a'}"));

	assert_answer(&talk, "result.content.0.text", "'{\\'n\\':3}\\n'");
	assert_answer(&talk, "result.structuredContent.text", "'{\\'n\\':3}\\n'");
	assert_answer(&talk, "result.structuredContent.eof", "true");
	assert_int_equal(json_array_size(json_object_get(
				 json_object_get(answer_of(&talk), "result"), "content")),
		2);
}

IN_FILLED_WORLD(every_tool_works)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);
	char first_cell[64];

	ask_mcp(&talk, CALL("1", "fs_read_manifest", "{}"));
	assert_answer(&talk, "result.structuredContent.manifest.name", "'fixture'");
	ask_mcp(&talk, CALL("1", "fs_ls", "{'path':'reducers','depth':2}"));
	snprintf(first_cell, sizeof(first_cell), "result.structuredContent.entries.%d.path",
		3 + BUILTIN_SHOWN_COUNT); /* the cell comes after the reducers */
	assert_answer(&talk, first_cell, "'reducers/cell/a'");
	ask_mcp(&talk, CALL("1", "fs_stat", "{'path':'reducers/cell/a'}"));
	assert_answer(&talk, "result.structuredContent.size", "8");
	ask_mcp(&talk, CALL("1", "invoke", "{'action':{'action_type':'noop','reasoning':null}}"));
	assert_answer(&talk, "result.structuredContent.ok", "true");
}

IN_FILLED_WORLD(a_call_that_fails_is_an_error_of_the_tool)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, CALL("1", "fs_read", "{'path':'nowhere'}"));

	assert_answer(&talk, "result.isError", "true");
	assert_answer(&talk, "result.structuredContent.error.code", "'not_found'");
	assert_answer(&talk, "result.structuredContent.meta.journal_height", "5");
	ask_mcp(&talk, CALL("2", "fs_read_reducer", "{'name':'nobody'}"));
	assert_answer(&talk, "result.structuredContent.error.code", "'reducer_missing'");
	ask_mcp(&talk, CALL("3", "fs_ls", "{'path':'at/99'}"));
	assert_answer(&talk, "result.isError", "true");
}

IN_FILLED_WORLD(a_call_that_is_wrong_is_an_error_of_the_protocol)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, CALL("1", "fs_write", "{}"));
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_PARAMS, "Unknown tool: fs_write");
	ask_mcp(&talk, REQUEST("2", "tools/call"));
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "'name' is missing");
	ask_mcp(&talk, CALL("3", "fs_read", "{'path':7}"));
	assert_mcp_error(&talk, "3", WFS_RPC_INVALID_PARAMS, "fs_read: 'path': expected a string");
	assert_answer(&talk, "error.data.code", "'invalid_argument'");
	ask_mcp(&talk, CALL("4", "fs_read", "[]"));
	assert_mcp_error(&talk, "4", WFS_RPC_INVALID_PARAMS, "expected an object");
}

/* --- several at once --- */

IN_FILLED_WORLD(calls_are_answered_by_id)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);
	unsigned int seen = 0;
	json_t *answer;
	size_t i;

	say(&talk, CALL("1", "fs_ls", "{'path':'/','depth':3}"));
	say(&talk, CALL("2", "invoke", "{'action':{'action_type':'noop'}}"));
	say(&talk, CALL("3", "fs_stat", "{'path':'README'}"));
	say(&talk, REQUEST("4", "ping"));
	let_it_work(&talk);
	collect(&talk);

	assert_int_equal(json_array_size(talk.said), 4);
	json_array_foreach(talk.said, i, answer)
		seen |= 1U << json_integer_value(json_object_get(answer, "id"));
	assert_int_equal(seen, 0x1e);
	/* A ping waits for nothing but the client. */
	assert_part(talk.said, "0.id", "4");
}

IN_FILLED_WORLD(a_call_sees_what_a_call_before_it_has_changed)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	say(&talk,
		CALL("1", "invoke",
			"{'action':{'action_type':'write_artifact','artifact_id':'note','content':'"
			"1'}}"));
	say(&talk, CALL("2", "fs_read", "{'path':'artifacts/note/content'}"));
	say(&talk,
		CALL("3", "invoke",
			"{'action':{'action_type':'write_artifact','artifact_id':'note','content':'"
			"2'}}"));
	say(&talk, CALL("4", "fs_read", "{'path':'artifacts/note/content'}"));
	let_it_work(&talk);
	collect(&talk);

	assert_int_equal(json_array_size(talk.said), 4);
	assert_part(talk.said, "1.id", "2");
	assert_part(talk.said, "1.result.content.0.text", "'1'");
	assert_part(talk.said, "3.id", "4");
	assert_part(talk.said, "3.result.content.0.text", "'2'");
}

IN_FILLED_WORLD(an_id_that_is_under_way_is_refused)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	say(&talk, CALL("1", "fs_stat", "{'path':'README'}"));
	say(&talk, REQUEST("1", "ping"));
	collect(&talk);
	assert_mcp_error(&talk, "1", WFS_RPC_INVALID_REQUEST, "under way");
	let_it_work(&talk);
	collect(&talk);
	assert_answer(&talk, "result.isError", "false");
}

IN_FILLED_WORLD(a_cancelled_call_is_not_answered)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	say(&talk, CALL("'x'", "fs_ls", "{'path':'/','depth':3}"));
	say(&talk, CALL("'y'", "fs_stat", "{'path':'README'}"));
	ask_mcp(&talk,
		"{'jsonrpc':'2.0','method':'notifications/cancelled','params':"
		"{'requestId':'x','reason':'changed my mind'}}");

	assert_answer(&talk, "id", "'y'");
}

IN_FILLED_WORLD(cancelling_what_is_not_under_way_is_nothing)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk,
		"{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':9}}");
	assert_int_equal(json_array_size(talk.said), 0);
	ask_mcp(&talk, "{'jsonrpc':'2.0','method':'notifications/cancelled'}");
	assert_int_equal(json_array_size(talk.said), 0);
}

/* An owner whose answers the test writes. The call of @talk waits for such an answer. */
struct slow_owner {
	int listener;
	int connection;
};

static struct slow_owner owner_begin(const struct world_fixture *fixture, struct talk *talk)
{
	struct slow_owner owner = {.listener = wfs_socket_listen(fixture->directory, false, NULL)};
	char request[4096];

	assert_int_equal(listen(owner.listener, 1), 0);
	say(talk, CALL("'slow'", "fs_stat", "{'path':'README'}"));
	assert_false(wfs_mcp_advance(talk->mcp));
	owner.connection = accept(owner.listener, NULL, NULL);
	assert_true(recv(owner.connection, request, sizeof(request), 0) > 0);
	return owner;
}

static void owner_end(const struct slow_owner *owner)
{
	close(owner->connection);
	close(owner->listener);
}

IN_FILLED_WORLD(a_call_that_is_cancelled_while_the_owner_works_is_not_answered)
{
	static const char answer[] = "{\"id\":\"1\",\"ok\":true,\"result\":{}}\n";
	AUTO_TALK struct talk talk = talk_hello(fixture);
	const struct slow_owner owner = owner_begin(fixture, &talk);

	say(&talk,
		"{'jsonrpc':'2.0','method':'notifications/cancelled','params':"
		"{'requestId':'slow'}}");
	assert_true(wfs_mcp_is_busy(talk.mcp)); /* the answer has not come yet */
	assert_true(send(owner.connection, answer, strlen(answer), 0) > 0);
	let_it_work(&talk);
	collect(&talk);

	assert_int_equal(json_array_size(talk.said), 0);
	owner_end(&owner);
}

IN_FILLED_WORLD(an_owner_that_ends_fails_what_it_was_asked)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);
	const struct slow_owner owner = owner_begin(fixture, &talk);

	owner_end(&owner);
	let_it_work(&talk);
	collect(&talk);

	assert_answer(&talk, "result.structuredContent.error.code", "'cancelled'");
	assert_answer(&talk, "result.structuredContent.error.retriable", "true");
	/* The next call is answered without that owner. */
	ask_mcp(&talk, CALL("2", "fs_stat", "{'path':'README'}"));
	assert_answer(&talk, "result.isError", "false");
}

IN_FILLED_WORLD(it_is_full_with_64_calls)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);
	char call[200];

	for (int i = 0; i < WFS_MCP_CALLS_MAX; i++) {
		assert_false(wfs_mcp_is_full(talk.mcp));
		snprintf(call, sizeof(call), CALL("%d", "fs_stat", "{'path':'README'}"), i + 1);
		say(&talk, call);
	}
	assert_true(wfs_mcp_is_full(talk.mcp));
	let_it_work(&talk);
	assert_false(wfs_mcp_is_full(talk.mcp));
	collect(&talk);
	assert_int_equal(json_array_size(talk.said), WFS_MCP_CALLS_MAX);
}

/* Other processes may change the world between two calls. */
IN_FILLED_WORLD(the_world_is_open_only_while_a_call_is_under_way)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, CALL("1", "invoke", "{'action':{'action_type':'noop'}}"));
	assert_int_equal(world_fixture_open(fixture), 0);
	tell(fixture, "{'key':'a','op':'set','n':9}");
	world_fixture_close(fixture);
	ask_mcp(&talk, CALL("2", "fs_read_reducer", "{'name':'cell','key':'a'}"));

	assert_answer(&talk, "result.structuredContent.state", "{'n':9}");
}

IN_FILLED_WORLD(a_world_that_went_away_fails_the_call)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	wfs_directory_remove(fixture->directory);
	ask_mcp(&talk, CALL("1", "fs_stat", "{'path':'README'}"));

	assert_answer(&talk, "result.isError", "true");
}

IN_FILLED_WORLD(calls_under_way_are_released)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	say(&talk, CALL("1", "fs_ls", "{'path':'/','depth':8}"));
	say(&talk, CALL("2", "invoke", "{'action':{'action_type':'noop'}}"));
	wfs_mcp_free(NULL);
}

/* --- input that nobody thought of --- */

/* Changes one byte of a good message after the other: each answer is a message, and the request
 * that follows is answered. */
IN_FILLED_WORLD(changed_messages_are_survived)
{
	static const char *const messages[] = {HELLO, REQUEST("1", "tools/list"),
		CALL("1", "fs_ls", "{'path':'/','depth':2}"), READ("1", "worldfs:///at/3/README"),
		"{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}"};
	static const char others[] = "\"{}[]:,0-.ex\\ \x00\x7f\xc3\xff";
	AUTO_TALK struct talk talk = talk_hello(fixture);
	unsigned int answers = 0;

	for (size_t m = 0; m < WFS_ARRAY_COUNT(messages); m++) {
		WFS_AUTO_FREE char *text = json_text(messages[m]);
		const size_t size = strlen(text);

		for (size_t at = 0; at < size; at++) {
			const char before = text[at];

			text[at] = others[(at * 7 + m) % (sizeof(others) - 1)];
			wfs_mcp_take(talk.mcp, WFS_BYTES(text, size));
			text[at] = before;
			wfs_mcp_take(talk.mcp, WFS_BYTES(text, at)); /* the text is cut off there */
			let_it_work(&talk);
			collect(&talk);
			answers += (unsigned int)json_array_size(talk.said);
		}
	}
	assert_true(answers > 100);
	ask_mcp(&talk, REQUEST("'still there'", "ping"));
	assert_answer(&talk, "id", "'still there'");
}
