/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of requests: messages, tools, settings and constraint in the form that OpenAI-compatible
 * servers take.
 *
 * Members without meaning are left out: no `tools` without tools (servers refuse `[]`), and then no
 * `tool_choice` and no `parallel_tool_calls` either. Messages have only members that all servers
 * know.
 * Source: research, sections 22 and 23.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

enum { WFS_FORMAT_NAME_MAX = 64 }; /* bytes of the name of a tool or schema; OpenAI's limit */

/** wfs_format_is_name() - do servers accept this as the name of a tool? @name: may be NULL */
bool wfs_format_is_name(const char *name);

/**
 * wfs_format_offered() - get the offered tools of a setup, in the order of `offered`
 * Return: 0, -EINVAL (a name that servers refuse, two tools of one name, a name offered twice or
 *         without a tool), -ENOMEM; caller owns @ret_tools.
 */
int wfs_format_offered(const json_t *setup, json_t **ret_tools, struct wfs_error *error);

/** wfs_format_messages() - the format_messages of all servers, see struct wfs_adapter. Arguments of
 *  calls are sent back byte for byte; absent ones as `{}`. */
int wfs_format_messages(const json_t *messages, json_t **ret_messages);

/** wfs_format_tools() - the format_tools of all servers, see struct wfs_adapter. */
int wfs_format_tools(const json_t *tools, json_t **ret_tools);

/**
 * wfs_format_request() - make the body of one request
 * Members of the entry's extra_body, and then of the settings' extra_body, replace those of the
 * body; the constraint is set last.
 * @setup, @entry: accepted by wfs_adapter_check()
 * @messages: in the neutral form
 * @stream: request a stream, with usage at its end
 */
int wfs_format_request(const json_t *setup, const json_t *entry, const json_t *messages,
	bool stream, json_t **ret_body, struct wfs_error *error);
