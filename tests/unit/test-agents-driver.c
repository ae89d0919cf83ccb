/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: what happens to turns when something ends, fails, takes long, or is not allowed. */
#include "tests/fixture/agents.h"

#include "caps/session.h"

#define CALLS(calls) "{'tool_calls':[" calls "]}\n"
#define CALL(name, arguments) "{'id':'" name "','name':'" name "','arguments':'" arguments "'}"
#define ADA "{'agent':'ada'}"

/* --- failures of the kernel --- */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __real_wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request);
int __wrap_wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request);

static atomic_int refusals; /* that so many calls get, and no later ones */
static int refused_with;

int __wrap_wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request)
{
	if (atomic_load(&refusals) == 0)
		return __real_wfs_session_receipt(session, receipt, charge, request);
	atomic_fetch_sub(&refusals, 1);
	return wfs_error_from_errno(&request->error, refused_with, "record a receipt");
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static atomic_bool publisher_starves;
static atomic_int starved; /* counts failed allocations */

void *__wrap_malloc(size_t size)
{
	char name[16] = "";

	if (!atomic_load(&publisher_starves) ||
		pthread_getname_np(pthread_self(), name, sizeof(name)) != 0 ||
		strcmp(name, "wfs-publisher") != 0)
		return __real_malloc(size);
	atomic_fetch_add(&starved, 1);
	return NULL;
}
/* NOLINTEND(readability-identifier-naming) */

/* --- runs --- */

DRIVEN(a_run_ends_with_an_answer)
{
	fixture_script(fixture, "{'content':'hello'}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_string_equal(fixture_message(result, 0), "go");
	assert_string_equal(fixture_message(result, 1), "hello");
}

DRIVEN(tools_of_every_kind_are_called)
{
	fixture_configure(fixture, "ada",
		"{'model':'script','tools':['fs_echo','fs_fail','sum','list.sum','bare',"
		"'write_artifact','submit_result']}");
	fixture_script(fixture,
		CALLS(CALL("fs_echo", "{\\'x\\':1}") "," CALL("fs_fail", "{}") "," CALL(
			"sum", "{\\'a\\':2,\\'b\\':3}") "," CALL("list_sum",
			"{\\'args\\':[4,5]}") "," CALL("bare",
			"{\\'args\\':[\\'word\\']}") "," CALL("write_artifact",
			"{\\'artifact_id\\':\\'n\\',\\'content\\':\\'c\\'}"))
			CALLS(CALL("submit_result", "{\\'result\\':{\\'n\\':7}}")));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "termination_tool");

	assert_string_equal(fixture_message(result, 2), "{\"x\":1}");
	assert_string_equal(fixture_message(result, 3), "Tool execution failed: nothing is there");
	assert_string_equal(fixture_message(result, 4), "5");
	assert_string_equal(fixture_message(result, 5), "9");
	assert_string_equal(fixture_message(result, 6), "word");
	assert_non_null(strstr(fixture_message(result, 7), "\"artifact_id\":\"n\""));
	assert_json_is(json_incref(json_object_get(result, "final_tool_result")), "{'n':7}");
}

/* Seed 1, 1. An invocation that the code makes itself is not a tool call. */
DRIVEN(code_is_told_the_tool_call_that_it_is)
{
	char expected[256];

	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['called','invoke_artifact']}");
	fixture_script(fixture,
		CALLS(CALL("called", "{\\'args\\':[\\'again\\']}") "," CALL("invoke_artifact",
			"{\\'artifact_id\\':\\'called\\',\\'args\\':[]}")) "{'content':'done'}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	const char *const run_id = fixture_text(result, "run_id");
	snprintf(expected, sizeof(expected), "[\"called\",\"called\",\"%s\",1,[0,0,0,0]]", run_id);
	assert_string_equal(fixture_message(result, 2), expected);
	snprintf(expected, sizeof(expected), "[\"invoke_artifact\",\"invoke_artifact\",\"%s\",1]",
		run_id);
	assert_string_equal(fixture_message(result, 3), expected);
}

DRIVEN(arguments_that_do_not_fit_are_told_and_nothing_is_run)
{
	fixture_configure(fixture, "ada", "{'model':'script','tools':['sum','fs_echo']}");
	fixture_script(fixture,
		CALLS(CALL("sum", "{\\'a\\':\\'two\\',\\'b\\':3}") "," CALL(
			"fs_echo", "{}")) "{'content':'done'}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	const char *const told = fixture_message(result, 2);
	print_message("%s\n", told);
	assert_non_null(strstr(told, "Tool execution failed: the arguments do not fit"));
	assert_non_null(strstr(told, "/a"));
	assert_string_equal(fixture_message(result, 3), "{}");
}

DRIVEN(the_messages_that_are_given_stay_as_they_were)
{
	static const char params[] =
		"{'agent':'ada','messages':[{'content':'s','role':'system'},{'content':'u','role':"
		"'user'}]}";
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	fixture_script(fixture, "{'content':'hello'}\n");
	fixture_ask(fixture, fixture->operator, params, &asked);
	json_t *const given = json_incref(asked.params);
	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	assert_json_is(given, params);
	assert_int_equal(json_array_size(json_object_get(result, "history")), 3);
}

DRIVEN(several_turns_are_a_list_of_results)
{
	json_t *result = NULL;

	fixture_script(fixture, "{'content':'hello'}\n");
	assert_int_equal(fixture_step(fixture, "{'agent':'ada','turns':3}", &result), 0);
	assert_int_equal(json_array_size(json_object_get(result, "runs")), 3);
	json_decref(result);
}

DRIVEN(who_does_not_wait_gets_the_run_id)
{
	json_t *result = NULL;

	fixture_script(fixture, "{'content':'hello'}\n");
	assert_int_equal(fixture_step(fixture, "{'agent':'ada','wait':false}", &result), 0);
	assert_int_equal(strncmp(fixture_text(result, "turn_id"), "ada.", 4), 0);
	json_decref(result);
}

/* --- observers --- */

struct watcher {
	struct wfs_turn_observer observer;
	int result;     /* the watcher owns them */
	json_t *events; /* the events that it got */
	pthread_t thread;
	bool mixed; /* two threads called it at once */
	atomic_int inside;
	bool at_once;                     /* while it was called with another event */
	sem_t told;                       /* posted for each event */
	sem_t ended;                      /* and for each KernelEnd */
	char run_id[WFS_TURN_ID_MAX + 1]; /* of the first turn; set before a semaphore is posted */
	void (*then)(const json_t *event);
};

static int on_event(struct wfs_turn_observer *observer, const json_t *event)
{
	struct watcher *const watcher = (struct watcher *)observer;

	watcher->at_once |= atomic_fetch_add(&watcher->inside, 1) > 0;
	if (json_array_size(watcher->events) == 0) {
		watcher->thread = pthread_self();
		snprintf(watcher->run_id, sizeof(watcher->run_id), "%s",
			fixture_text(event, "run_id"));
	}
	watcher->mixed |= !pthread_equal(watcher->thread, pthread_self());
	json_array_append(watcher->events, (json_t *)event);
	if (watcher->then)
		watcher->then(event);
	atomic_fetch_sub(&watcher->inside, 1);
	sem_post(&watcher->told);
	if (strcmp(fixture_text(event, "type"), "KernelEnd") == 0)
		sem_post(&watcher->ended);
	return watcher->result;
}

static void watch(struct agents_fixture *fixture, struct watcher *watcher, int result)
{
	*watcher = (struct watcher){
		.observer.event = on_event, .result = result, .events = json_array()};
	sem_init(&watcher->ended, 0, 0);
	sem_init(&watcher->told, 0, 0);
	wfs_agents_observe(fixture->driver, &watcher->observer);
}

/* Types of the events with their numbers, as text; caller frees. */
static char *unwatch(struct agents_fixture *fixture, struct watcher *watcher)
{
	struct wfs_buffer types = {0};
	size_t i;
	const json_t *event;

	wfs_agents_unobserve(fixture->driver, &watcher->observer);
	json_array_foreach(watcher->events, i, event)
		wfs_buffer_printf(&types, "%s%lld %s", i > 0 ? ", " : "",
			(long long)json_integer_value(json_object_get(event, "event_seq")),
			fixture_text(event, "type"));
	json_decref(watcher->events);
	sem_destroy(&watcher->ended);
	sem_destroy(&watcher->told);
	assert_int_equal(wfs_buffer_check(&types), 0);
	return types.data ? types.data : strdup("");
}

#define ONE_TOOL_TURN                                                                \
	"0 KernelStart, 1 ModelRequest, 2 ModelResponse, 3 ToolCall, 4 ToolResult, " \
	"5 TurnComplete, 6 ModelRequest, 7 ModelResponse, 8 TurnComplete, 9 KernelEnd"

static void script_one_tool_turn(struct agents_fixture *fixture)
{
	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_echo']}");
	fixture_script(fixture, CALLS(CALL("fs_echo", "{\\'x\\':1}")) "{'content':'done'}\n");
}

DRIVEN(an_observer_that_fails_changes_nothing)
{
	struct watcher failing;
	struct watcher other;

	script_one_tool_turn(fixture);
	watch(fixture, &other, 0);
	watch(fixture, &failing, -EIO); /* a watcher that gets every event, and fails each time */
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	wait_sem(&failing.ended);
	wait_sem(&other.ended);
	WFS_AUTO_FREE char *failing_types = unwatch(fixture, &failing);
	WFS_AUTO_FREE char *other_types = unwatch(fixture, &other);

	assert_string_equal(fixture_message(result, 2), "{\"x\":1}");
	assert_string_equal(fixture_message(result, 3), "done");
	assert_null(json_object_get(result, "error"));
	assert_string_equal(failing_types, ONE_TOOL_TURN);
	assert_string_equal(other_types, ONE_TOOL_TURN);
}

DRIVEN(observers_are_told_by_one_thread_one_after_the_other)
{
	struct watcher watcher;
	struct asked asked[8];

	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['fs_echo','sum'],'max_concurrency':4}");
	fixture_script(fixture,
		CALLS(CALL("fs_echo", "{}") "," CALL("sum", "{\\'a\\':2,\\'b\\':3}") "," CALL(
			"fs_echo", "{}") "," CALL("fs_echo", "{}")) "{'content':'done'}\n");
	watch(fixture, &watcher, 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(asked); i++)
		fixture_ask(fixture, fixture->operator, ADA, &asked[i]);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(asked); i++) {
		WFS_AUTO_JSON json_t *result = NULL;

		assert_int_equal(fixture_wait(fixture, &asked[i], &result), 0);
		wait_sem(&watcher.ended);
	}
	const size_t count = json_array_size(watcher.events);
	free(unwatch(fixture, &watcher));

	assert_false(watcher.mixed);
	assert_false(watcher.at_once);
	assert_int_equal(count, WFS_ARRAY_COUNT(asked) * 16);
}

DRIVEN(an_observer_is_told_of_what_comes_after_it)
{
	struct watcher watcher;

	script_one_tool_turn(fixture);
	json_decref(fixture_ends(fixture, ADA, "no_tool_calls"));
	watch(fixture, &watcher, 0);
	json_decref(fixture_ends(fixture, ADA, "no_tool_calls"));
	wait_sem(&watcher.ended);
	WFS_AUTO_FREE char *types = unwatch(fixture, &watcher);

	assert_string_equal(types, ONE_TOOL_TURN);
}

static void when_first_has_ended(const json_t *event)
{
	const struct timespec slowly = {.tv_sec = 1};

	if (strcmp(fixture_text(event, "type"), "ToolResult") != 0 ||
		strcmp(fixture_text(event, "tool_name"), "fs_echo") != 0)
		return;
	fixture_let_go(); /* the other tool ends now */
	nanosleep(&slowly, NULL);
}

DRIVEN(a_slow_observer_is_not_counted)
{
	struct watcher watcher;

	fixture_configure(fixture, "ada",
		"{'model':'script','tools':['fs_echo','fs_wait'],'max_concurrency':2}");
	fixture_script(fixture,
		CALLS(CALL("fs_wait", "{}") "," CALL("fs_echo", "{}")) "{'content':'done'}\n");
	watch(fixture, &watcher, 0);
	watcher.then = when_first_has_ended;
	json_decref(fixture_ends(fixture, ADA, "no_tool_calls"));
	wait_sem(&watcher.ended);
	const json_t *const event = json_array_get(watcher.events, 6);

	assert_string_equal(fixture_text(event, "type"), "ToolResult");
	assert_string_equal(fixture_text(event, "tool_name"), "fs_wait");
	assert_in_range(json_integer_value(json_object_get(event, "duration_ms")), 0, 900);
	free(unwatch(fixture, &watcher));
}

DRIVEN(results_stand_in_the_order_of_their_calls)
{
	struct watcher watcher;
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;

	fixture_configure(fixture, "ada",
		"{'model':'script','tools':['fs_echo','fs_fail','fs_wait'],'max_concurrency':4}");
	fixture_script(fixture,
		CALLS(CALL("fs_wait", "{\\'n\\':1}") "," CALL("fs_fail", "{}") "," CALL(
			"fs_echo", "{\\'n\\':3}")) "{'content':'done'}\n");
	watch(fixture, &watcher, 0);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	for (int i = 0; i < 8; i++) /* the other two have ended */
		wait_sem(&watcher.told);
	fixture_let_go();
	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	wait_sem(&watcher.ended);
	const json_t *const last = json_array_get(watcher.events, 8);

	assert_string_equal(fixture_text(last, "tool_name"), "fs_wait");
	assert_string_equal(fixture_message(result, 2), "{\"n\":1}");
	assert_string_equal(fixture_message(result, 3), "Tool execution failed: nothing is there");
	assert_string_equal(fixture_message(result, 4), "{\"n\":3}");
	free(unwatch(fixture, &watcher));
}

/* --- ends and beginnings --- */

DRIVEN(a_run_goes_on_when_its_world_is_opened_again)
{
	struct watcher watcher;
	struct asked asked;
	json_t *result = NULL;

	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_wait']}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{\\'n\\':1}")) "{'content':'done'}\n");
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_sem(&agents_gate.entered);
	fixture->driver->stop(fixture->driver);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	assert_null(result);
	assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
	fixture_let_go(); /* the answer of the reading tool is not used */
	fixture_close(fixture);

	assert_int_equal(fixture_open_world(fixture), 0);
	assert_int_equal(fixture_drive(fixture), 0);
	watch(fixture, &watcher, 0); /* before the second call of the tool has its answer */
	fixture_let_go();
	wait_sem(&watcher.ended);
	const json_t *const end =
		json_array_get(watcher.events, json_array_size(watcher.events) - 1);
	assert_string_equal(fixture_text(end, "termination_reason"), "no_tool_calls");
	assert_int_equal(json_integer_value(json_object_get(end, "turn_count")), 2);
	free(unwatch(fixture, &watcher));
}

static void *let_go_later(void *argument)
{
	const struct timespec while_it_closes = {.tv_nsec = 50000000};

	(void)argument;
	nanosleep(&while_it_closes, NULL);
	fixture_let_go();
	return NULL;
}

DRIVEN(closing_waits_for_a_tool_that_reads)
{
	struct asked asked;
	pthread_t thread;
	json_t *result = NULL;

	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_wait']}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{}")));
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_sem(&agents_gate.entered);
	assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
	fixture_stop_driving(fixture);

	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
	pthread_join(thread, NULL);
}

DRIVEN(closing_ends_requests_that_have_just_begun)
{
	fixture_script(fixture, "{'content':'hello','delay_ms':3600000}\n");
	for (int i = 0; i < 20; i++) {
		struct asked asked[20];
		json_t *result = NULL;

		for (size_t j = 0; j < WFS_ARRAY_COUNT(asked); j++)
			fixture_ask(fixture, fixture->operator, ADA, &asked[j]);
		fixture_stop_driving(fixture);
		for (size_t j = 0; j < WFS_ARRAY_COUNT(asked); j++)
			assert_int_equal(fixture_wait(fixture, &asked[j], &result), -EINTR);
		assert_int_equal(fixture_drive(fixture), 0);
	}
}

DRIVEN(nothing_is_begun_by_a_driver_that_has_stopped)
{
	json_t *result = NULL;

	fixture->driver->stop(fixture->driver);
	assert_int_equal(fixture_step(fixture, ADA, &result), -EINTR);
	assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
}

/* --- cancelling --- */

static void cancel(struct agents_fixture *fixture, const struct watcher *watcher)
{
	fixture_act(fixture, "operator",
		json_pack("{s:s, s:s}", "action_type", "cancel", "turn_id", watcher->run_id));
}

static void expect_cancelled(struct agents_fixture *fixture, struct asked *asked)
{
	WFS_AUTO_JSON json_t *result = NULL;

	assert_int_equal(fixture_wait(fixture, asked, &result), -EINTR);
	assert_string_equal(fixture_text(result, "termination_reason"), "cancelled");
	assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
}

DRIVEN(a_run_is_cancelled_while_a_tool_reads)
{
	struct watcher watcher;
	struct asked asked;

	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_wait','fs_echo']}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{}") "," CALL("fs_echo", "{}")));
	watch(fixture, &watcher, 0);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_sem(&agents_gate.entered);
	wait_sem(&watcher.told);
	cancel(fixture, &watcher);
	wait_sem(&watcher.ended);
	WFS_AUTO_FREE char *types = unwatch(fixture, &watcher);
	expect_cancelled(fixture, &asked); /* closing waits for no thread */
	fixture_let_go();

	assert_string_equal(
		types, "0 KernelStart, 1 ModelRequest, 2 ModelResponse, 3 ToolCall, 4 KernelEnd");
}

DRIVEN(a_run_is_cancelled_while_its_model_is_asked)
{
	struct watcher watcher;
	struct asked asked;

	fixture_script(fixture, "{'content':'late','delay_ms':3600000}\n");
	watch(fixture, &watcher, 0);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_sem(&watcher.told);
	cancel(fixture, &watcher);
	wait_sem(&watcher.ended);
	free(unwatch(fixture, &watcher));
	expect_cancelled(fixture, &asked);
}

DRIVEN(who_goes_away_ends_the_run)
{
	struct asked asked;

	fixture_script(fixture, "{'content':'late','delay_ms':3600000}\n");
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	fixture->driver->abandon(fixture->driver, asked.drive.ticket);
	expect_cancelled(fixture, &asked);
}

/* --- time --- */

DRIVEN(a_tool_that_takes_too_long_is_given_up)
{
	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['fs_wait'],'tool_timeout_ms':30}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{}")) "{'content':'done'}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");

	assert_non_null(
		strstr(fixture_message(result, 2), "Tool execution failed: the tool timed out"));
	assert_string_equal(fixture_message(result, 3), "done");
	fixture_let_go();
}

/* The tool's reading ends when the kernel already has the answer that it timed out. */
DRIVEN(a_tool_may_end_when_it_was_given_up)
{
	fixture_configure(
		fixture, "ada", "{'model':'script','tools':['fs_wait'],'tool_timeout_ms':1}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{}")) "{'content':'done'}\n");
	for (int i = 0; i < 50; i++) {
		struct asked asked;
		WFS_AUTO_JSON json_t *result = NULL;
		const struct timespec until_it_is_late = {.tv_nsec = 1000000 + i * 40000};

		fixture_ask(fixture, fixture->operator, ADA, &asked);
		wait_sem(&agents_gate.entered);
		nanosleep(&until_it_is_late, NULL);
		fixture_let_go();
		assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	}
}

DRIVEN(a_run_that_takes_too_long_ends_with_timeout)
{
	json_t *result = NULL;

	fixture_configure(fixture, "ada", "{'model':'script','run_timeout_ms':50}");
	fixture_script(fixture, "{'content':'late','delay_ms':3600000}\n");
	assert_int_equal(fixture_step(fixture, ADA, &result), -ETIMEDOUT);
	assert_string_equal(fixture_text(result, "termination_reason"), "timeout");
	json_decref(result);
}

DRIVEN(who_asks_can_make_the_time_shorter)
{
	fixture_script(fixture, "{'content':'late','delay_ms':3600000}\n");
	json_decref(fixture_ends(fixture, "{'agent':'ada','timeout_ms':50}", "timeout"));
}

/* --- rights --- */

static uint64_t height(struct agents_fixture *fixture)
{
	struct wfs_world_figures figures;

	wfs_world_figures(fixture->world, &figures);
	return figures.height;
}

DRIVEN(who_may_not_step_is_told_nothing_else)
{
	WFS_AUTO_SESSION struct wfs_session *eve = NULL;
	struct asked asked;
	json_t *result = NULL;

	assert_int_equal(wfs_session_new(fixture->authority, "eve", &eve, &fixture->error), 0);
	const uint64_t before = height(fixture);
	fixture_ask(fixture, eve, "{'agent':'nobody'}", &asked);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EACCES);
	assert_int_equal(fixture->error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(height(fixture), before + 1); /* the refusal is recorded */
}

DRIVEN(an_agent_that_may_not_ask_models_ends_with_the_refusal)
{
	json_t *result = NULL;

	fixture_script(fixture, "{'content':'hello'}\n");
	assert_int_equal(fixture_step(fixture, "{'agent':'dumb'}", &result), -EIO);
	assert_string_equal(fixture_text(result, "termination_reason"), "error");
	assert_string_equal(
		fixture_text(json_object_get(result, "error"), "code"), "not_authorized");
	json_decref(result);
}

#define FIFTEEN "'usage':{'prompt_tokens':10,'completion_tokens':5,'total_tokens':15}"

DRIVEN(a_budget_of_tokens_is_spent)
{
	fixture_script(fixture, "{'content':'hello'," FIFTEEN "}\n");
	json_decref(fixture_ends(fixture, "{'agent':'poor'}", "no_tool_calls"));
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, "{'agent':'poor'}", "quota_exceeded");

	assert_int_equal(fixture->error.code, WFS_E_QUOTA_EXCEEDED);
	assert_int_equal(json_integer_value(json_object_get(result, "turn_count")), 1);
}

DRIVEN(a_frozen_agent_does_not_ask)
{
	fixture_script(fixture, "{'content':'hello'," FIFTEEN "}\n");
	json_decref(fixture_ends(fixture, "{'agent':'cold'}", "no_tool_calls"));
	json_decref(fixture_ends(fixture, "{'agent':'cold'}", "quota_exceeded"));
	assert_non_null(strstr(fixture->error.message, "frozen"));
}

/* --- the quota `journal` --- */

static int64_t left_of_journal(struct agents_fixture *fixture, const char *id)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *resources = NULL;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, &fixture->error), 0);
	assert_int_equal(
		wfs_view_document(&view, WFS_BUILTIN_RESOURCE, id, &resources, &fixture->error), 0);
	const json_t *const journal = json_object_get(resources, "journal");
	return json_integer_value(json_object_get(journal, "quota")) -
		json_integer_value(json_object_get(journal, "used"));
}

/* Writes a script: first a call of @tool with so many bytes, then the answer `done`. */
static void script_of_one_call(struct agents_fixture *fixture, const char *tool, int size)
{
	WFS_AUTO_FREE char *pad = malloc((size_t)size + 1);
	WFS_AUTO_FREE char *lines = NULL;

	memset(pad, 'x', (size_t)size);
	pad[size] = '\0';
	assert_true(
		asprintf(&lines,
			CALLS("{'id':'1','name':'%s','arguments':'{\\'args\\':[\\'%s\\']}'}") "{'"
											      "cont"
											      "ent'"
											      ":'"
											      "done"
											      "'}"
											      "\n",
			tool, pad) > 0);
	fixture_script(fixture, lines);
}

/* The answer that was paid for is recorded; after that the turn asks no model and reads nothing. */
DRIVEN(a_run_ends_when_the_journal_of_its_agent_is_full)
{
	script_of_one_call(fixture, "fs_echo", 40000);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, "{'agent':'full'}", "quota_exceeded");

	assert_non_null(strstr(fixture->error.message, "bytes of journal"));
	assert_true(left_of_journal(fixture, "full") < 0);
	assert_int_equal(json_integer_value(json_object_get(result, "turn_count")), 2);
	assert_non_null(strstr(fixture_message(result, 2), "bytes of journal"));
	/* The next turn ends before its first request. */
	const int64_t left = left_of_journal(fixture, "full");
	json_decref(fixture_ends(fixture, "{'agent':'full'}", "quota_exceeded"));
	assert_true(left - left_of_journal(fixture, "full") < 10000);
}

/* The record of the call would contain the arguments again; the record of its failure does not. */
DRIVEN(a_call_that_the_journal_has_no_room_for_fails)
{
	script_of_one_call(fixture, "bare", 9000);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, "{'agent':'full'}", "no_tool_calls");

	print_message("%lld left: %s\n", (long long)left_of_journal(fixture, "full"),
		fixture_message(result, 2));
	assert_non_null(strstr(fixture_message(result, 2), "bytes of journal"));
	assert_string_equal(fixture_message(result, 3), "done");
}

DRIVEN(an_answer_that_does_not_fit_is_paid_for)
{
	fixture_configure(fixture, "poor",
		"{'model':'script','constraint':{'kind':'choice','choices':['yes','no']}}");
	fixture_script(fixture, "{'content':'perhaps'," FIFTEEN "}\n");
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, "{'agent':'poor'}", "error");
	const char *const message = fixture_text(json_object_get(result, "error"), "message");

	print_message("%s\n", message);
	assert_non_null(strstr(message, "perhaps"));
	json_decref(fixture_ends(fixture, "{'agent':'poor'}", "quota_exceeded"));
}

/* --- answers that are not taken --- */

DRIVEN(an_answer_waits_until_there_is_room)
{
	static const int passing[] = {-ENOSPC, -EAGAIN};

	fixture_script(fixture, "{'content':'hello'}\n");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(passing); i++) {
		refused_with = passing[i];
		atomic_store(&refusals, 2);
		json_decref(fixture_ends(fixture, ADA, "no_tool_calls"));
		assert_int_equal(atomic_load(&refusals), 0);
	}
}

DRIVEN(closing_waits_for_no_room)
{
	struct asked asked;
	json_t *result = NULL;

	fixture_script(fixture, "{'content':'hello'}\n");
	refused_with = -ENOSPC;
	atomic_store(&refusals, 1000);
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	while (atomic_load(&refusals) == 1000)
		sched_yield();
	fixture_stop_driving(fixture);
	atomic_store(&refusals, 0);
	assert_int_equal(fixture_wait(fixture, &asked, &result), -EINTR);
}

DRIVEN(an_answer_that_is_too_large_ends_the_run_with_that)
{
	const size_t size = 40 << 20;
	WFS_AUTO_FREE char *line = malloc(size + 64);

	assert_non_null(line);
	const int head = snprintf(line, 64, "{\"content\":\"");
	memset(line + head, 'x', size);
	snprintf(line + head + size, 16, "\"}\n");
	put_file(fixture->directory, "script.jsonl", line);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "error");

	assert_string_equal(fixture_text(json_object_get(result, "error"), "code"), "too_large");
}

DRIVEN(changes_that_there_is_no_memory_for_are_looked_for)
{
	struct watcher watcher;

	script_one_tool_turn(fixture);
	watch(fixture, &watcher, 0);
	atomic_store(&publisher_starves, true);
	WFS_AUTO_JSON json_t *result = fixture_ends(fixture, ADA, "no_tool_calls");
	wait_sem(&watcher.ended);
	atomic_store(&publisher_starves, false);
	WFS_AUTO_FREE char *types = unwatch(fixture, &watcher);

	assert_string_equal(fixture_message(result, 3), "done");
	assert_string_equal(types, ONE_TOOL_TURN);
	assert_true(atomic_load(&starved) > 4);
}

DRIVEN(a_run_outlives_the_artifact_of_its_agent)
{
	struct asked asked;
	WFS_AUTO_JSON json_t *result = NULL;
	json_t *next = NULL;

	fixture_configure(fixture, "ada", "{'model':'script','tools':['fs_wait']}");
	fixture_script(fixture, CALLS(CALL("fs_wait", "{}")) "{'content':'done'}\n");
	fixture_ask(fixture, fixture->operator, ADA, &asked);
	wait_sem(&agents_gate.entered);
	fixture_act(fixture, "ada",
		json_pack("{s:s, s:s}", "action_type", "delete_artifact", "artifact_id", "ada"));
	fixture_let_go();
	assert_int_equal(fixture_wait(fixture, &asked, &result), 0);
	assert_string_equal(fixture_text(result, "termination_reason"), "no_tool_calls");
	assert_int_equal(fixture_step(fixture, ADA, &next), -ENOENT);
}
