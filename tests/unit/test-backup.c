/* SPDX-License-Identifier: Apache-2.0 */
/* Backups: each is a complete world of its own, or leaves nothing. */
#include "tests/fixture/world.h"

#include <dirent.h>

#include "kernel/check/replay.h"
#include "kernel/copy/backup.h"
#include "kernel/copy/gc.h"
#include "kernel/read/snapshot.h"

enum { LARGE = 200000 }; /* bytes: a blob file */

static const char large_b_event[] = "{'key':'b','op':'grow','n':200000}";

struct backup_result {
	char directory[80];
	struct wfs_backup_figures figures;
	int looks; /* how often the backup asked whether to go on */
	int looks_max;
};

static bool stop_at(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct backup_result *result = context;

	(void)what;
	(void)done;
	(void)total;
	return !result->looks_max || ++result->looks < result->looks_max;
}

static int back_up(struct world_fixture *fixture, struct backup_result *result)
{
	const struct wfs_backup_options options = {.progress = stop_at, .context = result};

	snprintf(result->directory, sizeof(result->directory), "%s/backup", fixture->root);
	return wfs_backup(
		fixture->world, result->directory, &options, &result->figures, &fixture->error);
}

/* From now on the fixture uses the copy instead of the world. */
static void open_copy(struct world_fixture *fixture, const struct backup_result *result)
{
	world_fixture_close(fixture);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", result->directory);
	assert_int_equal(world_fixture_open(fixture), 0);
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

static struct wfs_hash snapshot_of(struct world_fixture *fixture)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height_of(fixture),
				 NULL, NULL, &hash, &fixture->error),
		0);
	return hash;
}

/* The number of names in the private directory, which has at least the source and the world. */
static size_t count_names(const struct world_fixture *fixture)
{
	DIR *listing = opendir(fixture->root);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		count += entry->d_name[0] != '.';
	closedir(listing);
	return count;
}

static void live(struct world_fixture *fixture)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, large_b_event);
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'c','op':'set','n':3}");
	assert_int_equal(put_blob(fixture, large, LARGE, &hash), 0);
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
}

IN_WORLD(backup_is_the_same_world)
{
	struct backup_result result = {0};

	live(fixture);
	const uint64_t height = height_of(fixture);
	const struct wfs_hash hash = snapshot_of(fixture);
	assert_int_equal(back_up(fixture, &result), 0);
	tell(fixture, "{'key':'later','op':'set','n':1}");
	open_copy(fixture, &result);

	assert_int_equal(result.figures.height, height);
	assert_int_equal(height_of(fixture), height);
	const struct wfs_hash copied = snapshot_of(fixture);
	assert_true(wfs_hash_equal(&copied, &hash));
	assert_good(fixture);
}

IN_WORLD(backup_goes_on_as_a_world)
{
	struct backup_result result = {0};

	live(fixture);
	assert_int_equal(back_up(fixture, &result), 0);
	open_copy(fixture, &result);
	tell(fixture, "{'key':'a','op':'set','n':7}");

	assert_state(fixture, "cell", "a", "{'n':7}");
	assert_state_at(fixture, 4, "cell", "a", "{'n':1}");
	assert_good(fixture);
}

static void cut_journal(struct world_fixture *fixture)
{
	struct wfs_gc gc = {.journal = true};

	assert_int_equal(wfs_gc_begin(fixture->world, true, 2, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.done);
	assert_true(gc.figures.record_count > 0);
}

IN_WORLD(backup_of_a_world_whose_journal_was_cut_is_the_same_world)
{
	struct backup_result result = {0};

	live(fixture);
	cut_journal(fixture);
	tell(fixture, "{'key':'later','op':'set','n':1}");
	const struct wfs_hash hash = snapshot_of(fixture);
	assert_int_equal(back_up(fixture, &result), 0);
	open_copy(fixture, &result);

	const struct wfs_hash copied = snapshot_of(fixture);
	assert_true(wfs_hash_equal(&copied, &hash));
	assert_good(fixture);
	tell(fixture, "{'key':'later','op':'set','n':2}");
	cut_journal(fixture);
	assert_good(fixture);
}

IN_WORLD(backup_has_every_blob_file_once)
{
	struct backup_result result = {0};

	live(fixture);
	tell(fixture, "{'key':'same','op':'grow','n':200000}");
	assert_int_equal(back_up(fixture, &result), 0);

	assert_int_equal(result.figures.file_count, 2);
	assert_true(result.figures.file_bytes > UINT64_C(2) * LARGE);
	wfs_directory_remove(fixture->directory);
	open_copy(fixture, &result);
	assert_good(fixture);
}

static void assert_has_file(
	const struct backup_result *result, const char *name, const char *expected)
{
	char path[128];
	char text[512] = "";

	snprintf(path, sizeof(path), "%s/%s", result->directory, name);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, expected);
}

IN_WORLD(backup_has_the_configuration_of_the_host)
{
	struct backup_result result = {0};

	put_file(fixture->directory, "host.json", "{}\n");
	assert_int_equal(back_up(fixture, &result), 0);

	assert_has_file(&result, "host.json", "{}\n");
}

IN_WORLD(backup_has_the_scripts_of_models_that_are_there)
{
	struct backup_result result = {0};
	WFS_AUTO_FREE char *host =
		json_text("{'models':{'a':{'provider':'script','file':'a.jsonl'},"
			  "'again':{'provider':'script','file':'a.jsonl'},"
			  "'lost':{'provider':'script','file':'lost.jsonl'},"
			  "'outside':{'provider':'script','file':'../a.jsonl'}}}\n");

	put_file(fixture->directory, "host.json", host);
	put_file(fixture->directory, "a.jsonl", "{}\n");
	assert_int_equal(back_up(fixture, &result), 0);

	assert_has_file(&result, "host.json", host);
	assert_has_file(&result, "a.jsonl", "{}\n");
}

IN_WORLD(backup_leaves_free_pages_out)
{
	struct backup_result result = {0};
	struct wfs_world_figures figures;

	for (int i = 0; i < 200; i++)
		tell(fixture, "{'key':'a','op':'grow','n':9000}");
	assert_int_equal(back_up(fixture, &result), 0);
	wfs_world_figures(fixture->world, &figures);

	assert_true(figures.store.free_bytes > 0);
	assert_true(
		result.figures.data_bytes <= figures.store.used_bytes - figures.store.free_bytes);
	open_copy(fixture, &result);
	wfs_world_figures(fixture->world, &figures);
	assert_int_equal(figures.store.free_bytes, 0);
}

IN_WORLD(backup_refuses_a_directory_with_something_in_it)
{
	const struct wfs_backup_options options = {0};
	struct wfs_backup_figures figures;

	assert_int_equal(
		wfs_backup(fixture->world, fixture->source, &options, &figures, &fixture->error),
		-EEXIST);

	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
	assert_int_equal(count_names(fixture), 2);
}

/* The backup is interrupted at each point at which it asks. */
IN_WORLD(backup_that_is_interrupted_leaves_nothing)
{
	int looks = 0;
	int r;

	live(fixture);
	do {
		struct backup_result result = {.looks_max = ++looks};

		r = back_up(fixture, &result);
		print_message("interrupted at look %d: %d\n", looks, r);
		assert_true(r == 0 || r == -EINTR);
		assert_int_equal(count_names(fixture), r ? 2 : 3);
	} while (r);

	assert_true(looks > 3); /* data.mdb, both files, the end */
}

static void blob_path(
	const struct world_fixture *fixture, const struct wfs_hash *hash, char *path, size_t size)
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	snprintf(path, size, "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
}

IN_WORLD(backup_refuses_a_damaged_blob_file)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct backup_result result = {0};
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(fixture, large, LARGE, &hash), 0);
	blob_path(fixture, &hash, path, sizeof(path));
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "x", 1, LARGE / 2), 1);

	assert_int_equal(back_up(fixture, &result), -EIO);

	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "damaged"));
	assert_int_equal(count_names(fixture), 2);
}

IN_WORLD(backup_refuses_a_missing_blob_file)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct backup_result result = {0};
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(fixture, large, LARGE, &hash), 0);
	blob_path(fixture, &hash, path, sizeof(path));
	assert_int_equal(unlink(path), 0);

	assert_int_equal(back_up(fixture, &result), -EIO);

	assert_non_null(strstr(fixture->error.message, "missing"));
	assert_int_equal(count_names(fixture), 2);
}

IN_WORLD(backup_reads_beside_the_owner)
{
	const struct wfs_world_options read_only = {.read_only = true};
	WFS_AUTO_WORLD struct wfs_world *reader = NULL;
	const struct wfs_backup_options options = {0};
	struct wfs_backup_figures figures;
	char directory[80];

	live(fixture);
	snprintf(directory, sizeof(directory), "%s/backup", fixture->root);
	assert_int_equal(wfs_world_open(fixture->directory, &read_only, &reader, NULL), 0);
	assert_int_equal(wfs_backup(reader, directory, &options, &figures, &fixture->error), 0);

	assert_int_equal(figures.height, height_of(fixture));
}
