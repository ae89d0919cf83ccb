/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of transitions between states of a workflow: is a text a Lua expression?
 * (agents/mind/condition.h evaluates them.)
 *
 * Calls of built-in predicates (`stuck`, `balance_below(5)`) are expressions, too.
 * Thread: that of the box.
 */
#pragma once

#include "kernel/box/box.h"

enum {
	/* bounds of one expression */
	WFS_MIND_CONDITION_INSTRUCTIONS = 1000000,
	WFS_MIND_CONDITION_MEMORY_BYTES = 8 << 20,
	WFS_MIND_CONDITION_OUTPUT_BYTES = 1 << 10,
};

/* Where expressions are compiled, and at whose cost. Plain value; borrowed. */
struct wfs_mind_compiler {
	struct wfs_box *box;
	const char *author; /* the principal who wrote the expressions; NULL: the world */
	struct wfs_lua_budget *budget; /* lowered by the instructions; NULL: none */
};

/* The bounds above, for running an expression. */
extern const struct wfs_lua_limits wfs_mind_condition_limits;

/** wfs_mind_expression_check() - compile @text as a Lua expression, without running it
 *  Return: 0, -EINVAL (syntax_error: @text is not an expression), -EIO (runtime_error: the budget
 *  in @compiler is used up), or another -errno of wfs_code_new() (kernel/box/box.h), if the box
 *  cannot do the work. */
int wfs_mind_expression_check(
	const struct wfs_mind_compiler *compiler, struct wfs_bytes text, struct wfs_error *error);
