/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model's reply to a chat is: a plan, or the answer.
 *
 * Models wrap JSON in fences and prose; the first complete object of the text is what counts. Nothing is
 * refused here: what is no plan is an answer, and what is one but a wrong one is for wfs_plan_normalize.
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

/**
 * wfs_plan_reply() - is it a plan?
 *
 * A plan is an object with `steps` or with calls in `tool_calls`. One without any of these and with a
 * `final` is an answer: that text. So is every other text, without the white space around it. A text that begins
 * with a plan that is cut off is that plan, which wfs_plan_normalize() refuses.
 *
 * @text: valid UTF-8
 * @ret_text: JSON string: the plan as the model wrote it, or the answer; caller owns it
 * Return: 0, -EFBIG (too_large: a plan of more than WFS_PLAN_SOURCE_MAX bytes), -ENOMEM.
 */
int wfs_plan_reply(const char *text, bool *ret_is_plan, json_t **ret_text, struct wfs_error *error);

/**
 * wfs_plan_answer() - what the answer stage of a plan gave: `final` of the first object, else all of it
 * @text: valid UTF-8
 * @ret_text: JSON string; caller owns it
 * Return: 0, -EFBIG, -ENOMEM.
 */
int wfs_plan_answer(const char *text, json_t **ret_text, struct wfs_error *error);
