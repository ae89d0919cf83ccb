/* SPDX-License-Identifier: Apache-2.0 */
/* Gives agents, as callbacks (struct wfs_helpers in caps/drive.h), the tools with which models read
 * a world and act in it. A call of a tool that reads is done at once, by a session; one that has
 * other agents take turns ends when the turns have ended. */
#pragma once

#include "caps/drive.h"

extern const struct wfs_helpers wfs_tool_helpers;
