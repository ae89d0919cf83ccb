/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/model/: what a client and its calls are made of. All of it is the loop's thread's. */
#pragma once

#include <curl/curl.h>
#include <sys/queue.h>

#include "agents/model/client.h"

enum wfs_model_call_state {
	WFS_MODEL_CALL_READY,  /* the next attempt begins when the timer fires */
	WFS_MODEL_CALL_QUEUED, /* until fewer calls are connecting */
	WFS_MODEL_CALL_RUNNING,
	WFS_MODEL_CALL_ENDED, /* the memory goes when the timer is closed */
};

/* What the timer of a running call is for. */
enum wfs_model_limit {
	WFS_MODEL_LIMIT_NONE,
	WFS_MODEL_LIMIT_FIRST_BYTE,
	WFS_MODEL_LIMIT_IDLE,
	WFS_MODEL_LIMIT_TOTAL,
	WFS_MODEL_LIMIT_LINGER, /* the stream said its end, and the server keeps it open */
};

struct wfs_model_call {
	struct wfs_model_client *client;
	TAILQ_ENTRY(wfs_model_call) all;
	TAILQ_ENTRY(wfs_model_call) waiting; /* in the queue, or in the list of those with text */
	struct wfs_model_request request;
	struct wfs_model_callbacks callbacks;
	CURL *easy;
	struct curl_slist *headers; /* hold the key */
	uv_timer_t timer;
	enum wfs_model_call_state state;
	enum wfs_model_limit limit;
	bool connecting; /* counted in the client's connecting_count */
	bool has_text;   /* in the list of those whose text has to be given */
	int fed;         /* what came of feeding the answer: 0, or why nothing more is taken */
	unsigned int attempt_count;
	int64_t began_ns; /* of the call, monotonic, as the next */
	int64_t deadline_ns;
	struct wfs_model_answer *answer; /* of the attempt; owned */
	size_t given_bytes;    /* of its text, to the caller: then there is no other attempt */
	size_t response_bytes; /* headers and body */
	struct wfs_model_failure failure;
	char reason[CURL_ERROR_SIZE]; /* curl's */
};

TAILQ_HEAD(wfs_model_calls, wfs_model_call);

struct wfs_model_client {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t timer; /* curl's */
	struct wfs_model_calls calls;
	struct wfs_model_calls queue; /* calls whose attempt waits until others have connected */
	struct wfs_model_calls with_text; /* calls whose text has to be given */
	unsigned int connecting_count;
	unsigned int handle_count; /* of libuv, not closed yet: the last one frees the client */
};

/* --- client.c --- */

/** wfs_model_client_handle_closed() - one libuv handle less. */
void wfs_model_client_handle_closed(struct wfs_model_client *client);

/* --- call.c --- */

/** wfs_model_call_start_timer() - @wait_ms from now, whatever the loop's clock says. */
void wfs_model_call_start_timer(struct wfs_model_call *call, int64_t wait_ms);

/** wfs_model_call_left_ms() - until the total time limit, at least 0. */
int64_t wfs_model_call_left_ms(const struct wfs_model_call *call);

/** wfs_model_call_set_limit() - the time limit from now on; the total one, where that is nearer. */
void wfs_model_call_set_limit(
	struct wfs_model_call *call, enum wfs_model_limit limit, int64_t limit_ms);

/** wfs_model_call_limit_reached() - the failure of the limit that is set. */
void wfs_model_call_limit_reached(struct wfs_model_call *call);

/** wfs_model_call_take_turn() - Return: may it connect? Else it waits, and begins its attempt later. */
bool wfs_model_call_take_turn(struct wfs_model_call *call);

/** wfs_model_call_end_turn() - it has connected, or does not want to any more. */
void wfs_model_call_end_turn(struct wfs_model_call *call);

/** wfs_model_call_stop() - take it out of whatever it is in; it can be begun anew, or end. */
void wfs_model_call_stop(struct wfs_model_call *call);

/** wfs_model_call_end() - tell who asked, and release it. @completion: NULL: it failed */
void wfs_model_call_end(struct wfs_model_call *call, json_t *completion);

/* --- attempt.c --- */

/** wfs_model_attempt_setup() - have curl tell of the call's attempts. Return: 0, or -ENOMEM. */
int wfs_model_attempt_setup(struct wfs_model_call *call);

/** wfs_model_attempt_begin() - send the request, as soon as it is the call's turn. */
void wfs_model_attempt_begin(struct wfs_model_call *call);

/** wfs_model_attempt_give_text() - tell who asked of text that has come. */
void wfs_model_attempt_give_text(struct wfs_model_call *call);

/** wfs_model_attempt_over() - curl is done with it. */
void wfs_model_attempt_over(struct wfs_model_call *call, CURLcode result);

/** wfs_model_attempt_timed_out() - the limit that is set was reached. */
void wfs_model_attempt_timed_out(struct wfs_model_call *call);

/* --- request.c --- */

/**
 * wfs_model_easy_new() - a handle with everything about a request that is the same in all attempts
 * @ret_headers: caller frees with wfs_model_headers_free(), after the handle
 * Return: 0, -EINVAL, -ENOMEM.
 */
int wfs_model_easy_new(const struct wfs_model_request *request, CURL **ret_easy,
	struct curl_slist **ret_headers, struct wfs_error *error);

/** wfs_model_headers_free() - wipe and free. */
void wfs_model_headers_free(struct curl_slist *headers);

/* --- transport.c --- */

/**
 * wfs_model_transport_failed() - what curl says, as a failure
 * @reason: curl's own words; may be ""
 * Return: need it not happen again?
 */
bool wfs_model_transport_failed(
	struct wfs_model_failure *failure, CURLcode result, const char *reason);
