/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to the intents of plans: receipts, and actions that were steps. */
#include "kernel/base/json.h"
#include "kernel/domain/action/act.h"
#include "kernel/domain/action/service.h"
#include "kernel/domain/plan/plan-impl.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/read/text.h"

/* --- results --- */

#define TOO_LARGE "too_large"

static json_t *details_of(const char *type, const char *message)
{
	return json_pack("{s:s, s:s}", "message", message, "type", type);
}

static json_t *too_large(void)
{
	return details_of(TOO_LARGE, "the result has more bytes than are kept");
}

static bool is_too_large(const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (value)
		wfs_json_write(value, &text);
	return text.size > WFS_PLAN_RESULT_MAX;
}

/* Is another attempt useful? A step with too large a result would give it again. */
static bool is_worth_another(const json_t *result)
{
	return strcmp(wfs_json_text(json_object_get(result, "details"), "type"), TOO_LARGE) != 0;
}

/* --- the answer of a model --- */

static bool is_ok(const struct wfs_body_receipt *receipt)
{
	return strcmp(receipt->status, "ok") == 0;
}

int plan_spend(struct wfs_fold *fold, const char *principal, const struct wfs_body_receipt *receipt,
	struct wfs_error *error)
{
	const json_t *const usage = json_object_get(receipt->payload, "usage");
	const int64_t tokens = json_integer_value(json_object_get(usage, "total_tokens"));
	int r = grants_charge_receipt(fold, receipt, error);

	if (r || tokens <= 0)
		return wfs_trace(r);
	return wfs_trace(account_spend(fold, principal, ACCOUNT_LLM_TOKENS, tokens, error));
}

static json_t *failure_of(const struct wfs_body_receipt *receipt)
{
	const json_t *const payload = receipt->payload;
	WFS_AUTO_JSON json_t *details =
		details_of(wfs_json_text(payload, "code"), wfs_json_text(payload, "message"));

	if (json_is_false(json_object_get(payload, "retriable")) &&
		json_object_set_new(details, "retriable", json_false()) < 0)
		return NULL;
	return WFS_STEAL(details);
}

/* Folds the answer, which ends the plan. If the model failed, it can be asked again. */
static int fold_answer(
	struct plan *plan, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	json_t *const text = json_object_get(receipt->payload, "text");
	char chat[WFS_CHAT_ID_MAX + 1];
	char id[WFS_CHAT_ID_MAX + 1];

	if (!is_ok(receipt)) {
		plan->state.error = plan_own(plan,
			json_pack("{s:s, s:o}", "code", WFS_CHAT_LLM_FAILED, "details",
				failure_of(receipt)));
		return 0;
	}
	if (!json_is_string(text))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'payload': expected a string 'text'");
	snprintf(chat, sizeof(chat), "%s+%s", plan->state.principal, plan->state.session_id);
	int r = plan_reply(plan->fold, chat, text, plan->plan_id, id, error);
	plan->state.final = text;
	return wfs_trace(r ? r : plan_end(plan, error));
}

/* --- the result of a step --- */

static json_t *result_of_model(const struct wfs_body_receipt *receipt)
{
	const bool ok = is_ok(receipt);

	return json_pack("{s:o, s:o, s:s, s:s, s:b, s:O?}", "details",
		ok ? json_null() : failure_of(receipt), "error",
		ok ? json_null() : json_string(WFS_CHAT_LLM_FAILED), "method", "generate", "name",
		"llm", "ok", (int)ok, "result", json_object_get(receipt->payload, "text"));
}

/* Makes the result of a tool: that of the router, or the error that came before it. */
static json_t *result_of_tool(const struct wfs_body_receipt *receipt)
{
	const json_t *const payload = receipt->payload;
	const json_t *const given = json_object_get(payload, "outcome");
	const bool late = strcmp(receipt->status, "timeout") == 0;

	if (json_is_object(given))
		return wfs_json_copy(given);
	return json_pack("{s:o, s:s, s:s, s:s, s:b, s:n}", "details", failure_of(receipt), "error",
		late ? WFS_TOOL_TIMEOUT : WFS_TOOL_EXCEPTION, "method", "", "name", "", "ok", 0,
		"result");
}

/* Replaces a result that is too large by an error. Return: 0, -ENOMEM. */
static int limit(json_t *result, const char *code)
{
	if (!is_too_large(json_object_get(result, "result")))
		return 0;
	WFS_AUTO_JSON json_t *instead = json_pack(
		"{s:o, s:s, s:b, s:n}", "details", too_large(), "error", code, "ok", 0, "result");
	return instead && json_object_update(result, instead) == 0 ? 0 : -ENOMEM;
}

static bool has_effect(const struct wfs_document_intent *intent, enum wfs_effect effect)
{
	return strcmp(intent->effect, wfs_effect_kind(effect)) == 0;
}

static int fold_step(struct plan *plan, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	const int64_t index = intent->step;
	const bool is_model = has_effect(intent, WFS_EFFECT_LLM_GENERATE);
	WFS_AUTO_JSON json_t *result =
		is_model ? result_of_model(receipt) : result_of_tool(receipt);

	if (!result || limit(result, is_model ? WFS_CHAT_LLM_FAILED : WFS_TOOL_EXCEPTION))
		return fold_no_memory(error);
	const bool retry =
		!json_is_true(json_object_get(payload, "final")) && is_worth_another(result);
	return wfs_trace(plan_stepped(plan, index, result, retry, error));
}

int plan_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	PLAN_AUTO struct plan plan = {.fold = fold};

	if (intent->chat_id)
		return wfs_trace(plan_fold_chat_receipt(fold, intent, receipt, error));
	int r = plan_load(fold, intent->plan_id, &plan, error);
	if (!r)
		r = plan_answered(&plan, receipt->intent_id, error);
	if (!r && has_effect(intent, WFS_EFFECT_LLM_GENERATE))
		r = plan_spend(fold, plan.state.principal, receipt, error);
	if (r)
		return wfs_trace(r);
	if (intent->step >= 0)
		r = fold_step(&plan, intent, receipt, error);
	else
		r = has_effect(intent, WFS_EFFECT_PLAN_ADVANCE)
			? plan_go_on(&plan, error)
			: fold_answer(&plan, receipt, error);
	return wfs_trace(r ? r : plan_store(&plan, error));
}

/* --- actions --- */

/* Was the artifact itself the tool? Services have aliases. The aliases of invoke_artifact,
 * `artifact` and `artifact.invoke`, are none of these (agents/prepare/router.c). */
static bool is_called_itself(
	const struct wfs_fold *fold, const char *asked, const char *artifact_id)
{
	return strcmp(asked, artifact_id) == 0 ||
		(service_find(fold->domains, artifact_id) && !strstr(asked, "artifact"));
}

/* Names the tool of a result: the artifact's id, if the step asked for that, and not the action
 * that ran it. */
static json_t *name_of(
	const struct wfs_fold *fold, const json_t *action, const struct plan_step *step)
{
	const json_t *const artifact_id = json_object_get(action, "artifact_id");
	const char *const asked = wfs_json_text(step->state.tool, "name");

	return json_is_string(artifact_id) &&
			is_called_itself(fold, asked, json_string_value(artifact_id))
		? json_incref((json_t *)artifact_id)
		: json_incref(json_object_get(action, "action_type"));
}

/* Gets the value that the action gave; NULL: nothing. */
static json_t *value_of(const struct wfs_fold *fold)
{
	const struct fold_outcome *const outcome = &fold->outcome;

	if (outcome->refusal.code != WFS_OK)
		return NULL;
	return wfs_action_told(
		outcome->action ? outcome->action : fold->input.action, outcome->answer);
}

static json_t *failure_of_action(
	const struct fold_outcome *outcome, const json_t *value, bool large)
{
	const struct wfs_error *const refusal = &outcome->refusal;
	const char *const reported = wfs_json_text(value, "error");

	if (refusal->code != WFS_OK)
		return details_of(wfs_error_info(refusal->code)->name, refusal->message);
	if (large)
		return too_large();
	return details_of("reported", *reported ? reported : "the tool says that it failed");
}

static json_t *result_of_action(
	const struct wfs_fold *fold, const struct plan_step *step, json_t *value)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	const json_t *const action = outcome->action ? outcome->action : fold->input.action;
	json_t *const method = json_object_get(action, "method");
	const bool large = is_too_large(value);
	/* The tool's own result may say that it failed. */
	const bool ok = outcome->refusal.code == WFS_OK && !large &&
		!json_is_false(json_object_get(value, "ok"));
	WFS_AUTO_JSON json_t *result = json_pack("{s:o, s:o, s:s, s:o, s:b, s:O?}", "details",
		ok ? json_null() : failure_of_action(outcome, value, large), "error",
		ok ? json_null() : json_string(WFS_TOOL_EXCEPTION), "method",
		json_is_string(method) ? json_string_value(method) : "", "name",
		name_of(fold, action, step), "ok", (int)ok, "result", large ? NULL : value);

	return WFS_STEAL(result);
}

/* Hides private parts of a result: the value, if it belongs to a private artifact or contains
 * something that looks like a stand-in, which code can make; and the message, if the reason of a
 * refusal or what the action said is private. */
static int hide_result(struct wfs_fold *fold, json_t *result, struct wfs_error *error)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	WFS_AUTO_JSON json_t *nobody = json_array();
	const json_t *const reason_of = outcome->said_of ? outcome->said_of : outcome->of;
	int r = nobody ? 0 : fold_no_memory(error);

	if (!r && (outcome->of || wfs_text_has_hidden(json_object_get(result, "result"))))
		r = wfs_text_hide_member(
			&fold->texts, outcome->of ? outcome->of : nobody, result, "result", error);
	if (!r && reason_of)
		r = wfs_text_hide_member(&fold->texts, reason_of,
			json_object_get(result, "details"), "message", error);
	return wfs_trace(r);
}

/* Keeps the result of a step in the record, so that folding it again does not compute it. */
static int keep_result(
	struct plan *plan, int64_t index, json_t **ret_result, struct wfs_error *error)
{
	struct wfs_fold *const fold = plan->fold;
	struct fold_outcome *const outcome = &fold->outcome;
	const json_t *const recorded = fold->input.recorded ? fold->input.recorded->result : NULL;
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);

	if (r)
		return wfs_trace(r);
	WFS_AUTO_JSON json_t *result = recorded ? json_incref(json_object_get(recorded, "step"))
						: result_of_action(fold, &step, value_of(fold));
	if (result && !recorded)
		r = hide_result(fold, result, error);
	if (r)
		return wfs_trace(r);
	if (!outcome->result)
		outcome->result = json_object();
	if (!result || json_object_set(outcome->result, "step", result) < 0)
		return fold_no_memory(error);
	*ret_result = wfs_json_copy(result); /* a copy, because the step's name is added to it */
	return *ret_result ? 0 : fold_no_memory(error);
}

int plan_fold_called(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error)
{
	const int64_t index = intent->step;
	PLAN_AUTO struct plan plan = {.fold = fold};
	WFS_AUTO_JSON json_t *result = NULL;
	const enum wfs_error_code code = fold->outcome.refusal.code;
	const bool final = code == WFS_E_NOT_AUTHORIZED || code == WFS_E_POLICY_DENIED ||
		code == WFS_E_INVALID_ARGUMENT;
	int r = plan_load(fold, intent->plan_id, &plan, error);

	if (!r)
		r = plan_answered(&plan, intent_id, error);
	if (!r)
		r = keep_result(&plan, index, &result, error);
	if (!r)
		r = plan_stepped(&plan, index, result, !final && is_worth_another(result), error);
	return wfs_trace(r ? r : plan_store(&plan, error));
}
