/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates of prompts (kernel/mind/prompt.h): replaces names of variables by their values.
 *
 * `{name}` becomes the value of a variable; `{{` and `}}` become single braces. Other text in
 * braces stays as it is, so that templates can contain JSON: one closing brace ends it, also where
 * two are adjacent (`{"a": {"b": 1}}`). Values are inserted as they are: braces in them have no
 * meaning.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/mind/prompt.h"

/** wfs_mind_template_fill() - append the prompt's text, with values inserted
 *  @prompt: {template, variables}, from wfs_mind_prompt_read() (kernel/mind/prompt.h)
 *  @variables: object name → value; values other than texts, null included, are written as JSON;
 *              NULL: none
 *  @ret_text: appended to, including NUL characters of values; unchanged after a failure
 *  Return: 0, -EINVAL (missing_argument: a declared variable has no value, even if the template
 *  does not use it), -EFBIG (too_large: with the values, more than WFS_MIND_TEXT_MAX bytes),
 *  -ENOMEM. */
int wfs_mind_template_fill(const json_t *prompt, const json_t *variables,
	struct wfs_buffer *ret_text, struct wfs_error *error);

/** wfs_mind_template_uses() - does the template of @prompt use the variable @name? */
bool wfs_mind_template_uses(const json_t *prompt, const char *name);

/**
 * wfs_mind_reference_split() - split `library#fragment` at the last `#`
 *
 * Ids of artifacts may contain a `#`: callers that find no artifact `library` take the whole text
 * as an id.
 * @ret_id: borrows @reference
 * @ret_fragment: borrows @reference
 * Return: false: there is no `#`, or nothing before or after it.
 */
bool wfs_mind_reference_split(
	const char *reference, struct wfs_bytes *ret_id, const char **ret_fragment);
