/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plans and chats from a view. */
#include "kernel/domain/plan/plan-read.h"

#include "kernel/base/json.h"

void wfs_plan_key(const char *plan_id, int64_t index, char ret_key[static WFS_PLAN_KEY_SIZE])
{
	snprintf(ret_key, WFS_PLAN_KEY_SIZE, "%.*s.%lld", WFS_PLAN_ID_SIZE, plan_id,
		(long long)index);
}

static json_int_t running_count(const struct wfs_document_plan *plan)
{
	json_int_t count = 0;
	size_t i;
	const json_t *open;

	json_array_foreach(plan->open, i, open)
		count += json_object_get(open, "step") != NULL;
	return count;
}

json_t *wfs_plan_summary(const struct wfs_document_plan *plan)
{
	const json_int_t begun = json_integer_value(json_object_get(plan->batch, "next"));
	const json_int_t running = running_count(plan);

	return json_pack("{s:{s:I, s:I}, s:I, s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:s, "
			 "s:I, s:s, s:I, s:I, s:I, s:I, s:b}",
		"batch", "ended", begun - running, "size",
		(json_int_t)json_array_size(json_object_get(plan->batch, "steps")), "batches",
		(json_int_t)plan->batches, "chat_id", plan->chat_id, "created_ns",
		(json_int_t)plan->created_ns, "done", (json_int_t)plan->done, "failed",
		(json_int_t)plan->failed, "goal", json_string_value(plan->goal), "phase",
		plan->phase, "plan_id", plan->plan_id, "principal", plan->principal, "running",
		running, "session_id", plan->session_id, "skipped", (json_int_t)plan->skipped,
		"status", plan->status, "tool_batches", (json_int_t)plan->tool_batches,
		"tool_calls", (json_int_t)plan->tool_calls, "total", (json_int_t)plan->total,
		"updated_ns", (json_int_t)plan->updated_ns, "waits",
		json_array_size(plan->open) > 0);
}
