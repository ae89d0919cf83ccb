/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: predicates, expressions, and which of several holds first. */
#include "tests/fixture/json.h"

#include "agents/mind/condition.h"
#include "kernel/mind/workflow.h"

static void assert_condition(const char *text, const char *variables, bool expected)
{
	WFS_AUTO_JSON json_t *values = json_of(variables);
	struct wfs_error error = {0};
	bool holds = !expected;

	if (wfs_mind_condition(text, values, &holds, &error))
		fail_msg("%s: %s", text, error.message);
	if (holds != expected)
		fail_msg("%s with %s: %s", text, variables, holds ? "holds" : "does not hold");
}

static void assert_holds(const char *text, const char *variables)
{
	assert_condition(text, variables, true);
}

static void assert_holds_not(const char *text, const char *variables)
{
	assert_condition(text, variables, false);
}

static void assert_value_fails(
	const char *text, const json_t *variables, enum wfs_error_code code, const char *message)
{
	struct wfs_error error = {0};
	bool holds = true;
	const int r = wfs_mind_condition(text, variables, &holds, &error);

	if (!strstr(error.message, message))
		fail_msg("%s: '%s', expected '%s'", text, error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_true(holds);
}

/* @message: a part of the error's message */
static void assert_fails(
	const char *text, const char *variables, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *values = json_of(variables);

	assert_value_fails(text, values, code, message);
}

/* --- predicates --- */

TEST(succeeded_and_failed_tell_of_the_last_action)
{
	assert_holds("succeeded", "{'last_action_success':'true'}");
	assert_holds(" succeeded\n", "{'last_action_success':true}");
	assert_holds_not("succeeded", "{'last_action_success':'false'}");
	assert_holds("failed", "{'last_action_success':'false'}");
	assert_holds("failed", "{'last_action_success':false}");
	assert_holds_not("failed", "{'last_action_success':'true'}");
	assert_holds_not("failed", "{'last_action_success':null}");
	assert_holds_not("failed", "{}");
	assert_holds_not("succeeded", "{'last_action_success':'yes'}");
}

TEST(stuck_is_three_failures_or_five_turns)
{
	assert_holds("stuck", "{'failure_count':3}");
	assert_holds("stuck", "{'failure_count':0,'same_state_for':5}");
	assert_holds("stuck", "{'failure_count':3.5}");
	assert_holds_not("stuck", "{'failure_count':2,'same_state_for':4}");
	assert_holds_not("stuck", "{'failure_count':'3'}");
	assert_holds_not("stuck", "{}");
}

TEST(a_design_is_an_artifact_or_in_memory)
{
	assert_holds("has_design",
		"{'my_artifacts':[{'id':'x','type':'data'},"
		"{'id':'y','type':'design'}]}");
	assert_holds("has_design", "{'my_artifacts':[{'id':'escrow_Design_2','type':'data'}]}");
	assert_holds("has_design", "{'my_artifacts':['notes','my_design']}");
	assert_holds("has_design", "{'working_memory':'The DESIGN is done'}");
	assert_holds("has_design", "{'working_memory':{'phase':'design'}}");
	assert_holds_not("has_design",
		"{'my_artifacts':[{'id':'desig','type':'designs'}],"
		"'working_memory':'desi gn'}");
	assert_holds_not("has_design", "{'my_artifacts':'design','working_memory':null}");
	assert_holds_not("has_design", "{'my_artifacts':[5,null,{}]}");
	assert_holds_not("has_design", "{}");
}

/* Case 180. */
TEST(balance_below_compares_the_balance)
{
	assert_holds("balance_below(50)", "{'balance':30}");
	assert_holds_not("balance_below(50)", "{'balance':100}");
	assert_holds_not("balance_below(30)", "{'balance':30}");
	assert_holds("balance_below ( 30.5 ) ", "{'balance':30}");
	assert_holds("balance_below(-1)", "{'balance':-2}");
	assert_holds("balance_below(1e3)", "{'balance':999.5}");
}

TEST(same_state_for_is_at_least_so_many)
{
	assert_holds("same_state_for(2)", "{'same_state_for':2}");
	assert_holds("same_state_for(2)", "{'same_state_for':2.5}");
	assert_holds_not("same_state_for(3)", "{'same_state_for':2}");
}

TEST(huge_numbers_are_compared_exactly)
{
	assert_holds("balance_below(9007199254740993)", "{'balance':9007199254740992}");
	assert_holds_not("balance_below(9007199254740992)", "{'balance':9007199254740993}");
	assert_holds("balance_below(9223372036854775807)", "{'balance':-9223372036854775808}");
	assert_holds("balance_below(99999999999999999999)", "{'balance':9223372036854775807}");
	assert_holds("balance_below(1e999)", "{'balance':1e300}");
	assert_holds("balance_below(9007199254740993) and true", "{'balance':9007199254740992}");
}

TEST(comparing_needs_a_number)
{
	assert_fails("balance_below(5)", "{}", WFS_E_INVALID_ARGUMENT,
		"condition 'balance_below(5)': expected a number in the variable 'balance', got "
		"nothing");
	assert_fails("same_state_for(5)", "{'same_state_for':'7'}", WFS_E_INVALID_ARGUMENT,
		"expected a number in the variable 'same_state_for', got a text");
	assert_fails("true and balance_below(5)", "{'balance':null}", WFS_E_RUNTIME_ERROR,
		"condition:1: balance_below: expected a number in the variable 'balance', got "
		"null");
	assert_fails("balance_below()", "{'balance':1}", WFS_E_RUNTIME_ERROR,
		"condition:1: balance_below: expected a number, got nil");
	assert_fails("same_state_for('2')", "{'same_state_for':1}", WFS_E_RUNTIME_ERROR,
		"condition:1: same_state_for: expected a number, got string");
}

/* --- expressions --- */

/* Cases 178, 180, 191. */
TEST(expressions_see_the_variables)
{
	static const char variables[] =
		"{'balance':7,'tick':3,'last_action_type':'noop','current_state':'testing',"
		"'last_action_success':'true','my_artifacts':[{'id':'a','type':'data'}],"
		"'available_states':['x','y'],'o':{'deep':{'n':1.5}},'nothing':null}";

	assert_holds("balance > 5", variables);
	assert_holds_not("balance > 7", variables);
	assert_holds("balance > 5 and not failed", variables);
	assert_holds("succeeded and balance * 2 + 1 == 15 or error('no')", variables);
	assert_holds("#my_artifacts == 1 and my_artifacts[1].id == 'a'", variables);
	assert_holds("o.deep.n == 1.5", variables);
	assert_holds("available_states[2] == \"y\"", variables);
	assert_holds("nothing == nil", variables);
	assert_holds("true -- as ever", variables);
	assert_holds("\n balance\n >\n 5", variables);
	assert_holds_not("nothing", variables);
	assert_holds_not("unheard_of", variables);
	assert_holds_not("false", variables);
}

TEST(expressions_see_the_predicates)
{
	static const char variables[] =
		"{'balance':7,'same_state_for':4,'failure_count':3,'my_artifacts':['design'],"
		"'last_action_success':false}";

	assert_holds("stuck and failed and has_design and not succeeded", variables);
	assert_holds("balance_below(8) and not balance_below(7)", variables);
	assert_holds("same_state_for(4) and not same_state_for(4.5)", variables);
	assert_holds("balance_below(failure_count + 5)", variables);
}

TEST(expressions_see_the_functions_of_the_sandbox)
{
	assert_holds(
		"string.find(goal, 'esc') == 1 and goal:upper() == 'ESCROW'", "{'goal':'escrow'}");
	assert_holds("math.max(a, b) == 9", "{'a':2,'b':9}");
	assert_holds("(function() for _, x in ipairs(list) do if x > 2 then return true end end "
		     "end)()",
		"{'list':[1,2,3]}");
}

/* Case 191: no imports. */
TEST(nothing_else_is_there)
{
	assert_holds("load == nil and require == nil and io == nil and os == nil", "{}");
	assert_holds("ctx == nil and deps == nil and evaluate == nil and condition == nil", "{}");
	assert_fails("os.exit()", "{}", WFS_E_RUNTIME_ERROR,
		"condition:1: attempt to index a nil value (global 'os')");
}

TEST(variables_may_have_any_name)
{
	assert_holds("stuck == false and balance_below(2) and type == 5",
		"{'stuck':true,'balance_below':1,'type':5,'pairs':6,'error':7,'null':8,'_G':9,"
		"'evaluate':10,'condition':11,'balance':1,'a b':12,'ctx':13}");
	assert_holds("_G == 9 and ctx == 13 and evaluate == 10 and condition == 11",
		"{'_G':9,'evaluate':10,'condition':11,'ctx':13}");
	assert_holds("_G['a b'] == 12", "{'a b':12}");
}

/* Cases 178, 191. */
TEST(what_gives_no_boolean_fails)
{
	assert_fails("5", "{}", WFS_E_INVALID_ARGUMENT,
		"condition '5': expected true, false or nil, got number");
	assert_fails("'true'", "{}", WFS_E_INVALID_ARGUMENT, "got string");
	assert_fails("{true}", "{}", WFS_E_INVALID_ARGUMENT, "got table");
	assert_fails(
		"same_state_for", "{'same_state_for':9}", WFS_E_INVALID_ARGUMENT, "got function");
}

TEST(an_expression_that_fails_tells_why)
{
	assert_fails("balance > 5", "{}", WFS_E_RUNTIME_ERROR,
		"condition 'balance > 5': condition:1: attempt to compare number with nil");
	assert_fails("error('not today')", "{}", WFS_E_RUNTIME_ERROR, "condition:1: not today");
	assert_fails("error({})", "{}", WFS_E_RUNTIME_ERROR,
		"condition: error with a table for its message");
}

TEST(a_blank_text_fails)
{
	assert_fails("", "{}", WFS_E_INVALID_ARGUMENT,
		"condition: expected a predicate or an expression, got a blank text");
	assert_fails(" \t\n", "{}", WFS_E_INVALID_ARGUMENT, "got a blank text");
}

TEST(what_is_no_expression_does_not_compile)
{
	assert_fails("balance >", "{}", WFS_E_SYNTAX_ERROR,
		"condition 'balance >': condition:1: unexpected symbol near <eof>");
	assert_fails("return true", "{}", WFS_E_SYNTAX_ERROR, "near 'return'");
	assert_fails("balance = 1", "{}", WFS_E_SYNTAX_ERROR, "near '='");
	assert_fails("balance_below(", "{}", WFS_E_SYNTAX_ERROR, "near <eof>");
	assert_fails("true, false", "{}", WFS_E_SYNTAX_ERROR, "near ','");
	assert_fails("true;", "{}", WFS_E_SYNTAX_ERROR, "near ';'");
	assert_fails("true; while true do end", "{}", WFS_E_SYNTAX_ERROR, "near 'while'");
	assert_fails("-- nothing", "{}", WFS_E_SYNTAX_ERROR, "unexpected symbol");
	assert_fails("...", "{}", WFS_E_SYNTAX_ERROR, "cannot use '...'");
	assert_fails("\x1bLua", "{}", WFS_E_SYNTAX_ERROR, "unexpected symbol");
	assert_fails("\xff", "{}", WFS_E_SYNTAX_ERROR, "unexpected symbol");
}

TEST(an_expression_cannot_close_what_is_around_it)
{
	assert_fails("1) end while true do end --", "{}", WFS_E_SYNTAX_ERROR,
		"condition:1: <eof> expected near ')'");
	assert_fails(
		"true) end function evaluate() return (true", "{}", WFS_E_SYNTAX_ERROR, "near ')'");
	assert_fails(
		"true end function evaluate() return true", "{}", WFS_E_SYNTAX_ERROR, "near 'end'");
	assert_fails("true) == (true", "{}", WFS_E_SYNTAX_ERROR, "near ')'");
	assert_fails("true --[[", "{}", WFS_E_SYNTAX_ERROR, "unfinished long comment");
	assert_fails("[[", "{}", WFS_E_SYNTAX_ERROR, "unfinished long string");
	assert_fails("'", "{}", WFS_E_SYNTAX_ERROR, "unfinished string");
}

TEST(deep_parentheses_do_not_compile)
{
	char text[WFS_MIND_CONDITION_MAX + 1];

	memset(text, '(', WFS_MIND_CONDITION_MAX);
	text[WFS_MIND_CONDITION_MAX] = '\0';

	assert_fails(text, "{}", WFS_E_SYNTAX_ERROR, "overflow");
}

TEST(a_condition_has_a_greatest_size)
{
	char text[WFS_MIND_CONDITION_MAX + 2];

	memset(text, '1', sizeof(text));
	text[WFS_MIND_CONDITION_MAX + 1] = '\0';
	assert_fails(
		text, "{}", WFS_E_TOO_LARGE, "condition: expected at most 1024 bytes, got 1025");

	memcpy(text, "true or ", 8);
	text[WFS_MIND_CONDITION_MAX] = '\0';
	assert_holds(text, "{}");
}

/* --- bounds of running --- */

TEST(an_expression_that_loops_is_stopped)
{
	assert_fails("(function() while true do end end)()", "{}", WFS_E_RUNTIME_ERROR,
		"condition:1: more than 1000000 instructions");
	assert_fails("pcall(function() while true do end end)", "{}", WFS_E_RUNTIME_ERROR,
		"more than 1000000 instructions");
	assert_fails("(function(f) return f(f) end)(function(f) return f(f) end)", "{}",
		WFS_E_RUNTIME_ERROR, "more than 1000000 instructions");
	assert_fails("(function(f) return 1 + f(f) end)(function(f) return 1 + f(f) end)", "{}",
		WFS_E_RUNTIME_ERROR, "more than 8388608 bytes of memory");
	assert_fails("string.find(string.rep('a', 300), string.rep('a?', 300) .. 'b')", "{}",
		WFS_E_RUNTIME_ERROR, "condition:1: ");
}

TEST(an_expression_that_allocates_is_stopped)
{
	assert_fails("string.rep('x', 9000000) == ''", "{}", WFS_E_RUNTIME_ERROR,
		"more than 8388608 bytes of memory");
	assert_fails("#string.rep('x', 1 << 40) > 0", "{}", WFS_E_RUNTIME_ERROR, "condition:1: ");
	assert_fails("(function() local t = {} for i = 1, 1e9 do t[i] = {i} end end)()", "{}",
		WFS_E_RUNTIME_ERROR, "more than ");
}

TEST(what_an_expression_redefines_is_its_own)
{
	assert_holds("(function() type, pairs, error, _G, balance_below = nil return true end)()",
		"{'balance':1}");
	assert_fails("(function() string.find = nil end)()", "{}", WFS_E_RUNTIME_ERROR,
		"library tables are read-only");
	assert_fails("setmetatable(_G, {__index = {}}) ~= nil", "{}", WFS_E_RUNTIME_ERROR,
		"cannot change a protected metatable");
	assert_holds("(function() o.n = 2 return o.n == 2 end)()", "{'o':{'n':1}}");
	assert_holds("o.n == 1", "{'o':{'n':1}}");
}

TEST(variables_stay_as_they_are)
{
	WFS_AUTO_JSON json_t *variables = json_of("{'o':{'n':1}}");
	bool holds = false;

	assert_int_equal(wfs_mind_condition("(function() o.n = 2 o = 3 return true end)()",
				 variables, &holds, NULL),
		0);

	assert_true(holds);
	assert_json_is(json_incref(variables), "{'o':{'n':1}}");
}

TEST(deep_variables_fail)
{
	enum { LEVELS = 200 };
	json_t *deep = json_array();

	for (int i = 1; i < LEVELS; i++)
		deep = json_pack("[o]", deep);
	WFS_AUTO_JSON json_t *variables =
		json_pack("{s:o, s:b}", "deep", deep, "last_action_success", 1);
	bool holds = false;

	assert_value_fails("true and deep", variables, WFS_E_RUNTIME_ERROR,
		"value nested more than 128 levels");
	assert_int_equal(wfs_mind_condition("succeeded", variables, &holds, NULL), 0);
	assert_true(holds);
}

TEST(large_variables_hit_the_bound)
{
	enum { COUNT = 400000 };
	json_t *const many = json_array();
	WFS_AUTO_JSON json_t *variables = json_pack("{s:o}", "many", many);

	for (int i = 0; i < COUNT; i++)
		assert_int_equal(json_array_append_new(many, json_array()), 0);

	assert_value_fails("#many > 5", variables, WFS_E_RUNTIME_ERROR,
		"condition: more than 8388608 bytes of memory");
}

TEST(there_may_be_no_variables)
{
	bool holds = true;

	assert_int_equal(wfs_mind_condition("stuck", NULL, &holds, NULL), 0);
	assert_false(holds);
	assert_int_equal(wfs_mind_condition("balance == nil", NULL, &holds, NULL), 0);
	assert_true(holds);
	assert_int_equal(wfs_mind_condition("balance_below(1)", NULL, &holds, NULL), -EINVAL);
}

/* --- the first of many --- */

static void assert_first(
	const char *conditions, const char *variables, const char *to, const char *notes)
{
	WFS_AUTO_JSON json_t *list = json_of(conditions);
	WFS_AUTO_JSON json_t *values = json_of(variables);
	const char *found = "unset";
	json_t *found_notes = NULL;

	assert_int_equal(wfs_mind_conditions_first(list, values, &found, &found_notes), 0);
	if (to)
		assert_string_equal(found, to);
	else
		assert_null(found);
	if (notes)
		assert_json_is(found_notes, notes);
	else
		assert_null(found_notes);
}

TEST(the_first_that_holds_leads)
{
	static const char conditions[] =
		"[{'to':'a','condition':'stuck'},{'to':'b','condition':'balance > 5'},"
		"{'to':'c','condition':'true'}]";

	assert_first(conditions, "{'balance':9}", "b", NULL);
	assert_first(conditions, "{'balance':1}", "c", NULL);
	assert_first(conditions, "{'failure_count':9}", "a", NULL);
}

TEST(if_none_holds_there_is_none)
{
	const char *to = "unset";
	json_t *notes = NULL;

	assert_first(
		"[{'to':'a','condition':'stuck'},{'to':'b','condition':'nil'}]", "{}", NULL, NULL);
	assert_first("[]", "{}", NULL, NULL);
	assert_int_equal(wfs_mind_conditions_first(NULL, NULL, &to, &notes), 0);
	assert_null(to);
	assert_null(notes);
}

/* Case 178. */
TEST(one_that_fails_is_noted_and_does_not_hold)
{
	assert_first("[{'to':'a','condition':'balance >'},{'to':'b','condition':'balance > 5'},"
		     "{'to':'c','condition':'7'},{'to':'d','condition':'true'},"
		     "{'to':'e','condition':'error()'}]",
		"{}", "d",
		"['condition \\u0027balance >\\u0027: condition:1: unexpected symbol near <eof>',"
		"'condition \\u0027balance > 5\\u0027: condition:1: attempt to compare number with "
		"nil',"
		"'condition \\u00277\\u0027: expected true, false or nil, got number']");
}

TEST(what_was_not_checked_is_noted)
{
	assert_first("[1,{'to':'a'},{'to':'a','condition':5}]", "{}", NULL,
		"['condition: expected a predicate or an expression, got a blank text',"
		"'condition: expected a predicate or an expression, got a blank text',"
		"'condition: expected a predicate or an expression, got a blank text']");
	assert_first("[{'to':'a','condition':'true\\u0000'}]", "{}", NULL,
		"['condition \\u0027true\\u0027: condition:1: <eof> expected']");
}

TEST(all_of_them_share_a_bound)
{
	WFS_AUTO_JSON json_t *list = json_array();
	WFS_AUTO_JSON json_t *notes = NULL;
	const char *to = "unset";

	for (int i = 0; i < WFS_MIND_CONDITIONS_MAX; i++)
		assert_int_equal(json_array_append_new(list,
					 json_pack("{s:s, s:s}", "to", "a", "condition",
						 "(function() while true do end end)()")),
			0);

	assert_int_equal(wfs_mind_conditions_first(list, NULL, &to, &notes), 0);
	assert_null(to);
	assert_int_equal(json_array_size(notes), WFS_MIND_CONDITIONS_MAX);
	assert_non_null(strstr(
		json_string_value(json_array_get(notes, 0)), "more than 1000000 instructions"));
	assert_non_null(strstr(
		json_string_value(json_array_get(notes, 8)), "more than 8000000 instructions"));
}
