/* SPDX-License-Identifier: Apache-2.0 */
/* Answers from scripts: which line is used, and what is wrong with lines. */
#include <limits.h>

#include "tests/fixture/file.h"
#include "tests/fixture/json.h"

#include "agents/host/script.h"

struct script {
	char directory[64];
	struct script_answer answer;
	struct wfs_error error;
};

static int setup(void **state)
{
	struct script *const script = calloc(1, sizeof(*script));

	*state = script;
	snprintf(script->directory, sizeof(script->directory), "/tmp/wfs-script-XXXXXX");
	return mkdtemp(script->directory) ? 0 : -1;
}

static void forget(struct script *script)
{
	json_decref(WFS_STEAL(script->answer.completion));
	json_decref(WFS_STEAL(script->answer.failure));
}

static int teardown(void **state)
{
	struct script *const script = *state;

	forget(script);
	wfs_directory_remove(script->directory);
	free(script);
	return 0;
}

#define SCRIPT(name) TEST_WITH(name, struct script *script, setup, teardown)

static void put(struct script *script, const char *lines)
{
	WFS_AUTO_FREE char *text = json_text(lines);

	put_file(script->directory, "s", text);
}

/* @last: content of the last message */
static int ask(struct script *script, int64_t turn, const char *last)
{
	WFS_AUTO_JSON json_t *messages = json_pack("[{s:s, s:s}, {s:s, s:s}]", "role", "system",
		"content", "first", "role", "user", "content", last);

	forget(script);
	return script_read(script->directory, "s", turn, messages, &script->answer, &script->error);
}

static void expect(struct script *script, int64_t turn, const char *last, const char *content)
{
	if (ask(script, turn, last))
		fail_msg("%s", script->error.message);
	assert_string_equal(
		json_string_value(json_object_get(script->answer.completion, "content")), content);
}

static void expect_refused(struct script *script, const char *lines, const char *message)
{
	put(script, lines);
	print_message("%s", lines);
	assert_int_equal(ask(script, 1, "x"), -EINVAL);
	assert_null(script->answer.completion);
	if (!strstr(script->error.message, message))
		fail_msg("%s", script->error.message);
}

/* --- which line --- */

SCRIPT(lines_without_conditions_are_taken_in_order)
{
	put(script, "{'content':'one'}\n\n  \t\r\n{'content':'two'}\n{'content':'three'}");
	expect(script, 1, "x", "one");
	expect(script, 2, "x", "two");
	expect(script, 3, "x", "three");
	expect(script, 2, "x", "two"); /* no line is used up */
}

SCRIPT(a_line_for_a_turn_is_taken_in_it_alone)
{
	put(script, "{'content':'second','turn':2}\n{'content':'one'}\n");
	expect(script, 1, "x", "one");
	expect(script, 2, "x", "second");
	assert_int_equal(ask(script, 3, "x"), -ENOENT);
}

SCRIPT(a_line_may_want_a_part_of_the_last_message)
{
	put(script, "{'content':'sum','match':'add'}\n{'content':'other'}\n");
	expect(script, 1, "please add two", "sum");
	expect(script, 1, "first", "other"); /* a line for another message does not match */
}

SCRIPT(a_line_may_want_the_whole_last_message)
{
	put(script, "{'content':'exact','last_message':'add'}\n{'content':'other'}\n");
	expect(script, 1, "add", "exact");
	expect(script, 1, "add two", "other");
}

SCRIPT(all_conditions_of_a_line_have_to_hold)
{
	put(script, "{'content':'both','match':'a','turn':2}\n{'content':'1'}\n{'content':'2'}\n");
	expect(script, 1, "a", "1");
	expect(script, 2, "b", "2");
	expect(script, 2, "a", "both");
}

SCRIPT(the_first_line_that_fits_is_taken)
{
	put(script, "{'content':'a','match':'x'}\n{'content':'b','match':'x'}\n");
	expect(script, 1, "x", "a");
}

SCRIPT(messages_may_be_missing)
{
	WFS_AUTO_JSON json_t *none = json_array();

	put(script, "{'content':'one'}\n");
	assert_int_equal(
		script_read(script->directory, "s", 1, none, &script->answer, &script->error), 0);
}

/* --- what it says --- */

SCRIPT(what_a_line_leaves_out_is_what_models_send)
{
	put(script, "{'content':'one'}\n{'tool_calls':[{'id':'a','name':'b'}]}\n");
	assert_int_equal(ask(script, 1, "x"), 0);
	assert_json_is(json_incref(script->answer.completion),
		"{'content':'one','finish_reason':'stop','tool_calls':[],'usage':null}");
	assert_int_equal(ask(script, 2, "x"), 0);
	assert_json_is(json_incref(script->answer.completion),
		"{'content':null,'finish_reason':'tool_calls','tool_calls':[{'id':'a','name':'b'}],"
		"'usage':null}");
}

SCRIPT(a_line_may_be_a_failure_and_late)
{
	put(script, "{'delay_ms':70,'error':{'code':'overloaded','message':'no'}}\n");
	assert_int_equal(ask(script, 1, "x"), 0);
	assert_null(script->answer.completion);
	assert_int_equal(script->answer.delay_ms, 70);
	assert_json_is(json_incref(script->answer.failure), "{'code':'overloaded','message':'no'}");
}

/* --- what is wrong --- */

SCRIPT(a_missing_script_is_named)
{
	assert_int_equal(ask(script, 1, "x"), -ENOENT);
	assert_int_equal(script->error.code, WFS_E_NOT_FOUND);
	assert_non_null(strstr(script->error.message, script->directory));
}

SCRIPT(a_script_at_its_end_says_what_it_was_asked)
{
	put(script, "{'content':'one'}\n");
	assert_int_equal(ask(script, 2, "the question"), -ENOENT);
	assert_non_null(strstr(script->error.message, "request 2"));
	assert_non_null(strstr(script->error.message, "the question"));
}

SCRIPT(a_path_may_be_absolute_and_not_too_long)
{
	WFS_AUTO_JSON json_t *none = json_array();
	char path[128];
	char long_path[PATH_MAX + 2];

	put(script, "{'content':'one'}\n");
	snprintf(path, sizeof(path), "%s/s", script->directory);
	assert_int_equal(script_read("/none", path, 1, none, &script->answer, &script->error), 0);
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(
		script_read(script->directory, long_path, 1, none, &script->answer, &script->error),
		-ENAMETOOLONG);
}

SCRIPT(bad_lines_are_named)
{
	expect_refused(script, "nonsense\n", "line 1 of the script 's'");
	expect_refused(script, "{'content':'a','turn':2}\n\n[]\n", "line 3");
	expect_refused(script, "{'contents':'a'}\n", "contents");
	expect_refused(script, "{'content':5}\n", "'content': expected a text or null");
	expect_refused(script, "{'match':5}\n", "'match': expected a text");
	expect_refused(script, "{'last_message':null}\n", "'last_message': expected a text");
	expect_refused(script, "{'turn':0}\n", "turn");
	expect_refused(script, "{'turn':'1'}\n", "turn");
	expect_refused(script, "{'delay_ms':-1}\n", "delay_ms");
	expect_refused(script, "{'tool_calls':{}}\n", "'tool_calls': expected an array");
	expect_refused(script, "{'usage':[]}\n", "'usage': expected an object or null");
	expect_refused(script, "{'finish_reason':1}\n", "'finish_reason': expected a text");
	expect_refused(script, "{'error':'no'}\n", "'error': expected an object with the texts");
	expect_refused(script, "{'error':{'code':'x'}}\n", "'error': expected an object with");
}
