/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring copies of worlds whose artifacts had earlier texts, which no copy contains. */
#include "tests/fixture/restore-lost.h"
#include "tests/fixture/turn.h"

#include "kernel/copy/gc.h"

/* --- what is restored --- */

LOST(the_state_is_that_of_the_copy)
{
	const uint64_t lost = live(fixture);
	const uint64_t height = height_of(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, height);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.history);
	assert_int_equal(restored.lost.seq, lost);
	assert_string_equal(restored.lost.artifact_id, "note");
	assert_false(restored.lost.code);
	assert_int_equal(restored.height, height);
	assert_int_equal(restored.first_height, height);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(height_of(fixture), height);
	assert_state(fixture, "sys.artifact", "gone", NULL);
	assert_int_equal(scrip_of(fixture, "alice"), 92);
	assert_verified(fixture);
}

/* The records contain the results of the turn's tools, and their refusals. */
LOST(a_run_is_that_of_the_copy)
{
	live(fixture);
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	turn_says(&run,
		WANTS(WANTS_ONE("a", "write_artifact", "{}") "," WANTS_ONE(
			"b", "noop", "{}") "," WANTS_ONE("c", "look", "{}")));
	assert_int_equal(turn_acts(&run, 0, WRITE("'artifact_id':'note','content':'of a run'")), 0);
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'delete_artifact','artifact_id':'zz'}"),
		-ENOENT);
	turn_gives(&run, 0, "x");
	copy_at(fixture, WFS_HEIGHT_HEAD);

	restore(fixture);
	run.fixture = fixture;
	turn_says(&run, SAYS("it goes on"));

	assert_ended(&run, "no_tool_calls");
	assert_output(&run, ".1.1", "Tool execution failed: Artifact 'zz' not found");
	assert_verified(fixture);
}

LOST(a_run_of_a_copy_that_was_changed_is_refused)
{
	char name[256];

	live(fixture);
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	snprintf(name, sizeof(name), "reducers/sys.turn/%s", run.id);
	replace_in_copy(fixture, name, "\"turn\":1", "\"turn\":2");

	assert_copy_refused(fixture, name);
}

LOST(older_heights_are_not_there)
{
	struct wfs_view view;

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_int_equal(
		wfs_view_open(fixture->world, height_of(fixture) - 1, &view, &fixture->error),
		-ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

LOST(replay_names_the_text_that_is_lost)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "the content of artifact 'note'"));
}

LOST(it_goes_on)
{
	struct wfs_gc gc = {0};

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'note','old_string':'third','new_string':'fourth'"));
	assert_fails(fixture, "bob", WRITE("'artifact_id':'gone'"), WFS_E_DELETED, "gone");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"),
		"{'price_paid':0,'result':1}");
	tell(fixture, "{'key':'a','op':'add','n':3}");
	assert_state(fixture, "cell", "a", "{\"n\":5}");
	assert_verified(fixture);
	assert_int_equal(wfs_gc_begin(fixture->world, true, 1, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
}

/* At every height, even inside of a request, and where the text is not lost yet. */
LOST(every_height_is_restored)
{
	char original[sizeof(fixture->directory)];
	const uint64_t lost = live(fixture);
	const uint64_t height = height_of(fixture);

	memcpy(original, fixture->directory, sizeof(original));
	for (uint64_t at = lost; at <= height; at++) {
		const struct wfs_hash hash = snapshot_of(fixture, at);

		print_message("%llu\n", (unsigned long long)at);
		copy_at(fixture, at);
		const struct wfs_restored restored = restore(fixture);
		assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
		/* An event came after the first text. */
		assert_int_equal(restored.lost.seq, at > lost + 2 ? lost : 0);
		assert_int_equal(restored.first_height, at > lost + 2 ? at : 1);
		tell(fixture, "{'key':'later','op':'set','n':1}");
		assert_verified(fixture);
		world_fixture_close(fixture);
		wfs_directory_remove(fixture->directory);
		remove_copy_directory(fixture, "");
		memcpy(fixture->directory, original, sizeof(original));
		assert_int_equal(world_fixture_open(fixture), 0);
	}
}

/* After the lost text, restoring does not know what the budget of a grant paid for. */
LOST(grants_and_what_they_paid_for_are_restored)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'paid','op':'set'}");
	struct wfs_request event = {.kind = WFS_REQUEST_EVENT,
		.principal = "alice",
		.event.schema = "test/Do@1",
		.event.value = value,
		.charge = "some"};

	live(fixture);
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','to':'alice','params':{},'name':'some',"
		"'budget':{'calls':2}}");
	assert_int_equal(wfs_world_call(fixture->world, &event), 0);
	assert_done(fixture, "tester", "{'action_type':'principal','id':'carol','scrip':1}");
	const struct wfs_hash hash = snapshot_of(fixture, height_of(fixture));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(wfs_world_call(fixture->world, &event), 0);
	assert_int_equal(wfs_world_call(fixture->world, &event), -EDQUOT);
}

/* More than nine records, so that their numbers have different lengths. */
LOST(invocations_are_in_the_order_of_their_records)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	uint64_t before = 0;
	uint64_t seq;
	size_t count = 0;

	live(fixture);
	for (int i = 0; i < 90; i++)
		assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_builtin(&view, WFS_BUILTIN_INVOCATION, &reducer), 0);
	assert_int_equal(wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0), 0);
	for (; wfs_entry_walk_next(&walk, &entry) > 0; count++, before = seq) {
		assert_true(wfs_decimal_read(entry.key.data, entry.key.size, &seq) > 0);
		assert_true(seq > before);
	}
	assert_int_equal(count, 92);
}

/* Folding makes the names of one record in this order, too. */
LOST(behind_the_number_names_are_in_the_order_of_bytes)
{
	static const char *const expected[] = {"7.1", "7.10", "7.2", "10.0"};
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	size_t count = 0;

	tell(fixture, "{'key':'10.0','op':'set','n':1}");
	tell(fixture, "{'key':'7.2','op':'set','n':1}");
	tell(fixture, "{'key':'7.10','op':'set','n':1}");
	tell(fixture, "{'key':'7.1','op':'set','n':1}");
	copy_state(fixture);
	restore(fixture);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_reducer(&view, "cell", strlen("cell"), &reducer), 0);
	assert_int_equal(wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0), 0);
	for (; wfs_entry_walk_next(&walk, &entry) > 0; count++) {
		assert_true(count < WFS_ARRAY_COUNT(expected));
		assert_true(wfs_bytes_equal(entry.key, wfs_bytes_text(expected[count])));
	}
	assert_int_equal(count, WFS_ARRAY_COUNT(expected));
}

LOST(code_may_be_lost_as_well)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'function run() return 1 "
		      "end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','code':'function run() return 2 end'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.lost.code);
	assert_string_equal(restored.lost.artifact_id, "tool");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"),
		"{'price_paid':0,'result':2}");
}

LOST(a_text_that_is_a_blob_is_not_lost)
{
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, "first", 5, &hash), 0);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'second'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	assert_int_equal(restore(fixture).lost.seq, 0);
	assert_sound(fixture);
}

/* --- what is refused --- */

LOST(a_cell_of_a_reducer_is_still_proven_by_folding)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy_text(fixture, "reducers/cell/a", "{\"n\":3}\n");

	assert_copy_refused(fixture, "reducers/cell/a: expected sha256:");
}

LOST(content_must_be_what_its_artifact_says)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy_text(fixture, "artifacts/note/content", "fifth");

	assert_copy_refused(fixture, "artifacts/note/content: expected sha256:");
}

LOST(content_must_be_there)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "artifacts/note/content");

	assert_copy_refused(fixture, "artifacts/note/content: is missing");
}

LOST(an_artifact_must_be_what_is_made_of_it)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_copy(
		fixture, "reducers/sys.artifact/note", "\"owner\":\"alice\"", "\"owner\":\"bob\"");

	assert_copy_refused(fixture, "artifacts/note/owner: expected sha256:");
}

LOST(what_is_made_of_cells_must_be_there)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy_directory(fixture, "principals");

	assert_copy_refused(fixture, "principals: is missing or empty");
}

LOST(an_artifact_is_not_gone_without_having_been_deleted)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/sys.artifact/early");
	remove_copy_directory(fixture, "artifacts/early");

	assert_copy_refused(fixture, "reducers/sys.artifact/early: is missing");
}

LOST(what_actions_leave_for_good_must_be_there)
{
	char name[64];
	char line[128];

	live(fixture);
	const uint64_t seq =
		height_of(fixture) - 12; /* an auction and an event with six more came after it */
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/sys.deleted/gone");
	snprintf(name, sizeof(name), "reducers/sys.invocation/%llu.0", (unsigned long long)seq);
	remove_copy(fixture, name);
	snprintf(line, sizeof(line), "%s: is missing: record %llu made it\n", name,
		(unsigned long long)seq);

	assert_copy_refused(fixture, line);
}

LOST(an_account_is_never_gone)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/sys.ledger/bob");
	remove_copy_directory(fixture, "principals/bob");

	assert_copy_refused(fixture, "reducers/sys.ledger/bob: is missing");
}

LOST(an_invocation_from_before_is_not_changed)
{
	const uint64_t seq = live(fixture) - 2;
	char name[64];
	char line[128];

	copy_at(fixture, WFS_HEIGHT_HEAD);
	snprintf(name, sizeof(name), "reducers/sys.invocation/%llu.0", (unsigned long long)seq);
	replace_in_copy(fixture, name, "\"success\":true", "\"success\":false");
	snprintf(line, sizeof(line), "%s: is not what folding gives", name);

	assert_copy_refused(fixture, line);
}

/* Only the snapshot has the hash of this cell. */
LOST(a_snapshot_proves_all_cells)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	live(fixture);
	request.snapshot.height = height_of(fixture);
	request.snapshot.hash = snapshot_of(fixture, request.snapshot.height);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_copy(fixture, "reducers/sys.deleted/gone", "\"deleted_by\":\"bob\"",
		"\"deleted_by\":\"alice\"");

	assert_copy_refused(fixture, "reducers: expected sha256:");
}

/* Otherwise an attacker that changes a content would only have to change its hash, too. */
LOST(a_text_that_nothing_replaced_is_not_lost)
{
	char proven[128];
	char forged[128];

	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'other','content':'more'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	hash_member("proven", proven);
	hash_member("forged", forged);
	put_copy_text(fixture, "artifacts/note/content", "forged");
	replace_in_copy(fixture, "reducers/sys.artifact/note", proven, forged);

	assert_copy_refused(
		fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

LOST(content_without_a_journal_must_be_what_its_artifact_says)
{
	live(fixture);
	copy_state(fixture);
	put_copy_text(fixture, "artifacts/note/content", "fifth");

	assert_copy_refused(fixture, "artifacts/note/content: expected sha256:");
}

LOST(an_end_at_any_look_leaves_nothing)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	assert_ends_leave_nothing(fixture);
}
