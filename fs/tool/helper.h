/* SPDX-License-Identifier: Apache-2.0 */
/* Gives agents the tools for models. Tools that read are done at once, by a session; those that
 * have other agents take turns end when the turns have ended. */
#pragma once

#include "caps/drive.h"

extern const struct wfs_helpers wfs_tool_helpers;
