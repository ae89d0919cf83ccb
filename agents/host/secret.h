/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of models: read from the environment, and masked in everything that is recorded.
 *
 * A server that repeats the headers of its request, as test servers and broken gateways do, would
 * have the key recorded for good. (Error texts are masked in agents/model/failure.h.)
 */
#pragma once

#include <jansson.h>

/*
 * A shorter value is a word that replaces a key (vLLM's EMPTY, Ollama's ollama), and may occur in
 * the answer of a model.
 */
enum { AGENTS_SECRET_SIZE_MIN = 16 };

/** agents_secret_get() - read a key from the environment variable @variable
 *  After the first key that is found, Linux writes no core of this process, and lets only root look
 *  into it: its environment, curl's buffers and freed memory may all have the key.
 *  Source: docs/decisions/0020-keys.md
 *  Return: borrowed, of the environment; NULL: it has no such variable. */
const char *agents_secret_get(const char *variable);

/** agents_secret_mask() - get a value with `***` in place of @secret in all its texts and names;
 *  @value is not changed
 *  @secret: NULL, or shorter than AGENTS_SECRET_SIZE_MIN: nothing is replaced
 *  @value: borrowed
 *  Return: a new reference, to @value itself or to another value, which may share parts with it;
 *  NULL without memory. */
json_t *agents_secret_mask(json_t *value, const char *secret);

/** agents_secret_mask_any() - do agents_secret_mask() with a @secret of any length; not NULL, not
 *  "". Return: as agents_secret_mask(). */
json_t *agents_secret_mask_any(json_t *value, const char *secret);
