/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades: the world is the old one until it is the new one, and nothing of it is lost. */
#include "tests/fixture/store.h"
#include "tests/fixture/tamper.h"

#include <fcntl.h>

#include "kernel/base/lock.h"
#include "kernel/check/replay.h"
#include "kernel/copy/gc.h"
#include "kernel/copy/upgrade.h"

struct upgrading {
	struct wfs_upgrade_options options;
	struct wfs_problems problems;
	struct wfs_upgraded upgraded;
	int looks; /* how often the upgrade asked whether to go on */
	int looks_max;
};

static bool stop_at(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct upgrading *const upgrading = context;

	(void)what;
	(void)done;
	(void)total;
	return !upgrading->looks_max || ++upgrading->looks < upgrading->looks_max;
}

static int upgrade(struct world_fixture *fixture, struct upgrading *upgrading)
{
	wfs_problems_done(&upgrading->problems);
	upgrading->problems = (struct wfs_problems){0};
	upgrading->looks = 0;
	upgrading->options.progress = stop_at;
	upgrading->options.context = upgrading;
	return wfs_upgrade(fixture->directory, &upgrading->options, &upgrading->problems,
		&upgrading->upgraded, &fixture->error);
}

static bool has(const struct world_fixture *fixture, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	return access(path, F_OK) == 0;
}

/* Finds the hash of the cell `large`, whose bytes are in a file. */
static void find_large(struct world_fixture *fixture, struct wfs_hash *ret_hash)
{
	struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;
	struct wfs_version version;

	assert_int_equal(wfs_view_reducer(&view, "cell", 4, &reducer), 0);
	assert_int_equal(
		wfs_view_cell(&view, reducer.reducer_id, wfs_bytes_text("large"), &version), 0);
	assert_true(version.in_file);
	*ret_hash = version.hash;
	wfs_view_close(&view);
}

/* Makes some history, closes the world, and makes its store one of format 7. */
static void grow_old(struct world_fixture *fixture)
{
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	const struct wfs_store_options options = {.create = false};

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'large','op':'grow','n':200000}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'a','op':'set','n':2}");
	world_fixture_close(fixture);
	assert_int_equal(wfs_store_open(fixture->directory, &options, &store, &fixture->error), 0);
	store_make_older(store, 7);
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* Is the world still of format 7, and is nothing left of an upgrade? */
static void assert_old(struct world_fixture *fixture)
{
	assert_int_equal(world_fixture_open(fixture), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_OLDER);
	assert_false(has(fixture, "upgrade"));
	assert_false(has(fixture, "before-7"));
}

static const char *last_record(struct world_fixture *fixture, uint64_t back, char line[static 4096])
{
	struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_bytes bytes;

	assert_int_equal(wfs_view_record(&view, view.height - back, &bytes), 0);
	snprintf(line, 4096, "%.*s", (int)bytes.size, (const char *)bytes.data);
	wfs_view_close(&view);
	return line;
}

IN_WORLD(upgrade_keeps_the_history_and_adds_an_epoch)
{
	struct upgrading upgrading = {.looks_max = 0};
	const uint64_t height = height_of(fixture) + 4;
	char line[4096];

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);
	assert_true(upgrading.upgraded.needed);
	assert_int_equal(upgrading.upgraded.from_format, 7);
	assert_int_equal(upgrading.upgraded.height, height + 1);
	assert_false(has(fixture, "upgrade"));
	assert_good(fixture);

	assert_int_equal(height_of(fixture), height + 1);
	assert_non_null(strstr(last_record(fixture, 1, line), "\"kind\":\"epoch\""));
	assert_non_null(strstr(line, "\"fold_from\":1,\"fold_to\":2"));
	assert_state_at(fixture, height - 2, "cell", "a", "{'n':1}");
	assert_state_at(fixture, height - 1, "cell", "a", NULL);
	tell(fixture, "{'key':'a','op':'set','n':3}");
	assert_state(fixture, "cell", "a", "{'n':3}");
	world_fixture_close(fixture);
	assert_good(fixture);
}

static void since(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_gc gc = {0};

	assert_int_equal(wfs_gc_begin(fixture->world, false, height, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.done);
}

/* Folding begins at the first height that is kept: nothing is left of cells deleted before. */
IN_WORLD(replay_begins_at_a_kept_height_without_cells_that_were_dropped)
{
	struct upgrading upgrading = {.looks_max = 0};

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);
	assert_good(fixture);
	tell(fixture, "{'key':'b','op':'set','n':1}");
	tell(fixture, "{'key':'c','op':'set','n':1}");
	tell(fixture, "{'key':'c','op':'delete'}");
	tell(fixture, "{'key':'b','op':'delete'}");
	since(fixture, height_of(fixture)); /* the newest version stays, that of `b` */
	assert_good(fixture);
	tell(fixture, "{'key':'d','op':'set','n':1}");
	since(fixture, height_of(fixture));
	assert_good(fixture);
	tell(fixture, "{'key':'c','op':'set','n':2}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	tell(fixture, "{'key':'d','op':'delete'}");
	assert_good(fixture);
	since(fixture, height_of(fixture) - 1);

	assert_good(fixture);
	assert_state(fixture, "cell", "b", "{'n':2}");
	assert_state(fixture, "cell", "c", "{'n':2}");
}

IN_WORLD(upgrade_of_a_new_world_does_nothing)
{
	struct upgrading upgrading = {.looks_max = 0};
	const uint64_t height = height_of(fixture);

	world_fixture_close(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);

	assert_false(upgrading.upgraded.needed);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), height);
	assert_false(has(fixture, "before-8"));
}

IN_WORLD(a_dry_run_changes_nothing)
{
	struct upgrading upgrading = {.options.dry_run = true};

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);

	assert_true(upgrading.upgraded.needed);
	assert_true(upgrading.upgraded.needs_bytes > 0);
	assert_old(fixture);
}

IN_WORLD(a_stopped_upgrade_leaves_the_old_world)
{
	struct upgrading upgrading = {.looks_max = 0};
	int r = -EINTR;

	grow_old(fixture);
	for (upgrading.looks_max = 1; r == -EINTR; upgrading.looks_max++) {
		r = upgrade(fixture, &upgrading);
		if (r == 0)
			break;
		assert_int_equal(r, -EINTR);
		assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
		assert_old(fixture);
	}

	assert_int_equal(r, 0);
	assert_true(upgrading.looks_max > 5);
	assert_true(has(fixture, "before-7"));
	assert_good(fixture);
}

IN_WORLD(upgrade_waits_for_no_owner)
{
	struct upgrading upgrading = {.looks_max = 0};

	assert_int_equal(upgrade(fixture, &upgrading), -EBUSY);
	assert_int_equal(fixture->error.code, WFS_E_BUSY);
}

IN_WORLD(upgrade_removes_what_a_killed_one_left)
{
	struct upgrading upgrading = {.looks_max = 0};
	char path[128];

	grow_old(fixture);
	snprintf(path, sizeof(path), "%s/upgrade", fixture->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/upgrade/blobs", fixture->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(upgrade(fixture, &upgrading), 0);

	assert_false(has(fixture, "upgrade"));
	assert_good(fixture);
}

IN_WORLD(upgrade_names_damage_and_changes_nothing)
{
	struct upgrading upgrading = {.looks_max = 0};
	struct wfs_hash large;
	char path[256];

	tell(fixture, "{'key':'large','op':'grow','n':200000}");
	find_large(fixture, &large);
	blob_file_path(fixture, &large, path);
	grow_old(fixture);
	WFS_AUTO_FD int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "X", 1, 7), 1);
	assert_int_equal(upgrade(fixture, &upgrading), -EIO);

	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(wfs_buffer_text(&upgrading.problems.lines), "large"));
	assert_false(has(fixture, "before-7"));
	assert_old(fixture);
	wfs_problems_done(&upgrading.problems);
}

/* --- the old store --- */

IN_WORLD(the_old_store_is_kept_until_it_is_dropped)
{
	struct upgrading upgrading = {.looks_max = 0};

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);
	assert_true(has(fixture, "before-7/data.mdb"));
	assert_int_equal(wfs_upgrade_drop(fixture->directory, INT64_MAX, &fixture->error), 0);
	assert_true(has(fixture, "before-7/data.mdb"));
	assert_int_equal(wfs_upgrade_drop(fixture->directory, 0, &fixture->error), 1);
	assert_false(has(fixture, "before-7"));
	assert_good(fixture); /* the new store has its own names of the blob files */
}

IN_WORLD(an_old_store_that_was_made_with_keep_only_goes_when_all_go)
{
	struct upgrading upgrading = {.options.keep = true};

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);
	assert_int_equal(wfs_upgrade_drop(fixture->directory, 0, &fixture->error), 0);
	assert_true(has(fixture, "before-7/keep"));
	assert_int_equal(wfs_upgrade_drop(fixture->directory, -1, &fixture->error), 1);
	assert_false(has(fixture, "before-7"));
}

IN_WORLD(the_old_store_of_another_upgrade_is_not_replaced)
{
	struct upgrading upgrading = {.looks_max = 0};
	char path[128];

	grow_old(fixture);
	snprintf(path, sizeof(path), "%s/before-7", fixture->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/before-7/data.mdb", fixture->directory);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(upgrade(fixture, &upgrading), -EEXIST);

	assert_non_null(strstr(fixture->error.message, "--drop-old"));
	assert_int_equal(world_fixture_open(fixture), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_FORMAT_OLDER);
}

/* --- replay from a later height --- */

IN_WORLD(replay_begins_at_the_first_kept_height_after_the_epoch)
{
	struct upgrading upgrading = {.looks_max = 0};
	struct wfs_gc gc = {0};

	grow_old(fixture);
	assert_int_equal(upgrade(fixture, &upgrading), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	tell(fixture, "{'key':'b','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	tell(fixture, "{'key':'c','op':'set','n':3}");
	assert_int_equal(wfs_gc_begin(fixture->world, true, 2, &gc, &fixture->error), 0);
	while (!gc.done)
		assert_int_equal(
			wfs_gc_advance(fixture->world, &gc, "operator", 0, &fixture->error), 0);
	tell(fixture, "{'key':'a','op':'set','n':4}");
	world_fixture_close(fixture);
	assert_good(fixture);
}
