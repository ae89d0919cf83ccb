/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prompts: what an artifact's content says that one is. Filling it in is agents/mind/template.h.
 * Source: spec 7, "Turn".
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_MIND_CONTENT_MAX = 16 << 20, /* bytes of content that prompts are looked for in */
	WFS_MIND_TEXT_MAX = 1 << 20,     /* bytes of a template, and of what it is filled to */
	WFS_MIND_VARIABLES_MAX = 256,    /* that a template declares */
	WFS_MIND_VARIABLE_NAME_MAX = 64, /* bytes */
};

/**
 * wfs_mind_prompt_read() - the prompt that a content is, or has in it
 *
 * A prompt is a text (the template), or {template, variables?}. Content that is not JSON is a text; so is
 * a JSON string. With a fragment the content is a library: {prompts: {name: prompt}}. Members that are
 * not named here are passed over.
 *
 * @fragment: the name of one in a library; NULL: the content is the prompt
 * @ret_prompt: {template, variables}, where variables is an array of names; caller owns it
 * Return: 0, -EINVAL (invalid_json, invalid_argument, missing_argument), -ENOENT (not_found: no such one
 * in the library, and which there are), -EFBIG (too_large), -ENOMEM.
 */
int wfs_mind_prompt_read(struct wfs_bytes content, const char *fragment, json_t **ret_prompt,
	struct wfs_error *error);

/**
 * wfs_mind_prompt_check() - is a content a prompt, or a library of prompts?
 * Return: as wfs_mind_prompt_read.
 */
int wfs_mind_prompt_check(struct wfs_bytes content, struct wfs_error *error);

/** wfs_mind_prompts_check() - are the members of `prompts` of a library prompts? */
int wfs_mind_prompts_check(const json_t *library, struct wfs_error *error);

/** wfs_mind_name_size() - bytes of the name of a variable that the text begins with; 0: it does not. */
size_t wfs_mind_name_size(struct wfs_bytes text);
