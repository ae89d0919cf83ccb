/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a turn is made from: the content of an artifact of type agent, and the params of the
 * caller. Everything that can be wrong with them is found here, before the turn begins. The
 * content is
 *
 *     {model?, system_prompt?, prompt?, tools?[], max_turns?, max_history_messages?,
 *      max_concurrency?, max_tokens?, temperature?, tool_choice?, constraint?, extra_body?,
 *      tool_timeout_ms?, run_timeout_ms?}
 *
 * and members that prepare.h reads: {longterm_memory_artifact_id?,
 * personality_prompt_artifact_id?, prompts?, reflex_artifact_id?, workflow?,
 * workflow_artifact_id?, working_memory_artifact_id?}.
 * Source: docs/design.md, "Turns"; worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include "caps/drive.h"

#define WFS_AGENT_MODEL "default" /* the model of agents that name none */

/** agents_setup_make() - make the action `step`, which begins a turn
 *  @asker: session of the principal that has the agent take a turn; the tools are those of the
 *          agent
 *  @params: of the verb `step`, see worldfs(1)
 *  @ret_content: the agent's configuration; caller owns it
 *  @ret_step: the action, for wfs_session_step() (caps/session-turn.h); caller owns it
 *  Return: 0, -ENOENT (not_found: no such agent, tool or model; deleted: the agent's artifact),
 *          -EINVAL (invalid_type: the artifact is not an agent; invalid_argument: a member of the
 *          configuration or of @params is wrong, or the model's server would refuse it), or another
 *          -errno; with @error. */
int agents_setup_make(const struct wfs_session *asker, const struct wfs_helpers *helpers,
	const json_t *params, json_t **ret_content, json_t **ret_step, struct wfs_error *error);

/** agents_setup_names() - read the names of tools in an agent's configuration
 *  @asker, @params: as for agents_setup_make(), which has already checked the rights of the asker
 *  @ret_names: the member `tools` of the configuration; []: it has none; caller owns it
 *  Return: 0, or the -errno of agents_setup_make() for an agent that cannot be read; with
 *  @error. */
int agents_setup_names(const struct wfs_session *asker, const json_t *params, json_t **ret_names,
	struct wfs_error *error);
