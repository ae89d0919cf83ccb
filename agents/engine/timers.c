/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/timers.h"

#include "agents/engine/chat.h"
#include "agents/engine/run.h"
#include "agents/engine/wait.h"
#include "agents/engine/work.h"
#include "caps/authority.h"
#include "caps/driving-timer.h"
#include "caps/session-act.h"
#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/world-file.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

enum {
	FIRINGS_MAX = 64,     /* timers that fire at once */
	AGAIN_MS = 1000,      /* after which a request is repeated that the kernel could not take */
	LOOK_MS = 1000,       /* the longest sleep while a timer waits: the clock may be set */
	JUMP_NS = 1000000000, /* by which clocks must differ to count as set */
	LEFT_OUT_MAX = 2000,  /* timers that a look leaves out; others get their turn in the next */
	REST_MANY = 256,      /* after a look that left out more, the next one waits */
	REST_MS = 20,         /* so long */
};

/* A timer that fires. */
struct firing {
	struct job job;
	struct engine *engine;
	LIST_ENTRY(firing) all;
	struct wfs_document_timer timer; /* owned */
	struct wfs_fired fired;          /* borrows from `timer` */
	struct wfs_session *session;     /* owned; of the timer's principal */
	json_t *action;                  /* revealed; owned */
	bool waits;                      /* it is tried again at `again_ns`, monotonic */
	int64_t again_ns;
	bool given_up; /* `request` records that it does not fire */
	struct wfs_request request;
	struct wfs_drive drive; /* of a step or chat */
};

/* --- ends of firings --- */

static void firing_free(struct firing *firing)
{
	struct engine *const engine = firing->engine;

	LIST_REMOVE(firing, all);
	engine->timers.count--;
	wfs_session_free(firing->session);
	json_decref(firing->action);
	wfs_document_done(&firing->timer);
	free(firing);
	engine_one_less(engine);
}

static void try_later(struct firing *firing)
{
	firing->waits = true;
	firing->again_ns = wfs_clock_monotonic_ns() + AGAIN_MS * MS_NS;
}

static bool is_passing(int r, const struct wfs_error *error)
{
	return r == -ENOSPC || r == -EAGAIN || r == -ENOMEM || r == -EINTR ||
		(r == -EDQUOT && error->code != WFS_E_QUOTA_EXCEEDED &&
			error->code != WFS_E_INSUFFICIENT_FUNDS);
}

static void settle(struct firing *firing, int r, const struct wfs_error *error);

static void answered(struct engine *engine, struct job *job)
{
	struct firing *const firing = CONTAINER_OF(job, struct firing, job);
	const struct wfs_error error = firing->request.error;

	json_decref(WFS_STEAL(firing->request.answer));
	/* A refusal that was recorded moved the timer on, too. */
	if (firing->request.result == 0 || firing->request.seq != UINT64_MAX)
		firing_free(firing);
	else
		settle(firing, firing->request.result, &error);
	timers_look(engine);
}

static struct wfs_request *prepare(struct firing *firing)
{
	firing->request = engine_request(firing->engine, &firing->job, answered);
	firing->request.fired = firing->fired;
	return &firing->request;
}

/* Records that the timer does not fire. If the principal cannot even pay for that, the timer ends:
 * otherwise it would be due for ever. */
static void give_up(struct firing *firing, const struct wfs_error *error)
{
	if (firing->given_up)
		firing->fired.how = WFS_FIRED_LAST;
	firing->given_up = true;
	struct wfs_request *const request = prepare(firing);
	request->error = *error;
	if (wfs_session_give_up(firing->session, firing->action, request))
		try_later(firing);
}

/* Nothing was recorded: tries again, or gives up, unless the due time does not wait any more.
 * @r: -errno, for the reason @error */
static void settle(struct firing *firing, int r, const struct wfs_error *error)
{
	struct wfs_error ignored = {0};
	const bool ends = firing->fired.how == WFS_FIRED_LAST;
	const int waits = wfs_driving_fires(
		&firing->engine->driving, firing->timer.principal, &firing->fired, &ignored);

	if (waits == 0 || engine_stopping(firing->engine))
		firing_free(firing);
	else if (waits < 0 || ends || is_passing(r, error))
		try_later(firing);
	else
		give_up(firing, error);
}

/* --- steps and chats --- */

static void driven(struct engine *engine, struct job *job)
{
	struct firing *const firing = CONTAINER_OF(job, struct firing, job);
	struct wfs_drive *const drive = &firing->drive;

	json_decref(WFS_STEAL(drive->result));
	if (drive->status == 0)
		firing_free(firing);
	else
		settle(firing, drive->status, &drive->error);
	timers_look(engine);
}

static void drive_done(struct wfs_drive *drive)
{
	struct firing *const firing = drive->context;

	(void)engine_post(firing->engine, &firing->job, driven);
}

/* The turn or plan goes on by itself, so the firing ends when it has begun. */
static int drive(struct firing *firing, const struct wait_kind *kind, enum wfs_drive_what what,
	struct wfs_error *error)
{
	if (json_object_set_new(firing->action, "wait", json_false()) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "fire a timer");
	(void)json_object_del(firing->action, "action_type");
	firing->drive = (struct wfs_drive){.what = what,
		.session = firing->session,
		.params = firing->action,
		.fired = firing->fired,
		.done = drive_done,
		.context = firing};
	wait_begin(firing->engine, kind, &firing->drive);
	return 0;
}

/* --- beginning --- */

static int fire_now(struct firing *firing, struct wfs_error *error)
{
	const char *const type = wfs_json_text(firing->action, "action_type");
	int r = firing->fired.how == WFS_FIRED_DUE
		? wfs_session_judge(firing->session, WFS_EFFECT_ACTION_SCHEDULE, error)
		: wfs_error_set(error, WFS_E_TIMEOUT, "the due time was missed");

	if (r)
		return r;
	if (strcmp(type, "step") == 0)
		return drive(firing, &wait_for_runs, WFS_DRIVE_STEP, error);
	if (strcmp(type, "chat") == 0)
		return drive(firing, &wait_for_plan, WFS_DRIVE_CHAT, error);
	struct wfs_request *const request = prepare(firing);
	r = wfs_session_fire(firing->session, firing->action, request);
	if (r) /* otherwise the kernel's thread has the request */
		*error = request->error;
	return r;
}

/* Due times before the clock was set forward, or while this machine slept, were missed. */
static int64_t look_at_clocks(struct engine *engine)
{
	struct timers *const timers = &engine->timers;
	const int64_t now_ns = wfs_clock_realtime_ns();
	const int64_t ahead_ns = now_ns - wfs_clock_monotonic_ns();
	const int64_t jump_ns = ahead_ns - timers->ahead_ns;

	if (jump_ns > JUMP_NS || jump_ns < -JUMP_NS)
		timers->since_ns = now_ns;
	timers->ahead_ns = ahead_ns;
	return now_ns;
}

/* @firing: has its timer; what it lacks is found first */
static void fire(struct firing *firing)
{
	struct engine *const engine = firing->engine;
	const int64_t now_ns = look_at_clocks(engine); /* it may have been set since the look */
	struct wfs_error error = {0};
	int r = 0;

	firing->waits = false;
	firing->given_up = false;
	json_decref(WFS_STEAL(firing->action));
	if (!firing->session)
		r = wfs_session_new(
			engine->authority, firing->timer.principal, &firing->session, &error);
	if (!r)
		r = wfs_driving_timer_action(
			firing->session, &firing->timer, &firing->action, &error);
	if (!r)
		r = wfs_driving_firing(
			&firing->timer, engine->timers.since_ns, now_ns, &firing->fired, &error);
	if (r) {
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING, "a timer cannot fire, trying again: %s",
			error.message);
		try_later(firing);
		return;
	}
	r = fire_now(firing, &error);
	if (r)
		settle(firing, r, &error);
}

/* --- looking --- */

/* The firings under way, and the timers that the present look has found. */
struct looking {
	const struct engine *engine;
	const struct wfs_due *due;
};

/* One principal fires at most half of what others leave, so that there is room for theirs, however
 * many of its timers are due. */
static bool is_busy(void *context, const char *principal, const char *id)
{
	const struct looking *const looking = context;
	const struct engine *const engine = looking->engine;
	const struct firing *firing;
	size_t own = 0;

	if (!principal)
		return work_is_open(engine, id);
	LIST_FOREACH(firing, &engine->timers.firings, all) {
		if (strcmp(firing->timer.principal, principal) != 0)
			continue;
		if (strcmp(firing->timer.id, id) == 0)
			return true;
		own++;
	}
	for (size_t i = 0; i < looking->due->count; i++)
		own += strcmp(looking->due->timers[i].principal, principal) == 0;
	const size_t others = engine->timers.count + looking->due->count - own;
	return own > 0 && own >= (FIRINGS_MAX - others) / 2;
}

static void begin(struct engine *engine, struct wfs_document_timer *timer)
{
	struct firing *const firing = calloc(1, sizeof(*firing));

	if (!firing)
		return; /* it is found again */
	firing->engine = engine;
	firing->timer = *timer;
	*timer = (struct wfs_document_timer){.own = {.json = NULL}};
	LIST_INSERT_HEAD(&engine->timers.firings, firing, all);
	engine->timers.count++;
	engine->open_count++;
	fire(firing);
}

/* Return: when the first of the firings that wait is tried again, in milliseconds from now. */
static int64_t repeat(struct engine *engine)
{
	const int64_t now_ns = wfs_clock_monotonic_ns();
	int64_t in_ms = INT64_MAX;
	struct firing *next;

	for (struct firing *firing = LIST_FIRST(&engine->timers.firings); firing; firing = next) {
		next = LIST_NEXT(firing, all);
		if (firing->waits && firing->again_ns <= now_ns)
			fire(firing);
	}
	LIST_FOREACH(next, &engine->timers.firings, all)
		if (next->waits && (next->again_ns - now_ns) / MS_NS + 1 < in_ms)
			in_ms = (next->again_ns - now_ns) / MS_NS + 1;
	return in_ms;
}

static void on_due(uv_timer_t *handle)
{
	timers_look(handle->data);
}

/* Sleeps until @next_ns, but not longer than the clock can be believed. */
static void sleep_until(struct engine *engine, int64_t next_ns, int64_t now_ns, int64_t in_ms)
{
	if (next_ns < INT64_MAX) {
		const int64_t due_ms = next_ns > now_ns ? (next_ns - now_ns) / MS_NS + 1 : 0;

		in_ms = due_ms < in_ms ? due_ms : in_ms;
		in_ms = in_ms < LOOK_MS ? in_ms : LOOK_MS;
	}
	if (in_ms == INT64_MAX)
		(void)uv_timer_stop(&engine->timers.due);
	else
		(void)uv_timer_start(&engine->timers.due, on_due, (uint64_t)in_ms, 0);
}

void timers_look(struct engine *engine)
{
	struct timers *const timers = &engine->timers;
	WFS_AUTO_DUE struct wfs_due due = {.timers = NULL};
	struct wfs_error error = {0};

	if (!timers->started || engine_stopping(engine) || timers->looking)
		return;
	const int64_t rest_ns = timers->rest_ns - wfs_clock_monotonic_ns();
	if (rest_ns > 0) {
		(void)uv_timer_start(&timers->due, on_due, (uint64_t)(rest_ns / MS_NS + 1), 0);
		return;
	}
	timers->looking = true; /* what fires may answer at once */
	const int64_t now_ns = look_at_clocks(engine);
	const int64_t in_ms = repeat(engine);
	due.now_ns = now_ns;
	due.max = FIRINGS_MAX - timers->count;
	due.left_out_max = LEFT_OUT_MAX;
	due.place = timers->place;
	struct looking looking = {engine, &due};
	int r = wfs_driving_due(&engine->driving, is_busy, &looking, &due, &error);
	timers->place = due.place;
	if (due.left_out > REST_MANY)
		timers->rest_ns = wfs_clock_monotonic_ns() + REST_MS * MS_NS;
	if (r)
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING, "timers cannot be read, trying again: %s",
			error.message);
	if (due.damaged > 0 && !timers->told_damaged)
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING,
			"damaged timers do not fire: the documents of some cells of sys.timer "
			"cannot have been made by 'schedule'");
	timers->told_damaged |= due.damaged > 0;
	if (due.count + due.wait_count > 0 && !engine_trusts(engine, &error)) {
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING,
			"timers fire when the world is opened again: %s", error.message);
		timers->started = false;
	}
	for (size_t i = 0; timers->started && i < due.count; i++)
		begin(engine, &due.timers[i]);
	for (size_t i = 0; timers->started && i < due.wait_count; i++)
		work_look_due(engine, due.waits[i]);
	timers->looking = false;
	/* With as many firings as there may be, the next answer looks again. */
	sleep_until(engine,
		timers->count >= FIRINGS_MAX ? INT64_MAX
			: r                  ? now_ns + SECOND_NS
					     : due.next_ns,
		now_ns, in_ms);
}

static void look(struct engine *engine, struct job *job)
{
	(void)job;
	atomic_store(&engine->timers.posted, false);
	timers_look(engine);
}

void timers_changed(struct engine *engine)
{
	if (!atomic_exchange(&engine->timers.posted, true))
		(void)engine_post(engine, &engine->timers.job, look);
}

/* --- life --- */

void timers_start(struct engine *engine)
{
	(void)uv_timer_init(&engine->loop, &engine->timers.due); /* cannot fail */
	engine->timers.due.data = engine;
	engine->timers.since_ns = wfs_clock_realtime_ns();
	engine->timers.ahead_ns = engine->timers.since_ns - wfs_clock_monotonic_ns();
	engine->timers.started =
		!engine->paused && !wfs_timers_paused(wfs_authority_directory(engine->authority));
	timers_look(engine);
}

void timers_drop_all(struct engine *engine)
{
	struct firing *next;

	engine->timers.started = false;
	for (struct firing *firing = LIST_FIRST(&engine->timers.firings); firing; firing = next) {
		next = LIST_NEXT(firing, all);
		if (firing->waits)
			firing_free(firing);
	}
}

void timers_close(struct engine *engine)
{
	uv_close((uv_handle_t *)&engine->timers.due, NULL);
}
