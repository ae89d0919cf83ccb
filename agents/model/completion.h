/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A completion: what a model answered, in the form that all other code uses.
 *
 *   {"content": text | null,
 *    "tool_calls": [{"id"?: text, "name"?: text, "arguments"?: raw text}],
 *    "finish_reason": text | null,
 *    "usage": {"prompt_tokens", "completion_tokens", "total_tokens"} | null,
 *    "model"?: text}
 *
 * `arguments` is what the server sent, byte for byte, and is not checked here. If the server sent a
 * value instead of a text, `arguments` is the canonical JSON of this value. A call without a name
 * stays in the list. A refusal becomes the content if the server sent no content, and the
 * finish_reason is then content_filter.
 */
#pragma once

#include <jansson.h>

#include "agents/model/failure.h"

enum { WFS_COMPLETION_CALLS_MAX = 1024 }; /* tool calls of one completion */

/* The parts of a completion. Plain value; all borrowed, NULL: absent. */
struct wfs_completion_parts {
	json_t *content; /* text */
	json_t *refusal; /* text */
	json_t *tool_calls;
	json_t *finish_reason; /* text */
	json_t *usage;         /* as the server sent it */
	json_t *model;         /* text */
};

/** wfs_completion_new() - make a completion; caller owns it
 *  @parts: those of a wrong type count as absent; references to the others are added
 *  Return: 0, or -ENOMEM. */
int wfs_completion_new(const struct wfs_completion_parts *parts, json_t **ret_completion);

/** wfs_completion_call_add() - append a call to a list of tool calls
 *  @id, @name: borrowed; values other than texts, and empty texts, count as absent
 *  @arguments: any value, borrowed; NULL or null: absent
 *  Return: 0, or -ENOMEM. */
int wfs_completion_call_add(json_t *tool_calls, json_t *id, json_t *name, json_t *arguments);

/** wfs_completion_too_many() - fill @failure: the answer has more than WFS_COMPLETION_CALLS_MAX
 *  calls. Return: -EBADMSG. */
int wfs_completion_too_many(struct wfs_model_failure *failure);

/** wfs_completion_read() - read the completion from an answer that is not a stream
 *  @answer: the parsed body, in which wfs_model_failure_find() (failure.h) has found no error
 *  @ret_completion: caller owns it
 *  Return: 0, -EBADMSG (@failure says what was expected and what came), -ENOMEM. */
int wfs_completion_read(
	const json_t *answer, json_t **ret_completion, struct wfs_model_failure *failure);
