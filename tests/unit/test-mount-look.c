/* SPDX-License-Identifier: Apache-2.0 */
/* What a process started for this sees of a path. tests/mount/test-hanging-place has paths that
 * hang. */
#include "tests/fixture/test.h"

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

#define LOOKS(name) TEST_WITH(name, struct fixture *fixture, NULL, NULL)

static void assert_resolved(const struct fixture *fixture, const char *name, const char *expected)
{
	WFS_AUTO_FREE char *path = NULL;

	print_message("%s\n", name);
	assert_int_equal(wfs_mount_resolve(path_of(fixture, name), &path, NULL), 0);
	assert_string_equal(path, path_of(fixture, expected));
}

LOOKS(a_directory_is_resolved_with_or_without_links)
{
	assert_resolved(fixture, "place", "place");
	assert_resolved(fixture, "place/", "place");
	assert_resolved(fixture, "link", "place");
	assert_resolved(fixture, "link/below", "place/below");
	assert_resolved(fixture, "place/.", "place");
	assert_resolved(fixture, "place/../link/.", "place");
}

TEST(the_root_is_resolved)
{
	WFS_AUTO_FREE char *root = NULL;
	WFS_AUTO_FREE char *below = NULL;

	assert_int_equal(wfs_mount_resolve("/", &root, NULL), 0);
	assert_string_equal(root, "/");
	assert_int_equal(wfs_mount_resolve("/tmp/..//below", &below, NULL), 0);
	assert_string_equal(below, "/below");
}

LOOKS(what_leads_nowhere_is_refused)
{
	struct wfs_error error = {.code = WFS_OK};
	char *path = NULL;

	assert_int_equal(wfs_mount_resolve(path_of(fixture, "none/below"), &path, &error), -ENOENT);
	assert_int_equal(
		wfs_mount_resolve(path_of(fixture, "file/below"), &path, &error), -ENOTDIR);
	assert_int_equal(wfs_mount_resolve("relative", &path, &error), -EINVAL);
	assert_null(path);
}

LOOKS(a_directory_is_told_from_what_is_none)
{
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(wfs_mount_look_directory(path_of(fixture, "place"), &error), 0);
	assert_int_equal(wfs_mount_look_directory(path_of(fixture, "link"), &error), 0);
	assert_int_equal(wfs_mount_look_directory(path_of(fixture, "file"), &error), -EINVAL);
	assert_non_null(strstr(error.message, "is not a directory"));
	assert_int_equal(wfs_mount_look_directory(path_of(fixture, "none"), &error), -ENOENT);
}

LOOKS(an_error_is_an_answer)
{
	assert_int_equal(wfs_mount_answers(path_of(fixture, "place"), NULL), 0);
	assert_int_equal(wfs_mount_answers(path_of(fixture, "none"), NULL), 0);
}

LOOKS(no_child_is_left)
{
	assert_int_equal(wfs_mount_answers(path_of(fixture, "place"), NULL), 0);

	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

TEST_GROUP(setup, teardown)
