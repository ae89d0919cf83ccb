/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the tools `step` and `chat` in a turn: `step` has an agent take a turn, `chat` has the
 * model `default` answer, with a plan if it needs tools.
 *
 * A call is the verb of that name, with the calling agent as the principal: it is judged, paid,
 * recorded and answered like the verb. No thread waits for it, but a struct wait
 * (agents/engine/wait.h). What the call begins names the call's intent, and the intent names what
 * was begun: a call that is still open when the world is opened again waits for that, and begins
 * nothing.
 *
 * If the call ends first (its turn was cancelled, or has no time left), what it has begun is
 * cancelled. If the process died before that, a turn ends when it next asks for something:
 * wfs_driving_run(). A plan continues to its end; it begins no further calls, because steps of
 * plans do not have these tools.
 */
#include "agents/intent/intent-impl.h"

#include "caps/session-read.h"
#include "caps/session-text.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/value/output.h"

/* One call. It may outlive its work: it is freed when the turn or chat has ended. */
struct driving {
	struct job job; /* first; posted when the turn or chat has ended */
	struct engine *engine;
	struct work *work;           /* NULL: the answer is not wanted any more */
	struct wfs_session *session; /* of the agent that calls; owned */
	char intent_id[WFS_HASH_TEXT_SIZE];
	char began[WFS_CHAT_ID_MAX + 1];
	char *tool_name;   /* owned */
	json_t *arguments; /* owned */
	struct wfs_helper_call call;
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call a tool")

static void driving_free(struct driving *driving)
{
	wfs_session_free(driving->session);
	json_decref(driving->arguments);
	free(driving->tool_name);
	free(driving);
}

/* --- the answer --- */

/* The reason why an agent cannot take a turn may quote its content, which may be private. A
 * principal that may not have it take a turn gets no such reason. */
static bool quotes_private(const struct driving *driving)
{
	const char *const agent = wfs_json_text(driving->arguments, "agent");
	WFS_CLEANUP(agents_origin_done) struct agents_origin origin = {.of = NULL};
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_error ignored;

	if (!*agent || driving->call.details)
		return false;
	if (wfs_session_view(driving->session, WFS_HEIGHT_HEAD, &view, &ignored) ||
		agents_origin_add_agent(&origin, driving->session, agent, &ignored))
		return true;
	return agents_origin_is_private(&origin) &&
		wfs_session_find_agent(driving->session, &view, agent, &ignored) == 0;
}

/* Is the error about the request, and not about the agent? */
static bool is_refusal(enum wfs_error_code code)
{
	return code == WFS_E_NOT_AUTHORIZED || code == WFS_E_POLICY_DENIED ||
		code == WFS_E_EXPIRED || code == WFS_E_QUOTA_EXCEEDED ||
		code == WFS_E_DEPTH_EXCEEDED || code == WFS_E_OVERLOADED ||
		code == WFS_E_INSUFFICIENT_FUNDS;
}

static void tell_failure(struct work *work, const struct driving *driving)
{
	struct wfs_error error = driving->call.error;

	if (error.code == WFS_OK)
		(void)wfs_error_from_errno(&error, driving->call.status, "call a tool");
	if (!is_refusal(error.code) && quotes_private(driving))
		(void)wfs_error_set(&error, error.code, "%s; " AGENTS_REASON_LEFT_OUT,
			"the agent cannot take a turn");
	work->failure_meta = json_incref(driving->call.meta);
	work_fail(work, &error);
}

static void tell_result(struct work *work, const struct driving *driving)
{
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};

	wfs_json_write(driving->call.result, &output);
	call_answer(work, driving->session, &output, work_elapsed_ms(work));
}

static void driven(struct engine *engine, struct job *job)
{
	struct driving *const driving = (struct driving *)job;
	struct work *const work = driving->work;

	if (work)
		work->driving = NULL;
	/* Closing the world ends the wait, but not the turn or plan. */
	if (work && engine_stopping(engine))
		work_free(work);
	else if (work && driving->call.status)
		tell_failure(work, driving);
	else if (work)
		tell_result(work, driving);
	engine->helpers->release(&driving->call);
	driving_free(driving);
	engine_one_less(engine);
}

/* On any thread. */
static void on_driven(struct wfs_helper_call *call)
{
	struct driving *const driving = call->context;

	(void)engine_post(driving->engine, &driving->job, driven);
}

/* --- the call --- */

void drive_leave(struct work *work)
{
	struct driving *const driving = WFS_STEAL(work->driving);

	if (!driving)
		return;
	driving->work = NULL;
	if (!engine_stopping(work->engine))
		work->engine->helpers->abandon(&driving->call);
}

static void too_late(struct work *work)
{
	struct wfs_error error;

	(void)wfs_error_set(&error, WFS_E_TIMEOUT,
		"the calling run has used up its time, %lld ms of it in this call",
		(long long)work_elapsed_ms(work));
	drive_leave(work);
	work_fail(work, &error);
}

static enum wfs_effect effect_of(const json_t *arguments)
{
	return json_object_get(arguments, "agent") ? WFS_EFFECT_AGENT_STEP : WFS_EFFECT_PLAN_RUN;
}

static struct driving *driving_new(
	struct work *work, const char *tool_name, const json_t *arguments, struct wfs_error *error)
{
	struct driving *const driving = calloc(1, sizeof(*driving));

	if (!driving) {
		(void)no_memory(error);
		return NULL;
	}
	driving->engine = work->engine;
	driving->tool_name = strdup(tool_name);
	driving->arguments = json_deep_copy(arguments);
	memcpy(driving->intent_id, work->intent_id, sizeof(driving->intent_id));
	memcpy(driving->began, work->began, sizeof(driving->began));
	int r = driving->tool_name && driving->arguments
		? wfs_session_new(work->engine->authority, wfs_session_principal(work->session),
			  &driving->session, error)
		: no_memory(error);
	if (!r && wfs_session_note_private(driving->session))
		r = no_memory(error);
	if (r) {
		driving_free(driving);
		return NULL;
	}
	if (work->approved)
		wfs_session_approve_call(driving->session, effect_of(arguments));
	driving->call = (struct wfs_helper_call){.session = driving->session,
		.driver = &work->engine->driver,
		.name = driving->tool_name,
		.arguments = driving->arguments,
		.called_by = {driving->intent_id, *driving->began ? driving->began : NULL},
		.done = on_driven,
		.context = driving};
	return driving;
}

int drive_begin(struct work *work, const char *tool_name, const json_t *arguments, int64_t left_ms,
	struct wfs_error *error)
{
	const char *const agent = json_string_value(json_object_get(arguments, "agent"));

	if (!*work->began) {
		const int r = work_wait_for_approval(work, effect_of(arguments), agent, error);

		if (r)
			return r > 0 ? 0 : r;
	}
	struct driving *const driving = driving_new(work, tool_name, arguments, error);
	if (!driving)
		return -wfs_error_info(error->code)->number;
	if (left_ms < INT64_MAX && work_set_timer(work, (uint64_t)left_ms, too_late)) {
		driving_free(driving);
		return no_memory(error);
	}
	work->engine->open_count++;
	work->driving = driving;
	driving->work = work;
	work->engine->helpers->begin(&driving->call);
	return 0;
}
