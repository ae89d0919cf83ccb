/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver finds when it looks for timers that are due. */
#include "tests/fixture/action.h"
#include "tests/fixture/cells.h"

#include "caps/driving-timer.h"
#include "caps/driving.h"

#define NOW 1000
#define TIMER_TEST(name) \
	TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, world_fixture_teardown)

static void put(struct cells *cells, const char *key, const char *principal, const char *id,
	const char *members)
{
	WFS_AUTO_FREE char *document = NULL;

	assert_true(asprintf(&document,
			    "{'action':{'action_type':'noop'},'catch_up':'one','created_ns':1,"
			    "'fired':0,'id':'%s','principal':'%s',%s}",
			    id, principal, members) > 0);
	cells_set(cells, "sys.timer", key, document);
}

/* Timers of alice that are due at 1, 2, … */
static void put_timers(struct world_fixture *fixture, int count)
{
	struct cells cells = cells_begin(fixture);

	for (int i = 1; i <= count; i++) {
		char key[16];
		char members[32];

		snprintf(key, sizeof(key), "alice/t%d", i);
		snprintf(members, sizeof(members), "'at_ns':%d,'next_ns':%d", i, i);
		put(&cells, key, "alice", key + strlen("alice/"), members);
	}
	cells_commit(&cells);
}

/* @context: id of the only timer that is wanted; NULL: all are */
static bool is_other(void *context, const char *principal, const char *id)
{
	(void)principal;
	return context && strcmp(id, context) != 0;
}

static struct wfs_due look(
	struct world_fixture *fixture, const char *wanted, size_t max, struct wfs_due_place place)
{
	const struct wfs_driving driving = {.world = fixture->world};
	struct wfs_due due = {.now_ns = NOW, .max = max, .left_out_max = 10, .place = place};
	struct wfs_error error = {0};

	assert_int_equal(
		wfs_driving_due(&driving, is_other, (void *)(uintptr_t)wanted, &due, &error), 0);
	return due;
}

TIMER_TEST(a_look_goes_on_where_the_last_one_has_stopped)
{
	put_timers(fixture, 25);

	WFS_AUTO_DUE struct wfs_due first = look(fixture, "t23", 64, (struct wfs_due_place){0});
	WFS_AUTO_DUE struct wfs_due second = look(fixture, "t23", 64, first.place);
	WFS_AUTO_DUE struct wfs_due third = look(fixture, "t23", 64, second.place);

	assert_int_equal(first.count + second.count, 0);
	assert_int_equal(first.left_out, 10);
	assert_int_equal(first.next_ns, NOW);
	assert_int_equal(third.count, 1);
	assert_string_equal(third.timers[0].id, "t23");
	assert_int_equal(third.place.cell_id, 0);
	assert_int_equal(third.next_ns, NOW); /* those before may be wanted now */
}

TIMER_TEST(a_look_that_finds_enough_is_followed_by_one_for_others)
{
	put_timers(fixture, 6);

	WFS_AUTO_DUE struct wfs_due first = look(fixture, NULL, 4, (struct wfs_due_place){0});
	WFS_AUTO_DUE struct wfs_due second = look(fixture, NULL, 4, first.place);

	assert_int_equal(first.count, 4);
	assert_int_equal(second.count, 2);
	assert_string_equal(second.timers[0].id, "t5");
}

TIMER_TEST(after_a_look_at_all_timers_the_next_due_time_is_known)
{
	struct cells cells = cells_begin(fixture);
	put(&cells, "alice/a", "alice", "a", "'at_ns':5000,'next_ns':5000");
	cells_commit(&cells);

	WFS_AUTO_DUE struct wfs_due due = look(fixture, NULL, 4, (struct wfs_due_place){0});

	assert_int_equal(due.count, 0);
	assert_int_equal(due.next_ns, 5000);
}

TIMER_TEST(damaged_timers_do_not_keep_others_from_firing)
{
	struct cells cells = cells_begin(fixture);
	put(&cells, "alice/a", "alice", "a", "'cron':'* * * * *','next_ns':7");
	put(&cells, "alice/b", "alice", "b", "'at_ns':8");
	put(&cells, "alice/c", "tester", "c", "'at_ns':9,'next_ns':9");
	put(&cells, "alice/d", "alice", "e", "'at_ns':9,'next_ns':9");
	put(&cells, "alice/f", "alice", "f", "'cron':'soon','next_ns':9");
	put(&cells, "alice/g", "alice", "g", "'next_ns':-9223372036854775808");
	put(&cells, "alice", "alice", "", "'at_ns':9,'next_ns':9");
	put(&cells, "alice/good", "alice", "good", "'at_ns':10,'next_ns':10");
	cells_commit(&cells);

	WFS_AUTO_DUE struct wfs_due due = look(fixture, NULL, 64, (struct wfs_due_place){0});

	assert_int_equal(due.damaged, 7);
	assert_int_equal(due.count, 1);
	assert_string_equal(due.timers[0].id, "good");
}

TIMER_TEST(a_due_time_of_a_timer_that_was_made_anew_does_not_wait)
{
	struct wfs_fired fired = {.timer = "t1", .due_ns = 1, .created_ns = 1};
	struct wfs_error error = {0};

	put_timers(fixture, 1);
	const struct wfs_driving driving = {.world = fixture->world};
	assert_int_equal(wfs_driving_fires(&driving, "alice", &fired, &error), 1);
	fired.created_ns = 2;
	assert_int_equal(wfs_driving_fires(&driving, "alice", &fired, &error), 0);
}
