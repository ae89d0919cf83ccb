/* SPDX-License-Identifier: Apache-2.0 */
/* Private to caps/: the list of outside tools that an authority keeps (caps/session-tools.h). */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"

struct wfs_authority;
struct wfs_tools;

/** wfs_tools_new() - make a list that does not change any more. @list: its JSON value
 *  (caps/session-tools.h); taken, also on failure. Return: a reference, which the caller drops with
 *  wfs_tools_unref(); NULL without memory. */
struct wfs_tools *wfs_tools_new(json_t *list);

/** wfs_tools_ref(), wfs_tools_unref() - take or drop a reference to a list, which is freed with the
 *  last one; both accept NULL. Return: @tools. Thread: any. */
struct wfs_tools *wfs_tools_ref(struct wfs_tools *tools);
void wfs_tools_unref(struct wfs_tools *tools);
WFS_DEFINE_AUTO(tools, struct wfs_tools, wfs_tools_unref)
#define WFS_AUTO_TOOLS WFS_CLEANUP(wfs_auto_tools)

/* A tool of a list, or a server and where its tools are. Plain value; borrowed. */
struct wfs_tool_place {
	uint64_t number; /* see wfs_session_server() in caps/session-tools.h */
	/* Full name of the tool; of a server: full name of one of its tools, which begins with the
	 * server's name. */
	const char *name;
	const json_t *row; /* the tool's element of `tools`; of a server: NULL */
	size_t begin, end; /* the server's tools are wfs_tools_places()[begin … end - 1] */
};

/** wfs_tools_places() - get the tools of a list, sorted by their servers' names, then by number;
 *  wfs_tools_servers() - get the servers that have tools, sorted by number, with the places of
 *  their tools in the array of wfs_tools_places(). @tools: NULL: an empty list. Return: an array of
 *  @ret_count elements, borrowed until the caller's reference to @tools is dropped. */
const struct wfs_tool_place *wfs_tools_places(const struct wfs_tools *tools, size_t *ret_count);
const struct wfs_tool_place *wfs_tools_servers(const struct wfs_tools *tools, size_t *ret_count);

/** wfs_tool_server_size() - get the size in bytes of the server's name, with which the full name
 *  @name of a tool begins. */
size_t wfs_tool_server_size(const char *name);

/** wfs_tools_list() - get the JSON value of a list (caps/session-tools.h). @tools: may be NULL.
 *  Return: borrowed until the caller's reference to @tools is dropped; NULL: @tools is NULL. */
const json_t *wfs_tools_list(const struct wfs_tools *tools);

/** wfs_authority_tools() - get the list of an authority's world. Return: a reference, which the
 *  caller drops with wfs_tools_unref(); NULL: nothing is listed. */
struct wfs_tools *wfs_authority_tools(struct wfs_authority *authority);

/** wfs_authority_swap_tools() - set the list of an authority's world, and have the authority's
 *  thread notify watchers, without waiting for that. @tools: reference taken; NULL: nothing is
 *  listed. Return: the list that was set earlier, whose reference the caller drops with
 *  wfs_tools_unref(); NULL: none. */
struct wfs_tools *wfs_authority_swap_tools(
	struct wfs_authority *authority, struct wfs_tools *tools);
