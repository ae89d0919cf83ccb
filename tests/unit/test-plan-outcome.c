/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to the steps of a plan, and to the plan. Numbers in comments: the cases of
 * research/agent-kernel.md, part 4. */
#include "tests/fixture/plan.h"

#include "kernel/read/text.h"
#include "kernel/store/tables.h"

/* --- what tools give --- */

/* 144 */
WITH_ACTORS(what_a_tool_gives_is_kept)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));

	plan_answer(&run, 0, "ok", GAVE("{'a':[1]}"));

	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'_step_id':'s0','asked':{'method':'','name':'t'},'details':null,'error':null,"
		"'method':'','name':'t','ok':true,'result':{'a':[1]}}");
	assert_step(&run, 0, "{'attempts':1,'status':'done'}");
	assert_bytes_are_counted(&run);
}

/* 159 */
WITH_ACTORS(a_step_has_the_hash_of_its_result)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));
	char text[WFS_HASH_TEXT_SIZE];

	plan_answer(&run, 0, "ok", GAVE("'x'"));

	WFS_AUTO_JSON json_t *step = plan_cell(&run, "sys.plan_step", 0);
	const json_t *const ref = json_object_get(step, "result_ref");
	WFS_AUTO_FREE char *key = NULL;
	assert_true(asprintf(&key, "%s.0", run.id) > 0);
	WFS_AUTO_FREE char *result = state_at(fixture, WFS_HEIGHT_HEAD, "sys.plan_result", key);
	result[strlen(result)] = '\n'; /* state_at() took the newline off */
	const struct wfs_hash hash = wfs_hash_of(result, strlen(result));
	wfs_hash_text(&hash, text);
	assert_string_equal(wfs_json_text(ref, "sha256"), text + strlen("sha256:"));
	assert_int_equal(json_integer_value(json_object_get(ref, "bytes")), strlen(result));
}

/* 135 */
WITH_ACTORS(a_tool_that_reports_failure_has_failed)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL(""));

	plan_answer(&run, 0, "ok", GAVE_NOT("TOOL_EXCEPTION", ""));

	assert_step(&run, 0, "{'reason':'TOOL_EXCEPTION','status':'failed'}");
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'details':{'message':'no','type':'t'},'error':'TOOL_EXCEPTION','ok':false}");
}

/* 143 */
WITH_ACTORS(a_tool_that_breaks_is_an_exception)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL(""));

	plan_answer(&run, 0, "error", BROKE);
	plan_answer(&run, 0, "timeout", "{'code':'timeout','message':'too late'}");

	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'details':{'message':'nobody there','type':'unavailable'},"
		"'error':'TOOL_EXCEPTION','ok':false,'result':null}");
	assert_members(plan_cell(&run, "sys.plan_result", 1),
		"{'details':{'message':'too late','type':'timeout'},'error':'TOOL_TIMEOUT'}");
}

#define GAVE_TEXT "{'duration_ms':1,'outcome':{'method':'','name':'t','ok':true,'result':'"

/* A larger result is not kept; of a text, the two quotes count. */
WITH_ACTORS(a_result_has_four_mebibytes)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), AT_MOST(3, ""), MODEL(""));
	WFS_AUTO_FREE char *most = plan_payload_with(GAVE_TEXT, WFS_PLAN_RESULT_MAX - 2, "'}}");
	WFS_AUTO_FREE char *more = plan_payload_with(GAVE_TEXT, WFS_PLAN_RESULT_MAX - 1, "'}}");
	WFS_AUTO_FREE char *said = plan_payload_with("{'text':'", WFS_PLAN_RESULT_MAX - 1, "'}");

	plan_answer(&run, 0, "ok", most);
	plan_answer(&run, 0, "ok", more);
	plan_answer(&run, 0, "ok", said);

	assert_steps(&run, "dff");
	assert_members(plan_cell(&run, "sys.plan_result", 1),
		"{'_step_id':'s1','details':{'message':'the result has more bytes than are kept',"
		"'type':'too_large'},'error':'TOOL_EXCEPTION','name':'t','ok':false,"
		"'result':null}");
	assert_members(plan_cell(&run, "sys.plan_result", 2),
		"{'error':'LLM_FAILED','name':'llm','ok':false,'result':null}");
	assert_bytes_are_counted(&run);
}

/* --- attempts --- */

/* 136 */
WITH_ACTORS(the_third_attempt_may_succeed)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));

	assert_int_equal(plan_not_before(&run), 0);
	plan_answer(&run, 0, "error", BROKE);
	assert_int_equal(plan_not_before(&run), 500 * 1000000);
	assert_step(&run, 0, "{'attempts':2,'result_ref':null,'status':'running'}");
	plan_answer(&run, 0, "ok", GAVE_NOT("TOOL_EXCEPTION", ""));
	assert_int_equal(plan_not_before(&run), 1000 * 1000000);
	plan_do(&run, 1);

	assert_step(&run, 0, "{'attempts':3,'max_attempts':3,'status':'done'}");
	assert_plan(&run, "{'done':1,'failed':0,'results_count':1,'tool_calls':3}");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(a_step_has_its_attempts_and_no_more)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(10, ""));
	int64_t waited_ms = 0;

	for (int i = 0; i < 10; i++) {
		waited_ms += plan_not_before(&run) / 1000000;
		plan_answer(&run, 0, "error", BROKE);
	}

	assert_int_equal(waited_ms, 500 + 1000 + 2000 + 4000 + 5 * 8000);
	assert_steps(&run, "f");
	assert_step(&run, 0, "{'attempts':10}");
	assert_waits_for(&run, "");
}

WITH_ACTORS(what_is_final_is_not_tried_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));

	plan_answer(&run, 0, "ok", GAVE_NOT("UNKNOWN_TOOL", ",'final':true"));

	assert_step(&run, 0, "{'attempts':1,'reason':'UNKNOWN_TOOL','status':'failed'}");
}

WITH_ACTORS(an_attempt_stands_in_the_journal)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(2, ""));

	plan_answer(&run, 0, "error", BROKE);

	WFS_AUTO_RECORD struct wfs_record_parsed last = record_at(fixture, height_of(fixture) - 1);
	assert_int_equal(last.record.kind, WFS_RECORD_INTENT);
	WFS_AUTO_JSON json_t *params = json_incref(last.body.intent.params);
	WFS_AUTO_JSON json_t *wanted = json_pack("{s:i, s:s, s:s, s:s}", "attempt", 2, "name", "t",
		"plan_id", run.id, "step_id", "s0");
	assert_true(json_equal(params, wanted));
}

/* --- steps that are not run --- */

/* Checks a reason that has apostrophes, which the other checks would replace. */
static void assert_reason(const struct plan_run *run, int64_t index, const char *expected)
{
	WFS_AUTO_JSON json_t *step = plan_cell(run, "sys.plan_step", index);

	assert_string_equal(wfs_json_text(step, "reason"), expected);
}

/* 131 */
WITH_ACTORS(what_depends_on_a_failed_step_is_skipped)
{
	struct plan_run run =
		BEGIN(fixture, CHAT, TOOL(""), TOOL("0"), TOOL("1"), TOOL(""), TOOL("1 3"));

	plan_answer(&run, 0, "error", BROKE);
	assert_steps(&run, "fpprp");
	plan_do(&run, 1);

	assert_steps(&run, "fssds");
	assert_step(&run, 1, "{'attempts':0}");
	assert_reason(&run, 1, "the step 's0', which it depends on, was not done");
	assert_reason(&run, 2, "the step 's1', which it depends on, was not done");
	assert_reason(&run, 4, "the step 's1', which it depends on, was not done");
	assert_plan(&run, "{'done':1,'failed':1,'phase':'answering','skipped':3}");
	plan_answer(&run, 0, "ok", SAYS("most of it"));
	assert_plan(&run, "{'final':'most of it','phase':'ended','status':'partial'}");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(the_first_step_that_failed_is_the_reason)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL(""), TOOL("0 1"));

	plan_answer(&run, 1, "error", BROKE);
	plan_answer(&run, 0, "error", BROKE);

	assert_steps(&run, "ffs");
	assert_reason(&run, 2, "the step 's1', which it depends on, was not done");
}

/* 131: no step was done, so no model is asked for an answer. */
WITH_ACTORS(a_plan_of_which_nothing_is_done_has_failed)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), NOTE("0"));

	plan_answer(&run, 0, "error", BROKE);

	assert_waits_for(&run, "");
	assert_plan(&run,
		"{'error':{'code':'PLAN_FAILED','details':{'failed':1,'never_ready':0,"
		"'skipped':1}},'phase':'ended','status':'failed'}");
}

WITH_ACTORS(a_thousand_skipped_steps_are_gone_through_piece_by_piece)
{
	struct plan_run run = plan_begin_many(fixture, CHAT, "tool", CHAIN, 1500);

	plan_answer(&run, 0, "error", BROKE);
	assert_plan(&run, "{'failed':1,'skipped':999}");
	plan_answer(&run, 0, "ok", "{}");

	assert_plan(&run, "{'failed':1,'skipped':1499,'status':'failed'}");
	assert_bytes_are_counted(&run);
}

/* The sender of these steps did not look for cycles: they wait for one another. */
WITH_ACTORS(a_plan_whose_steps_wait_for_one_another_ends)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""), TOOL("2"), TOOL("1"));

	assert_plan(&run,
		"{'error':{'code':'PLAN_FAILED','details':{'failed':0,'never_ready':2,"
		"'skipped':0}},'status':'partial'}");
}

/* --- the answer --- */

/* 133 */
WITH_ACTORS(a_plan_is_done_when_it_is_answered)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""));
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);

	assert_waits_for(&run, ".");
	assert_plan(&run, "{'phase':'answering','status':'running'}");
	assert_members(cell_of(fixture, "sys.intent", id), "{'effect':'llm.generate'}");
	plan_answer(&run, 0, "ok", SAYS("all is well"));

	assert_plan(&run, "{'final':'all is well','open':[],'phase':'ended','status':'done'}");
	WFS_AUTO_JSON json_t *said = cell_of(fixture, "sys.chat_message", "alice+s.1");
	assert_string_equal(wfs_json_text(said, "content"), "all is well");
	assert_string_equal(wfs_json_text(said, "role"), "assistant");
	assert_string_equal(wfs_json_text(said, "plan_id"), run.id);
}

WITH_ACTORS(a_plan_without_steps_is_done)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *none = json_array();

	give_part(&run, part_of(&run, none, 0, 0, 0));
	plan_answer(&run, 0, "ok", SAYS("nothing to do"));

	assert_plan(&run, "{'status':'done','steps_bytes':0,'total':0}");
}

/* 162 */
WITH_ACTORS(an_answer_that_fails_is_asked_for_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));

	plan_do(&run, 1);
	plan_answer(&run, 0, "error", BROKE);
	assert_plan(&run,
		"{'error':{'code':'LLM_FAILED','details':{'message':'nobody there',"
		"'type':'unavailable'}},'open':[],'phase':'answering','status':'running'}");
	plan_resume_it(&run);

	assert_waits_for(&run, ".");
	assert_plan(&run, "{'tool_calls':1}");
	plan_answer(&run, 0, "ok", SAYS("done"));
	assert_plan(&run, "{'final':'done','status':'done'}");
	WFS_AUTO_JSON json_t *state_of = plan_cell(&run, "sys.plan", -1);
	assert_null(json_object_get(state_of, "error"));
}

WITH_ACTORS(an_answer_without_a_text_is_refused)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""));
	const uint64_t height = height_of(fixture);

	assert_int_equal(plan_send(&run, 0, "ok", "{'usage':null}"), -EINVAL);

	assert_int_equal(height_of(fixture), height);
	assert_plan(&run, "{'phase':'answering','status':'running'}");
}
