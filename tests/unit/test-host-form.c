/* SPDX-License-Identifier: Apache-2.0 */
/* The form of host.json, and the messages about mistakes in it. */
#include "tests/fixture/json.h"

#include "kernel/base/host-form.h"
#include "kernel/base/json.h"

#define OPENAI "'provider':'openai','base_url':'http://127.0.0.1/v1'"

static json_t *parse(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	json_t *value;

	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	return value;
}

static void expect(const char *quoted, const char *message)
{
	WFS_AUTO_JSON json_t *host = parse(quoted);
	struct wfs_error error = {.code = WFS_OK};

	print_message("%s\n", quoted);
	assert_int_equal(wfs_host_check(host, &error), message ? -EINVAL : 0);
	if (!message)
		return;
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, message);
}

/* Expects a refusal of the model m with this entry, at a pointer below /models/m. */
static void expect_refused(const char *entry, const char *rest)
{
	WFS_AUTO_BUFFER struct wfs_buffer host = {0};
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};

	wfs_buffer_printf(&host, "{'models':{'m':%s}}", entry);
	wfs_buffer_printf(&message, "host.json: /models/m%s", rest);
	expect(wfs_buffer_text(&host), wfs_buffer_text(&message));
}

TEST(a_file_with_all_members_passes)
{
	expect("{}", NULL);
	expect("{'models':{},'uids':{}}", NULL);
	expect("{'models':{'s':{'provider':'script','file':'s.jsonl'},'m':{" OPENAI
	       ",'api_key_env':'KEY','connect_timeout_ms':1,'dimensions':4096,'extra_body':{},"
	       "'first_byte_timeout_ms':2,'idle_timeout_ms':3,"
	       "'max_tokens_name':'max_completion_tokens','model':'gpt','profile':'sglang',"
	       "'stream':true,'total_timeout_ms':2147483647}},"
	       "'uids':{'0':'bob','4294967295':'alice'}}",
		NULL);
	expect("{'models':{'m':{" OPENAI ",'extra_body':null}}}", NULL);
}

TEST(a_file_is_an_object_of_known_members)
{
	expect("[]", "host.json: /: expected an object, got array of 0 items");
	expect("{'model':{}}",
		"host.json: /model: expected a member that worldfs-host(5) names, got object with "
		"0 members");
	expect("{'models':[]}", "host.json: /models: expected an object, got array of 0 items");
	expect("{'models':null}", "host.json: /models: expected an object, got null");
	expect("{'models':{'a/b':5}}",
		"host.json: /models/a~1b: expected an object, got integer 5");
}

TEST(a_model_has_a_provider_and_what_this_needs)
{
	expect_refused("{}", "/provider: expected text, got nothing");
	expect_refused("{'provider':5}", "/provider: expected text, got integer 5");
	expect_refused("{'provider':'other'}",
		"/provider: expected one of: openai script, got string \"other\"");
	expect_refused("{'provider':'open'}",
		"/provider: expected one of: openai script, got string \"open\"");
	expect_refused(
		"{'provider':''}", "/provider: expected one of: openai script, got string \"\"");
	expect_refused("{'provider':'openai','file':'f'}",
		": expected 'base_url', which the provider 'openai' needs, got no such member");
	expect_refused("{'provider':'script','base_url':'u'}",
		": expected 'file', which the provider 'script' needs, got no such member");
}

TEST(a_member_of_a_model_has_its_type)
{
	expect_refused("{" OPENAI ",'api_key':'k'}",
		"/api_key: expected a member that worldfs-host(5) names, got string \"k\"");
	expect_refused(
		"{" OPENAI ",'api_key_env':5}", "/api_key_env: expected text, got integer 5");
	expect_refused(
		"{'provider':'openai','base_url':null}", "/base_url: expected text, got null");
	expect_refused(
		"{" OPENAI ",'model':['gpt']}", "/model: expected text, got array of 1 item");
	expect_refused("{" OPENAI ",'extra_body':[]}",
		"/extra_body: expected an object, got array of 0 items");
	expect_refused("{" OPENAI ",'stream':'yes'}",
		"/stream: expected true or false, got string \"yes\"");
	expect_refused("{" OPENAI ",'profile':'mine'}",
		"/profile: expected one of: openai vllm llamacpp sglang, got string \"mine\"");
	expect_refused("{" OPENAI ",'max_tokens_name':'n'}",
		"/max_tokens_name: expected one of: max_tokens max_completion_tokens, got string "
		"\"n\"");
}

TEST(a_number_of_a_model_is_within_its_bounds)
{
	expect_refused("{" OPENAI ",'dimensions':0}",
		"/dimensions: expected an integer from 1 to 4096, got integer 0");
	expect_refused("{" OPENAI ",'dimensions':4097}",
		"/dimensions: expected an integer from 1 to 4096, got integer 4097");
	expect_refused("{" OPENAI ",'dimensions':'768'}",
		"/dimensions: expected an integer from 1 to 4096, got string \"768\"");
#define TIME(name, value, got)                              \
	expect_refused("{" OPENAI ",'" name "':" value "}", \
		"/" name ": expected an integer from 1 to 2147483647, got " got)
	TIME("connect_timeout_ms", "0", "integer 0");
	TIME("first_byte_timeout_ms", "'1'", "string \"1\"");
	TIME("idle_timeout_ms", "-1", "integer -1");
	TIME("total_timeout_ms", "1.5", "number 1.5");
	TIME("total_timeout_ms", "2147483648", "integer 2147483648");
}

/* --- servers of tools --- */

/* Expects a refusal of the server s with this entry, at a pointer below /tools/s. */
static void expect_server_refused(const char *entry, const char *rest)
{
	WFS_AUTO_BUFFER struct wfs_buffer host = {0};
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};

	wfs_buffer_printf(&host, "{'tools':{'s':%s}}", entry);
	wfs_buffer_printf(&message, "host.json: /tools/s%s", rest);
	expect(wfs_buffer_text(&host), wfs_buffer_text(&message));
}

TEST(servers_with_all_members_pass)
{
	expect("{'tools':{}}", NULL);
	expect("{'tools':{'git-1_A':{'command':['ls','-l'],'env':['PATH'],'timeout_ms':1,"
	       "'output_max_bytes':8388608,'concurrency':256,'start':'always','sandbox':true,"
	       "'network':false},'search':{'url':'https://example.org/mcp','headers_env':"
	       "{'Authorization':'TOKEN','X-Key':'KEY'},'start':'lazy'}}}",
		NULL);
}

TEST(a_server_has_a_command_or_a_url)
{
	expect_server_refused("{}", ": expected either 'command' or 'url', got neither");
	expect_server_refused("{'command':['ls'],'url':'http://x'}",
		": expected either 'command' or 'url', got both");
	expect_server_refused("{'url':'http://x','env':['PATH']}",
		": expected 'command', which 'env' needs, got no such member");
	expect_server_refused("{'url':'http://x','sandbox':true}",
		": expected 'command', which 'sandbox' needs, got no such member");
	expect_server_refused("{'command':['ls'],'network':true}",
		": expected 'sandbox', which 'network' needs, got no such member");
	expect_server_refused("{'command':['ls'],'headers_env':{'A':'B'}}",
		": expected 'url', which 'headers_env' needs, got no such member");
}

TEST(lists_of_a_server_have_their_types)
{
	expect_server_refused("{'command':'ls'}", "/command: expected an array, got string \"ls\"");
	expect_server_refused("{'command':['ls',5]}", "/command/1: expected text, got integer 5");
	expect_server_refused("{'command':[]}", "/command: expected 1 to 256 items, got 0");
	expect_server_refused("{'command':['']}", "/command: expected a program, got ''");
	expect_server_refused("{'command':['ls'],'env':['A=B']}",
		"/env/0: expected the name of an environment variable, got 'A=B'");
	expect_server_refused("{'command':['ls'],'env':['']}",
		"/env/0: expected the name of an environment variable, got ''");
#define HEADER(name)                                                                           \
	expect_server_refused("{'url':'http://x','headers_env':{'" name "':'TOKEN'}}",         \
		"/headers_env: expected the name of a header that the protocol does not use, " \
		"got '" name "'")
	HEADER("");
	HEADER("A b");
	HEADER("A:");
	HEADER("A/b");
	HEADER("content-length");
	HEADER("MCP-Session-ID");
	HEADER("Host");
}

TEST(a_server_has_a_name_that_tools_can_have_in_front)
{
#define SERVER(name)                                                                           \
	expect("{'tools':{'" name "':{'command':['ls']}}}",                                    \
		"host.json: /tools: expected a server's name of at most 64 letters of ASCII, " \
		"digits, '_' and '-', got '" name "'")
	SERVER("");
	SERVER("a.b");
	SERVER("a/b");
	SERVER("é");
	SERVER("0123456789012345678901234567890123456789012345678901234567890123x");
}

TEST(servers_have_a_bound)
{
	WFS_AUTO_BUFFER struct wfs_buffer host = {0};

	wfs_buffer_append_text(&host, "{'tools':{");
	for (int i = 0; i < WFS_HOST_SERVERS_MAX + 1; i++)
		wfs_buffer_printf(&host, "%s's%d':{'command':['ls']}", i ? "," : "", i);
	wfs_buffer_append_text(&host, "}}");

	expect(wfs_buffer_text(&host), "host.json: /tools: expected at most 64 servers, got 65");
}

TEST(a_number_of_a_server_is_within_its_bounds)
{
#define NUMBER(name, value, most)                                        \
	expect_server_refused("{'command':['ls'],'" name "':" value "}", \
		"/" name ": expected an integer from 1 to " most ", got integer " value)
	NUMBER("timeout_ms", "0", "2147483647");
	NUMBER("output_max_bytes", "8388609", "8388608");
	NUMBER("concurrency", "257", "256");
	expect_server_refused("{'command':['ls'],'start':'now'}",
		"/start: expected one of: lazy always, got string \"now\"");
}

TEST(users_are_numbers_with_principals)
{
	expect("{'uids':[]}", "host.json: /uids: expected an object, got array of 0 items");
	expect("{'uids':{'7':7}}", "host.json: /uids/7: expected text, got integer 7");
#define NO_NUMBER(text)                         \
	expect("{'uids':{'" text "':'alice'}}", \
		"host.json: /uids: expected a user's number, got '" text "'")
	NO_NUMBER("alice");
	NO_NUMBER("");
	NO_NUMBER("007");
	NO_NUMBER("-1");
	NO_NUMBER("4294967296");
}

TEST(a_model_is_read_into_a_struct)
{
	WFS_AUTO_JSON json_t *entry = parse("{" OPENAI ",'stream':true,'idle_timeout_ms':3}");
	struct wfs_host_model model;

	assert_int_equal(wfs_form_read(&wfs_host_model_form, "a model", entry, &model, NULL), 0);
	assert_string_equal(model.provider, "openai");
	assert_string_equal(model.base_url, "http://127.0.0.1/v1");
	assert_true(model.stream);
	assert_int_equal(model.idle_timeout_ms, 3);
	assert_int_equal(model.total_timeout_ms, -1);
	assert_null(model.api_key_env);
}
