/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to models, thousands at a time, on one libuv loop.
 *
 * A call is one request to an OpenAI-compatible server (`POST <base_url>/chat/completions`, or
 * `/embeddings`, see embedding.h), with as many attempts as it needs. It ends in exactly one of: an
 * answer, a failure, or its cancelling. No function here waits, and callbacks come from the loop,
 * never from inside one of these functions.
 *
 * TLS is verified, redirects are not followed, only http and https are spoken (HTTP/1.1, as
 * OpenAI's own clients do), and proxies of the environment are used except for loopback addresses.
 * No text from here contains the API key, which is overwritten in our memory when the call is over.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "agents/model/answer.h"
#include "agents/model/failure.h"
#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

struct wfs_model_client;
struct wfs_model_call;

/*
 * Bound of a client's calls that resolve a name or connect at the same time; others wait for their
 * turn. curl resolves each name in a thread of its own until the first has come back, and a
 * server's queue of connections is bounded, too.
 */
enum { WFS_MODEL_CONNECTS_MAX = 256 };

/* Where a model is, and how long to wait for it. Plain value. All times are greater than 0. */
struct wfs_model_endpoint {
	const char *base_url;          /* http or https, without a user name; most end in `/v1` */
	const char *api_key;           /* NULL or "": none */
	bool stream;                   /* the body requests a stream; never for embeddings */
	int64_t connect_timeout_ms;    /* for address, connection and TLS */
	int64_t first_byte_timeout_ms; /* of an attempt, until its answer's body begins */
	int64_t idle_timeout_ms;       /* between bytes of the body */
	int64_t total_timeout_ms;      /* for all attempts and the waits between them */
	unsigned int attempts;         /* at most; 0 counts as 1 */
	int64_t retry_wait_max_ms;     /* bound of the wait that a server may ask for */
	size_t response_size_max;      /* bytes of an answer with its headers */
};

/* The defaults, without base_url. */
#define WFS_MODEL_ENDPOINT_DEFAULT                               \
	((struct wfs_model_endpoint){.connect_timeout_ms = 5000, \
		.first_byte_timeout_ms = 120000,                 \
		.idle_timeout_ms = 60000,                        \
		.total_timeout_ms = 600000,                      \
		.attempts = 3,                                   \
		.retry_wait_max_ms = 120000,                     \
		.response_size_max = 16 << 20})

/* How a call ended. Plain value; borrowed until the callback returns. */
struct wfs_model_result {
	json_t *completion; /* see completion.h, or the document with embeddings; NULL: failed */
	const struct wfs_model_failure *failure; /* NULL: no failure */
	unsigned int attempts;                   /* made */
	/* The body that came back to each attempt, as it came, if the request asks to keep them;
	 * NULL: it does not. */
	const struct wfs_buffer *answers;
	int64_t duration_ms; /* of all attempts, and of the waits between them */
};

/* A request. Plain value, all borrowed until `done`, or until the call is cancelled. */
struct wfs_model_request {
	const struct wfs_model_endpoint *endpoint;
	enum wfs_model_service service;
	struct wfs_bytes body;
	const char *idempotency_key; /* sent with all attempts */
	bool keep;                   /* the answers to all attempts, see struct wfs_model_result */
	void *context;
	/* The call has ended and is freed, so it must not be cancelled any more. May start calls
	 * and cancel others. */
	void (*done)(void *context, const struct wfs_model_result *result);
};

/** wfs_model_client_new() - make a client on a loop; caller owns it
 *  @loop: borrowed until the client is freed, see wfs_model_client_free()
 *  Thread: the loop's, for all functions here.
 *  Return: 0, or -ENOMEM. */
int wfs_model_client_new(uv_loop_t *loop, struct wfs_model_client **ret_client);

/**
 * wfs_model_client_free() - cancel all calls, without calling `done`, and close all connections
 *
 * The client must not be used any more, but libuv closes handles in the loop's next turn, which
 * frees the client's memory. So run the loop at least once after this and before uv_loop_close().
 * Callbacks may call this, too. @client may be NULL.
 */
void wfs_model_client_free(struct wfs_model_client *client);

/** wfs_model_call_start() - begin a call
 *  @request: copied; what it points to is borrowed until the call has ended
 *  @ret_call: the client owns it; valid until `done` is called, or until it is cancelled
 *  Return: 0, -EINVAL (invalid_argument: the URL cannot be used, or a key would break its header;
 *  the message does not contain the key), -ENOMEM. */
int wfs_model_call_start(struct wfs_model_client *client, const struct wfs_model_request *request,
	struct wfs_model_call **ret_call, struct wfs_error *error);

/** wfs_model_call_cancel() - end and free a call in any state, without calling `done`. */
void wfs_model_call_cancel(struct wfs_model_call *call);
