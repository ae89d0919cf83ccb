/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of requests: messages, tools, settings and constraint as OpenAI-compatible servers take
 * them.
 *
 * A key that would say nothing is left out: no `tools` when there are none (servers refuse `[]`),
 * and then no `tool_choice` and no `parallel_tool_calls` either. Messages carry only members that
 * all servers know.
 * Source: research, sections 22 and 23.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

enum { WFS_FORMAT_NAME_MAX = 64 }; /* bytes of the name of a tool or schema; OpenAI's limit */

/** wfs_format_is_name() - do servers take it as the name of a tool? @name: may be NULL. */
bool wfs_format_is_name(const char *name);

/**
 * wfs_format_offered() - the tools of a setup that are offered, in the order of `offered`
 * Return: 0, -EINVAL (a name that servers refuse, two tools of one name, a name offered twice or
 *         without a tool), -ENOMEM; caller owns @ret_tools.
 */
int wfs_format_offered(const json_t *setup, json_t **ret_tools, struct wfs_error *error);

/** wfs_format_messages() - the format_messages of all servers, see struct wfs_adapter. Arguments of
 *  calls go back byte for byte, as none came: `{}`. */
int wfs_format_messages(const json_t *messages, json_t **ret_messages);

/** wfs_format_tools() - the format_tools of all servers, see struct wfs_adapter. */
int wfs_format_tools(const json_t *tools, json_t **ret_tools);

/**
 * wfs_format_request() - the body of one request
 * The members extra_body of the entry, then of the settings, replace what is there; then comes the
 * constraint.
 * @setup, @entry: that passed wfs_adapter_check()
 * @messages: neutral form
 * @stream: ask for a stream, with usage at its end
 * Return: 0, -EINVAL (as wfs_format_offered), -ENOMEM; caller owns @ret_body.
 */
int wfs_format_request(const json_t *setup, const json_t *entry, const json_t *messages,
	bool stream, json_t **ret_body, struct wfs_error *error);
