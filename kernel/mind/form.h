/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form that the content of an artifact must have because of the artifact's type. It is checked
 * when the content is written. A turn that meets other content, from an older program, goes on
 * without it and reports that.
 *
 *   agent     an agent's configuration (agent.h)
 *   prompt    a prompt, or a library {prompts: {name: prompt}}
 *   workflow  a workflow, or a library {workflows: {name: workflow}}
 *   library   anything; if it is a JSON object, its members `prompts` and `workflows` as above, if
 *             they are objects
 *
 * Artifacts that the content names need not exist.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/mind/expression.h"

enum { WFS_MIND_EXPRESSION_COST = 10000 }; /* instructions charged for checking a condition */

/** wfs_mind_form_has() - is the content of artifacts of this type checked? True for agent, prompt,
 *  workflow and library. */
bool wfs_mind_form_has(const char *type);

/** wfs_mind_form_check() - check that an artifact's content has the form that its type requires
 *  @type: of the artifact; one for which wfs_mind_form_has() is true
 *  @content: all bytes of the content
 *  @compiler: compiles the conditions of workflows; its budget, not NULL, is charged
 *  Return: 0, -EINVAL (invalid_json; invalid_argument, missing_argument: a member is not valid or
 *  missing; syntax_error: a condition is not an expression), -EFBIG (too_large: more bytes or items
 *  than a member may have), -EIO (runtime_error: the budget is used up), -ENOMEM, or as
 *  wfs_mind_expression_check() (expression.h). The message of a mistake begins with 'content'. */
int wfs_mind_form_check(const char *type, struct wfs_bytes content,
	const struct wfs_mind_compiler *compiler, struct wfs_error *error);
