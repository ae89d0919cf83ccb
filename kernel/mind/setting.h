/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of an agent, as far as they are right or wrong by themselves. What a server takes of them is for
 * agents/adapter/.
 * Source: spec 5, "Settled".
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/error.h"

enum {
	WFS_MIND_TURNS_MAX = 10000,    /* requests to the model in one turn */
	WFS_MIND_CONCURRENCY_MAX = 64, /* tool calls of a turn at once */
	WFS_MIND_TOOLS_MAX = 256,      /* that an agent has */
};

/* An integer. Plain value with static lifetime. */
struct wfs_mind_number {
	const char *name;
	int64_t minimum;
	int64_t maximum;
	int64_t otherwise; /* what it is when an agent says nothing */
};

/* Those that a run keeps; the last has no name. */
extern const struct wfs_mind_number wfs_mind_numbers[];

/* Each takes the value of a setting. Return: 0, or -EINVAL (invalid_argument) with a message that names it. */
int wfs_mind_check_history_max(int64_t max, struct wfs_error *error);
int wfs_mind_check_temperature(const json_t *value, struct wfs_error *error);

/** wfs_mind_check_tool_choice() - its form; whether the tool is offered is not looked at. */
int wfs_mind_check_tool_choice(const json_t *choice, struct wfs_error *error);

/** wfs_mind_check_extra() - members that a body has anyway cannot be replaced. @where: whose extra body */
int wfs_mind_check_extra(const char *where, const json_t *extra, struct wfs_error *error);

/** wfs_mind_check_costs() - members that have a server compute or charge more than the settings say. host.json
 *  may have them: its user pays. The author of an agent does not. */
int wfs_mind_check_costs(const json_t *extra, struct wfs_error *error);
