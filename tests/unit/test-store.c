/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store, its transactions, and what happens when it is full. */
#include "tests/fixture/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kernel/base/formats.h"
#include "kernel/store/store-impl.h"

enum {
	SMALL_MAP_BYTES = 1 << 20,
	LINE_SIZE = 4000,
	LINES_MAX = 1000, /* more than a small map holds */
};

static const struct wfs_store_options create = {.create = true};
static const struct wfs_store_options reopen = {.create = false};

static int put(struct store_fixture *fixture, const char *name, const char *value)
{
	struct wfs_txn *txn = store_fixture_write(fixture);
	int r = wfs_meta_put(txn, name, wfs_bytes_text(value));

	if (r) {
		wfs_txn_end(txn);
		return r;
	}
	return wfs_txn_commit(txn);
}

/* --- opening --- */

IN_DIRECTORY(open_refuses_a_directory_without_a_store)
{
	assert_int_equal(store_fixture_open(fixture, &reopen), -ENOENT);

	assert_int_equal(fixture->error.code, WFS_E_NOT_FOUND);
	assert_null(fixture->store);
}

IN_DIRECTORY(open_refuses_a_directory_that_does_not_exist)
{
	wfs_directory_remove(fixture->directory);

	assert_int_equal(store_fixture_open(fixture, &reopen), -ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_NOT_FOUND);
}

IN_STORE(create_refuses_a_directory_with_a_store)
{
	assert_int_equal(store_fixture_open(fixture, &create), -EEXIST);

	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
}

IN_DIRECTORY(open_refuses_a_map_size_off_page)
{
	const struct wfs_store_options odd = {.create = true, .map_size_bytes = 1000003};

	assert_int_equal(store_fixture_open(fixture, &odd), -EINVAL);

	assert_int_equal(fixture->error.code, WFS_E_INVALID_ARGUMENT);
	assert_non_null(strstr(fixture->error.message, "1000003"));
}

IN_STORE(open_refuses_a_newer_format)
{
	struct wfs_txn *txn = store_fixture_write(fixture);
	const uint8_t newer = WFS_STORE_FORMAT + 1;

	assert_int_equal(wfs_meta_put(txn, "format", WFS_BYTES(&newer, 1)), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);

	assert_int_equal(store_fixture_open(fixture, &reopen), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_NEWER);
	assert_non_null(strstr(fixture->error.message, "newer"));
}

IN_STORE(open_reads_format_7_without_the_tables_that_it_lacks)
{
	struct wfs_store_options reading = reopen;
	struct wfs_text text;
	struct wfs_txn *txn;
	uint64_t last;

	store_make_older(fixture->store, 7);
	reading.read_only = true;
	assert_int_equal(store_fixture_open(fixture, &reading), 0);

	assert_true(wfs_store_older(fixture->store));
	assert_int_equal(wfs_store_format(fixture->store), 7);
	assert_int_equal(wfs_store_fold_version(fixture->store), 1);
	assert_int_equal(wfs_store_read(fixture->store, &txn), 0);
	assert_int_equal(wfs_text_get(txn, 1, &text), -ENOENT);
	assert_int_equal(wfs_text_last(txn, &last), 0);
	assert_int_equal(last, 0);
	wfs_txn_end(txn);
}

IN_STORE(open_refuses_to_change_format_7)
{
	store_make_older(fixture->store, 7);

	assert_int_equal(store_fixture_open(fixture, &reopen), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_OLDER);
	assert_non_null(strstr(fixture->error.message, "worldfs upgrade"));
}

IN_STORE(open_makes_format_7_this_programs_when_it_is_told_to)
{
	struct wfs_store_options upgrading = reopen;

	store_make_older(fixture->store, 7);
	upgrading.upgrade = true;
	assert_int_equal(store_fixture_open(fixture, &upgrading), 0);
	assert_int_equal(store_fixture_open(fixture, &reopen), 0);

	assert_false(wfs_store_older(fixture->store));
	assert_int_equal(wfs_store_format(fixture->store), WFS_STORE_FORMAT);
	assert_int_equal(wfs_store_fold_version(fixture->store), WFS_FOLD_VERSION);
}

IN_STORE(open_refuses_formats_below_7_also_for_reading)
{
	struct wfs_store_options reading = reopen;

	store_make_older(fixture->store, 6);
	reading.read_only = true;
	assert_int_equal(store_fixture_open(fixture, &reading), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_OLDER);
	assert_non_null(strstr(fixture->error.message, "an older"));
}

IN_STORE(open_refuses_a_newer_fold_version_and_says_which_program_opens_it)
{
	struct wfs_txn *txn = store_fixture_write(fixture);
	const uint8_t newer = WFS_FOLD_VERSION + 1;

	assert_int_equal(wfs_meta_put(txn, "fold", WFS_BYTES(&newer, 1)), 0);
	assert_int_equal(wfs_meta_put(txn, "since", wfs_bytes_text("7.8.9")), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);

	assert_int_equal(store_fixture_open(fixture, &reopen), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_NEWER);
	assert_non_null(strstr(fixture->error.message, "worldfs 7.8.9"));
}

IN_STORE(open_refuses_a_format_row_that_does_not_decode)
{
	assert_int_equal(put(fixture, "format", "xx"), 0);

	assert_int_equal(store_fixture_open(fixture, &reopen), -EINVAL);
}

IN_DIRECTORY(open_refuses_a_file_that_is_no_database)
{
	char path[128];
	WFS_AUTO_FD int fd = -1;
	char junk[8192];

	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	memset(junk, 'j', sizeof(junk));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));

	assert_int_equal(store_fixture_open(fixture, &reopen), -EIO);
}

static void path_of_data(const struct store_fixture *fixture, char ret_path[static 128])
{
	snprintf(ret_path, 128, "%s/data.mdb", fixture->directory);
}

IN_STORE(open_refuses_a_file_that_was_cut_short)
{
	const struct wfs_store_options options = {0};
	struct wfs_store_figures figures;
	char path[128];

	wfs_store_figures(fixture->store, &figures);
	wfs_store_close(WFS_STEAL(fixture->store));
	path_of_data(fixture, path);
	assert_int_equal(truncate(path, (off_t)figures.used_bytes - 4096), 0);

	assert_int_equal(store_fixture_open(fixture, &options), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "is cut short"));
}

/* Flips a bit @offset bytes after the start of @text, which must be in the file exactly once. */
static void flip_bit(const struct store_fixture *fixture, const char *text, long offset)
{
	WFS_AUTO_FREE char *bytes = calloc(1, 1 << 20);
	char path[128];

	path_of_data(fixture, path);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t size = pread(fd, bytes, 1 << 20, 0);
	assert_true(size > 0);
	char *found = memmem(bytes, (size_t)size, text, strlen(text));
	assert_non_null(found);
	found[offset] ^= 4;
	assert_int_equal(pwrite(fd, found + offset, 1, found - bytes + offset), 1);
}

static void put_line_and_flip(struct store_fixture *fixture, long offset)
{
	const char *line = "a line that stands nowhere else";
	struct wfs_txn *txn;

	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_journal_append(txn, 0, 0, wfs_bytes_text(line)), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);
	wfs_store_close(WFS_STEAL(fixture->store));
	flip_bit(fixture, line, offset);
	assert_int_equal(store_fixture_open(fixture, &reopen), 0);
}

static void assert_flip_is_damage(struct store_fixture *fixture, long offset)
{
	struct wfs_bytes found;
	uint64_t start;

	put_line_and_flip(fixture, offset);

	WFS_AUTO_TXN struct wfs_txn *reader = NULL;
	assert_int_equal(wfs_store_read(fixture->store, &reader), 0);
	assert_int_equal(wfs_journal_get(reader, 0, &start, &found), -EIO);
}

IN_STORE(a_flipped_bit_in_free_bytes_is_damage)
{
	assert_flip_is_damage(fixture, 5);
}

IN_STORE(a_flipped_bit_in_a_fixed_field_is_damage)
{
	assert_flip_is_damage(fixture, -1); /* the offset comes before the line */
}

IN_STORE(a_flipped_bit_in_the_checksum_is_damage)
{
	assert_flip_is_damage(fixture, (long)strlen("a line that stands nowhere else"));
}

/* Before the line come its offset and its key, 8 bytes each, and LMDB's head of the row: 4 bytes
 * of size, 2 of flags, 2 of the key's size. */
IN_STORE(a_flipped_bit_in_the_size_of_a_value_is_damage)
{
	assert_flip_is_damage(fixture, -22); /* 256 KiB more: beyond the end of the file */
}

IN_STORE(a_flipped_bit_in_the_flags_of_a_row_is_damage)
{
	assert_flip_is_damage(
		fixture, -20); /* "has duplicates", for which LMDB has no cursor here */
}

IN_STORE(a_flipped_bit_in_the_size_of_a_key_is_damage)
{
	struct wfs_bytes found;
	uint64_t start;

	/* The row then has another key, and is not found. */
	put_line_and_flip(fixture, -17);

	WFS_AUTO_TXN struct wfs_txn *reader = store_fixture_read(fixture);
	assert_true(wfs_journal_get(reader, 0, &start, &found) < 0);
}

IN_STORE(a_change_that_meets_damage_is_dropped_and_others_go_on)
{
	put_line_and_flip(fixture, -20);
	struct wfs_txn *txn = store_fixture_write(fixture);

	assert_int_equal(wfs_journal_append(txn, 1, 100, wfs_bytes_text("line\n")), -EIO);
	assert_int_equal(wfs_meta_put(txn, "name", wfs_bytes_text("value")), -EIO);
	assert_int_equal(wfs_txn_commit(txn), -EIO);

	assert_int_equal(put(fixture, "name", "value"), 0);
}

enum { SHORT_LINES = 200, SHORT_LINE_SIZE = 100 };

static int read_all_lines(struct wfs_store *store, uint64_t count)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(store, &txn);

	for (uint64_t seq = 0; !r && seq < count; seq++) {
		struct wfs_bytes line;
		uint64_t offset;

		r = wfs_journal_get(txn, seq, &offset, &line);
		if (!r && (offset != seq || line.size != SHORT_LINE_SIZE))
			r = 1; /* other bytes than the test stored */
	}
	return r;
}

/* Opens the store with one bit of the file flipped, and reads. */
static int read_flipped(
	struct store_fixture *fixture, int fd, off_t place, uint8_t byte, uint64_t count)
{
	const struct wfs_store_options options = {.read_only = true};
	int r;

	assert_int_equal(pwrite(fd, &byte, 1, place), 1);
	r = store_fixture_open(fixture, &options);
	return r ? r : read_all_lines(fixture->store, count);
}

static void flip_each_bit(struct store_fixture *fixture, int fd, off_t from, off_t size)
{
	for (off_t at = from; at < from + size; at++) {
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		for (unsigned int bit = 0; bit < 8; bit++) {
			const uint8_t flipped = byte ^ (uint8_t)(1U << bit);

			if (read_flipped(fixture, fd, at, flipped, SHORT_LINES) > 0)
				fail_msg("bit %u of byte %ld", bit, (long)at);
		}
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
}

IN_STORE(no_flipped_bit_in_the_head_of_a_page_gives_anything_else)
{
	const off_t page_size = 4096;
	const off_t root_size = 152;
	const off_t head_size = 16;
	struct wfs_txn *txn = store_fixture_write(fixture);
	char line[SHORT_LINE_SIZE];
	char path[128];
	struct stat st;

	memset(line, 'l', sizeof(line));
	for (uint64_t seq = 0; seq < SHORT_LINES; seq++)
		assert_int_equal(
			wfs_journal_append(txn, seq, seq, WFS_BYTES(line, sizeof(line))), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);
	path_of_data(fixture, path);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);

	for (off_t page = 0; page < st.st_size; page += page_size)
		flip_each_bit(fixture, fd, page, page < 2 * page_size ? root_size : head_size);

	assert_int_equal(store_fixture_open(fixture, &reopen), 0);
	assert_int_equal(read_all_lines(fixture->store, SHORT_LINES), 0);
}

IN_STORE(reopening_shows_what_was_committed)
{
	struct wfs_bytes value;

	assert_int_equal(put(fixture, "name", "value"), 0);
	assert_int_equal(store_fixture_open(fixture, &reopen), 0);

	WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
	assert_int_equal(wfs_meta_get(txn, "name", &value), 0);
	assert_bytes_text(value, "value");
}

IN_STORE(a_read_only_store_reads_and_refuses_to_write)
{
	const struct wfs_store_options options = {.read_only = true};
	struct wfs_bytes value;
	struct wfs_txn *writing;

	assert_int_equal(put(fixture, "name", "value"), 0);
	assert_int_equal(store_fixture_open(fixture, &options), 0);

	WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
	assert_int_equal(wfs_meta_get(txn, "name", &value), 0);
	assert_int_equal(wfs_store_write(fixture->store, &writing), -EACCES);
}

IN_DIRECTORY(a_scratch_store_takes_what_any_store_takes)
{
	const struct wfs_store_options options = {.create = true, .scratch = true};
	struct wfs_bytes value;

	assert_int_equal(store_fixture_open(fixture, &options), 0);
	assert_int_equal(put(fixture, "name", "value"), 0);

	WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
	assert_int_equal(wfs_meta_get(txn, "name", &value), 0);
}

IN_STORE(figures_tell_the_map_and_what_of_it_is_used)
{
	struct wfs_store_figures figures;

	wfs_store_figures(fixture->store, &figures);

	assert_int_equal(figures.map_size_bytes, WFS_STORE_MAP_SIZE_DEFAULT);
	assert_true(figures.used_bytes > 0 && figures.used_bytes < 1 << 20);
	assert_true(figures.readers_max > 0);
}

IN_STORE(figures_follow_each_commit)
{
	WFS_AUTO_FREE char *large = calloc(1, 1 << 16);
	struct wfs_store_figures before;
	struct wfs_store_figures after;

	memset(large, 'l', (1 << 16) - 1);
	assert_int_equal(put(fixture, "name", large), 0);
	wfs_store_figures(fixture->store, &before);
	assert_int_equal(put(fixture, "name", "small"), 0);
	wfs_store_figures(fixture->store, &after);

	assert_true(after.free_bytes >= before.free_bytes + (1 << 16));
	assert_true(after.free_bytes < after.used_bytes);
	wfs_store_figures(fixture->store, &before);
	assert_int_equal(before.free_bytes, after.free_bytes);
}

/* --- transactions --- */

IN_STORE(an_ended_write_transaction_leaves_nothing)
{
	struct wfs_txn *writing = store_fixture_write(fixture);
	struct wfs_bytes value;

	assert_int_equal(wfs_meta_put(writing, "name", wfs_bytes_text("value")), 0);
	wfs_txn_end(writing);

	WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
	assert_int_equal(wfs_meta_get(txn, "name", &value), -ENOENT);
}

IN_STORE(a_store_that_was_removed_commits_nothing_more)
{
	struct wfs_txn *txn;
	char path[128];

	path_of_data(fixture, path);
	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_meta_put(txn, "name", wfs_bytes_text("value")), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(wfs_txn_commit(txn), -ENOENT);
}

IN_STORE(a_write_transaction_reads_its_own_rows_through_its_cursors)
{
	struct wfs_txn *txn = store_fixture_write(fixture);
	uint64_t height;

	for (uint64_t seq = 0; seq < 1000; seq++) {
		assert_int_equal(
			wfs_journal_append(txn, seq, seq * 5, wfs_bytes_text("line\n")), 0);
		assert_int_equal(wfs_journal_height(txn, &height), 0);
		assert_int_equal(height, seq + 1);
	}
	assert_int_equal(wfs_txn_commit(txn), 0);
}

IN_STORE(a_reader_keeps_seeing_the_commit_it_began_with)
{
	WFS_AUTO_TXN struct wfs_txn *before = store_fixture_read(fixture);
	struct wfs_bytes value;

	assert_int_equal(put(fixture, "name", "value"), 0);

	WFS_AUTO_TXN struct wfs_txn *after = store_fixture_read(fixture);
	assert_int_equal(wfs_meta_get(before, "name", &value), -ENOENT);
	assert_int_equal(wfs_meta_get(after, "name", &value), 0);
}

IN_STORE(a_reader_from_the_pool_sees_the_newest_commit_through_its_kept_cursor)
{
	for (uint64_t seq = 0; seq < 20; seq++) {
		struct wfs_txn *writing = store_fixture_write(fixture);
		uint64_t height;

		assert_int_equal(
			wfs_journal_append(writing, seq, seq * 5, wfs_bytes_text("line\n")), 0);
		assert_int_equal(wfs_txn_commit(writing), 0);
		WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
		assert_int_equal(wfs_journal_height(txn, &height), 0);
		assert_int_equal(height, seq + 1);
	}
}

IN_STORE(several_readers_at_once_are_independent)
{
	struct wfs_txn *txns[50];
	uint64_t height;

	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < WFS_ARRAY_COUNT(txns); i++)
			txns[i] = store_fixture_read(fixture);
		for (size_t i = 0; i < WFS_ARRAY_COUNT(txns); i++) {
			assert_int_equal(wfs_journal_height(txns[i], &height), 0);
			assert_int_equal(height, 0);
		}
		for (size_t i = 0; i < WFS_ARRAY_COUNT(txns); i++)
			wfs_txn_end(txns[i]);
	}
}

IN_STORE(more_readers_than_there_is_room_for_are_refused)
{
	struct wfs_store_figures figures;
	struct wfs_txn *one_more;

	wfs_store_figures(fixture->store, &figures);
	struct wfs_txn **txns = calloc(figures.readers_max, sizeof(struct wfs_txn *));
	size_t count = 0;
	while (count < figures.readers_max && wfs_store_read(fixture->store, &txns[count]) == 0)
		count++;

	assert_int_equal(wfs_store_read(fixture->store, &one_more), -EAGAIN);
	assert_int_equal(put(fixture, "name", "a writer needs no place"), 0);
	for (size_t i = 0; i < count; i++)
		wfs_txn_end(txns[i]);
	free(txns);
	wfs_txn_end(store_fixture_read(fixture));
}

static void *end_elsewhere(void *txn)
{
	uint64_t height;

	assert_int_equal(wfs_journal_height(txn, &height), 0);
	wfs_txn_end(txn);
	return NULL;
}

IN_STORE(a_reader_may_move_between_threads)
{
	struct wfs_txn *txn = store_fixture_read(fixture);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, txn), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);

	wfs_txn_end(store_fixture_read(fixture));
}

/* --- full --- */

/* Appends lines until the map is full. Return: the failure; @seq: the first line that was not
 * stored */
static int fill(struct store_fixture *fixture, uint64_t *seq)
{
	static const char line[LINE_SIZE];

	for (; *seq < LINES_MAX; ++*seq) {
		struct wfs_txn *txn = store_fixture_write(fixture);
		int r = wfs_journal_append(
			txn, *seq, *seq * LINE_SIZE, WFS_BYTES(line, sizeof(line)));

		if (r)
			wfs_txn_end(txn);
		else
			r = wfs_txn_commit(txn);
		if (r)
			return r;
	}
	return 0;
}

IN_DIRECTORY(a_full_map_refuses_rows_and_still_reads)
{
	const struct wfs_store_options small = {.create = true, .map_size_bytes = SMALL_MAP_BYTES};
	uint64_t seq = 0;
	uint64_t height;

	assert_int_equal(store_fixture_open(fixture, &small), 0);

	assert_int_equal(fill(fixture, &seq), -ENOSPC);
	WFS_AUTO_TXN struct wfs_txn *txn = store_fixture_read(fixture);
	assert_int_equal(wfs_journal_height(txn, &height), 0);
	assert_int_equal(height, seq);
}

IN_DIRECTORY(a_full_store_takes_rows_again_with_a_larger_map)
{
	const struct wfs_store_options small = {.create = true, .map_size_bytes = SMALL_MAP_BYTES};
	const struct wfs_store_options larger = {.map_size_bytes = UINT64_C(16) * SMALL_MAP_BYTES};
	uint64_t seq = 0;

	assert_int_equal(store_fixture_open(fixture, &small), 0);
	assert_int_equal(fill(fixture, &seq), -ENOSPC);
	assert_int_equal(store_fixture_open(fixture, &larger), 0);

	assert_int_equal(fill(fixture, &seq), 0);
}

/* --- other processes --- */

IN_STORE(a_reader_takes_the_slot_of_a_process_that_died)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct wfs_txn *txn;
		size_t count = 0;

		/* The parent's; an environment cannot be used after a fork. */
		fixture->store = NULL;
		if (store_fixture_open(fixture, &reopen))
			_exit(1);
		while (wfs_store_read(fixture->store, &txn) == 0)
			count++;
		_exit(count > 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);

	wfs_txn_end(store_fixture_read(fixture));
	wfs_txn_end(store_fixture_read(fixture));
}
