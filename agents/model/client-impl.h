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
	bool text_given;
	int fed; /* what came of feeding the answer: 0, or why nothing more is taken */
	unsigned int attempt_count;
	int64_t attempt_ns;              /* when it began, monotonic */
	int64_t deadline_ns;             /* of the call, monotonic */
	struct wfs_model_answer *answer; /* of the attempt; owned */
	size_t given_bytes;              /* of its text */
	size_t response_bytes;           /* headers and body */
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

/** wfs_model_client_handle_closed() - one libuv handle less. */
void wfs_model_client_handle_closed(struct wfs_model_client *client);

/** wfs_model_call_give_text() - tell the caller of text that has come. */
void wfs_model_call_give_text(struct wfs_model_call *call);

/** wfs_model_call_attempt_over() - curl is done with the attempt. */
void wfs_model_call_attempt_over(struct wfs_model_call *call, CURLcode result);

/**
 * wfs_model_easy_new() - a handle with everything about a request that is the same in all attempts
 * @ret_headers: caller frees with wfs_model_headers_free(), after the handle
 * Return: 0, -EINVAL, -ENOMEM.
 */
int wfs_model_easy_new(const struct wfs_model_request *request, CURL **ret_easy,
	struct curl_slist **ret_headers, struct wfs_error *error);

/** wfs_model_headers_free() - wipe and free. */
void wfs_model_headers_free(struct curl_slist *headers);

/**
 * wfs_model_transport_failed() - what curl says, as a failure
 * @reason: curl's own words; may be ""
 * Return: need it not happen again?
 */
bool wfs_model_transport_failed(
	struct wfs_model_failure *failure, CURLcode result, const char *reason);
