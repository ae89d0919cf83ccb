/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets an embedding from a server: a call of client.h, with the body and answer of embedding.h.
 *
 * The caller starts with wfs_model_embed_start(), and gives the result that its `done` gets to
 * wfs_model_embed_read(), which makes a vector or a failure from it. In between it is a call like
 * any other: it may be cancelled, and ends with its client.
 */
#pragma once

#include "agents/model/client.h"
#include "agents/model/embedding.h"

/* A request. Plain value. Endpoint and key are borrowed as in struct wfs_model_request, the others
 * only until wfs_model_embed_start() returns. */
struct wfs_model_embed_request {
	const struct wfs_model_endpoint *endpoint; /* made from the entry */
	const json_t *entry;                       /* of host.json */
	const char *text;
	const char *idempotency_key; /* sent with all attempts */
};

/** wfs_model_embed_start() - begin a call for the embedding of one text
 *  @body: an empty buffer for the request's body; the caller frees it after `done`, or after it has
 *         cancelled the call
 *  @callbacks: copied; progress is never called
 *  Return: 0, -EINVAL (as wfs_embedding_request() and wfs_model_call_start()), -ENOMEM. */
int wfs_model_embed_start(struct wfs_model_client *client,
	const struct wfs_model_embed_request *request, struct wfs_buffer *body,
	const struct wfs_model_callbacks *callbacks, struct wfs_model_call **ret_call,
	struct wfs_error *error);

/** wfs_model_embed_read() - make a vector or a failure from a result; to be called by `done`
 *  @endpoint, @entry: of the request
 *  @ret_embedding: caller releases it with wfs_embedding_done()
 *  @ret_failure: its pointers are valid until `done` returns
 *  Return: 0, or -EBADMSG (@ret_failure is filled instead, also without memory). */
int wfs_model_embed_read(const struct wfs_model_result *result,
	const struct wfs_model_endpoint *endpoint, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *ret_failure);
