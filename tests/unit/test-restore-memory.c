/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of worlds that have memory stores. */
#include "tests/fixture/memory.h"
#include "tests/fixture/restore-lost.h"

enum { COUNT = MEMORY_TEXT_COUNT };

#define ENTRIES "artifacts/notes/entries"
#define STORE_CELL "reducers/sys.memory_store/notes"

struct copied {
	struct world_fixture *fixture;
	char ids[COUNT][MEMORY_ID_TEXT_SIZE];
	char paths[COUNT][256]; /* of the entries' files in the copy */
};

/* Makes alice's store, in which a search found something, and a store without entries. */
static struct copied store_of(struct world_fixture *fixture)
{
	struct copied copied = {.fixture = fixture};

	json_decref(memory_call(copied.fixture, "alice", "genesis_memory", "create",
		"[{'id':'notes','config':{'auto_prune':'lowest_score'}}]"));
	memory_make(copied.fixture, "empty");
	memory_fill(copied.fixture, "notes", copied.ids);
	for (size_t i = 0; i < COUNT; i++)
		snprintf(copied.paths[i], sizeof(copied.paths[i]), ENTRIES "/%s.json",
			copied.ids[i]);
	json_decref(memory_call(
		copied.fixture, "alice", "genesis_memory", "search", "['notes','seven lamps']"));
	return copied;
}

/* Makes these stores, and a copy of the world with its journal. */
static struct copied copy_of(struct world_fixture *fixture)
{
	const struct copied copied = store_of(fixture);

	copy_at(copied.fixture, WFS_HEIGHT_HEAD);
	return copied;
}

/* Makes these stores, and a copy of the world without its journal. */
static struct copied state_of(struct world_fixture *fixture)
{
	const struct copied copied = store_of(fixture);

	copy_state(copied.fixture);
	return copied;
}

/* The result of a search now; caller frees. */
static char *found(struct world_fixture *fixture)
{
	WFS_AUTO_JSON json_t *result = memory_call(fixture, "alice", "genesis_memory_search",
		"search", "['notes','what lamps burn at the harbour',3]");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(json_array_size(json_object_get(result, "results")), 3);
	wfs_json_write(result, &text);
	return strdup(wfs_buffer_text(&text));
}

/* --- what is restored --- */

WITH_MEMORY(a_copy_with_entries_is_the_same_world)
{
	const struct copied copied = copy_of(fixture);
	const struct wfs_hash hash = snapshot_of(copied.fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_FREE char *before = found(copied.fixture);

	const struct wfs_restored restored = restore(copied.fixture);

	assert_true(restored.history);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	WFS_AUTO_FREE char *after = found(copied.fixture);
	assert_string_equal(after, before);
	assert_sound(copied.fixture);
}

WITH_MEMORY(entries_are_taken_from_a_copy_without_its_journal)
{
	const struct copied copied = state_of(fixture);
	const struct wfs_hash hash = snapshot_of(copied.fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_FREE char *before = found(copied.fixture);

	const struct wfs_restored restored = restore(copied.fixture);

	assert_false(restored.history);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	WFS_AUTO_FREE char *after = found(copied.fixture);
	assert_string_equal(after, before);
	assert_sound(copied.fixture);
}

static void copy_path_of(const struct copied *copied, const char *name, char ret_path[static 256])
{
	copy_path(copied->fixture, name, ret_path);
}

/* Few archives keep empty directories. */
WITH_MEMORY(a_store_without_entries_needs_no_directory)
{
	const struct copied copied = state_of(fixture);
	char path[256];

	copy_path_of(&copied, "artifacts/empty/entries", path);
	assert_int_equal(rmdir(path), 0);

	restore(copied.fixture);

	assert_sound(copied.fixture);
}

/* --- what is refused --- */

/* Changes one byte of a file. */
static void change(const struct copied *copied, const char *name, off_t offset)
{
	WFS_AUTO_FD int fd = -1;
	char path[256];
	char byte;

	copy_path_of(copied, name, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

static void assert_refused_at(const struct copied *copied, const char *name, const char *says)
{
	char line[384];

	snprintf(line, sizeof(line), "%s: %s", name, says);
	assert_copy_refused(copied->fixture, line);
}

WITH_MEMORY(a_changed_entry_is_named)
{
	const struct copied copied = copy_of(fixture);

	change(&copied, copied.paths[1], 100);

	assert_refused_at(&copied, copied.paths[1], "expected sha256:");
}

WITH_MEMORY(a_missing_entry_is_named)
{
	const struct copied copied = copy_of(fixture);

	remove_copy(copied.fixture, copied.paths[1]);

	assert_refused_at(&copied, copied.paths[1], "is missing");
}

WITH_MEMORY(entries_that_are_missing_with_their_directory_are_named)
{
	const struct copied copied = copy_of(fixture);

	remove_copy_directory(copied.fixture, ENTRIES);

	assert_refused_at(&copied, copied.paths[0], "is missing");
}

WITH_MEMORY(a_file_that_is_no_entry_is_named)
{
	static const char *const names[] = {ENTRIES "/mem_00000000.json", ENTRIES "/mem_0.json",
		ENTRIES "/x", "artifacts/empty/entries/mem_00000000.json",
		"artifacts/genesis_memory/entries"};
	const struct copied copied = copy_of(fixture);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		put_copy_text(copied.fixture, names[i], "{}\n");
		assert_refused_at(&copied, names[i], "is not a file of a tree");
		remove_copy(copied.fixture, names[i]);
	}
}

/* Without a journal, only the other files of the copy can show that an entry is missing. */
WITH_MEMORY(without_a_journal_a_missing_entry_is_told_by_its_store)
{
	const struct copied copied = state_of(fixture);

	remove_copy(copied.fixture, copied.paths[1]);

	assert_refused_at(&copied, STORE_CELL, "count: expected 4 (its entries), got 5");
}

WITH_MEMORY(without_a_journal_a_file_that_is_no_entry_is_named)
{
	const struct copied copied = state_of(fixture);

	put_copy_text(copied.fixture, ENTRIES "/mem_0.json", "{}\n");
	assert_refused_at(&copied, ENTRIES "/mem_0.json", "is not a file of a tree");
	remove_copy(copied.fixture, ENTRIES "/mem_0.json");
	put_copy_text(copied.fixture, ENTRIES "/mem_00000000.json", "{ }\n");
	assert_refused_at(&copied, ENTRIES "/mem_00000000.json", "expected sha256:");
	put_copy_text(copied.fixture, ENTRIES "/mem_00000000.json", "{}\n");
	assert_refused_at(&copied, ENTRIES "/mem_00000000.json",
		"is not an entry of this store, by its cell");
}

/* The entry's id differs from the id in its file's name. */
WITH_MEMORY(without_a_journal_an_entry_under_another_name_is_named)
{
	const struct copied copied = state_of(fixture);
	char from[256];
	char to[256];

	copy_path_of(&copied, copied.paths[0], from);
	copy_path_of(&copied, ENTRIES "/mem_00000000.json", to);
	assert_int_equal(rename(from, to), 0);

	assert_refused_at(&copied, ENTRIES "/mem_00000000.json",
		"is not an entry of this store, by its cell");
}

WITH_MEMORY(without_a_journal_a_longer_entry_is_told_by_its_store)
{
	const struct copied copied = state_of(fixture);
	char bytes[8192];
	char path[256];
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FD int fd = -1;

	copy_path_of(&copied, copied.paths[0], path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	const ssize_t size = read(fd, bytes, sizeof(bytes));
	append_replaced(&text, WFS_BYTES(bytes, (size_t)size), "\"text\":\"", "\"text\":\"not ");
	put_copy(copied.fixture, copied.paths[0], wfs_buffer_bytes(&text));

	assert_refused_at(&copied, STORE_CELL, "bytes: expected ");
}

WITH_MEMORY(without_a_journal_a_store_of_another_model_is_told)
{
	const struct copied copied = state_of(fixture);

	replace_in_copy(copied.fixture, STORE_CELL, "\"dims\":768", "\"dims\":767");

	assert_refused_at(&copied, copied.paths[0], "is not an entry of this store, by its cell");
}

WITH_MEMORY(without_a_journal_a_store_that_is_none_is_told)
{
	const struct copied copied = state_of(fixture);

	put_copy_text(copied.fixture, "reducers/sys.memory_store/other", "{}\n");

	assert_copy_refused(copied.fixture,
		"reducers/sys.memory_store/other: its artifact is not a memory_store");
}

WITH_MEMORY(without_a_journal_a_score_of_no_entry_is_told)
{
	const struct copied copied = state_of(fixture);

	put_copy_text(copied.fixture, "reducers/sys.memory_hit/notes%2Fmem_00000000",
		"{\"score\":0.5}\n");

	assert_copy_refused(copied.fixture,
		"reducers/sys.memory_hit/notes%2Fmem_00000000: is of an entry that does "
		"not exist");
}

/* --- behind a text that is lost --- */

/* A world in which entries came and went before and after a lost text. */
static struct copied lost_of(struct world_fixture *fixture)
{
	struct copied copied = store_of(fixture);
	char id[MEMORY_ID_TEXT_SIZE];

	assert_done(copied.fixture, "alice", WRITE("'artifact_id':'note','content':'first'"));
	assert_done(copied.fixture, "alice", WRITE("'artifact_id':'note','content':'second'"));
	memory_forget(copied.fixture, "notes", copied.ids[0]);
	memory_remember(copied.fixture, "alice", "notes", "a ship came in", id);
	assert_done(copied.fixture, "alice", ACTION("delete_artifact", "'artifact_id':'empty'"));
	copy_at(copied.fixture, WFS_HEIGHT_HEAD);
	return copied;
}

WITH_MEMORY(entries_behind_a_lost_text_are_taken_from_the_copy)
{
	const struct copied copied = lost_of(fixture);
	const struct wfs_hash hash = snapshot_of(copied.fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_FREE char *before = found(copied.fixture);

	const struct wfs_restored restored = restore(copied.fixture);

	assert_string_equal(restored.lost.artifact_id, "note");
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	WFS_AUTO_FREE char *after = found(copied.fixture);
	assert_string_equal(after, before);
	assert_verified(copied.fixture);
}

WITH_MEMORY(a_missing_entry_behind_a_lost_text_is_told_by_its_store)
{
	const struct copied copied = lost_of(fixture);

	remove_copy(copied.fixture, copied.paths[3]);

	assert_refused_at(&copied, STORE_CELL, "count: expected 4 (its entries), got 5");
}
