/* SPDX-License-Identifier: Apache-2.0 */
/* Those who ask for turns, and wait for their end. */
#include "agents/engine/engine.h"

#include <search.h>

#include "agents/prepare/prepare.h"
#include "agents/prepare/private.h"
#include "agents/prepare/setup.h"
#include "kernel/base/json.h"

enum { TURNS_MAX = 1000 }; /* runs of one request */

#define CLOSING "the world is being closed; runs go on when it is opened again"

/* One request. */
struct wait {
	struct job job;
	struct job leaving; /* posted when the kernel has ended its run */
	struct engine *engine;
	struct wait *next; /* of all that there are */
	struct wait **at;
	uint64_t ticket;
	struct wfs_drive *drive; /* NULL: it has been told */
	int64_t left;            /* runs to be begun */
	bool many;               /* the answer is a list */
	bool at_once;            /* it is not waited for the end */
	bool is_known;           /* is in the tree, by run_id */
	bool requested;          /* the kernel has `request` */
	bool abandoned;
	char run_id[WFS_TURN_ID_MAX + 1];
	json_t *content; /* configuration of the agent; owned */
	json_t *step;    /* owned */
	json_t *runs;    /* results so far; owned */

	/* What the agent refers to is put together on a thread of libuv's, which has these alone. */
	uv_work_t preparing;
	struct wfs_session *agent; /* owned */
	json_t *asked;             /* a copy of the params; owned */
	int prepared;
	struct agents_origin origin; /* of what was put together */
	struct wfs_texts texts;      /* that the step hides; until the kernel has taken it */
	struct wfs_error problem;
	struct wfs_request request;
	struct wfs_request cancel;
	json_t *cancel_action;         /* owned; the kernel has it until `cancel` is answered */
	struct wfs_session *canceller; /* the asker's, which may be gone before that; owned */
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct wait *)a)->run_id, ((const struct wait *)b)->run_id);
}

static struct wait *find(struct engine *engine, const char *run_id)
{
	struct wait key;

	snprintf(key.run_id, sizeof(key.run_id), "%s", run_id);
	void *const *const found = tfind(&key, &engine->waits, compare);
	return found ? *found : NULL;
}

static void forget(struct wait *wait)
{
	if (wait->is_known)
		(void)tdelete(wait, &wait->engine->waits, compare);
	wait->is_known = false;
}

/* Frees it once nothing of it is under way. */
static void release(struct wait *wait)
{
	struct engine *const engine = wait->engine;

	forget(wait);
	if (wait->requested || wait->cancel_action)
		return;
	*wait->at = wait->next;
	if (wait->next)
		wait->next->at = wait->at;
	wfs_texts_done(&wait->texts);
	wfs_session_free(wait->canceller);
	free(wait);
	engine_one_less(engine);
}

static void forget_preparation(struct wait *wait)
{
	wfs_session_free(WFS_STEAL(wait->agent));
	json_decref(WFS_STEAL(wait->content));
	json_decref(WFS_STEAL(wait->asked));
	agents_origin_done(&wait->origin);
	wait->origin = (struct agents_origin){.of = NULL};
}

/*
 * What was made of the asker's parameters goes first: values are not for two threads, and whoever asked
 * has them again.
 * @result: taken, nothing else has a part of it; may be NULL
 */
static void end(struct wait *wait, int r, json_t *result, const struct wfs_error *error)
{
	struct wfs_drive *const drive = WFS_STEAL(wait->drive);

	wfs_require(!wait->requested); /* the kernel would have the step */
	forget_preparation(wait);
	json_decref(WFS_STEAL(wait->step));
	json_decref(WFS_STEAL(wait->runs));
	if (drive) {
		drive->status = r;
		drive->result = result;
		if (error)
			drive->error = *error;
		drive->done(drive);
	} else {
		json_decref(result);
	}
	release(wait);
}

static void fail(struct wait *wait, int r, struct wfs_error *error)
{
	if (error->code == WFS_OK)
		(void)wfs_error_from_errno(error, r, "drive an agent");
	end(wait, r, NULL, error);
}

static void fail_closing(struct wait *wait)
{
	struct wfs_error error;

	fail(wait, wfs_error_set(&error, WFS_E_CANCELLED, CLOSING), &error);
}

static void no_memory(struct wait *wait)
{
	struct wfs_error error = {0};

	fail(wait, -ENOMEM, &error);
}

/* --- the end of a run --- */

/* The code of a run that did not do what it should. */
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

static int describe(const json_t *result, enum wfs_error_code code, struct wfs_error *error)
{
	const json_t *const failure = json_object_get(result, "error");
	const char *const message = json_string_value(json_object_get(failure, "message"));
	const char *const reason = json_string_value(json_object_get(result, "termination_reason"));
	const char *const run_id = json_string_value(json_object_get(result, "run_id"));

	return wfs_error_set(error, code, "run '%s' ended: %s", run_id ? run_id : "",
		message ? message : reason);
}

static void begin(struct wait *wait);

/* What is told at the end: one result, or the list of them. */
static void finish(struct wait *wait)
{
	const size_t count = json_array_size(wait->runs);
	json_t *const last = json_array_get(wait->runs, count - 1);
	const enum wfs_error_code code = code_of(last);
	struct wfs_error error = {0};
	const int r = code == WFS_OK ? 0 : describe(last, code, &error);
	json_t *const all =
		wait->many ? json_pack("{s:o}", "runs", WFS_STEAL(wait->runs)) : json_incref(last);

	end(wait, r, all, r ? &error : NULL);
}

/* @result: taken */
static void take_result(struct wait *wait, json_t *result)
{
	const bool well = code_of(result) == WFS_OK;

	if (json_array_append_new(wait->runs, result) < 0) {
		no_memory(wait);
		return;
	}
	forget(wait);
	if (engine_stopping(wait->engine) && wait->left > 0)
		fail_closing(wait);
	else if (wait->left > 0 && well && !wait->abandoned)
		begin(wait);
	else
		finish(wait);
}

/* A tool call tells all of the result but the history; what is private in that becomes private for the run that calls. */
static int note_told(
	const struct wfs_session *session, const json_t *result, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *told = json_copy((json_t *)(uintptr_t)result);

	(void)json_object_del(told, "history");
	return told && wfs_session_note_hidden(session, told) == 0
		? 0
		: wfs_error_from_errno(error, -ENOMEM, "drive an agent");
}

/* What a run ended with, as its asker may read it. What it is made of is gone when this returns: the asker's thread
 * has the result for itself. */
static int read_result(struct wait *wait, json_t **ret_result, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *stored = NULL;
	int r = wfs_view_open(wait->engine->world, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_turn_result(&view, wait->run_id, &stored, error);
	if (!r && wait->drive && wait->drive->called_by.intent_id)
		r = note_told(wait->drive->session, stored, error);
	if (!r && wait->drive)
		return wfs_session_reveal(wait->drive->session, &view, stored, ret_result, error);
	if (!r)
		*ret_result = WFS_STEAL(stored);
	return r;
}

void drive_look(struct engine *engine, const char *run_id)
{
	struct wait *const wait = find(engine, run_id);
	struct wfs_error error = {0};
	json_t *result = NULL;

	if (!wait)
		return;
	int r = read_result(wait, &result, &error);
	if (!r)
		take_result(wait, result);
	else if (r != -EBUSY)
		fail(wait, r, &error);
}

void drive_look_at_all(struct engine *engine)
{
	struct wait *next;

	for (struct wait *wait = engine->all_waits; wait; wait = next) {
		next = wait->next; /* telling one ends it */
		if (wait->is_known)
			drive_look(engine, wait->run_id);
	}
}

/* --- beginning one --- */

static void answer_at_once(struct wait *wait)
{
	json_t *const result = json_pack("{s:s}", "turn_id", wait->run_id);

	if (result)
		end(wait, 0, result, NULL);
	else
		no_memory(wait);
}

static void cancel_run(struct wait *wait);

/* There is a run: wait for its end. */
static void attend(struct wait *wait)
{
	if (!tsearch(wait, &wait->engine->waits, compare)) {
		no_memory(wait);
		return;
	}
	wait->is_known = true;
	if (wait->abandoned)
		cancel_run(wait);
	drive_look(wait->engine, wait->run_id); /* it may have ended already */
}

static void begun(struct engine *engine, struct job *job)
{
	struct wait *const wait = (struct wait *)job;
	WFS_AUTO_JSON json_t *answer = WFS_STEAL(wait->request.answer);
	const char *const run_id = json_string_value(json_object_get(answer, "run_id"));
	struct wfs_error error = wait->request.error;

	wait->requested = false;
	if (!wait->drive) {
		release(wait);
		return;
	}
	if (wait->request.result) {
		fail(wait, wait->request.result, &error);
		return;
	}
	snprintf(wait->run_id, sizeof(wait->run_id), "%s", run_id ? run_id : "");
	if (wait->at_once) {
		answer_at_once(wait);
		return;
	}
	if (engine_stopping(engine))
		fail_closing(wait);
	else
		attend(wait);
}

static void on_begun(struct wfs_request *request)
{
	struct wait *const wait = request->context;

	(void)engine_post(wait->engine, &wait->job, begun);
}

/* Return: 0: the request is on its way. */
static int submit(struct wait *wait, struct wfs_error *error)
{
	const char *const called_by = wait->drive->called_by.intent_id;
	int r = agents_hide_step(wait->engine->world, &wait->origin, wait->drive->params,
		wait->step, &wait->texts, error);

	if (!r && called_by &&
		json_object_set_new(wait->step, "called_by", json_string(called_by)) < 0)
		r = wfs_error_from_errno(error, -ENOMEM, "drive an agent");
	if (r)
		return r;
	wait->request =
		(struct wfs_request){.done = on_begun, .context = wait, .texts = &wait->texts};
	r = wfs_session_step(wait->drive->session, wait->step, &wait->request);
	if (r) /* else the kernel has it */
		*error = wait->request.error;
	return r;
}

/* On a thread of libuv's. */
static void prepare_on_thread(uv_work_t *preparing)
{
	struct wait *const wait =
		(struct wait *)((char *)preparing - offsetof(struct wait, preparing));

	wait->prepared = agents_prepare(
		wait->agent, wait->content, wait->asked, wait->step, &wait->origin, &wait->problem);
}

static void prepared(uv_work_t *preparing, int status)
{
	struct wait *const wait =
		(struct wait *)((char *)preparing - offsetof(struct wait, preparing));
	struct wfs_error error = wait->problem;
	int r = wait->prepared;

	(void)status; /* it is never cancelled */
	if (!r && engine_stopping(wait->engine))
		r = wfs_error_set(&error, WFS_E_CANCELLED, CLOSING);
	if (!r && wait->abandoned)
		r = wfs_error_set(&error, WFS_E_CANCELLED, "whoever asked has gone");
	if (!r)
		r = submit(wait, &error);
	forget_preparation(wait);
	if (r) {
		wait->requested = false;
		fail(wait, r, &error);
	}
}

/* Return: 0: it is under way. */
static int prepare(struct wait *wait, struct wfs_error *error)
{
	const char *const agent = wfs_json_text(wait->step, "agent");

	wait->asked = json_deep_copy(wait->drive->params);
	wait->problem = (struct wfs_error){0};
	int r = wait->asked ? wfs_session_new(wait->engine->authority, agent, &wait->agent, error)
			    : wfs_error_from_errno(error, -ENOMEM, "drive an agent");
	if (r)
		return r;
	r = uv_queue_work(&wait->engine->loop, &wait->preparing, prepare_on_thread, prepared);
	return r ? wfs_error_from_errno(error, r, "drive an agent") : 0;
}

/* Who may not is not told what is wrong with an agent, either. Return: 0: a request is on its way. */
static int ask_kernel(struct wait *wait, struct wfs_error *error)
{
	const struct wfs_drive *const drive = wait->drive;
	struct engine *const engine = wait->engine;

	wait->request = (struct wfs_request){.done = on_begun, .context = wait};
	int r = wfs_session_admit_step(
		drive->session, wfs_json_text(drive->params, "agent"), &wait->request);
	if (r == WFS_SESSION_REFUSED)
		return 0;
	*error = wait->request.error;
	if (!r)
		r = agents_setup_make(drive->session, engine->helpers, drive->params,
			&wait->content, &wait->step, error);
	if (r)
		return r;
	return agents_has_mind(wait->content) ? prepare(wait, error) : submit(wait, error);
}

static void begin(struct wait *wait)
{
	struct wfs_error error = {0};

	forget_preparation(wait);
	wfs_texts_done(&wait->texts);
	json_decref(WFS_STEAL(wait->step));
	wait->left--;
	wait->requested = true;
	int r = ask_kernel(wait, &error);
	if (r) {
		wait->requested = false;
		fail(wait, r, &error);
	}
}

/* --- asking --- */

static int read_params(struct wait *wait, struct wfs_error *error)
{
	const json_t *const params = wait->drive->params;
	int64_t turns = 1;
	int r = wfs_json_get_integer(params, "turns", 1, TURNS_MAX, &turns, error);

	wait->left = turns;
	wait->many = turns > 1;
	wait->at_once = json_is_false(json_object_get(params, "wait"));
	if (!r && wait->many && wait->at_once)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'turns': who does not wait can begin one at a time");
	return r;
}

static void start(struct engine *engine, struct job *job)
{
	struct wait *const wait = (struct wait *)job;
	const char *const began = wait->drive->called_by.began;
	struct wfs_error error = {0};

	engine->open_count++;
	wait->next = engine->all_waits;
	wait->at = &engine->all_waits;
	if (wait->next)
		wait->next->at = &wait->next;
	engine->all_waits = wait;
	int r = engine_stopping(engine) ? wfs_error_set(&error, WFS_E_CANCELLED, CLOSING)
					: read_params(wait, &error);
	if (r) {
		fail(wait, r, &error);
	} else if (began) {
		snprintf(wait->run_id, sizeof(wait->run_id), "%s", began);
		wait->left = 0;
		attend(wait);
	} else {
		begin(wait);
	}
}

static void refuse(struct wfs_drive *drive, enum wfs_error_code code, const char *reason)
{
	drive->status = wfs_error_set(&drive->error, code, "%s", reason);
	drive->done(drive);
}

void drive_step(struct wfs_driver *driver, struct wfs_drive *drive)
{
	struct engine *const engine = (struct engine *)driver;
	struct wait *const wait = calloc(1, sizeof(*wait));
	json_t *const runs = json_array();

	if (wait && runs) {
		wait->engine = engine;
		wait->drive = drive;
		wait->runs = runs;
		wait->ticket = drive->ticket = engine_ticket(engine);
		if (engine_post(engine, &wait->job, start))
			return;
	}
	json_decref(runs);
	if (wait)
		refuse(drive, WFS_E_CANCELLED, CLOSING);
	else
		refuse(drive, WFS_E_INTERNAL_ERROR, "no memory to drive an agent");
	free(wait);
}

/* --- going away --- */

static void cancelled(struct engine *engine, struct job *job)
{
	struct wait *const wait = (struct wait *)((char *)job - offsetof(struct wait, leaving));

	(void)engine;
	json_decref(WFS_STEAL(wait->cancel_action));
	json_decref(WFS_STEAL(wait->cancel.answer));
	if (!wait->drive)
		release(wait);
}

static void on_cancelled(struct wfs_request *request)
{
	struct wait *const wait = request->context;

	(void)engine_post(wait->engine, &wait->leaving, cancelled);
}

/* The end of the run ends the waiting. */
static void cancel_run(struct wait *wait)
{
	struct wfs_error ignored;

	if (wfs_session_new(wait->engine->authority, wfs_session_principal(wait->drive->session),
		    &wait->canceller, &ignored))
		return;
	wait->cancel_action = json_pack("{s:s}", "turn_id", wait->run_id);
	if (!wait->cancel_action)
		return;
	wait->cancel = (struct wfs_request){.done = on_cancelled, .context = wait};
	if (wfs_session_leave_run(wait->canceller, wait->cancel_action, &wait->cancel))
		json_decref(WFS_STEAL(wait->cancel_action));
}

/* Somebody who waits no more. */
struct leaver {
	struct job job;
	uint64_t ticket;
};

static void leave(struct engine *engine, struct job *job)
{
	struct leaver *const leaver = (struct leaver *)job;
	struct wait *wait = engine->all_waits;

	while (wait && wait->ticket != leaver->ticket)
		wait = wait->next;
	if (!wait)
		chat_leave(engine, leaver->ticket);
	free(leaver);
	if (!wait || wait->abandoned || !wait->drive)
		return;
	wait->abandoned = true;
	if (wait->is_known)
		cancel_run(wait);
}

void drive_abandon(struct wfs_driver *driver, uint64_t ticket)
{
	struct leaver *const leaver = malloc(sizeof(*leaver));

	if (!leaver)
		return; /* the run ends by itself */
	leaver->ticket = ticket;
	if (!engine_post((struct engine *)driver, &leaver->job, leave))
		free(leaver);
}

void drive_drop_all(struct engine *engine)
{
	while (engine->waits)
		fail_closing(*(struct wait **)engine->waits);
}
