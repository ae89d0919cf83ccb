/* SPDX-License-Identifier: Apache-2.0 */
/* Actions on a turn that waits for a time or an event (kernel/domain/timer/wait.h). */
#include "kernel/domain/timer/wait.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/schedule.h"
#include "kernel/domain/turn/turn-impl.h"

#define AFTER_MS_MAX INT64_C(3155760000000) /* 100 years */

static int check_wait(const char *name, const json_t *action, struct wfs_error *error)
{
	const json_t *const at = json_object_get(action, "at");
	int64_t after_ms = -1;
	int64_t time_ns;
	int r = wfs_json_get_integer(action, "after_ms", 0, AFTER_MS_MAX, &after_ms, error);

	(void)name;
	if (!r && (at != NULL) == (after_ms >= 0))
		r = wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "expected exactly one of at and after_ms");
	if (!r && at && (!json_is_string(at) || wfs_schedule_time(json_string_value(at), &time_ns)))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'at': expected a time of RFC 3339, such as 2026-11-27T08:00:00+01:00");
	return r;
}
static const struct wfs_field wait_fields[] = {
	{"intent_id", &wfs_form_text}, {"until_event", &wfs_form_text, WFS_OPTIONAL}, {NULL}};
const struct wfs_form turn_wait_form = {
	.members = "action_type after_ms? at? intent_id until_event?",
	.fields = wait_fields,
	.then = check_wait};
static const struct wfs_field wake_fields[] = {{"turn_id", &wfs_form_text}, {NULL}};
const struct wfs_form turn_wake_form = {.members = "action_type turn_id", .fields = wake_fields};

static int answer_with(const struct turn *turn, json_t **ret_answer, struct wfs_error *error)
{
	*ret_answer = json_pack("{s:s}", "run_id", turn->run_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* Marks the call in the run's state, so that each version of the state has the run's status. */
static void mark(struct turn *turn, int64_t index)
{
	size_t i;
	json_t *open;

	json_array_foreach(turn->state.open, i, open) {
		const json_t *const call = json_object_get(open, "call");

		if (call && json_integer_value(call) == index)
			turn->failed |= json_object_set_new(open, "waits", json_true()) < 0;
	}
}

static int64_t due_of(const struct wfs_fold *fold, const json_t *action)
{
	const json_t *const at = json_object_get(action, "at");
	int64_t due_ns = wfs_schedule_after(
		fold->input.at_ns, json_integer_value(json_object_get(action, "after_ms")));

	if (at)
		(void)wfs_schedule_time(json_string_value(at), &due_ns);
	return due_ns;
}

int turn_fold_wait(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const id = wfs_json_text(action, "intent_id");
	TURN_AUTO struct turn turn = {.fold = fold};
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	int r = intent_load(fold, id, &intent, error);

	if (!r && (intent.call < 0 || strcmp(intent.principal, fold->input.principal) != 0))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is no tool call of '%s'", id, fold->input.principal);
	if (!r && strcmp(intent.state, "waiting") == 0)
		r = wfs_error_set(error, WFS_E_CONFLICT, "the call waits already");
	if (!r)
		r = turn_load(fold, intent.run_id, &turn, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_document_wait wait = {
		.intent_id = id,
		.next_ns = due_of(fold, action),
		.principal = intent.principal,
		.run_id = intent.run_id,
		.seq = -1,
		.until_event = json_string_value(json_object_get(action, "until_event")),
	};
	r = timer_wait_begin(fold, &wait, error);
	intent.state = "waiting";
	if (!r)
		r = fold_write_intent(fold, &intent, error);
	mark(&turn, intent.call);
	if (!r)
		r = turn_store(&turn, error);
	return wfs_trace(r ? r : answer_with(&turn, ret_answer, error));
}

int turn_fold_wake(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const run_id = wfs_json_text(action, "turn_id");
	TURN_AUTO struct turn turn = {.fold = fold};
	bool woken = false;
	size_t i;
	json_t *open;
	int r = turn_load(fold, run_id, &turn, error);

	json_array_foreach(turn.state.open, i, open) {
		if (r < 0 || !json_is_true(json_object_get(open, "waits")))
			continue;
		r = timer_wait_wake(fold, wfs_json_text(open, "intent_id"), "step", -1, error);
		woken |= r > 0;
		(void)json_object_del(open, "waits");
	}
	if (r < 0)
		return wfs_trace(r);
	if (!woken)
		return wfs_error_set(error, WFS_E_CONFLICT,
			"turn '%s' does not wait for a time or an event", run_id);
	r = turn_store(&turn, error);
	return wfs_trace(r ? r : answer_with(&turn, ret_answer, error));
}
