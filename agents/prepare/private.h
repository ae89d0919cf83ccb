/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts (kernel/read/text.h) in what a driver tells the world, and in what it reads for an agent. What
 * the driver hides are rows that the world writes with the request; what it reads it reads as the agent.
 * Thread: any.
 */
#pragma once

#include "caps/session.h"

/* Replaces a reason that may quote a private text, where principals read it that may not read the text. */
#define AGENTS_REASON_LEFT_OUT "the reason is left out, because it may quote a private text"

/**
 * agents_hide_answer() - hide arguments of tool calls whose actions hide theirs
 * If any are hidden, so is the text that the calls were found in, because it repeats them. Arguments
 * that are JSON, but are not taken, are hidden as if they were taken.
 * @tools: expanded, of the run
 * @completion: parsed (wfs_parser_parse); changed
 */
int agents_hide_answer(struct wfs_view *view, const json_t *tools, struct wfs_texts *texts,
	json_t *completion, struct wfs_error *error);

/** agents_reveal() - a copy with the private texts that the principal may read; a note replaces
 *  each other one. @ret_copy: may be @document itself; caller owns it */
int agents_reveal(const struct wfs_session *session, struct wfs_view *view, const json_t *document,
	json_t **ret_copy, struct wfs_error *error);

/* Whose the texts are that something was made of. Plain value; agents_origin_done. */
struct agents_origin {
	json_t *of;   /* ids of private artifacts; owned; NULL: none yet */
	bool nobodys; /* one of the texts is for its principal alone */
};
void agents_origin_done(struct agents_origin *origin);

/** agents_origin_is_private() - is there a principal that may not read all of these texts? */
bool agents_origin_is_private(const struct agents_origin *origin);

/** agents_origin_add() - add the private artifacts that the answer of @action belongs to. */
int agents_origin_add(struct agents_origin *origin, struct wfs_view *view, const json_t *action,
	struct wfs_error *error);

/** agents_origin_add_agent() - add the agent's artifact, if it is private; it has prompts, too. */
int agents_origin_add_agent(struct agents_origin *origin, struct wfs_world *world,
	const char *agent, struct wfs_error *error);

/** agents_origin_add_hidden() - add the artifacts that the stand-ins in a document name.
 *  Return: 0, -ENOMEM. */
int agents_origin_add_hidden(struct agents_origin *origin, const json_t *document);

/**
 * agents_hide_step() - hide what the record of a step would tell of private texts
 * If the step was made of private texts: its messages (but not the one that the asker gave), the
 * arguments of its reflex, and those members of its setup that are texts of the agent.
 * @origin: whose texts the step was made of; the agent's own configuration is added
 * @params: what the asker gave
 * @step: changed
 * Return: 0, -EINVAL (something in the step looks like a stand-in), -ENOMEM, -EIO.
 */
int agents_hide_step(struct wfs_world *world, struct agents_origin *origin, const json_t *params,
	json_t *step, struct wfs_texts *texts, struct wfs_error *error);

/** agents_origin_list() - for wfs_text_hide; caller owns it. NULL without memory. */
json_t *agents_origin_list(const struct agents_origin *origin);
