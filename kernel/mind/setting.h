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
	WFS_MIND_TURNS_MAX = 10000,    /* requests to the model in one turn */
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

/* The integer settings that a run keeps; the last row has no name. */
extern const struct wfs_mind_number wfs_mind_numbers[];

/* Check the value of a setting.
 * Return: 0, or -EINVAL (invalid_argument) with a message that names it. */
int wfs_mind_check_history_max(int64_t max, struct wfs_error *error);
int wfs_mind_check_temperature(const json_t *value, struct wfs_error *error);

/** wfs_mind_check_tool_choice() - check the form only, and not whether the tool exists. */
int wfs_mind_check_tool_choice(const json_t *choice, struct wfs_error *error);

/** wfs_mind_check_extra() - refuse members that would replace those that every request body has.
 *  @where: whose extra body, for messages */
int wfs_mind_check_extra(const char *where, const json_t *extra, struct wfs_error *error);

/** wfs_mind_check_costs() - refuse members that make a server compute or charge more than the
 *  settings say. host.json may have them, because its user pays; the author of an agent does
 *  not. */
int wfs_mind_check_costs(const json_t *extra, struct wfs_error *error);
