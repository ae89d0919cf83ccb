/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of garbage: what is removed, what stays, and what each step leaves. */
#include "tests/fixture/tamper.h"

#include "kernel/check/replay.h"
#include "kernel/copy/gc.h"
#include "kernel/read/snapshot.h"

enum { LARGE = 200000 }; /* bytes: a file */

static int collect(struct world_fixture *fixture, struct wfs_gc *gc)
{
	fixture->error = (struct wfs_error){0};
	int r = wfs_gc_advance(fixture->world, gc, "tester", 0, &fixture->error);

	if (!r)
		assert_true(gc->done);
	return r;
}

static struct wfs_gc since(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_gc gc = {0};

	assert_int_equal(wfs_gc_begin(fixture->world, false, height, &gc, &fixture->error), 0);
	assert_int_equal(collect(fixture, &gc), 0);
	return gc;
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

static void assert_finds(struct world_fixture *fixture, const char *line)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), line));
}

static int view_fails(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_view view;

	return wfs_view_open(fixture->world, height, &view, &fixture->error);
}

static struct wfs_hash snapshot_at(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height, NULL, NULL,
				 &hash, &fixture->error),
		0);
	return hash;
}

static struct wfs_meta meta_at(struct world_fixture *fixture, uint64_t height)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
	struct wfs_meta meta;

	assert_int_equal(wfs_view_meta(&view, &meta), 0);
	return meta;
}

static void record_snapshot(struct world_fixture *fixture)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	request.snapshot.height = height_of(fixture);
	request.snapshot.hash = snapshot_at(fixture, request.snapshot.height);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
}

static uint64_t last_vid(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	uint64_t vid;

	assert_int_equal(wfs_version_last(view.txn, &vid), 0);
	return vid;
}

static struct wfs_version version_of(struct world_fixture *fixture, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;
	struct wfs_version version;

	assert_int_equal(wfs_view_reducer(&view, "cell", 4, &reducer), 0);
	assert_int_equal(
		wfs_view_cell(&view, reducer.reducer_id, wfs_bytes_text(key), &version), 0);
	version.bytes = WFS_BYTES(NULL, 0); /* borrowed from the view */
	return version;
}

static bool cell_named(struct world_fixture *fixture, const char *key, uint64_t *ret_cell_id)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_reducer(&view, "cell", 4, &reducer), 0);
	return wfs_cell_find(view.txn, reducer.reducer_id, wfs_bytes_text(key), ret_cell_id) == 0;
}

static bool has_file(struct world_fixture *fixture, const struct wfs_hash *hash)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];

	wfs_hash_hex(hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
	return access(path, F_OK) == 0;
}

/* Fills forty heights with three counters, one of which is deleted and made again now and then. */
static void live(struct world_fixture *fixture)
{
	for (int i = 0; i < 40; i++) {
		char value[64];

		snprintf(value, sizeof(value), "{'key':'k%d','op':'%s','n':%d}", i % 3,
			i % 7 == 6 ? "delete" : "add", i);
		tell(fixture, value);
		if (i % 10 == 9)
			record_snapshot(fixture);
	}
}

IN_WORLD(kept_heights_stay_as_they_are)
{
	struct wfs_hash hashes[64];
	struct wfs_meta metas[64];

	live(fixture);
	const uint64_t head = height_of(fixture);
	assert_true(head < WFS_ARRAY_COUNT(hashes));
	for (uint64_t height = 1; height <= head; height++) {
		hashes[height] = snapshot_at(fixture, height);
		metas[height] = meta_at(fixture, height);
	}
	for (uint64_t first = 1; first <= head; first++) {
		const struct wfs_gc gc = since(fixture, first);

		assert_int_equal(gc.first_height, first);
		for (uint64_t height = first; height <= head; height++) {
			const struct wfs_hash hash = snapshot_at(fixture, height);
			const struct wfs_meta meta = meta_at(fixture, height);

			assert_true(wfs_hash_equal(&hash, &hashes[height]));
			assert_memory_equal(&meta, &metas[height], sizeof(meta));
		}
		assert_good(fixture);
	}
}

IN_WORLD(dropped_heights_are_unavailable)
{
	live(fixture);
	since(fixture, 20);

	for (uint64_t height = 1; height < 20; height++) {
		assert_int_equal(view_fails(fixture, height), -ENOENT);
		assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
	}
	assert_string_equal(
		fixture->error.message, "height 19 was dropped, the first that is kept is 20");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, 20);
	assert_int_equal(view.height, 20);
}

IN_WORLD(versions_that_no_height_shows_go)
{
	struct wfs_version version;

	for (int i = 0; i < 20; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
	const uint64_t newest = version_of(fixture, "a").vid;
	const struct wfs_gc gc = since(fixture, height_of(fixture));

	assert_int_equal(gc.figures.version_count, 19);
	assert_true(gc.figures.version_bytes > 0);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	for (uint64_t vid = newest - 19; vid < newest; vid++)
		assert_int_equal(wfs_version_get(view.txn, vid, &version), -ENOENT);
	assert_int_equal(wfs_version_get(view.txn, newest, &version), 0);
}

IN_WORLD(a_deleted_cell_goes_and_comes_back_as_another)
{
	uint64_t before;
	uint64_t after;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_true(cell_named(fixture, "a", &before));
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'b','op':'set','n':1}");
	assert_int_equal(since(fixture, height_of(fixture)).figures.cell_count, 1);

	assert_false(cell_named(fixture, "a", &after));
	assert_good(fixture);
	tell(fixture, "{'key':'a','op':'add','n':5}");
	assert_state(fixture, "cell", "a", "{'n':5}");
	assert_true(cell_named(fixture, "a", &after));
	assert_true(after > before);
	assert_good(fixture);
}

IN_WORLD(a_cell_that_was_made_again_stays)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'delete'}");
	const uint64_t deleted = height_of(fixture);
	tell(fixture, "{'key':'a','op':'set','n':2}");
	assert_int_equal(since(fixture, deleted).figures.cell_count, 0);

	assert_state_at(fixture, deleted, "cell", "a", NULL);
	assert_state(fixture, "cell", "a", "{'n':2}");
	assert_good(fixture);
}

IN_WORLD(numbers_of_versions_are_not_given_again)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'delete'}");
	const uint64_t vid = last_vid(fixture);
	assert_int_equal(send_event(fixture, "test/None@1", "1"), 0);
	since(fixture, height_of(fixture));
	assert_int_equal(world_fixture_open(fixture), 0);
	tell(fixture, "{'key':'b','op':'set','n':1}");

	assert_int_equal(version_of(fixture, "b").vid, vid + 1);
	assert_good(fixture);
	/* A younger version exists now, so this one is removed, too. */
	assert_int_equal(since(fixture, height_of(fixture)).figures.cell_count, 1);
	assert_good(fixture);
}

IN_WORLD(files_that_nothing_mentions_go)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash listed;

	tell(fixture, "{'key':'a','op':'grow','n':200000}");
	const struct wfs_hash old = version_of(fixture, "a").hash;
	tell(fixture, "{'key':'a','op':'grow','n':200001}");
	const struct wfs_hash kept = version_of(fixture, "a").hash;
	assert_int_equal(put_blob(fixture, large, LARGE, &listed), 0);
	const struct wfs_gc gc = since(fixture, height_of(fixture));

	assert_int_equal(gc.figures.file_count, 1);
	assert_true(gc.figures.file_bytes > LARGE);
	assert_false(has_file(fixture, &old));
	assert_true(has_file(fixture, &kept));
	assert_true(has_file(fixture, &listed));
	assert_good(fixture);
}

/* As if a crash had come between the file and its sums, while they were made or removed. */
IN_WORLD(sums_that_a_crash_left_alone_go)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];

	tell(fixture, "{'key':'a','op':'grow','n':200000}");
	const struct wfs_hash hash = version_of(fixture, "a").hash;
	tell(fixture, "{'key':'a','op':'set'}");
	wfs_hash_hex(&hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
	assert_int_equal(unlink(path), 0);
	const struct wfs_gc gc = since(fixture, height_of(fixture));

	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s.sums", fixture->directory, hex, hex + 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(gc.figures.file_count, 1);
	assert_good(fixture);
}

IN_WORLD(a_file_that_another_version_has_stays)
{
	tell(fixture, "{'key':'a','op':'grow','n':200000}");
	const struct wfs_hash hash = version_of(fixture, "a").hash;
	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'grow','n':200000}");
	since(fixture, height_of(fixture));

	assert_true(has_file(fixture, &hash));
	assert_good(fixture);
}

IN_WORLD(files_that_somebody_holds_wait_for_the_next_time)
{
	tell(fixture, "{'key':'a','op':'grow','n':200000}");
	const struct wfs_hash hash = version_of(fixture, "a").hash;
	tell(fixture, "{'key':'a','op':'set'}");
	int hold_fd = wfs_blob_files_hold(wfs_world_store(fixture->world));
	assert_true(hold_fd >= 0);
	assert_true(since(fixture, height_of(fixture)).files_held);
	assert_true(has_file(fixture, &hash));
	close(hold_fd);
	const struct wfs_gc gc = since(fixture, height_of(fixture));

	assert_false(gc.files_held);
	assert_int_equal(gc.figures.file_count, 1);
	assert_false(has_file(fixture, &hash));
}

/* For a moment between the writing of its file and of its row, nothing mentions the blob. */
IN_WORLD(a_blob_on_its_way_keeps_its_file)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_request request = {.kind = WFS_REQUEST_BLOB, .principal = "tester"};

	tell(fixture, "{'key':'a','op':'set'}");
	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, large, LARGE), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	assert_int_equal(since(fixture, height_of(fixture)).figures.file_count, 0);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);

	assert_true(has_file(fixture, &request.blob.hash));
	assert_good(fixture);
}

IN_WORLD(keep_counts_from_the_head)
{
	struct wfs_gc gc = {0};

	live(fixture);
	const uint64_t head = height_of(fixture);
	assert_int_equal(wfs_gc_begin(fixture->world, true, 1, &gc, &fixture->error), 0);
	assert_int_equal(gc.first_height, head);
	assert_int_equal(wfs_gc_begin(fixture->world, true, head, &gc, &fixture->error), 0);
	assert_int_equal(gc.first_height, 1);
	assert_int_equal(wfs_gc_begin(fixture->world, true, UINT64_MAX, &gc, &fixture->error), 0);
	assert_int_equal(gc.first_height, 1);
	assert_int_equal(wfs_gc_begin(fixture->world, true, 0, &gc, &fixture->error), -EINVAL);
}

IN_WORLD(since_never_goes_back)
{
	live(fixture);
	since(fixture, 20);
	const struct wfs_gc gc = since(fixture, 10);

	assert_int_equal(gc.first_height, 20);
	assert_int_equal(gc.figures.version_count, 0);
	assert_int_equal(view_fails(fixture, 19), -ENOENT);
}

IN_WORLD(since_refuses_heights_that_are_not_there)
{
	struct wfs_gc gc = {0};

	assert_int_equal(wfs_gc_begin(fixture->world, false, 0, &gc, &fixture->error), -EINVAL);
	assert_int_equal(wfs_gc_begin(fixture->world, false, 1000, &gc, &fixture->error), -ENOENT);

	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

IN_WORLD(a_world_opened_for_reading_is_not_collected)
{
	struct wfs_gc gc = {.first_height = 2};

	fixture->options.read_only = true;
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(collect(fixture, &gc), -EROFS);
}

/* Collects in single transactions, opens the world anew between them, and adds events. */
IN_WORLD(a_collection_can_end_after_any_step)
{
	struct wfs_gc gc = {.first_height = 2500};
	int steps = 0;

	for (int i = 0; i < 2600; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
	for (; !gc.done; steps++) {
		assert_int_equal(
			wfs_gc_advance(fixture->world, &gc, "tester", 1, &fixture->error), 0);
		gc.after_vid = 0; /* as a collection that begins again */
		assert_int_equal(world_fixture_open(fixture), 0);
		tell(fixture, "{'key':'b','op':'add','n':1}");
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
		assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
		assert_int_equal(problems.count, 0);
	}

	assert_int_equal(steps, 3);
	assert_good(fixture);
}

static struct wfs_commit seen;

static void note_dropped(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	(void)observer;
	if (commit->dropped_to)
		seen = *commit;
}

IN_WORLD(observers_are_told_which_heights_went)
{
	struct wfs_observer observer = {.committed = note_dropped};

	live(fixture);
	wfs_world_observe(fixture->world, &observer);
	since(fixture, 20);
	wfs_world_unobserve(fixture->world, &observer);

	assert_int_equal(seen.dropped_from, 1);
	assert_int_equal(seen.dropped_to, 20);
	assert_int_equal(seen.from_height, seen.to_height);
}

IN_WORLD(the_store_uses_the_room_again)
{
	struct wfs_world_figures before;
	struct wfs_world_figures after;

	for (int i = 0; i < 200; i++)
		tell(fixture, "{'key':'a','op':'grow','n':9000}"),
			tell(fixture, "{'key':'a','op':'set'}");
	wfs_world_figures(fixture->world, &before);
	since(fixture, height_of(fixture));
	wfs_world_figures(fixture->world, &after);
	assert_true(after.store.free_bytes > before.store.free_bytes + UINT64_C(200) * 9000);
	for (int i = 0; i < 100; i++)
		tell(fixture, "{'key':'a','op':'grow','n':9000}"),
			tell(fixture, "{'key':'a','op':'set'}");
	wfs_world_figures(fixture->world, &before);

	assert_true(before.store.used_bytes <= after.store.used_bytes + 100000);
	assert_int_equal(before.first_height, 402);
}

IN_WORLD(verify_misses_what_the_first_height_shows)
{
	live(fixture);
	since(fixture, 30);
	const uint64_t vid = version_of(fixture, "k1").vid;
	const struct wfs_version base = version_of(fixture, "k2");
	tell(fixture, "{'key':'k2','op':'add','n':1}");
	since(fixture, height_of(fixture) - 1);
	assert_true(base.vid != vid);
	tamper_number(fixture, "version", base.vid, NULL, NULL);

	assert_finds(fixture, "lacks a version that the first height shows");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "that the first height shows"));
}

IN_WORLD(verify_misses_what_younger_heights_show)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'set','n':2}");
	const uint64_t first = height_of(fixture);
	tell(fixture, "{'key':'a','op':'set','n':3}");
	const uint64_t vid = version_of(fixture, "a").vid;
	tell(fixture, "{'key':'a','op':'set','n':4}");
	since(fixture, first);
	tamper_number(fixture, "version", vid, NULL, NULL);

	assert_finds(fixture, "lacks a version that the first height shows");
	assert_finds(fixture, "`changes` is not the hash of the record's changes");
}

/* --- cutting the journal --- */

static struct wfs_gc cut_since(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_gc gc = {.journal = true};

	assert_int_equal(wfs_gc_begin(fixture->world, false, height, &gc, &fixture->error), 0);
	assert_int_equal(collect(fixture, &gc), 0);
	return gc;
}

static struct wfs_journal_cut cut_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_journal_cut cut;

	assert_int_equal(wfs_journal_cut_get(view.txn, &cut), 0);
	return cut;
}

IN_WORLD(a_cut_journal_begins_with_a_baseline)
{
	struct wfs_bytes line;

	live(fixture);
	const struct wfs_hash before = snapshot_at(fixture, 20);
	struct wfs_gc gc = cut_since(fixture, 20);

	assert_int_equal(gc.first_height, 20);
	assert_int_equal(cut_of(fixture).first_seq, 19);
	assert_int_equal(gc.figures.record_count, 19);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	for (uint64_t seq = 0; seq < 19; seq++)
		assert_int_equal(wfs_view_record(&view, seq, &line), -ENOENT);
	WFS_AUTO_RECORD struct wfs_record_parsed first = record_at(fixture, 19);
	WFS_AUTO_RECORD struct wfs_record_parsed next = record_at(fixture, 20);
	WFS_AUTO_RECORD struct wfs_record_parsed last = record_at(fixture, view.height - 1);
	assert_int_equal(first.record.kind, WFS_RECORD_BASELINE);
	assert_true(wfs_hash_equal(&first.body.baseline.next_prev, &next.record.prev));
	assert_true(wfs_hash_equal(&first.body.baseline.snapshot_hash, &before));
	assert_int_equal(last.record.kind, WFS_RECORD_SNAPSHOT);
	assert_int_equal(last.body.snapshot.height, 20);
	assert_true(wfs_hash_equal(&last.body.snapshot.snapshot_hash, &before));
	assert_good(fixture);
}

IN_WORLD(a_journal_can_be_cut_at_each_height_in_turn)
{
	struct wfs_hash hashes[64];

	live(fixture);
	const uint64_t head = height_of(fixture);
	for (uint64_t height = 1; height <= head; height++)
		hashes[height] = snapshot_at(fixture, height);
	for (uint64_t first = 1; first <= head; first++) {
		const struct wfs_gc gc = cut_since(fixture, first);

		assert_int_equal(gc.first_height, first);
		for (uint64_t height = first; height <= head; height++) {
			const struct wfs_hash hash = snapshot_at(fixture, height);

			assert_true(wfs_hash_equal(&hash, &hashes[height]));
		}
		assert_good(fixture);
		assert_int_equal(world_fixture_open(fixture), 0);
	}
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_good(fixture);
}

IN_WORLD(heights_after_a_cut_can_be_dropped_without_their_records)
{
	live(fixture);
	cut_since(fixture, 12);
	since(fixture, 25);
	assert_good(fixture);
	assert_int_equal(cut_of(fixture).first_seq, 11);
	tell(fixture, "{'key':'k0','op':'delete'}");
	tell(fixture, "{'key':'k1','op':'delete'}");
	tell(fixture, "{'key':'z','op':'set','n':1}");
	since(fixture, height_of(fixture));
	assert_good(fixture);
	tell(fixture, "{'key':'k0','op':'set','n':1}");
	cut_since(fixture, height_of(fixture));
	assert_good(fixture);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_good(fixture);
}

/* A reader of the log from before a cut. */
IN_WORLD(an_old_log_has_the_bytes_that_it_had_or_none)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	struct wfs_view_log old;
	struct wfs_view_log now;

	live(fixture);
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
		assert_int_equal(read_log(&view, 0, SIZE_MAX, &whole), 0);
	}
	cut_since(fixture, 10);
	cut_since(fixture, 30);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_log(&view, 0, &old), 0);
	assert_int_equal(wfs_view_log(&view, WFS_LOG_NOW, &now), 0);
	assert_int_equal(old.begin, 0);
	assert_int_equal(now.cut, 2);
	assert_int_equal(wfs_view_log(&view, 3, &old), -ENOENT);
	size_t kept = 0;
	for (int line = 0; line < 30; line++)
		kept = (size_t)((char *)memchr(whole.data + kept, '\n', whole.size - kept) -
			       whole.data) +
			1;

	for (size_t offset = 0; offset < whole.size; offset += 7) {
		WFS_AUTO_BUFFER struct wfs_buffer part = {0};
		const int r = wfs_view_log_read(&view, &old, offset, 500, &part);

		assert_int_equal(r, offset + WFS_JOURNAL_TAIL_MAX < kept ? -ENOENT : 0);
		const size_t left = whole.size - offset;
		if (!r)
			assert_memory_equal(
				part.data, whole.data + offset, left < 500 ? left : 500);
	}
}

IN_WORLD(another_state_at_the_cut_is_found)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':1}");
	cut_since(fixture, height_of(fixture));
	const struct wfs_version version = version_of(fixture, "a");
	tell(fixture, "{'key':'b','op':'add','n':1}");
	tamper_version(fixture, version.vid, "{\"n\":1}\n", "{\"n\":2}\n");

	assert_finds(fixture, "`changes` is not the hash of the cells of its height");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"`changes` is not the hash of the cells of its height"));
}

IN_WORLD(a_cut_that_drops_one_record_is_not_made)
{
	live(fixture);
	for (int i = 0; i < 3; i++) {
		struct wfs_gc gc = {.journal = true};

		assert_int_equal(wfs_gc_begin(fixture->world, true, 5, &gc, &fixture->error), 0);
		assert_int_equal(collect(fixture, &gc), 0);
	}
	assert_int_equal(cut_of(fixture).count, 1);
	const uint64_t head = height_of(fixture);
	assert_int_equal(cut_since(fixture, head).first_height, head);
	assert_int_equal(cut_of(fixture).count, 2);
	assert_int_equal(height_of(fixture), head + 1);
	cut_since(fixture, head + 1);
	assert_int_equal(cut_of(fixture).count, 2);
	assert_int_equal(height_of(fixture), head + 1);

	assert_good(fixture);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	cut_since(fixture, head + 2);
	assert_int_equal(cut_of(fixture).first_seq, head + 1);
	assert_good(fixture);
}

/* One collection goes on after another one has dropped the height at which it was to cut. */
IN_WORLD(a_collection_that_another_one_has_overtaken_ends_without_a_cut)
{
	struct wfs_gc slow = {.journal = true};

	live(fixture);
	assert_int_equal(wfs_gc_begin(fixture->world, false, 10, &slow, &fixture->error), 0);
	since(fixture, 20);
	assert_int_equal(collect(fixture, &slow), 0);

	assert_int_equal(cut_of(fixture).count, 0);
	assert_good(fixture);
	assert_int_equal(cut_since(fixture, 10).first_height, 20);
	assert_int_equal(cut_of(fixture).first_seq, 19);
	assert_good(fixture);
}

/* --- looking at a world while its journal is cut --- */

/* A look at the world that has its journal cut, at its call number `cut_at`. */
struct looking {
	struct world_fixture *fixture;
	uint64_t height; /* of the cut */
	int calls;
	int cut_at;
};

static bool cut_meanwhile(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct looking *const looking = context;

	(void)what;
	(void)done;
	(void)total;
	if (looking->calls++ == looking->cut_at)
		cut_since(looking->fixture, looking->height);
	return true;
}

typedef int look_fn(struct wfs_world *world, struct wfs_problems *problems,
	wfs_progress_fn *progress, void *context, struct wfs_error *error);

/* Has @look look at the world with a cut at each of its calls in turn, until it makes fewer calls.
 * The first cut is at @height, each other one two heights after the one before.
 * Returns how often it asked to be tried again. */
static int look_with_cuts(struct world_fixture *fixture, uint64_t height, look_fn *look)
{
	struct looking looking = {.fixture = fixture, .height = height};
	int again = 0;

	do {
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
		struct wfs_error error = {0};

		looking.calls = 0;
		const int r = look(fixture->world, &problems, cut_meanwhile, &looking, &error);
		if (problems.count)
			print_error("%s", wfs_buffer_text(&problems.lines));
		assert_int_equal(problems.count, 0);
		if (r)
			assert_int_equal(error.code, WFS_E_HEIGHT_UNAVAILABLE);
		again += r != 0;
		looking.cut_at++;
		looking.height += 2;
		assert_true(looking.height < height_of(fixture));
	} while (looking.calls >= looking.cut_at);
	assert_good(fixture);
	return again;
}

IN_WORLD(verify_takes_no_cut_for_a_fault)
{
	for (int i = 0; i < 3; i++)
		live(fixture);

	assert_int_equal(look_with_cuts(fixture, 3, wfs_verify), 0);
}

IN_WORLD(replay_takes_no_cut_for_a_fault)
{
	for (int i = 0; i < 2500; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");

	assert_true(look_with_cuts(fixture, 2400, wfs_replay) > 0);
}

IN_WORLD(the_number_of_a_cell_that_was_dropped_is_not_given_again)
{
	uint64_t dropped;
	uint64_t next;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':1}");
	assert_true(cell_named(fixture, "b", &dropped));
	tell(fixture, "{'key':'b','op':'delete'}");
	tell(fixture, "{'key':'a','op':'add','n':1}");
	cut_since(fixture, height_of(fixture));
	assert_false(cell_named(fixture, "b", &next));
	assert_good(fixture);
	tell(fixture, "{'key':'c','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':1}");
	assert_true(cell_named(fixture, "c", &next));
	assert_true(next > dropped);

	assert_good(fixture);
	cut_since(fixture, height_of(fixture));
	assert_good(fixture);
}
