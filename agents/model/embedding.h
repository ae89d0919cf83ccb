/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeddings: makes the body of a request for one, and reads the vector from a server's answer.
 *
 * An entry is the member WFS_EMBEDDING_MODEL of `models` in host.json. Vectors that are returned
 * here can be compared: each has the requested size, all its numbers are finite, and not all are
 * zero. A request is a call of client.h. The functions here have no side effects.
 */
#pragma once

#include "agents/model/client.h"
#include "kernel/base/host-form.h"

enum { WFS_EMBEDDING_DIMENSIONS_MAX = WFS_HOST_DIMENSIONS_MAX };

/* Plain value; zero-initialised is empty. */
struct wfs_embedding {
	float *values; /* owned; finite, not all zero */
	size_t count;  /* 1 to WFS_EMBEDDING_DIMENSIONS_MAX */
};

/** wfs_embedding_request() - make the body of a request for the embedding of one text
 *  Members of the entry's extra_body replace those of the body, except for the text and the model.
 *  @entry: from wfs_models_find() (agents/host/models.h)
 *  @text: the server decides which length it accepts
 *  Return: 0, -EINVAL (invalid_argument, missing_argument: the entry is a script's, names no model,
 *          or has an impossible extra_body; the text is empty or not UTF-8), -ENOMEM; caller owns
 *          @ret_body. */
int wfs_embedding_request(
	const json_t *entry, const char *text, json_t **ret_body, struct wfs_error *error);

/** wfs_embedding_result() - make a vector, or a failure, from the result of a call; to be called by
 *  `done` of its struct wfs_model_request (client.h)
 *  @endpoint, @entry: of the request
 *  @ret_embedding: caller releases it with wfs_embedding_done()
 *  @ret_failure: its pointers are valid until `done` returns
 *  Return: 0, or -EBADMSG (@ret_failure is filled instead, also if memory is lacking). */
int wfs_embedding_result(const struct wfs_model_result *result,
	const struct wfs_model_endpoint *endpoint, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *ret_failure);

/** wfs_embedding_read() - read the one vector of an answer
 *  The vector may be an array of numbers, or base64 of little-endian float32, which some servers
 *  send unasked.
 *  @answer: the parsed body; any value
 *  @entry: of the model; the request was made from it
 *  @ret_embedding: caller releases it with wfs_embedding_done()
 *  @failure: the caller has set its `secret`; texts that are filled in do not contain the secret
 *  Return: 0, -EBADMSG (@failure says what was expected and what came), -ENOMEM. */
int wfs_embedding_read(const json_t *answer, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *failure);

void wfs_embedding_done(struct wfs_embedding *embedding);
#define WFS_AUTO_EMBEDDING WFS_CLEANUP(wfs_embedding_done)
