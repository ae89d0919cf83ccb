/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that appear completely or not at all. */
#include "tests/fixture/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kernel/base/directory.h"
#include "kernel/store/stage.h"

enum {
	PAIRS = 100,    /* of processes that begin at once */
	NOBODY = 65534, /* another user's id */
};

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

#define IN_ROOT(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)

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

/* The number of names in the private directory and in the wanted one. */
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

IN_ROOT(publish_makes_a_missing_directory)
{
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

IN_ROOT(publish_fills_an_empty_directory)
{
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

IN_ROOT(init_takes_a_relative_path_that_ends_with_a_slash)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	WFS_AUTO_FREE char *before = getcwd(NULL, 0);

	assert_int_equal(chdir(fixture->root), 0);
	assert_int_equal(wfs_stage_init(&stage, "wanted/", &fixture->error), 0);
	assert_int_equal(chdir(before), 0);
	fill(&stage);
	assert_int_equal(wfs_stage_publish(&stage, "last", &fixture->error), 0);

	assert_true(there(fixture, "last"));
}

IN_ROOT(init_refuses_a_directory_with_something_in_it)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(wfs_stage_init(&stage, "/tmp", &fixture->error), -EEXIST);

	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
}

IN_ROOT(init_refuses_a_missing_parent)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/no/wanted", fixture->root);
	assert_int_equal(wfs_stage_init(&stage, path, &fixture->error), -ENOENT);

	assert_int_equal(count_names(fixture->root), 0);
}

IN_ROOT(done_leaves_nothing_when_it_was_not_published)
{
	struct wfs_stage stage = {0};

	wfs_stage_done(&stage);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	wfs_stage_done(&stage);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 0);
}

/* Leaves what a killed process leaves: the directory stays, the lock does not. */
static void leave_behind(struct fixture *fixture)
{
	struct wfs_stage stage = {0};

	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	close(stage.fd);
	close(stage.place_fd);
}

IN_ROOT(init_removes_what_a_killed_run_left_beside_it)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	leave_behind(fixture);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);

	assert_int_equal(count_names(fixture->root), 1);
}

IN_ROOT(init_removes_what_a_killed_run_left_inside)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	leave_behind(fixture);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);

	assert_int_equal(count_names(fixture->wanted), 1);
}

IN_ROOT(init_leaves_alone_what_somebody_is_filling)
{
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

IN_ROOT(init_refuses_an_empty_directory_that_somebody_is_filling)
{
	WFS_AUTO_STAGE struct wfs_stage first = {0};
	WFS_AUTO_STAGE struct wfs_stage second = {0};

	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	assert_int_equal(wfs_stage_init(&first, fixture->wanted, &fixture->error), 0);
	fill(&first);
	assert_int_equal(wfs_stage_init(&second, fixture->wanted, &fixture->error), -EEXIST);

	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
	assert_int_equal(wfs_stage_publish(&first, "last", &fixture->error), 0);
	wfs_stage_done(&first);
	assert_int_equal(count_names(fixture->root), 4);
}

IN_ROOT(publish_replaces_nothing)
{
	struct wfs_stage stage = {0};
	char path[PATH_MAX];
	char text[8] = "";

	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	fill(&stage);
	snprintf(path, sizeof(path), "%s/last", fixture->wanted);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "theirs", 6), 6);
	assert_int_equal(wfs_stage_publish(&stage, "last", &fixture->error), -EEXIST);
	wfs_stage_done(&stage);

	WFS_AUTO_FD int again = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(again, text, sizeof(text)), 6);
	assert_string_equal(text, "theirs");
	assert_int_equal(count_names(fixture->wanted), 1);
}

/* --- renames that fail --- */

static int renames_left = -1; /* how many renames succeed; below 0: all */

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	if (renames_left == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (renames_left > 0)
		renames_left--;
	return __real_renameat2(from_fd, from, to_fd, to, flags);
}
/* NOLINTEND(readability-identifier-naming) */

/* `first`, `directory` and `last` are renamed, and nothing more can be, not even back. */
IN_ROOT(what_could_not_be_taken_back_is_by_the_next_run)
{
	assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	for (int count = 0; count < 3; count++) {
		WFS_AUTO_STAGE struct wfs_stage failed = {0};
		WFS_AUTO_STAGE struct wfs_stage next = {0};

		assert_int_equal(wfs_stage_init(&failed, fixture->wanted, &fixture->error), 0);
		fill(&failed);
		renames_left = count;
		assert_int_equal(wfs_stage_publish(&failed, "last", &fixture->error), -ENOSPC);
		wfs_stage_done(&failed);
		renames_left = -1;
		assert_int_equal(wfs_stage_init(&next, fixture->wanted, &fixture->error), 0);
		wfs_stage_done(&next);
		assert_int_equal(count_names(fixture->wanted), 0);
	}
}

/* --- what is left by others --- */

/* Makes a directory named like a stage, with a list of what it moved. */
static void plant(const struct fixture *fixture, mode_t mode, uid_t owner, const char *moved)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.worldfs-new-AAAAAA", fixture->wanted);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s.worldfs-new-AAAAAA/.moved", fixture->wanted);
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, moved, strlen(moved)), strlen(moved));
	assert_int_equal(fchown(fd, owner, owner), 0);
	snprintf(path, sizeof(path), "%s.worldfs-new-AAAAAA", fixture->wanted);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(chown(path, owner, owner), 0);
}

static void make_precious(const struct fixture *fixture)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/precious", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/precious/thing", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0);
}

IN_ROOT(init_leaves_alone_what_another_user_named_like_a_stage)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	if (geteuid() != 0)
		skip();
	make_precious(fixture);
	plant(fixture, 01700, NOBODY, "nothere\nprecious\n");
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 4);
}

/* A user that may rename in a directory may give any of our directories such a name. */
IN_ROOT(init_leaves_alone_what_was_not_made_as_a_stage)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	make_precious(fixture);
	plant(fixture, 0700, geteuid(), "nothere\nprecious\n");
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 4);
}

IN_ROOT(init_follows_no_link_that_is_named_like_a_stage)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	char path[PATH_MAX];

	make_precious(fixture);
	snprintf(path, sizeof(path), "%s.worldfs-new-AAAAAA", fixture->wanted);
	assert_int_equal(symlink("precious", path), 0);
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 3);
}

/* The names lead to the fixture's directories in any case, because this one is separate. */
IN_ROOT(init_takes_back_names_beside_the_stage_only)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	char path[PATH_MAX];

	make_precious(fixture);
	snprintf(path, sizeof(path), "%s/place", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(fixture->wanted, sizeof(fixture->wanted), "%s/place/wanted", fixture->root);
	plant(fixture, 01700, geteuid(), "nothere\n../precious\n../precious/thing\n.\n..\n");
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 3);
}

IN_ROOT(init_takes_back_what_was_moved_and_nothing_else)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};

	make_precious(fixture);
	plant(fixture, 01700, geteuid(), "nothere\nprecious\nkept\n");
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s.worldfs-new-AAAAAA/kept", fixture->wanted);
	assert_int_equal(mkdir(path, 0700), 0); /* not moved yet */
	snprintf(path, sizeof(path), "%s/kept", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0); /* another user's */
	assert_int_equal(wfs_stage_init(&stage, fixture->wanted, &fixture->error), 0);
	wfs_stage_done(&stage);

	assert_int_equal(count_names(fixture->root), 1);
	assert_int_equal(access(path, F_OK), 0);
}

/* --- two at once --- */

/* Fills the directory with its own number. Return: 0 if wfs_stage reports success. */
static int try_to_fill(const char *wanted, char who)
{
	WFS_AUTO_STAGE struct wfs_stage stage = {0};
	struct wfs_error error;
	const char *const names[] = {"first", "last"};

	if (wfs_stage_init(&stage, wanted, &error))
		return 1;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_FD int fd =
			openat(stage.fd, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (write(fd, &who, 1) != 1)
			return 2;
	}
	stage.files_synced = true;
	return wfs_stage_publish(&stage, "last", &error) ? 1 : 0;
}

/* Starts a process that fills the directory when the other end of the pipe is closed. */
static pid_t start_filling(const char *wanted, char who, const int starter[2])
{
	const pid_t pid = fork();
	char byte;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	close(starter[1]);
	_exit(read(starter[0], &byte, 1) == 0 ? try_to_fill(wanted, who) : 2);
}

static int end_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static char content_of(const struct fixture *fixture, const char *name)
{
	char path[PATH_MAX];
	char byte = '\0';

	snprintf(path, sizeof(path), "%s/%s", fixture->wanted, name);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &byte, 1), 1);
	return byte;
}

static void one_of_a_pair_wins(struct fixture *fixture, bool inside)
{
	int starter[2];
	int end[2];

	if (inside)
		assert_int_equal(mkdir(fixture->wanted, 0700), 0);
	assert_int_equal(pipe2(starter, O_CLOEXEC), 0);
	const pid_t first = start_filling(fixture->wanted, '0', starter);
	const pid_t second = start_filling(fixture->wanted, '1', starter);
	close(starter[0]);
	close(starter[1]);
	end[0] = end_of(first);
	end[1] = end_of(second);

	assert_int_equal(end[0] + end[1], 1);
	assert_int_equal(content_of(fixture, "first"), end[0] == 0 ? '0' : '1');
	assert_int_equal(content_of(fixture, "last"), end[0] == 0 ? '0' : '1');
	assert_int_equal(count_names(fixture->root), 3);
	wfs_directory_remove(fixture->wanted);
}

IN_ROOT(of_two_that_fill_an_empty_directory_one_wins)
{
	for (int i = 0; i < PAIRS; i++)
		one_of_a_pair_wins(fixture, true);
}

IN_ROOT(of_two_that_make_a_directory_one_wins)
{
	for (int i = 0; i < PAIRS; i++)
		one_of_a_pair_wins(fixture, false);
}
