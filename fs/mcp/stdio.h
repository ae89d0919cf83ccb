/* SPDX-License-Identifier: Apache-2.0 */
/* The stdio transport of the Model Context Protocol: one message a line, both ways. */
#pragma once

#include "fs/mcp/mcp.h"
#include "kernel/base/error.h"

/**
 * wfs_mcp_serve() - serve the client at these descriptors until @input_fd is at its end
 *
 * Before this function returns, open calls are done and answered. Blank lines are ignored; a line
 * that is too long is refused, and reading continues with the next.
 * The caller must ignore SIGPIPE.
 * Return: 0 (also if the client stopped reading after it had all answers), -EPIPE (it stopped
 * before that), or another -errno; with @error. Calls that are still open stay with @mcp.
 */
int wfs_mcp_serve(struct wfs_mcp *mcp, int input_fd, int output_fd, struct wfs_error *error);
