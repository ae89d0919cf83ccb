/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reflexes: Lua code of an agent that may answer a turn before a model is asked.
 *
 * The code defines `reflex(context)`, which returns an action (a table with a text `action_type`),
 * or nil for no action. It runs in the sandbox of kernel/lua, without functions of a host; `ctx` is
 * empty, and `ctx.random()` gives the same numbers in every call.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	/* About 100 ms. Measured: 18 ms for an empty loop, 20 to 60 for arithmetic, calls and
	 * tables, 110 to 140 for code that makes strings all the time, 185 for catching errors. */
	WFS_MIND_REFLEX_INSTRUCTIONS = 5000000,
	WFS_MIND_REFLEX_MEMORY_BYTES = 16 << 20,
	WFS_MIND_REFLEX_ACTION_MAX = 1 << 20, /* bytes of an action, as JSON */
};

/**
 * wfs_mind_reflex() - run a reflex
 * @source: the Lua code
 * @name: of the code, for messages
 * @context: object; the argument of `reflex`
 * @ret_action: caller owns it; NULL: no action
 * Return: 0, -EINVAL (syntax_error: the code does not compile, is too large, or defines no reflex;
 * invalid_argument: its result is not an action), -EIO (runtime_error: the code failed, with the
 * line in the message, or hit a bound), -ENOMEM.
 */
int wfs_mind_reflex(struct wfs_bytes source, const char *name, const json_t *context,
	json_t **ret_action, struct wfs_error *error);
