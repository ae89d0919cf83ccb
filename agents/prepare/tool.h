/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that an agent can have: actions, helpers that read, act or have others take turns, executable
 * artifacts, and `submit_result`, which ends a run.
 *
 * A run keeps {kind, name} of each, and of an artifact also {artifact_id, description, method,
 * object, parameters}, as they were when it began. Descriptions and parameters of the others are those
 * of the tables here.
 * Source: spec 5, "Tools".
 * Thread: any.
 */
#pragma once

#include "caps/drive.h"
#include "caps/session.h"

#define WFS_TOOL_KIND_ACTION "action"
#define WFS_TOOL_KIND_ACT "act" /* a helper that is an action in another form */
#define WFS_TOOL_KIND_ARTIFACT "artifact"
#define WFS_TOOL_KIND_DRIVE "drive" /* a helper that has others take turns */
#define WFS_TOOL_KIND_READ "read"
#define WFS_TOOL_KIND_RESULT "result"

/* What there is to be called, for one caller. Plain value; borrowed. */
struct agents_catalog {
	const struct wfs_session *caller; /* whose tools they are: what it may not invoke is none */
	struct wfs_view *view;
	const struct wfs_helpers *helpers;
};

/**
 * agents_tools_make() - the tools of an agent, by what its configuration names
 * @names: actions, helpers, submit_result, ids of executable artifacts; or aliases of these (router.h)
 * @ret_tools: array; caller owns it
 * Return: 0, -EINVAL (two of one name), -ENOENT (not_found: there is no such tool), …
 */
int agents_tools_make(const struct agents_catalog *catalog, const json_t *names, json_t **ret_tools,
	struct wfs_error *error);

/**
 * agents_tool_make() - one tool, by its one name
 * @method: of an artifact's interface; "": the first
 * Return: 0, -ENOENT (there is no such tool, or method), -EINVAL (it is not executable), …
 */
int agents_tool_make(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error);

/** agents_tool_find() - the element of an array of tools that has this name; borrowed.
 *  Return: NULL: no element has it. */
json_t *agents_tool_find(const json_t *tools, const char *name);

/** agents_tools_expand() - the same array with description and parameters of each; caller owns it. */
int agents_tools_expand(const struct wfs_helpers *helpers, const json_t *tools, json_t **ret_tools,
	struct wfs_error *error);

/**
 * agents_tool_check() - do these arguments fit the tool?
 * @helpers: check those of a helper that acts
 * @tool: expanded
 * Return: 0, -EINVAL (the message says where and what), -ENOMEM.
 */
int agents_tool_check(const struct wfs_helpers *helpers, const json_t *tool,
	const json_t *arguments, struct wfs_error *error);

/** agents_tool_action() - the action that a call of this tool is; caller owns it. @arguments: fit the tool
 *  Return: 0, -ENOMEM. */
int agents_tool_action(const struct wfs_helpers *helpers, const json_t *tool, json_t *arguments,
	json_t **ret_action, struct wfs_error *error);

/** agents_tool_asked() - the same of arguments that may not fit; all of these are in the action, which says whose
 *  texts they are. NULL without memory. */
json_t *agents_tool_asked(const json_t *tool, json_t *arguments);
