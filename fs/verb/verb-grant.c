/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that change the manifest and rights: apply, grants, principals. */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static void answered(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;
	json_t *const answer = WFS_STEAL(request->answer);
	int r = request->result;

	if (r) {
		call->error = request->error;
		json_decref(answer);
	} else {
		call->result = answer ? answer : json_object();
		r = call->result ? 0 : -ENOMEM;
	}
	wfs_verb_finish(call, r);
}

/* Return: WFS_VERB_PENDING if the session has taken the request (@r is 0), or -errno. */
static int pending(struct wfs_call *call, int r)
{
	if (!r)
		return WFS_VERB_PENDING;
	call->error = call->request.error;
	return r;
}

static struct wfs_request *request_of(struct wfs_call *call)
{
	call->request.done = answered;
	call->request.context = call;
	return &call->request;
}

int wfs_verb_grant(struct wfs_call *call)
{
	return pending(call, wfs_session_grant(call->session, call->payload, request_of(call)));
}

int wfs_verb_revoke(struct wfs_call *call)
{
	return pending(call, wfs_session_revoke(call->session, call->payload, request_of(call)));
}

int wfs_verb_principal(struct wfs_call *call)
{
	return pending(
		call, wfs_session_add_principal(call->session, call->payload, request_of(call)));
}

int wfs_verb_apply(struct wfs_call *call)
{
	struct wfs_params params;
	int r = wfs_effect_decode(WFS_EFFECT_WORLD_APPLY, call->payload, &params, &call->error);

	return r ? r : pending(call, wfs_session_apply(call->session, &params, request_of(call)));
}
