/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring: a complete copy gives the same world, any other copy gives nothing. */
#include "tests/fixture/asking.h"
#include "tests/fixture/restore.h"
#include "tests/fixture/tamper.h"

#include <dirent.h>

#include "kernel/base/encode.h"
#include "kernel/check/baseline.h"
#include "kernel/check/replay.h"
#include "kernel/copy/gc.h"
#include "kernel/copy/restore.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/snapshot.h"

/* --- a copy, as a tool makes it of a mount --- */

/* Makes a change of every kind. */
static void act(struct world_fixture *fixture, const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "tester", .action.document = json};

	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	json_decref(request.answer);
}

/* Makes a grant that is delegated, used and revoked, and gets a refusal. */
static void live_with_grants(struct world_fixture *fixture)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'paid','op':'set'}");
	struct wfs_request event = {.kind = WFS_REQUEST_EVENT,
		.principal = "alice",
		.event.schema = "test/Do@1",
		.event.value = value,
		.charge = "some"};
	struct wfs_request refusal = {.kind = WFS_REQUEST_DECISION,
		.principal = "alice",
		.decision.refusal = {.effect = "world.gc"}};

	act(fixture, "{'action_type':'principal','id':'alice'}");
	act(fixture,
		"{'action_type':'grant','cap':'sys/act@1','to':'alice','params':{},"
		"'name':'some','budget':{'calls':2}}");
	act(fixture,
		"{'action_type':'grant','cap':'sys/act@1','to':'alice','params':{},"
		"'name':'part','from':'some'}");
	assert_int_equal(wfs_world_call(fixture->world, &event), 0);
	wfs_error_set(&refusal.error, WFS_E_NOT_AUTHORIZED, "no grant of admin");
	assert_int_equal(wfs_world_call(fixture->world, &refusal), -EACCES);
	act(fixture, "{'action_type':'revoke','name':'part'}");
}

static void live(struct world_fixture *fixture)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};
	WFS_AUTO_FREE char *large = calloc(1, 100000);
	struct wfs_hash hash;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'add','n':1.5}"), 0);
	tell(fixture, "{'key':'r','op':'tree','n':3}");
	tell(fixture, "{'key':'a/b','op':'random'}");
	tell(fixture, "{'key':'','op':'context'}");
	tell(fixture, "{'key':'gone','op':'set','n':1}");
	tell(fixture, "{'key':'gone','op':'delete'}");
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
	assert_int_equal(put_blob(fixture, large, 100000, &hash), 0);
	tell(fixture, "{'key':'large','op':'grow','n':100000}");
	request.snapshot.height = height_of(fixture);
	request.snapshot.hash = snapshot_of(fixture, request.snapshot.height);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	live_with_grants(fixture);
	tell(fixture, "{'key':'a','op':'add','n':2}");
}

/* --- with the journal --- */

IN_WORLD(a_copy_is_the_same_world)
{
	WFS_AUTO_BUFFER struct wfs_buffer before = {0};
	WFS_AUTO_BUFFER struct wfs_buffer after = {0};
	char id[WFS_WORLD_ID_SIZE + 1];

	live(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	const uint64_t height = height_of(fixture);
	snprintf(id, sizeof(id), "%s", wfs_world_id(fixture->world));
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&view, 0, 1 << 20, &before), 0);
	wfs_view_close(&view);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.history);
	assert_int_equal(restored.height, height);
	assert_string_equal(restored.world_id, id);
	assert_string_equal(wfs_world_id(fixture->world), id);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	WFS_AUTO_VIEW struct wfs_view again = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&again, 0, 1 << 20, &after), 0);
	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&before), wfs_buffer_bytes(&after)));
	wfs_view_close(&again);
	assert_sound(fixture);
}

IN_WORLD(a_restored_world_goes_on_as_the_first_one_would)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	tell(fixture, "{'key':'z','op':'random'}");
	WFS_AUTO_FREE char *first = state_at(fixture, WFS_HEIGHT_HEAD, "cell", "z");
	restore(fixture);
	tell(fixture, "{'key':'z','op':'random'}");
	WFS_AUTO_FREE char *second = state_at(fixture, WFS_HEIGHT_HEAD, "cell", "z");

	assert_string_equal(first, second);
	assert_sound(fixture);
}

/* Restores each height of the world by itself; @go_on: changes the restored world */
static void restore_every_height(
	struct world_fixture *fixture, void (*go_on)(struct world_fixture *fixture))
{
	char original[sizeof(fixture->directory)];
	char copy[256];
	const uint64_t height = height_of(fixture);
	snprintf(original, sizeof(original), "%s", fixture->directory);
	copy_path(fixture, "", copy);
	for (uint64_t at = 1; at <= height; at++) {
		const struct wfs_hash hash = snapshot_of(fixture, at);

		print_message("%llu\n", (unsigned long long)at);
		copy_at(fixture, at);
		const struct wfs_restored restored = restore(fixture);
		assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
		assert_true(restored.height == at || restored.height == at + 1);
		assert_sound(fixture);
		go_on(fixture);
		assert_sound(fixture);
		world_fixture_close(fixture);
		wfs_directory_remove(fixture->directory);
		wfs_directory_remove(copy);
		snprintf(fixture->directory, sizeof(fixture->directory), "%s", original);
		assert_int_equal(world_fixture_open(fixture), 0);
	}
}

static void set_later(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'later','op':'set'}");
}

IN_WORLD(every_height_is_restored)
{
	live(fixture);

	restore_every_height(fixture, set_later);
}

/* The restored world has no judge, so the effect is refused. */
static void ask_later(struct world_fixture *fixture)
{
	assert_int_equal(
		ask_for(fixture, "later", "[{'effect':'introspect.journal_head'}]", ""), 0);
}

/* Restores also between an intent and its answer. A recorded answer is not asked for again: the
 * restored world has no judge. */
ASKING(every_height_of_a_world_that_asks_is_restored)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", asking_for_everything, ",'tell':true"), 0);
	judge.r = -EACCES;
	judge.judgement.error.code = WFS_E_POLICY_DENIED;
	assert_int_equal(ask_for(fixture, "b",
				 "[{'effect':'introspect.manifest'},"
				 "{'effect':'introspect.journal_head'}]",
				 ",'after':[{'effect':'introspect.manifest'}]"),
		0);

	restore_every_height(fixture, ask_later);
	world_fixture_close(fixture);
}

/* Records 3 to 17 are one request. */
IN_WORLD(a_height_inside_of_a_request_ends_with_a_snapshot_record)
{
	char copy[256];

	tell(fixture, "{'key':'r','op':'set'}");
	tell(fixture, "{'key':'r','op':'tree','n':3}");
	copy_at(fixture, 9);
	assert_int_equal(restore(fixture).height, 10);
	struct wfs_record_parsed parsed = record_at(fixture, 9);

	assert_int_equal(parsed.record.kind, WFS_RECORD_SNAPSHOT);
	wfs_record_parsed_done(&parsed);
	/* The restored world takes further changes, and its copies are worlds with a history,
	 * too. */
	tell(fixture, "{'key':'later','op':'set'}");
	copy_path(fixture, "", copy);
	wfs_directory_remove(copy);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	world_fixture_close(fixture);
	wfs_directory_remove(fixture->directory);
	assert_true(restore(fixture).history);
	assert_sound(fixture);
}

IN_WORLD(grants_come_with_the_cells_when_there_is_no_journal)
{
	live_with_grants(fixture);
	copy_state(fixture);
	assert_false(restore(fixture).history);

	WFS_AUTO_RECORD struct wfs_record_parsed genesis = record_at(fixture, 0);
	assert_false(genesis.record.changed);
	assert_state_at(fixture, 1, "sys.grant", "operator.act.1", NULL);
	assert_state(fixture, "sys.grant", "some",
		"{'budget':{'calls':2},'cap':'sys/act@1','granted_by':'tester','name':'some',"
		"'params':{},'to':'alice','used':{'calls':1,'tokens':0}}");
	act(fixture, "{'action_type':'revoke','name':'operator.act.1'}");
	assert_sound(fixture);
}

IN_WORLD(a_new_world_is_restored)
{
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_sound(fixture);
}

IN_WORLD(the_files_of_all_records_may_be_there)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_records(fixture);

	assert_true(restore(fixture).history);
	assert_sound(fixture);
}

IN_WORLD(more_records_than_one_batch_are_restored)
{
	tell(fixture, "{'key':'a','op':'emit','n':900}");
	tell(fixture, "{'key':'b','op':'emit','n':900}");
	tell(fixture, "{'key':'c','op':'emit','n':900}");
	copy_at(fixture, WFS_HEIGHT_HEAD);

	assert_true(restore(fixture).height > 2700);
	assert_sound(fixture);
}

/* --- without it --- */

IN_WORLD(a_state_alone_is_a_world)
{
	char id[WFS_WORLD_ID_SIZE + 1];

	live(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	const uint64_t height = height_of(fixture);
	snprintf(id, sizeof(id), "%s", wfs_world_id(fixture->world));
	copy_state(fixture);
	const struct wfs_restored restored = restore(fixture);

	assert_false(restored.history);
	assert_false(restored.journal);
	assert_string_not_equal(restored.world_id, id);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	struct wfs_record_parsed parsed = record_at(fixture, WFS_BASELINE_SEQ);
	struct wfs_baseline baseline;
	assert_int_equal(wfs_baseline_parse(&parsed, &baseline), 0);
	assert_int_equal(baseline.from_height, height); /* journal/head has the answer */
	assert_string_equal(baseline.from_world_id, "");
	wfs_record_parsed_done(&parsed);
	assert_sound(fixture);
}

IN_WORLD(a_state_goes_on)
{
	live(fixture);
	copy_state(fixture);
	restore(fixture);
	tell(fixture, "{'key':'a','op':'add','n':10}");
	tell(fixture, "{'key':'large','op':'delete'}");

	assert_state(fixture, "cell", "a", "{'n':14.5}");
	assert_state(fixture, "cell", "large", NULL);
	assert_state_at(fixture, WFS_BASELINE_SEQ + 1, "cell", "a", "{'n':4.5}");
	assert_state_at(fixture, WFS_BASELINE_SEQ, "cell", "a", NULL);
	assert_sound(fixture);
}

IN_WORLD(a_state_without_cells_is_a_world)
{
	copy_state(fixture);
	restore(fixture);

	assert_sound(fixture);
}

IN_WORLD(more_cells_than_one_batch_are_a_state)
{
	for (int i = 0; i < 5; i++) {
		char value[64];

		snprintf(value, sizeof(value), "{'key':'k%d','op':'emit','n':1000}", i);
		tell(fixture, value);
	}
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	copy_state(fixture);
	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_sound(fixture);
}

IN_WORLD(a_copy_of_a_state_that_went_on_is_a_state_again)
{
	char id[WFS_WORLD_ID_SIZE + 1];
	char copy[256];

	live(fixture);
	copy_state(fixture);
	restore(fixture);
	tell(fixture, "{'key':'a','op':'set','n':7}");
	snprintf(id, sizeof(id), "%s", wfs_world_id(fixture->world));
	copy_path(fixture, "", copy);
	wfs_directory_remove(copy);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	world_fixture_close(fixture);
	wfs_directory_remove(fixture->directory);
	const struct wfs_restored restored = restore(fixture);

	assert_false(restored.history);
	assert_true(restored.journal);
	struct wfs_record_parsed parsed = record_at(fixture, WFS_BASELINE_SEQ);
	struct wfs_baseline baseline;
	assert_int_equal(wfs_baseline_parse(&parsed, &baseline), 0);
	assert_string_equal(baseline.from_world_id, id);
	wfs_record_parsed_done(&parsed);
	assert_sound(fixture);
}

/* --- old heights of a state --- */

static void collect(struct world_fixture *fixture)
{
	struct wfs_gc gc = {0};

	assert_int_equal(wfs_gc_begin(fixture->world, true, 1, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.done);
	assert_int_equal(gc.first_height, height_of(fixture));
}

IN_WORLD(old_heights_of_a_state_can_be_dropped)
{
	struct wfs_view view;

	live(fixture);
	copy_state(fixture);
	restore(fixture);
	for (int i = 0; i < 20; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
	tell(fixture, "{'key':'a/b','op':'delete'}");
	tell(fixture, "{'key':'large','op':'set','n':1}");
	tell(fixture, "{'key':'new','op':'set','n':1}");
	tell(fixture, "{'key':'new','op':'delete'}");
	tell(fixture, "{'key':'b','op':'set','n':1}");
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	collect(fixture);
	assert_sound(fixture);

	assert_int_equal(wfs_view_open(fixture->world, 2, &view, &fixture->error), -ENOENT);
	const struct wfs_hash after = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	assert_true(wfs_hash_equal(&after, &hash));
	tell(fixture, "{'key':'a/b','op':'add','n':1}");
	tell(fixture, "{'key':'new','op':'add','n':1}");
	tell(fixture, "{'key':'a','op':'delete'}");
	assert_sound(fixture);
	collect(fixture);
	assert_sound(fixture);
	assert_state(fixture, "cell", "a/b", "{'n':1}");
	assert_state(fixture, "cell", "a", NULL);
	tell(fixture, "{'key':'a','op':'add','n':5}");
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_sound(fixture);
}

IN_WORLD(a_cell_of_a_baseline_that_is_lost_is_missed)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	tell(fixture, "{'key':'a','op':'set','n':1}");
	copy_state(fixture);
	restore(fixture);
	tell(fixture, "{'key':'a','op':'set','n':2}");
	tell(fixture, "{'key':'a','op':'set','n':3}");
	collect(fixture);
	assert_sound(fixture);
	tamper_number(fixture, "version", 2, NULL, NULL);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "journal: 1: differs"));
}

/* --- copies of a world whose journal was cut --- */

/* Lives, has the journal cut before height 4, goes on, and copies the head with the files of all
 * records. */
static void live_with_cut(struct world_fixture *fixture)
{
	struct wfs_gc gc = {.journal = true};

	live(fixture);
	assert_int_equal(wfs_gc_begin(fixture->world, false, 4, &gc, &fixture->error), 0);
	assert_int_equal(gc.first_height, 4);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	tell(fixture, "{'key':'later','op':'set','n':1}");
	tell(fixture, "{'key':'later','op':'set','n':2}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_records(fixture);
}

static void assert_restores_state(struct world_fixture *fixture)
{
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.journal);
	assert_false(restored.history);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_sound(fixture);
	tell(fixture, "{'key':'later','op':'set','n':3}");
	collect(fixture);
	assert_sound(fixture);
	assert_state(fixture, "cell", "later", "{'n':3}");
}

IN_WORLD(a_copy_of_a_world_whose_journal_was_cut_gives_its_state)
{
	live_with_cut(fixture);
	assert_restores_state(fixture);
}

IN_WORLD(a_copy_of_a_kept_height_of_such_a_world_gives_its_state)
{
	struct wfs_gc gc = {.journal = true};

	live(fixture);
	const uint64_t height = height_of(fixture) - 1;
	const struct wfs_hash hash = snapshot_of(fixture, height);
	assert_int_equal(wfs_gc_begin(fixture->world, false, 5, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	copy_at(fixture, height);
	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_sound(fixture);
}

IN_WORLD(a_record_before_a_cut_journal_is_named)
{
	live_with_cut(fixture);
	put_copy(fixture, "journal/2.json", WFS_BYTES("{}\n", 3));

	assert_copy_refused(fixture, "journal/2.json: expected no record before 3");
}

IN_WORLD(a_lost_record_of_a_cut_journal_is_named)
{
	live_with_cut(fixture);
	remove_copy(fixture, "journal/log.jsonl");
	remove_copy(fixture, "journal/5.json");

	assert_copy_refused(fixture, "journal/5.json: is missing");
}

IN_WORLD(a_changed_baseline_of_a_cut_journal_is_named)
{
	static const char *const parts[] = {
		"\"next_prev\":\"sha256:", "\"from_world_id\":\"", "\"prev\":\"sha256:"};
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};

	live_with_cut(fixture);
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
		assert_int_equal(read_log(&view, 0, 1 << 20, &log), 0);
	}
	remove_copy(fixture, "journal/3.json");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++) {
		char *const part = memmem(log.data, log.size, parts[i], strlen(parts[i]));
		assert_non_null(part);
		char *const byte = part + strlen(parts[i]);
		const char before = *byte;

		*byte = before == 'a' ? 'b' : 'a';
		put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
		print_message("%s\n", parts[i]);
		assert_copy_refused(fixture, "journal/");
		*byte = before;
	}
}

/* --- baselines that are damaged --- */

static void restored_state(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	copy_state(fixture);
	restore(fixture);
}

static uint64_t vid_of(struct world_fixture *fixture, const char *reducer, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer found;
	struct wfs_version version;

	assert_int_equal(wfs_view_reducer(&view, reducer, strlen(reducer), &found), 0);
	assert_int_equal(wfs_view_cell(&view, found.reducer_id, wfs_bytes_text(key), &version), 0);
	return version.vid;
}

IN_WORLD(verify_and_replay_see_a_cell_that_the_baseline_did_not_give)
{
	WFS_AUTO_PROBLEMS struct wfs_problems verified = {0};
	WFS_AUTO_PROBLEMS struct wfs_problems replayed = {0};

	restored_state(fixture);
	tamper_version(fixture, vid_of(fixture, "cell", "a"), "{\"n\":1}\n", "{\"n\":2}\n");
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &verified, NULL, NULL, &fixture->error), 0);
	assert_int_equal(wfs_replay(fixture->world, &replayed, NULL, NULL, &fixture->error), 0);

	assert_non_null(strstr(wfs_buffer_text(&verified.lines),
		"record 1: `changes` is not the hash of the record's changes"));
	assert_non_null(strstr(wfs_buffer_text(&verified.lines),
		"record 1: its snapshot hash is not that of its height"));
	assert_int_equal(replayed.count, 1);
	assert_memory_equal(wfs_buffer_text(&replayed.lines), "journal: 1: differs", 19);
}

/* --- refusals --- */

IN_WORLD(a_changed_cell_is_named)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, "reducers/cell/a", wfs_bytes_text("{\"n\":4.6}\n"));

	assert_copy_refused(fixture, "reducers/cell/a: expected sha256:");
}

/* --- repairing --- */

static void assert_cause(struct world_fixture *fixture, const char *start, const char *cause)
{
	assert_copy_refused(fixture, start);
	if (!strstr(fixture->error.message, cause))
		fail_msg("%s", fixture->error.message);
}

/* As rsync leaves a file that changed within a second and kept its size. */
IN_WORLD(a_copy_with_old_files_of_the_right_size_is_repaired)
{
	const struct wfs_restore_options repair = {.repair = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_restored restored;

	live(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, "reducers/cell/a", wfs_bytes_text("{\"n\":2.5}\n"));
	assert_cause(fixture,
		"reducers/cell/a: expected sha256:", "rsync copied into an older copy without -c");
	put_copy(fixture, "reducers/cell/b", wfs_bytes_text("{}\n"));
	assert_cause(fixture, "reducers/cell/b: is not a cell of the world",
		"'restore --repair' makes the world that it gives");
	assert_null(strstr(fixture->error.message, "rsync"));
	world_fixture_close(fixture);
	wfs_directory_remove(fixture->directory);
	assert_int_equal(restore_with(fixture, &repair, &problems, &restored), 0);

	assert_int_equal(restored.repaired, 2);
	assert_int_equal(problems.count, 2);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_state(fixture, "cell", "a", "{'n':4.5}");
	assert_state(fixture, "cell", "b", NULL);
	assert_sound(fixture);
}

IN_WORLD(a_copy_whose_journal_is_not_whole_is_not_repaired)
{
	const struct wfs_restore_options repair = {.repair = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_restored restored;

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, "journal/9999.json", wfs_bytes_text("{}\n"));
	assert_cause(fixture, "journal/log.jsonl: ends with record",
		"if the tree changed while it was copied, copy at/head");
	world_fixture_close(fixture);
	wfs_directory_remove(fixture->directory);

	assert_int_equal(restore_with(fixture, &repair, &problems, &restored), -EIO);
}

IN_WORLD(a_state_alone_is_not_repaired)
{
	const struct wfs_restore_options repair = {.repair = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_restored restored;

	live(fixture);
	copy_state(fixture);
	put_copy(fixture, "reducers/cell/a", wfs_bytes_text("{\"n\": 2.5}\n"));
	world_fixture_close(fixture);
	wfs_directory_remove(fixture->directory);

	assert_int_equal(restore_with(fixture, &repair, &problems, &restored), -EIO);
}

IN_WORLD(cells_that_are_too_many_and_too_few_are_named)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/cell/a%2Fb");
	put_copy(fixture, "reducers/cell/b", wfs_bytes_text("{}\n"));

	assert_copy_refused(fixture, "reducers/cell/a%2Fb: is missing");
	assert_copy_refused(fixture, "reducers/cell/b: is not a cell of the world");
}

IN_WORLD(a_changed_manifest_is_named)
{
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, "manifest", wfs_bytes_text("{}\n"));

	assert_copy_refused(fixture, "manifest: ");
}

IN_WORLD(a_missing_module_is_named)
{
	const struct wfs_hash hash = wfs_hash_of(fixture_step_lua, strlen(fixture_step_lua));
	char name[sizeof("blob/") + WFS_HASH_HEX_SIZE] = "blob/";

	wfs_hash_hex(&hash, name + 5);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, name);

	assert_copy_refused(fixture, name);
}

IN_WORLD(a_record_that_does_not_fold_is_named)
{
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};

	tell(fixture, "{'key':'a','op':'set','n':1}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&view, 0, 1 << 20, &log), 0);
	wfs_view_close(&view);
	/* The last record: no record is chained to it. */
	char *value = memmem(log.data, log.size, "\"n\":1", 5);
	assert_non_null(value);
	value[4] = '2';
	put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
	const char *line = memrchr(log.data, '\n', log.size - 1);
	put_copy(fixture, "journal/2.json",
		WFS_BYTES(line + 1, log.size - (size_t)(line + 1 - log.data)));

	assert_copy_refused(fixture, "journal/log.jsonl: 2: differs from what folding gives");
}

/* No other hash covers the last record, so the copy must contain it twice. */
IN_WORLD(a_last_record_that_nothing_proves_is_named)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'set','n':2}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_records(fixture);
	remove_copy(fixture, "journal/3.json");
	assert_copy_refused(fixture, "journal/3.json: is missing");

	remove_copy(fixture, "journal/0.json");
	remove_copy(fixture, "journal/1.json");
	assert_copy_refused(fixture, "journal/3.json: is missing");

	remove_copy(fixture, "journal/2.json");
	assert_copy_refused(fixture, "journal/3.json: is missing");
}

IN_WORLD(a_missing_log_is_named)
{
	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_records(fixture);
	remove_copy(fixture, "journal/log.jsonl");

	assert_copy_refused(fixture, "journal/log.jsonl: is missing");
}

IN_WORLD(a_log_that_ends_with_a_whole_record_too_early_is_named)
{
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};

	tell(fixture, "{'key':'a','op':'set','n':1}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_records(fixture);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&view, 0, 1 << 20, &log), 0);
	wfs_view_close(&view);
	const char *last = memrchr(log.data, '\n', log.size - 1);
	put_copy(fixture, "journal/log.jsonl", WFS_BYTES(log.data, (size_t)(last + 1 - log.data)));

	assert_copy_refused(fixture, "journal/log.jsonl: ends with record 1, expected 2");
}

IN_WORLD(a_changed_last_record_is_named)
{
	static const char *const parts[] = {"\"at_ns\":17", "\"principal\":\"tester\""};
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};

	assert_int_equal(send_event(fixture, "test/None@1", "1"), 0);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&view, 0, 1 << 20, &log), 0);
	wfs_view_close(&view);
	char *const last = memrchr(log.data, '\n', log.size - 1);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++) {
		char *const part = memmem(
			last, log.size - (size_t)(last - log.data), parts[i], strlen(parts[i]));
		char *const byte = part + strlen(parts[i]) - 2;

		assert_non_null(part);
		(*byte)++;
		put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
		assert_copy_refused(fixture, "journal/log.jsonl: expected sha256:");
		(*byte)--;
	}
	put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
	remove_copy(fixture, "journal/head");
	assert_copy_refused(fixture, "journal/head: is missing");
}

IN_WORLD(a_readme_that_no_version_shows_is_named)
{
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, "README", wfs_bytes_text("This is a wurld.\n"));

	assert_copy_refused(fixture, "README: expected sha256:");
}

IN_WORLD(a_state_that_is_no_document_is_named)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	copy_state(fixture);
	put_copy(fixture, "reducers/cell/a", wfs_bytes_text("{\"n\": 1}\n"));

	assert_copy_refused(fixture, "reducers/cell/a: expected sha256:");
}

IN_WORLD(a_key_of_a_reducer_without_keys_is_named)
{
	copy_state(fixture);
	put_copy(fixture, "reducers/total/a", wfs_bytes_text("{}\n"));

	assert_copy_refused(fixture, "reducers/total/a: is not a file of a tree");
}

/* --- other ends --- */

IN_WORLD(an_end_at_any_look_leaves_nothing)
{
	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	assert_ends_leave_nothing(fixture);
}

IN_WORLD(a_full_store_leaves_nothing)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const struct wfs_restore_options options = {.map_size_bytes = UINT64_C(64) * 4096};
	struct wfs_restored restored;

	for (int i = 0; i < 10; i++) {
		char value[64];

		snprintf(value, sizeof(value), "{'key':'a','op':'grow','n':%d}", 60000 + i);
		tell(fixture, value);
	}
	copy_at(fixture, WFS_HEIGHT_HEAD);
	const size_t names = count_names(fixture->root);

	assert_int_equal(restore_with(fixture, &options, &problems, &restored), -ENOSPC);
	assert_int_equal(fixture->error.code, WFS_E_STORE_FULL);
	assert_int_equal(count_names(fixture->root), names);
}

IN_WORLD(a_directory_that_is_not_empty_is_refused)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const struct wfs_restore_options options = {.progress = NULL};
	struct wfs_restored restored;
	char tree[256];

	copy_at(fixture, WFS_HEIGHT_HEAD);
	copy_path(fixture, "", tree);

	assert_int_equal(wfs_restore(tree, fixture->directory, &options, &problems, &restored,
				 &fixture->error),
		-EEXIST);
	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
}
