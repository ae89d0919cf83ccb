/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Those who ask for plans, and wait for their end.
 *
 * What they are told follows from cells, but for the times, which are those of this one request.
 * Source: seed 3, "MasterAgent"; spec 6, "Chat".
 */
#include "agents/engine/engine.h"

#include <ctype.h>
#include <inttypes.h>

#include "agents/engine/response.h"
#include "agents/prepare/setup.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

#define CLOSING "the world is being closed; plans go on when it is opened again"

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

/* One request. */
struct talk {
	struct job job;
	struct job leaving; /* posted when the kernel has stopped what it asked for */
	struct engine *engine;
	struct talk *next; /* of all that there are */
	struct talk **at;
	uint64_t ticket;
	struct wfs_drive *drive;     /* NULL: it has been told */
	json_t *action;              /* owned */
	json_t *stop;                /* owned; the kernel has it until `stopping` is answered */
	struct wfs_session *stopper; /* the asker's, which may be gone before that; owned */
	bool requested;              /* the kernel has `request` */
	bool at_once;                /* it is not waited for the end */
	bool abandoned;
	char chat_id[WFS_CHAT_ID_MAX + 1];  /* "": not known yet */
	char plan_id[WFS_PLAN_ID_SIZE + 1]; /* the same */
	char session_id[WFS_CHAT_SESSION_MAX + 1];
	struct wfs_request request;
	struct wfs_request stopping;

	enum stage stage; /* that it is in */
	int64_t began_ns; /* monotonic, as are the times below */
	int64_t stage_ns; /* since when it is in that */
	int64_t took_ms[STAGE_COUNT];
};

static int no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "answer a chat");
}

/* --- times --- */

/* The stage that it is in ended then, and those up to @stage are passed over. */
static void enter_at(struct talk *talk, enum stage stage, int64_t at_ns)
{
	if (talk->stage >= stage)
		return;
	if (at_ns < talk->stage_ns)
		at_ns = talk->stage_ns;
	talk->took_ms[talk->stage] += (at_ns - talk->stage_ns) / 1000000;
	talk->stage = stage;
	talk->stage_ns = at_ns;
}

static void enter(struct talk *talk, enum stage stage)
{
	enter_at(talk, stage, wfs_clock_monotonic_ns());
}

/* The request may be built before the answer to the recorded message brings the chat's id. */
static void take_built(struct talk *talk, const struct work *work)
{
	enter_at(talk, STAGE_context_build, work->built_ns - work->built_ms * 1000000);
	enter_at(talk, STAGE_llm_plan, work->built_ns);
}

void chat_built(const struct work *work)
{
	for (struct talk *talk = work->engine->talks; talk; talk = talk->next)
		if (strcmp(talk->chat_id, work->owner_id) == 0)
			take_built(talk, work);
}

static json_t *timing_of(struct talk *talk)
{
	WFS_AUTO_JSON json_t *timing = json_object();
	const int64_t now_ns = wfs_clock_monotonic_ns();

	talk->took_ms[talk->stage] += (now_ns - talk->stage_ns) / 1000000;
	talk->stage_ns = now_ns;
	for (int i = 0; i < STAGE_COUNT; i++)
		if (json_object_set_new(timing, stages[i], json_integer(talk->took_ms[i])) < 0)
			return NULL;
	return json_object_set_new(
		       timing, "total", json_integer((now_ns - talk->began_ns) / 1000000)) < 0
		? NULL
		: WFS_STEAL(timing);
}

/* --- life --- */

static void release(struct talk *talk)
{
	struct engine *const engine = talk->engine;

	if (talk->requested || talk->stop)
		return;
	*talk->at = talk->next;
	if (talk->next)
		talk->next->at = talk->at;
	json_decref(talk->action);
	wfs_session_free(talk->stopper);
	free(talk);
	engine_one_less(engine);
}

/* @response: taken; may be NULL */
static void end(struct talk *talk, int r, json_t *response, const struct wfs_error *error)
{
	struct wfs_drive *const drive = WFS_STEAL(talk->drive);

	wfs_require(!talk->requested); /* the kernel would have the action */
	json_decref(WFS_STEAL(talk->action));
	drive->status = r;
	drive->result = response;
	if (error)
		drive->error = *error;
	drive->done(drive);
	release(talk);
}

/* --- answers --- */

static json_t *compose(struct talk *talk, const struct response *response)
{
	WFS_AUTO_JSON json_t *nothing = json_array();

	return json_pack("{s:O?, s:O?, s:s?, s:s, s:b, s:O?, s:s, s:o, s:I, s:I, s:O}",
		"checkpoint", response->checkpoint, "details", response->details, "error",
		response->code, "final", response->final ? response->final : "", "ok",
		response->code == NULL, "plan", response->plan, "session_id", talk->session_id,
		"timing_ms", timing_of(talk), "tool_batches",
		(json_int_t)response_number(response, "tool_batches"), "tool_calls_count",
		(json_int_t)response_number(response, "tool_calls"), "tool_results",
		response->results ? response->results : nothing);
}

/* The errno of a code; what it says in words is the caller's. */
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

/* Why it failed, in one line. */
static void tell_failure(const struct response *response, struct wfs_error *error)
{
	const char *const code = response->code;
	const char *const message = wfs_json_text(response->details, "message");

	if (strcmp(code, WFS_CHAT_PLAN_FAILED) == 0)
		(void)wfs_error_set(error, error_of(response),
			"%s: no step is done, %" PRId64 " failed, %" PRId64 " were skipped", code,
			response_number(response, "failed"), response_number(response, "skipped"));
	else if (*message)
		(void)wfs_error_set(error, error_of(response), "%s: %.400s", code, message);
	else if (strcmp(code, WFS_CHAT_CANCELLED) == 0)
		(void)wfs_error_set(error, error_of(response), "%s: it was stopped", code);
	else
		(void)wfs_error_set(error, error_of(response), "%s", code);
}

/*
 * What it was made of goes first: values are not for two threads, and whoever asked has the answer then.
 * @error: of what failed; its code may be WFS_OK, then it follows from the response's
 */
static void respond(struct talk *talk, struct response *response, struct wfs_error *error)
{
	json_t *const composed = compose(talk, response);
	const bool failed = response->code != NULL;

	if (failed && error->code == WFS_OK)
		tell_failure(response, error);
	response_done(response);
	if (!composed)
		end(talk, no_memory(error), NULL, error);
	else
		end(talk, failed ? -wfs_error_info(error->code)->number : 0, composed,
			failed ? error : NULL);
}

/* What goes wrong before there is anything to tell of. */
static void fail(struct talk *talk, const char *code, struct wfs_error *error)
{
	WFS_CLEANUP(response_done)
	struct response response = {.code = code ? code : wfs_error_info(error->code)->name};

	response.details = json_pack(
		"{s:s, s:s}", "message", error->message, "type", wfs_error_info(error->code)->name);
	if (*talk->plan_id && response.details)
		(void)json_object_set_new(response.details, "plan_id", json_string(talk->plan_id));
	respond(talk, &response, error);
}

static void fail_closing(struct talk *talk)
{
	struct wfs_error error;

	(void)wfs_error_set(&error, WFS_E_CANCELLED, CLOSING);
	fail(talk, WFS_CHAT_CANCELLED, &error);
}

/* --- looking --- */

/* One that was imported is not run before somebody says so, and has not failed by that. */
static bool waits_for_resume(const struct talk *talk)
{
	return talk->drive->what == WFS_DRIVE_IMPORT &&
		!json_is_true(json_object_get(talk->drive->params, "resume"));
}

/* The asker gets the private texts that it may read. */
static int reveal(
	struct talk *talk, struct wfs_view *view, json_t **document, struct wfs_error *error)
{
	json_t *revealed;
	int r = wfs_session_reveal(talk->drive->session, view, *document, &revealed, error);

	if (r)
		return r;
	json_decref(*document);
	*document = revealed;
	return 0;
}

/* Return: 1 and an answer, 0: it goes on, or -errno. */
static int look_at_plan(struct talk *talk, struct wfs_view *view, struct response *response,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_plan_state(view, talk->plan_id, &state, error);

	if (r)
		return r;
	enter(talk,
		strcmp(wfs_json_text(state, "phase"), "answering") == 0 ? STAGE_llm_final
									: STAGE_planner_tools);
	if (!response_has_ended(state))
		return 0;
	r = response_take_plan(view, WFS_STEAL(state), waits_for_resume(talk), response, error);
	if (!r)
		r = reveal(talk, view, &response->results, error);
	if (!r)
		r = reveal(talk, view, &response->plan, error);
	return r ? r : 1;
}

/* Return: 1 and an answer, 0: it goes on, or -errno. */
static int look_at(struct talk *talk, struct wfs_view *view, struct response *response,
	struct wfs_error *error)
{
	int r = wfs_chat_message(view, talk->chat_id, &response->message, error);

	if (r)
		return r;
	const char *const status = wfs_json_text(response->message, "status");
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
		wfs_json_text(response->message, "plan_id"));
	return look_at_plan(talk, view, response, error);
}

static void look(struct talk *talk)
{
	WFS_CLEANUP(response_done) struct response response = {.code = NULL};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_error error = {0};
	int r = wfs_view_open(talk->engine->world, WFS_HEIGHT_HEAD, &view, &error);

	if (!r)
		r = *talk->plan_id ? look_at_plan(talk, &view, &response, &error)
				   : look_at(talk, &view, &response, &error);
	wfs_view_close(&view);
	if (r < 0)
		fail(talk, NULL, &error);
	else if (r > 0)
		respond(talk, &response, &error);
}

void chat_look(struct engine *engine, const char *id)
{
	struct talk *next;

	for (struct talk *talk = engine->talks; talk; talk = next) {
		next = talk->next; /* telling one ends it */
		if (talk->drive && *talk->chat_id &&
			(!id || strcmp(talk->chat_id, id) == 0 || strcmp(talk->plan_id, id) == 0))
			look(talk);
	}
}

/* --- beginning --- */

static void stop(struct talk *talk);

/* What waited already in a world that was opened paused is begun now. */
static void begin_open(struct talk *talk)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_error ignored;
	size_t i;
	const json_t *open;

	if (!talk->engine->paused || !*talk->plan_id ||
		wfs_view_open(talk->engine->world, WFS_HEIGHT_HEAD, &view, &ignored) ||
		wfs_plan_state(&view, talk->plan_id, &state, &ignored))
		return;
	wfs_view_close(&view);
	json_array_foreach(json_object_get(state, "open"), i, open)
		work_look(talk->engine, wfs_json_text(open, "intent_id"));
}

static void fail_beginning(struct talk *talk)
{
	struct wfs_error error = talk->request.error;
	const bool resumed = json_object_get(talk->action, "plan_id") != NULL;

	snprintf(
		talk->plan_id, sizeof(talk->plan_id), "%s", wfs_json_text(talk->action, "plan_id"));
	fail(talk, resumed ? WFS_CHAT_RESUME_FAILED : NULL, &error);
}

static void begun(struct engine *engine, struct job *job)
{
	struct talk *const talk = (struct talk *)job;
	WFS_AUTO_JSON json_t *answer = WFS_STEAL(talk->request.answer);

	talk->requested = false;
	if (!talk->drive) {
		release(talk);
		return;
	}
	snprintf(talk->chat_id, sizeof(talk->chat_id), "%s", wfs_json_text(answer, "chat_id"));
	const struct work *const asking =
		*talk->chat_id ? work_of_chat(engine, talk->chat_id) : NULL;
	if (asking && asking->built_ns > 0)
		take_built(talk, asking);
	else
		enter(talk, STAGE_context_build);
	if (talk->request.result) {
		fail_beginning(talk);
		return;
	}
	snprintf(talk->plan_id, sizeof(talk->plan_id), "%s", wfs_json_text(answer, "plan_id"));
	if (talk->at_once) {
		end(talk, 0, WFS_STEAL(answer), NULL);
		return;
	}
	if (engine_stopping(engine)) {
		fail_closing(talk);
		return;
	}
	if (talk->abandoned)
		stop(talk);
	begin_open(talk);
	look(talk); /* it may have ended already */
}

static void on_begun(struct wfs_request *request)
{
	struct talk *const talk = request->context;

	(void)engine_post(talk->engine, &talk->job, begun);
}

/* --- what is asked for --- */

static bool is_blank(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return !*text;
}

static int set_settings(struct talk *talk, struct wfs_error *error)
{
	const json_t *const params = talk->drive->params;
	int64_t concurrency = WFS_PLAN_CONCURRENCY_DEFAULT;
	json_t *const batch = json_object_get(params, "batch_size");
	const char *session_id = WFS_CHAT_SESSION_DEFAULT;
	int r = wfs_json_get_integer(
		params, "max_concurrency", 1, WFS_PLAN_CONCURRENCY_MAX, &concurrency, error);

	if (!r && json_object_get(params, "session_id"))
		r = wfs_json_get_string(params, "session_id", &session_id, error);
	if (r)
		return r;
	snprintf(talk->session_id, sizeof(talk->session_id), "%s", session_id);
	return json_object_set_new(talk->action, "session_id", json_string(session_id)) < 0 ||
			json_object_set_new(talk->action, "batch_size",
				batch ? json_incref(batch) : json_integer(WFS_PLAN_BATCH_DEFAULT)) <
				0 ||
			json_object_set_new(
				talk->action, "max_concurrency", json_integer(concurrency)) < 0 ||
			json_object_set_new(talk->action, "model", json_string(WFS_AGENT_MODEL)) < 0
		? no_memory(error)
		: 0;
}

static int take(struct talk *talk, const char *member, struct wfs_error *error)
{
	json_t *const value = json_object_get(talk->drive->params, member);

	return value && json_object_set(talk->action, member, value) < 0 ? no_memory(error) : 0;
}

/* The code of what is wrong with a request; NULL: nothing that has one. */
static const char *misuse(const json_t *params, bool is_chat)
{
	const json_t *const batch = json_object_get(params, "batch_size");

	if (is_chat &&
		(!json_is_string(json_object_get(params, "message")) ||
			is_blank(wfs_json_text(params, "message"))))
		return WFS_CHAT_INVALID_MESSAGE;
	if (batch &&
		(!json_is_integer(batch) || json_integer_value(batch) < 1 ||
			json_integer_value(batch) > WFS_PLAN_BATCH_MAX))
		return WFS_CHAT_INVALID_BATCH_SIZE;
	return NULL;
}

static int make_chat(struct talk *talk, struct wfs_error *error)
{
	const char *const called_by = talk->drive->called_by.intent_id;
	int r = set_settings(talk, error);

	if (!r)
		r = take(talk, "message", error);
	/* An empty plan_id is none. */
	if (!r && *wfs_json_text(talk->drive->params, "plan_id"))
		r = take(talk, "plan_id", error);
	if (!r && called_by &&
		json_object_set_new(talk->action, "called_by", json_string(called_by)) < 0)
		r = no_memory(error);
	return r;
}

static int make_import(struct talk *talk, struct wfs_error *error)
{
	int r = set_settings(talk, error);

	if (!r)
		r = take(talk, "blob", error);
	if (!r)
		r = take(talk, "rerun", error);
	return r ? r : take(talk, "resume", error);
}

static int make_resume(struct talk *talk, struct wfs_error *error)
{
	const int r = take(talk, "plan_id", error);

	return r ? r : take(talk, "retry_failed", error);
}

static const struct {
	int (*make)(struct talk *talk, struct wfs_error *error);
	int (*submit)(const struct wfs_session *, json_t *, struct wfs_request *);
} kinds[] = {
	[WFS_DRIVE_CHAT] = {make_chat, wfs_session_chat},
	[WFS_DRIVE_IMPORT] = {make_import, wfs_session_plan_import},
	[WFS_DRIVE_RESUME] = {make_resume, wfs_session_plan_resume},
};

static void refuse(struct talk *talk, const char *code)
{
	struct wfs_error error;

	(void)wfs_error_set(&error, WFS_E_INVALID_ARGUMENT, "%s",
		strcmp(code, WFS_CHAT_INVALID_MESSAGE) == 0
			? "'message': expected a text that is not blank"
			: "'batch_size': expected an integer from 1 to 200");
	fail(talk, code, &error);
}

static void start(struct engine *engine, struct job *job)
{
	struct talk *const talk = (struct talk *)job;
	const char *const code = misuse(talk->drive->params, talk->drive->what == WFS_DRIVE_CHAT);
	const char *const session_id =
		json_string_value(json_object_get(talk->drive->params, "session_id"));
	struct wfs_error error = {0};

	engine->open_count++;
	talk->next = engine->talks;
	talk->at = &engine->talks;
	if (talk->next)
		talk->next->at = &talk->next;
	engine->talks = talk;
	snprintf(talk->session_id, sizeof(talk->session_id), "%s",
		session_id ? session_id : WFS_CHAT_SESSION_DEFAULT);
	if (engine_stopping(engine)) {
		fail_closing(talk);
		return;
	}
	if (talk->drive->called_by.began) {
		snprintf(talk->chat_id, sizeof(talk->chat_id), "%s", talk->drive->called_by.began);
		look(talk);
		return;
	}
	if (code) {
		refuse(talk, code);
		return;
	}
	if (kinds[talk->drive->what].make(talk, &error)) {
		fail(talk, NULL, &error);
		return;
	}
	talk->requested = true;
	talk->request = (struct wfs_request){.done = on_begun, .context = talk};
	if (kinds[talk->drive->what].submit(talk->drive->session, talk->action, &talk->request)) {
		talk->requested = false;
		fail_beginning(talk);
	}
}

void chat_begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	struct engine *const engine = (struct engine *)driver;
	struct talk *const talk = calloc(1, sizeof(*talk));
	json_t *const action = json_object();

	if (talk && action) {
		talk->engine = engine;
		talk->drive = drive;
		talk->action = action;
		talk->at_once = json_is_false(json_object_get(drive->params, "wait"));
		talk->began_ns = talk->stage_ns = wfs_clock_monotonic_ns();
		talk->ticket = drive->ticket = engine_ticket(engine);
		if (engine_post(engine, &talk->job, start))
			return;
	}
	json_decref(action);
	drive->status = talk ? wfs_error_set(&drive->error, WFS_E_CANCELLED, "%s", CLOSING)
			     : no_memory(&drive->error);
	free(talk);
	drive->done(drive);
}

/* --- going away --- */

static void stopped(struct engine *engine, struct job *job)
{
	struct talk *const talk = (struct talk *)((char *)job - offsetof(struct talk, leaving));

	(void)engine;
	json_decref(WFS_STEAL(talk->stop));
	json_decref(WFS_STEAL(talk->stopping.answer));
	if (!talk->drive)
		release(talk);
}

static void on_stopped(struct wfs_request *request)
{
	struct talk *const talk = request->context;

	(void)engine_post(talk->engine, &talk->leaving, stopped);
}

/* The end of the plan ends the waiting. */
static void stop(struct talk *talk)
{
	struct wfs_error ignored;

	if (wfs_session_new(talk->engine->authority, wfs_session_principal(talk->drive->session),
		    &talk->stopper, &ignored))
		return;
	talk->stop = *talk->plan_id ? json_pack("{s:s}", "plan_id", talk->plan_id)
				    : json_pack("{s:s}", "chat_id", talk->chat_id);
	if (!talk->stop)
		return;
	talk->stopping = (struct wfs_request){.done = on_stopped, .context = talk};
	if (wfs_session_leave_plan(talk->stopper, talk->stop, &talk->stopping))
		json_decref(WFS_STEAL(talk->stop));
}

void chat_leave(struct engine *engine, uint64_t ticket)
{
	struct talk *talk = engine->talks;

	while (talk && talk->ticket != ticket)
		talk = talk->next;
	if (!talk || talk->abandoned || !talk->drive)
		return;
	talk->abandoned = true;
	if (*talk->chat_id)
		stop(talk);
}

void chat_drop_all(struct engine *engine)
{
	struct talk *next;

	for (struct talk *talk = engine->talks; talk; talk = next) {
		next = talk->next;
		if (talk->drive && !talk->requested)
			fail_closing(talk);
	}
}
