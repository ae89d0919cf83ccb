/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl/artifacts: a file for each artifact, to write its whole new content. See control-content.h.
 *
 * The process that opened the file decides: a content is taken when this process closes its last
 * descriptor of the file. A shell that redirects closes one descriptor at once and keeps another,
 * and the content is not complete then. What other processes write later, and an empty content, is
 * taken at release.
 */
#include <stdio.h>
#include <string.h>

#include "caps/session-entity.h"
#include "caps/session-read.h"
#include "caps/unjudged.h"
#include "fs/control/control-impl.h"

static int artifact_view(const struct wfs_session *session, struct wfs_view *ret_view)
{
	return wfs_session_view(session, WFS_HEIGHT_HEAD, ret_view, NULL);
}

int wfs_control_artifact_find(
	const struct wfs_session *session, const char *name, uint64_t *ret_number)
{
	const struct wfs_bytes id = wfs_bytes_text(name);
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	int r = artifact_view(session, &view);

	if (!r)
		r = wfs_session_entity(session, &view, WFS_ENTITY_ARTIFACT, id, &version);
	return r ? r : wfs_unjudged_entity_number(&view, WFS_ENTITY_ARTIFACT, id, ret_number);
}

int wfs_control_artifact_id(const struct wfs_session *session, uint64_t number, char *ret_id)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	struct wfs_bytes id;
	int r = artifact_view(session, &view);

	if (!r)
		r = wfs_session_entity_at(
			session, &view, WFS_ENTITY_ARTIFACT, number, &id, &version);
	if (!r && id.size > WFS_GRANT_NAME_MAX)
		r = -ENOENT; /* possible in a restored world */
	if (!r)
		snprintf(ret_id, WFS_GRANT_NAME_MAX + 1, "%.*s", (int)id.size,
			(const char *)id.data);
	return r;
}

void wfs_control_artifact_change(struct wfs_control_open *open, const struct wfs_control_op *op)
{
	struct wfs_error error = {0};
	struct wfs_control_call *call;
	int r;

	if (op->kind == WFS_CONTROL_TRUNCATE)
		r = wfs_control_content_truncate(&open->content, op->offset, &error);
	else if (open->flags & O_APPEND)
		r = wfs_control_content_refuse(&open->content,
			"expected the whole new content, got bytes to append; edit_artifact "
			"changes a part of it",
			&error);
	else
		r = wfs_control_content_write(
			&open->content, op->offset, WFS_BYTES(op->data, op->size), &error);
	call = r ? wfs_control_call_new(open) : NULL;
	if (call) {
		call->call.error = error;
		wfs_control_refuse(call, r);
	}
	wfs_control_submitted(open);
}

bool wfs_control_artifact_may_take(const struct wfs_control_open *open, pid_t pid)
{
	/* An empty content is mostly not final: a child may still write all of it. */
	if (open->content.bytes.size == 0)
		return false;
	const int r = wfs_control_holds(pid, open->ino);

	/* If this process lacks descriptors or memory, release takes the content, because more may
	 * come. Of some clients (another user's, or in another namespace) it is never known
	 * whether more comes: their content is taken now, so that they get an answer; the bytes
	 * stay, and more may follow. */
	return r <= 0 && r != -EMFILE && r != -ENFILE && r != -ENOMEM;
}

void wfs_control_artifact_end(struct wfs_control_open *open)
{
	struct wfs_control_call *const call = wfs_control_call_new(open);
	bool submitted = true;
	int r = call ? wfs_control_content_take(
			       &open->content, open->artifact_id, &call->payload, &call->call.error)
		     : -ENOMEM;

	if (r == 0)
		submitted = wfs_control_call_start(open, call);
	else if (call)
		wfs_control_refuse(call, r);
	if (submitted)
		wfs_control_submitted(open);
}
