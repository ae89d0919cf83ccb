/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of its own sees of a path. What hangs is in tests/mount/test-hanging-place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount/mount-table.h"

/* A directory with `file`, the directory `place`, and `link` to it. */
struct fixture {
	char *root; /* canonical */
};

static const char *path_of(const struct fixture *fixture, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", fixture->root, name);
	return path;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char template[] = "/tmp/wfs-look-XXXXXX";

	*state = fixture;
	if (!fixture || !mkdtemp(template) || !(fixture->root = realpath(template, NULL)))
		return -1;
	WFS_AUTO_FD int fd = open(path_of(fixture, "file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || mkdir(path_of(fixture, "place"), 0700) < 0 ||
		symlink("place", path_of(fixture, "link")) < 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(path_of(fixture, "link"));
	unlink(path_of(fixture, "file"));
	rmdir(path_of(fixture, "place"));
	rmdir(fixture->root);
	free(fixture->root);
	free(fixture);
	return 0;
}

static void assert_resolved(const struct fixture *fixture, const char *name, const char *expected)
{
	WFS_AUTO_FREE char *path = NULL;

	print_message("%s\n", name);
	assert_int_equal(wfs_mount_resolve(path_of(fixture, name), &path, NULL), 0);
	assert_string_equal(path, path_of(fixture, expected));
}

static void a_directory_is_resolved_with_or_without_links(void **state)
{
	const struct fixture *fixture = *state;

	assert_resolved(fixture, "place", "place");
	assert_resolved(fixture, "place/", "place");
	assert_resolved(fixture, "link", "place");
	assert_resolved(fixture, "link/below", "place/below");
	assert_resolved(fixture, "place/.", "place");
	assert_resolved(fixture, "place/../link/.", "place");
}

static void the_root_is_resolved(void **state)
{
	WFS_AUTO_FREE char *root = NULL;
	WFS_AUTO_FREE char *below = NULL;

	(void)state;
	assert_int_equal(wfs_mount_resolve("/", &root, NULL), 0);
	assert_string_equal(root, "/");
	assert_int_equal(wfs_mount_resolve("/tmp/..//below", &below, NULL), 0);
	assert_string_equal(below, "/below");
}

static void what_leads_nowhere_is_refused(void **state)
{
	struct wfs_error error = {.code = WFS_OK};
	char *path = NULL;

	assert_int_equal(wfs_mount_resolve(path_of(*state, "none/below"), &path, &error), -ENOENT);
	assert_int_equal(wfs_mount_resolve(path_of(*state, "file/below"), &path, &error), -ENOTDIR);
	assert_int_equal(wfs_mount_resolve("relative", &path, &error), -EINVAL);
	assert_null(path);
}

static void a_directory_is_told_from_what_is_none(void **state)
{
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(wfs_mount_look_directory(path_of(*state, "place"), &error), 0);
	assert_int_equal(wfs_mount_look_directory(path_of(*state, "link"), &error), 0);
	assert_int_equal(wfs_mount_look_directory(path_of(*state, "file"), &error), -EINVAL);
	assert_non_null(strstr(error.message, "is not a directory"));
	assert_int_equal(wfs_mount_look_directory(path_of(*state, "none"), &error), -ENOENT);
}

static void an_error_is_an_answer(void **state)
{
	assert_int_equal(wfs_mount_answers(path_of(*state, "place"), NULL), 0);
	assert_int_equal(wfs_mount_answers(path_of(*state, "none"), NULL), 0);
}

static void no_child_is_left(void **state)
{
	assert_int_equal(wfs_mount_answers(path_of(*state, "place"), NULL), 0);

	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_is_resolved_with_or_without_links),
		cmocka_unit_test(the_root_is_resolved),
		cmocka_unit_test(what_leads_nowhere_is_refused),
		cmocka_unit_test(a_directory_is_told_from_what_is_none),
		cmocka_unit_test(an_error_is_an_answer),
		cmocka_unit_test(no_child_is_left),
	};

	return cmocka_run_group_tests_name("mount-look", tests, setup, teardown);
}
