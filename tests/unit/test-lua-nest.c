/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of a call, and calls within calls: which bounds they share, and how one affects the
 * other. */
#include "tests/fixture/program.h"

TEST(a_bound_is_another_kind_of_failure)
{
	static const struct {
		const char *source;
		const char *message;
	} cases[] = {
		{"function run()\nwhile true do end end",
			"market.lua:2: more than 200000 instructions"},
		{"function run() pcall(function() while true do end end) return 1 end",
			"market.lua:1: more than 200000 instructions"},
		{"function run() return ('x'):rep(1 << 40) end",
			"market.lua:1: more than 4194304 bytes of memory"},
	};
	static const struct wfs_lua_limits limits = {
		.instructions = 200000, .memory_bytes = 4 << 20, .output_bytes = 1 << 16};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_CODE struct wfs_code *program = NULL;
		struct wfs_code_call call = {.function = "run"};
		AUTO_ANSWER struct lua_answer answer = {0};

		print_message("%s\n", cases[i].source);
		assert_int_equal(program_load_within(&limits, cases[i].source, &program, NULL), 0);
		/* Twice: the program can be used again after it was stopped. */
		for (int n = 0; n < 2; n++) {
			lua_answer_call(program, &call, NULL, &answer);
			assert_int_equal(answer.r, -EIO);
			assert_int_equal(answer.error.code, WFS_E_RUNTIME_ERROR);
			assert_string_equal(answer.error.message, cases[i].message);
			assert_int_equal(answer.failure, WFS_LUA_FAILURE_BOUND);
		}
	}
}

/* Two programs with one budget; the first calls the second. */
struct nest {
	struct wfs_code *outer;
	struct wfs_code *inner;
	struct wfs_lua_budget budget;
	struct host host;
	struct lua_answer answer;
};

static void nest_run(struct nest *nest, const struct wfs_lua_limits *limits, const char *outer,
	const char *inner, const char *arguments)
{
	struct wfs_code_call call = {
		.function = "run", .host = &nest->host.host, .budget = &nest->budget};

	*nest = (struct nest){.budget.instructions = limits->instructions};
	assert_int_equal(program_load_within(limits, outer, &nest->outer, NULL), 0);
	assert_int_equal(program_load_within(limits, inner, &nest->inner, NULL), 0);
	nest->host = (struct host){.host.call = host_call,
		.self = nest->outer,
		.other = nest->inner,
		.budget = &nest->budget};
	lua_answer_call(nest->outer, &call, arguments, &nest->answer);
}

static void nest_done(struct nest *nest)
{
	wfs_code_free(nest->outer);
	wfs_code_free(nest->inner);
	lua_answer_done(&nest->answer);
}
#define AUTO_NEST WFS_CLEANUP(nest_done)

#define SMALL                      \
	(&(struct wfs_lua_limits){ \
		.instructions = 1000000, .memory_bytes = 8 << 20, .output_bytes = 1 << 16})

#define LITTLE_MEMORY              \
	(&(struct wfs_lua_limits){ \
		.instructions = 50000000, .memory_bytes = 8 << 20, .output_bytes = 1 << 16})

TEST(a_nested_call_answers)
{
	AUTO_NEST struct nest nest;

	nest_run(&nest, SMALL, "function run(a) return {a, invoke(a + 1), invoke(a + 2)} end",
		"n = 0 function run(a) n = n + 1 return a * 10 + n end", "[1]");

	assert_string_equal(nest.answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&nest.answer.text), "[1,21,31]");
}

TEST(a_nested_call_is_told_what_is_left_of_the_budget)
{
	AUTO_NEST struct nest nest;

	nest_run(&nest, SMALL,
		"function run() for i = 1, 100000 do end invoke() store.get() return 1 end",
		"function run() for i = 1, 200000 do end end", NULL);

	assert_string_equal(nest.answer.error.message, "");
	assert_in_range(nest.host.used, 300000, 306000);
	assert_in_range(nest.budget.used, 300000, 307000);
}

TEST(calls_together_have_the_instructions_of_one)
{
	AUTO_NEST struct nest nest;
	AUTO_NEST struct nest second;

	/* The outer call ends because of what the nested calls used. */
	nest_run(&nest, SMALL, "function run() for i = 1, 20 do invoke() end return 1 end",
		"function run() for i = 1, 100000 do end end", NULL);
	assert_int_equal(nest.answer.failure, WFS_LUA_FAILURE_BOUND);
	assert_string_equal(nest.answer.error.message,
		"market.lua:1: more than 1000000 instructions for one invocation");
	assert_int_equal(nest.host.call_count, 10);
	assert_in_range(nest.budget.used, 1000000, 1010000);

	/* The nested call ends because of what the outer call used, and the outer call does not
	 * continue. */
	nest_run(&second, SMALL,
		"function run() for i = 1, 900000 do end pcall(invoke) return 1 end",
		"function run() while true do end end", NULL);
	assert_int_equal(second.host.failure, WFS_LUA_FAILURE_BOUND);
	assert_string_equal(second.host.error.message,
		"market.lua:1: more than 1000000 instructions for one invocation");
	assert_int_equal(second.answer.failure, WFS_LUA_FAILURE_BOUND);
	assert_in_range(second.budget.used, 1000000, 1004000);
}

TEST(short_calls_are_counted)
{
	AUTO_NEST struct nest nest;

	nest_run(&nest, SMALL, "function run() while true do invoke() end end",
		"function run() end", NULL);
	assert_int_equal(nest.answer.failure, WFS_LUA_FAILURE_BOUND);
	assert_in_range(nest.host.call_count, 100, 1000);
}

TEST(a_nested_call_has_the_memory_that_is_left)
{
	/* The inner program keeps as many MiB as its argument says. */
	static const char inner[] = "function run(n) return #('x'):rep(n << 20) end";
	AUTO_NEST struct nest enough;
	AUTO_NEST struct nest little;

	nest_run(&enough, LITTLE_MEMORY,
		"function run(n) local s = ('x'):rep(n << 20) return {invoke(2), #s} end", inner,
		"[1]");
	assert_string_equal(enough.answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&enough.answer.text), "[2097152,1048576]");

	nest_run(&little, LITTLE_MEMORY,
		"function run(n) local s = ('x'):rep(n << 20) return {invoke(6), #s} end", inner,
		"[3]");
	assert_string_equal(wfs_buffer_text(&little.answer.text), "[null,3145728]");
	assert_int_equal(little.host.failure, WFS_LUA_FAILURE_BOUND);
	assert_non_null(
		strstr(little.host.error.message, "bytes of memory, which its callers left"));
}

/* Leaves 4.5 MiB of garbage that no safe point has collected yet. */
#define MAKE_GARBAGE "local a, b = ('x'):rep(2 << 20), ('x'):rep(5 << 19) a, b = nil, nil\n"

TEST(garbage_of_the_outer_call_is_not_missed)
{
	AUTO_NEST struct nest nest;

	/* Making the text takes twice its size. */
	nest_run(&nest, LITTLE_MEMORY, "function run() " MAKE_GARBAGE "return invoke() end",
		"function run() return #('x'):rep(5 << 19) end", NULL);
	assert_string_equal(nest.answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&nest.answer.text), "2621440");
}

TEST(collecting_for_a_nested_call_shows_no_weak_table)
{
	AUTO_NEST struct nest nest;

	nest_run(&nest, LITTLE_MEMORY,
		"function run() local m = {} local t = setmetatable({}, m) t[1] = {}\n" MAKE_GARBAGE
		"m.__mode = 'v' invoke() return #t end",
		"function run() end", NULL);
	assert_string_equal(nest.answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&nest.answer.text), "1");
}

TEST(a_failed_nested_call_leaves_the_outer_one_alone)
{
	AUTO_NEST struct nest nest;

	nest_run(&nest, SMALL, "function run() local a = invoke(1) return {a, invoke(2)} end",
		"function run(n) if n == 1 then error('no') end return n end", NULL);
	assert_string_equal(wfs_buffer_text(&nest.answer.text), "[null,2]");
	assert_string_equal(nest.host.error.message, "market.lua:1: no");
}

TEST(a_program_may_be_called_while_it_runs)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("local runs = 0 function run(n) runs = runs + 1\n"
			     "return {runs, n and n > 0 and invoke(n - 1) or null} end");
	struct host host = {.host.call = host_call, .self = program, .other = program};
	struct wfs_code_call call = {.function = "run", .host = &host.host};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, "[3]", &answer);

	assert_string_equal(wfs_buffer_text(&answer.text), "[1,[1,[1,[1,null]]]]");
	assert_false(wfs_code_is_running(program));
}

TEST(calls_within_calls_are_bounded)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run() return {invoke()} end");
	struct host host = {.host.call = host_call, .self = program, .other = program};
	struct wfs_code_call call = {.function = "run", .host = &host.host};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);

	assert_string_equal(answer.error.message, "");
	assert_int_equal(host.error.code, WFS_E_DEPTH_EXCEEDED);
	assert_int_equal(host.call_count, WFS_BOX_DEPTH_MAX);
}

TEST(the_locale_is_restored)
{
	AUTO_NEST struct nest nest;

	nest_run(
		&nest, SMALL, "function run() invoke() return 1.5 end", "function run() end", NULL);
	assert_string_equal(wfs_buffer_text(&nest.answer.text), "1.5");
	assert_true(nest.host.locale_kept);
	assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
}
