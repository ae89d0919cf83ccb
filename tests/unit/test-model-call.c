/* SPDX-License-Identifier: Apache-2.0 */
/* One call to a model: attempts, waits, time limits, bounds, and failures of the transport. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "kernel/base/clock.h"
#include "tests/fixture/model.h"

/* Keeps the waits of tests that are not about them short. */
#define SOON "'headers':{'Retry-After-Ms':'1'}"

/* --- attempts --- */

/* Case 92. */
WITH_MODEL(what_fails_twice_may_succeed)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(
		fixture, "{'answers':[{'status':500," SOON "},{'status':500," SOON "},{}]}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 3);
	assert_int_equal(json_array_size(requests), 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(header_of(requests, i, "idempotency-key"), "run-1/turn-2");
}

/* Case 92. */
WITH_MODEL(what_fails_three_times_has_failed)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'default':{'status':500,'json':{'error':{'message':'broken'}}," SOON "}}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
	assert_string_equal(outcome.failure.message, "broken");
	assert_int_equal(outcome.attempts, 3);
	assert_int_equal(model_server_stat(fixture->server, "requests"), 3);
}

/* Case 93. */
WITH_MODEL(what_the_client_did_wrong_is_asked_once)
{
	const int statuses[] = {400, 401, 403, 404, 422};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(statuses); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer plan = {0};

		wfs_buffer_printf(&plan, "{'answers':[{'status':%d," SOON "}]}", statuses[i]);
		AUTO_OUTCOME struct outcome outcome = ask_model(fixture, wfs_buffer_text(&plan));

		print_message("status %d\n", statuses[i]);
		expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
		assert_int_equal(outcome.failure.status, statuses[i]);
		assert_int_equal(outcome.attempts, 1);
	}
}

/* Case 94. */
WITH_MODEL(the_server_may_refuse_to_be_asked_again)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(
		fixture, "{'answers':[{'status':503,'headers':{'X-Should-Retry':'false'}}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
	assert_int_equal(outcome.attempts, 1);
}

/* Case 91. */
WITH_MODEL(an_empty_purse_is_not_asked_again)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'status':429,'json':{'error':{'message':'pay',"
		"'code':'insufficient_quota'}}," SOON "}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "insufficient_quota");
	assert_int_equal(outcome.attempts, 1);
}

/* --- waits --- */

/* Return: milliseconds between the first two requests. */
static double wait_after(struct model_fixture *fixture, const char *plan)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, plan);
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 2);
	return pause_of(requests, 0, 1);
}

/* Case 87. */
WITH_MODEL(a_wait_in_seconds_is_kept)
{
	const double wait_ms = wait_after(
		fixture, "{'answers':[{'status':429,'headers':{'Retry-After':'1'}},{}]}");

	assert_true(wait_ms >= 1000);
}

/* Case 88. */
WITH_MODEL(a_wait_in_milliseconds_goes_before)
{
	const double wait_ms = wait_after(fixture,
		"{'answers':[{'status':429,'headers':{'retry-after-ms':'50','Retry-After':'9'}},{}]"
		"}");

	assert_true(wait_ms >= 50 && wait_ms < 5000);
}

/* Case 89. A date has whole seconds: of two seconds, at least one is left. */
WITH_MODEL(a_wait_until_a_date_is_kept)
{
	const time_t then = (time_t)(wfs_clock_realtime_ns() / 1000000000 + 2);
	WFS_AUTO_BUFFER struct wfs_buffer plan = {0};
	struct tm parts;
	char date[64];

	gmtime_r(&then, &parts);
	assert_true(strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0);
	wfs_buffer_printf(
		&plan, "{'answers':[{'status':503,'headers':{'Retry-After':'%s'}},{}]}", date);
	const double wait_ms = wait_after(fixture, wfs_buffer_text(&plan));

	assert_true(wait_ms > 500 && wait_ms < 10000);
}

WITH_MODEL(without_a_word_of_the_server_the_wait_is_half_a_second)
{
	const double wait_ms = wait_after(fixture, "{'answers':[{'status':500},{}]}");

	assert_true(wait_ms >= 375 && wait_ms < 5000);
}

/* Case 90. */
WITH_MODEL(a_wait_that_is_too_long_is_told)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'status':429,'json':{'error':{'message':'busy','code':'slow'}},"
		"'headers':{'Retry-After':'600'}}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "slow");
	assert_string_equal(outcome.failure.message,
		"the server asks to wait 600 s, longer than the limit of 120 s: busy");
	assert_int_equal(outcome.attempts, 1);
}

WITH_MODEL(a_wait_beyond_the_total_limit_is_not_begun)
{
	fixture->endpoint.total_timeout_ms = 20000;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'status':503,'json':{'error':'busy'},'headers':{'Retry-After':'60'}}]"
		"}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
	assert_string_equal(outcome.failure.message, "busy");
	assert_int_equal(outcome.attempts, 1);
	assert_in_range(outcome.duration_ms, 0, 10000);
}

/* Case 101. */
WITH_MODEL(a_wait_can_be_cancelled)
{
	AUTO_OUTCOME struct outcome outcome = {0};
	int64_t begin_ns;

	model_server_plan(
		fixture->server, "{'answers':[{'status':503,'headers':{'Retry-After':'60'}}]}");
	start(fixture, "{}", &outcome);
	/* The connection is open and at rest when the answer has been read. */
	while (model_server_stat(fixture->server, "requests") == 0 ||
		model_server_stat(fixture->server, "waiting") > 0)
		uv_run(&fixture->loop, UV_RUN_NOWAIT);
	while (uv_backend_timeout(&fixture->loop) < 30000)
		uv_run(&fixture->loop, UV_RUN_NOWAIT);

	begin_ns = wfs_clock_monotonic_ns();
	wfs_model_call_cancel(outcome.call);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);

	assert_true(wfs_clock_monotonic_ns() - begin_ns < 1000000000);
	assert_int_equal(outcome.done_count, 0);
	assert_int_equal(model_server_stat(fixture->server, "requests"), 1);
}

/* --- time limits --- */

/* Case 100. */
WITH_MODEL(a_server_that_never_answers_times_out)
{
	fixture->endpoint.first_byte_timeout_ms = 100;
	fixture->endpoint.attempts = 2;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{'default':{'never':true}}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_TIMEOUT, "first_byte_timeout");
	assert_string_equal(
		outcome.failure.message, "expected an answer within 100 ms, got nothing");
	assert_int_equal(outcome.attempts, 2);
	assert_in_range(outcome.duration_ms, 190, 10000); /* the time of both attempts */
}

WITH_MODEL(an_answer_that_stops_times_out)
{
	fixture->endpoint.idle_timeout_ms = 100;
	AUTO_OUTCOME struct outcome outcome =
		ask_model(fixture, "{'answers':[{'stall_after':20},{'stall_after':20},{}]}");

	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 3);
	fixture->endpoint.attempts = 1;
	AUTO_OUTCOME struct outcome failed = ask_model(fixture, "{'answers':[{'stall_after':20}]}");
	expect_failure(&failed, WFS_MODEL_FAILURE_TIMEOUT, "idle_timeout");
}

/* A connection on which bytes keep coming is never idle. */
WITH_MODEL(the_total_limit_holds_over_all_attempts)
{
	fixture->endpoint.total_timeout_ms = 700;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'status':500," SOON "}],'default':{'chunk':1,'pause_ms':50}}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_TIMEOUT, "total_timeout");
	assert_string_equal(outcome.failure.message,
		"expected the whole answer within 700 ms, got none in 2 attempts");
	assert_int_equal(outcome.attempts, 2);
}

WITH_MODEL(a_stream_that_stalls_after_text_keeps_the_text)
{
	fixture->endpoint.stream = true;
	fixture->endpoint.idle_timeout_ms = 100;
	fixture->endpoint.attempts = 1;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'events':[{'choices':[{'delta':{'content':'half'}}]}],'stall_after':"
		"50}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_TIMEOUT, "idle_timeout");
	assert_string_equal(wfs_buffer_text(&outcome.partial), "half");
}

/* --- bounds --- */

/* Case 105. */
WITH_MODEL(an_answer_that_is_too_large_is_refused)
{
	const char *const plans[] = {
		"{'answers':[{'completion':{'content':'0123456789012345678901234567890123456789'},"
		"'delta':1}]}",
		"{'answers':[{'length':false,'completion':{'content':"
		"'01234567890123456789012345678901234567890123456789'}}]}",
		"{'answers':[{'headers':{'X-Long':"
		"'0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789012345678901234567890123456789'}}]}",
	};

	fixture->endpoint.response_size_max = 250;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(plans); i++) {
		fixture->endpoint.stream = i == 0;
		AUTO_OUTCOME struct outcome outcome = ask_model(fixture, plans[i]);

		print_message("plan %zu\n", i);
		expect_failure(&outcome, WFS_MODEL_FAILURE_TOO_LARGE, "too_large");
		assert_string_equal(outcome.failure.message,
			"expected an answer of at most 250 bytes, got more");
		assert_int_equal(outcome.attempts, 1);
	}
}

WITH_MODEL(an_answer_of_exactly_the_bound_is_taken)
{
	size_t size = 200;

	for (;; size++) {
		fixture->endpoint.response_size_max = size;
		AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");

		if (outcome.completion)
			break;
		assert_in_range(size, 200, 400);
	}
	fixture->endpoint.response_size_max = size - 1;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_TOO_LARGE, "too_large");
}

WITH_MODEL(each_attempt_has_the_whole_bound)
{
	WFS_AUTO_BUFFER struct wfs_buffer plan = {0};

	fixture->endpoint.response_size_max = 400;
	wfs_buffer_printf(&plan, "{'answers':[{'status':500,'body':'%0250d'," SOON "},{}]}", 0);
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, wfs_buffer_text(&plan));

	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 2);
}

/* --- turns to connect --- */

WITH_MODEL(calls_that_cannot_connect_give_up_their_turn)
{
	struct outcome outcomes[WFS_MODEL_CONNECTS_MAX + 10] = {{0}};

	fixture->endpoint.base_url = "http://127.0.0.1:1/v1";
	fixture->endpoint.attempts = 1;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(outcomes); i++)
		start(fixture, "{}", &outcomes[i]);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(outcomes); i++)
		expect_failure(&outcomes[i], WFS_MODEL_FAILURE_TRANSPORT, "unreachable");
}

/* TLS with a server that does not speak it lasts until a time limit. */
WITH_MODEL(a_call_that_waits_for_its_turn_can_time_out)
{
	struct model_fixture hanging = *fixture;
	struct outcome outcomes[WFS_MODEL_CONNECTS_MAX] = {{0}};
	AUTO_OUTCOME struct outcome late = {0};
	AUTO_OUTCOME struct outcome next = {0};
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};

	model_server_plan(fixture->server, "{}");
	wfs_buffer_printf(&url, "https://127.0.0.1:%d/v1", fixture->server->port);
	hanging.endpoint.base_url = wfs_buffer_text(&url);
	hanging.endpoint.connect_timeout_ms = 60000;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(outcomes); i++)
		start(&hanging, "{}", &outcomes[i]);
	fixture->endpoint.total_timeout_ms = 300;
	start(fixture, "{}", &late);
	run_until_done(fixture, &late);

	expect_failure(&late, WFS_MODEL_FAILURE_TIMEOUT, "total_timeout");
	assert_int_equal(late.attempts, 0);
	assert_int_equal(model_server_stat(fixture->server, "requests"), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(outcomes); i++)
		wfs_model_call_cancel(outcomes[i].call);
	fixture->endpoint.total_timeout_ms = 60000;
	start(fixture, "{}", &next);
	run_until_done(fixture, &next);
	expect_content(&next, "ok");
}

/* --- the transport --- */

/* Case 99. */
WITH_MODEL(half_a_body_is_asked_for_again)
{
	AUTO_OUTCOME struct outcome length =
		ask_model(fixture, "{'answers':[{'close_after':40},{}]}");
	AUTO_OUTCOME struct outcome chunks =
		ask_model(fixture, "{'answers':[{'chunked':true,'close_after':40},{}]}");
	AUTO_OUTCOME struct outcome neither =
		ask_model(fixture, "{'answers':[{'length':false,'close_after':40},{}]}");

	expect_content(&length, "ok");
	assert_int_equal(length.attempts, 2);
	expect_content(&chunks, "ok");
	assert_int_equal(chunks.attempts, 2);
	expect_content(&neither, "ok");
	assert_int_equal(neither.attempts, 2);
}

/* Case 99. */
WITH_MODEL(half_a_body_is_no_success)
{
	fixture->endpoint.attempts = 1;
	AUTO_OUTCOME struct outcome outcome =
		ask_model(fixture, "{'answers':[{'close_after':40}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_TRANSPORT, "connection_lost");
}

WITH_MODEL(a_connection_closed_without_an_answer_is_tried_again)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{'answers':[{'drop':true},{}]}");

	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 2);
}

WITH_MODEL(a_stream_that_breaks_unseen_is_asked_for_again)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'events':[{'choices':[{'delta':{'content':'half'}}]}],'close_after':"
		"60}"
		",{'events':[{'choices':[{'delta':{'content':'all'},'finish_reason':'stop'}]}]}]}");

	expect_content(&outcome, "all");
	assert_int_equal(outcome.attempts, 2);
}

WITH_MODEL(where_nobody_listens_is_tried_again)
{
	AUTO_OUTCOME struct outcome outcome = {0};

	fixture->endpoint.base_url = "http://127.0.0.1:1/v1";
	fixture->endpoint.attempts = 2;
	start(fixture, "{}", &outcome);
	run_until_done(fixture, &outcome);

	expect_failure(&outcome, WFS_MODEL_FAILURE_TRANSPORT, "unreachable");
	assert_non_null(strstr(outcome.failure.message, "127.0.0.1 port 1"));
	assert_int_equal(outcome.failure.status, 0);
	assert_int_equal(outcome.attempts, 2);
}

/* Writes a self-signed certificate for 127.0.0.1, and its key. */
static void write_certificate(const char *path)
{
	EVP_PKEY *const key = EVP_EC_gen("P-256");
	X509 *const certificate = X509_new();
	FILE *const file = fopen(path, "we");
	X509_NAME *name = NULL;

	assert_non_null(key);
	assert_non_null(certificate);
	assert_non_null(file);
	name = X509_get_subject_name(certificate);
	assert_true(X509_NAME_add_entry_by_txt(
		name, "CN", MBSTRING_ASC, (const unsigned char *)"127.0.0.1", -1, -1, 0));
	assert_true(X509_set_issuer_name(certificate, name));
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), 0));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), 3600));
	assert_true(X509_set_pubkey(certificate, key));
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	assert_true(PEM_write_X509(file, certificate));
	assert_true(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
	assert_int_equal(fclose(file), 0);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

WITH_MODEL(a_certificate_that_nobody_signed_is_refused)
{
	struct model_server server = {0};
	AUTO_OUTCOME struct outcome outcome = {0};
	char directory[] = "/tmp/worldfs-model-XXXXXX";
	WFS_AUTO_FREE char *path = NULL;

	assert_non_null(mkdtemp(directory));
	assert_true(asprintf(&path, "%s/certificate.pem", directory) > 0);
	write_certificate(path);
	assert_int_equal(model_server_start(&server, path), 0);

	fixture->endpoint.base_url = server.base_url;
	start(fixture, "{}", &outcome);
	run_until_done(fixture, &outcome);

	expect_failure(&outcome, WFS_MODEL_FAILURE_TRANSPORT, "tls");
	assert_non_null(strstr(outcome.failure.message, "self-signed certificate"));
	assert_int_equal(outcome.attempts, 1);
	model_server_stop(&server);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

TEST_GROUP(model_group_setup, model_group_teardown)
