/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that are stopped and continued. Numbers in comments: the cases of
 * research/agent-kernel.md, part 4. */
#include "tests/fixture/plan.h"

#include "kernel/read/text.h"
#include "kernel/store/tables.h"

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

/* 157: an attempt that was stopped counts as an attempt. */
WITH_ACTORS(a_step_that_was_stopped_is_begun_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));

	plan_answer(&run, 0, "error", BROKE);
	plan_stop_it(&run);
	plan_resume_it(&run);

	assert_int_equal(plan_not_before(&run), 0);
	assert_step(&run, 0, "{'attempts':3,'status':'running'}");
}

/* A step that depends on a failed step is skipped, whenever the failure comes. */
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

/* 157: an owner that was killed finds the plan in this state. */
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
