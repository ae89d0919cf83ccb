/* SPDX-License-Identifier: Apache-2.0 */
/* Intents of steps and their answers, as records. */
#include "kernel/fold/effects.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

void wfs_outcome_done(struct wfs_outcome *outcome)
{
	wfs_buffer_done(&outcome->body);
	json_decref(WFS_STEAL(outcome->event));
}

/* --- intents --- */

int wfs_intent_read(const struct wfs_reducer_definition *reducer, const json_t *item,
	struct wfs_intent *ret_intent, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	const char *kind = NULL;
	int r = wfs_json_members(item, "an effect", "effect params?", &reason);

	if (!r)
		r = wfs_json_get_string(item, "effect", &kind, &reason);
	if (r)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"reducer '%s' asked for an effect that is refused: %.400s", reducer->name,
			reason.message);
	const enum wfs_effect effect = wfs_effect_find(kind);
	if (effect == WFS_EFFECT_COUNT || !wfs_manifest_asks(reducer, effect))
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"reducer '%s' asked for the effect '%.60s', which its definition does not "
			"declare in effects",
			reducer->name, kind);
	ret_intent->effect = effect;
	ret_intent->params = json_object_get(item, "params");
	return 0;
}

struct wfs_hash wfs_intent_id(uint64_t cause, size_t index)
{
	char document[sizeof("{\"cause\":,\"index\":}\n") + 2 * sizeof("18446744073709551615")];
	const int size = snprintf(document, sizeof(document),
		"{\"cause\":%" PRIu64 ",\"index\":%zu}\n", cause, index);

	return wfs_hash_of(document, (size_t)size);
}

int wfs_intent_write(const struct wfs_intent *intent, struct wfs_buffer *buffer)
{
	char cap[64];
	const struct wfs_hash_text id = wfs_hash_text_of(&intent->id);
	WFS_AUTO_JSON json_t *origin = intent->origin
		? json_incref(intent->origin)
		: json_pack("{s:s%, s:s}", "key", intent->key.size ? intent->key.data : "",
			  intent->key.size, "reducer", intent->reducer);
	WFS_AUTO_JSON json_t *none = intent->params ? NULL : json_object();
	const struct wfs_body_intent body = {
		.cap = cap,
		.effect = wfs_effect_kind(intent->effect),
		.intent_id = id.text,
		.origin = origin,
		.params = none ? none : (json_t *)intent->params,
	};

	snprintf(cap, sizeof(cap), "sys/%s@1", wfs_effect_cap_type(intent->effect));
	wfs_body_write_intent(buffer, &body);
	return wfs_buffer_check(buffer);
}

/* --- answers --- */

int wfs_outcome_init(struct wfs_outcome *outcome, enum wfs_record_kind kind,
	const struct wfs_intent *intent, const char *status, json_t *payload)
{
	*outcome = (struct wfs_outcome){.kind = kind,
		.event = json_pack("{s:s, s:s, s:O, s:s}", "effect",
			wfs_effect_kind(intent->effect), "intent_id", WFS_HASH_TEXT(&intent->id),
			"payload", payload, "status", status)};
	return outcome->event ? 0 : -ENOMEM;
}

int wfs_outcome_init_refusal(struct wfs_outcome *outcome, const struct wfs_intent *intent,
	const struct wfs_error_info *code)
{
	WFS_AUTO_JSON json_t *payload =
		json_pack("{s:s, s:s}", "code", code->name, "message", code->text);

	return wfs_outcome_init(outcome, WFS_RECORD_DECISION, intent, "error", payload);
}

const char *wfs_effect_adapter(enum wfs_effect effect)
{
	if (effect == WFS_EFFECT_ACTION_SCHEDULE)
		return WFS_TIMER_ADAPTER;
	return effect == WFS_EFFECT_MINT_SCORE ? WFS_MINT_ADAPTER : WFS_INTROSPECT_ADAPTER;
}

/* --- answers of the journal --- */

static bool is_of(const char *intent_id, const struct wfs_intent *intent)
{
	return intent_id && strcmp(intent_id, WFS_HASH_TEXT(&intent->id)) == 0;
}

static int read_receipt(const struct wfs_body_receipt *body, const struct wfs_intent *intent,
	struct wfs_outcome *outcome)
{
	if (!is_of(body->intent_id, intent) || body->grant || body->cost ||
		strcmp(body->adapter_id, wfs_effect_adapter(intent->effect)) != 0)
		return -EINVAL;
	if (strcmp(body->status, "ok") == 0) {
		if (wfs_effect_check_receipt(intent->effect, body->payload, NULL))
			return -EINVAL;
	} else if (strcmp(body->status, "error") != 0 ||
		wfs_json_members(body->payload, "", "code message meta?", NULL)) {
		return -EINVAL;
	}
	return wfs_outcome_init(outcome, WFS_RECORD_RECEIPT, intent, body->status, body->payload);
}

static int read_decision(const struct wfs_body_decision *body, const struct wfs_intent *intent,
	struct wfs_outcome *outcome)
{
	const enum wfs_error_code code = wfs_error_find(body->code);

	if (!is_of(body->intent_id, intent) || body->count >= 0 || code == WFS_OK ||
		strcmp(body->decision, "deny") != 0 ||
		strcmp(body->effect, wfs_effect_kind(intent->effect)) != 0)
		return -EINVAL;
	return wfs_outcome_init_refusal(outcome, intent, wfs_error_info(code));
}

int wfs_outcome_read(const struct wfs_record_parsed *parsed, const struct wfs_intent *intent,
	struct wfs_outcome *ret_outcome)
{
	WFS_AUTO_OUTCOME struct wfs_outcome outcome = {0};
	int r = -EINVAL;

	if (parsed->record.kind == WFS_RECORD_RECEIPT)
		r = read_receipt(&parsed->body.receipt, intent, &outcome);
	else if (parsed->record.kind == WFS_RECORD_DECISION)
		r = read_decision(&parsed->body.decision, intent, &outcome);
	if (r)
		return r;
	wfs_body_write(&outcome.body, parsed->record.kind, &parsed->body);
	r = wfs_buffer_check(&outcome.body);
	if (!r) {
		*ret_outcome = outcome;
		outcome = (struct wfs_outcome){0};
	}
	return r;
}
