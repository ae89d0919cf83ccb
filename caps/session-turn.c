/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of agents: begins, cancels and approves, and does what drivers need for agents. */
#include "caps/caps-impl.h"
#include "caps/session-act.h"

#include "caps/session-read.h"
#include "caps/session-turn.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/read/view-document.h"

int wfs_session_admit_step(
	const struct wfs_session *session, const char *agent, struct wfs_request *request)
{
	const struct wfs_question question = {.effect = WFS_EFFECT_AGENT_STEP, .artifact = agent};

	return session_admit(session, &question, request);
}

int wfs_session_find_agent(const struct wfs_session *session, struct wfs_view *view,
	const char *agent, struct wfs_error *error)
{
	const char *const principal = wfs_session_principal(session);
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;
	int r = wfs_view_read_artifact(view, agent, &artifact, error);
	const bool invokes = !r && wfs_artifact_invokes(&artifact, principal) != WFS_ARTIFACT_NO;

	if (invokes && strcmp(artifact.type, WFS_ARTIFACT_TYPE_AGENT) == 0)
		return 0;
	if (!r)
		r = session_sees_file(session, WFS_ENTITY_FILE_META, wfs_bytes_text(agent));
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Agent '%.140s' not found", agent);
	/* If the artifact is seen, the caller reports that it is not an agent. */
	return r || invokes
		? wfs_trace(r)
		: wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			  "'%s' may not invoke '%s' (its access is %.128s), so it cannot have it "
			  "take a turn",
			  principal, agent, artifact.access);
}

int wfs_session_step(const struct wfs_session *session, json_t *step, struct wfs_request *request)
{
	const struct wfs_question question = {
		.effect = WFS_EFFECT_AGENT_STEP, .artifact = wfs_json_text(step, "agent")};

	return session_admit_act(session, &question, "step", step, request);
}

int wfs_session_cancel(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request)
{
	struct wfs_question question = {.effect = WFS_EFFECT_AGENT_CANCEL};
	int r = session_claim_run(
		session, wfs_json_text(cancel, "turn_id"), &question, &request->error);

	return r ? r : session_admit_act(session, &question, "cancel", cancel, request);
}

int wfs_session_wake(const struct wfs_session *session, json_t *wake, struct wfs_request *request)
{
	struct wfs_question question = {.effect = WFS_EFFECT_AGENT_WAKE};
	int r = session_claim_run(
		session, wfs_json_text(wake, "turn_id"), &question, &request->error);

	return r ? r : session_admit_act(session, &question, "wake", wake, request);
}

int wfs_session_suspend_call(
	const struct wfs_session *session, json_t *wait, struct wfs_request *request)
{
	int r = json_object_get(wait, "until_event")
		? wfs_session_judge(session, WFS_EFFECT_INTROSPECT_JOURNAL, &request->error)
		: 0;

	return r ? r : session_act(session, "wait", wait, request);
}

int wfs_session_leave_run(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request)
{
	return session_act(session, "cancel", cancel, request);
}

/*
 * Refuses to approve a call of a run that does not exist, and of another principal's run whose
 * files the principal does not see and whose calls it may not approve. Both refusals are equal,
 * and recorded.
 * @run: NULL: it does not exist
 * Return: 1 (refused: `done` will be called), 0 (@asked is to be judged), or -errno.
 */
static int refuse_unseen(const struct wfs_session *session, const char *run_id,
	const struct wfs_document_turn *run, const struct wfs_question *asked,
	struct wfs_request *request)
{
	struct wfs_verdict verdict = {.code = WFS_E_NOT_FOUND, .rule_index = SIZE_MAX};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = *asked;
	int r = run ? session_sees_file(session, WFS_ENTITY_FILE_STATUS, wfs_bytes_text(run_id))
		    : -ENOENT;

	if (r == 0 || (run && session_is_own_run(session, run)))
		return 0;
	if (r == -ENOENT)
		r = session_rights(session, &rights, &question);
	if (r)
		return wfs_error_from_errno(&request->error, r, "judge an approval");
	if (run && wfs_rights_judge(rights, &question).code == WFS_OK)
		return 0;
	/* The refusal must not tell whether the run exists, so it is judged without the run. */
	question.claim = WFS_CLAIM_OTHERS;
	question.is_barred = NULL;
	question.artifact = NULL;
	const struct wfs_verdict without = wfs_rights_judge(rights, &question);
	if (without.code == WFS_OK) {
		(void)wfs_error_set(
			&request->error, WFS_E_NOT_FOUND, "Turn '%.200s' not found", run_id);
	} else {
		verdict = without;
		(void)wfs_rights_explain(rights, &question, &verdict, &request->error);
	}
	r = session_refuse(session, &question, &verdict, request);
	return r ? r : 1;
}

int wfs_session_approve(
	const struct wfs_session *session, json_t *approve, struct wfs_request *request)
{
	struct wfs_question question = {.effect = WFS_EFFECT_AGENT_APPROVE};
	WFS_CLEANUP(session_approval_done) struct session_approval approval = {.world = NULL};
	const char *const run_id = wfs_json_text(approve, "turn_id");
	int r = session_claim_approval(session, run_id, &question, &approval, &request->error);

	if (!r)
		r = refuse_unseen(session, run_id, approval.run.own.json ? &approval.run : NULL,
			&question, request);
	if (r)
		return r > 0 ? 0 : r;
	return session_admit_act(session, &question, "approve", approve, request);
}

/* --- for agents --- */

/* May the principal invoke it, by grants and policy? Yes, too,
 * if it needs an approval or more budget. */
static int may_invoke(const struct wfs_session *session, const char *id)
{
	struct wfs_question question = {
		.effect = WFS_EFFECT_ACTION_INVOKE_ARTIFACT, .artifact = id};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	int r = session_rights(session, &rights, &question);

	if (r)
		return r;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	return verdict.code == WFS_OK || verdict.code == WFS_E_QUOTA_EXCEEDED || verdict.asks;
}

int wfs_session_offers(const struct wfs_session *session, struct wfs_view *view, const char *id,
	struct wfs_document_artifact *ret_artifact)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;
	struct wfs_error ignored;
	int r = wfs_view_read_artifact(view, id, &artifact, &ignored);

	if (!r)
		r = may_invoke(session, id);
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	const enum wfs_artifact_answer invokes =
		wfs_artifact_invokes(&artifact, wfs_session_principal(session));
	if (invokes == WFS_ARTIFACT_NO)
		return 0;
	r = invokes == WFS_ARTIFACT_CONTRACT
		? session_sees_file(session, WFS_ENTITY_FILE_META, wfs_bytes_text(id))
		: 0;
	if (r)
		return r == -ENOENT ? 0 : r;
	*ret_artifact = artifact;
	artifact.own.json = NULL; /* it is the caller's now */
	return 1;
}

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

int wfs_session_wait_call(const struct wfs_session *session, enum wfs_effect effect,
	const char *artifact, struct wfs_session_call *call, struct wfs_request *request)
{
	struct wfs_question question = {
		.effect = effect, .artifact = artifact, .approved = call->approved};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(&request->error, r, "judge a request");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	if (verdict.code == WFS_OK || !verdict.asks)
		return 0;
	r = session_ask(session, call, &verdict, request);
	return r ? r : 1;
}

void wfs_session_approve_call(struct wfs_session *session, enum wfs_effect effect)
{
	session->approved = true;
	session->approves = effect;
}

int wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request)
{
	request->kind = WFS_REQUEST_RECEIPT;
	session_sign(session, request);
	request->receipt.document = receipt;
	snprintf(request->charge, sizeof(request->charge), "%s", charge);
	return wfs_world_submit(session_world(session), request);
}

int wfs_session_check_journal(const struct wfs_session *session, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_payer payer;
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_payer_find(&view, wfs_session_principal(session), &payer, error);
	return wfs_trace(r ? r : wfs_payer_check(&payer, WFS_PAYER_RECORD_BYTES, error));
}

int wfs_session_has_tokens(const struct wfs_session *session, struct wfs_error *error)
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
	int r = wfs_session_has_tokens(session, &request->error);

	if (!r)
		r = wfs_session_admit(session, WFS_EFFECT_LLM_GENERATE, request);
	if (!r) {
		memcpy(ret_charge, request->charge, WFS_GRANT_NAME_MAX + 1);
		*request = (struct wfs_request){.seq = 0};
	}
	return r;
}
