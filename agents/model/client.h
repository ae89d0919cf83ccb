/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to models, thousands at a time, on one libuv loop.
 *
 * A call is one request to an OpenAI-compatible server (`POST <base_url>/chat/completions`, or
 * `/embeddings`, see embed.h), with as many attempts as it takes, and ends in exactly one of: an answer,
 * a failure, or its cancelling. No function here waits, and no callback comes from inside one: they
 * all come from the loop.
 *
 * TLS is verified, redirects are not followed, only http and https are spoken (HTTP/1.1, as OpenAI's
 * own clients do), proxies of the environment are used but for loopback addresses. The API key is in
 * no text that leaves here, and is wiped from the memory that is ours when the call is over.
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
 * Calls of a client that look for an address and connect at the same time; others wait for their
 * turn. curl resolves each name in a thread of its own until the first has come back, and a server's
 * queue of connections is bounded, too.
 */
enum { WFS_MODEL_CONNECTS_MAX = 256 };

/* Where a model is, and what is waited for. Plain value. All times are greater than 0. */
struct wfs_model_endpoint {
	const char *base_url;          /* http or https, without a user's name; `…/v1` for most */
	const char *api_key;           /* NULL or "": none */
	bool stream;                   /* the body asks for a stream; never of embeddings */
	int64_t connect_timeout_ms;    /* for address, connection and TLS */
	int64_t first_byte_timeout_ms; /* of an attempt, until its answer's body begins */
	int64_t idle_timeout_ms;       /* between bytes of the body */
	int64_t total_timeout_ms;      /* of all attempts and the waits between them */
	unsigned int attempts;         /* at most; 0 counts as 1 */
	int64_t retry_wait_max_ms;     /* that a server may ask for */
	size_t response_size_max;      /* bytes of an answer with its headers */
};

/* The defaults (spec 5), without base_url. */
#define WFS_MODEL_ENDPOINT_DEFAULT                               \
	((struct wfs_model_endpoint){.connect_timeout_ms = 5000, \
		.first_byte_timeout_ms = 120000,                 \
		.idle_timeout_ms = 60000,                        \
		.total_timeout_ms = 600000,                      \
		.attempts = 3,                                   \
		.retry_wait_max_ms = 120000,                     \
		.response_size_max = 16 << 20})

/* How a call ended. Plain value; everything is borrowed until the callback returns. */
struct wfs_model_result {
	json_t *completion; /* see completion.h; of embeddings the server's document. NULL: it failed */
	const struct wfs_model_failure *failure; /* NULL: it did not */
	unsigned int attempts;                   /* that there were */
	int64_t duration_ms;                     /* of all of them, and of the waits between */
};

/* Who is told. Plain value. Callbacks may start calls and cancel others. */
struct wfs_model_callbacks {
	void *context;
	/* More text of a stream, whole characters; borrowed. May cancel this call. NULL: not wanted; only
	 * then a stream that breaks in its middle is asked for anew. */
	void (*progress)(void *context, const char *text, size_t size);
	/* The end. The call is gone and may not be cancelled any more. */
	void (*done)(void *context, const struct wfs_model_result *result);
};

/* What is asked. Plain value, all borrowed: until `done`, or until the call is cancelled. */
struct wfs_model_request {
	const struct wfs_model_endpoint *endpoint;
	enum wfs_model_service service;
	struct wfs_bytes body;
	const char *idempotency_key; /* the same in all attempts */
};

/** wfs_model_is_loopback() - does what is sent to this host of a URL stay on this machine? */
bool wfs_model_is_loopback(const char *host);

/**
 * wfs_model_client_new() - a client on a loop
 * @loop: borrowed until the client is gone, see wfs_model_client_free()
 * Thread: the loop's, for all functions here.
 * Return: 0, or -ENOMEM.
 */
int wfs_model_client_new(uv_loop_t *loop, struct wfs_model_client **ret_client);

/**
 * wfs_model_client_free() - cancel all calls and close all connections
 *
 * The client must not be used any more, but libuv closes handles in the loop's next turn: its memory is
 * released there. So the loop has to be run after this, once at least, before uv_loop_close(). Callbacks
 * may do it, too. NULL is allowed.
 */
void wfs_model_client_free(struct wfs_model_client *client);

/**
 * wfs_model_call_start() - begin a call
 * @callbacks: copied
 * @ret_call: valid until `done` is called, or it is cancelled
 * Return: 0, -EINVAL (invalid_argument: the URL cannot be used, or a key would break its header; the
 * message names it but not the key), -ENOMEM.
 */
int wfs_model_call_start(struct wfs_model_client *client, const struct wfs_model_request *request,
	const struct wfs_model_callbacks *callbacks, struct wfs_model_call **ret_call,
	struct wfs_error *error);

/** wfs_model_call_cancel() - end it in whatever state it is; no callback of it comes afterwards. */
void wfs_model_call_cancel(struct wfs_model_call *call);
