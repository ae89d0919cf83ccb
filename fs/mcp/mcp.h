/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of the Model Context Protocol, for one client: tools and resources of one world.
 *
 * Messages go in, lines come out; the descriptors they travel on are fs/mcp/stdio.h's affair. Calls
 * go to the world like commands do, and without an owner the world is open only while one is under
 * way. Source: MCP 2025-06-18 (modelcontextprotocol.io).
 * Thread: one.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "caps/drive.h"
#include "kernel/base/buffer.h"

enum {
	WFS_MCP_MESSAGE_MAX = 16 << 20, /* bytes of one message that comes */
	WFS_MCP_CALLS_MAX = 64,         /* under way; no message is taken while there are as many */
	WFS_MCP_OUTPUT_MAX = 16 << 20,  /* bytes to be sent; the same */
	WFS_MCP_RESOURCE_MAX = 4 << 20, /* bytes of a file that is read as a resource */
	WFS_MCP_RESOURCE_NAMES_MAX = 1000, /* names of a directory that is read as a resource */
	WFS_MCP_RESOURCES_PAGE = 100,      /* reducers on one page of the list of resources */
};

struct wfs_mcp;

/**
 * wfs_mcp_new() - a server that waits for its client's `initialize`
 * @directory: of the world; kept
 * @as: principal to act as; kept, may be NULL
 * @drive: how agents are driven when nobody owns the world; NULL: they are not
 * Return: 0, -ENOMEM.
 */
int wfs_mcp_new(
	const char *directory, const char *as, wfs_driver_start *drive, struct wfs_mcp **ret_mcp);
void wfs_mcp_free(struct wfs_mcp *mcp);
WFS_DEFINE_AUTO(mcp, struct wfs_mcp, wfs_mcp_free)
#define WFS_AUTO_MCP WFS_CLEANUP(wfs_auto_mcp)

/** wfs_mcp_set_wait() - how long an owner of the world may show no reaction. */
void wfs_mcp_set_wait(struct wfs_mcp *mcp, unsigned int wait_ms);

/** wfs_mcp_take() - act on one message, a line without its end. */
void wfs_mcp_take(struct wfs_mcp *mcp, struct wfs_bytes line);

/** wfs_mcp_refuse_long() - answer a message of more than WFS_MCP_MESSAGE_MAX bytes. */
void wfs_mcp_refuse_long(struct wfs_mcp *mcp);

/**
 * wfs_mcp_advance() - send what can be asked, take what was answered; does not wait, but for a
 *                     world that another process is changing
 * Return: true when there is more to do at once.
 */
bool wfs_mcp_advance(struct wfs_mcp *mcp);

/** wfs_mcp_poll() - what to wait for after an advance that said false; fd is -1 for nothing. */
struct pollfd wfs_mcp_poll(const struct wfs_mcp *mcp);

/** wfs_mcp_is_busy() - is a call under way? */
bool wfs_mcp_is_busy(const struct wfs_mcp *mcp);

/** wfs_mcp_is_full() - shall no message be taken, for now? */
bool wfs_mcp_is_full(const struct wfs_mcp *mcp);

/** wfs_mcp_output() - lines to be sent; whoever has sent some removes them. */
struct wfs_buffer *wfs_mcp_output(struct wfs_mcp *mcp);
