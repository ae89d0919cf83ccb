/* SPDX-License-Identifier: Apache-2.0 */
/* Answering effects that steps ask for. */
#include "kernel/world/answerer.h"
#include "kernel/base/permutation.h"

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/world/world.h"

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

	return wfs_view_within(wfs_world_store(within->world), within->head->txn,
		within->head->height, height, ret_view, error);
}

/* Is the failure an answer, which the reducer gets? Others fail the request. */
static bool is_answer(int r)
{
	return r == -EINVAL || r == -ENOENT || r == -EFBIG;
}

/* Replaces a payload that is too large by an error. Return: 0, or -EFBIG (it was), -ENOMEM. */
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

/* Scores a text for mint.score. A text that cannot be read does not end the auction. */
static int score(const struct wfs_intent *intent, json_t **ret_payload, struct wfs_error *error)
{
	int r = action_score(intent->fold, intent->params, ret_payload, error);

	if (r != -EIO && !is_answer(r))
		return wfs_trace(r);
	*ret_payload = json_pack(
		"{s:s, s:s}", "code", wfs_error_info(error->code)->name, "message", error->message);
	return *ret_payload ? -EINVAL : -ENOMEM;
}

/* @ret_payload: the answer, also for a failure that is_answer(); otherwise NULL */
static int adapt(struct wfs_world_answerer *self, const struct wfs_head *head,
	const struct wfs_intent *intent, const struct wfs_introspect_filter *filter,
	json_t **ret_payload, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *none = intent->params ? NULL : json_object();
	struct wfs_permutation cursors;

	if (intent->effect == WFS_EFFECT_MINT_SCORE)
		return wfs_trace(score(intent, ret_payload, error));
	if (intent->effect == WFS_EFFECT_ACTION_SCHEDULE)
		return wfs_trace(timer_ask(intent, ret_payload, error));
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
	int r = adapt(self, head, intent, filter, &payload, &reason);

	if (!payload && (!r || is_answer(r)))
		r = -ENOMEM;
	if (!r)
		r = bound_payload(&payload);
	if (r && !is_answer(r)) {
		*error = reason;
		return wfs_trace(r);
	}
	const char *const status = r ? "error" : "ok";
	const struct wfs_hash_text id = wfs_hash_text_of(&intent->id);
	const struct wfs_body_receipt body = {
		.adapter_id = wfs_effect_adapter(intent->effect),
		.intent_id = id.text,
		.payload = payload,
		.status = status,
	};
	r = wfs_outcome_init(outcome, WFS_RECORD_RECEIPT, intent, status, payload);
	if (r)
		return r;
	wfs_body_write_receipt(&outcome->body, &body);
	return wfs_buffer_check(&outcome->body);
}

static int refuse(const struct wfs_intent *intent, const struct wfs_judgement *judgement,
	struct wfs_outcome *outcome)
{
	const struct wfs_error_info *const code = wfs_error_info(judgement->error.code);
	struct wfs_decision decision = judgement->decision;
	const struct wfs_hash_text id = wfs_hash_text_of(&intent->id);
	int r = wfs_outcome_init_refusal(outcome, intent, code);

	decision.effect = wfs_effect_kind(intent->effect);
	decision.intent_id = id.text;
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
