/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a caller follows from cells, except for the times, which are those of its request.
 * Source: docs/design.md, "Plans".
 */
#include "agents/engine/chat.h"

#include <inttypes.h>

#include "agents/engine/response.h"
#include "agents/prepare/setup.h"
#include "caps/session-plan.h"
#include "caps/session-read.h"
#include "caps/session-text.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

/* In order. X(member of timing_ms) */
#define STAGES(X)        \
	X(memory_add)    \
	X(context_build) \
	X(llm_plan)      \
	X(planner_tools) \
	X(llm_final)

enum stage {
#define STAGE_ENUM(name) STAGE_##name,
	STAGES(STAGE_ENUM)
#undef STAGE_ENUM
		STAGE_COUNT
};

static const char *const stages[] = {
#define STAGE_NAME(name) #name,
	STAGES(STAGE_NAME)
#undef STAGE_NAME
};

/* One request. It watches its chat until there is a plan, and then the plan. */
struct talk {
	struct wait wait;
	json_t *action;                     /* owned */
	char plan_id[WFS_PLAN_ID_SIZE + 1]; /* "": not known yet */

	enum stage stage; /* the present stage */
	int64_t stage_ns; /* when the stage began, from `began_ns` on */
	int64_t took_ms[STAGE_COUNT];
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "answer a chat")

/* --- times --- */

/* Ends the present stage at that time. The stages before @stage that had not begun took no time. */
static void enter_at(struct talk *talk, enum stage stage, int64_t at_ns)
{
	if (talk->stage >= stage)
		return;
	const int64_t begins_ns = at_ns - talk->wait.began_ns;
	if (begins_ns > talk->stage_ns) {
		talk->took_ms[talk->stage] += (begins_ns - talk->stage_ns) / 1000000;
		talk->stage_ns = begins_ns;
	}
	talk->stage = stage;
}

static void enter(struct talk *talk, enum stage stage)
{
	enter_at(talk, stage, wfs_clock_monotonic_ns());
}

static void take_built(struct talk *talk, const struct work *work)
{
	enter_at(
		talk, STAGE_context_build, work->asking.built_ns - work->asking.built_ms * 1000000);
	enter_at(talk, STAGE_llm_plan, work->asking.built_ns);
}

void chat_built(const struct work *work)
{
	for (struct wait *wait = wait_find(work->engine, work->owner_id); wait; wait = wait->same)
		if (wait->kind == &wait_for_plan)
			take_built((struct talk *)wait, work);
}

static json_t *timing_of(struct talk *talk)
{
	WFS_AUTO_JSON json_t *timing = json_object();
	const int64_t total_ns = wfs_clock_monotonic_ns() - talk->wait.began_ns;

	talk->took_ms[talk->stage] += (total_ns - talk->stage_ns) / 1000000;
	for (int i = 0; i < STAGE_COUNT; i++)
		if (json_object_set_new(timing, stages[i], json_integer(talk->took_ms[i])) < 0)
			return NULL;
	return json_object_set_new(timing, "total", json_integer(total_ns / 1000000)) < 0
		? NULL
		: WFS_STEAL(timing);
}

/* --- answers --- */

static void done(struct wait *wait)
{
	json_decref(((struct talk *)wait)->action);
}

static json_t *compose(struct talk *talk, const struct response *response)
{
	WFS_AUTO_JSON json_t *nothing = json_array();
	const char *const id =
		json_string_value(json_object_get(talk->wait.drive->params, "session_id"));

	return json_pack("{s:O?, s:O?, s:s?, s:s, s:b, s:O?, s:s, s:o, s:I, s:I, s:O}",
		"checkpoint", response->checkpoint, "details", response->details, "error",
		response->code, "final", response->final ? response->final : "", "ok",
		response->code == NULL, "plan", response->plan, "session_id",
		id ? id : WFS_CHAT_SESSION_DEFAULT, "timing_ms", timing_of(talk), "tool_batches",
		(json_int_t)response->state.tool_batches, "tool_calls_count",
		(json_int_t)response->state.tool_calls, "tool_results",
		response->results ? response->results : nothing);
}

/* The error that a caller gets for the code of a response. */
static enum wfs_error_code error_of(const struct response *response)
{
	static const struct {
		const char *code;
		enum wfs_error_code error;
	} codes[] = {
		{WFS_CHAT_CANCELLED, WFS_E_CANCELLED},
		{WFS_CHAT_INVALID_BATCH_SIZE, WFS_E_INVALID_ARGUMENT},
		{WFS_CHAT_INVALID_MESSAGE, WFS_E_INVALID_ARGUMENT},
		{WFS_CHAT_RESUME_FAILED, WFS_E_CONFLICT},
	};

	const char *const code = response->code;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(codes); i++)
		if (strcmp(codes[i].code, code) == 0)
			return codes[i].error;
	return json_is_false(json_object_get(response->details, "retriable")) ? WFS_E_EFFECT_REFUSED
									      : WFS_E_EFFECT_FAILED;
}

/* Puts the reason of the failure in one line. */
static void tell_failure(const struct response *response, struct wfs_error *error)
{
	const char *const code = response->code;
	const char *const message = wfs_json_text(response->details, "message");

	if (strcmp(code, WFS_CHAT_PLAN_FAILED) == 0)
		(void)wfs_error_set(error, error_of(response),
			"%s: no step is done, %" PRId64 " failed, %" PRId64 " were skipped", code,
			response->state.failed, response->state.skipped);
	else if (*message)
		(void)wfs_error_set(error, error_of(response), "%s: %.400s", code, message);
	else if (strcmp(code, WFS_CHAT_CANCELLED) == 0)
		(void)wfs_error_set(error, error_of(response), "%s: it was stopped", code);
	else
		(void)wfs_error_set(error, error_of(response), "%s", code);
}

/* @error: without a code: it follows from the response. */
static void respond(struct talk *talk, struct response *response, struct wfs_error *error)
{
	json_t *const composed = compose(talk, response);
	const bool failed = response->code != NULL;

	if (failed && error->code == WFS_OK)
		tell_failure(response, error);
	response_done(response); /* two threads must not share a value */
	if (!composed)
		wait_tell(&talk->wait, no_memory(error), NULL, error);
	else
		wait_tell(&talk->wait, failed ? -wfs_error_info(error->code)->number : 0, composed,
			failed ? error : NULL);
}

static void fail_with(struct talk *talk, const char *code, struct wfs_error *error)
{
	const char *const name = wfs_error_info(error->code)->name;
	struct response response = {.code = code};

	response.details = json_pack("{s:s, s:s*, s:s}", "message", error->message, "plan_id",
		*talk->plan_id ? talk->plan_id : NULL, "type", name);
	respond(talk, &response, error);
}

static void fail(struct wait *wait, int r, struct wfs_error *error)
{
	(void)r;
	fail_with((struct talk *)wait,
		error->code == WFS_E_CANCELLED ? WFS_CHAT_CANCELLED
					       : wfs_error_info(error->code)->name,
		error);
}

/* --- looking --- */

/* Replaces a document by one with the private texts that the caller may read. */
static int reveal(
	struct talk *talk, struct wfs_view *view, json_t **document, struct wfs_error *error)
{
	json_t *revealed;
	int r = wfs_session_reveal(talk->wait.drive->session, view, *document, &revealed, error);

	if (r)
		return r;
	json_decref(*document);
	*document = revealed;
	return 0;
}

/* Return: 1 with an answer, 0 if the plan goes on, or -errno. */
static int look_at_plan(struct talk *talk, struct wfs_view *view, struct response *response,
	struct wfs_error *error)
{
	const struct wfs_drive *const drive = talk->wait.drive;
	/* An imported plan does not run before a caller resumes it, which is not a failure. */
	const bool parked = drive->what == WFS_DRIVE_IMPORT &&
		!json_is_true(json_object_get(drive->params, "resume"));
	const struct wfs_document_plan *const plan = &response->state;
	int r = wfs_driving_plan(view, talk->plan_id, &response->state, error);

	if (r)
		return r;
	enter(talk, strcmp(plan->phase, "answering") == 0 ? STAGE_llm_final : STAGE_planner_tools);
	if (!response_has_ended(plan))
		return 0;
	r = response_take_plan(view, parked, response, error);
	if (!r)
		r = reveal(talk, view, &response->results, error);
	if (!r)
		r = reveal(talk, view, &response->plan, error);
	return r ? r : 1;
}

/* Return: 1 with an answer, 0 if the chat goes on, or -errno. */
static int look_at_chat(struct talk *talk, struct wfs_view *view, struct response *response,
	struct wfs_error *error)
{
	int r = wfs_driving_message(view, talk->wait.id, &response->message, error);

	if (r)
		return r;
	const char *const status = response->message.status ? response->message.status : "";
	if (strcmp(status, "planning") == 0)
		return 0;
	if (strcmp(status, "answered") == 0) {
		r = response_take_reply(view, response, error);
		return r ? r : 1;
	}
	enter(talk, STAGE_planner_tools);
	if (strcmp(status, "normalizing") == 0)
		return 0;
	if (strcmp(status, "planned") != 0 && strcmp(status, "resumed") != 0) {
		r = response_take_failure(view, response, error);
		return r ? r : 1;
	}
	snprintf(talk->plan_id, sizeof(talk->plan_id), "%s",
		response->message.plan_id ? response->message.plan_id : "");
	r = wait_watch(&talk->wait, talk->plan_id, error);
	return r ? r : look_at_plan(talk, view, response, error);
}

static void look(struct wait *wait)
{
	struct talk *const talk = (struct talk *)wait;
	WFS_CLEANUP(response_done) struct response response = {.code = NULL};
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_error error = {0};
	int r = wfs_session_view(wait->drive->session, WFS_HEIGHT_HEAD, &view, &error);

	if (!r)
		r = *talk->plan_id ? look_at_plan(talk, &view, &response, &error)
				   : look_at_chat(talk, &view, &response, &error);
	wfs_session_view_close(&view);
	if (r < 0)
		wait_fail(wait, r, &error);
	else if (r > 0)
		respond(talk, &response, &error);
}

/* --- beginning --- */

/* In a world that was opened paused, begin the intents of the plan that were open already. */
static void begin_open(struct talk *talk)
{
	struct engine *const engine = talk->wait.engine;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = {.own = {.json = NULL}};
	struct wfs_error ignored;
	size_t i;
	const json_t *open;

	if (!engine->paused || !*talk->plan_id ||
		wfs_session_view(talk->wait.drive->session, WFS_HEIGHT_HEAD, &view, &ignored) ||
		wfs_driving_plan(&view, talk->plan_id, &plan, &ignored))
		return;
	wfs_session_view_close(&view);
	json_array_foreach(plan.open, i, open)
		work_look(engine, wfs_json_text(open, "intent_id"));
}

/* The kernel has refused the action. An action with a plan_id would have resumed that plan. */
static void fail_beginning(struct talk *talk)
{
	const char *const plan_id = wfs_json_text(talk->action, "plan_id");
	struct wfs_error error = talk->wait.request.error;

	talk->wait.requested = false;
	snprintf(talk->plan_id, sizeof(talk->plan_id), "%s", plan_id);
	fail_with(talk,
		json_object_get(talk->action, "plan_id") ? WFS_CHAT_RESUME_FAILED
							 : wfs_error_info(error.code)->name,
		&error);
}

static void begun(struct wait *wait, json_t *answer)
{
	struct talk *const talk = (struct talk *)wait;
	const char *const chat_id = wfs_json_text(answer, "chat_id");
	const char *const plan_id = wfs_json_text(answer, "plan_id");
	const struct work *const work = work_of_chat(wait->engine, chat_id);
	struct wfs_error error = {0};

	if (work && work->asking.built_ns > 0) /* it was asked before this answer came here */
		take_built(talk, work);
	else
		enter(talk, STAGE_context_build);
	if (wait->request.result) {
		fail_beginning(talk);
		return;
	}
	if (wait->at_once) {
		wait_tell(wait, 0, json_deep_copy(answer), NULL);
		return;
	}
	snprintf(talk->plan_id, sizeof(talk->plan_id), "%s", plan_id);
	int r = wait_check_open(wait, &error);
	if (!r)
		r = wait_watch(wait, *plan_id ? plan_id : chat_id, &error);
	if (r) {
		wait_fail(wait, r, &error);
		return;
	}
	begin_open(talk);
	look(wait); /* the chat may have ended already */
}

/* --- what is asked for --- */

/* Returns 0 or -1, as jansson does. */
static int take(struct talk *talk, const char *member)
{
	json_t *const value = json_object_get(talk->wait.drive->params, member);

	return value ? json_object_set(talk->action, member, value) : 0;
}

static int set_text(struct talk *talk, const char *member, const char *text)
{
	return json_object_set_new(talk->action, member, json_string(text));
}

static int set_settings(struct talk *talk, struct wfs_error *error)
{
	const json_t *const params = talk->wait.drive->params;
	int64_t concurrency = WFS_PLAN_CONCURRENCY_DEFAULT;
	json_t *const batch = json_object_get(params, "batch_size");
	const char *session_id = WFS_CHAT_SESSION_DEFAULT;
	int r = wfs_json_get_integer(
		params, "max_concurrency", 1, WFS_PLAN_CONCURRENCY_MAX, &concurrency, error);

	if (!r && json_object_get(params, "session_id"))
		r = wfs_json_get_string(params, "session_id", &session_id, error);
	if (r)
		return r;
	return set_text(talk, "session_id", session_id) < 0 ||
			json_object_set_new(talk->action, "batch_size",
				batch ? json_incref(batch) : json_integer(WFS_PLAN_BATCH_DEFAULT)) <
				0 ||
			json_object_set_new(
				talk->action, "max_concurrency", json_integer(concurrency)) < 0 ||
			set_text(talk, "model", WFS_AGENT_MODEL) < 0
		? no_memory(error)
		: 0;
}

/* An empty plan_id counts as none. */
static int make_chat(struct talk *talk, struct wfs_error *error)
{
	const struct wfs_drive *const drive = talk->wait.drive;
	const char *const called_by = drive->called_by.intent_id;
	const int r = set_settings(talk, error);

	if (r)
		return r;
	return take(talk, "message") < 0 ||
			(*wfs_json_text(drive->params, "plan_id") && take(talk, "plan_id") < 0) ||
			(called_by && set_text(talk, "called_by", called_by) < 0)
		? no_memory(error)
		: 0;
}

static int make_import(struct talk *talk, struct wfs_error *error)
{
	const int r = set_settings(talk, error);

	if (r)
		return r;
	return take(talk, "blob") < 0 || take(talk, "rerun") < 0 || take(talk, "resume") < 0
		? no_memory(error)
		: 0;
}

static int make_resume(struct talk *talk, struct wfs_error *error)
{
	return take(talk, "plan_id") < 0 || take(talk, "retry_failed") < 0 ? no_memory(error) : 0;
}

static const struct {
	int (*make)(struct talk *talk, struct wfs_error *error);
	int (*submit)(const struct wfs_session *, json_t *, struct wfs_request *);
} kinds[] = {
	[WFS_DRIVE_CHAT] = {make_chat, wfs_session_chat},
	[WFS_DRIVE_IMPORT] = {make_import, wfs_session_plan_import},
	[WFS_DRIVE_RESUME] = {make_resume, wfs_session_plan_resume},
};

/* The code of an error in a request; NULL: no error that has a code. */
static const char *misuse(const struct wfs_drive *drive, struct wfs_error *error)
{
	const char *const message = wfs_json_text(drive->params, "message");
	const json_t *const batch = json_object_get(drive->params, "batch_size");

	if (drive->what == WFS_DRIVE_CHAT && !message[strspn(message, " \t\n\v\f\r")]) {
		(void)wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'message': expected a text that is not blank");
		return WFS_CHAT_INVALID_MESSAGE;
	}
	if (batch &&
		(!json_is_integer(batch) || json_integer_value(batch) < 1 ||
			json_integer_value(batch) > WFS_PLAN_BATCH_MAX)) {
		(void)wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'batch_size': expected an integer from 1 to 200");
		return WFS_CHAT_INVALID_BATCH_SIZE;
	}
	return NULL;
}

static void submit(struct talk *talk)
{
	const struct wfs_drive *const drive = talk->wait.drive;
	struct wfs_error error = {0};

	talk->action = json_object();
	const int r = talk->action ? kinds[drive->what].make(talk, &error) : no_memory(&error);
	if (r)
		wait_fail(&talk->wait, r, &error);
	else if (kinds[drive->what].submit(drive->session, talk->action, wait_send(&talk->wait)))
		fail_beginning(talk);
}

static void start(struct wait *wait)
{
	struct talk *const talk = (struct talk *)wait;
	const char *const began = wait->drive->called_by.began;
	struct wfs_error error = {0};
	const char *const code = began ? NULL : misuse(wait->drive, &error);

	if (code) {
		fail_with(talk, code, &error);
	} else if (began) {
		const int r = wait_watch(wait, began, &error);

		if (r)
			wait_fail(wait, r, &error);
		else
			look(wait);
	} else {
		submit(talk);
	}
}

static json_t *cancelled(const struct wait *wait)
{
	const struct talk *const talk = (const struct talk *)wait;

	return json_pack("{s:s}", *talk->plan_id ? "plan_id" : "chat_id", wait->id);
}

const struct wait_kind wait_for_plan = {
	.size = sizeof(struct talk),
	.doing = "answer a chat",
	.closing = "the world is being closed; plans continue when it is opened again",
	.start = start,
	.begun = begun,
	.look = look,
	.fail = fail,
	.cancelled = cancelled,
	.cancel = wfs_session_leave_plan,
	.done = done,
};
