/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflows: states, and for each state a step that says what is asked in it and what comes next.
 * An agent with a workflow is in one of its states; at the end of each turn the next state is
 * chosen.
 *
 * {states[], initial_state?, steps[{state, prompt_artifact_id?, prompt_inline?, transition_mode?,
 * transition_to?, transition_prompt_artifact_id?, transition_conditions?[{to, condition}]}]}; each
 * object may also have a `name` and a `description`, and null counts as absent. A state without a
 * step is like one whose step has no members. Workflows in an agent's own content have this form,
 * too.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/error.h"

enum {
	WFS_MIND_STATES_MAX = 64,
	WFS_MIND_STATE_NAME_MAX = 64,   /* bytes of [A-Za-z0-9_.-] */
	WFS_MIND_CONDITIONS_MAX = 64,   /* conditions of one step */
	WFS_MIND_CONDITION_MAX = 1024,  /* bytes */
	WFS_MIND_INLINE_MAX = 64 << 10, /* bytes of a step's prompt_inline */
	WFS_MIND_REFERENCE_MAX = 320,   /* bytes: an artifact's id, `#`, a name in it */
};

/* How the next state is chosen: by order, by conditions, or by the model. */
enum wfs_mind_mode {
	WFS_MIND_AUTO,
	WFS_MIND_CONDITION,
	WFS_MIND_LLM,
};

/** wfs_mind_workflow_check() - check that @workflow, any JSON value, has the form of a workflow,
 *  which the other functions require
 *  Return: 0, -EINVAL (invalid_argument, missing_argument: a member is not valid or missing),
 *  -EFBIG (too_large: a limit above is exceeded), with a message that says where the error is, what
 *  was expected and what came. */
int wfs_mind_workflow_check(const json_t *workflow, struct wfs_error *error);

/** wfs_mind_workflow_initial() - get the state in which a workflow begins: its `initial_state`, or
 *  the first in its list; borrowed from @workflow. */
const char *wfs_mind_workflow_initial(const json_t *workflow);

/** wfs_mind_workflow_step() - get the step of a state; borrowed from @workflow; NULL: the state has
 *  none, or is not one of the workflow. */
const json_t *wfs_mind_workflow_step(const json_t *workflow, const char *state);

/** wfs_mind_workflow_auto() - get the state that follows @state without a decision: the one that
 *  its step names (`transition_to`), or the next in `states`; after the last state, the first
 *  Return: the state, borrowed from @workflow; NULL: @state is not one of the workflow. */
const char *wfs_mind_workflow_auto(const json_t *workflow, const char *state);

/** wfs_mind_step_mode() - get how the state after a step is chosen (`transition_mode`). @step: from
 *  wfs_mind_workflow_step(); NULL, or a step without `transition_mode`, gives WFS_MIND_AUTO */
enum wfs_mind_mode wfs_mind_step_mode(const json_t *step);
