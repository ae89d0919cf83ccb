/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that run. Numbers in comments: the cases of research/agent-kernel.md, part 4. */
#include "tests/fixture/plan.h"

#include "kernel/read/text.h"
#include "kernel/store/tables.h"

/* --- batches --- */

static int64_t batch_count(const struct plan_run *run)
{
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);

	return (int64_t)json_array_size(json_object_get(json_object_get(state, "batch"), "steps"));
}

/* 129 */
WITH_ACTORS(sixty_steps_are_three_batches_of_25)
{
	struct plan_run run =
		plan_begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("25", "64")), "tool", WIDE, 60);

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
		plan_begin_many(fixture, CHAT_OF("s", CHAT_SETTINGS("1", "64")), "tool", WIDE, 3);
	struct plan_run most = plan_begin_many(
		fixture, CHAT_OF("s", CHAT_SETTINGS("200", "64")), "tool", WIDE, 201);
	assert_int_equal(batch_count(&one), 1);
	assert_int_equal(batch_count(&most), 200);
}

WITH_ACTORS(from_1_to_64_steps_run_at_once)
{
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "0")),
		WFS_E_INVALID_ARGUMENT, "'max_concurrency'");
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "65")),
		WFS_E_INVALID_ARGUMENT, "'max_concurrency'");
	struct plan_run run = plan_begin_many(
		fixture, CHAT_OF("s", CHAT_SETTINGS("100", "64")), "tool", WIDE, 100);

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

/* One record ends a thousand steps, and the next record continues. */
WITH_ACTORS(a_long_chain_of_notes_is_gone_through_piece_by_piece)
{
	struct plan_run run = plan_begin_many(fixture, CHAT, "note", CHAIN, 3000);
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
	struct plan_run run = plan_begin_many(fixture, CHAT, "note", WIDE, 1100);

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

/* --- what it costs --- */

struct cost {
	uint64_t journal_bytes;
	uint64_t version_bytes;
};

/* The bytes of all records and versions so far. */
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

/* Bytes that each step costs in a plan of this shape with @count steps. */
static struct cost cost_of_step(struct world_fixture *fixture, enum plan_shape shape, size_t count)
{
	struct plan_run run = plan_begin_many(fixture, CHAT, "tool", shape, count);
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

/* 137: the cost grows only by the digits of larger numbers. */
static void assert_cost_does_not_grow(struct world_fixture *fixture, enum plan_shape shape)
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
