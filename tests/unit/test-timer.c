/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: made, fired and ended by records, which are folded again after each test. */
#include <inttypes.h>

#include "tests/fixture/action.h"
#include "tests/fixture/cells.h"

#include "kernel/domain/timer/timer.h"

#define SECOND INT64_C(1000000000)
#define NOON (INT64_C(1795780800) * SECOND) /* 2026-11-27T12:00:00Z */
#define NOTE "'action':{'action_type':'write_artifact','artifact_id':'note','content':'x'}"
#define SCHEDULE(members) ACTION("schedule", members "," NOTE)
#define UNSCHEDULE(id) ACTION("unschedule", "'id':'" id "'")
#define WRITE_NOTE WRITE("'artifact_id':'note','content':'x'")

static int timer_setup(void **state)
{
	int r = action_fixture_setup(state);

	if (!r) {
		struct world_fixture *const fixture = *state;

		atomic_store(&fixture->now_ns, NOON);
		assert_done(fixture, "tester",
			"{'action_type':'grant','cap':'sys/timer@1','params':{},'to':'alice'}");
		atomic_store(&fixture->now_ns, NOON);
	}
	return r;
}

#define TIMER_TEST(name) \
	TEST_WITH(name, struct world_fixture *fixture, timer_setup, action_fixture_teardown)
#define TIMER_TEST_OF_CELLS(name) \
	TEST_WITH(name, struct world_fixture *fixture, timer_setup, world_fixture_teardown)

/* The member of alice's timer; INT64_MIN: no such timer. */
static int64_t member_of(struct world_fixture *fixture, const char *id, const char *member)
{
	char key[WFS_TIMER_KEY_SIZE];

	wfs_timer_key("alice", id, key);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", key);
	WFS_AUTO_JSON json_t *document = text ? json_of(text) : NULL;

	return document ? json_integer_value(json_object_get(document, member)) : INT64_MIN;
}

static int64_t next_of(struct world_fixture *fixture, const char *id)
{
	return member_of(fixture, id, "next_ns");
}

static bool exists(struct world_fixture *fixture, const char *id)
{
	return next_of(fixture, id) != INT64_MIN;
}

/* Sends what the driver sends for a timer of alice. @action: NULL: a decision */
static int fire_as(struct world_fixture *fixture, const char *action, const char *id,
	int64_t due_ns, enum wfs_fired_how how)
{
	WFS_AUTO_JSON json_t *json = action ? json_of(action) : NULL;
	struct wfs_request request = {
		.kind = action ? WFS_REQUEST_ACTION : WFS_REQUEST_DECISION,
		.principal = "alice",
		.fired = {.timer = id, .due_ns = due_ns, .how = how},
	};

	if (action) {
		request.action.document = json;
	} else {
		request.decision.refusal.effect = "action.write_artifact";
		(void)wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "refused");
	}
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	json_decref(request.answer);
	return r;
}

static int fire(struct world_fixture *fixture, const char *id, int64_t due_ns)
{
	return fire_as(fixture, WRITE_NOTE, id, due_ns, WFS_FIRED_DUE);
}

/* The last record has this text. */
static bool last_record_has(struct world_fixture *fixture, const char *wanted)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_bytes line;

	assert_int_equal(wfs_view_record(&view, view.height - 1, &line), 0);
	return memmem(line.data, line.size, wanted, strlen(wanted)) != NULL;
}

/* --- making and deleting --- */

TIMER_TEST(a_timer_is_due_a_period_after_it_was_made)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100"));

	assert_int_equal(next_of(fixture, "a"),
		member_of(fixture, "a", "created_ns") + 100 * INT64_C(1000000));
}

TIMER_TEST(a_timer_is_due_once_at_a_time)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','at':'2026-11-27T13:00:00+00:30'"));
	assert_done(fixture, "alice", SCHEDULE("'id':'b','after_ms':2000"));
	assert_done(fixture, "alice", SCHEDULE("'id':'past','at':'2020-01-01T00:00:00Z'"));

	assert_int_equal(next_of(fixture, "a"), NOON + 1800 * SECOND);
	assert_in_range(next_of(fixture, "b"), NOON + 2 * SECOND, NOON + 2 * SECOND + 1000);
	assert_int_equal(next_of(fixture, "past"), INT64_C(1577836800) * SECOND);
}

TIMER_TEST(a_time_after_the_last_one_never_comes)
{
	atomic_store(&fixture->now_ns, INT64_MAX - SECOND);
	assert_done(fixture, "alice", SCHEDULE("'id':'a','after_ms':2000"));

	assert_int_equal(next_of(fixture, "a"), INT64_MAX);
}

TIMER_TEST(a_timer_is_due_by_cron_in_a_zone_that_its_record_describes)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','cron':'0 8 * * *','tz':'Europe/Berlin'"));

	assert_int_equal(next_of(fixture, "a"), NOON + INT64_C(19) * 3600 * SECOND);
	assert_true(last_record_has(fixture, "\"zone\":{\"rule\":\"CET-1CEST,M3.5.0,M10.5.0/3\"}"));
}

TIMER_TEST(a_timer_without_a_name_gets_one)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "t%" PRIu64, height_of(fixture));
	assert_done(fixture, "alice", SCHEDULE("'after_ms':5"));

	assert_true(exists(fixture, expected));
}

TIMER_TEST(a_name_is_taken_once_for_each_principal)
{
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/timer@1','params':{},'to':'bob'}");
	assert_done(fixture, "alice", SCHEDULE("'id':'a','after_ms':5"));

	assert_fails(fixture, "alice", SCHEDULE("'id':'a','after_ms':5"), WFS_E_ALREADY_EXISTS,
		"'a' exists");
	assert_done(fixture, "bob", SCHEDULE("'id':'a','after_ms':5"));
}

TIMER_TEST(a_deleted_timer_is_gone)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','after_ms':5"));
	assert_data(fixture, "alice", UNSCHEDULE("a"), "{'id':'a'}");

	assert_false(exists(fixture, "a"));
	assert_fails(fixture, "alice", UNSCHEDULE("a"), WFS_E_NOT_FOUND, "'a' not found");
	assert_fails(fixture, "alice", UNSCHEDULE("../a"), WFS_E_NOT_FOUND, "not found");
	assert_int_equal(fire(fixture, "a", NOON), -ENOENT);
}

TIMER_TEST(bad_timers_are_refused)
{
	static const struct {
		const char *action;
		const char *message;
	} bad[] = {
		{SCHEDULE("'id':'a'"), "exactly one"},
		{SCHEDULE("'after_ms':1,'every_ms':100"), "exactly one"},
		{SCHEDULE("'every_ms':99"), "'every_ms': expected 100"},
		{SCHEDULE("'every_ms':9223372036854775807"), "'every_ms'"},
		{SCHEDULE("'at':'tomorrow'"), "'at': expected a time"},
		{SCHEDULE("'after_ms':1,'until':'soon'"), "'until': expected a time"},
		{SCHEDULE("'after_ms':1,'max':0"), "'max': expected 1"},
		{SCHEDULE("'after_ms':1,'tz':'UTC'"), "'tz': expected only"},
		{SCHEDULE("'after_ms':1,'id':'a/b'"), "'id': expected a name"},
		{SCHEDULE("'after_ms':1,'id':'.a'"), "'id': expected a name"},
		{SCHEDULE("'after_ms':1,'catch_up':'some'"), "'catch_up': expected one, all"},
		{SCHEDULE("'cron':'* * * *'"), "'cron': expected five"},
		{SCHEDULE("'cron':'* * * * *','tz':'Nowhere'"), "'tz': expected a time zone"},
		{SCHEDULE("'cron':'0 0 30 2 *'"), "would never be due"},
		{SCHEDULE("'after_ms':1000,'until':'2026-11-27T12:00:00Z'"), "would never be due"},
		{ACTION("schedule", "'after_ms':1,'action':{}"), "'action_type': expected"},
		{ACTION("schedule", "'after_ms':1,'action':{'action_type':'grant'}"),
			"'action_type': expected an action, or chat"},
		{ACTION("schedule", "'after_ms':1,'action':{'action_type':'noop','x':1}"),
			"'action': "},
		{ACTION("schedule", "'after_ms':1,'action':{'action_type':'event'}"), "is missing"},
		{ACTION("schedule",
			 "'after_ms':1,'action':{'action_type':'step','agent':'a','turns':2}"),
			"'turns': expected 1"},
		{ACTION("schedule", "'after_ms':1,'action':{'action_type':'chat'}"), "is missing"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(bad); i++) {
		WFS_AUTO_JSON json_t *answer = NULL;
		int r = act_as(fixture, "alice", bad[i].action, &answer);

		print_message("%.90s: %s\n", bad[i].action, fixture->error.message);
		assert_int_equal(r, -EINVAL);
		assert_non_null(strstr(fixture->error.message, bad[i].message));
	}
}

TIMER_TEST(an_action_that_is_too_large_is_refused)
{
	WFS_AUTO_FREE char *text = malloc(WFS_TIMER_ACTION_MAX + 1);
	WFS_AUTO_FREE char *action = NULL;

	memset(text, 'x', WFS_TIMER_ACTION_MAX);
	text[WFS_TIMER_ACTION_MAX] = '\0';
	assert_true(asprintf(&action,
			    "{'action_type':'schedule','after_ms':1,'action':{'action_type':"
			    "'write_artifact','artifact_id':'a','content':'%s'}}",
			    text) > 0);
	assert_fails(fixture, "alice", action, WFS_E_TOO_LARGE, "at most 65536 bytes");
}

/* --- firing --- */

TIMER_TEST(a_firing_is_the_record_of_the_action)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100"));
	const int64_t due_ns = next_of(fixture, "a");
	char body[64];

	snprintf(body, sizeof(body), "\"due_ns\":%" PRId64, due_ns);
	assert_int_equal(fire(fixture, "a", due_ns), 0);

	assert_true(last_record_has(fixture, body));
	assert_true(last_record_has(fixture, "\"timer\":\"a\""));
	assert_true(last_record_has(fixture, "\"cause\":null"));
	assert_true(last_record_has(fixture, "\"action_type\":\"write_artifact\""));
	assert_int_equal(next_of(fixture, "a"), due_ns + 100 * INT64_C(1000000));
	assert_int_equal(member_of(fixture, "a", "fired"), 1);
}

TIMER_TEST(a_due_time_fires_once)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100"));
	const int64_t due_ns = next_of(fixture, "a");
	assert_int_equal(fire(fixture, "a", due_ns), 0);
	const uint64_t height = height_of(fixture);

	assert_int_equal(fire(fixture, "a", due_ns), -ESTALE);
	assert_int_equal(height_of(fixture), height);
}

TIMER_TEST(a_timer_with_the_name_of_another_does_not_fire_for_it)
{
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION, .principal = "alice"};
	WFS_AUTO_JSON json_t *action = json_of(WRITE_NOTE);

	assert_done(fixture, "alice", SCHEDULE("'id':'a','at':'2026-11-27T13:00:00Z'"));
	request.action.document = action;
	request.fired = (struct wfs_fired){.timer = "a",
		.due_ns = next_of(fixture, "a"),
		.created_ns = member_of(fixture, "a", "created_ns")};
	assert_done(fixture, "alice", UNSCHEDULE("a"));
	assert_done(fixture, "alice", SCHEDULE("'id':'a','at':'2026-11-27T13:00:00Z'"));

	assert_int_equal(wfs_world_call(fixture->world, &request), -ENOENT);
	json_decref(request.answer);
	assert_true(exists(fixture, "a"));
}

TIMER_TEST(an_action_that_reads_is_recorded_when_a_timer_sends_it)
{
	assert_done(fixture, "alice",
		ACTION("schedule", "'id':'a','after_ms':1,'action':{'action_type':'noop'}"));

	assert_int_equal(fire_as(fixture, "{'action_type':'noop'}", "a", next_of(fixture, "a"),
				 WFS_FIRED_DUE),
		0);
	assert_true(last_record_has(fixture, "\"timer\":\"a\""));
	assert_false(exists(fixture, "a"));
}

TIMER_TEST(a_refused_action_moves_the_timer_on)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100"));
	const int64_t due_ns = next_of(fixture, "a");

	assert_int_equal(fire_as(fixture, ACTION("delete_artifact", "'artifact_id':'none'"), "a",
				 due_ns, WFS_FIRED_DUE),
		-ENOENT);
	assert_true(last_record_has(fixture, "\"timer\":\"a\""));
	assert_true(last_record_has(fixture, "\"ok\":false"));
	assert_int_equal(next_of(fixture, "a"), due_ns + 100 * INT64_C(1000000));
}

TIMER_TEST(a_refusal_by_rights_moves_the_timer_on)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100,'max':2"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			fire_as(fixture, NULL, "a", next_of(fixture, "a"), WFS_FIRED_DUE), -EACCES);
		assert_true(last_record_has(fixture, "\"decision\":\"deny\""));
		assert_true(last_record_has(fixture, "\"timer\":\"a\""));
	}
	assert_false(exists(fixture, "a"));
}

TIMER_TEST(missed_times_can_be_left_out_unless_all_are_wanted)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'one','every_ms':100"));
	assert_done(fixture, "alice", SCHEDULE("'id':'all','every_ms':100,'catch_up':'all'"));
	const int64_t later = 700 * INT64_C(1000000);

	assert_int_equal(fire(fixture, "all", next_of(fixture, "all") + later), -ESTALE);
	assert_int_equal(fire(fixture, "one", next_of(fixture, "one") + later + 1), -ESTALE);
	const int64_t due_ns = next_of(fixture, "one") + later;
	assert_int_equal(fire(fixture, "one", due_ns), 0);
	assert_int_equal(next_of(fixture, "one"), due_ns + 100 * INT64_C(1000000));
}

TIMER_TEST(a_skipped_time_does_not_count)
{
	assert_done(
		fixture, "alice", SCHEDULE("'id':'a','every_ms':100,'catch_up':'none','max':1"));
	const int64_t due_ns = next_of(fixture, "a") + 500 * INT64_C(1000000);

	assert_int_equal(fire_as(fixture, NULL, "a", due_ns, WFS_FIRED_LATE), -EACCES);
	assert_true(last_record_has(fixture, "\"decision\":\"skip\""));
	assert_int_equal(member_of(fixture, "a", "fired"), 0);
	assert_int_equal(next_of(fixture, "a"), due_ns + 100 * INT64_C(1000000));
}

TIMER_TEST(a_timer_that_is_used_up_is_gone)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'max','every_ms':100,'max':2"));
	assert_done(fixture, "alice",
		SCHEDULE("'id':'until','cron':'* * * * *','until':'2026-11-27T12:01:59Z'"));

	assert_int_equal(fire(fixture, "max", next_of(fixture, "max")), 0);
	assert_true(exists(fixture, "max"));
	assert_int_equal(fire(fixture, "max", next_of(fixture, "max")), 0);
	assert_false(exists(fixture, "max"));
	assert_int_equal(fire(fixture, "until", NOON + 60 * SECOND), 0);
	assert_false(exists(fixture, "until"));
}

TIMER_TEST(a_timer_that_nobody_can_pay_for_ends)
{
	assert_done(fixture, "alice", SCHEDULE("'id':'a','every_ms':100"));
	assert_done(fixture, "tester",
		"{'action_type':'principal','id':'carol','quotas':{'journal':10}}");

	assert_int_equal(
		fire_as(fixture, NULL, "a", next_of(fixture, "a"), WFS_FIRED_LAST), -EACCES);
	assert_true(last_record_has(fixture, "\"decision\":\"end\""));
	assert_false(exists(fixture, "a"));
}

TIMER_TEST(an_event_of_a_timer_names_it)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set','n':1}");
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT, .principal = "alice"};

	assert_done(fixture, "alice",
		ACTION("schedule",
			"'id':'a','after_ms':1,'action':{'action_type':'event','schema':"
			"'test/Do@1','value':{'key':'a','op':'set','n':1}}"));
	request.event.schema = "test/Do@1";
	request.event.value = value;
	request.fired = (struct wfs_fired){.timer = "a", .due_ns = next_of(fixture, "a")};
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);

	assert_false(exists(fixture, "a"));
	assert_true(last_record_has(fixture, "\"timer\":\"a\""));
}

/* --- private texts --- */

TIMER_TEST(a_private_text_in_the_action_is_in_no_record_and_no_cell)
{
	assert_done(fixture, "alice",
		ACTION("schedule",
			"'id':'a','after_ms':1,'action':{'action_type':'write_artifact',"
			"'artifact_id':'diary','access':'private','content':'dear diary'}"));

	assert_false(last_record_has(fixture, "dear diary"));
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", "alice/a");
	assert_non_null(text);
	assert_null(strstr(text, "dear diary"));
	assert_non_null(strstr(text, "sha256:"));
}

/* --- code --- */

static void write_code(struct world_fixture *fixture, const char *body)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_true(asprintf(&action,
			    "{'action_type':'write_artifact','artifact_id':'clock','code':"
			    "'function run(x) %s end'}",
			    body) > 0);
	assert_done(fixture, "alice", action);
}

TIMER_TEST(code_has_itself_invoked_later_by_its_author)
{
	write_code(fixture,
		"local r = kernel_actions.schedule({id=\\'tick\\', every_ms=1000, "
		"action={action_type=\\'invoke_artifact\\', artifact_id=\\'clock\\'}}) "
		"return r.ok");
	assert_done(fixture, "bob", INVOKE("'artifact_id':'clock'"));

	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", "alice/tick");
	assert_non_null(text);
	assert_non_null(strstr(text, "\"by\":\"clock\""));
	assert_non_null(strstr(text, "\"principal\":\"alice\""));
}

TIMER_TEST(code_can_do_nothing_else_later)
{
	write_code(fixture,
		"local r = kernel_actions.schedule({after_ms=1, "
		"action={action_type=\\'transfer\\', "
		"to=\\'bob\\', amount=100}}) return r.error.code");

	WFS_AUTO_JSON json_t *answer = NULL;
	assert_int_equal(act_as(fixture, "bob", INVOKE("'artifact_id':'clock'"), &answer), 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(answer, "data"), "result")),
		"not_authorized");
}

TIMER_TEST(code_does_not_show_secret_arguments_in_a_timer)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'clock','interface':{'description':'d','methods':[{'name':"
		      "'run','input':{'type':'object','properties':{'pin':{'type':'string',"
		      "'secret':true}}}}]},'code':'function run(x) local r = "
		      "kernel_actions.schedule({after_ms=1, action={action_type="
		      "\\'invoke_artifact\\', artifact_id=\\'clock\\', args={x}}}) "
		      "return r.error and r.error.message end'"));

	WFS_AUTO_JSON json_t *answer = NULL;
	assert_int_equal(act_as(fixture, "bob",
				 INVOKE("'artifact_id':'clock','args':[{'pin':'1234'}]"), &answer),
		0);
	const char *const told =
		json_string_value(json_object_get(json_object_get(answer, "data"), "result"));
	assert_non_null(told);
	assert_non_null(strstr(told, "'args': expected none"));
}

TIMER_TEST(code_deletes_only_its_own_timers)
{
	write_code(fixture, "return kernel_actions.unschedule({id=x}).ok");
	assert_done(fixture, "alice", SCHEDULE("'id':'mine','every_ms':1000"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'clock','args':['mine']"));

	assert_true(exists(fixture, "mine"));
}

TIMER_TEST(code_of_an_author_without_the_capability_makes_no_timer)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'clock','code':'function run(x) return "
		      "kernel_actions.schedule({after_ms=1, action={action_type="
		      "\\'invoke_artifact\\', artifact_id=\\'clock\\'}}).error.code end'"));

	WFS_AUTO_JSON json_t *answer = NULL;
	assert_int_equal(act_as(fixture, "alice", INVOKE("'artifact_id':'clock'"), &answer), 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(answer, "data"), "result")),
		"not_authorized");
}

/* --- bounds --- */

static void put_timers(struct world_fixture *fixture, int principals, int count)
{
	struct cells cells = cells_begin(fixture);

	for (int i = 0; i < principals * count; i++) {
		char principal[32];
		char key[WFS_TIMER_KEY_SIZE];
		char id[32];
		WFS_AUTO_FREE char *document = NULL;

		snprintf(principal, sizeof(principal), "p%d", i / count);
		if (principals == 1)
			snprintf(principal, sizeof(principal), "alice");
		snprintf(id, sizeof(id), "x%d", i);
		wfs_timer_key(principal, id, key);
		assert_true(asprintf(&document,
				    "{'action':{'action_type':'noop'},'at_ns':1,'catch_up':'one',"
				    "'created_ns':1,'fired':0,'id':'%s','next_ns':1,"
				    "'principal':'%s'}",
				    id, principal) > 0);
		cells_set(&cells, "sys.timer", key, document);
	}
	cells_commit(&cells);
}

TIMER_TEST_OF_CELLS(a_principal_has_a_bounded_number_of_timers)
{
	put_timers(fixture, 1, WFS_TIMERS_PRINCIPAL_MAX - 1);
	assert_done(fixture, "alice", SCHEDULE("'id':'last','after_ms':1"));

	assert_fails(fixture, "alice", SCHEDULE("'id':'more','after_ms':1"), WFS_E_QUOTA_EXCEEDED,
		"'alice' has 10000 timers");
	assert_done(fixture, "alice", UNSCHEDULE("last"));
	assert_done(fixture, "alice", SCHEDULE("'id':'more','after_ms':1"));
}

TIMER_TEST_OF_CELLS(a_world_has_a_bounded_number_of_timers)
{
	put_timers(fixture, 10, WFS_TIMERS_PRINCIPAL_MAX);

	assert_fails(fixture, "alice", SCHEDULE("'after_ms':1"), WFS_E_QUOTA_EXCEEDED,
		"the world has 100000 timers");
}

TIMER_TEST(code_cannot_make_more_than_the_bound_in_one_invocation)
{
	write_code(fixture,
		"local ok = 0 for i = 1, 1000 do local r = kernel_actions.schedule({every_ms=1000, "
		"action={action_type=\\'invoke_artifact\\', artifact_id=\\'clock\\'}}) "
		"if r.ok then ok = ok + 1 end end return ok");
	for (int i = 0; i < 11; i++)
		assert_done(fixture, "alice", INVOKE("'artifact_id':'clock'"));

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;
	assert_int_equal(wfs_view_builtin(&view, WFS_BUILTIN_TIMER, &reducer), 0);
	assert_int_equal(reducer.live_count, WFS_TIMERS_PRINCIPAL_MAX);
}
