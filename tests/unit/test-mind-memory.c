/* SPDX-License-Identifier: Apache-2.0 */
/* Minds without memory: whichever allocation fails, nothing leaks, and no other result comes. */
#include "tests/fixture/json.h"
#include "tests/fixture/malloc.h"

#include "agents/mind/condition.h"
#include "agents/mind/reflex.h"
#include "agents/mind/template.h"
#include "agents/mind/transition.h"
#include "kernel/mind/workflow.h"

/* Calls @function with the first, second … allocation failing, until none fails any more. Lua
 * may do without a failed allocation, and messages may be shorter. @expected: the result without
 * failures */
static void assert_survives(
	const char *name, int (*function)(const json_t *json), const char *quoted, int expected)
{
	WFS_AUTO_JSON json_t *json = json_of(quoted);
	unsigned int failures = 0;
	unsigned int refused = 0;
	unsigned int left = 0;

	(void)function(json); /* allocates what is allocated once and stays */
	do {
		const ptrdiff_t before = live_bytes;

		allocations_until_failure = ++failures;
		const int r = function(json);

		left = allocations_until_failure;
		allocations_until_failure = 0;
		if (live_bytes != before)
			fail_msg("%s: allocation %u: %td bytes stay behind", name, failures,
				live_bytes - before);
		if (r != expected && (r != -ENOMEM || left > 0))
			fail_msg("%s: allocation %u: %d", name, failures, r);
		refused += r == -ENOMEM;
	} while (left == 0);
	assert_true(refused > 0);
}

/* --- what is done --- */

static int read_library(const json_t *json)
{
	WFS_AUTO_JSON json_t *prompt = NULL;
	const char *const content = json_string_value(json);
	int r = wfs_mind_prompt_read(wfs_bytes_text(content), "b", &prompt, NULL);

	return r ? r : strcmp(wfs_json_text(prompt, "template"), "B {x}");
}

static int read_text(const json_t *json)
{
	WFS_AUTO_JSON json_t *prompt = NULL;
	const char *const content = json_string_value(json);
	int r = wfs_mind_prompt_read(wfs_bytes_text(content), NULL, &prompt, NULL);

	return r ? r : strcmp(wfs_json_text(prompt, "template"), content);
}

static int fill(const json_t *json)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = wfs_mind_template_fill(json, json_object_get(json, "values"), &text, NULL);

	return r ? r : strcmp(wfs_buffer_text(&text), "{[1,2]} {\"x\":{}}");
}

static int read_reply(const json_t *json)
{
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	const char *next = "";
	int r = wfs_mind_transition_reply(wfs_bytes_text(wfs_json_text(json, "text")),
		json_object_get(json, "states"), &next, &reason, NULL);

	return r ? r : strcmp(next, "b") != 0 || strcmp(wfs_buffer_text(&reason), "why") != 0;
}

static int ask_condition(const json_t *json)
{
	bool holds = false;
	int r = wfs_mind_condition(wfs_json_text(json, "condition"), json, &holds, NULL);

	return r ? r : !holds;
}

static int ask_conditions(const json_t *json)
{
	WFS_AUTO_JSON json_t *notes = NULL;
	const char *to = "";
	int r = wfs_mind_conditions_first(json_object_get(json, "list"), json, &to, &notes);

	return r ? r : strcmp(to, "b") != 0 || json_array_size(notes) != 1;
}

static int run_reflex(const json_t *json)
{
	static const char source[] =
		"function reflex(context) return {action_type = context.name} end";
	WFS_AUTO_JSON json_t *action = NULL;
	int r = wfs_mind_reflex(wfs_bytes_text(source), "r", json, &action, NULL);

	return r ? r : strcmp(wfs_json_text(action, "action_type"), "noop");
}

/* --- the tests --- */

TEST(prompts_survive)
{
	assert_survives("library", read_library,
		"'{\\u0022prompts\\u0022:{\\u0022b\\u0022:{\\u0022template\\u0022:"
		"\\u0022B {x}\\u0022,\\u0022variables\\u0022:[\\u0022x\\u0022]}}}'",
		0);
	assert_survives("text", read_text, "'Hi {a}: { you }'", 0);
	assert_survives("fill", fill,
		"{'template':'{{{a}}} "
		"{\\u0022x\\u0022:{}}','variables':['a'],'values':{'a':[1,2]}}",
		0);
}

TEST(answers_survive)
{
	assert_survives("reply", read_reply,
		"{'text':'So {}: {\\u0022next_state\\u0022:\\u0022b\\u0022,\\u0022reason\\u0022:"
		"\\u0022why\\u0022}','states':['a','b']}",
		0);
}

TEST(conditions_survive)
{
	assert_survives("predicate", ask_condition,
		"{'condition':'has_design','working_memory':{'x':['design']}}", 0);
	assert_survives("expression", ask_condition, "{'condition':'balance > 5','balance':7}", 0);
	assert_survives("conditions", ask_conditions,
		"{'list':[{'to':'a','condition':'nil + 1'},{'to':'b','condition':'true and 1 == 1'"
		"}]}",
		0);
}

TEST(reflexes_survive)
{
	assert_survives("reflex", run_reflex, "{'name':'noop'}", 0);
}
