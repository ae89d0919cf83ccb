/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands (fs/command/commands.txt). */
#include "fs/command/table.h"

#include "fs/command/agents/commands.h"
#include "fs/command/help.h"
#include "fs/command/mount/commands.h"
#include "fs/command/read/commands.h"
#include "fs/command/rights/commands.h"
#include "fs/command/world/commands.h"
#include "fs/command/write/commands.h"

static const struct wfs_command rows[] = {
#include "fs/command/command-rows.h"
};

const struct wfs_commands wfs_commands = {rows, WFS_ARRAY_COUNT(rows)};
