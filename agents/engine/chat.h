/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that chat, import a plan or resume one. */
#pragma once

#include "agents/engine/wait.h"
#include "agents/engine/work.h"

extern const struct wait_kind wait_for_plan;

/** chat_built() - the work has built the context of its chat, which ends a stage of the times. */
void chat_built(const struct work *work);
