/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of the Model Context Protocol, for one client: tools and resources of one world.
 *
 * It takes messages and gives lines; fs/mcp/stdio.h moves them. Calls go to the world as those of
 * commands do; without an owner the world is open only while a call is. Source: MCP 2025-06-18
 * (modelcontextprotocol.io).
 * Thread: one.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "caps/drive.h"
#include "kernel/base/buffer.h"

enum {
	WFS_MCP_MESSAGE_MAX = 16 << 20,    /* bytes of one received message */
	WFS_MCP_CALLS_MAX = 64,            /* open calls; with so many, no message is taken */
	WFS_MCP_OUTPUT_MAX = 16 << 20,     /* bytes to be sent; with so many, no message is taken */
	WFS_MCP_RESOURCE_MAX = 4 << 20,    /* bytes of a file that is read as a resource */
	WFS_MCP_RESOURCE_NAMES_MAX = 1000, /* names of a directory that is read as a resource */
	WFS_MCP_RESOURCES_PAGE = 100,      /* reducers on one page of the list of resources */
};

struct wfs_mcp;

/** wfs_mcp_new() - make a server that waits for its client's `initialize`
 *  @directory: of the world; must outlive the server
 *  @as: principal to act as; must outlive the server; NULL: the operator
 *  @drive: starts the driver of agents if the world has no owner; NULL: they are not driven
 *  @ret_mcp: caller frees it with wfs_mcp_free(). Return: 0, -ENOMEM. */
int wfs_mcp_new(
	const char *directory, const char *as, wfs_driver_start *drive, struct wfs_mcp **ret_mcp);
void wfs_mcp_free(struct wfs_mcp *mcp);
WFS_DEFINE_AUTO(mcp, struct wfs_mcp, wfs_mcp_free)
#define WFS_AUTO_MCP WFS_CLEANUP(wfs_auto_mcp)

/** wfs_mcp_set_wait() - set how long, in milliseconds, the owner of the world may show no reaction;
 *  then the calls that wait for it get the error `timeout`. 0, the value of a new server:
 *  WFS_CLIENT_WAIT_MS (fs/client/client.h). */
void wfs_mcp_set_wait(struct wfs_mcp *mcp, unsigned int wait_ms);

/** wfs_mcp_set_outside() - offer the tools of outside servers, too, or do not; a new server does
 *  not. */
void wfs_mcp_set_outside(struct wfs_mcp *mcp, bool outside);

/** wfs_mcp_take() - take one message of the client: append its answer to wfs_mcp_output(), or, if
 *  the world is needed for it, have wfs_mcp_advance() do so later. A notification is not answered.
 *  @line: without its newline; borrowed */
void wfs_mcp_take(struct wfs_mcp *mcp, struct wfs_bytes line);

/** wfs_mcp_refuse_long() - append to wfs_mcp_output() the error for a message of more than
 *  WFS_MCP_MESSAGE_MAX bytes, which the caller has dropped. */
void wfs_mcp_refuse_long(struct wfs_mcp *mcp);

/** wfs_mcp_advance() - send requests to the world, and take answers
 *  Waits for nothing, except while another process is changing the world.
 *  Return: true: call this function again at once. */
bool wfs_mcp_advance(struct wfs_mcp *mcp);

/** wfs_mcp_poll() - get what to poll for after wfs_mcp_advance() has returned false; fd -1:
 *  nothing. */
struct pollfd wfs_mcp_poll(const struct wfs_mcp *mcp);

/** wfs_mcp_is_busy() - has a request of the client not been answered yet? */
bool wfs_mcp_is_busy(const struct wfs_mcp *mcp);

/** wfs_mcp_is_full() - must the caller wait before it calls wfs_mcp_take() again, because too many
 *  calls are open, or too many bytes not sent yet? */
bool wfs_mcp_is_full(const struct wfs_mcp *mcp);

/** wfs_mcp_output() - get the lines to be sent to the client; borrowed; the caller removes what it
 *  has sent. */
struct wfs_buffer *wfs_mcp_output(struct wfs_mcp *mcp);
