/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider `script`: answers out of a file, so that agents run without a model, and a run that was
 * recorded runs again.
 *
 * A line is a completion, {content?, tool_calls?, finish_reason?, usage?}, or a failure,
 * {error: {code, message}}. It is for those requests that fit all of its conditions: `turn` (a number),
 * `match` (a text in the last message), `last_message` (the whole of it). Of the lines that fit, the
 * first is taken; of those without any condition, the n-th is for turn n of a run. What is answered
 * follows from the request alone, so that a world that was killed goes on the same way.
 * Source: spec 5, "Providers".
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/error.h"

/* What a script says. Plain value; both are owned by the caller, one is NULL. */
struct script_answer {
	json_t *completion;
	json_t *failure;  /* {code, message} */
	int64_t delay_ms; /* before it is given */
};

/**
 * script_read() - the answer to one request
 * @file: a path, relative to the world's directory @directory
 * @turn: of the run, from 1
 * @messages: that are sent
 * Return: 0, -ENOENT (not_found: the file, or a line that fits), -EINVAL (names the line), …
 */
int script_read(const char *directory, const char *file, int64_t turn, const json_t *messages,
	struct script_answer *ret_answer, struct wfs_error *error);
