/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that are made of turns. */
#include "tests/fixture/world.h"

#include "fs/command/agents/recorder.h"

#define INTENT(effect, id, run, rest)                                                    \
	"{'kind':'intent','body':{'effect':'" effect "','intent_id':'" id "','params':{" \
	"'run_id':'" run "'" rest "}}}"
#define RECEIPT(id, status, payload)                                            \
	"{'kind':'receipt','body':{'intent_id':'" id "','status':'" status "'," \
	"'payload':" payload "}}"

static void assert_script(const char *const *records, const char *expected)
{
	WFS_AUTO_RECORDER struct wfs_recorder recorder = {.turn_id = "ada.7"};
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);

	for (; *records; records++) {
		WFS_AUTO_JSON json_t *record = json_of(*records);

		assert_int_equal(wfs_recorder_take(&recorder, record), 0);
	}
	wfs_recorder_write(&recorder, &script);

	assert_string_equal(wfs_buffer_text(&script), wanted);
}

#define SCRIPT(expected, ...) assert_script((const char *const[]){__VA_ARGS__, NULL}, expected)
#define GENERATE(id, run, turn) INTENT("llm.generate", id, run, ",'turn':" turn)

TEST(script_has_a_line_for_each_answer_of_the_turn)
{
	SCRIPT("{'content':'a','tool_calls':[],'turn':1}\n{'content':'c','turn':2}\n",
		GENERATE("i1", "ada.7", "1"), GENERATE("i2", "bob.9", "1"),
		INTENT("tool.call", "i3", "ada.7", ",'turn':1"),
		RECEIPT("i1", "ok", "{'attempts':1,'content':'a','duration_ms':5,'tool_calls':[]}"),
		RECEIPT("i2", "ok", "{'content':'b'}"), RECEIPT("i3", "ok", "{'output':'x'}"),
		GENERATE("i4", "ada.7", "2"), RECEIPT("i4", "ok", "{'content':'c'}"));
}

TEST(script_has_the_last_answer_to_a_request_that_was_repeated)
{
	SCRIPT("{'content':'b','turn':1}\n", GENERATE("i1", "ada.7", "1"),
		RECEIPT("i1", "error", "{'code':'too_long','message':'m'}"),
		GENERATE("i2", "ada.7", "1"), RECEIPT("i2", "ok", "{'content':'b'}"));
}

TEST(script_has_failures_but_not_what_was_never_answered)
{
	SCRIPT("{'error':{'code':'http_500','message':'ill'},'turn':1}\n",
		GENERATE("i1", "ada.7", "1"),
		RECEIPT("i1", "error", "{'code':'http_500','message':'ill','status':500}"),
		GENERATE("i2", "ada.7", "2"), RECEIPT("i2", "cancelled", "null"));
	SCRIPT("", GENERATE("i1", "ada.7", "1"));
}

TEST(script_has_what_the_model_said_about_the_next_state)
{
	SCRIPT("{'content':'a','turn':1}\n{'content':'{}','turn':2,'usage':null}\n",
		GENERATE("i1", "ada.7", "1"), RECEIPT("i1", "ok", "{'content':'a'}"),
		INTENT("workflow.advance", "i2", "ada.7", ",'mode':'llm','state':'s'"),
		RECEIPT("i2", "ok", "{'next_state':'s','reason':'r','text':'{}','usage':null}"));
}

TEST(script_has_nothing_of_a_condition_for_the_next_state)
{
	SCRIPT("{'content':'a','turn':1}\n", GENERATE("i1", "ada.7", "1"),
		RECEIPT("i1", "ok", "{'content':'a'}"),
		INTENT("workflow.advance", "i2", "ada.7", ",'mode':'condition','state':'s'"),
		RECEIPT("i2", "ok", "{'next_state':'s','notes':[],'reason':'condition'}"));
}
