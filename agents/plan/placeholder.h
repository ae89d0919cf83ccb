/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `${step_id.path.to.value}` in strings: what an earlier step gave, or a part of it.
 *
 * A placeholder goes up to the next brace; one that is not closed, or has a `$` or `{` in it, is text. Its
 * step is the longest known id that is all of it or is followed by a dot: ids may have dots in them. The
 * rest are names of members, or numbers of elements from 0, with dots between. `$${` stands for `${`.
 *
 * A string that is one placeholder and nothing else becomes the value; within other text it becomes the
 * value's text. Names of members are left alone, and so is what was put in: nothing is filled twice.
 * Source: spec 6, "Planner".
 * Thread: any.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_PLACEHOLDER_SIZE_MAX = 4 << 20, /* bytes of what has been filled, as JSON */
	/* Levels of arguments, of what steps give, and of what has been filled. Records that hold them have
	 * some of their own, and must stay below WFS_JSON_DEPTH_MAX. */
	WFS_PLACEHOLDER_DEPTH_MAX = 100,
};

/**
 * wfs_placeholder_refs() - which steps are named in the strings of @value?
 * @value: at most WFS_JSON_DEPTH_MAX levels
 * @indices: of all steps, by their ids
 * @refs: object that those which are named are added to, with their indices
 * Return: 0, or -ENOMEM.
 */
int wfs_placeholder_refs(const json_t *value, const json_t *indices, json_t *refs);

/**
 * wfs_placeholder_resolve - what a step gave
 * Called once for each step that is named, and for longer ids that there are none of.
 * @step_id: at most WFS_PLAN_STEP_ID_MAX bytes
 * @ret_value: caller owns it
 * Return: 0, -ENOENT (there is no such step: a shorter id is tried), or -errno with @error, which the
 * filling returns: there is one, but it gave nothing.
 */
typedef int wfs_placeholder_resolve(
	void *context, const char *step_id, json_t **ret_value, struct wfs_error *error);

/**
 * wfs_placeholder_fill() - @value with values in the place of placeholders
 * @value: stays as it is; what is not changed is shared
 * @ret_value: caller owns it
 * Return: 0, -EINVAL (invalid_argument: one does not resolve, and which; depth_exceeded), -EFBIG
 * (too_large), -ENOMEM, or what @resolve returned.
 */
int wfs_placeholder_fill(const json_t *value, wfs_placeholder_resolve *resolve, void *context,
	json_t **ret_value, struct wfs_error *error);

/** wfs_placeholder_append() - the text of a value: a string as it is, others as canonical JSON. */
void wfs_placeholder_append(const json_t *value, struct wfs_buffer *buffer);

/** wfs_placeholder_depth_fits() - has @value at most @max levels? */
bool wfs_placeholder_depth_fits(const json_t *value, unsigned int max);
