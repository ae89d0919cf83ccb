/* SPDX-License-Identifier: Apache-2.0 */
/* Servers over Streamable HTTP: headers, sessions, streams, statuses, and values that must not come
 * back. */
#include "tests/fixture/outside.h"

#include <signal.h>
#include <sys/wait.h>

static void expect_goes_on(struct outside_fixture *fixture)
{
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{'text':'on'}");

	outside_expect_text(&outcome, "on");
}

static void expect_error(struct outside_fixture *fixture, const char *tool,
	enum wfs_error_code code, const char *part)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, tool, "{}");

	outside_expect_error(&outcome, code, part);
	assert_true(outcome.sent);
	expect_goes_on(fixture);
}

/* The header @name of the log's entry @index. */
static const char *header_at(const json_t *log, size_t index, const char *name)
{
	return wfs_json_text(json_object_get(json_array_get(log, index), "headers"), name);
}

/* How many entries of the log have the member @name. */
static size_t count_of(const struct outside_fixture *fixture, const char *name)
{
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	size_t count = 0;
	size_t i;
	json_t *entry;

	json_array_foreach(log, i, entry)
		count += json_object_get(entry, name) != NULL;
	return count;
}

static void wait_for(struct outside_fixture *fixture, const char *name, size_t count)
{
	while (count_of(fixture, name) < count)
		outside_run(fixture, 10);
}

/* --- headers --- */

WITH_HTTP(requests_have_the_headers_of_the_protocol_and_of_the_entry)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	assert_string_equal(header_at(log, 0, "MCP-Protocol-Version"), "");
	assert_string_equal(header_at(log, 0, "Mcp-Session-Id"), "");
	assert_string_equal(header_at(log, 0, "Authorization"), OUTSIDE_SECRET);
	/* Nothing is sent before the server knows that the protocol is agreed on. */
	assert_string_equal(
		wfs_json_text(json_object_get(json_array_get(log, 1), "message"), "method"),
		"notifications/initialized");
	for (size_t i = 1; i < json_array_size(log); i++) {
		assert_string_equal(header_at(log, i, "MCP-Protocol-Version"), "2025-06-18");
		assert_int_equal(strncmp(header_at(log, i, "Mcp-Session-Id"), "session-", 8), 0);
		assert_string_equal(header_at(log, i, "Authorization"), OUTSIDE_SECRET);
	}
	const json_t *const headers =
		json_object_get(outside_log_last(log, "tools/call"), "headers");
	assert_string_equal(wfs_json_text(headers, "Content-Type"), "application/json");
	assert_string_equal(
		wfs_json_text(headers, "Accept"), "application/json, text/event-stream");
}

WITH_HTTP(a_secret_that_comes_back_is_masked)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "secret", "{}");

	outside_expect_text(&outcome, "you said ***\n[image, text/plain, 5 bytes]");
	assert_json_is(json_incref(outcome.structured), "{'***':['***']}");
	assert_memory_equal(outcome.blob.data, "<***>", 5);
}

WITH_HTTP(a_secret_in_an_error_is_masked)
{
	expect_error(fixture, "status_500", WFS_E_UNAVAILABLE,
		"it has answered with status 500: an accident with ***");
}

WITH_HTTP(a_variable_that_is_not_set_is_unavailable)
{
	outside_open(fixture, "", "");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	unsetenv("OUTSIDE_TOKEN");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "headers_env names 'OUTSIDE_TOKEN'");
	assert_false(outcome.sent);
	assert_int_equal(outside_log_count(fixture, "initialize"), 0);
}

WITH_HTTP(a_variable_is_not_sent_to_a_host_that_the_user_has_not_allowed)
{
	outside_open_table(fixture,
		"{'s':{'url':'http://localhost:1/mcp','headers_env':"
		"{'Authorization':'OUTSIDE_TOKEN'}}}");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE,
		"the environment variable 'OUTSIDE_TOKEN' may not be sent to 'localhost'");
}

WITH_HTTP(a_value_with_a_line_end_is_not_sent)
{
	outside_open(fixture, "", "");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	setenv("OUTSIDE_TOKEN", "one\r\nX-Other: two", 1);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "control byte");
	assert_int_equal(outside_log_count(fixture, "initialize"), 0);
}

/* --- statuses --- */

WITH_HTTP(a_redirect_is_not_followed)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "redirect", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it has answered with status 307");
	assert_int_equal(count_of(fixture, "path"), 0);
}

WITH_HTTP(an_answer_that_asks_for_rights_is_unavailable)
{
	expect_error(fixture, "status_401", WFS_E_UNAVAILABLE, "it has answered with status 401");
}

WITH_HTTP(a_server_that_is_not_there_is_unavailable)
{
	outside_open_table(fixture, "{'s':{'url':'http://127.0.0.1:1/mcp'}}");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "127.0.0.1");
	assert_false(outcome.sent);
}

WITH_HTTP(a_server_that_went_away_is_unavailable_and_was_not_asked)
{
	outside_open(fixture, "", "");
	expect_goes_on(fixture);
	(void)kill(fixture->server, SIGKILL);
	(void)waitpid(fixture->server, NULL, 0);
	fixture->server = 0;

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "127.0.0.1");
	assert_false(outcome.sent);
}

WITH_HTTP(a_server_that_dies_in_the_middle_of_an_answer_is_unavailable)
{
	outside_open(fixture, "", "");
	expect_goes_on(fixture); /* a connection is open now */

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "die", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "server 's': the connection broke off");
	assert_true(outcome.sent);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 2);
}

/* curl would send a request again on a connection that it has used before. */
WITH_HTTP(a_call_whose_connection_breaks_off_is_not_sent_again)
{
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome plain = outside_ask(fixture, "plain", "{}");
	outside_expect_text(&plain, "plain"); /* a connection is open now */

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "drop", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "the connection broke off");
	assert_true(outcome.sent);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 2);
}

WITH_HTTP(a_url_that_is_none_is_unavailable)
{
	outside_open_table(fixture, "{'s':{'url':'ftp://127.0.0.1/mcp'}}");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "url: expected http");
}

WITH_HTTP(answers_that_a_server_does_not_take_have_a_bound)
{
	outside_open(fixture, "slow_notes", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "pings", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "a message could not be sent to it");
}

/* --- sessions --- */

WITH_HTTP(a_session_that_has_ended_is_begun_anew_and_the_call_sent_again)
{
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome expired = outside_ask(fixture, "expire", "{}");
	outside_expect_text(&expired, "this session is over");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{'text':'x'}");

	outside_expect_text(&outcome, "x");
	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 3); /* one of them got 404 */
}

WITH_HTTP(calls_of_a_session_that_has_ended_share_the_next_one)
{
	struct outside_outcome outcomes[4] = {{0}};
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome expired = outside_ask(fixture, "expire", "{}");

	for (size_t i = 0; i < 4; i++)
		outside_start(fixture, "echo", "{'text':'x'}", &outcomes[i]);
	for (size_t i = 0; i < 4; i++) {
		outside_wait(fixture, &outcomes[i]);
		outside_expect_text(&outcomes[i], "x");
		outside_outcome_done(&outcomes[i]);
	}

	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
}

WITH_HTTP(a_call_is_sent_again_only_once)
{
	outside_open(fixture, "forgetful", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it ends each session at once");
	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
	assert_int_equal(outside_log_count(fixture, "tools/call"), 2);
}

WITH_HTTP(a_session_that_ends_before_the_tools_are_listed_is_begun_anew_only_once)
{
	outside_open(fixture, "forgets_lists", "");

	const struct wfs_outside_server server = outside_listed(fixture);

	assert_int_equal(server.state, WFS_OUTSIDE_WAITING);
	assert_string_equal(server.reason, "it ends each session at once");
	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
}

WITH_HTTP(a_server_needs_no_sessions)
{
	outside_open(fixture, "no_sessions", "");

	expect_goes_on(fixture);

	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	assert_string_equal(header_at(log, json_array_size(log) - 1, "Mcp-Session-Id"), "");
}

static void expect_failure(struct outside_fixture *fixture, const char *fault, const char *reason)
{
	outside_open(fixture, fault, "");

	const struct wfs_outside_server server = outside_listed(fixture);

	print_message("%s\n", server.reason);
	assert_int_equal(server.state, WFS_OUTSIDE_WAITING);
	assert_non_null(strstr(server.reason, reason));
}

WITH_HTTP(the_id_of_a_session_is_visible_ascii)
{
	expect_failure(fixture, "bad_session", "not visible ASCII");
}

WITH_HTTP(the_id_of_a_session_has_a_bound)
{
	expect_failure(fixture, "long_session", "has 5000 bytes, and may have 256");
}

WITH_HTTP(a_session_is_ended_with_the_client)
{
	outside_open(fixture, "", "");
	expect_goes_on(fixture);

	wfs_outside_free(WFS_STEAL(fixture->outside));

	wait_for(fixture, "delete", 1);
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	assert_int_equal(
		strncmp(header_at(log, json_array_size(log) - 1, "Mcp-Session-Id"), "session-", 8),
		0);
}

/* --- streams --- */

WITH_HTTP(an_answer_of_one_message_is_read)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "plain", "{}");

	outside_expect_text(&outcome, "plain");
}

WITH_HTTP(an_answer_in_events_that_come_in_pieces_is_read)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "sse_pieces", "{}");

	outside_expect_text(&outcome, "of events");
}

WITH_HTTP(a_stream_that_ends_without_the_answer_is_unavailable)
{
	expect_error(
		fixture, "no_answer", WFS_E_UNAVAILABLE, "the stream has ended before the answer");
}

WITH_HTTP(a_stream_without_end_is_too_large)
{
	expect_error(fixture, "never_ends", WFS_E_TOO_LARGE, "its answer is too large");
}

WITH_HTTP(headers_without_end_are_too_large)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "headers_flood", "{}");

	assert_true(outcome.code == WFS_E_TOO_LARGE || outcome.code == WFS_E_UNAVAILABLE);
	expect_goes_on(fixture);
}

WITH_HTTP(an_answer_of_another_type_is_refused)
{
	expect_error(fixture, "wrong_type", WFS_E_EFFECT_FAILED, "application/json");
}

WITH_HTTP(an_empty_answer_is_refused)
{
	expect_error(fixture, "empty_answer", WFS_E_EFFECT_FAILED, "not valid");
}

WITH_HTTP(a_server_without_a_stream_is_asked_for_it_once)
{
	outside_open(fixture, "", "");
	expect_goes_on(fixture);

	outside_run(fixture, 1500);

	assert_int_equal(count_of(fixture, "get"), 1);
}

WITH_HTTP(a_stream_that_ends_is_opened_again_after_a_pause)
{
	outside_open(fixture, "stream,stream_ends", "");
	expect_goes_on(fixture);

	outside_run(fixture, 2000);

	assert_in_range(count_of(fixture, "get"), 2, 3);
}

WITH_HTTP(a_stream_of_a_session_that_has_ended_begins_a_new_one)
{
	outside_open(fixture, "stream,session_ends", "");
	outside_listed(fixture);

	while (outside_log_count(fixture, "initialize") < 2)
		outside_run(fixture, 10);
	outside_until(fixture, WFS_OUTSIDE_READY);

	expect_goes_on(fixture);
	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
}

WITH_HTTP(a_server_that_knows_no_get_begins_no_more_sessions)
{
	outside_open(fixture, "no_get", "");
	outside_listed(fixture);
	wait_for(fixture, "get", 2);
	outside_run(fixture, 1500);

	expect_goes_on(fixture);

	assert_int_equal(count_of(fixture, "get"), 2);
	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
}
