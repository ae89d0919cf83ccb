/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of models on a loop, and the server that it asks.
 *
 * One server serves a group of tests; each test has a loop and a client of its own, and loses them in
 * full: a handle that stays open fails the teardown. Every call has a key, and of everything that a
 * call gives it is checked that the key is not in it (case 102).
 */
#pragma once

#include "agents/model/client.h"
#include "tests/unit/model-server.h"

#define FIXTURE_KEY "sk-nobody-may-see-this"

struct model_fixture {
	struct model_server *server;
	uv_loop_t loop;
	struct wfs_model_client *client;
	struct wfs_model_endpoint endpoint;
	enum wfs_model_service service;
};

/* What came of one call. */
struct outcome {
	struct wfs_model_call *call; /* NULL: it has ended */
	unsigned int done_count;
	json_t *completion; /* NULL: it failed */
	struct wfs_model_failure failure;
	struct wfs_buffer partial;
	struct wfs_buffer text;      /* of all progress */
	unsigned int progress_count; /* how often there was some */
	bool cancel_at_text;         /* by the first progress */
	unsigned int attempts;
	int64_t duration_ms;
};

static inline void outcome_done(struct outcome *outcome)
{
	json_decref(outcome->completion);
	wfs_buffer_done(&outcome->partial);
	wfs_buffer_done(&outcome->text);
}
#define AUTO_OUTCOME WFS_CLEANUP(outcome_done)

/* --- fixtures --- */

static inline int model_group_setup(void **state)
{
	struct model_server *const server = calloc(1, sizeof(*server));

	(void)signal(SIGPIPE, SIG_IGN);
	*state = server;
	return server ? model_server_start(server, NULL) : -1;
}

static inline int model_group_teardown(void **state)
{
	model_server_stop(*state);
	free(*state);
	return 0;
}

/* cmocka gives each test the group's state: it is put back by the teardown. */
static inline int model_fixture_setup(void **state)
{
	struct model_fixture *const fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->server = *state;
	fixture->endpoint = WFS_MODEL_ENDPOINT_DEFAULT;
	fixture->endpoint.base_url = fixture->server->base_url;
	fixture->endpoint.api_key = FIXTURE_KEY;
	*state = fixture;
	if (uv_loop_init(&fixture->loop) != 0)
		return -1;
	return wfs_model_client_new(&fixture->loop, &fixture->client);
}

static inline int model_fixture_teardown(void **state)
{
	struct model_fixture *const fixture = *state;
	int r;

	wfs_model_client_free(fixture->client);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	r = uv_loop_close(&fixture->loop);
	*state = fixture->server;
	free(fixture);
	return r;
}

/* --- calls --- */

static inline void on_progress(void *context, const char *text, size_t size)
{
	struct outcome *const outcome = context;

	wfs_buffer_append(&outcome->text, text, size);
	outcome->progress_count++;
	if (outcome->cancel_at_text)
		wfs_model_call_cancel(WFS_STEAL(outcome->call));
}

static inline void on_done(void *context, const struct wfs_model_result *result)
{
	struct outcome *const outcome = context;

	outcome->call = NULL;
	outcome->done_count++;
	outcome->attempts = result->attempts;
	outcome->duration_ms = result->duration_ms;
	outcome->completion = json_incref(result->completion);
	if (!result->failure)
		return;
	outcome->failure = *result->failure;
	assert_null(memmem(
		&outcome->failure, sizeof(outcome->failure), FIXTURE_KEY, strlen(FIXTURE_KEY)));
	assert_null(outcome->failure.secret);
	wfs_buffer_append(
		&outcome->partial, result->failure->partial.data, result->failure->partial.size);
}

static inline int try_start(struct model_fixture *fixture, const char *body,
	struct outcome *outcome, struct wfs_error *error)
{
	const struct wfs_model_request request = {
		.endpoint = &fixture->endpoint,
		.service = fixture->service,
		.body = wfs_bytes_text(body),
		.idempotency_key = "run-1/turn-2",
	};
	const struct wfs_model_callbacks callbacks = {
		.context = outcome,
		.progress = fixture->endpoint.stream ? on_progress : NULL,
		.done = on_done,
	};

	return wfs_model_call_start(fixture->client, &request, &callbacks, &outcome->call, error);
}

/* @body: borrowed until the call has ended. */
static inline void start(struct model_fixture *fixture, const char *body, struct outcome *outcome)
{
	struct wfs_error error = {0};

	if (try_start(fixture, body, outcome, &error) != 0)
		fail_msg("%s", error.message);
}

static inline void run_until_done(struct model_fixture *fixture, const struct outcome *outcome)
{
	while (outcome->done_count == 0)
		uv_run(&fixture->loop, UV_RUN_ONCE);
	assert_int_equal(outcome->done_count, 1);
}

/* @plan: with ' for ". */
static inline struct outcome ask(struct model_fixture *fixture, const char *plan)
{
	struct outcome outcome = {0};

	model_server_plan(fixture->server, plan);
	start(fixture, fixture->endpoint.stream ? "{\"stream\":true}" : "{}", &outcome);
	run_until_done(fixture, &outcome);
	return outcome;
}

static inline void expect_content(const struct outcome *outcome, const char *content)
{
	if (!outcome->completion)
		fail_msg("%s", outcome->failure.message);
	assert_string_equal(
		json_string_value(json_object_get(outcome->completion, "content")), content);
}

static inline void expect_failure(
	const struct outcome *outcome, enum wfs_model_failure_kind kind, const char *code)
{
	assert_null(outcome->completion);
	assert_int_equal(outcome->failure.kind, kind);
	assert_string_equal(outcome->failure.code, code);
	assert_string_not_equal(outcome->failure.message, "");
}

/* A member of the n-th request that came. */
static inline const json_t *member_of(const json_t *requests, size_t index, const char *name)
{
	const json_t *const member = json_object_get(json_array_get(requests, index), name);

	assert_non_null(member);
	return member;
}

static inline const char *header_of(const json_t *requests, size_t index, const char *name)
{
	return json_string_value(json_object_get(member_of(requests, index, "headers"), name));
}

/* Milliseconds between two requests. */
static inline double pause_of(const json_t *requests, size_t first, size_t second)
{
	return json_number_value(member_of(requests, second, "at_ms")) -
		json_number_value(member_of(requests, first, "at_ms"));
}

#define WITH_MODEL(name) \
	TEST_WITH(name, struct model_fixture *fixture, model_fixture_setup, model_fixture_teardown)
