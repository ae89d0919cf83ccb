/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: their life, what a call receives and returns, and the host. */
#include "tests/fixture/malloc.h"
#include "tests/fixture/program.h"

/* Calls `run` of @source with a host. */
static void run(const char *source, const char *arguments, struct lua_answer *ret)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load(source);
	struct host host = {.host.call = host_call, .self = program};
	struct wfs_code_call call = {.function = "run", .host = &host.host};

	*ret = (struct lua_answer){0};
	lua_answer_call(program, &call, arguments, ret);
}

static void assert_run(const char *source, const char *arguments, const char *expected)
{
	AUTO_ANSWER struct lua_answer answer;

	run(source, arguments, &answer);

	assert_string_equal(answer.error.message, "");
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_NONE);
	assert_string_equal(wfs_buffer_text(&answer.text), expected);
}

/* Expects that calling `run` fails by the code's own fault, with exactly this message. */
static void assert_run_fails(const char *source, const char *arguments, const char *message)
{
	AUTO_ANSWER struct lua_answer answer;

	run(source, arguments, &answer);

	assert_string_equal(answer.error.message, message);
	assert_int_equal(answer.r, -EIO);
	assert_int_equal(answer.error.code, WFS_E_RUNTIME_ERROR);
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
}

/* --- life --- */

TEST(code_that_does_not_compile_is_refused_with_its_line)
{
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_error error = {0};

	assert_int_equal(
		program_load_within(NULL, "\nfunction run( return end", &program, &error), -EINVAL);

	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_non_null(strstr(error.message, "market.lua:2:"));
	assert_null(program);
}

TEST(code_that_defines_none_of_the_functions_is_refused)
{
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_error error = {0};

	assert_int_equal(program_load_within(NULL, "local function run() end run = 1 check = {}",
				 &program, &error),
		-EINVAL);

	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_string_equal(error.message,
		"market.lua: expected a global function 'run' or 'check', found none");
}

TEST(one_of_the_functions_is_enough)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load("function check() return 1 end");
	AUTO_ANSWER struct lua_answer answer = {0};
	struct wfs_code_call call = {.function = "check"};

	lua_answer_call(program, &call, NULL, &answer);
	assert_string_equal(wfs_buffer_text(&answer.text), "1");

	call.function = "run";
	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.r, -EIO);
	assert_string_equal(answer.error.message, "market.lua: no function 'run'");
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
}

TEST(code_above_the_greatest_size_is_refused)
{
	enum { SIZE = WFS_LUA_SOURCE_MAX + 1 };
	WFS_AUTO_FREE char *source = malloc(SIZE + 1);
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_error error = {0};

	assert_non_null(source);
	memset(source, '\n', SIZE);
	source[SIZE] = '\0';

	assert_int_equal(program_load_within(NULL, source, &program, &error), -EINVAL);
	assert_string_equal(
		error.message, "market.lua: 262145 bytes, the greatest size of a module is 262144");
}

TEST(a_main_chunk_that_fails_is_a_runtime_error)
{
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_error error = {0};

	assert_int_equal(
		program_load_within(NULL, "error('no') function run() end", &program, &error),
		-EIO);
	assert_string_equal(error.message, "market.lua:1: no");
}

TEST(loading_is_charged_and_bounded)
{
	static const char source[] = "for i = 1, 100000 do end function run() end";
	struct wfs_lua_budget budget = {.instructions = 150000};
	struct wfs_code_options options = {
		.program = true,
		.limits = &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "market.lua",
		.source = wfs_bytes_text(source),
		.functions = host_functions,
		.budget = &budget,
	};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	WFS_AUTO_CODE struct wfs_code *second = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_code_new(lua_box(), &options, &program, &error), 0);
	assert_in_range(budget.used, 100000, 103000);

	assert_int_equal(wfs_code_new(lua_box(), &options, &second, &error), -EIO);
	assert_string_equal(
		error.message, "market.lua:1: more than 150000 instructions for one invocation");
}

TEST(code_that_was_checked_before_runs_when_it_is_called)
{
	const struct wfs_code_options options = {
		.program = true,
		.limits = &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "market.lua",
		.source = wfs_bytes_text("error('here')"),
	};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	AUTO_ANSWER struct lua_answer answer = {0};
	struct wfs_code_call call = {.function = "run"};

	assert_int_equal(wfs_code_new(lua_box(), &options, &program, NULL), 0);
	lua_answer_call(program, &call, NULL, &answer);
	assert_string_equal(answer.error.message, "market.lua:1: here");
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
}

/* --- a call --- */

TEST(a_call_is_told_arguments_context_and_deps)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load(
		"function run(...) local c = ctx\n"
		"return {args = array{...}, caller = c.caller, origin = c.origin,\n"
		"id = c.artifact_id, method = c.method, seq = c.seq, at_ns = c.at_ns,\n"
		"random = c.random(1000), version = deps.lib.version} end");
	WFS_AUTO_JSON json_t *deps = json_pack("{s{ss}}", "lib", "version", "1.2");
	AUTO_ANSWER struct lua_answer answer = {0};
	struct wfs_code_call call = {
		.function = "run",
		.deps = deps,
		.caller = "bob",
		.origin = "alice",
		.artifact_id = "market",
		.method = "buy",
		.seq = 42,
		.at_ns = INT64_C(1700000000123456789),
		.seed = {1, 2, 3},
	};

	lua_answer_call(program, &call, "[1,null,{\"a\":[]},\"x\"]", &answer);

	assert_string_equal(answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&answer.text),
		"{\"args\":[1,null,{\"a\":[]},\"x\"],\"at_ns\":1700000000123456789,"
		"\"caller\":\"bob\",\"id\":\"market\",\"method\":\"buy\",\"origin\":\"alice\","
		"\"random\":461,\"seq\":42,\"version\":\"1.2\"}");
}

TEST(a_tool_call_is_told_in_the_context)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load(
		"function run() return {ctx.call_id, ctx.tool_name, ctx.run_id, ctx.turn} end");
	AUTO_ANSWER struct lua_answer answer = {0};
	struct wfs_code_call call = {
		.function = "run",
		.call_id = "c1",
		.tool_name = "buy",
		.run_id = "ada.7",
		.turn = 3,
	};

	lua_answer_call(program, &call, "[]", &answer);

	assert_string_equal(wfs_buffer_text(&answer.text), "[\"c1\",\"buy\",\"ada.7\",3]");
}

TEST(what_is_not_given_is_nil)
{
	assert_run("function run() return {deps == nil, ctx.caller == nil, ctx.seq, "
		   "ctx.call_id == nil, ctx.turn == nil} end",
		NULL, "[true,true,0,true,true]");
}

TEST(results_are_values_of_json)
{
	assert_run("function run() end", NULL, "null");
	assert_run("function run() return nil end", NULL, "null");
	assert_run("function run() return null end", NULL, "null");
	assert_run("function run() return false end", NULL, "false");
	assert_run("function run() return {} end", NULL, "{}");
	assert_run("function run(a, b) return a + b end", "[40,2]", "42");
	assert_run("function run(...) return select('#', ...) end", "[1,null,null]", "3");
}

TEST(results_that_are_not_one_value_are_refused)
{
	assert_run_fails("function run() return 1, 2 end", NULL,
		"market.lua: run returned 2 values, expected one");
	assert_run_fails("function run() return nil, 'reason' end", NULL,
		"market.lua: run returned 2 values, expected one");
	assert_run_fails("function run() return table.unpack({}, 1, 200000) end", NULL,
		"market.lua: run returned 200000 values, expected one");
	assert_run_fails("function run() return {a = {tostring}} end", NULL,
		"market.lua: result of run: .a[1]: a function is not a JSON value");
	assert_run_fails("function run() return ('x'):rep(1 << 20) end", NULL,
		"market.lua: result of run: more than 1048576 bytes of JSON");
}

TEST(more_values_than_json_may_have_are_refused)
{
	static const char source[] = "function run(give) local t = {}\n"
				     "for i = 1, (1 << 20) + 1 do t[i] = 0 end\n"
				     "if give then store.get(t) end return t end";
	static const struct wfs_lua_limits limits = {
		.instructions = 50000000, .memory_bytes = 64 << 20, .output_bytes = 16 << 20};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct host host = {.host.call = host_call};
	struct wfs_code_call call = {.function = "run", .host = &host.host};
	AUTO_ANSWER struct lua_answer answer = {0};

	assert_int_equal(program_load_within(&limits, source, &program, NULL), 0);
	lua_answer_call(program, &call, "[false]", &answer);
	assert_string_equal(
		answer.error.message, "market.lua: more than 1048576 values of JSON in the result");
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);

	lua_answer_call(program, &call, "[true]", &answer);
	assert_non_null(strstr(answer.error.message, "market.lua:3: store.get: "));
	assert_non_null(strstr(answer.error.message, "1048576"));
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
	assert_int_equal(host.call_count, 0);
}

TEST(more_arguments_than_there_is_room_for_are_refused)
{
	enum { COUNT = 1000 * 1000 };
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_ANSWER struct lua_answer answer;

	for (int i = 0; i < COUNT; i++)
		wfs_buffer_append_text(&text, i == 0 ? "[1" : ",1");
	wfs_buffer_append_byte(&text, ']');

	run("function run() end", wfs_buffer_text(&text), &answer);
	assert_int_equal(answer.r, -EIO);
	assert_non_null(strstr(answer.error.message, "too many arguments"));
}

TEST(nothing_outlives_a_call)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("local count = 0\n"
			     "function run() count = count + 1 total = (total or 0) + 1\n"
			     "_G.kept = (kept or 0) + 1 ctx.x = (ctx.x or 0) + 1\n"
			     "return {count, total, kept, ctx.x, ctx.random(1 << 40)} end");
	AUTO_ANSWER struct lua_answer first = {0};
	AUTO_ANSWER struct lua_answer second = {0};
	struct wfs_code_call call = {.function = "run"};

	lua_answer_call(program, &call, NULL, &first);
	lua_answer_call(program, &call, NULL, &second);

	assert_non_null(strstr(wfs_buffer_text(&first.text), "[1,1,1,1,"));
	assert_string_equal(wfs_buffer_text(&first.text), wfs_buffer_text(&second.text));
}

TEST(the_main_chunk_sees_nothing_of_the_call)
{
	assert_run("local c, d = ctx, deps local ok, why = pcall(store.get, 1)\n"
		   "function run() return {c == nil, d == nil, ok, why} end",
		NULL, "[true,true,false,\"store.get: not available outside of functions\"]");
	assert_run("ctx = {caller = 'me'} deps = 1 function run() return {ctx.caller, deps} end",
		NULL, "{}");
}

/* --- modules that the host gives --- */

static void assert_requires(const char *module, const char *body, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	AUTO_ANSWER struct lua_answer answer = {0};

	wfs_buffer_printf(&source, "function run()\n%s end", body);
	WFS_AUTO_CODE struct wfs_code *program = program_load(wfs_buffer_text(&source));
	struct host host = {.host.call = host_call, .self = program, .module = module};
	struct wfs_code_call call = {.function = "run", .host = &host.host};

	lua_answer_call(program, &call, NULL, &answer);
	if (answer.r)
		assert_string_equal(answer.error.message, expected);
	else
		assert_string_equal(wfs_buffer_text(&answer.text), expected);
}

TEST(a_module_is_what_its_source_returns)
{
	assert_requires("return {twice = function(x) return 2 * x end}",
		"return require('m').twice(21)", "42");
	assert_requires("return 7", "return require 'm'", "7");
	assert_requires("return false", "return {require('m'), require('m')}", "[false,false]");
	assert_requires("return null", "require('m') return {require('m')}", "[null]");
	assert_requires("return ctx", "return require('m')",
		"market.lua:2: m: a module must return a value other than nil");
}

TEST(a_module_runs_once_in_a_run_with_globals_of_its_own)
{
	assert_requires("count = (count or 0) + 1 return {count = count}",
		"count = 5 require('m').count = 9\n"
		"return {require('m').count, require('other').count, count}",
		"[9,1,5]");
	assert_requires("require = nil string = nil x = 1 return true",
		"require('m') return {x == nil, type(require), type(string)}",
		"[true,\"function\",\"table\"]");
}

TEST(a_module_that_fails_is_named_with_its_line)
{
	assert_requires(
		"\nlocal = 1", "return require 'm'", "market.lua:2: m:2: <name> expected near '='");
	assert_requires("\nerror('no')", "return require 'm'", "m:2: no");
	assert_requires("return function() assert(false, 'no') end", "\nrequire('m')()", "m:1: no");
	assert_requires("return 1",
		"local function f(n) if n == 0 then error('no', 0) end f(n - 1) return 1 end "
		"f(300000)",
		"market.lua:2: no");
	assert_requires("return function() error('no', 2) end", "\nrequire('m')()\nreturn 1",
		"market.lua:3: no");
	assert_requires("\n\nwhile true do end", "return pcall(require, 'm')",
		"m:3: more than 50000000 instructions");
	assert_requires("return a.b"
			".c",
		"return {pcall(require, 'm')}",
		"[false,\"m:1: attempt to index a nil value (global 'a')\"]");
	assert_requires("return require(({...})[1] or 'm')", "return require 'm'",
		"m:1: require: 'm' requires itself, or has failed");
}

TEST(a_module_has_a_name_and_a_source)
{
	assert_requires(NULL, "return require('m')",
		"market.lua:2: require: the host gave no source of 'm'");
	assert_requires("return 1", "return require({})",
		"market.lua:2: bad argument #1 to 'require' (string expected, got table)");
}

TEST(a_module_keeps_the_bounds_of_source)
{
	WFS_AUTO_BUFFER struct wfs_buffer deep = {0};

	wfs_buffer_append_text(&deep, "return a");
	for (int i = 0; i < 201; i++)
		wfs_buffer_append_text(&deep, ".a");
	assert_requires(wfs_buffer_text(&deep), "return require 'm'",
		"market.lua:2: m:1: more than 200 indices in a row");
}

TEST(compiling_a_module_is_charged)
{
	enum { SIZE = 200 << 10 };
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	AUTO_ANSWER struct lua_answer answer = {0};
	struct wfs_lua_budget budget = {.instructions = 10000000};
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run() return require 'm' end");
	struct host host = {.host.call = host_call, .self = program, .budget = &budget};
	struct wfs_code_call call = {.function = "run", .host = &host.host, .budget = &budget};

	for (int i = 0; i < SIZE; i++)
		wfs_buffer_append_byte(&source, '\n');
	wfs_buffer_append_text(&source, "return 1");
	host.module = wfs_buffer_text(&source);
	lua_answer_call(program, &call, NULL, &answer);

	assert_string_equal(wfs_buffer_text(&answer.text), "1");
	assert_true(budget.used >= UINT64_C(4) * SIZE);
}

/* --- the host --- */

TEST(the_host_is_asked_with_values)
{
	assert_run("function run() return store.get() end", NULL, "[]");
	assert_run("function run() return store.get(1, 'x', {a = {}}, array{}, null, nil) end",
		NULL, "[1,\"x\",{\"a\":{}},[],null]");
	assert_run("function run() return store.get(nil, 1, nil, nil) end", NULL, "[null,1]");
	assert_run(
		"local get = store.get function run(...) return get(...)[2] end", "[1,2.5]", "2.5");
	assert_run("function run() return {select('#', store.nothing()), store.nothing() == nil} "
		   "end",
		NULL, "[1,true]");
	assert_run("function run() local t = store.get({}, 1) t[3] = 'x' return #t end", NULL, "3");
}

TEST(a_refusal_of_the_host_can_be_caught)
{
	assert_run_fails("function run()\nstore.refuse(1) end", NULL,
		"market.lua:2: store.refuse: no such thing");
	assert_run("function run() local ok, why = pcall(function() store.refuse() end)\n"
		   "return {ok, why} end",
		NULL, "[false,\"market.lua:1: store.refuse: no such thing\"]");
}

TEST(an_argument_that_is_not_json_is_an_ordinary_error)
{
	static const struct {
		const char *call;
		const char *message;
	} cases[] = {
		{"store.get(1, print or type)",
			"store.get: argument #2: a function is not a JSON value"},
		{"store.get({x = {type}})",
			"store.get: argument #1: .x[1]: a function is not a JSON value"},
		{"local t = {} t.t = t invoke(t)", "contains itself"},
		{"invoke('\\xff')", "invoke: argument #1: string is not valid UTF-8"},
		{"invoke(0/0)", "invoke: argument #1: number that JSON cannot carry"},
		{"invoke(('x'):rep(1 << 19), ('x'):rep(1 << 19))",
			"invoke: argument #2: more than 1048576 bytes of JSON"},
		{"invoke(null, {1, x = 2})", "invoke: argument #2: array with the key 'x'"},
		{"local t = array() for i = 1, 127 do t = {t} end invoke(t)",
			"invoke: argument #1: [1][1]"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		AUTO_ANSWER struct lua_answer raised;
		AUTO_ANSWER struct lua_answer caught;

		print_message("%s\n", cases[i].call);
		wfs_buffer_printf(&source, "function run()\n%s end", cases[i].call);
		run(wfs_buffer_text(&source), NULL, &raised);
		assert_int_equal(raised.failure, WFS_LUA_FAILURE_CODE);
		assert_non_null(strstr(raised.error.message, "market.lua:2: "));
		assert_non_null(strstr(raised.error.message, cases[i].message));

		wfs_buffer_reset(&source);
		wfs_buffer_printf(&source, "function run() return (pcall(function() %s end)) end",
			cases[i].call);
		run(wfs_buffer_text(&source), NULL, &caught);
		assert_string_equal(wfs_buffer_text(&caught.text), "false");
	}
}

TEST(the_deepest_argument_reaches_the_host)
{
	assert_run("function run() local t = array() for i = 1, 126 do t = {t} end\n"
		   "local n = 0 t = store.get(t) while t do t = t[1] n = n + 1 end return n end",
		NULL, "128");
}

TEST(a_failure_of_the_host_cannot_be_caught)
{
	static const char *const sources[] = {
		"function run() break_down() end",
		"function run() pcall(break_down) return 1 end",
		"function run() xpcall(break_down, function() return 1 end) return 1 end",
		"function run() while true do pcall(break_down) end end",
		"function run() table.sort({3, 2, 1}, break_down) return 1 end",
		"function run() return (('x'):gsub('x', break_down)) end",
		("function run() return tostring(setmetatable({}, {__tostring = function()\n"
		 "break_down() end})) end"),
		"function run() xpcall(error, break_down) return 1 end",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sources); i++) {
		WFS_AUTO_CODE struct wfs_code *program = program_load(sources[i]);
		struct host host = {.host.call = host_call, .self = program};
		struct wfs_code_call call = {.function = "run", .host = &host.host};
		AUTO_ANSWER struct lua_answer answer = {0};

		print_message("%s\n", sources[i]);
		lua_answer_call(program, &call, NULL, &answer);
		assert_int_equal(answer.r, -ENOSPC);
		assert_int_equal(answer.error.code, WFS_E_STORE_FULL);
		assert_string_equal(answer.error.message, "the store is full");
		assert_int_equal(answer.failure, WFS_LUA_FAILURE_HOST);
		assert_int_equal(host.call_count, 1);
	}
}

TEST(a_bound_ends_asking_the_host)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run() xpcall(string.rep, store.get, 'x', 1 << 40)\n"
			     "return pcall(store.get) end");
	struct host host = {.host.call = host_call, .self = program};
	struct wfs_code_call call = {.function = "run", .host = &host.host};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_BOUND);
	assert_string_equal(
		answer.error.message, "market.lua:1: more than 67108864 bytes of memory");
	assert_int_equal(host.call_count, 0);
}

TEST(without_a_host_its_functions_raise)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function check() return store.get(1) end");
	struct wfs_code_call call = {.function = "check"};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
	assert_string_equal(
		answer.error.message, "market.lua:1: store.get: not available in 'check'");
}

TEST(tables_of_the_host_cannot_be_written)
{
	static const char *const bodies[] = {
		"store.get = 1",
		"store.x = 1",
		"setmetatable(store, {})",
		"getmetatable(store).__index = {}",
		"table.insert(store, 1)",
		"next(store).x = 1",
		"array(store)",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(bodies); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		AUTO_ANSWER struct lua_answer answer;

		print_message("%s\n", bodies[i]);
		wfs_buffer_printf(&source, "function run() %s end", bodies[i]);
		run(wfs_buffer_text(&source), NULL, &answer);
		assert_int_equal(answer.failure, WFS_LUA_FAILURE_CODE);
	}
	assert_run("function run() return {getmetatable(store), rawget(store, 'get') == nil,\n"
		   "next(store) == nil, tostring(store.get)} end",
		NULL, "[false,true,true,\"function\"]");
}

TEST(a_function_of_the_host_that_is_replaced_is_so_for_one_call)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load(
		"function run() local was = store.get(7)[1]\n"
		"store = {get = function() return {8} end} return {was, store.get()[1]} end");
	struct host host = {.host.call = host_call, .self = program};
	struct wfs_code_call call = {.function = "run", .host = &host.host};
	AUTO_ANSWER struct lua_answer answer = {0};

	for (int i = 0; i < 2; i++) {
		lua_answer_call(program, &call, NULL, &answer);
		assert_string_equal(wfs_buffer_text(&answer.text), "[7,8]");
	}
}

TEST(asking_the_host_is_charged)
{
	struct wfs_lua_budget budget = {.instructions = 1000000};
	WFS_AUTO_CODE struct wfs_code *program = program_load(
		"function run(n) local s = ('x'):rep(8000) for i = 1, n do store.get(s) end "
		"end");
	struct host host = {.host.call = host_call, .self = program, .budget = &budget};
	struct wfs_code_call call = {.function = "run", .host = &host.host, .budget = &budget};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, "[100]", &answer);
	assert_string_equal(answer.error.message, "");
	/* For each call of the host, 1000 for the bytes each way and 100 for the call. */
	assert_in_range(budget.used, 210000, 240000);

	lua_answer_call(program, &call, "[1000000]", &answer);
	assert_int_equal(answer.failure, WFS_LUA_FAILURE_BOUND);
}

/* --- the host's memory --- */

TEST(a_failing_allocation_is_told_and_survived)
{
	static const char source[] =
		"function run(n) local t = {} for i = 1, 40 do t[i] = {i} end\n"
		"return {store.get(t, n), pcall(store.get, n)} end";
	bool failed = true;
	unsigned int n = 1;

	for (; failed; n++) {
		WFS_AUTO_CODE struct wfs_code *program = NULL;
		AUTO_ANSWER struct lua_answer answer = {0};
		struct host host = {.host.call = host_call};
		struct wfs_code_call call = {.function = "run", .host = &host.host};
		WFS_AUTO_JSON json_t *arguments = json_pack("[i]", 1);
		WFS_AUTO_JSON json_t *value = NULL;
		int r = 0;

		call.arguments = arguments;
		allocations_until_failure = n;
		r = program_load_within(NULL, source, &program, NULL);
		if (r == 0) {
			r = wfs_code_call(program, &call, &value, NULL);
			assert_int_equal(
				call.failure, r == 0 ? WFS_LUA_FAILURE_NONE : WFS_LUA_FAILURE_HOST);
		}
		/* Giving memory back cannot fail: the larger block stays. */
		failed = allocations_until_failure == 0;
		allocations_until_failure = 0;
		if (r != 0)
			assert_int_equal(r, -ENOMEM);
		if (program) {
			lua_answer_call(program, &call, "[1]", &answer);
			assert_int_equal(answer.r, 0);
		}
	}
	assert_true(n > 200);
}
