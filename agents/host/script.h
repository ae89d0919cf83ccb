/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider `script`: answers from a file, so that agents run without a model, and a recorded
 * turn can be repeated.
 *
 * A line is a completion, {content?, tool_calls?, finish_reason?, usage?}, or a failure, {error:
 * {code, message}}. A line may have conditions: `turn` (a number), `match` (a text in the last
 * message), `last_message` (the whole of it). The answer is the first line whose conditions all
 * hold; of the lines without conditions, the n-th answers request n of a turn. The answer depends
 * only on the request, so that a world whose daemon was killed continues in the same way.
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/error.h"

/* An answer of a script. Plain value; the caller owns both, one is NULL. */
struct script_answer {
	json_t *completion;
	json_t *failure;  /* {code, message} */
	int64_t delay_ms; /* after which the answer comes */
};

/** script_read() - get the answer to one request
 *  @file: a path; a relative one begins in @directory, which is the world's
 *  @turn: number of the request within the turn, from 1
 *  @messages: of the request
 *  @ret_answer: caller owns its values
 *  Return: 0, -ENOENT (not_found: the file does not exist, or none of its lines fits), -EINVAL (a
 *  line before one that fits is wrong; the message names it), or another -errno of reading the
 *  file; with @error. */
int script_read(const char *directory, const char *file, int64_t turn, const json_t *messages,
	struct script_answer *ret_answer, struct wfs_error *error);
