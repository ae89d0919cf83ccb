/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The router: which tool a call of a plan means, and the outcome of the call. A call is {args,
 * method, name}; aliases in it are replaced by the canonical name of the tool.
 *
 * An outcome is {details, error, method, name, ok, result}, and always has all members.
 * Source: docs/design.md, "Plans".
 * Thread: any.
 */
#pragma once

#include "agents/prepare/tool.h"

/**
 * agents_router_canonical() - a call with the canonical name of its tool
 * Name and method are trimmed, and aliases replaced. A canonical call does not change.
 * Return: new reference, or NULL without memory.
 */
json_t *agents_router_canonical(const json_t *call);

/** agents_router_name() - the canonical name of a tool; @name or static. */
const char *agents_router_name(const char *name);

/**
 * agents_router_tool() - a tool or question that a step may call, expanded
 * Return: as agents_tool_make().
 */
int agents_router_tool(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error);

/**
 * agents_router_find() - the tool of a canonical call, expanded
 * @call: its args become those that the tool takes
 * @ret_outcome: if no tool is found; caller owns it
 * @ret_tool: caller owns it
 * Return: 0, -ENOENT or -EINVAL with an outcome, or another -errno with @error.
 */
int agents_router_find(const struct agents_catalog *catalog, json_t *call, json_t **ret_tool,
	json_t **ret_outcome, struct wfs_error *error);

/** agents_router_done() - the outcome of a call with @result; one with `ok: false` failed.
 *  @result: a reference is kept. NULL without memory. */
json_t *agents_router_done(const json_t *call, json_t *result);

/** agents_router_failed() - the outcome of a call that failed. @code: one of WFS_TOOL_…; @type,
 *  @message: its details. NULL without memory. */
json_t *agents_router_failed(
	const json_t *call, const char *code, const char *type, const char *message);

/** agents_router_names() - sorted names of all tools and questions, without artifacts. NULL without
 *  memory. */
json_t *agents_router_names(const struct wfs_helpers *helpers);
