/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn's request to a model and the answer to it, byte for byte, until they are recorded with the
 * receipt (kernel/domain/turn/raw.h). Headers, which have the key, are not kept; a key that
 * comes back is masked before the bytes are hashed.
 */
#pragma once

#include <jansson.h>

#include "agents/prepare/private.h"
#include "kernel/base/buffer.h"

struct wfs_error;
struct wfs_texts;

/* Plain value; zero-initialised is empty; raw_done() ends it. */
struct raw {
	bool wanted;                 /* host.json has requests and answers kept */
	struct agents_origin origin; /* of the private texts in the request */
	struct wfs_buffer *sent;     /* owned: the request, then the answer to each attempt */
	struct wfs_bytes *bytes;     /* of the members of `sent` that are not empty; owned */
	size_t count;                /* of `sent`; 0: nothing was sent */
	size_t bytes_count;
};
void raw_done(struct raw *raw);

/** raw_take() - keep a request and its answers, in place of what was kept before; keeps nothing if
 *  raw->wanted is false, or nothing was sent
 *  @answers: @count of them, one for each attempt; an empty one: nothing came
 *  @secret: key of the model, which is masked as by raw_write(); NULL: none
 *  Return: 0, or -ENOMEM: nothing is kept. */
int raw_take(struct raw *raw, struct wfs_bytes request, const struct wfs_buffer *answers,
	size_t count, const char *secret);

/** raw_name() - add the hashes of the kept bytes to @receipt; if the request or the receipt's
 *  payload has private texts, add stand-ins for the hashes instead
 *  @receipt: has its `payload` already; @texts: gets the hashes that stand-ins replace
 *  Return: 0, or -errno with @error. */
int raw_name(struct raw *raw, json_t *receipt, struct wfs_texts *texts, struct wfs_error *error);

/** raw_write() - append @bytes to @buffer, with `***` in place of @secret
 *  If @bytes has the key in another form (in JSON's escapes, or in pieces that a stream puts
 *  together), a note is appended in place of all bytes. @secret: NULL, or shorter than
 *  AGENTS_SECRET_SIZE_MIN (agents/host/secret.h): nothing is replaced
 *  Return: 0, -ENOMEM. */
int raw_write(struct wfs_buffer *buffer, struct wfs_bytes bytes, const char *secret);
