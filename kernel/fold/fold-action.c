/* SPDX-License-Identifier: Apache-2.0 */
/* Folding an action: its domain does or refuses it, and its record tells what came of it. */
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/fold/fold-work.h"
#include "kernel/fold/intent.h"

/* A failure is recorded if the action itself is the cause, or if code ended its process, because
 * this code must not run again. Failures of the host are not recorded. */
static bool is_refusal(const struct wfs_error *error)
{
	if (error->code == WFS_E_CODE_CRASHED)
		return true;
	return error->code != WFS_OK &&
		strcmp(wfs_error_info(error->code)->category, "system") != 0;
}

/* Does the action. Its form was checked when it was sent, but perhaps by another manifest. */
static int do_action(struct wfs_fold *fold, struct wfs_error *error)
{
	const json_t *const action = fold->input.action;
	const struct wfs_action_type *const type =
		wfs_domain_action(fold->domains, wfs_json_text(action, "action_type"));

	if (type && type->fold_whole)
		return wfs_trace(type->fold_whole(fold, error));
	int r = wfs_domain_check(fold->domains, fold->manifest, action, error);
	if (!r && type)
		r = type->fold(fold, action, &fold->outcome.answer, error);
	if (!fold->outcome.result)
		fold->outcome.result = json_incref(fold->outcome.answer);
	else if (!r && json_object_update(fold->outcome.result, fold->outcome.answer) < 0)
		return fold_no_memory(error);
	return wfs_trace(r);
}

/* Puts the duration into the result. It is known already of an action from a journal, and of code
 * that ran, whose cell has the same duration. */
static int keep_duration(struct wfs_fold *fold, int64_t began_ns, struct wfs_error *error)
{
	const struct wfs_action_recorded *const recorded = fold->input.recorded;
	const json_t *const known =
		recorded ? json_object_get(recorded->result, "duration_ms") : NULL;
	const int64_t took_ms = (wfs_clock_monotonic_ns() - began_ns) / 1000000;

	if (!fold->outcome.result)
		fold->outcome.result = json_object();
	if (json_object_get(fold->outcome.result, "duration_ms"))
		return 0;
	return json_object_set_new(fold->outcome.result, "duration_ms",
		       json_integer(known ? json_integer_value(known) : took_ms)) < 0
		? fold_no_memory(error)
		: 0;
}

/* Takes the outcome of an action that is not done again from its record. */
static int believe(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	const json_t *const recorded = fold->input.recorded->result;
	const char *const code = json_string_value(json_object_get(recorded, "error_code"));

	fold->outcome.action = json_incref((json_t *)fold->input.action);
	fold->outcome.result = wfs_json_copy(recorded);
	if (code)
		(void)wfs_error_set(ret_failure, wfs_error_find(code), "refused, as it was before");
	return fold->outcome.result ? 0 : fold_no_memory(error);
}

/* Does an action that is a tool call. The call is answered, also if the action is refused. */
static int act_called(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	const int64_t began_ns = wfs_clock_monotonic_ns();
	int r = intent_check_called(fold, fold->input.intent_id, error);

	if (r)
		return wfs_trace(r);
	r = fold->input.unacted ? believe(fold, ret_failure, error) : do_action(fold, ret_failure);
	if (r && !is_refusal(ret_failure)) {
		*error = *ret_failure;
		return wfs_trace(r);
	}
	fold->outcome.refusal = *ret_failure;
	r = keep_duration(fold, began_ns, error);
	return wfs_trace(r ? r : intent_fold_called(fold, fold->input.intent_id, error));
}

/* @ret_failure: why it was refused */
static int act(struct wfs_fold *fold, struct wfs_error *ret_failure, struct wfs_error *error)
{
	int r;

	if (fold->input.intent_id)
		return wfs_trace(act_called(fold, ret_failure, error));
	r = do_action(fold, ret_failure);
	if (!r || is_refusal(ret_failure))
		return 0;
	*error = *ret_failure;
	return wfs_trace(r);
}

/* The `result` of the record: `ok`, `error_code` if it was refused, and outcome->result.
 * Return: a new reference, or NULL without memory. */
static json_t *result_document(const struct fold_outcome *outcome)
{
	const bool done = outcome->refusal.code == WFS_OK;
	WFS_AUTO_JSON json_t *result =
		outcome->result ? wfs_json_copy(outcome->result) : json_object();

	if (json_object_set_new(result, "ok", json_boolean(done)) < 0 ||
		(!done &&
			json_object_set_new(result, "error_code",
				json_string(wfs_error_info(outcome->refusal.code)->name)) < 0))
		return NULL;
	return WFS_STEAL(result);
}

static void write_action_body(struct wfs_fold *fold, struct wfs_buffer *buffer)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	WFS_AUTO_JSON json_t *result = result_document(outcome);
	const struct wfs_body_action body = {
		.action = outcome->action ? outcome->action : (json_t *)fold->input.action,
		.due_ns = wfs_fired_due_ns(&fold->input.fired),
		.grant = fold->input.charge,
		.intent_id = fold->input.intent_id,
		.result = result,
		.timer = fold->input.fired.timer,
	};

	wfs_body_write_action(buffer, &body);
}

int fold_action(struct wfs_fold *fold, struct wfs_error *error)
{
	struct fold_record *own = fold_record_at(fold, 0);
	struct wfs_error failure = {0};
	int r = act(fold, &failure, error);

	if (r)
		return wfs_trace(r);
	fold->outcome.refusal = failure;
	wfs_buffer_reset(&fold->scratch);
	write_action_body(fold, &fold->scratch);
	if (wfs_buffer_check(&fold->scratch))
		return fold_no_memory(error);
	return wfs_trace(fold_add_text(fold, wfs_buffer_bytes(&fold->scratch), &own->body, error));
}
