/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tool calls of runs and of plans' steps that call outside tools.
 *
 * The call of the tool is an intent of its own (caps/session-outside.h), whose receipt answers the
 * tool call, too. Once that intent is open, the tool call only waits, and ends with its cell. If it
 * ends first, because the run was cancelled or has no time left, the call is cancelled. One that
 * was opened by an earlier process waits for the intent that the cell names.
 */
#include "agents/intent/intent-impl.h"

#include "agents/engine/outside.h"
#include "kernel/base/json.h"

/* A tool call that asks for a call of an outside tool. */
struct asking {
	struct outside_wanted wanted;
	struct work *work;
	json_t *of;       /* artifacts of the private texts in the arguments; owned; NULL: none */
	int64_t limit_ms; /* after which the call fails; INT64_MAX: never */
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call an outside tool")

void ask_outside_done(struct work *work)
{
	struct asking *const asking = WFS_STEAL(work->asking_tool);

	if (!asking)
		return;
	outside_wanted_done(&asking->wanted);
	json_decref(asking->of);
	free(asking);
}

/* The answer of the call that is cancelled answers the tool call. */
static void too_late(struct work *work)
{
	struct wfs_error error;

	if (work_give_up(work->engine, work->began, true))
		return;
	(void)wfs_error_set(&error, WFS_E_TIMEOUT, "the tool timed out after %lld ms",
		(long long)work_elapsed_ms(work));
	work_fail(work, &error);
}

void ask_outside_leave(struct work *work)
{
	if (work->asking_tool && *work->began && !engine_stopping(work->engine))
		(void)work_give_up(work->engine, work->began, false);
}

/* Has the work wait for the answer of the call. */
static void wait_for_answer(struct work *work)
{
	const struct asking *const asking = work->asking_tool;
	struct wfs_error error = {0};

	if (asking->limit_ms < INT64_MAX &&
		work_set_timer(work, (uint64_t)asking->limit_ms, too_late)) {
		(void)no_memory(&error);
		work_fail(work, &error);
	}
}

bool ask_outside_next(struct work *work, const json_t *answer)
{
	const char *const intent_id = wfs_json_text(answer, "intent_id");

	if (!work->asking_tool || work->receipt || work->called.ask)
		return false;
	snprintf(work->began, sizeof(work->began), "%s", intent_id);
	wait_for_answer(work);
	work_look_begun(work->engine, intent_id);
	return true;
}

static int send_ask(struct work *work)
{
	struct asking *const asking = work->asking_tool;
	const bool of_step = strcmp(work->kind->owner, "plan_id") == 0;

	work->called = (struct wfs_session_call){
		.intent_id = work->intent_id, .approved = work->approved, .cannot_wait = of_step};
	return wfs_session_outside_begin(
		work->session, &asking->wanted.call, &work->called, &work->request);
}

static void find(struct work *work)
{
	struct asking *const asking = work->asking_tool;
	struct wfs_error error = {0};
	const int r = outside_find(work->engine, &asking->wanted, &error);

	if (r < 0) {
		work_fail(work, &error);
	} else if (r == 0) {
		asking->wanted.call.of = asking->of;
		work->send = send_ask;
		work_submit(work);
	}
}

static void listed(struct outside_wait *wait)
{
	find(CONTAINER_OF(wait, struct asking, wanted.listing)->work);
}

/* Collects the artifacts of private texts in the arguments. @stored: the call as it is kept, in
 * which those of a run are stand-ins; NULL: work->calling.origin has them already */
static int note_private(struct work *work, const json_t *stored, struct wfs_error *error)
{
	struct agents_origin *const origin = &work->calling.origin;

	if (stored && agents_origin_add_hidden(origin, stored))
		return no_memory(error);
	if (!agents_origin_is_private(origin))
		return 0;
	work->asking_tool->of = agents_origin_list(origin);
	return work->asking_tool->of ? 0 : no_memory(error);
}

static struct asking *asking_new(struct work *work, void (*then)(struct outside_wait *wait))
{
	struct asking *const asking =
		work->asking_tool ? work->asking_tool : calloc(1, sizeof(*asking));

	if (!asking)
		return NULL;
	asking->work = work;
	asking->wanted.listing.then = then;
	return work->asking_tool = asking;
}

static void begin_again(struct outside_wait *wait)
{
	struct work *const work = CONTAINER_OF(wait, struct asking, wanted.listing)->work;

	work->kind->begin(work);
}

bool ask_outside_list(struct work *work, const char *name)
{
	struct asking *const asking = work->asking_tool ? NULL : asking_new(work, begin_again);

	return asking && outside_list(work->engine, work->session, name, &asking->wanted.listing);
}

void ask_outside(struct work *work, const json_t *tool, json_t *arguments, const json_t *stored,
	int64_t limit_ms)
{
	struct asking *const asking = asking_new(work, listed);
	struct wfs_error error = {0};
	int r = asking ? 0 : no_memory(&error);

	if (asking) {
		asking->limit_ms = limit_ms;
		asking->wanted.session = work->session;
		asking->wanted.arguments = json_incref(arguments);
		snprintf(asking->wanted.name, sizeof(asking->wanted.name), "%s",
			wfs_json_text(tool, "outside"));
		r = note_private(work, stored, &error);
	}
	if (r)
		work_fail(work, &error);
	else if (*work->began)
		wait_for_answer(work);
	else
		find(work);
}
