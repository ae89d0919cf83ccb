/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a world's tree, as they come from a mount, and worlds that are restored from them.
 */
#pragma once

#include "tests/unit/world-fixture.h"

#include <dirent.h>

#include "kernel/base/encode.h"
#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/copy/restore.h"
#include "kernel/domain/entity/entity.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/snapshot.h"

static inline void copy_path(
	const struct world_fixture *fixture, const char *name, char ret_path[static 256])
{
	snprintf(ret_path, 256, "%s/copy%s%.180s", fixture->root, *name ? "/" : "", name);
}

static inline void put_copy(
	const struct world_fixture *fixture, const char *name, struct wfs_bytes bytes)
{
	WFS_AUTO_FD int fd = -1;
	char path[256];

	copy_path(fixture, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
}

static inline void make_copy_directory(const struct world_fixture *fixture, const char *name)
{
	char path[256];

	copy_path(fixture, name, path);
	assert_int_equal(mkdir(path, 0755), 0);
}

static inline void remove_copy(const struct world_fixture *fixture, const char *name)
{
	char path[256];

	copy_path(fixture, name, path);
	assert_int_equal(unlink(path), 0);
}

static inline int copy_cell(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_error *error)
{
	struct world_fixture *fixture = context;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (wfs_builtin_reducer_hidden(reducer.data, reducer.size))
		return 0; /* copy_entities */
	wfs_buffer_printf(&name, "reducers/%.*s/", (int)reducer.size, (const char *)reducer.data);
	wfs_name_append(&name, key.data, key.size);
	assert_int_equal(
		wfs_version_read(wfs_world_store(fixture->world), version, &text, error), 0);
	put_copy(fixture, wfs_buffer_text(&name), wfs_buffer_bytes(&text));
	return 0;
}

static inline void copy_cells(struct world_fixture *fixture, struct wfs_view *view)
{
	const struct wfs_snapshot_walker walker = {.cell = copy_cell, .context = fixture};
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	char path[128];

	make_copy_directory(fixture, "reducers");
	for (uint32_t id = 0; wfs_view_reducer_next(view, id, &name, &reducer) == 0;
		id = reducer.reducer_id) {
		snprintf(path, sizeof(path), "reducers/%.*s", (int)name.size,
			(const char *)name.data);
		if (!wfs_builtin_reducer_hidden(name.data, name.size))
			make_copy_directory(fixture, path);
	}
	assert_int_equal(wfs_snapshot_walk(view, &walker, &fixture->error), 0);
}

/* Of the plan of this id. */
static inline void copy_steps(
	struct world_fixture *fixture, struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	char path[160];

	snprintf(path, sizeof(path), "plans/%.*s/steps", (int)id.size, (const char *)id.data);
	make_copy_directory(fixture, path);
	for (int64_t i = 0; wfs_plan_step_at(view, id, i, &version) == 0; i++) {
		WFS_AUTO_BUFFER struct wfs_buffer name = {0};
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};
		uint64_t size_bytes;

		wfs_buffer_printf(&name, "%s/", path);
		assert_int_equal(wfs_plan_step_name(view, &version, i, &name), 0);
		assert_int_equal(wfs_entity_write(view, WFS_ENTITY_FILE_PLAN_STEPS, &version,
					 WFS_RANGE_ALL, &text, &size_bytes),
			0);
		put_copy(fixture, wfs_buffer_text(&name), wfs_buffer_bytes(&text));
	}
}

/* Of the memory store of this id; nothing of another artifact. */
static inline void copy_entries(
	struct world_fixture *fixture, struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	struct wfs_entry entry;
	uint64_t next = 0;
	uint32_t number;
	char path[256];

	if (wfs_entity_source(view, WFS_ENTITY_FILE_ENTRIES, id, &version))
		return;
	snprintf(path, sizeof(path), "artifacts/%.*s/entries", (int)id.size, (const char *)id.data);
	make_copy_directory(fixture, path);
	while (wfs_memory_entry_next(view, id, next, &number, &entry) == 0) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};
		char name[WFS_MEMORY_NAME_SIZE];

		wfs_memory_entry_name(number, name);
		snprintf(path, sizeof(path), "artifacts/%.*s/entries/%s", (int)id.size,
			(const char *)id.data, name);
		assert_int_equal(wfs_view_version(view, entry.vid, &version), 0);
		assert_int_equal(wfs_version_read(wfs_world_store(fixture->world), &version, &text,
					 &fixture->error),
			0);
		put_copy(fixture, path, wfs_buffer_bytes(&text));
		next = (uint64_t)number + 1;
	}
}

static inline void copy_entity_file(struct world_fixture *fixture, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version version;
	uint64_t size_bytes;
	int64_t time_ns;

	if (file == WFS_ENTITY_FILE_PLAN_STEPS) {
		copy_steps(fixture, view, id);
		return;
	}
	if (file == WFS_ENTITY_FILE_ENTRIES) {
		copy_entries(fixture, view, id);
		return;
	}
	wfs_buffer_printf(&name, "%s/%.*s%s%s", wfs_entity_directory(wfs_entity_file_entity(file)),
		(int)id.size, (const char *)id.data, file == WFS_ENTITY_FILE_PLAN_BESIDE ? "" : "/",
		wfs_entity_file_name(file));
	if (file == WFS_ENTITY_FILE_EVENTS) {
		uint64_t seq;

		if (wfs_turn_last_event(view, id, &seq))
			return;
		assert_int_equal(
			wfs_turn_events(view, id, seq, WFS_RANGE_ALL, &text, &size_bytes), 0);
	} else if (file == WFS_ENTITY_FILE_GRANTS)
		assert_int_equal(wfs_entity_write_grants(view, id, &text, &time_ns), 0);
	else if (wfs_entity_source(view, file, id, &version))
		return;
	else if (wfs_entity_file_form(file) == WFS_ENTITY_BYTES)
		assert_int_equal(wfs_version_read(wfs_world_store(fixture->world), &version, &text,
					 &fixture->error),
			0);
	else
		assert_int_equal(
			wfs_entity_write(view, file, &version, WFS_RANGE_ALL, &text, &size_bytes),
			0);
	put_copy(fixture, wfs_buffer_text(&name), wfs_buffer_bytes(&text));
}

/* Directories of artifacts or of principals. Their ids are as they are as names. */
static inline void copy_entities(
	struct world_fixture *fixture, struct wfs_view *view, enum wfs_entity entity)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	char path[160];

	make_copy_directory(fixture, wfs_entity_directory(entity));
	assert_int_equal(wfs_view_builtin(view, wfs_entity_reducer(entity), &reducer), 0);
	assert_int_equal(wfs_entry_walk_init(&walk, view, reducer.reducer_id, 0), 0);
	while (wfs_entry_walk_next(&walk, &entry) > 0) {
		snprintf(path, sizeof(path), "%s/%.*s", wfs_entity_directory(entity),
			(int)entry.key.size, (const char *)entry.key.data);
		make_copy_directory(fixture, path);
		for (int i = 0; i < WFS_ENTITY_FILE_COUNT; i++)
			if (wfs_entity_file_entity((enum wfs_entity_file)i) == entity)
				copy_entity_file(fixture, view, (enum wfs_entity_file)i, entry.key);
	}
}

static inline void copy_blobs(struct world_fixture *fixture, struct wfs_view *view)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;

	make_copy_directory(fixture, "blob");
	assert_int_equal(wfs_view_blob_last(view, &last), 0);
	for (uint64_t id = 1; id <= last; id++) {
		WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
		char name[sizeof("blob/") + WFS_HASH_HEX_SIZE] = "blob/";

		if (wfs_view_blob_listed(view, id, &blob, &listing))
			continue;
		wfs_hash_hex(&blob.hash, name + 5);
		assert_int_equal(wfs_blob_read(wfs_world_store(fixture->world), view->txn,
					 &blob.hash, &bytes, NULL),
			0);
		put_copy(fixture, name, wfs_buffer_bytes(&bytes));
	}
}

static inline void copy_record(struct world_fixture *fixture, struct wfs_view *view, uint64_t seq)
{
	struct wfs_bytes line;
	char name[64];

	assert_int_equal(wfs_view_record(view, seq, &line), 0);
	snprintf(name, sizeof(name), "journal/%llu.json", (unsigned long long)seq);
	put_copy(fixture, name, line);
}

/* As small as it can be: the log, and what proves its last record. */
static inline void copy_journal(struct world_fixture *fixture, struct wfs_view *view)
{
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};
	WFS_AUTO_BUFFER struct wfs_buffer head = {0};
	struct wfs_meta meta;
	uint64_t size;

	make_copy_directory(fixture, "journal");
	assert_int_equal(wfs_view_journal_size(view, &size), 0);
	assert_int_equal(wfs_view_journal_read(view, 0, size, &log), 0);
	put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
	assert_int_equal(wfs_view_meta(view, &meta), 0);
	wfs_meta_write(&meta, &head);
	put_copy(fixture, "journal/head", wfs_buffer_bytes(&head));
	copy_record(fixture, view, view->height - 1);
}

/* The private texts that its records name; without one there is no directory of them. */
static inline void copy_texts(struct world_fixture *fixture, struct wfs_view *view)
{
	char name[sizeof("journal/texts/") + WFS_HASH_HEX_SIZE] = "journal/texts/";
	struct wfs_text text;

	for (uint64_t number = 1;
		wfs_text_get(view->txn, number, &text) == 0 && text.seq < view->height; number++) {
		if (number == 1)
			make_copy_directory(fixture, "journal/texts");
		wfs_hash_hex(&text.hash, name + sizeof("journal/texts/") - 1);
		put_copy(fixture, name, text.bytes);
	}
}

/* The files of all records, too. */
static inline void copy_records(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

	for (uint64_t seq = 0; seq < view.height; seq++)
		copy_record(fixture, &view, seq);
}

/* The tree of a height. */
static inline void copy_at(struct world_fixture *fixture, uint64_t height)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_version manifest;

	make_copy_directory(fixture, "");
	assert_int_equal(wfs_view_manifest(&view, &manifest), 0);
	assert_int_equal(wfs_view_content(&view, &manifest, WFS_RANGE_ALL, &content, NULL), 0);
	put_copy(fixture, "manifest", content.bytes);
	copy_cells(fixture, &view);
	copy_entities(fixture, &view, WFS_ENTITY_ARTIFACT);
	copy_entities(fixture, &view, WFS_ENTITY_PRINCIPAL);
	copy_entities(fixture, &view, WFS_ENTITY_TURN);
	copy_entities(fixture, &view, WFS_ENTITY_PLAN);
	copy_blobs(fixture, &view);
	copy_journal(fixture, &view);
	copy_texts(fixture, &view);
}

static inline void copy_state(struct world_fixture *fixture)
{
	char name[64];

	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "journal/log.jsonl");
	snprintf(name, sizeof(name), "journal/%llu.json",
		(unsigned long long)height_of(fixture) - 1);
	remove_copy(fixture, name);
}

/* --- restoring --- */

static inline int restore_with(struct world_fixture *fixture,
	const struct wfs_restore_options *options, struct wfs_problems *problems,
	struct wfs_restored *restored)
{
	char tree[256];

	copy_path(fixture, "", tree);
	world_fixture_close(fixture);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/restored", fixture->root);
	fixture->error = (struct wfs_error){0};
	return wfs_restore(tree, fixture->directory, options, problems, restored, &fixture->error);
}

/* The world that is restored is the fixture's from now on. */
static inline struct wfs_restored restore(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const struct wfs_restore_options options = {.progress = NULL};
	struct wfs_restored restored = {.height = 0};
	int r = restore_with(fixture, &options, &problems, &restored);

	if (r)
		print_error("%s%s\n", wfs_buffer_text(&problems.lines), fixture->error.message);
	assert_int_equal(r, 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	return restored;
}

static inline size_t count_names(const char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		count += entry->d_name[0] != '.';
	closedir(listing);
	return count;
}

/* Refused with a line that begins like this, and nothing is made. */
static inline void assert_refused(struct world_fixture *fixture, const char *start)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const struct wfs_restore_options options = {.progress = NULL};
	const size_t names = count_names(fixture->root);
	struct wfs_restored restored;
	int r = restore_with(fixture, &options, &problems, &restored);
	const char *lines = wfs_buffer_text(&problems.lines);
	const char *found = strstr(lines, start);

	print_message("%s", lines);
	assert_int_equal(r, -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(found);
	assert_true(found == lines || found[-1] == '\n');
	assert_int_equal(count_names(fixture->root), names);
}

static inline struct wfs_hash snapshot_of(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_hash hash;

	assert_int_equal(
		wfs_snapshot_hash(fixture->world, height, NULL, NULL, &hash, &fixture->error), 0);
	return hash;
}

/* Verify and replay have nothing to say. */
static inline void assert_sound(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* --- ends --- */

/* Ends it at a look. */
struct looks {
	int count;
	int end_at;
};

static inline bool end_at_look(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct looks *looks = context;

	(void)what;
	(void)done;
	(void)total;
	return ++looks->count != looks->end_at;
}

/* At all of the first looks, then at ever rarer ones; the last run makes the world. */
static inline void assert_ends_leave_nothing(struct world_fixture *fixture)
{
	struct looks looks = {0};
	const struct wfs_restore_options options = {.progress = end_at_look, .context = &looks};
	const size_t names = count_names(fixture->root);
	struct wfs_restored restored;
	int r = -EINTR;

	while (r == -EINTR) {
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

		looks = (struct looks){.end_at = looks.end_at + 1 + looks.end_at / 8};
		r = restore_with(fixture, &options, &problems, &restored);
		if (r == -EINTR) {
			assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
			assert_int_equal(count_names(fixture->root), names);
		} else if (r) {
			print_error(
				"%s%s\n", wfs_buffer_text(&problems.lines), fixture->error.message);
		}
	}
	assert_int_equal(r, 0);
	assert_true(looks.end_at > 20);
}
