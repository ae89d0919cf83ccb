/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prompts, workflows and code of agents: the first byte says whether the rest is a prompt, a
 * workflow, a condition, a model's choice of a state, or the code of a reflex. A refusal must have
 * a reason and give no result.
 */
#include "tests/fuzz/fuzz.h"

#include "agents/mind/condition.h"
#include "agents/mind/reflex.h"
#include "agents/mind/template.h"
#include "agents/mind/transition.h"
#include "kernel/base/json.h"
#include "kernel/mind/workflow.h"

enum { STATES_LOOKED_AT = WFS_MIND_STATES_MAX + 6, CONDITIONS_LOOKED_AT = 3 };

static void check_prompt(
	const char *text, size_t size, const char *fragment, const json_t *variables)
{
	WFS_AUTO_BUFFER struct wfs_buffer out = {.size = 0};
	WFS_AUTO_JSON json_t *prompt = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_mind_prompt_read(WFS_BYTES(text, size), fragment, &prompt, &error) < 0) {
		fuzz_refused(&error);
		return;
	}
	(void)wfs_mind_template_uses(prompt, "a");
	wfs_buffer_append_text(&out, "before");
	if (wfs_mind_template_fill(prompt, variables, &out, &error) < 0) {
		fuzz_refused(&error);
		FUZZ_MUST(out.size == strlen("before"));
	}
	FUZZ_MUST(out.size <= WFS_MIND_TEXT_MAX + strlen("before"));
	FUZZ_MUST(wfs_utf8_valid(out.data, out.size));
}

static void check_workflow(const char *text, size_t size, const json_t *variables)
{
	WFS_AUTO_JSON json_t *workflow = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_json_parse_bounded(text, size, &workflow, &error) < 0)
		return;
	if (wfs_mind_workflow_check(workflow, &error) < 0) {
		fuzz_refused(&error);
		return;
	}
	const char *state = wfs_mind_workflow_initial(workflow);
	for (int i = 0; i < STATES_LOOKED_AT; i++) {
		const json_t *const step = wfs_mind_workflow_step(workflow, state);
		WFS_AUTO_JSON json_t *notes = NULL;
		const char *to = NULL;

		(void)wfs_mind_step_mode(step);
		if (i < CONDITIONS_LOOKED_AT)
			FUZZ_MUST(wfs_mind_conditions_first(
					  json_object_get(step, "transition_conditions"), variables,
					  &to, &notes) == 0);
		state = wfs_mind_workflow_auto(workflow, state);
		FUZZ_MUST(state != NULL);
	}
}

static void check_condition(const char *text, size_t size, const json_t *variables)
{
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_error again_error = {.code = WFS_OK};
	bool holds = false;
	bool again = false;

	if (size > WFS_MIND_CONDITION_MAX || memchr(text, '\0', size) ||
		!wfs_utf8_valid(text, size))
		return;
	const int r = wfs_mind_condition(text, variables, &holds, &error);
	if (r < 0)
		fuzz_refused(&error);
	FUZZ_MUST(wfs_mind_condition(text, variables, &again, &again_error) == r);
	FUZZ_MUST(holds == again && strcmp(error.message, again_error.message) == 0);
}

static void check_choice(const char *text, size_t size)
{
	WFS_AUTO_JSON json_t *states = json_pack("[s,s]", "one", "two");
	WFS_AUTO_BUFFER struct wfs_buffer reason = {.size = 0};
	struct wfs_error error = {.code = WFS_OK};
	const char *next = NULL;

	if (wfs_mind_transition_reply(WFS_BYTES(text, size), states, &next, &reason, &error) < 0)
		fuzz_refused(&error);
	else
		FUZZ_MUST(strcmp(next, "one") == 0 || strcmp(next, "two") == 0);
	FUZZ_MUST(wfs_utf8_valid(reason.data, reason.size));
}

static void check_reflex(const char *text, size_t size, const json_t *variables)
{
	WFS_AUTO_JSON json_t *action = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_mind_reflex(WFS_BYTES(text, size), "r", variables, &action, &error) < 0)
		fuzz_refused(&error);
	else if (action)
		FUZZ_MUST(json_is_string(json_object_get(action, "action_type")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_JSON json_t *variables =
		json_pack("{s:s,s:i,s:[s],s:b,s:s,s:n}", "a", "1{b}", "balance", 5, "my_artifacts",
			"x", "failure_count", 1, "working_memory", "design", "n");
	const uint8_t kind = fuzz_byte(&data, &size);
	char *const text = fuzz_text(WFS_BYTES(data, size));

	FUZZ_MUST(variables != NULL);
	switch (kind % 5) {
	case 0:
		check_prompt(text, size, NULL, variables);
		check_prompt(text, size, "x", variables);
		break;
	case 1:
		check_workflow(text, size, variables);
		break;
	case 2:
		check_condition(text, size, variables);
		break;
	case 3:
		check_choice(text, size);
		break;
	default:
		check_reflex(text, size, variables);
		break;
	}
	free(text);
	return 0;
}
