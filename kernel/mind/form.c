/* SPDX-License-Identifier: Apache-2.0 */
/* Checks contents by the types of artifacts. */
#include "kernel/mind/form.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/mind/agent.h"
#include "kernel/mind/kind.h"
#include "kernel/mind/prompt.h"
#include "kernel/mind/workflow.h"

/* --- workflows --- */

static int charge(const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	struct wfs_lua_budget *const budget = compiler->budget;

	budget->used += WFS_MIND_EXPRESSION_COST;
	if (budget->used <= budget->instructions)
		return 0;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"to check the conditions takes more than what is left of the %" PRIu64
		" instructions that one record may take",
		budget->instructions);
}

/* @index: of the step; @number: of the condition in the step */
static int check_condition(const json_t *condition, size_t index, size_t number,
	const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	const struct wfs_bytes text =
		wfs_text_trimmed(wfs_text_of(json_object_get(condition, "condition")));
	struct wfs_error reason = {0};
	int r = charge(compiler, error);

	if (r)
		return wfs_trace(r);
	r = wfs_mind_expression_check(compiler, text, &reason);
	if (reason.code == WFS_E_SYNTAX_ERROR)
		return wfs_error_set(error, reason.code,
			"workflow.steps[%zu].transition_conditions[%zu].condition: expected a "
			"predicate or an expression: %.200s",
			index, number, reason.message);
	if (r)
		*error = reason;
	return wfs_trace(r);
}

/* @workflow: has passed wfs_mind_workflow_check() */
static int check_conditions(
	const json_t *workflow, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	const json_t *step;
	const json_t *condition;
	size_t index;
	size_t number;

	json_array_foreach(json_object_get(workflow, "steps"), index, step) {
		json_array_foreach(
			json_object_get(step, "transition_conditions"), number, condition) {
			int r = check_condition(condition, index, number, compiler, error);

			if (r)
				return wfs_trace(r);
		}
	}
	return 0;
}

static int check_workflow(
	const json_t *workflow, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	int r = wfs_mind_workflow_check(workflow, error);

	return wfs_trace(r ? r : check_conditions(workflow, compiler, error));
}

static int check_workflows(
	const json_t *workflows, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	const char *name;
	json_t *workflow;

	json_object_foreach((json_t *)workflows, name, workflow) {
		struct wfs_error reason = {0};
		int r = check_workflow(workflow, compiler, &reason);

		if (r)
			return wfs_error_set(error, reason.code,
				"workflow '%.64s' of the library: %.400s", name, reason.message);
	}
	return 0;
}

/* --- a function for each type --- */

static int check_prompt(
	struct wfs_bytes content, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	(void)compiler;
	return wfs_trace(wfs_mind_prompt_check(content, error));
}

static int check_workflow_content(
	struct wfs_bytes content, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = wfs_json_parse_bounded(content.data, content.size, &json, error);

	if (r)
		return wfs_trace(r);
	const json_t *const workflows = json_object_get(json, "workflows");
	if (json_is_object(workflows) && !json_object_get(json, "states"))
		return wfs_trace(check_workflows(workflows, compiler, error));
	return wfs_trace(check_workflow(json, compiler, error));
}

static int check_agent(
	struct wfs_bytes content, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = wfs_mind_agent_read(content, &json, error);

	if (!r)
		r = wfs_mind_agent_check(json, error);
	if (!r)
		r = check_conditions(json_object_get(json, "workflow"), compiler, error);
	return wfs_trace(r);
}

/* Content that is not a JSON object is a library of Lua, in which anything is allowed. */
static int check_library(
	struct wfs_bytes content, const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = content.size > WFS_MIND_CONTENT_MAX
		? -EINVAL
		: wfs_json_parse_bounded(content.data, content.size, &json, NULL);

	if (r)
		return r == -ENOMEM ? wfs_error_from_errno(error, r, "check a library") : 0;
	const json_t *const workflows = json_object_get(json, "workflows");
	if (json_is_object(json_object_get(json, "prompts")))
		r = wfs_mind_prompts_check(json, error);
	if (!r && json_is_object(workflows))
		r = check_workflows(workflows, compiler, error);
	return wfs_trace(r);
}

static const struct form {
	const char *type;
	int (*check)(struct wfs_bytes content, const struct wfs_mind_compiler *compiler,
		struct wfs_error *error);
} forms[] = {
	{"agent", check_agent},
	{"library", check_library},
	{"prompt", check_prompt},
	{"workflow", check_workflow_content},
};

static const struct form *form_of(const char *type)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(forms); i++)
		if (strcmp(forms[i].type, type) == 0)
			return &forms[i];
	return NULL;
}

bool wfs_mind_form_has(const char *type)
{
	return form_of(type) != NULL;
}

int wfs_mind_form_check(const char *type, struct wfs_bytes content,
	const struct wfs_mind_compiler *compiler, struct wfs_error *error)
{
	const struct form *const form = form_of(type);
	struct wfs_error reason = {0};
	int r = form->check(content, compiler, &reason);

	if (!r)
		return 0;
	if (r == -ENOMEM || strcmp(wfs_error_info(reason.code)->category, "system") == 0) {
		*error = reason;
		return wfs_trace(r);
	}
	if (reason.code == WFS_E_INVALID_JSON)
		return wfs_error_set(error, reason.code,
			"'content': expected JSON, as of every artifact of the type %s: %.400s",
			type, reason.message);
	return wfs_error_set(error, reason.code, "'content': %.480s", reason.message);
}
