/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transitions: reads which state of a workflow (condition.h) a model has chosen.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_MIND_REPLY_MAX = 256 << 10,  /* bytes of an answer that are searched */
	WFS_MIND_REPLY_OBJECTS_MAX = 64, /* objects in it that are examined */
	WFS_MIND_REASON_MAX = 500,       /* characters; longer reasons are cut */
};

/**
 * wfs_mind_transition_reply() - read which state a model has chosen
 *
 * The answer is {next_state, reason?}, by itself, in a fence or in other text: the first object
 * that has a `next_state`, nested or not.
 * @text: the answer
 * @states: array of the names of the workflow's states
 * @ret_next: name of the next state; borrows @states
 * @ret_reason: the answer's `reason`, if it has one, is appended; unchanged after a failure
 * Return: 0, -EINVAL (invalid_json: no object; missing_argument: none with a `next_state`;
 * invalid_argument: a member that is not a text), -ENOENT (not_found: the workflow has no such
 * state), -EFBIG (too_large: more than WFS_MIND_REPLY_MAX), -ENOMEM.
 */
int wfs_mind_transition_reply(struct wfs_bytes text, const json_t *states, const char **ret_next,
	struct wfs_buffer *ret_reason, struct wfs_error *error);
