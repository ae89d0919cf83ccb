/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/run.h"

#include "agents/engine/outside.h"
#include "agents/prepare/prepare.h"
#include "agents/prepare/private.h"
#include "agents/prepare/setup.h"
#include "caps/session-act.h"
#include "caps/session-turn.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/value/stand-in.h"
#include "kernel/value/tool.h"

enum { TURNS_MAX = 1000 }; /* turns in one request */

/* One request for turns. */
struct runs {
	struct wait wait;
	int64_t left;                /* to begin */
	bool many;                   /* the answer is a list */
	json_t *content;             /* configuration of the agent; owned */
	json_t *step;                /* owned */
	json_t *results;             /* so far; owned */
	struct outside_wait listing; /* of servers whose tools the agent may name */
	size_t listed_count;         /* names of the agent's tools whose servers were waited for */

	/* A thread of libuv reads what the agent refers to. While it reads, no other thread uses
	 * these. */
	uv_work_t preparing;
	struct wfs_session *agent; /* owned */
	json_t *asked;             /* a copy of the params; owned */
	int prepared;
	struct agents_origin origin; /* of what was read */
	struct wfs_texts texts;      /* that the step hides */
	struct wfs_error problem;
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "drive an agent")

static void forget_preparation(struct runs *runs)
{
	wfs_session_free(WFS_STEAL(runs->agent));
	json_decref(WFS_STEAL(runs->content));
	json_decref(WFS_STEAL(runs->asked));
	agents_origin_done(&runs->origin);
	runs->origin = (struct agents_origin){.of = NULL};
}

static void forget_run(struct runs *runs)
{
	forget_preparation(runs);
	wfs_texts_done(&runs->texts);
	json_decref(WFS_STEAL(runs->step));
}

static void done(struct wait *wait)
{
	struct runs *const runs = (struct runs *)wait;

	outside_unwait(&runs->listing);
	forget_run(runs);
	json_decref(WFS_STEAL(runs->results));
}

static void fail(struct wait *wait, int r, struct wfs_error *error)
{
	wait_tell(wait, r, NULL, error);
}

/* --- the end of a run --- */

/* WFS_OK: the turn has done its work. */
static enum wfs_error_code code_of(const json_t *result)
{
	const char *const reason = json_string_value(json_object_get(result, "termination_reason"));
	static const struct {
		const char *reason;
		enum wfs_error_code code;
	} codes[] = {
		{"error", WFS_E_EFFECT_FAILED},
		{"cancelled", WFS_E_CANCELLED},
		{"quota_exceeded", WFS_E_QUOTA_EXCEEDED},
		{"timeout", WFS_E_TIMEOUT},
	};

	if (json_is_false(json_object_get(json_object_get(result, "error"), "retriable")))
		return WFS_E_EFFECT_REFUSED;
	for (size_t i = 0; reason && i < WFS_ARRAY_COUNT(codes); i++)
		if (strcmp(reason, codes[i].reason) == 0)
			return codes[i].code;
	return WFS_OK;
}

static void begin(struct runs *runs);

/* The caller gets one result, or the list of them. */
static void finish(struct runs *runs)
{
	json_t *const last = json_array_get(runs->results, json_array_size(runs->results) - 1);
	const enum wfs_error_code code = code_of(last);
	struct wfs_error error = {0};
	const json_t *const message = json_object_get(json_object_get(last, "error"), "message");
	const int r = code == WFS_OK
		? 0
		: wfs_error_set(&error, code, "turn '%s' ended: %s", wfs_json_text(last, "run_id"),
			  json_is_string(message) ? json_string_value(message)
						  : wfs_json_text(last, "termination_reason"));
	json_t *const all = runs->many ? json_pack("{s:o}", "runs", WFS_STEAL(runs->results))
				       : json_incref(last);

	wait_tell(&runs->wait, r, all, r ? &error : NULL);
}

/* @result: taken */
static void take_result(struct runs *runs, json_t *result)
{
	const bool well = code_of(result) == WFS_OK;
	struct wfs_error error = {0};
	int r = json_array_append_new(runs->results, result) < 0 ? no_memory(&error) : 0;

	wait_unwatch(&runs->wait);
	if (!r && runs->left > 0)
		r = wait_check_open(&runs->wait, &error);
	if (r)
		wait_fail(&runs->wait, r, &error);
	else if (runs->left > 0 && well && !runs->wait.abandoned)
		begin(runs);
	else
		finish(runs);
}

static void look(struct wait *wait)
{
	struct wfs_error error = {0};
	json_t *result = NULL;
	int r = wfs_driving_result(wait->drive->session, wait->id,
		wait->drive->called_by.intent_id != NULL, &result, &error);

	if (!r)
		take_result((struct runs *)wait, result);
	else if (r != -EBUSY)
		wait_fail(wait, r, &error);
}

/* --- beginning one --- */

/* The turn may have ended already. */
static void watch(struct wait *wait, const char *run_id)
{
	struct wfs_error error = {0};
	const int r = wait_watch(wait, run_id, &error);

	if (r)
		wait_fail(wait, r, &error);
	else
		look(wait);
}

static void begun(struct wait *wait, json_t *answer)
{
	struct wfs_error error = wait->request.error;
	json_t *result = NULL;
	int r = wait->request.result;

	if (!r && wait->at_once) {
		result = json_pack("{s:s}", "turn_id", wfs_json_text(answer, "run_id"));
		r = result ? 0 : no_memory(&error);
	} else if (!r) {
		r = wait_check_open(wait, &error);
	}
	if (r)
		wait_fail(wait, r, &error);
	else if (result)
		wait_tell(wait, 0, result, NULL);
	else
		watch(wait, wfs_json_text(answer, "run_id"));
}

/* Return: 0 if the kernel has the request. */
static int submit(struct runs *runs, struct wfs_error *error)
{
	const struct wfs_drive *const drive = runs->wait.drive;
	const char *const called_by = drive->called_by.intent_id;
	int r = agents_hide_step(
		drive->session, &runs->origin, drive->params, runs->step, &runs->texts, error);

	if (!r && called_by &&
		json_object_set_new(runs->step, "called_by", json_string(called_by)) < 0)
		r = no_memory(error);
	if (r)
		return r;
	struct wfs_request *const request = wait_send(&runs->wait);
	request->action.texts = &runs->texts;
	r = wfs_session_step(drive->session, runs->step, request);
	if (r) /* otherwise the kernel has it */
		*error = request->error;
	return r;
}

/* On a thread of libuv. */
static void prepare_on_thread(uv_work_t *preparing)
{
	struct runs *const runs = CONTAINER_OF(preparing, struct runs, preparing);

	runs->prepared = agents_prepare(
		runs->agent, runs->content, runs->asked, runs->step, &runs->origin, &runs->problem);
}

static void prepared(uv_work_t *preparing, int status)
{
	struct runs *const runs = CONTAINER_OF(preparing, struct runs, preparing);
	struct wfs_error error = runs->problem;
	int r = runs->prepared;

	(void)status; /* this work of libuv is never cancelled */
	if (!r)
		r = wait_check_open(&runs->wait, &error);
	if (!r && runs->wait.abandoned)
		r = wfs_error_set(&error, WFS_E_CANCELLED, "the caller has gone");
	if (!r)
		r = submit(runs, &error);
	forget_preparation(runs);
	if (r)
		wait_fail(&runs->wait, r, &error);
}

/* Return: 0 if the reading has begun. */
static int prepare(struct runs *runs, struct wfs_error *error)
{
	struct engine *const engine = runs->wait.engine;

	runs->asked = json_deep_copy(runs->wait.drive->params);
	runs->problem = (struct wfs_error){0};
	int r = runs->asked ? wfs_session_new(engine->authority, wfs_json_text(runs->step, "agent"),
				      &runs->agent, error)
			    : no_memory(error);
	if (r)
		return r;
	r = uv_queue_work(&engine->loop, &runs->preparing, prepare_on_thread, prepared);
	return r ? wfs_error_from_errno(error, r, "drive an agent") : 0;
}

/* Judges before it reads the agent, so that a refused caller does not learn what is wrong with
 * the agent. Return: 0 if the kernel has a request. */
static int ask_kernel(struct runs *runs, struct wfs_error *error)
{
	const struct wfs_drive *const drive = runs->wait.drive;
	struct wfs_request *const request = wait_send(&runs->wait);
	int r = wfs_session_admit_step(
		drive->session, wfs_json_text(drive->params, "agent"), request);

	if (r == WFS_SESSION_REFUSED)
		return 0;
	*error = request->error;
	if (!r)
		r = agents_setup_make(drive->session, runs->wait.engine->helpers, drive->params,
			&runs->content, &runs->step, error);
	if (r)
		return r;
	return agents_has_mind(runs->content) ? prepare(runs, error) : submit(runs, error);
}

/* Has the server of one tool list its tools. Return: is it waited for? */
static bool list_of(struct runs *runs, const struct wfs_session *agent, const json_t *name)
{
	return json_is_string(name) && wfs_tool_name_valid(json_string_value(name)) &&
		outside_list(runs->wait.engine, agent, json_string_value(name), &runs->listing);
}

/* Has the next server list its tools whose tools the agent names, with the rights of the agent; the
 * run then begins again. All of these servers are started at once. Return: false: all have. */
static bool list_next(struct runs *runs)
{
	const struct wfs_drive *const drive = runs->wait.drive;
	struct engine *const engine = runs->wait.engine;
	WFS_AUTO_SESSION struct wfs_session *agent = NULL;
	WFS_AUTO_JSON json_t *names = NULL;
	struct wfs_error ignored;
	const json_t *name;
	size_t i;

	if (agents_setup_names(drive->session, drive->params, &names, &ignored) ||
		wfs_session_new(
			engine->authority, wfs_json_text(drive->params, "agent"), &agent, &ignored))
		return false;
	json_array_foreach(names, i, name)
		if (runs->listed_count == 0 && list_of(runs, agent, name))
			outside_unwait(&runs->listing);
	while (runs->listed_count < json_array_size(names))
		if (list_of(runs, agent, json_array_get(names, runs->listed_count++)))
			return true;
	return false;
}

static void try(struct runs *runs)
{
	struct wait *const wait = &runs->wait;
	struct wfs_error error = {0};

	forget_run(runs);
	const int r = ask_kernel(runs, &error);
	if (r == -ENOENT) {
		wait->requested = false;
		if (list_next(runs))
			return;
	}
	if (r)
		wait_fail(wait, r, &error);
}

static void all_listed(struct outside_wait *listing)
{
	try(CONTAINER_OF(listing, struct runs, listing));
}

static void begin(struct runs *runs)
{
	runs->left--;
	runs->listed_count = 0;
	try(runs);
}

/* --- asking --- */

static int read_params(struct runs *runs, struct wfs_error *error)
{
	const json_t *const params = runs->wait.drive->params;
	int64_t turns = 1;
	int r = wfs_json_get_integer(params, "turns", 1, TURNS_MAX, &turns, error);

	runs->listing.then = all_listed;
	runs->left = turns;
	runs->many = turns > 1;
	runs->results = json_array();
	if (!r && !runs->results)
		r = no_memory(error);
	if (!r && runs->many && runs->wait.at_once)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'turns': expected 1, because the request does not wait");
	return r;
}

static void start(struct wait *wait)
{
	struct runs *const runs = (struct runs *)wait;
	const char *const began = wait->drive->called_by.began;
	struct wfs_error error = {0};
	const int r = read_params(runs, &error);

	if (r) {
		wait_fail(wait, r, &error);
	} else if (began) {
		runs->left = 0;
		watch(wait, began);
	} else {
		begin(runs);
	}
}

static json_t *cancelled(const struct wait *wait)
{
	return json_pack("{s:s}", "turn_id", wait->id);
}

const struct wait_kind wait_for_runs = {
	.size = sizeof(struct runs),
	.doing = "drive an agent",
	.closing = "the world is being closed; runs continue when it is opened again",
	.start = start,
	.begun = begun,
	.look = look,
	.fail = fail,
	.cancelled = cancelled,
	.cancel = wfs_session_leave_run,
	.done = done,
};
