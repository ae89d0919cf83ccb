/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher of verbs: finds a verb, checks its payload, judges and runs it. */
#include "fs/verb/verb.h"

#include <string.h>

#include "caps/session-tools.h"
#include "caps/session.h"
#include "fs/tree/tree.h"
#include "fs/verb/order.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < verb_count; i++)
		if (strcmp(verb_table[i].name, name) == 0)
			return &verb_table[i];
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
		(found->order == WFS_ORDER_TURN || found->effect == WFS_EFFECT_TOOL_OUTSIDE ||
			found->handler == wfs_verb_tools);
}

bool wfs_verb_interruptible(const char *verb)
{
	return wfs_verb_drives(verb) || is_query(verb, NULL);
}

static int refuse_verb(struct wfs_call *call, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	for (size_t i = 0; i < verb_count; i++)
		wfs_buffer_printf(&names, " %s", verb_table[i].name);
	return wfs_error_set(&call->error, WFS_E_UNKNOWN_METHOD, "no verb '%.60s' (there are:%s)",
		name, wfs_buffer_text(&names));
}

static int check_payload(const struct verb *verb, struct wfs_call *call)
{
	if (!json_is_object(call->payload))
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"the payload of '%s' is not an object", verb->name);
	wfs_form_drop_nulls(verb_params(verb), call->payload);
	return wfs_form_read(verb_params(verb), verb->name, call->payload, NULL, &call->error);
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
	if (effect == WFS_EFFECT_TOOL_OUTSIDE &&
		wfs_session_lists_tools(call->session, &call->error) == 0)
		return 0; /* judged later, with what the server says of the tool */
	if (!wfs_effect_acts(effect))
		return wfs_session_judge(call->session, effect, &call->error);
	request->done = refusal_recorded;
	request->context = call;
	int r = wfs_session_admit(call->session, effect, request);
	if (r == WFS_SESSION_REFUSED)
		return WFS_VERB_PENDING;
	call->error = request->error;
	*request = (struct wfs_request){.id = call->id};
	return r;
}

/* Is the call the owner's to do, if the world is replicated? */
static bool is_owners(const struct wfs_call *call, const struct verb *verb)
{
	return !verb->here && !call->id &&
		(wfs_order_kind(verb->name, call->payload) != WFS_ORDER_READ ||
			wfs_verb_drives(verb->name));
}

static int run(struct wfs_call *call, const char *name)
{
	const struct verb *const verb = verb_find(name);
	struct wfs_host *const host = call->host;
	int r;

	if (!verb)
		return refuse_verb(call, name);
	if (!call->payload)
		call->payload = json_object();
	if (!call->payload)
		return -ENOMEM;
	call->effect = (enum wfs_effect)verb->effect;
	call->answer = verb_answer(verb);
	r = check_payload(verb, call);
	if (!r && host && host->relay && is_owners(call, verb) && host->relay(host, call, name))
		return WFS_VERB_PENDING;
	call->request.id = call->id;
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
