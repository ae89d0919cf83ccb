/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that servers outside of the world have listed. The world's driver sets the list, which
 * is in no record; every reader gets the part of it that its principal may call.
 *
 * A list is {servers: [{name, reason, state}, …], tools: [{annotations, description, hash, name,
 * schema}, …]}, each sorted by name. A tool's `name` is its full name (kernel/value/tool.h).
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/error.h"
#include "kernel/value/tool.h"

enum { WFS_LISTED_BITS = 56 }; /* of the number of a tool or server in the list */

struct wfs_authority;
struct wfs_session;

/** wfs_authority_set_tools() - set the list of a world, and have watchers of rights notified of it
 *  (wfs_rights_watcher.listed in caps/authority.h), without waiting for that. @list: taken, also on
 *  failure; nothing else may change it; NULL: nothing is listed any more. Return: 0, -ENOMEM: the
 *  list stays as it was. */
int wfs_authority_set_tools(struct wfs_authority *authority, json_t *list);

/** wfs_session_tools() - get the part of the list that the session may know: tools by
 *  wfs_session_sees_tool() (caps/session-outside.h), and servers of which it sees a tool, or would
 *  see any tool that they list
 *  @ret_list: set on success; a list whose arrays may be empty; shares no JSON value with another;
 *             caller owns it
 *  Return: 0, -ENOMEM. */
int wfs_session_tools(const struct wfs_session *session, json_t **ret_list);

/** wfs_session_is_tool() - does the full name @name begin with the name of a server of the list,
 *  and do grants of the session's principal cover @name? Then the caller takes it for the name of a
 *  tool of this server, even if the server has not listed its tools yet. Return: 1, 0, -ENOMEM. */
int wfs_session_is_tool(const struct wfs_session *session, const char *name);

/** wfs_session_tool() - get one tool of the list that the session may know. @name: its full name.
 *  @ret_tool: set on success: a copy of its element of `tools` in the list; caller owns it. Return:
 *  0, -ENOENT (no such tool is listed, or the session may not know it), -ENOMEM. */
int wfs_session_tool(const struct wfs_session *session, const char *name, json_t **ret_tool);

/** wfs_authority_tool() - get one tool of the list, without judging: for a driver that then has a
 *  call of the tool judged. @name, @ret_tool: as for wfs_session_tool(). Return: 0, -ENOENT (no
 *  such tool is listed), -ENOMEM. */
int wfs_authority_tool(struct wfs_authority *authority, const char *name, json_t **ret_tool);

/** wfs_session_lists_tools() - may the session get the list at all: are there grants and a policy
 *  by which it might call some tool, at least after an approval or with more budget? Return: 0
 *  (yes), or with @error: -EACCES (no; counted), -EOPNOTSUPP (not_enabled: the world's manifest
 *  does not have outside tools), -ENOMEM. */
int wfs_session_lists_tools(const struct wfs_session *session, struct wfs_error *error);

/*
 * The list as a tree of servers and tools. A server or tool has a number from 1 to
 * 2^WFS_LISTED_BITS - 1: that of a server is computed from its name, that of a tool from its
 * element of `tools`. As long as these do not change, neither does the number.
 */

/* A server that has listed tools. Plain value. */
struct wfs_listed_server {
	uint64_t number;
	char name[WFS_TOOL_SERVER_MAX + 1];
};

/** wfs_session_server() - find the server with the name @name, if the session sees a tool of it.
 *  Return: 0, -ENOENT (no such server), -ENOMEM. */
int wfs_session_server(
	const struct wfs_session *session, const char *name, struct wfs_listed_server *ret_server);

/** wfs_session_server_from() - find the server with the lowest number, from @number on, of which
 *  the session sees a tool. Return: 0, -ENOENT (no such server), -ENOMEM. */
int wfs_session_server_from(
	const struct wfs_session *session, uint64_t number, struct wfs_listed_server *ret_server);

/** wfs_session_tool_from() - get that tool of a server which has the lowest number, from @number
 *  on, of those that the session sees. @server: its name; @ret_tool: as for wfs_session_tool()
 *  Return: 0, -ENOENT (no such tool), -ENOMEM. */
int wfs_session_tool_from(
	const struct wfs_session *session, const char *server, uint64_t number, json_t **ret_tool);

/** wfs_session_tool_numbered() - get the tool with the number @number, if the session sees it.
 *  @ret_tool: as for wfs_session_tool(). Return: 0, -ENOENT (no such tool, or it is not seen),
 *  -ENOMEM. */
int wfs_session_tool_numbered(
	const struct wfs_session *session, uint64_t number, json_t **ret_tool);

/** wfs_tool_number() - compute the number of a tool. @tool: as in a list. Return: 0 without
 *  memory. */
uint64_t wfs_tool_number(const json_t *tool);

/** wfs_tools_pin() - get the hashes of the tools that a grant would cover
 *  @params: of the grant, which may have `tools`; NULL: {}
 *  @list: a list, with what the principal that makes the grant may know; borrowed
 *  @ret_pinned: {full name: hash}, for the param `pinned` of the grant; set on success; caller owns
 *  it
 *  Return: 0, -ENOENT (not_found: the grant would cover none), -EAGAIN (unavailable: a server of
 *  which it might cover tools has not listed any), -EINVAL (invalid_argument: `tools` of @params),
 *  -ENOMEM. */
int wfs_tools_pin(
	const json_t *params, const json_t *list, json_t **ret_pinned, struct wfs_error *error);
