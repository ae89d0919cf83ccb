/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/model/: the structs of a client and its calls.
 * Only the loop's thread uses them. */
#pragma once

#include <sys/queue.h>

#include "agents/model/client.h"
#include "agents/model/multi.h"

enum wfs_model_call_state {
	WFS_MODEL_CALL_READY,  /* the next attempt begins when the timer fires */
	WFS_MODEL_CALL_QUEUED, /* waits until fewer calls are connecting */
	WFS_MODEL_CALL_RUNNING,
	WFS_MODEL_CALL_ENDED, /* freed when the timer is closed */
};

/* Which limit the timer of a running call waits for. */
enum wfs_model_limit {
	WFS_MODEL_LIMIT_NONE,
	WFS_MODEL_LIMIT_FIRST_BYTE,
	WFS_MODEL_LIMIT_IDLE,
	WFS_MODEL_LIMIT_TOTAL,
	WFS_MODEL_LIMIT_LINGER, /* the stream has ended, but the server keeps the connection open */
};

struct wfs_model_call {
	struct wfs_model_client *client;
	TAILQ_ENTRY(wfs_model_call) all;
	TAILQ_ENTRY(wfs_model_call) waiting; /* in the queue */
	struct wfs_model_request request;
	CURL *easy;
	struct curl_slist *headers; /* they contain the key */
	uv_timer_t timer;
	enum wfs_model_call_state state;
	enum wfs_model_limit limit;
	bool connecting; /* counted in the client's connecting_count */
	int fed;         /* result of feeding the answer: 0, or why it takes no more */
	unsigned int attempt_count;
	int64_t began_ns; /* when the call began; monotonic, like the next */
	int64_t deadline_ns;
	struct wfs_model_answer *answer; /* of the current attempt; owned */
	size_t response_bytes;           /* headers and body */
	struct wfs_buffer *kept; /* body of each attempt's answer; owned; NULL: none is kept */
	unsigned int kept_max;   /* attempts for which it has room */
	struct wfs_model_failure failure;
	char reason[CURL_ERROR_SIZE]; /* curl's message */
};

TAILQ_HEAD(wfs_model_calls, wfs_model_call);

struct wfs_model_client {
	uv_loop_t *loop;
	struct wfs_multi *multi;
	struct wfs_model_calls calls;
	struct wfs_model_calls queue; /* calls whose attempt waits until others have connected */
	unsigned int connecting_count;
	unsigned int handle_count; /* open handles of libuv; closing the last frees the client */
};

/* --- client.c --- */

/** wfs_model_client_handle_closed() - note that one open libuv handle of the client is closed; the
 *  last one frees the client. */
void wfs_model_client_handle_closed(struct wfs_model_client *client);

/* --- call.c --- */

/** wfs_model_call_start_timer() - start the call's timer: it fires @wait_ms from now, even if the
 *  loop's clock is late. */
void wfs_model_call_start_timer(struct wfs_model_call *call, int64_t wait_ms);

/** wfs_model_call_left_ms() - get the milliseconds until the call's total time limit, at least
 *  0. */
int64_t wfs_model_call_left_ms(const struct wfs_model_call *call);

/** wfs_model_call_set_limit() - set the call's timer to @limit, which is reached @limit_ms from
 *  now; or to WFS_MODEL_LIMIT_TOTAL, if the total time of the call ends before that. */
void wfs_model_call_set_limit(
	struct wfs_model_call *call, enum wfs_model_limit limit, int64_t limit_ms);

/** wfs_model_call_limit_reached() - fill the call's failure with the error that the time limit
 *  call->limit was reached. */
void wfs_model_call_limit_reached(struct wfs_model_call *call);

/** wfs_model_call_take_turn() - may the call connect now? If so, it counts as connecting until
 *  wfs_model_call_end_turn(). If not, it is put into the client's queue; when it can connect, its
 *  timer begins the attempt again. */
bool wfs_model_call_take_turn(struct wfs_model_call *call);

/** wfs_model_call_end_turn() - note that the call is not connecting any more, and let the next call
 *  in the queue connect; does nothing if the call does not count as connecting. */
void wfs_model_call_end_turn(struct wfs_model_call *call);

/** wfs_model_call_stop() - remove the call from the queue and from curl, stop its timer, and do
 *  wfs_model_call_end_turn(); the call can then begin again, or end. */
void wfs_model_call_stop(struct wfs_model_call *call);

/** wfs_model_call_end() - call the call's `done`, and free the call. @completion: borrowed; NULL:
 *  the call has failed, as call->failure says. @call: stopped by wfs_model_call_stop(); must not be
 *  used any more */
void wfs_model_call_end(struct wfs_model_call *call, json_t *completion);

/* --- attempt.c: functions that return nothing may end the call by wfs_model_call_end(), so their
 * callers must not use @call any more --- */

/** wfs_model_attempt_setup() - set the callbacks of the call's curl handle; once for all attempts.
 *  Return: 0, or -ENOMEM. */
int wfs_model_attempt_setup(struct wfs_model_call *call);

/** wfs_model_attempt_begin() - send the request, or first wait in the client's queue. If memory to
 *  send it is lacking, the attempt has failed: another one is begun later, or the call ends. */
void wfs_model_attempt_begin(struct wfs_model_call *call);

/** wfs_model_attempt_over() - called when curl has finished an attempt: end the call with an answer
 *  or a failure, or begin another attempt later. @result: of curl */
void wfs_model_attempt_over(struct wfs_model_call *call, CURLcode result);

/** wfs_model_attempt_timed_out() - called when the current attempt has reached its time limit
 *  call->limit: if its answer is whole already, end the call with the answer; otherwise the attempt
 *  has failed: begin another one later, or end the call with the failure. */
void wfs_model_attempt_timed_out(struct wfs_model_call *call);

/* --- request.c --- */

/** wfs_model_easy_new() - make a curl handle, which all attempts of a request use
 *  @request: its body is borrowed until the handle is freed
 *  @ret_easy: caller frees it with curl_easy_cleanup()
 *  @ret_headers: caller frees with wfs_multi_headers_free(), after the handle
 *  Return: as wfs_model_call_start() (client.h). */
int wfs_model_easy_new(const struct wfs_model_request *request, CURL **ret_easy,
	struct curl_slist **ret_headers, struct wfs_error *error);

/* --- transport.c --- */

/** wfs_model_transport_failed() - fill a failure from a result of curl other than CURLE_OK
 *  @reason: curl's message; may be ""
 *  Return: may another attempt succeed? */
bool wfs_model_transport_failed(
	struct wfs_model_failure *failure, CURLcode result, const char *reason);
