/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about tools of outside servers: calls one, and lists them. */
#include "caps/session-tools.h"
#include "fs/verb/verb-impl.h"

/* Ends a call. Its result is that of a change, which has no meta; the payload of the receipt of a
 * failure says no more than the error. */
static void called(struct wfs_drive *drive)
{
	struct wfs_call *const call = drive->context;

	if (drive->status)
		json_decref(WFS_STEAL(drive->result));
	call->result = drive->result;
	call->error = drive->error;
	wfs_verb_finish(call, drive->status);
}

int wfs_verb_tool(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_TOOL, called);
}

int wfs_verb_tools(struct wfs_call *call)
{
	/* Only a principal that may call some tool has servers started. */
	const int r = wfs_session_lists_tools(call->session, &call->error);

	return r ? r : wfs_verb_drive(call, WFS_DRIVE_TOOLS, wfs_verb_driven);
}
