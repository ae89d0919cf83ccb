/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that run. Numbers in comments: the cases of research/agent-kernel.md, part 4. */
#include "tests/fixture/plan.h"

#include "kernel/read/text.h"
#include "kernel/store/tables.h"

#define TOOL(after)              \
	{                        \
		"tool", after, 1 \
	}
#define NOTE(after)              \
	{                        \
		"note", after, 1 \
	}
#define MODEL(after)            \
	{                       \
		"llm", after, 1 \
	}
#define AT_MOST(attempts, after)        \
	{                               \
		"tool", after, attempts \
	}

/* --- batches --- */

enum shape {
	WIDE,  /* no step depends on another */
	CHAIN, /* each on the one before */
};

/* A plan of @count steps of one type. */
static struct plan_run begin_many(struct world_fixture *fixture, const char *chat, const char *type,
	enum shape shape, size_t count)
{
	WFS_AUTO_FREE struct plan_spec *specs = calloc(count, sizeof(*specs));

	assert_non_null(specs);
	for (size_t i = 0; i < count; i++) {
		specs[i].type = type;
		specs[i].max_attempts = 1;
		if (shape == CHAIN && i > 0)
			snprintf(specs[i].after, sizeof(specs[i].after), "%zu", i - 1);
	}
	return plan_begin(fixture, chat, specs, count);
}

static int64_t batch_count(const struct plan_run *run)
{
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);

	return (int64_t)json_array_size(json_object_get(json_object_get(state, "batch"), "steps"));
}

/* 129 */
WITH_ACTORS(sixty_steps_are_three_batches_of_25)
{
	struct plan_run run =
		begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("25", "64")), "tool", WIDE, 60);

	assert_int_equal(batch_count(&run), 25);
	assert_waits_for(&run, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24");
	plan_do(&run, 24);
	assert_waits_for(&run, "24");
	plan_do(&run, 1);
	assert_int_equal(batch_count(&run), 25);
	plan_do(&run, 25);
	assert_int_equal(batch_count(&run), 10);
	assert_waits_for(&run, "50 51 52 53 54 55 56 57 58 59");
	assert_plan(&run, "{'batches':2,'done':50}");
	plan_do(&run, 10);
	assert_plan(&run, "{'batches':3,'done':60,'phase':'answering','tool_batches':3}");
}

/* 128 */
WITH_ACTORS(a_step_waits_for_the_one_before)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"));

	assert_steps(&run, "rp");
	assert_waits_for(&run, "0");
	plan_do(&run, 1);
	assert_steps(&run, "dr");
	assert_waits_for(&run, "1");
	plan_do(&run, 1);

	assert_steps(&run, "dd");
	assert_plan(&run, "{'batches':2,'done':2}");
}

WITH_ACTORS(steps_are_taken_in_plan_order_whatever_they_depend_on)
{
	struct plan_run run = BEGIN(fixture, CHAT_OF("s", CHAT_SETTINGS("25", "1")), TOOL(""),
		TOOL("0"), TOOL(""), TOOL("0 2"), TOOL(""));

	assert_waits_for(&run, "0");
	plan_do(&run, 1);
	assert_waits_for(&run, "2");
	plan_do(&run, 1);
	assert_waits_for(&run, "4");
	plan_do(&run, 1);
	assert_waits_for(&run, "1");
	plan_do(&run, 1);
	assert_waits_for(&run, "3");
}

WITH_ACTORS(at_most_so_many_steps_run_at_once)
{
	struct plan_run run = BEGIN(fixture, CHAT_OF("s", CHAT_SETTINGS("4", "2")), TOOL(""),
		TOOL(""), TOOL(""), TOOL(""), TOOL(""));

	assert_steps(&run, "rrqqp");
	plan_answer(&run, 1, "ok", GAVE("1"));
	assert_waits_for(&run, "0 2");
	assert_steps(&run, "rdrqp");
	plan_do(&run, 2);
	assert_steps(&run, "dddrp");
	plan_do(&run, 1);
	assert_steps(&run, "ddddr");
}

/* 130 */
WITH_ACTORS(a_batch_has_from_1_to_200_steps)
{
	static const char *const refused[] = {"0", "-1", "201", "'x'"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(refused); i++) {
		WFS_AUTO_FREE char *chat = NULL;

		assert_true(
			asprintf(&chat, CHAT_OF("s", CHAT_SETTINGS("%s", "1")), refused[i]) > 0);
		assert_fails(fixture, "alice", chat, WFS_E_INVALID_ARGUMENT, "'batch_size'");
	}
	struct plan_run one =
		begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("1", "64")), "tool", WIDE, 3);
	struct plan_run most =
		begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("200", "64")), "tool", WIDE, 201);
	assert_int_equal(batch_count(&one), 1);
	assert_int_equal(batch_count(&most), 200);
}

WITH_ACTORS(from_1_to_64_steps_run_at_once)
{
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "0")),
		WFS_E_INVALID_ARGUMENT, "'max_concurrency'");
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "65")),
		WFS_E_INVALID_ARGUMENT, "'max_concurrency'");
	struct plan_run run =
		begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("100", "64")), "tool", WIDE, 100);

	WFS_AUTO_FREE char *last = plan_waits_for(&run, 63);
	WFS_AUTO_FREE char *none = plan_waits_for(&run, 64);
	assert_non_null(last);
	assert_null(none);
}

/* --- kinds of steps --- */

/* 132 */
WITH_ACTORS(notes_are_done_at_once)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""), TOOL("0"), NOTE("1"));

	assert_steps(&run, "drp");
	assert_step(&run, 0, "{'attempts':1,'result_ref':null,'status':'done'}");
	plan_do(&run, 1);

	assert_steps(&run, "ddd");
	assert_plan(&run, "{'batches':3,'phase':'answering','tool_batches':1,'tool_calls':1}");
}

/* One record ends a thousand steps, and another goes on. */
WITH_ACTORS(a_long_chain_of_notes_is_gone_through_piece_by_piece)
{
	struct plan_run run = begin_many(fixture, CHAT, "note", CHAIN, 3000);
	int advances = 0;

	for (; plan_count(&run, "done") < 3000; advances++) {
		assert_int_equal(plan_count(&run, "done"), 1000 * (advances + 1));
		assert_waits_for(&run, ".");
		WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
		assert_members(cell_of(fixture, "sys.intent", id), "{'effect':'plan.advance'}");
		plan_answer(&run, 0, "ok", "{}");
	}

	assert_int_equal(advances, 2);
	plan_answer(&run, 0, "ok", "{}");
	assert_plan(&run, "{'batches':3000,'phase':'answering','tool_batches':0}");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(a_plan_is_stopped_between_pieces)
{
	struct plan_run run = begin_many(fixture, CHAT, "note", WIDE, 1100);

	assert_waits_for(&run, ".");
	plan_stop_it(&run);
	assert_waits_for(&run, "");
	assert_plan(&run, "{'done':1000,'status':'cancelled'}");
	plan_resume_it(&run);

	assert_plan(&run, "{'done':1100,'phase':'answering','status':'running'}");
}

/* 132 */
WITH_ACTORS(a_model_does_steps)
{
	struct plan_run run = BEGIN(fixture, CHAT, MODEL(""), TOOL("0"));
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);

	assert_members(cell_of(fixture, "sys.intent", id), "{'effect':'llm.generate','step':0}");
	plan_answer(&run, 0, "ok", SAYS("forty-two"));

	assert_steps(&run, "dr");
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'_step_id':'s0','asked':null,'details':null,'error':null,'method':'generate',"
		"'name':'llm','ok':true,'result':'forty-two'}");
	assert_plan(&run, "{'batches':1,'tool_batches':0,'tool_calls':1}");
}

WITH_ACTORS(a_model_that_fails_fails_its_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, MODEL(""), NOTE("0"));

	plan_answer(&run, 0, "error", BROKE);

	assert_steps(&run, "fs");
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'details':{'message':'nobody there','type':'unavailable'},'error':'LLM_FAILED',"
		"'ok':false,'result':null}");
}

WITH_ACTORS(what_models_take_is_the_principals)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);

	chat_answer(&run, "ok", "{'duration_ms':1,'plan':'p','usage':{'total_tokens':10}}");
	snprintf(run.id, sizeof(run.id), "plan");
	give_steps(&run, (const struct plan_spec[]){MODEL("")}, 1);
	plan_answer(&run, 0, "error", "{'code':'c','message':'m','usage':{'total_tokens':5}}");
	run = BEGIN(fixture, CHAT, NOTE(""));
	plan_answer(&run, 0, "ok", "{'text':'x','usage':{'total_tokens':100}}");

	assert_members(cell_of(fixture, "sys.resource", "alice"), "{'llm_tokens':{'used':115}}");
}

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
	result[strlen(result)] = '\n'; /* it was taken off */
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

/* A payload whose text has @size bytes; caller frees. */
static char *payload_with(const char *before, size_t size, const char *after)
{
	WFS_AUTO_FREE char *text = calloc(1, size + 1);
	char *payload = NULL;

	assert_non_null(text);
	memset(text, 'x', size);
	assert_true(asprintf(&payload, "%s%s%s", before, text, after) > 0);
	return payload;
}

#define GAVE_TEXT "{'duration_ms':1,'outcome':{'method':'','name':'t','ok':true,'result':'"

/* What is larger is not kept; a text has two quotes. */
WITH_ACTORS(a_result_has_four_mebibytes)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), AT_MOST(3, ""), MODEL(""));
	WFS_AUTO_FREE char *most = payload_with(GAVE_TEXT, WFS_PLAN_RESULT_MAX - 2, "'}}");
	WFS_AUTO_FREE char *more = payload_with(GAVE_TEXT, WFS_PLAN_RESULT_MAX - 1, "'}}");
	WFS_AUTO_FREE char *said = payload_with("{'text':'", WFS_PLAN_RESULT_MAX - 1, "'}");

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

/* The time before which the newest intent of the plan is not to be begun. */
static int64_t not_before(const struct plan_run *run)
{
	WFS_AUTO_FREE char *id = plan_waits_for(run, 0);
	WFS_AUTO_JSON json_t *intent = cell_of(run->fixture, "sys.intent", id);
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);
	const json_t *const at_ns = json_object_get(intent, "not_before_ns");

	return at_ns ? json_integer_value(at_ns) -
			json_integer_value(json_object_get(state, "updated_ns"))
		     : 0;
}

/* 136 */
WITH_ACTORS(the_third_attempt_may_succeed)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));

	assert_int_equal(not_before(&run), 0);
	plan_answer(&run, 0, "error", BROKE);
	assert_int_equal(not_before(&run), 500 * 1000000);
	assert_step(&run, 0, "{'attempts':2,'result_ref':null,'status':'running'}");
	plan_answer(&run, 0, "ok", GAVE_NOT("TOOL_EXCEPTION", ""));
	assert_int_equal(not_before(&run), 1000 * 1000000);
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
		waited_ms += not_before(&run) / 1000000;
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
	WFS_AUTO_JSON json_t *params = json_incref(json_object_get(last.body_json, "params"));
	WFS_AUTO_JSON json_t *wanted = json_pack("{s:i, s:s, s:s, s:s}", "attempt", 2, "name", "t",
		"plan_id", run.id, "step_id", "s0");
	assert_true(json_equal(params, wanted));
}

/* --- steps that are not run --- */

/* Apostrophes cannot stand in what the others expect. */
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

/* 131: nothing was done, so nobody is asked what came of it. */
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
	struct plan_run run = begin_many(fixture, CHAT, "tool", CHAIN, 1500);

	plan_answer(&run, 0, "error", BROKE);
	assert_plan(&run, "{'failed':1,'skipped':999}");
	plan_answer(&run, 0, "ok", "{}");

	assert_plan(&run, "{'failed':1,'skipped':1499,'status':'failed'}");
	assert_bytes_are_counted(&run);
}

/* Whoever gave the steps has not looked: they wait for one another. */
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

/* --- stopping and going on --- */

WITH_ACTORS(a_plan_that_is_stopped_begins_nothing)
{
	struct plan_run run = BEGIN(fixture, CHAT_OF("s", CHAT_SETTINGS("3", "1")), TOOL(""),
		TOOL(""), TOOL(""), TOOL("0"));

	plan_do(&run, 1);
	assert_steps(&run, "drqp");
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
	plan_stop_it(&run);

	assert_steps(&run, "dppp");
	assert_waits_for(&run, "");
	assert_plan(&run, "{'done':1,'status':'cancelled'}");
	assert_int_equal(send_receipt(fixture, id, "ok", json_of(GAVE("1"))), -ESTALE);
	assert_bytes_are_counted(&run);
}

/* 154 */
WITH_ACTORS(what_is_done_is_not_done_again)
{
	struct plan_run run = BEGIN(fixture, CHAT_OF("s", CHAT_SETTINGS("25", "1")), TOOL(""),
		TOOL(""), TOOL("1"), TOOL("2"), TOOL(""));

	plan_do(&run, 3);
	plan_stop_it(&run);
	assert_steps(&run, "ddppd");
	plan_resume_it(&run);

	assert_waits_for(&run, "2");
	plan_do(&run, 2);
	assert_plan(&run, "{'done':5,'phase':'answering','results_count':5,'tool_calls':6}");
	assert_bytes_are_counted(&run);
}

/* 157: an attempt that was stopped was one. */
WITH_ACTORS(a_step_that_was_stopped_is_begun_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));

	plan_answer(&run, 0, "error", BROKE);
	plan_stop_it(&run);
	plan_resume_it(&run);

	assert_int_equal(not_before(&run), 0);
	assert_step(&run, 0, "{'attempts':3,'status':'running'}");
}

/* A step that depends on one that failed is skipped, whenever that is. */
WITH_ACTORS(a_plan_remembers_what_is_not_to_be_run)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL(""), TOOL("0 1"));

	plan_answer(&run, 0, "error", BROKE);
	plan_stop_it(&run);
	plan_resume_it(&run);
	plan_do(&run, 1);

	assert_steps(&run, "fds");
}

WITH_ACTORS(a_plan_is_stopped_while_it_is_answered)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));

	plan_do(&run, 1);
	plan_stop_it(&run);
	assert_waits_for(&run, "");
	plan_resume_it(&run);

	assert_waits_for(&run, ".");
	assert_plan(&run, "{'phase':'answering','status':'running','tool_calls':1}");
}

WITH_ACTORS(only_what_runs_is_stopped)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""));

	plan_stop_it(&run);
	assert_int_equal(plan_tell(&run, "alice", "stop"), -ESTALE);
	plan_resume_it(&run);
	plan_answer(&run, 0, "ok", SAYS("x"));

	assert_int_equal(plan_tell(&run, "alice", "stop"), -ESTALE);
	assert_plan(&run, "{'status':'done'}");
}

/* 155 */
WITH_ACTORS(going_on_with_a_finished_plan_changes_nothing)
{
	struct plan_run run = BEGIN(fixture, CHAT, NOTE(""));

	plan_answer(&run, 0, "ok", SAYS("x"));
	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	plan_resume_it(&run);

	WFS_AUTO_JSON json_t *after = plan_cell(&run, "sys.plan", -1);
	assert_true(json_equal(before, after));
}

WITH_ACTORS(going_on_with_a_running_plan_changes_nothing)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));

	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	plan_resume_it(&run);

	WFS_AUTO_JSON json_t *after = plan_cell(&run, "sys.plan", -1);
	assert_true(json_equal(before, after));
}

/* 150 */
WITH_ACTORS(a_plan_knows_when_it_was_made_and_changed)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"), TOOL("1"));
	const int64_t created = plan_count(&run, "created_ns");
	int64_t updated = plan_count(&run, "updated_ns");

	assert_true(created > 0 && updated >= created);
	for (int i = 0; i < 3; i++) {
		plan_stop_it(&run);
		plan_resume_it(&run);
		plan_do(&run, 1);
		const int64_t now = plan_count(&run, "updated_ns");

		assert_true(now >= updated);
		assert_int_equal(plan_count(&run, "created_ns"), created);
		updated = now;
	}
}

/* 157: whoever was killed comes back to this. */
WITH_ACTORS(a_world_that_is_opened_again_has_the_same_plan)
{
	struct plan_run run =
		BEGIN(fixture, CHAT, AT_MOST(3, ""), TOOL(""), NOTE("0 1"), TOOL("2"), MODEL("3"));

	plan_answer(&run, 1, "ok", GAVE("1"));
	plan_answer(&run, 0, "error", BROKE);
	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	WFS_AUTO_JSON json_t *after = plan_cell(&run, "sys.plan", -1);
	assert_true(json_equal(before, after));
	assert_members(cell_of(fixture, "sys.intent", id), "{'state':'open','step':0}");
	plan_do(&run, 1);
	assert_int_equal(world_fixture_open(fixture), 0);
	plan_do(&run, 1);
	assert_int_equal(world_fixture_open(fixture), 0);
	plan_answer(&run, 0, "ok", SAYS("x"));
	assert_int_equal(world_fixture_open(fixture), 0);
	plan_answer(&run, 0, "ok", SAYS("y"));
	assert_plan(&run, "{'batches':4,'done':5,'final':'y','status':'done','tool_calls':4}");
}

/* --- actions --- */

/* The record of the action that was the last tool call: the first behind @height. */
static json_t *result_in_record(struct world_fixture *fixture, uint64_t height)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, height);

	assert_int_equal(parsed.record.kind, WFS_RECORD_ACTION);
	assert_non_null(json_object_get(parsed.body_json, "intent_id"));
	return json_incref(json_object_get(json_object_get(parsed.body_json, "result"), "step"));
}

/* What stands in the record is what the plan has, but for whose it is. */
static void assert_recorded(const struct plan_run *run, uint64_t height, int64_t index)
{
	WFS_AUTO_JSON json_t *recorded = result_in_record(run->fixture, height);
	WFS_AUTO_JSON json_t *kept = plan_cell(run, "sys.plan_result", index);

	assert_non_null(kept);
	json_object_del(kept, "_step_id");
	json_object_del(kept, "asked");
	assert_true(json_equal(recorded, kept));
}

WITH_ACTORS(an_action_is_a_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"));
	const uint64_t height = height_of(fixture);

	assert_int_equal(plan_act(&run, 0, WRITE("'artifact_id':'x','content':'hello'")), 0);

	assert_steps(&run, "dr");
	assert_recorded(&run, height, 0);
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'_step_id':'s0','asked':{'method':'','name':'t'},'error':null,"
		"'name':'write_artifact','ok':true}");
	assert_members(cell_of(fixture, "sys.artifact", "x"), "{'owner':'alice'}");
}

/* An action that changes nothing is recorded all the same: it has done a step. */
WITH_ACTORS(noop_is_a_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));
	const uint64_t height = height_of(fixture);

	assert_int_equal(plan_act(&run, 0, "{'action_type':'noop'}"), 0);

	assert_steps(&run, "d");
	assert_recorded(&run, height, 0);
	assert_members(
		plan_cell(&run, "sys.plan_result", 0), "{'name':'noop','ok':true,'result':null}");
}

WITH_ACTORS(a_refused_action_fails_its_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(2, ""), AT_MOST(2, ""));
	const uint64_t height = height_of(fixture);

	assert_int_equal(
		plan_act(&run, 0, "{'action_type':'delete_artifact','artifact_id':'zz'}"), -ENOENT);
	assert_steps(&run, "rr");
	assert_int_equal(
		plan_act(&run, 0, WRITE("'artifact_id':'genesis_x','content':'q'")), -EACCES);

	assert_step(&run, 0, "{'attempts':2,'status':'running'}");
	assert_step(&run, 1, "{'attempts':1,'reason':'TOOL_EXCEPTION','status':'failed'}");
	WFS_AUTO_JSON json_t *recorded = result_in_record(fixture, height);
	assert_string_equal(
		wfs_json_text(json_object_get(recorded, "details"), "type"), "not_found");
	assert_members(plan_cell(&run, "sys.plan_result", 1),
		"{'error':'TOOL_EXCEPTION','name':'write_artifact','ok':false,'result':null}");
}

/* The compiler quotes the code. */
WITH_ACTORS(why_private_code_was_refused_is_hidden)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));
	const uint64_t height = height_of(fixture);

	assert_int_equal(plan_act(&run, 0,
				 WRITE("'artifact_id':'safe','access':'private','code':'local x = "
				       "\\\"PIN 4711'")),
		-EINVAL);

	WFS_AUTO_JSON json_t *recorded = result_in_record(fixture, height);
	const json_t *const details = json_object_get(recorded, "details");
	assert_string_equal(wfs_json_text(details, "type"), "syntax_error");
	assert_true(wfs_text_is_hidden(json_object_get(details, "message"), NULL));
}

/* 135 */
WITH_ACTORS(code_that_reports_failure_fails_its_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL(""));
	const uint64_t height = height_of(fixture);

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'f','code':'function run(n) return {ok = n > 1, error = n "
		      "> 1 and null or \\\"too few\\\", n = n} end'"));
	assert_int_equal(
		plan_act(&run, 0, INVOKE("'artifact_id':'f','method':'run','args':[1]")), 0);
	assert_int_equal(plan_act(&run, 0, INVOKE("'artifact_id':'f','args':[2]")), 0);

	assert_steps(&run, "fd");
	assert_recorded(&run, height + 1, 0);
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'details':{'message':'too few','type':'reported'},'error':'TOOL_EXCEPTION',"
		"'method':'run','name':'invoke_artifact','ok':false,"
		"'result':{'error':'too few','n':1,'ok':false}}");
	assert_members(plan_cell(&run, "sys.plan_result", 1), "{'ok':true}");
}

/* What it did is done; it would give as much again. */
WITH_ACTORS(an_action_that_gives_too_much_fails_its_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));
	WFS_AUTO_FREE char *write =
		payload_with("{'action_type':'write_artifact','artifact_id':'x','content':'",
			WFS_PLAN_RESULT_MAX, "'}");

	assert_done(fixture, "bob", write);
	const uint64_t height = height_of(fixture);
	assert_int_equal(plan_act(&run, 0, "{'action_type':'read_artifact','artifact_id':'x'}"), 0);

	assert_step(&run, 0, "{'attempts':1,'status':'failed'}");
	assert_recorded(&run, height, 0);
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'details':{'message':'the result has more bytes than are kept',"
		"'type':'too_large'},'error':'TOOL_EXCEPTION','result':null}");
}

WITH_ACTORS(only_whose_plan_it_is_acts_for_it)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), MODEL(""));
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
	WFS_AUTO_JSON json_t *noop = json_of("{'action_type':'noop'}");
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "bob", .action = noop, .intent_id = id};

	assert_int_equal(wfs_world_call(run.fixture->world, &request), -EINVAL);
	assert_int_equal(plan_act(&run, 1, "{'action_type':'noop'}"), -EINVAL);

	assert_steps(&run, "rr");
}

WITH_ACTORS(an_intent_of_a_plan_is_answered_once)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"));
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
	WFS_AUTO_JSON json_t *noop = json_of("{'action_type':'noop'}");
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "alice", .action = noop, .intent_id = id};

	plan_do(&run, 1);
	const uint64_t height = height_of(fixture);

	assert_int_equal(send_receipt(fixture, id, "ok", json_of(GAVE("2"))), -ESTALE);
	assert_int_equal(wfs_world_call(run.fixture->world, &request), -ESTALE);
	assert_int_equal(height_of(fixture), height);
}

/* --- what it costs --- */

struct cost {
	uint64_t journal_bytes;
	uint64_t version_bytes;
};

/* Of all records and versions so far. */
static struct cost cost_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_version version = {.vid = 0};
	struct cost cost = {0, 0};
	struct wfs_bytes line;

	for (uint64_t seq = 0; seq < view.height; seq++) {
		assert_int_equal(wfs_view_record(&view, seq, &line), 0);
		cost.journal_bytes += line.size;
	}
	while (wfs_version_next(view.txn, version.vid, &version) == 0)
		cost.version_bytes += version.size_bytes;
	return cost;
}

/* Bytes that a step of such a plan costs. */
static struct cost cost_of_step(struct world_fixture *fixture, enum shape shape, size_t count)
{
	struct plan_run run = begin_many(fixture, CHAT, "tool", shape, count);
	const struct cost before = cost_of(fixture);

	plan_do(&run, count);
	assert_plan(&run, "{'phase':'answering'}");
	const struct cost after = cost_of(fixture);
	print_message("%zu steps: %llu bytes of journal and %llu of versions each\n", count,
		(unsigned long long)(after.journal_bytes - before.journal_bytes) / count,
		(unsigned long long)(after.version_bytes - before.version_bytes) / count);
	assert_bytes_are_counted(&run);
	return (struct cost){
		.journal_bytes = (after.journal_bytes - before.journal_bytes) / count,
		.version_bytes = (after.version_bytes - before.version_bytes) / count,
	};
}

/* 137: but for more digits of what is counted. */
static void assert_cost_does_not_grow(struct world_fixture *fixture, enum shape shape)
{
	const struct cost few = cost_of_step(fixture, shape, 100);
	const struct cost many = cost_of_step(fixture, shape, 1000);

	assert_true(few.journal_bytes > 0 && few.version_bytes > 0);
	assert_true(many.journal_bytes <= few.journal_bytes + few.journal_bytes / 10);
	assert_true(many.version_bytes <= few.version_bytes + few.version_bytes / 10);
}

WITH_ACTORS(a_step_costs_the_same_in_a_larger_plan)
{
	assert_cost_does_not_grow(fixture, WIDE);
}

WITH_ACTORS(a_step_costs_the_same_in_a_longer_chain)
{
	assert_cost_does_not_grow(fixture, CHAIN);
}
