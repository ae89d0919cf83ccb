/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handbook: what an agent can do in a world, as artifacts in it that everybody may read.
 *
 * They are generated from the tables that actions, queries, the functions of code and errors come
 * from, so they tell what this program does; what agents think with, and how that is traded, has no
 * such table and is told in prose. Once made they are artifacts like any others: their
 * owner, the operator, may change them, and nothing brings them up to date.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/* X(name behind handbook_, function below); those from agents on: handbook-mind.c */
#define WFS_HANDBOOK(X)                        \
	X(actions, wfs_handbook_write_actions) \
	X(queries, wfs_handbook_write_queries) \
	X(code, wfs_handbook_write_code)       \
	X(errors, wfs_handbook_write_errors)   \
	X(agents, wfs_handbook_write_agents)   \
	X(memory, wfs_handbook_write_memory)   \
	X(trade, wfs_handbook_write_trade)

/* Each appends one text: Markdown. */
#define WFS_HANDBOOK_WRITE(name, function) void function(struct wfs_buffer *buffer);
WFS_HANDBOOK(WFS_HANDBOOK_WRITE)
#undef WFS_HANDBOOK_WRITE

/** wfs_handbook_artifacts() - what makes all of them, as struct wfs_source has its artifacts.
 *  Return: new reference, NULL without memory. */
json_t *wfs_handbook_artifacts(void);
