/* SPDX-License-Identifier: Apache-2.0 */
/* Chats and plans: begins and stops them, and reports how far they are. */
#include "caps/caps-impl.h"

#include "caps/session-plan.h"
#include "caps/session-query.h"
#include "kernel/base/json.h"
#include "kernel/read/view-document.h"

static const struct wfs_question run_own = {.effect = WFS_EFFECT_PLAN_RUN};

int wfs_session_chat(const struct wfs_session *session, json_t *chat, struct wfs_request *request)
{
	return session_admit_act(session, &run_own, "chat", chat, request);
}

int wfs_session_plan_import(
	const struct wfs_session *session, json_t *import, struct wfs_request *request)
{
	return session_admit_act(session, &run_own, "import", import, request);
}

int wfs_session_plan_resume(
	const struct wfs_session *session, json_t *resume, struct wfs_request *request)
{
	struct wfs_question question = run_own;
	int r = session_claim_plan(
		session, wfs_json_text(resume, "plan_id"), &question, &request->error);

	return r ? r : session_admit_act(session, &question, "resume", resume, request);
}

int wfs_session_plan_stop(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request)
{
	struct wfs_question question = {.effect = WFS_EFFECT_PLAN_CANCEL};
	const char *const plan_id = json_string_value(json_object_get(stop, "plan_id"));
	int r = 0;

	if (plan_id)
		r = session_claim_plan(session, plan_id, &question, &request->error);
	else
		session_claim_chat(session, wfs_json_text(stop, "chat_id"), &question);
	return r ? r : session_admit_act(session, &question, "stop", stop, request);
}

int wfs_session_leave_plan(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request)
{
	return session_act(session, "stop", stop, request);
}

/* --- reporting --- */

/* Finds the newest message that is not from a model.
 * @id: of the chat; replaced by the message's id */
static int newest_message(struct wfs_view *view, struct wfs_buffer *id,
	struct wfs_document_chat_message *ret_message, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_chat chat;
	const size_t size = id->size;
	int r = wfs_view_read_chat(view, wfs_buffer_text(id), &chat, error);

	for (int64_t n = chat.messages; !r && n > 0; n--) {
		wfs_document_done(ret_message);
		id->size = size;
		wfs_buffer_printf(id, ".%lld", (long long)n - 1);
		r = wfs_buffer_check(id);
		if (!r)
			r = wfs_view_read_chat_message(
				view, wfs_buffer_text(id), ret_message, error);
		if (!r && strcmp(ret_message->role, "user") == 0)
			return 0;
	}
	return r ? r : -ENOENT;
}

int wfs_session_chat_status(const struct wfs_session *session, struct wfs_view *view,
	const char *session_id, json_t **ret_status)
{
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_chat_message message = {.role = NULL};
	WFS_AUTO_JSON json_t *plan = NULL;
	struct wfs_error ignored;

	wfs_buffer_printf(&id, "%s+%s", wfs_session_principal(session), session_id);
	int r = wfs_buffer_check(&id);
	if (!r)
		r = newest_message(view, &id, &message, &ignored);
	if (r)
		return r;
	if (message.plan_id)
		r = wfs_session_plan(session, view, wfs_bytes_text(message.plan_id), &plan);
	if (r && r != -ENOENT)
		return r;
	*ret_status = json_pack("{s:s, s:O?, s:s}", "chat_id", wfs_buffer_text(&id), "plan", plan,
		"status", message.status ? message.status : "");
	return *ret_status ? 0 : -ENOMEM;
}
