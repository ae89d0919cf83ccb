/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prompts: finds a prompt in an artifact's content. agents/mind/template.h fills it in. The name of
 * a variable matches `[A-Za-z_][A-Za-z0-9_]*`.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_MIND_CONTENT_MAX = 16 << 20, /* bytes of content in which prompts are searched */
	WFS_MIND_TEXT_MAX = 1 << 20,     /* bytes of a template, and of its filled-in text */
	WFS_MIND_VARIABLES_MAX = 256,    /* variables that a template declares */
	WFS_MIND_VARIABLE_NAME_MAX = 64, /* bytes of the name of a declared variable */
};

/**
 * wfs_mind_prompt_read() - get the prompt that a content is, or one that a library contains
 *
 * A prompt is a text (the template), or {template, variables?}. Content that is not JSON is a text,
 * and so is content that is a JSON string. With @fragment the content is a library: {prompts:
 * {name: prompt}}. Other members are ignored.
 *
 * @fragment: the name of a prompt in a library; NULL: the content is the prompt
 * @ret_prompt: {template, variables}, where variables is an array of the declared names, in their
 *              order ([]: none); set on success; caller owns it
 * Return: 0, -EINVAL (invalid_json: an object or library that cannot be parsed; invalid_argument,
 * missing_argument: a member is not valid or missing), -ENOENT (not_found: the library lacks the
 * prompt @fragment; the message lists those that it has), -EFBIG (too_large: the content or the
 * template), -ENOMEM.
 */
int wfs_mind_prompt_read(struct wfs_bytes content, const char *fragment, json_t **ret_prompt,
	struct wfs_error *error);

/** wfs_mind_prompt_check() - check that a content is a prompt, or (an object with an object
 *  `prompts`, without `template`) a library of prompts
 *  Return: as wfs_mind_prompt_read(), but never -ENOENT. */
int wfs_mind_prompt_check(struct wfs_bytes content, struct wfs_error *error);

/** wfs_mind_prompts_check() - check that each member of the object `prompts` in a library is a
 *  prompt. Return: as wfs_mind_prompt_check(); 0 for a library without `prompts`. */
int wfs_mind_prompts_check(const json_t *library, struct wfs_error *error);

/** wfs_mind_name_size() - get the size in bytes of the longest name of a variable with which @text
 *  begins, even if it is above WFS_MIND_VARIABLE_NAME_MAX; 0: @text does not begin with a name. */
size_t wfs_mind_name_size(struct wfs_bytes text);
