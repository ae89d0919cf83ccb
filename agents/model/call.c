/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call: its time limits, its turn to connect, its beginning and its end.
 *
 * All attempts begin in the call's timer, also the first, so that every failure is reported from
 * the loop. The timer has one use at a time; state and limit say which.
 */
#include <errno.h>

#include "agents/model/answer.h"
#include "agents/model/client-impl.h"
#include "kernel/base/clock.h"

enum { NS_PER_MS = 1000000 };

/* --- time limits --- */

static void on_timer(uv_timer_t *timer);

void wfs_model_call_start_timer(struct wfs_model_call *call, int64_t wait_ms)
{
	uv_update_time(call->client->loop); /* its time stands still while the loop works */
	uv_timer_start(&call->timer, on_timer, (uint64_t)wait_ms, 0);
}

int64_t wfs_model_call_left_ms(const struct wfs_model_call *call)
{
	const int64_t left_ns = call->deadline_ns - wfs_clock_monotonic_ns();

	return left_ns > 0 ? left_ns / NS_PER_MS : 0;
}

void wfs_model_call_set_limit(
	struct wfs_model_call *call, enum wfs_model_limit limit, int64_t limit_ms)
{
	const int64_t left = wfs_model_call_left_ms(call);

	call->limit = limit_ms < left ? limit : WFS_MODEL_LIMIT_TOTAL;
	wfs_model_call_start_timer(call, limit_ms < left ? limit_ms : left);
}

void wfs_model_call_limit_reached(struct wfs_model_call *call)
{
	const struct wfs_model_endpoint *const endpoint = call->request.endpoint;
	struct wfs_model_failure *const failure = &call->failure;

	switch (call->limit) {
	case WFS_MODEL_LIMIT_FIRST_BYTE:
		wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_FIRST_BYTE_TIMEOUT,
			"expected an answer within %lld ms, got nothing",
			(long long)endpoint->first_byte_timeout_ms);
		break;
	case WFS_MODEL_LIMIT_IDLE:
		wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_IDLE_TIMEOUT,
			"expected more of the answer within %lld ms, got nothing after %zu bytes",
			(long long)endpoint->idle_timeout_ms, call->response_bytes);
		break;
	default:
		wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TIMEOUT,
			WFS_MODEL_CODE_TOTAL_TIMEOUT,
			"expected the whole answer within %lld ms, got none in %u attempt%s",
			(long long)endpoint->total_timeout_ms, call->attempt_count,
			call->attempt_count == 1 ? "" : "s");
		break;
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
		wfs_model_call_start_timer(call, 0);
	}
}

bool wfs_model_call_take_turn(struct wfs_model_call *call)
{
	struct wfs_model_client *const client = call->client;

	if (call->connecting)
		return true;
	TAILQ_INSERT_TAIL(&client->queue, call, waiting);
	call->state = WFS_MODEL_CALL_QUEUED;
	wfs_model_call_set_limit(call, WFS_MODEL_LIMIT_TOTAL, wfs_model_call_left_ms(call));
	let_next_connect(client);
	return false;
}

void wfs_model_call_end_turn(struct wfs_model_call *call)
{
	if (!call->connecting)
		return;
	call->connecting = false;
	call->client->connecting_count--;
	let_next_connect(call->client);
}

/* --- ends --- */

static void on_timer_closed(uv_handle_t *timer)
{
	struct wfs_model_call *const call = timer->data;

	wfs_model_client_handle_closed(call->client);
	free(call);
}

void wfs_model_call_stop(struct wfs_model_call *call)
{
	uv_timer_stop(&call->timer);
	if (call->state == WFS_MODEL_CALL_RUNNING)
		wfs_multi_remove(call->client->multi, call->easy);
	if (call->state == WFS_MODEL_CALL_QUEUED)
		TAILQ_REMOVE(&call->client->queue, call, waiting);
	call->state = WFS_MODEL_CALL_READY;
	wfs_model_call_end_turn(call);
}

static void free_kept(struct wfs_model_call *call)
{
	for (unsigned int i = 0; call->kept && i < call->kept_max; i++)
		wfs_buffer_done(&call->kept[i]);
	free(WFS_STEAL(call->kept));
}

static void release(struct wfs_model_call *call)
{
	curl_easy_cleanup(call->easy);
	wfs_multi_headers_free(call->headers);
	wfs_model_answer_free(call->answer);
	free_kept(call);
	uv_close((uv_handle_t *)&call->timer, on_timer_closed);
}

void wfs_model_call_end(struct wfs_model_call *call, json_t *completion)
{
	const struct wfs_model_result result = {
		.completion = completion,
		.failure = completion ? NULL : &call->failure,
		.attempts = call->attempt_count,
		.answers = call->kept,
		.duration_ms = (wfs_clock_monotonic_ns() - call->began_ns) / NS_PER_MS,
	};

	call->state = WFS_MODEL_CALL_ENDED;
	TAILQ_REMOVE(&call->client->calls, call, all);
	call->failure.secret = NULL;
	if (call->answer)
		call->failure.partial = wfs_model_answer_text(call->answer);
	call->request.done(call->request.context, &result);
	release(call);
}

static void on_timer(uv_timer_t *timer)
{
	struct wfs_model_call *const call = timer->data;

	switch (call->state) {
	case WFS_MODEL_CALL_READY:
		wfs_model_attempt_begin(call);
		break;
	case WFS_MODEL_CALL_RUNNING:
		wfs_model_attempt_timed_out(call);
		break;
	case WFS_MODEL_CALL_QUEUED:
		wfs_model_call_stop(call);
		wfs_model_failure_begin(&call->failure); /* clears that of an earlier attempt */
		wfs_model_call_limit_reached(call);
		wfs_model_call_end(call, NULL);
		break;
	case WFS_MODEL_CALL_ENDED:
		break;
	}
}

/* --- start and cancel --- */

int wfs_model_call_start(struct wfs_model_client *client, const struct wfs_model_request *request,
	struct wfs_model_call **ret_call, struct wfs_error *error)
{
	WFS_AUTO_FREE struct wfs_model_call *call = calloc(1, sizeof(*call));
	int r;

	if (call) {
		call->kept_max = request->endpoint->attempts > 0 ? request->endpoint->attempts : 1;
		call->kept = request->keep ? calloc(call->kept_max, sizeof(*call->kept)) : NULL;
	}
	if (!call || (request->keep && !call->kept))
		return wfs_error_from_errno(error, -ENOMEM, "prepare a request to a model");
	r = wfs_model_easy_new(request, &call->easy, &call->headers, error);
	if (r < 0) {
		free_kept(call);
		return r;
	}
	call->client = client;
	call->request = *request;
	call->failure.secret = request->endpoint->api_key;
	call->began_ns = wfs_clock_monotonic_ns();
	call->deadline_ns = call->began_ns + request->endpoint->total_timeout_ms * NS_PER_MS;
	if (wfs_model_attempt_setup(call) < 0) {
		curl_easy_cleanup(call->easy);
		wfs_multi_headers_free(call->headers);
		free_kept(call);
		return wfs_error_from_errno(error, -ENOMEM, "prepare a request to a model");
	}
	uv_timer_init(client->loop, &call->timer);
	call->timer.data = call;
	client->handle_count++;
	TAILQ_INSERT_TAIL(&client->calls, call, all);
	wfs_model_call_start_timer(call, 0);
	*ret_call = WFS_STEAL(call);
	return 0;
}

void wfs_model_call_cancel(struct wfs_model_call *call)
{
	wfs_require(call->state != WFS_MODEL_CALL_ENDED);
	wfs_model_call_stop(call);
	call->state = WFS_MODEL_CALL_ENDED;
	TAILQ_REMOVE(&call->client->calls, call, all);
	release(call);
}
