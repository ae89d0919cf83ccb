/* SPDX-License-Identifier: Apache-2.0 */
/* Making a world: where it may be, and that nothing is left when it fails. */
#include "tests/unit/world-fixture.h"

#include <dirent.h>

enum { GENESIS_HEIGHT = 2 }; /* of a new world: the genesis record and its first snapshot */

/* --- making a world --- */

static size_t count_names(const char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(listing);
	return count;
}

static void create_makes_a_world_that_opens(void **state)
{
	struct world_fixture *fixture = *state;

	assert_int_equal(world_fixture_create(fixture), 0);

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT);
	assert_int_equal(strlen(wfs_world_id(fixture->world)), 32);
	assert_string_equal(wfs_world_directory(fixture->world), fixture->directory);
	assert_int_equal(count_names(fixture->root), 2); /* source and world, nothing else */
}

static void create_takes_an_empty_directory(void **state)
{
	struct world_fixture *fixture = *state;

	assert_int_equal(mkdir(fixture->directory, 0755), 0);

	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
}

static void create_takes_a_trailing_slash(void **state)
{
	struct world_fixture *fixture = *state;
	const size_t size = strlen(fixture->directory);

	fixture->directory[size] = '/';
	fixture->directory[size + 1] = '\0';

	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(count_names(fixture->root), 2);
}

static void create_takes_the_current_directory(void **state)
{
	struct world_fixture *fixture = *state;
	char world[sizeof(fixture->directory)];
	char before[4096];

	snprintf(world, sizeof(world), "%s", fixture->directory);
	snprintf(fixture->directory, sizeof(fixture->directory), ".");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(mkdir(world, 0755), 0);
	assert_int_equal(chdir(world), 0);
	int r = world_fixture_create(fixture);
	assert_int_equal(chdir(before), 0);

	assert_int_equal(r, 0);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", world);
	assert_int_equal(world_fixture_open(fixture), 0);
}

static void create_refuses_a_directory_that_is_not_empty(void **state)
{
	struct world_fixture *fixture = *state;

	assert_int_equal(mkdir(fixture->directory, 0755), 0);
	put_file(fixture->directory, "file", "text");

	assert_int_equal(world_fixture_create(fixture), -EEXIST);
	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
	assert_int_equal(count_names(fixture->directory), 1);
	assert_int_equal(count_names(fixture->root), 2);
}

static void create_refuses_a_world(void **state)
{
	struct world_fixture *fixture = *state;

	assert_int_equal(world_fixture_create(fixture), 0);

	assert_int_equal(world_fixture_create(fixture), -EEXIST);
	assert_int_equal(world_fixture_open(fixture), 0);
}

static void create_refuses_a_place_below_nothing(void **state)
{
	struct world_fixture *fixture = *state;

	snprintf(fixture->directory, sizeof(fixture->directory), "%s/no/world", fixture->root);

	assert_int_equal(world_fixture_create(fixture), -ENOENT);
	assert_int_equal(count_names(fixture->root), 1);
}

static void create_leaves_nothing_when_it_fails(void **state)
{
	struct world_fixture *fixture = *state;

	fixture->options.map_size_bytes = UINT64_C(12) * 4096; /* too small for the tables alone */

	assert_int_equal(world_fixture_create(fixture), -ENOSPC);
	assert_int_equal(fixture->error.code, WFS_E_STORE_FULL);
	assert_int_equal(count_names(fixture->root), 1);
}

static void create_tells_every_problem_of_a_bad_manifest(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_error error = {0};

	json_object_set_new(fixture->loaded.manifest, "world_version", json_integer(7));
	json_object_set_new(fixture->loaded.manifest, "name", json_integer(7));

	assert_int_equal(wfs_world_create(fixture->directory, &fixture->loaded, &fixture->options,
				 &problems, &error),
		-EINVAL);
	assert_int_equal(problems.count, 2);
	assert_int_equal(count_names(fixture->root), 1);
}

static void create_copies_the_host_configuration(void **state)
{
	struct world_fixture *fixture = *state;
	char path[128];
	char text[64] = "";

	wfs_buffer_append_text(&fixture->loaded.host, "{\"models\":{}}\n");
	assert_int_equal(world_fixture_create(fixture), 0);

	snprintf(path, sizeof(path), "%s/host.json", fixture->directory);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "{\"models\":{}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SOURCE(create_makes_a_world_that_opens),
		WITH_SOURCE(create_takes_an_empty_directory),
		WITH_SOURCE(create_takes_a_trailing_slash),
		WITH_SOURCE(create_takes_the_current_directory),
		WITH_SOURCE(create_refuses_a_directory_that_is_not_empty),
		WITH_SOURCE(create_refuses_a_world),
		WITH_SOURCE(create_refuses_a_place_below_nothing),
		WITH_SOURCE(create_leaves_nothing_when_it_fails),
		WITH_SOURCE(create_tells_every_problem_of_a_bad_manifest),
		WITH_SOURCE(create_copies_the_host_configuration),
	};

	return cmocka_run_group_tests_name("create", tests, NULL, NULL);
}
