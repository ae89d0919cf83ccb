/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring copies of worlds in which plans are running, also after a text that is lost. */
#include "tests/fixture/plan.h"
#include "tests/fixture/restore-lost.h"

#define TOOL(after)              \
	{                        \
		"tool", after, 1 \
	}
#define AT_MOST(attempts, after)        \
	{                               \
		"tool", after, attempts \
	}

/* Begins a plan of three steps: one is an action, one was refused and is tried again, one is
 * left. */
static struct plan_run begin(struct world_fixture *fixture)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), AT_MOST(2, ""), TOOL("0 1"));

	assert_int_equal(plan_act(&run, 0, WRITE("'artifact_id':'note','content':'of a plan'")), 0);
	assert_int_equal(
		plan_act(&run, 0, "{'action_type':'delete_artifact','artifact_id':'zz'}"), -ENOENT);
	return run;
}

/* Checks that the plan is unchanged, and that it can be continued to its end. */
static void assert_goes_on(const struct plan_run *run, json_t *before)
{
	WFS_AUTO_JSON json_t *after = plan_cell(run, "sys.plan", -1);

	assert_true(json_equal(before, after));
	assert_bytes_are_counted(run);
	plan_do(run, 2);
	plan_answer(run, 0, "ok", SAYS("it is done"));
	assert_steps(run, "ddd");
	assert_plan(run, "{'final':'it is done','status':'done'}");
}

LOST(a_plan_is_that_of_the_copy)
{
	struct plan_run run = begin(fixture);
	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_int_equal(restored.lost.seq, 0);
	assert_goes_on(&run, before);
}

/* The records contain the results of the plan's steps, and their refusals. */
LOST(a_plan_is_that_of_a_copy_without_all_texts)
{
	const uint64_t lost = live(fixture);
	struct plan_run run = begin(fixture);
	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_int_equal(restored.lost.seq, lost);
	assert_goes_on(&run, before);
}

/* A step that gave too much is not tried again, however large its result was. */
LOST(a_step_of_a_copy_without_all_texts_has_failed)
{
	const size_t size = WFS_PLAN_RESULT_MAX;
	WFS_AUTO_FREE char *text = calloc(1, size + 1);
	WFS_AUTO_FREE char *write = NULL;

	assert_non_null(text);
	memset(text, 'x', size);
	assert_true(asprintf(&write, WRITE("'artifact_id':'large','content':'%s'"), text) > 0);
	live(fixture);
	assert_done(fixture, "bob", write);
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));
	assert_int_equal(
		plan_act(&run, 0, "{'action_type':'read_artifact','artifact_id':'large'}"), 0);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	restore(fixture);

	assert_step(&run, 0, "{'attempts':1,'status':'failed'}");
	assert_verified(fixture);
}

LOST(a_plan_of_a_copy_that_was_changed_is_refused)
{
	char name[256];

	live(fixture);
	struct plan_run run = begin(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	snprintf(name, sizeof(name), "reducers/sys.plan_step/%s.2", run.id);
	replace_in_copy(fixture, name, "\"pending\"", "\"skipped\"");

	assert_copy_refused(fixture, name);
}
