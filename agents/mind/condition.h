/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of transitions: evaluates one with the variables of a turn. A *workflow* gives an
 * agent states; a *transition* is the choice of the next state at the end of a turn.
 *
 * A condition is a built-in predicate or one Lua expression that gives true, false or nil.
 *   has_design         one of `my_artifacts` ({id, type}, or an id) has the type `design`, or
 *                      "design" in its id, or `working_memory` contains that word (any case)
 *   stuck              `failure_count` is at least 3, or `same_state_for` at least 5
 *   succeeded, failed  `last_action_success` is "true", or "false"; or such a boolean
 *   balance_below(n)   `balance` is less than n
 *   same_state_for(n)  `same_state_for` is at least n
 * Without its variable a predicate is false; but the last two fail unless their variable is a
 * number.
 *
 * In an expression the variables are globals, null being nil, and so are the predicates: the last
 * two as functions, the others as booleans. Predicates hide variables of their name, and variables
 * hide the sandbox's own functions. An expression runs in the sandbox of kernel/lua with an empty
 * `ctx`, and its effects are discarded.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"
#include "kernel/mind/expression.h"

enum {
	/* Lua instructions of all expressions together that one call of wfs_mind_conditions_first()
	 * runs. */
	WFS_MIND_CONDITIONS_INSTRUCTIONS = 8000000,
};

/** wfs_mind_condition() - evaluate a condition
 *  @text: at most WFS_MIND_CONDITION_MAX bytes (kernel/mind/workflow.h)
 *  @variables: object name → value; NULL: none
 *  Return: 0, -EINVAL (syntax_error: not an expression; invalid_argument: its value is not true,
 *  false or nil, or a predicate lacks its number), -EIO (runtime_error: the expression fails, or
 *  hits a bound of the sandbox), -EFBIG (too_large: @text), -ENOMEM. */
int wfs_mind_condition(
	const char *text, const json_t *variables, bool *ret_holds, struct wfs_error *error);

/**
 * wfs_mind_conditions_first() - find the target state of the first condition that is true
 *
 * A condition that fails counts as false.
 * @conditions: [{to, condition}], of the workflow's current state; NULL: []
 * @variables: object name → value; NULL: none
 * @ret_to: borrows @conditions; NULL: none is true
 * @ret_notes: array of texts: which conditions failed, and why; NULL: none failed; caller owns it
 * Return: 0, or -ENOMEM.
 */
int wfs_mind_conditions_first(
	const json_t *conditions, const json_t *variables, const char **ret_to, json_t **ret_notes);
