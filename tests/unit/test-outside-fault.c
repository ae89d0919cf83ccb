/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that make mistakes, or are hostile: each harms its own calls, and nothing else. A test
 * with a tool ends with a call that works. */
#include "tests/fixture/outside.h"

#include "kernel/base/encode.h"

static void expect_goes_on(struct outside_fixture *fixture)
{
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{'text':'on'}");

	outside_expect_text(&outcome, "on");
}

/* --- answers --- */

static void expect_text(struct outside_fixture *fixture, const char *tool, const char *text)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, tool, "{}");

	outside_expect_text(&outcome, text);
	expect_goes_on(fixture);
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

WITH_BOTH(an_answer_that_comes_in_pieces_is_read)
{
	expect_text(fixture, "partial", "in pieces");
}

WITH_BOTH(an_answer_that_comes_byte_by_byte_is_read)
{
	expect_text(fixture, "slow_bytes", "éééééééééééééééééééé");
}

WITH_BOTH(an_answer_with_invalid_utf8_is_refused)
{
	expect_error(fixture, "invalid_utf8", WFS_E_EFFECT_FAILED, "server 's': ");
}

WITH_BOTH(an_answer_with_invalid_json_is_refused)
{
	expect_error(fixture, "invalid_json", WFS_E_EFFECT_FAILED, "server 's': ");
}

WITH_BOTH(an_answer_with_duplicate_members_is_refused)
{
	expect_error(fixture, "duplicate_members", WFS_E_EFFECT_FAILED, "server 's': ");
}

WITH_BOTH(an_integer_beyond_64_bits_is_refused)
{
	expect_error(fixture, "big_integer", WFS_E_EFFECT_FAILED, "server 's': ");
}

WITH_BOTH(an_answer_that_is_nested_too_deeply_is_refused)
{
	expect_error(fixture, "deep", WFS_E_EFFECT_FAILED, "server 's': ");
}

WITH_BOTH(a_huge_message_is_too_large)
{
	expect_error(fixture, "huge_line", WFS_E_TOO_LARGE, "too l");
}

WITH_CHILD(a_line_without_end_ends_the_server)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "endless_line", "{}");

	outside_expect_error(
		&outcome, WFS_E_UNAVAILABLE, "it has sent a message of more than 67108864 bytes");
}

WITH_HTTP(an_answer_without_end_is_too_large)
{
	expect_error(fixture, "endless_line", WFS_E_TOO_LARGE, "its answer is too large");
}

WITH_BOTH(answers_with_wrong_ids_are_ignored)
{
	expect_text(fixture, "wrong_id", "right");
}

WITH_BOTH(a_second_answer_is_ignored)
{
	expect_text(fixture, "twice", "first");
}

WITH_CHILD(an_answer_to_no_call_leaves_the_call_to_its_time_limit)
{
	outside_open(fixture, "", ",'timeout_ms':1000");
	outside_listed(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "wrong_id_only", "{}");

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "1000 ms");
	expect_goes_on(fixture);
}

WITH_HTTP(an_answer_to_no_call_is_none)
{
	expect_error(fixture, "wrong_id_only", WFS_E_UNAVAILABLE, "before the answer");
}

WITH_BOTH(a_result_without_content_is_refused)
{
	expect_error(fixture, "no_content", WFS_E_EFFECT_FAILED, "'content'");
}

WITH_BOTH(a_part_of_an_unknown_type_is_refused)
{
	expect_error(fixture, "unknown_part", WFS_E_EFFECT_FAILED, "unknown type");
}

WITH_BOTH(a_result_with_too_many_parts_is_too_large)
{
	expect_error(fixture, "many_parts", WFS_E_TOO_LARGE, "too many parts");
}

WITH_BOTH(bytes_that_are_not_base64_are_refused)
{
	expect_error(fixture, "bad_base64", WFS_E_EFFECT_FAILED, "base64");
}

WITH_BOTH(progress_of_no_call_is_ignored)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "wrong_progress", "{}");

	outside_expect_text(&outcome, "done");
	assert_int_equal(outcome.progress_count, 2);
	assert_true(outcome.progress == 0 && outcome.total == 0);
	assert_string_equal(outcome.progress_message, "");
}

WITH_BOTH(an_answer_with_a_result_and_an_error_is_refused)
{
	expect_error(fixture, "both", WFS_E_EFFECT_FAILED, "both 'result' and 'error'");
}

/* --- requests of the server --- */

/* Entries of the log that are answers of the client. */
static size_t count_answers(const struct outside_fixture *fixture)
{
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	size_t count = 0;
	size_t i;
	json_t *entry;

	json_array_foreach(log, i, entry) {
		const json_t *const message = json_object_get(entry, "message");

		count += json_is_object(message) && !json_object_get(message, "method");
	}
	return count;
}

WITH_BOTH(notifications_are_not_answered)
{
	expect_text(fixture, "notify", "notified");

	assert_int_equal(count_answers(fixture), 0);
}

WITH_BOTH(sampling_is_refused)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "sampling", "{}");

	outside_expect_text(&outcome,
		"{\"code\": -32601, \"message\": \"this client refuses "
		"'sampling/createMessage'\"}");
}

WITH_BOTH(elicitation_is_refused)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "elicitation", "{}");

	outside_expect_text(&outcome,
		"{\"code\": -32601, \"message\": \"this client refuses 'elicitation/create'\"}");
}

WITH_BOTH(there_are_no_roots)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "roots", "{}");

	outside_expect_text(&outcome, "{\"roots\": []}");
}

WITH_BOTH(a_ping_is_answered)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "ping", "{}");

	outside_expect_text(&outcome, "{}");
}

WITH_CHILD(many_pings_are_answered)
{
	expect_text(fixture, "pings", "pinged");

	while (count_answers(fixture) < 1000)
		outside_run(fixture, 10);
}

/* --- floods --- */

WITH_BOTH(a_flood_of_notifications_ends_the_server)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "flood", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "more than 5000 messages a second");
	AUTO_OUTSIDE struct outside_outcome next = outside_ask(fixture, "echo", "{}");
	outside_expect_error(&next, WFS_E_UNAVAILABLE, "more than 5000 messages a second");
	assert_false(next.sent);
	outside_until(fixture, WFS_OUTSIDE_DOWN);
	expect_goes_on(fixture);
}

/* --- beginnings --- */

/* Expects that a server with this fault cannot be used, and why. */
static void expect_failure(struct outside_fixture *fixture, const char *fault, const char *reason)
{
	outside_open(fixture, fault, ",'timeout_ms':3000");

	const struct wfs_outside_server server = outside_listed(fixture);
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	print_message("%s\n", server.reason);
	assert_int_equal(server.state, WFS_OUTSIDE_WAITING);
	assert_non_null(strstr(server.reason, reason));
	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, reason);
	assert_false(outcome.sent);
}

WITH_BOTH(a_server_that_does_not_answer_initialize_fails)
{
	expect_failure(fixture, "initialize_hangs",
		fixture->http ? "not answered" : "has not answered initialize within 3000 ms");
}

WITH_BOTH(a_server_that_refuses_initialize_fails)
{
	expect_failure(fixture, "initialize_error", "initialize: error -32602: go away");
}

WITH_BOTH(an_answer_to_initialize_that_is_not_valid_fails)
{
	expect_failure(fixture, "initialize_invalid", "its answer to initialize is not valid");
}

WITH_BOTH(a_version_of_the_future_is_refused)
{
	expect_failure(fixture, "version_2099-01-01",
		"expected the protocol version 2025-06-18 or an older one, got '2099-01-01'");
}

WITH_BOTH(a_server_that_does_not_list_fails)
{
	expect_failure(fixture, "list_hangs",
		fixture->http ? "not answered" : "has not listed its tools within 3000 ms");
}

WITH_BOTH(a_server_that_refuses_to_list_fails)
{
	expect_failure(fixture, "list_error", "tools/list: error -32603: no list today");
}

WITH_BOTH(a_list_that_is_none_fails)
{
	expect_failure(fixture, "no_list", "expected an array 'tools'");
}

WITH_CHILD(a_cursor_has_a_bound)
{
	expect_failure(fixture, "long_cursor", "a text 'nextCursor' of at most 4096 bytes");
}

WITH_BOTH(pages_without_end_have_a_bound)
{
	expect_failure(fixture, "endless_pages", "more than 256 pages");
}

WITH_CHILD(the_bytes_of_a_list_have_a_bound)
{
	expect_failure(fixture, "large_list", "more than 8388608 bytes");
}

WITH_BOTH(older_versions_are_spoken)
{
	outside_open(fixture, "version_2024-11-05", "");

	expect_goes_on(fixture);
}

WITH_CHILD(a_batch_is_read_of_the_version_that_has_them)
{
	outside_open(fixture, "version_2025-03-26", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "batch", "{}");

	outside_expect_text(&outcome, "in a batch");
}

WITH_CHILD(a_batch_of_a_version_without_them_is_ignored)
{
	outside_open(fixture, "", ",'timeout_ms':1000");
	outside_listed(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "batch", "{}");

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "1000 ms");
	expect_goes_on(fixture);
}

WITH_CHILD(lines_that_are_no_messages_are_ignored)
{
	outside_open(fixture, "junk", "");

	expect_goes_on(fixture);
}

WITH_BOTH(requests_before_the_beginning_are_answered)
{
	outside_open(fixture, "early_requests", "");

	expect_goes_on(fixture);
}

/* --- lists --- */

WITH_BOTH(a_server_has_a_bound_of_tools)
{
	outside_open(fixture, "many_tools", "");

	const struct wfs_outside_server server = outside_listed(fixture);

	assert_int_equal(server.state, WFS_OUTSIDE_READY);
	assert_int_equal(server.tool_count, WFS_OUTSIDE_TOOLS_MAX);
}

WITH_BOTH(tools_that_are_not_valid_are_left_out)
{
	outside_open(fixture, "bad_tools", "");

	const struct wfs_outside_server server = outside_listed(fixture);

	assert_int_equal(server.tool_count, 3);
	const struct wfs_outside_tool *const good =
		wfs_outside_tool_find(fixture->outside, "s", "good");
	assert_json_is(json_incref(good->annotations), "{'readOnlyHint':true}");
	const struct wfs_outside_tool *const long_one =
		wfs_outside_tool_find(fixture->outside, "s", "long");
	assert_int_equal(strlen(long_one->description), WFS_OUTSIDE_DESCRIPTION_MAX);
	assert_true(wfs_utf8_valid(long_one->description, strlen(long_one->description)));
	const struct wfs_outside_tool *const escape =
		wfs_outside_tool_find(fixture->outside, "s", "escape");
	assert_null(strpbrk(escape->description, "\x1b"));
	assert_non_null(strstr(escape->description, "[31mred"));
}

/* --- hanging --- */

WITH_CHILD(a_server_that_answers_no_ping_after_a_time_out_is_ended)
{
	outside_open(fixture, "no_ping", ",'timeout_ms':2000");
	outside_listed(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "hang", "{}");
	outside_until(fixture, WFS_OUTSIDE_WAITING);

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "2000 ms");
	struct wfs_outside_server server;
	wfs_outside_server(fixture->outside, 0, &server);
	assert_string_equal(server.reason, "it does not answer any more");
	outside_until(fixture, WFS_OUTSIDE_DOWN);
	expect_goes_on(fixture);
}
