/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/mind/: predicates. */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/mind/kind.h"

/* --- predicate.c --- */

/** mind_predicate() - evaluate a condition, if it is one of the predicates in condition.h
 *  @text: of the condition
 *  @variables: object name → value; NULL: none
 *  Return: 0; 1 (not a predicate, but an expression); -EINVAL (invalid_argument: the variable that
 *  it compares is not a number), -ENOMEM (@error unchanged). */
int mind_predicate(
	struct wfs_bytes text, const json_t *variables, bool *ret_holds, struct wfs_error *error);

/** mind_predicates() - evaluate all predicates that take no argument. @variables: object name →
 *  value; NULL: none
 *  Return: object name → boolean, new reference; NULL without memory. */
json_t *mind_predicates(const json_t *variables);
