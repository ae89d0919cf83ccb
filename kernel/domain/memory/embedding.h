/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeddings: vectors that represent texts.
 *
 * The local embedder computes them while folding. If the embedding of a server is needed, the fold
 * ends with what it needs (wfs_fold_wanted() in kernel/fold/fold.h) and is dropped, and repeated
 * when the server has answered. The embeddings of a server that were used are in the record's
 * result, where folding the record again finds them. The host's embedder is the one that this
 * machine's host.json names, local or a server. Members of the result:
 *   embedder?: the model of the host's embedder, if it is not the local one
 *   embeddings?: [{dims, embedding, hash, model}, or {code, hash, message, model} of one that
 *       failed]; hash: of the text
 *
 * Source: docs/decisions/0022-minds.md.
 */
#pragma once

#include "kernel/fold/fold-work.h"
#include "kernel/value/bounds.h"
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

/** embedding_make() - make the embedding of a text, or find it in the record
 *  @model: the model that the vector must be of; NULL: the model of the host's embedder
 *  @ret_embedding: set on success; caller ends it with embedding_done()
 *  Return: 0, -EINVAL (the text is blank, or has nothing to embed, or the host does not have the
 *  model), -EFBIG (too_large: the text; or more than WFS_EMBEDDINGS_MAX, kernel/fold/fold.h,
 *  embeddings by a server in one action), -EIO (effect_failed: the server gave no embedding),
 *  -EBUSY (busy: a server has to be asked first for what fold->outcome.wanted says; the caller ends
 *  the action, which is repeated later), … */
int embedding_make(struct act *act, const char *model, const char *text,
	struct embedding *ret_embedding, struct wfs_error *error);

/** embedding_check_text() - can a text be embedded? Return: 0, -EINVAL (it is blank), -EFBIG
 *  (too_large: more than EMBEDDING_TEXT_MAX bytes). */
int embedding_check_text(const char *text, struct wfs_error *error);

/** embedding_host_model() - get the name of the model of the host's embedder; when a journal is
 *  folded again, that of the host where the action was done at first. Return: static, or borrowed
 *  from the fold's input or record. If the model is not the local one, the function has the result
 *  of the action's record name it (member `embedder`). */
const char *embedding_host_model(struct act *act);

/** embedding_read() - read an embedding from the members dims, embedding (base64) and model of
 *  @document
 *  @ret_embedding: set on success; caller ends it with embedding_done()
 *  Return: 0, -EIO (internal_error: one of the members is not valid), -ENOMEM. */
int embedding_read(
	const json_t *document, struct embedding *ret_embedding, struct wfs_error *error);

/** embedding_write() - set `dims`, `embedding` and `model` of a document. Return: 0, or -ENOMEM. */
int embedding_write(const struct embedding *embedding, json_t *document);
