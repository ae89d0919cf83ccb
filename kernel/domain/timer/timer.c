/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, moves on and deletes the cells of timers. */
#include "kernel/domain/timer/timer.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/timer/schedule.h"
#include "kernel/domain/timer/timer-impl.h"
#include "kernel/domain/timer/zone.h"
#include "kernel/read/index.h"

void wfs_timer_key(const char *principal, const char *id, char ret_key[static WFS_TIMER_KEY_SIZE])
{
	snprintf(ret_key, WFS_TIMER_KEY_SIZE, "%s/%s", principal, id);
}

bool timer_is_enabled(const struct wfs_fold *fold)
{
	return fold->manifest &&
		wfs_manifest_reducer_find(
			fold->manifest, wfs_builtin_reducer_name(WFS_BUILTIN_TIMER)) != NULL;
}

/* --- making one --- */

static struct timer_kept *kept_of(const struct wfs_fold *fold)
{
	return fold_kept(fold, "timer");
}

/* Timers that this request has made count, too, also those that were taken back. */
static int check_room(struct wfs_fold *fold, const char *principal, struct wfs_error *error)
{
	const uint64_t made = kept_of(fold)->made;
	struct wfs_index_set set;
	struct wfs_index_sum sum;

	wfs_index_timers(&set, wfs_bytes_text(principal));
	int r = wfs_index_sum_get(fold->head->txn, &set, &sum);
	if (r)
		return wfs_error_from_errno(error, r, "count timers");
	if (sum.count + made >= WFS_TIMERS_PRINCIPAL_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' has %d timers, which is the most that one principal may have",
			principal, WFS_TIMERS_PRINCIPAL_MAX);
	if (fold_live_count(fold, WFS_BUILTIN_TIMER) + made >= WFS_TIMERS_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"the world has %d timers, which is the most that it may have",
			WFS_TIMERS_MAX);
	return 0;
}

/* Finds an id that the principal has not used: `t` and the number of the record. */
static int choose_id(struct wfs_fold *fold, const struct timer_wish *wish,
	char ret_id[static WFS_TIMER_ID_MAX + 1], struct wfs_error *error)
{
	char key[WFS_TIMER_KEY_SIZE];
	int lives = 1;

	for (unsigned int i = 0; lives > 0; i++) {
		snprintf(ret_id, WFS_TIMER_ID_MAX + 1, i ? "t%" PRIu64 ".%u" : "t%" PRIu64,
			fold->head->height, i);
		wfs_timer_key(wish->principal, ret_id, key);
		lives = fold_lives(fold, WFS_BUILTIN_TIMER, key, error);
	}
	return lives;
}

static int check_id(
	struct wfs_fold *fold, const char *principal, const char *id, struct wfs_error *error)
{
	char key[WFS_TIMER_KEY_SIZE];

	wfs_timer_key(principal, id, key);
	int r = fold_lives(fold, WFS_BUILTIN_TIMER, key, error);
	return r > 0
		? wfs_error_set(error, WFS_E_ALREADY_EXISTS, "the timer '%.80s' exists already", id)
		: r;
}

/* The host reads the zone's file once. Code may only give rules, because folding it again must
 * compute the same without files. */
static int find_zone(struct wfs_fold *fold, const struct timer_wish *wish, json_t **ret_zone,
	struct wfs_error *error)
{
	const char *const tz = wish->params->action_schedule.tz;
	struct wfs_zone zone;

	if (!tz)
		return 0;
	if (wish->code && wfs_zone_parse(tz, &zone))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'tz': expected of code a rule, such as CET-1CEST,M3.5.0,M10.5.0/3, got "
			"'%.80s'",
			tz);
	if (!wish->result || wish->code)
		return wfs_trace(wfs_zone_describe(
			tz, fold->input.at_ns / INT64_C(1000000000), ret_zone, error));
	json_t *const recorded = json_object_get(wish->result, "zone");
	if (!recorded || wfs_zone_read(recorded, &zone))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "the record does not describe '%.80s'", tz);
	*ret_zone = json_incref(recorded);
	return 0;
}

/* Sets when the timer is due. A time that is past is due at once. */
static int set_times(struct wfs_fold *fold, const struct wfs_params *params,
	struct wfs_document_timer *timer, struct wfs_error *error)
{
	const int64_t now_ns = fold->input.at_ns;
	int64_t after_ns = now_ns;

	timer->at_ns = -1;
	timer->until_ns = -1;
	if (params->action_schedule.at)
		(void)wfs_schedule_time(params->action_schedule.at, &timer->at_ns);
	else if (params->action_schedule.after_ms >= 0)
		timer->at_ns = wfs_schedule_after(now_ns, params->action_schedule.after_ms);
	if (timer->at_ns >= 0)
		after_ns = timer->at_ns - 1;
	if (params->action_schedule.until)
		(void)wfs_schedule_time(params->action_schedule.until, &timer->until_ns);
	int r = wfs_schedule_next(timer, after_ns, &timer->next_ns);
	return r
		? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "the timer would never be due: no such time comes, or only after 'until'")
		: 0;
}

static int put(struct wfs_fold *fold, const struct timer_wish *wish, const char *id, json_t *zone,
	json_t **ret_answer, struct wfs_error *error)
{
	char key[WFS_TIMER_KEY_SIZE];
	const struct wfs_params *const params = wish->params;
	const char *const catch_up = params->action_schedule.catch_up;
	struct wfs_document_timer timer = {
		.action = wish->action,
		.by = wish->by,
		.catch_up = catch_up ? catch_up : "one",
		.created_ns = fold->input.at_ns,
		.cron = params->action_schedule.cron,
		.every_ms = params->action_schedule.every_ms,
		.id = id,
		.max = params->action_schedule.max,
		.principal = wish->principal,
		.tz = params->action_schedule.tz,
		.zone = zone,
	};
	int r = set_times(fold, params, &timer, error);

	wfs_timer_key(wish->principal, id, key);
	if (!r)
		r = fold_put_timer(fold, key, &timer, error);
	if (r)
		return wfs_trace(r);
	kept_of(fold)->made++;
	*ret_answer = json_pack("{s:s, s:I}", "id", id, "next_ns", (json_int_t)timer.next_ns);
	return *ret_answer ? 0 : fold_no_memory(error);
}

int timer_schedule(struct wfs_fold *fold, const struct timer_wish *wish, json_t **ret_zone,
	json_t **ret_answer, struct wfs_error *error)
{
	const char *const id = wish->params->action_schedule.id;
	WFS_AUTO_JSON json_t *zone = NULL;
	char chosen[WFS_TIMER_ID_MAX + 1];
	int r = wfs_timer_check(wish->params, error);

	if (!r && !timer_is_enabled(fold))
		r = wfs_error_set(error, WFS_E_NOT_ENABLED,
			"the manifest of this world has no timers; apply it again");
	if (!r)
		r = check_room(fold, wish->principal, error);
	if (!r && !id)
		r = choose_id(fold, wish, chosen, error);
	if (r)
		return wfs_trace(r);
	r = id ? check_id(fold, wish->principal, id, error) : 0;
	if (!r)
		r = find_zone(fold, wish, &zone, error);
	if (!r)
		r = put(fold, wish, id ? id : chosen, zone, ret_answer, error);
	if (!r)
		*ret_zone = WFS_STEAL(zone);
	return wfs_trace(r);
}

/* --- for reducers --- */

/* @id: that the timer gets if it names none */
static int schedule_for_reducer(struct wfs_fold *fold, const json_t *given, const char *id,
	json_t **ret_answer, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *asked = given ? wfs_json_copy(given) : json_object();
	WFS_AUTO_JSON json_t *zone = NULL;
	struct wfs_params params;

	if (!asked)
		return fold_no_memory(error);
	wfs_effect_drop_nulls(WFS_EFFECT_ACTION_SCHEDULE, asked);
	int r = wfs_effect_decode(WFS_EFFECT_ACTION_SCHEDULE, asked, &params, error);
	if (r)
		return wfs_trace(r);
	json_t *const action = (json_t *)(uintptr_t)params.action_schedule.action;
	if (strcmp(wfs_json_text(action, "action_type"), "event") != 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'action': expected of a reducer an event, got '%.60s'",
			wfs_json_text(action, "action_type"));
	if (!params.action_schedule.id)
		params.action_schedule.id = id;
	const struct timer_wish wish = {.principal = fold->input.principal,
		.code = true,
		.params = &params,
		.action = action};
	return wfs_trace(timer_schedule(fold, &wish, &zone, ret_answer, error));
}

int timer_ask(const struct wfs_intent *intent, json_t **ret_payload, struct wfs_error *error)
{
	struct wfs_fold *const fold = intent->fold;
	const struct fold_mark mark = fold_mark(fold);
	char hex[WFS_HASH_HEX_SIZE + 1];
	char id[18] = "t";

	wfs_hash_hex(&intent->id, hex);
	memcpy(id + 1, hex, 16);
	const uint64_t made = kept_of(fold)->made;
	int r = schedule_for_reducer(fold, intent->params, id, ret_payload, error);
	fold_take_back(fold, &mark);
	kept_of(fold)->made = made;
	if (!r || strcmp(wfs_error_info(error->code)->category, "system") == 0)
		return wfs_trace(r);
	*ret_payload = json_pack(
		"{s:s, s:s}", "code", wfs_error_info(error->code)->name, "message", error->message);
	return *ret_payload ? -EINVAL : fold_no_memory(error);
}

int timer_effect(struct wfs_fold *fold, enum wfs_effect effect, const json_t *params,
	const json_t *payload, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	return effect == WFS_EFFECT_ACTION_SCHEDULE
		? wfs_trace(schedule_for_reducer(
			  fold, params, wfs_json_text(payload, "id"), &answer, error))
		: 0;
}

int timer_unschedule(struct wfs_fold *fold, const char *principal, const char *by, const char *id,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_timer timer = {.own = {.json = NULL}};
	char key[WFS_TIMER_KEY_SIZE];
	int r = 0;

	if (timer_is_enabled(fold) && wfs_timer_id_valid(id)) {
		wfs_timer_key(principal, id, key);
		r = fold_read_timer(fold, key, &timer, error);
	}
	if (!r && (!timer.own.json || (by && (!timer.by || strcmp(by, timer.by) != 0))))
		r = wfs_error_set(error, WFS_E_NOT_FOUND, "Timer '%.80s' not found", id);
	return wfs_trace(r ? r : fold_delete(fold, timer.own.cell, error));
}

/* --- firing --- */

/* Only due times that have not fired may fire; `one` and `none` may leave some out. */
static int check_due(const struct wfs_document_timer *timer, const struct wfs_fired *fired,
	struct wfs_error *error)
{
	const bool in_order = strcmp(timer->catch_up, "all") == 0 && fired->how == WFS_FIRED_DUE;
	int64_t due_ns = timer->next_ns;

	if (fired->due_ns > timer->next_ns && !in_order &&
		wfs_schedule_next(timer, fired->due_ns - 1, &due_ns))
		due_ns = -1;
	return due_ns == fired->due_ns
		? 0
		: wfs_error_set(error, WFS_E_CONFLICT,
			  "the timer '%.80s' is not due at %" PRId64 ", but next at %" PRId64,
			  timer->id, fired->due_ns, timer->next_ns);
}

static int move_on(struct wfs_fold *fold, struct wfs_document_timer *timer,
	const struct wfs_fired *fired, struct wfs_error *error)
{
	if (fired->how == WFS_FIRED_DUE)
		timer->fired++;
	const bool is_over =
		fired->how == WFS_FIRED_LAST || (timer->max >= 0 && timer->fired >= timer->max);
	int r = is_over ? -ENOENT : wfs_schedule_next(timer, fired->due_ns, &timer->next_ns);
	if (r == -ENOENT)
		return wfs_trace(fold_delete(fold, timer->own.cell, error));
	if (r)
		return wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "the timer '%.80s' is damaged", timer->id);
	return wfs_trace(fold_write_timer(fold, timer, error));
}

int timer_begin(struct wfs_fold *fold, struct wfs_error *error)
{
	const struct wfs_fired *const fired = &fold->input.fired;
	WFS_AUTO_DOCUMENT struct wfs_document_timer timer = {.own = {.json = NULL}};
	char key[WFS_TIMER_KEY_SIZE];

	kept_of(fold)->made = 0;
	if (!fired->timer)
		return 0;
	if (!timer_is_enabled(fold) || !wfs_timer_id_valid(fired->timer))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%.80s': the world has no timers, or this is not the id of one",
			fired->timer);
	wfs_timer_key(fold->input.principal, fired->timer, key);
	int r = fold_read_timer(fold, key, &timer, error);
	if (!r && !timer.own.json && fold->input.partial)
		return 0; /* the action that made it could not be folded */
	const bool is_other = fired->created_ns != 0 && fired->created_ns != timer.created_ns;
	if (!r && (!timer.own.json || is_other))
		r = wfs_error_set(error, WFS_E_NOT_FOUND, "Timer '%.80s' not found", fired->timer);
	if (!r && !fold->input.partial)
		r = check_due(&timer, fired, error);
	return wfs_trace(r ? r : move_on(fold, &timer, fired, error));
}
