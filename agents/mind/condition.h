/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of transitions: does one hold, as the variables of a turn are?
 *
 * A condition is a built-in predicate or one Lua expression that gives true, false or nil.
 *   has_design         one of `my_artifacts` ({id, type}, or an id) has the type `design` or "design" in its
 *                      id, or `working_memory` has that word in it (any case)
 *   stuck              `failure_count` is at least 3, or `same_state_for` at least 5
 *   succeeded, failed  `last_action_success` is "true", or "false"; a boolean is taken, too
 *   balance_below(n)   `balance` is less than n
 *   same_state_for(n)  `same_state_for` is at least n
 * What has no variable to tell it does not hold; but the two that compare fail without a number.
 *
 * To an expression the variables are globals, null as nil, and the predicates are, too: booleans, and two
 * functions. Those go before variables of their name, and variables before the sandbox's own functions.
 * It runs in the sandbox of kernel/lua, with nothing of `ctx`; what it does is gone afterwards.
 * Source: spec 7, "Turn".
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"
#include "kernel/mind/expression.h"

enum {
	/* Of all expressions that one wfs_mind_conditions_first looks at. */
	WFS_MIND_CONDITIONS_INSTRUCTIONS = 8000000,
};

/**
 * wfs_mind_condition() - does it hold?
 * @text: at most WFS_MIND_CONDITION_MAX bytes
 * @variables: object name → value; NULL: there are none
 * Return: 0, -EINVAL (syntax_error: it is no expression; invalid_argument: it gives something else, or a
 * predicate has no number), -EIO (runtime_error: it fails, or hits a bound), -EFBIG (too_large), -ENOMEM.
 */
int wfs_mind_condition(
	const char *text, const json_t *variables, bool *ret_holds, struct wfs_error *error);

/**
 * wfs_mind_conditions_first() - where the first condition that holds leads
 *
 * One that fails does not hold.
 * @conditions: [{to, condition}], of a step; may be NULL
 * @ret_to: borrows @conditions; NULL: none holds
 * @ret_notes: array of texts: which conditions failed, and why; NULL: none did; caller owns it
 * Return: 0, or -ENOMEM.
 */
int wfs_mind_conditions_first(
	const json_t *conditions, const json_t *variables, const char **ret_to, json_t **ret_notes);
