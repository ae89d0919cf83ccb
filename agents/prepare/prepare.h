/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares a turn of an agent that is made of artifacts: its reflex, the prompt for the state of
 * its workflow, its personality, its memories.
 *
 * Each of these is a reference to an artifact, which may be missing. It is read as the agent
 * itself: the agent's rights count, and it pays the price of artifacts of other owners. Notes in
 * the step say what was used, and what was used instead. The step holds everything on which the
 * turn depends.
 * Source: docs/design.md, "Turns".
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "agents/prepare/private.h"

struct wfs_session;

/** agents_has_mind() - does an agent's configuration name a reflex, a workflow, a memory or another
 *  artifact that agents_prepare() would read? @content: the configuration */
bool agents_has_mind(const json_t *content);

/** agents_prepare() - read the artifacts that an agent's configuration names, and add to the action
 *  `step` what is made from them
 *  @session: of the agent
 *  @content: its configuration
 *  @params: of the verb `step`; may give messages instead of the agent's prompt
 *  @step: the action, from agents_setup_make() (setup.h); gets `notes`, `mind` in its `setup` and,
 *         if a reflex acts, `reflex` and the tool for it; otherwise, unless @params gives
 *         `messages`, gets `messages`, or, if the prompt cannot be used, `failure`, with which the
 *         turn fails; after -errno, a part of them
 *  @origin: gets the owners of the private texts that these members were made from
 *  Thread: any that may wait for the kernel thread.
 *  Return: 0 (also if the agent's artifacts cannot be read or used: see `notes` and `failure`), or
 *  -errno: of a failure that is not the agent's own, such as a lack of memory. */
int agents_prepare(const struct wfs_session *session, const json_t *content, const json_t *params,
	json_t *step, struct agents_origin *origin, struct wfs_error *error);

/** agents_log_fallback() - log that a turn of the session's agent continues without an artifact.
 *  @stage: what the artifact was needed for; @fallback: what is done instead */
void agents_log_fallback(
	const struct wfs_session *session, const char *stage, const char *fallback);
