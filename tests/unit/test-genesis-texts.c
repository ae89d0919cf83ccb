/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of genesis artifacts: they contain what the seed contains, and do not contradict
 * themselves or each other. */
#include "tests/fixture/json.h"

#include "kernel/genesis/texts.h"

#define LIBRARY "genesis_prompt_library#"

struct texts {
	json_t *library;
	json_t *prompts; /* borrowed */
	json_t *templates;
	json_t *workflows; /* borrowed */
};

static json_t *parse(const char *text)
{
	struct wfs_error error = {0};
	json_t *json = NULL;

	if (wfs_json_parse(text, strlen(text), &json, &error) != 0)
		fail_msg("%s", error.message);
	return json;
}

static int setup(void **state)
{
	struct texts *const texts = calloc(1, sizeof(*texts));

	assert_non_null(texts);
	texts->library = parse(wfs_genesis_prompt_library());
	texts->prompts = json_object_get(texts->library, "prompts");
	texts->templates = parse(wfs_genesis_workflow_templates());
	texts->workflows = json_object_get(texts->templates, "workflows");
	*state = texts;
	return 0;
}

static int teardown(void **state)
{
	struct texts *const texts = *state;

	json_decref(texts->library);
	json_decref(texts->templates);
	free(texts);
	return 0;
}

#define WITH_TEXTS(name) TEST_WITH(name, struct texts *texts, NULL, NULL)

static bool has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *item;

	json_array_foreach(array, i, item) {
		if (strcmp(json_string_value(item), text) == 0)
			return true;
	}
	return false;
}

/* --- prompts --- */

static const char *template_of(const struct texts *texts, const char *name)
{
	const char *const text = wfs_json_text(json_object_get(texts->prompts, name), "template");

	if (!*text)
		fail_msg("%s: no template", name);
	return text;
}

static void assert_begins(const struct texts *texts, const char *name, const char *expected)
{
	const char *const text = template_of(texts, name);

	if (strncmp(text, expected, strlen(expected)) != 0)
		fail_msg("%s: expected %s, got %.200s", name, expected, text);
}

static void assert_says(const struct texts *texts, const char *name, const char *expected)
{
	if (!strstr(template_of(texts, name), expected))
		fail_msg("%s: expected %s", name, expected);
}

WITH_TEXTS(the_library_has_twelve_prompts)
{
	static const char *const names[] = {"observe_base", "ideate_base", "implement_base",
		"reflect_base", "transition_base", "meta_learning", "trading_base",
		"error_recovery", "coordination_request", "artifact_design", "market_analysis",
		"intelligence_trading"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++)
		if (!json_object_get(texts->prompts, names[i]))
			fail_msg("no prompt %s", names[i]);
	assert_int_equal(json_object_size(texts->prompts), WFS_ARRAY_COUNT(names));
	assert_int_equal(json_object_size(texts->library), 1);
}

WITH_TEXTS(every_prompt_has_a_description_a_template_variables_and_tags)
{
	const char *name;
	json_t *prompt;

	json_object_foreach(texts->prompts, name, prompt) {
		struct wfs_error error = {0};

		if (wfs_json_members(prompt, name, "description template variables tags", &error))
			fail_msg("%s: %s", name, error.message);
		if (!*wfs_json_text(prompt, "description") || !*wfs_json_text(prompt, "template") ||
			json_array_size(json_object_get(prompt, "tags")) == 0)
			fail_msg("%s: a member is empty", name);
	}
}

WITH_TEXTS(the_prompts_of_the_seed_begin_as_it_has_them)
{
	assert_begins(texts, "observe_base",
		"Gather context. What do you know? What do you need to know?\n"
		"Check your memory for relevant past experiences.\n");
	assert_begins(texts, "ideate_base",
		"Generate ideas. What problems exist? What value could you create?\n"
		"Consider: What do others need that doesn't exist yet?\n");
	assert_begins(texts, "implement_base",
		"Build it. Write clean code with clear interfaces.\n"
		"Remember: function run(...) is the entry point, in Lua.\n"
		"Set price (its invoke_price) to earn from usage.\n");
	assert_begins(texts, "transition_base",
		"Given the outcome of your last action, decide your next phase.\n"
		"Consider: Did it succeed? What did you learn? What's the logical next step?\n");
	assert_begins(texts, "meta_learning",
		"Before deciding: Check your working memory for lessons.\n"
		"After outcomes: Record what worked or failed.\n"
		"Pattern: Observe → Hypothesize → Act → Learn → Repeat\n");
}

WITH_TEXTS(transition_base_ends_with_the_form_of_the_answer)
{
	static const char *const variables[] = {"agent_id", "current_state", "available_states",
		"last_action_type", "last_action_success", "balance", "failure_count"};
	static const char form[] =
		"Respond with JSON only:\n"
		"{\"next_state\": \"state_name\", \"reason\": \"one sentence explanation\"}\n";
	const char *const text = template_of(texts, "transition_base");

	assert_true(strlen(text) > strlen(form));
	assert_string_equal(text + strlen(text) - strlen(form), form);
	assert_says(texts, "transition_base",
		"- If 3+ consecutive failures: consider \"reflecting\" to learn\n"
		"- If balance < 10: consider \"conserving\" resources\n"
		"- If action succeeded: advance to logical next phase\n"
		"- If stuck on same state 5+ times: force transition\n");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(variables); i++) {
		char braced[64];

		snprintf(braced, sizeof(braced), "{%s}", variables[i]);
		assert_says(texts, "transition_base", braced);
	}
}

/* Finds the next `{name}` at *@text or after it, and moves *@text to the place after it. Return:
 * was one found? */
static bool next_variable(const char **text, char *name, size_t size)
{
	for (const char *at = *text; (at = strchr(at, '{')); at++) {
		const size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");

		if (length == 0 || at[1 + length] != '}')
			continue;
		assert_true(length < size);
		snprintf(name, size, "%.*s", (int)length, at + 1);
		*text = at + 1 + length;
		return true;
	}
	return false;
}

WITH_TEXTS(every_variable_that_a_template_uses_is_declared_and_no_other)
{
	const char *prompt;
	json_t *value;

	json_object_foreach(texts->prompts, prompt, value) {
		const json_t *const variables = json_object_get(value, "variables");
		const char *text = template_of(texts, prompt);
		WFS_AUTO_JSON json_t *used = json_array();
		char name[64];

		while (next_variable(&text, name, sizeof(name)))
			if (!has_text(used, name))
				json_array_append_new(used, json_string(name));
		assert_true(json_array_size(used) > 0);
		if (!json_equal(used, variables)) /* in order of their first use */
			fail_msg("%s: declares others than it uses", prompt);
	}
}

WITH_TEXTS(templates_use_only_variables_that_there_are)
{
	static const char known[] =
		" agent_id balance my_artifacts recent_memories working_memory last_action_result "
		"last_action_type last_action_success current_state available_states failure_count "
		"same_state_for tick llm_tokens_remaining disk_remaining ";
	const char *prompt;
	json_t *value;

	json_object_foreach(texts->prompts, prompt, value) {
		size_t i;
		json_t *variable;

		json_array_foreach(json_object_get(value, "variables"), i, variable) {
			char word[64];

			snprintf(word, sizeof(word), " %s ", json_string_value(variable));
			if (!strstr(known, word))
				fail_msg("%s: unknown variable%s", prompt, word);
		}
	}
}

/* The template would show one brace for two. */
WITH_TEXTS(no_template_has_two_braces_in_a_row)
{
	const char *prompt;
	json_t *value;

	json_object_foreach(texts->prompts, prompt, value) {
		const char *const text = template_of(texts, prompt);

		if (strstr(text, "{{") || strstr(text, "}}"))
			fail_msg("%s", prompt);
	}
}

WITH_TEXTS(templates_fit_80_columns)
{
	const char *prompt;
	json_t *value;

	json_object_foreach(texts->prompts, prompt, value) {
		const char *line = template_of(texts, prompt);

		for (; *line; line += strcspn(line, "\n") + 1)
			if (strcspn(line, "\n") > 80)
				fail_msg("%s: %.90s", prompt, line);
	}
}

/* --- workflows --- */

/* Checks that @steps has one step for each of @states. */
static void assert_one_step_each(const char *name, const json_t *states, const json_t *steps)
{
	size_t i;
	json_t *step;

	if (json_array_size(steps) != json_array_size(states))
		fail_msg("%s: %zu steps for %zu states", name, json_array_size(steps),
			json_array_size(states));
	json_array_foreach(steps, i, step) {
		const char *const state = json_string_value(json_array_get(states, i));

		if (strcmp(wfs_json_text(step, "state"), state) != 0)
			fail_msg("%s: step %zu is not of the state %s", name, i, state);
	}
}

WITH_TEXTS(the_templates_are_the_three_workflows)
{
	static const char *const names[] = {"observe_act", "plan_build_test_reflect", "trader"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		const json_t *const workflow = json_object_get(texts->workflows, names[i]);
		struct wfs_error error = {0};

		if (wfs_json_members(
			    workflow, names[i], "description states initial_state steps", &error))
			fail_msg("%s: %s", names[i], error.message);
		if (!*wfs_json_text(workflow, "description"))
			fail_msg("%s: no description", names[i]);
	}
	assert_int_equal(json_object_size(texts->workflows), WFS_ARRAY_COUNT(names));
	assert_int_equal(json_object_size(texts->templates), 1);
}

WITH_TEXTS(every_state_has_its_step_and_the_initial_one_is_among_them)
{
	const char *name;
	json_t *workflow;

	json_object_foreach(texts->workflows, name, workflow) {
		const json_t *const states = json_object_get(workflow, "states");

		assert_one_step_each(name, states, json_object_get(workflow, "steps"));
		if (!has_text(states, wfs_json_text(workflow, "initial_state")))
			fail_msg("%s: its initial_state is not one of its states", name);
	}
}

typedef void (*step_check)(
	const struct texts *texts, const char *name, const json_t *workflow, const json_t *step);

static void foreach_step(const struct texts *texts, step_check check)
{
	const char *name;
	json_t *workflow;
	size_t i;
	json_t *step;

	json_object_foreach(texts->workflows, name, workflow) {
		json_array_foreach(json_object_get(workflow, "steps"), i, step)
			check(texts, name, workflow, step);
	}
}

static void assert_in_library(const struct texts *texts, const char *name, const char *reference)
{
	const bool ours = strncmp(reference, LIBRARY, strlen(LIBRARY)) == 0;

	if (!ours || !json_object_get(texts->prompts, reference + strlen(LIBRARY)))
		fail_msg("%s: there is no '%s'", name, reference);
}

static void check_prompt(
	const struct texts *texts, const char *name, const json_t *workflow, const json_t *step)
{
	(void)workflow;
	assert_in_library(texts, name, wfs_json_text(step, "prompt_artifact_id"));
	if (!*wfs_json_text(step, "prompt_inline"))
		fail_msg("%s: %s has nothing inline", name, wfs_json_text(step, "state"));
}

WITH_TEXTS(every_step_has_a_prompt_of_the_library_and_one_inline)
{
	foreach_step(texts, check_prompt);
}

static void assert_state(const char *name, const json_t *workflow, const char *to)
{
	if (!has_text(json_object_get(workflow, "states"), to))
		fail_msg("%s: unknown state '%s'", name, to);
}

static void check_conditions(const char *name, const json_t *workflow, const json_t *step)
{
	const json_t *const conditions = json_object_get(step, "transition_conditions");
	size_t i;
	json_t *condition;

	if (json_array_size(conditions) == 0)
		fail_msg("%s: %s has no conditions", name, wfs_json_text(step, "state"));
	json_array_foreach(conditions, i, condition) {
		assert_state(name, workflow, wfs_json_text(condition, "to"));
		if (!*wfs_json_text(condition, "condition"))
			fail_msg("%s: condition %zu is empty", name, i);
	}
}

/* Checks that each mode has its own members, and none of another mode. */
static void check_transition(
	const struct texts *texts, const char *name, const json_t *workflow, const json_t *step)
{
	const char *const mode = wfs_json_text(step, "transition_mode");
	const char *members = NULL;
	struct wfs_error error = {0};

	if (strcmp(mode, "auto") == 0) {
		members = "state prompt_artifact_id prompt_inline transition_mode transition_to";
		assert_state(name, workflow, wfs_json_text(step, "transition_to"));
	} else if (strcmp(mode, "condition") == 0) {
		members = "state prompt_artifact_id prompt_inline transition_mode "
			  "transition_conditions";
		check_conditions(name, workflow, step);
	} else if (strcmp(mode, "llm") == 0) {
		members = "state prompt_artifact_id prompt_inline transition_mode "
			  "transition_prompt_artifact_id";
		assert_in_library(
			texts, name, wfs_json_text(step, "transition_prompt_artifact_id"));
	} else {
		fail_msg("%s: unknown mode '%s'", name, mode);
	}
	if (wfs_json_members(step, wfs_json_text(step, "state"), members, &error))
		fail_msg("%s: %s", name, error.message);
}

WITH_TEXTS(every_transition_leads_to_a_state_of_its_workflow)
{
	foreach_step(texts, check_transition);
}

WITH_TEXTS(the_templates_show_every_mode_and_both_kinds_of_conditions)
{
	static const char *const expected[] = {"\"transition_mode\":\"auto\"",
		"\"transition_mode\":\"condition\"", "\"transition_mode\":\"llm\"",
		"\"condition\":\"has_design\"", "\"condition\":\"stuck\"",
		"\"condition\":\"succeeded\"", "\"condition\":\"failed\"",
		"\"condition\":\"balance_below(6)\"", "\"condition\":\"same_state_for(3)\"",
		"\"condition\":\"balance > 5\""};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(texts->templates, &text);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(expected); i++)
		if (!strstr(wfs_buffer_text(&text), expected[i]))
			fail_msg("no %s", expected[i]);
}

TEST_GROUP(setup, teardown)
