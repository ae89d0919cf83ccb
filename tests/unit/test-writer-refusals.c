/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals that come again and again: few records, and a count that is written when there is room. */
#include "tests/unit/writer-fixture.h"

static void refuse(struct world_fixture *fixture, const char *principal, const char *effect)
{
	struct wfs_request request = {.kind = WFS_REQUEST_DECISION,
		.principal = principal,
		.decision = {.effect = effect}};

	(void)wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "refused");
	assert_int_equal(wfs_world_call(fixture->world, &request), -EACCES);
}

static void wait_for_height(struct world_fixture *fixture, uint64_t height)
{
	while (height_of(fixture) < height)
		usleep(10000);
	assert_int_equal(height_of(fixture), height);
}

static void refusals_of_a_second_are_counted(void **state)
{
	struct world_fixture *fixture = *state;

	for (int i = 0; i < 100; i++)
		refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "world.gc");
	refuse(fixture, "alice", "event.emit");
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 3);
	wait_for_height(fixture, GENESIS_HEIGHT + 4);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT + 3);
	assert_int_equal(json_integer_value(json_object_get(parsed.body_json, "count")), 99);
}

static void a_count_that_finds_no_room_is_tried_again(void **state)
{
	struct world_fixture *fixture = *state;

	refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "event.emit");
	atomic_store(&failing_begins, 1);
	wait_for_height(fixture, GENESIS_HEIGHT + 2);
	assert_int_equal(atomic_load(&failing_begins), 0);
}

static void closing_waits_for_no_count(void **state)
{
	struct world_fixture *fixture = *state;

	refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "event.emit");
	atomic_store(&failing_begins, 1000);
	world_fixture_close(fixture);
	atomic_store(&failing_begins, 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(refusals_of_a_second_are_counted),
		IN_WORLD(a_count_that_finds_no_room_is_tried_again),
		IN_WORLD(closing_waits_for_no_count),
	};

	return cmocka_run_group_tests_name("writer-refusals", tests, NULL, NULL);
}
