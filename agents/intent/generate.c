/* SPDX-License-Identifier: Apache-2.0 */
/* Intents of llm.generate: a model is asked, and its answer is read and checked. */
#include "agents/intent/intent-impl.h"

#include "agents/adapter/adapter.h"
#include "agents/adapter/constraint.h"
#include "agents/adapter/format.h"
#include "agents/host/endpoint.h"
#include "agents/host/models.h"
#include "agents/host/script.h"
#include "agents/host/secret.h"
#include "agents/model/retry.h"
#include "agents/prepare/private.h"
#include "agents/prepare/tool.h"
#include "caps/authority.h"
#include "caps/session-act.h"
#include "caps/session-read.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "ask a model")

/* --- the answer --- */

static void fail_with(struct work *work, int r, struct wfs_error *error)
{
	if (error->code == WFS_OK)
		(void)wfs_error_from_errno(error, r, "ask a model");
	work_fail(work, error);
}

/* Finds the calls in a completion, and checks it against the constraint. */
static int read_answer(
	struct work *work, const json_t *completion, json_t **ret_parsed, struct wfs_error *error)
{
	const json_t *const settings = json_object_get(work->asking.setup, "settings");
	const char *const finish = json_string_value(json_object_get(completion, "finish_reason"));
	const bool whole = !finish || strcmp(finish, "stop") == 0;
	const struct wfs_adapter *adapter;
	int r = wfs_adapter_get(work->asking.entry, &adapter, error);

	if (!r &&
		adapter->response_parser(
			completion, json_object_get(work->asking.setup, "offered"), ret_parsed))
		r = no_memory(error);
	if (!r && whole)
		r = wfs_constraint_check_answer(
			json_object_get(settings, "constraint"), *ret_parsed, error);
	/* The reason quotes the constraint. */
	if (r == -EINVAL && work->asking.settings_private)
		(void)wfs_error_set(error, error->code,
			"constraint violation: the answer does not fit the constraint of the "
			"agent, which is private");
	return r;
}

/* An answer that does not fit its constraint is a failure. The failure contains the answer,
 * because the answer was paid for. */
static void take_violation(struct work *work, const json_t *parsed, const struct wfs_error *error)
{
	json_t *const usage = json_object_get(parsed, "usage");
	json_t *const content = json_object_get(parsed, "content");

	work_answer(work, "error",
		json_pack("{s:s, s:O?, s:O, s:s, s:b, s:O?}", "code",
			wfs_error_info(error->code)->name, "content", content, "duration_ms",
			json_object_get(parsed, "duration_ms"), "message", error->message,
			"retriable", 0, "usage", usage));
}

static void take_completion(
	struct work *work, const json_t *completion, int64_t duration_ms, unsigned int attempts)
{
	WFS_AUTO_JSON json_t *parsed = NULL;
	json_t *payload = NULL;
	struct wfs_error error = {0};
	int r = read_answer(work, completion, &parsed, &error);

	json_decref(work->asking.usage);
	work->asking.usage = json_incref(json_object_get(parsed, "usage"));
	if (parsed &&
		(json_object_set_new(parsed, "duration_ms", json_integer(duration_ms)) < 0 ||
			json_object_set_new(
				parsed, "attempts", json_integer((json_int_t)attempts)) < 0))
		r = no_memory(&error);
	if (r == -EINVAL && parsed) {
		take_violation(work, parsed, &error);
		return;
	}
	if (!r)
		r = work->kind->take(work, parsed, &payload, &error);
	if (r)
		fail_with(work, r, &error);
	else
		work_answer(work, "ok", payload);
}

/* --- a server --- */

/* A server may send a text as its code. */
static bool is_word(const char *code)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	return *code && code[strspn(code, letters)] == '\0';
}

/* Makes the error of a server, with the text that came before a stream broke. NULL without
 * memory. */
static json_t *failure_payload(const struct work *work, const struct wfs_model_result *result)
{
	const struct wfs_model_failure *const failure = result->failure;
	/* A server's text may quote a private text of the request. */
	const bool hides = work->asking.request_private &&
		(failure->kind == WFS_MODEL_FAILURE_HTTP ||
			failure->kind == WFS_MODEL_FAILURE_ANSWER);
	const bool has_code = hides ? is_word(failure->code) : *failure->code != '\0';
	char message[sizeof(failure->message)];
	char status[24];

	if (failure->status / 100 == 2)
		snprintf(status, sizeof(status), "server_error");
	else
		snprintf(status, sizeof(status), "http_%d", failure->status);
	snprintf(message, sizeof(message), "HTTP %d; " AGENTS_REASON_LEFT_OUT, failure->status);
	WFS_AUTO_JSON json_t *payload = json_pack("{s:I, s:s, s:I, s:s, s:s#, s:b, s:i}",
		"attempts", (json_int_t)result->attempts, "code", has_code ? failure->code : status,
		"duration_ms", (json_int_t)work_elapsed_ms(work), "message",
		hides ? message : failure->message, "partial",
		failure->partial.size ? (const char *)failure->partial.data : "",
		(int)failure->partial.size, "retriable", (int)wfs_retry_may_pass(failure), "status",
		failure->status);
	return payload ? agents_secret_mask(payload, work->asking.endpoint.api_key) : NULL;
}

/* Keeps what was sent, and what came back; without memory, or if it is not wanted, does not. */
static void keep_raw(struct work *work, const struct wfs_buffer *answers, size_t count)
{
	if (answers &&
		raw_take(&work->asking.raw, wfs_buffer_bytes(&work->asking.body), answers, count,
			work->asking.endpoint.api_key))
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR,
			"no memory to keep what a model was sent and has answered");
}

static void on_model_done(void *context, const struct wfs_model_result *result)
{
	struct work *const work = context;
	const struct wfs_model_failure *const failure = result->failure;

	work->asking.call = NULL;
	keep_raw(work, result->answers, result->attempts);
	wfs_buffer_done(&work->asking.body);
	if (failure) {
		work_answer(work, failure->kind == WFS_MODEL_FAILURE_TIMEOUT ? "timeout" : "error",
			failure_payload(work, result));
		return;
	}
	WFS_AUTO_JSON json_t *masked =
		agents_secret_mask(result->completion, work->asking.endpoint.api_key);
	struct wfs_error error = {0};
	if (masked)
		take_completion(work, masked, result->duration_ms, result->attempts);
	else
		fail_with(work, no_memory(&error), &error);
}

static int ask_server(
	struct work *work, const struct work_question *question, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *body = NULL;
	int r = agents_endpoint_make(
		work->asking.entry, question->left_ms, &work->asking.endpoint, error);

	/* Servers that remember keys see all attempts of a step as one request. */
	snprintf(work->asking.key, sizeof(work->asking.key), "%s", work->intent_id);
	if (work->kind->index)
		snprintf(work->asking.key, sizeof(work->asking.key), "%.*s/%lld", WFS_PLAN_ID_SIZE,
			work->owner_id, (long long)work->index);
	if (!r)
		r = wfs_format_request(work->asking.setup, work->asking.entry, question->messages,
			work->asking.endpoint.stream, &body, error);
	if (r)
		return r;
	wfs_json_write(body, &work->asking.body);
	if (wfs_buffer_check(&work->asking.body))
		return no_memory(error);
	const struct wfs_model_request request = {
		.endpoint = &work->asking.endpoint,
		.body = wfs_buffer_bytes(&work->asking.body),
		.idempotency_key = work->asking.key,
		.keep = work->asking.raw.wanted,
		.context = work,
		.done = on_model_done,
	};
	return wfs_model_call_start(work->engine->client, &request, &work->asking.call, error);
}

/* --- a script --- */

/* The script is read again after the wait, so that no part of it is kept. */
static void generate_now(struct work *work);

/* Keeps the body that a server would be sent, and the answer as JSON. */
static void keep_script(
	struct work *work, const struct work_question *question, const json_t *answer)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	WFS_AUTO_JSON json_t *body = NULL;
	struct wfs_error ignored = {0};

	if (!work->asking.raw.wanted ||
		wfs_format_request(work->asking.setup, work->asking.entry, question->messages,
			false, &body, &ignored))
		return;
	wfs_json_write(body, &work->asking.body);
	wfs_json_write(answer, &came);
	if (!wfs_buffer_check(&work->asking.body) && !wfs_buffer_check(&came))
		keep_raw(work, &came, 1);
	wfs_buffer_done(&work->asking.body);
}

static int ask_script(
	struct work *work, const struct work_question *question, struct wfs_error *error)
{
	const int64_t waited_ms = work_elapsed_ms(work);
	struct script_answer answer = {.completion = NULL};
	int r = script_read(wfs_authority_directory(work->engine->authority),
		json_string_value(json_object_get(work->asking.entry, "file")),
		work->asking.script_turn, question->messages, &answer, error);

	if (r == -ENOENT && work->asking.request_private) /* it quotes the last message */
		return wfs_error_set(
			error, error->code, "the script has no answer; " AGENTS_REASON_LEFT_OUT);
	if (r)
		return r;
	if (answer.delay_ms > waited_ms) {
		const int64_t wait_ms = answer.delay_ms - waited_ms;

		r = work_set_timer(work,
			(uint64_t)(wait_ms < question->left_ms ? wait_ms : question->left_ms),
			generate_now);
		r = r ? no_memory(error) : 0;
		json_decref(answer.completion);
		json_decref(answer.failure);
		return r;
	}
	keep_script(work, question, answer.failure ? answer.failure : answer.completion);
	if (answer.failure)
		work_answer(work, "error", answer.failure);
	else
		take_completion(work, answer.completion, answer.delay_ms, 1);
	json_decref(answer.completion);
	return 0;
}

/* --- both --- */

/* Sets the setup, with descriptions and parameters of the tools. */
static int expand(struct work *work, const json_t *setup, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *tools = NULL;
	int r = agents_tools_expand(
		work->engine->helpers, json_object_get(setup, "tools"), &tools, error);

	if (r)
		return r;
	json_decref(work->asking.setup);
	work->asking.setup = wfs_json_copy(setup);
	return work->asking.setup && json_object_set(work->asking.setup, "tools", tools) == 0
		? 0
		: no_memory(error);
}

/* Prepares what the request is made from. */
static int prepare(struct work *work, struct work_question *question, struct wfs_error *error)
{
	int r = work->kind->ask(work, question, error);

	if (!r)
		r = expand(work, question->setup, error);
	if (r)
		return r;
	json_decref(WFS_STEAL(work->asking.entry));
	work->asking.raw.wanted = strcmp(work->kind->owner, "run_id") == 0 &&
		wfs_models_keep_raw(wfs_authority_directory(work->engine->authority));
	return wfs_models_find(wfs_authority_directory(work->engine->authority),
		wfs_json_text(question->setup, "model"), &work->asking.entry, error);
}

static void generate_now(struct work *work)
{
	WFS_CLEANUP(work_question_done)
	struct work_question question = {.left_ms = INT64_MAX};
	struct wfs_error error = {0};
	int r = prepare(work, &question, &error);

	if (!r && strcmp(wfs_json_text(work->asking.entry, "provider"), "script") == 0)
		r = ask_script(work, &question, &error);
	else if (!r)
		r = ask_server(work, &question, &error);
	if (r)
		fail_with(work, r, &error);
}

/* --- may it? --- */

static void refused(struct engine *engine, struct job *job)
{
	struct work *const work = (struct work *)job;
	struct wfs_error error = work->request.error;

	(void)engine;
	work->state = WORK_DOING;
	work_fail(work, &error); /* frees the work if its intent has gone */
}

void generate_begin(struct work *work)
{
	work->request = engine_request(work->engine, &work->job, refused);
	int r = wfs_session_generate(work->session, work->charge, &work->request);

	if (r == WFS_SESSION_REFUSED) {
		work->state = WORK_SUBMITTING;
		return;
	}
	if (r) {
		struct wfs_error error = work->request.error;

		fail_with(work, r, &error);
		return;
	}
	generate_now(work);
}

void generate_cancel(struct work *work)
{
	if (work->asking.call)
		wfs_model_call_cancel(WFS_STEAL(work->asking.call));
}

/* --- a run --- */

int ask_run(struct work *work, struct work_question *question, struct wfs_error *error)
{
	WFS_AUTO_DRIVING_RUN struct wfs_driving_run run = {.setup = NULL};
	WFS_AUTO_JSON json_t *sent = NULL;
	int r = wfs_driving_run(work->session, work->owner_id, &run, error);

	work->asking.script_turn = work->turn;
	if (!r) {
		work->asking.settings_private =
			wfs_text_has_hidden(json_object_get(run.setup, "settings"));
		r = agents_reveal(work->session, &run.view, run.setup, &question->setup, error);
	}
	if (!r)
		r = wfs_driving_sent(&run, &sent, error);
	if (!r)
		r = agents_reveal(work->session, &run.view, sent, &question->messages, error);
	if (r)
		return r;
	work->asking.request_private = wfs_text_has_hidden(run.setup) || wfs_text_has_hidden(sent);
	agents_origin_done(&work->asking.raw.origin);
	if (agents_origin_add_hidden(&work->asking.raw.origin, run.setup) ||
		agents_origin_add_hidden(&work->asking.raw.origin, sent))
		return no_memory(error);
	question->left_ms = work_left_ms(run.state.started_ns, question->setup);
	return question->left_ms > 0
		? 0
		: wfs_error_set(error, WFS_E_TIMEOUT, "the run has used up its time");
}

int take_run(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = wfs_session_view(work->session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = agents_hide_answer(&view, json_object_get(work->asking.setup, "tools"),
			&work->texts, completion, error);
	if (!r)
		*ret_payload = json_incref(completion);
	return r;
}
