/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands inline in an agent's configuration, as artifacts that the configuration names. The agent's
 * next turn has the same messages as before, byte for byte.
 *
 *   llm_model                   model
 *   system_prompt               ID_personality, a prompt
 *   workflow                    ID_workflow
 *   steps' prompt_inline, prompts  ID_STATE_prompt, a prompt that the step names
 *   prompt                      ID_acting_prompt, in a workflow of the one state `acting`
 *
 * What stands beside a reference is what is used when that dangles: it stays where it is. No text is kept
 * in two places: what became an artifact is not inline any more, or whoever is to pay for the prompt would
 * find it in the workflow.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

/* Plain value; owned. */
struct wfs_migration {
	json_t *artifacts; /* [{artifact_id, content, type}], none behind what names it */
	json_t *content;   /* of the agent then */
	json_t *kept;      /* names of members that stay inline */
	bool changes;      /* the content is another one */
};
void wfs_migration_done(struct wfs_migration *migration);
#define WFS_AUTO_MIGRATION WFS_CLEANUP(wfs_migration_done)

/**
 * wfs_migration_make() - what there is to do
 * @agent: its id
 * @content: its configuration, borrowed
 * @ret_migration: caller owns it
 * Return: 0, -EINVAL (invalid_argument: a part has not the form it must have, or an artifact would have no
 * valid id), -EFBIG (too_large: a prompt), -ENOMEM.
 */
int wfs_migration_make(const char *agent, const json_t *content,
	struct wfs_migration *ret_migration, struct wfs_error *error);
