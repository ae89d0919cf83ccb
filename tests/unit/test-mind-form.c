/* SPDX-License-Identifier: Apache-2.0 */
/* Which form the content of an artifact must have because of its type. */
#include "tests/fixture/json.h"

#include "kernel/mind/form.h"

static int check(
	const char *type, struct wfs_bytes content, uint64_t instructions, struct wfs_error *error)
{
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	struct wfs_lua_budget budget = {.instructions = instructions};

	assert_int_equal(wfs_box_new(&box), 0);
	const struct wfs_mind_compiler compiler = {.box = box, .budget = &budget};
	*error = (struct wfs_error){0};
	return wfs_mind_form_check(type, content, &compiler, error);
}

/* @quoted: the content, with ' for " */
static void assert_taken(const char *type, const char *quoted)
{
	WFS_AUTO_FREE char *content = json_text(quoted);
	struct wfs_error error;

	if (check(type, wfs_bytes_text(content), 1000000, &error))
		fail_msg("%s %s: %s", type, quoted, error.message);
}

static void assert_refused(
	const char *type, const char *quoted, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_FREE char *content = json_text(quoted);
	struct wfs_error error;
	const int r = check(type, wfs_bytes_text(content), 1000000, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
}

TEST(only_some_types_have_a_form)
{
	assert_true(wfs_mind_form_has("agent"));
	assert_true(wfs_mind_form_has("library"));
	assert_true(wfs_mind_form_has("prompt"));
	assert_true(wfs_mind_form_has("workflow"));
	assert_false(wfs_mind_form_has("data"));
	assert_false(wfs_mind_form_has(""));
}

/* --- agents --- */

TEST(an_agent_names_what_may_not_be_there_yet)
{
	assert_taken("agent", "{}");
	assert_taken("agent",
		"{'llm_model':'nobody','personality_prompt_artifact_id':'not_yet',"
		"'prompts':{'a':'Go.'},'reflex_artifact_id':null,'tools':['not_there_yet'],"
		"'workflow':null,'workflow_artifact_id':'lib#later'}");
	assert_taken("agent",
		"{'constraint':{'kind':'choice','choices':['a']},'extra_body':{'top_p':0.5},"
		"'max_concurrency':-1,'max_history_messages':0,'max_tokens':10,'max_turns':3,"
		"'temperature':0,'tool_choice':'none','workflow':{'states':['a'],'steps':[]}}");
	assert_taken("agent", "{'extra_body':null,'temperature':null,'tool_choice':null}");
}

TEST(an_agent_with_a_wrong_member_is_refused)
{
	static const struct {
		const char *content;
		const char *message;
	} cases[] = {
		{"[]", "expected an object, got an array"},
		{"{'maxturns':1}",
			"unknown member 'maxturns' (an agent takes: constraint? extra_body? "
			"llm_model? longterm_memory_artifact_id? max_concurrency? "
			"max_history_messages? max_tokens? max_turns? model? "
			"personality_prompt_artifact_id? prompt? prompts? reflex_artifact_id? "
			"run_timeout_ms? system_prompt? temperature? tool_choice? "
			"tool_timeout_ms? tools? workflow? workflow_artifact_id? "
			"working_memory_artifact_id?)"},
		{"{'model':1}", "'model': expected a text, got an integer"},
		{"{'prompt':'a\\u0000b'}", "'prompt': expected a text without NUL characters"},
		{"{'llm_model':'a','model':'b'}", "'model' and 'llm_model': expected one of them"},
		{"{'workflow_artifact_id':{}}",
			"'workflow_artifact_id': expected a text, got an object"},
		{"{'prompts':'Go.'}", "'prompts': expected an object state → text, got a text"},
		{"{'prompts':{'a':1}}", "'prompts.a': expected a text, got an integer"},
		{"{'tools':'noop'}", "'tools': expected an array of names, got a text"},
		{"{'tools':['noop',1]}", "'tools[1]': expected a text, got an integer"},
		{"{'tools':['noop','noop']}", "'tools[1]': 'noop' is there twice"},
		{"{'max_turns':10001}",
			"'max_turns': expected an integer from 0 to 10000, got 10001"},
		{"{'max_tokens':0}",
			"'max_tokens': expected an integer from 1 to 2147483647, got 0"},
		{"{'max_concurrency':65}",
			"'max_concurrency': expected an integer from -2147483648 to 64, got 65"},
		{"{'max_history_messages':1}",
			"'max_history_messages': expected 0 (no limit) or at least 2, got 1"},
		{"{'temperature':3}", "'temperature': expected a number from 0 to 2"},
		{"{'tool_choice':'any'}",
			"'tool_choice': expected \"auto\", \"none\", \"required\" or "
			"{\"type\":\"function\",\"function\":{\"name\":…}}, got 'any'"},
		{"{'extra_body':1}", "'extra_body' of the agent: expected an object"},
		{"{'extra_body':{'tools':[]}}",
			"'extra_body' of the agent: 'tools' cannot be replaced"},
		{"{'extra_body':{'n':2}}",
			"'extra_body' of the agent: 'n' may cost more, expected it in the "
			"extra_body of the model in host.json"},
		{"{'constraint':'json'}",
			"'constraint': expected an object with 'kind', got a text"},
		{"{'workflow':{'states':['a']}}",
			"'steps' is missing (workflow takes: states initial_state? steps name? "
			"description?)"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_FREE char *content = json_text(cases[i].content);
		char message[512];
		struct wfs_error error;

		print_message("%s\n", cases[i].content);
		snprintf(message, sizeof(message), "'content': %.480s", cases[i].message);
		assert_true(check("agent", wfs_bytes_text(content), 1000000, &error) < 0);
		assert_string_equal(error.message, message);
	}
}

TEST(an_agent_has_a_greatest_size_and_so_many_tools)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};
	struct wfs_error error;

	wfs_buffer_append_text(&content, "{\"tools\":[");
	for (int i = 0; i <= 256; i++)
		wfs_buffer_printf(&content, "%s\"t%d\"", i ? "," : "", i);
	wfs_buffer_append_text(&content, "]}");
	assert_int_equal(check("agent", wfs_buffer_bytes(&content), 1, &error), -EFBIG);
	assert_string_equal(
		error.message, "'content': 'tools': expected at most 256 names, got 257");
	while (content.size <= 1 << 20)
		wfs_buffer_append_text(&content, "                                ");
	assert_int_equal(check("agent", wfs_buffer_bytes(&content), 1, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
}

/* --- prompts --- */

TEST(a_prompt_is_a_text_or_has_a_template_or_is_a_library)
{
	assert_taken("prompt", "You are {agent_id}. {not json");
	assert_taken("prompt", "");
	assert_taken("prompt", "{'template':'{a}','variables':['a']}");
	assert_taken("prompt", "{'prompts':{'a':'A','b':{'template':'B'}}}");
	assert_refused("prompt", "{'text':'A'}", WFS_E_MISSING_ARGUMENT,
		"'content': the prompt: 'template' is missing, expected a text");
	assert_refused("prompt", "{'template':1}", WFS_E_INVALID_ARGUMENT,
		"'content': the prompt: 'template': expected a text, got an integer");
	assert_refused("prompt", "{'template':'A','variables':['1a']}", WFS_E_INVALID_ARGUMENT,
		"'content': the prompt: 'variables[0]': expected a name ([A-Za-z_][A-Za-z0-9_]*, "
		"at most 64 bytes), got '1a'");
	assert_refused("prompt", "{'prompts':{'a':'A','b':{}}}", WFS_E_MISSING_ARGUMENT,
		"'content': prompt 'b' of the library: 'template' is missing, expected a text");
}

/* --- workflows --- */

TEST(a_workflow_is_one_or_a_library)
{
	assert_taken("workflow", "{'states':['a'],'steps':[]}");
	assert_taken("workflow", "{'workflows':{'w':{'states':['a'],'steps':[]}}}");
	assert_refused("workflow", "{'states':['a'],'steps':[{'state':'b'}]}",
		WFS_E_INVALID_ARGUMENT,
		"'content': workflow.steps[0].state: 'b' is none of the states: a");
	assert_refused("workflow", "{'workflows':{'w':{'states':[],'steps':[]}}}",
		WFS_E_INVALID_ARGUMENT,
		"'content': workflow 'w' of the library: workflow.states: expected at least one");
}

#define CONDITION(text)                                                                        \
	"{'states':['a'],'steps':[{'state':'a','transition_mode':'condition',"                 \
	"'transition_conditions':[{'to':'a','condition':'stuck'},{'to':'a','condition':'" text \
	"'}]}]}"

TEST(conditions_of_a_workflow_compile)
{
	assert_taken("workflow", CONDITION(" balance > 5 and not stuck "));
	assert_taken("workflow", CONDITION("balance_below(5) -- poor"));
	assert_refused("workflow", CONDITION("balance >"), WFS_E_SYNTAX_ERROR,
		"'content': workflow.steps[0].transition_conditions[1].condition: expected a "
		"predicate or an expression: condition:1: unexpected symbol near <eof>");
	assert_refused("agent", "{'workflow':" CONDITION("1) end do (1") "}", WFS_E_SYNTAX_ERROR,
		"'content': workflow.steps[0].transition_conditions[1].condition: expected a "
		"predicate or an expression: condition:1: <eof> expected near ')'");
}

TEST(conditions_use_up_instructions)
{
	WFS_AUTO_FREE char *content = json_text(CONDITION("stuck"));
	struct wfs_error error;

	assert_int_equal(check("workflow", wfs_bytes_text(content), 19999, &error), -EIO);
	assert_string_equal(error.message,
		"'content': to check the conditions takes more than what is left of the 19999 "
		"instructions that one record may take");
}

/* --- libraries --- */

TEST(a_library_of_code_has_any_content)
{
	assert_taken("library", "");
	assert_taken("library", "How to use it.");
	assert_taken("library", "{'prompts':3,'workflows':['a']}");
	assert_taken("library", "{'prompts':{'a':'A'},'workflows':{}}");
	assert_refused("library", "{'prompts':{'a':1}}", WFS_E_INVALID_ARGUMENT,
		"'content': prompt 'a' of the library: expected a text, or an object with "
		"'template', got an integer");
	assert_refused("library", "{'workflows':{'a':1}}", WFS_E_INVALID_ARGUMENT,
		"'content': workflow 'a' of the library: workflow: expected an object, got an "
		"integer");
}
