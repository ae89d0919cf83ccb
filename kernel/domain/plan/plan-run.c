/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a plan: a batch of steps at a time, several of them at once.
 *
 * When all steps of a batch have ended, the next batch is made of steps that are ready. One fold
 * ends at most WFS_PLAN_ADVANCE_MAX steps, and fewer if they are large; another fold continues.
 */
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-impl.h"

enum {
	BACKOFF_FIRST_MS = 500, /* before the second attempt; doubled before each further one */
	BACKOFF_MAX_MS = 8000,
};

/* --- a step has ended --- */

/* Ends a step. @status: done, failed or skipped */
static int end_step(struct plan *plan, struct plan_step *step, const char *status,
	const char *reason, struct wfs_error *error)
{
	const char *const failed = plan_is(status, "done") ? NULL : step->state.id;
	WFS_AUTO_DOCUMENT struct wfs_document_plan_edge edge = {.own = {.json = NULL}};
	const json_t *next;
	size_t i;
	int r = plan_step_set(plan, step, status, reason, error);

	++*plan_counter(plan, status);
	plan->ended_count++;
	if (!r)
		r = plan_edge_load(plan, step->index, &edge, error);
	json_array_foreach(edge.next, i, next) {
		if (!r)
			r = plan_wait_less(plan, json_integer_value(next), failed, error);
	}
	return wfs_trace(r);
}

static int skip(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct plan_step step;
	char reason[WFS_PLAN_STEP_ID_MAX + 64];
	int r = plan_step_load(plan, index, &step, error);

	snprintf(
		reason, sizeof(reason), "the step '%s', which it depends on, was not done", failed);
	return wfs_trace(r ? r : end_step(plan, &step, "skipped", reason, error));
}

/* --- batches --- */

static int64_t batch_number(const struct plan *plan, const char *member)
{
	return json_integer_value(json_object_get(plan->state.batch, member));
}

static size_t batch_count(const struct plan *plan)
{
	return json_array_size(json_object_get(plan->state.batch, "steps"));
}

static void new_batch(struct plan *plan)
{
	plan->state.batch =
		plan_own(plan, json_pack("{s:i, s:[], s:b}", "next", 0, "steps", "tools", 0));
}

static int add_to_batch(struct plan *plan, int64_t index, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);

	if (!r)
		r = plan_step_set(plan, &step, "ready", NULL, error);
	if (!r && plan_is(step.state.type, "tool"))
		plan->failed |= json_object_set_new(plan->state.batch, "tools", json_true()) < 0;
	plan->failed |= json_array_append_new(json_object_get(plan->state.batch, "steps"),
				json_integer(index)) < 0;
	return wfs_trace(r);
}

/* Has this fold done enough? Another fold does the rest. */
static bool is_enough(const struct plan *plan)
{
	return plan->ended_count >= WFS_PLAN_ADVANCE_MAX ||
		wfs_fold_bytes(plan->fold) >= WFS_PLAN_ADVANCE_BYTES;
}

/* Makes the next batch, and skips steps that depend on a failed one. */
static int make_batch(struct plan *plan, struct wfs_error *error)
{
	const size_t max = (size_t)plan->state.batch_size;
	int64_t index = 0;
	int r = 0;

	new_batch(plan);
	while (!r && index >= 0 && batch_count(plan) < max && !is_enough(plan)) {
		const char *doomed = NULL;

		r = plan_take(plan, &index, &doomed, error);
		if (!r && index >= 0)
			r = doomed ? skip(plan, index, doomed, error)
				   : add_to_batch(plan, index, error);
	}
	return wfs_trace(r);
}

/* --- beginning steps --- */

/* Opens the intent of a step. @not_before_ns: 0: now */
static int ask_for_step(
	struct plan *plan, struct plan_step *step, int64_t not_before_ns, struct wfs_error *error)
{
	const bool is_tool = plan_is(step->state.type, "tool");
	const json_int_t attempt = ++step->state.attempts;
	json_t *const params = is_tool
		? json_pack("{s:I, s:s, s:s, s:s}", "attempt", attempt, "name",
			  wfs_json_text(step->state.tool, "name"), "plan_id", plan->plan_id,
			  "step_id", step->state.id)
		: json_pack("{s:I, s:s, s:s, s:s}", "attempt", attempt, "model", plan->state.model,
			  "plan_id", plan->plan_id, "step_id", step->state.id);

	if (is_tool)
		plan->state.tool_calls += 1;
	int r = plan_step_set(plan, step, "running", NULL, error);
	if (r)
		json_decref(params);
	return wfs_trace(r
			? r
			: plan_ask(plan, is_tool ? WFS_EFFECT_TOOL_CALL : WFS_EFFECT_LLM_GENERATE,
				  params, step->index, not_before_ns, error));
}

static int begin_step(struct plan *plan, int64_t index, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);

	if (r)
		return wfs_trace(r);
	if (!plan_is(step.state.type, "note"))
		return wfs_trace(ask_for_step(plan, &step, 0, error));
	step.state.attempts = 1;
	return wfs_trace(end_step(plan, &step, "done", NULL, error));
}

static int begin_steps(struct plan *plan, struct wfs_error *error)
{
	const size_t at_once = (size_t)plan->state.max_concurrency;
	int r = 0;

	while (!r && batch_number(plan, "next") < (int64_t)batch_count(plan) &&
		plan_open_count(plan) < at_once) {
		const int64_t next = batch_number(plan, "next");
		const json_t *const steps = json_object_get(plan->state.batch, "steps");

		plan->failed |=
			json_object_set_new(plan->state.batch, "next", json_integer(next + 1)) < 0;
		r = begin_step(
			plan, json_integer_value(json_array_get(steps, (size_t)next)), error);
	}
	return wfs_trace(r);
}

/* --- the end --- */

static int64_t ended(const struct plan *plan)
{
	return plan->state.done + plan->state.failed + plan->state.skipped;
}

static const char *derived_status(const struct plan *plan)
{
	if (plan->state.done == plan->state.total)
		return "done";
	return plan->state.done > 0 ? "partial" : "failed";
}

int plan_end(struct plan *plan, struct wfs_error *error)
{
	(void)error;
	plan->state.phase = "ended";
	plan->state.status = derived_status(plan);
	return 0;
}

int plan_ask_answer(struct plan *plan, struct wfs_error *error)
{
	plan->state.phase = "answering";
	plan->state.error = NULL;
	return wfs_trace(plan_ask(plan, WFS_EFFECT_LLM_GENERATE,
		json_pack("{s:s, s:s}", "model", plan->state.model, "plan_id", plan->plan_id), -1,
		0, error));
}

/* After the last batch: asks for the answer, or fails. Steps that have not ended by then wait for
 * one another, which the driver should have refused. */
static int finish(struct plan *plan, struct wfs_error *error)
{
	const bool nothing = plan->state.done == 0 && plan->state.total > 0;
	const bool stuck = ended(plan) < plan->state.total;

	if (!nothing && !stuck)
		return wfs_trace(plan_ask_answer(plan, error));
	plan->state.error = plan_own(plan,
		json_pack("{s:s, s:{s:I, s:I, s:I}}", "code", WFS_CHAT_PLAN_FAILED, "details",
			"failed", (json_int_t)plan->state.failed, "never_ready",
			(json_int_t)(plan->state.total - ended(plan)), "skipped",
			(json_int_t)plan->state.skipped));
	return wfs_trace(plan_end(plan, error));
}

/* --- going on --- */

static int advance_later(struct plan *plan, struct wfs_error *error)
{
	return wfs_trace(plan_ask(plan, WFS_EFFECT_PLAN_ADVANCE,
		json_pack("{s:s}", "plan_id", plan->plan_id), -1, 0, error));
}

/* --- trying again --- */

/* Reopens a step that has failed or was skipped; steps that depend on it wait for it again. */
static int reopen(struct plan *plan, struct plan_step *step, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan_edge edge = {.own = {.json = NULL}};
	size_t i;
	const json_t *next;

	--*plan_counter(plan, step->state.status);
	plan->ended_count++;
	step->state.reason = NULL;
	step->state.attempts = 0;
	int r = plan_step_set(plan, step, "pending", NULL, error);
	if (!r)
		r = plan_wait_more(plan, step->index, 0, error);
	if (!r)
		r = plan_edge_load(plan, step->index, &edge, error);
	json_array_foreach(edge.next, i, next) {
		if (!r)
			r = plan_wait_more(plan, json_integer_value(next), 1, error);
	}
	return wfs_trace(r);
}

static int retry_step(struct plan *plan, int64_t index, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);

	if (r || !(plan_is(step.state.status, "failed") || plan_is(step.state.status, "skipped")))
		return wfs_trace(r);
	return wfs_trace(reopen(plan, &step, error));
}

/* Reopens steps from `retry` on. Nothing begins before all steps were looked at. */
static int retry_some(struct plan *plan, struct wfs_error *error)
{
	int64_t index = plan->state.retry;
	int r = 0;

	while (!r && index < plan->state.total && !is_enough(plan))
		r = retry_step(plan, index++, error);
	if (index < plan->state.total)
		plan->state.retry = index;
	else
		plan->state.retry = -1;
	return wfs_trace(r);
}

void plan_retry(struct plan *plan)
{
	plan->state.error = plan->state.final = NULL;
	plan->state.retry = 0;
}

int plan_go_on(struct plan *plan, struct wfs_error *error)
{
	if (plan->state.retry >= 0) {
		const int r = retry_some(plan, error);

		if (r || is_enough(plan))
			return wfs_trace(r ? r : advance_later(plan, error));
	}
	for (;;) {
		int r = begin_steps(plan, error);

		if (r || batch_number(plan, "next") < (int64_t)batch_count(plan) ||
			plan_open_count(plan) > 0)
			return wfs_trace(r);
		if (batch_count(plan) > 0)
			plan->state.batches += 1;
		if (json_is_true(json_object_get(plan->state.batch, "tools")))
			plan->state.tool_batches += 1;
		r = make_batch(plan, error);
		if (!r && batch_count(plan) == 0)
			return wfs_trace(
				is_enough(plan) ? advance_later(plan, error) : finish(plan, error));
		if (!r && is_enough(plan))
			r = advance_later(plan, error);
		if (r || is_enough(plan))
			return wfs_trace(r);
	}
}

/* Makes a step of the batch that has not ended pending again. */
static int take_back(struct plan *plan, int64_t index, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);

	if (r)
		return wfs_trace(r);
	if (!plan_is(step.state.status, "ready") && !plan_is(step.state.status, "running"))
		return 0;
	r = plan_step_set(plan, &step, "pending", NULL, error);
	return wfs_trace(r ? r : plan_give_back(plan, index, error));
}

int plan_stop(struct plan *plan, struct wfs_error *error)
{
	const json_t *const steps = json_object_get(plan->state.batch, "steps");
	int r = plan_cancel_open(plan, error);

	for (size_t i = 0; !r && i < json_array_size(steps); i++)
		r = take_back(plan, json_integer_value(json_array_get(steps, i)), error);
	new_batch(plan);
	return wfs_trace(r);
}

/* --- results of steps --- */

static int64_t backoff_ns(int64_t attempts)
{
	int64_t wait_ms = BACKOFF_FIRST_MS;

	for (int64_t i = 1; i < attempts && wait_ms < BACKOFF_MAX_MS; i++)
		wait_ms *= 2;
	return INT64_C(1000000) * (wait_ms < BACKOFF_MAX_MS ? wait_ms : BACKOFF_MAX_MS);
}

/* Adds the step's id and what it asked for to a result. */
static int complete(const struct plan_step *step, json_t *result, struct wfs_error *error)
{
	const json_t *const tool = step->state.tool;
	json_t *const asked = json_is_object(tool)
		? json_pack("{s:s, s:s}", "method", wfs_json_text(tool, "method"), "name",
			  wfs_json_text(tool, "name"))
		: json_null();

	return json_object_set_new(result, "asked", asked) < 0 ||
			json_object_set_new(result, "_step_id", json_string(step->state.id)) < 0
		? fold_no_memory(error)
		: 0;
}

int plan_stepped(
	struct plan *plan, int64_t index, json_t *result, bool retry, struct wfs_error *error)
{
	const bool ok = json_is_true(json_object_get(result, "ok"));
	WFS_AUTO_DOCUMENT struct plan_step step;
	int r = plan_step_load(plan, index, &step, error);
	const int64_t attempts = step.state.attempts;

	if (!r && !plan_is(step.state.status, "running"))
		r = wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"step '%s' of plan '%s' does not run", step.state.id, plan->plan_id);
	if (!r && !ok && retry && attempts < step.state.max_attempts) {
		r = ask_for_step(
			plan, &step, plan->fold->input.at_ns + backoff_ns(attempts), error);
		return wfs_trace(r ? r : plan_go_on(plan, error));
	}
	if (!r)
		r = complete(&step, result, error);
	if (!r)
		r = plan_step_keep(plan, &step, result, error);
	if (!r)
		r = end_step(plan, &step, ok ? "done" : "failed",
			ok ? NULL : wfs_json_text(result, "error"), error);
	return wfs_trace(r ? r : plan_go_on(plan, error));
}
