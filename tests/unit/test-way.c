/* SPDX-License-Identifier: Apache-2.0 */
/* Mounting and unmounting when the owner of a directory on the path has just replaced it by a
 * link. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/mount/make.h"
#include "fs/mount/mount-table.h"
#include "fs/mount/way.h"

/* Directories `owned/place` and `other/place`, and `link` to `other`. */
struct fixture {
	char *root;  /* canonical */
	bool mounts; /* this process may mount, in a mount namespace of its own */
};

/* The fixture whose directories are exchanged just before mount(2), after all checks; NULL:
 * none. */
static const struct fixture *exchanges;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
	const void *data);
int __real_mount(const char *source, const char *target, const char *type, unsigned long flags,
	const void *data);
/* NOLINTEND(readability-identifier-naming) */

static void exchange(const struct fixture *fixture, const char *from, const char *to);

int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
	const void *data)
{
	if (exchanges)
		exchange(exchanges, "owned", "link");
	return __real_mount(source, target, type, flags, data);
}

static char *path_of(const struct fixture *fixture, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", fixture->root, name) > 0);
	return path;
}

static int make_directory(const struct fixture *fixture, const char *name)
{
	WFS_AUTO_FREE char *path = path_of(fixture, name);

	return mkdir(path, 0700);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char template[] = "/tmp/wfs-way-XXXXXX";

	*state = fixture;
	if (!fixture || !mkdtemp(template) || !(fixture->root = realpath(template, NULL)))
		return -1;
	fixture->mounts =
		unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	WFS_AUTO_FREE char *link = path_of(fixture, "link");
	return make_directory(fixture, "owned") < 0 || make_directory(fixture, "owned/place") < 0 ||
		make_directory(fixture, "other") < 0 ||
		make_directory(fixture, "other/place") < 0 || symlink("other", link) < 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"owned/place", "link/place", "other/place"};
	struct fixture *fixture = *state;
	WFS_AUTO_FREE char *command = NULL;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_FREE char *path = path_of(fixture, names[i]);

		(void)umount2(path, MNT_DETACH);
	}
	assert_true(asprintf(&command, "rm -rf --one-file-system %s", fixture->root) > 0);
	const int status = system(command); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
	free(fixture->root);
	free(fixture);
	return status;
}

#define ON_THE_WAY(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)

static void exchange(const struct fixture *fixture, const char *from, const char *to)
{
	WFS_AUTO_FREE char *old = path_of(fixture, from);
	WFS_AUTO_FREE char *new = path_of(fixture, to);

	assert_int_equal(renameat2(AT_FDCWD, old, AT_FDCWD, new, RENAME_EXCHANGE), 0);
}

static bool is_mounted(const struct fixture *fixture, const char *name)
{
	WFS_AUTO_FREE char *path = path_of(fixture, name);
	WFS_AUTO_FREE char *above = path_of(fixture, "");
	struct stat on;
	struct stat root;

	assert_int_equal(stat(path, &on), 0);
	assert_int_equal(stat(above, &root), 0);
	return on.st_dev != root.st_dev;
}

/* Mounts a tmpfs. Return: its number. */
static unsigned long mount_other(const struct fixture *fixture, const char *name)
{
	WFS_AUTO_FREE char *path = path_of(fixture, name);
	struct statx stx;

	assert_int_equal(mount("other", path, "tmpfs", 0, NULL), 0);
	assert_int_equal(statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx), 0);
	return stx.stx_dev_minor;
}

ON_THE_WAY(way_of_a_canonical_path_is_open)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	unsigned long device = 0;
	struct stat by_path;
	struct stat by_way;

	assert_int_equal(wfs_way_open(path, &way), 0);

	assert_int_equal(stat(path, &by_path), 0);
	assert_int_equal(stat(way.name, &by_way), 0);
	assert_int_equal(by_path.st_ino, by_way.st_ino);
	assert_int_equal(wfs_way_mounted(&way, &device), -ENOENT);
}

ON_THE_WAY(way_has_no_links)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	WFS_AUTO_FREE char *path = path_of(fixture, "link/place");
	WFS_AUTO_FREE char *last = path_of(fixture, "link");

	assert_int_equal(wfs_way_open(path, &way), -ELOOP);
	assert_int_equal(wfs_way_directory(path), -ELOOP);
	assert_int_equal(wfs_way_directory(last), -ELOOP);
}

ON_THE_WAY(way_of_a_moved_directory_is_where_that_is)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	WFS_AUTO_FREE char *moved = path_of(fixture, "link/place");
	WFS_AUTO_FD int directory = wfs_way_directory(path);
	struct stat by_path;
	struct stat by_way;

	exchange(fixture, "owned", "link");
	assert_int_equal(wfs_way_open_above(directory, &way), 0);

	assert_int_equal(stat(moved, &by_path), 0);
	assert_int_equal(stat(way.name, &by_way), 0);
	assert_int_equal(by_path.st_ino, by_way.st_ino);
}

ON_THE_WAY(unmount_takes_nothing_beyond_a_link)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	struct wfs_error error = {.code = WFS_OK};

	if (!fixture->mounts)
		skip();
	const unsigned long device = mount_other(fixture, "other/place");
	exchange(fixture, "owned", "link");

	assert_int_equal(wfs_mount_unmount(path, device, true, &error), -ELOOP);
	assert_non_null(strstr(error.message, "has just become a symbolic link"));
	assert_true(is_mounted(fixture, "other/place"));
}

ON_THE_WAY(unmount_takes_no_other_mount)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "other/place");

	if (!fixture->mounts)
		skip();
	const unsigned long device = mount_other(fixture, "other/place");

	assert_int_equal(wfs_mount_unmount(path, device + 1, true, NULL), -ENOENT);
	assert_true(is_mounted(fixture, "other/place"));
	assert_int_equal(wfs_mount_unmount(path, device, false, NULL), 0);
	assert_false(is_mounted(fixture, "other/place"));
}

static bool makes_mounts(const struct fixture *fixture)
{
	return fixture->mounts && geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0;
}

ON_THE_WAY(make_covers_nothing_beyond_a_link)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	const struct wfs_make_options options = {.path = path, .source = "/world"};
	struct wfs_error error = {.code = WFS_OK};
	int place = -1;

	if (!makes_mounts(fixture))
		skip();
	exchange(fixture, "owned", "link");

	assert_int_equal(wfs_make_mount(&options, &place, &error), -ELOOP);
	assert_non_null(strstr(error.message, "has just become a symbolic link"));
	assert_false(is_mounted(fixture, "other/place"));
}

ON_THE_WAY(make_covers_the_directory_that_it_has_looked_at)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	WFS_AUTO_FREE char *other = path_of(fixture, "other/place");
	WFS_AUTO_FREE char *moved = path_of(fixture, "link/place");
	const struct wfs_make_options options = {.path = path, .source = "/world"};
	WFS_AUTO_FD int place = -1;

	if (!makes_mounts(fixture))
		skip();
	exchanges = fixture;
	WFS_AUTO_FD int fd = wfs_make_mount(&options, &place, NULL);
	exchanges = NULL;

	assert_true(fd >= 0);
	/* No process serves this mount, so only the mount table can be asked. */
	assert_int_equal(wfs_mount_is_ours(other, NULL), 0);
	assert_int_equal(wfs_mount_is_ours(moved, NULL), 1);
	wfs_make_undo(place);
}

ON_THE_WAY(make_attaches_nothing_beyond_a_link)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	const struct wfs_make_options options = {.path = path, .source = "/world"};
	WFS_AUTO_FD int made = -1;
	int place = -1;

	if (!makes_mounts(fixture))
		skip();
	WFS_AUTO_FD int device = wfs_make_detached(&options, &made, NULL);
	assert_true(device >= 0);
	exchange(fixture, "owned", "link");

	assert_int_equal(wfs_make_attach(made, path, &place, NULL), -ELOOP);
	assert_false(is_mounted(fixture, "other/place"));
}

ON_THE_WAY(make_is_undone_where_the_directory_is_by_then)
{
	WFS_AUTO_FREE char *path = path_of(fixture, "owned/place");
	WFS_AUTO_FREE char *moved = path_of(fixture, "link/place");
	const struct wfs_make_options options = {.path = path, .source = "/world"};
	WFS_AUTO_FD int place = -1;
	unsigned long made = 0;
	unsigned long device = 0;

	if (!makes_mounts(fixture))
		skip();
	WFS_AUTO_FD int fd = wfs_make_mount(&options, &place, NULL);
	assert_true(fd >= 0);
	mount_other(fixture, "other/place");
	exchange(fixture, "owned", "link");

	assert_int_equal(wfs_mount_device(moved, &device, NULL, NULL), 0);
	assert_int_equal(wfs_make_device(place, &made), 0);
	assert_int_equal(made, device);
	wfs_make_undo(place);

	assert_false(is_mounted(fixture, "link/place"));
	assert_true(is_mounted(fixture, "other/place"));
	assert_int_equal(wfs_make_device(place, &made), -ENOENT);
}
