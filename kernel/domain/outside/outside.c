/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/base/json.h"
#include "kernel/domain/outside/outside-impl.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/value/bounds.h"
#include "kernel/value/output.h"
#include "kernel/value/tool.h"

/* --- forms --- */

/* @what: for the message */
static int check_size(const char *what, const json_t *value, size_t max, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(value, &text);
	if (wfs_buffer_check(&text))
		return fold_no_memory(error);
	return text.size <= max
		? 0
		: wfs_error_set(error, WFS_E_TOO_LARGE,
			  "'%s': at most %zu bytes are taken, got %zu", what, max, text.size);
}

static int check_arguments(const char *name, const json_t *value, struct wfs_error *error)
{
	if (!json_is_object(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s': expected an object", name);
	return check_size(name, value, WFS_OUTSIDE_INPUT_MAX, error);
}

static int check_tool(const char *name, const json_t *value, struct wfs_error *error)
{
	const char *const text = json_string_value(value);

	return wfs_tool_name_valid(text)
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "'%s': expected the name of a tool, as server.tool, got '%.60s'", name,
			  text);
}

static const struct wfs_field call_fields[] = {
	{"arguments", WFS_FORM(.kind = WFS_FORM_VALUE, .then = check_arguments)},
	{"called_by", &wfs_form_hash, WFS_OPTIONAL}, {"hash", &wfs_form_hash},
	{"idempotent", &wfs_form_bool},
	{"name", WFS_FORM(.kind = WFS_FORM_TEXT, .then = check_tool)}, {NULL}};
const struct wfs_form outside_call_form = {
	.members = "action_type arguments called_by? hash idempotent name",
	.fields = call_fields,
};

static int check_result(const char *name, const json_t *value, struct wfs_error *error)
{
	return check_size(name, value, WFS_OUTSIDE_INLINE_MAX, error);
}

static const struct wfs_field resolve_fields[] = {{"intent_id", &wfs_form_hash},
	{"outcome", WFS_FORM(.kind = WFS_FORM_TEXT, .words = "done not-done")},
	{"result", WFS_FORM(.kind = WFS_FORM_VALUE, .then = check_result), WFS_OPTIONAL}, {NULL}};
const struct wfs_form outside_resolve_form = {
	.members = "action_type intent_id outcome result?",
	.fields = resolve_fields,
};

/* --- a call --- */

/* Many calls must leave room for turns and plans, which open intents, too. */
static int check_room(const struct wfs_fold *fold, struct wfs_error *error)
{
	return fold_live_count(fold, WFS_BUILTIN_INTENT) < WFS_OUTSIDE_INTENTS_MAX
		? 0
		: wfs_error_set(error, WFS_E_OVERLOADED,
			  "%d effects are in flight, above which no outside tool is called",
			  WFS_OUTSIDE_INTENTS_MAX);
}

static int open_call(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const principal = fold->input.principal;
	json_t *const name = json_object_get(action, "name");
	json_t *const arguments = json_object_get(action, "arguments");
	json_t *const called_by = json_object_get(action, "called_by");
	WFS_AUTO_JSON json_t *origin = called_by ? json_pack("{s:O}", "intent_id", called_by)
						 : json_pack("{s:s}", "principal", principal);
	WFS_AUTO_JSON json_t *outside = json_pack("{s:O, s:O, s:O, s:O}", "arguments", arguments,
		"hash", json_object_get(action, "hash"), "idempotent",
		json_object_get(action, "idempotent"), "name", name);
	char id[WFS_HASH_TEXT_SIZE];
	int r = origin && outside ? check_room(fold, error) : fold_no_memory(error);

	if (!r)
		r = grants_count_outside(fold, principal, 1, error);
	if (r)
		return wfs_trace(r);
	const struct intent intent = {
		.effect = WFS_EFFECT_TOOL_OUTSIDE,
		.reducer = WFS_BUILTIN_INTENT,
		.params = json_pack("{s:O, s:O}", "arguments", arguments, "name", name),
		.document = {.principal = principal,
			.turn = -1,
			.call = -1,
			.step = -1,
			.origin = origin,
			.outside = outside,
			.not_before_ns = -1},
	};
	r = intent_open(fold, &intent, id, error);
	if (!r && called_by)
		r = intent_pass_on(fold, json_string_value(called_by), id, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:s}", "intent_id", id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

int outside_fold_call(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const struct fold_mark mark = fold_mark(fold);
	int r = open_call(fold, action, ret_answer, error);

	if (r)
		fold_take_back(fold, &mark);
	else
		fold_keep(fold, &mark);
	return wfs_trace(r);
}

/* --- its answer --- */

static int check_text(const char *name, const json_t *payload, struct wfs_error *error)
{
	const json_t *const text = json_object_get(payload, name);

	if (!json_is_string(text) && !wfs_text_is_hidden(text, NULL))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected a text", name);
	return json_string_length(text) <= WFS_OUTSIDE_INLINE_MAX
		? 0
		: wfs_error_set(error, WFS_E_TOO_LARGE, "'%s': at most %d bytes are taken, got %zu",
			  name, WFS_OUTSIDE_INLINE_MAX, json_string_length(text));
}

/* Checks what a driver has recorded of a call. */
static int check_payload(const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	static const char *const parts[] = {"content", "structured"};
	const json_t *const payload = receipt->payload;
	const bool failed = strcmp(receipt->status, "ok") != 0;

	if (failed &&
		(!json_is_string(json_object_get(payload, "code")) ||
			!json_is_string(json_object_get(payload, "message"))))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'payload': expected the texts 'code' and 'message'");
	if (failed)
		return wfs_trace(check_text("message", payload, error));
	int r = wfs_form_check(wfs_effect_receipt(WFS_EFFECT_TOOL_OUTSIDE), payload, error);
	if (!r)
		r = check_text("output", payload, error);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(parts); i++)
		if (json_object_get(payload, parts[i]))
			r = check_size(parts[i], json_object_get(payload, parts[i]),
				WFS_OUTSIDE_INLINE_MAX, error);
	return wfs_trace(r);
}

/* Makes the value that a plan's step gets: the structured content, if it is in the receipt. */
static json_t *value_of(const json_t *payload)
{
	json_t *const structured = json_object_get(payload, "structured");

	return structured ? structured : json_object_get(payload, "output");
}

/* May the call have reached its server? */
static bool was_sent(const json_t *payload)
{
	return !json_is_false(json_object_get(payload, "sent"));
}

/* Makes the payload of a receipt that answers the tool call of a turn or a step: each takes the
 * members that it knows. @final: another attempt could do twice what may be done once */
static json_t *payload_for(const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, bool ok, bool final)
{
	const json_t *const payload = receipt->payload;
	const char *const name = wfs_json_text(intent->outside, "name");
	json_t *const duration = json_object_get(payload, "duration_ms");

	if (ok)
		return json_pack("{s:O?, s:O, s:O, s:{s:n, s:n, s:s, s:s, s:b, s:O}}",
			"duration_ms", duration, "output", json_object_get(payload, "output"),
			"output_size", json_object_get(payload, "output_size"), "outcome",
			"details", "error", "method", "", "name", name, "ok", 1, "result",
			value_of(payload));
	const bool late = strcmp(receipt->status, "timeout") == 0;
	json_t *const code = json_object_get(payload, "code");
	json_t *const message = json_object_get(payload, "message");
	return json_pack("{s:O, s:O?, s:b, s:O, s:{s:{s:O, s:O}, s:s, s:s, s:s, s:b, s:n}}", "code",
		code, "duration_ms", duration, "final", (int) final, "message", message, "outcome",
		"details", "message", message, "type", code, "error",
		late ? WFS_TOOL_TIMEOUT : WFS_TOOL_EXCEPTION, "method", "", "name", name, "ok", 0,
		"result");
}

/* Answers the tool call that the call was made for, if that still waits. */
static int answer_origin(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const char *const caller_id =
		json_string_value(json_object_get(intent->origin, "intent_id"));
	WFS_AUTO_DOCUMENT struct wfs_document_intent caller = {.own = {.json = NULL}};
	const bool ok = strcmp(receipt->status, "ok") == 0;
	const bool unknown = strcmp(receipt->status, WFS_INTENT_UNKNOWN) == 0;
	int r = caller_id ? fold_read_intent(fold, caller_id, &caller, error) : 0;

	if (r || !caller.began || strcmp(caller.began, receipt->intent_id) != 0)
		return wfs_trace(r);
	const bool final = unknown ||
		(was_sent(receipt->payload) &&
			!json_is_true(json_object_get(intent->outside, "idempotent")));
	WFS_AUTO_JSON json_t *payload = payload_for(intent, receipt, ok, final);
	const struct wfs_body_receipt answer = {
		.adapter_id = receipt->adapter_id,
		.intent_id = caller_id,
		.payload = payload,
		.status = unknown ? "error" : receipt->status,
	};
	return payload ? wfs_trace(intent_answer(fold, &answer, error)) : fold_no_memory(error);
}

static int close_call(struct wfs_fold *fold, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error)
{
	int r = intent_close(fold, intent_id, error);

	return wfs_trace(r ? r : grants_count_outside(fold, intent->principal, -1, error));
}

static bool is_unknown(const struct wfs_document_intent *intent)
{
	return strcmp(intent->state, WFS_INTENT_UNKNOWN) == 0;
}

int outside_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	struct wfs_document_intent lost = *intent;
	int r = check_payload(receipt, error);

	if (!r && is_unknown(intent))
		r = wfs_error_set(error, WFS_E_CONFLICT,
			"the intent %s is answered already: its outcome is unknown",
			receipt->intent_id);
	if (r)
		return wfs_trace(r);
	if (strcmp(receipt->status, WFS_INTENT_UNKNOWN) == 0) {
		lost.state = WFS_INTENT_UNKNOWN;
		r = fold_write_intent(fold, &lost, error);
	} else {
		r = close_call(fold, receipt->intent_id, intent, error);
	}
	return wfs_trace(r ? r : answer_origin(fold, intent, receipt, error));
}

int outside_fold_resolve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	json_t *const id = json_object_get(action, "intent_id");
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	int r = intent_load(fold, json_string_value(id), &intent, error);

	if (!r && !intent.outside)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is not a call of an outside tool", json_string_value(id));
	if (!r && !is_unknown(&intent))
		r = wfs_error_set(error, WFS_E_CONFLICT,
			"the call %s is under way: it may still be answered",
			json_string_value(id));
	if (!r)
		r = close_call(fold, json_string_value(id), &intent, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack(
		"{s:O, s:O}", "intent_id", id, "outcome", json_object_get(action, "outcome"));
	return *ret_answer ? 0 : fold_no_memory(error);
}
