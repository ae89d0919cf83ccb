/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handbook: artifacts, readable by everybody, that tell agents what they can do in a world.
 *
 * The pages about actions, queries, functions of code and errors are generated from the tables of
 * this program. The pages about minds, memory and trade are prose. Once made they are ordinary
 * artifacts: their owner, the operator, may change them, and nothing updates them.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/* X(name after `handbook_`, function below); those from `agents` on are in handbook-mind.c */
#define WFS_HANDBOOK(X)                        \
	X(actions, wfs_handbook_write_actions) \
	X(queries, wfs_handbook_write_queries) \
	X(code, wfs_handbook_write_code)       \
	X(errors, wfs_handbook_write_errors)   \
	X(agents, wfs_handbook_write_agents)   \
	X(memory, wfs_handbook_write_memory)   \
	X(trade, wfs_handbook_write_trade)

/* Each appends one page to @buffer, in Markdown. */
#define WFS_HANDBOOK_WRITE(name, function) void function(struct wfs_buffer *buffer);
WFS_HANDBOOK(WFS_HANDBOOK_WRITE)
#undef WFS_HANDBOOK_WRITE

/** wfs_handbook_artifacts() - make the actions that write all pages as artifacts, for a world's
 *  `init` (struct wfs_source). Return: new reference, NULL without memory. */
json_t *wfs_handbook_artifacts(void);
