/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a chat, made from the cells of the chat and its plan.
 * Source: docs/design.md, "Plans".
 */
#pragma once

#include "caps/session.h"

/* Plain value; each may be NULL. Values are owned. */
struct response {
	const char *final; /* borrowed from a member below, as is `code` */
	const char *code;  /* of the failure; NULL: it has not failed */
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

/** response_has_ended() - has a plan in this state ended, or does it wait to be resumed? */
bool response_has_ended(const json_t *state);

/**
 * response_take_plan() - the answer of a plan that has ended
 * @state: taken
 * @parked: an imported plan that is not to run yet: its steps are not failures
 */
int response_take_plan(struct wfs_view *view, json_t *state, bool parked, struct response *response,
	struct wfs_error *error);

/** response_take_reply() - the answer to a chat whose `message` was answered by a text. */
int response_take_reply(struct wfs_view *view, struct response *response, struct wfs_error *error);

/** response_take_failure() - the answer to a chat whose `message` says why it failed. */
int response_take_failure(
	struct wfs_view *view, struct response *response, struct wfs_error *error);
