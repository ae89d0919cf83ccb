/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that call an outside tool by themselves, or want the list of all. */
#pragma once

#include "agents/engine/wait.h"

extern const struct wait_kind wait_for_tool;  /* WFS_DRIVE_TOOL */
extern const struct wait_kind wait_for_tools; /* WFS_DRIVE_TOOLS */

/** tool_tell() - answer the callers that wait for a call of an outside tool
 *  @intent_id: of the call; @payload: of its receipt, as the caller may read it; NULL: the receipt
 *  could not be recorded, or the world is being closed */
void tool_tell(struct engine *engine, const char *intent_id, const json_t *payload);
