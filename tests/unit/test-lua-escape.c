/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of the sandbox, one test for each, for reducers and artifacts alike. Every piece of code
 * runs in a step and in a program, twice in each. It must end within bounded time and memory, with
 * the expected value or message, and with equal bytes each time.
 */
#include <time.h>

#include "tests/fixture/lua.h"
#include "tests/fixture/malloc.h"

enum {
	SECONDS_MAX = 10,     /* far above the slowest honest way, even under a sanitizer */
	HOST_BYTES = 4 << 20, /* above the bound: unused blocks, text of a result */
	LITTLE_MEMORY_BYTES = 8 << 20,
};

static const struct wfs_lua_limits few_instructions = {
	.instructions = 200000, .memory_bytes = LITTLE_MEMORY_BYTES, .output_bytes = 1 << 16};
static const struct wfs_lua_limits little_memory = {
	.instructions = 20000000, .memory_bytes = LITTLE_MEMORY_BYTES, .output_bytes = 1 << 16};
/* Enough for the deepest recursion that Lua itself allows. */
static const struct wfs_lua_limits enough = {
	.instructions = 10000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 20};

/* A function's body, and what it must give: a value, or an error whose message contains a text. */
struct escape {
	const char *body;
	const char *value;
	const char *message;
	const struct wfs_lua_limits *limits; /* NULL means few_instructions */
};

#define INSTRUCTIONS "more than 200000 instructions"
#define MEMORY "more than 8388608 bytes of memory"

typedef void run_function(
	const struct wfs_lua_limits *limits, const char *body, struct lua_answer *ret);

static void run_step(const struct wfs_lua_limits *limits, const char *body, struct lua_answer *ret)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	AUTO_OUTCOME struct lua_outcome outcome;

	wfs_buffer_printf(&source, "function step()\n%s\nend", body);
	lua_outcome_run(limits, wfs_buffer_text(&source), NULL, NULL, &outcome);
	*ret = (struct lua_answer){.r = outcome.r, .error = outcome.error};
	if (outcome.r == 0)
		wfs_buffer_append(
			&ret->text, outcome.result.state.data, outcome.result.state.size - 1);
}

static void run_program(
	const struct wfs_lua_limits *limits, const char *body, struct lua_answer *ret)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	wfs_buffer_printf(&source, "function run()\n%s\nend", body);
	lua_answer_run(limits, wfs_buffer_text(&source), ret);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_bounded(run_function *run, const struct escape *escape, struct lua_answer *ret)
{
	const struct wfs_lua_limits *const limits =
		escape->limits ? escape->limits : &few_instructions;
	const double start = seconds();
	const ptrdiff_t start_bytes = live_bytes;

	peak_bytes = live_bytes;
	run(limits, escape->body, ret);

	assert_true(seconds() - start < SECONDS_MAX);
	assert_true(peak_bytes - start_bytes < (ptrdiff_t)limits->memory_bytes + HOST_BYTES);
}

static void assert_expected(const struct escape *escape, struct lua_answer *answer)
{
	if (escape->value) {
		assert_string_equal(answer->error.message, "");
		assert_string_equal(wfs_buffer_text(&answer->text), escape->value);
		return;
	}
	if (answer->r != -EIO || !strstr(answer->error.message, escape->message))
		print_error("expected '%s', got %d '%s' '%s'\n", escape->message, answer->r,
			answer->error.message, wfs_buffer_text(&answer->text));
	assert_int_equal(answer->r, -EIO);
	assert_int_equal(answer->error.code, WFS_E_RUNTIME_ERROR);
	assert_non_null(strstr(answer->error.message, escape->message));
	assert_non_null(strstr(answer->error.message, "package.lua:"));
}

static void assert_contained(const struct escape *escapes, size_t count)
{
	static run_function *const ways[] = {run_step, run_program};

	for (size_t i = 0; i < count; i++) {
		print_message("%s\n", escapes[i].body);
		for (size_t way = 0; way < WFS_ARRAY_COUNT(ways); way++) {
			AUTO_ANSWER struct lua_answer first = {0};
			AUTO_ANSWER struct lua_answer second = {0};

			run_bounded(ways[way], &escapes[i], &first);
			run_bounded(ways[way], &escapes[i], &second);
			assert_expected(&escapes[i], &first);
			assert_string_equal(first.error.message, second.error.message);
			assert_string_equal(
				wfs_buffer_text(&first.text), wfs_buffer_text(&second.text));
		}
	}
}

#define ASSERT_CONTAINED(escapes) assert_contained(escapes, WFS_ARRAY_COUNT(escapes))

TEST(there_is_no_clock)
{
	static const struct escape escapes[] = {
		{"return os.time()",
			.message = "package.lua:2: attempt to index a nil value "
				   "(global 'os')"},
		{"return os.clock()", .message = "global 'os'"},
		{"return _G['os']['date']()", .message = "attempt to index a nil value"},
		{"return collectgarbage('count')", .message = "global 'collectgarbage'"},
		{"return math.random()", .message = "field 'random'"},
		{"math.randomseed(1)", .message = "field 'randomseed'"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(there_are_no_files)
{
	static const struct escape escapes[] = {
		{"return io.open('/etc/passwd'):read('a')", .message = "global 'io'"},
		{"print('x')", .message = "global 'print'"},
		{"return dofile('/etc/passwd')", .message = "global 'dofile'"},
		{"return loadfile('/etc/passwd')", .message = "global 'loadfile'"},
		{"return require('os')", .message = "global 'require'"},
		{"return package.loadlib('/lib/libc.so.6', '*')", .message = "global 'package'"},
		{"os.remove('/etc/passwd')", .message = "global 'os'"},
		{"warn('@on')", .message = "global 'warn'"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(there_is_no_environment)
{
	static const struct escape escapes[] = {
		{"return os.getenv('HOME')", .message = "global 'os'"},
		{"os.exit(1)", .message = "global 'os'"},
		{"os.execute('true')", .message = "global 'os'"},
		{"os.setlocale('de_DE.UTF-8')", .message = "global 'os'"},
		{"return debug.getregistry()", .message = "global 'debug'"},
		{"return debug.getupvalue(pairs, 1)", .message = "global 'debug'"},
		{"return string.format('%.2f %s', 1.5, 1.5)", .value = "\"1.50 1.5\""},
		{"return {tostring({}), tostring(pairs), tostring(null)}",
			.value = "[\"table\",\"function\",\"null\"]"},
		{"return string.format('%p', {})", .message = "invalid conversion '%p'"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(there_is_no_bytecode)
{
	static const struct escape escapes[] = {
		{"return string.dump(function() end)", .message = "field 'dump'"},
		{"return ('').dump(pairs)", .message = "field 'dump'"},
		{"return load('return 1')()", .message = "global 'load'"},
		{"return load('\\27Lua\\x54\\0\\x19\\x93\\r\\n\\x1a\\n', 'x', 'b')",
			.message = "global 'load'"},
		{"return loadstring('return 1')", .message = "global 'loadstring'"},
	};
	static const char chunk[] = "\x1bLua\x54";
	static const char *const functions[] = {"run", NULL};
	const struct wfs_code_options options = {
		.program = true,
		.limits = &few_instructions,
		.name = "package.lua",
		.source = WFS_BYTES(chunk, sizeof(chunk) - 1),
		.functions = functions,
	};
	struct wfs_code *program = NULL;
	struct wfs_error error = {0};

	ASSERT_CONTAINED(escapes);

	assert_int_equal(wfs_code_new(lua_box(), &options, &program, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_non_null(strstr(error.message, "attempt to load a binary chunk"));
}

TEST(metatables_of_strings_cannot_be_reached)
{
	static const struct escape escapes[] = {
		{"return {getmetatable(''), getmetatable(string), getmetatable(_G)}",
			.value = "[false,false,false]"},
		{"getmetatable('').__index = function() return 1 end",
			.message = "attempt to index a boolean value"},
		{"setmetatable('', {})", .message = "table expected, got string"},
		{"('x').y = 1", .message = "attempt to index a string value"},
		{"string.rep = function() return 'mine' end", .message = "read-only"},
		{"rawset(string, 'rep', 1)", .message = "global 'rawset'"},
		{"setmetatable(string, {__index = {}})", .message = "protected metatable"},
		{"table.insert(string, 1)", .message = "read-only"},
		{"table.move({1}, 1, 1, 1, string)", .message = "read-only"},
		{"return {rawget(string, 'rep') == nil, next(string) == nil, rawlen(string)}",
			.value = "[true,true,0]"},
		{"string = {rep = 1} return ('x'):rep(2)", .value = "\"xx\""},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(there_are_no_coroutines)
{
	static const struct escape escapes[] = {
		{"return coroutine.wrap(function() while true do end end)()",
			.message = "global 'coroutine'"},
		{"return coroutine.create(pairs)", .message = "global 'coroutine'"},
		{"return ('').coroutine.yield()", .message = "attempt to index a nil value"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(finalisers_and_weak_tables_are_refused)
{
	static const struct escape escapes[] = {
		{"setmetatable({}, {__gc = function() end})", .message = "'__gc' in a metatable"},
		{"setmetatable({}, {__gc = true})", .message = "'__gc' in a metatable"},
		{"setmetatable({}, {__mode = 'k'})", .message = "'__mode' in a metatable"},
		{"setmetatable({}, {__close = error})", .message = "'__close' in a metatable"},
		{"setmetatable({}, {__concat = error})", .message = "'__concat' in a metatable"},
		/* A mode that is set later has no effect. */
		{"local m = {} local t = setmetatable({}, m) m.__mode = 'v'\n"
		 "for i = 1, 1e5 do t[i] = {} end return #t",
			.value = "100000", .limits = &enough},
		{"local m = {} local t = setmetatable({}, m) m.__mode = 'v'\n"
		 "t[1] = {} local s = ('x'):rep(1 << 20) s = s .. s return t[1]",
			.value = "{}", .limits = &enough},
		{"local n = 0 do local m = {} setmetatable({}, m)\n"
		 "m.__gc = function() n = n + 1 end end\n"
		 "for i = 1, 1e5 do local t = {} end return n",
			.value = "0", .limits = &enough},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(huge_strings_are_bounded)
{
	static const struct escape escapes[] = {
		{"return ('x'):rep(1 << 40)", .message = "package.lua:2: " MEMORY},
		{"return ('x'):rep(math.maxinteger, 'yy')", .message = MEMORY},
		{"return (''):rep(math.maxinteger, 'yy')", .message = MEMORY},
		{"return string.format('%s%s', ('x'):rep(3 << 20), ('y'):rep(3 << 20))",
			.message = MEMORY, .limits = &little_memory},
		{"return string.format('%100000d', 1)", .message = "invalid conversion"},
		{"return string.format('%99.99f', 1e308):len()", .value = "409"},
		{"local s = 'x' while true do s = s .. s end", .message = MEMORY,
			.limits = &little_memory},
		{"local t = {} for i = 1, 100 do t[i] = (i .. ''):rep(1 << 17) end",
			.message = MEMORY, .limits = &little_memory},
		{"return table.concat({'x'}, ('x'):rep(1 << 20), 1, 1) .. ('y'):rep(9 << 20)",
			.message = MEMORY, .limits = &little_memory},
		{"local t = {} for i = 1, 40 do t[i] = ('x'):rep(1 << 18) end\n"
		 "return #table.concat(t)",
			.message = MEMORY, .limits = &little_memory},
		{"return (('x'):rep(3000):gsub('x', ('y'):rep(4000)))", .message = MEMORY,
			.limits = &little_memory},
		{"return ('x'):rep(1 << 21):byte(1, -1)", .message = "too long",
			.limits = &little_memory},
		{"return ('x'):rep(1 << 16)", .message = "more than 65536 bytes of JSON"},
		/* No pcall() catches the end of memory. */
		{"while true do pcall(function() local s = 'x' while true do s = s .. s end end)\n"
		 "end",
			.message = MEMORY, .limits = &little_memory},
		{"pcall(string.rep, 'x', 1 << 40) return 1", .message = MEMORY},
		{"xpcall(string.rep, function() return 1 end, 'x', 1 << 40) return 1",
			.message = MEMORY},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(huge_tables_are_bounded)
{
	static const struct escape escapes[] = {
		{"local t = {} for i = 1, 1 << 20 do t[i] = i end", .message = MEMORY,
			.limits = &little_memory},
		{"local t = {} for i = 1, 1 << 20 do t = {t, {}, {}} end", .message = MEMORY,
			.limits = &little_memory},
		{"pcall(function() local t = {} while true do t = {t, t, t, t, t, t} end end)\n"
		 "return 1",
			.message = MEMORY, .limits = &little_memory},
		{"return table.unpack({}, 1, 1 << 40)", .message = "too many results"},
		{"return table.pack(table.unpack({}, 1, 1e6)).n", .message = "too many results"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(deep_recursion_ends)
{
	static const struct escape escapes[] = {
		{"local function f(n) return 1 + f(n + 1) end local ok, m = pcall(f, 1)\n"
		 "return {ok, m:find('stack overflow', 1, true) ~= nil}",
			.value = "[false,true]", .limits = &enough},
		{"local function f(n) return 1 + f(n + 1) end return f(1)",
			.message = "package.lua:2: stack overflow", .limits = &enough},
		{"local function f() return f() end return f()", .message = INSTRUCTIONS},
		/* C calls Lua, which calls C: the possible depth is equal each time. */
		{"local n = 0 local function f() n = n + 1 return (pcall(f)) end\n"
		 "return {f(), n > 100, n < 250}",
			.value = "[true,true,true]"},
		{"local n = 0 local function f(s) n = n + 1 return (s:gsub('x', f)) end\n"
		 "local ok, m = pcall(f, 'x') return {ok, n > 100, n < 250, (m:gsub('^.*: ', ''))}",
			.value = "[false,true,true,\"C stack overflow\"]"},
		{"local function f(a, b) table.sort({2, 1}, f) return a < b end\n"
		 "table.sort({2, 1}, f)",
			.message = "stack overflow"},
		{"return tostring(setmetatable({}, {__tostring = tostring}))",
			.message = "stack overflow"},
		{"local m = {} m.__index = function(t, k) return setmetatable({}, m)[k] end\n"
		 "return setmetatable({}, m).x",
			.message = "stack overflow"},
		{"local t = {} for i = 1, 3000 do t = setmetatable({}, {__index = t}) end\n"
		 "return t.x",
			.message = "'__index' chain too long"},
		{"local t = {} setmetatable(t, {__index = t}) return t.x",
			.message = "'__index' chain too long"},
		{"local t = {} setmetatable(t, {__newindex = t}) t.x = 1",
			.message = "'__newindex' chain too long"},
		{"local t = array() for i = 1, 5000 do t = {t} end return t",
			.message = "nested more than 128 levels"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(deeply_nested_code_does_not_compile)
{
	static const struct {
		const char *open;
		const char *close;
	} cases[] = {
		{"(", ")"}, {"{", "}"}, {"function() return ", " end"}, {"- ", ""}, {"not ", ""}};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer body = {0};
		AUTO_ANSWER struct lua_answer answer = {0};

		print_message("%s\n", cases[i].open);
		wfs_buffer_append_text(&body, "return ");
		for (int n = 0; n < 5000; n++)
			wfs_buffer_append_text(&body, cases[i].open);
		wfs_buffer_append_byte(&body, '1');
		for (int n = 0; n < 5000; n++)
			wfs_buffer_append_text(&body, cases[i].close);

		run_program(&few_instructions, wfs_buffer_text(&body), &answer);
		assert_int_equal(answer.r, -EINVAL);
		assert_int_equal(answer.error.code, WFS_E_SYNTAX_ERROR);
		assert_non_null(strstr(answer.error.message, "overflow"));
	}
}

TEST(a_pattern_that_explodes_ends)
{
	static const struct escape escapes[] = {
		{"return string.find(('a'):rep(28), ('a?'):rep(28) .. ('a'):rep(28) .. 'b')",
			.message = INSTRUCTIONS},
		{"return string.match(('a'):rep(1000), ('a*'):rep(20) .. 'b')",
			.message = INSTRUCTIONS},
		{"return string.match(('a'):rep(1000), ('.-'):rep(20) .. 'b')",
			.message = INSTRUCTIONS},
		{"return pcall(string.gsub, ('a'):rep(1000), ('a*'):rep(20) .. 'b', '')",
			.message = INSTRUCTIONS},
		{"for w in string.gmatch(('a'):rep(1000), ('(a*)'):rep(20) .. 'b') do end",
			.message = INSTRUCTIONS},
		{"return ('('):rep(100000):match('%b()')", .message = INSTRUCTIONS},
		{"return ('a'):rep(1 << 16):find('[' .. ('x'):rep(1 << 16) .. ']')",
			.message = INSTRUCTIONS},
		{"return ('a'):rep(1 << 16):find('%f[' .. ('x'):rep(1 << 16) .. ']')",
			.message = INSTRUCTIONS},
		{"return (('a'):rep(1 << 15) .. 'b'):rep(2):find('(a*)%1%1c')",
			.message = INSTRUCTIONS},
		{"return ('x'):rep(1000):match(('(x)'):rep(100))", .message = "too many captures"},
		{"return ('x'):rep(1000):match(('x?'):rep(1000) .. 'y')",
			.message = "pattern too complex"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(error_objects_run_no_code)
{
	static const struct escape escapes[] = {
		{"error({code = 1})", .message = "package.lua: error with a table for its message"},
		{"error(setmetatable({}, {__tostring = function() while true do end end}))",
			.message = "error with a table for its message"},
		{"error(setmetatable({}, {__name = 'me', __metatable = {}, __index = error}))",
			.message = "error with a table for its message"},
		{"error()", .message = "error with a nil"},
		{"error(null)", .message = "error with a userdata"},
		{"error(error)", .message = "error with a function"},
		{"error(42)", .message = "error with a number"},
		{"error('\\xff\\xfe')", .message = "package.lua:2:"},
		{"error(('x'):rep(1 << 18))", .message = "package.lua:2: xxx",
			.limits = &little_memory},
		{"local ok, e = pcall(error, {a = {b = {}}}) e.a.self = e error(e)",
			.message = "error with a table"},
		{"local ok, e = pcall(error, {a = {b = 1}}) return {ok, e.a.b}",
			.value = "[false,1]"},
		{"local ok, e = pcall(error, setmetatable({}, {__tostring = function()\n"
		 "error('inner') end})) return tostring(e)",
			.message = "package.lua:3: inner"},
		{"return {xpcall(error, function(m) error(m) end, 'x')}",
			.value = "[false,\"error in error handling\"]"},
		{"local x <close> = 1", .message = "got a non-closable value"},
		{"local x <close> = {}", .message = "got a non-closable value"},
		{"for k in pairs({1}), nil, nil, {} do end", .message = "got a non-closable value"},
		{"local x <close> = nil return 1", .value = "1"},
		{"return {select(2, pcall(error)) == nil, (pcall(error, null))}",
			.value = "[true,false]"},
	};

	ASSERT_CONTAINED(escapes);
}

TEST(numbers_at_the_edge_of_json_are_exact_or_refused)
{
	static const struct escape escapes[] = {
		{"return {2^53, 2^53 + 1, (1 << 53) + 1, -(2^53)}",
			.value = "[9007199254740992,9007199254740992,9007199254740993,"
				 "-9007199254740992]"},
		{"return {math.maxinteger, math.mininteger, math.maxinteger + 1}",
			.value = "[9223372036854775807,-9223372036854775808,"
				 "-9223372036854775808]"},
		{"return {3.0, 1e15, -0.0, 0.0, 100 // 1.0}",
			.value = "[3,1000000000000000,0,0,100]"},
		{"return {0.1 + 0.2, 1e21, 5e-324, 1.7976931348623157e308}",
			.value = "[0.30000000000000004,1e+21,5e-324,1.7976931348623157e+308]"},
		{"return -(2^63)", .message = "number that JSON cannot carry"},
		{"return 2^63", .message = "number that JSON cannot carry"},
		{"return math.maxinteger + 0.0", .message = "number that JSON cannot carry"},
		{"return {a = -(2^64)}", .message = ".a: number that JSON cannot carry"},
		{"return 1 / 0", .message = "number that JSON cannot carry"},
		{"return {-math.huge}", .message = "[1]: number that JSON cannot carry"},
		{"return 0 / 0", .message = "number that JSON cannot carry"},
		{"return 1 // 0", .message = "attempt to divide by zero"},
		{"return 1 % 0", .message = "attempt to perform 'n%0'"},
		{"return 2^53 | 2^63", .message = "has no integer representation"},
		{"return {[1.0] = 'a', [2] = 'b'}", .value = "[\"a\",\"b\"]"},
		{"return {[2^53] = 1}", .message = "array with a hole"},
		{"local t = {} t[0/0] = 1", .message = "index is NaN"},
	};

	ASSERT_CONTAINED(escapes);
}
