/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeddings: texts as vectors.
 *
 * The local embedder computes them in the fold. Those of a server are asked for: a fold that needs one
 * says so (wfs_fold_wanted) and is dropped, and done again when it is there. What was used stands in the
 * record's result, so that it is found when the record is folded again:
 *   embedder?: the model of the host's embedder, when it has another than the local one
 *   embeddings?: [{dims, embedding, hash, model}, or {code, hash, message, model} of one that failed];
 *       hash: of the text
 *
 * Source: docs/decisions/0022-minds.md.
 */
#pragma once

#include "kernel/fold/fold-work.h"
#include "kernel/vector/embed.h"

struct act;

enum {
	EMBEDDING_TEXT_MAX = 16 << 10, /* bytes */
	EMBEDDING_DIMS_MAX = 4096,
	EMBEDDING_MODEL_MAX = WFS_EMBEDDER_MODEL_MAX,
};

/* Plain value; embedding_done. */
struct embedding {
	char model[EMBEDDING_MODEL_MAX + 1];
	size_t dims;
	float *vector; /* owned */
};
void embedding_done(struct embedding *embedding);
#define EMBEDDING_AUTO WFS_CLEANUP(embedding_done)

/**
 * embedding_make() - of a text
 * @model: whose it must be; NULL: that of the host
 * Return: 0, -EINVAL (an empty text, one that is too long, a model that the host has not), -EIO
 *         (effect_failed: the server did not give one), -EBUSY (it has to be asked for), …
 */
int embedding_make(struct act *act, const char *model, const char *text,
	struct embedding *ret_embedding, struct wfs_error *error);

/** embedding_check_text() - can it be embedded? Return: 0, -EINVAL (it is blank), -EFBIG (too_large). */
int embedding_check_text(const char *text, struct wfs_error *error);

/** embedding_host_model() - the model of the host's embedder. */
const char *embedding_host_model(struct act *act);

/** embedding_read() - out of {dims, embedding, model}. Return: 0, -EIO (it is not of that form), -ENOMEM. */
int embedding_read(
	const json_t *document, struct embedding *ret_embedding, struct wfs_error *error);

/** embedding_write() - the same into a document. Return: 0, or -ENOMEM. */
int embedding_write(const struct embedding *embedding, json_t *document);
