/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that chat, import a plan or resume one. */
#pragma once

#include "agents/engine/wait.h"
#include "agents/engine/work.h"

extern const struct wait_kind wait_for_plan;

/** chat_built() - note how long @work took to build the context of its chat, for `timing_ms` in the
 *  answers to callers that wait for the chat. */
void chat_built(const struct work *work);
