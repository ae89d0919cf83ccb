/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call: its attempts, its time limits, its end.
 *
 * Attempts begin in the call's timer, the first one, too: so whatever goes wrong is told from the
 * loop. The timer has one use at a time, which state and limit say.
 */
#include <errno.h>
#include <sys/random.h>

#include "agents/model/answer.h"
#include "agents/model/client-impl.h"
#include "agents/model/retry.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum {
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
	MS_PER_S = 1000,
	/* For a server to end what it said has ended, so that the connection can be used again. */
	LINGER_MS = 1000,
};

/* --- time limits --- */

static void on_timer(uv_timer_t *timer);

/* The loop's clock stands still while it works, and is cut to milliseconds. */
static void start_timer(struct wfs_model_call *call, int64_t wait_ms)
{
	uv_update_time(call->client->loop);
	uv_timer_start(&call->timer, on_timer, (uint64_t)wait_ms, 0);
}

static int64_t left_ms(const struct wfs_model_call *call)
{
	const int64_t left_ns = call->deadline_ns - wfs_clock_monotonic_ns();

	return left_ns > 0 ? left_ns / NS_PER_MS : 0;
}

static void set_limit(struct wfs_model_call *call, enum wfs_model_limit limit, int64_t limit_ms)
{
	const int64_t left = left_ms(call);

	call->limit = limit_ms < left ? limit : WFS_MODEL_LIMIT_TOTAL;
	start_timer(call, limit_ms < left ? limit_ms : left);
}

static int limit_reached(struct wfs_model_call *call)
{
	const struct wfs_model_endpoint *const endpoint = call->request.endpoint;
	struct wfs_model_failure *const failure = &call->failure;

	switch (call->limit) {
	case WFS_MODEL_LIMIT_FIRST_BYTE:
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_FIRST_BYTE_TIMEOUT,
			"expected an answer within %lld ms, got nothing",
			(long long)endpoint->first_byte_timeout_ms);
	case WFS_MODEL_LIMIT_IDLE:
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_IDLE_TIMEOUT,
			"expected more of the answer within %lld ms, got nothing after %zu bytes",
			(long long)endpoint->idle_timeout_ms, call->response_bytes);
	default:
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_TOTAL_TIMEOUT,
			"expected the whole answer within %lld ms, got none in %u attempts",
			(long long)endpoint->total_timeout_ms, call->attempt_count);
	}
}

/* --- turns to connect --- */

static void let_next_connect(struct wfs_model_client *client)
{
	struct wfs_model_call *call = NULL;

	while (client->connecting_count < WFS_MODEL_CONNECTS_MAX &&
		(call = TAILQ_FIRST(&client->queue))) {
		TAILQ_REMOVE(&client->queue, call, waiting);
		client->connecting_count++;
		call->connecting = true;
		call->state = WFS_MODEL_CALL_READY;
		start_timer(call, 0);
	}
}

/* Return: is it this call's turn? Else it is in the queue. */
static bool take_turn(struct wfs_model_call *call)
{
	struct wfs_model_client *const client = call->client;

	if (call->connecting)
		return true;
	TAILQ_INSERT_TAIL(&client->queue, call, waiting);
	call->state = WFS_MODEL_CALL_QUEUED;
	set_limit(call, WFS_MODEL_LIMIT_TOTAL, left_ms(call));
	let_next_connect(client);
	return false;
}

static void end_turn(struct wfs_model_call *call)
{
	if (!call->connecting)
		return;
	call->connecting = false;
	call->client->connecting_count--;
	let_next_connect(call->client);
}

/* --- what curl tells --- */

static int on_connected(void *context, char *peer, char *local, int peer_port, int local_port)
{
	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	end_turn(context);
	return CURL_PREREQFUNC_OK;
}

/* Return: 0, or -EBADMSG. */
static int count_bytes(struct wfs_model_call *call, size_t size)
{
	const size_t size_max = call->request.endpoint->response_size_max;

	if (size <= size_max - call->response_bytes) {
		call->response_bytes += size;
		return 0;
	}
	return wfs_model_failure_set(&call->failure, WFS_MODEL_FAILURE_TOO_LARGE,
		WFS_MODEL_CODE_TOO_LARGE, "expected an answer of at most %zu bytes, got more",
		size_max);
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
	struct wfs_model_call *const call = context;

	(void)data;
	call->fed = count_bytes(call, size * count);
	return call->fed == 0 ? size * count : 0;
}

static int read_status(struct wfs_model_call *call)
{
	long status = 0;

	(void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	call->failure.status = (int)status;
	return call->failure.status;
}

static void note_text(struct wfs_model_call *call)
{
	if (call->has_text || !call->callbacks.progress ||
		wfs_model_answer_text(call->answer).size == call->given_bytes)
		return;
	call->has_text = true;
	TAILQ_INSERT_TAIL(&call->client->with_text, call, waiting);
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
	struct wfs_model_call *const call = context;

	call->fed = count_bytes(call, size * count);
	if (call->fed == 0)
		call->fed = wfs_model_answer_feed(
			call->answer, read_status(call), data, size * count, &call->failure);
	note_text(call);
	if (call->fed < 0)
		return 0;
	if (wfs_model_answer_ended(call->answer))
		set_limit(call, WFS_MODEL_LIMIT_LINGER, LINGER_MS);
	else
		set_limit(call, WFS_MODEL_LIMIT_IDLE, call->request.endpoint->idle_timeout_ms);
	return size * count;
}

void wfs_model_call_give_text(struct wfs_model_call *call)
{
	const struct wfs_bytes text = wfs_model_answer_text(call->answer);
	const size_t given_bytes = call->given_bytes;

	TAILQ_REMOVE(&call->client->with_text, call, waiting);
	call->has_text = false;
	call->text_given = true;
	call->given_bytes = text.size;
	call->callbacks.progress(call->callbacks.context, (const char *)text.data + given_bytes,
		text.size - given_bytes);
}

/* --- ends --- */

static void on_timer_closed(uv_handle_t *timer)
{
	struct wfs_model_call *const call = timer->data;

	wfs_model_client_handle_closed(call->client);
	free(call);
}

/* Takes the call out of whatever it is in; it can be begun anew or released. */
static void stop(struct wfs_model_call *call)
{
	uv_timer_stop(&call->timer);
	if (call->state == WFS_MODEL_CALL_RUNNING)
		curl_multi_remove_handle(call->client->multi, call->easy);
	if (call->state == WFS_MODEL_CALL_QUEUED)
		TAILQ_REMOVE(&call->client->queue, call, waiting);
	if (call->has_text)
		TAILQ_REMOVE(&call->client->with_text, call, waiting);
	call->has_text = false;
	call->state = WFS_MODEL_CALL_READY;
	end_turn(call);
}

static void release(struct wfs_model_call *call)
{
	curl_easy_cleanup(call->easy);
	wfs_model_headers_free(call->headers);
	wfs_model_answer_free(call->answer);
	uv_close((uv_handle_t *)&call->timer, on_timer_closed);
}

static void end(struct wfs_model_call *call, json_t *completion)
{
	const struct wfs_model_result result = {
		.completion = completion,
		.failure = completion ? NULL : &call->failure,
		.attempts = call->attempt_count,
		.duration_ms = (wfs_clock_monotonic_ns() - call->attempt_ns) / NS_PER_MS,
	};

	call->state = WFS_MODEL_CALL_ENDED;
	TAILQ_REMOVE(&call->client->calls, call, all);
	call->failure.secret = NULL;
	if (call->answer)
		call->failure.partial = wfs_model_answer_text(call->answer);
	call->callbacks.done(call->callbacks.context, &result);
	release(call);
}

/* --- attempts --- */

static const char *header(const struct wfs_model_call *call, const char *name)
{
	struct curl_header *found = NULL;

	/* -1: of the last answer, behind those of proxies and 1xx */
	if (curl_easy_header(call->easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
		return NULL;
	return found->value;
}

static double chance(void)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		return 0;
	return bits / ((double)UINT32_MAX + 1);
}

static struct wfs_retry decide(const struct wfs_model_call *call, bool lost)
{
	const struct wfs_model_failure *const failure = &call->failure;
	const struct wfs_retry_input input = {
		.attempt = call->attempt_count,
		.attempt_max = call->request.endpoint->attempts,
		.text_given = call->text_given,
		.lost = lost,
		.status = failure->status,
		.code = failure->code,
		.type = failure->type,
		.should_retry = header(call, "x-should-retry"),
		.retry_after_ms = header(call, "retry-after-ms"),
		.retry_after = header(call, "retry-after"),
		.now_s = wfs_clock_realtime_ns() / NS_PER_S,
		.wait_max_ms = call->request.endpoint->retry_wait_max_ms,
		.random = chance(),
	};

	return wfs_retry_decide(&input);
}

/* Says first that the server asked for a wait that is too long. */
static void tell_wait(struct wfs_model_call *call, int64_t asked_ms)
{
	struct wfs_model_failure *const failure = &call->failure;
	const struct wfs_model_failure said = *failure;

	wfs_model_failure_set(failure, said.kind, said.code,
		"the server asks to wait %lld s, at most %lld s are waited: %s",
		(long long)(asked_ms / MS_PER_S),
		(long long)(call->request.endpoint->retry_wait_max_ms / MS_PER_S), said.message);
	failure->retry_after_ms = asked_ms;
}

/* @lost: in a way that need not happen again */
static void attempt_failed(struct wfs_model_call *call, bool lost)
{
	const struct wfs_retry retry = decide(call, lost);
	const char *const request_id = header(call, "x-request-id");

	if (retry.again && retry.wait_ms < left_ms(call)) {
		/* One more: what is left of a millisecond must not make it too short. */
		start_timer(call, retry.wait_ms + 1);
		return;
	}
	if (request_id)
		wfs_model_failure_text(&call->failure, wfs_bytes_text(request_id),
			call->failure.request_id, sizeof(call->failure.request_id));
	if (retry.asked_ms > 0)
		tell_wait(call, retry.asked_ms);
	end(call, NULL);
}

static void attempt_out_of_memory(struct wfs_model_call *call)
{
	attempt_failed(call, wfs_model_transport_failed(&call->failure, CURLE_OUT_OF_MEMORY, ""));
}

/* @r: what came of the answer: 0, -EBADMSG with the failure filled, -ENOMEM */
static void attempt_judged(struct wfs_model_call *call, int r, json_t *completion)
{
	if (r == 0)
		end(call, completion);
	else if (r == -ENOMEM)
		attempt_out_of_memory(call);
	else
		attempt_failed(call, strcmp(call->failure.code, WFS_MODEL_CODE_INCOMPLETE) == 0);
}

static void attempt_finish(struct wfs_model_call *call)
{
	WFS_AUTO_JSON json_t *completion = NULL;
	const int r = wfs_model_answer_finish(call->answer, &completion, &call->failure);

	attempt_judged(call, r, completion);
}

void wfs_model_call_attempt_over(struct wfs_model_call *call, CURLcode result)
{
	stop(call);
	read_status(call);
	if (call->fed < 0)
		attempt_judged(call, call->fed, NULL);
	else if (result == CURLE_OK || wfs_model_answer_complete(call->answer))
		attempt_finish(call);
	else
		attempt_failed(
			call, wfs_model_transport_failed(&call->failure, result, call->reason));
}

static void attempt_timed_out(struct wfs_model_call *call)
{
	const bool whole =
		wfs_model_answer_complete(call->answer) || call->limit == WFS_MODEL_LIMIT_LINGER;

	stop(call);
	read_status(call);
	if (whole) {
		attempt_finish(call);
		return;
	}
	limit_reached(call);
	attempt_failed(call, true);
}

static void attempt_begin(struct wfs_model_call *call)
{
	if (!take_turn(call))
		return;
	wfs_model_answer_free(WFS_STEAL(call->answer));
	wfs_model_failure_begin(&call->failure);
	call->reason[0] = '\0';
	call->fed = 0;
	call->given_bytes = 0;
	call->response_bytes = 0;
	call->attempt_count++;
	call->attempt_ns = wfs_clock_monotonic_ns();
	if (wfs_model_answer_new(&call->answer) < 0 ||
		curl_multi_add_handle(call->client->multi, call->easy) != CURLM_OK) {
		stop(call);
		attempt_out_of_memory(call);
		return;
	}
	call->state = WFS_MODEL_CALL_RUNNING;
	set_limit(call, WFS_MODEL_LIMIT_FIRST_BYTE, call->request.endpoint->first_byte_timeout_ms);
}

static void on_timer(uv_timer_t *timer)
{
	struct wfs_model_call *const call = timer->data;

	switch (call->state) {
	case WFS_MODEL_CALL_READY:
		attempt_begin(call);
		break;
	case WFS_MODEL_CALL_RUNNING:
		attempt_timed_out(call);
		break;
	case WFS_MODEL_CALL_QUEUED:
		stop(call);
		limit_reached(call);
		end(call, NULL);
		break;
	case WFS_MODEL_CALL_ENDED:
		break;
	}
}

/* --- start and cancel --- */

static int set_callbacks(struct wfs_model_call *call)
{
	CURL *const easy = call->easy;
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->reason);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	return r ? -ENOMEM : 0;
}

int wfs_model_call_start(struct wfs_model_client *client, const struct wfs_model_request *request,
	const struct wfs_model_callbacks *callbacks, struct wfs_model_call **ret_call,
	struct wfs_error *error)
{
	WFS_AUTO_FREE struct wfs_model_call *call = calloc(1, sizeof(*call));
	int r;

	if (!call)
		return wfs_error_from_errno(error, -ENOMEM, "prepare a request to a model");
	r = wfs_model_easy_new(request, &call->easy, &call->headers, error);
	if (r < 0)
		return r;
	call->client = client;
	call->request = *request;
	call->callbacks = *callbacks;
	call->failure.secret = request->endpoint->api_key;
	call->deadline_ns =
		wfs_clock_monotonic_ns() + request->endpoint->total_timeout_ms * NS_PER_MS;
	call->attempt_ns = wfs_clock_monotonic_ns();
	if (set_callbacks(call) < 0) {
		curl_easy_cleanup(call->easy);
		wfs_model_headers_free(call->headers);
		return wfs_error_from_errno(error, -ENOMEM, "prepare a request to a model");
	}
	uv_timer_init(client->loop, &call->timer);
	call->timer.data = call;
	client->handle_count++;
	TAILQ_INSERT_TAIL(&client->calls, call, all);
	start_timer(call, 0);
	*ret_call = WFS_STEAL(call);
	return 0;
}

void wfs_model_call_cancel(struct wfs_model_call *call)
{
	wfs_require(call->state != WFS_MODEL_CALL_ENDED);
	stop(call);
	call->state = WFS_MODEL_CALL_ENDED;
	TAILQ_REMOVE(&call->client->calls, call, all);
	release(call);
}
