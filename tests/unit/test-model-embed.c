/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings from a real server: from a text to a vector or a failure. */
#include "agents/model/embedding.h"
#include "tests/fixture/model.h"

#define SOON "'headers':{'Retry-After-Ms':'1'}"
#define ENTRY "{'provider':'openai','base_url':'http://127.0.0.1/v1','model':'m','stream':true}"

/* A text on its way to its vector, as the asker keeps it. */
struct asking {
	struct model_fixture *fixture;
	json_t *entry;
	struct wfs_buffer body;
	struct wfs_model_call *call; /* NULL: the request has ended */
	unsigned int done_count;
	unsigned int attempts;
	struct wfs_embedding embedding;
	struct wfs_model_failure failure; /* without a code and a message if it did not fail */
};

static void asking_done(struct asking *asking)
{
	json_decref(asking->entry);
	wfs_buffer_done(&asking->body);
	wfs_embedding_done(&asking->embedding);
}
#define AUTO_ASKING WFS_CLEANUP(asking_done)

static void on_embedded(void *context, const struct wfs_model_result *result)
{
	struct asking *const asking = context;

	asking->call = NULL;
	asking->done_count++;
	asking->attempts = result->attempts;
	(void)wfs_embedding_result(result, &asking->fixture->endpoint, asking->entry,
		&asking->embedding, &asking->failure);
	assert_null(asking->failure.secret);
	assert_null(memmem(
		&asking->failure, sizeof(asking->failure), FIXTURE_KEY, strlen(FIXTURE_KEY)));
}

static int try_embed(struct asking *asking, const char *text, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *body = NULL;
	const int r = wfs_embedding_request(asking->entry, text, &body, error);

	if (r)
		return r;
	wfs_json_write(body, &asking->body);
	const struct wfs_model_request request = {
		.endpoint = &asking->fixture->endpoint,
		.service = WFS_MODEL_EMBEDDINGS,
		.body = wfs_buffer_bytes(&asking->body),
		.idempotency_key = "run-1/turn-2",
		.context = asking,
		.done = on_embedded,
	};
	return wfs_model_call_start(asking->fixture->client, &request, &asking->call, error);
}

static struct asking asking_of(struct model_fixture *fixture, const char *entry)
{
	fixture->endpoint.stream = true; /* one that says nothing of embeddings */
	return (struct asking){.fixture = fixture, .entry = json_of(entry)};
}

static void begin(struct asking *asking, const char *plan)
{
	struct wfs_error error = {0};

	model_server_plan(asking->fixture->server, plan);
	if (try_embed(asking, "some text", &error) != 0)
		fail_msg("%s", error.message);
}

static void wait_for_end(const struct asking *asking)
{
	while (asking->done_count == 0)
		uv_run(&asking->fixture->loop, UV_RUN_ONCE);
	assert_int_equal(asking->done_count, 1);
}

static void expect_vector(const struct asking *asking, float first, float second)
{
	if (asking->failure.message[0] != '\0')
		fail_msg("%s", asking->failure.message);
	assert_int_equal(asking->embedding.count, 2);
	assert_true(asking->embedding.values[0] == first);
	assert_true(asking->embedding.values[1] == second);
}

static void expect_no_vector(const struct asking *asking, enum wfs_model_failure_kind kind,
	const char *code, const char *message)
{
	assert_null(asking->embedding.values);
	assert_int_equal(asking->failure.kind, kind);
	assert_string_equal(asking->failure.code, code);
	assert_string_equal(asking->failure.message, message);
}

/* --- vectors --- */

WITH_MODEL(a_text_becomes_a_vector)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{}");
	wait_for_end(&asking);
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_vector(&asking, 0.6F, -0.8F);
	assert_int_equal(asking.attempts, 1);
	assert_string_equal(json_string_value(member_of(requests, 0, "path")), "/v1/embeddings");
	assert_string_equal(json_string_value(member_of(requests, 0, "body")),
		"{\"encoding_format\":\"float\",\"input\":[\"some text\"],\"model\":\"m\"}");
}

WITH_MODEL(a_vector_may_come_as_base64)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'answers':[{'embedding':'AACAPwAAAL8='}]}");
	wait_for_end(&asking);

	expect_vector(&asking, 1.0F, -0.5F);
}

WITH_MODEL(a_server_that_is_busy_is_asked_again)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'answers':[{'status':429," SOON "}]}");
	wait_for_end(&asking);
	WFS_AUTO_JSON json_t *requests = model_server_requests(fixture->server);

	expect_vector(&asking, 0.6F, -0.8F);
	assert_int_equal(asking.attempts, 2);
	assert_int_equal(json_array_size(requests), 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(header_of(requests, i, "idempotency-key"), "run-1/turn-2");
	assert_true(json_equal(member_of(requests, 0, "body"), member_of(requests, 1, "body")));
}

WITH_MODEL(half_a_body_is_asked_for_again)
{
	const char *const plans[] = {
		"{'answers':[{'close_after':60," SOON "}]}",
		"{'answers':[{'close_after':60,'length':false," SOON "}]}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(plans); i++) {
		AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

		print_message("%s\n", plans[i]);
		begin(&asking, plans[i]);
		wait_for_end(&asking);
		expect_vector(&asking, 0.6F, -0.8F);
		assert_int_equal(asking.attempts, 2);
	}
}

/* --- failures --- */

WITH_MODEL(half_a_body_is_told_when_nothing_else_comes)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'default':{'close_after':60,'length':false," SOON "}}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_ANSWER, "incomplete_answer",
		"expected embeddings, got the end of the answer within it, after 60 bytes");
	assert_int_equal(asking.attempts, 3);
}

WITH_MODEL(a_page_of_an_error_is_told)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking,
		"{'default':{'status':500,'body':'<html>Oops " FIXTURE_KEY "</html>'," SOON "}}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_HTTP, "", "<html>Oops ***</html>");
	assert_int_equal(asking.failure.status, 500);
	assert_int_equal(asking.attempts, 3);
}

WITH_MODEL(an_error_that_calls_itself_a_success_is_told)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking,
		"{'answers':[{'json':{'error':{'message':'no such model','code':'gone'}}}]"
		"}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_ANSWER, "gone", "no such model");
	assert_int_equal(asking.failure.status, 200);
	assert_int_equal(asking.attempts, 1);
}

WITH_MODEL(a_vector_of_zeros_is_a_failure)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'answers':[{'embedding':[0,0,0]}]}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_ANSWER, "invalid_answer",
		"expected an embedding that is not all zeros, got 3 zeros");
	assert_int_equal(asking.failure.status, 200);
	assert_int_equal(asking.attempts, 1);
}

WITH_MODEL(a_vector_of_another_size_is_a_failure)
{
	AUTO_ASKING struct asking asking = asking_of(fixture,
		"{'provider':'openai','base_url':'http://127.0.0.1/v1','model':'m','dimensions':3}"
		"");

	begin(&asking, "{}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_ANSWER, "invalid_answer",
		"expected an embedding of 3 numbers ('dimensions' of the model), got 2");
}

/* Case 102, for a document that the client accepts and only the reader of embeddings refuses. */
WITH_MODEL(a_key_that_is_echoed_is_masked)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'answers':[{'echo':true}]}");
	wait_for_end(&asking);

	/* on_embedded() has looked for the key already */
	assert_null(asking.embedding.values);
	assert_non_null(strstr(asking.failure.message, "expected 'data' with one embedding, got:"));
	assert_non_null(strstr(asking.failure.message, "***"));
}

WITH_MODEL(an_answer_is_bounded)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	fixture->endpoint.response_size_max = 200;
	begin(&asking, "{}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_TOO_LARGE, "too_large",
		"expected an answer of at most 200 bytes, got more");
}

WITH_MODEL(a_server_that_never_answers_is_left)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	fixture->endpoint.first_byte_timeout_ms = 100;
	fixture->endpoint.attempts = 1;
	begin(&asking, "{'default':{'never':true}}");
	wait_for_end(&asking);

	expect_no_vector(&asking, WFS_MODEL_FAILURE_TIMEOUT, "first_byte_timeout",
		"expected an answer within 100 ms, got nothing");
	json_decref(model_server_ask(fixture->server, "GET", "/wait?closed=1", ""));
}

/* --- life --- */

WITH_MODEL(a_cancelled_text_leaves_the_server)
{
	AUTO_ASKING struct asking asking = asking_of(fixture, ENTRY);

	begin(&asking, "{'default':{'never':true}}");
	while (model_server_stat(fixture->server, "waiting") == 0)
		uv_run(&fixture->loop, UV_RUN_NOWAIT);

	wfs_model_call_cancel(asking.call);

	uv_run(&fixture->loop, UV_RUN_DEFAULT); /* the server has no request left that waits */
	json_decref(model_server_ask(fixture->server, "GET", "/wait?closed=1", ""));
	assert_int_equal(asking.done_count, 0);
}

WITH_MODEL(what_cannot_be_asked_is_refused_at_once)
{
	AUTO_ASKING struct asking script =
		asking_of(fixture, "{'provider':'script','file':'s.jsonl'}");
	AUTO_ASKING struct asking nowhere = asking_of(fixture, ENTRY);
	struct wfs_error error = {0};

	assert_int_equal(try_embed(&script, "text", &error), -EINVAL);
	assert_string_equal(error.message,
		"'provider': expected \"openai\", got 'script', which gives no embeddings");
	fixture->endpoint.base_url = "ftp://127.0.0.1/";
	assert_int_equal(try_embed(&nowhere, "text", &error), -EINVAL);
	assert_non_null(strstr(error.message, "base_url: expected http://"));
	assert_null(script.call);
	assert_null(nowhere.call);
}

TEST_GROUP(model_group_setup, model_group_teardown)
