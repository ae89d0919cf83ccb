/* SPDX-License-Identifier: Apache-2.0 */
/* Plans whose failed steps are run again. */
#include "tests/fixture/plan.h"

#define TOOL(after)              \
	{                        \
		"tool", after, 1 \
	}
#define NOTE(after)              \
	{                        \
		"note", after, 1 \
	}

WITH_ACTORS(failed_steps_are_run_again_and_what_was_skipped_for_them)
{
	struct plan_run run =
		BEGIN(fixture, CHAT, TOOL(""), TOOL("0"), TOOL(""), TOOL("1 2"), NOTE("3"));

	plan_answer(&run, 0, "error", BROKE);
	plan_do(&run, 1);
	assert_steps(&run, "fsdss");
	assert_int_equal(plan_retry_it(&run), -ESTALE); /* the plan waits for the model's answer */
	plan_stop_it(&run);
	assert_int_equal(plan_retry_it(&run), 0);

	assert_steps(&run, "rpdpp");
	assert_plan(&run, "{'done':1,'failed':0,'phase':'running','skipped':0,'status':'running'}");
	assert_step(&run, 0, "{'attempts':1}");
	plan_do(&run, 3);
	assert_steps(&run, "ddddd");
	assert_plan(&run, "{'done':5,'phase':'answering','results_count':4}");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(a_plan_that_fails_again_is_tried_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), NOTE("0"));

	plan_answer(&run, 0, "error", BROKE);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(plan_retry_it(&run), 0);
		assert_steps(&run, "rp");
		plan_answer(&run, 0, "error", BROKE);
		assert_plan(&run, "{'failed':1,'phase':'ended','skipped':1,'status':'failed'}");
	}
	assert_int_equal(plan_retry_it(&run), 0);
	plan_do(&run, 1);
	assert_steps(&run, "dd");
	assert_int_equal(plan_retry_it(&run), -ESTALE);
}

WITH_ACTORS(a_plan_without_failed_steps_has_nothing_to_try_again)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"));

	plan_do(&run, 1);
	plan_stop_it(&run);

	assert_true(plan_retry_it(&run) < 0);
	assert_int_equal(run.fixture->error.code, WFS_E_CONFLICT);
	assert_steps(&run, "dp");
}

WITH_ACTORS(thousands_of_steps_are_opened_again_piece_by_piece)
{
	enum { COUNT = 1500 };
	WFS_AUTO_FREE struct plan_spec *specs = calloc(COUNT, sizeof(*specs));

	assert_non_null(specs);
	specs[0] = (struct plan_spec)TOOL("");
	for (int i = 1; i < COUNT; i++) {
		specs[i] = (struct plan_spec)TOOL("");
		snprintf(specs[i].after, sizeof(specs[i].after), "%d", i - 1);
	}
	struct plan_run run = plan_begin(fixture, CHAT, specs, COUNT);

	plan_answer(&run, 0, "error", BROKE);
	plan_answer(&run, 0, "ok", "{}");
	assert_int_equal(plan_retry_it(&run), 0);
	assert_plan(&run, "{'failed':0,'skipped':500,'status':'running'}");
	plan_answer(&run, 0, "ok", "{}");

	assert_plan(&run, "{'failed':0,'skipped':0,'status':'running'}");
	assert_step(&run, 0, "{'status':'running'}");
	assert_bytes_are_counted(&run);
}
