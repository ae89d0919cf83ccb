/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the calls in an answer: those that the server found (native), otherwise those that the
 * model wrote into its text.
 *
 *     <tool_call>{"name":"a","arguments":{"k":1}}</tool_call>
 *     <function=a>{"k":1}</function>            (what a structural_tag makes a model write)
 *     {"action_type":"a","k":1}                 (the whole answer; only of an offered tool)
 *
 * Native calls win, and text beside calls is kept. A tag with other contents becomes a call that
 * cannot be made, without a name or with arguments that are not an object, so that the model gets
 * an error. A tag that is not closed is text. Texts are hostile: work is linear in their size.
 */
#pragma once

#include <jansson.h>

/** wfs_parser_parse() - find the tool calls in a model's answer; the response_parser of all servers
 *  @completion: see agents/model/completion.h; not changed
 *  @offered: array of the names of the request's tools; NULL or []: texts are not searched
 *  @ret_completion: @completion with all calls in `tool_calls` (calls found in the text have no id,
 *                   and their arguments are kept byte for byte); calls that were found in the text
 *                   are removed from `content`, and `raw_content` is the original content then;
 *                   `native_calls_count` is the number of calls that the server found; caller owns
 *                   it
 *  Return: 0, or -ENOMEM. */
int wfs_parser_parse(const json_t *completion, const json_t *offered, json_t **ret_completion);
