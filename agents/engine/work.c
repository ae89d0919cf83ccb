/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/work.h"

#include <search.h>

#include "caps/session-act.h"
#include "caps/session-text.h"
#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/manifest/document.h"

enum { AGAIN_MS = 1000 }; /* after which a request is repeated that the kernel could not take */

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct work *)a)->intent_id, ((const struct work *)b)->intent_id);
}

/* --- life --- */

static struct work *find(const struct engine *engine, const char *intent_id)
{
	struct work key;

	snprintf(key.intent_id, sizeof(key.intent_id), "%s", intent_id);
	void *const *const found = tfind(&key, &engine->works, compare);
	return found ? *found : NULL;
}

static bool asks_model(const struct work *work)
{
	return work->kind->effect == WFS_EFFECT_LLM_GENERATE;
}

const struct work *work_of_chat(const struct engine *engine, const char *chat_id)
{
	const struct work *work;

	LIST_FOREACH(work, &engine->open_works, all)
		if (asks_model(work) && strcmp(work->kind->owner, "chat_id") == 0 &&
			strcmp(work->owner_id, chat_id) == 0)
			return work;
	return NULL;
}

/* Forgets the work, whose cell may come again. */
static void forget(struct work *work)
{
	if (work->gone)
		return;
	(void)tdelete(work, &work->engine->works, compare);
	LIST_REMOVE(work, all);
	work->gone = true;
}

void work_question_done(struct work_question *question)
{
	json_decref(question->messages);
	json_decref(question->setup);
}

static void stop(struct work *work)
{
	if (work->kind->cancel)
		work->kind->cancel(work);
}

void work_free(struct work *work)
{
	struct engine *const engine = work->engine;

	work_clear_timer(work);
	stop(work);
	if (work->calling.is_reading) {
		work->calling.is_done = true;
		return;
	}
	forget(work);
	wfs_session_free(work->session);
	wfs_session_call_done(&work->called);
	json_decref(work->receipt);
	wfs_texts_done(&work->texts);
	json_decref(work->action);
	json_decref(work->asking.entry);
	json_decref(work->asking.setup);
	json_decref(work->calling.arguments);
	json_decref(work->calling.asked);
	json_decref(work->asking.usage);
	json_decref(work->failure_meta);
	agents_origin_done(&work->calling.origin);
	if (work->kind->done)
		work->kind->done(work);
	wfs_buffer_done(&work->asking.body);
	raw_done(&work->asking.raw);
	wfs_buffer_done(&work->calling.output);
	free(work->calling.tool_name);
	free(work);
	engine_one_less(engine);
}

/* The answer is not wanted any more. If the kernel has a request, it comes back first. */
static void drop(struct work *work)
{
	stop(work);
	forget(work);
	if (work->state != WORK_SUBMITTING)
		work_free(work);
}

int64_t work_elapsed_ms(const struct work *work)
{
	return (wfs_clock_monotonic_ns() - work->began_ns) / 1000000;
}

int64_t work_left_ms(int64_t started_ns, const json_t *setup)
{
	const json_t *const limit =
		json_object_get(json_object_get(setup, "settings"), "run_timeout_ms");
	const int64_t ran_ms = (wfs_clock_realtime_ns() - started_ns) / 1000000;
	const int64_t left_ms = json_integer_value(limit) - ran_ms;

	if (!limit)
		return INT64_MAX;
	return left_ms > 0 ? left_ms : 0;
}

/* --- timers: libuv's live until they are closed, in the loop's next turn --- */

struct timer {
	uv_timer_t handle; /* first */
	struct work *work; /* NULL: no function is to be called */
	void (*due)(struct work *work);
};

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

void work_clear_timer(struct work *work)
{
	struct timer *const timer = (struct timer *)WFS_STEAL(work->timer);

	if (!timer)
		return;
	timer->work = NULL;
	uv_close((uv_handle_t *)&timer->handle, timer_closed);
}

static void on_due(uv_timer_t *handle)
{
	struct timer *const timer = (struct timer *)handle;
	struct work *const work = timer->work;
	void (*const due)(struct work *) = timer->due;

	if (!work)
		return;
	work_clear_timer(work);
	due(work);
}

int work_set_timer(struct work *work, uint64_t in_ms, void (*due)(struct work *work))
{
	struct timer *const timer = calloc(1, sizeof(*timer));

	work_clear_timer(work);
	if (!timer)
		return -ENOMEM;
	(void)uv_timer_init(&work->engine->loop, &timer->handle); /* cannot fail */
	timer->work = work;
	timer->due = due;
	work->timer = &timer->handle;
	return uv_timer_start(&timer->handle, on_due, in_ms, 0);
}

/* --- answering --- */

/* Can the request succeed later? The disk of the host may have room then. */
static bool is_passing(int r, const struct wfs_error *error)
{
	return r == -ENOSPC || r == -EAGAIN || r == -ENOMEM ||
		(r == -EDQUOT && error->code != WFS_E_QUOTA_EXCEEDED);
}

static void submit_later(struct work *work)
{
	work->state = WORK_WAITING;
	if (work_set_timer(work, AGAIN_MS, work_submit))
		work_free(work); /* it is found again when the world is opened */
}

/* Replaces an answer that the kernel cannot take by an error. */
static void answer_otherwise(struct work *work, const struct wfs_error *error)
{
	const struct wfs_error reason = *error;

	if (work->receipt && json_object_get(json_object_get(work->receipt, "payload"), "code")) {
		wfs_log_for(wfs_session_principal(work->session), WFS_LOG_AGENTS, WFS_LOG_ERR,
			"'%s': an answer cannot be recorded, it stays open: %s", work->owner_id,
			reason.message);
		work_free(work);
		return;
	}
	work_fail(work, &reason);
}

static void answered(struct engine *engine, struct job *job)
{
	struct work *const work = (struct work *)job;
	const int r = work->request.result;

	WFS_AUTO_JSON json_t *answer = WFS_STEAL(work->request.answer);

	work->state = WORK_DOING;
	if (r == 0 && work->request.kind != WFS_REQUEST_DECISION && work->kind->recorded)
		work->kind->recorded(work);
	if (work->gone || engine_stopping(engine))
		work_free(work);
	else if (work->request.kind == WFS_REQUEST_DECISION) /* the agent may not */
		answer_otherwise(work, &work->request.error);
	else if (r == 0 && work->kind->next && work->kind->next(work, answer))
		return;
	else if (r == 0 || r == -ESTALE || r == -ENOENT || work->request.seq != UINT64_MAX)
		work_free(work);
	else if (is_passing(r, &work->request.error))
		submit_later(work);
	else
		answer_otherwise(work, &work->request.error);
}

static int send_answer(struct work *work)
{
	wfs_session_call_done(&work->called); /* of the earlier answer */
	if (work->receipt)
		return wfs_session_receipt(
			work->session, work->receipt, work->charge, &work->request);
	if (work->send)
		return work->send(work);
	return wfs_session_act_called(work->session, work->action, &work->called, &work->request);
}

static void give_receipt(struct work *work)
{
	work->request.receipt.texts = &work->texts;
	work->request.receipt.raw = work->asking.raw.bytes;
	work->request.receipt.raw_count = work->asking.raw.bytes_count;
}

void work_submit(struct work *work)
{
	work->request = engine_request(work->engine, &work->job, answered);
	if (work->receipt)
		give_receipt(work);
	work->state = WORK_SUBMITTING;
	const int r = send_answer(work);
	if (!r)
		return;
	work->state = WORK_DOING;
	if (is_passing(r, &work->request.error))
		submit_later(work);
	else
		answer_otherwise(work, &work->request.error);
}

static void begin_now(struct work *work);

/* The record that says that the call waits is written. The approval begins the work again. */
static void asked(struct engine *engine, struct job *job)
{
	struct work *const work = (struct work *)job;
	const int r = work->request.result;
	const struct wfs_error error = work->request.error;

	work->state = WORK_DOING;
	wfs_session_call_done(&work->called);
	json_decref(WFS_STEAL(work->request.answer));
	if (work->gone || engine_stopping(engine) || r == 0 || r == -ESTALE || r == -ENOENT)
		work_free(work);
	else if (!is_passing(r, &error) || work_set_timer(work, AGAIN_MS, begin_now))
		work_fail(work, &error);
}

int work_wait_for_approval(
	struct work *work, enum wfs_effect effect, const char *artifact, struct wfs_error *error)
{
	work->called =
		(struct wfs_session_call){.intent_id = work->intent_id, .approved = work->approved};
	work->request = engine_request(work->engine, &work->job, asked);
	work->state = WORK_SUBMITTING;
	const int r = wfs_session_wait_call(
		work->session, effect, artifact, &work->called, &work->request);
	if (r <= 0)
		work->state = WORK_DOING;
	if (r < 0)
		*error = work->request.error;
	return r;
}

int work_suspend(struct work *work, json_t *wait, struct wfs_error *error)
{
	work->called = (struct wfs_session_call){.intent_id = work->intent_id, .ask = wait};
	if (!wait)
		return wfs_error_from_errno(error, -ENOMEM, "have a call wait");
	work->request = engine_request(work->engine, &work->job, asked);
	work->state = WORK_SUBMITTING;
	const int r = wfs_session_suspend_call(work->session, wait, &work->request);
	if (r) {
		work->state = WORK_DOING;
		wfs_session_call_done(&work->called);
		*error = work->request.error;
	}
	return r;
}

bool work_read(struct work *work)
{
	work->calling.is_reading = false;
	if (work->calling.is_done)
		work_free(work);
	else
		return !work->calling.is_late;
	return false;
}

/* Without memory, nothing is kept. */
static void name_raw(struct work *work)
{
	struct wfs_error error = {0};

	if (!raw_name(&work->asking.raw, work->receipt, &work->texts, &error))
		return;
	raw_done(&work->asking.raw);
	(void)json_object_del(work->receipt, "request_hash");
	(void)json_object_del(work->receipt, "response_hash");
	wfs_log_for(wfs_session_principal(work->session), WFS_LOG_AGENTS, WFS_LOG_ERR,
		"'%s': what the model was sent is not kept: %s", work->owner_id, error.message);
}

void work_answer(struct work *work, const char *status, json_t *payload)
{
	work_clear_timer(work);
	if (work->kind->answers && !work->gone)
		work->kind->answers(work, status, payload);
	json_decref(WFS_STEAL(work->receipt));
	work->receipt = json_pack("{s:s, s:s, s:o, s:s}", "adapter_id", work->kind->adapter_id,
		"intent_id", work->intent_id, "payload", payload, "status", status);
	if (work->receipt && !work->gone)
		name_raw(work);
	if (work->gone || !work->receipt) /* no memory: the next opening finds the intent again */
		work_free(work);
	else
		work_submit(work);
}

/* A thread that still reads may set the value. */
json_t *work_failure_meta(const struct work *work)
{
	return work->calling.is_reading ? NULL : work->failure_meta;
}

static const char *status_of(const struct work *work, enum wfs_error_code code)
{
	if (code == WFS_E_TIMEOUT)
		return "timeout";
	return code == WFS_E_CANCELLED && strcmp(work->kind->owner, "run_id") == 0 ? "cancelled"
										   : "error";
}

/* A model that could not be asked cannot be asked the next time either, unless host.json, the
 * environment or a grant changes. A failure of this process says nothing about that. */
static json_t *retriable_of(const struct work *work, const struct wfs_error *error)
{
	return asks_model(work) && error->code != WFS_E_INTERNAL_ERROR &&
			!wfs_error_info(error->code)->retriable
		? json_false()
		: NULL;
}

void work_fail(struct work *work, const struct wfs_error *error)
{
	const bool is_private = agents_origin_is_private(&work->calling.origin);

	wfs_texts_done(&work->texts);
	json_t *const outcome = work->kind->outcome ? work->kind->outcome(work, error) : NULL;

	work_answer(work, status_of(work, error->code),
		json_pack("{s:s, s:I, s:s*, s:s, s:O*, s:o*, s:o*, s:O*}", "code",
			wfs_error_info(error->code)->name, "duration_ms",
			(json_int_t)work_elapsed_ms(work), "failed", work->failed, "message",
			is_private ? "hidden in the outcome" : error->message, "meta",
			outcome ? NULL : work_failure_meta(work), "outcome", outcome, "retriable",
			retriable_of(work, error), "usage", work->asking.usage));
}

/* --- looking --- */

/* NULL: the intent asks for nothing that is known. */
static const struct work_kind *find_kind(
	const struct engine *engine, const struct wfs_document_intent *intent)
{
	for (const struct work_kind *kind = engine->work_kinds; kind->owner; kind++)
		if (json_object_get(intent->own.json, kind->owner) &&
			strcmp(intent->effect, wfs_effect_kind(kind->effect)) == 0 &&
			(!kind->index || json_object_get(intent->own.json, kind->index)))
			return kind;
	return NULL;
}

static struct work *work_new(struct engine *engine, const char *intent_id,
	const struct wfs_document_intent *intent, struct wfs_error *error)
{
	const struct work_kind *const kind = find_kind(engine, intent);
	struct work *const work = kind ? calloc(1, sizeof(*work)) : NULL;

	if (!kind)
		(void)wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the intent %s asks for an unknown effect", intent_id);
	if (!work)
		return NULL;
	work->engine = engine;
	work->kind = kind;
	if (intent->turn > 0)
		work->turn = intent->turn;
	if (kind->index)
		work->index = json_integer_value(json_object_get(intent->own.json, kind->index));
	work->approved = strcmp(intent->state, "approved") == 0;
	work->began_ns = wfs_clock_monotonic_ns();
	snprintf(work->intent_id, sizeof(work->intent_id), "%s", intent_id);
	snprintf(work->owner_id, sizeof(work->owner_id), "%s",
		wfs_json_text(intent->own.json, kind->owner));
	snprintf(work->began, sizeof(work->began), "%s", intent->began ? intent->began : "");
	if (wfs_session_new(engine->authority, intent->principal, &work->session, error) ||
		wfs_session_note_private(work->session) ||
		!tsearch(work, &engine->works, compare)) {
		wfs_session_free(work->session);
		free(work);
		return NULL;
	}
	LIST_INSERT_HEAD(&engine->open_works, work, all);
	engine->open_count++;
	return work;
}

static void begin_now(struct work *work)
{
	struct wfs_error error = {0};

	work->began_ns = wfs_clock_monotonic_ns();
	/* A plan goes on until all of its steps have ended, with errors if need be; a call that
	 * has begun something waits for that; and a call of an outside tool is judged already. */
	if (work->kind->effect != WFS_EFFECT_PLAN_ADVANCE &&
		work->kind->effect != WFS_EFFECT_TOOL_OUTSIDE && !*work->began &&
		wfs_session_check_journal(work->session, &error))
		work_fail(work, &error);
	else
		work->kind->begin(work);
}

/* An attempt after a failure waits first. */
static void begin(struct engine *engine, const char *intent_id,
	const struct wfs_document_intent *intent, bool earlier)
{
	const int64_t wait_ms = (intent->not_before_ns - wfs_clock_realtime_ns()) / 1000000;
	struct wfs_error error = {.message = "no memory"};
	struct work *const work = work_new(engine, intent_id, intent, &error);

	if (!work)
		wfs_log_for(intent->principal, WFS_LOG_AGENTS, WFS_LOG_ERR,
			"the effect that '%s' asks for is not performed: %s", intent->principal,
			error.message);
	if (!work)
		return;
	work->earlier = earlier;
	if (wait_ms <= 0 || work_set_timer(work, (uint64_t)wait_ms, begin_now))
		begin_now(work);
}

/* Why an intent is looked at. */
enum look {
	LOOK_CHANGED, /* its cell may have changed */
	LOOK_DUE,     /* what it waits for has come */
	LOOK_BEGUN,   /* this process has opened it to call an outside tool */
	LOOK_FIRST,   /* the engine starts */
};

/* Is the intent one that can be begun now? An outside tool is called once, by the process that has
 * opened the intent; after this process has died, the next one decides what becomes of the call. */
static bool is_ready(const struct wfs_document_intent *intent, enum look why)
{
	if (strcmp(intent->state, "asked") == 0 || strcmp(intent->state, "unknown") == 0)
		return false;
	if (strcmp(intent->state, "waiting") == 0)
		return why == LOOK_DUE;
	return !intent->outside || why == LOOK_BEGUN || why == LOOK_FIRST;
}

static void look_at(struct engine *engine, const char *intent_id, enum look why)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	struct work *const work = find(engine, intent_id);
	struct wfs_error error = {0};

	if (wfs_driving_intent(&engine->driving, intent_id, &intent, &error)) {
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR, "an intent cannot be read: %s", error.message);
		return;
	}
	if (!intent.own.json && work)
		drop(work);
	if (!intent.own.json || work || !is_ready(&intent, why))
		return;
	if (engine_trusts(engine, &error))
		begin(engine, intent_id, &intent, why == LOOK_FIRST);
	else
		wfs_log_for(intent.principal, WFS_LOG_AGENTS, WFS_LOG_WARNING,
			"the effect that '%s' asks for is begun when the world is opened again: %s",
			intent.principal, error.message);
}

void work_look(struct engine *engine, const char *intent_id)
{
	look_at(engine, intent_id, LOOK_CHANGED);
}

void work_look_due(struct engine *engine, const char *intent_id)
{
	look_at(engine, intent_id, LOOK_DUE);
}

void work_look_begun(struct engine *engine, const char *intent_id)
{
	look_at(engine, intent_id, LOOK_BEGUN);
}

bool work_give_up(struct engine *engine, const char *intent_id, bool late)
{
	struct work *const work = find(engine, intent_id);

	if (work && work->kind->give_up)
		work->kind->give_up(work, late);
	return work != NULL;
}

bool work_is_open(const struct engine *engine, const char *intent_id)
{
	return find(engine, intent_id) != NULL;
}

static void look_at_all(struct engine *engine, enum look why)
{
	struct wfs_error error = {0};
	WFS_AUTO_JSON json_t *ids = NULL;
	size_t i;
	const json_t *id;

	/* All ids are read before the first intent begins. */
	if (wfs_driving_intents(&engine->driving, &ids, &error))
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR, "open intents cannot be listed: %s",
			error.message);
	json_array_foreach(ids, i, id)
		look_at(engine, json_string_value(id), why);
}

void work_look_at_all(struct engine *engine)
{
	look_at_all(engine, LOOK_CHANGED);
}

void work_look_at_first(struct engine *engine)
{
	look_at_all(engine, LOOK_FIRST);
}

void work_drop_all(struct engine *engine)
{
	while (!LIST_EMPTY(&engine->open_works))
		drop(LIST_FIRST(&engine->open_works));
}
