/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of outside tools by turns, plans and other callers, with tests/outside/server.py as the
 * server `s`, and as `t` one that never answers.
 */
#include "fs/tool/helper.h"
#include "tests/fixture/agents.h"
#include "tests/fixture/apply.h"

#include "caps/session.h"
#include "kernel/base/hash-text.h"

#ifndef SOURCE_ROOT /* the build gives it */
#define SOURCE_ROOT "."
#endif
#define SERVER SOURCE_ROOT "/tests/outside/server.py"

#define CALLS(calls) "{'tool_calls':[" calls "]}\n"
#define CALL(name, arguments) "{'id':'" name "','name':'" name "','arguments':'" arguments "'}"
#define DONE "{'content':'done'}\n"
#define ADA "{'agent':'ada'}"
#define ECHO(text) "{'name':'s.echo','arguments':{'text':'" text "'}}"
#define SECRET "vanadium"

enum { TICK_NS = 10 * 1000 * 1000, WAIT_S = 60 };

/* --- the world --- */

/* @more: members of the entry of `s`, with a comma in front, or ""; @name: of the server */
static void write_host(struct agents_fixture *fixture, const char *name, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text,
		"{'models':{'script':{'provider':'script','file':'script.jsonl'},"
		"'default':{'provider':'script','file':'script.jsonl'}},'tools':{'%s':{"
		"'command':['" SERVER
		"','--log','%s/log'],'env':['PATH']%s},'t':{'command':['" SERVER
		"','--fault','initialize_hangs'],'env':['PATH']}}}",
		name, fixture->root, more);
	WFS_AUTO_FREE char *json = json_text(wfs_buffer_text(&text));
	put_file(fixture->directory, "host.json", json);
}

static void trust(struct agents_fixture *fixture)
{
	assert_int_equal(trust_host(fixture->directory, wfs_world_id(fixture->world)), 0);
}

static void grant(struct agents_fixture *fixture, const char *members)
{
	WFS_AUTO_JSON json_t *more = json_of(members);
	json_t *const action = json_pack("{s:s, s:s, s:s, s:{}}", "action_type", "grant", "cap",
		"sys/tool@1", "to", "ada", "params");

	assert_int_equal(json_object_update(action, more), 0);
	fixture_act(fixture, "operator", action);
}

static int setup(void **state)
{
	agents_helpers = &wfs_tool_helpers;
	int r = agents_setup_world(state);

	if (r)
		return r;
	write_host(*state, "s", "");
	trust(*state);
	grant(*state, "{'name':'all','params':{'tools':['s.*','t.*','other.*']}}");
	fixture_configure(
		*state, "ada", "{'model':'script','tools':['s.echo','s.hang','s.sleep']}");
	return fixture_drive(*state);
}

#define OUTSIDE(name) TEST_WITH(name, struct agents_fixture *fixture, setup, agents_teardown)

/* Puts a rule in front of one that allows everything. */
static void set_policy(struct agents_fixture *fixture, const char *rule)
{
	struct world_fixture world = {.world = fixture->world};
	WFS_AUTO_JSON json_t *document = manifest_now(&world);
	json_t *const policy = json_pack("{s:s, s:s, s:[o,o]}", "$kind", "defpolicy", "name",
		"test/Other@1", "rules", json_of(rule), json_of("{'when':{},'decision':'allow'}"));

	json_array_insert_new(json_object_get(document, "policies"), 0, policy);
	json_object_set_new(document, "policy", json_string("test/Other@1"));
	assert_applied(&world, document);
}

/* --- the server's log --- */

/* The messages with this method that the server got. Caller owns them. */
static json_t *got(const struct agents_fixture *fixture, const char *method)
{
	json_t *const found = json_array();
	char path[100];

	snprintf(path, sizeof(path), "%s/log", fixture->root);
	FILE *const file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0) {
		WFS_AUTO_JSON json_t *entry = json_loads(line, 0, NULL);
		json_t *const message = json_object_get(entry, "message");

		if (strcmp(fixture_text(message, "method"), method) == 0)
			json_array_append(found, message);
	}
	free(line);
	if (file)
		(void)fclose(file);
	return found;
}

static size_t count_of(const struct agents_fixture *fixture, const char *method)
{
	WFS_AUTO_JSON json_t *messages = got(fixture, method);

	return json_array_size(messages);
}

static void pause_shortly(void)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
}

static void wait_for_message(const struct agents_fixture *fixture, const char *method, size_t count)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + WAIT_S * INT64_C(1000000000);

	while (count_of(fixture, method) < count) {
		assert_true(wfs_clock_monotonic_ns() < until_ns);
		pause_shortly();
	}
}

/* --- requests --- */

static struct wfs_session *session_of(struct agents_fixture *fixture, const char *principal)
{
	struct wfs_session *session = NULL;

	assert_int_equal(
		wfs_session_new(fixture->authority, principal, &session, &fixture->error), 0);
	return session;
}

/* Has ada call a tool. Return: as for fixture_wait(). */
static int call_tool(struct agents_fixture *fixture, const char *params, json_t **ret_result)
{
	struct wfs_session *const ada = session_of(fixture, "ada");
	struct asked asked;

	fixture_ask_for(fixture, ada, WFS_DRIVE_TOOL, params, &asked);
	const int r = fixture_wait(fixture, &asked, ret_result);
	wfs_session_free(ada);
	if (r)
		print_message("%d: %s\n", r, fixture->error.message);
	return r;
}

static void expect_refused(struct agents_fixture *fixture, const char *params,
	enum wfs_error_code code, const char *part)
{
	json_t *result = NULL;

	assert_int_not_equal(call_tool(fixture, params, &result), 0);
	json_decref(result);
	print_message("%s\n", fixture->error.message);
	assert_int_equal(fixture->error.code, code);
	assert_non_null(strstr(fixture->error.message, part));
}

/* The journal as one text. Caller frees it. */
static char *journal_of(struct agents_fixture *fixture)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_bytes line;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, &fixture->error), 0);
	for (uint64_t seq = 0; seq < view.height; seq++) {
		assert_int_equal(wfs_view_record(&view, seq, &line), 0);
		wfs_buffer_append(&text, line.data, line.size);
		wfs_buffer_append(&text, "\n", 1);
	}
	return strdup(wfs_buffer_text(&text));
}

/* --- turns --- */

OUTSIDE(a_turn_calls_a_tool_with_the_id_of_its_intent)
{
	fixture_script(fixture, CALLS(CALL("s_echo", "{\\'text\\':\\'hello\\'}")) DONE);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	assert_string_equal(fixture_message(result, 2), "hello");

	WFS_AUTO_JSON json_t *calls = got(fixture, "tools/call");
	assert_int_equal(json_array_size(calls), 1);
	const json_t *const params = json_object_get(json_array_get(calls, 0), "params");
	const char *const id = fixture_text(json_object_get(params, "_meta"), "worldfs/intent_id");
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	char intent[200];
	snprintf(intent, sizeof(intent), "\"effect\":\"tool.outside\",\"intent_id\":\"%s\"", id);
	assert_non_null(strstr(journal, intent));
}

/* The tools are the agent's, so its rights count, and not those of the principal that asks. */
OUTSIDE(a_caller_that_may_call_no_tool_has_an_agent_call_one)
{
	struct wfs_session *const dumb = session_of(fixture, "dumb");
	json_t *result = NULL;
	struct asked asked;

	fixture_act(fixture, "operator",
		json_of("{'action_type':'grant','cap':'sys/drive@1','to':'dumb','params':{'agents':"
			"['ada']}}"));
	fixture_script(fixture, CALLS(CALL("s_echo", "{\\'text\\':\\'hello\\'}")) DONE);
	fixture_ask(fixture, dumb, ADA, &asked);
	if (fixture_wait(fixture, &asked, &result))
		print_message("%s\n", fixture->error.message);
	json_decref(result);
	wfs_session_free(dumb);
	assert_int_equal(count_of(fixture, "tools/call"), 1);
}

OUTSIDE(arguments_that_do_not_fit_the_schema_leave_no_intent)
{
	expect_refused(fixture, "{'name':'s.echo','arguments':[]}", WFS_E_INVALID_ARGUMENT, "");
	assert_int_equal(count_of(fixture, "tools/call"), 0);
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	assert_null(strstr(journal, "tool.outside"));
}

/* Waits until the journal has this text. */
static void wait_for_record(struct agents_fixture *fixture, const char *text)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + WAIT_S * INT64_C(1000000000);

	for (;;) {
		WFS_AUTO_FREE char *journal = journal_of(fixture);

		if (strstr(journal, text))
			return;
		assert_true(wfs_clock_monotonic_ns() < until_ns);
		pause_shortly();
	}
}

/* The id of the only turn. */
static void find_turn(struct agents_fixture *fixture, char ret_id[static WFS_TURN_ID_MAX + 1])
{
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	const char *const found = strstr(journal, "\"run_id\":\"");

	assert_non_null(found);
	const char *const id = found + strlen("\"run_id\":\"");
	snprintf(ret_id, WFS_TURN_ID_MAX + 1, "%.*s", (int)strcspn(id, "\""), id);
}

/* Has a turn call a tool, which needs an approval, and decides. Return: the turn's result. */
static json_t *turn_after(struct agents_fixture *fixture, const char *decision)
{
	char run_id[WFS_TURN_ID_MAX + 1];
	json_t *result = NULL;
	struct asked asked;

	set_policy(fixture, "{'when':{'effect':'tool.outside'},'decision':'ask'}");
	fixture_script(fixture, CALLS(CALL("s_echo", "{\\'text\\':\\'hello\\'}")) DONE);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_for_record(fixture, "\"action_type\":\"ask\"");
	assert_int_equal(count_of(fixture, "tools/call"), 0);
	find_turn(fixture, run_id);
	fixture_act(fixture, "operator",
		json_pack("{s:s, s:s, s:s, s:s}", "action_type", "approve", "call_id", "s_echo",
			"decision", decision, "turn_id", run_id));
	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	return result;
}

OUTSIDE(a_call_that_needs_an_approval_is_made_after_it)
{
	WFS_AUTO_JSON json_t *result = turn_after(fixture, "allow");

	assert_string_equal(fixture_message(result, 2), "hello");
	assert_int_equal(count_of(fixture, "tools/call"), 1);
}

OUTSIDE(a_call_whose_approval_is_refused_is_not_made)
{
	WFS_AUTO_JSON json_t *result = turn_after(fixture, "deny");

	print_message("%s\n", fixture_message(result, 2));
	assert_null(strstr(fixture_message(result, 2), "hello"));
	assert_int_equal(count_of(fixture, "tools/call"), 0);
}

/* Nobody is there who could wait for the approval. */
OUTSIDE(a_caller_outside_of_a_turn_cannot_wait_for_an_approval)
{
	set_policy(fixture, "{'when':{'effect':'tool.outside'},'decision':'ask'}");
	expect_refused(fixture, ECHO("x"), WFS_E_POLICY_DENIED, "");
	assert_int_equal(count_of(fixture, "tools/call"), 0);
}

OUTSIDE(a_policy_decides_by_server_and_tool)
{
	json_t *result = NULL;

	set_policy(fixture, "{'when':{'server':'s','tool':'s.hang'},'decision':'deny'}");
	expect_refused(fixture, "{'name':'s.hang','arguments':{}}", WFS_E_POLICY_DENIED, "");
	assert_int_equal(call_tool(fixture, ECHO("x"), &result), 0);
	assert_string_equal(fixture_text(result, "output"), "x");
	json_decref(result);
	assert_int_equal(count_of(fixture, "tools/call"), 1);
}

OUTSIDE(a_budget_counts_calls)
{
	json_t *result = NULL;

	fixture_act(fixture, "operator", json_of("{'action_type':'revoke','name':'all'}"));
	grant(fixture, "{'budget':{'calls':2},'name':'two'}");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(call_tool(fixture, ECHO("x"), &result), 0);
		json_decref(WFS_STEAL(result));
	}
	expect_refused(fixture, ECHO("x"), WFS_E_QUOTA_EXCEEDED, "");
	assert_int_equal(count_of(fixture, "tools/call"), 2);
}

OUTSIDE(a_tool_that_is_not_there_reads_like_one_that_no_grant_covers)
{
	expect_refused(fixture, "{'name':'s.none'}", WFS_E_NOT_FOUND, "there is no tool 's.none'");
	fixture_act(fixture, "operator", json_of("{'action_type':'revoke','name':'all'}"));
	grant(fixture, "{'params':{'tools':['other.*']}}");
	expect_refused(fixture, "{'name':'s.none'}", WFS_E_NOT_FOUND, "there is no tool 's.none'");
	expect_refused(fixture, ECHO("x"), WFS_E_NOT_FOUND, "there is no tool 's.echo'");
	expect_refused(fixture, "{'name':'no dot'}", WFS_E_INVALID_ARGUMENT, "server.tool");
}

/* --- ends before the answer --- */

OUTSIDE(the_server_is_told_that_a_turn_was_cancelled)
{
	json_t *result = NULL;
	struct asked asked;

	fixture_script(fixture, CALLS(CALL("s_hang", "{}")) DONE);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_for_message(fixture, "tools/call", 1);
	fixture->driver->abandon(fixture->driver, asked.drive.ticket);
	assert_int_not_equal(fixture_wait(fixture, &asked, &result), 0);
	json_decref(result);
	wait_for_message(fixture, "notifications/cancelled", 1);
	wait_for_record(fixture, "\"status\":\"cancelled\"");
}

OUTSIDE(the_server_is_told_that_a_caller_has_gone)
{
	struct wfs_session *const ada = session_of(fixture, "ada");
	json_t *result = NULL;
	struct asked asked;

	fixture_ask_for(fixture, ada, WFS_DRIVE_TOOL, "{'name':'s.hang'}", &asked);
	wait_for_message(fixture, "tools/call", 1);
	fixture->driver->abandon(fixture->driver, asked.drive.ticket);
	assert_int_not_equal(fixture_wait(fixture, &asked, &result), 0);
	json_decref(result);
	assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
	wait_for_message(fixture, "notifications/cancelled", 1);
	wfs_session_free(ada);
}

OUTSIDE(a_call_ends_when_the_turn_gives_its_tools_no_more_time)
{
	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['s.hang'],'tool_timeout_ms':1000}");
	fixture_script(fixture, CALLS(CALL("s_hang", "{}")) DONE);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	print_message("%s\n", fixture_message(result, 2));
	assert_non_null(strstr(fixture_message(result, 2), "no time left"));
	wait_for_message(fixture, "notifications/cancelled", 1);
	wait_for_record(fixture, "\"status\":\"timeout\"");
}

OUTSIDE(a_call_ends_at_the_time_limit_of_its_server)
{
	write_host(fixture, "s", ",'timeout_ms':1000");
	trust(fixture);
	fixture->driver->reload(fixture->driver);
	expect_refused(fixture, "{'name':'s.hang'}", WFS_E_TIMEOUT, "");
	wait_for_message(fixture, "notifications/cancelled", 1);
}

/* --- host.json --- */

OUTSIDE(calls_under_way_end_after_host_json_has_changed)
{
	struct wfs_session *const ada = session_of(fixture, "ada");
	json_t *result = NULL;
	struct asked asked;

	fixture_ask_for(
		fixture, ada, WFS_DRIVE_TOOL, "{'name':'s.sleep','arguments':{'ms':1500}}", &asked);
	wait_for_message(fixture, "tools/call", 1);
	write_host(fixture, "other", "");
	trust(fixture);
	fixture->driver->reload(fixture->driver);
	assert_int_equal(
		call_tool(fixture, "{'name':'other.echo','arguments':{'text':'x'}}", &result), 0);
	json_decref(WFS_STEAL(result));
	expect_refused(fixture, ECHO("x"), WFS_E_NOT_FOUND, "");
	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	assert_string_equal(fixture_text(result, "output"), "slept");
	json_decref(result);
	wfs_session_free(ada);
}

OUTSIDE(a_host_json_that_is_not_trusted_any_more_has_no_servers)
{
	json_t *result = NULL;

	assert_int_equal(call_tool(fixture, ECHO("x"), &result), 0);
	json_decref(WFS_STEAL(result));
	write_host(fixture, "s", ",'timeout_ms':7777");
	fixture->driver->reload(fixture->driver);
	assert_int_not_equal(call_tool(fixture, ECHO("x"), &result), 0);
	print_message("%s\n", fixture->error.message);
	assert_int_equal(count_of(fixture, "tools/call"), 1);
}

OUTSIDE(a_server_that_hangs_delays_no_call_of_another)
{
	struct wfs_session *const ada = session_of(fixture, "ada");
	const int64_t began_ns = wfs_clock_monotonic_ns();
	json_t *result = NULL;
	struct asked hanging;

	fixture_ask_for(fixture, ada, WFS_DRIVE_TOOL, "{'name':'t.echo'}", &hanging);
	assert_int_equal(call_tool(fixture, ECHO("x"), &result), 0);
	json_decref(WFS_STEAL(result));
	fixture_script(fixture, CALLS(CALL("s_echo", "{\\'text\\':\\'hello\\'}")) DONE);
	json_decref(fixture_ends(fixture, ADA, "no_tool_calls"));
	assert_true(wfs_clock_monotonic_ns() - began_ns < 20 * INT64_C(1000000000));
	fixture->driver->abandon(fixture->driver, hanging.drive.ticket);
	fixture_stop_driving(fixture);
	assert_int_not_equal(fixture_wait(fixture, &hanging, &result), 0);
	wfs_session_free(ada);
}

/* --- plans --- */

/* Has a plan run to its end. Return: the answer; caller owns it. */
static json_t *run_plan(struct agents_fixture *fixture, const char *plan)
{
	struct world_fixture world = {.world = fixture->world};
	WFS_AUTO_FREE char *text = json_text(plan);
	json_t *result = NULL;
	struct wfs_hash hash;
	struct asked asked;
	char params[200];

	fixture_script(fixture, "{'content':'the end'}\n");
	assert_int_equal(put_blob(&world, text, strlen(text), &hash), 0);
	snprintf(params, sizeof(params), "{'blob':'%s','resume':true}", WFS_HASH_TEXT(&hash));
	fixture_ask_for(fixture, fixture->operator, WFS_DRIVE_IMPORT, params, &asked);
	(void)fixture_wait(fixture, &asked, &result);
	return result;
}

/* Checks how the steps have ended. @statuses: d: done, f: failed */
static void assert_steps(const json_t *result, const char *statuses)
{
	const json_t *const steps = json_object_get(json_object_get(result, "plan"), "steps");

	assert_int_equal(json_array_size(steps), strlen(statuses));
	for (size_t i = 0; statuses[i]; i++)
		assert_int_equal(*fixture_text(json_array_get(steps, i), "status"), statuses[i]);
}

OUTSIDE(steps_of_a_plan_call_tools_by_name_and_by_server)
{
	WFS_AUTO_JSON json_t *result = run_plan(fixture,
		"{'goal':'g','steps':["
		"{'id':'a','type':'tool','tool':{'name':'s.echo','args':{'text':'one'}}},"
		"{'id':'b','type':'tool','tool':{'name':'s','method':'echo','args':{'text':'two'}}}"
		","
		"{'id':'c','type':'tool','tool':{'name':'s.structured','args':{}}},"
		"{'id':'d','type':'tool','tool':{'name':'s.is_error','args':{}}},"
		"{'id':'e','type':'tool','tool':{'name':'s','method':'none','args':{}}}]}");

	assert_steps(result, "dddff");
	assert_int_equal(count_of(fixture, "tools/call"), 4);
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	assert_non_null(strstr(journal, "\"structured\":{\"a\":1}"));
	assert_non_null(strstr(journal, "the disk is full"));
}

/* An artifact of that name must not get what is meant for the tool. */
OUTSIDE(a_name_of_a_server_is_never_one_of_an_artifact)
{
	fixture_act(fixture, "dumb",
		json_pack("{s:s, s:s, s:s, s:b, s:s}", "access", "public", "action_type",
			"write_artifact", "artifact_id", "s.steal", "executable", 1, "code",
			"function run(a) return 'stolen' end"));
	fixture_configure(fixture, "ada", "{'model':'script','tools':['s.steal']}");
	fixture_script(fixture, CALLS(CALL("s_steal", "{\\'args\\':[]}")) DONE);
	json_t *result = NULL;

	assert_int_equal(fixture_step(fixture, ADA, &result), -ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_NOT_FOUND);
	WFS_AUTO_JSON json_t *plan = run_plan(fixture,
		"{'goal':'g','steps':["
		"{'id':'a','type':'tool','tool':{'name':'s.steal','args':{'args':[]}}}]}");
	assert_steps(plan, "f");
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	assert_null(strstr(journal, "\"result\":\"stolen\""));
}

/* --- private texts --- */

/* What a step reads is private, and so is what the tool says about it. */
OUTSIDE(private_arguments_are_shown_to_the_server_alone)
{
	fixture_act(fixture, "ada",
		json_pack("{s:s, s:s, s:s, s:s}", "access", "private", "action_type",
			"write_artifact", "artifact_id", "diary", "content", SECRET));
	WFS_AUTO_JSON json_t *result = run_plan(fixture,
		"{'goal':'g','steps':["
		"{'id':'a','type':'tool','tool':{'name':'fs_read','args':"
		"{'path':'artifacts/diary/content'}}},"
		"{'id':'b','type':'tool','depends_on':['a'],'tool':{'name':'s.echo','args':"
		"{'text':'said: ${a}'}}},"
		"{'id':'c','type':'tool','depends_on':['a'],'tool':{'name':'s.is_error','args':"
		"{'text':'said: ${a}'}}},"
		"{'id':'d','type':'tool','depends_on':['a'],'tool':{'name':'s.image','args':"
		"{'text':'said: ${a}'}}}]}");
	bool shown = false;
	size_t i;
	const json_t *message;

	assert_steps(result, "ddfd");
	WFS_AUTO_JSON json_t *calls = got(fixture, "tools/call");
	assert_int_equal(json_array_size(calls), 3);
	json_array_foreach(calls, i, message) {
		const json_t *const arguments =
			json_object_get(json_object_get(message, "params"), "arguments");

		shown = shown || strstr(fixture_text(arguments, "text"), SECRET);
	}
	assert_true(shown);
	WFS_AUTO_FREE char *journal = journal_of(fixture);
	const char *const found = strstr(journal, SECRET);
	if (found)
		fail_msg("%.300s", found - 200);
	assert_null(strstr(journal, "the disk is full"));
	assert_null(strstr(journal, "a picture:"));
	assert_null(strstr(journal, "\"blobs\""));
}
