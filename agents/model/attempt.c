/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt of a call: handles curl's callbacks, and then ends the call or starts another attempt
 * after a wait.
 */
#include <errno.h>
#include <sys/random.h>

#include "agents/model/answer.h"
#include "agents/model/client-impl.h"
#include "agents/model/retry.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum {
	NS_PER_S = 1000000000,
	MS_PER_S = 1000,
	/* Time for a server to close a finished stream, so that the connection can be reused. */
	LINGER_MS = 1000,
};

/* --- curl's callbacks --- */

static int on_connected(void *context, char *peer, char *local, int peer_port, int local_port)
{
	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	wfs_model_call_end_turn(context);
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

/* Return: 0, or -ENOMEM. */
static int keep(struct wfs_model_call *call, const char *data, size_t size)
{
	struct wfs_buffer *const kept = call->kept ? &call->kept[call->attempt_count - 1] : NULL;

	if (kept)
		wfs_buffer_append(kept, data, size);
	return kept ? wfs_buffer_check(kept) : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
	struct wfs_model_call *const call = context;

	call->fed = count_bytes(call, size * count);
	if (call->fed == 0)
		call->fed = keep(call, data, size * count);
	if (call->fed == 0)
		call->fed = wfs_model_answer_feed(
			call->answer, read_status(call), data, size * count, &call->failure);
	if (call->fed < 0)
		return 0;
	if (wfs_model_answer_ended(call->answer))
		wfs_model_call_set_limit(call, WFS_MODEL_LIMIT_LINGER, LINGER_MS);
	else
		wfs_model_call_set_limit(
			call, WFS_MODEL_LIMIT_IDLE, call->request.endpoint->idle_timeout_ms);
	return size * count;
}

int wfs_model_attempt_setup(struct wfs_model_call *call)
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

/* --- attempts --- */

static const char *header(const struct wfs_model_call *call, const char *name)
{
	struct curl_header *found = NULL;

	/* -1: of the last answer, not of proxies and 1xx before it */
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

/* @lost: in a way that may not happen again */
static void attempt_failed(struct wfs_model_call *call, bool lost)
{
	const struct wfs_model_failure said = call->failure;
	const struct wfs_retry retry = decide(call, lost);

	if (retry.again && retry.wait_ms < wfs_model_call_left_ms(call)) {
		/* One more, because a timer of whole milliseconds may fire a part of one early. */
		wfs_model_call_start_timer(call, retry.wait_ms + 1);
		return;
	}
	if (retry.asked_ms > 0)
		wfs_model_failure_set(&call->failure, said.kind, said.code,
			"the server asks to wait %lld s, longer than the limit of %lld s: %s",
			(long long)(retry.asked_ms / MS_PER_S),
			(long long)(call->request.endpoint->retry_wait_max_ms / MS_PER_S),
			said.message);
	wfs_model_call_end(call, NULL);
}

static void attempt_out_of_memory(struct wfs_model_call *call)
{
	attempt_failed(call, wfs_model_transport_failed(&call->failure, CURLE_OUT_OF_MEMORY, ""));
}

/* @r: result of the answer: 0, -EBADMSG with the failure filled, -ENOMEM */
static void attempt_judged(struct wfs_model_call *call, int r, json_t *completion)
{
	if (r == 0)
		wfs_model_call_end(call, completion);
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

void wfs_model_attempt_over(struct wfs_model_call *call, CURLcode result)
{
	wfs_model_call_stop(call);
	read_status(call);
	if (call->fed < 0)
		attempt_judged(call, call->fed, NULL);
	else if (result == CURLE_OK || wfs_model_answer_complete(call->answer))
		attempt_finish(call);
	else
		attempt_failed(
			call, wfs_model_transport_failed(&call->failure, result, call->reason));
}

void wfs_model_attempt_timed_out(struct wfs_model_call *call)
{
	const bool whole =
		wfs_model_answer_complete(call->answer) || call->limit == WFS_MODEL_LIMIT_LINGER;

	wfs_model_call_stop(call);
	read_status(call);
	if (whole) {
		attempt_finish(call);
		return;
	}
	wfs_model_call_limit_reached(call);
	attempt_failed(call, true);
}

void wfs_model_attempt_begin(struct wfs_model_call *call)
{
	if (!wfs_model_call_take_turn(call))
		return;
	wfs_model_answer_free(WFS_STEAL(call->answer));
	wfs_model_failure_begin(&call->failure);
	call->reason[0] = '\0';
	call->fed = 0;
	call->response_bytes = 0;
	call->attempt_count++;
	if (wfs_model_answer_new(call->request.service, &call->answer) < 0 ||
		wfs_multi_add(call->client->multi, call->easy) < 0) {
		wfs_model_call_stop(call);
		attempt_out_of_memory(call);
		return;
	}
	call->state = WFS_MODEL_CALL_RUNNING;
	wfs_model_call_set_limit(
		call, WFS_MODEL_LIMIT_FIRST_BYTE, call->request.endpoint->first_byte_timeout_ms);
}
