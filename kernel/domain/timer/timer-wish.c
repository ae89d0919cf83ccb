/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a wish for a timer that need no look at the world. */
#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/domain/timer/cron.h"
#include "kernel/domain/timer/schedule.h"
#include "kernel/domain/timer/timer.h"

#define MS_MAX INT64_C(3155760000000) /* of a period: 100 years */

static bool is_word(const char *text)
{
	static const struct wfs_form form = {.kind = WFS_FORM_TEXT, .words = WFS_TIMER_CATCH_UPS};

	return wfs_form_has_word(&form, text);
}

bool wfs_timer_id_valid(const char *id)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return *id && !strchr("._-", *id) && strlen(id) <= WFS_TIMER_ID_MAX &&
		strspn(id, allowed) == strlen(id);
}

static int check_number(
	const char *name, int64_t number, int64_t min, int64_t max, struct wfs_error *error)
{
	if (number < 0 || (number >= min && number <= max))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected %" PRId64 " to %" PRId64 ", got %" PRId64, name, min, max, number);
}

static int check_time(const char *name, const char *text, struct wfs_error *error)
{
	int64_t time_ns;

	if (!text || !wfs_schedule_time(text, &time_ns))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected a time of RFC 3339, such as 2026-11-27T08:00:00+01:00, got '%.80s'",
		name, text);
}

/* --- the action --- */

/* Members of a chat that begins by itself, as those of ctl/chat; the driver checks them. */
static const struct wfs_field chat_fields[] = {
	{"batch_size", &wfs_form_value, WFS_NULLABLE},
	{"max_concurrency", &wfs_form_value, WFS_NULLABLE},
	{"message", &wfs_form_text},
	{"plan_id", &wfs_form_text, WFS_NULLABLE},
	{"session_id", &wfs_form_text, WFS_NULLABLE},
	{"wait", &wfs_form_bool, WFS_NULLABLE},
	{NULL},
};
static const struct wfs_form chat_form = {.kind = WFS_FORM_RECORD, .fields = chat_fields};

static int check_step(json_t *params, struct wfs_error *error)
{
	struct wfs_params decoded;

	wfs_effect_drop_nulls(WFS_EFFECT_AGENT_STEP, params);
	int r = wfs_effect_decode(WFS_EFFECT_AGENT_STEP, params, &decoded, error);
	if (!r && decoded.agent_step.turns > 1)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'turns': expected 1, because a timer does not wait, got %" PRId64,
			decoded.agent_step.turns);
	return r;
}

static int check_event(json_t *params, struct wfs_error *error)
{
	struct wfs_params decoded;

	wfs_effect_drop_nulls(WFS_EFFECT_EVENT_EMIT, params);
	return wfs_effect_decode(WFS_EFFECT_EVENT_EMIT, params, &decoded, error);
}

static int check_chat(json_t *params, struct wfs_error *error)
{
	return wfs_form_read(&chat_form, "chat", params, NULL, error);
}

static int check_form(const json_t *action, struct wfs_error *error)
{
	static const struct {
		const char *type;
		int (*check)(json_t *params, struct wfs_error *error);
	} others[] = {{"chat", check_chat}, {"event", check_event}, {"step", check_step}};
	const char *const type = wfs_json_text(action, "action_type");
	WFS_AUTO_JSON json_t *params = wfs_json_copy(action);

	if (wfs_action_effect(action) < WFS_EFFECT_COUNT)
		return wfs_action_check_form(action, error);
	if (!params)
		return wfs_error_from_errno(error, -ENOMEM, "check an action");
	(void)json_object_del(params, "action_type");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++)
		if (strcmp(type, others[i].type) == 0)
			return others[i].check(params, error);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'action_type': expected an action, or chat, event or step, got '%.60s'", type);
}

static int check_action(const json_t *action, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error reason = {0};

	wfs_json_write(action, &text);
	if (wfs_buffer_check(&text))
		return wfs_error_from_errno(error, -ENOMEM, "check an action");
	if (text.size > WFS_TIMER_ACTION_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'action': expected at most %d bytes, got %zu", WFS_TIMER_ACTION_MAX,
			text.size);
	int r = check_form(action, &reason);
	return r ? wfs_error_set(error, reason.code, "'action': %.400s", reason.message) : 0;
}

/* --- the wish --- */

static int check_when(const struct wfs_params *params, struct wfs_error *error)
{
	const int count = (params->action_schedule.at != NULL) +
		(params->action_schedule.after_ms >= 0) + (params->action_schedule.every_ms >= 0) +
		(params->action_schedule.cron != NULL);
	struct wfs_cron cron;

	if (count != 1)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected exactly one of at, after_ms, every_ms and cron, got %d", count);
	if (params->action_schedule.tz && !params->action_schedule.cron)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'tz': expected only together with cron");
	int r = check_time("at", params->action_schedule.at, error);
	if (!r)
		r = check_number("after_ms", params->action_schedule.after_ms, 0, MS_MAX, error);
	if (!r)
		r = check_number("every_ms", params->action_schedule.every_ms, WFS_TIMER_PERIOD_MS,
			MS_MAX, error);
	if (!r && params->action_schedule.cron)
		r = wfs_cron_parse(params->action_schedule.cron, &cron, error);
	return r;
}

int wfs_timer_check(const struct wfs_params *params, struct wfs_error *error)
{
	const char *const id = params->action_schedule.id;
	const char *const catch_up = params->action_schedule.catch_up;
	int r = check_when(params, error);

	if (!r)
		r = check_time("until", params->action_schedule.until, error);
	if (!r)
		r = check_number("max", params->action_schedule.max, 1, INT64_MAX, error);
	if (!r && id && !wfs_timer_id_valid(id))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'id': expected a name of letters, digits and ._-, a letter or digit "
			"first, at most %d bytes, got '%.80s'",
			WFS_TIMER_ID_MAX, id);
	if (!r && catch_up && !is_word(catch_up))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'catch_up': expected one, all or none, got '%.60s'", catch_up);
	return r ? r : check_action(params->action_schedule.action, error);
}
