/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: how each dialect asks for them, which are refused, and how answers are checked.
 * (Numbers such as "case 77" are those of our research on model servers.) */
#include "tests/fixture/adapter.h"

#include "agents/adapter/constraint.h"
#include "agents/adapter/format.h"
#include "agents/adapter/parser.h"

#define VLLM "{'profile':'vllm'}"
#define LLAMACPP "{'profile':'llamacpp'}"
#define SGLANG "{'profile':'sglang'}"
#define OPENAI "{'profile':'openai'}"
#define SCRIPT "{'provider':'script','file':'x'}"
#define JSON_SCHEMA "{'kind':'json_schema','schema':{'type':'object'}}"
#define REGEX "{'kind':'regex','regex':'[0-9]{4}'}"
#define CHOICE "{'kind':'choice','choices':['yes','no']}"
#define GRAMMAR "{'kind':'grammar','grammar':'root ::= \\'x\\''}"
#define TAG "{'kind':'structural_tag'}"
#define WITH(constraint) "{'constraint':" constraint "}"

/* The member of a request body that asks for a constraint. Caller owns it. */
static json_t *asked(const char *entry_text, const char *offered, const char *settings)
{
	WFS_AUTO_JSON json_t *setup = setup_of(offered, settings);
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	WFS_AUTO_JSON json_t *messages = json_array();
	struct wfs_error error = {0};
	json_t *body = NULL;

	if (wfs_adapter_check(setup, entry, &error) != 0 ||
		wfs_format_request(setup, entry, messages, false, &body, &error) != 0)
		fail_msg("%s", error.message);
	json_object_del(body, "messages");
	json_object_del(body, "model");
	json_object_del(body, "tools");
	json_object_del(body, "tool_choice");
	return body;
}

TEST(a_schema_is_asked_for_in_each_dialect)
{
	static const char portable[] =
		"{'response_format':{'type':'json_schema','json_schema':{'name':'answer',"
		"'strict':true,'schema':{'type':'object'}}}}";

	assert_json_is(asked(OPENAI, "[]", WITH(JSON_SCHEMA)), portable);
	assert_json_is(asked(LLAMACPP, "['a']", WITH(JSON_SCHEMA)), portable);
	assert_json_is(asked(SGLANG, "[]", WITH(JSON_SCHEMA)), portable);
	assert_json_is(asked(VLLM, "[]", WITH(JSON_SCHEMA)),
		"{'structured_outputs':{'json':{'type':'object'}}}");
	assert_json_is(
		asked(OPENAI, "['a']",
			WITH("{'kind':'json_schema','schema':{},'name':'n','strict':false}")),
		"{'response_format':{'type':'json_schema','json_schema':{'name':'n',"
		"'strict':false,'schema':{}}}}");
}

TEST(a_regex_is_asked_for_where_servers_know_it)
{
	assert_json_is(
		asked(VLLM, "[]", WITH(REGEX)), "{'structured_outputs':{'regex':'[0-9]{4}'}}");
	assert_json_is(asked(SGLANG, "[]", WITH(REGEX)), "{'regex':'[0-9]{4}'}");
}

TEST(a_choice_is_asked_for_as_choice_grammar_or_regex)
{
	assert_json_is(
		asked(VLLM, "[]", WITH(CHOICE)), "{'structured_outputs':{'choice':['yes','no']}}");
	assert_json_is(
		asked(LLAMACPP, "[]", WITH(CHOICE)), "{'grammar':'root ::= \\'yes\\' | \\'no\\''}");
	assert_json_is(asked(SGLANG, "[]", WITH(CHOICE)), "{'regex':'(yes|no)'}");
}

/* Case 80. */
TEST(what_is_special_in_a_choice_is_escaped)
{
	static const char settings[] =
		WITH("{'kind':'choice','choices':['a\\'b\\\\c\\nd\\te','x.y(z)']}");
	WFS_AUTO_JSON json_t *grammar = asked(LLAMACPP, "[]", settings);
	WFS_AUTO_JSON json_t *regex = asked(SGLANG, "[]", settings);

	assert_string_equal(json_string_value(json_object_get(grammar, "grammar")),
		"root ::= \"a\\\"b\\\\c\\nd\\x09e\" | \"x.y(z)\"");
	assert_string_equal(json_string_value(json_object_get(regex, "regex")),
		"(a\"b\\\\c\\x0ad\\x09e|x\\.y\\(z\\))");
}

TEST(a_grammar_is_asked_for_as_it_is)
{
	assert_json_is(asked(VLLM, "[]", WITH(GRAMMAR)),
		"{'structured_outputs':{'grammar':'root ::= \\'x\\''}}");
	assert_json_is(asked(LLAMACPP, "[]", WITH(GRAMMAR)), "{'grammar':'root ::= \\'x\\''}");
	assert_json_is(asked(SGLANG, "[]", WITH(GRAMMAR)), "{'ebnf':'root ::= \\'x\\''}");
}

/* Case 77. */
TEST(a_structural_tag_is_a_text_with_the_tools_in_their_order_on_vllm)
{
	WFS_AUTO_JSON json_t *body = asked(VLLM, "['b','a']", WITH(TAG));
	const json_t *const text =
		json_object_get(json_object_get(body, "structured_outputs"), "structural_tag");
	json_t *tag = NULL;

	assert_true(json_is_string(text));
	assert_int_equal(
		wfs_json_parse(json_string_value(text), json_string_length(text), &tag, NULL), 0);
	assert_json_is(tag,
		"{'type':'structural_tag','triggers':['<function='],'structures':["
		"{'begin':'<function=b>','schema':{'type':'object'},'end':'</function>'},"
		"{'begin':'<function=a>','schema':{'type':'object','properties':"
		"{'k':{'type':'integer'}}},'end':'</function>'}]}");
}

TEST(a_structural_tag_is_an_object_on_sglang)
{
	assert_json_is(asked(SGLANG, "['b']", WITH(TAG)),
		"{'response_format':{'type':'structural_tag','triggers':['<function='],"
		"'structures':[{'begin':'<function=b>','schema':{'type':'object'},"
		"'end':'</function>'}]}}");
}

/* Case 76. */
TEST(nothing_is_asked_for_without_a_constraint)
{
	assert_json_is(asked(VLLM, "['a']", "{}"), "{}");
	assert_json_is(asked(VLLM, "['a']", "{'constraint':null}"), "{}");
}

TEST(a_script_takes_every_constraint_and_is_asked_for_none)
{
	assert_json_is(asked(SCRIPT, "['a']", WITH(JSON_SCHEMA)), "{}");
	assert_json_is(asked(SCRIPT, "['a']", WITH(REGEX)), "{}");
	assert_json_is(asked(SCRIPT, "['a']", WITH(TAG)), "{}");
}

/* --- refused --- */

/* Case 79. */
TEST(a_kind_that_the_server_does_not_know_is_refused)
{
	assert_refuses(LLAMACPP, "[]", WITH(REGEX),
		"agent 'clerk': a server of profile 'llamacpp' has no constraint of kind 'regex' "
		"(it has: json_schema, choice, grammar)");
	assert_refuses(LLAMACPP, "['a']", WITH(TAG),
		"agent 'clerk': a server of profile 'llamacpp' has no constraint of kind "
		"'structural_tag' (it has: json_schema, choice, grammar)");
	assert_refuses(OPENAI, "[]", WITH(CHOICE),
		"agent 'clerk': a server of profile 'openai' has no constraint of kind 'choice' "
		"(it has: json_schema)");
}

/* Case 78. */
TEST(a_constraint_without_what_its_kind_needs_is_refused)
{
	assert_refuses(OPENAI, "[]", WITH("{'kind':'json_schema'}"),
		"agent 'clerk': 'schema' is missing (json_schema takes: kind schema name? "
		"strict?)");
	assert_refuses(VLLM, "[]", WITH("{'kind':'regex'}"),
		"agent 'clerk': 'regex' is missing (regex takes: kind regex)");
	assert_refuses(VLLM, "[]", WITH("{'kind':'choice'}"),
		"agent 'clerk': 'choices' is missing (choice takes: kind choices)");
	assert_refuses(VLLM, "[]", WITH("{'kind':'grammar'}"),
		"agent 'clerk': 'grammar' is missing (grammar takes: kind grammar)");
	assert_refuses(VLLM, "[]", WITH(TAG),
		"agent 'clerk': a structural_tag is made of the offered tools, got no tools");
	assert_refuses(VLLM, "[]", WITH("{'schema':{}}"),
		"agent 'clerk': 'kind' is missing, expected a string");
	assert_refuses(
		VLLM, "[]", WITH("'regex'"), "agent 'clerk': expected an object, got a string");
}

TEST(what_is_no_constraint_is_refused)
{
	assert_refuses(VLLM, "[]", WITH("{'kind':'xml'}"),
		"agent 'clerk': 'kind': expected one of json_schema, regex, choice, grammar, "
		"structural_tag, got 'xml'");
	assert_refuses(VLLM, "[]", WITH("{'kind':'regex','regex':'a','schema':{}}"),
		"agent 'clerk': unknown member 'schema' (regex takes: kind regex)");
	assert_refuses(VLLM, "[]", WITH("{'kind':'regex','regex':'a('}"),
		"agent 'clerk': the pattern does not compile: missing closing parenthesis at byte "
		"2");
	assert_refuses(VLLM, "[]", WITH("{'kind':'regex','regex':'a)|(b'}"),
		"agent 'clerk': the pattern does not compile: unmatched closing parenthesis at "
		"byte "
		"1");
	assert_refuses(VLLM, "[]", WITH("{'kind':'choice','choices':[]}"),
		"agent 'clerk': 'choices': expected an array with at least one text");
	assert_refuses(VLLM, "[]", WITH("{'kind':'choice','choices':['a',1]}"),
		"agent 'clerk': 'choices': expected texts, item 1 is not one");
	assert_refuses(VLLM, "[]", WITH("{'kind':'grammar','grammar':''}"),
		"agent 'clerk': 'grammar': expected a grammar, got an empty text");
	assert_refuses(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{'type':'text'}}"),
		"agent 'clerk': /schema/type: expected the name of a type, got string \"text\"");
	assert_refuses(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{},'name':'a b'}"),
		"agent 'clerk': 'name': expected 1 to 64 of a-z A-Z 0-9 _ -, got 'a b'");
	assert_refuses(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{},'strict':1}"),
		"agent 'clerk': 'strict': expected a boolean");
}

/* Case 82. */
TEST(a_grammar_together_with_tools_is_refused_on_llamacpp)
{
	static const char message[] =
		"agent 'clerk': a server of profile 'llamacpp' refuses 'grammar' together with "
		"tools: expected no tools, or tool_choice \"none\"";

	assert_refuses(LLAMACPP, "['a']", WITH(GRAMMAR), message);
	assert_refuses(LLAMACPP, "['a']", WITH(CHOICE), message);
	assert_refuses(LLAMACPP, "['a']", "{'extra_body':{'grammar':''}}", message);
	assert_taken(LLAMACPP, "['a']", "{'tool_choice':'none','constraint':" GRAMMAR "}");
}

/* vLLM and SGLang would silently ignore one of the two (research, section 28). */
TEST(a_constraint_that_shuts_out_calls_is_refused_beside_tools)
{
	static const char format[] =
		"agent 'clerk': a constraint of kind 'json_schema' and calls cannot be "
		"combined on a server of profile '%s': expected no tools, or tool_choice "
		"\"none\"";
	static const char *const choices[] = {
		"'auto'", "'required'", "{'type':'function','function':{'name':'a'}}", "null"};
	static const char *const profiles[] = {"vllm", "sglang"};
	char settings[256];
	char entry[64];
	char message[256];

	for (size_t i = 0; i < 2 * WFS_ARRAY_COUNT(choices); i++) {
		snprintf(settings, sizeof(settings),
			"{'tool_choice':%s,'constraint':" JSON_SCHEMA "}", choices[i / 2]);
		snprintf(entry, sizeof(entry), "{'profile':'%s'}", profiles[i % 2]);
		snprintf(message, sizeof(message), format, profiles[i % 2]);
		print_message("%s %s\n", entry, settings);
		assert_refuses(entry, "['a']", settings, message);
	}
	assert_taken(VLLM, "['a']", "{'tool_choice':'none','constraint':" JSON_SCHEMA "}");
	snprintf(message, sizeof(message), format, "vllm");
	assert_refuses(VLLM, "['a']",
		"{'tool_choice':'none','extra_body':{'tool_choice':'auto'},'constraint'"
		":" JSON_SCHEMA "}",
		message);
	assert_taken(OPENAI, "['a']", WITH(JSON_SCHEMA));
}

TEST(a_structural_tag_is_taken_with_the_choice_auto_only)
{
	assert_taken(VLLM, "['a']", "{'tool_choice':'auto','constraint':" TAG "}");
	assert_refuses(VLLM, "['a']", "{'tool_choice':'required','constraint':" TAG "}",
		"agent 'clerk': a structural_tag with a tool_choice other than \"auto\" would be "
		"ignored by a server of profile 'vllm'");
}

/* Case 83. */
TEST(two_constraints_are_refused)
{
	static const char message[] =
		"agent 'clerk': 'structured_outputs' and 'response_format' are two constraints, a "
		"server of profile 'vllm' takes one";

	assert_refuses(VLLM, "[]",
		"{'constraint':" REGEX ",'extra_body':{'response_format':{'type':'json_object'}}}",
		message);
	assert_refuses("{'profile':'vllm','extra_body':{'response_format':{}}}", "[]",
		"{'extra_body':{'structured_outputs':{}}}", message);
	assert_refuses(LLAMACPP, "[]", "{'constraint':" JSON_SCHEMA ",'extra_body':{'grammar':''}}",
		"agent 'clerk': 'grammar' and 'response_format' are two constraints, a server of "
		"profile 'llamacpp' takes one");
}

/* Case 85. */
TEST(keywords_that_a_server_does_not_enforce_are_refused)
{
	assert_refuses(VLLM, "[]",
		WITH("{'kind':'json_schema','schema':{'properties':{'n':{'multipleOf':5}}}}"),
		"agent 'clerk': /schema/properties/n/multipleOf: expected only keywords "
		"that are enforced by a server of profile 'vllm'");
	assert_refuses(SGLANG, "[]",
		WITH("{'kind':'json_schema','schema':{'anyOf':[{},{'items':{'uniqueItems':true}}]}"
		     "}"),
		"agent 'clerk': /schema/anyOf/1/items/uniqueItems: expected only keywords "
		"that are enforced by a server of profile 'sglang'");
	assert_refuses(VLLM, "[]",
		WITH("{'kind':'json_schema','schema':{'type':'string','format':'isbn'}}"),
		"agent 'clerk': /schema/format: expected only keywords that are enforced "
		"by a server of profile 'vllm'");
	assert_refuses(VLLM, "[]", WITH("{'kind':'json_schema','schema':{'contains':{}}}"),
		"agent 'clerk': /schema/contains: expected only keywords that are enforced "
		"by a server of profile 'vllm'");
	assert_refuses(VLLM, "[]", WITH("{'kind':'json_schema','schema':{'not':{'if':true}}}"),
		"agent 'clerk': /schema/not/if: expected only keywords that are enforced "
		"by a server of profile 'vllm'");
	assert_refuses(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{'iff':{}}}"),
		"agent 'clerk': /schema/iff: this keyword is not supported");
	assert_taken(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{'contains':{}}}"));
	assert_taken(OPENAI, "[]", WITH("{'kind':'json_schema','schema':{'multipleOf':5}}"));
}

TEST(names_and_values_are_not_taken_for_keywords)
{
	assert_taken(VLLM, "[]",
		WITH("{'kind':'json_schema','schema':{'properties':{'uniqueItems':{'format':"
		     "'email'}},'enum':[{'multipleOf':1}],'default':{'multipleOf':1}}}"));
}

/* Case 86. */
TEST(what_a_newer_vllm_ignores_is_refused)
{
	assert_refuses(VLLM, "[]", "{'extra_body':{'guided_json':{}}}",
		"agent 'clerk': 'extra_body' of the agent: a server of profile 'vllm' would ignore "
		"'guided_json'; expected a constraint");
	assert_refuses("{'profile':'vllm','extra_body':{'guided_regex':'x'}}", "[]", "{}",
		"agent 'clerk': 'extra_body' of the model: a server of profile 'vllm' would ignore "
		"'guided_regex'; expected a constraint");
	assert_taken(OPENAI, "[]", "{'extra_body':{'guided_json':{}}}");
}

/* --- answers --- */

static int check_answer(const char *constraint_text, const char *quoted, struct wfs_error *error)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_JSON json_t *constraint = json_of(constraint_text);
	WFS_AUTO_JSON json_t *completion = json_pack("{s:s}", "content", text);
	WFS_AUTO_JSON json_t *offered = json_of("['a']");
	WFS_AUTO_JSON json_t *parsed = NULL;

	assert_int_equal(wfs_parser_parse(completion, offered, &parsed), 0);
	return wfs_constraint_check_answer(constraint, parsed, error);
}

static void assert_fits(const char *constraint, const char *answer)
{
	struct wfs_error error = {0};

	if (check_answer(constraint, answer, &error) != 0)
		fail_msg("%s: %s", answer, error.message);
}

static void assert_violates(const char *constraint, const char *answer, const char *message)
{
	WFS_AUTO_FREE char *expected = json_text(message);
	struct wfs_error error = {0};

	if (check_answer(constraint, answer, &error) != -EINVAL)
		fail_msg("%s: fits %s", answer, constraint);
	assert_int_equal(error.code, WFS_E_SCHEMA_VIOLATION);
	assert_string_equal(error.message, expected);
}

/* Case 84, for this and the next ones. */
TEST(an_answer_is_checked_against_the_schema)
{
	assert_fits(JSON_SCHEMA, " {'a':1}\n");
	assert_violates(JSON_SCHEMA, "[]",
		"constraint violation: the answer '[]' does not fit the json_schema that was asked "
		"for: at the top: expected object, got array of 0 items");
}

TEST(an_answer_that_is_no_json_is_a_violation)
{
	struct wfs_error error = {0};

	assert_int_equal(check_answer(JSON_SCHEMA, "Sure: {}", &error), -EINVAL);
	assert_string_equal(error.message,
		"constraint violation: the answer \"Sure: {}\" does not fit the json_schema that "
		"was asked for: line 1 column 4: invalid token near 'Sure'");
	assert_int_equal(check_answer(JSON_SCHEMA, "", &error), -EINVAL);
}

TEST(an_answer_is_matched_as_a_whole)
{
	static const char either[] = "{'kind':'regex','regex':'a|ab'}";

	assert_fits(REGEX, "2024");
	assert_fits(either, "ab");
	assert_violates(REGEX, "2024.",
		"constraint violation: the answer '2024.' does not fit the regex that was asked "
		"for: expected '[0-9]{4}'");
	assert_violates(REGEX, "in 2024",
		"constraint violation: the answer 'in 2024' does not fit the regex that was asked "
		"for: expected '[0-9]{4}'");
	assert_violates(either, "ab\n",
		"constraint violation: the answer 'ab\\n' does not fit the regex that was asked "
		"for: expected 'a|ab'");
}

TEST(a_regex_that_takes_too_much_work_is_a_violation)
{
	assert_violates("{'kind':'regex','regex':'(a*)*b'}",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacb",
		"constraint violation: the answer 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacb' does not "
		"fit the regex that was asked for: expected '(a*)*b', which takes too much work on "
		"it");
}

TEST(an_answer_is_one_of_the_choices)
{
	assert_fits(CHOICE, "no");
	assert_violates(CHOICE, "No",
		"constraint violation: the answer 'No' does not fit the choice that was asked for: "
		"expected one of 'yes', 'no'");
}

TEST(a_tag_that_was_begun_must_have_become_a_call)
{
	assert_fits(TAG, "no call");
	assert_fits(TAG, "<function=a>{}</function>");
	assert_violates(TAG, "so <function=a>{'k'",
		"constraint violation: the answer 'so <function=a>{\\'k\\'' does not fit the "
		"structural_tag that was asked for: expected <function=NAME>{…}</function> after "
		"each trigger");
}

TEST(of_a_grammar_nothing_is_checked)
{
	assert_fits(GRAMMAR, "y");
	assert_fits("null", "y");
}

TEST(an_answer_with_calls_is_not_the_answer_yet)
{
	assert_fits(JSON_SCHEMA, "I look.<tool_call>{'name':'a'}</tool_call>");
}

TEST(a_long_answer_is_quoted_up_to_a_character)
{
	struct wfs_error error = {0};

	assert_int_equal(
		check_answer(CHOICE, "12345678901234567890123456789012345678901234567890123456789ä",
			&error),
		-EINVAL);

	assert_non_null(strstr(
		error.message, "\"12345678901234567890123456789012345678901234567890123456789\"…"));
}
