/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that read, for agents: each task is done at once, by a session. */
#pragma once

#include "kernel/drive.h"

extern const struct wfs_helpers wfs_tool_helpers;
