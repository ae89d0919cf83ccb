/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the answer of a chat is made of, out of the cells of the chat and its plan.
 * Source: seed 3, "Response Shape"; spec 6, "Chat".
 */
#pragma once

#include "caps/session.h"

/* Plain value; each may be NULL. Values are owned. */
struct response {
	const char *final; /* borrowed from what follows, as the next */
	const char *code;  /* why it failed; NULL: it did not */
	json_t *message;   /* of the chat */
	json_t *reply;
	json_t *details;
	json_t *state; /* of the plan */
	json_t *results;
	json_t *plan;
	json_t *checkpoint;
};
void response_done(struct response *response);

/** response_number() - a member of the plan's state; 0 without a plan. */
int64_t response_number(const struct response *response, const char *member);

/** response_has_ended() - does a plan in this state wait for nothing but somebody who resumes it? */
bool response_has_ended(const json_t *state);

/**
 * response_take_plan() - the answer of a plan that has ended
 * @state: taken
 * @parked: it is not to be run yet, so how far it is, is no failure
 */
int response_take_plan(struct wfs_view *view, json_t *state, bool parked, struct response *response,
	struct wfs_error *error);

/** response_take_reply() - that of a chat whose `message` was answered by a text. */
int response_take_reply(struct wfs_view *view, struct response *response, struct wfs_error *error);

/** response_take_failure() - that of a chat whose `message` says why there is no answer. */
int response_take_failure(
	struct wfs_view *view, struct response *response, struct wfs_error *error);
