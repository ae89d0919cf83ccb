/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn is about: the action of a reflex, otherwise the state of a workflow. */
#include "agents/prepare/prepare-impl.h"

#include "agents/mind/reflex.h"
#include "agents/prepare/tool.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/manifest/effect.h"
#include "kernel/mind/workflow.h"

#define DEFAULT_TRANSITION PREPARE_LIBRARY "#transition_base"

/* --- reflex --- */

static int check_action(const json_t *action, struct wfs_error *error)
{
	const char *const type = wfs_json_text(action, "action_type");

	return wfs_effect_find_action(type) < WFS_EFFECT_COUNT
		? wfs_action_check_form(action, error)
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "a reflex asks for the action '%.60s', which does not exist", type);
}

/* The turn is one call of the tool that does this action. */
static int take_reflex(struct preparing *turn, json_t *action, struct wfs_error *error)
{
	json_t *const setup = json_object_get(turn->step, "setup");
	json_t *const type = json_object_get(action, "action_type");

	return json_object_set(turn->step, "reflex", action) < 0 ||
			json_object_set_new(setup, "tools",
				json_pack("[{s:s, s:O}]", "kind", WFS_TOOL_KIND_ACTION, "name",
					type)) < 0 ||
			json_object_set_new(setup, "offered", json_pack("[O]", type)) < 0
		? prepare_no_memory(error)
		: 0;
}

int prepare_reflex(struct preparing *turn, struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_REFLEX);
	WFS_AUTO_JSON json_t *action = NULL;
	const json_t *artifact;

	if (!reference)
		return 0;
	int r = prepare_read_artifact(turn, reference, &artifact, &turn->reason);
	if (!r) {
		const json_t *const code = json_object_get(artifact, "code");

		r = wfs_mind_reflex(
			wfs_text_of(
				json_is_string(code) ? code : json_object_get(artifact, "content")),
			reference, turn->variables, &action, &turn->reason);
		if (!r && action)
			r = check_action(action, &turn->reason);
		r = prepare_not_quoted(turn, r, &turn->reason);
	}
	if (r)
		return prepare_missing(turn, r, "reflex", reference, "model", error);
	if (!action)
		return prepare_note(
			turn, "reflex", reference, NULL, error, "it leaves this to the model");
	r = prepare_note(turn, "reflex", reference, NULL, error, "it acts: %s",
		wfs_json_text(action, "action_type"));
	return r ? r : take_reflex(turn, action, error);
}

/* --- workflow --- */

static int take_workflow(struct preparing *turn, const json_t *workflow, struct wfs_error *error)
{
	int r = wfs_mind_workflow_check(workflow, error);

	if (r)
		return r;
	turn->workflow = json_deep_copy(workflow);
	return turn->workflow ? 0 : prepare_no_memory(error);
}

static int read_workflow(struct preparing *turn, const char *reference, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const json_t *artifact;
	const char *fragment;
	int r = prepare_read_reference(turn, reference, &artifact, &fragment, error);

	if (r)
		return r;
	const struct wfs_bytes content = wfs_text_of(json_object_get(artifact, "content"));
	r = wfs_json_parse_bounded(content.data, content.size, &document, error);
	const json_t *const workflow = fragment
		? json_object_get(json_object_get(document, "workflows"), fragment)
		: document;
	if (!r && !workflow)
		r = wfs_error_set(
			error, WFS_E_NOT_FOUND, "the library has no workflow '%.80s'", fragment);
	if (!r)
		r = take_workflow(turn, workflow, error);
	return prepare_not_quoted(turn, r, error);
}

/* Reads the agent's `workflow_artifact_id`, otherwise the `workflow` of older configurations;
 * without both, an agent has one state. */
static int load_workflow(struct preparing *turn, struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_WORKFLOW);
	const json_t *const inlined = json_object_get(turn->content, "workflow");
	int r = 0;

	if (reference)
		r = read_workflow(turn, reference, &turn->reason);
	else if (inlined && !json_is_null(inlined))
		r = prepare_not_quoted(
			turn, take_workflow(turn, inlined, &turn->reason), &turn->reason);
	return r ? prepare_missing(turn, r, "workflow", reference ? reference : "workflow",
			   "one state", error)
		 : 0;
}

/* Finds the state in which the agent's last turn ended, if the workflow still has it. */
static int find_state(struct preparing *turn, struct wfs_error *error)
{
	const char *const current = wfs_json_text(turn->place, "current_state");
	json_t *const states = json_object_get(turn->workflow, "states");
	char entered[160] = "";

	const bool known = wfs_json_has(states, json_object_get(turn->place, "current_state"));
	const char *const state = known ? current : wfs_mind_workflow_initial(turn->workflow);
	if (*current && !known)
		snprintf(entered, sizeof(entered), "the workflow has no state '%.64s'", current);
	if (json_object_set_new(turn->mind, "state", json_string(state)) < 0 ||
		(*entered &&
			json_object_set_new(turn->mind, "entered", json_string(entered)) < 0) ||
		json_object_set(turn->mind, "states", states) < 0)
		return prepare_no_memory(error);
	return 0;
}

/* --- what comes after the run --- */

static int prepare_llm(struct preparing *turn, const json_t *step, struct wfs_error *error)
{
	const char *const own = prepare_reference_of(step, "transition_prompt_artifact_id");
	const char *const reference = own ? own : DEFAULT_TRANSITION;
	WFS_AUTO_JSON json_t *prompt = NULL;
	int r = prepare_read_prompt(turn, reference, &prompt, &turn->reason);

	if (r)
		return prepare_missing(turn, r, "transition", reference, "stay", error);
	return json_object_set(turn->mind, "transition_prompt", prompt) < 0 ||
			json_object_set_new(
				turn->mind, "transition_reference", json_string(reference)) < 0
		? prepare_no_memory(error)
		: 0;
}

int prepare_transition(struct preparing *turn, struct wfs_error *error)
{
	static const char *const modes[] = {[WFS_MIND_AUTO] = "auto",
		[WFS_MIND_CONDITION] = "condition",
		[WFS_MIND_LLM] = "llm"};
	const char *const state = wfs_json_text(turn->mind, "state");
	const json_t *const step = wfs_mind_workflow_step(turn->workflow, state);
	const enum wfs_mind_mode mode = wfs_mind_step_mode(step);
	json_t *const conditions = json_object_get(step, "transition_conditions");
	int failed = json_object_set_new(turn->mind, "mode", json_string(modes[mode]));

	if (mode == WFS_MIND_AUTO)
		failed |= json_object_set_new(turn->mind, "next",
			json_string(wfs_mind_workflow_auto(turn->workflow, state)));
	if (mode != WFS_MIND_AUTO) /* the condition or model that decides reads it, too */
		failed |= json_object_set(turn->mind, "working_memory",
			json_object_get(turn->variables, "working_memory"));
	if (mode == WFS_MIND_CONDITION && conditions)
		failed |= json_object_set(turn->mind, "conditions", conditions);
	if (failed)
		return prepare_no_memory(error);
	return mode == WFS_MIND_LLM ? prepare_llm(turn, step, error) : 0;
}

int prepare_workflow(struct preparing *turn, struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_WORKFLOW);
	int r = load_workflow(turn, error);

	if (!r && !turn->workflow)
		return prepare_set_variable(turn, "current_state", json_string("none"), error);
	if (!r)
		r = find_state(turn, error);
	if (!r)
		r = prepare_note(turn, "workflow", reference ? reference : "workflow", NULL, error,
			"the state is %s", wfs_json_text(turn->mind, "state"));
	if (!r)
		r = prepare_set_variable(turn, "current_state",
			json_incref(json_object_get(turn->mind, "state")), error);
	if (!r)
		r = prepare_set_variable(turn, "available_states",
			json_incref(json_object_get(turn->mind, "states")), error);
	return r;
}
