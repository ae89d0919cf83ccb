/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to the intents of runs: receipts, and actions that were tool calls. */
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/read/text.h"

/* --- the answer of a model --- */

static const char *reason_of(const char *status, const char *code)
{
	if (strcmp(status, "timeout") == 0 || strcmp(code, "timeout") == 0)
		return "timeout";
	if (strcmp(status, "cancelled") == 0)
		return "cancelled";
	return strcmp(code, "quota_exceeded") == 0 ? "quota_exceeded" : "error";
}

static int fold_failure(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	const char *const code = wfs_json_text(payload, "code");
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};

	if (strcmp(code, "context_length_exceeded") == 0) {
		int r = turn_request_again(turn, error);

		if (r <= 0)
			return wfs_trace(r);
	}
	wfs_buffer_printf(&message, "Model API call failed: %s", wfs_json_text(payload, "message"));
	if (wfs_buffer_check(&message))
		return fold_no_memory(error);
	int r = turn_fail(turn, reason_of(receipt->status, code), "model_request", code,
		wfs_buffer_text(&message), error);
	/* The content of a failed answer is kept for readers. */
	json_t *const content = json_object_get(payload, "content");
	if (!r && json_is_string(content) &&
		json_object_set(turn->state.error, "content", content) < 0)
		r = fold_no_memory(error);
	if (!r && json_is_false(json_object_get(payload, "retriable")) &&
		json_object_set_new(turn->state.error, "retriable", json_false()) < 0)
		r = fold_no_memory(error);
	return wfs_trace(r);
}

static int fold_generated(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	int r = grants_charge_receipt(turn->fold, receipt, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(receipt->status, "ok") != 0)
		return wfs_trace(fold_failure(turn, receipt, error));
	return wfs_trace(turn_answer(turn, receipt->payload, error));
}

/* --- the result of a tool --- */

#define TOOL_FAILED "Tool execution failed: "

static json_t *hidden_or_null(json_t *output)
{
	return wfs_text_is_hidden(output, NULL) ? output : NULL;
}

/* Ends a call. @given: with the whole output or, of an error, its message */
static int fold_output(
	struct turn *turn, int64_t index, const struct turn_result *given, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};
	struct turn_result result = *given;

	if (given->is_error && !given->hidden) /* the hidden text has this prefix already */
		wfs_buffer_append_text(&output, TOOL_FAILED);
	wfs_buffer_append_text(&output, given->output);
	if (result.output_size < (int64_t)output.size)
		result.output_size = (int64_t)output.size;
	wfs_turn_cut(&output);
	result.output = wfs_buffer_text(&output);
	int r = wfs_buffer_check(&output) ? fold_no_memory(error)
					  : turn_result(turn, index, &result, error);
	return wfs_trace(r ? r : turn_go_on(turn, error));
}

static int fold_called(struct turn *turn, int64_t index, const struct wfs_body_receipt *receipt,
	struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	const bool ok = strcmp(receipt->status, "ok") == 0;
	const struct turn_result given = {
		.is_error = !ok,
		.hidden = ok ? hidden_or_null(json_object_get(payload, "output")) : NULL,
		.output = wfs_json_text(payload, ok ? "output" : "message"),
		.output_size = json_integer_value(json_object_get(payload, "output_size")),
		.duration_ms = json_integer_value(json_object_get(payload, "duration_ms")),
	};

	return wfs_trace(fold_output(turn, index, &given, error));
}

/* --- both --- */

int turn_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	TURN_AUTO struct turn turn = {.fold = fold};
	int r = turn_load(fold, intent->run_id, &turn, error);

	if (!r)
		r = turn_answered(&turn, receipt->intent_id, error);
	if (r)
		return wfs_trace(r);
	r = turn_keep_raw(&turn, receipt, error);
	if (r)
		return wfs_trace(r);
	if (strcmp(intent->effect, wfs_effect_kind(WFS_EFFECT_WORKFLOW_ADVANCE)) == 0)
		r = turn_fold_advance(&turn, receipt, error);
	else
		r = intent->call >= 0 ? fold_called(&turn, intent->call, receipt, error)
				      : fold_generated(&turn, receipt, error);
	return wfs_trace(r ? r : turn_store(&turn, error));
}

/* Writes what the model gets for an action: text as it is, other values as JSON. */
static void write_output(const struct wfs_fold *fold, struct wfs_buffer *output)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	const json_t *const told = wfs_action_told(
		outcome->action ? outcome->action : fold->input.action, outcome->answer);

	if (outcome->refusal.code != WFS_OK)
		wfs_buffer_append_text(output, outcome->refusal.message);
	else if (!told || json_is_null(told))
		wfs_buffer_append_text(output, wfs_json_text(outcome->answer, "message"));
	else if (json_is_string(told))
		wfs_buffer_append(output, json_string_value(told), json_string_length(told));
	else
		wfs_json_write(told, output);
}

/* Makes the output for the record: a text or, if it is private, its stand-in. @ret_size: of the
 * whole output */
static int new_output(
	struct wfs_fold *fold, json_t **ret_output, int64_t *ret_size, struct wfs_error *error)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	const bool failed = outcome->refusal.code != WFS_OK;
	const json_t *const of = failed && outcome->said_of ? outcome->said_of : outcome->of;
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};

	if (of && failed)
		wfs_buffer_append_text(&output, TOOL_FAILED);
	write_output(fold, &output);
	*ret_size = (int64_t)output.size;
	wfs_turn_cut(&output);
	if (wfs_buffer_check(&output))
		return fold_no_memory(error);
	WFS_AUTO_JSON json_t *text = json_stringn(wfs_buffer_text(&output), output.size);
	if (text && of) {
		int r = wfs_text_hide(&fold->texts, of, text, ret_output);

		return r ? wfs_error_from_errno(error, r, "hide a private text") : 0;
	}
	*ret_output = WFS_STEAL(text);
	return *ret_output ? 0 : fold_no_memory(error);
}

/* Adds the output to the record's result: records of actions do not have messages, and that of a
 * refusal cannot be computed again. */
static int keep_output(
	struct wfs_fold *fold, const json_t *recorded, int64_t *ret_size, struct wfs_error *error)
{
	struct fold_outcome *const outcome = &fold->outcome;
	json_t *kept = json_object_get(recorded, "output");

	*ret_size = json_integer_value(json_object_get(recorded, "output_size"));
	if (!kept) {
		int r = new_output(fold, &kept, ret_size, error);

		if (r)
			return wfs_trace(r);
	} else {
		json_incref(kept);
	}
	if (!outcome->result)
		outcome->result = json_object();
	return json_object_set_new(outcome->result, "output", kept) < 0 ||
			json_object_set_new(
				outcome->result, "output_size", json_integer(*ret_size)) < 0
		? fold_no_memory(error)
		: 0;
}

int turn_fold_called(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error)
{
	struct fold_outcome *const outcome = &fold->outcome;
	const json_t *const recorded = fold->input.recorded ? fold->input.recorded->result : NULL;
	TURN_AUTO struct turn turn = {.fold = fold};
	int64_t size = 0;
	int r = turn_load(fold, intent->run_id, &turn, error);

	if (!r)
		r = turn_answered(&turn, intent_id, error);
	if (!r)
		r = keep_output(fold, recorded, &size, error);
	if (r)
		return wfs_trace(r);
	const struct turn_result given = {
		.is_error = outcome->refusal.code != WFS_OK,
		.hidden = hidden_or_null(json_object_get(outcome->result, "output")),
		.output = wfs_json_text(outcome->result, "output"),
		.output_size = size,
		.duration_ms = json_integer_value(json_object_get(outcome->result, "duration_ms")),
	};
	r = fold_output(&turn, intent->call, &given, error);
	return wfs_trace(r ? r : turn_store(&turn, error));
}
