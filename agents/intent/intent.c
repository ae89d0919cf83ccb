/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/intent/intent.h"

#include "agents/intent/intent-impl.h"

static void go_on(struct work *work)
{
	work_answer(work, "ok", json_object());
}

const struct work_kind intent_kinds[] = {
	{"run_id", WFS_EFFECT_TOOL_CALL, "call", "agents.tool", call_begin, .cancel = call_cancel,
		.done = ask_outside_done, .next = ask_outside_next,
		.take_output = call_take_output},
	{"run_id", WFS_EFFECT_LLM_GENERATE, NULL, "agents.model", generate_begin,
		.cancel = generate_cancel, .ask = ask_run, .take = take_run},
	{"run_id", WFS_EFFECT_WORKFLOW_ADVANCE, NULL, "agents.workflow", advance_begin,
		.cancel = generate_cancel, .answers = advance_log, .ask = ask_state,
		.take = take_state},
	{"chat_id", WFS_EFFECT_LLM_GENERATE, NULL, "agents.model", chat_begin,
		.cancel = generate_cancel, .done = ask_outside_done, .ask = ask_chat,
		.take = take_chat},
	{"chat_id", WFS_EFFECT_PLAN_NORMALIZE, NULL, "agents.planner", normalize_begin,
		.done = normalize_done, .next = normalize_next},
	{"plan_id", WFS_EFFECT_TOOL_CALL, "step", "agents.router", step_begin,
		.cancel = ask_outside_leave, .done = ask_outside_done, .next = ask_outside_next,
		.outcome = step_outcome, .take_output = step_take_output},
	{"plan_id", WFS_EFFECT_LLM_GENERATE, "step", "agents.model", generate_begin,
		.cancel = generate_cancel, .ask = ask_step, .take = take_step},
	{"plan_id", WFS_EFFECT_LLM_GENERATE, NULL, "agents.model", generate_begin,
		.cancel = generate_cancel, .ask = ask_answer, .take = take_answer},
	{"plan_id", WFS_EFFECT_PLAN_ADVANCE, NULL, "agents.planner", go_on},
	{"outside", WFS_EFFECT_TOOL_OUTSIDE, NULL, "agents.outside", call_outside_begin,
		.cancel = call_outside_cancel, .give_up = call_outside_give_up,
		.done = call_outside_done, .recorded = call_outside_recorded},
	{.owner = NULL},
};
