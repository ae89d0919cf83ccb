/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pattern matcher compared with that of stock Lua: one program makes up subjects, patterns and
 * replacements, runs them through find, match, gmatch and gsub, and writes down the results, once
 * in the sandbox and once with Lua's own string library.
 */
#include "tests/fixture/lua.h"

#include <lauxlib.h>
#include <lualib.h>

/*
 * `cases(first, count)` gives one line for each call. An error is written as "error": the texts of
 * messages are not compared. Subjects are short, so that no match takes exponential time.
 */
static const char program[] =
	"local seed\n"
	"local function draw(n)\n"
	"  seed = (seed * 1103515245 + 12345) % 2147483648\n"
	"  return seed // 65536 % n + 1\n"
	"end\n"
	"local function one(list) return list[draw(#list)] end\n"
	"local singles = {'a', 'b', 'x', '.', '%a', '%d', '%s', '%w', '%p', '%A', '%D', '%u', "
	"'%x',\n"
	"  '%c', '%g', '%l', '%W', '%S', '%.', '%%', '%(', '[ab]', '[^a]', '[a-c]', '[%a_]',\n"
	"  '[]]', '[^]]', '[a-]', '[-a]', '[%]]', '[^%s]', '[0-9x]', '[a%-z]', '[%a-z]', '$', "
	"'^',\n"
	"  '-', ' ', '1', '%z', '[[]', '[a^]', '\\0', '\\xe9', '[\\x80-\\xff]'}\n"
	"local items = {'%bab', '%b()', '%f[%w]', '%f[^a]', '%f[a]', '%1', '%2', '()', '%b', '%f', "
	"'%',\n"
	"  '[', '[a', '[^', '%0', '(', ')', '$', '^', '%baa', '[%', '[]'}\n"
	"local repeats = {'', '', '', '*', '+', '-', '?'}\n"
	"local bytes = {'a', 'b', 'c', 'x', '1', '0', ' ', '(', ')', '.', '%', '_', '-', ']', "
	"'A',\n"
	"  '\\n', '\\0', '\\xe9', '\\x80', '^', '$', 'ab', 'aa', 'foo'}\n"
	"local templates = {'', 'y', '%0', '%1', '<%0>', '%1%2', '%%', '%', '%a', '%9', '%1-%1'}\n"
	"local function pattern()\n"
	"  local p, open = draw(5) == 1 and '^' or '', 0\n"
	"  for i = 1, draw(5) do\n"
	"    local kind = draw(12)\n"
	"    if kind == 1 then p = p .. one(items)\n"
	"    elseif kind == 2 then p = p .. '(' open = open + 1\n"
	"    elseif kind == 3 and open > 0 then p = p .. ')' open = open - 1\n"
	"    else p = p .. one(singles) .. one(repeats) end\n"
	"  end\n"
	"  if draw(10) > 1 then p = p .. string.rep(')', open) end\n"
	"  if draw(6) == 1 then p = p .. '$' end\n"
	"  return p\n"
	"end\n"
	"local function subject()\n"
	"  local s = ''\n"
	"  for i = 1, draw(13) - 1 do s = s .. one(bytes) end\n"
	"  return s\n"
	"end\n"
	"local function hex(v)\n"
	"  if type(v) ~= 'string' then return tostring(v) end\n"
	"  local t = {}\n"
	"  for i = 1, #v do t[i] = string.format('%02x', v:byte(i)) end\n"
	"  return '\"' .. table.concat(t) .. '\"'\n"
	"end\n"
	"local function line(...)\n"
	"  local t = table.pack(...)\n"
	"  if not t[1] then return 'error' end\n"
	"  for i = 1, t.n do t[i] = hex(t[i]) end\n"
	"  return table.concat(t, ' ')\n"
	"end\n"
	"local function all(s, p, i)\n"
	"  local t = {}\n"
	"  for a, b in s:gmatch(p, i) do\n"
	"    t[#t + 1] = hex(a) .. hex(b)\n"
	"    if #t > 50 then break end\n"
	"  end\n"
	"  return table.concat(t, ',')\n"
	"end\n"
	"local function swap(a, b) if draw(3) == 1 then return end return b or a end\n"
	"local map = setmetatable({a = 'first', ab = 2, ['1'] = false}, {__index = function(_, k)\n"
	"  if k == 'x' then return 'ex' end end})\n"
	"local function case(number)\n"
	"  seed = number * 7919 + 17\n"
	"  draw(2) draw(2)\n"
	"  local s, p, t = subject(), pattern(), one(templates)\n"
	"  local init = draw(4) == 1 and draw(20) - 10 or nil\n"
	"  local most = draw(4) == 1 and draw(4) - 1 or nil\n"
	"  local results = {\n"
	"    line(pcall(string.find, s, p, init)),\n"
	"    line(pcall(string.find, s, p, init, true)),\n"
	"    line(pcall(string.match, s, p, init)),\n"
	"    line(pcall(all, s, p, init)),\n"
	"    line(pcall(string.gsub, s, p, t, most)),\n"
	"    line(pcall(string.gsub, s, p, swap, most)),\n"
	"    line(pcall(string.gsub, s, p, map, most)),\n"
	"  }\n"
	"  return hex(s) .. ' ' .. hex(p) .. ' ' .. hex(t) .. ' ' .. tostring(init) .. ': '\n"
	"    .. table.concat(results, '; ')\n"
	"end\n"
	"function step(state, event)\n"
	"  local t = {}\n"
	"  for i = 1, event[2] do t[i] = case(event[1] + i) end\n"
	"  return table.concat(t, '\\n')\n"
	"end\n";

enum {
	BATCHES = 40,
	BATCH_CASES = 500,
};

static const char *stock_answer(lua_State *L, int first)
{
	lua_settop(L, 0);
	assert_int_equal(lua_getglobal(L, "step"), LUA_TFUNCTION);
	lua_pushnil(L);
	lua_createtable(L, 2, 0);
	lua_pushinteger(L, first);
	lua_rawseti(L, -2, 1);
	lua_pushinteger(L, BATCH_CASES);
	lua_rawseti(L, -2, 2);
	if (lua_pcall(L, 2, 1, 0) != LUA_OK)
		fail_msg("%s", lua_tostring(L, -1));
	return lua_tostring(L, -1);
}

/* Fails at the first line that differs, and shows both lines. */
static void assert_same_lines(const char *stock, const char *ours)
{
	while (*stock && *ours) {
		const size_t stock_size = strcspn(stock, "\n");
		const size_t our_size = strcspn(ours, "\n");

		if (stock_size != our_size || memcmp(stock, ours, stock_size) != 0)
			fail_msg("\nstock: %.*s\nours:  %.*s", (int)stock_size, stock,
				(int)our_size, ours);
		stock += stock_size + (stock[stock_size] == '\n');
		ours += our_size + (ours[our_size] == '\n');
	}
	assert_string_equal(stock, ours);
}

TEST(patterns_match_as_in_stock_lua)
{
	static const struct wfs_lua_limits limits = {
		.instructions = 100000000, .memory_bytes = 64 << 20, .output_bytes = 16 << 20};
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	lua_State *const stock = luaL_newstate();

	assert_non_null(stock);
	luaL_openlibs(stock);
	assert_int_equal(luaL_dostring(stock, program), LUA_OK);
	assert_int_equal(load_reducer(&limits, "a.lua", program, strlen(program), &lua, NULL), 0);

	for (int batch = 0; batch < BATCHES; batch++) {
		WFS_AUTO_BUFFER struct wfs_buffer event = {0};
		WFS_AUTO_JSON json_t *ours = NULL;

		wfs_buffer_printf(&event, "[%d,%d]", batch * BATCH_CASES, BATCH_CASES);
		lua_outcome_step(lua, NULL, wfs_buffer_text(&event), &outcome);
		assert_string_equal(outcome.error.message, "");
		assert_int_equal(wfs_json_parse(outcome.result.state.data,
					 outcome.result.state.size, &ours, NULL),
			0);
		assert_same_lines(
			stock_answer(stock, batch * BATCH_CASES), json_string_value(ours));
	}
	lua_close(stock);
}

TEST(nesting_of_a_match_is_bounded)
{
	assert_body_fails("return ('a'):rep(1000):match(('a?'):rep(201))", "pattern too complex");
	assert_value("('a'):rep(1000):match(('a?'):rep(150)):len()", "150");
	assert_value("(''):match(('a*'):rep(10000))", "\"\"");
}

TEST(malformed_patterns_are_told)
{
	static const struct {
		const char *pattern;
		const char *message;
	} cases[] = {
		{"%", "malformed pattern (ends with '%')"},
		{"[a", "malformed pattern (missing ']')"},
		{"[]", "malformed pattern (missing ']')"},
		{"%f", "missing '[' after '%f' in pattern"},
		{"%b(", "missing arguments to '%b'"},
		{"%1", "invalid capture index %1"},
		{"(a", "unfinished capture"},
		{"a)", "invalid pattern capture"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer body = {0};

		print_message("%s\n", cases[i].pattern);
		wfs_buffer_printf(&body, "return ('a(b'):match('%s')", cases[i].pattern);
		assert_body_fails(wfs_buffer_text(&body), cases[i].message);
	}
	assert_body_fails("return ('a'):match(('()'):rep(33))", "too many captures");
	assert_body_fails("return ('a'):gsub('a', '%2')", "invalid capture index %2");
	assert_body_fails("return ('a'):gsub('a', '%x')", "invalid use of '%'");
	assert_body_fails("return ('a'):gsub('a', function() return {} end)",
		"invalid replacement value (a table)");
	assert_body_fails("return ('a'):gsub('a')", "string/function/table expected");
}
