/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of models: out of the environment, and in nothing that leaves here.
 *
 * Answers are recorded. A server that repeats the headers of its request, as test servers and broken
 * gateways do, would have the key recorded for good. (Error texts are masked where they come in,
 * agents/model/failure.h.)
 */
#pragma once

#include <jansson.h>

/*
 * Keys are longer. What is shorter is a word that stands for none (vLLM's EMPTY, Ollama's ollama),
 * and may well be said by a model.
 */
enum { AGENTS_SECRET_SIZE_MIN = 16 };

/**
 * agents_secret_get() - a key out of the environment
 * From now on the kernel writes no core of this process, and lets nobody but root look into it: its
 * environment, curl's buffers and freed memory may all have the key.
 * Source: docs/decisions/0020-keys.md
 * Return: borrowed, of the environment; NULL: it has no such variable.
 */
const char *agents_secret_get(const char *variable);

/**
 * agents_secret_mask() - a value in which `***` stands for @secret, in all texts and names
 * @secret: may be NULL: there is none
 * Return: a new reference, which may be @value itself; NULL without memory.
 */
json_t *agents_secret_mask(json_t *value, const char *secret);
