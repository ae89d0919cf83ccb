/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts: how a prompt is chosen from a content, and templates with values in them. */
#include "tests/fixture/json.h"

#include "agents/mind/template.h"

static int read_bytes(struct wfs_bytes content, const char *fragment, json_t **ret_prompt,
	struct wfs_error *error)
{
	*error = (struct wfs_error){0};
	*ret_prompt = NULL;
	return wfs_mind_prompt_read(content, fragment, ret_prompt, error);
}

/* --- reading --- */

/* @expected: the prompt; both texts with ' for " */
static void assert_read(const char *quoted, const char *fragment, const char *expected)
{
	WFS_AUTO_FREE char *content = json_text(quoted);
	struct wfs_error error;
	json_t *prompt;
	const int r = read_bytes(wfs_bytes_text(content), fragment, &prompt, &error);

	if (r)
		fail_msg("%s: %s", quoted, error.message);
	assert_json_is(prompt, expected);
}

static void assert_bytes_refused(struct wfs_bytes content, const char *fragment,
	enum wfs_error_code code, const char *message)
{
	struct wfs_error error;
	json_t *prompt;
	const int r = read_bytes(content, fragment, &prompt, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_null(prompt);
}

static void assert_refused(
	const char *quoted, const char *fragment, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_FREE char *content = json_text(quoted);

	assert_bytes_refused(wfs_bytes_text(content), fragment, code, message);
}

TEST(a_prompt_is_an_object_with_a_template)
{
	assert_read("{'template':'Hi {a}','variables':['a','_b1']}", NULL,
		"{'template':'Hi {a}','variables':['a','_b1']}");
	assert_read("{'template':'x','variables':null}", NULL, "{'template':'x','variables':[]}");
	assert_read("{'template':'x','description':1,'tags':{}}", NULL,
		"{'template':'x','variables':[]}");
}

/* Case 174. */
TEST(a_text_is_the_template)
{
	assert_read("You are {agent_id}.\n", NULL,
		"{'template':'You are {agent_id}.\\n','variables':[]}");
	assert_read(
		"'You are {agent_id}.'", NULL, "{'template':'You are {agent_id}.','variables':[]}");
	assert_read("{agent_id}: answer {'a':1}", NULL,
		"{'template':'{agent_id}: answer {\\'a\\':1}','variables':[]}");
	assert_read("", NULL, "{'template':'','variables':[]}");
}

TEST(what_is_neither_is_refused)
{
	assert_refused("[1]", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: expected a text, or an object with 'template', got an array");
	assert_refused("null", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: expected a text, or an object with 'template', got null");
	assert_refused("{'text':'x'}", NULL, WFS_E_MISSING_ARGUMENT,
		"the prompt: 'template' is missing, expected a text");
	assert_refused("{'template':7}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'template': expected a text, got an integer");
}

TEST(variables_that_are_no_names_are_refused)
{
	assert_refused("{'template':'','variables':'a'}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'variables': expected an array of names, got a text");
	assert_refused("{'template':'','variables':['a',1]}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'variables[1]': expected a name, got an integer");
	assert_refused("{'template':'','variables':['1a']}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'variables[0]': expected a name ([A-Za-z_][A-Za-z0-9_]*, at most 64 "
		"bytes), got '1a'");
	assert_refused("{'template':'','variables':['']}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'variables[0]': expected a name ([A-Za-z_][A-Za-z0-9_]*, at most 64 "
		"bytes), got ''");
	assert_refused("{'template':'','variables':['a\\u0000b']}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: 'variables[0]': expected a name ([A-Za-z_][A-Za-z0-9_]*, at most 64 "
		"bytes), got 'a'");
}

TEST(an_object_that_is_wrong_json_is_no_text)
{
	assert_refused(" {'template':'a','template':'b'}\n", NULL, WFS_E_INVALID_JSON,
		"the prompt: line 1 column 27: duplicate object key near '\"template\"'");
}

TEST(an_object_that_is_too_deep_is_no_text)
{
	enum { LEVELS = 130 };
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};

	wfs_buffer_append_text(&content, "{\"template\":");
	for (int i = 0; i < LEVELS; i++)
		wfs_buffer_append_byte(&content, '[');
	for (int i = 0; i < LEVELS; i++)
		wfs_buffer_append_byte(&content, ']');
	wfs_buffer_append_byte(&content, '}');

	struct wfs_error error;
	json_t *prompt;
	assert_int_equal(read_bytes(wfs_buffer_bytes(&content), NULL, &prompt, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_JSON);
	assert_non_null(strstr(error.message, "the greatest depth is 128 levels"));
}

TEST(bytes_that_are_no_text_are_refused)
{
	assert_bytes_refused(WFS_BYTES("a\0b", 3), NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: expected a text without NUL characters");
	assert_refused("{'template':'a\\u0000b'}", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: expected a text without NUL characters");
	assert_refused("a\xff", NULL, WFS_E_INVALID_ARGUMENT,
		"the prompt: expected a text, got bytes that are not valid UTF-8");
}

static void append_many(struct wfs_buffer *buffer, char byte, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wfs_buffer_append_byte(buffer, byte);
}

TEST(a_template_has_a_greatest_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};
	struct wfs_error error;
	json_t *prompt;

	append_many(&content, 'a', WFS_MIND_TEXT_MAX);
	assert_int_equal(read_bytes(wfs_buffer_bytes(&content), NULL, &prompt, &error), 0);
	json_decref(prompt);

	append_many(&content, 'a', 1);
	assert_bytes_refused(wfs_buffer_bytes(&content), NULL, WFS_E_TOO_LARGE,
		"the prompt: the template has 1048577 bytes, at most 1048576 are taken");
}

TEST(a_content_has_a_greatest_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};

	append_many(&content, ' ', WFS_MIND_CONTENT_MAX + 1);

	assert_bytes_refused(wfs_buffer_bytes(&content), "x", WFS_E_TOO_LARGE,
		"prompts are looked for in at most 16777216 bytes, the content has 16777217");
}

TEST(a_content_has_so_many_values_at_most)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};

	append_many(&content, ',', WFS_JSON_VALUES_MAX + 1);

	assert_bytes_refused(wfs_buffer_bytes(&content), "x", WFS_E_TOO_LARGE,
		"the JSON text has 1048578 values, at most 1048576 are taken");
}

/* Appends {"template":"","variables":[…]} that declares one name @count times. */
static void append_declaring(struct wfs_buffer *content, const char *name, int count)
{
	wfs_buffer_reset(content);
	wfs_buffer_append_text(content, "{\"template\":\"\",\"variables\":[");
	for (int i = 0; i < count; i++)
		wfs_buffer_printf(content, "%s\"%s\"", i > 0 ? "," : "", name);
	wfs_buffer_append_text(content, "]}");
}

TEST(declared_variables_are_bounded)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_error error;
	json_t *prompt;

	append_many(&name, 'n', WFS_MIND_VARIABLE_NAME_MAX);
	append_declaring(&content, wfs_buffer_text(&name), WFS_MIND_VARIABLES_MAX);
	assert_int_equal(read_bytes(wfs_buffer_bytes(&content), NULL, &prompt, &error), 0);
	json_decref(prompt);

	append_declaring(&content, "n", WFS_MIND_VARIABLES_MAX + 1);
	assert_bytes_refused(wfs_buffer_bytes(&content), NULL, WFS_E_TOO_LARGE,
		"the prompt: 'variables': expected at most 256 names, got 257");

	append_many(&name, 'n', 1);
	append_declaring(&content, wfs_buffer_text(&name), 1);
	assert_int_equal(read_bytes(wfs_buffer_bytes(&content), NULL, &prompt, &error), -EINVAL);
	assert_non_null(strstr(error.message, "at most 64 bytes"));
}

/* --- libraries --- */

/* Case 173. */
TEST(a_library_has_prompts_by_name)
{
	static const char library[] =
		"{'prompts':{'a':'A {x}','b':{'template':'B','variables':['y'],'description':'d',"
		"'tags':['t']}},'other':1}";

	assert_read(library, "a", "{'template':'A {x}','variables':[]}");
	assert_read(library, "b", "{'template':'B','variables':['y']}");
}

/* Case 173. */
TEST(an_unknown_one_is_not_found_with_those_there_are)
{
	assert_refused("{'prompts':{'observe_base':'','ideate_base':''}}", "dream", WFS_E_NOT_FOUND,
		"no prompt 'dream' in the library; there are: observe_base, ideate_base");
	assert_refused("{'prompts':{}}", "dream", WFS_E_NOT_FOUND,
		"no prompt 'dream' in the library; there are: none");
}

TEST(a_long_list_of_those_is_cut)
{
	WFS_AUTO_BUFFER struct wfs_buffer content = {0};
	struct wfs_error error;
	json_t *prompt;

	wfs_buffer_append_text(&content, "{\"prompts\":{\"first\":\"\"");
	for (int i = 0; i < 1000; i++)
		wfs_buffer_printf(&content, ",\"prompt_%03d\":\"\"", i);
	wfs_buffer_append_text(&content, "}}");

	assert_int_equal(read_bytes(wfs_buffer_bytes(&content), "x", &prompt, &error), -ENOENT);
	assert_non_null(strstr(error.message, "there are: first, prompt_000, prompt_001"));
	assert_non_null(strstr(error.message, "prompt_019 and 980 more"));
}

TEST(what_is_no_library_is_refused)
{
	assert_refused("plain", "a", WFS_E_INVALID_JSON,
		"the library of prompts: line 1 column 5: invalid token near 'plain'");
	assert_refused("[]", "a", WFS_E_INVALID_ARGUMENT,
		"the library of prompts: expected an object with 'prompts', got an array");
	assert_refused("", "a", WFS_E_INVALID_ARGUMENT,
		"the library of prompts: expected an object with 'prompts', got a text");
	assert_refused("{'template':'x'}", "a", WFS_E_INVALID_ARGUMENT,
		"the library of prompts: 'prompts': expected an object name → prompt, got nothing");
	assert_refused("{'prompts':{'a':5}}", "a", WFS_E_INVALID_ARGUMENT,
		"prompt 'a' of the library: expected a text, or an object with 'template', got an "
		"integer");
	assert_refused("{'prompts':{'a':{'template':null}}}", "a", WFS_E_INVALID_ARGUMENT,
		"prompt 'a' of the library: 'template': expected a text, got null");
}

/* --- filling --- */

static json_t *prompt_of(const char *template, const char *variables)
{
	json_t *const prompt = json_pack("{s:s, s:o}", "template", template, "variables",
		variables ? json_of(variables) : json_array());

	assert_non_null(prompt);
	return prompt;
}

/* @template: unquoted; @declared, @variables: with ' for " */
static void assert_filled_declaring(
	const char *template, const char *declared, const char *variables, const char *expected)
{
	WFS_AUTO_JSON json_t *prompt = prompt_of(template, declared);
	WFS_AUTO_JSON json_t *values = json_of(variables);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error = {0};

	wfs_buffer_append_text(&text, "> ");
	if (wfs_mind_template_fill(prompt, values, &text, &error))
		fail_msg("%s: %s", template, error.message);
	assert_memory_equal(wfs_buffer_text(&text), "> ", 2);
	assert_string_equal(wfs_buffer_text(&text) + 2, expected);
}

static void assert_filled(const char *template, const char *expected)
{
	assert_filled_declaring(template, NULL,
		"{'a':'A','b2':'B','n':5,'r':1.5,'t':true,'z':null,'o':{'y':[1,'x'],'e':{}},"
		"'evil':'{a} {{b2}}','_':'under','A':'upper'}",
		expected);
}

/* Cases 174, 177. */
TEST(test_prompt_variable_substitution)
{
	static const char template[] =
		"=== OBSERVING PHASE ===\n"
		"You are {agent_id}, gathering context before acting.\n\n"
		"Current state:\n"
		"- Balance: {balance} scrip\n"
		"- Your artifacts: {my_artifacts}\n"
		"- Recent memories: {recent_memories}\n\n"
		"Last action result: {last_action_result}\n\n"
		"Return: {\"next_state\": \"state_name\", \"reason\": \"brief explanation\"}\n";
	static const char expected[] =
		"=== OBSERVING PHASE ===\n"
		"You are alice, gathering context before acting.\n\n"
		"Current state:\n"
		"- Balance: 97 scrip\n"
		"- Your artifacts: [{\"id\":\"alice_notes\",\"type\":\"data\"}]\n"
		"- Recent memories: beta pays well\n\n"
		"Last action result: null\n\n"
		"Return: {\"next_state\": \"state_name\", \"reason\": \"brief explanation\"}\n";

	assert_filled_declaring(template,
		"['agent_id','balance','my_artifacts','recent_memories','last_action_result']",
		"{'agent_id':'alice','balance':97,'recent_memories':'beta pays well',"
		"'my_artifacts':[{'id':'alice_notes','type':'data'}],'last_action_result':null}",
		expected);
}

TEST(what_is_no_text_is_written_as_json)
{
	assert_filled("{a}{b2}{_}{A}", "ABunderupper");
	assert_filled("{n} {r} {t} {z}", "5 1.5 true null");
	assert_filled("{o}", "{\"e\":{},\"y\":[1,\"x\"]}");
}

TEST(two_braces_are_one)
{
	assert_filled("{{a}}", "{a}");
	assert_filled("{{{a}}}", "{A}");
	assert_filled("{{{{a}}}}", "{{a}}");
	assert_filled("{{\"x\": {{\"y\": {n}}}}}", "{\"x\": {\"y\": 5}}");
	assert_filled("a}}b", "a}b");
	assert_filled("{{", "{");
	assert_filled("}}", "}");
}

TEST(unknown_names_and_other_braces_stay)
{
	assert_filled("{unknown} {a b} {a.b} {} {1a} {a-b} { a }",
		"{unknown} {a b} {a.b} {} {1a} {a-b} { a }");
	assert_filled("{\"next_state\": \"x\"}", "{\"next_state\": \"x\"}");
	assert_filled("{", "{");
	assert_filled("}", "}");
	assert_filled("{a", "{a");
	assert_filled("a}", "a}");
	assert_filled("{{a", "{a");
	assert_filled("", "");
}

TEST(json_in_json_stays)
{
	assert_filled("{\"x\": {\"y\": {\"z\": {}}}} {{a}}", "{\"x\": {\"y\": {\"z\": {}}}} {a}");
	assert_filled("{\"x\": {\"y\": \"{a}\"}}", "{\"x\": {\"y\": \"A\"}}");
	assert_filled("{\"x\": \"{{a}}\", \"y\": {}}}}", "{\"x\": \"{a}\", \"y\": {}}}");
}

/* Case 192: a variable's name is never a path. */
TEST(paths_are_not_followed)
{
	assert_filled("{{o.y}} {o.y} {o[0]}", "{o.y} {o.y} {o[0]}");
}

TEST(what_was_put_in_is_not_looked_at_again)
{
	assert_filled("{evil}", "{a} {{b2}}");
	assert_filled("{{{evil}}}", "{{a} {{b2}}}");
}

static void assert_not_filled(const char *template, const char *declared, const json_t *values,
	enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *prompt = prompt_of(template, declared);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error = {0};

	wfs_buffer_append_text(&text, "before");
	assert_int_equal(wfs_mind_template_fill(prompt, values, &text, &error),
		-wfs_error_info(code)->number);
	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_string_equal(wfs_buffer_text(&text), "before");
}

/* Case 173. */
TEST(a_declared_variable_without_a_value_is_named)
{
	WFS_AUTO_JSON json_t *values = json_of("{'a':1,'c':2}");

	assert_not_filled("{a} {b}", "['a','b']", values, WFS_E_MISSING_ARGUMENT,
		"the template's variable 'b' has no value; there are: a, c");
	assert_not_filled("unused", "['b']", values, WFS_E_MISSING_ARGUMENT,
		"the template's variable 'b' has no value; there are: a, c");
	assert_not_filled("{b}", "['b']", NULL, WFS_E_MISSING_ARGUMENT,
		"the template's variable 'b' has no value; there are: none");
}

TEST(a_filled_text_has_a_greatest_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer half = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *fits = prompt_of("{x}{x}", NULL);

	append_many(&half, 'a', WFS_MIND_TEXT_MAX / 2);
	WFS_AUTO_JSON json_t *values = json_pack("{s:s}", "x", wfs_buffer_text(&half));

	assert_int_equal(wfs_mind_template_fill(fits, values, &text, NULL), 0);
	assert_int_equal(text.size, WFS_MIND_TEXT_MAX);
	assert_not_filled("{x}{x}!", NULL, values, WFS_E_TOO_LARGE,
		"with its values the prompt has more than 1048576 bytes");
}

TEST(a_template_of_nothing_but_braces_is_filled)
{
	WFS_AUTO_BUFFER struct wfs_buffer braces = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	append_many(&braces, '{', WFS_MIND_TEXT_MAX - 1);
	WFS_AUTO_JSON json_t *prompt = prompt_of(wfs_buffer_text(&braces), NULL);

	assert_int_equal(wfs_mind_template_fill(prompt, NULL, &text, NULL), 0);
	assert_int_equal(text.size, WFS_MIND_TEXT_MAX / 2);
}

TEST(a_value_keeps_its_nul)
{
	WFS_AUTO_JSON json_t *prompt = prompt_of("{x}.", NULL);
	WFS_AUTO_JSON json_t *values = json_of("{'x':'a\\u0000b'}");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(wfs_mind_template_fill(prompt, values, &text, NULL), 0);

	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&text), WFS_BYTES("a\0b.", 4)));
}

static void assert_uses(const char *template, bool expected)
{
	WFS_AUTO_JSON json_t *prompt = prompt_of(template, NULL);

	if (wfs_mind_template_uses(prompt, "recent_memories") != expected)
		fail_msg("%s: expected %d", template, expected);
}

TEST(uses_tells_whether_a_value_would_be_put_in)
{
	assert_uses("See {recent_memories}.", true);
	assert_uses("{{{recent_memories}}}", true);
	assert_uses("{\"x\": {\"y\": {recent_memories}}}", true);
	assert_uses("{{recent_memories}}", false);
	assert_uses("{recent_memories2} recent_memories {recent}", false);
	assert_uses("", false);
}

/* --- references --- */

static void assert_split(const char *reference, const char *id, const char *fragment)
{
	struct wfs_bytes found_id;
	const char *found_fragment;

	assert_true(wfs_mind_reference_split(reference, &found_id, &found_fragment));
	assert_true(wfs_bytes_equal(found_id, wfs_bytes_text(id)));
	assert_string_equal(found_fragment, fragment);
}

TEST(references_are_split_at_the_last_mark)
{
	struct wfs_bytes id;
	const char *fragment;

	assert_split(
		"genesis_prompt_library#observe_base", "genesis_prompt_library", "observe_base");
	assert_split("a#b#c", "a#b", "c");
	assert_split("##c", "#", "c");
	assert_false(wfs_mind_reference_split("library", &id, &fragment));
	assert_false(wfs_mind_reference_split("library#", &id, &fragment));
	assert_false(wfs_mind_reference_split("#part", &id, &fragment));
	assert_false(wfs_mind_reference_split("", &id, &fragment));
}
