/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher of verbs: looks up, checks the payload, judges, runs, completes the answer. */
#include "fs/verb/verb.h"

#include <inttypes.h>
#include <string.h>

#include "fs/tree/tree.h"
#include "fs/verb/order.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

/* One row of the table; static lifetime. */
struct verb {
	const char *name;
	int (*handler)(struct wfs_call *call);
	int effect; /* enum wfs_effect, or WFS_EFFECT_PER_READ */
	bool slow;
	enum wfs_order_kind order;
	const char *members; /* NULL: those of the effect, and it gives the effect's receipt */
};

static const struct verb verbs[] = {
#define VERB_ROW(handler_, name_, effect_, slow_, order_, members_) \
	{(name_), wfs_verb_##handler_, (int)(effect_), (slow_), WFS_ORDER_##order_, (members_)},
	WFS_VERBS(VERB_ROW)
#undef VERB_ROW
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* There are two ways to ask the same. */
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

/* Unknown and missing members; of what the effect defines, the types as well. */
static int check_payload(const struct verb *verb, struct wfs_call *call)
{
	const enum wfs_effect effect = (enum wfs_effect)verb->effect;
	struct wfs_params params;
	int r = 0;

	if (!json_is_object(call->payload))
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"the payload of '%s' is not an object", verb->name);
	if (verb->members)
		wfs_json_drop_nulls(call->payload, verb->members);
	else
		wfs_effect_drop_nulls(effect, call->payload);
	r = wfs_json_members(call->payload, verb->name,
		verb->members ? verb->members : wfs_effect_members(effect), &call->error);
	return r || verb->members ? r
				  : wfs_effect_decode(effect, call->payload, &params, &call->error);
}

/* The refusal was recorded. */
static void refusal_recorded(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;

	call->error = request->error;
	wfs_verb_finish(call, request->result);
}

/* Return: 0, WFS_VERB_PENDING (refused, and that is being recorded), or -errno. */
static int judge(struct wfs_call *call, enum wfs_effect effect)
{
	struct wfs_request *const request = &call->request;

	if (effect == WFS_EFFECT_WORLD_GRANT || effect == WFS_EFFECT_WORLD_REVOKE)
		return 0; /* by more than the effect: who passes a grant on is no administrator */
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
	/* A call that was begun was judged before that. */
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

int wfs_verb_meta(struct wfs_call *call, struct wfs_view *view)
{
	struct wfs_meta meta;
	int r = wfs_session_meta(call->session, view, &meta);

	if (r)
		return wfs_error_from_errno(&call->error, r, "read where the world stands");
	json_decref(call->meta);
	call->meta = wfs_meta_document(&meta);
	return call->meta ? 0 : -ENOMEM;
}

/* Errors say where the world stood even when nothing was read, to those who may query anything; best effort. */
static void default_meta(struct wfs_call *call)
{
	struct wfs_error ignored;
	WFS_AUTO_VIEW struct wfs_view view = {0};

	if (call->stranger || !wfs_session_queries(call->session))
		json_decref(WFS_STEAL(call->meta));
	else if (!call->meta &&
		wfs_session_view(call->session, WFS_HEIGHT_HEAD, &view, &ignored) == 0) {
		const struct wfs_error error = call->error;

		(void)wfs_verb_meta(call, &view);
		call->error = error;
	}
}

/* Nothing more can be read or stored: a new owner starts from what is on the disk. */
static void end_owner(struct wfs_host *host)
{
	wfs_log(WFS_LOG_SOCKET, WFS_LOG_ERR,
		"the store must be opened again after a failed write: ending");
	host->shutdown(host);
}

void wfs_verb_finish(struct wfs_call *call, int r)
{
	struct wfs_host *const host = call->host;

	if (!r && call->meta && json_object_set(call->result, "meta", call->meta) < 0)
		r = -ENOMEM;
	if (!r && call->gives_receipt)
		r = wfs_effect_check_receipt(call->effect, call->result, &call->error);
	if (r) {
		json_decref(WFS_STEAL(call->result));
		wfs_read_describe(&call->error, r);
		default_meta(call);
	}
	/* Without a host it is a command, which tells its user. */
	if (r && host && call->error.code == WFS_E_HASH_MISMATCH)
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_ERR, "refused to serve what is damaged: %s",
			call->error.message);
	/* The damage may be in what its principal may not see, and then has a name that it may not see. */
	if (r && call->error.code == WFS_E_HASH_MISMATCH && !wfs_session_sees_all(call->session))
		(void)wfs_error_set(
			&call->error, WFS_E_HASH_MISMATCH, "what is stored does not have its hash");
	if (r == -EACCES && host)
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_INFO, "refused: %s", call->error.message);
	call->status = r;
	call->done(call);
	if (r == -ENOTRECOVERABLE && host)
		end_owner(host);
}

void wfs_call_done(struct wfs_call *call)
{
	if (call->handed_count > 0)
		wfs_handed_close(&call->handed);
	call->handed_count = 0;
	json_decref(WFS_STEAL(call->payload));
	json_decref(WFS_STEAL(call->result));
	json_decref(WFS_STEAL(call->meta));
	json_decref(WFS_STEAL(call->error_details));
}

static json_t *error_document(const struct wfs_call *call)
{
	const struct wfs_error_info *const info = wfs_error_info(call->error.code);

	return json_pack("{s:s, s:s, s:O*, s:s, s:b}", "category", info->category, "code",
		info->name, "details", call->error_details, "message", call->error.message,
		"retriable", (int)info->retriable);
}

json_t *wfs_call_envelope(const struct wfs_call *call, const char *id)
{
	WFS_AUTO_JSON json_t *envelope = json_pack("{s:b}", "ok", (int)(call->status == 0));
	int bad = envelope ? 0 : -1;

	if (id)
		bad |= json_object_set_new(envelope, "id", json_string(id));
	if (call->status == 0) {
		bad |= json_object_set(envelope, "result", call->result);
	} else {
		bad |= json_object_set_new(envelope, "error", error_document(call));
		if (call->meta)
			bad |= json_object_set(envelope, "meta", call->meta);
	}
	return bad ? NULL : WFS_STEAL(envelope);
}
