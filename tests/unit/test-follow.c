/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that people see of a turn while they wait. */
#include "tests/fixture/world.h"

#include "fs/command/agents/follow.h"

#define START(agent, run)                                                                     \
	"{'kind':'event','body':{'schema':'sys/KernelStart@1','value':{'type':'KernelStart'," \
	"'agent':'" agent "','run_id':'" run "','max_turns':20}}}"
#define EVENT(type, run, rest) \
	"{'kind':'event','body':{'value':{'type':'" type "','run_id':'" run "'" rest "}}}"
#define INTENT(effect, id, run, rest)                                                    \
	"{'kind':'intent','body':{'effect':'" effect "','intent_id':'" id "','params':{" \
	"'run_id':'" run "'" rest "}}}"
#define ACTION(type, run, rest)                                                 \
	"{'kind':'action','body':{'action':{'action_type':'" type "'" rest "}," \
	"'result':{'run_id':'" run "'}}}"

/* Checks the line that follows these records; NULL ends them. */
static void assert_line(const char *const *records, const char *expected)
{
	struct wfs_follow follow = {.agent = "ada"};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};

	for (; *records; records++) {
		WFS_AUTO_JSON json_t *record = json_of(*records);

		wfs_follow_take(&follow, record);
	}
	wfs_follow_line(&follow, 3, &line);

	assert_string_equal(wfs_buffer_text(&line), expected);
}

#define LINE(expected, ...) assert_line((const char *const[]){__VA_ARGS__, NULL}, expected)

TEST(line_of_a_turn_that_has_not_begun_has_the_agent)
{
	LINE("ada: waits to begin, 3 s", START("bob", "bob.7"),
		EVENT("ModelRequest", "bob.7", ",'turn':1"));
}

TEST(line_tells_how_many_requests_there_were)
{
	LINE("ada.7: 2 of 20, asks the model, 3 s", START("ada", "ada.7"), START("ada", "ada.9"),
		EVENT("ModelRequest", "ada.7", ",'turn':1"),
		EVENT("ModelRequest", "ada.9", ",'turn':3"),
		EVENT("ModelRequest", "ada.7", ",'turn':2"));
}

TEST(line_sums_tokens_of_all_answers)
{
	LINE("ada.9: 1 of 20, asks the model, 42 tokens, 3 s", START("ada", "ada.7"),
		EVENT("ModelResponse", "ada.7", ",'usage':{'total_tokens':15}"),
		EVENT("ModelResponse", "ada.7", ",'usage':null"), EVENT("KernelEnd", "ada.7", ""),
		START("ada", "ada.9"), EVENT("ModelRequest", "ada.9", ",'turn':1"),
		EVENT("ModelResponse", "ada.9", ",'usage':{'total_tokens':27}"));
}

#define CALL(name) EVENT("ToolCall", "ada.7", ",'tool_name':'" name "'")

TEST(line_names_the_tool_that_runs)
{
	LINE("ada.7, runs fs_ls, 3 s", START("ada", "ada.7"), CALL("fs_ls"));
	LINE("ada.7, runs 2 tools, 3 s", START("ada", "ada.7"), CALL("fs_ls"), CALL("fs_read"));
	LINE("ada.7, asks the model, 3 s", START("ada", "ada.7"), CALL("fs_ls"),
		EVENT("ToolResult", "ada.7", ""));
}

TEST(line_is_one_line_whatever_a_model_writes)
{
	LINE("ada.7, runs a??b, 3 s", START("ada", "ada.7"), CALL("a\\n\\u001bb"));
}

TEST(line_says_what_would_approve_a_call)
{
	LINE("ada.7, waits for 'worldfs approve ada.7 call_1', 3 s", START("ada", "ada.7"),
		CALL("fs_ls"), INTENT("tool.call", "i1", "ada.7", ",'call_id':'call_1'"),
		ACTION("ask", "ada.7", ",'intent_id':'i1'"));
	LINE("ada.7, runs fs_ls, 3 s", START("ada", "ada.7"), CALL("fs_ls"),
		INTENT("tool.call", "i1", "ada.7", ",'call_id':'call_1'"),
		ACTION("ask", "ada.7", ",'intent_id':'i1'"),
		ACTION("approve", "ada.7", ",'call_id':'call_1'"));
}
