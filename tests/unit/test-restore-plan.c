/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of worlds that have plans. */
#include "tests/fixture/plan-tree.h"
#include "tests/fixture/restore.h"

#define PLANS "plans/" PLANNED_ID

static int setup_planned(void **state)
{
	if (world_fixture_setup(state) || action_fixture_begin(*state))
		return -1;
	const struct planned planned = planned_begin(*state, PLANNED_ID, PLANNED_SMALL);
	planned_gives(&planned, 0, "one");
	copy_at(*state, WFS_HEIGHT_HEAD);
	return 0;
}

#define COPIED(name) \
	TEST_WITH(name, struct world_fixture *fixture, setup_planned, world_fixture_teardown)

COPIED(a_copy_with_plans_is_the_same_world)
{
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_sound(fixture);
}

/* A plan that has more than one block, and files that have more than one part. */
WITH_ACTORS_DAMAGED(a_copy_with_a_large_plan_is_the_same_world)
{
	(void)planned_many(fixture, "p", 1000);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
}

/* As a copy made with a version that did not show files of plans. */
COPIED(a_copy_without_files_of_plans_is_the_same_world)
{
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	char from[256];
	char to[300];

	copy_path(fixture, "plans", from);
	snprintf(to, sizeof(to), "%s/elsewhere", fixture->root);
	assert_int_equal(rename(from, to), 0);
	make_copy_directory(fixture, "plans");
	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
}

/* Changes one byte of a file. */
static void change(const struct world_fixture *fixture, const char *name)
{
	WFS_AUTO_FD int fd = -1;
	char path[256];
	char byte;

	copy_path(fixture, name, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 20), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 20), 1);
}

COPIED(a_changed_file_of_a_plan_is_named)
{
	static const struct {
		const char *name;
		const char *says;
	} files[] = {
		{PLANS "/plan.json", "is not what its cell and those of its steps say"},
		{PLANS ".json", "is not what its cell and those of its steps say"},
		{PLANS "/status", "expected sha256:"},
		{PLANS "/graph.dot", "expected sha256:"},
		{PLANS "/steps/0-a.json", "expected sha256:"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(files); i++) {
		char line[256];

		change(fixture, files[i].name);
		snprintf(line, sizeof(line), "%s: %s", files[i].name, files[i].says);
		assert_copy_refused(fixture, line);
		change(fixture, files[i].name); /* changes it back */
	}
}

COPIED(a_missing_file_of_a_plan_is_named)
{
	static const char *const names[] = {
		PLANS "/plan.json", PLANS ".json", PLANS "/steps/2-n.json"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		char line[256];

		remove_copy(fixture, names[i]);
		snprintf(line, sizeof(line), "%s: is missing", names[i]);
		assert_copy_refused(fixture, line);
	}
}

COPIED(a_file_that_no_plan_has_is_named)
{
	static const char *const names[] = {PLANS "/steps/3-n.json", PLANS "/steps/2-m.json",
		PLANS "/steps/x", PLANS "/result.json", PLANS "/.json"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		char line[256];

		put_copy(fixture, names[i], wfs_bytes_text("{}\n"));
		snprintf(line, sizeof(line), "%s: is not a file of a tree", names[i]);
		assert_copy_refused(fixture, line);
		remove_copy(fixture, names[i]);
	}
	put_copy(fixture, "plans/other.json", wfs_bytes_text("{}\n"));
	assert_copy_refused(fixture, "plans/other.json: is not in the world");
}
