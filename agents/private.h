/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts (kernel/text.h) in what a driver tells the world, and in what it reads for an agent. What
 * the driver hides are rows that the world writes with the request; what it reads it reads as the agent.
 * Thread: any.
 */
#pragma once

#include "caps/session.h"

/**
 * agents_hide_calls() - hide arguments of tool calls whose actions hide theirs
 * @tools: expanded, of the run
 * @calls: array of {arguments, name}; changed
 */
int agents_hide_calls(struct wfs_view *view, const json_t *tools, struct wfs_texts *texts,
	json_t *calls, struct wfs_error *error);

/** agents_reveal() - a document with the texts that the principal may read; a few words stand for others.
 *  @ret_copy: may be @document itself; caller owns it */
int agents_reveal(const struct wfs_session *session, struct wfs_view *view, const json_t *document,
	json_t **ret_copy, struct wfs_error *error);

/* Whose the texts are that something was made of. Plain value; agents_origin_done. */
struct agents_origin {
	json_t *of;   /* ids of private artifacts; owned; NULL: none yet */
	bool nobodys; /* one of the texts is for its principal alone */
};
void agents_origin_done(struct agents_origin *origin);

/** agents_origin_is_private() - may some not read what was made? */
bool agents_origin_is_private(const struct agents_origin *origin);

/** agents_origin_add() - what an action of the agent gives. */
int agents_origin_add(struct agents_origin *origin, struct wfs_view *view, const json_t *action,
	struct wfs_error *error);

/** agents_origin_add_agent() - the configuration of an agent, which has prompts as well. */
int agents_origin_add_agent(struct agents_origin *origin, struct wfs_world *world,
	const char *agent, struct wfs_error *error);

/** agents_origin_add_hidden() - every text that a document hides. Return: 0, -ENOMEM. */
int agents_origin_add_hidden(struct agents_origin *origin, const json_t *document);

/**
 * agents_hide_step() - hide the messages that a run begins with, if they were made of private texts
 * What the asker says stays as it is.
 * @origin: of what was put together; the agent's own configuration is added
 * @params: that the asker gave
 * @step: changed
 */
int agents_hide_step(struct wfs_world *world, struct agents_origin *origin, const json_t *params,
	json_t *step, struct wfs_texts *texts, struct wfs_error *error);

/** agents_origin_list() - for wfs_text_hide; caller owns it. NULL without memory. */
json_t *agents_origin_list(const struct agents_origin *origin);
