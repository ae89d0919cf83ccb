/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeddings: the body of a request for one, and the vector in what a server answers.
 *
 * An entry is that of host.json's models called WFS_EMBEDDING_MODEL. A vector that comes out of here
 * can be compared: it has the size that was asked for, every number of it is finite, and not all of
 * them are zero. Pure: values in, values out.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/model/failure.h"
#include "kernel/base/error.h"

enum { WFS_EMBEDDING_DIMENSIONS_MAX = 4096 };

/* Plain value; zero-initialised is empty. */
struct wfs_embedding {
	float *values;         /* owned; finite, not all zero */
	size_t count;          /* 1 to WFS_EMBEDDING_DIMENSIONS_MAX */
	const char *model;     /* who made it; borrowed from the entry */
	int64_t prompt_tokens; /* as the server counted them; -1: it did not say */
	int64_t total_tokens;  /* the same */
};

/**
 * wfs_embedding_request() - the body of a request for the embedding of one text
 * The members extra_body of the entry replace what is there, but for the text and the model.
 * @entry: that passed wfs_models_find()
 * @text: how long it may be is the server's affair
 * Return: 0, -EINVAL (invalid_argument, missing_argument: the entry is a script's, names no model, or
 *         has an extra_body that cannot be; the text is empty or no UTF-8), -ENOMEM; caller owns @ret_body.
 */
int wfs_embedding_request(
	const json_t *entry, const char *text, json_t **ret_body, struct wfs_error *error);

/**
 * wfs_embedding_read() - the one vector in an answer
 * It may be an array of numbers, or base64 of little-endian float32, which some servers send unasked.
 * @answer: parsed; any value
 * @entry: that the request was made of
 * @ret_embedding: caller releases it with wfs_embedding_done()
 * @failure: its secret is in no text of it
 * Return: 0, -EBADMSG (@failure says what was expected and what came), -ENOMEM.
 */
int wfs_embedding_read(const json_t *answer, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *failure);

void wfs_embedding_done(struct wfs_embedding *embedding);
#define WFS_AUTO_EMBEDDING WFS_CLEANUP(wfs_embedding_done)
