/* SPDX-License-Identifier: Apache-2.0 */
/* Turns whose tool `wait_until` waits for a time or an event. */
#include <inttypes.h>

#include "tests/fixture/cells.h"
#include "tests/fixture/turn.h"

#include "kernel/domain/timer/wait.h"
#include "kernel/read/index.h"

#define MS INT64_C(1000000)
#define STEP                                                                              \
	ACTION("step",                                                                    \
		"'agent':'alice','max_turns':5,'messages':" TURN_ASK                      \
		",'setup':{'model':'m','offered':['wait_until'],'settings':{},'tools':[{" \
		"'kind':'wait','name':'wait_until'}]}")

/* A turn of alice with an open call of wait_until. */
static struct turn_run begin(struct world_fixture *fixture)
{
	struct turn_run run = turn_begin(fixture, STEP);

	turn_says(&run, WANTS(WANTS_ONE("c", "wait_until", "{}")));
	return run;
}

/* Sends the action `wait` of the call. @members: of the action, JSON with ' for " */
static int wait_as(const struct turn_run *run, const char *principal, const char *members)
{
	WFS_AUTO_FREE char *intent = turn_waits_for(run, 0);
	WFS_AUTO_FREE char *action = NULL;
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_true(asprintf(&action, "{'action_type':'wait','intent_id':'%s',%s}", intent,
			    members) > 0);
	return act_as(run->fixture, principal, action, &answer);
}

static int wake(const struct turn_run *run)
{
	WFS_AUTO_FREE char *action = NULL;
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_true(asprintf(&action, "{'action_type':'wake','turn_id':'%s'}", run->id) > 0);
	return act_as(run->fixture, "alice", action, &answer);
}

/* The cell of the wait; NULL: there is none. */
static json_t *cell_of(const struct turn_run *run)
{
	WFS_AUTO_FREE char *intent = turn_waits_for(run, 0);
	WFS_AUTO_FREE char *text =
		intent ? state_at(run->fixture, WFS_HEIGHT_HEAD, "sys.wait", intent) : NULL;

	return text ? json_of(text) : NULL;
}

static uint64_t waits_in(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_builtin(&view, WFS_BUILTIN_WAIT, &reducer), 0);
	return reducer.live_count;
}

WITH_ACTORS(a_call_waits_for_a_time)
{
	struct turn_run run = begin(fixture);
	const int64_t before_ns = atomic_load(&fixture->now_ns);

	assert_int_equal(wait_as(&run, "alice", "'after_ms':500"), 0);
	WFS_AUTO_JSON json_t *cell = cell_of(&run);
	const int64_t next_ns = json_integer_value(json_object_get(cell, "next_ns"));
	assert_in_range(next_ns, before_ns + 500 * MS, before_ns + 501 * MS);
	WFS_AUTO_JSON json_t *turn = turn_document(&run, "sys.turn", "");
	assert_true(json_is_true(
		json_object_get(json_array_get(json_object_get(turn, "open"), 0), "waits")));
}

WITH_ACTORS(its_answer_ends_the_wait)
{
	struct turn_run run = begin(fixture);

	assert_int_equal(wait_as(&run, "alice", "'at':'2026-11-27T08:00:00Z'"), 0);
	turn_gives(&run, 0, "{}");
	assert_int_equal(waits_in(fixture), 0);
	turn_says(&run, SAYS("done"));
	assert_ended(&run, "no_tool_calls");
}

WITH_ACTORS(so_does_the_end_of_the_turn)
{
	struct turn_run run = begin(fixture);
	WFS_AUTO_FREE char *action = NULL;

	assert_int_equal(wait_as(&run, "alice", "'after_ms':500"), 0);
	assert_true(asprintf(&action, "{'action_type':'cancel','turn_id':'%s'}", run.id) > 0);
	assert_done(fixture, "alice", action);
	assert_int_equal(waits_in(fixture), 0);
}

WITH_ACTORS(an_event_of_the_schema_wakes_it)
{
	struct turn_run run = begin(fixture);

	assert_int_equal(wait_as(&run, "alice", "'after_ms':500,'until_event':'test/Do@1'"), 0);
	assert_int_equal(send_event(fixture, "test/None@1", "{}"), 0);
	WFS_AUTO_JSON json_t *before = cell_of(&run);
	assert_null(json_object_get(before, "woken"));
	const uint64_t seq = height_of(fixture);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'set','n':1}"), 0);

	WFS_AUTO_JSON json_t *cell = cell_of(&run);
	assert_string_equal(json_string_value(json_object_get(cell, "woken")), "event");
	assert_int_equal(json_integer_value(json_object_get(cell, "seq")), seq);
	assert_int_equal(json_integer_value(json_object_get(cell, "next_ns")), 0);
}

WITH_ACTORS(the_first_event_counts)
{
	struct turn_run run = begin(fixture);

	assert_int_equal(wait_as(&run, "alice", "'after_ms':500,'until_event':'test/Do@1'"), 0);
	const uint64_t seq = height_of(fixture);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			send_event(fixture, "test/Do@1", "{'key':'a','op':'set','n':1}"), 0);

	WFS_AUTO_JSON json_t *cell = cell_of(&run);
	assert_int_equal(json_integer_value(json_object_get(cell, "seq")), seq);
}

WITH_ACTORS(a_turn_is_woken_once)
{
	struct turn_run run = begin(fixture);

	assert_int_equal(wake(&run), -ESTALE);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':500"), 0);
	assert_int_equal(wake(&run), 0);
	WFS_AUTO_JSON json_t *cell = cell_of(&run);
	assert_string_equal(json_string_value(json_object_get(cell, "woken")), "step");
	assert_int_equal(wake(&run), -ESTALE);
}

WITH_ACTORS(bad_waits_are_refused)
{
	struct turn_run run = begin(fixture);

	assert_int_equal(wait_as(&run, "alice", "'until_event':'test/Do@1'"), -EINVAL);
	assert_int_equal(
		wait_as(&run, "alice", "'after_ms':1,'at':'2026-11-27T08:00:00Z'"), -EINVAL);
	assert_int_equal(wait_as(&run, "alice", "'at':'soon'"), -EINVAL);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':-1"), -EINVAL);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':1,'until_event':'no/Such@1'"), -ENOENT);
	assert_int_equal(wait_as(&run, "bob", "'after_ms':1"), -EINVAL);
	assert_int_equal(waits_in(fixture), 0);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':1"), 0);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':1"), -ESTALE);
}

#define WITH_CELLS(name) \
	TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, world_fixture_teardown)

WITH_CELLS(a_bounded_number_of_turns_waits_for_one_schema)
{
	struct cells cells = cells_begin(fixture);

	for (int i = 0; i < WFS_WAITS_SCHEMA_MAX; i++) {
		WFS_AUTO_FREE char *document = NULL;
		char key[32];

		snprintf(key, sizeof(key), "i%d", i);
		assert_true(asprintf(&document,
				    "{'intent_id':'%s','next_ns':1,'principal':'alice','run_id':"
				    "'r','until_event':'test/Do@1'}",
				    key) > 0);
		cells_set(&cells, "sys.wait", key, document);
	}
	cells_commit(&cells);
	struct turn_run run = begin(fixture);

	assert_int_equal(wait_as(&run, "alice", "'after_ms':1,'until_event':'test/Do@1'"), -EDQUOT);
	assert_int_equal(fixture->error.code, WFS_E_QUOTA_EXCEEDED);
	assert_int_equal(wait_as(&run, "alice", "'after_ms':1,'until_event':'test/Both@1'"), 0);
}
