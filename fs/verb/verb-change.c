/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that change the world: actions, events, snapshots. */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static void event_answered(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;
	int r = request->result;

	if (r) {
		call->error = request->error;
	} else {
		call->result = json_pack("{s:[I]}", "seqs", (json_int_t)request->seq);
		r = call->result ? 0 : -ENOMEM;
	}
	wfs_verb_finish(call, r);
}

int wfs_verb_send_event(struct wfs_call *call)
{
	struct wfs_request *const request = &call->request;
	int r = wfs_json_get_string(call->payload, "schema", &request->schema, &call->error);

	if (r)
		return r;
	request->kind = WFS_REQUEST_EVENT;
	request->value = json_object_get(call->payload, "value");
	request->key = json_object_get(call->payload, "key");
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
	call->result = json_pack("{s:I, s:[I]}", "height", (json_int_t)request->snapshot_height,
		"seqs", (json_int_t)request->seq);
	return call->result
		? wfs_json_set_hash(call->result, "snapshot_hash", &request->snapshot_hash)
		: -ENOMEM;
}

/* Actions of the protocol that nothing in this build performs. */
static const char *const later_actions[] = {"read_artifact", "write_artifact", "edit_artifact",
	"delete_artifact", "invoke_artifact", "query_kernel", "transfer", "transfer_ownership",
	"submit_to_mint", "cancel_mint"};

static int refuse_action(struct wfs_call *call, const char *type)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(later_actions); i++)
		if (strcmp(later_actions[i], type) == 0)
			return wfs_error_set(&call->error, WFS_E_NOT_ENABLED,
				"the action '%s' is not enabled: this world has no artifacts",
				type);
	return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
		"unknown action_type '%.60s' (there is: noop)", type);
}

/* Source: spec 4, "Result"; `meta` is added like to every answer. */
static int noop(struct wfs_call *call)
{
	static const char *const members[] = {"action_type", "reasoning", NULL};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_json_only(json_object_get(call->payload, "action"), members, &call->error);

	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	call->result = json_pack("{s:s, s:n, s:n, s:I, s:s, s:b}", "action_type", "noop", "data",
		"error", "height", (json_int_t)view.height, "message", "nothing was done", "ok", 1);
	return call->result ? 0 : -ENOMEM;
}

int wfs_verb_invoke(struct wfs_call *call)
{
	const json_t *const action = json_object_get(call->payload, "action");
	const char *type = "invoke_artifact"; /* an action that does not say what it is */
	int r = 0;

	if (!json_is_object(action))
		return wfs_error_set(
			&call->error, WFS_E_INVALID_ARGUMENT, "'action': expected an object");
	if (json_object_get(action, "action_type"))
		r = wfs_json_get_string(action, "action_type", &type, &call->error);
	if (r)
		return r;
	return strcmp(type, "noop") == 0 ? noop(call) : refuse_action(call, type);
}
