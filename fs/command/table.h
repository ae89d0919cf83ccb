/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the table of commands. */
#pragma once

#include "fs/command/frame/run.h"

extern const struct wfs_commands wfs_commands;
