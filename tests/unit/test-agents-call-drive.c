/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that have other agents take turns: `step` and `chat`, as the program has them. */
#include "fs/tool/helper.h"

#include "kernel/value/stand-in.h"
#include "tests/fixture/agents.h"

#define LINE(match, calls) "{'match':'" match "','tool_calls':[" calls "]}\n"
#define SAY(match, content) "{'match':'" match "','content':'" content "'}\n"
#define CALL(name, arguments) "{'id':'" name "','name':'" name "','arguments':'" arguments "'}"
#define STEP(agent, message) \
	CALL("step", "{\\'agent\\':\\'" agent "\\',\\'message\\':\\'" message "\\'}")
#define ADA "{'agent':'ada','message':'begin'}"
#define STEPS "{'model':'script','tools':['step']}"
#define LATE(match) "{'match':'" match "','content':'late','delay_ms':3600000}\n"

static void grant_drive(struct agents_fixture *fixture, const char *agent)
{
	fixture_act(fixture, "operator",
		json_pack("{s:s, s:s, s:s, s:{}}", "action_type", "grant", "cap", "sys/drive@1",
			"to", agent, "params"));
}

/* ada and cold may have each other take turns. */
static int setup(void **state)
{
	agents_helpers = &wfs_tool_helpers;
	int r = agents_setup(state);

	if (!r) {
		grant_drive(*state, "ada");
		grant_drive(*state, "cold");
		fixture_configure(*state, "ada", STEPS);
		fixture_configure(*state, "cold", STEPS);
	}
	return r;
}

#define DRIVES(name) TEST_WITH(name, struct agents_fixture *fixture, setup, agents_teardown)

/* --- events --- */

/* Notes the events of turns, and lets a test wait for some of them. */
struct watcher {
	struct wfs_turn_observer observer;
	struct wfs_buffer told; /* lines: agent, type, termination_reason? */
	sem_t begun;            /* posted for each ModelRequest */
	sem_t ended;            /* and for each KernelEnd */
	sem_t failed;           /* and for each ToolResult that is an error */
};

static int on_event(struct wfs_turn_observer *observer, const json_t *event)
{
	struct watcher *const watcher = (struct watcher *)observer;
	const char *const type = fixture_text(event, "type");
	const char *const reason = json_string_value(json_object_get(event, "termination_reason"));

	if (strcmp(type, "KernelStart") == 0 || strcmp(type, "KernelEnd") == 0)
		wfs_buffer_printf(&watcher->told, "%s %s%s%s\n", fixture_text(event, "agent"), type,
			reason ? " " : "", reason ? reason : "");
	if (strcmp(type, "ModelRequest") == 0)
		sem_post(&watcher->begun);
	if (strcmp(type, "KernelEnd") == 0)
		sem_post(&watcher->ended);
	if (strcmp(type, "ToolResult") == 0 && json_is_true(json_object_get(event, "is_error")))
		sem_post(&watcher->failed);
	return 0;
}

static void watch(struct agents_fixture *fixture, struct watcher *watcher)
{
	*watcher = (struct watcher){.observer.event = on_event};
	sem_init(&watcher->begun, 0, 0);
	sem_init(&watcher->ended, 0, 0);
	sem_init(&watcher->failed, 0, 0);
	wfs_agents_observe(fixture->driver, &watcher->observer);
}

/* @expected: all lines that the watcher has noted; NULL: they do not matter */
static void unwatch(struct agents_fixture *fixture, struct watcher *watcher, const char *expected)
{
	wfs_agents_unobserve(fixture->driver, &watcher->observer);
	if (expected)
		assert_string_equal(wfs_buffer_text(&watcher->told), expected);
	wfs_buffer_done(&watcher->told);
	sem_destroy(&watcher->begun);
	sem_destroy(&watcher->ended);
	sem_destroy(&watcher->failed);
}

static void wait_for(sem_t *sem, int count)
{
	while (count-- > 0)
		wait_sem(sem);
}

/* --- the state of runs --- */

static json_t *cell_of(
	struct agents_fixture *fixture, enum wfs_builtin_reducer reducer, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	json_t *document = NULL;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, &fixture->error), 0);
	const int r = wfs_view_document(&view, reducer, key, &document, &fixture->error);
	assert_true(r == 0 || r == -ENOENT);
	return document;
}

/* The turn of this agent, which must be its only one. */
static json_t *run_of(struct agents_fixture *fixture, const char *agent)
{
	struct wfs_world_figures figures;
	json_t *found = NULL;

	wfs_world_figures(fixture->world, &figures);
	for (uint64_t seq = 0; seq < figures.height; seq++) {
		char run_id[64];

		snprintf(run_id, sizeof(run_id), "%s.%llu", agent, (unsigned long long)seq);
		json_t *const run = cell_of(fixture, WFS_BUILTIN_TURN, run_id);
		assert_false(run && found);
		found = run ? run : found;
	}
	assert_non_null(found);
	return found;
}

static void cancel_run_of(struct agents_fixture *fixture, const char *agent)
{
	WFS_AUTO_JSON json_t *run = run_of(fixture, agent);

	fixture_act(fixture, "operator",
		json_pack("{s:s, s:O}", "action_type", "cancel", "turn_id",
			json_object_get(run, "run_id")));
}

struct commits {
	struct wfs_observer observer;
	sem_t told; /* posted for each */
};

static void on_commit(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	(void)commit;
	sem_post(&((struct commits *)observer)->told);
}

static void observe(struct agents_fixture *fixture, struct commits *commits)
{
	*commits = (struct commits){.observer.told = on_commit};
	sem_init(&commits->told, 0, 0);
	wfs_world_observe(fixture->world, &commits->observer);
}

static void unobserve(struct agents_fixture *fixture, struct commits *commits)
{
	wfs_world_unobserve(fixture->world, &commits->observer);
	sem_destroy(&commits->told);
}

static void wait_for_end_of(struct agents_fixture *fixture, struct commits *commits,
	const char *agent, const char *reason)
{
	for (;;) {
		WFS_AUTO_JSON json_t *run = run_of(fixture, agent);
		const char *const is = json_string_value(json_object_get(run, "reason"));

		if (is) {
			assert_string_equal(is, reason);
			return;
		}
		wait_sem(&commits->told);
	}
}

/* The output of the first call of ada's turn. */
static const char *told(const json_t *result)
{
	return fixture_message(result, 2);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

/* --- step --- */

DRIVES(an_agent_has_another_one_take_a_turn)
{
	fixture_script(fixture,
		SAY("final_message", "done") LINE("begin", STEP("cold", "inner"))
			SAY("inner", "hello"));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	WFS_AUTO_JSON json_t *inner = json_loads(told(result), 0, NULL);

	assert_string_equal(fixture_text(inner, "agent"), "cold");
	assert_string_equal(
		fixture_text(json_object_get(inner, "final_message"), "content"), "hello");
	assert_null(json_object_get(inner, "history"));
	assert_non_null(json_object_get(json_object_get(inner, "meta"), "journal_height"));
	WFS_AUTO_JSON json_t *run =
		cell_of(fixture, WFS_BUILTIN_TURN, fixture_text(inner, "run_id"));
	assert_string_equal(fixture_text(run, "asked_by"), "ada");
	assert_int_equal(json_integer_value(json_object_get(run, "depth")), 1);
	WFS_AUTO_JSON json_t *outer =
		cell_of(fixture, WFS_BUILTIN_TURN, fixture_text(result, "run_id"));
	assert_null(json_object_get(outer, "depth"));
	assert_string_equal(fixture_text(run, "top"), fixture_text(result, "run_id"));
	assert_int_equal(json_integer_value(json_object_get(outer, "below")), 0);
}

DRIVES(a_call_is_judged_as_the_agent)
{
	fixture_configure(fixture, "dumb", STEPS);
	fixture_configure(fixture, "full", STEPS);
	fixture_script(
		fixture, SAY("holds no grant", "refused") LINE("begin", STEP("cold", "inner")));
	WFS_AUTO_JSON json_t *result =
		fixture_ends(fixture, "{'agent':'full','message':'begin'}", "no_tool_calls");

	assert_has(told(result), "Tool execution failed: 'full' holds no grant of type 'drive'");
}

DRIVES(a_run_that_fails_is_told_with_its_id)
{
	fixture_script(fixture,
		SAY("ended", "done")
			LINE("begin", STEP("cold", "inner")) "{'match':'inner','error':{'code':'"
							     "bad','message':'no such luck'}}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_has(told(result), "Tool execution failed: turn 'cold.");
	assert_has(told(result), "no such luck");
	assert_string_equal(fixture_message(result, 3), "done");
}

DRIVES(arguments_of_step_are_checked)
{
	fixture_script(fixture,
		SAY("failed", "done")
			LINE("begin", CALL("step", "{\\'agent\\':\\'cold\\',\\'turns\\':3}")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_has(told(result), "turns");
}

DRIVES(the_most_requests_that_are_asked_for_are_those_of_the_run)
{
	fixture_script(fixture,
		SAY("final_message", "done") LINE("begin",
			CALL("step",
				"{\\'agent\\':\\'cold\\',\\'message\\':\\'inner\\',"
				"\\'max_turns\\':0}")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_has(told(result), "\"termination_reason\":\"max_turns\"");
}

/* --- one below the other --- */

#define END "no_tool_calls"

DRIVES(a_chain_of_one_agent_ends_at_the_bound)
{
	struct watcher watcher;
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	watch(fixture, &watcher);
	fixture_script(fixture,
		SAY("final_message", "up") SAY("depth 9", "bottom")
			LINE("begin", STEP("ada", "begin")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, END);

	assert_has(told(result), "\"content\":\"up\"");
	for (int i = 0; i <= WFS_TURN_DEPTH_MAX; i++)
		wfs_buffer_append_text(&expected, "ada KernelStart\n");
	for (int i = 0; i <= WFS_TURN_DEPTH_MAX; i++)
		wfs_buffer_append_text(&expected, "ada KernelEnd " END "\n");
	wait_for(&watcher.ended, WFS_TURN_DEPTH_MAX + 1);
	unwatch(fixture, &watcher, wfs_buffer_text(&expected));
}

DRIVES(the_bound_is_told_to_the_run_that_hits_it)
{
	fixture_script(fixture,
		SAY("final_message", "up") SAY("at most 8", "the bound is 8")
			LINE("begin", STEP("cold", "back")) LINE("back", STEP("ada", "begin")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, END);
	WFS_AUTO_JSON json_t *inner = json_loads(told(result), 0, NULL);
	char run_id[WFS_TURN_ID_MAX + 1];
	int depth = 0;

	/* Two agents that have each other take turns, down to the deepest allowed turn. */
	snprintf(run_id, sizeof(run_id), "%s", fixture_text(inner, "run_id"));
	for (bool is_last = false; !is_last; depth++) {
		WFS_AUTO_JSON json_t *run = cell_of(fixture, WFS_BUILTIN_TURN, run_id);
		char key[WFS_TURN_ID_MAX + 8];

		assert_string_equal(fixture_text(run, "agent"), depth % 2 ? "ada" : "cold");
		assert_int_equal(json_integer_value(json_object_get(run, "depth")), depth + 1);
		snprintf(key, sizeof(key), "%s.1.0", run_id);
		WFS_AUTO_JSON json_t *call = cell_of(fixture, WFS_BUILTIN_TOOL_CALL, key);
		WFS_AUTO_JSON json_t *below = json_loads(fixture_text(call, "output"), 0, NULL);
		is_last = !below;
		if (is_last)
			assert_has(fixture_text(call, "output"), "the depth 9");
		snprintf(run_id, sizeof(run_id), "%s", fixture_text(below, "run_id"));
	}
	assert_int_equal(depth, WFS_TURN_DEPTH_MAX);
}

/* --- many at once --- */

enum {
	CALLS = WFS_TURN_CONCURRENCY_MAX, /* calls of one turn, all at once */
	FANS = 4, /* turns that make so many calls; in none of them all calls are refused */
	BEGUN = WFS_TURN_BELOW_MAX,
	REFUSED = FANS + FANS * CALLS - BEGUN,
};

/* "begin" calls "fan" FANS times, "fan" calls "leaf" CALLS times, which has no answer. */
static void write_fan(struct agents_fixture *fixture)
{
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};

	wfs_buffer_append_text(&script, LATE("leaf") "{'match':'fan','tool_calls':[");
	for (int i = 0; i < CALLS; i++)
		wfs_buffer_printf(&script, "%s" STEP("cold", "leaf"), i ? "," : "");
	wfs_buffer_append_text(&script, "]}\n{'match':'begin','tool_calls':[");
	for (int i = 0; i < FANS; i++)
		wfs_buffer_printf(&script, "%s" STEP("cold", "fan"), i ? "," : "");
	wfs_buffer_append_text(&script, "]}\n");
	fixture_script(fixture, wfs_buffer_text(&script));
}

static int64_t below_run_of(struct agents_fixture *fixture, const char *agent)
{
	WFS_AUTO_JSON json_t *run = run_of(fixture, agent);

	return json_integer_value(json_object_get(run, "below"));
}

DRIVES(a_run_has_not_more_below_it_than_the_bound)
{
	static const char *const setting =
		"{'model':'script','tools':['step'],'max_concurrency':64}";
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	fixture_configure(fixture, "ada", setting);
	fixture_configure(fixture, "cold", setting);
	write_fan(fixture);
	watch(fixture, &watcher);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_for(&watcher.begun, 1 + BEGUN);
	wait_for(&watcher.failed, REFUSED);
	assert_int_equal(sem_trywait(&watcher.begun), -1);
	assert_int_equal(below_run_of(fixture, "ada"), BEGUN);

	cancel_run_of(fixture, "ada");
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	wait_for(&watcher.ended, 1 + BEGUN);
	assert_int_equal(below_run_of(fixture, "ada"), 0);
	unwatch(fixture, &watcher, NULL);
}

/* --- ends --- */

static void begin_and_wait_for_the_inner_one(
	struct agents_fixture *fixture, struct watcher *watcher, struct asked *asked)
{
	fixture_script(fixture,
		SAY("final_message", "done") SAY("ended: cancelled", "so be it")
			LATE("used up its time") /* of which a moment may be left */
		LINE("begin", STEP("cold", "inner")) LATE("inner"));
	watch(fixture, watcher);
	fixture_ask(fixture, fixture->operator, ADA, asked);
	wait_for(&watcher->begun, 2);
}

DRIVES(who_goes_away_ends_both)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	begin_and_wait_for_the_inner_one(fixture, &watcher, &asked);
	fixture->driver->abandon(fixture->driver, asked.drive.ticket);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	wait_for(&watcher.ended, 2);

	unwatch(fixture, &watcher,
		"ada KernelStart\ncold KernelStart\nada KernelEnd cancelled\n"
		"cold KernelEnd cancelled\n");
}

DRIVES(the_inner_one_can_be_cancelled_alone)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	begin_and_wait_for_the_inner_one(fixture, &watcher, &asked);
	cancel_run_of(fixture, "cold");

	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	assert_string_equal(fixture_message(result, 3), "so be it");
	wait_for(&watcher.ended, 2);
	unwatch(fixture, &watcher,
		"ada KernelStart\ncold KernelStart\ncold KernelEnd cancelled\n"
		"ada KernelEnd no_tool_calls\n");
}

DRIVES(the_time_of_the_outer_one_ends_both)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['step'],'run_timeout_ms':4000}");
	begin_and_wait_for_the_inner_one(fixture, &watcher, &asked);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -ETIMEDOUT);
	assert_has(told(result), "the calling run has used up its time");
	wait_for(&watcher.ended, 2);

	wfs_agents_unobserve(fixture->driver, &watcher.observer);
	assert_has(wfs_buffer_text(&watcher.told), "cold KernelEnd cancelled\n");
	assert_has(wfs_buffer_text(&watcher.told), "ada KernelEnd timeout\n");
	unwatch(fixture, &watcher, NULL);
}

/* --- closing and opening --- */

/* Closes the world while both turns wait. */
static void begin_and_stop(struct agents_fixture *fixture)
{
	struct watcher watcher;
	struct asked asked;
	json_t *result = NULL;

	begin_and_wait_for_the_inner_one(fixture, &watcher, &asked);
	fixture->driver->stop(fixture->driver);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	assert_null(result);
	unwatch(fixture, &watcher, "ada KernelStart\ncold KernelStart\n");
	fixture_stop_driving(fixture);
}

static void open_again(struct agents_fixture *fixture, struct commits *commits)
{
	fixture_close(fixture);
	assert_int_equal(fixture_open_world(fixture), 0);
	fixture_script(fixture, SAY("final_message", "done") SAY("inner", "hello"));
	observe(fixture, commits);
	assert_int_equal(fixture_drive(fixture), 0);
}

DRIVES(a_call_waits_for_what_it_has_begun_when_the_world_is_opened_again)
{
	struct commits commits;

	begin_and_stop(fixture);
	open_again(fixture, &commits);
	wait_for_end_of(fixture, &commits, "ada", "no_tool_calls");
	wait_for_end_of(fixture, &commits, "cold", "no_tool_calls");
	unobserve(fixture, &commits);
}

static void take_drive_from_ada(struct agents_fixture *fixture)
{
	fixture_act(fixture, "operator",
		json_pack("{s:s, s:s}", "action_type", "revoke", "name", "ada.drive.1"));
}

/* The turn was asked for while ada still had the right. */
DRIVES(a_right_that_is_taken_back_ends_no_turn)
{
	struct commits commits;

	begin_and_stop(fixture);
	take_drive_from_ada(fixture);
	open_again(fixture, &commits);
	wait_for_end_of(fixture, &commits, "ada", "no_tool_calls");
	wait_for_end_of(fixture, &commits, "cold", "no_tool_calls");
	unobserve(fixture, &commits);
}

DRIVES(the_inner_one_ends_with_the_outer_one_also_without_the_right)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	begin_and_wait_for_the_inner_one(fixture, &watcher, &asked);
	take_drive_from_ada(fixture);
	cancel_run_of(fixture, "ada");
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	wait_for(&watcher.ended, 2);

	unwatch(fixture, &watcher,
		"ada KernelStart\ncold KernelStart\nada KernelEnd cancelled\n"
		"cold KernelEnd cancelled\n");
}

/* As if the daemon had crashed after the outer turn ended and before the inner one was
 * cancelled. */
DRIVES(a_run_whose_call_is_over_ends_when_the_world_is_opened_again)
{
	struct commits commits;

	begin_and_stop(fixture);
	cancel_run_of(fixture, "ada");
	open_again(fixture, &commits);
	wait_for_end_of(fixture, &commits, "cold", "cancelled");
	unobserve(fixture, &commits);
}

/* --- chat --- */

static void let_chat(struct agents_fixture *fixture, const char *agent)
{
	put_file(fixture->directory, "host.json",
		"{\"models\":{\"script\":{\"provider\":\"script\",\"file\":\"script.jsonl\"},"
		"\"default\":{\"provider\":\"script\",\"file\":\"script.jsonl\"}}}");
	assert_int_equal(trust_host(fixture->directory, wfs_world_id(fixture->world)), 0);
	fixture_configure(fixture, agent, "{'model':'script','tools':['chat']}");
}

DRIVES(an_agent_chats_as_itself)
{
	let_chat(fixture, "ada");
	fixture_script(fixture,
		SAY("\\'final\\'", "done") LINE("begin", CALL("chat", "{\\'message\\':\\'talk\\'}"))
			SAY("talk", "so to say"));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	WFS_AUTO_JSON json_t *answer = json_loads(told(result), 0, NULL);

	assert_string_equal(fixture_text(answer, "final"), "so to say");
	assert_true(json_is_true(json_object_get(answer, "ok")));
	WFS_AUTO_JSON json_t *chat = cell_of(fixture, WFS_BUILTIN_CHAT, "ada+default");
	assert_string_equal(fixture_text(chat, "principal"), "ada");
}

static void wait_for_chat(
	struct agents_fixture *fixture, struct commits *commits, const char *status)
{
	for (;;) {
		WFS_AUTO_JSON json_t *message =
			cell_of(fixture, WFS_BUILTIN_CHAT_MESSAGE, "ada+default.0");

		if (strcmp(fixture_text(message, "status"), status) == 0)
			return;
		wait_sem(&commits->told);
	}
}

DRIVES(the_end_of_the_run_ends_its_chat)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;
	struct commits commits;

	let_chat(fixture, "ada");
	observe(fixture, &commits);
	fixture_script(
		fixture, LINE("begin", CALL("chat", "{\\'message\\':\\'talk\\'}")) LATE("talk"));
	watch(fixture, &watcher);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_for_chat(fixture, &commits, "planning");
	take_drive_from_ada(fixture); /* cancelling does not stop the chat */
	cancel_run_of(fixture, "ada");
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	wait_for_chat(fixture, &commits, "cancelled");
	unobserve(fixture, &commits);
	wait_for(&watcher.ended, 1);
	unwatch(fixture, &watcher, "ada KernelStart\nada KernelEnd cancelled\n");
}

DRIVES(what_is_wrong_with_a_chat_is_told)
{
	fixture_configure(fixture, "ada", "{'model':'script','tools':['chat']}");
	fixture_script(fixture,
		SAY("not blank", "done") LINE("begin", CALL("chat", "{\\'message\\':\\' \\'}")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_has(told(result), "Tool execution failed: 'message': expected a text");
}

/* cold has a quota of 15 tokens. */
DRIVES(what_an_answer_costs_that_cannot_be_used_is_charged)
{
	let_chat(fixture, "cold");
	fixture_script(fixture,
		SAY("is empty", "done") LINE("begin",
			CALL("chat", "{\\'message\\':\\'talk\\'}")) "{'match':'talk','content':' "
								    "','usage'"
								    ":{'total_tokens':15}}\n");

	json_decref(fixture_ends(fixture, "{'agent':'cold','message':'begin'}", "quota_exceeded"));
}

/* --- private texts --- */

/* The last message of the inner turn is a text that ada may read, but not everybody. */
DRIVES(what_is_private_in_an_answer_is_private_in_the_output)
{
	fixture_act(fixture, "ada",
		json_pack("{s:s, s:s, s:s, s:s}", "access", "private", "action_type",
			"write_artifact", "artifact_id", "diary", "content", "vanadium"));
	fixture_configure(fixture, "ada",
		"{'model':'script','max_turns':2,'tools':['step','read_artifact']}");
	fixture_script(fixture,
		SAY("termination_reason", "done") LINE("begin",
			CALL("step",
				"{\\'agent\\':\\'ada\\',\\'max_turns\\':1,"
				"\\'message\\':\\'look\\'}"))
			LINE("look", CALL("read_artifact", "{\\'artifact_id\\':\\'diary\\'}")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	char key[WFS_TURN_ID_MAX + 8];

	assert_has(told(result), "vanadium"); /* the operator may read the text */
	snprintf(key, sizeof(key), "%s.1.0", fixture_text(result, "run_id"));
	WFS_AUTO_JSON json_t *call = cell_of(fixture, WFS_BUILTIN_TOOL_CALL, key);
	assert_true(wfs_text_is_hidden(json_object_get(call, "output"), NULL));
}
