/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a model's reply to a chat is a plan or the answer.
 *
 * Models wrap JSON in fences and prose; the first complete object of the text counts. Nothing is
 * refused here: text that is not a plan is an answer, and wrong plans are refused by
 * wfs_plan_normalize() (normalize.h).
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

/**
 * wfs_plan_reply() - is a reply a plan, or an answer?
 *
 * A plan is an object with `steps` or with calls in `tool_calls`. An object without any of these
 * and with a `final` is an answer: that text. Every other text is an answer, too, without the white
 * space around it. But a text that begins with a plan which breaks off is that plan, and
 * wfs_plan_normalize() refuses it.
 *
 * @text: valid UTF-8
 * @ret_is_plan: true: @ret_text is a plan; false: it is an answer
 * @ret_text: JSON string: the plan as the model wrote it, or the answer; caller owns it
 * Return: 0, -EFBIG (too_large: a plan of more than WFS_PLAN_SOURCE_MAX bytes,
 * kernel/value/bounds.h), -ENOMEM.
 */
int wfs_plan_reply(const char *text, bool *ret_is_plan, json_t **ret_text, struct wfs_error *error);

/** wfs_plan_answer() - get the answer from what a model wrote after the last step of a plan
 *  The answer is `final` of the first object (a value that is not a text: its JSON; null: ""). If
 *  the text has no such object, it is the whole text without the white space around it.
 *  @text: what the model wrote, valid UTF-8
 *  @ret_text: JSON string; caller owns it
 *  Return: 0, -EFBIG (@text has 4 GiB or more), -ENOMEM. */
int wfs_plan_answer(const char *text, json_t **ret_text, struct wfs_error *error);
