/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The router: what the call of a tool means, whoever makes it. A call is {args, method, name}; it gets
 * the one name that the tool has, and the tool is found by that.
 *
 * What a tool gives is told as {details, error, method, name, ok, result}, always all of them.
 * Source: seed 3, "ToolRouter"; spec 6.
 * Thread: any.
 */
#pragma once

#include "agents/prepare/tool.h"

/**
 * agents_router_canonical() - a call with the one name of its tool
 * Name and method are trimmed, and aliases replaced. What is canonical stays as it is.
 * Return: new reference, or NULL without memory.
 */
json_t *agents_router_canonical(const json_t *call);

/** agents_router_name() - the one name of a tool that is called by this; borrowed, or static. */
const char *agents_router_name(const char *name);

/**
 * agents_router_tool() - one tool or question that a step may call, expanded
 * Return: as agents_tool_make.
 */
int agents_router_tool(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error);

/**
 * agents_router_find() - the tool of a canonical call, expanded
 * @call: its args become those that the tool takes
 * @ret_outcome: when there is none: what is told; caller owns it
 * @ret_tool: caller owns it
 * Return: 0, -ENOENT or -EINVAL with an outcome, or another -errno with @error.
 */
int agents_router_find(const struct agents_catalog *catalog, json_t *call, json_t **ret_tool,
	json_t **ret_outcome, struct wfs_error *error);

/** agents_router_done() - the outcome of a call that gave @result, which says itself whether it failed.
 *  @result: a reference is kept. NULL without memory. */
json_t *agents_router_done(const json_t *call, json_t *result);

/** agents_router_failed() - the outcome of one that failed. @code: one of WFS_TOOL_…; @type, @message: its
 *  details. NULL without memory. */
json_t *agents_router_failed(
	const json_t *call, const char *code, const char *type, const char *message);

/** agents_router_names() - names of all tools and questions but artifacts, sorted. NULL without memory. */
json_t *agents_router_names(const struct wfs_helpers *helpers);
