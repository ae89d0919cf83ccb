/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that change the world: actions, events, snapshots. */
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session-upkeep.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static void event_answered(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;
	int r = request->result;

	if (r) {
		call->error = request->error;
	} else {
		call->result = request->seq == UINT64_MAX
			? json_pack("{s:b, s:[]}", "seen", 1, "seqs")
			: json_pack("{s:[I]}", "seqs", (json_int_t)request->seq);
		r = call->result ? 0 : -ENOMEM;
	}
	wfs_verb_finish(call, r);
}

int wfs_verb_send_event(struct wfs_call *call)
{
	struct wfs_request *const request = &call->request;
	int r;

	request->event.schema = wfs_verb_text(call, "schema");
	request->kind = WFS_REQUEST_EVENT;
	request->event.value = json_object_get(call->payload, "value");
	request->event.key = json_object_get(call->payload, "key");
	request->event.dedup = wfs_verb_text(call, "dedup");
	request->done = event_answered;
	request->context = call;
	r = wfs_session_submit(call->session, request);
	if (r)
		call->error = request->error;
	return r ? r : WFS_VERB_PENDING;
}

int wfs_verb_snapshot(struct wfs_call *call)
{
	struct wfs_request *const request = &call->request;
	int r = wfs_session_snapshot(call->session, NULL, NULL, request);

	if (r) {
		call->error = request->error;
		return r;
	}
	call->result = json_pack("{s:I, s:[I]}", "height", (json_int_t)request->snapshot.height,
		"seqs", (json_int_t)request->seq);
	return call->result
		? wfs_json_set_hash(call->result, "snapshot_hash", &request->snapshot.hash)
		: -ENOMEM;
}

/* --- actions --- */

static int action_result(struct wfs_call *call, const json_t *answer, uint64_t height)
{
	const json_t *const action = json_object_get(call->payload, "action");

	call->result = json_pack("{s:O, s:O, s:n, s:I, s:O, s:b}", "action_type",
		json_object_get(action, "action_type"), "data", json_object_get(answer, "data"),
		"error", "height", (json_int_t)height, "message",
		json_object_get(answer, "message"), "ok", 1);
	return call->result ? 0 : -ENOMEM;
}

/* Makes the result from @answer, which is taken. They share data, which nothing changes any
 * more. */
static int take_answer(struct wfs_call *call, json_t *answer)
{
	const struct wfs_request *const request = &call->request;
	WFS_AUTO_JSON json_t *owned = answer;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = request->result;

	if (r) {
		call->error = request->error;
		call->error_details = WFS_STEAL(owned);
		return r;
	}
	r = wfs_verb_view(call, NULL, &view);
	return r ? r : action_result(call, owned, request->height ? request->height : view.height);
}

static void action_answered(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;

	wfs_verb_finish(call, take_answer(call, WFS_STEAL(request->answer)));
}

/* Answers an `invoke` that is a query: it changes nothing, so the kernel thread need not see it. */
static int ask(struct wfs_call *call, const json_t *action)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_session_query query = {
		.params = json_object_get(action, "params"), .gone = &call->gone};
	json_t *data = NULL;
	int r = wfs_action_check_form(action, &call->error);

	if (!r)
		r = wfs_json_get_string(action, "query_type", &query.type, &call->error);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (!r)
		r = wfs_session_query(call->session, &view, &query, &data, &call->error);
	if (r)
		return r;
	answer = json_pack(
		"{s:o, s:o}", "data", data, "message", json_sprintf("Asked for %s", query.type));
	return answer ? action_result(call, answer, view.height) : -ENOMEM;
}

int wfs_verb_invoke(struct wfs_call *call)
{
	struct wfs_request *const request = &call->request;
	json_t *const action = json_object_get(call->payload, "action");

	/* An action without an `action_type` invokes an artifact. */
	if (!json_object_get(action, "action_type") &&
		json_object_set_new(action, "action_type", json_string("invoke_artifact")) < 0)
		return -ENOMEM;
	if (wfs_action_effect(action) == WFS_EFFECT_ACTION_QUERY_KERNEL)
		return ask(call, action);
	request->done = action_answered;
	request->context = call;
	int r = wfs_session_act(call->session, action, request);
	if (r)
		call->error = request->error;
	return r ? r : WFS_VERB_PENDING;
}
