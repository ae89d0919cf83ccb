/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that a step of a plan may ask beside calling tools: the introspect.* effects, and blob.get. Their
 * params and answers are those of the effects.
 * Source: seed 4; spec 6.
 * Thread: any.
 */
#pragma once

#include "caps/session.h"

/** agents_question_find() - the effect of this kind, or WFS_EFFECT_COUNT: steps may not ask it. */
enum wfs_effect agents_question_find(const char *kind);

/** agents_question_tool() - an expanded tool (tool.h); caller owns it. NULL without memory. */
json_t *agents_question_tool(enum wfs_effect effect);

/**
 * agents_question_ask() - ask as the session's principal; reads files of the store, so not on a loop's thread
 * Appends the answer, JSON.
 * @ret_meta: of a failure, where the world stood; caller owns it; NULL: not told
 * Return: 0, -EACCES, -ENOENT, -EFBIG (the blob), … with @error.
 */
int agents_question_ask(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, struct wfs_buffer *output, json_t **ret_meta,
	struct wfs_error *error);
