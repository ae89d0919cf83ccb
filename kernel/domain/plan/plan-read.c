/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plans and chats from a view. */
#include "kernel/domain/plan/plan-read.h"

#include "kernel/base/json.h"

void wfs_plan_key(const char *plan_id, int64_t index, char ret_key[static WFS_PLAN_KEY_SIZE])
{
	snprintf(ret_key, WFS_PLAN_KEY_SIZE, "%.*s.%lld", WFS_PLAN_ID_SIZE, plan_id,
		(long long)index);
}

static json_int_t running_count(const json_t *state)
{
	json_int_t count = 0;
	size_t i;
	const json_t *open;

	json_array_foreach(json_object_get(state, "open"), i, open)
		count += json_object_get(open, "step") != NULL;
	return count;
}

json_t *wfs_plan_summary(const json_t *state)
{
	static const char *const texts[] = {
		"chat_id", "goal", "phase", "plan_id", "principal", "session_id", "status"};
	static const char *const numbers[] = {"batches", "created_ns", "done", "failed", "skipped",
		"tool_batches", "tool_calls", "total", "updated_ns"};
	const json_t *const batch = json_object_get(state, "batch");
	const json_int_t open = (json_int_t)json_array_size(json_object_get(state, "open"));
	const json_int_t begun = json_integer_value(json_object_get(batch, "next"));
	WFS_AUTO_JSON json_t *summary = json_pack("{s:{s:I, s:I}, s:I, s:b}", "batch", "ended",
		begun - running_count(state), "size",
		(json_int_t)json_array_size(json_object_get(batch, "steps")), "running",
		running_count(state), "waits", open > 0);
	int failed = summary ? 0 : -1;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++)
		failed |= json_object_set_new(
			summary, texts[i], json_string(wfs_json_text(state, texts[i])));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++)
		failed |= json_object_set_new(summary, numbers[i],
			json_integer(json_integer_value(json_object_get(state, numbers[i]))));
	return failed ? NULL : WFS_STEAL(summary);
}
