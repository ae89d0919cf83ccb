/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that appear whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/base/directory.h"
#include "kernel/stage.h"

struct fixture {
	char root[64];
	char wanted[96];
	struct wfs_error error;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->root, sizeof(fixture->root), "/tmp/wfs-stage-XXXXXX");
	*state = fixture;
	if (!mkdtemp(fixture->root))
		return -1;
	snprintf(fixture->wanted, sizeof(fixture->wanted), "%s/wanted", fixture->root);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	wfs_directory_remove(fixture->root);
	free(fixture);
	return 0;
}

static void fill(const struct wfs_stage *stage)
{
	WFS_AUTO_FD int first =
		openat(stage->fd, "first", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	WFS_AUTO_FD int last =
		openat(stage->fd, "last", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(first >= 0 && last >= 0);
	assert_int_equal(mkdirat(stage->fd, "directory", 0700), 0);
}

static bool there(const struct fixture *fixture, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", fixture->wanted, name);
	return access(path, F_OK) == 0;
}

/* Names in the private directory and in the wanted one. */
static size_t count_names(const char *directory)
{
	char command[PATH_MAX];
	char text[32] = "";

	snprintf(command, sizeof(command), "find %s -mindepth 1 | wc -l", directory);
	FILE *file = popen(command, "re"); /* NOLINT(cert-env33-c): a path of ours */
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_int_equal(pclose(file), 0);
	return strtoul(text, NULL, 10);
}

static void publish_makes_a_missing_directory(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	assert_false(there(fixture, ""));
	assert_int_equal(wfs_stage_publish(&stage, "last", &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_true(there(fixture, "first") && there(fixture, "directory"));
	assert_true(there(fixture, "last"));
	assert_int_equal(count_names(fixture->root), 4);
}

static void publish_fills_an_empty_directory(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	assert_false(there(fixture, "first"));
	assert_int_equal(wfs_stage_publish(&stage, "last", &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_true(there(fixture, "first") && there(fixture, "last"));
	assert_int_equal(count_names(fixture->root), 4);
}

static void init_takes_a_relative_path_that_ends_with_a_slash(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	WFS_AUTO_FREE char *before = getcwd(NULL, 0);

	assert_int_equal(chdir(fixture->root), 0);
	assert_int_equal(wfs_stage_init(&stage, "wanted/", &fixture->error), 0);
	assert_int_equal(chdir(before), 0);
	fill(&stage);
	assert_int_equal(wfs_stage_publish(&stage, "last", &fixture->error), 0);

	assert_true(there(fixture, "last"));
}

static void init_refuses_a_directory_with_something_in_it(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(wfs_stage_init(&stage, "/tmp", &fixture->error), -EEXIST);

	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
}

static void init_refuses_a_missing_parent(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/no/wanted", fixture->root);
	assert_int_equal(wfs_stage_init(&stage, path, &fixture->error), -ENOENT);

	assert_int_equal(count_names(fixture->root), 0);
}

static void done_leaves_nothing_when_it_was_not_published(void **state)
{
	struct fixture *fixture = *state;
	struct wfs_stage stage = {0};

	wfs_stage_done(&stage);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	wfs_stage_done(&stage);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 0);
}

/* As after a kill: the directory stays, the lock does not. */
static void leave_behind(struct fixture *fixture)
{
	struct wfs_stage stage = {0};

	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	close(stage.fd);
}

static void init_removes_what_a_killed_run_left_beside_it(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	leave_behind(fixture);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);

	assert_int_equal(count_names(fixture->root), 1);
}

static void init_removes_what_a_killed_run_left_inside(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	leave_behind(fixture);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);

	assert_int_equal(count_names(fixture->wanted), 1);
}

static void init_leaves_alone_what_somebody_is_filling(void **state)
{
	struct fixture *fixture = *state;
	WFS_AUTO_STAGE struct wfs_stage first = {0};
	WFS_AUTO_STAGE struct wfs_stage second = {0};

	assert_int_equal(wfs_stage_init(&first, fixture->wanted, &fixture->error), 0);
	fill(&first);
	assert_int_equal(wfs_stage_init(&second, fixture->wanted, &fixture->error), 0);

	assert_int_equal(wfs_stage_publish(&first, "last", &fixture->error), 0);
	fill(&second);
	assert_true(wfs_stage_publish(&second, "last", &fixture->error) < 0);
	assert_true(there(fixture, "last"));
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_ROOT(publish_makes_a_missing_directory),
		IN_ROOT(publish_fills_an_empty_directory),
		IN_ROOT(init_takes_a_relative_path_that_ends_with_a_slash),
		IN_ROOT(init_refuses_a_directory_with_something_in_it),
		IN_ROOT(init_refuses_a_missing_parent),
		IN_ROOT(done_leaves_nothing_when_it_was_not_published),
		IN_ROOT(init_removes_what_a_killed_run_left_beside_it),
		IN_ROOT(init_removes_what_a_killed_run_left_inside),
		IN_ROOT(init_leaves_alone_what_somebody_is_filling),
	};

	return cmocka_run_group_tests_name("stage", tests, NULL, NULL);
}
