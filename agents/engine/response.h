/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a chat, made from the cells of the chat and its plan.
 * Source: docs/design.md, "Plans".
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/manifest/document.h"

struct wfs_error;
struct wfs_view;

/* Plain value; members may be NULL or zeros, and are owned unless they say otherwise;
 * response_done() ends it, also after a failure of a function below. */
struct response {
	const char *final; /* the answer; borrowed from a member below */
	const char *code;  /* of the failure, borrowed likewise; NULL: the chat has not failed */
	struct wfs_document_chat_message message; /* of the chat */
	struct wfs_document_chat_message reply;
	json_t *details;                /* of the failure, or of results that were left out */
	struct wfs_document_plan state; /* zeros without a plan */
	json_t *results;                /* array: of the plan's steps that called a tool */
	json_t *plan;                   /* as in plans/ID.json, without steps if it is large */
	json_t *checkpoint;             /* {bytes, ok, path, plan_id, status} of plans/ID.json */
};
void response_done(struct response *response);

/** response_has_ended() - is this plan not running: has it ended, or does it wait until a caller
 *  resumes it? */
bool response_has_ended(const struct wfs_document_plan *plan);

/** response_take_plan() - fill a response from a plan for which response_has_ended() is true
 *  @parked: the plan was imported and is not to run yet: the response is then a success
 *  @response: its `state` is set, the rest zeros; gets final, results, plan and checkpoint, and,
 *  unless @parked, if the plan was cancelled or has an error, code and details; caller calls
 *  response_done(), also after a failure
 *  Return: 0, or -errno with @error. */
int response_take_plan(
	struct wfs_view *view, bool parked, struct response *response, struct wfs_error *error);

/** response_take_reply() - fill a response for a chat that a model has answered by a text.
 *  @response: its `message` is set; gets reply and final. Return: 0, or -errno with @error. */
int response_take_reply(struct wfs_view *view, struct response *response, struct wfs_error *error);

/** response_take_failure() - fill a response for a chat that has failed.
 *  @response: its `message` is set, and has the reason; gets code and details, and, if the chat has
 *  a plan, state, plan and checkpoint. Return: 0, or -errno with @error. */
int response_take_failure(
	struct wfs_view *view, struct response *response, struct wfs_error *error);
