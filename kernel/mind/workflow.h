/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflows: states, and for each state a step that says what is asked in it and what comes next.
 *
 * {states[], initial_state?, steps[{state, prompt_artifact_id?, prompt_inline?, transition_mode?,
 * transition_to?, transition_prompt_artifact_id?, transition_conditions?[{to, condition}]}]}; each of
 * them may have a `name` and a `description`, and null is as if it were not there. A state without a step
 * is one with a step that says nothing. Workflows that stand in an agent's own content have the same form.
 * Source: spec 7, "Turn".
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/error.h"

enum {
	WFS_MIND_STATES_MAX = 64,
	WFS_MIND_STATE_NAME_MAX = 64,   /* bytes of [A-Za-z0-9_.-] */
	WFS_MIND_CONDITIONS_MAX = 64,   /* of one step */
	WFS_MIND_CONDITION_MAX = 1024,  /* bytes */
	WFS_MIND_INLINE_MAX = 64 << 10, /* bytes of a prompt that stands in a step */
	WFS_MIND_REFERENCE_MAX = 320,   /* bytes: an artifact's id, `#`, a name in it */
};

/* How a state is left. */
enum wfs_mind_mode {
	WFS_MIND_AUTO,
	WFS_MIND_CONDITION,
	WFS_MIND_LLM,
};

/**
 * wfs_mind_workflow_check() - is it one? All functions below take one that is.
 * Return: 0, -EINVAL (invalid_argument, missing_argument), -EFBIG (too_large), with a message that says
 * where it is wrong, what was expected and what came.
 */
int wfs_mind_workflow_check(const json_t *workflow, struct wfs_error *error);

/** wfs_mind_workflow_initial() - the state that it begins in; borrows @workflow. */
const char *wfs_mind_workflow_initial(const json_t *workflow);

/** wfs_mind_workflow_step() - of a state; borrows @workflow. Return: NULL: it has none. */
const json_t *wfs_mind_workflow_step(const json_t *workflow, const char *state);

/** wfs_mind_workflow_auto() - what follows a state by itself: where its step says, or the next one; behind
 *  the last comes the first. Borrows @workflow. Return: NULL: there is no such state. */
const char *wfs_mind_workflow_auto(const json_t *workflow, const char *state);

/** wfs_mind_step_mode() - @step: of wfs_mind_workflow_step; NULL is as if it said nothing */
enum wfs_mind_mode wfs_mind_step_mode(const json_t *step);
