/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving blobs: small ones stay in memory, large ones become files, and unfinished ones leave
 * nothing. */
#include "tests/fixture/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	PIECE_SIZE = 1000,
	FILES_A_BLOB = 2, /* a file with the bytes, and one with their sums */
};

/* The value of the tests: each byte depends on its position. */
static char *value_of(size_t size)
{
	char *value = malloc(size + 1);

	assert_non_null(value);
	for (size_t i = 0; i < size; i++)
		value[i] = (char)('a' + (i / 7 + i) % 26);
	return value;
}

static void receive(struct store_fixture *fixture, const char *value, size_t size,
	struct wfs_blob_writer **ret_writer, struct wfs_blob *ret_blob)
{
	assert_int_equal(wfs_blob_writer_new(fixture->store, ret_writer), 0);
	for (size_t at = 0; at < size; at += PIECE_SIZE)
		assert_int_equal(wfs_blob_writer_add(*ret_writer, value + at,
					 size - at < PIECE_SIZE ? size - at : PIECE_SIZE),
			0);
	assert_int_equal(wfs_blob_writer_size(*ret_writer), size);
	assert_int_equal(wfs_blob_writer_finish(*ret_writer, ret_blob), 0);
}

/* The number of files below blobs/, whatever their names. */
static size_t count_files(const char *directory)
{
	size_t count = 0;
	DIR *listing = opendir(directory);
	const struct dirent *entry;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing))) {
		char path[512];
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		assert_int_equal(lstat(path, &st), 0);
		count += S_ISDIR(st.st_mode) ? count_files(path) : 1;
	}
	closedir(listing);
	return count;
}

static size_t count_blob_files(const struct store_fixture *fixture)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/blobs", fixture->directory);
	return count_files(path);
}

static void assert_received_in_memory(struct store_fixture *fixture, size_t size)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(size);
	const struct wfs_hash hash = wfs_hash_of(value, size);
	struct wfs_blob blob;

	receive(fixture, value, size, &writer, &blob);

	assert_true(wfs_hash_equal(&blob.hash, &hash));
	assert_int_equal(blob.size_bytes, size);
	assert_int_equal(blob.listed_id, 0);
	assert_false(blob.in_file);
	assert_true(wfs_bytes_equal(blob.bytes, WFS_BYTES(value, size)));
	assert_int_equal(count_blob_files(fixture), 0);
	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), -ENOENT);
}

static void assert_received_in_a_file(struct store_fixture *fixture, size_t size)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(size);
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	const struct wfs_hash hash = wfs_hash_of(value, size);
	struct wfs_blob blob;

	receive(fixture, value, size, &writer, &blob);

	assert_true(wfs_hash_equal(&blob.hash, &hash));
	assert_int_equal(blob.size_bytes, size);
	assert_true(blob.in_file);
	assert_int_equal(blob.bytes.size, 0);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 0, size, &found), 0);
	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&found), WFS_BYTES(value, size)));
	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), 0);
	assert_int_equal(count_blob_files(fixture), FILES_A_BLOB);
}

/* --- sizes --- */

IN_STORE(an_empty_value_stays_in_memory)
{
	assert_received_in_memory(fixture, 0);
}

IN_STORE(one_byte_stays_in_memory)
{
	assert_received_in_memory(fixture, 1);
}

IN_STORE(one_byte_below_the_limit_stays_in_memory)
{
	assert_received_in_memory(fixture, WFS_BLOB_FILE_MIN - 1);
}

IN_STORE(a_value_of_the_limit_becomes_a_file)
{
	assert_received_in_a_file(fixture, WFS_BLOB_FILE_MIN);
}

IN_STORE(a_value_of_one_mebibyte_becomes_a_file)
{
	assert_received_in_a_file(fixture, 1 << 20);
}

IN_STORE(an_added_nothing_changes_nothing)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	const struct wfs_hash hash = wfs_hash_of("ab", 2);
	struct wfs_blob blob;

	assert_int_equal(wfs_blob_writer_new(fixture->store, &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "a", 1), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "", 0), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "b", 1), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &blob), 0);

	assert_true(wfs_hash_equal(&blob.hash, &hash));
}

/* --- files --- */

IN_STORE(the_same_value_twice_is_one_file)
{
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob blob;

	for (int i = 0; i < 2; i++) {
		WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;

		receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);
	}

	assert_int_equal(count_blob_files(fixture), FILES_A_BLOB);
	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), 0);
}

IN_STORE(an_unfinished_value_is_removed)
{
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob_writer *writer = NULL;

	assert_int_equal(wfs_blob_writer_new(fixture->store, &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, value, WFS_BLOB_FILE_MIN), 0);
	assert_int_equal(count_blob_files(fixture), 1);
	wfs_blob_writer_free(writer);

	assert_int_equal(count_blob_files(fixture), 0);
}

IN_STORE(a_name_left_behind_by_a_killed_process_does_not_matter)
{
	/* The test cannot know the counter in the name, so it leaves more names than the tests
	 * use. */
	for (unsigned int i = 0; i < 100; i++) {
		char path[160];
		WFS_AUTO_FD int fd = -1;

		snprintf(path, sizeof(path), "%s/blobs/.new-%ld-%u", fixture->directory,
			(long)getpid(), i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
	}
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob blob;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);

	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), 0);
}

IN_STORE(a_store_without_room_for_files_says_so)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	char path[128];

	snprintf(path, sizeof(path), "%s/blobs", fixture->directory);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(wfs_blob_writer_new(fixture->store, &writer), 0);

	assert_int_equal(wfs_blob_writer_add(writer, value, WFS_BLOB_FILE_MIN), -ENOENT);
}

IN_STORE(check_finds_a_changed_byte)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];
	struct wfs_blob blob;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);
	wfs_hash_hex(&blob.hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "!", 1, 1000), 1);

	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), -EIO);
}

enum { LARGE = 200000 }; /* bytes: three chunks and a part of one */

/* Receives a blob of LARGE bytes and changes the byte at @offset of its file. */
static char *receive_damaged(
	struct store_fixture *fixture, uint64_t offset, struct wfs_blob *ret_blob)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	char *value = value_of(LARGE);
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];

	receive(fixture, value, LARGE, &writer, ret_blob);
	wfs_hash_hex(&ret_blob->hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "!", 1, (off_t)offset), 1);
	return value;
}

IN_STORE(any_range_is_read)
{
	static const uint64_t edges[] = {0, 1, 65535, 65536, 65537, 131072, LARGE - 1, LARGE};
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(LARGE);
	struct wfs_blob blob;

	receive(fixture, value, LARGE, &writer, &blob);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(edges); i++) {
		for (size_t j = i; j < WFS_ARRAY_COUNT(edges); j++) {
			WFS_AUTO_BUFFER struct wfs_buffer found = {0};
			size_t size = edges[j] - edges[i];

			wfs_buffer_append_text(&found, "before");
			assert_int_equal(
				wfs_blob_file_read(fixture->store, &blob, edges[i], size, &found),
				0);
			assert_int_equal(found.size, strlen("before") + size);
			assert_memory_equal(found.data + strlen("before"), value + edges[i], size);
		}
	}
}

IN_STORE(damage_is_not_read_and_what_is_far_from_it_is)
{
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	struct wfs_blob blob;
	WFS_AUTO_FREE char *value = receive_damaged(fixture, 70000, &blob);

	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 0, 65536, &found), 0);
	assert_memory_equal(found.data, value, 65536);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 65536, 10, &found), -EIO);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 0, LARGE, &found), -EIO);
	assert_int_equal(found.size, 65536);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 131072, 10, &found), 0);
}

IN_STORE(a_blob_without_its_sums_is_not_read)
{
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	struct wfs_blob blob;
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];

	free(receive_damaged(fixture, LARGE - 1, &blob));
	wfs_hash_hex(&blob.hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s.sums", fixture->directory, hex, hex + 2);
	assert_int_equal(truncate(path, 8), 0);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 0, 10, &found), 0);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 65536, 10, &found), -EIO);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(wfs_blob_file_read(fixture->store, &blob, 0, 10, &found), -ENOENT);
}

IN_STORE(cleaning_removes_what_was_being_written_and_nothing_else)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *whole = NULL;
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *half = NULL;
	WFS_AUTO_FREE char *value = value_of(LARGE);
	struct wfs_blob blob;

	receive(fixture, value, LARGE, &whole, &blob);
	assert_int_equal(wfs_blob_writer_new(fixture->store, &half), 0);
	assert_int_equal(wfs_blob_writer_add(half, value, LARGE), 0);
	assert_int_equal(count_blob_files(fixture), FILES_A_BLOB + 1);

	assert_int_equal(wfs_blob_files_clean(fixture->store), 0);

	assert_int_equal(count_blob_files(fixture), FILES_A_BLOB);
	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), 0);
}

IN_STORE(check_finds_a_file_of_another_size)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob blob;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);
	blob.size_bytes--;

	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), -EIO);
}

IN_STORE(check_of_a_missing_file_says_so)
{
	const struct wfs_blob blob = {.hash = wfs_hash_of("none", 4), .in_file = true};

	assert_int_equal(wfs_blob_file_check(fixture->store, &blob), -ENOENT);
}

static int count_each(void *context, const struct wfs_hash *hash)
{
	(void)hash;
	(*(int *)context)++;
	return 0;
}

IN_STORE(files_are_found_and_removed)
{
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob_writer *writer = NULL;
	struct wfs_blob blob;
	uint64_t size_bytes = 0;
	int count = 0;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);
	assert_int_equal(wfs_blob_file_remove(fixture->store, &blob.hash, &size_bytes), -EBUSY);
	wfs_blob_writer_free(writer);
	assert_int_equal(wfs_blob_files_each(fixture->store, count_each, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(wfs_blob_file_remove(fixture->store, &blob.hash, &size_bytes), 0);

	assert_int_equal(size_bytes, WFS_BLOB_FILE_MIN);
	assert_int_equal(wfs_blob_file_remove(fixture->store, &blob.hash, &size_bytes), -ENOENT);
	assert_int_equal(count_blob_files(fixture), 0);
}

/* Makes a blob that is received and recorded, and then loses its file or its sums. */
static struct wfs_hash receive_half(struct store_fixture *fixture, const char *lost_suffix)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob blob;
	char hex[WFS_HASH_HEX_SIZE + 1];
	char path[256];

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);
	wfs_hash_hex(&blob.hash, hex);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s%s", fixture->directory, hex, hex + 2,
		lost_suffix);
	assert_int_equal(unlink(path), 0);
	return blob.hash;
}

static void assert_found_and_removed(struct store_fixture *fixture, const struct wfs_hash *hash)
{
	uint64_t size_bytes = 0;
	int count = 0;

	assert_int_equal(count_blob_files(fixture), 1);
	assert_int_equal(wfs_blob_files_each(fixture->store, count_each, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(wfs_blob_file_remove(fixture->store, hash, &size_bytes), 0);
	assert_true(size_bytes > 0);
	assert_int_equal(count_blob_files(fixture), 0);
}

IN_STORE(sums_without_their_file_are_found_and_removed)
{
	const struct wfs_hash hash = receive_half(fixture, "");

	assert_found_and_removed(fixture, &hash);
}

IN_STORE(a_file_without_its_sums_is_found_and_removed)
{
	const struct wfs_hash hash = receive_half(fixture, ".sums");

	assert_found_and_removed(fixture, &hash);
}

IN_STORE(names_that_are_no_sums_are_somebody_elses)
{
	static const char *const names[] = {".sums", "x.sums", "cdef.sums.sums"};
	const struct wfs_hash hash = receive_half(fixture, "");
	char hex[WFS_HASH_HEX_SIZE + 1];
	int count = 0;

	wfs_hash_hex(&hash, hex);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", fixture->directory, hex, names[i]);
		WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
	}

	assert_int_equal(wfs_blob_files_each(fixture->store, count_each, &count), 0);
	assert_int_equal(count, 1);
}

IN_STORE(sums_whose_file_is_on_its_way_stay)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	const struct wfs_hash hash = receive_half(fixture, "");
	struct wfs_blob blob;
	uint64_t size_bytes;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &writer, &blob);

	assert_int_equal(wfs_blob_file_remove(fixture->store, &hash, &size_bytes), -EBUSY);
	assert_int_equal(count_blob_files(fixture), FILES_A_BLOB);
}

IN_STORE(two_writers_of_one_value_both_keep_its_file)
{
	WFS_AUTO_FREE char *value = value_of(WFS_BLOB_FILE_MIN);
	struct wfs_blob_writer *first = NULL;
	struct wfs_blob_writer *second = NULL;
	struct wfs_blob blob;
	uint64_t size_bytes;

	receive(fixture, value, WFS_BLOB_FILE_MIN, &first, &blob);
	receive(fixture, value, WFS_BLOB_FILE_MIN, &second, &blob);
	wfs_blob_writer_free(second);
	assert_int_equal(wfs_blob_file_remove(fixture->store, &blob.hash, &size_bytes), -EBUSY);
	wfs_blob_writer_free(first);

	assert_int_equal(wfs_blob_file_remove(fixture->store, &blob.hash, &size_bytes), 0);
}

static uint64_t blob_bytes_of(struct wfs_store *store)
{
	struct wfs_store_figures figures;

	wfs_store_count_blobs(store, &figures);
	return figures.blob_bytes;
}

/* Files are listed once, for the first figures; after that, those that come and go are counted. */
IN_STORE(figures_count_the_bytes_of_files)
{
	const struct wfs_store_options options = {.read_only = true};
	WFS_AUTO_FREE char *value = value_of(200000);
	WFS_AUTO_STORE struct wfs_store *other = NULL;
	struct wfs_blob blobs[3];
	uint64_t size_bytes;

	for (size_t i = 0; i < 3; i++) {
		WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;

		/* The second blob has the bytes of the first. */
		receive(fixture, value, i < 2 ? 200000 : 100000, &writer, &blobs[i]);
		assert_int_equal(blob_bytes_of(fixture->store), i < 2 ? 200000 : 300000);
	}
	assert_int_equal(wfs_blob_file_remove(fixture->store, &blobs[0].hash, &size_bytes), 0);

	assert_int_equal(blob_bytes_of(fixture->store), 100000);
	assert_int_equal(wfs_store_open(fixture->directory, &options, &other, NULL), 0);
	assert_int_equal(blob_bytes_of(other), 100000);
}

IN_STORE(files_are_held_until_everybody_has_let_go)
{
	int first = wfs_blob_files_hold(fixture->store);
	int second = wfs_blob_files_hold(fixture->store);

	assert_true(first >= 0 && second >= 0);
	close(first);
	assert_int_equal(wfs_blob_files_settle(fixture->store), -EAGAIN);
	close(second);
	assert_int_equal(wfs_blob_files_settle(fixture->store), 0);
	second = wfs_blob_files_hold(fixture->store);
	assert_true(second >= 0);
	close(second);
}
