/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of plans that are actions. Numbers in comments: the cases of research/agent-kernel.md,
 * part 4. */
#include "tests/fixture/plan.h"

#include "kernel/read/text.h"
#include "kernel/store/tables.h"

/* The record of the action that was the last tool call: the first record after @height. */
static json_t *result_in_record(struct world_fixture *fixture, uint64_t height)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, height);

	assert_int_equal(parsed.record.kind, WFS_RECORD_ACTION);
	assert_non_null(parsed.body.action.intent_id);
	return json_incref(json_object_get(parsed.body.action.result, "step"));
}

/* Checks that the record has the result that the plan has, except for whose result it is. */
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

/* An action that changes nothing is recorded nevertheless: it has done a step. */
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

/* The compiler's message quotes the code. */
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

/* The action has been done; another attempt would give as large a result. */
WITH_ACTORS(an_action_that_gives_too_much_fails_its_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(3, ""));
	WFS_AUTO_FREE char *write =
		plan_payload_with("{'action_type':'write_artifact','artifact_id':'x','content':'",
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
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = "bob",
		.action.document = noop,
		.action.intent_id = id};

	assert_int_equal(wfs_world_call(run.fixture->world, &request), -EINVAL);
	assert_int_equal(plan_act(&run, 1, "{'action_type':'noop'}"), -EINVAL);

	assert_steps(&run, "rr");
}

WITH_ACTORS(an_intent_of_a_plan_is_answered_once)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""), TOOL("0"));
	WFS_AUTO_FREE char *id = plan_waits_for(&run, 0);
	WFS_AUTO_JSON json_t *noop = json_of("{'action_type':'noop'}");
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = "alice",
		.action.document = noop,
		.action.intent_id = id};

	plan_do(&run, 1);
	const uint64_t height = height_of(fixture);

	assert_int_equal(send_receipt(fixture, id, "ok", json_of(GAVE("2"))), -ESTALE);
	assert_int_equal(wfs_world_call(run.fixture->world, &request), -ESTALE);
	assert_int_equal(height_of(fixture), height);
}

/* --- calls of outside tools --- */

#define OUTSIDE_HASH "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Has a step call an outside tool. Return: the id of the call's intent; caller frees. */
static char *call_outside(const struct plan_run *run, const char *idempotent)
{
	WFS_AUTO_FREE char *asked = plan_waits_for(run, 0);
	WFS_AUTO_JSON json_t *answer = NULL;
	char action[512];

	snprintf(action, sizeof(action),
		"{'action_type':'tool','arguments':{},'called_by':'%s','hash':'" OUTSIDE_HASH
		"','idempotent':%s,'name':'git.push'}",
		asked, idempotent);
	assert_int_equal(act_as(run->fixture, "alice", action, &answer), 0);
	return strdup(wfs_json_text(answer, "intent_id"));
}

WITH_ACTORS(an_outside_tool_is_a_step)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));
	WFS_AUTO_FREE char *id = call_outside(&run, "false");

	assert_int_equal(send_receipt(fixture, id, "ok",
				 json_of("{'duration_ms':3,'output':'x','output_size':1,"
					 "'structured':{'n':1}}")),
		0);

	assert_steps(&run, "d");
	assert_members(plan_cell(&run, "sys.plan_result", 0),
		"{'error':null,'name':'git.push','ok':true,'result':{'n':1}}");
}

#define OUTSIDE_FAILS(more) "{'code':'unavailable','message':'it broke'" more "}"

WITH_ACTORS(a_call_that_may_have_taken_place_is_not_tried_again)
{
	static const struct {
		const char *idempotent, *status, *payload, *steps;
	} cases[] = {
		{"true", "error", OUTSIDE_FAILS(""), "r"},
		{"false", "error", OUTSIDE_FAILS(",'sent':false"), "r"},
		{"false", "error", OUTSIDE_FAILS(""), "f"},
		{"false", "timeout", OUTSIDE_FAILS(""), "f"},
		{"false", "unknown", OUTSIDE_FAILS(""), "f"},
		{"true", "unknown", OUTSIDE_FAILS(""), "f"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		struct plan_run run = BEGIN(fixture, CHAT, AT_MOST(2, ""));
		WFS_AUTO_FREE char *id = call_outside(&run, cases[i].idempotent);

		print_message("%s %s %s\n", cases[i].idempotent, cases[i].status, cases[i].payload);
		assert_int_equal(
			send_receipt(fixture, id, cases[i].status, json_of(cases[i].payload)), 0);
		assert_steps(&run, cases[i].steps);
	}
}
