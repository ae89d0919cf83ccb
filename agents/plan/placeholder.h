/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `${step_id.path.to.value}` in strings: the result of an earlier step, or a part of it.
 *
 * A placeholder ends at the next closing brace; one that is not closed, or contains a `$` or `{`,
 * is text. Ids may contain dots, so the step is the longest known id that is the whole text or is
 * followed by a dot. The rest are names of members, or indices of elements from 0, separated by
 * dots. `$${` becomes `${`.
 *
 * A string that is one placeholder and nothing more is replaced by the value; in longer text the
 * value's text is inserted. Names of members, and inserted values, are not searched for
 * placeholders.
 * Thread: any.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_PLACEHOLDER_SIZE_MAX = 4 << 20, /* bytes of a filled value, as JSON */
	/* Nesting of arguments, of steps' results, and of filled values. Records that contain them
	 * have levels of their own, and must stay below WFS_JSON_DEPTH_MAX. */
	WFS_PLACEHOLDER_DEPTH_MAX = 100,
};

/** wfs_placeholder_refs() - find the steps that placeholders in the strings of @value name; those
 *  that name no step are ignored
 *  @value: at most WFS_JSON_DEPTH_MAX levels (kernel/base/json.h)
 *  @indices: object id of a step → its number; of all steps
 *  @refs: object to which the named steps are added, id → number
 *  Return: 0, or -ENOMEM. */
int wfs_placeholder_refs(const json_t *value, const json_t *indices, json_t *refs);

/** wfs_placeholder_resolve - get the result of a step; called by wfs_placeholder_fill()
 *  It is called once for each step that is named, and also for longer ids, which no step has.
 *  @step_id: at most WFS_PLAN_STEP_ID_MAX bytes (kernel/value/bounds.h)
 *  @ret_value: caller owns it
 *  Return: 0, -ENOENT (unknown id: a shorter one is tried), or -errno with @error (the step has no
 *  result), which wfs_placeholder_fill() returns. */
typedef int wfs_placeholder_resolve(
	void *context, const char *step_id, json_t **ret_value, struct wfs_error *error);

/**
 * wfs_placeholder_fill() - replace the placeholders in @value
 * @value: not changed; the result shares unchanged parts
 * @ret_value: caller owns it
 * Return: 0, -EINVAL (invalid_argument: a placeholder does not resolve, and the message names it;
 * depth_exceeded: more than WFS_PLACEHOLDER_DEPTH_MAX levels), -EFBIG (too_large: more than
 * WFS_PLACEHOLDER_SIZE_MAX bytes), -ENOMEM, or the -errno of @resolve.
 */
int wfs_placeholder_fill(const json_t *value, wfs_placeholder_resolve *resolve, void *context,
	json_t **ret_value, struct wfs_error *error);

/** wfs_placeholder_append() - append @value to @buffer as text: a string as it is, other values as
 *  canonical JSON. If memory is lacking, @buffer is marked as failed (wfs_buffer_check() in
 *  kernel/base/buffer.h). */
void wfs_placeholder_append(const json_t *value, struct wfs_buffer *buffer);

/** wfs_placeholder_depth_fits() - do arrays and objects in @value nest at most @max deep? */
bool wfs_placeholder_depth_fits(const json_t *value, unsigned int max);
