/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that have an agent take turns. */
#pragma once

#include "agents/engine/wait.h"

extern const struct wait_kind wait_for_runs;
