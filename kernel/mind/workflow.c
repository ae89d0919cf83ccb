/* SPDX-License-Identifier: Apache-2.0 */
/* Checks workflows, and finds what follows a state. */
#include "kernel/mind/workflow.h"

#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/mind/kind.h"

#define STEP_MEMBERS                                                                \
	"state prompt_artifact_id? prompt_inline? transition_mode? transition_to? " \
	"transition_prompt_artifact_id? transition_conditions? name? description?"

static const char *const modes[] = {
	[WFS_MIND_AUTO] = "auto",
	[WFS_MIND_CONDITION] = "condition",
	[WFS_MIND_LLM] = "llm",
};

/* A check in progress. */
struct check {
	const json_t *states;
	uint64_t with_step; /* a bit for each state */
	struct wfs_error *error;
	char where[96]; /* the current object */
};

/* --- texts --- */

/* @name: of a member, the end of the path */
static int expected(struct check *check, const char *name, const char *what, const json_t *value)
{
	return wfs_error_set(check->error, value ? WFS_E_INVALID_ARGUMENT : WFS_E_MISSING_ARGUMENT,
		"%s.%s: expected %s, got %s", check->where, name, what, wfs_mind_kind(value));
}

/* Checks a text of at most @max bytes. */
static int check_text(struct check *check, const char *name, const json_t *value, size_t max)
{
	if (!json_is_string(value))
		return expected(check, name, "a text", value);
	if (wfs_mind_has_nul(value))
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.%s: expected a text without NUL characters", check->where, name);
	if (json_string_length(value) > max)
		return wfs_error_set(check->error, WFS_E_TOO_LARGE,
			"%s.%s: expected at most %zu bytes, got %zu", check->where, name, max,
			json_string_length(value));
	return 0;
}

/* Checks an optional text member of @object. */
static int check_member(struct check *check, const json_t *object, const char *name, size_t max)
{
	const json_t *const value = json_object_get(object, name);

	return wfs_mind_is_absent(value) ? 0 : check_text(check, name, value, max);
}

/* --- states --- */

static bool is_state_name(const char *text)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.-";

	return *text && !text[strspn(text, allowed)];
}

/* Return: the index of the state, or the number of states for an unknown one. */
static size_t find_state(const json_t *states, const char *name)
{
	size_t i;
	const json_t *state;

	json_array_foreach(states, i, state) {
		if (wfs_bytes_equal(wfs_text_of(state), wfs_bytes_text(name)))
			return i;
	}
	return i;
}

static int check_state_name(
	struct check *check, const char *name, const json_t *value, size_t index)
{
	int r = check_text(check, name, value, WFS_MIND_STATE_NAME_MAX);

	if (r)
		return r;
	if (!is_state_name(json_string_value(value)))
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.%s: expected a name ([A-Za-z0-9_.-]+), got '%s'", check->where, name,
			json_string_value(value));
	if (find_state(check->states, json_string_value(value)) < index)
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.%s: '%s' is there twice", check->where, name, json_string_value(value));
	return 0;
}

static int check_states(struct check *check, const json_t *states)
{
	char name[32];
	int r = 0;

	if (!json_is_array(states))
		return expected(check, "states", "an array of names", states);
	if (json_array_size(states) == 0)
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.states: expected at least one", check->where);
	if (json_array_size(states) > WFS_MIND_STATES_MAX)
		return wfs_error_set(check->error, WFS_E_TOO_LARGE,
			"%s.states: expected at most %d, got %zu", check->where,
			WFS_MIND_STATES_MAX, json_array_size(states));
	check->states = states;
	for (size_t i = 0; i < json_array_size(states) && !r; i++) {
		(void)snprintf(name, sizeof(name), "states[%zu]", i);
		r = check_state_name(check, name, json_array_get(states, i), i);
	}
	return r;
}

/* @value: must be one of the states */
static int check_state(
	struct check *check, const char *name, const json_t *value, size_t *ret_index)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	if (!json_is_string(value))
		return expected(check, name, "a state", value);
	*ret_index = find_state(check->states, json_string_value(value));
	if (*ret_index < json_array_size(check->states) && !wfs_mind_has_nul(value))
		return 0;
	wfs_mind_list(check->states, &names);
	return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
		"%s.%s: '%.64s' is none of the states: %s", check->where, name,
		json_string_value(value), wfs_buffer_text(&names));
}

static int check_state_member(struct check *check, const json_t *object, const char *name)
{
	const json_t *const value = json_object_get(object, name);
	size_t index;

	return wfs_mind_is_absent(value) ? 0 : check_state(check, name, value, &index);
}

/* --- steps --- */

/* Checks an object at a place, and its members: @members as for wfs_json_members */
static int check_object(struct check *check, const json_t *value, const char *members)
{
	int r;

	if (!json_is_object(value))
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s: expected an object, got %s", check->where, wfs_mind_kind(value));
	r = wfs_json_members(value, check->where, members, check->error);
	if (!r)
		r = check_member(check, value, "name", WFS_MIND_INLINE_MAX);
	return r ? r : check_member(check, value, "description", WFS_MIND_INLINE_MAX);
}

static int check_condition(struct check *check, const json_t *condition)
{
	const json_t *const text = json_object_get(condition, "condition");
	size_t index;
	int r = check_object(check, condition, "to condition name? description?");

	if (!r)
		r = check_state(check, "to", json_object_get(condition, "to"), &index);
	if (!r)
		r = check_text(check, "condition", text, WFS_MIND_CONDITION_MAX);
	if (!r && wfs_text_trimmed(wfs_text_of(text)).size == 0)
		r = wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.condition: expected a predicate or an expression, got a blank text",
			check->where);
	return r;
}

/* @step_index: of the step with these conditions */
static int check_conditions(struct check *check, const json_t *conditions, size_t step_index)
{
	int r = 0;

	if (wfs_mind_is_absent(conditions))
		return 0;
	if (!json_is_array(conditions))
		return expected(check, "transition_conditions", "an array", conditions);
	if (json_array_size(conditions) > WFS_MIND_CONDITIONS_MAX)
		return wfs_error_set(check->error, WFS_E_TOO_LARGE,
			"%s.transition_conditions: expected at most %d, got %zu", check->where,
			WFS_MIND_CONDITIONS_MAX, json_array_size(conditions));
	for (size_t i = 0; i < json_array_size(conditions) && !r; i++) {
		(void)snprintf(check->where, sizeof(check->where),
			"workflow.steps[%zu].transition_conditions[%zu]", step_index, i);
		r = check_condition(check, json_array_get(conditions, i));
	}
	return r;
}

static int find_mode(const json_t *mode)
{
	for (int i = 0; i < (int)WFS_ARRAY_COUNT(modes); i++)
		if (wfs_bytes_equal(wfs_text_of(mode), wfs_bytes_text(modes[i])))
			return i;
	return -1;
}

static int check_mode(struct check *check, const json_t *mode)
{
	if (wfs_mind_is_absent(mode) || find_mode(mode) >= 0)
		return 0;
	if (!json_is_string(mode))
		return expected(check, "transition_mode", "llm, condition or auto", mode);
	return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
		"%s.transition_mode: expected llm, condition or auto, got '%.64s'", check->where,
		json_string_value(mode));
}

static int check_step_state(struct check *check, const json_t *step)
{
	const json_t *const state = json_object_get(step, "state");
	size_t index = 0;
	int r = check_state(check, "state", state, &index);

	if (r)
		return r;
	if (check->with_step & UINT64_C(1) << index)
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"%s.state: '%s' has a step already", check->where,
			json_string_value(state));
	check->with_step |= UINT64_C(1) << index;
	return 0;
}

static int check_step(struct check *check, const json_t *step, size_t index)
{
	int r;

	(void)snprintf(check->where, sizeof(check->where), "workflow.steps[%zu]", index);
	r = check_object(check, step, STEP_MEMBERS);
	if (!r)
		r = check_step_state(check, step);
	if (!r)
		r = check_mode(check, json_object_get(step, "transition_mode"));
	if (!r)
		r = check_member(check, step, "prompt_artifact_id", WFS_MIND_REFERENCE_MAX);
	if (!r)
		r = check_member(
			check, step, "transition_prompt_artifact_id", WFS_MIND_REFERENCE_MAX);
	if (!r)
		r = check_member(check, step, "prompt_inline", WFS_MIND_INLINE_MAX);
	if (!r)
		r = check_state_member(check, step, "transition_to");
	if (!r)
		r = check_conditions(check, json_object_get(step, "transition_conditions"), index);
	return r;
}

int wfs_mind_workflow_check(const json_t *workflow, struct wfs_error *error)
{
	struct check check = {.error = error, .where = "workflow"};
	const json_t *const steps = json_object_get(workflow, "steps");
	int r = check_object(&check, workflow, "states initial_state? steps name? description?");

	if (!r)
		r = check_states(&check, json_object_get(workflow, "states"));
	if (!r)
		r = check_state_member(&check, workflow, "initial_state");
	if (!r && !json_is_array(steps))
		r = expected(&check, "steps", "an array", steps);
	for (size_t i = 0; !r && i < json_array_size(steps); i++)
		r = check_step(&check, json_array_get(steps, i), i);
	return wfs_trace(r);
}

/* --- what follows a state --- */

const char *wfs_mind_workflow_initial(const json_t *workflow)
{
	const char *const written = json_string_value(json_object_get(workflow, "initial_state"));

	return written ? written
		       : json_string_value(json_array_get(json_object_get(workflow, "states"), 0));
}

const json_t *wfs_mind_workflow_step(const json_t *workflow, const char *state)
{
	size_t i;
	const json_t *step;

	json_array_foreach(json_object_get(workflow, "steps"), i, step) {
		if (strcmp(wfs_json_text(step, "state"), state) == 0)
			return step;
	}
	return NULL;
}

const char *wfs_mind_workflow_auto(const json_t *workflow, const char *state)
{
	const json_t *const states = json_object_get(workflow, "states");
	const json_t *const step = wfs_mind_workflow_step(workflow, state);
	const char *const written = json_string_value(json_object_get(step, "transition_to"));
	const size_t count = json_array_size(states);
	const size_t index = find_state(states, state);

	if (index == count)
		return NULL;
	return written ? written : json_string_value(json_array_get(states, (index + 1) % count));
}

enum wfs_mind_mode wfs_mind_step_mode(const json_t *step)
{
	const int mode = find_mode(json_object_get(step, "transition_mode"));

	return mode >= 0 ? (enum wfs_mind_mode)mode : WFS_MIND_AUTO;
}
