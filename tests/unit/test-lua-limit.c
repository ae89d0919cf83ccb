/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of a step: each can be reached, no code can catch it, and the module stays usable.
 * (test-lua-escape.c tests ways around them, for steps and programs.)
 */
#include <time.h>

#include "tests/fixture/lua.h"
#include "tests/fixture/malloc.h"

#define FEW_INSTRUCTIONS           \
	(&(struct wfs_lua_limits){ \
		.instructions = 200000, .memory_bytes = 8 << 20, .output_bytes = 1 << 16})

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Runs @body under small limits. It must fail with @message, and soon: the slowest honest way to
 * use up the limits takes far less time than this, even under a sanitizer.
 */
static void assert_ends_within(
	const struct wfs_lua_limits *limits, const char *body, const char *message)
{
	const double bound_seconds = 10;
	const double start = seconds();
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	print_message("%s\n", body);
	wfs_buffer_printf(&source, "function step(state, event, ctx)\n%s\nend", body);
	assert_fails_within(limits, wfs_buffer_text(&source), message);
	assert_true(seconds() - start < bound_seconds);
}

static void assert_ends(const char *body, const char *message)
{
	assert_ends_within(FEW_INSTRUCTIONS, body, message);
}

#define INSTRUCTIONS "more than 200000 instructions"

TEST(an_endless_loop_ends_at_its_line)
{
	assert_ends("\nwhile true do end", "package.lua:3: " INSTRUCTIONS);
	assert_ends("::again:: goto again", INSTRUCTIONS);
	assert_ends("for i = 1, math.huge do end", INSTRUCTIONS);
	assert_ends("repeat local x <const> = 1 until x == 2", INSTRUCTIONS);
	assert_ends("local function f() return f() end f()", INSTRUCTIONS);
}

TEST(no_function_swallows_the_end)
{
	assert_ends("while true do pcall(function() while true do end end) end", INSTRUCTIONS);
	assert_ends("pcall(pcall, pcall, function() while true do end end) return 1", INSTRUCTIONS);
	assert_ends("xpcall(function() while true do end end, function() while true do end end)\n"
		    "return 1",
		INSTRUCTIONS);
	assert_ends("xpcall(error, function() while true do end end) return 1", INSTRUCTIONS);
	assert_ends("local function f() xpcall(f, f) f() end f()", INSTRUCTIONS);
	assert_ends(
		"local function h() xpcall(error, h) end h() while true do h() end", INSTRUCTIONS);
}

TEST(loops_in_metamethods_end)
{
	static const char *const uses[] = {
		"return t.x",
		"t.x = 1",
		"return t + 1",
		"return t < t",
		"return #t",
		"return t()",
		"return tostring(t)",
		"return string.format('%s', t)",
		"for k in pairs(t) do end",
		"return t == setmetatable({}, getmetatable(t))",
		"return ('x'):gsub('x', t)",
		"return table.concat(t)",
		"table.sort(t)",
		"for i in ipairs(t) do end",
	};
	static const char *const events[] = {"__index", "__newindex", "__add", "__lt", "__len",
		"__call", "__tostring", "__pairs", "__eq"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(uses); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer body = {0};

		wfs_buffer_append_text(&body, "local m = {}");
		for (size_t j = 0; j < WFS_ARRAY_COUNT(events); j++)
			wfs_buffer_printf(
				&body, " m.%s = function() while true do end end", events[j]);
		wfs_buffer_printf(&body, " local t = setmetatable({}, m)\n%s", uses[i]);
		assert_ends(wfs_buffer_text(&body), INSTRUCTIONS);
	}
}

TEST(loops_in_callbacks_end)
{
	assert_ends("table.sort({3, 2, 1}, function() while true do end end)", INSTRUCTIONS);
	assert_ends("return (('x'):gsub('x', function() while true do end end))", INSTRUCTIONS);
	assert_ends("for w in function() while true do end end do end", INSTRUCTIONS);
	assert_ends("pcall(string.gsub, 'x', 'x', function() while true do end end) return 1",
		INSTRUCTIONS);
}

TEST(the_work_of_library_functions_is_counted)
{
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:upper() end", INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:reverse() end", INSTRUCTIONS);
	assert_ends("while true do ('x'):rep(1 << 20) end", INSTRUCTIONS);
	assert_ends(
		"local s = ('x'):rep(1 << 20) while true do local y = s .. 'a' end", INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:find('y', 1, true) end",
		INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:find('y%d') end", INSTRUCTIONS);
	assert_ends(
		"local s = ('x'):rep(1 << 20) while true do s:gsub('x', 'y') end", INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:byte(1, 1000) utf8.len(s) end",
		INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do s:sub(2) s:sub(-9, -1) end",
		INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do utf8.offset(s, -1, 1 << 20)\n"
		    "utf8.offset(s, 1 << 20) utf8.offset(s, 1 << 21) end",
		INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 17) while true do utf8.codepoint(s, 1, -1) end",
		INSTRUCTIONS);
	assert_ends("local s = 'x' .. ('\\x80'):rep(1 << 20) local next = utf8.codes(s)\n"
		    "while true do next(s, 1) end",
		INSTRUCTIONS);
	assert_ends("local s = (' '):rep(1 << 20) .. 1 while true do local n = s + 0 n = -s end",
		INSTRUCTIONS);
	assert_ends("local t = {} for i = 1, 200 do t[i] = i end\n"
		    "while true do math.max(table.unpack(t)) table.pack(table.unpack(t)) end",
		INSTRUCTIONS);
	assert_ends("local s = ('x'):rep(1 << 20) while true do string.format('%s', s) end",
		INSTRUCTIONS);
	assert_ends("local s = ('1'):rep(1 << 20) while true do tonumber(s) end", INSTRUCTIONS);
	assert_ends("local t = {} for i = 1, 10000 do t['k' .. i] = i end\n"
		    "while true do pairs(t) end",
		INSTRUCTIONS);
	assert_ends("local t = {} for i = 1, 10000 do t[i] = i end while true do next(t) end",
		INSTRUCTIONS);
	assert_ends(
		"local t = {} for i = 1, 10000 do t[i] = -i end while true do table.sort(t) end",
		INSTRUCTIONS);
	assert_ends("local t = {} for i = 1, 10000 do t[i] = -i end\n"
		    "while true do table.move(t, 1, 10000, 2) table.remove(t, 1) end",
		INSTRUCTIONS);
	assert_ends("local t = {} for i = 1, 10000 do t[i] = 'x' end\n"
		    "while true do table.concat(t) select('#', table.unpack(t)) end",
		INSTRUCTIONS);
	assert_ends("table.move({}, 1, math.maxinteger - 1, 2)", INSTRUCTIONS);
	assert_ends("table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 1)",
		INSTRUCTIONS);
	assert_ends("table.concat(setmetatable({}, {__index = function() return '' end,\n"
		    "__len = function() return 1 << 60 end}))",
		INSTRUCTIONS);
}

TEST(garbage_does_not_count)
{
	static const struct wfs_lua_limits limits = {
		.instructions = 100000000, .memory_bytes = 4 << 20, .output_bytes = 1 << 16};
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(&limits,
		"function step() local n = 0\n"
		"for i = 1, 100000 do local t = {i, {i}, 'x' .. i} n = n + #t end\n"
		"for i = 1, 100 do local s = ('x'):rep(1 << 20) .. i n = n + 1 end\n"
		"for i = 1, 100 do local s = ('x'):rep(1000000):gsub('x', 'y', 10) n = n + 1 end\n"
		"return n end",
		NULL, NULL, &outcome);
	assert_string_equal(outcome.error.message, "");
	assert_memory_equal(outcome.result.state.data, "300200\n", 7);
}

TEST(living_at_the_edge_of_memory_ends_soon)
{
	/* Fills memory up to the limit; then each allocation makes Lua collect everything. */
	assert_ends("local t, s = {}, 0\n"
		    "for i = 1, 100000 do t[i] = {} s = s + 1 if s == 87000 then break end end\n"
		    "while true do local x = {1, 2, 3, 4} end",
		"more than");
}

TEST(huge_values_compared_end_by_time)
{
	static const struct wfs_lua_limits limits = {
		.instructions = 1000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 16};
	const double start = seconds();

	assert_fails_within(&limits,
		"function step() local a = ('x'):rep(1 << 20) local b = ('x'):rep(1 << 20)\n"
		"while a == b do end end",
		"package.lua:2: too much processor time");
	assert_true(seconds() - start < 20);
}

TEST(finding_field_after_field_costs_the_text_once)
{
	static const struct wfs_lua_limits limits = {
		.instructions = 1000000, .memory_bytes = 8 << 20, .output_bytes = 1 << 16};
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(&limits,
		"function step() local s = ('field,'):rep(20000) local n, at = 0, 1\n"
		"while true do at = s:find(',', at, true) if not at then return n end\n"
		"n = n + 1 at = at + 1 end end",
		NULL, NULL, &outcome);
	assert_string_equal(outcome.error.message, "");
	assert_memory_equal(outcome.result.state.data, "20000\n", 6);
}

TEST(many_results_are_bounded)
{
	assert_body_fails("return table.unpack({}, 1, 1 << 40)", "too many results");
	assert_body_fails(
		"return table.unpack({}, math.mininteger, math.maxinteger)", "too many results");
	assert_body_fails("return ('x'):rep(1 << 21):byte(1, -1)", "too long");
	assert_body_fails("return utf8.codepoint(('x'):rep(1 << 21), 1, -1)", "too long");
}

TEST(output_is_bounded)
{
	assert_ends("return ('x'):rep(1 << 16)", "new state: more than 65536 bytes of JSON");
	assert_ends("local t = array() for i = 1, 40 do t = {t, t} end return t", "bytes of JSON");
	assert_ends("return 1, {effects = {('x'):rep(1 << 16)}}", "effects: [1]: more than 65536");
}

TEST(an_object_is_usable_after_each_bound)
{
	static const char source[] = "function step(s, e)\n"
				     "if e == 1 then while true do end end\n"
				     "if e == 2 then return ('x'):rep(1 << 40) end\n"
				     "if e == 3 then return {tostring} end\n"
				     "if e == 4 then local t = {} while true do t = {t} end end\n"
				     "return e end";
	static const char *const events[] = {"1", "0", "2", "0", "3", "0", "4", "0", "2", "1", "0"};
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};

	assert_int_equal(
		load_reducer(FEW_INSTRUCTIONS, "a.lua", source, strlen(source), &lua, NULL), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(events); i++) {
		print_message("event %s\n", events[i]);
		lua_outcome_step(lua, NULL, events[i], &outcome);
		assert_int_equal(outcome.r, strcmp(events[i], "0") == 0 ? 0 : -EIO);
	}
}

/* --- a budget of several steps --- */

static int step_on_budget(
	struct wfs_code *lua, struct wfs_lua_budget *budget, struct wfs_error *error)
{
	WFS_AUTO_CODE_RESULT struct wfs_code_result result = {0};
	WFS_AUTO_JSON json_t *event = json_null();
	struct wfs_code_step step = {
		.event = event, .reducer = "r", .schema = "s", .principal = "p", .budget = budget};

	*error = (struct wfs_error){0};
	return wfs_code_step(lua, &step, &result, error);
}

TEST(steps_share_a_budget)
{
	static const char source[] = "function step() for i = 1, 100000 do end return 1 end";
	struct wfs_lua_budget budget = {.instructions = 450000};
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	struct wfs_error error;

	assert_int_equal(
		load_reducer(FEW_INSTRUCTIONS, "a.lua", source, strlen(source), &lua, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(step_on_budget(lua, &budget, &error), 0);
	assert_in_range(budget.used, 400000, 404000);
	assert_int_equal(step_on_budget(lua, &budget, &error), -EIO);
	assert_string_equal(error.message, "a.lua:1: more than 450000 instructions for one event");

	/* Nothing runs after the budget is used up; a step without a budget has its own bounds. */
	assert_int_equal(step_on_budget(lua, &budget, &error), -EIO);
	assert_string_equal(error.message, "a.lua: more than 450000 instructions for one event");
	assert_int_equal(step_on_budget(lua, NULL, &error), 0);
}

TEST(steps_too_short_to_be_looked_at_end_by_time)
{
	static const char source[] =
		"local a, b = ('x'):rep(1 << 20) .. 'a', ('x'):rep(1 << 20) .. 'b'\n"
		"function step() for i = 1, 200 do local c = a < b end return 1 end";
	const struct wfs_lua_limits limits = {
		.instructions = 1000000, .memory_bytes = 32 << 20, .output_bytes = 1 << 16};
	struct wfs_lua_budget budget = {.instructions = UINT64_MAX};
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	struct wfs_error error;
	int r = 0;

	/* 200 comparisons of a MiB each are fewer instructions than between two looks at the
	 * time. */
	assert_int_equal(load_reducer(&limits, "a.lua", source, strlen(source), &lua, NULL), 0);
	assert_int_equal(step_on_budget(lua, &budget, &error), 0);
	assert_true(budget.time_used_ns == 0);
	assert_int_equal(step_on_budget(lua, &budget, &error), 0);
	assert_true(budget.time_used_ns > 0);
	budget.instructions = 1000000; /* the limit is a second, the smallest possible */
	for (int i = 0; i < 1000 && !r; i++) {
		budget.used = 0;
		r = step_on_budget(lua, &budget, &error);
	}
	assert_int_equal(r, -EIO);
	assert_non_null(strstr(error.message, "too much processor time"));
}

/* Every allocation of loading and stepping is refused once, by a limit that is a little too
 * small. */
TEST(any_memory_limit_ends_in_an_answer)
{
	static const char source[] =
		"local t = {} for i = 1, 20 do t['k' .. i] = {i, tostring(i):rep(20)} end\n"
		"function step(s, e, c)\n"
		"local ok = pcall(function() for k, v in pairs(t) do s[k] = v[2]:gsub('1', "
		"'%0%0')\n"
		"end table.sort(s) end)\n"
		"local mt = setmetatable({}, {__index = t})\n"
		"return {ok, s, mt.k1, table.concat({1, 2, 3}, ', ')}, {events = {s}} end";
	size_t loaded_count = 0;
	size_t done_count = 0;

	for (size_t bytes = 256; bytes < 81920; bytes += 24) {
		struct wfs_lua_limits limits = {
			.instructions = 1000000, .memory_bytes = bytes, .output_bytes = 1 << 16};
		AUTO_OUTCOME struct lua_outcome outcome = {0};
		WFS_AUTO_CODE struct wfs_code *lua = NULL;

		outcome.r = load_reducer(
			&limits, "a.lua", source, strlen(source), &lua, &outcome.error);
		if (outcome.r == 0) {
			loaded_count++;
			lua_outcome_step(lua, "{\"a\":[1,2,3]}", "[{\"x\":1}]", &outcome);
			done_count += outcome.r == 0;
		}
		if (outcome.r != 0) {
			assert_int_equal(outcome.r, -EIO);
			assert_non_null(strstr(outcome.error.message, "bytes of memory"));
		}
	}
	assert_in_range(loaded_count, 100, 3300);
	assert_in_range(done_count, 100, loaded_count - 10);
}

/* --- the host's memory --- */

TEST(a_failing_allocation_is_told_and_survived)
{
	static const char source[] = "local t = {} for i = 1, 40 do t[i] = {i} end\n"
				     "function step(s, e, c) pcall(function() s.t = t end)\n"
				     "return s, {events = {{value = s}}} end";
	bool failed = true;
	unsigned int n = 1;

	for (; failed; n++) {
		WFS_AUTO_CODE struct wfs_code *lua = NULL;
		AUTO_OUTCOME struct lua_outcome outcome = {0};

		allocations_until_failure = n;
		outcome.r = load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source),
			&lua, &outcome.error);
		if (outcome.r == 0)
			lua_outcome_step(lua, "{}", NULL, &outcome);
		/* Giving memory back cannot fail: the larger block stays. */
		failed = allocations_until_failure == 0;
		allocations_until_failure = 0;
		if (outcome.r != 0)
			assert_int_equal(outcome.r, -ENOMEM);
		if (lua) {
			lua_outcome_step(lua, "{}", NULL, &outcome);
			assert_int_equal(outcome.r, 0);
		}
	}
	assert_true(n > 5);
}

TEST(memory_does_not_grow_over_many_steps)
{
	static const struct wfs_lua_limits limits = {
		.instructions = 100000, .memory_bytes = 1 << 20, .output_bytes = 1 << 16};
	static const char source[] =
		"local cache = {}\n"
		"function step(s, e, c) s.n = s.n + 1 s.last = c.seq cache[s.n] = s\n"
		"local t = setmetatable({}, {__index = s}) for k, v in pairs(s) do t[k] = v end\n"
		"return s, {events = {{schema = 'x', value = s.n .. 'x'}}} end";
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};

	assert_int_equal(load_reducer(&limits, "a.lua", source, strlen(source), &lua, NULL), 0);
	for (int i = 0; i < 100 * 1000; i++) {
		lua_outcome_step(lua, "{\"n\":1,\"name\":\"x\"}\n", "1", &outcome);
		assert_int_equal(outcome.r, 0);
	}
}
