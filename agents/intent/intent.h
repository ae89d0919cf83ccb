/* SPDX-License-Identifier: Apache-2.0 */
/* What intents can ask for, as the engine has to know it. */
#pragma once

#include "agents/engine/work.h"

extern const struct work_kind intent_kinds[]; /* the last has no owner */
