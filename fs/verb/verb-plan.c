/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about chats and plans. */
#include "caps/session-plan.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* --- asking for a plan --- */

/* The directory of a mount of the session's principal or, if it is an administrator, of any
 * principal.
 * @mounts: of the host's status. Return: NULL: no mount that the principal may know. */
static const char *mounted_at(const json_t *mounts, const struct wfs_session *session)
{
	const char *const principal = wfs_session_principal(session);
	const char *directory = NULL;
	size_t i;
	const json_t *mount;

	json_array_foreach(mounts, i, mount) {
		if (strcmp(wfs_json_text(mount, "principal"), principal) == 0)
			return wfs_json_text(mount, "directory");
		if (!directory)
			directory = wfs_json_text(mount, "directory");
	}
	return directory && wfs_session_may(session, WFS_EFFECT_WORLD_MOUNT) ? directory : NULL;
}

/* Sets the path of a checkpoint to that of its file in a mount that the principal may know. */
static void set_path(const struct wfs_call *call, json_t *response)
{
	json_t *const checkpoint = json_object_get(response, "checkpoint");
	WFS_AUTO_JSON json_t *status = json_pack("{s:[]}", "mounts");
	const char *directory;

	if (!json_is_object(checkpoint) || !call->host || !call->host->status || !status)
		return;
	call->host->status(call->host, status);
	directory = mounted_at(json_object_get(status, "mounts"), call->session);
	if (directory)
		(void)json_object_set_new(checkpoint, "path",
			json_sprintf("%s/plans/%s.json", directory,
				wfs_json_text(checkpoint, "plan_id")));
}

static void planned(struct wfs_drive *drive)
{
	set_path(drive->context, drive->result);
	wfs_verb_driven(drive);
}

/* Does this code come from grants and the policy only? Then the message reads alike for a plan of
 * another principal and for one that does not exist. */
static bool is_refusal(enum wfs_error_code code)
{
	return code == WFS_E_NOT_AUTHORIZED || code == WFS_E_POLICY_DENIED || code == WFS_E_EXPIRED;
}

/* The caller does not see the plan: it learns whether the plan succeeded, and figures, but gets no
 * text of the plan. */
static void withhold(struct wfs_drive *drive)
{
	static const char *const texts[] = {"checkpoint", "details", "plan", "session_id"};
	json_t *const response = drive->result;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++)
		(void)json_object_del(response, texts[i]);
	if (response &&
		(json_object_set_new(response, "final", json_string("")) < 0 ||
			json_object_set_new(response, "tool_results", json_array()) < 0))
		json_object_clear(response);
	if (drive->status && !is_refusal(drive->error.code))
		(void)wfs_error_set(&drive->error, drive->error.code,
			"the plan did not continue, or did not succeed; only a principal that sees "
			"the plan gets the reason");
}

static void resumed(struct wfs_drive *drive)
{
	const struct wfs_call *const call = drive->context;

	if (wfs_session_gets_plan(call->session, wfs_json_text(call->payload, "plan_id")) <= 0)
		withhold(drive);
	planned(drive);
}

int wfs_verb_chat(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_CHAT, planned);
}

int wfs_verb_plan_import(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_IMPORT, planned);
}

int wfs_verb_plan_resume(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_RESUME, resumed);
}

int wfs_verb_plan_cancel(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_plan_stop);
}

/* --- status --- */

int wfs_verb_plan_status(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	const char *const plan_id = wfs_verb_text(call, "plan_id");
	const char *const session_id = wfs_verb_text(call, "session_id");
	int r;

	if (!plan_id == !session_id)
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"expected one of 'plan_id' and 'session_id'");
	r = wfs_verb_view(call, NULL, &view);
	if (!r)
		r = wfs_session_judge(call->session,
			session_id ? WFS_EFFECT_PLAN_RUN : WFS_EFFECT_INTROSPECT_REDUCER_STATE,
			&call->error);
	if (r)
		return r;
	r = session_id
		? wfs_session_chat_status(call->session, &view, session_id, &call->result)
		: wfs_session_plan(call->session, &view, wfs_bytes_text(plan_id), &call->result);
	if (r != -ENOENT)
		return r;
	return session_id
		? wfs_error_set(
			  &call->error, WFS_E_NOT_FOUND, "Session '%.100s' not found", session_id)
		: wfs_error_set(&call->error, WFS_E_NOT_FOUND, "Plan '%.64s' not found", plan_id);
}
