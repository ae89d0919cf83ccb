/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions on timers (kernel/domain/timer/timer.h). A principal makes timers of its own. Code makes
 * timers of its author, which only invoke the artifact that has the code: so they can do no more
 * than the code itself.
 */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/timer.h"

static const char *principal_of(const struct act *act)
{
	return act->within ? act->within->author : act->actor;
}

static const char *artifact_of(const struct act *act)
{
	return act->within ? act->within->id : NULL;
}

/* Are the arguments of an invocation for some principals only? */
static bool are_private(const struct wfs_document_artifact *artifact, const json_t *action)
{
	const json_t *const method = json_object_get(action, "method");

	return !wfs_artifact_is_open(artifact) ||
		interface_has_secrets(artifact->interface,
			json_is_string(method) ? json_string_value(method) : "run");
}

/* The cell shows the arguments, so private ones must not be in it. */
static int check_code(struct act *act, const json_t *action, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	const char *const self = act->within->id;
	int r = artifact_get(act->fold, self, &artifact, error);

	if (r)
		return wfs_trace(r);
	if (wfs_action_effect(action) != WFS_EFFECT_ACTION_INVOKE_ARTIFACT ||
		strcmp(wfs_json_text(action, "artifact_id"), self) != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'action': expected of code an invoke_artifact of '%s' itself", self);
	if (json_object_get(action, "args") && are_private(&artifact, action))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'args': expected none, because those of '%s' are private, and everybody "
			"can read the action of a timer",
			self);
	return *act->within->author ? 0
				    : wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
					      "the code of '%s' has no author", self);
}

int act_action_schedule(struct act *act, struct wfs_error *error)
{
	const json_t *const given = act->params.action_schedule.action;
	const json_t *const kept = json_object_get(act->kept, "action");
	const struct timer_wish wish = {
		.principal = principal_of(act),
		.by = artifact_of(act),
		.code = act->within != NULL,
		.params = &act->params,
		.action = (json_t *)(uintptr_t)(kept ? kept : given),
		.result = act->recorded ? act->recorded->result : NULL,
	};
	char next[WFS_UTC_SIZE];
	int r = act->within ? check_code(act, given, error) : 0;

	if (!r)
		r = timer_schedule(act->fold, &wish, &act->zone, &act->data, error);
	if (r)
		return wfs_trace(r);
	wfs_clock_utc(json_integer_value(json_object_get(act->data, "next_ns")), next);
	snprintf(act->message, sizeof(act->message), "Timer %s is next due at %s",
		wfs_json_text(act->data, "id"), next);
	return 0;
}

int act_action_unschedule(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_unschedule.id;
	int r = timer_unschedule(act->fold, principal_of(act), artifact_of(act), id, error);

	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Timer %s was deleted", id);
	act->data = json_pack("{s:s}", "id", id);
	return act->data ? 0 : fold_no_memory(error);
}
