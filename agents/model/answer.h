/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the body of an answer: from its bytes to a completion, a document with embeddings, or a
 * failure.
 *
 * The first byte says what a body is, not its headers, which servers and proxies get wrong: a
 * stream of events begins with a field or a comment; anything else is a document, also where a
 * stream was requested. Embeddings are never streamed, whatever their first byte is.
 */
#pragma once

#include "agents/model/failure.h"

enum { WFS_MODEL_ERROR_BODY_MAX = 64 << 10 }; /* bytes that are kept of the body of an error */

/* What a server is asked for, and so what its answer must contain. */
enum wfs_model_service {
	WFS_MODEL_CHAT,       /* a completion */
	WFS_MODEL_EMBEDDINGS, /* vectors of texts */
};

struct wfs_model_answer;

/** wfs_model_answer_new() - make a reader for the body of one answer; caller frees it with
 *  wfs_model_answer_free(). Return: 0, or -ENOMEM. */
int wfs_model_answer_new(enum wfs_model_service service, struct wfs_model_answer **ret_answer);
void wfs_model_answer_free(struct wfs_model_answer *answer);
WFS_DEFINE_AUTO(model_answer, struct wfs_model_answer, wfs_model_answer_free)
#define WFS_AUTO_MODEL_ANSWER WFS_CLEANUP(wfs_auto_model_answer)

/** wfs_model_answer_feed() - read the next bytes of the body
 *  @status: the HTTP status of the answer
 *  @failure: the caller has set its secret; kind, code and texts are filled if the answer is a
 *            failure already
 *  Return: 0, -EBADMSG (the answer is a failure, as @failure says: the rest is not needed),
 *  -ENOMEM. */
int wfs_model_answer_feed(struct wfs_model_answer *answer, int status, const void *data,
	size_t size, struct wfs_model_failure *failure);

/** wfs_model_answer_text() - get the text of a stream so far, whole characters; borrowed until the
 *  next wfs_model_answer_feed(). Empty if the body is not a stream. */
struct wfs_bytes wfs_model_answer_text(const struct wfs_model_answer *answer);

/** wfs_model_answer_ended() - has the server sent the end of a stream? It may leave the connection
 *  open. False if the body is not a stream. */
bool wfs_model_answer_ended(const struct wfs_model_answer *answer);

/** wfs_model_answer_complete() - has a stream brought a finish_reason? The answer is whole then,
 *  even if the stream breaks off before its end. False if the body is not a stream. */
bool wfs_model_answer_complete(const struct wfs_model_answer *answer);

/** wfs_model_answer_finish() - end the body, and get the answer
 *  @failure: the caller has set its status and secret; the rest is filled if the answer is a
 *            failure
 *  @ret_answer: a completion, see completion.h; for embeddings the document as it came. Caller owns
 *               it
 *  Return: 0, -EBADMSG (the answer is a failure, as @failure says), -ENOMEM. */
int wfs_model_answer_finish(
	struct wfs_model_answer *answer, json_t **ret_answer, struct wfs_model_failure *failure);
