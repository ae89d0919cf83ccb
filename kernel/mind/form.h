/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the content of an artifact must be because of the artifact's type, when it is written. Turns that meet
 * another content, of an older program, go on without it and say so.
 *
 *   agent     an agent's configuration (agent.h)
 *   prompt    a prompt, or a library {prompts: {name: prompt}}
 *   workflow  a workflow, or a library {workflows: {name: workflow}}
 *   library   `prompts` and `workflows` as above, if it has them and they are objects
 *
 * Artifacts that are named need not be there.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/mind/expression.h"

enum { WFS_MIND_EXPRESSION_COST = 10000 }; /* instructions that checking a condition counts as */

/** wfs_mind_form_has() - is the content of artifacts of that type looked at? */
bool wfs_mind_form_has(const char *type);

/**
 * wfs_mind_form_check() - has it the form?
 * @type: one that wfs_mind_form_has
 * @compiler: for conditions; its budget is used up
 * Return: 0, -EINVAL (invalid_json, invalid_argument, missing_argument, syntax_error), -EFBIG (too_large), -ENOMEM, or
 * as wfs_mind_expression_check(). The message begins with 'content'.
 */
int wfs_mind_form_check(const char *type, struct wfs_bytes content,
	const struct wfs_mind_compiler *compiler, struct wfs_error *error);
