/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a plan, and its intents. */
#include <ctype.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-impl.h"

/* --- the state --- */

void plan_done(struct plan *plan)
{
	for (size_t i = 0; plan->blocks && i < plan->block_count; i++)
		wfs_document_done(&plan->blocks[i].state);
	free(plan->blocks);
	free(plan->ready);
	wfs_document_done(&plan->state);
	json_decref(plan->owned);
}

static size_t ready_size(const struct plan *plan)
{
	return (plan->block_count + 7) / 8;
}

/* Allocates blocks and bitmap for a plan. @total: number of its steps */
static int make_room(struct plan *plan, int64_t total, struct wfs_error *error)
{
	if (total < 0 || total > WFS_PLAN_STEPS_MAX)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "plan '%s' has %lld steps",
			plan->plan_id, (long long)total);
	plan->block_count = ((size_t)total + WFS_PLAN_BLOCK - 1) / WFS_PLAN_BLOCK;
	plan->blocks = calloc(plan->block_count + 1, sizeof(*plan->blocks));
	plan->ready = calloc(ready_size(plan) + 1, 1);
	return plan->blocks && plan->ready ? 0 : fold_no_memory(error);
}

static int read_ready(struct plan *plan, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	int r = wfs_json_get_base64(plan->state.own.json, "ready", &bytes, error);

	if (!r && bytes.size != ready_size(plan))
		r = wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"plan '%s' does not say which of its steps are ready", plan->plan_id);
	if (!r && bytes.size > 0)
		memcpy(plan->ready, bytes.data, bytes.size);
	return wfs_trace(r);
}

int plan_load(
	struct wfs_fold *fold, const char *plan_id, struct plan *ret_plan, struct wfs_error *error)
{
	struct plan plan = {.fold = fold};
	int r = fold_read_plan(fold, plan_id, &plan.state, error);

	if (r)
		return wfs_trace(r);
	if (!plan.state.own.json)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Plan '%.64s' not found", plan_id);
	plan.plan_id = plan.state.plan_id;
	if (!*plan.plan_id)
		r = wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "plan '%.64s' has no plan_id", plan_id);
	if (!r)
		r = make_room(&plan, plan.state.total, error);
	if (!r)
		r = read_ready(&plan, error);
	if (r) {
		plan_done(&plan);
		return wfs_trace(r);
	}
	*ret_plan = plan;
	return 0;
}

/* Checks a plan's id, of which keys of steps and names of files are made. */
static int check_id(const char *plan_id, struct wfs_error *error)
{
	size_t size = 0;

	while (size <= WFS_PLAN_ID_SIZE &&
		(isalnum((unsigned char)plan_id[size]) ||
			(plan_id[size] && strchr("-_", plan_id[size]))))
		size++;
	return size > 0 && !plan_id[size] && size <= WFS_PLAN_ID_SIZE
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "'plan_id': expected 1 to %d letters, digits, - and _, got '%.60s'",
			  WFS_PLAN_ID_SIZE, plan_id);
}

int plan_new(struct wfs_fold *fold, json_t *state, struct plan *ret_plan, struct wfs_error *error)
{
	struct plan plan = {.fold = fold};
	WFS_AUTO_JSON json_t *existing = NULL;
	int r = state ? wfs_document_read_plan(state, &plan.state, error) : fold_no_memory(error);

	if (r)
		return wfs_trace(r);
	plan.plan_id = plan.state.plan_id ? plan.state.plan_id : "";
	r = check_id(plan.plan_id, error);
	if (!r)
		r = fold_load(fold, WFS_BUILTIN_PLAN, plan.plan_id, &plan.state.own.cell, &existing,
			error);
	if (!r && existing)
		r = wfs_error_set(
			error, WFS_E_ALREADY_EXISTS, "there is a plan '%s' already", plan.plan_id);
	if (!r)
		r = make_room(&plan, plan.state.total, error);
	if (r) {
		plan_done(&plan);
		return wfs_trace(r);
	}
	*ret_plan = plan;
	return 0;
}

int plan_store(struct plan *plan, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer ready = {0};
	int r = 0;

	for (size_t i = 0; !r && i < plan->block_count; i++) {
		struct plan_block *const block = &plan->blocks[i];

		if (block->changed)
			r = fold_write_plan_block(plan->fold, &block->state, error);
		block->changed = false;
	}
	wfs_base64_append(&ready, plan->ready, ready_size(plan));
	plan->state.ready = wfs_buffer_text(&ready);
	plan->state.updated_ns = plan->fold->input.at_ns;
	if (r)
		return wfs_trace(r);
	return plan->failed || wfs_buffer_check(&ready)
		? fold_no_memory(error)
		: wfs_trace(fold_write_plan(plan->fold, &plan->state, error));
}

json_t *plan_own(struct plan *plan, json_t *value)
{
	if (!plan->owned)
		plan->owned = json_array();
	plan->failed |= json_array_append_new(plan->owned, value) < 0;
	return plan->failed ? NULL : value;
}

int64_t *plan_counter(struct plan *plan, const char *status)
{
	if (strcmp(status, "done") == 0)
		return &plan->state.done;
	return strcmp(status, "failed") == 0 ? &plan->state.failed : &plan->state.skipped;
}

bool plan_is_number(const json_t *value, int64_t minimum, int64_t maximum)
{
	const int64_t number = json_integer_value(value);

	return json_is_integer(value) && number >= minimum && number <= maximum;
}

size_t plan_open_count(const struct plan *plan)
{
	return json_array_size(plan->state.open);
}

/* --- intents --- */

int plan_ask(struct plan *plan, enum wfs_effect effect, json_t *params, int64_t step,
	int64_t not_before_ns, struct wfs_error *error)
{
	const struct intent intent = {
		.effect = effect,
		.reducer = WFS_BUILTIN_PLAN,
		.key = plan->plan_id,
		.params = params,
		.document = {.plan_id = plan->plan_id,
			.principal = plan->state.principal,
			.step = step,
			.not_before_ns = not_before_ns > 0 ? not_before_ns : -1,
			.turn = -1,
			.call = -1},
	};
	char id[WFS_HASH_TEXT_SIZE];
	int r = intent_open(plan->fold, &intent, id, error);

	if (r)
		return wfs_trace(r);
	json_t *const open = json_pack("{s:s}", "intent_id", id);
	if (step >= 0)
		plan->failed |= json_object_set_new(open, "step", json_integer(step)) < 0;
	plan->failed |= json_array_append_new(plan->state.open, open) < 0;
	return 0;
}

int plan_answered(struct plan *plan, const char *intent_id, struct wfs_error *error)
{
	int r = intent_close(plan->fold, intent_id, error);

	intent_forget(plan->state.open, intent_id);
	return wfs_trace(r);
}

int plan_cancel_open(struct plan *plan, struct wfs_error *error)
{
	json_t *const open = plan->state.open;
	int r = 0;

	while (!r && json_array_size(open) > 0) {
		r = intent_cancel(
			plan->fold, wfs_json_text(json_array_get(open, 0), "intent_id"), error);
		json_array_remove(open, 0);
	}
	return wfs_trace(r);
}
