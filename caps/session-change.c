/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change the world: judged, charged, and recorded if they are refused. */
#include "caps/caps-impl.h"
#include "caps/session-act.h"

#include "caps/session-turn.h"
#include "caps/session-upkeep.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/read/snapshot.h"
#include "kernel/world/domains.h"

/* --- judging --- */

static enum wfs_effect effect_of(const struct wfs_request *request)
{
	switch (request->kind) {
	case WFS_REQUEST_EVENT:
		return WFS_EFFECT_EVENT_EMIT;
	case WFS_REQUEST_BLOB:
		return WFS_EFFECT_BLOB_PUT;
	case WFS_REQUEST_SNAPSHOT:
		return WFS_EFFECT_WORLD_SNAPSHOT;
	case WFS_REQUEST_GC:
		return WFS_EFFECT_WORLD_GC;
	case WFS_REQUEST_LIFT:
		return WFS_EFFECT_WORLD_CODE;
	case WFS_REQUEST_MANIFEST:
		return WFS_EFFECT_WORLD_APPLY;
	default: /* judged by the function that makes it */
		break;
	}
	wfs_require(false && "a request that is not judged by its kind");
	return WFS_EFFECT_COUNT;
}

/* While the request waits, its grant can end and another policy can come into force: the kernel
 * judges both again before it does what the request says, and counts the call when it is
 * recorded. */
void session_charge(struct wfs_request *request, const struct wfs_question *question,
	const struct wfs_verdict *verdict)
{
	snprintf(request->granted, sizeof(request->granted), "%s", verdict->grant);
	request->granted_until_ns = verdict->until_ns;
	request->granted_mark = *verdict->mark;
	request->granted_height = question->height;
	request->policed = (struct wfs_policed){.asked = true,
		.effect = question->effect,
		.of_any = question->of_any,
		.approved = question->approved};
	if (question->artifact)
		snprintf(request->policed.artifact, sizeof(request->policed.artifact), "%s",
			question->artifact);
	if (question->tool) {
		snprintf(request->policed.tool, sizeof(request->policed.tool), "%s",
			question->tool->name);
		request->policed.hints = question->tool->hints;
	}
	if (verdict->charged)
		snprintf(request->charge, sizeof(request->charge), "%s", verdict->grant);
}

/* Turns the request into one that records its refusal, for the reason in its error. */
static void become_decision(struct wfs_request *request, const struct wfs_question *question,
	const struct wfs_verdict *verdict)
{
	request->kind = WFS_REQUEST_DECISION;
	request->decision =
		(struct wfs_request_decision){.refusal = wfs_verdict_decision(verdict, question)};
}

/*
 * Judges @asked for @request. If it is allowed, calls @begin with the request; if it is refused,
 * turns the request into one that records the refusal and is answered with it, and calls @record.
 * Return: 0 (`done` will be called, or @begin has done it all), or -errno.
 */
static int admit(const struct wfs_session *session, const struct wfs_question *asked,
	struct wfs_request *request, int (*begin)(struct wfs_world *, struct wfs_request *),
	int (*record)(struct wfs_world *, struct wfs_request *))
{
	struct wfs_world *const world = session_world(session);
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = *asked;
	int r = session_rights(session, &rights, &question);

	session_sign(session, request);
	if (r)
		return wfs_error_from_errno(&request->error, r, "judge a request");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	if (verdict.code == WFS_OK) {
		session_charge(request, &question, &verdict);
		return begin(world, request);
	}
	(void)wfs_rights_explain(rights, &question, &verdict, &request->error);
	become_decision(request, &question, &verdict);
	return record(world, request);
}

int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request)
{
	const struct wfs_question question = {.effect = effect_of(request)};

	return admit(session, &question, request, wfs_world_submit, wfs_world_submit);
}

int wfs_session_call(const struct wfs_session *session, struct wfs_request *request)
{
	const struct wfs_question question = {.effect = effect_of(request)};

	return admit(session, &question, request, wfs_world_call, wfs_world_call);
}

static int begin_nothing(struct wfs_world *world, struct wfs_request *request)
{
	(void)world;
	(void)request;
	return 0;
}

static int record_refusal(struct wfs_world *world, struct wfs_request *request)
{
	int r = wfs_world_submit(world, request);

	return r ? r : WFS_SESSION_REFUSED;
}

int session_admit(const struct wfs_session *session, const struct wfs_question *question,
	struct wfs_request *request)
{
	return admit(session, question, request, begin_nothing, record_refusal);
}

int wfs_session_admit(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_request *request)
{
	const struct wfs_question question = {.effect = effect, .of_any = true};

	return session_admit(session, &question, request);
}

/* --- upkeep --- */

int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request)
{
	struct wfs_world *const world = session_world(session);
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT};
	struct wfs_view view = {0};
	int r = wfs_session_judge(session, WFS_EFFECT_WORLD_SNAPSHOT, &request.error);

	if (!r)
		r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, &request.error);
	request.snapshot.height = view.height;
	wfs_view_close(&view);
	if (!r)
		r = wfs_snapshot_hash(wfs_world_store(world), request.snapshot.height, progress,
			context, &request.snapshot.hash, &request.error);
	if (!r)
		r = wfs_session_call(session, &request);
	*ret_request = request;
	return wfs_trace(r);
}

int wfs_session_gc_begin(const struct wfs_session *session, bool keep, uint64_t number,
	struct wfs_gc *gc, struct wfs_error *error)
{
	return wfs_gc_begin(session_world(session), keep, number, gc, error);
}

int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_WORLD_GC, error);

	return r ? r
		 : wfs_gc_advance(session_world(session), gc, wfs_session_principal(session),
			   rows_max, error);
}

int wfs_session_code(const struct wfs_session *session, const struct wfs_hash *lift,
	struct wfs_quarantine_row **ret_rows, size_t *ret_count, struct wfs_error *error)
{
	struct wfs_world *const world = session_world(session);
	struct wfs_request request = {.kind = WFS_REQUEST_LIFT};
	int r = 0;

	if (lift) {
		request.lift = *lift;
		r = wfs_session_call(session, &request);
	} else {
		r = wfs_session_judge(session, WFS_EFFECT_WORLD_CODE, &request.error);
	}
	if (r) {
		*error = request.error;
		return wfs_trace(r);
	}
	r = wfs_quarantine_rows(wfs_world_quarantine(world), ret_rows, ret_count);
	return r ? wfs_error_from_errno(error, r, "list code that crashed") : 0;
}

/* --- grants and principals --- */

/* @action: not used by another request */
int session_act(const struct wfs_session *session, const char *type, json_t *action,
	struct wfs_request *request)
{
	request->kind = WFS_REQUEST_ACTION;
	session_sign(session, request);
	request->action.document = action;
	request->urgent = wfs_action_ends(type); /* it must not wait for what it ends */
	/* Without memory it counts as a request of an ordinary principal. */
	request->administers = request->urgent && session_administers(session) > 0;
	if (json_object_set_new(action, "action_type", json_string(type)) < 0)
		return wfs_error_from_errno(&request->error, -ENOMEM, "make a request");
	return wfs_world_submit(session_world(session), request);
}

int session_admit_act(const struct wfs_session *session, const struct wfs_question *question,
	const char *type, json_t *action, struct wfs_request *request)
{
	int r = session_admit(session, question, request);

	if (r)
		return r == WFS_SESSION_REFUSED ? 0 : r;
	return session_act(session, type, action, request);
}

int session_refuse(const struct wfs_session *session, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_request *request)
{
	session_sign(session, request);
	become_decision(request, question, verdict);
	return wfs_world_submit(session_world(session), request);
}

static int unknown_action(const json_t *action, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer types = {0};
	const char *type;
	int r = wfs_json_get_string(action, "action_type", &type, error);

	if (r)
		return r;
	wfs_action_types(&types);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"Unknown action_type '%.60s'. Valid types: %s", type, wfs_buffer_text(&types));
}

/* @call: the tool call whose action this is, or NULL */
static int act_as(const struct wfs_session *session, const json_t *action,
	struct wfs_session_call *call, struct wfs_request *request)
{
	const enum wfs_effect effect = wfs_action_effect(action);
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = effect};

	if (effect == WFS_EFFECT_COUNT)
		return unknown_action(action, &request->error);
	int r = wfs_action_check_form(action, &request->error);
	if (r)
		return r;
	r = session_rights(session, &rights, &question);
	if (r)
		return wfs_error_from_errno(&request->error, r, "act");
	question.artifact = wfs_action_artifact(action);
	question.approved = call && call->approved;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	session_sign(session, request);
	if (verdict.code != WFS_OK) {
		(void)wfs_rights_explain(rights, &question, &verdict, &request->error);
		if (call && verdict.asks && !call->cannot_wait)
			return session_ask(session, call, &verdict, request);
		return session_refuse(session, &question, &verdict, request);
	}
	session_charge(request, &question, &verdict);
	request->kind = WFS_REQUEST_ACTION;
	request->action.document = action;
	request->action.intent_id = call ? call->intent_id : NULL;
	return wfs_world_submit(session_world(session), request);
}

int wfs_session_act(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request)
{
	return act_as(session, action, NULL, request);
}

int wfs_session_act_called(const struct wfs_session *session, const json_t *action,
	struct wfs_session_call *call, struct wfs_request *request)
{
	return act_as(session, action, call, request);
}

int wfs_session_grant(const struct wfs_session *session, json_t *grant, struct wfs_request *request)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = WFS_EFFECT_WORLD_GRANT};
	const char *from = NULL;
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(&request->error, r, "grant");
	struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	r = wfs_rights_explain(rights, &question, &verdict, &request->error);
	if (verdict.code == WFS_E_NOT_AUTHORIZED)
		r = wfs_rights_cover(rights, &question, grant, &verdict, &from, &request->error);
	if (!r)
		r = wfs_rights_check_params(json_object_get(grant, "params"), &request->error);
	if (r && r != -EINVAL && r != -ENOMEM)
		return session_refuse(session, &question, &verdict, request);
	if (!r && !json_object_get(grant, "params") &&
		json_object_set_new(grant, "params", json_object()) < 0)
		r = -ENOMEM;
	if (!r && from && json_object_set_new(grant, "from", json_string(from)) < 0)
		r = -ENOMEM;
	if (r == -ENOMEM)
		return wfs_error_from_errno(&request->error, r, "grant");
	if (r)
		return r;
	session_charge(request, &question, &verdict);
	return session_act(session, "grant", grant, request);
}

/* Did the principal delegate this grant? Then it may revoke it, whatever its grants and the policy
 * say. While the request waits, another grant may get the name, and the request does not revoke
 * that one.
 * Return: 1, 0, or -ENOMEM. */
static int claim_grant(
	const struct wfs_session *session, const char *name, struct wfs_request *request)
{
	int r = wfs_authority_passed_on(session->authority, name, wfs_session_principal(session),
		&request->granted_mark, &request->granted_height);

	if (r > 0) {
		snprintf(request->granted, sizeof(request->granted), "%s", name);
		request->granted_until_ns = INT64_MAX;
	}
	return r;
}

int wfs_session_revoke(
	const struct wfs_session *session, json_t *revocation, struct wfs_request *request)
{
	const char *const name = json_string_value(json_object_get(revocation, "name"));
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = WFS_EFFECT_WORLD_REVOKE};
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(&request->error, r, "revoke");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	r = wfs_rights_explain(rights, &question, &verdict, &request->error);
	if (!r) {
		session_charge(request, &question, &verdict);
		return session_act(session, "revoke", revocation, request);
	}
	r = claim_grant(session, name ? name : "", request);
	if (r < 0)
		return wfs_error_from_errno(&request->error, r, "revoke");
	return r ? session_act(session, "revoke", revocation, request)
		 : session_refuse(session, &question, &verdict, request);
}

int wfs_session_add_principal(
	const struct wfs_session *session, json_t *principal, struct wfs_request *request)
{
	int r = wfs_session_admit(session, WFS_EFFECT_WORLD_PRINCIPAL, request);

	if (r)
		return r == WFS_SESSION_REFUSED ? 0 : r;
	return session_act(session, "principal", principal, request);
}

int wfs_session_apply(const struct wfs_session *session, const struct wfs_params *params,
	struct wfs_request *request)
{
	const char *const base = params->world_apply.base_manifest_hash;
	int r = base ? wfs_hash_parse(base, strlen(base), &request->manifest.base, &request->error)
		     : 0;

	if (r)
		return r;
	wfs_require(params->effect == WFS_EFFECT_WORLD_APPLY);
	request->kind = WFS_REQUEST_MANIFEST;
	request->manifest.document = (json_t *)params->world_apply.manifest;
	request->manifest.based = base != NULL;
	request->manifest.reason = params->world_apply.reason;
	request->manifest.dry_run = params->world_apply.dry_run;
	return wfs_session_submit(session, request);
}
