/* SPDX-License-Identifier: Apache-2.0 */
/* Intents, their answers, and the world as the one who answers. */
#include "kernel/fold/effects.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"

void wfs_outcome_done(struct wfs_outcome *outcome)
{
	wfs_buffer_done(&outcome->body);
	json_decref(WFS_STEAL(outcome->event));
}

/* --- intents --- */

static int refuse_item(const struct wfs_reducer_definition *reducer, struct wfs_error *error,
	const struct wfs_error *reason)
{
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"reducer '%s' asked for an effect that is refused: %.400s", reducer->name,
		reason->message);
}

int wfs_intent_read(const struct wfs_reducer_definition *reducer, const json_t *item,
	struct wfs_intent *ret_intent, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	const char *kind = NULL;
	int r = wfs_json_members(item, "an effect", "effect params?", &reason);

	if (!r)
		r = wfs_json_get_string(item, "effect", &kind, &reason);
	if (r)
		return refuse_item(reducer, error, &reason);
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

/* Writes a new object and lets it go. Return: 0, or -ENOMEM. */
static int write_taken(json_t *object, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *owned = object;

	if (!owned)
		return -ENOMEM;
	wfs_json_write(owned, buffer);
	return wfs_buffer_check(buffer);
}

int wfs_intent_write(const struct wfs_intent *intent, struct wfs_buffer *buffer)
{
	char id[WFS_HASH_TEXT_SIZE];
	char cap[64];
	WFS_AUTO_JSON json_t *none = intent->params ? NULL : json_object();

	wfs_hash_text(&intent->id, id);
	snprintf(cap, sizeof(cap), "sys/%s@1", wfs_effect_cap_type(intent->effect));
	return write_taken(
		json_pack("{s:s, s:s, s:s, s:{s:s%, s:s}, s:O}", "cap", cap, "effect",
			wfs_effect_kind(intent->effect), "intent_id", id, "origin", "key",
			intent->key.size ? intent->key.data : "", intent->key.size, "reducer",
			intent->reducer, "params", intent->params ? intent->params : none),
		buffer);
}

/* --- answers --- */

/* The event that tells the reducer. */
static json_t *receipt_event(const struct wfs_intent *intent, const char *status, json_t *payload)
{
	char id[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&intent->id, id);
	return json_pack("{s:s, s:s, s:O, s:s}", "effect", wfs_effect_kind(intent->effect),
		"intent_id", id, "payload", payload, "status", status);
}

/* What the reducer is told; the body comes after it. */
static int outcome_init(struct wfs_outcome *outcome, enum wfs_record_kind kind,
	const struct wfs_intent *intent, const char *status, json_t *payload)
{
	*outcome =
		(struct wfs_outcome){.kind = kind, .event = receipt_event(intent, status, payload)};
	return outcome->event ? 0 : -ENOMEM;
}

/* What a refusal tells follows from its code alone, so that replay tells the same. */
static int refusal_init(struct wfs_outcome *outcome, const struct wfs_intent *intent,
	const struct wfs_error_info *code)
{
	WFS_AUTO_JSON json_t *payload =
		json_pack("{s:s, s:s}", "code", code->name, "message", code->text);

	return outcome_init(outcome, WFS_RECORD_DECISION, intent, "error", payload);
}

static const char *adapter_of(enum wfs_effect effect)
{
	return effect == WFS_EFFECT_MINT_SCORE ? WFS_MINT_ADAPTER : WFS_INTROSPECT_ADAPTER;
}

/* --- answers of the journal --- */

static bool answers(const json_t *body, const struct wfs_intent *intent)
{
	char id[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&intent->id, id);
	return strcmp(wfs_json_text(body, "intent_id"), id) == 0;
}

static int read_receipt(
	const json_t *body, const struct wfs_intent *intent, struct wfs_outcome *outcome)
{
	const char *const status = wfs_json_text(body, "status");
	json_t *const payload = json_object_get(body, "payload");

	if (wfs_json_members(body, "", "adapter_id intent_id payload status", NULL) ||
		strcmp(wfs_json_text(body, "adapter_id"), adapter_of(intent->effect)) != 0)
		return -EINVAL;
	if (strcmp(status, "ok") == 0) {
		if (wfs_effect_check_receipt(intent->effect, payload, NULL))
			return -EINVAL;
	} else if (strcmp(status, "error") != 0 ||
		wfs_json_members(payload, "", "code message meta?", NULL)) {
		return -EINVAL;
	}
	return outcome_init(outcome, WFS_RECORD_RECEIPT, intent, status, payload);
}

static int read_decision(
	const json_t *body, const struct wfs_intent *intent, struct wfs_outcome *outcome)
{
	const enum wfs_error_code code = wfs_error_find(wfs_json_text(body, "code"));

	if (wfs_json_members(
		    body, "", "code decision effect grant? intent_id policy? rule_index?", NULL) ||
		code == WFS_OK || strcmp(wfs_json_text(body, "decision"), "deny") != 0 ||
		strcmp(wfs_json_text(body, "effect"), wfs_effect_kind(intent->effect)) != 0)
		return -EINVAL;
	return refusal_init(outcome, intent, wfs_error_info(code));
}

int wfs_outcome_read(const struct wfs_record_parsed *parsed, const struct wfs_intent *intent,
	struct wfs_outcome *ret_outcome)
{
	const json_t *const body = parsed->body_json;
	WFS_AUTO_OUTCOME struct wfs_outcome outcome = {0};
	int r = -EINVAL;

	if (!answers(body, intent))
		return r;
	if (parsed->record.kind == WFS_RECORD_RECEIPT)
		r = read_receipt(body, intent, &outcome);
	else if (parsed->record.kind == WFS_RECORD_DECISION)
		r = read_decision(body, intent, &outcome);
	if (r)
		return r;
	wfs_json_write(body, &outcome.body);
	r = wfs_buffer_check(&outcome.body);
	if (!r) {
		*ret_outcome = outcome;
		outcome = (struct wfs_outcome){0};
	}
	return r;
}

/* --- answers of the world --- */

/* Reads within the transaction of the request, as it was before the request. */
struct within {
	struct wfs_introspector introspector; /* first: open_within casts back */
	struct wfs_world *world;
	const struct wfs_head *head;
};

static int open_within(const struct wfs_introspector *introspector, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error)
{
	const struct within *within = (const struct within *)introspector;

	return wfs_view_within(
		within->world, within->head->txn, within->head->height, height, ret_view, error);
}

/* Failures that are an answer; any other fails the request. */
static bool is_answer(int r)
{
	return r == -EINVAL || r == -ENOENT || r == -EFBIG;
}

/* A payload that is too large becomes an error that is not. Return: 0, or -EFBIG, -ENOMEM. */
static int bound_payload(json_t **payload)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error;
	json_t *small;

	wfs_json_write(*payload, &text);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	if (text.size <= WFS_RECEIPT_SIZE_MAX)
		return 0;
	int r = wfs_error_set(&error, WFS_E_TOO_LARGE,
		"the receipt has %zu bytes, at most %d are given to a reducer", text.size,
		WFS_RECEIPT_SIZE_MAX);
	small = json_pack("{s:s, s:s, s:O*}", "code", wfs_error_info(error.code)->name, "message",
		error.message, "meta", json_object_get(*payload, "meta"));
	json_decref(*payload);
	*payload = small;
	return small ? r : -ENOMEM;
}

/* What cannot be scored, because it cannot be read, ends no auction. */
static int score(const struct wfs_intent *intent, json_t **ret_payload, struct wfs_error *error)
{
	int r = action_score(intent->fold, intent->params, ret_payload, error);

	if (r != -EIO && !is_answer(r))
		return wfs_trace(r);
	*ret_payload = json_pack(
		"{s:s, s:s}", "code", wfs_error_info(error->code)->name, "message", error->message);
	return *ret_payload ? -EINVAL : -ENOMEM;
}

/* @ret_payload: of a failure that is an answer, what it tells; else NULL */
static int adapt(struct wfs_world_answerer *self, const struct wfs_head *head,
	const struct wfs_intent *intent, const struct wfs_introspect_filter *filter,
	json_t **ret_payload, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *none = intent->params ? NULL : json_object();
	struct wfs_permutation cursors;

	if (intent->effect == WFS_EFFECT_MINT_SCORE)
		return wfs_trace(score(intent, ret_payload, error));
	int r = wfs_world_cursors(self->world, intent->principal, &cursors);
	if (r)
		return wfs_trace(r);
	const struct within within = {
		{open_within, filter, filter ? &cursors : NULL}, self->world, head};
	return wfs_introspect(&within.introspector, intent->effect,
		intent->params ? intent->params : none, ret_payload, error);
}

static int answer_allowed(struct wfs_world_answerer *self, const struct wfs_head *head,
	const struct wfs_intent *intent, const struct wfs_introspect_filter *filter,
	struct wfs_outcome *outcome, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *payload = NULL;
	struct wfs_error reason = {0};
	char id[WFS_HASH_TEXT_SIZE];
	int r = adapt(self, head, intent, filter, &payload, &reason);

	if (!payload && (!r || is_answer(r)))
		r = -ENOMEM;
	if (!r)
		r = bound_payload(&payload);
	if (r && !is_answer(r)) {
		*error = reason;
		return wfs_trace(r);
	}
	wfs_hash_text(&intent->id, id);
	const char *const status = r ? "error" : "ok";
	r = outcome_init(outcome, WFS_RECORD_RECEIPT, intent, status, payload);
	if (!r)
		r = write_taken(
			json_pack("{s:s, s:s, s:O, s:s}", "adapter_id", adapter_of(intent->effect),
				"intent_id", id, "payload", payload, "status", status),
			&outcome->body);
	return r;
}

static int refuse(const struct wfs_intent *intent, const struct wfs_judgement *judgement,
	struct wfs_outcome *outcome)
{
	const struct wfs_error_info *const code = wfs_error_info(judgement->error.code);
	struct wfs_decision decision = judgement->decision;
	char id[WFS_HASH_TEXT_SIZE];
	int r = refusal_init(outcome, intent, code);

	wfs_hash_text(&intent->id, id);
	decision.effect = wfs_effect_kind(intent->effect);
	decision.intent_id = id;
	wfs_record_write_decision_body(&outcome->body, &decision, code->name);
	return r ? r : wfs_buffer_check(&outcome->body);
}

static int judge(struct wfs_world_answerer *self, const struct wfs_intent *intent,
	struct wfs_judgement *judgement)
{
	if (self->judge)
		return self->judge->judge(self->judge, intent, judgement);
	return wfs_error_set(
		&judgement->error, WFS_E_NOT_AUTHORIZED, "nobody judges what reducers ask for");
}

static int answer_of_world(struct wfs_answerer *answerer, const struct wfs_head *head, uint64_t seq,
	const struct wfs_intent *intent, struct wfs_outcome *ret_outcome, struct wfs_error *error)
{
	struct wfs_world_answerer *self = (struct wfs_world_answerer *)answerer;
	WFS_AUTO_OUTCOME struct wfs_outcome outcome = {0};
	struct wfs_judgement judgement = {.filter = NULL};
	WFS_GUARD(&self->lock);
	int r = judge(self, intent, &judgement);

	(void)seq;
	if (!r)
		r = answer_allowed(self, head, intent, judgement.filter, &outcome, error);
	else if (r == -EACCES)
		r = refuse(intent, &judgement, &outcome);
	else
		*error = judgement.error;
	if (self->judge && self->judge->release)
		self->judge->release(self->judge, &judgement);
	if (r)
		return wfs_trace(r);
	*ret_outcome = outcome;
	outcome = (struct wfs_outcome){0};
	return 0;
}

void wfs_world_answerer_init(struct wfs_world_answerer *self, struct wfs_world *world)
{
	*self = (struct wfs_world_answerer){.answerer = {answer_of_world}, .world = world};
	pthread_mutex_init(&self->lock, NULL);
}

void wfs_world_answerer_done(struct wfs_world_answerer *self)
{
	pthread_mutex_destroy(&self->lock);
}

void wfs_world_answerer_judge(struct wfs_world_answerer *self, struct wfs_judge *judge)
{
	WFS_GUARD(&self->lock);

	self->judge = judge;
}
