/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of transitions as texts: is one a Lua expression? Whether it holds is agents/mind/condition.h.
 *
 * Built-in predicates (`stuck`, `balance_below(5)`) are expressions, too.
 * Thread: that of the box.
 */
#pragma once

#include "kernel/box/box.h"

enum {
	WFS_MIND_CONDITION_INSTRUCTIONS = 1000000, /* of one expression */
	WFS_MIND_CONDITION_MEMORY_BYTES = 8 << 20,
	WFS_MIND_CONDITION_OUTPUT_BYTES = 1 << 10,
};

/* Where expressions are compiled, and what that may take. Plain value; borrowed. */
struct wfs_mind_compiler {
	struct wfs_box *box;
	const char *author; /* the principal whose expressions these are; NULL: the world's */
	struct wfs_lua_budget *budget; /* that they use up; may be NULL */
};

/* Of each expression. */
extern const struct wfs_lua_limits wfs_mind_condition_limits;

/**
 * wfs_mind_expression_check() - compile it; it does not run
 * Return: 0, -EINVAL (syntax_error: it is no expression), or as wfs_code_new().
 */
int wfs_mind_expression_check(
	const struct wfs_mind_compiler *compiler, struct wfs_bytes text, struct wfs_error *error);
