/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that an agent can have: actions; helpers, which read, act or have other agents take
 * turns; executable artifacts; tools of outside servers; and `submit_result`, which ends a turn.
 *
 * A turn keeps {kind, name} of each, and of an artifact also {artifact_id, description, method,
 * object, parameters}, and of an outside tool {description, outside, parameters}, `outside` being
 * its full name, as they were when the turn began. To expand a tool is to add the description
 * and the parameters that tables of this program have.
 * Source: docs/design.md, "Turns".
 * Thread: any.
 */
#pragma once

#include "caps/drive.h"

#define WFS_TOOL_KIND_ACTION "action"
#define WFS_TOOL_KIND_ACT "act" /* a helper that is an action in another form */
#define WFS_TOOL_KIND_ARTIFACT "artifact"
#define WFS_TOOL_KIND_DRIVE "drive" /* a helper that has another agent take turns */
#define WFS_TOOL_KIND_OUTSIDE "outside"
#define WFS_TOOL_KIND_READ "read"
#define WFS_TOOL_KIND_RESULT "result"
#define WFS_TOOL_KIND_WAIT "wait" /* `wait_until`: the call waits for a time or an event */

/* Where the tools of one caller come from. Plain value; borrowed. */
struct agents_catalog {
	/* Tools that the principal of this session may not call are not found. */
	const struct wfs_session *caller;
	struct wfs_view *view;
	const struct wfs_helpers *helpers;
};

/** agents_tools_make() - make the tools that an agent's configuration names, as a turn keeps them
 *  @names: of actions, helpers, submit_result, outside tools and executable artifacts; or aliases
 *          of these (router.h); NULL or []: @ret_tools is []
 *  @ret_tools: array; caller owns it
 *  Return: 0, -EINVAL (invalid_argument: a name is not a text, or two tools have one name;
 *  invalid_type: an artifact is not executable), -ENOENT (not_found: the caller has no such tool),
 *  or another -errno; with @error. */
int agents_tools_make(const struct agents_catalog *catalog, const json_t *names, json_t **ret_tools,
	struct wfs_error *error);

/** agents_tool_make() - make one tool, as a turn keeps it
 *  @name: its canonical name, see agents_tool_alias()
 *  @method: of an artifact's interface, or a tool's name on the outside server @name; "": the first
 *           method, or @name is the full name of an outside tool
 *  @ret_tool: caller owns it
 *  Return: 0, -ENOENT (not_found: no such tool, or the artifact has no such method), -EINVAL (the
 *  artifact is not executable), … */
int agents_tool_make(const struct agents_catalog *catalog, const char *name, const char *method,
	json_t **ret_tool, struct wfs_error *error);

/** agents_tool_find() - find the tool called @name in an array of tools.
 *  Return: borrowed from @tools; NULL: not found. */
json_t *agents_tool_find(const json_t *tools, const char *name);

/** agents_tool_is() - is @tool of this kind, one of WFS_TOOL_KIND_…? */
bool agents_tool_is(const json_t *tool, const char *kind);

/** agents_tool_alias() - look up an alias of a tool. @name, @method: the two parts of the alias; or
 *  @name is NAME.METHOD, and @method is "". Return: the tool's canonical name, static; NULL: this
 *  is not an alias. */
const char *agents_tool_alias(const char *name, const char *method);

/** agents_tool_expand() - expand one tool. @tool: not changed. @ret_tool: caller owns it.
 *  Return: 0, -EIO (this program does not have the tool, or lacks memory for it), -ENOMEM. */
int agents_tool_expand(const struct wfs_helpers *helpers, json_t *tool, json_t **ret_tool,
	struct wfs_error *error);

/** agents_tools_expand() - expand all tools of an array. @ret_tools: a new array; caller owns it.
 *  Return: as agents_tool_expand(). */
int agents_tools_expand(const struct wfs_helpers *helpers, const json_t *tools, json_t **ret_tools,
	struct wfs_error *error);

/** agents_tool_check() - do these arguments fit the tool?
 *  @helpers: if the tool is a helper, they check its arguments
 *  @tool: expanded
 *  Return: 0, -EINVAL (the message says where and what), -ENOMEM. */
int agents_tool_check(const struct wfs_helpers *helpers, const json_t *tool,
	const json_t *arguments, struct wfs_error *error);

/** agents_tool_action() - make the action that a call of @tool with these arguments is
 *  @tool: expanded, and not of a kind that makes no action: neither WFS_TOOL_KIND_READ nor _DRIVE
 *         nor _OUTSIDE
 *  @arguments: passed agents_tool_check(); the action shares values with them
 *  @ret_action: for a tool called NAME with `action_type` NAME, for an artifact invoke_artifact;
 *               caller owns it
 *  Return: 0, or -errno with @error. */
int agents_tool_action(const struct wfs_helpers *helpers, const json_t *tool, json_t *arguments,
	json_t **ret_action, struct wfs_error *error);

/** agents_tool_asked() - make the action that a call of @tool with these arguments would be, even
 *  if they do not fit the tool; only for finding which texts in the arguments are private. @tool:
 *  as a turn keeps it, or expanded; of a kind that agents_tool_action() takes; @arguments: the
 *  result shares values with them
 *  Return: new reference, or NULL without memory. */
json_t *agents_tool_asked(const json_t *tool, json_t *arguments);
