/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in an answer: those that the server found (native), else those that the model wrote into
 * its text.
 *
 *     <tool_call>{"name":"a","arguments":{"k":1}}</tool_call>
 *     <function=a>{"k":1}</function>            (what a structural_tag makes a model write)
 *     {"action_type":"a","k":1}                 (the whole answer; only of an offered tool)
 *
 * Native calls win, and text beside calls is kept. A tag that holds something else is a call that
 * cannot be made: one without name or with arguments that are no object, so that the model is told.
 * A tag that is not closed is text. Texts are hostile: work is linear in their size.
 * Source: spec 5, "Model client", Parsers.
 */
#pragma once

#include <jansson.h>

/**
 * wfs_parser_parse() - the response_parser of all servers
 * @completion: content, tool_calls and more
 * @offered: names of the tools of the request; without any, texts are not searched
 * @ret_completion: the same with `tool_calls` filled (calls that were found have no id, and the
 *                  text of their arguments byte for byte), their text taken out of `content`,
 *                  `raw_content`: the content as it came, if calls were found in it, and
 *                  `native_calls_count`; caller owns it
 * Return: 0, or -ENOMEM.
 */
int wfs_parser_parse(const json_t *completion, const json_t *offered, json_t **ret_completion);
