/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/driving-timer.h"

#include "caps/caps-impl.h"
#include "caps/driving.h"
#include "caps/session-act.h"
#include "caps/session-read.h"
#include "caps/session-text.h"
#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/schedule.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/read/index.h"
#include "kernel/read/view-document.h"

/* --- finding --- */

void wfs_due_done(struct wfs_due *due)
{
	for (size_t i = 0; i < due->count; i++)
		wfs_document_done(&due->timers[i]);
	free(due->timers);
	free(due->waits);
	*due = (struct wfs_due){.timers = NULL};
}

static int take_wait(
	const struct wfs_entry *entry, wfs_due_busy_fn *busy, void *context, struct wfs_due *due)
{
	char *const wait = due->waits[due->wait_count];
	snprintf(wait, WFS_HASH_TEXT_SIZE, "%.*s", (int)entry->key.size,
		(const char *)entry->key.data);
	const bool is_busy = busy(context, NULL, wait);
	due->left_out += is_busy;
	due->wait_count += !is_busy;
	return 0;
}

/* Is the timer's document one that a schedule can have made? A restored copy may have others. */
static bool is_sound(const struct wfs_document_timer *timer, const char *principal, const char *id)
{
	int64_t due_ns;

	return strcmp(timer->principal, principal) == 0 && strcmp(timer->id, id) == 0 &&
		timer->next_ns >= 0 && !wfs_schedule_next(timer, timer->next_ns - 1, &due_ns) &&
		due_ns == timer->next_ns;
}

/* Its principal and id are those in its key, so the document of a busy one is not read. */
static int take_timer(struct wfs_view *view, const struct wfs_version *version,
	const struct wfs_entry *entry, wfs_due_busy_fn *busy, void *context, struct wfs_due *due)
{
	struct wfs_document_timer *const timer = &due->timers[due->count];
	char key[WFS_TIMER_KEY_SIZE];

	*timer = (struct wfs_document_timer){.own = {.json = NULL}}; /* a damaged one may be left */
	snprintf(key, sizeof(key), "%.*s", (int)entry->key.size, (const char *)entry->key.data);
	char *const slash = strchr(key, '/');
	if (slash)
		*slash = '\0';
	if (slash && busy(context, key, slash + 1)) {
		due->left_out++;
		return 0;
	}
	int r = slash ? wfs_view_read_timer_version(view, version, timer, NULL) : -EIO;
	if (!r && is_sound(timer, key, slash + 1)) {
		due->count++;
		return 0;
	}
	wfs_document_done(&timer->own);
	if (r && r != -EIO)
		return wfs_trace(r);
	due->left_out++;
	due->damaged++;
	return 0;
}

/* Adds the timer or wait of a cell, unless it is busy. */
static int take(struct wfs_view *view, uint64_t cell_id, wfs_due_busy_fn *busy, void *context,
	struct wfs_due *due)
{
	struct wfs_version version;
	struct wfs_entry entry;
	int r = wfs_view_entry(view, cell_id, &entry);

	if (r <= 0)
		return r;
	r = wfs_view_version(view, entry.vid, &version);
	if (!r)
		r = wfs_view_is_of(view, &version, WFS_BUILTIN_WAIT);
	if (r)
		return r < 0 ? r : take_wait(&entry, busy, context, due);
	return wfs_trace(take_timer(view, &version, &entry, busy, context, due));
}

/* Return: 1 (there may be more), 0 (the end), or -errno. */
static int look(struct wfs_view *view, wfs_due_busy_fn *busy, void *context, struct wfs_due *due)
{
	struct wfs_due_place *const place = &due->place;
	struct wfs_index_set set;
	int r = 0;

	wfs_index_due(&set, place->due_ns);
	while (!r && due->count < due->max && due->wait_count < due->max &&
		due->left_out < due->left_out_max) {
		r = wfs_index_next(view->txn, &set, &place->cell_id);
		if (r)
			return r == -ENOENT ? 0 : wfs_trace(r);
		place->due_ns = wfs_index_due_time(&set);
		if (place->due_ns > due->now_ns) {
			due->next_ns = place->due_ns;
			return 0;
		}
		r = take(view, place->cell_id, busy, context, due);
	}
	return r ? wfs_trace(r) : 1;
}

int wfs_driving_due(const struct wfs_driving *driving, wfs_due_busy_fn *busy, void *context,
	struct wfs_due *due, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	const bool is_first = due->place.cell_id == 0;
	int r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);

	due->next_ns = INT64_MAX;
	due->timers = calloc(due->max + 1, sizeof(*due->timers));
	due->waits = calloc(due->max + 1, sizeof(*due->waits));
	if (!r && (!due->timers || !due->waits))
		r = -ENOMEM;
	if (!r)
		r = look(&view, busy, context, due);
	if (r > 0 || !is_first)
		due->next_ns = due->now_ns;
	if (r <= 0)
		due->place = (struct wfs_due_place){0};
	return r < 0 && error->code == WFS_OK ? wfs_error_from_errno(error, r, "look for timers")
		: r < 0                       ? r
					      : 0;
}

/* --- choosing --- */

static int damaged(const struct wfs_document_timer *timer, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "the timer '%s' of '%s' is damaged",
		timer->id, timer->principal);
}

/* The first due time that was not missed, or the last one that was. */
static int choose_none(const struct wfs_document_timer *timer, int64_t since_ns, int64_t now_ns,
	struct wfs_fired *fired)
{
	int r = 0;

	if (timer->next_ns >= since_ns)
		return 0;
	r = wfs_schedule_next(timer, since_ns - 1, &fired->due_ns);
	if (r != -ENOENT && (r || fired->due_ns <= now_ns))
		return r;
	fired->how = WFS_FIRED_LATE;
	return wfs_schedule_last(timer, since_ns - 1, &fired->due_ns);
}

int wfs_driving_firing(const struct wfs_document_timer *timer, int64_t since_ns, int64_t now_ns,
	struct wfs_fired *ret_fired, struct wfs_error *error)
{
	struct wfs_fired fired = {
		.timer = timer->id, .due_ns = timer->next_ns, .created_ns = timer->created_ns};
	int r = 0;

	if (strcmp(timer->catch_up, "one") == 0)
		r = wfs_schedule_last(timer, now_ns, &fired.due_ns);
	else if (strcmp(timer->catch_up, "none") == 0)
		r = choose_none(timer, since_ns, now_ns, &fired);
	if (r)
		return damaged(timer, error);
	*ret_fired = fired;
	return 0;
}

int wfs_driving_fires(const struct wfs_driving *driving, const char *principal,
	const struct wfs_fired *fired, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_timer timer = {.own = {.json = NULL}};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	char key[WFS_TIMER_KEY_SIZE];
	int r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);

	wfs_timer_key(principal, fired->timer, key);
	if (!r)
		r = wfs_view_read_timer(&view, key, &timer, error);
	if (r == -ENOENT)
		return 0;
	if (r)
		return wfs_trace(r);
	return timer.created_ns == fired->created_ns && timer.next_ns <= fired->due_ns;
}

int wfs_driving_wait(const struct wfs_driving *driving, const char *intent_id,
	struct wfs_document_wait *ret_wait, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_document_read_wait(NULL, ret_wait, error);

	if (!r)
		r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = wfs_view_read_wait(&view, intent_id, ret_wait, error);
	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* Return: a new reference; NULL: the session may not read the record, or it is gone. */
static json_t *event_of(const struct wfs_session *session, struct wfs_view *view, int64_t seq)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;

	if (seq < 0 || wfs_session_record(session, view, (uint64_t)seq, &line) ||
		wfs_record_parse(line, &parsed, NULL) || parsed.record.kind != WFS_RECORD_EVENT)
		return NULL;
	return json_pack("{s:s, s:I, s:O}", "schema", parsed.body.event.schema, "seq",
		(json_int_t)seq, "value", parsed.body.event.value);
}

int wfs_driving_waited(const struct wfs_session *session, const struct wfs_document_wait *wait,
	json_t **ret_result, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	*ret_result = json_pack("{s:s, s:o*}", "woken", wait->woken ? wait->woken : "time", "event",
		event_of(session, &view, wait->seq));
	return *ret_result ? 0 : wfs_error_from_errno(error, -ENOMEM, "end a wait");
}

int wfs_driving_timer_action(const struct wfs_session *session,
	const struct wfs_document_timer *timer, json_t **ret_action, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *revealed = NULL;
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_session_reveal(session, &view, timer->action, &revealed, error);
	if (r)
		return wfs_trace(r);
	*ret_action = json_deep_copy(revealed);
	return *ret_action ? 0 : wfs_error_from_errno(error, -ENOMEM, "fire a timer");
}

/* --- firing --- */

static bool is_event(const json_t *action)
{
	return strcmp(wfs_json_text(action, "action_type"), "event") == 0;
}

int wfs_session_fire(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request)
{
	if (!is_event(action))
		return wfs_session_act(session, action, request);
	request->kind = WFS_REQUEST_EVENT;
	request->event.schema = wfs_json_text(action, "schema");
	request->event.value = json_object_get(action, "value");
	request->event.key = json_object_get(action, "key");
	request->event.dedup = json_string_value(json_object_get(action, "dedup"));
	return wfs_session_submit(session, request);
}

/* The effect that the record of a refusal names. */
static enum wfs_effect effect_of(const json_t *action)
{
	static const struct {
		const char *type;
		enum wfs_effect effect;
	} others[] = {{"chat", WFS_EFFECT_PLAN_RUN}, {"event", WFS_EFFECT_EVENT_EMIT},
		{"step", WFS_EFFECT_AGENT_STEP}};
	const enum wfs_effect effect = wfs_action_effect(action);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++)
		if (strcmp(wfs_json_text(action, "action_type"), others[i].type) == 0)
			return others[i].effect;
	return effect < WFS_EFFECT_COUNT ? effect : WFS_EFFECT_ACTION_SCHEDULE;
}

int wfs_session_give_up(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request)
{
	request->kind = WFS_REQUEST_DECISION;
	request->decision = (struct wfs_request_decision){
		.refusal = {.effect = wfs_effect_kind(effect_of(action))}};
	session_sign(session, request);
	return wfs_world_submit(session_world(session), request);
}
