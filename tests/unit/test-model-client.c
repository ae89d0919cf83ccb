/* SPDX-License-Identifier: Apache-2.0 */
/* The client of models: its requests, how it reads answers, its life. */
#include <netdb.h>
#include <semaphore.h>

#include "tests/fixture/model.h"

/* --- requests --- */

WITH_MODEL(a_plain_answer_becomes_a_completion)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'latency_ms':20,'completion':{'content':'hi','usage':"
		"{'prompt_tokens':1,'completion_tokens':2}}}]}");

	expect_content(&outcome, "hi");
	assert_int_equal(outcome.attempts, 1);
	assert_in_range(outcome.duration_ms, 20, 10000);
}

WITH_MODEL(a_request_says_who_asks_and_what)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_int_equal(json_array_size(requests), 1);
	assert_string_equal(
		json_string_value(member_of(requests, 0, "path")), "/v1/chat/completions");
	assert_string_equal(json_string_value(member_of(requests, 0, "body")), "{}");
	assert_string_equal(header_of(requests, 0, "content-type"), "application/json");
	assert_string_equal(header_of(requests, 0, "accept"), "application/json");
	assert_string_equal(header_of(requests, 0, "authorization"), "Bearer " FIXTURE_KEY);
	assert_string_equal(header_of(requests, 0, "idempotency-key"), "run-1/turn-2");
	assert_null(header_of(requests, 0, "expect"));
}

WITH_MODEL(without_a_key_nothing_is_authorized)
{
	fixture->endpoint.api_key = NULL;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_null(header_of(requests, 0, "authorization"));
}

static void expect_path(struct model_fixture *fixture, const char *ending, const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};

	wfs_buffer_printf(&url, "http://127.0.0.1:%d%s", fixture->server->port, ending);
	fixture->endpoint.base_url = wfs_buffer_text(&url);
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_string_equal(json_string_value(member_of(requests, 0, "path")), path);
}

WITH_MODEL(the_path_is_put_behind_the_base_url)
{
	expect_path(fixture, "", "/chat/completions");
	expect_path(fixture, "/", "/chat/completions");
	expect_path(fixture, "/v1", "/v1/chat/completions");
	expect_path(fixture, "/v1/", "/v1/chat/completions");
	expect_path(fixture, "/openai/v1", "/openai/v1/chat/completions");
}

/* The entry asks for a stream as well: the header is not sent for embeddings. */
WITH_MODEL(embeddings_are_asked_where_they_are)
{
	fixture->service = WFS_MODEL_EMBEDDINGS;
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	assert_json_is(json_incref(outcome.completion),
		"{'object':'list','data':[{'object':'embedding','index':0,'embedding':[0.6,-0.8]}],"
		"'model':'test','usage':{'prompt_tokens':2,'total_tokens':2}}");
	assert_string_equal(json_string_value(member_of(requests, 0, "path")), "/v1/embeddings");
	assert_string_equal(header_of(requests, 0, "accept"), "application/json");
	assert_string_equal(header_of(requests, 0, "authorization"), "Bearer " FIXTURE_KEY);
	assert_string_equal(header_of(requests, 0, "idempotency-key"), "run-1/turn-2");
}

WITH_MODEL(a_long_body_is_sent_without_waiting)
{
	const size_t size = 2 << 20; /* from 1 MiB on, curl would wait for 100 Continue */
	WFS_AUTO_FREE char *body = calloc(1, size + 1);
	AUTO_OUTCOME struct outcome outcome = {0};

	assert_non_null(body);
	memset(body, 'x', size);
	model_server_plan(fixture->server, "{}");
	start(fixture, body, &outcome);
	run_until_done(fixture, &outcome);
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "ok");
	assert_int_equal(json_string_length(member_of(requests, 0, "body")), size);
	assert_null(header_of(requests, 0, "expect"));
}

WITH_MODEL(a_connection_is_used_again)
{
	const size_t count = 3;

	model_server_plan(fixture->server, "{'answers':[{'status':400},{'chunked':true},{}]}");
	for (size_t i = 0; i < count; i++) {
		AUTO_OUTCOME struct outcome outcome = {0};

		start(fixture, "{}", &outcome);
		run_until_done(fixture, &outcome);
	}
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	assert_int_equal(json_array_size(requests), count);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(json_integer_value(member_of(requests, i, "connection")),
			json_integer_value(member_of(requests, 0, "connection")));
}

static void expect_refused(struct model_fixture *fixture, const char *message)
{
	AUTO_OUTCOME struct outcome outcome = {0};
	struct wfs_error error = {0};

	assert_int_equal(try_start(fixture, "{}", &outcome, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_non_null(strstr(error.message, message));
	assert_null(strstr(error.message, "secret"));
}

WITH_MODEL(a_url_that_cannot_be_asked_is_refused)
{
	const char *const urls[] = {"", "127.0.0.1", "ftp://127.0.0.1/", "file:///etc/passwd",
		"http://user:secret@127.0.0.1/v1", "http://127.0.0.1:99999999/", "http://a\nb/"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(urls); i++) {
		print_message("base_url '%s'\n", urls[i]);
		fixture->endpoint.base_url = urls[i];
		expect_refused(fixture, "base_url: expected http://");
	}
}

WITH_MODEL(a_key_that_breaks_its_header_is_refused)
{
	fixture->endpoint.api_key = "secret\r\nX-Other: 1";
	expect_refused(
		fixture, "api_key: expected a text for a header, got control byte 0x0d at 6");
}

/* --- answers that are none --- */

/* Case 95. */
WITH_MODEL(a_wrong_key_is_told)
{
	AUTO_OUTCOME struct outcome outcome =
		ask_model(fixture, "{'answers':[{'status':401,'json':{'error':'Unauthorized'}}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
	assert_string_equal(outcome.failure.message, "Unauthorized");
	assert_int_equal(outcome.failure.status, 401);
	assert_int_equal(outcome.attempts, 1);
}

/* Case 102: the server echoes all headers, in an error and in a document without a completion. */
WITH_MODEL(a_key_that_is_echoed_is_masked)
{
	const char *const plans[] = {
		"{'answers':[{'status':400,'echo':true,'headers':{'X-Request-Id':'" FIXTURE_KEY
		"'}}]}",
		"{'answers':[{'echo':true}]}",
		"{'answers':[{'status':401,'json':{'error':{'message':'bad key " FIXTURE_KEY
		"','code':'" FIXTURE_KEY "'}}}]}",
		"{'answers':[{'events':['" FIXTURE_KEY "']}]}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(plans); i++) {
		AUTO_OUTCOME struct outcome outcome = ask_model(fixture, plans[i]);

		/* on_done() has looked for the key already */
		print_message("%s\n", outcome.failure.message);
		assert_null(outcome.completion);
		assert_non_null(strstr(outcome.failure.message, "***"));
	}
}

WITH_MODEL(a_redirect_is_not_followed)
{
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'status':307,'headers':{'Location':'/v2/chat/completions'}}]}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_failure(&outcome, WFS_MODEL_FAILURE_HTTP, "");
	assert_int_equal(outcome.failure.status, 307);
	assert_int_equal(json_array_size(requests), 1);
}

/* Cases 10, 98. */
WITH_MODEL(success_without_a_completion_is_a_failure)
{
	AUTO_OUTCOME struct outcome none =
		ask_model(fixture, "{'answers':[{'json':{'choices':[]}}]}");
	AUTO_OUTCOME struct outcome error =
		ask_model(fixture, "{'answers':[{'json':{'error':'Unexpected endpoint'}}]}");

	expect_failure(&none, WFS_MODEL_FAILURE_ANSWER, "no_choices");
	expect_failure(&error, WFS_MODEL_FAILURE_ANSWER, "");
	assert_string_equal(error.failure.message, "Unexpected endpoint");
	assert_int_equal(error.failure.status, 200);
	assert_int_equal(error.attempts, 1);
}

/* --- streams --- */

#define STREAMED                                                                                \
	"'completion':{'content':'na\u00efve \U0001f600 text','tool_calls':[{'id':'c1','name':" \
	"'add','arguments':'{\\'x\\':1}'}],'usage':{'prompt_tokens':1,'completion_tokens':2}}"

/* Cases 106, 114, over a connection. */
WITH_MODEL(a_stream_is_asked_for_and_read)
{
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome outcome =
		ask_model(fixture, "{'answers':[{" STREAMED ",'chunk':1,'pause_ms':0.1}]}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_content(&outcome, "na\u00efve \U0001f600 text");
	assert_string_equal(header_of(requests, 0, "accept"), "text/event-stream");
}

WITH_MODEL(stream_and_document_give_the_same)
{
	AUTO_OUTCOME struct outcome document = ask_model(fixture, "{'answers':[{" STREAMED "}]}");

	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome stream =
		ask_model(fixture, "{'answers':[{" STREAMED ",'chunked':true,'chunk':100}]}");

	assert_non_null(document.completion);
	assert_true(json_equal(document.completion, stream.completion));
}

WITH_MODEL(a_document_is_taken_where_a_stream_was_asked_for)
{
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome outcome = ask_model(
		fixture, "{'answers':[{'json':{'choices':[{'message':{'content':'plain'}}]}}]}");

	expect_content(&outcome, "plain");
}

/* Case 112. */
WITH_MODEL(an_error_after_text_keeps_the_text)
{
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'events':[{'choices':[{'delta':{'content':'half'}}]},"
		"{'error':{'message':'died','type':'InternalServerError'}}]}]}");

	expect_failure(&outcome, WFS_MODEL_FAILURE_ANSWER, "");
	assert_string_equal(outcome.failure.message, "died");
	assert_string_equal(outcome.failure.type, "InternalServerError");
	assert_string_equal(wfs_buffer_text(&outcome.partial), "half");
	assert_int_equal(outcome.attempts, 1);
}

/* Case 113. */
WITH_MODEL(a_stream_may_end_without_done_but_not_without_a_reason)
{
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome whole =
		ask_model(fixture, "{'answers':[{'done':false,'completion':{'content':'whole'}}]}");
	fixture->endpoint.attempts = 1;
	AUTO_OUTCOME struct outcome half = ask_model(
		fixture, "{'answers':[{'events':[{'choices':[{'delta':{'content':'half'}}]}]}]}");

	expect_content(&whole, "whole");
	expect_failure(&half, WFS_MODEL_FAILURE_ANSWER, "incomplete_answer");
	assert_string_equal(wfs_buffer_text(&half.partial), "half");
}

WITH_MODEL(a_stream_that_breaks_behind_its_reason_is_whole)
{
	fixture->endpoint.stream = true;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'events':[{'choices':[{'delta':{'content':'all'},'finish_reason':"
		"'stop'}]},{'choices':[],'usage':null}],'close_after':90}]}");

	expect_content(&outcome, "all");
}

WITH_MODEL(a_stream_that_stays_open_behind_done_is_left)
{
	fixture->endpoint.stream = true;
	fixture->endpoint.attempts = 1;
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture,
		"{'answers':[{'chunked':true,'stall_after':99999,'completion':{'content':'all'}}]"
		"}");

	expect_content(&outcome, "all");
	assert_in_range(outcome.duration_ms, 900, 10000);
}

/* --- where requests go --- */

static void set_proxy(const char *url)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads the environment */
	assert_int_equal(setenv("http_proxy", url, 1), 0);
}

WITH_MODEL(a_proxy_is_not_asked_for_loopback)
{
	set_proxy("http://127.0.0.1:1");
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");

	set_proxy("");
	expect_content(&outcome, "ok");
}

WITH_MODEL(a_proxy_is_asked_for_other_hosts)
{
	WFS_AUTO_BUFFER struct wfs_buffer proxy = {0};

	wfs_buffer_printf(&proxy, "http://127.0.0.1:%d", fixture->server->port);
	set_proxy(wfs_buffer_text(&proxy));
	fixture->endpoint.base_url = "http://model.invalid/v1";
	AUTO_OUTCOME struct outcome outcome = ask_model(fixture, "{}");
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	set_proxy("");
	expect_content(&outcome, "ok");
	assert_string_equal(json_string_value(member_of(requests, 0, "path")),
		"http://model.invalid/v1/chat/completions");
}

/*
 * A name server that never answers: curl's library finds this function instead of that of the C
 * library. Its threads wait until the test lets them end.
 */
static sem_t resolver_may_end;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): netdb.h reserves its own */
__attribute__((visibility("default"))) int getaddrinfo(const char *restrict name,
	const char *restrict service, const struct addrinfo *restrict hints,
	struct addrinfo **restrict found)
{
	(void)name;
	(void)service;
	(void)hints;
	(void)found;
	while (sem_wait(&resolver_may_end) != 0)
		;
	return EAI_AGAIN;
}

WITH_MODEL(a_name_server_that_never_answers_holds_up_nobody)
{
	AUTO_OUTCOME struct outcome slow = {0};
	AUTO_OUTCOME struct outcome cancelled = {0};
	AUTO_OUTCOME struct outcome other = {0};
	struct wfs_model_endpoint nowhere = fixture->endpoint;

	sem_init(&resolver_may_end, 0, 0);
	model_server_plan(fixture->server, "{}");
	nowhere.base_url = "http://model.invalid/v1";
	nowhere.connect_timeout_ms = 100;
	nowhere.attempts = 1;
	struct model_fixture elsewhere = *fixture;
	elsewhere.endpoint = nowhere;
	start(&elsewhere, "{}", &slow);
	start(&elsewhere, "{}", &cancelled);
	start(fixture, "{}", &other);

	run_until_done(fixture, &other);
	expect_content(&other, "ok");
	wfs_model_call_cancel(cancelled.call);
	run_until_done(fixture, &slow);
	expect_failure(&slow, WFS_MODEL_FAILURE_TIMEOUT, "connect_timeout");
	sem_post(&resolver_may_end);
	sem_post(&resolver_may_end);
}

/* --- life --- */

WITH_MODEL(a_client_may_go_with_calls_in_every_state)
{
	struct outcome outcomes[4] = {{0}};

	model_server_plan(fixture->server,
		"{'answers':[{'status':503,'headers':{'Retry-After':'60'}}],'default':{'never':"
		"true}}");
	for (size_t i = 0; i < 3; i++)
		start(fixture, "{}", &outcomes[i]);
	while (model_server_stat(fixture->server, "waiting") < 2)
		uv_run(&fixture->loop, UV_RUN_NOWAIT);
	start(fixture, "{}", &outcomes[3]); /* begins with the next round of the loop */

	wfs_model_client_free(WFS_STEAL(fixture->client));
	uv_run(&fixture->loop, UV_RUN_DEFAULT);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(outcomes); i++)
		assert_int_equal(outcomes[i].done_count, 0);
}

WITH_MODEL(a_cancelled_call_leaves_the_server)
{
	AUTO_OUTCOME struct outcome outcome = {0};

	model_server_plan(fixture->server, "{'default':{'never':true}}");
	start(fixture, "{}", &outcome);
	while (model_server_stat(fixture->server, "waiting") == 0)
		uv_run(&fixture->loop, UV_RUN_NOWAIT);

	wfs_model_call_cancel(outcome.call);

	uv_run(&fixture->loop, UV_RUN_DEFAULT); /* the server has no request left that waits */
	json_decref(model_server_ask(fixture->server, "GET", "/wait?closed=1", ""));
	assert_int_equal(outcome.done_count, 0);
}

/* A call that cancels another one when it ends, and begins a third. */
struct chain {
	struct model_fixture *fixture;
	struct outcome *other;
	struct outcome *next;
	bool done;
};

static void on_chain_done(void *context, const struct wfs_model_result *result)
{
	struct chain *const chain = context;

	assert_non_null(result->completion);
	chain->done = true;
	wfs_model_call_cancel(WFS_STEAL(chain->other->call));
	start(chain->fixture, "{}", chain->next);
}

WITH_MODEL(an_end_may_cancel_and_begin_calls)
{
	AUTO_OUTCOME struct outcome other = {0};
	AUTO_OUTCOME struct outcome next = {0};
	struct chain chain = {.fixture = fixture, .other = &other, .next = &next};
	const struct wfs_model_request request = {
		.endpoint = &fixture->endpoint,
		.body = wfs_bytes_text("{\"first\":1}"),
		.idempotency_key = "k",
		.context = &chain,
		.done = on_chain_done,
	};
	struct wfs_model_call *call = NULL;

	model_server_plan(fixture->server,
		"{'answers':[{'match':'other','never':true},{'match':'first','wait_for':2}]}");
	start(fixture, "{\"other\":1}", &other);
	assert_int_equal(wfs_model_call_start(fixture->client, &request, &call, NULL), 0);
	run_until_done(fixture, &next);

	assert_true(chain.done);
	expect_content(&next, "ok");
	assert_int_equal(other.done_count, 0);
}

TEST_GROUP(model_group_setup, model_group_teardown)
