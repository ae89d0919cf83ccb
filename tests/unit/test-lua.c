/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a module, its values in JSON, and what must not survive a step. */
#include "tests/fixture/lua.h"

/* --- modules --- */

static int load(const char *source, size_t size, struct wfs_error *error)
{
	WFS_AUTO_CODE struct wfs_code *lua = NULL;

	return load_reducer(&WFS_LUA_LIMITS_DEFAULT, "package.lua", source, size, &lua, error);
}

static int load_text(const char *source, struct wfs_error *error)
{
	return load(source, strlen(source), error);
}

TEST(a_module_that_does_not_compile_is_refused_with_its_line)
{
	struct wfs_error error = {0};

	assert_int_equal(load_text("local x = 1\nfunction step( return end", &error), -EINVAL);

	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_non_null(strstr(error.message, "package.lua:2:"));
}

TEST(a_module_without_step_is_refused)
{
	struct wfs_error error = {0};

	assert_int_equal(load_text("function stop() end", &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_non_null(strstr(error.message, "'step'"));

	assert_int_equal(load_text("step = setmetatable({}, {__call = print})", &error), -EINVAL);
	assert_int_equal(load_text("local function step() end", &error), -EINVAL);
	assert_int_equal(load_text("", &error), -EINVAL);
}

TEST(a_main_chunk_that_fails_is_a_runtime_error)
{
	struct wfs_error error = {0};

	assert_int_equal(load_text("function step() end\nerror('no')", &error), -EIO);
	assert_int_equal(error.code, WFS_E_RUNTIME_ERROR);
	assert_string_equal(error.message, "package.lua:2: no");

	assert_int_equal(load_text("while true do end", &error), -EIO);
	assert_string_equal(error.message, "package.lua:1: more than 10000000 instructions");
}

TEST(bytecode_is_refused)
{
	static const char chunk[] = "\x1bLua\x54\x00\x19\x93\r\n\x1a\n";
	struct wfs_error error = {0};

	assert_int_equal(load(chunk, sizeof(chunk) - 1, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_non_null(strstr(error.message, "binary"));
}

TEST(a_module_above_the_greatest_size_is_refused)
{
	enum { SIZE = WFS_LUA_SOURCE_MAX + 1 };
	static const char step[] = "function step() end";
	WFS_AUTO_FREE char *source = malloc(SIZE);
	struct wfs_error error = {0};

	assert_non_null(source);
	memset(source, '\n', SIZE);
	memcpy(source, step, sizeof(step) - 1);

	assert_int_equal(load(source, SIZE, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_SYNTAX_ERROR);
	assert_int_equal(load(source, SIZE - 1, &error), 0);
}

/* --- values --- */

TEST(a_step_is_told_state_event_and_context)
{
	assert_code_step(
		"function step(s, e, c) return object{s = s, e = e, c = object{\n"
		"key = c.key, reducer = c.reducer, schema = c.schema, principal = c.principal,\n"
		"seq = c.seq, at_ns = c.at_ns, random = type(c.random)}} end",
		"[1]\n", "{\"a\":2}",
		"{\"c\":{\"at_ns\":1700000000123456789,\"key\":\"the key\",\"principal\":\"alice\","
		"\"random\":\"function\",\"reducer\":\"package\",\"schema\":\"dpkg/Change@1\","
		"\"seq\":42},\"e\":{\"a\":2},\"s\":[1]}");
}

TEST(the_first_state_is_nil)
{
	assert_code_step("function step(s) return type(s) end", NULL, NULL, "\"nil\"");
}

TEST(values_survive_a_round_trip)
{
	static const char *const values[] = {
		"null",
		"true",
		"false",
		"0",
		"-1",
		"9223372036854775807",
		"-9223372036854775808",
		"0.1",
		"1e-7",
		"1e+21",
		"5e-324",
		"\"\"",
		"\"\\u0000\\b\\n\\\"\\\\é€😀\"",
		"[]",
		"{}",
		"[[],{},null]",
		"[null,null]",
		"{\"a\":null,\"b\":[{\"c\":[]}],\"é\":1}",
		"{\"\":0,\"1\":1,\"10\":2,\"2\":3}",
		"{\"\xf0\x9f\x98\x80\":1,\"\xee\x80\x80\":2}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(values); i++) {
		print_message("value %s\n", values[i]);
		assert_code_step("function step(s) return s end", values[i], NULL, values[i]);
		assert_code_step("function step(s, e) return e end", NULL, values[i], values[i]);
	}
}

TEST(objects_of_any_size_are_sorted)
{
	static const int sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 66, 1000};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

		print_message("%d members\n", sizes[i]);
		wfs_buffer_printf(&source,
			"function step() local t = {}\nfor i = %d, 1, -1 do\n"
			"t[string.format('%%05d', i)] = {[string.format('k%%d', i)] = i} end\n"
			"return t end",
			sizes[i]);
		for (int member = 1; member <= sizes[i]; member++)
			wfs_buffer_printf(&expected, "%s\"%05d\":{\"k%d\":%d}",
				member == 1 ? "{" : ",", member, member, member);
		wfs_buffer_append_byte(&expected, '}');
		assert_code_step(wfs_buffer_text(&source), NULL, NULL, wfs_buffer_text(&expected));
	}
}

TEST(values_of_any_size_survive_a_round_trip)
{
	static const int sizes[] = {63, 64, 65, 127, 128, 129, 1000};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		print_message("%d values\n", sizes[i]);
		wfs_buffer_append_text(&text, "{\"array\":[");
		for (int value = 0; value < sizes[i]; value++)
			wfs_buffer_printf(&text, "%s{\"n\":%d}", value ? "," : "", value);
		wfs_buffer_append_text(&text, "],\"object\":{");
		for (int value = 0; value < sizes[i]; value++)
			wfs_buffer_printf(&text, "%s\"%04d\":[%d]", value ? "," : "", value, value);
		wfs_buffer_append_text(&text, "}}");
		assert_code_step("function step(s) return s end", wfs_buffer_text(&text), NULL,
			wfs_buffer_text(&text));
		assert_code_step("function step(s, e) return e end", NULL, wfs_buffer_text(&text),
			wfs_buffer_text(&text));
	}
}

TEST(tables_become_arrays_or_objects)
{
	assert_value("{}", "{}");
	assert_value("array()", "[]");
	assert_value("array{}", "[]");
	assert_value("object{}", "{}");
	assert_value("{1, 2}", "[1,2]");
	assert_value("{[1] = 1, [2] = 2}", "[1,2]");
	assert_value("{a = {}}", "{\"a\":{}}");
	assert_value("{1, array{}, object{}}", "[1,[],{}]");
	assert_value("array(object())", "[]");
	assert_value("{2.0, 3.5, 1e15}", "[2,3.5,1000000000000000]");
	assert_value("setmetatable({a = 1}, {__index = {b = 2}, __pairs = error})", "{\"a\":1}");
	assert_value("{null, getmetatable(array()), getmetatable(object())}",
		"[null,\"array\",\"object\"]");
	assert_code_step("function step(s) s[1] = nil return s end", "[1]", NULL, "[]");
	assert_code_step("function step(s) s[#s + 1] = null return s end", "[1]", NULL, "[1,null]");
}

TEST(a_table_of_the_library_cannot_be_marked)
{
	assert_body_fails("array(string)", "has a metatable");
	assert_body_fails("object(_G)", "has a metatable");
	assert_body_fails("array(setmetatable({}, {}))", "has a metatable");
}

TEST(a_result_that_is_not_json_is_refused_with_its_place)
{
	static const struct {
		const char *body;
		const char *message;
	} cases[] = {
		{"return print or tostring", "package.lua: new state: a function is not"},
		{"return {versions = {1, 2, tostring}}", "new state: .versions[3]: a function"},
		{"return 0/0", "new state: number that JSON cannot carry"},
		{"return {a = math.huge}", ".a: number that JSON cannot carry"},
		{"return {1e19}", "[1]: number that JSON cannot carry"},
		{"return '\\xff'", "string is not valid UTF-8"},
		{"return {['\\xed\\xa0\\x80'] = 1}", "string is not valid UTF-8"},
		{"return {['a\\0b'] = 1}", "NUL byte"},
		{"return {1, 2, x = 3}", "array with the key 'x'"},
		{"return {x = 3, [true] = 1}", "object with the boolean key true"},
		{"return {[1.5] = 1}", "array with a hole or the key 1.5"},
		{"return {1, nil, 3}", "array with a hole"},
		{"return {[2] = 1}", "array with a hole"},
		{"return array{x = 1}", "array with the key 'x'"},
		{"return object{1}", "object with the number key 1"},
		{"return {[{}] = 1}", "object with the table key table"},
		{"local t = {} t.t = t return t", "contains itself"},
		{"local t = {} t[1] = t return t", "contains itself"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("%s\n", cases[i].body);
		assert_body_fails(cases[i].body, cases[i].message);
	}
}

TEST(the_deepest_result_can_be_read_back)
{
	WFS_AUTO_BUFFER struct wfs_buffer deepest = {0};

	for (int i = 0; i < WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&deepest, '[');
	for (int i = 0; i < WFS_JSON_DEPTH_MAX; i++)
		wfs_buffer_append_byte(&deepest, ']');

	assert_code_step("function step(s) return s end", wfs_buffer_text(&deepest), NULL,
		wfs_buffer_text(&deepest));
	assert_body_fails("local t = array() for i = 1, 128 do t = {t} end return t", "128 levels");
}

TEST(a_nil_state_deletes_the_cell)
{
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(NULL, "function step() return nil end", "1", NULL, &outcome);

	assert_int_equal(outcome.r, 0);
	assert_true(outcome.result.deleted);
	assert_int_equal(outcome.result.state.size, 0);
	assert_null(outcome.result.events);
}

TEST(events_and_effects_come_with_the_state)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(NULL,
		"function step(s, e) return 1, {events = {{schema = 'a/B@1', value = e, key = "
		"'k'}},\n"
		"effects = {}} end",
		NULL, "[1.5]", &outcome);

	assert_int_equal(outcome.r, 0);
	wfs_json_write(outcome.result.events, &text);
	assert_string_equal(
		wfs_buffer_text(&text), "[{\"key\":\"k\",\"schema\":\"a/B@1\",\"value\":[1.5]}]");
	assert_true(json_is_array(outcome.result.effects));
	assert_int_equal(json_array_size(outcome.result.effects), 0);
}

TEST(a_second_result_of_another_form_is_refused)
{
	assert_body_fails("return 1, 2", "second result: expected a table");
	assert_body_fails("return 1, {event = {}}", "unknown member 'event'");
	assert_body_fails("return 1, {{}}", "unknown member 'number'");
	assert_body_fails("return 1, {events = 1, z = 1, c = 1, x = 1}", "unknown member 'c'");
	assert_body_fails("return 1, {effects = 1, events = 1}", "events: expected an array");
	assert_body_fails("return 1, {events = {a = 1}}", "events: expected an array");
	assert_body_fails("return 1, {events = 1}", "events: expected an array");
	assert_body_fails(
		"return 1, {effects = {{value = tostring}}}", "effects: [1].value: a func");
}

TEST(a_failed_step_leaves_the_result_alone)
{
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	static const char source[] = "function step(s, e) if e == null then error('no') end return "
				     "e, {events = {e}} end";

	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &lua, NULL),
		0);
	lua_outcome_step(lua, NULL, "7", &outcome);
	assert_int_equal(outcome.r, 0);

	lua_outcome_step(lua, NULL, NULL, &outcome);

	assert_int_equal(outcome.r, -EIO);
	assert_int_equal(outcome.result.state.size, 2);
	assert_memory_equal(outcome.result.state.data, "7\n", 2);
	assert_int_equal(json_array_size(outcome.result.events), 1);
}

TEST(a_stored_state_in_another_form_is_refused)
{
	static const char *const texts[] = {" {\"b\" : 1.0, \"a\":[ ]}", "\"\\u00e9\\/\"", "1E2",
		"-0", "1.50", "\"\\u0041\\u001F\""};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++) {
		AUTO_OUTCOME struct lua_outcome outcome;

		print_message("%s\n", texts[i]);
		lua_outcome_run(NULL, "function step(s) return s end", texts[i], NULL, &outcome);
		assert_int_equal(outcome.r, -EIO);
		assert_int_equal(outcome.error.code, WFS_E_INTERNAL_ERROR);
		assert_string_equal(outcome.error.message,
			"package.lua: the stored state or the event is not canonical JSON");
	}
}

TEST(a_stored_state_that_is_no_document_is_refused)
{
	static const char *const texts[] = {"{", "[1", "[1,]", "{\"a\":1,\"a\":2}", "{\"a\"}",
		"{,}", "[,1]", "\"a", "\"\\x\"", "\"\\u00\"", "\"\\ud800\"", "\"\xff\"", "tru",
		"01", "-", "1.", "9223372036854775808", "-9223372036854775809", "1e400", "1 2",
		"nul", "99999999999999999999999999999999999999999"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++) {
		AUTO_OUTCOME struct lua_outcome outcome;

		print_message("%s\n", texts[i]);
		lua_outcome_run(NULL, "function step(s) return s end", texts[i], NULL, &outcome);
		assert_int_equal(outcome.r, -EIO);
		assert_int_equal(outcome.error.code, WFS_E_INTERNAL_ERROR);
	}
}

/* --- errors --- */

TEST(errors_carry_name_and_line)
{
	assert_body_fails("local x\nreturn x.y", "package.lua:3: attempt to index a nil value");
	assert_body_fails("error('no')", "package.lua:2: no");
	assert_body_fails("\nassert(false)", "package.lua:3: assertion failed!");
	assert_body_fails("assert(nil, 'because')", "package.lua:2: because");
	assert_body_fails("error('bare', 0)", "package.lua:2: bare");
	assert_body_fails("('x'):rep(-1):bad()", "package.lua:2: attempt to call");
	assert_body_fails("string.rep()", "bad argument #1 to 'rep'");
}

/* --- nothing outlives a step --- */

/* Runs two steps of one module; @expected is the state after the second. */
static void assert_second_step(const char *source, const char *expected)
{
	WFS_AUTO_CODE struct wfs_code *lua = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};

	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &lua, NULL),
		0);
	lua_outcome_step(lua, NULL, NULL, &outcome);
	assert_string_equal(outcome.error.message, "");
	lua_outcome_step(lua, NULL, NULL, &outcome);
	assert_string_equal(outcome.error.message, "");
	assert_int_equal(outcome.result.state.size, strlen(expected) + 1);
	assert_memory_equal(outcome.result.state.data, expected, strlen(expected));
}

TEST(globals_do_not_outlive_a_step)
{
	assert_second_step("function step() n = (n or 0) + 1 return n end", "1");
	assert_second_step("function step() _G.n = (_G.n or 0) + 1 return n end", "1");
	assert_second_step("n = 0 function step() n = n + 1 return n end", "1");
	assert_second_step(
		"function step() local t = type type = nil return t(1) end", "\"number\"");
	assert_second_step(
		"function step() local s = step step = nil return type(s) end", "\"function\"");
}

TEST(locals_of_the_main_chunk_do_not_outlive_a_step)
{
	assert_second_step("local n = 0 function step() n = n + 1 return n end", "1");
	assert_second_step("local t = {} function step() t[#t + 1] = 1 return #t end", "1");
}

TEST(the_random_generator_starts_anew)
{
	assert_second_step("local n function step(s, e, c) local a = c.random(1 << 40)\n"
			   "return a == c.random(1 << 40) end",
		"false");
	/* Values of xoshiro256** from the hash of the seed, computed with another program. */
	assert_second_step("function step(s, e, c) return {c.random(100), c.random(100),\n"
			   "c.random(100), c.random(), c.random(-5, 5)} end",
		"[46,9,100,0.3179953247756171,2]");
}

TEST(tables_of_the_library_cannot_be_written)
{
	static const char *const bodies[] = {
		"string.x = 1",
		"math.pi = 3",
		"table.sort = nil",
		"utf8[1] = 1",
		"table.insert(string, 1)",
		"table.move({1}, 1, 1, 1, math)",
		"table.pack().n = nil; setmetatable(string, {})",
		"setmetatable(_G, {})",
		"setmetatable(array(), {})",
		"setmetatable(object(), nil)",
		"('x').y = 1",
		"getmetatable('').__index = nil",
		"getmetatable(string).__index = nil",
		"getmetatable(_G).__index = nil",
		"getmetatable(array()).x = 1",
		"null.x = 1",
		"next(string).x = 1",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(bodies); i++) {
		print_message("%s\n", bodies[i]);
		assert_body_fails(bodies[i], "package.lua:2:");
	}
}

TEST(protected_metatables_are_hidden)
{
	assert_value("{getmetatable(''), getmetatable(string), getmetatable(_G)}",
		"[false,false,false]");
	assert_value("rawget(string, 'rep') == nil and rawlen(string) == 0", "true");
}

TEST(assigning_a_global_of_the_library_is_for_one_step)
{
	assert_second_step("function step() local r = string.rep('a', 2)\n"
			   "string = {rep = function() return 'mine' end}\n"
			   "return {r, string.rep('a', 2), ('b'):rep(2)} end",
		"[\"aa\",\"mine\",\"bb\"]");
}

TEST(two_objects_give_the_same_bytes)
{
	static const char source[] =
		"function step(s, e, c)\n"
		"local t = {} for i = 1, 200 do t['k' .. c.random(1000)] = c.random() end\n"
		"local order = {} for k, v in pairs(t) do order[#order + 1] = k .. '=' .. v end\n"
		"local text = tostring(t) .. tostring(print) .. tostring(step)\n"
		"return {t = t, order = order, text = text} end";
	struct wfs_buffer first = {0};

	for (int i = 0; i < 8; i++) {
		AUTO_OUTCOME struct lua_outcome outcome;

		lua_outcome_run(NULL, source, NULL, NULL, &outcome);
		assert_string_equal(outcome.error.message, "");
		if (i == 0) {
			first = outcome.result.state;
			outcome.result.state = (struct wfs_buffer){0};
			continue;
		}
		assert_int_equal(outcome.result.state.size, first.size);
		assert_memory_equal(outcome.result.state.data, first.data, first.size);
	}
	wfs_buffer_done(&first);
}
