/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of JSON-RPC, read and written. */
#include "tests/fixture/json.h"

#include "kernel/base/rpc.h"

static const char *open_message(const char *text, struct wfs_rpc_message *ret_message)
{
	return wfs_rpc_open(json_of(text), ret_message);
}

static void expect_fault(const char *text, const char *fault)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message message;

	print_message("%s\n", text);
	const char *const found = open_message(text, &message);
	assert_non_null(found);
	assert_non_null(strstr(found, fault));
}

TEST(an_answer_has_a_result_or_an_error)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message result;
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message error;

	assert_null(open_message("{'id':5,'jsonrpc':'2.0','result':{'a':1}}", &result));
	assert_null(open_message("{'error':{'code':1},'id':null,'jsonrpc':'2.0'}", &error));

	assert_null(result.method);
	assert_int_equal(json_integer_value(result.id), 5);
	assert_int_equal(json_integer_value(json_object_get(result.result, "a")), 1);
	assert_null(error.id);
	assert_int_equal(json_integer_value(json_object_get(error.error, "code")), 1);
}

TEST(a_value_that_is_no_message_has_a_fault)
{
	expect_fault("[]", "batches");
	expect_fault("5", "an object");
	expect_fault("{'jsonrpc':'1.0','method':'m'}", "'jsonrpc'");
	expect_fault("{'id':[],'jsonrpc':'2.0','method':'m'}", "'id'");
	expect_fault("{'id':null,'jsonrpc':'2.0','method':'m','error':1}", "'id'");
	expect_fault("{'id':1,'jsonrpc':'2.0','method':5}", "'method'");
	expect_fault("{'id':1,'jsonrpc':'2.0'}", "'result'");
}

TEST(params_that_are_not_an_object_are_none)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message message;

	assert_null(open_message("{'jsonrpc':'2.0','method':'m','params':[1]}", &message));
	assert_string_equal(message.method, "m");
	assert_null(message.params);
}

TEST(a_request_is_one_line)
{
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};

	wfs_rpc_request(&output, 7, "m", json_pack("{s:s}", "a", "\n"));
	wfs_rpc_request(&output, 0, "n", json_object());

	assert_string_equal(wfs_buffer_text(&output),
		"{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":\"\\n\"}}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n");
	wfs_rpc_request(&output, 8, "m", NULL);
	assert_int_equal(wfs_buffer_check(&output), -ENOMEM);
}
