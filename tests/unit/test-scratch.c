/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that are removed when their process ends, and removing trees. */
#include "tests/fixture/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kernel/base/directory.h"
#include "kernel/base/scratch.h"

enum { FILES = 1000 }; /* more names than one read of a directory returns */

struct fixture {
	char root[64];
	struct wfs_error error;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->root, sizeof(fixture->root), "/tmp/wfs-scratch-XXXXXX");
	*state = fixture;
	if (!mkdtemp(fixture->root))
		return -1;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	return setenv("TMPDIR", fixture->root, 1);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	wfs_directory_remove(fixture->root);
	free(fixture);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	return unsetenv("TMPDIR");
}

#define IN_SCRATCH(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)

static bool put(const char *directory, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0;
}

/* Makes files, a symlink that leads outside, and directories in directories. */
static bool fill(const char *directory, const char *outside)
{
	char path[PATH_MAX];
	char name[32];
	bool good = true;

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "file-with-a-long-name-%d", i);
		good &= put(directory, name);
	}
	snprintf(path, sizeof(path), "%s/link", directory);
	good &= symlink(outside, path) == 0;
	snprintf(path, sizeof(path), "%s/blobs", directory);
	good &= mkdir(path, 0700) == 0;
	snprintf(path, sizeof(path), "%s/blobs/ab", directory);
	good &= mkdir(path, 0700) == 0 && put(path, "cdef");
	return good;
}

static size_t count_names(const char *directory)
{
	DIR *listing = opendir(directory);
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (readdir(listing))
		count++;
	closedir(listing);
	return count - 2;
}

IN_SCRATCH(a_tree_is_removed_and_what_a_link_leads_to_is_not)
{
	char tree[80];
	char kept[80];

	snprintf(tree, sizeof(tree), "%s/tree", fixture->root);
	snprintf(kept, sizeof(kept), "%s/kept", fixture->root);
	assert_int_equal(mkdir(tree, 0700), 0);
	assert_int_equal(mkdir(kept, 0700), 0);
	assert_true(put(kept, "file"));
	assert_true(fill(tree, kept));

	wfs_directory_remove(tree);

	assert_int_equal(count_names(fixture->root), 1);
	assert_int_equal(count_names(kept), 1);
}

IN_SCRATCH(a_file_is_removed_like_a_directory)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/file", fixture->root);
	assert_true(put(fixture->root, "file"));

	wfs_directory_remove(path);

	assert_int_equal(count_names(fixture->root), 0);
}

IN_SCRATCH(removing_what_is_not_there_does_nothing)
{
	wfs_directory_remove("/does/not/exist");
}

IN_SCRATCH(a_scratch_directory_is_gone_when_it_is_done)
{
	struct wfs_scratch scratch = {.remover = 0};

	assert_int_equal(wfs_scratch_init(&scratch, "name", &fixture->error), 0);
	assert_int_equal(count_names(fixture->root), 1);
	assert_true(fill(scratch.path, "/tmp"));

	wfs_scratch_done(&scratch);

	assert_int_equal(count_names(fixture->root), 0);
}

IN_SCRATCH(scratch_done_accepts_what_was_never_made)
{
	struct wfs_scratch scratch = {.remover = 0};

	wfs_scratch_done(&scratch);
	wfs_scratch_done(&scratch);
}

IN_SCRATCH(a_scratch_directory_needs_a_place)
{
	struct wfs_scratch scratch = {.remover = 0};

	wfs_directory_remove(fixture->root);

	assert_int_equal(wfs_scratch_init(&scratch, "name", &fixture->error), -ENOENT);
	wfs_scratch_done(&scratch);
}

_Noreturn static void make_and_die(struct fixture *fixture, int number)
{
	struct wfs_scratch scratch = {.remover = 0};

	if (wfs_scratch_init(&scratch, "name", &fixture->error) || !fill(scratch.path, "/tmp"))
		_exit(1);
	(void)kill(0, number); /* ends the whole group: the remover must not be in it */
	_exit(2);
}

/* Return: the signal that ended the process which had made the directory. */
static int die_by(struct fixture *fixture, int number)
{
	pid_t maker = fork();
	int status = 0;

	if (maker == 0) {
		(void)signal(number, SIG_DFL);
		if (setpgid(0, 0) == 0)
			make_and_die(fixture, number);
		_exit(3);
	}
	assert_int_equal(waitpid(maker, &status, 0), maker);
	assert_true(WIFSIGNALED(status));
	/* The remover is our child now: when it has ended, its work is done. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	return WTERMSIG(status);
}

IN_SCRATCH(a_scratch_directory_is_gone_when_its_process_was_killed)
{
	static const int numbers[] = {SIGKILL, SIGTERM, SIGINT, SIGABRT};

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++) {
		print_message("signal %d\n", numbers[i]);
		assert_int_equal(die_by(fixture, numbers[i]), numbers[i]);
		assert_int_equal(count_names(fixture->root), 0);
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}
