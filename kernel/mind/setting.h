/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of an agent, checked by themselves. Which of them a server accepts is known in
 * agents/adapter/.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/error.h"

enum {
	WFS_MIND_TURNS_MAX = 10000,    /* requests to the model in one turn: `max_turns` */
	WFS_MIND_CONCURRENCY_MAX = 64, /* simultaneous tool calls of a turn */
	WFS_MIND_TOOLS_MAX = 256,      /* tools of an agent */
};

/* An integer setting. Plain value with static lifetime. */
struct wfs_mind_number {
	const char *name;
	int64_t minimum;
	int64_t maximum;
	int64_t otherwise; /* the default */
};

/* The integer settings of a turn; the last row has no name. */
extern const struct wfs_mind_number wfs_mind_numbers[];

/* Check the value of the setting max_history_messages, and of temperature.
 * Return: 0, or -EINVAL (invalid_argument) with a message that names the setting. */
int wfs_mind_check_history_max(int64_t max, struct wfs_error *error);
int wfs_mind_check_temperature(const json_t *value, struct wfs_error *error);

/** wfs_mind_check_tool_choice() - check that the setting tool_choice is "auto", "none", "required"
 *  or {type: "function", function: {name: a tool's}}; the tool need not exist
 *  Return: 0, or -EINVAL (invalid_argument: another value). */
int wfs_mind_check_tool_choice(const json_t *choice, struct wfs_error *error);

/** wfs_mind_check_extra() - check that @extra, the setting extra_body, is an object of members that
 *  are added to the body of requests to a model's server; it may not have messages, model, stream
 *  or tools, which each body has. @where: what has the setting, for messages, such as "agent"
 *  Return: 0, or -EINVAL (invalid_argument: not an object, or with one of these members). */
int wfs_mind_check_extra(const char *where, const json_t *extra, struct wfs_error *error);

/** wfs_mind_check_costs() - check that @extra, an agent's extra_body (an object), has no members,
 *  such as max_tokens or n, that make a server compute or charge more than the settings say
 *  The extra_body in host.json may have them, because the user of the host pays; the author of an
 *  agent does not. Return: 0, or -EINVAL (invalid_argument: the message names such a member). */
int wfs_mind_check_costs(const json_t *extra, struct wfs_error *error);
