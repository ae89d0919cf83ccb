/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the payloads of receipts from the parts of a plan. */
#include "agents/plan/normalize.h"
#include "kernel/base/json.h"

/* Return: how many steps the part from @offset on has. */
static size_t count_of(const struct wfs_plan_made *plan, size_t offset)
{
	const size_t left = json_array_size(plan->parts) - offset;
	size_t size = 0;
	size_t value_count = 0;
	size_t count = 0;

	while (count < left && count < WFS_PLAN_PART_MAX) {
		const struct wfs_plan_size *const next = &plan->sizes[offset + count];

		size += next->size;
		value_count += next->value_count;
		if (count > 0 && (size > WFS_PLAN_PART_SIZE || value_count > WFS_PLAN_PART_VALUES))
			break;
		count++;
	}
	return count;
}

/* Takes @value. Return: 0, -ENOMEM. */
static int set(json_t *payload, const char *name, json_t *value)
{
	return json_object_set_new(payload, name, value);
}

json_t *wfs_plan_payload(const struct wfs_plan_made *plan, size_t offset, size_t *ret_count)
{
	const size_t total = json_array_size(plan->parts);
	const size_t count = offset < total ? count_of(plan, offset) : 0;
	const bool begins = offset == 0;
	const bool ends = offset + count >= total;
	WFS_AUTO_JSON json_t *steps = json_array();
	WFS_AUTO_JSON json_t *payload = json_pack("{s:O, s:I, s:s, s:O, s:I}", "goal", plan->goal,
		"offset", (json_int_t)offset, "plan_id", plan->plan_id, "steps", steps, "total",
		(json_int_t)total);
	int r = payload ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++)
		r = json_array_append(steps, json_array_get(plan->parts, offset + i));
	if (begins && plan->draft)
		r |= set(payload, "draft", json_incref(plan->draft));
	if (begins && plan->final)
		r |= set(payload, "final", json_incref(plan->final));
	if (begins && plan->restored)
		r |= set(payload, "created_ns", json_integer(plan->created_ns));
	if (begins && plan->in_order)
		r |= set(payload, "in_order", json_true()) |
			set(payload, "max_concurrency", json_integer(1));
	if (ends && plan->status)
		r |= set(payload, "status", json_string(plan->status));
	if (ends && plan->restored)
		r |= set(payload, "counts",
			json_pack("{s:I, s:I, s:I}", "done", (json_int_t)plan->done, "failed",
				(json_int_t)plan->failed, "skipped", (json_int_t)plan->skipped));
	if (r)
		return NULL;
	*ret_count = count;
	return WFS_STEAL(payload);
}
