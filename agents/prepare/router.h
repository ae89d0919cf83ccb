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

/** agents_router_canonical() - copy a call, with the canonical name of its tool
 *  White space around name and method is removed, and an alias replaced. A canonical call does not
 *  change. A name or method that is absent or not a text becomes ""; absent args become null.
 *  Return: new reference, or NULL without memory. */
json_t *agents_router_canonical(const json_t *call);

/** agents_router_tool() - make the tool, or the question, that a step may call by this name
 *  @name: canonical; @method: of an artifact's interface; "": the first
 *  @ret_tool: expanded (agents/prepare/tool.h); caller owns it
 *  Return: 0, -ENOENT (not_found: no such tool, or the artifact has no such method), -EINVAL (the
 *  artifact is not executable), … */
int agents_router_tool(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error);

/** agents_router_find() - find the tool of a canonical call
 *  @call: changed if its tool is an artifact without an interface: args become {args: [args]}, or
 *  {args: []} if they are empty; args that have a member `args` already stay
 *  @ret_tool: expanded (agents/prepare/tool.h); caller owns it
 *  @ret_outcome: set if -ENOENT or -EINVAL is returned: the outcome of the call, which has failed;
 *  caller owns it
 *  Return: 0, -ENOENT (no tool for steps has this name and method), -EINVAL (no name, or args that
 *  do not fit the tool), or another -errno with @error. */
int agents_router_find(const struct agents_catalog *catalog, json_t *call, json_t **ret_tool,
	json_t **ret_outcome, struct wfs_error *error);

/** agents_router_done() - make the outcome of a call that has given @result. @result: borrowed; if
 *  it has `ok: false`, the outcome is a failure. Return: new reference, or NULL without memory. */
json_t *agents_router_done(const json_t *call, json_t *result);

/** agents_router_failed() - make the outcome of a call that failed. @code: WFS_TOOL_EXCEPTION or
 *  another of these codes (kernel/value/bounds.h); @type: for the details, the name of the error's
 *  code, such as `too_large`, or `unresolved`; @message: for people. Return: new reference, or NULL
 *  without memory. */
json_t *agents_router_failed(
	const json_t *call, const char *code, const char *type, const char *message);

/** agents_router_names() - list the names of all tools and questions of plans, without artifacts.
 *  Return: sorted array, new reference; NULL without memory. */
json_t *agents_router_names(const struct wfs_helpers *helpers);
