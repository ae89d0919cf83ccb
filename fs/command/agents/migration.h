/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes artifacts of the inline parts of an agent's configuration, which then names them. The
 * agent's next turn has the same messages as before, byte for byte.
 *
 *   llm_model                   model
 *   system_prompt               ID_personality, a prompt
 *   workflow                    ID_workflow
 *   prompt_inline of a step,
 *   prompts                     ID_STATE_prompt, a prompt that the step names
 *   prompt                      ID_acting_prompt, in a workflow with the one state `acting`
 *
 * A part beside a reference is the fallback for when the referenced artifact is missing, so it
 * stays. No text is kept in two places: otherwise a principal that should pay for the prompt could
 * read it in the workflow.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

/* Plain value; owned. */
struct wfs_migration {
	json_t *artifacts; /* [{artifact_id, content, type}], each before those that name it */
	json_t *content;   /* new content of the agent */
	json_t *kept;      /* names of members that stay inline */
	bool changes;      /* the content differs */
};
void wfs_migration_done(struct wfs_migration *migration);
#define WFS_AUTO_MIGRATION WFS_CLEANUP(wfs_migration_done)

/** wfs_migration_make() - compute which artifacts to make, and the agent's new content
 *  @agent: its id
 *  @content: its configuration, any JSON; borrowed
 *  @ret_migration: caller calls wfs_migration_done(); unchanged on failure
 *  Return: 0, -EINVAL (invalid_argument: @content is not an object, a part is malformed, or the id
 *  of an artifact would be invalid), -EFBIG (too_large: a prompt), -ENOMEM. */
int wfs_migration_make(const char *agent, const json_t *content,
	struct wfs_migration *ret_migration, struct wfs_error *error);
