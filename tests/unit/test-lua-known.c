/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that made Lua 5.4.4 corrupt memory, or give other values in another process, from
 * tests/data/lua. Each file runs correctly or ends in an error, and none ends the process.
 */
#include <fcntl.h>
#include <unistd.h>

#include "kernel/base/file.h"
#include "tests/fixture/lua.h"

#define DIRECTORY SOURCE_ROOT "/tests/data/lua/"

/* --- a host whose functions return nil --- */

static const struct wfs_lua_binding bindings[] = {
	{NULL, "invoke"},
	{"kernel_actions", "write_artifact"},
};

static int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	(void)host;
	(void)binding_index;
	(void)arguments;
	(void)ret_value;
	(void)error;
	return 0;
}

static struct wfs_code *load_file(struct wfs_box *box, const char *name)
{
	static const char *const functions[] = {"run", NULL};
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	struct wfs_code *program = NULL;
	struct wfs_code_options options = {
		.program = true,
		.limits = &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "package.lua",
		.functions = functions,
		.bindings = bindings,
		.binding_count = WFS_ARRAY_COUNT(bindings),
	};

	wfs_buffer_printf(&path, DIRECTORY "%s", name);
	const int fd = open(wfs_buffer_text(&path), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(wfs_file_read(fd, WFS_LUA_SOURCE_MAX, &source), 0);
	close(fd);
	options.source = wfs_buffer_bytes(&source);
	assert_int_equal(wfs_code_new(box, &options, &program, NULL), 0);
	return program;
}

static void run_file_in(struct wfs_box *box, const char *name, struct lua_answer *ret)
{
	WFS_AUTO_CODE struct wfs_code *program = load_file(box, name);
	struct wfs_code_host host = {.call = host_call};
	struct wfs_code_call call = {.function = "run", .host = &host};

	*ret = (struct lua_answer){0};
	lua_answer_call(program, &call, NULL, ret);
}

static void run_file(const char *name, struct lua_answer *ret)
{
	run_file_in(lua_box(), name, ret);
}

static void assert_file_gives(const char *name, const char *value)
{
	AUTO_ANSWER struct lua_answer answer;

	run_file(name, &answer);
	assert_string_equal(answer.error.message, "");
	assert_string_equal(wfs_buffer_text(&answer.text), value);
}

static void assert_file_fails(const char *name, const char *message)
{
	AUTO_ANSWER struct lua_answer answer;

	run_file(name, &answer);
	assert_int_equal(answer.r, -EIO);
	assert_string_equal(answer.error.message, message);
}

TEST(a_break_leaves_no_variable_to_close)
{
	assert_file_fails("break-leaves-close-list.lua",
		"package.lua:2: '__close' in a metatable is not available");
}

TEST(a_metatable_does_not_become_weak_during_an_assignment)
{
	assert_file_gives("use-after-free-in-newindex.lua", "59");
}

TEST(a_metatable_does_not_become_weak_after_it_was_set)
{
	assert_file_gives("weak-behind-setmetatable.lua",
		"[0,1,false,\"package.lua:10: variable 'x' got a non-closable value\"]");
}

TEST(no_metamethod_moves_the_stack_of_a_concatenation)
{
	assert_file_fails("stack-moves-in-concat.lua",
		"package.lua:4: '__concat' in a metatable is not available");
}

/* --- values that differed between processes --- */

static void assert_file_gives_the_same_in_each_process(const char *name)
{
	enum { PROCESSES = 8 };
	AUTO_ANSWER struct lua_answer first;

	run_file(name, &first);
	assert_string_equal(first.error.message, "");
	for (int i = 0; i < PROCESSES; i++) {
		WFS_AUTO_BOX struct wfs_box *box = NULL;
		AUTO_ANSWER struct lua_answer answer;

		assert_int_equal(wfs_box_new(&box), 0);
		run_file_in(box, name, &answer);
		assert_string_equal(wfs_buffer_text(&answer.text), wfs_buffer_text(&first.text));
	}
}

TEST(a_table_with_holes_has_one_length_in_each_process)
{
	assert_file_gives_the_same_in_each_process("length-of-holes-differs.lua");
}

TEST(messages_and_orders_are_one_in_each_process)
{
	assert_file_gives_the_same_in_each_process("differ-between-runs.lua");
}

TEST(a_message_names_the_first_key_in_order)
{
	assert_file_gives("keys-in-error-differ.lua",
		"[\"package.lua: invoke: argument #2: array with the key 'k1'\","
		"\"a key of type function has no order\"]");
	assert_file_gives("keys-in-messages.lua",
		"[\"package.lua: invoke: argument #1: object with the boolean key false\","
		"\"package.lua: invoke: argument #1: array with the key 'k1'\","
		"\"package.lua: invoke: argument #1: array with a hole or the key 1.5\","
		"\"package.lua: invoke: argument #1: object with the function key function\","
		"\"package.lua: invoke: argument #1: array with a hole or the key false\","
		"\"package.lua: invoke: argument #1: array with a hole or the key 1.5\","
		"\"package.lua: invoke: argument #1: array with a hole at 1\","
		"\"package.lua: invoke: argument #1: array with the key 'k1'\","
		"\"package.lua: invoke: argument #1: object with the number key 1\","
		"\"package.lua: invoke: argument #1: .a: array with a hole at 1\","
		"\"a key of type function has no order\","
		"\"a key of type function has no order\","
		"\"a key of type table has no order\"]");
}

/* --- indices in a row --- */

/* Checks that `run` fails for an expression that has @index @count times after `t`. */
static void run_indices(const char *index, int count, struct lua_answer *ret)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	wfs_buffer_append_text(&source,
		"local function self(t) return t end\n"
		"function run() local t = setmetatable({}, {__index = self}) local k = 'k'\n"
		"return ");
	for (int i = 0; i < count && *index == '('; i++)
		wfs_buffer_append_byte(&source, '(');
	wfs_buffer_append_byte(&source, 't');
	for (int i = 0; i < count; i++)
		wfs_buffer_append_text(&source, *index == '(' ? index + 1 : index);
	wfs_buffer_append_text(&source, " + 1 end");
	lua_answer_run(NULL, wfs_buffer_text(&source), ret);
}

static const char *const indices[] = {".k", "[k]", " . k", ".k--[==[ ]] ]==]\n",
	".k --[[ a comment ]]", "[ [==[k]==] ]", "['k\\']']"};

TEST(as_many_indices_in_a_row_as_there_may_be_run)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(indices); i++) {
		AUTO_ANSWER struct lua_answer answer;

		print_message("%s\n", indices[i]);
		run_indices(indices[i], 200, &answer);
		assert_int_equal(answer.r, -EIO);
		assert_non_null(strstr(answer.error.message, "attempt to perform arithmetic on"));
	}
}

/* 100,000 of them took seven seconds, and ended in an overflow of the C stack. */
TEST(more_indices_in_a_row_are_refused)
{
	static const int counts[] = {201, 30000};

	for (size_t i = 0; i < 2 * WFS_ARRAY_COUNT(indices); i++) {
		AUTO_ANSWER struct lua_answer answer;

		print_message("%s\n", indices[i / 2]);
		run_indices(indices[i / 2], counts[i % 2] / (i % 2 ? 3 : 1), &answer);
		assert_int_equal(answer.r, -EINVAL);
		assert_int_equal(answer.error.code, WFS_E_SYNTAX_ERROR);
		assert_non_null(strstr(answer.error.message, ": more than 200 indices in a row"));
	}
}

TEST(nothing_hides_indices)
{
	static const char *const expressions[] = {
		"(%s)%s",
		"t[t%s]%s",
		"(t[(t%s)])%s",
		"((t%s))%s",
		"0xE+t%s%s",
		"1e+5+t%s%s",
		"0x.8p-1-t%s%s",
		"#'\\\n'+t%s%s",
		"#[[ ' ]]+t%s%s",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(expressions); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		WFS_AUTO_BUFFER struct wfs_buffer row = {0};
		AUTO_ANSWER struct lua_answer answer;
		const char *const hole = strstr(expressions[i], "%s");

		print_message("%s\n", expressions[i]);
		for (int n = 0; n < 150; n++)
			wfs_buffer_append_text(&row, ".k");
		wfs_buffer_append_text(&source, "local t = {} function run() return ");
		wfs_buffer_append(&source, expressions[i], (size_t)(hole - expressions[i]));
		if (hole[-1] == '(')
			wfs_buffer_append_byte(&source, 't');
		wfs_buffer_append_text(&source, wfs_buffer_text(&row));
		wfs_buffer_append(&source, hole + 2, strlen(hole + 2) - 2);
		wfs_buffer_append_text(&source, wfs_buffer_text(&row));
		wfs_buffer_append_text(&source, " end");

		lua_answer_run(NULL, wfs_buffer_text(&source), &answer);
		assert_int_equal(answer.r, -EINVAL);
		assert_non_null(strstr(answer.error.message, "indices in a row"));
	}
}

TEST(indices_that_are_not_in_a_row_are_not_counted)
{
	static const char *const pieces[] = {"t.k = t.k\n", "t.k:f()\n",
		"t[t.k] = {t.k, [t.k] = 1}\n",
		"local _ = '.k.k' .. t.k .. \".k\" .. [[.k.k]] -- .k.k\n",
		"f(1., .5, 1e+5, 0x.8p-1)\n", "local _ = t.k and t.k or -t.k\n"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(pieces); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		AUTO_ANSWER struct lua_answer answer;

		print_message("%s", pieces[i]);
		wfs_buffer_append_text(&source, "local t = {} local function f() end\n");
		for (int n = 0; n < 500; n++)
			wfs_buffer_printf(&source, "do %s end\n", pieces[i]);
		wfs_buffer_append_text(&source, "function run() end");
		lua_answer_run(NULL, wfs_buffer_text(&source), &answer);
		assert_int_not_equal(answer.error.code, WFS_E_SYNTAX_ERROR);
	}
}
