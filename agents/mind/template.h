/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates of prompts (kernel/mind/prompt.h): the text with values in the place of names.
 *
 * `{name}` stands for the value of a variable; `{{` and `}}` stand for single braces. What is in braces
 * and is no name of a variable stays as it is, so that templates can have JSON in them: a brace of such
 * text is closed by one brace, also where two stand together (`{"a": {"b": 1}}`).
 * What was put in is not looked at again.
 * Source: spec 7, "Turn".
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/mind/prompt.h"

/**
 * wfs_mind_template_fill() - the prompt's text, with values in it
 * @prompt: of wfs_mind_prompt_read
 * @variables: object name → value; what is no text is written as JSON, also null; NULL: there are none
 * @ret_text: appended to; as before after a failure. A value's NUL characters are in it, too.
 * Return: 0, -EINVAL (missing_argument: a declared variable has no value, used or not), -EFBIG (too_large),
 * -ENOMEM.
 */
int wfs_mind_template_fill(const json_t *prompt, const json_t *variables,
	struct wfs_buffer *ret_text, struct wfs_error *error);

/** wfs_mind_template_uses() - would the value of variable @name be put in somewhere? */
bool wfs_mind_template_uses(const json_t *prompt, const char *name);

/**
 * wfs_mind_reference_split() - `library#fragment`, at the last `#`
 *
 * Ids of artifacts may have a `#` in them: whoever finds no such library takes all of it as an id.
 * @ret_id: borrows @reference
 * @ret_fragment: borrows @reference
 * Return: false: there is no `#`, or nothing on one side of it.
 */
bool wfs_mind_reference_split(
	const char *reference, struct wfs_bytes *ret_id, const char **ret_fragment);
