/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a turn: what prompts, reflex and conditions of an agent can use. A *workflow*
 * gives an agent states; a *setup* is the document from which a turn is made.
 * Source: docs/design.md, "Turns".
 */
#pragma once

#include <jansson.h>

#include "agents/prepare/private.h"

struct wfs_view;

/*
 * X(name, what it is)
 * Numbers are JSON numbers, lists are arrays; a value that does not exist yet is the text "none".
 */
#define WFS_VARIABLES(X)                                                                       \
	X(agent_id, "the agent's own id")                                                      \
	X(available_states, "names of the states of its workflow")                             \
	X(balance, "its scrip")                                                                \
	X(current_state, "the state it is in")                                                 \
	X(disk_remaining, "bytes that it may still write; \"unlimited\" without a quota")      \
	X(failure_count, "how often it failed, one time behind the other")                     \
	X(last_action_result, "what its last action gave")                                     \
	X(last_action_success, "true or false")                                                \
	X(last_action_type, "the name of its last action")                                     \
	X(llm_tokens_remaining, "tokens that it may still use; \"unlimited\" without a quota") \
	X(my_artifacts, "what it owns: {id, type}, the newest 50")                             \
	X(recent_memories, "what was found in its long-term memory")                           \
	X(same_state_for, "how many runs in a row have ended in this state")                   \
	X(tick, "the height of the world")                                                     \
	X(working_memory, "the content of its working memory")

/** agents_variables() - compute the values of all variables at the height of the view
 *  @session: of the agent; what it may not see is left out
 *  @mind: {state?, states?, working_memory?}: the agent's state, the names of all states of its
 *         workflow, and the content of its working memory; as in `mind` of a setup
 *  @origin: gets the artifacts to which private texts in the values belong
 *  @ret_variables: object name → value; caller owns it
 *  Return: 0, or -errno with @error. */
int agents_variables(const struct wfs_session *session, struct wfs_view *view, const json_t *mind,
	struct agents_origin *origin, json_t **ret_variables, struct wfs_error *error);
