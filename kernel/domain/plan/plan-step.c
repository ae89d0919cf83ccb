/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a plan: their documents and, in blocks, how many dependencies each waits for.
 *
 * The plan's bitmap `ready` has the blocks with steps that wait for nothing, so finding one takes
 * no longer in a long plan.
 */
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-impl.h"
#include "kernel/domain/plan/plan-read.h"

/* --- cells --- */

static int touch_part(struct plan *plan, enum wfs_builtin_reducer reducer, int64_t index,
	size_t *ret_cell, struct wfs_error *error)
{
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(plan->plan_id, index, key);
	return wfs_trace(fold_touch(plan->fold, fold_builtin(plan->fold, reducer),
		wfs_bytes_text(key), ret_cell, error));
}

int plan_edge_load(struct plan *plan, int64_t index, struct wfs_document_plan_edge *ret_edge,
	struct wfs_error *error)
{
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(plan->plan_id, index, key);
	return wfs_trace(fold_read_plan_edge(plan->fold, key, ret_edge, error));
}

static bool has_step(const struct plan *plan, int64_t index)
{
	return index >= 0 && index < plan->state.defined;
}

static int no_step(const struct plan *plan, int64_t index, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INTERNAL_ERROR, "plan '%s' has no step %lld",
		plan->plan_id, (long long)index);
}

/* --- blocks --- */

static struct plan_block *block_at(struct plan *plan, int64_t index)
{
	return &plan->blocks[index / WFS_PLAN_BLOCK];
}

/* Loads the block of a step, or makes it for its first step. */
static int load_block(struct plan *plan, int64_t index, struct wfs_error *error)
{
	struct wfs_document_plan_block *const block = &block_at(plan, index)->state;
	char key[WFS_PLAN_KEY_SIZE];

	if (block->waiting)
		return 0;
	wfs_plan_key(plan->plan_id, index / WFS_PLAN_BLOCK, key);
	int r = fold_read_plan_block(plan->fold, key, block, error);
	if (r || block->own.json)
		return wfs_trace(r);
	block->doomed = plan_own(plan, json_object());
	block->waiting = plan_own(plan, json_array());
	return block->doomed && block->waiting ? 0 : fold_no_memory(error);
}

static void set_ready(struct plan *plan, int64_t index, bool ready)
{
	const size_t block = (size_t)index / WFS_PLAN_BLOCK;
	const uint8_t bit = (uint8_t)(1U << (block % 8));

	if (ready)
		plan->ready[block / 8] |= bit;
	else
		plan->ready[block / 8] &= (uint8_t)~bit;
}

static json_t *waiting_of(struct plan *plan, int64_t index)
{
	return block_at(plan, index)->state.waiting;
}

/* Sets for how many dependencies a step waits. @count: as in sys.plan_block (plan.h) */
static int set_waiting(struct plan *plan, int64_t index, int64_t count, struct wfs_error *error)
{
	json_t *const waiting = waiting_of(plan, index);

	if (json_array_set_new(waiting, (size_t)(index % WFS_PLAN_BLOCK), json_integer(count)) < 0)
		return fold_no_memory(error);
	block_at(plan, index)->changed = true;
	if (count == 0)
		set_ready(plan, index, true);
	return 0;
}

static int doom(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error)
{
	json_t *const doomed = block_at(plan, index)->state.doomed;
	char name[24];

	snprintf(name, sizeof(name), "%lld", (long long)(index % WFS_PLAN_BLOCK));
	if (json_object_get(doomed, name))
		return 0;
	return json_object_set_new(doomed, name, json_string(failed)) < 0 ? fold_no_memory(error)
									  : 0;
}

int plan_wait_less(struct plan *plan, int64_t index, const char *failed, struct wfs_error *error)
{
	int r = has_step(plan, index) ? load_block(plan, index, error)
				      : no_step(plan, index, error);

	if (r)
		return wfs_trace(r);
	const int64_t count = json_integer_value(
		json_array_get(waiting_of(plan, index), (size_t)(index % WFS_PLAN_BLOCK)));
	if (count == 0 || count == -1)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"step %lld of plan '%s' waits for nothing", (long long)index,
			plan->plan_id);
	if (failed)
		r = doom(plan, index, failed, error);
	return wfs_trace(
		r ? r : set_waiting(plan, index, count > 0 ? count - 1 : count + 1, error));
}

int plan_wait_more(struct plan *plan, int64_t index, int64_t more, struct wfs_error *error)
{
	char name[24];
	int r = has_step(plan, index) ? load_block(plan, index, error)
				      : no_step(plan, index, error);

	if (r)
		return wfs_trace(r);
	const int64_t count = json_integer_value(
		json_array_get(waiting_of(plan, index), (size_t)(index % WFS_PLAN_BLOCK)));
	snprintf(name, sizeof(name), "%lld", (long long)(index % WFS_PLAN_BLOCK));
	(void)json_object_del(block_at(plan, index)->state.doomed, name);
	return wfs_trace(set_waiting(plan, index, (count < 0 ? -1 - count : count) + more, error));
}

int plan_give_back(struct plan *plan, int64_t index, struct wfs_error *error)
{
	int r = load_block(plan, index, error);

	return wfs_trace(r ? r : set_waiting(plan, index, 0, error));
}

static const char *doomed_of(struct plan *plan, int64_t index)
{
	char name[24];

	snprintf(name, sizeof(name), "%lld", (long long)(index % WFS_PLAN_BLOCK));
	return json_string_value(json_object_get(block_at(plan, index)->state.doomed, name));
}

/* Finds the first block with a step that waits for nothing. Return: -1: no block has one. */
static int64_t ready_block(const struct plan *plan)
{
	for (size_t i = 0; i < plan->block_count; i++)
		if (plan->ready[i / 8] & 1U << (i % 8))
			return (int64_t)i;
	return -1;
}

/* Finds the first step of a block that waits for nothing. Return: -1: no step does. */
static int64_t ready_in(struct plan *plan, int64_t first)
{
	const json_t *const waiting = waiting_of(plan, first);

	for (size_t i = 0; i < json_array_size(waiting); i++)
		if (json_integer_value(json_array_get(waiting, i)) == 0)
			return first + (int64_t)i;
	return -1;
}

int plan_take(
	struct plan *plan, int64_t *ret_index, const char **ret_doomed, struct wfs_error *error)
{
	int64_t block;

	*ret_index = -1;
	while ((block = ready_block(plan)) >= 0) {
		const int64_t first = block * WFS_PLAN_BLOCK;
		int r = load_block(plan, first, error);

		if (r)
			return wfs_trace(r);
		*ret_index = ready_in(plan, first);
		if (*ret_index >= 0)
			break;
		set_ready(plan, first, false);
	}
	if (*ret_index < 0)
		return 0;
	*ret_doomed = doomed_of(plan, *ret_index);
	return wfs_trace(set_waiting(plan, *ret_index, -1, error));
}

/* --- steps --- */

int plan_step_load(
	struct plan *plan, int64_t index, struct plan_step *ret_step, struct wfs_error *error)
{
	char key[WFS_PLAN_KEY_SIZE];

	*ret_step = (struct plan_step){.index = index};
	if (!has_step(plan, index))
		return no_step(plan, index, error);
	wfs_plan_key(plan->plan_id, index, key);
	int r = fold_read_plan_step(plan->fold, key, &ret_step->state, error);
	return wfs_trace(r || ret_step->state.own.json ? r : no_step(plan, index, error));
}

static int64_t size_of(const struct plan *plan, size_t cell)
{
	return (int64_t)fold_cell_at(plan->fold, cell)->state.size;
}

/* Stores a step, and counts its bytes for the size of plan.json. @before: size of its previous
 * document */
static int store_step(
	struct plan *plan, struct plan_step *step, int64_t before, struct wfs_error *error)
{
	int r = fold_write_plan_step(plan->fold, &step->state, error);

	if (!r)
		r = load_block(plan, step->index, error);
	if (r)
		return wfs_trace(r);
	struct plan_block *const block = block_at(plan, step->index);
	const int64_t more = size_of(plan, step->state.own.cell) - before;
	block->state.bytes += more;
	block->changed = true;
	plan->state.steps_bytes += more;
	return 0;
}

int plan_step_set(struct plan *plan, struct plan_step *step, const char *status, const char *reason,
	struct wfs_error *error)
{
	if (reason)
		step->state.reason = plan_own(plan, json_string(reason));
	step->state.status = status;
	return wfs_trace(store_step(plan, step, size_of(plan, step->state.own.cell), error));
}

int plan_step_keep(
	struct plan *plan, struct plan_step *step, const json_t *result, struct wfs_error *error)
{
	size_t cell;
	int r = touch_part(plan, WFS_BUILTIN_PLAN_RESULT, step->index, &cell, error);

	if (r)
		return wfs_trace(r);
	const bool existed = fold_cell_at(plan->fold, cell)->live;
	const int64_t before = existed ? size_of(plan, cell) : 0;
	r = fold_set_document(plan->fold, cell, result, error);
	if (r)
		return wfs_trace(r);
	const json_int_t size = size_of(plan, cell);
	plan->state.results_count += !existed;
	plan->state.results_bytes += size - before;
	step->state.result_ref = plan_own(plan,
		json_pack("{s:I, s:s}", "bytes", size, "sha256",
			WFS_HASH_HEX(&fold_cell_at(plan->fold, cell)->hash)));
	return 0;
}

/* Makes the edge of a step, if it has one. */
static int define_edge(
	struct plan *plan, int64_t index, const json_t *part, struct wfs_error *error)
{
	const struct wfs_document_plan_edge edge = {
		.next = json_object_get(part, "next"), .refs = json_object_get(part, "refs")};
	char key[WFS_PLAN_KEY_SIZE];

	if (!edge.next && !edge.refs)
		return 0;
	wfs_plan_key(plan->plan_id, index, key);
	return wfs_trace(fold_put_plan_edge(plan->fold, key, &edge, error));
}

static int define_waiting(
	struct plan *plan, int64_t index, const json_t *part, struct wfs_error *error)
{
	const int64_t count = json_integer_value(json_object_get(part, "waiting"));
	int r = load_block(plan, index, error);

	if (r)
		return wfs_trace(r);
	if (json_array_append_new(waiting_of(plan, index), json_integer(0)) < 0)
		return fold_no_memory(error);
	return wfs_trace(set_waiting(plan, index, count, error));
}

/* Are all these indices of steps of the plan, given or not? */
static bool are_steps(const struct plan *plan, const json_t *next, json_t *refs)
{
	const int64_t last = plan->state.total - 1;
	const char *id;
	const json_t *index;
	bool are = (!next || json_is_array(next)) && (!refs || json_is_object(refs));
	size_t i;

	json_array_foreach(next, i, index)
		are = are && plan_is_number(index, 0, last);
	json_object_foreach(refs, id, index)
		are = are && plan_is_number(index, 0, last);
	return are;
}

static bool is_well_formed(
	const struct plan *plan, const struct wfs_document_plan_step *step, const json_t *part)
{
	const json_t *const result = json_object_get(part, "result");

	if (!step->own.json)
		return false;
	const int64_t least = plan_is(step->status, "pending") ? -1 : -1 - WFS_PLAN_STEPS_MAX;
	return *step->id && strlen(step->id) <= WFS_PLAN_STEP_ID_MAX && *step->status &&
		(!result || json_is_object(result)) &&
		plan_is_number(json_object_get(part, "waiting"), least, WFS_PLAN_STEPS_MAX) &&
		are_steps(plan, json_object_get(part, "next"), json_object_get(part, "refs"));
}

int plan_step_define(struct plan *plan, const json_t *part, struct wfs_error *error)
{
	const json_t *const result = json_object_get(part, "result");
	WFS_AUTO_DOCUMENT struct plan_step step = {.index = plan->state.defined};
	int r = wfs_document_read_plan_step(
		json_incref(json_object_get(part, "step")), &step.state, NULL);

	if (r == -ENOMEM)
		return fold_no_memory(error);
	if (!is_well_formed(plan, &step.state, part))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"step %lld: expected {next?, refs?, result?, step{id, status …}, waiting}",
			(long long)step.index);
	r = touch_part(plan, WFS_BUILTIN_PLAN_STEP, step.index, &step.state.own.cell, error);
	if (!r)
		r = define_waiting(plan, step.index, part, error);
	if (!r)
		r = define_edge(plan, step.index, part, error);
	if (!r && result)
		r = plan_step_keep(plan, &step, result, error);
	if (!r)
		r = store_step(plan, &step, 0, error);
	plan->state.defined += 1;
	return wfs_trace(r);
}
