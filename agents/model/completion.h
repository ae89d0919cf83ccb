/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A completion: what a model answered, in the one form that the rest knows.
 *
 *   {"content": text | null,
 *    "tool_calls": [{"id"?: text, "name"?: text, "arguments"?: raw text}],
 *    "finish_reason": text | null,
 *    "usage": {"prompt_tokens", "completion_tokens", "total_tokens"} | null,
 *    "model"?: text}
 *
 * `arguments` is what the server sent, byte for byte, and may be anything: nobody here judges it. Where
 * the server sent a value instead of a text, it is that value's canonical JSON. A call without a name
 * stays in the list. A refusal is content when there is no other, and finishes as content_filter.
 */
#pragma once

#include <jansson.h>

#include "agents/model/failure.h"

enum { WFS_COMPLETION_CALLS_MAX = 1024 }; /* tool calls of one completion */

/* What a completion is made of. Plain value; all borrowed, NULL: absent. */
struct wfs_completion_parts {
	json_t *content; /* text */
	json_t *refusal; /* text */
	json_t *tool_calls;
	json_t *finish_reason; /* text */
	json_t *usage;         /* as the server sent it */
	json_t *model;         /* text */
};

/**
 * wfs_completion_new() - put one together; what has a wrong type is taken as absent
 * Return: 0, or -ENOMEM.
 */
int wfs_completion_new(const struct wfs_completion_parts *parts, json_t **ret_completion);

/**
 * wfs_completion_call_add() - add one call to a list of them
 * @id, @name: texts; anything else, also an empty text, counts as absent
 * @arguments: any value; NULL or null: absent
 * Return: 0, or -ENOMEM.
 */
int wfs_completion_call_add(json_t *tool_calls, json_t *id, json_t *name, json_t *arguments);

/** wfs_completion_too_many() - Return: -EBADMSG, @failure says how many calls there may be. */
int wfs_completion_too_many(struct wfs_model_failure *failure);

/**
 * wfs_completion_read() - the completion in a plain answer
 * @answer: parsed, and without an error in it
 * Return: 0, -EBADMSG (@failure says what was expected and what came), -ENOMEM.
 */
int wfs_completion_read(
	const json_t *answer, json_t **ret_completion, struct wfs_model_failure *failure);
