/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs, and its dispatcher: finds a verb, checks its payload, judges and runs it. */
#include "fs/verb/verb.h"

#include <string.h>

#include "caps/session.h"
#include "fs/tree/tree.h"
#include "fs/verb/order.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* In the effect column: the session judges each part of the tree as it is read, or the action. */
enum { WFS_EFFECT_PER_READ = WFS_EFFECT_COUNT };

/* One row of the table; static lifetime. */
struct verb {
	const char *name;
	wfs_verb_handler *handler;
	int effect; /* enum wfs_effect, or WFS_EFFECT_PER_READ */
	bool slow;
	enum wfs_order_kind order;
	const char *members; /* NULL: those of the effect, and it gives the effect's receipt */
};

/* The members column of a verb that takes what its effect takes and gives the effect's receipt:
 * both are checked. */
#define AS_EFFECT NULL

/*
 * Members of the payload: `?` marks an optional one. Slow: takes long enough to hold up other
 * verbs, wants a thread that may wait. Order: WFS_ORDER_… of fs/verb/order.h; an `invoke` that is a
 * query is a read.
 */
#define VERB(handler_, name_, effect_, slow_, order_, members_)                            \
	{                                                                                  \
		(name_), wfs_verb_##handler_, (int)(effect_), (slow_), WFS_ORDER_##order_, \
			(members_)                                                         \
	}

static const struct verb verbs[] = {
	VERB(manifest_read, "manifest-read", WFS_EFFECT_INTROSPECT_MANIFEST, false, READ,
		AS_EFFECT),
	VERB(query_state, "query-state", WFS_EFFECT_INTROSPECT_REDUCER_STATE, false, READ,
		AS_EFFECT),
	VERB(list_cells, "list-cells", WFS_EFFECT_INTROSPECT_LIST_CELLS, false, READ, AS_EFFECT),
	VERB(journal_head, "journal-head", WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, false, READ,
		AS_EFFECT),
	VERB(journal_read, "journal-read", WFS_EFFECT_INTROSPECT_JOURNAL, false, READ, AS_EFFECT),
	VERB(turns, "turns", WFS_EFFECT_PER_READ, false, READ, "agent? cursor? limit?"),
	VERB(query, "query", WFS_EFFECT_ACTION_QUERY_KERNEL, true, READ, "query_type params?"),
	VERB(blob_get, "blob-get", WFS_EFFECT_BLOB_GET, true, READ, AS_EFFECT),
	VERB(blob_stat, "blob-stat", WFS_EFFECT_BLOB_GET, false, READ, "hash_hex"),
	VERB(put_blob, "put-blob", WFS_EFFECT_BLOB_PUT, true, CHANGE, AS_EFFECT),
	VERB(invoke, "invoke", WFS_EFFECT_PER_READ, false, CHANGE, "action"),
	VERB(send_event, "send-event", WFS_EFFECT_EVENT_EMIT, false, CHANGE, AS_EFFECT),
	VERB(step, "step", WFS_EFFECT_AGENT_STEP, false, TURN, AS_EFFECT),
	VERB(chat, "chat", WFS_EFFECT_PLAN_RUN, false, TURN,
		"batch_size? max_concurrency? message? plan_id? session_id? wait?"),
	VERB(plans, "plans", WFS_EFFECT_PER_READ, false, READ, "cursor? limit? session_id?"),
	VERB(plan_status, "plan-status", WFS_EFFECT_PER_READ, false, READ, "plan_id? session_id?"),
	VERB(plan_resume, "plan-resume", WFS_EFFECT_PLAN_RUN, false, TURN,
		"plan_id retry_failed? wait?"),
	VERB(plan_cancel, "plan-cancel", WFS_EFFECT_PLAN_CANCEL, false, AT_ONCE, "plan_id"),
	VERB(plan_import, "plan-import", WFS_EFFECT_PLAN_RUN, false, TURN,
		"batch_size? blob max_concurrency? rerun? resume? session_id?"),
	VERB(cancel, "cancel", WFS_EFFECT_AGENT_CANCEL, false, AT_ONCE, AS_EFFECT),
	VERB(approve, "approve", WFS_EFFECT_AGENT_APPROVE, false, AT_ONCE, AS_EFFECT),
	VERB(grant, "grant", WFS_EFFECT_WORLD_GRANT, false, RIGHTS, AS_EFFECT),
	VERB(revoke, "revoke", WFS_EFFECT_WORLD_REVOKE, false, RIGHTS, AS_EFFECT),
	VERB(principal, "principal", WFS_EFFECT_WORLD_PRINCIPAL, false, RIGHTS, AS_EFFECT),
	VERB(apply, "apply", WFS_EFFECT_WORLD_APPLY, true, WORLD, AS_EFFECT),
	VERB(snapshot, "snapshot", WFS_EFFECT_WORLD_SNAPSHOT, true, WORLD, AS_EFFECT),
	VERB(gc, "gc", WFS_EFFECT_WORLD_GC, true, WORLD, AS_EFFECT),
	VERB(code, "code", WFS_EFFECT_WORLD_CODE, true, WORLD, AS_EFFECT),
	VERB(mount, "mount", WFS_EFFECT_WORLD_MOUNT, true, WORLD, AS_EFFECT),
	VERB(umount, "umount", WFS_EFFECT_WORLD_MOUNT, true, WORLD, "dir"),
	VERB(status, "status", WFS_EFFECT_INTROSPECT_STATUS, false, READ, AS_EFFECT),
	VERB(metrics, "metrics", WFS_EFFECT_INTROSPECT_STATUS, false, READ, ""),
	VERB(shutdown, "shutdown", WFS_EFFECT_WORLD_SHUTDOWN, false, AT_ONCE, AS_EFFECT),
	VERB(fs_list, "fs-list", WFS_EFFECT_PER_READ, false, READ, "path at? cursor? limit?"),
	VERB(fs_stat, "fs-stat", WFS_EFFECT_PER_READ, false, READ, "path at?"),
	VERB(fs_read, "fs-read", WFS_EFFECT_PER_READ, false, READ, "path at? offset? limit?"),
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* Is the call a query? There is a verb for it, and an action. */
static bool is_query(const char *verb, const json_t *payload)
{
	if (strcmp(verb, "invoke") == 0)
		return wfs_action_effect(json_object_get(payload, "action")) ==
			WFS_EFFECT_ACTION_QUERY_KERNEL;
	return strcmp(verb, "query") == 0;
}

bool wfs_verb_takes_long(const char *verb, const json_t *payload)
{
	const json_t *const action = json_object_get(payload, "action");

	if (is_query(verb, payload))
		return true;
	if (strcmp(verb, "invoke") != 0)
		return false;
	switch (wfs_action_effect(action)) {
	case WFS_EFFECT_ACTION_INVOKE_ARTIFACT:
	case WFS_EFFECT_ACTION_RESOLVE_MINT:
		return true;
	default:
		return !json_object_get(action, "action_type"); /* invoke_artifact */
	}
}

enum wfs_order_kind wfs_order_kind(const char *verb, const json_t *payload)
{
	const struct verb *const found = verb_find(verb);

	return found && !is_query(verb, payload) ? found->order : WFS_ORDER_READ;
}

bool wfs_verb_slow(const char *verb, const json_t *payload)
{
	const struct verb *const found = verb_find(verb);

	return found && (found->slow || is_query(verb, payload));
}

bool wfs_verb_reads_long(const char *verb, const json_t *payload, bool guest)
{
	if (is_query(verb, payload))
		return guest;
	return strcmp(verb, "fs-read") == 0 &&
		wfs_tree_path_takes_long(wfs_json_text(payload, "path"));
}

bool wfs_verb_drives(const char *verb)
{
	const struct verb *const found = verb_find(verb);

	return found &&
		(found->effect == WFS_EFFECT_AGENT_STEP || found->effect == WFS_EFFECT_PLAN_RUN);
}

bool wfs_verb_interruptible(const char *verb)
{
	return wfs_verb_drives(verb) || is_query(verb, NULL);
}

static int refuse_verb(struct wfs_call *call, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(verbs); i++)
		wfs_buffer_printf(&names, " %s", verbs[i].name);
	return wfs_error_set(&call->error, WFS_E_UNKNOWN_METHOD, "no verb '%.60s' (there are:%s)",
		name, wfs_buffer_text(&names));
}

/* Checks the payload for unknown and missing members, and types of members that the effect
 * defines. */
static int check_payload(const struct verb *verb, struct wfs_call *call)
{
	const struct wfs_form *form;

	if (!json_is_object(call->payload))
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"the payload of '%s' is not an object", verb->name);
	if (verb->members) {
		wfs_json_drop_nulls(call->payload, verb->members);
		return wfs_json_members(call->payload, verb->name, verb->members, &call->error);
	}
	form = wfs_effect_params((enum wfs_effect)verb->effect);
	wfs_form_drop_nulls(form, call->payload);
	return wfs_form_read(form, verb->name, call->payload, NULL, &call->error);
}

/* Ends the call after its refusal was recorded. */
static void refusal_recorded(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;

	call->error = request->error;
	wfs_verb_finish(call, request->result);
}

/* Judges a call. Return: 0, WFS_VERB_PENDING (refused; the refusal is being recorded), or
 * -errno. */
static int judge(struct wfs_call *call, enum wfs_effect effect)
{
	struct wfs_request *const request = &call->request;

	if (effect == WFS_EFFECT_WORLD_GRANT || effect == WFS_EFFECT_WORLD_REVOKE)
		/* judged later: a principal that delegates a grant need not be an administrator */
		return 0;
	if (!wfs_effect_acts(effect))
		return wfs_session_judge(call->session, effect, &call->error);
	request->done = refusal_recorded;
	request->context = call;
	int r = wfs_session_admit(call->session, effect, request);
	if (r == WFS_SESSION_REFUSED)
		return WFS_VERB_PENDING;
	call->error = request->error;
	*request = (struct wfs_request){.seq = 0};
	return r;
}

static int run(struct wfs_call *call, const char *name)
{
	const struct verb *const verb = verb_find(name);
	int r;

	if (!verb)
		return refuse_verb(call, name);
	if (!call->payload)
		call->payload = json_object();
	if (!call->payload)
		return -ENOMEM;
	call->effect = (enum wfs_effect)verb->effect;
	call->gives_receipt = !verb->members;
	r = check_payload(verb, call);
	/* A tool call that has begun something was judged before. */
	if (!r && verb->effect < WFS_EFFECT_COUNT && !call->called_by.began)
		r = judge(call, (enum wfs_effect)verb->effect);
	if (r)
		return r;
	call->request.gone = &call->gone;
	return verb->handler(call);
}

void wfs_call_start(struct wfs_call *call, const char *verb)
{
	const int r = run(call, verb);

	if (r != WFS_VERB_PENDING)
		wfs_verb_finish(call, r);
}
