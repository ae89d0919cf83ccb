/* SPDX-License-Identifier: Apache-2.0 */
/* mcp: a command for programs that run models. */
#include <signal.h>
#include <unistd.h>

#include "fs/command/agents/commands.h"
#include "fs/mcp/stdio.h"

int wfs_run_mcp(struct wfs_run *run)
{
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	WFS_AUTO_JSON json_t *head = NULL;
	/* Errors of the world, and of the way into it for this principal, are reported at once. */
	int r = wfs_run_call(run, "journal-head", NULL, &head);

	if (r == -EACCES)
		r = 0;                           /* the principal may have other rights */
	wfs_access_free(WFS_STEAL(run->access)); /* opened again for the first call */
	json_decref(WFS_STEAL(run->meta));
	if (!r)
		r = wfs_mcp_new(run->directory, run->options[WFS_OPTION_AS], run->drive, &mcp);
	if (r)
		return r;
	wfs_mcp_set_wait(mcp, run->wait_ms);
	wfs_mcp_set_outside(mcp, run->options[WFS_OPTION_WITH_OUTSIDE]);
	(void)signal(SIGPIPE, SIG_IGN); /* a client that went away gives an error of write */
	return wfs_mcp_serve(mcp, STDIN_FILENO, STDOUT_FILENO, &run->error);
}
