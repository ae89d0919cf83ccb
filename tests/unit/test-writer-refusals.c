/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals that come again and again: they make few records, and their count is written when
 * there is room. */
#include "tests/fixture/action.h"
#include "tests/fixture/writer.h"

#include "kernel/world/writer-impl.h"

static atomic_llong stopped_ns; /* the time that the clock shows; 0: the real time */

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int64_t __real_wfs_clock_monotonic_ns(void);
int64_t __wrap_wfs_clock_monotonic_ns(void);

int64_t __wrap_wfs_clock_monotonic_ns(void)
{
	const int64_t now = atomic_load(&stopped_ns);

	return now ? now : __real_wfs_clock_monotonic_ns();
}

int __real_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);
int __wrap_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);

/* The world never has room for the cell `big`. */
int __wrap_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns)
{
	return wfs_bytes_equal(cell->key, wfs_bytes_text("big"))
		? -ENOSPC
		: __real_wfs_head_set_cell(head, reducer_index, cell, state, height, at_ns);
}
/* NOLINTEND(readability-identifier-naming) */

static void stop_clock(void)
{
	atomic_store(&stopped_ns, __real_wfs_clock_monotonic_ns());
}

static void let_clock_go(void)
{
	atomic_store(&stopped_ns, 0);
}

static void refuse(struct world_fixture *fixture, const char *principal, const char *effect)
{
	struct wfs_request request = {.kind = WFS_REQUEST_DECISION,
		.principal = principal,
		.decision.refusal = {.effect = effect}};

	(void)wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "refused");
	assert_int_equal(wfs_world_call(fixture->world, &request), -EACCES);
}

static void wait_for_height(struct world_fixture *fixture, uint64_t height)
{
	while (height_of(fixture) < height)
		usleep(10000);
	assert_int_equal(height_of(fixture), height);
}

/* The number of records of refusals in the journal from @seq on, and the sum of their counts. */
static size_t count_refusals(struct world_fixture *fixture, uint64_t seq, json_int_t *ret_total)
{
	const uint64_t height = height_of(fixture);
	size_t records = 0;

	for (*ret_total = 0; seq < height; seq++, records++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);
		const int64_t count = parsed.body.decision.count;

		assert_int_equal(parsed.record.kind, WFS_RECORD_DECISION);
		*ret_total += count < 0 ? 1 : count;
	}
	return records;
}

IN_WORLD(refusals_of_a_second_are_counted)
{
	stop_clock();
	for (int i = 0; i < 100; i++)
		refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "world.gc");
	refuse(fixture, "alice", "event.emit");
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 3);
	let_clock_go();
	wait_for_height(fixture, GENESIS_HEIGHT + 4);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT + 3);
	assert_int_equal(parsed.body.decision.count, 99);
}

IN_WORLD(refusals_whose_batch_is_done_again_are_counted_once)
{
	struct sent sent[4];
	struct answers answers;
	json_int_t total;

	answers_init(&answers, WFS_ARRAY_COUNT(sent));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(sent); i++)
		sent_init(&sent[i], &answers, "set", i == 3 ? "big" : "a", 1);
	for (size_t i = 1; i < 3; i++) {
		sent[i].request.kind = WFS_REQUEST_DECISION;
		sent[i].request.decision.refusal.effect = "event.emit";
		(void)wfs_error_set(&sent[i].request.error, WFS_E_NOT_AUTHORIZED, "refused");
	}
	stop_clock();
	send_as_batch(fixture, sent, WFS_ARRAY_COUNT(sent));
	answers_wait(&answers);
	let_clock_go();
	wait_for_height(fixture, GENESIS_HEIGHT + 2);

	assert_int_equal(answers.failed, 3);
	assert_int_equal(count_refusals(fixture, GENESIS_HEIGHT + 1, &total), 1);
	assert_int_equal(total, 2);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(sent); i++)
		json_decref(sent[i].value);
}

IN_WORLD(a_count_that_finds_no_room_is_tried_again)
{
	stop_clock();
	refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "event.emit");
	atomic_store(&failing_begins, 1);
	let_clock_go();
	wait_for_height(fixture, GENESIS_HEIGHT + 2);
	assert_int_equal(atomic_load(&failing_begins), 0);
}

IN_WORLD(closing_waits_for_no_count)
{
	stop_clock();
	refuse(fixture, "tester", "event.emit");
	refuse(fixture, "tester", "event.emit");
	atomic_store(&failing_begins, 1000);
	let_clock_go();
	world_fixture_close(fixture);
	atomic_store(&failing_begins, 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
}

IN_WORLD(very_many_principals_have_few_records)
{
	enum { PRINCIPALS = WRITER_REFUSALS_MAX + 100, MORE = 100 };
	char name[16];
	json_int_t total;

	stop_clock();
	for (int i = 0; i < PRINCIPALS; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		refuse(fixture, name, "event.emit");
	}
	for (int i = 0; i < MORE; i++)
		refuse(fixture, "late", "event.emit");
	refuse(fixture, "late", "world.gc");
	assert_int_equal(count_refusals(fixture, GENESIS_HEIGHT, &total), WRITER_REFUSALS_MAX + 2);
	let_clock_go();
	wait_for_height(fixture, GENESIS_HEIGHT + WRITER_REFUSALS_MAX + 3);
	assert_int_equal(count_refusals(fixture, GENESIS_HEIGHT, &total), WRITER_REFUSALS_MAX + 3);
	assert_int_equal(total, PRINCIPALS + MORE + 1);
}

WITH_ACTORS(agents_of_one_principal_leave_room_for_others)
{
	enum { AGENTS = WRITER_REFUSALS_OWNER_MAX + 10 };
	char text[128];
	json_int_t total;

	for (int i = 0; i < AGENTS; i++) {
		snprintf(text, sizeof(text), WRITE("'artifact_id':'agent%d','type':'agent'"), i);
		assert_done(fixture, "alice", text);
	}
	const uint64_t begun = height_of(fixture);
	stop_clock();
	for (int i = 0; i < AGENTS; i++) {
		snprintf(text, sizeof(text), "agent%d", i);
		refuse(fixture, text, "event.emit");
	}
	refuse(fixture, "alice", "event.emit");
	refuse(fixture, "bob", "event.emit");
	assert_int_equal(count_refusals(fixture, begun, &total), WRITER_REFUSALS_OWNER_MAX + 2);
	let_clock_go();
	wait_for_height(fixture, begun + WRITER_REFUSALS_OWNER_MAX + 3);
	WFS_AUTO_RECORD struct wfs_record_parsed last = record_at(fixture, height_of(fixture) - 1);
	assert_string_equal(last.record.principal, "alice");
	assert_int_equal(last.body.decision.count, 10);
}
