/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks an agent's configuration. */
#include "kernel/mind/agent.h"

#include <string.h>

#include "kernel/base/json.h"
#include "kernel/mind/kind.h"
#include "kernel/mind/setting.h"
#include "kernel/mind/workflow.h"

#define MEMBERS                                                                                \
	"constraint? extra_body? llm_model? longterm_memory_artifact_id? max_concurrency? "    \
	"max_history_messages? max_tokens? max_turns? model? personality_prompt_artifact_id? " \
	"prompt? prompts? reflex_artifact_id? run_timeout_ms? system_prompt? temperature? "    \
	"tool_choice? tool_timeout_ms? tools? workflow? workflow_artifact_id? "                \
	"working_memory_artifact_id?"

int wfs_mind_agent_read(struct wfs_bytes content, json_t **ret_content, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;

	if (content.size > WFS_MIND_AGENT_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE, "expected at most %d bytes, got %zu",
			WFS_MIND_AGENT_MAX, content.size);
	int r = wfs_json_parse_bounded(content.data, content.size, &json, error);
	if (!r)
		r = wfs_json_members(json, "an agent", MEMBERS, error);
	if (r)
		return wfs_trace(r);
	*ret_content = WFS_STEAL(json);
	return 0;
}

/* --- texts --- */

/* @where: what the text is, for messages */
static int check_text(const char *where, const json_t *value, struct wfs_error *error)
{
	if (!json_is_string(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected a text, got %s",
			where, wfs_mind_kind(value));
	if (wfs_mind_has_nul(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected a text without NUL characters", where);
	return 0;
}

static int check_texts(const json_t *content, struct wfs_error *error)
{
	static const char *const names[] = {"llm_model", "model", "prompt", "system_prompt"};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(names); i++) {
		const json_t *const value = json_object_get(content, names[i]);

		r = value ? check_text(names[i], value, error) : 0;
	}
	if (!r && json_object_get(content, "model") && json_object_get(content, "llm_model"))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'model' and 'llm_model': expected one of them");
	return r;
}

static int check_references(const json_t *content, struct wfs_error *error)
{
	static const char *const names[] = {"longterm_memory_artifact_id",
		"personality_prompt_artifact_id", "reflex_artifact_id", "workflow_artifact_id",
		"working_memory_artifact_id"};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(names); i++) {
		const json_t *const value = json_object_get(content, names[i]);

		r = wfs_mind_is_absent(value) ? 0 : check_text(names[i], value, error);
	}
	return r;
}

static int check_prompts(const json_t *prompts, struct wfs_error *error)
{
	const char *state;
	json_t *text;

	if (wfs_mind_is_absent(prompts))
		return 0;
	if (!json_is_object(prompts))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'prompts': expected an object state → text, got %s",
			wfs_mind_kind(prompts));
	json_object_foreach((json_t *)prompts, state, text) {
		char where[96];

		snprintf(where, sizeof(where), "prompts.%.64s", state);
		int r = check_text(where, text, error);
		if (r)
			return r;
	}
	return 0;
}

/* --- tools --- */

static bool is_listed_before(const json_t *tools, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (json_equal(json_array_get(tools, i), json_array_get(tools, index)))
			return true;
	return false;
}

static int check_tools(const json_t *tools, struct wfs_error *error)
{
	size_t i;
	const json_t *name;

	if (!tools)
		return 0;
	if (!json_is_array(tools))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'tools': expected an array of names, got %s", wfs_mind_kind(tools));
	if (json_array_size(tools) > WFS_MIND_TOOLS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'tools': expected at most %d names, got %zu", WFS_MIND_TOOLS_MAX,
			json_array_size(tools));
	json_array_foreach(tools, i, name) {
		char where[32];

		snprintf(where, sizeof(where), "tools[%zu]", i);
		int r = check_text(where, name, error);
		if (r)
			return r;
		if (is_listed_before(tools, i))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s': '%.100s' is there twice", where, json_string_value(name));
	}
	return 0;
}

/* --- settings --- */

static int check_numbers(const json_t *content, struct wfs_error *error)
{
	int64_t history = 0;
	int64_t value = 0;
	int r = wfs_json_get_integer(content, "max_turns", 0, WFS_MIND_TURNS_MAX, &value, error);

	for (const struct wfs_mind_number *number = wfs_mind_numbers; !r && number->name; number++)
		r = wfs_json_get_integer(
			content, number->name, number->minimum, number->maximum, &value, error);
	if (!r)
		r = wfs_json_get_integer(
			content, "max_history_messages", INT64_MIN, INT64_MAX, &history, error);
	return r ? r : wfs_mind_check_history_max(history, error);
}

/* Null counts as absent. */
static const json_t *member(const json_t *content, const char *name)
{
	const json_t *const value = json_object_get(content, name);

	return wfs_mind_is_absent(value) ? NULL : value;
}

/* Which constraints a server accepts is known when the agent takes a turn. */
static int check_others(const json_t *content, struct wfs_error *error)
{
	const json_t *const temperature = member(content, "temperature");
	const json_t *const choice = member(content, "tool_choice");
	const json_t *const extra = member(content, "extra_body");
	const json_t *const constraint = member(content, "constraint");
	int r = temperature ? wfs_mind_check_temperature(temperature, error) : 0;

	if (!r && choice)
		r = wfs_mind_check_tool_choice(choice, error);
	if (!r && extra)
		r = wfs_mind_check_extra("agent", extra, error);
	if (!r && extra)
		r = wfs_mind_check_costs(extra, error);
	if (!r && constraint && !json_is_object(constraint))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'constraint': expected an object with 'kind', got %s",
			wfs_mind_kind(constraint));
	return r;
}

int wfs_mind_agent_check(const json_t *content, struct wfs_error *error)
{
	const json_t *const workflow = member(content, "workflow");
	int r = check_texts(content, error);

	if (!r)
		r = check_references(content, error);
	if (!r)
		r = check_prompts(json_object_get(content, "prompts"), error);
	if (!r)
		r = check_tools(json_object_get(content, "tools"), error);
	if (!r)
		r = check_numbers(content, error);
	if (!r)
		r = check_others(content, error);
	if (!r && workflow)
		r = wfs_mind_workflow_check(workflow, error);
	return wfs_trace(r);
}
