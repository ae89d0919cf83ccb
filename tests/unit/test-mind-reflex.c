/* SPDX-License-Identifier: Apache-2.0 */
/* Reflexes: an action, no action, and everything that their code can do wrong. */
#include "tests/fixture/json.h"

#include "agents/mind/reflex.h"
#include "kernel/box/box.h"

static const char context[] =
	"{'agent_id':'alice','balance':7,'current_state':'observing','my_artifacts':['a','b'],"
	"'last_action_success':true,'nothing':null}";

static int run_bytes(struct wfs_bytes source, json_t **ret_action, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *given = json_of(context);

	*error = (struct wfs_error){0};
	return wfs_mind_reflex(source, "alice_reflex", given, ret_action, error);
}

static void assert_action(const char *source, const char *expected)
{
	struct wfs_error error;
	json_t *action = NULL;

	if (run_bytes(wfs_bytes_text(source), &action, &error))
		fail_msg("%s: %s", source, error.message);
	assert_json_is(action, expected);
}

static void assert_none(const char *source)
{
	struct wfs_error error;
	json_t *unset = json_null();
	json_t *action = unset;

	if (run_bytes(wfs_bytes_text(source), &action, &error))
		fail_msg("%s: %s", source, error.message);
	assert_null(action);
}

static void assert_bytes_fail(
	struct wfs_bytes source, enum wfs_error_code code, const char *message)
{
	struct wfs_error error;
	json_t *action = NULL;
	const int r = run_bytes(source, &action, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_null(action);
}

static void assert_fails(const char *source, enum wfs_error_code code, const char *message)
{
	assert_bytes_fail(wfs_bytes_text(source), code, message);
}

/* Expects that the body of a reflex fails at run time. @message: a part of the message */
static void assert_body_fails(const char *body, const char *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	struct wfs_error error;
	json_t *action = NULL;

	wfs_buffer_printf(&source, "function reflex(context)\n%s\nend", body);
	assert_int_equal(run_bytes(wfs_buffer_bytes(&source), &action, &error), -EIO);
	if (!strstr(error.message, message))
		fail_msg("%s: '%s', expected '%s'", body, error.message, message);
	assert_int_equal(error.code, WFS_E_RUNTIME_ERROR);
	assert_null(action);
}

/* --- what it may return --- */

/* Cases 185, 186. */
TEST(a_table_is_the_action)
{
	assert_action("function reflex(context) return {action_type = 'noop', reason = 'rest'} end",
		"{'action_type':'noop','reason':'rest'}");
	assert_action("local function act() return {action_type = 'write_artifact', "
		      "content = {1, {}, null}} end\nreflex = act",
		"{'action_type':'write_artifact','content':[1,{},null]}");
}

/* Cases 185, 186. */
TEST(nil_is_none)
{
	assert_none("function reflex(context) return nil end");
	assert_none("function reflex(context) end");
	assert_none("function reflex(context) return null end");
	assert_none("function reflex(context) return context.nothing end");
}

/* Case 185. */
TEST(it_sees_the_context)
{
	assert_action("function reflex(context)\n"
		      "  if context.balance < 10 and #context.my_artifacts == 2 then\n"
		      "    return {action_type = context.agent_id .. context.current_state}\n"
		      "  end\n"
		      "end",
		"{'action_type':'aliceobserving'}");
	assert_none("function reflex(context) return context.unheard_of end");
}

/* Case 185. */
TEST(it_has_the_functions_of_the_sandbox)
{
	assert_action("function reflex(c) local t = {3, 1, 2} table.sort(t) return {action_type = "
		      "string.format('%s %d', table.concat(t, ','), math.max(4, 5))} end",
		"{'action_type':'1,2,3 5'}");
}

/* Case 185: an import fails. */
TEST(it_has_nothing_else)
{
	assert_body_fails("require('os')",
		"alice_reflex:2: attempt to call a nil value (global "
		"'require')");
	assert_body_fails(
		"os.time()", "alice_reflex:2: attempt to index a nil value (global 'os')");
	assert_body_fails("load('return 1')()", "alice_reflex:2: attempt to call a nil value");
	assert_action("function reflex(c) return {action_type = 'x', io = io == nil, deps = deps "
		      "== nil, caller = ctx.caller == nil} end",
		"{'action_type':'x','io':true,'deps':true,'caller':true}");
}

/* Case 185. */
TEST(what_is_no_table_is_refused)
{
	assert_fails("function reflex(c) return 'noop' end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: a reflex returns a table or nil, got string");
	assert_fails("function reflex(c) return 5 end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: a reflex returns a table or nil, got number");
	assert_fails("function reflex(c) return 0.5 end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: a reflex returns a table or nil, got number");
	assert_fails("function reflex(c) return false end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: a reflex returns a table or nil, got boolean");
	assert_fails("function reflex(c) return reflex end", WFS_E_RUNTIME_ERROR,
		"alice_reflex: result of reflex: a function is not a JSON value");
	assert_fails("function reflex(c) return {action_type = 'x'}, 2 end", WFS_E_RUNTIME_ERROR,
		"alice_reflex: reflex returned 2 values, expected one");
}

/* Case 185. */
TEST(a_table_without_an_action_type_is_refused)
{
	assert_fails("function reflex(c) return {} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: expected a table with 'action_type', got one without");
	assert_fails("function reflex(c) return {1, 2} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: expected a table with 'action_type', got an array");
	assert_fails("function reflex(c) return {action_type = 7} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: action_type: expected a text, got number");
	assert_fails("function reflex(c) return {action_type = null} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: action_type: expected a text, got nil");
	assert_fails("function reflex(c) return {action_type = {'x'}} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: action_type: expected a text, got table");
	assert_fails("function reflex(c) return {action_type = ''} end", WFS_E_INVALID_ARGUMENT,
		"alice_reflex: action_type: expected a text, got an empty one");
}

TEST(a_table_that_is_no_json_is_refused)
{
	assert_body_fails("local t = {action_type = 'x'} t.t = t return t",
		"nested more than 128 levels, or a table that contains itself");
	assert_body_fails("return {action_type = 'x', n = 0/0}", "number that JSON cannot carry");
	assert_body_fails("return {action_type = 'x', n = 1e19}", "number that JSON cannot carry");
	assert_body_fails("return {action_type = '\\xff'}", "string is not valid UTF-8");
	assert_body_fails(
		"return {action_type = 'x', ['a\\0b'] = 1}", "member name contains a NUL byte");
}

/* --- code that is wrong --- */

/* Case 185. */
TEST(code_that_does_not_compile_is_told_with_its_line)
{
	assert_fails("\nfunction reflex(context) return end end", WFS_E_SYNTAX_ERROR,
		"alice_reflex:2: <eof> expected near 'end'");
	assert_fails("{'action_type': 'noop'}", WFS_E_SYNTAX_ERROR,
		"alice_reflex:1: unexpected symbol near '{'");
	assert_bytes_fail(
		WFS_BYTES("x = 1 \0", 7), WFS_E_SYNTAX_ERROR, "alice_reflex:1: unexpected symbol");
	assert_fails("\x1bLua", WFS_E_SYNTAX_ERROR,
		"alice_reflex: attempt to load a binary chunk (mode is 't')");
}

/* Case 185. */
TEST(code_without_a_reflex_is_told)
{
	static const char message[] = "alice_reflex: reflex code must define reflex(context)";

	assert_fails("", WFS_E_SYNTAX_ERROR, message);
	assert_bytes_fail(WFS_BYTES(NULL, 0), WFS_E_SYNTAX_ERROR, message);
	assert_fails("function run(context) return nil end", WFS_E_SYNTAX_ERROR, message);
	assert_fails("local function reflex(context) return nil end", WFS_E_SYNTAX_ERROR, message);
	assert_fails("reflex = {action_type = 'noop'}", WFS_E_SYNTAX_ERROR, message);
}

TEST(code_has_a_greatest_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	for (int i = 0; i < WFS_LUA_SOURCE_MAX + 1; i++)
		wfs_buffer_append_byte(&source, '\n');

	assert_bytes_fail(wfs_buffer_bytes(&source), WFS_E_SYNTAX_ERROR,
		"alice_reflex: 262145 bytes, the greatest size of a module is 262144");
}

/* Case 185. */
TEST(code_that_fails_is_told_with_its_line)
{
	assert_body_fails("\nerror('no luck')", "alice_reflex:3: no luck");
	assert_body_fails(
		"return context.a.b", "alice_reflex:2: attempt to index a nil value (field 'a')");
	assert_body_fails("error(nil)", "alice_reflex: error with a nil for its message");
	assert_fails("\n\nerror('early') function reflex() end", WFS_E_RUNTIME_ERROR,
		"alice_reflex:3: early");
}

/* --- bounds --- */

TEST(code_that_loops_is_stopped)
{
	assert_body_fails("while true do end", "alice_reflex:2: more than 5000000 instructions");
	assert_body_fails(
		"while true do pcall(error) end", "alice_reflex:2: more than 5000000 instructions");
	assert_body_fails("pcall(function() while true do end end)",
		"alice_reflex:2: more than 5000000 instructions");
	assert_body_fails("return reflex(context) + 1", "more than 16777216 bytes of memory");
	assert_fails("while true do end function reflex() end", WFS_E_RUNTIME_ERROR,
		"alice_reflex:1: more than 5000000 instructions");
}

TEST(code_that_allocates_is_stopped)
{
	assert_body_fails("local t = {} for i = 1, 1e9 do t[i] = {} end",
		"more than 16777216 bytes of memory");
	assert_body_fails("return {action_type = string.rep('x', 17000000)}",
		"more than 16777216 bytes of memory");
}

TEST(an_action_has_a_greatest_size)
{
	assert_body_fails("return {action_type = string.rep('x', 1 << 20)}",
		"more than 1048576 bytes of JSON");
}

TEST(code_redefines_nothing_for_others)
{
	assert_action("type, pairs, error, string, _G = nil\n"
		      "function reflex(c) return {action_type = 'still here'} end",
		"{'action_type':'still here'}");
	assert_body_fails("string.rep = nil", "alice_reflex:2: library tables are read-only");
	assert_body_fails("getmetatable('').__index = nil", "alice_reflex:2: ");
	assert_action("count = (count or 0) + 1\n"
		      "function reflex(c) return {action_type = 'x', count = count} end",
		"{'action_type':'x','count':1}");
}

TEST(a_deep_context_fails)
{
	enum { LEVELS = 200 };
	static const char source[] = "function reflex(context) return nil end";
	struct wfs_error error = {0};
	json_t *deep = json_array();
	json_t *action = NULL;

	for (int i = 1; i < LEVELS; i++)
		deep = json_pack("[o]", deep);
	WFS_AUTO_JSON json_t *given = json_pack("{s:o}", "deep", deep);

	assert_int_equal(
		wfs_mind_reflex(wfs_bytes_text(source), "r", given, &action, &error), -EIO);
	assert_string_equal(error.message, "r: value nested more than 128 levels");
}
