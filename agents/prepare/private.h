/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts (kernel/read/text.h) in requests of the driver, and in documents that it reads
 * for an agent. A text that the driver hides is stored with the request that names it; hidden
 * texts are read with the rights of the agent.
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct wfs_error;
struct wfs_session;
struct wfs_texts;
struct wfs_view;

/* Replaces a reason that may quote a private text, for readers that may not read that text. */
#define AGENTS_REASON_LEFT_OUT "the reason is left out, because it may quote a private text"

/**
 * agents_hide_answer() - replace the private texts in a model's answer by stand-ins
 * These are the arguments of each tool call whose action would hide its own arguments, and the text
 * in which such calls were found. Arguments that are JSON but do not fit the tool are hidden as if
 * they did.
 * @view: of the head
 * @tools: of the turn, expanded (tool.h)
 * @texts: gets the texts, which are to be stored with the record of the answer
 * @completion: from wfs_parser_parse() (agents/adapter/parser.h); changed
 * Return: 0, or -errno with @error.
 */
int agents_hide_answer(struct wfs_view *view, const json_t *tools, struct wfs_texts *texts,
	json_t *completion, struct wfs_error *error);

/** agents_reveal() - copy a document, with private texts in place of their stand-ins. A text that
 *  the session's principal may not read, or that the world does not keep, is replaced by a note.
 *  @session: of the agent or, for a step of a plan, of the plan's principal; @view: in which the
 *  document was read
 *  @ret_copy: a new reference, which may be to @document itself. Return: 0, or -errno with
 *  @error. */
int agents_reveal(const struct wfs_session *session, struct wfs_view *view, const json_t *document,
	json_t **ret_copy, struct wfs_error *error);

/* The artifacts that own the texts from which something was made. Plain value; zeros are empty;
 * agents_origin_done() ends it, also after a failure of a function below. */
struct agents_origin {
	json_t *of;   /* ids of private artifacts; owned; NULL: none yet */
	bool nobodys; /* one of the texts belongs to no artifact: its principal alone may read it */
};
void agents_origin_done(struct agents_origin *origin);

/** agents_origin_is_private() - is there a principal that may not read all of the texts for which
 *  @origin stands? */
bool agents_origin_is_private(const struct agents_origin *origin);

/** agents_origin_add() - add to @origin the private artifacts to which the answer to @action (an
 *  action's document) belongs, as they are in @view. Return: 0, or -errno with @error. */
int agents_origin_add(struct agents_origin *origin, struct wfs_view *view, const json_t *action,
	struct wfs_error *error);

/** agents_origin_add_agent() - add the artifact of the agent @agent to @origin, if the artifact is
 *  private. @session: of the agent, or of a principal that has the agent take a turn; only opens
 *  the view of the head that is read: its rights do not matter
 *  Return: 0, or -errno with @error. */
int agents_origin_add_agent(struct agents_origin *origin, const struct wfs_session *session,
	const char *agent, struct wfs_error *error);

/** agents_origin_add_hidden() - add to @origin the artifacts that the stand-ins in a document name;
 *  for a stand-in whose `of` is [], set origin->nobodys. Return: 0, -ENOMEM. */
int agents_origin_add_hidden(struct agents_origin *origin, const json_t *document);

/**
 * agents_hide_step() - replace the private texts in the action `step` by stand-ins
 * If the action was made from private texts, these are hidden: its messages (but not the caller's),
 * the arguments of its reflex, and the texts of the agent in its setup.
 * @session: of the caller that has the agent take a turn
 * @origin: owners of these texts; the agent's own artifact is added
 * @params: of the verb `step`, from the caller
 * @step: the action; changed
 * @texts: gets the texts, which are to be stored with the record of the action
 * Return: 0, -EINVAL (something in the step looks like a stand-in), or another -errno, with @error;
 * @step may then be changed in part.
 */
int agents_hide_step(const struct wfs_session *session, struct agents_origin *origin,
	const json_t *params, json_t *step, struct wfs_texts *texts, struct wfs_error *error);

/** agents_origin_list() - list the ids of the artifacts in @origin, for wfs_text_hide()
 *  (kernel/value/stand-in.h); [] if one of the texts belongs to no artifact, or @origin is empty.
 *  Return: new reference, or NULL without memory. */
json_t *agents_origin_list(const struct agents_origin *origin);
