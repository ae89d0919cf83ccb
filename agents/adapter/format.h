/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of requests: messages, tools, settings and constraint in the form that OpenAI-compatible
 * servers take. A *setup* and an *entry* are those of adapter.h.
 *
 * Members without meaning are left out: no `tools` without tools (servers refuse `[]`), and then no
 * `tool_choice` and no `parallel_tool_calls` either. Messages have only members that all servers
 * know.
 * Source: docs/design.md §11.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

enum { WFS_FORMAT_NAME_MAX = 64 }; /* bytes of the name of a tool or schema; OpenAI's limit */

/** wfs_format_is_name() - do servers accept @name as the name of a tool? NULL: no. */
bool wfs_format_is_name(const char *name);

/** wfs_format_offered() - select the tools that a model is offered
 *  @setup: `tools` has all of an agent's, `offered` the names of those that are selected
 *  @ret_tools: in the order of `offered`; caller owns it
 *  Return: 0, -EINVAL (a name that servers refuse, two tools of one name, a name offered twice or
 *          without a tool), -ENOMEM. */
int wfs_format_offered(const json_t *setup, json_t **ret_tools, struct wfs_error *error);

/** wfs_format_messages() - convert messages to the form of a body; the format_messages of struct
 *  wfs_adapter. Arguments of calls are sent back byte for byte; absent ones as `{}`.
 *  Return: 0, or -ENOMEM; caller owns @ret_messages. */
int wfs_format_messages(const json_t *messages, json_t **ret_messages);

/** wfs_format_tools() - convert offered tools to the form of a body; the format_tools of struct
 *  wfs_adapter. Return: 0, or -ENOMEM; caller owns @ret_tools. */
int wfs_format_tools(const json_t *tools, json_t **ret_tools);

/** wfs_format_request() - make the body of one request
 *  Members of the entry's extra_body, and then of the settings' extra_body, replace those of the
 *  body; the constraint is set last.
 *  @setup, @entry: accepted by wfs_adapter_check() (adapter.h)
 *  @messages: {content, role, tool_calls?, …}, as a turn keeps them
 *  @stream: request a stream, with usage at its end
 *  @ret_body: caller owns it
 *  Return: 0, -ENOMEM, or -EINVAL with @error: @setup or @entry would not be accepted. */
int wfs_format_request(const json_t *setup, const json_t *entry, const json_t *messages,
	bool stream, json_t **ret_body, struct wfs_error *error);
