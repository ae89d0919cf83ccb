/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the tree as resources of the Model Context Protocol. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/mcp.h"

#define LINE(constant, name, hidden) BUILTIN_UNLESS_##hidden(name "/\\n")

/* --- resources --- */

IN_FILLED_WORLD(the_files_of_the_root_and_the_reducers_are_resources)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("1", "resources/list"));

	const json_t *const result = json_object_get(answer_of(&talk), "result");
	assert_int_equal(
		json_array_size(json_object_get(result, "resources")), 2 + 3 + BUILTIN_SHOWN_COUNT);
	assert_part(result, "resources.0.uri", "'worldfs:///README'");
	assert_part(result, "resources.0.mimeType", "'text/plain'");
	assert_part(result, "resources.1.uri", "'worldfs:///manifest'");
	assert_part(result, "resources.1.mimeType", "'application/json'");
	assert_part(result, "resources.2.uri", "'worldfs:///reducers/cell'");
	assert_part(result, "resources.2.mimeType", "'inode/directory'");
	assert_null(json_object_get(result, "nextCursor"));
}

IN_FILLED_WORLD(templates_have_any_path_at_any_height)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, REQUEST("1", "resources/templates/list"));

	assert_answer(&talk, "result.resourceTemplates.0.uriTemplate", "'worldfs:///{+path}'");
	assert_answer(&talk, "result.resourceTemplates.1.uriTemplate",
		"'worldfs:///at/{height}/{+path}'");
}

IN_FILLED_WORLD(a_file_is_read_as_a_resource)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, READ("1", "worldfs:///reducers/cell/b%2Fc"));
	assert_answer(&talk, "result.contents",
		"[{'mimeType':'application/json','text':'{\\'n\\':2}\\n',"
		"'uri':'worldfs:///reducers/cell/b%2Fc'}]");
	ask_mcp(&talk, READ("2", "worldfs:///at/3/reducers/cell/a"));
	assert_answer(&talk, "result.contents.0.text", "'{\\'n\\':1}\\n'");
	assert_answer(&talk, "result.contents.0.mimeType", "'application/json'");
	ask_mcp(&talk, READ("3", "worldfs:///README"));
	assert_answer(&talk, "result.contents.0.mimeType", "'text/plain'");
}

IN_FILLED_WORLD(a_directory_is_read_as_its_names)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, READ("1", "worldfs:///reducers/cell"));
	assert_answer(&talk, "result.contents",
		"[{'mimeType':'inode/directory','text':'a\\nb%2Fc\\n',"
		"'uri':'worldfs:///reducers/cell'}]");
	ask_mcp(&talk, READ("2", "worldfs:///reducers/"));
	assert_answer(&talk, "result.contents.0.text",
		"'cell/\\ntotal/\\ndeep/\\n" WFS_BUILTIN_REDUCERS(LINE) "'");
}

/* A page of a listing also ends after it has passed over many names. */
IN_WORLD(a_directory_is_read_to_its_end_past_names_that_are_hidden)
{
	AUTO_TALK struct talk talk = {.mcp = NULL};
	char value[64];

	assert_int_equal(act_in(fixture, "{'action_type':'principal','id':'alice'}"), 0);
	assert_int_equal(
		act_in(fixture,
			"{'action_type':'grant','cap':'sys/query@1','name':'g','to':'alice',"
			"'params':{'scope':['reducers/cell/first','reducers/cell/last']}}"),
		0);
	tell(fixture, "{'key':'first','op':'set'}");
	for (int i = 0; i < 10; i++) {
		snprintf(value, sizeof(value), "{'key':'b%d','op':'emit','n':1000}", i);
		tell(fixture, value);
	}
	tell(fixture, "{'key':'last','op':'set'}");
	world_fixture_close(fixture);
	assert_int_equal(wfs_mcp_new(fixture->directory, "alice", NULL, &talk.mcp), 0);
	ask_mcp(&talk, HELLO);
	say(&talk, "{'jsonrpc':'2.0','method':'notifications/initialized'}");

	ask_mcp(&talk, READ("1", "worldfs:///reducers/cell"));
	assert_answer(&talk, "result.contents.0.text", "'first\\nlast\\n'");
	ask_mcp(&talk, CALL("2", "fs_ls", "{'path':'reducers/cell'}"));
	assert_answer(&talk, "result.structuredContent.more", "false");
	assert_answer(&talk, "result.structuredContent.entries.1.path", "'reducers/cell/last'");
}

IN_WORLD(a_directory_with_more_than_a_thousand_names_says_so)
{
	tell(fixture, "{'key':'b','op':'emit','n':1000}");
	tell(fixture, "{'key':'last','op':'set'}");
	world_fixture_close(fixture);
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, READ("1", "worldfs:///reducers/cell"));

	const char *const text = json_string_value(json_object_get(
		json_array_get(
			json_object_get(json_object_get(answer_of(&talk), "result"), "contents"),
			0),
		"text"));
	assert_non_null(strstr(text, "\n(there are more)\n"));
	assert_null(strstr(text, "last"));
}

IN_WORLD(bytes_are_read_as_a_blob)
{
	struct wfs_hash hash;
	char text[WFS_HASH_TEXT_SIZE];
	char request[300];

	assert_int_equal(put_blob(fixture, "\xff\x00", 2, &hash), 0);
	world_fixture_close(fixture);
	wfs_hash_text(&hash, text);
	AUTO_TALK struct talk talk = talk_hello(fixture);

	snprintf(request, sizeof(request), READ("1", "worldfs:///blob/%s"), strchr(text, ':') + 1);
	ask_mcp(&talk, request);

	assert_answer(&talk, "result.contents.0.blob", "'/wA='");
	assert_answer(&talk, "result.contents.0.mimeType", "'application/octet-stream'");
}

IN_WORLD(a_resource_of_several_parts_is_whole)
{
	const size_t size = WFS_MCP_RESOURCE_MAX;
	WFS_AUTO_FREE char *bytes = malloc(size + 1);
	struct wfs_hash fits;
	struct wfs_hash larger;
	char text[WFS_HASH_TEXT_SIZE];
	char request[300];

	memset(bytes, 'x', size + 1);
	assert_int_equal(put_blob(fixture, bytes, size, &fits), 0);
	assert_int_equal(put_blob(fixture, bytes, size + 1, &larger), 0);
	world_fixture_close(fixture);
	AUTO_TALK struct talk talk = talk_hello(fixture);

	wfs_hash_text(&fits, text);
	snprintf(request, sizeof(request), READ("1", "worldfs:///blob/%s"), strchr(text, ':') + 1);
	ask_mcp(&talk, request);
	assert_int_equal(
		json_string_length(json_object_get(
			json_array_get(json_object_get(json_object_get(answer_of(&talk), "result"),
					       "contents"),
				0),
			"text")),
		size);
	wfs_hash_text(&larger, text);
	snprintf(request, sizeof(request), READ("2", "worldfs:///blob/%s"), strchr(text, ':') + 1);
	ask_mcp(&talk, request);
	assert_mcp_error(&talk, "2", WFS_RPC_INVALID_PARAMS, "more than the 4194304");
}

IN_FILLED_WORLD(a_resource_that_is_not_there_is_not_found)
{
	AUTO_TALK struct talk talk = talk_hello(fixture);

	ask_mcp(&talk, READ("1", "worldfs:///reducers/cell/x"));
	assert_mcp_error(&talk, "1", WFS_RPC_RESOURCE_NOT_FOUND, "reducers/cell/x");
	assert_answer(&talk, "error.data.uri", "'worldfs:///reducers/cell/x'");
	ask_mcp(&talk, READ("2", "worldfs:///at/99/README"));
	assert_mcp_error(&talk, "2", WFS_RPC_RESOURCE_NOT_FOUND, "");
	ask_mcp(&talk, READ("3", "file:///etc/passwd"));
	assert_mcp_error(&talk, "3", WFS_RPC_RESOURCE_NOT_FOUND, "expected worldfs:///PATH");
	ask_mcp(&talk, READ("4", "worldfs:///../../etc/passwd"));
	assert_mcp_error(&talk, "4", WFS_RPC_RESOURCE_NOT_FOUND, "");
	ask_mcp(&talk, REQUEST("5", "resources/read"));
	assert_mcp_error(&talk, "5", WFS_RPC_INVALID_PARAMS, "");
	ask_mcp(&talk, "{'id':6,'jsonrpc':'2.0','method':'resources/read','params':{'uri':7}}");
	assert_mcp_error(&talk, "6", WFS_RPC_INVALID_PARAMS, "'uri'");
}
