/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning of a turn of an agent whose mind is artifacts: its reflex, the prompt of the state that its
 * workflow is in, its personality, its memories.
 *
 * All of them are references that may dangle. Each is read as the agent itself: its rights count, and it
 * pays the price of what is not its own. What was used, and what was used instead, is noted in the run's
 * step, which holds all that the run depends on.
 * Source: seed 2, "Phase 4"; spec 7, "Turn".
 */
#pragma once

#include "agents/prepare/private.h"

/** agents_has_mind() - does this configuration of an agent have any of that? */
bool agents_has_mind(const json_t *content);

/**
 * agents_prepare() - put it together
 * @session: of the agent
 * @content: its configuration
 * @params: of agent.step: what the agent is told instead of its prompt
 * @step: of agents_setup_make; gets messages, notes, and what else there is
 * @origin: gets whose the private texts are that these are made of
 * Thread: one that may wait for the kernel's.
 * Return: 0, or -errno: of what is no fault of the agent's.
 */
int agents_prepare(const struct wfs_session *session, const json_t *content, const json_t *params,
	json_t *step, struct agents_origin *origin, struct wfs_error *error);

/** agents_log_fallback() - tell the log that a turn of the session's agent goes on without something.
 *  @fallback: what is done instead */
void agents_log_fallback(
	const struct wfs_session *session, const char *stage, const char *fallback);
