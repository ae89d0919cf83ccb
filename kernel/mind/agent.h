/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents: checks the content of an artifact of type agent by itself. The model, tools and artifacts
 * that it names need not exist before a turn needs them.
 *
 *     {model?, llm_model?, system_prompt?, prompt?, tools?[], max_turns?, max_history_messages?,
 *      max_concurrency?, max_tokens?, temperature?, tool_choice?, constraint?, extra_body?,
 *      tool_timeout_ms?, run_timeout_ms?, prompts?{state: text}, workflow?, and ids of artifacts:
 *      longterm_memory_artifact_id?, personality_prompt_artifact_id?, reflex_artifact_id?,
 *      workflow_artifact_id?, working_memory_artifact_id?}
 *
 * Source: worldfs(1).
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum { WFS_MIND_AGENT_MAX = 1 << 20 }; /* bytes of content */

/** wfs_mind_agent_read() - parse the content of an agent, and check that it is an object with only
 *  the members above; their values are not checked
 *  @ret_content: set on success; caller owns it. Return: 0, -EINVAL (not JSON, or not such an
 *  object), -EFBIG (too many bytes or values), -ENOMEM. */
int wfs_mind_agent_read(struct wfs_bytes content, json_t **ret_content, struct wfs_error *error);

/** wfs_mind_agent_check() - check the values of an agent's members
 *  @content: from wfs_mind_agent_read()
 *  Return: 0, -EINVAL (invalid_argument: a value is not valid; missing_argument: a member within
 *  one is missing), -EFBIG (too_large: too many tools or states, …), -ENOMEM. */
int wfs_mind_agent_check(const json_t *content, struct wfs_error *error);
