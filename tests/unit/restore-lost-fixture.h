/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds whose artifacts had other texts once, and copies of them that were changed. */
#pragma once

#include "tests/unit/action-fixture.h"
#include "tests/unit/restore-fixture.h"

/* Texts are written, replaced, edited, run and deleted, and other things done between.
 * Return: the record that gave the first text that is lost. */
static inline uint64_t live(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'function run() return 1 "
		      "end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'early','content':'kept'"));
	const uint64_t seq = height_of(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'first'"));
	tell(fixture, "{'key':'a','op':'add','n':1}");
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'second'"));
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'note','old_string':'second','new_string':'third'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'gone','content':'soon'"));
	assert_done(fixture, "bob", ACTION("delete_artifact", "'artifact_id':'gone'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':7"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice", ACTION("submit_to_mint", "'artifact_id':'tool','bid':1"));
	assert_done(fixture, "tester", "{'action_type':'resolve_mint'}");
	tell(fixture, "{'key':'r','op':'tree','n':2}");
	return seq;
}

static inline void put_copy_text(
	const struct world_fixture *fixture, const char *name, const char *text)
{
	put_copy(fixture, name, wfs_bytes_text(text));
}

/* Appends @bytes, with @to in the place of the first @from, which must be in it. */
static inline void append_replaced(
	struct wfs_buffer *buffer, struct wfs_bytes bytes, const char *from, const char *to)
{
	const char *const start = bytes.data;
	const char *const found = memmem(start, bytes.size, from, strlen(from));

	if (!found)
		fail_msg("%s is not in %.*s", from, (int)bytes.size, start);
	const char *const rest = found + strlen(from);
	wfs_buffer_append(buffer, start, (size_t)(found - start));
	wfs_buffer_append_text(buffer, to);
	wfs_buffer_append(buffer, rest, bytes.size - (size_t)(rest - start));
}

static inline void replace_in_copy(
	const struct world_fixture *fixture, const char *name, const char *from, const char *to)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FD int fd = -1;
	char bytes[4096];
	char path[256];

	copy_path(fixture, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	const ssize_t size = read(fd, bytes, sizeof(bytes));
	assert_true(size > 0 && size < (ssize_t)sizeof(bytes));
	append_replaced(&text, WFS_BYTES(bytes, (size_t)size), from, to);
	put_copy(fixture, name, wfs_buffer_bytes(&text));
}

/* Another journal, in which record @seq is another and the rest is chained anew. */
static inline void replace_in_record(
	struct world_fixture *fixture, uint64_t seq, const char *from, const char *to)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	char was[WFS_HASH_TEXT_SIZE] = "";
	char is[WFS_HASH_TEXT_SIZE] = "";
	char name[64];

	for (uint64_t i = 0; i < view.height; i++) {
		struct wfs_bytes original;

		wfs_buffer_reset(&line);
		assert_int_equal(wfs_view_record(&view, i, &original), 0);
		if (i < seq)
			wfs_buffer_append(&line, original.data, original.size);
		else
			append_replaced(&line, original, i == seq ? from : was, i == seq ? to : is);
		wfs_buffer_append(&log, line.data, line.size);
		const struct wfs_hash was_hash = wfs_hash_of(original.data, original.size);
		const struct wfs_hash is_hash = wfs_hash_of(line.data, line.size);
		wfs_hash_text(&was_hash, was);
		wfs_hash_text(&is_hash, is);
	}
	put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
	snprintf(name, sizeof(name), "journal/%llu.json", (unsigned long long)view.height - 1);
	put_copy(fixture, name, wfs_buffer_bytes(&line));
}

static inline void remove_copy_directory(const struct world_fixture *fixture, const char *name)
{
	char path[256];

	copy_path(fixture, name, path);
	wfs_directory_remove(path);
}

static inline void assert_verified(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

/* Without the check that all can be folded again: that is what is lost. */
static inline int teardown(void **state)
{
	struct world_fixture *fixture = *state;

	if (fixture->world)
		assert_verified(fixture);
	return world_fixture_teardown(state);
}

static inline void hash_member(const char *text, char ret_member[static 128])
{
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));
	char hash_text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, hash_text);
	snprintf(ret_member, 128, "\"content_hash\":\"%s\"", hash_text);
}

#define LOST(name) TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, teardown)
