/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of plans that are imported. */
#include "tests/fixture/normalize.h"

#define HEAD                                                                                \
	"'schema_version':1,'plan_id':'p-1','goal':'g','created_utc':'2026-11-21T20:46:37." \
	"250Z','updated_utc':'2026-11-21T20:47:00+00:00','cursors':{},"

/* Imports a plan whose done steps without results may run again. */
static struct attempt attempt_rerun(const char *text)
{
	const struct wfs_plan_origin origin = {
		.chat_id = CHAT_ID, .imported = true, .reruns = true};

	return attempt_as(&origin, text);
}

/* Imports a document with these steps; @more: further members, with a comma before. */
static struct attempt import_steps(const char *status, const char *steps, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(
		&text, "{" HEAD "'status':'%s','plan':{'steps':[%s]}%s}", status, steps, more);
	return attempt_rerun(wfs_buffer_text(&text));
}

static json_t *member_of(const struct attempt *attempt, size_t index, const char *name)
{
	return json_object_get(normalized_part(attempt, index), name);
}

static json_int_t waiting(const struct attempt *attempt, size_t index)
{
	return json_integer_value(member_of(attempt, index, "waiting"));
}

/* --- plans that have not begun --- */

TEST(a_plan_that_has_not_begun_is_imported_as_a_new_one)
{
	static const char text[] = "{'goal':'g','steps':[{'id':'a','status':'done'}]}";

	ATTEMPT_AUTO struct attempt made = taken(attempt_import(text));
	ATTEMPT_AUTO struct attempt calls =
		taken(attempt_import("{'tool_calls':[{'name':'x'}],'final':'F'}"));

	assert_string_equal(text_of_step(&made, 0, "status"), "pending");
	assert_int_equal(strlen(made.plan.plan_id), WFS_PLAN_ID_SIZE);
	assert_false(made.plan.restored);
	assert_true(calls.plan.in_order);
	assert_string_equal(json_string_value(calls.plan.draft), "F");
}

/* --- what is kept --- */

TEST(a_document_keeps_its_id_and_what_was_done)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps("running",
		"{'id':'a','tool':'x','status':'done','attempts':2,'result_ref':{'bytes':1,"
		"'sha256':'s'}},{'id':'b','type':'note','status':'pending','depends_on':['a']}",
		",'tool_results':[{'_step_id':'a','ok':true,'result':7,'name':'x','more':1}]"));

	assert_string_equal(made.plan.plan_id, "p-1");
	assert_json_is(json_incref(made.plan.parts),
		"[{'result':{'_step_id':'a','asked':null,'details':null,'error':null,'method':'',"
		"'name':'x','ok':true,'result':7},'step':{'attempts':2,'depends_on':[],'id':'a',"
		"'max_attempts':1,'prompt':null,'result_ref':{'bytes':1,'sha256':'s'},"
		"'status':'done','title':'step-1','tool':{'args':{},'method':'','name':'x'},"
		"'type':'tool'},'waiting':-1,'next':[1]},{'step':{'attempts':0,'depends_on':['a'],"
		"'id':'b','max_attempts':1,'prompt':null,'result_ref':null,'status':'pending',"
		"'title':'step-2','tool':null,'type':'note'},'waiting':0}]");
}

TEST(the_payload_tells_when_it_was_made_and_what_has_ended)
{
	size_t count;

	ATTEMPT_AUTO struct attempt made = taken(import_steps("partial",
		"{'type':'note','status':'done'},{'status':'failed'},"
		"{'status':'skipped','depends_on':['s2']}",
		""));
	WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, 0, &count);

	assert_int_equal(made.plan.created_ns, INT64_C(1795293997250000000));
	assert_int_equal(json_integer_value(json_object_get(payload, "created_ns")),
		INT64_C(1795293997250000000));
	assert_json_is(json_incref(json_object_get(payload, "counts")),
		"{'done':1,'failed':1,'skipped':1}");
	assert_string_equal(wfs_json_text(payload, "status"), "partial");
}

TEST(what_was_under_way_is_done_again)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps("running",
		"{'id':'a','tool':'x','status':'running','attempts':1,'result_ref':{}},"
		"{'id':'b','tool':'x','status':'ready'},{'id':'c','tool':'x'},"
		"{'id':'d','tool':'x','status':null}",
		",'tool_results':[{'_step_id':'a','ok':true}]"));

	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(text_of_step(&made, i, "status"), "pending");
		assert_int_equal(json_integer_value(of_step(&made, i, "attempts")), 0);
		assert_true(json_is_null(of_step(&made, i, "result_ref")));
		assert_null(member_of(&made, i, "result"));
		assert_int_equal(waiting(&made, i), 0);
	}
}

TEST(a_step_that_is_done_has_a_result)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps("done",
		"{'id':'a','tool':'x','status':'done'},{'id':'b','type':'llm','status':'done'},"
		"{'id':'c','type':'note','status':'done'},"
		"{'id':'d','tool':'x','status':'done'},{'id':'e','tool':'x','status':'failed'},"
		"{'id':'f','tool':'x','status':'failed'}",
		",'tool_results':[{'_step_id':'b','ok':true,'result':'t'},{'_step_id':'d',"
		"'ok':false},{'_step_id':'e','ok':false,'error':'E'},{'_step_id':'c','ok':true},"
		"{'_step_id':'b','ok':true,'result':'later'},{'_step_id':'nobody'},5]"));
	static const char *const expected[] = {
		"pending", "done", "done", "pending", "failed", "failed"};
	static const bool has_result[] = {false, true, false, false, true, false};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(expected); i++) {
		assert_string_equal(text_of_step(&made, i, "status"), expected[i]);
		assert_int_equal(member_of(&made, i, "result") != NULL, has_result[i]);
	}
	assert_string_equal(wfs_json_text(member_of(&made, 1, "result"), "result"), "t");
	assert_string_equal(wfs_json_text(member_of(&made, 4, "result"), "error"), "E");
	assert_null(made.plan.status);
	assert_int_equal(made.plan.done, 2);
	assert_int_equal(made.plan.failed, 2);
}

TEST(done_steps_without_results_are_refused_unless_they_may_run_again)
{
	static const char steps[] =
		"{" HEAD
		"'status':'done','plan':{'steps':[{'id':'n','type':'note','status':'done'},"
		"{'id':'a','tool':'x','status':'done'},{'id':'b','type':'llm','status':'done'},"
		"{'id':'c','tool':'x','status':'running'},{'id':'d','tool':'x','status':'done'}]},"
		"'tool_results':[{'_step_id':'d','ok':true,'result':1}]}";

	assert_refusal(attempt_import(steps), -EINVAL,
		"step 'a': 2 done steps have no results and would run again: import what 'worldfs "
		"plan "
		"export' wrote, or have them run again with --rerun ('rerun': true)",
		"{'code':'MISSING_RESULTS','count':2,'index':1,'step':'a'}");
	ATTEMPT_AUTO struct attempt again = taken(attempt_rerun(steps));
	assert_string_equal(text_of_step(&again, 1, "status"), "pending");
	assert_string_equal(text_of_step(&again, 4, "status"), "done");
}

/* A step that has ended waits for nothing. */
TEST(who_has_ended_waits_for_nobody)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps("running",
		"{'id':'a','tool':'x','status':'done'},"
		"{'id':'b','type':'note','status':'done','depends_on':['a']},"
		"{'id':'c','type':'note','depends_on':['a','b']}",
		""));

	assert_json_is(json_incref(member_of(&made, 0, "next")), "[2]");
	assert_int_equal(waiting(&made, 0), 0);
	assert_int_equal(waiting(&made, 1), -1);
	assert_int_equal(waiting(&made, 2), 1);
}

/* No later answer would skip these steps. */
TEST(who_depends_on_what_failed_is_skipped)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps("cancelled",
		"{'id':'d','depends_on':['c']},{'id':'a','status':'failed','reason':' why '},"
		"{'id':'c','depends_on':['a','b'],'status':'running'},{'id':'b'},"
		"{'id':'e','depends_on':['b']}",
		""));

	assert_string_equal(text_of_step(&made, 0, "status"), "skipped");
	assert_string_equal(text_of_step(&made, 0, "reason"),
		"the step 'c', which it depends on, was not done");
	assert_string_equal(text_of_step(&made, 1, "reason"), "why");
	assert_string_equal(text_of_step(&made, 2, "status"), "skipped");
	assert_string_equal(text_of_step(&made, 2, "reason"),
		"the step 'a', which it depends on, was not done");
	assert_string_equal(text_of_step(&made, 3, "status"), "pending");
	assert_json_is(json_incref(member_of(&made, 3, "next")), "[2,4]");
	assert_int_equal(made.plan.skipped, 2);
	assert_int_equal(waiting(&made, 0), -1);
	assert_int_equal(waiting(&made, 2), -2);
	assert_int_equal(waiting(&made, 4), 1);
}

/* --- how it has ended --- */

static void assert_status(const char *written, const char *steps, const char *expected)
{
	ATTEMPT_AUTO struct attempt made = taken(import_steps(written, steps, ""));

	if (!expected)
		assert_null(made.plan.status);
	else
		assert_string_equal(made.plan.status, expected);
}

TEST(a_plan_has_ended_if_it_says_so_and_its_steps_have)
{
	assert_status("done", "{'status':'done'}", "done");
	assert_status("done", "", "done");
	assert_status("failed", "{'status':'failed'}", "failed");
	assert_status("partial", "{'status':'done'},{'status':'failed'}", "partial");
	assert_status("running", "{'status':'done'}", NULL);
	assert_status("cancelled", "{'status':'failed'}", NULL);
	assert_status("done", "{'status':'done'},{'status':'pending'}", NULL);
}

/* A plan is done only if all of its steps are. */
TEST(how_a_plan_has_ended_follows_from_its_steps)
{
	assert_status("done", "{'status':'done'},{'status':'failed'}", "partial");
	assert_status("done", "{'status':'skipped'}", "failed");
}

TEST(the_answer_is_kept_with_a_plan_that_has_ended)
{
	size_t count;

	ATTEMPT_AUTO struct attempt ended = taken(attempt_import(
		"{" HEAD
		"'status':'done','plan':{'plan_id':'p-1','draft':'D','final':'F','in_order':true,"
		"'steps':[]}}"));
	ATTEMPT_AUTO struct attempt open = taken(attempt_import(
		"{" HEAD "'status':'running','plan':{'final':'F','steps':[]},'final':'X'}"));
	WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&ended.plan, 0, &count);

	assert_string_equal(wfs_json_text(payload, "final"), "F");
	assert_string_equal(wfs_json_text(payload, "draft"), "D");
	assert_true(json_is_true(json_object_get(payload, "in_order")));
	assert_null(open.plan.final);
	assert_null(open.plan.draft);
}

/* --- digests --- */

/* Case 159. @sum: the hash that the document has for the result */
static struct attempt with_digest(const char *sum, const char *results)
{
	WFS_AUTO_BUFFER struct wfs_buffer more = {0};

	wfs_buffer_printf(&more, ",'tool_results_ref':{'bytes':1,'sha256':'%s'}%s%s", sum,
		*results ? ",'tool_results':" : "", results);
	return import_steps(
		"running", "{'id':'a','tool':'x','status':'done'}", wfs_buffer_text(&more));
}

#define RESULTS "[ {'ok':true,'_step_id':'a','result':1.0} ]"

/* The hash of the result's canonical text. */
static struct wfs_hash digest(void)
{
	WFS_AUTO_FREE char *text = json_text("[{'_step_id':'a','ok':true,'result':1}]");

	return wfs_hash_of(text, strlen(text));
}

TEST(results_have_the_digest_that_is_told)
{
	const struct wfs_hash hash = digest();
	char hex[WFS_HASH_HEX_SIZE + 1];
	char prefixed[WFS_HASH_TEXT_SIZE];

	wfs_hash_hex(&hash, hex);
	wfs_hash_text(&hash, prefixed);

	ATTEMPT_AUTO struct attempt bare = taken(with_digest(hex, RESULTS));
	ATTEMPT_AUTO struct attempt long_form = taken(with_digest(prefixed, RESULTS));
	ATTEMPT_AUTO struct attempt none = taken(with_digest(hex, ""));
	assert_non_null(member_of(&bare, 0, "result"));
	assert_non_null(member_of(&long_form, 0, "result"));
	assert_string_equal(text_of_step(&none, 0, "status"), "pending");
}

TEST(results_with_another_digest_are_refused)
{
	static const char *const sums[] = {
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "x", ""};
	const struct wfs_hash hash = digest();
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};
	WFS_AUTO_BUFFER struct wfs_buffer details = {0};
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(&hash, hex);
	wfs_buffer_printf(&message,
		"'tool_results': its SHA-256 is %s, which is not 'sha256' of 'tool_results_ref'",
		hex);
	wfs_buffer_printf(&details, "{'code':'WRONG_DIGEST','got':'%s'}", hex);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(sums); i++)
		assert_refusal(with_digest(sums[i], RESULTS), -EINVAL, wfs_buffer_text(&message),
			wfs_buffer_text(&details));
}

/* --- what is refused --- */

/* Case 151. @from, @to: a change of a document that is valid without it */
static void assert_refused(
	const char *from, const char *to, const char *message, const char *details)
{
	static const char document[] =
		"{" HEAD "'status':'done','plan':{'plan_id':'p-1','steps':[]}}";
	const char *const at = strstr(document, from);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_non_null(at);
	wfs_buffer_printf(&text, "%.*s%s%s", (int)(at - document), document, to, at + strlen(from));
	assert_refusal(attempt_import(wfs_buffer_text(&text)), -EINVAL, message, details);
}

TEST(another_version_is_refused)
{
	assert_refused("'schema_version':1", "'schema_version':2",
		"'schema_version': expected 1, got an integer",
		"{'code':'UNSUPPORTED_SCHEMA_VERSION','got':2}");
	assert_refused("'schema_version':1", "'schema_version':true",
		"'schema_version': expected 1, got a boolean",
		"{'code':'UNSUPPORTED_SCHEMA_VERSION'}");
	assert_refused("'schema_version':1,", "", "'schema_version': expected 1, got nothing",
		"{'code':'MISSING_KEY','key':'schema_version'}");
}

TEST(a_key_that_is_missing_is_named)
{
	assert_refused("'plan_id':'p-1',", "",
		"'plan_id': expected 1 to 32 letters, digits, '-' and '_', got nothing",
		"{'code':'MISSING_KEY','key':'plan_id'}");
	assert_refused("'goal':'g',", "", "'goal': expected a text, got nothing",
		"{'code':'MISSING_KEY','key':'goal'}");
	assert_refused("'created_utc':'2026-11-21T20:46:37.250Z',", "",
		"'created_utc': expected a time such as 2026-11-21T20:46:37.123Z, got nothing",
		"{'code':'MISSING_KEY','key':'created_utc'}");
	assert_refused("'updated_utc':'2026-11-21T20:47:00+00:00',", "",
		"'updated_utc': expected a time such as 2026-11-21T20:46:37.123Z, got nothing",
		"{'code':'MISSING_KEY','key':'updated_utc'}");
	assert_refused("'status':'done',", "",
		"'status': expected running, done, failed, partial or cancelled, got nothing",
		"{'code':'MISSING_KEY','key':'status'}");
	assert_refused(",'plan':{'plan_id':'p-1','steps':[]}", "",
		"'plan': expected an object, got nothing", "{'code':'MISSING_KEY','key':'plan'}");
	assert_refused(",'steps':[]", "", "'plan.steps': expected an array of steps, got nothing",
		"{'code':'INVALID_STEPS'}");
}

TEST(a_key_of_another_form_is_named)
{
	assert_refused("'goal':'g'", "'goal':null", "'goal': expected a text, got null",
		"{'code':'INVALID_KEY','key':'goal'}");
	assert_refused("'status':'done'", "'status':'new'",
		"'status': expected running, done, failed, partial or cancelled, got 'new'",
		"{'code':'INVALID_KEY','key':'status'}");
	assert_refused("'status':'done'", "'tool_results':{},'status':'done'",
		"'tool_results': expected an array, got an object",
		"{'code':'INVALID_KEY','key':'tool_results'}");
	assert_refused("'plan':{'plan_id':'p-1','steps':[]}", "'plan':[]",
		"'plan': expected an object, got an array", "{'code':'INVALID_KEY','key':'plan'}");
}

/* Cases 148, 149. */
TEST(an_id_that_is_no_name_is_refused)
{
	static const char *const ids[] = {
		"a/b", "../../x", "", "a.1", "ä", "012345678901234567890123456789012"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer to = {0};
		WFS_AUTO_BUFFER struct wfs_buffer message = {0};

		wfs_buffer_printf(&to, "'plan_id':'%s','goal'", ids[i]);
		wfs_buffer_printf(&message,
			"'plan_id': expected 1 to 32 letters, digits, '-' and '_', got '%s'",
			ids[i]);
		assert_refused("'plan_id':'p-1','goal'", wfs_buffer_text(&to),
			wfs_buffer_text(&message), "{'code':'INVALID_KEY','key':'plan_id'}");
	}
}

/* Case 153. */
TEST(a_plan_with_another_id_inside_is_refused)
{
	assert_refused("{'plan_id':'p-1'", "{'plan_id':'p-2'",
		"'plan_id': 'p-1' in the document, 'p-2' in its plan",
		"{'code':'PLAN_ID_DIFFERS','plan_id':'p-1'}");
	assert_refused("{'plan_id':'p-1'", "{'plan_id':1",
		"'plan_id': 'p-1' in the document, an integer in its plan",
		"{'code':'PLAN_ID_DIFFERS','plan_id':'p-1'}");
}

/* Case 164. */
TEST(a_plan_that_was_never_normalised_is_refused)
{
	assert_refused("'status':'done'", "'status':'failed_normalize'",
		"'status': a plan that is failed_normalize has no steps",
		"{'code':'UNSUPPORTED_PLAN_FORMAT','type':'failed_normalize'}");
}

/* @time: with its quotes. Return: the time in it; -1: the document is refused */
static int64_t created_ns(const char *time)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text,
		"{'schema_version':1,'plan_id':'p','goal':'','created_utc':%s,'updated_utc':"
		"'2026-11-21T20:46:37Z','status':'done','plan':{'steps':[]}}",
		time);
	ATTEMPT_AUTO struct attempt made = attempt_import(wfs_buffer_text(&text));
	return made.status ? -1 : made.plan.created_ns;
}

TEST(times_have_several_forms)
{
	assert_int_equal(created_ns("'1970-01-01T00:00:01Z'"), 1000000000);
	assert_int_equal(created_ns("'1970-01-01T00:00:01.5+00:00'"), 1500000000);
	assert_int_equal(created_ns("'1970-01-01T02:00:00.1234567890Z'"), 7200123456789);
	assert_int_equal(created_ns("'1970-01-01T02:00:00+01:30'"), 1800000000000);
}

TEST(what_is_no_time_is_refused)
{
	static const char *const times[] = {"5", "''", "'yesterday'", "'1970-01-01T00:00:01'",
		"'1970-01-01T00:00:01Z x'", "'1969-12-31T23:59:59Z'", "'9999-01-01T00:00:00Z'",
		"'1970-13-01T00:00:00Z'", "'1970-01-01T00:00:01Z\\u0000'"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(times); i++)
		if (created_ns(times[i]) != -1)
			fail_msg("%s is a time", times[i]);
}

TEST(a_status_of_a_step_that_is_not_known_is_refused)
{
	assert_refusal(import_steps("running", "{'id':'a','status':'bogus'}", ""), -EINVAL,
		"step 'a': 'status': expected pending, ready, running, done, failed or skipped, "
		"got bogus",
		"{'code':'INVALID_STEP','index':0,'step':'a'}");
	assert_refusal(import_steps("running", "{'id':'a','status':1}", ""), -EINVAL,
		"step 'a': 'status': expected pending, ready, running, done, failed or skipped, "
		"got an integer",
		"{'code':'INVALID_STEP','index':0,'step':'a'}");
}

TEST(steps_of_a_document_are_checked_as_all_are)
{
	assert_refusal(import_steps("done", "{'id':'a'},{'id':'a'}", ""), -EINVAL,
		"plan.steps[1]: 'id': 'a' is the id of plan.steps[0] already",
		"{'code':'DUPLICATE_STEP_ID','index':1,'step':'a'}");
}

/* --- bounds --- */

static struct attempt with_result(const char *result)
{
	WFS_AUTO_BUFFER struct wfs_buffer more = {0};

	wfs_buffer_printf(
		&more, ",'tool_results':[{'_step_id':'a','ok':true,'result':%s}]", result);
	return import_steps(
		"done", "{'id':'a','tool':'x','status':'done'}", wfs_buffer_text(&more));
}

/* The largest result that the kernel keeps, and one with a byte more. */
TEST(a_result_that_is_too_large_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_byte(&text, '\'');
	while (text.size < WFS_PLAN_RESULT_MAX - 1)
		wfs_buffer_append_byte(&text, 'x');
	wfs_buffer_append_byte(&text, '\'');
	ATTEMPT_AUTO struct attempt largest = taken(with_result(wfs_buffer_text(&text)));
	text.data[text.size - 1] = 'x';
	wfs_buffer_append_byte(&text, '\'');

	assert_non_null(member_of(&largest, 0, "result"));
	assert_refusal(with_result(wfs_buffer_text(&text)), -EFBIG,
		"step 'a': its result has 4194305 bytes, at most 4194304 are taken",
		"{'code':'TOO_LARGE_STEP','index':0,'step':'a'}");
}

TEST(a_result_that_is_too_deep_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (int i = 0; i < 100; i++)
		wfs_buffer_append_byte(&text, '[');
	for (int i = 0; i < 100; i++)
		wfs_buffer_append_byte(&text, ']');

	assert_refusal(with_result(wfs_buffer_text(&text)), -EINVAL,
		"step 'a': its result: expected at most 100 levels",
		"{'code':'INVALID_STEP','index':0,'step':'a'}");
}

TEST(a_long_chain_that_is_half_done_goes_on_in_the_middle)
{
	WFS_AUTO_BUFFER struct wfs_buffer steps = {0};
	const int count = 10000;

	for (int i = 0; i < count; i++)
		wfs_buffer_printf(&steps, "%s{'status':'%s','depends_on':[%s%.0d%s]}", i ? "," : "",
			i < count / 2 ? "done" : "pending", i ? "'s" : "", i, i ? "'" : "");
	ATTEMPT_AUTO struct attempt made =
		taken(import_steps("cancelled", wfs_buffer_text(&steps), ""));

	assert_int_equal(made.plan.done, count / 2);
	assert_int_equal(waiting(&made, (size_t)count / 2 - 1), -1);
	assert_int_equal(waiting(&made, (size_t)count / 2), 0);
	assert_int_equal(waiting(&made, (size_t)count - 1), 1);
}
