/* SPDX-License-Identifier: Apache-2.0 */
/* What a client makes of servers that behave: tools, results, progress, cancelling, bounds of its
 * own. */
#include "tests/fixture/outside.h"

#include "kernel/base/hash-text.h"

/* --- lists --- */

WITH_BOTH(tools_of_all_pages_are_listed)
{
	outside_open(fixture, "", "");

	const struct wfs_outside_server server = outside_listed(fixture);

	assert_int_equal(server.state, WFS_OUTSIDE_READY);
	assert_string_equal(server.reason, "");
	assert_true(server.listed);
	const struct wfs_outside_tool *const first =
		wfs_outside_tool_find(fixture->outside, "s", "echo");
	const struct wfs_outside_tool *const last =
		wfs_outside_tool_find(fixture->outside, "s", "headers_flood");
	assert_non_null(first);
	assert_non_null(last);
	assert_string_equal(first->description, "The mistake echo.");
	assert_json_is(json_incref(first->input_schema), "{'type':'object'}");
	assert_json_is(json_incref(first->annotations), "{'idempotentHint':true}");
	assert_null(wfs_outside_tool_find(fixture->outside, "s", "other"));
	assert_null(wfs_outside_tool_find(fixture->outside, "t", "echo"));
}

WITH_CHILD(a_hash_is_of_the_canonical_description_and_schema)
{
	static const char document[] =
		"{\"description\":\"The mistake echo.\",\"inputSchema\":{\"type\":\"object\"}}\n";
	const struct wfs_hash hash = wfs_hash_of(document, strlen(document));
	outside_open(fixture, "", "");

	outside_listed(fixture);

	const struct wfs_outside_tool *const tool =
		wfs_outside_tool_find(fixture->outside, "s", "echo");
	assert_string_equal(WFS_HASH_TEXT(&tool->hash), WFS_HASH_TEXT(&hash));
}

WITH_BOTH(a_tool_that_changes_is_listed_anew)
{
	outside_open(fixture, fixture->http ? "stream" : "", "");
	outside_listed(fixture);
	const struct wfs_hash before = wfs_outside_tool_find(fixture->outside, "s", "echo")->hash;
	const size_t changed = fixture->changed_count;

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "change", "{}");
	while (fixture->changed_count == changed)
		outside_run(fixture, 10);

	const struct wfs_outside_tool *const tool =
		wfs_outside_tool_find(fixture->outside, "s", "echo");
	assert_int_equal(strncmp(tool->description, "The mistake echo.!", 18), 0);
	assert_false(wfs_hash_equal(&before, &tool->hash));
}

WITH_BOTH(tools_that_change_all_the_time_are_listed_once_a_second)
{
	outside_open(fixture, "", "");
	outside_listed(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "list_flood", "{}");
	outside_run(fixture, 1500);

	assert_in_range(outside_log_count(fixture, "tools/list"), 3, 6); /* two pages each */
}

WITH_BOTH(a_server_without_tools_is_ready)
{
	outside_open(fixture, "no_tools", "");

	const struct wfs_outside_server server = outside_listed(fixture);

	assert_int_equal(server.state, WFS_OUTSIDE_READY);
	assert_int_equal(server.tool_count, 0);
	assert_int_equal(outside_log_count(fixture, "tools/list"), 0);
}

WITH_CHILD(a_server_without_tools_is_not_asked_for_them_when_they_change)
{
	outside_open(fixture, "no_tools,changes_nothing", "");

	outside_listed(fixture);
	outside_run(fixture, 1200); /* longer than the pause between two lists */

	assert_int_equal(outside_log_count(fixture, "notifications/initialized"), 1);
	assert_int_equal(outside_log_count(fixture, "tools/list"), 0);
}

WITH_CHILD(a_lazy_server_is_started_by_the_first_call)
{
	struct wfs_outside_server server;
	outside_open(fixture, "", "");
	outside_run(fixture, 50);
	wfs_outside_server(fixture->outside, 0, &server);
	assert_int_equal(server.state, WFS_OUTSIDE_DOWN);
	assert_int_equal(outside_log_count(fixture, "initialize"), 0);

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "echo", "{'text':'hello'}");

	outside_expect_text(&outcome, "hello");
}

WITH_CHILD(a_server_that_starts_always_needs_no_call)
{
	outside_open(fixture, "", ",'start':'always'");

	outside_until(fixture, WFS_OUTSIDE_READY);
}

/* --- calls --- */

WITH_BOTH(a_call_carries_arguments_intent_and_token)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "echo", "{'text':'hé\\n'}");

	outside_expect_text(&outcome, "hé\n");
	assert_true(outcome.sent);
	assert_false(outcome.is_error);
	assert_json_is(json_incref(outcome.content), "[{'text':'hé\\n','type':'text'}]");
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	const json_t *const last = json_object_get(outside_log_last(log, "tools/call"), "message");
	const json_t *const params = json_object_get(last, "params");
	assert_json_is(json_incref(json_object_get(params, "arguments")), "{'text':'hé\\n'}");
	assert_string_equal(
		wfs_json_text(json_object_get(params, "_meta"), "worldfs/intent_id"), "intent-7");
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(params, "_meta"), "progressToken")),
		json_integer_value(json_object_get(last, "id")));
}

WITH_BOTH(a_call_initializes_once_with_roots_and_no_more)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");
	AUTO_OUTSIDE struct outside_outcome again = outside_ask(fixture, "echo", "{}");

	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	const json_t *const params =
		json_object_get(json_object_get(json_array_get(log, 0), "message"), "params");
	assert_string_equal(wfs_json_text(params, "protocolVersion"), "2025-06-18");
	assert_json_is(json_incref(json_object_get(params, "capabilities")), "{'roots':{}}");
	assert_int_equal(outside_log_count(fixture, "initialize"), 1);
	assert_int_equal(outside_log_count(fixture, "notifications/initialized"), 1);
}

WITH_BOTH(a_tool_that_is_not_listed_is_not_found_and_not_sent)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "other", "{}");

	outside_expect_error(&outcome, WFS_E_NOT_FOUND, "has no tool 'other'");
	assert_false(outcome.sent);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 0);
}

WITH_BOTH(progress_is_reported)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "progress", "{}");

	outside_expect_text(&outcome, "done");
	assert_int_equal(outcome.progress_count, 3);
	assert_true(outcome.progress == 2 && outcome.total == 3);
	assert_string_equal(outcome.progress_message, "step 2");
}

WITH_BOTH(calls_run_at_the_same_time_up_to_the_concurrency)
{
	struct outside_outcome outcomes[4] = {{0}};
	outside_open(fixture, "", ",'concurrency':2");
	outside_listed(fixture);

	for (size_t i = 0; i < 4; i++)
		outside_start(fixture, "sleep", "{'ms':1000}", &outcomes[i]);
	for (size_t i = 0; i < 4; i++)
		outside_wait(fixture, &outcomes[i]);

	assert_in_range(outcomes[3].duration_ms, 1990, 3900); /* one by one it would be 4000 */
	for (size_t i = 0; i < 4; i++) {
		outside_expect_text(&outcomes[i], "slept");
		outside_outcome_done(&outcomes[i]);
	}
}

WITH_BOTH(a_call_times_out_and_the_server_is_told)
{
	outside_open(fixture, "", ",'timeout_ms':1500");
	outside_listed(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "hang", "{}");

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "has not answered within 1500 ms");
	assert_true(outcome.sent);
	assert_in_range(outcome.duration_ms, 1490, 4000);
	AUTO_OUTSIDE struct outside_outcome next = outside_ask(fixture, "echo", "{'text':'on'}");
	outside_expect_text(&next, "on");
	while (outside_log_count(fixture, "ping") == 0 ||
		outside_log_count(fixture, "notifications/cancelled") == 0)
		outside_run(fixture, 10);
}

WITH_BOTH(a_call_may_have_a_time_limit_of_its_own)
{
	outside_open(fixture, "", "");
	outside_listed(fixture);
	fixture->timeout_ms = 1500;

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "hang", "{}");

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "has not answered within 1500 ms");
}

WITH_BOTH(progress_gives_a_call_no_more_time)
{
	outside_open(fixture, "", "");
	outside_listed(fixture);
	fixture->timeout_ms = 1500;

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "progress_on", "{}");

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "has not answered within 1500 ms");
	assert_true(outcome.progress_count > 0);
}

WITH_BOTH(an_answer_to_a_cancelled_call_is_ignored)
{
	AUTO_OUTSIDE struct outside_outcome outcome = {.done_count = 0};
	outside_open(fixture, "", "");
	outside_listed(fixture);
	outside_start(fixture, "sleep", "{'ms':200}", &outcome);
	while (outside_log_count(fixture, "tools/call") == 0)
		outside_run(fixture, 10);

	wfs_outside_call_cancel(outcome.call);
	outside_wait(fixture, &outcome);
	outside_run(fixture, 400);

	outside_expect_error(&outcome, WFS_E_CANCELLED, "cancelled");
	AUTO_OUTSIDE struct outside_outcome next = outside_ask(fixture, "echo", "{'text':'on'}");
	outside_expect_text(&next, "on");
	assert_int_equal(outside_log_count(fixture, "initialize"), 1);
}

WITH_BOTH(a_cancelled_call_ends_once_and_the_server_is_told)
{
	AUTO_OUTSIDE struct outside_outcome outcome = {.done_count = 0};
	outside_open(fixture, "", "");
	outside_listed(fixture);
	outside_start(fixture, "hang", "{}", &outcome);
	while (outside_log_count(fixture, "tools/call") == 0)
		outside_run(fixture, 10);

	wfs_outside_call_cancel(outcome.call);
	assert_int_equal(outcome.done_count, 0);
	wfs_outside_call_cancel(outcome.call);
	outside_wait(fixture, &outcome);

	outside_expect_error(&outcome, WFS_E_CANCELLED, "cancelled");
	while (outside_log_count(fixture, "notifications/cancelled") == 0)
		outside_run(fixture, 10);
	assert_int_equal(outside_log_count(fixture, "notifications/cancelled"), 1);
}

WITH_CHILD(a_call_that_waits_is_cancelled_without_being_sent)
{
	AUTO_OUTSIDE struct outside_outcome first = {.done_count = 0};
	AUTO_OUTSIDE struct outside_outcome second = {.done_count = 0};
	outside_open(fixture, "", ",'concurrency':1");
	outside_listed(fixture);
	outside_start(fixture, "sleep", "{'ms':200}", &first);
	outside_start(fixture, "echo", "{}", &second);

	wfs_outside_call_cancel(second.call);
	outside_wait(fixture, &second);
	outside_wait(fixture, &first);

	outside_expect_error(&second, WFS_E_CANCELLED, "cancelled");
	assert_false(second.sent);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 1);
}

WITH_BOTH(a_client_that_is_freed_calls_nobody)
{
	AUTO_OUTSIDE struct outside_outcome outcome = {.done_count = 0};
	outside_open(fixture, "", "");
	outside_listed(fixture);
	outside_start(fixture, "hang", "{}", &outcome);
	outside_run(fixture, 50);

	wfs_outside_free(WFS_STEAL(fixture->outside));
	outside_run(fixture, 50);

	assert_int_equal(outcome.done_count, 0);
}

/* --- results --- */

WITH_BOTH(an_error_of_a_tool_is_a_result)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "is_error", "{}");

	outside_expect_text(&outcome, "the disk is full");
	assert_true(outcome.is_error);
}

WITH_BOTH(an_error_of_the_protocol_is_a_failure)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "rpc_error", "{}");

	outside_expect_error(&outcome, WFS_E_EFFECT_FAILED, "error -32000: bad ?[31m day");
	assert_true(outcome.sent);
}

WITH_BOTH(bytes_of_an_image_are_a_blob)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "image", "{}");

	outside_expect_text(&outcome, "a picture:\n[image, image/png, 6 bytes]");
	assert_json_is(json_incref(outcome.content),
		"[{'text':'a picture:','type':'text'},"
		"{'blob':0,'mimeType':'image/png','type':'image'}]");
	assert_int_equal(outcome.blob.size, 6);
	assert_memory_equal(outcome.blob.data, "\x89PNG\0\xff", 6);
}

WITH_CHILD(sound_links_and_resources_are_kept)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome audio = outside_ask(fixture, "audio", "{}");
	AUTO_OUTSIDE struct outside_outcome link = outside_ask(fixture, "link", "{}");
	AUTO_OUTSIDE struct outside_outcome resource = outside_ask(fixture, "resource", "{}");

	assert_json_is(
		json_incref(audio.content), "[{'blob':0,'mimeType':'audio/wav','type':'audio'}]");
	outside_expect_text(&link, "[resource_link file:///x, x]");
	assert_json_is(json_incref(link.content),
		"[{'name':'x','type':'resource_link','uri':'file:///x'}]");
	outside_expect_text(&resource, "of a file\n[resource file:///b, 5 bytes]");
	assert_json_is(json_incref(resource.content),
		"[{'text':'of a file','type':'text'},"
		"{'blob':0,'mimeType':'','type':'resource','uri':'file:///b'}]");
	assert_memory_equal(resource.blob.data, "bytes", 5);
}

WITH_BOTH(structured_content_is_kept)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "structured", "{}");

	outside_expect_text(&outcome, "{\"a\":1}");
	assert_json_is(json_incref(outcome.structured), "{'a':1}");
}

WITH_CHILD(structured_content_that_fits_the_output_schema_is_kept)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "typed", "{'structuredContent':{'n':1}}");

	outside_expect_text(&outcome, "typed");
	assert_json_is(json_incref(outcome.structured), "{'n':1}");
	const struct wfs_outside_tool *const tool =
		wfs_outside_tool_find(fixture->outside, "s", "typed");
	assert_json_is(json_incref(tool->output_schema),
		"{'properties':{'n':{'type':'integer'}},'required':['n'],'type':'object'}");
}

WITH_BOTH(structured_content_that_does_not_fit_the_output_schema_is_refused)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome wrong =
		outside_ask(fixture, "typed", "{'structuredContent':{'n':'x'}}");
	AUTO_OUTSIDE struct outside_outcome none = outside_ask(fixture, "typed", "{}");

	outside_expect_error(&wrong, WFS_E_EFFECT_FAILED, "does not fit its output schema: at /n");
	outside_expect_error(&none, WFS_E_EFFECT_FAILED, "no structured content");
	assert_true(wrong.sent && none.sent);
}

WITH_CHILD(an_output_schema_that_is_not_valid_promises_nothing)
{
	outside_open(fixture, "bad_output_schema", "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "typed", "{'structuredContent':{'n':'x'}}");

	outside_expect_text(&outcome, "typed");
	assert_json_is(json_incref(outcome.structured), "{'n':'x'}");
}

WITH_CHILD(an_error_of_a_tool_needs_no_structured_content)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "typed", "{'isError':true}");

	outside_expect_text(&outcome, "typed");
	assert_true(outcome.is_error);
}

WITH_BOTH(text_over_the_bound_is_cut_between_characters)
{
	outside_open(fixture, "", ",'output_max_bytes':1001");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "huge_text", "{'characters':100000}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_non_null(
		strstr(wfs_buffer_text(&outcome.text), "é\n[cut: 199000 bytes were left out]"));
	assert_in_range(outcome.text.size, 1000, 1050);
}

WITH_BOTH(an_image_over_the_bound_is_too_large)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "big_image", "{}");

	outside_expect_error(&outcome, WFS_E_TOO_LARGE, "more than 1048576 bytes");
}

WITH_CHILD(an_image_within_a_larger_bound_is_kept)
{
	outside_open(fixture, "", ",'output_max_bytes':8388608");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "big_image", "{}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_int_equal(outcome.blob.size, 2 << 20);
}

WITH_CHILD(structured_content_over_the_bound_is_too_large)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "big_structured", "{}");

	outside_expect_error(&outcome, WFS_E_TOO_LARGE, "more than 1048576 bytes");
}

/* --- bounds of the client --- */

static void ignore(void *context, const struct wfs_outside_result *result)
{
	(void)context;
	(void)result;
}

static int try_call(struct outside_fixture *fixture, const char *server, json_t *arguments,
	struct wfs_error *error)
{
	const struct wfs_outside_request request = {
		.server = server, .tool = "sleep", .arguments = arguments, .done = ignore};

	return wfs_outside_call_start(fixture->outside, &request, NULL, error);
}

WITH_CHILD(a_call_of_no_server_is_not_found)
{
	WFS_AUTO_JSON json_t *arguments = json_object();
	struct wfs_error error = {.code = WFS_OK};
	outside_open_table(fixture, "{}");

	assert_int_equal(try_call(fixture, "s", arguments, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
}

WITH_CHILD(arguments_are_an_object)
{
	WFS_AUTO_JSON json_t *arguments = json_array();
	struct wfs_error error = {.code = WFS_OK};
	outside_open(fixture, "", "");

	assert_int_equal(try_call(fixture, "s", arguments, &error), -EINVAL);
}

WITH_CHILD(arguments_have_a_bound)
{
	WFS_AUTO_FREE char *text = calloc(1, WFS_OUTSIDE_ARGUMENTS_MAX + 1);
	WFS_AUTO_JSON json_t *arguments = NULL;
	struct wfs_error error = {.code = WFS_OK};
	outside_open(fixture, "", "");
	memset(text, 'x', WFS_OUTSIDE_ARGUMENTS_MAX);

	arguments = json_pack("{s:s}", "text", text);
	assert_int_equal(try_call(fixture, "s", arguments, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	json_decref(arguments);
	arguments = json_pack("{s:s#}", "text", text, WFS_OUTSIDE_ARGUMENTS_MAX - 11);
	assert_int_equal(try_call(fixture, "s", arguments, &error), 0);
}

WITH_CHILD(calls_that_wait_have_a_bound)
{
	WFS_AUTO_JSON json_t *arguments = json_pack("{s:i}", "ms", 1);
	struct wfs_error error = {.code = WFS_OK};
	outside_open(fixture, "", "");

	for (int i = 0; i < WFS_OUTSIDE_WAITING_MAX; i++)
		assert_int_equal(try_call(fixture, "s", arguments, &error), 0);

	assert_int_equal(try_call(fixture, "s", arguments, &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_OVERLOADED);
}

WITH_CHILD(bytes_of_calls_that_wait_have_a_bound)
{
	WFS_AUTO_FREE char *text = calloc(1, 1000001);
	struct wfs_error error = {.code = WFS_OK};
	size_t count = 0;
	outside_open(fixture, "", "");
	memset(text, 'x', 1000000);
	WFS_AUTO_JSON json_t *arguments = json_pack("{s:s}", "text", text);

	while (count < WFS_OUTSIDE_WAITING_MAX && try_call(fixture, "s", arguments, &error) == 0)
		count++;

	assert_int_equal(error.code, WFS_E_OVERLOADED);
	assert_in_range(count, 60, 70);
}

WITH_CHILD(a_table_that_is_not_valid_is_refused)
{
	const struct wfs_outside_callbacks callbacks = {.context = NULL};
	WFS_AUTO_JSON json_t *tools = json_of("{'s':{'command':'ls'}}");
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(
		wfs_outside_new(&fixture->loop, tools, &callbacks, &fixture->outside, &error),
		-EINVAL);
	assert_non_null(strstr(error.message, "command"));
}
