/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a module: what it has works as in stock Lua (each expression is evaluated in
 * both), or differs on purpose, or is absent.
 */
#include "tests/fixture/lua.h"

#include <lauxlib.h>
#include <lualib.h>

/* `show(f)` gives the values of f() as text; for an error it says only that there was one. */
#define SHOW                                                                        \
	"local function text(v)\n"                                                  \
	"  if type(v) == 'table' then local t = {}\n"                               \
	"    for i = 1, v.n or #v do t[i] = text(v[i]) end\n"                       \
	"    return '{' .. table.concat(t, ',') .. '}' end\n"                       \
	"  if type(v) == 'string' then return '\"' .. v .. '\"' end\n"              \
	"  return math.type(v) == 'float' and string.format('%%.17g', v) .. 'f' or" \
	" tostring(v) end\n"                                                        \
	"local function show(f) local t = table.pack(pcall(f))\n"                   \
	"  return t[1] and text(t) or 'error' end\n"

static void assert_as_stock(lua_State *stock, const char *expressions)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	WFS_AUTO_JSON json_t *ours = NULL;
	AUTO_OUTCOME struct lua_outcome outcome;

	print_message("%s\n", expressions);
	wfs_buffer_printf(&source, SHOW "function step() return show(function() return %s end) end",
		expressions);
	lua_settop(stock, 0);
	if (luaL_dostring(stock, wfs_buffer_text(&source)) != LUA_OK ||
		lua_getglobal(stock, "step") != LUA_TFUNCTION ||
		lua_pcall(stock, 0, 1, 0) != LUA_OK)
		fail_msg("%s", lua_tostring(stock, -1));
	lua_outcome_run(NULL, wfs_buffer_text(&source), NULL, NULL, &outcome);
	assert_string_equal(outcome.error.message, "");
	assert_int_equal(
		wfs_json_parse(outcome.result.state.data, outcome.result.state.size, &ours, NULL),
		0);
	assert_string_equal(json_string_value(ours), lua_tostring(stock, -1));
}

static void assert_all_as_stock(const char *const *expressions, size_t count)
{
	lua_State *const stock = luaL_newstate();

	assert_non_null(stock);
	luaL_openlibs(stock);
	for (size_t i = 0; i < count; i++)
		assert_as_stock(stock, expressions[i]);
	lua_close(stock);
}

#define ASSERT_ALL_AS_STOCK(expressions) \
	assert_all_as_stock(expressions, WFS_ARRAY_COUNT(expressions))

TEST(basic_functions_are_those_of_lua)
{
	static const char *const expressions[] = {
		"assert(1, 2, 3)",
		"assert(false)",
		"assert(nil, 'x')",
		"pcall(error, {1})",
		"pcall(error, 'x', 0)",
		"pcall(error)",
		"select(2, pcall(error, nil))",
		"xpcall(error, function(m) return m .. '!' end, 'x')",
		"xpcall(function(...) return select('#', ...) end, type, 1, nil, nil)",
		"select('#')",
		"select('#', nil, nil)",
		"select(2, 'a', 'b', 'c')",
		"select(-1, 'a', 'b')",
		"select(-3, 'a', 'b')",
		"select(0, 1)",
		"select(9, 1)",
		"tonumber('10'), tonumber(' 0x1p4 '), tonumber('1e1'), tonumber('1 2'), "
		"tonumber('')",
		"tonumber('ff', 16), tonumber('-Zz', 36), tonumber('8', 8), tonumber('7', 8)",
		"tonumber('1' .. ('0'):rep(30), 10), tonumber('- 1', 10), tonumber(' -1 ', 10)",
		"tonumber('10', 1)",
		"tonumber(10, 10)",
		"tonumber()",
		"tonumber({}), tonumber(nil), tonumber('9223372036854775808')",
		"tostring(1), tostring(1.0), tostring(-0.0), tostring(1e100), tostring(nil), "
		"tostring(true)",
		"tostring(math.huge), tostring(2^63), tostring(math.mininteger)",
		"tostring(setmetatable({}, {__tostring = function() return 'me' end}))",
		"tostring(setmetatable({}, {__tostring = function() return 1 end}))",
		"tostring(setmetatable({}, {__tostring = function() return {} end}))",
		"type(nil), type(1), type('x'), type({}), type(print or type), type(type)",
		"type()",
		"rawequal('a', 'a'), rawequal({}, {}), rawlen({1, 2}), rawlen('abc')",
		"rawlen(1)",
		"rawget(setmetatable({}, {__index = {a = 1}}), 'a')",
		"getmetatable(setmetatable({}, {__metatable = 7}))",
		"getmetatable({}), getmetatable(1)",
		"setmetatable(setmetatable({}, {__metatable = 7}), {})",
		"setmetatable(1, {})",
		"setmetatable({}, 1)",
		"(function() local t = {} for i, v in ipairs({1, 2, nil, 4}) do t[i] = v end "
		"return t end)()",
		"(function() local t = {} for i, v in ipairs(setmetatable({}, {__index = "
		"function(_, i) if i < 4 then return i * i end end})) do t[i] = v end return t "
		"end)()",
		"'10' + 1, '0x10' * '2', 10 .. 20, '3' // 1, '7' % '4', '2' ^ 2, -'2', '1' / 2",
		"'a' + 1",
		"1 + {}",
		"'1' + setmetatable({}, {__add = function(a, b) return a .. 'added' end})",
		"-'a'",
		"'10' | 1, '3' < '10', 'a' < 'b', 'a' == 'a'",
		"1 < 'x'",
	};

	ASSERT_ALL_AS_STOCK(expressions);
}

TEST(strings_are_those_of_lua)
{
	static const char *const expressions[] = {
		"('hello'):byte(), ('hello'):byte(-1), ('hello'):byte(2, 4), (''):byte()",
		"('hello'):byte(0), ('hello'):byte(10), ('hello'):byte(-10, 2), ('x'):byte(1, 0)",
		"string.char(), string.char(72, 105), #string.char(0, 255)",
		"string.char(256)",
		"string.char(-1)",
		"('hello'):sub(2), ('hello'):sub(-3), ('hello'):sub(2, -2), ('hello'):sub(4, 2)",
		"('hello'):sub(0), ('hello'):sub(-100, 100), ('hello'):sub(math.mininteger, 1)",
		"('hello'):sub(3, math.mininteger), ('hello'):sub(math.maxinteger)",
		"('x'):rep(3), ('x'):rep(3, ','), ('x'):rep(0), ('x'):rep(-1), (''):rep(9), "
		"('x'):rep(1, '-')",
		"('aBc1'):upper(), ('aBc1'):lower(), ('abc'):reverse(), (''):reverse(), "
		"('abc'):len()",
		"string.len(12), ('\\0a'):len()",
		"string.format('%d %5d|%-5d|%05d %+d % d', 1, 2, 3, 4, 5, 6)",
		"string.format('%d', 3.0), string.format('%d', '10')",
		"string.format('%d', 3.5)",
		"string.format('%x %X %#x %o', 255, 255, 255, 8), string.format('%x', -1)",
		"string.format('%5.2f|%-8.3f|%e|%g|%G|%+.1f', 1.234, 2, 3, 1e20, 1e-10, 4)",
		"string.format('%.3f %5.1f', 1/3, math.huge), string.format('%.99f', 1/3)",
		"string.format('%99.99f', 1.7976931348623157e308)",
		"string.format('%.14g', 0.1), string.format('%i', 7)",
		"string.format('%s %5s|%-5s|%.2s|%5.1s|', 'a', 'b', 'c', 'def', 'ghi')",
		"string.format('%s %s %s', 1, 1.5, true), string.format('%s', nil)",
		"string.format('%c%c', 72, 105), string.format('%5c|', 72), string.format('%%')",
		"string.format('%s')",
		"string.format('%')",
		"string.format('%y', 1)",
		"string.format('%0', 1)",
		"string.format('%123d', 1)",
		"string.format('%.123f', 1)",
		"string.format('%d', 'x')",
		"string.format('')",
		"('x'):rep(600):len(), string.format('%s|%s', ('a'):rep(700), "
		"('b'):rep(700)):len()",
	};

	ASSERT_ALL_AS_STOCK(expressions);
}

TEST(tables_are_those_of_lua)
{
	static const char *const expressions[] = {
		"(function() local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return t "
		"end)()",
		"table.insert({1}, 3, 1)",
		"table.insert({1}, 0, 1)",
		"table.insert({1})",
		"table.insert({1}, 1, 2, 3)",
		"(function() local t = {1, 2, 3} return table.remove(t), table.remove(t, 1), t "
		"end)()",
		"table.remove({}), table.remove({}, 0), table.remove({1}, 2)",
		"table.remove({1}, 3)",
		"(function() local t = {[0] = 7} return table.remove(t), t[0] end)()",
		"table.concat({1, 2.5, 'x'}), table.concat({1, 2, 3}, ', '), table.concat({}, 'x')",
		"table.concat({1, 2, 3}, '-', 2), table.concat({1, 2, 3}, '-', 2, 3)",
		"table.concat({1, 2, 3}, '-', 3, 2)",
		"table.concat({1, {}, 3})",
		"table.concat({}, '', math.maxinteger, math.maxinteger)",
		"table.concat({[math.maxinteger] = 'x'}, '', math.maxinteger, math.maxinteger)",
		"table.pack(1, nil, 3).n, table.pack().n",
		"table.unpack({1, 2, 3}), table.unpack({1, 2, 3}, 2), table.unpack({1, 2}, 1, 3)",
		"table.unpack({}, 1, 0), table.unpack({[-1] = 'a'}, -1, -1)",
		"table.unpack({}, math.mininteger, math.maxinteger)",
		"table.move({1, 2, 3}, 1, 3, 2), table.move({1, 2, 3}, 2, 3, 1), table.move({1, "
		"2}, 1, 2, 1, {})",
		"table.move({1, 2, 3}, 2, 1, 1), table.move({1}, 1, 1, math.maxinteger)",
		"table.move({1}, 1, 2, math.maxinteger)",
		"table.move({1}, math.mininteger, 2, 1)",
		"(function() local t = {3, 1, 2} table.sort(t) return t end)()",
		"(function() local t = {'b', 'a', 'c'} table.sort(t, function(a, b) return a > b "
		"end) "
		"return t end)()",
		"(function() local t = {} for i = 1, 100 do t[i] = i * 37 % 101 end table.sort(t) "
		"return t end)()",
		"(function() local t = {1.5, 1, -2, 2^53} table.sort(t) return t end)()",
		"table.sort({1, 'x'})",
		"table.sort({1, 2}, 1)",
		"table.sort({})",
		"table.sort(1)",
		"#table.move(setmetatable({}, {__index = function(_, i) return i end}), 1, 5, 1, "
		"{})",
	};

	ASSERT_ALL_AS_STOCK(expressions);
}

TEST(numbers_are_those_of_lua)
{
	static const char *const expressions[] = {
		"math.abs(-1), math.abs(1.5), math.abs(-1.5), math.abs(math.mininteger), "
		"math.abs('-2')",
		"math.ceil(1.2), math.ceil(-1.2), math.ceil(3), math.ceil(1e300), math.ceil(-0.5)",
		"math.floor(1.8), math.floor(-1.2), math.floor(3), math.floor(1e300), "
		"math.floor('1.5')",
		"math.fmod(7, 3), math.fmod(-7, 3), math.fmod(7, -3), math.fmod(7.5, 2)",
		"math.fmod(math.mininteger, -1), math.fmod(1, math.huge), math.fmod(-6, 2)",
		"math.fmod(1, 0)",
		"math.modf(3.7), math.modf(-3.7), math.modf(5), math.modf(1e300), "
		"math.modf(math.maxinteger), math.modf(math.huge), "
		"math.modf(-math.huge)",
		"math.max(1, 2.5), math.max(2, 2.0), math.max(2.0, 2), math.max(1)",
		"math.min(1, 2.5), math.min(-1, -1.5), math.min(2, 2.0)",
		"math.max()",
		"math.max('x')",
		"math.sqrt(2), math.sqrt(16), math.pi, math.huge, math.maxinteger, math.mininteger",
		"math.tointeger(3.0), math.tointeger(3.5), math.tointeger('8'), math.tointeger({})",
		"math.type(1), math.type(1.0), math.type('1'), math.type(nil)",
		"math.type()",
		"math.ult(1, -1), math.ult(-1, 1), math.ult(1, 2)",
		"math.floor({})",
	};

	ASSERT_ALL_AS_STOCK(expressions);
}

TEST(utf8_is_that_of_lua)
{
	static const char *const expressions[] = {
		"utf8.char(), utf8.char(72, 228, 8364, 128512), #utf8.charpattern",
		"utf8.char(-1)",
		"utf8.len('aä€😀'), utf8.len(''), utf8.len('aä€😀', 2), utf8.len('aä€', -3)",
		"utf8.len('a\\xffb'), utf8.len('\\xe4'), utf8.len('\\xed\\xa0\\x80'), "
		"utf8.len('ä', 2)",
		"utf8.len('abc', 4), utf8.len('abc', 2, 1), utf8.len('abc', 1, -2)",
		"utf8.len('abc', 5)",
		"utf8.len('abc', 1, 4)",
		"utf8.codepoint('aä€😀', 1, -1), utf8.codepoint('ä'), utf8.codepoint('abc', 2, 1)",
		"utf8.codepoint('\\xff')",
		"utf8.codepoint('abc', 4)",
		"utf8.offset('aä€😀', 3), utf8.offset('aä€😀', -1), utf8.offset('aä€😀', 5)",
		"utf8.offset('aä€😀', 6), utf8.offset('aä', 0, 3), utf8.offset('abc', 1, 4)",
		"utf8.offset('ä', -1, 3), utf8.offset('abc', -4), utf8.offset('', 1), "
		"utf8.offset('', 0)",
		"utf8.offset('ä', 1, 2)",
		"utf8.offset('ab', 1, 5)",
		"(function() local t = {} for p, c in utf8.codes('aä€😀') do t[#t + 1] = p t[#t + "
		"1] = c "
		"end return t end)()",
		"(function() for p, c in utf8.codes('a\\xff') do end end)()",
		"(function() for p, c in utf8.codes('a\\x80') do end end)()",
		"(function() local n = 0 for c in ('aä€'):gmatch(utf8.charpattern) do n = n + #c "
		"end "
		"return n end)()",
	};

	ASSERT_ALL_AS_STOCK(expressions);
}

TEST(traversal_is_sorted)
{
	assert_code_step(
		"function step()\n"
		"local t, keys = {}, {}\n"
		"for i = 10, 1, -1 do t['k' .. i] = i t[-i] = i end\n"
		"t[true] = 1 t[false] = 1 t[1.5] = 1 t[1] = 1 t[2^53] = 1 t['k'] = 1\n"
		"t[math.huge] = 1 t[-math.huge] = 1 t[math.maxinteger] = 1 t[2^63] = 1\n"
		"t['é'] = 1 t['z\\0'] = 1 t['z'] = 1\n"
		"for k in pairs(t) do keys[#keys + 1] = tostring(k) end\n"
		"local k, n = nil, 0\n"
		"repeat k = next(t, k) n = n + 1 assert(tostring(k) == (keys[n] or 'nil'))\n"
		"until k == nil\n"
		"return table.concat(keys, ' ') end",
		NULL, NULL,
		"\"-inf -10 -9 -8 -7 -6 -5 -4 -3 -2 -1 1 1.5 9007199254740992 9223372036854775807"
		" 9.2233720368548e+18 inf k k1 k10 k2 k3 k4 k5 k6 k7 k8 k9 z z\\u0000 é false "
		"true\"");
}

TEST(traversal_sees_the_keys_there_were)
{
	assert_value("(function() local t, n = {a = 1, b = 2, c = 3}, 0\n"
		     "for k in pairs(t) do t[k] = nil t.b = nil t[k .. 'x'] = 1 n = n + 1 end\n"
		     "return n end)()",
		"2");
	assert_value("(function() local t, n = {1, 2, 3, 4}, 0\n"
		     "for k in pairs(t) do t[k] = nil t[3] = nil t[k + 10] = 1 n = n + 1 end\n"
		     "return n end)()",
		"3");
	assert_value("(function() for k in pairs({}) do return k end return next({}) == nil end)()",
		"true");
	assert_value("(function() local f, t = pairs({a = 1}) f(t) return f(t) == nil and\n"
		     "f(t) == nil end)()",
		"true");
	assert_value(
		"(function() local t = {} for k, v in next, {b = 1, a = 2} do t[#t + 1] = k end\n"
		"return t end)()",
		"[\"a\",\"b\"]");
	assert_value("(function() for k, v in pairs(setmetatable({}, {__pairs = function(t)\n"
		     "return function(_, k) if not k then return 1, 'own' end end, t end})) do\n"
		     "return v end end)()",
		"\"own\"");
}

TEST(keys_without_an_order_are_refused)
{
	assert_body_fails("for k in pairs({[{}] = 1}) do end", "a key of type table has no order");
	assert_body_fails("for k in pairs({[print or type] = 1}) do end", "type function");
	assert_body_fails("return next({[null] = 1})", "type userdata");
	assert_body_fails("return next({}, {})", "type table");
	assert_body_fails("pairs(nil)", "table expected, got nil");
}

TEST(a_metatable_is_what_it_was_when_it_was_set)
{
	assert_value("(function() local m = {__index = {a = 1}} local t = setmetatable({}, m)\n"
		     "m.__index = {a = 2} m.__len = function() return 7 end\n"
		     "return {t.a, #t, setmetatable({}, m).a, #setmetatable({}, m)} end)()",
		"[1,0,2,7]");
	assert_value("(function() local m = {} local t = setmetatable({}, m)\n"
		     "return {getmetatable(t) == m, setmetatable(t, m) == t,\n"
		     "getmetatable(setmetatable(t, nil)) == nil} end)()",
		"[true,true,true]");
	assert_value("(function() local class = {} class.__index = class\n"
		     "local object = setmetatable({n = 1}, class)\n"
		     "function class.add(self, n) self.n = self.n + n return self end\n"
		     "return object:add(2).n end)()",
		"3");
	assert_value(
		"(function() local m = {__metatable = 'mine'} local t = setmetatable({}, m)\n"
		"m.__metatable = nil return {getmetatable(t), pcall(setmetatable, t, m)} end)()",
		"[\"mine\",false,\"cannot change a protected metatable\"]");
	assert_value("(function() local t = setmetatable({}, setmetatable({}, {__index = {__len =\n"
		     "error}})) return #t end)()",
		"0");
}

TEST(no_text_shows_an_address)
{
	assert_value("{tostring({}), tostring(print), tostring(tostring), tostring(null),\n"
		     "tostring(step), tostring(array{})}",
		"[\"table\",\"nil\",\"function\",\"null\",\"function\",\"table\"]");
	assert_value("string.format('%s %s %s', {}, step, null)", "\"table function null\"");
	assert_value("{tostring(0/0), tostring(-(0/0)), string.format('%f %5.1f', 0/0, -(0/0))}",
		"[\"nan\",\"nan\",\"nan   nan\"]");
	assert_body_fails("return string.format('%p', {})", "invalid conversion '%p'");
	assert_body_fails("return string.format('%q', 'x')", "invalid conversion '%q'");
	assert_body_fails("return string.format('%a', 1)", "invalid conversion '%a'");
	assert_body_fails("error({} .. 'x')", "attempt to concatenate a table value");
}

TEST(sorting_is_stable_and_always_ends)
{
	assert_value("(function() local t = {}\n"
		     "for i = 1, 50 do t[i] = {k = i % 3, i = i} end\n"
		     "table.sort(t, function(a, b) return a.k < b.k end)\n"
		     "for i = 2, 50 do local a, b = t[i - 1], t[i]\n"
		     "if a.k > b.k or a.k == b.k and a.i > b.i then return i end end\n"
		     "return 'stable' end)()",
		"\"stable\"");
	assert_value("(function() local t, n = {5, 3, 1, 4, 2}, 0\n"
		     "table.sort(t, function() n = n + 1 return true end)\n"
		     "return n < 20 and #t end)()",
		"5");
	assert_value("(function() local t = {3, 2, 1}\n"
		     "local ok = pcall(table.sort, t, function() error('x') end)\n"
		     "return {ok, t[1], t[2], t[3]} end)()",
		"[false,3,2,1]");
}

TEST(random_numbers_keep_their_range)
{
	assert_code_step(
		"function step(s, e, c)\n"
		"local seen = {}\n"
		"for i = 1, 1000 do\n"
		"  local f, n, m = c.random(), c.random(6), c.random(-2, 2)\n"
		"  assert(f >= 0 and f < 1 and math.type(f) == 'float')\n"
		"  assert(n >= 1 and n <= 6 and m >= -2 and m <= 2)\n"
		"  seen[n] = true seen[10 + m] = true\n"
		"  c.random(math.mininteger, math.maxinteger)\n"
		"  assert(c.random(7, 7) == 7)\n"
		"end\n"
		"local keys = {} for k in pairs(seen) do keys[#keys + 1] = k end return keys end",
		NULL, NULL, "[1,2,3,4,5,6,8,9,10,11,12]");
	assert_body_fails("ctx.random(0)", "interval is empty");
	assert_body_fails("ctx.random(2, 1)", "interval is empty");
	assert_body_fails("ctx.random(1.5)", "no integer representation");
}

TEST(what_is_not_there_is_absent)
{
	static const char *const names[] = {"collectgarbage", "coroutine", "debug", "dofile", "io",
		"load", "loadfile", "loadstring", "module", "os", "package", "print", "rawset",
		"require", "warn", "_VERSION", "math.random", "math.randomseed", "math.sin",
		"math.exp", "math.log", "math.pow", "string.dump", "string.pack", "string.unpack",
		"string.packsize"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer expression = {0};

		print_message("%s\n", names[i]);
		wfs_buffer_printf(&expression, "%s == nil", names[i]);
		assert_value(wfs_buffer_text(&expression), "true");
	}
}

TEST(the_globals_are_those_of_the_step)
{
	assert_code_step("x = 1 function step() local t = {}\n"
			 "for k in pairs(_G) do t[#t + 1] = k end return t end",
		NULL, NULL, "[\"_G\",\"step\",\"x\"]");
	assert_value("_G._G == _G and _G.tostring == tostring", "true");
}
