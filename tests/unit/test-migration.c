/* SPDX-License-Identifier: Apache-2.0 */
/* The inline parts of an agent as artifacts: which artifacts there are, what they contain, and
 * what stays inline. */
#include "fs/command/agents/migration.h"
#include "tests/fixture/json.h"

static struct wfs_migration made(const char *content)
{
	WFS_AUTO_JSON json_t *json = json_of(content);
	struct wfs_migration migration = {.artifacts = NULL};
	struct wfs_error error = {0};

	if (wfs_migration_make("al", json, &migration, &error))
		fail_msg("%s: %s", content, error.message);
	return migration;
}

static void expect(const char *content, const char *artifacts, const char *after, const char *kept)
{
	WFS_AUTO_MIGRATION struct wfs_migration migration = made(content);

	print_message("%s\n", content);
	assert_json_is(json_incref(migration.artifacts), artifacts);
	assert_json_is(json_incref(migration.content), after);
	assert_json_is(json_incref(migration.kept), kept);
}

static void expect_refused(
	const char *agent, const char *content, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *json = json_of(content);
	struct wfs_migration migration = {.artifacts = NULL};
	struct wfs_error error = {0};

	print_message("%s\n", content);
	assert_int_equal(
		wfs_migration_make(agent, json, &migration, &error), -wfs_error_info(code)->number);
	assert_int_equal(error.code, code);
	if (!strstr(error.message, message))
		fail_msg("%s", error.message);
	assert_null(migration.artifacts);
}

#define PROMPT(id, text)                                                            \
	"{'artifact_id':'" id "','content':{'template':'" text "','variables':[]}," \
	"'type':'prompt'}"
#define ACTING                                                                       \
	"{'artifact_id':'al_workflow','content':{'initial_state':'acting','states':" \
	"['acting'],'steps':[{'prompt_artifact_id':'al_acting_prompt','state':"      \
	"'acting'}]},'type':'workflow'}"

TEST(an_agent_without_inline_parts_has_nothing_to_migrate)
{
	static const char *const contents[] = {"{}", "{'model':'m','tools':['noop']}",
		"{'system_prompt':null,'prompt':null,'prompts':null,'workflow':null}",
		"{'personality_prompt_artifact_id':'p','workflow_artifact_id':'w'}",
		"{'longterm_memory_artifact_id':'m'}", "{'system_prompt':''}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(contents); i++) {
		WFS_AUTO_MIGRATION struct wfs_migration migration = made(contents[i]);

		print_message("%s\n", contents[i]);
		assert_json_is(json_incref(migration.artifacts), "[]");
		assert_json_is(json_incref(migration.content), contents[i]);
	}
}

TEST(the_seeds_name_of_the_model_becomes_ours)
{
	expect("{'llm_model':'m'}", "[]", "{'model':'m'}", "[]");
	expect("{'llm_model':'m','model':'n'}", "[]", "{'llm_model':'m','model':'n'}", "[]");
}

TEST(a_legacy_agent_gets_a_personality_and_one_state)
{
	expect("{'model':'m','system_prompt':'be','prompt':'do'}",
		"[" PROMPT("al_personality", "be") "," PROMPT("al_acting_prompt", "do") "," ACTING
											"]",
		"{'model':'m','personality_prompt_artifact_id':'al_personality',"
		"'workflow_artifact_id':'al_workflow'}",
		"[]");
	expect("{'prompt':'do'}", "[" PROMPT("al_acting_prompt", "do") "," ACTING "]",
		"{'workflow_artifact_id':'al_workflow'}", "[]");
}

/* If the agent has a mind, a prompt of the library would take the place of this text. */
TEST(what_an_agent_is_told_by_default_is_written_down)
{
	expect("{'system_prompt':'be'}",
		"[" PROMPT("al_personality", "be") "," PROMPT(
			"al_acting_prompt", "Take your turn.") "," ACTING "]",
		"{'personality_prompt_artifact_id':'al_personality','workflow_artifact_id':"
		"'al_workflow'}",
		"[]");
	expect("{'system_prompt':'be','longterm_memory_artifact_id':'m'}",
		"[" PROMPT("al_personality", "be") "]",
		"{'personality_prompt_artifact_id':'al_personality',"
		"'longterm_memory_artifact_id':'m'}",
		"[]");
}

static void expect_personality(const char *text, const char *template)
{
	WFS_AUTO_JSON json_t *content = json_pack("{s:s}", "system_prompt", text);
	struct wfs_migration migration = {.artifacts = NULL};
	struct wfs_error error = {0};

	print_message("%s\n", text);
	assert_int_equal(wfs_migration_make("al", content, &migration, &error), 0);
	const json_t *const prompt =
		json_object_get(json_array_get(migration.artifacts, 0), "content");
	assert_string_equal(json_string_value(json_object_get(prompt, "template")), template);
	wfs_migration_done(&migration);
}

TEST(braces_of_texts_that_were_no_templates_are_doubled)
{
	expect_personality("I am {agent_id}, {x", "I am {{agent_id}}, {{x");
	expect_personality("{{", "{{{{");
	expect_personality("}}", "}}}}");
	expect_personality("{\"a\": {\"b\": 1}}", "{{\"a\": {{\"b\": 1}}}}");
}

TEST(braces_that_no_template_replaces_stay)
{
	expect_personality("{\"a\": 1}", "{\"a\": 1}");
	expect_personality("{} { a } {1} {a", "{} { a } {1} {a");
}

TEST(prompts_that_were_templates_stay_as_they_are)
{
	expect("{'prompt':'{balance} {{','reflex_artifact_id':'r'}",
		"[" PROMPT("al_acting_prompt", "{balance} {{") "," ACTING "]",
		"{'reflex_artifact_id':'r','workflow_artifact_id':'al_workflow'}", "[]");
}

TEST(a_prompt_that_asks_for_the_state_stays)
{
	expect("{'prompt':'in {current_state}','reflex_artifact_id':'r'}", "[]",
		"{'prompt':'in {current_state}','reflex_artifact_id':'r'}", "['prompt']");
}

TEST(a_workflow_names_its_prompts)
{
	expect("{'workflow':{'states':['a','b','c'],'steps':[{'state':'a','prompt_inline':'A {x}',"
	       "'transition_to':'b'},{'state':'c','prompt_artifact_id':'lib#c','prompt_inline':"
	       "'C'}]},'prompts':{'b':'B','a':'unused'}}",
		"[" PROMPT("al_a_prompt", "A {x}") "," PROMPT("al_b_prompt",
			"B") ",{'artifact_id':'al_workflow','content':{'states':"
			     "['a','b','c'],'steps':[{'prompt_artifact_id':'al_a_prompt',"
			     "'state':'a','transition_to':'b'},{'prompt_artifact_id':"
			     "'lib#c','prompt_inline':'C','state':'c'},"
			     "{'prompt_artifact_id':'al_b_prompt','state':'b'}]},'type':"
			     "'workflow'}]",
		"{'prompts':{'a':'unused'},'workflow_artifact_id':'al_workflow'}", "['prompts']");
	expect("{'workflow':{'states':['a'],'steps':[]},'prompts':{'a':''}}",
		"[" PROMPT("al_a_prompt", "") ",{'artifact_id':'al_workflow','content':{'states':"
					      "['a'],'steps':[{'prompt_artifact_id':"
					      "'al_a_prompt','state':'a'}]},'type':'workflow'}]",
		"{'workflow_artifact_id':'al_workflow'}", "[]");
}

TEST(what_stands_beside_a_reference_stays)
{
	expect("{'personality_prompt_artifact_id':'p','system_prompt':'be',"
	       "'workflow_artifact_id':'w','prompts':{'a':'A'},'prompt':'do','workflow':"
	       "{'states':[]}}",
		"[]",
		"{'personality_prompt_artifact_id':'p','system_prompt':'be',"
		"'workflow_artifact_id':'w','prompts':{'a':'A'},'prompt':'do','workflow':"
		"{'states':[]}}",
		"['prompt','prompts','system_prompt','workflow']");
	expect("{'prompts':{'a':'A'}}", "[]", "{'prompts':{'a':'A'}}", "['prompts']");
}

TEST(what_was_migrated_has_nothing_more_to_migrate)
{
	static const char *const contents[] = {"{'system_prompt':'be'}",
		"{'prompt':'{current_state}','system_prompt':'be','prompts':{'a':'A'}}",
		"{'workflow':{'states':['a'],'steps':[]},'prompts':{'a':'A','b':'B'},'prompt':''}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(contents); i++) {
		WFS_AUTO_MIGRATION struct wfs_migration once = made(contents[i]);
		WFS_AUTO_MIGRATION struct wfs_migration twice = {.artifacts = NULL};
		struct wfs_error error = {0};

		print_message("%s\n", contents[i]);
		assert_true(json_array_size(once.artifacts) > 0);
		assert_int_equal(wfs_migration_make("al", once.content, &twice, &error), 0);
		assert_int_equal(json_array_size(twice.artifacts), 0);
		assert_true(json_equal(once.content, twice.content));
	}
}

TEST(parts_of_another_form_are_refused)
{
	expect_refused("al", "[]", WFS_E_INVALID_ARGUMENT, "expected an object");
	expect_refused("al", "{'system_prompt':7}", WFS_E_INVALID_ARGUMENT,
		"'system_prompt': expected a text");
	expect_refused("al", "{'prompt':{}}", WFS_E_INVALID_ARGUMENT, "'prompt': expected a text");
	expect_refused("al", "{'system_prompt':'a\\u0000b'}", WFS_E_INVALID_ARGUMENT,
		"'system_prompt': expected a text without NUL");
	expect_refused("al", "{'workflow':{'states':['a']}}", WFS_E_INVALID_ARGUMENT,
		"'workflow': expected an object with the arrays");
	expect_refused("al", "{'workflow':{'states':['a',1],'steps':[]}}", WFS_E_INVALID_ARGUMENT,
		"'states[1]': expected a name");
	expect_refused("al", "{'workflow':{'states':['a b'],'steps':[]},'prompts':{'a b':'A'}}",
		WFS_E_INVALID_ARGUMENT, "'al_a b_prompt'");
}

TEST(an_artifact_with_too_long_a_name_is_refused)
{
	char id[129];

	memset(id, 'x', sizeof(id) - 1);
	id[128] = '\0';
	expect_refused(id, "{'system_prompt':'be'}", WFS_E_INVALID_ARGUMENT, "xxx_personality'");
	id[116] = '\0'; /* with this suffix the name has 128 bytes */
	WFS_AUTO_JSON json_t *content =
		json_pack("{s:s, s:s}", "system_prompt", "be", "longterm_memory_artifact_id", "m");
	WFS_AUTO_MIGRATION struct wfs_migration migration = {.artifacts = NULL};
	struct wfs_error error = {0};
	assert_int_equal(wfs_migration_make(id, content, &migration, &error), 0);
}

TEST(a_prompt_that_is_too_large_is_refused)
{
	const size_t size = (512 << 10) + 1; /* escaping doubles every byte */
	WFS_AUTO_FREE char *text = calloc(size + 1, 1);
	struct wfs_migration migration = {.artifacts = NULL};
	struct wfs_error error = {0};

	assert_non_null(text);
	memset(text, '}', size);
	WFS_AUTO_JSON json_t *content = json_pack("{s:s}", "system_prompt", text);
	assert_int_equal(wfs_migration_make("al", content, &migration, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	wfs_migration_done(&migration);
}
