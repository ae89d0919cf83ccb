/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that a step of a plan may ask instead of calling a tool: the introspect.* effects, and
 * blob.get. Params and answers are those of the effects.
 * Source: docs/design.md, "Plans".
 * Thread: any.
 */
#pragma once

#include "caps/session.h"

/** agents_question_find() - Return: the effect of this kind; WFS_EFFECT_COUNT: steps may not ask
 *  it. */
enum wfs_effect agents_question_find(const char *kind);

/** agents_question_tool() - the effect as an expanded tool (tool.h); caller owns it. NULL without
 *  memory. */
json_t *agents_question_tool(enum wfs_effect effect);

/**
 * agents_question_ask() - ask as the session's principal, and append the answer as JSON
 * Reads files of the store, so it must not run on the thread of a loop.
 * @ret_meta: after a failure, the height of the world; caller owns it; NULL: not reported
 * Return: 0, -EACCES, -ENOENT, -EFBIG (the blob), … with @error.
 */
int agents_question_ask(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, struct wfs_buffer *output, json_t **ret_meta,
	struct wfs_error *error);
