/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for models, for agents: those that read are done at once, by a session; those that have others take turns
 * end when the turns have. */
#pragma once

#include "caps/drive.h"

extern const struct wfs_helpers wfs_tool_helpers;
