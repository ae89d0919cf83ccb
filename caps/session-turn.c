/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of agents: begun and ended for who may drive, and what their drivers do for the agents. */
#include "caps/session-impl.h"

#include "kernel/base/json.h"
#include "kernel/query-run.h"

int wfs_session_step(const struct wfs_session *session, json_t *step, struct wfs_request *request)
{
	return session_admit_act(session, WFS_EFFECT_AGENT_STEP, "step", step, request);
}

int wfs_session_cancel(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request)
{
	return session_admit_act(session, WFS_EFFECT_AGENT_CANCEL, "cancel", cancel, request);
}

int wfs_session_approve(
	const struct wfs_session *session, json_t *approve, struct wfs_request *request)
{
	return session_admit_act(session, WFS_EFFECT_AGENT_APPROVE, "approve", approve, request);
}

/* --- for the agent --- */

void wfs_session_call_done(struct wfs_session_call *call)
{
	json_decref(WFS_STEAL(call->ask));
}

int session_ask(const struct wfs_session *session, struct wfs_session_call *call,
	const struct wfs_verdict *verdict, struct wfs_request *request)
{
	char rule[24];

	snprintf(rule, sizeof(rule), "%zu", verdict->rule_index);
	call->ask = json_pack("{s:s, s:s, s:s}", "intent_id", call->intent_id, "policy",
		verdict->policy, "rule", rule);
	if (!call->ask)
		return wfs_error_from_errno(&request->error, -ENOMEM, "ask for an approval");
	request->error = (struct wfs_error){.code = WFS_OK};
	return session_act(session, "ask", call->ask, request);
}

int wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request)
{
	request->kind = WFS_REQUEST_RECEIPT;
	session_sign(session, request);
	request->receipt = receipt;
	snprintf(request->charge, sizeof(request->charge), "%s", charge);
	return wfs_world_submit(wfs_session_world(session), request);
}

/* Has it used up its tokens? Return: 0, -EDQUOT, … */
static int check_tokens(const struct wfs_session *session, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *resources = NULL;
	const char *const id = wfs_session_principal(session);
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_view_document(&view, WFS_BUILTIN_RESOURCE, id, &resources, error);
	if (r == -ENOENT)
		return 0;
	if (!r && wfs_query_frozen(resources))
		r = wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' is frozen: its quota of llm_tokens is used up", id);
	return wfs_trace(r);
}

int wfs_session_generate(const struct wfs_session *session,
	char ret_charge[static WFS_GRANT_NAME_MAX + 1], struct wfs_request *request)
{
	int r = check_tokens(session, &request->error);

	if (!r)
		r = wfs_session_admit(session, WFS_EFFECT_LLM_GENERATE, request);
	if (!r) {
		memcpy(ret_charge, request->charge, WFS_GRANT_NAME_MAX + 1);
		*request = (struct wfs_request){.seq = 0};
	}
	return r;
}
