/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that a step of a plan may ask instead of calling a tool: the introspect.* effects, and
 * blob.get. Params and answers are those of the effects.
 * Source: docs/design.md, "Plans".
 * Thread: any.
 */
#pragma once

#include "kernel/manifest/effect.h"

struct wfs_session;

/** agents_question_find() - look up a question. @kind: name of an effect, such as `blob.get`.
 *  Return: the effect; WFS_EFFECT_COUNT: a step may not ask it. */
enum wfs_effect agents_question_find(const char *kind);

/** agents_question_tool() - describe a question as an expanded tool (tool.h).
 *  Return: new reference, or NULL without memory. */
json_t *agents_question_tool(enum wfs_effect effect);

/** agents_question_ask() - ask a question as the session's principal, and append the answer to
 *  @output as JSON
 *  Reads files of the store, so it must not be called on the driver's thread.
 *  @params: of the effect
 *  @ret_meta: set only after a failure: the `meta` of an answer (height and more, see
 *  worldfs-control(5)); caller owns it; NULL: not known, or hidden from the principal
 *  Return: 0, -EACCES (the principal may not ask this), -ENOENT (what is asked for does not exist),
 *  -EFBIG (too_large: the blob has more bytes than a step gets), or another -errno; with @error. */
int agents_question_ask(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, struct wfs_buffer *output, json_t **ret_meta,
	struct wfs_error *error);
