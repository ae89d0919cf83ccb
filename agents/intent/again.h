/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers that ask a model again what it was asked in a turn: the requests that were kept are sent
 * once more, maybe to another model, one after the other. Nothing of this is recorded, and no tool
 * is called, so request 2 has the results of the tools as they were.
 *
 * The result is {agent, model, requests, turn_id}; of each request {again, number, recorded}, which
 * are completions (agents/model/completion.h) or {error}. Several attempts at one request count as
 * one.
 */
#pragma once

#include "agents/engine/wait.h"

extern const struct wait_kind wait_for_again;
