/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that were cut into steps and are sent to a world: it accepts them, and they run as
 * written. */
#include "tests/fixture/plan.h"

#include "agents/plan/normalize.h"

/* Cuts a text into steps for the intent that a chat waits for, and sends the parts. @text: with
 * ' for " */
static void give_text(struct plan_run *run, const char *text, bool imported)
{
	const struct wfs_plan_origin origin = {
		.chat_id = run->chat_id, .goal = "do it", .imported = imported};
	WFS_AUTO_FREE char *quoted = json_text(text);
	WFS_AUTO_PLAN_MADE struct wfs_plan_made plan = {0};
	struct wfs_error error = {0};
	json_t *details = NULL;
	size_t count = 0;

	if (wfs_plan_normalize(&origin, quoted, strlen(quoted), &plan, &error, &details) < 0)
		fail_msg("%s", error.message);
	snprintf(run->id, sizeof(run->id), "%s", plan.plan_id);
	for (size_t offset = 0; offset == 0 || offset < json_array_size(plan.parts);
		offset += count) {
		give_part(run, wfs_plan_payload(&plan, offset, &count));
		if (count == 0)
			break;
	}
}

static struct plan_run begin_text(struct world_fixture *fixture, const char *text)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	give_text(&run, text, false);
	return run;
}

static struct plan_run import_text(struct world_fixture *fixture, const char *text)
{
	struct plan_run run = chat_as(fixture, "alice",
		"{'action_type':'import'," CHAT_SETTINGS("25",
			"8") ",'blob':'sha256:"
			     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',"
			     "'model':'m','resume':true,'session_id':'s'}");

	give_text(&run, text, true);
	return run;
}

WITH_ACTORS(steps_run_in_the_order_of_their_dependencies)
{
	struct plan_run run = begin_text(fixture,
		"{'goal':'g','steps':[{'id':'c','type':'note','depends_on':['a','b']},"
		"{'id':'a','tool':'t'},{'id':'b','prompt':'${a}','depends_on':'a'}]}");
	WFS_AUTO_JSON json_t *edge = plan_cell(&run, "sys.plan_edge", 2);

	assert_steps(&run, "prp");
	assert_json_is(json_incref(edge), "{'next':[0],'refs':{'a':1}}");
	plan_do(&run, 1);
	assert_steps(&run, "pdr");
	plan_answer(&run, 0, "ok", SAYS("said"));
	assert_steps(&run, "ddd");
	assert_plan(&run, "{'goal':'g','phase':'answering'}");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(calls_run_one_after_the_other)
{
	struct plan_run run = begin_text(
		fixture, "{'tool_calls':[{'name':'t'},{'name':'t'},{'name':'t'}],'final':'F'}");

	assert_steps(&run, "rqq");
	plan_do(&run, 1);
	assert_steps(&run, "drq");
	plan_do(&run, 2);
	assert_steps(&run, "ddd");
	assert_plan(&run, "{'draft':'F','max_concurrency':1,'phase':'answering'}");
}

WITH_ACTORS(a_plan_without_steps_is_answered)
{
	struct plan_run run = begin_text(fixture, "{'steps':[]}");

	assert_plan(&run, "{'phase':'answering','total':0}");
}

WITH_ACTORS(a_plan_of_several_parts_is_taken)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'steps':[{'tool':'t'}");
	for (int i = 1; i < 2500; i++)
		wfs_buffer_printf(&text, ",{'depends_on':['s%d']}", i);
	wfs_buffer_append_text(&text, "]}");
	struct plan_run run = begin_text(fixture, wfs_buffer_text(&text));

	assert_plan(&run, "{'defined':2500,'phase':'running','total':2500}");
	assert_waits_for(&run, "0");
}

#define DOCUMENT                                                                             \
	"'schema_version':1,'plan_id':'p1','goal':'g','created_utc':'2026-11-21T20:46:37Z'," \
	"'updated_utc':'2026-11-21T20:47:00Z'"

/* Step a must be done again, b was done before, d will never be done. */
WITH_ACTORS(what_was_done_is_not_done_again)
{
	struct plan_run run = import_text(fixture,
		"{" DOCUMENT ",'status':'running','plan':{'steps':["
		"{'id':'a','tool':'t','status':'running'},"
		"{'id':'b','tool':'t','status':'done','depends_on':'a'},"
		"{'id':'c','tool':'t','depends_on':['a','b']},"
		"{'id':'d','tool':'t','depends_on':'e'},{'id':'e','tool':'t','status':'failed'}]},"
		"'tool_results':[{'_step_id':'b','ok':true,'result':7}]}");

	assert_string_equal(run.id, "p1");
	assert_steps(&run, "rdpsf");
	assert_plan(&run,
		"{'created_ns':1795293997000000000,'done':1,'failed':1,'skipped':1,"
		"'results_count':1}");
	plan_do(&run, 1);
	assert_steps(&run, "ddrsf");
	plan_do(&run, 1);
	assert_steps(&run, "dddsf");
	assert_plan(&run, "{'done':3,'phase':'answering'}");
	assert_bytes_are_counted(&run);

	plan_stop_it(&run);
	assert_int_equal(plan_retry_it(&run), 0);
	assert_steps(&run, "dddpr");
	plan_do(&run, 2);
	assert_steps(&run, "ddddd");
}

/* Step c was skipped because of a; when it is run again it waits for b, too, and b waits for d. */
WITH_ACTORS(what_is_run_again_waits_for_what_was_pending)
{
	struct plan_run run = import_text(fixture,
		"{" DOCUMENT ",'status':'cancelled','plan':{'steps':["
		"{'id':'a','tool':'t','status':'failed'},{'id':'b','tool':'t','depends_on':'d'},"
		"{'id':'c','tool':'t','depends_on':['a','b']},{'id':'d','tool':'t'}]}}");

	assert_steps(&run, "fpsr");
	plan_stop_it(&run);
	assert_int_equal(plan_retry_it(&run), 0);
	assert_steps(&run, "rppr");
	plan_do(&run, 2);
	assert_steps(&run, "drpd");
	plan_do(&run, 2);
	assert_steps(&run, "dddd");
}

WITH_ACTORS(a_plan_that_had_ended_has_ended)
{
	struct plan_run run = import_text(fixture,
		"{" DOCUMENT ",'status':'partial','plan':{'final':'F','steps':["
		"{'type':'note','status':'done'},{'status':'failed'}]}}");

	assert_plan(&run, "{'done':1,'failed':1,'final':'F','phase':'ended','status':'partial'}");
	assert_chat(&run, "{'status':'planned'}");
}
