/* SPDX-License-Identifier: Apache-2.0 */
/* Chats up to their plans: replies, parts, imports, and later messages about a plan. Numbers in
 * comments: the cases of research/agent-kernel.md, part 4. */
#include "tests/fixture/plan.h"

#define TOOL(after)              \
	{                        \
		"tool", after, 1 \
	}
#define NOTE(after)              \
	{                        \
		"note", after, 1 \
	}

static const struct plan_spec three[] = {TOOL(""), TOOL("0"), TOOL("1")};
static const struct plan_spec one[] = {TOOL("")};

/* --- what a model replies --- */

WITH_ACTORS(a_chat_asks_a_model)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);
	WFS_AUTO_FREE char *id = chat_waits_for(&run);

	assert_string_equal(run.chat_id, "alice+s.0");
	assert_string_equal(run.id, "");
	assert_chat(&run,
		"{'batch_size':25,'content':'do it','max_concurrency':8,'model':'m','role':'user',"
		"'status':'planning'}");
	assert_state(fixture, "sys.intent", id,
		"{'chat_id':'alice+s.0','effect':'llm.generate','principal':'alice',"
		"'state':'open'}");
	WFS_AUTO_JSON json_t *chat = cell_of(fixture, "sys.chat", "alice+s");
	assert_true(json_integer_value(json_object_get(chat, "created_ns")) > 0);
	assert_members(json_incref(chat), "{'messages':1,'principal':'alice','session_id':'s'}");
}

/* 166 */
WITH_ACTORS(a_text_is_the_answer)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);

	chat_answer(&run, "ok", SAYS("forty-two"));

	assert_chat(&run, "{'reply':'alice+s.1','status':'answered'}");
	assert_state(fixture, "sys.chat_message", "alice+s.1",
		"{'content':'forty-two','role':'assistant'}");
	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_null(id);
}

/* 167: the kernel keeps the text; the driver makes steps of it. */
WITH_ACTORS(a_plan_is_kept_as_it_was_written)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);

	chat_answer(&run, "ok", PLANS("a plan\\n"));

	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_chat(&run, "{'status':'normalizing'}");
	assert_state(fixture, "sys.plan_source", "alice+s.0", "{'text':'a plan\\n'}");
	assert_members(cell_of(fixture, "sys.intent", id), "{'effect':'plan.normalize'}");
}

/* 163 */
WITH_ACTORS(a_model_that_fails_fails_the_chat)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);

	chat_answer(&run, "error",
		"{'code':'unavailable','duration_ms':1,'message':'nobody there','usage':null}");

	assert_chat(&run,
		"{'error':{'code':'LLM_FAILED','details':{'code':'unavailable',"
		"'message':'nobody there'}},'status':'failed'}");
	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_null(id);
}

WITH_ACTORS(what_failed_may_have_another_name)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);

	chat_answer(&run, "error",
		"{'code':'c','failed':'CONTEXT_BUILD_FAILED','message':'no memory'}");

	assert_chat(&run,
		"{'error':{'code':'CONTEXT_BUILD_FAILED','details':{'code':'c',"
		"'message':'no memory'}},'status':'failed'}");
}

WITH_ACTORS(a_reply_is_a_text_or_a_plan)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);
	const uint64_t height = height_of(fixture);

	assert_int_equal(chat_send(&run, "ok", "{'duration_ms':1,'usage':null}"), -EINVAL);
	assert_int_equal(chat_send(&run, "ok", "{'text':7}"), -EINVAL);

	assert_int_equal(height_of(fixture), height);
	assert_chat(&run, "{'status':'planning'}");
}

WITH_ACTORS(an_intent_of_a_chat_is_answered_once)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);
	WFS_AUTO_FREE char *id = chat_waits_for(&run);

	chat_answer(&run, "ok", SAYS("x"));
	const uint64_t height = height_of(fixture);

	assert_int_equal(send_receipt(fixture, id, "ok", json_of(SAYS("y"))), -ESTALE);
	assert_int_equal(height_of(fixture), height);
}

WITH_ACTORS(sessions_and_principals_have_chats_of_their_own)
{
	struct plan_run a = chat_as(fixture, "alice", CHAT);
	struct plan_run b = chat_as(fixture, "alice", CHAT);
	struct plan_run c = chat_as(fixture, "alice", CHAT_OF("a.b", CHAT_SETTINGS("1", "1")));
	struct plan_run d = chat_as(fixture, "bob", CHAT);

	assert_string_equal(a.chat_id, "alice+s.0");
	assert_string_equal(b.chat_id, "alice+s.1");
	assert_string_equal(c.chat_id, "alice+a.b.0");
	assert_string_equal(d.chat_id, "bob+s.0");
}

/* --- forms --- */

WITH_ACTORS(a_session_has_a_name)
{
	assert_fails(fixture, "alice", CHAT_OF("", CHAT_SETTINGS("1", "1")), WFS_E_INVALID_ARGUMENT,
		"'session_id'");
	assert_fails(fixture, "alice", CHAT_OF("a+b", CHAT_SETTINGS("1", "1")),
		WFS_E_INVALID_ARGUMENT, "'session_id'");
	assert_true(wfs_chat_session_valid("01234567890123456789012345678901234567890123456789"
					   "01234567890123456789012345678901234567890123456789"));
	assert_false(wfs_chat_session_valid("01234567890123456789012345678901234567890123456789"
					    "01234567890123456789012345678901234567890123456789x"));
}

WITH_ACTORS(a_message_has_256_kibibytes)
{
	static const char form[] =
		"{'action_type':'chat','batch_size':1,'max_concurrency':1,'message':'%s',"
		"'model':'m','session_id':'s'}";
	WFS_AUTO_FREE char *text = calloc(1, WFS_CHAT_MESSAGE_MAX + 2);
	WFS_AUTO_FREE char *most = NULL;
	WFS_AUTO_FREE char *more = NULL;

	assert_non_null(text);
	memset(text, 'x', WFS_CHAT_MESSAGE_MAX);
	assert_true(asprintf(&most, form, text) > 0);
	text[WFS_CHAT_MESSAGE_MAX] = 'x';
	assert_true(asprintf(&more, form, text) > 0);

	assert_done(fixture, "alice", most);
	assert_fails(fixture, "alice", more, WFS_E_TOO_LARGE, "'message'");
}

WITH_ACTORS(actions_of_another_form_are_refused)
{
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "1") ",'plan_id':7"),
		WFS_E_INVALID_ARGUMENT, "'plan_id'");
	assert_fails(fixture, "alice",
		"{'action_type':'import','batch_size':1,'blob':'x','max_concurrency':1,"
		"'model':'m','session_id':'s'}",
		WFS_E_INVALID_ARGUMENT, "");
	assert_fails(fixture, "alice",
		"{'action_type':'import','batch_size':1,'blob':'sha256:"
		"0123456789012345678901234567890123456789012345678901234567890123',"
		"'max_concurrency':1,'model':'m','resume':1,'session_id':'s'}",
		WFS_E_INVALID_ARGUMENT, "'resume'");
	assert_fails(
		fixture, "alice", "{'action_type':'resume'}", WFS_E_MISSING_ARGUMENT, "plan_id");
	assert_fails(
		fixture, "alice", "{'action_type':'stop'}", WFS_E_MISSING_ARGUMENT, "'plan_id'");
	assert_fails(fixture, "alice", "{'action_type':'stop','chat_id':'a','plan_id':'b'}",
		WFS_E_MISSING_ARGUMENT, "'plan_id'");
}

#define NO_INTENT "sha256:0123456789012345678901234567890123456789012345678901234567890123"

/* It had asked its model before it was refused. */
WITH_ACTORS(a_refused_chat_leaves_no_intent)
{
	const uint64_t height = height_of(fixture);

	assert_fails(fixture, "alice",
		CHAT_OF("s", CHAT_SETTINGS("1", "1") ",'called_by':'" NO_INTENT "'"),
		WFS_E_NOT_FOUND, "there is no intent");
	assert_int_equal(height_of(fixture), height + 1);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, height);
	assert_int_equal(parsed.record.kind, WFS_RECORD_ACTION);
}

/* 152 */
WITH_ACTORS(there_is_no_other_plan_than_there_is)
{
	WFS_AUTO_FREE char *long_id = NULL;
	WFS_AUTO_FREE char *long_chat = NULL;

	assert_fails(fixture, "alice", RESUME("zz"), WFS_E_NOT_FOUND, "Plan 'zz' not found");
	assert_fails(fixture, "alice", RESUME(""), WFS_E_NOT_FOUND, "Plan '' not found");
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "1") ",'plan_id':'zz'"),
		WFS_E_NOT_FOUND, "Plan 'zz' not found");
	assert_true(asprintf(&long_id, RESUME("%01000d"), 0) > 0);
	assert_fails(fixture, "alice", long_id, WFS_E_NOT_FOUND, "not found");
	assert_fails(fixture, "alice", "{'action_type':'stop','chat_id':'alice+s.9'}",
		WFS_E_NOT_FOUND, "Chat 'alice+s.9' not found");
	assert_true(asprintf(&long_chat, "{'action_type':'stop','chat_id':'%01000d'}", 0) > 0);
	assert_fails(fixture, "alice", long_chat, WFS_E_NOT_FOUND, "not found");

	WFS_AUTO_JSON json_t *chat = cell_of(fixture, "sys.chat", "alice+s");
	assert_null(chat);
}

/* --- parts --- */

WITH_ACTORS(one_part_is_a_plan)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	give_steps(&run, three, 3);

	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_null(id);
	assert_members(cell_of(fixture, "sys.chat_message", run.chat_id), "{'status':'planned'}");
	assert_plan(&run,
		"{'batch_size':25,'batches':0,'chat_id':'alice+s.0','defined':3,'done':0,"
		"'failed':0,'goal':'do it','max_concurrency':8,'model':'m','phase':'running',"
		"'principal':'alice','results_bytes':0,'results_count':0,'session_id':'s',"
		"'skipped':0,'status':'running','tool_batches':0,'tool_calls':1,'total':3}");
	assert_steps(&run, "rpp");
	assert_bytes_are_counted(&run);
}

WITH_ACTORS(several_parts_are_one_plan)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);
	WFS_AUTO_FREE char *first = chat_waits_for(&run);

	give_part(&run, part_of(&run, steps, 0, 1, 3));
	assert_chat(&run, "{'status':'normalizing'}");
	assert_plan(&run, "{'defined':1,'phase':'defining','status':'running','total':3}");
	give_part(&run, part_of(&run, steps, 1, 1, 3));
	WFS_AUTO_FREE char *last = chat_waits_for(&run);
	assert_string_equal(first, last);
	give_part(&run, part_of(&run, steps, 2, 1, 3));

	assert_plan(&run, "{'defined':3,'phase':'running'}");
	assert_steps(&run, "rpp");
	assert_bytes_are_counted(&run);
	plan_do(&run, 3);
	assert_plan(&run, "{'phase':'answering'}");
}

static void assert_part_refused(
	const struct plan_run *run, const char *what, json_t *part, const char *message)
{
	const uint64_t height = height_of(run->fixture);

	print_message("%s\n", what);
	assert_int_equal(send_part(run, part), -EINVAL);
	assert_non_null(strstr(run->fixture->error.message, message));
	assert_int_equal(height_of(run->fixture), height);
}

WITH_ACTORS(a_part_is_where_the_one_before_ends)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	assert_part_refused(
		&run, "not from the beginning", part_of(&run, steps, 1, 1, 3), "from step 0 on");
	give_part(&run, part_of(&run, steps, 0, 1, 3));
	assert_part_refused(
		&run, "the first once more", part_of(&run, steps, 0, 1, 3), "from step 1 on");
	assert_part_refused(
		&run, "one is left out", part_of(&run, steps, 2, 1, 3), "from step 1 on");

	assert_plan(&run, "{'defined':1}");
}

WITH_ACTORS(a_part_has_a_thousand_steps)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_FREE struct plan_spec *specs = calloc(1001, sizeof(*specs));

	assert_non_null(specs);
	for (size_t i = 0; i < 1001; i++)
		specs[i] = (struct plan_spec)TOOL("");
	WFS_AUTO_JSON json_t *steps = steps_of(specs, 1001);

	assert_part_refused(
		&run, "1,001 steps", part_of(&run, steps, 0, 1001, 1001), "at most 1000");
	give_part(&run, part_of(&run, steps, 0, 1000, 1001));
	assert_plan(&run, "{'defined':1000}");
}

WITH_ACTORS(a_plan_has_no_more_steps_than_it_says)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	assert_part_refused(
		&run, "three of two", part_of(&run, steps, 0, 3, 2), "the plan has 2 steps");
	give_part(&run, part_of(&run, steps, 0, 1, 2));
	assert_part_refused(
		&run, "two behind one", part_of(&run, steps, 1, 2, 2), "the plan has 2 steps");
	assert_part_refused(&run, "another total", part_of(&run, steps, 1, 2, 3), "'total'");
}

static json_t *part_with(const struct plan_run *run, const char *member, json_t *value)
{
	WFS_AUTO_JSON json_t *steps = steps_of(one, 1);
	json_t *part = part_of(run, steps, 0, 1, 1);

	if (value)
		json_object_set_new(part, member, value);
	else
		json_object_del(part, member);
	return part;
}

WITH_ACTORS(parts_of_another_form_are_refused)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	assert_part_refused(&run, "no goal", part_with(&run, "goal", NULL), "goal");
	assert_part_refused(&run, "no plan_id", part_with(&run, "plan_id", NULL), "plan_id");
	assert_part_refused(
		&run, "an empty plan_id", part_with(&run, "plan_id", json_string("")), "plan_id");
	assert_part_refused(&run, "a long plan_id",
		part_with(&run, "plan_id", json_string("012345678901234567890123456789012")),
		"plan_id");
	assert_part_refused(&run, "no total", part_with(&run, "total", NULL), "total");
	assert_part_refused(&run, "too many steps",
		part_with(&run, "total", json_integer(WFS_PLAN_STEPS_MAX + 1)), "total");
	assert_part_refused(
		&run, "less than none", part_with(&run, "total", json_integer(-1)), "total");
	assert_part_refused(&run, "no steps", part_with(&run, "steps", NULL), "steps");
	assert_part_refused(&run, "nobody begins",
		part_with(&run, "max_concurrency", json_integer(0)), "max_concurrency");
}

static json_t *part_with_step(const struct plan_run *run, const char *step)
{
	return part_with(run, "steps", json_pack("[o]", json_of(step)));
}

#define STEP_OF_ID(id, members)                                                               \
	"{'step':{'attempts':0,'depends_on':[],'id':'" id "','max_attempts':1,'prompt':null," \
	"'result_ref':null,'status':'pending','title':'a','tool':null,'type':'note'}," members "}"
#define STEP_OF(members) STEP_OF_ID("a", "'waiting':0" members)

WITH_ACTORS(steps_of_another_form_are_refused)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	assert_part_refused(&run, "no step", part_with_step(&run, "{'waiting':0}"), "step 0");
	assert_part_refused(&run, "without its other members",
		part_with_step(&run, "{'step':{'id':'a','status':'pending'},'waiting':0}"),
		"step 0");
	assert_part_refused(
		&run, "an empty id", part_with_step(&run, STEP_OF_ID("", "'waiting':0")), "step 0");
	assert_part_refused(
		&run, "no waiting", part_with_step(&run, STEP_OF_ID("a", "'next':[]")), "step 0");
	assert_part_refused(&run, "waits for less than none",
		part_with_step(&run, STEP_OF_ID("a", "'waiting':-2")), "step 0");
	assert_part_refused(&run, "before a missing step",
		part_with_step(&run, STEP_OF(",'next':[1]")), "step 0");
	assert_part_refused(&run, "before an id that is not a number",
		part_with_step(&run, STEP_OF(",'next':['b']")), "step 0");
	assert_part_refused(&run, "names a missing step",
		part_with_step(&run, STEP_OF(",'refs':{'b':-1}")), "step 0");
	assert_part_refused(&run, "has given nobody knows what",
		part_with_step(&run, STEP_OF(",'result':7")), "step 0");
	give_part(&run, part_with_step(&run, STEP_OF("")));
}

/* 148 */
WITH_ACTORS(no_two_plans_have_one_id)
{
	struct plan_run first = plan_begin(fixture, CHAT, one, 1);
	struct plan_run second = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(one, 1);

	snprintf(second.id, sizeof(second.id), "%s", first.id);
	assert_int_equal(send_part(&second, part_of(&second, steps, 0, 1, 1)), -EEXIST);

	assert_plan(&first, "{'chat_id':'alice+s.0'}");
	assert_chat(&second, "{'status':'normalizing'}");
}

WITH_ACTORS(parts_are_of_the_plan_of_their_chat)
{
	struct plan_run first = chat_planned(fixture, CHAT);
	struct plan_run second = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	give_part(&first, part_of(&first, steps, 0, 1, 3));
	give_part(&second, part_of(&second, steps, 0, 1, 3));
	assert_part_refused(&first, "of the other", part_of(&second, steps, 1, 1, 3), "plan_id");

	assert_plan(&first, "{'defined':1}");
	assert_plan(&second, "{'defined':1}");
}

/* A principal that drives the world may continue everybody's chats. */
WITH_ACTORS(a_plan_is_whose_chat_it_is)
{
	struct plan_run run = chat_as(fixture, "bob", CHAT);

	chat_answer(&run, "ok", PLANS("a plan"));
	snprintf(run.id, sizeof(run.id), "p");
	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_members(cell_of(fixture, "sys.intent", id), "{'principal':'bob'}");
	give_steps(&run, one, 1);

	assert_plan(&run, "{'principal':'bob'}");
	WFS_AUTO_FREE char *call = plan_waits_for(&run, 0);
	assert_members(cell_of(fixture, "sys.intent", call), "{'principal':'bob'}");
}

/* 127 */
WITH_ACTORS(steps_in_order_run_one_at_a_time)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps =
		steps_of((const struct plan_spec[]){TOOL(""), TOOL(""), TOOL("")}, 3);
	json_t *part = part_of(&run, steps, 0, 3, 3);

	json_object_set_new(part, "draft", json_string("it is done"));
	json_object_set_new(part, "in_order", json_true());
	json_object_set_new(part, "max_concurrency", json_integer(1));
	give_part(&run, part);

	assert_plan(&run, "{'draft':'it is done','max_concurrency':1}");
	assert_waits_for(&run, "0");
}

/* --- plans that are none --- */

#define NO_PLAN                                                                              \
	"{'code':'PLAN_CYCLE','details':{'cycle':['a','a']},'duration_ms':1,'goal':'do it'," \
	"'message':'a cycle','plan_id':'bad','total':0}"

/* 164 */
WITH_ACTORS(a_plan_that_is_none_keeps_its_source)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	snprintf(run.id, sizeof(run.id), "bad");
	chat_answer(&run, "error", NO_PLAN);

	WFS_AUTO_JSON json_t *message = cell_of(fixture, "sys.chat_message", run.chat_id);
	const json_t *const error = json_object_get(message, "error");
	assert_string_equal(wfs_json_text(message, "status"), "failed");
	assert_string_equal(wfs_json_text(error, "code"), "PLAN_NORMALIZE_FAILED");
	assert_string_equal(wfs_json_text(json_object_get(error, "details"), "message"), "a cycle");
	assert_plan(&run, "{'defined':0,'phase':'ended','status':'failed_normalize','total':0}");
	assert_state(fixture, "sys.plan_source", run.chat_id, "{'text':'a plan'}");
}

/* 164 */
WITH_ACTORS(a_plan_that_is_none_does_not_go_on)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	chat_answer(&run, "error", NO_PLAN);

	assert_fails(fixture, "alice", RESUME("bad"), WFS_E_CONFLICT, "is no plan");
	assert_fails(fixture, "alice", CHAT_OF("s", CHAT_SETTINGS("1", "1") ",'plan_id':'bad'"),
		WFS_E_CONFLICT, "is no plan");
	assert_fails(fixture, "alice", "{'action_type':'stop','plan_id':'bad'}", WFS_E_CONFLICT,
		"failed_normalize");
}

/* A plan that could not even be read leaves no cell of a plan. */
WITH_ACTORS(a_plan_without_an_id_is_not_kept)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	chat_answer(&run, "error", "{'code':'not_found','message':'gone','total':0}");

	assert_chat(&run, "{'status':'failed'}");
	WFS_AUTO_JSON json_t *plan = plan_cell(&run, "sys.plan", -1);
	assert_null(plan);
}

/* A refused plan does not run, however late the refusal comes. */
WITH_ACTORS(a_plan_that_fails_behind_its_first_part_has_failed)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	give_part(&run, part_of(&run, steps, 0, 1, 3));
	chat_answer(&run, "error", "{'code':'no_memory','message':'none','total':0}");

	assert_chat(&run, "{'status':'failed'}");
	assert_plan(&run, "{'phase':'ended','status':'failed_normalize'}");
	assert_bytes_are_counted(&run);
}

/* --- stopping --- */

#define STOP_CHAT "{'action_type':'stop','chat_id':'alice+s.0'}"

WITH_ACTORS(a_chat_is_stopped_while_a_model_thinks)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);
	WFS_AUTO_FREE char *id = chat_waits_for(&run);

	assert_done(fixture, "alice", STOP_CHAT);

	assert_chat(&run, "{'status':'cancelled'}");
	assert_int_equal(send_receipt(fixture, id, "ok", json_of(SAYS("x"))), -ESTALE);
	assert_fails(fixture, "alice", STOP_CHAT, WFS_E_CONFLICT, "waits for nothing");
}

WITH_ACTORS(a_chat_is_stopped_before_its_plan_has_steps)
{
	struct plan_run run = chat_planned(fixture, CHAT);

	assert_done(fixture, "alice", STOP_CHAT);

	assert_chat(&run, "{'status':'cancelled'}");
	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_null(id);
}

/* 154, for steps that were not received: the driver makes them once more. */
WITH_ACTORS(a_plan_is_stopped_between_its_parts)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	give_part(&run, part_of(&run, steps, 0, 1, 3));
	plan_stop_it(&run);
	assert_chat(&run, "{'status':'cancelled'}");
	assert_plan(&run, "{'defined':1,'status':'cancelled'}");
	plan_resume_it(&run);

	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_members(cell_of(fixture, "sys.intent", id), "{'effect':'plan.normalize'}");
	assert_chat(&run, "{'status':'normalizing'}");
	assert_plan(&run, "{'phase':'defining','status':'running'}");
	give_part(&run, part_of(&run, steps, 1, 2, 3));
	assert_steps(&run, "rpp");
	assert_bytes_are_counted(&run);
}

/* The author knows the plan only by its chat so far. */
WITH_ACTORS(a_plan_is_stopped_by_its_chat)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	give_part(&run, part_of(&run, steps, 0, 1, 3));
	assert_done(fixture, "alice", STOP_CHAT);
	assert_plan(&run, "{'status':'cancelled'}");
	plan_resume_it(&run);
	give_part(&run, part_of(&run, steps, 1, 2, 3));
	assert_done(fixture, "alice", STOP_CHAT);

	assert_plan(&run, "{'open':[],'status':'cancelled'}");
	assert_steps(&run, "ppp");
}

/* A principal that may continue plans of others continues them in the name of their owners. */
WITH_ACTORS(a_plan_stays_whose_it_is)
{
	struct plan_run run = chat_planned(fixture, CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	give_part(&run, part_of(&run, steps, 0, 1, 3));
	plan_stop_it(&run);
	assert_int_equal(plan_tell(&run, "tester", "resume"), 0);

	WFS_AUTO_FREE char *id = chat_waits_for(&run);
	assert_members(cell_of(fixture, "sys.intent", id), "{'principal':'alice'}");
}

/* --- saying more --- */

static void assert_more_refused(
	const struct plan_run *run, const char *principal, const char *session)
{
	WFS_AUTO_FREE char *chat = NULL;

	assert_true(asprintf(&chat, CHAT_OF("%s", CHAT_SETTINGS("1", "1") ",'plan_id':'%s'"),
			    session, run->id) > 0);
	assert_fails(run->fixture, principal, chat, WFS_E_NOT_AUTHORIZED, "is of another session");
}

static struct plan_run say_more(const struct plan_run *run)
{
	WFS_AUTO_FREE char *chat = NULL;

	assert_true(asprintf(&chat, CHAT_OF("s", CHAT_SETTINGS("1", "1") ",'plan_id':'%s'"),
			    run->id) > 0);
	return chat_as(run->fixture, "alice", chat);
}

/* 156 */
WITH_ACTORS(a_plan_is_of_its_session)
{
	struct plan_run run = plan_begin(fixture, CHAT, one, 1);

	plan_stop_it(&run);
	assert_more_refused(&run, "alice", "t");
	assert_more_refused(&run, "bob", "s");

	assert_plan(&run, "{'status':'cancelled'}");
	assert_members(cell_of(fixture, "sys.chat", "alice+s"), "{'messages':1}");
}

WITH_ACTORS(a_chat_goes_on_with_its_plan)
{
	struct plan_run run = plan_begin(fixture, CHAT, one, 1);

	plan_stop_it(&run);
	struct plan_run more = say_more(&run);

	assert_string_equal(more.chat_id, "alice+s.1");
	assert_string_equal(more.id, run.id);
	assert_members(cell_of(fixture, "sys.chat_message", more.chat_id),
		"{'content':'do it','role':'user','status':'resumed'}");
	assert_plan(&run, "{'chat_id':'alice+s.1','source_id':'alice+s.0','status':'running'}");
	assert_waits_for(&run, "0");
}

/* 155 */
WITH_ACTORS(saying_more_of_a_finished_plan_runs_nothing)
{
	struct plan_run run = plan_begin(fixture, CHAT, (const struct plan_spec[]){NOTE("")}, 1);

	plan_answer(&run, 0, "ok", SAYS("x"));
	WFS_AUTO_JSON json_t *before = plan_cell(&run, "sys.plan", -1);
	struct plan_run more = say_more(&run);

	WFS_AUTO_JSON json_t *after = plan_cell(&run, "sys.plan", -1);
	assert_true(json_equal(before, after));
	assert_chat(&more, "{'status':'resumed'}");
}

/* --- plans from elsewhere --- */

#define IMPORT(resume)                                                                           \
	"{'action_type':'import','batch_size':2,'blob':'sha256:"                                 \
	"0123456789012345678901234567890123456789012345678901234567890123','max_concurrency':1," \
	"'model':'m','resume':" resume ",'session_id':'s'}"

/* Two steps are done; the step after them is not. */
static json_t *part_from_elsewhere(const struct plan_run *run)
{
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	for (size_t i = 0; i < 2; i++) {
		json_t *const step = json_array_get(steps, i);

		json_object_set_new(json_object_get(step, "step"), "status", json_string("done"));
		json_object_set_new(step, "waiting", json_integer(-1));
		json_object_set_new(step, "result",
			json_pack("{s:s, s:b, s:i}", "_step_id", "x", "ok", 1, "result", (int)i));
		json_object_del(step, "next");
	}
	json_object_set_new(json_array_get(steps, 2), "waiting", json_integer(0));
	json_t *part = part_of(run, steps, 0, 3, 3);
	json_object_set_new(part, "created_ns", json_integer(5));
	json_object_set_new(
		part, "counts", json_pack("{s:i, s:i, s:i}", "done", 2, "failed", 0, "skipped", 0));
	return part;
}

static struct plan_run import(struct world_fixture *fixture, const char *action)
{
	struct plan_run run = chat_as(fixture, "alice", action);

	snprintf(run.id, sizeof(run.id), "imported");
	return run;
}

WITH_ACTORS(an_import_is_cut_without_a_model)
{
	struct plan_run run = import(fixture, IMPORT("true"));
	WFS_AUTO_FREE char *id = chat_waits_for(&run);

	assert_chat(&run, "{'resume':true,'role':'user','status':'normalizing'}");
	assert_members(cell_of(fixture, "sys.intent", id),
		"{'chat_id':'alice+s.0','effect':'plan.normalize'}");
}

/* 154 */
WITH_ACTORS(an_import_goes_on_where_it_was)
{
	struct plan_run run = import(fixture, IMPORT("true"));

	give_part(&run, part_from_elsewhere(&run));

	assert_steps(&run, "ddr");
	assert_plan(&run, "{'batch_size':2,'created_ns':5,'done':2,'results_count':2}");
	assert_bytes_are_counted(&run);
	plan_do(&run, 1);
	assert_plan(&run, "{'created_ns':5,'done':3,'phase':'answering','tool_calls':1}");
}

/* An imported step may have a result, and be run again nevertheless. */
WITH_ACTORS(a_result_takes_the_place_of_an_imported_one)
{
	struct plan_run run = import(fixture, IMPORT("true"));
	json_t *part = part_from_elsewhere(&run);

	json_object_set_new(json_array_get(json_object_get(part, "steps"), 2), "result",
		json_pack("{s:b, s:s}", "ok", 1, "result", "a result of before"));
	give_part(&run, part);
	assert_bytes_are_counted(&run);
	plan_do(&run, 1);

	assert_bytes_are_counted(&run);
	assert_plan(&run, "{'results_count':3}");
}

WITH_ACTORS(an_import_waits_until_somebody_goes_on_with_it)
{
	struct plan_run run = import(fixture, IMPORT("false"));

	give_part(&run, part_from_elsewhere(&run));
	assert_steps(&run, "ddp");
	assert_plan(&run, "{'open':[],'status':'cancelled'}");
	plan_resume_it(&run);

	assert_steps(&run, "ddr");
}

WITH_ACTORS(a_finished_import_stays_finished)
{
	struct plan_run run = import(fixture, IMPORT("true"));
	json_t *part = part_from_elsewhere(&run);

	json_object_set_new(part, "status", json_string("partial"));
	json_object_set_new(part, "final", json_string("the most of it"));
	give_part(&run, part);
	assert_plan(&run,
		"{'done':2,'final':'the most of it','open':[],'phase':'ended',"
		"'status':'partial'}");
	plan_resume_it(&run);

	assert_steps(&run, "ddp");
	assert_plan(&run, "{'status':'partial'}");
}

/* 151 */
WITH_ACTORS(an_import_that_is_no_plan_fails)
{
	struct plan_run run = import(fixture, IMPORT("true"));

	chat_answer(&run, "error", "{'code':'invalid_json','message':'cut off','total':0}");

	assert_chat(&run,
		"{'error':{'code':'PLAN_NORMALIZE_FAILED','details':{'code':'invalid_json',"
		"'message':'cut off','total':0}},'status':'failed'}");
	WFS_AUTO_JSON json_t *plan = plan_cell(&run, "sys.plan", -1);
	assert_null(plan);
}

/* 157 */
WITH_ACTORS(a_world_that_is_opened_again_has_the_same_chat)
{
	struct plan_run run = chat_as(fixture, "alice", CHAT);
	WFS_AUTO_JSON json_t *steps = steps_of(three, 3);

	assert_int_equal(world_fixture_open(fixture), 0);
	chat_answer(&run, "ok", PLANS("a plan"));
	snprintf(run.id, sizeof(run.id), "p");
	assert_int_equal(world_fixture_open(fixture), 0);
	give_part(&run, part_of(&run, steps, 0, 2, 3));
	assert_int_equal(world_fixture_open(fixture), 0);
	give_part(&run, part_of(&run, steps, 2, 1, 3));

	assert_steps(&run, "rpp");
}
