/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the lines of a file as they come: growth, rotation, a smaller file, long lines. */
#include "tests/fixture/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/command/frame/tail.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"

struct fixture {
	char directory[64];
	char path[96];
	char moved[96];
	struct wfs_tail *tail;
	struct wfs_error error;
	struct wfs_buffer told;
	uint64_t number; /* of the last line */
};

static int64_t now_ns = 1;

/* NOLINTNEXTLINE(readability-identifier-naming): the linker's name, see ld(1), --wrap */
int64_t __wrap_wfs_clock_monotonic_ns(void);

int64_t __wrap_wfs_clock_monotonic_ns(void)
{
	return now_ns;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/wfs-tail-XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/log", fixture->directory);
	snprintf(fixture->moved, sizeof(fixture->moved), "%s/log.1", fixture->directory);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	wfs_tail_free(fixture->tail);
	wfs_directory_remove(fixture->directory);
	wfs_buffer_done(&fixture->told);
	free(fixture);
	return 0;
}

#define TAIL_TEST(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)

static void tell(void *context, const char *text)
{
	struct fixture *const fixture = context;

	wfs_buffer_append_text(&fixture->told, strchr(text + 1, '\'') + 2);
	wfs_buffer_append_text(&fixture->told, "\n");
}

static void append(const char *path, const char *text)
{
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void begin(struct fixture *fixture)
{
	assert_int_equal(
		wfs_tail_new(fixture->path, true, tell, fixture, &fixture->tail, &fixture->error),
		0);
}

/* Reads all that is there now: the lines, each with `|`; one that is too long is `LONG`. */
static char *read_all(struct fixture *fixture)
{
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
	struct wfs_bytes line;
	int r;

	wfs_buffer_append_text(&lines, "");
	do {
		r = wfs_tail_fill(fixture->tail, &fixture->error);
		assert_true(r >= 0);
		while (wfs_tail_next(fixture->tail, &line, &fixture->number)) {
			wfs_buffer_append(&lines, line.data ? line.data : "LONG",
				line.data ? line.size : strlen("LONG"));
			wfs_buffer_append_text(&lines, "|");
		}
	} while (r > 0);
	return strdup(wfs_buffer_text(&lines));
}

static void assert_lines(struct fixture *fixture, const char *expected)
{
	WFS_AUTO_FREE char *lines = read_all(fixture);

	assert_string_equal(lines, expected);
}

static void assert_told(struct fixture *fixture, const char *expected)
{
	assert_string_equal(wfs_buffer_text(&fixture->told), expected);
}

TAIL_TEST(lines_come_from_the_first_on_and_as_they_are_added)
{
	append(fixture->path, "a\nb\n");
	begin(fixture);
	assert_lines(fixture, "a|b|");
	assert_lines(fixture, "");

	append(fixture->path, "c\n");
	assert_lines(fixture, "c|");
	assert_int_equal(fixture->number, 3);
	assert_false(wfs_tail_ended(fixture->tail));
}

TAIL_TEST(poll_reports_that_a_file_has_grown)
{
	append(fixture->path, "a\n");
	begin(fixture);
	assert_lines(fixture, "a|");
	struct pollfd ready = wfs_tail_poll(fixture->tail);
	assert_int_equal(poll(&ready, 1, 0), 0);

	append(fixture->path, "b\n");
	assert_int_equal(poll(&ready, 1, 10000), 1);
	assert_lines(fixture, "b|");
}

TAIL_TEST(a_line_waits_for_its_end)
{
	append(fixture->path, "a\nhal");
	begin(fixture);
	assert_lines(fixture, "a|");
	append(fixture->path, "f\n");
	assert_lines(fixture, "half|");
}

TAIL_TEST(a_file_may_come_later)
{
	begin(fixture);
	assert_lines(fixture, "");
	append(fixture->path, "a\n");

	assert_lines(fixture, "a|");
	assert_told(fixture, "does not exist yet: waiting for it\nis there\n");
}

TAIL_TEST(a_file_that_was_replaced_is_read_on_for_a_while)
{
	append(fixture->path, "a\n");
	begin(fixture);
	assert_lines(fixture, "a|");
	append(fixture->path, "b\n");
	assert_int_equal(rename(fixture->path, fixture->moved), 0);
	append(fixture->path, "new\n");

	assert_lines(fixture, "b|new|");
	assert_told(fixture, "was replaced: lines are counted from 1 again\n");
	append(fixture->moved, "late\npart");
	append(fixture->path, "newer\n");
	assert_lines(fixture, "late|newer|");
	now_ns += WFS_TAIL_OLD_MS * INT64_C(1000000);
	assert_lines(fixture, "part|"); /* no more can come */
	append(fixture->moved, "too late\n");
	assert_lines(fixture, "");
}

TAIL_TEST(files_that_were_replaced_quickly_are_all_read)
{
	append(fixture->path, "a\n");
	begin(fixture);
	for (size_t i = 0; i < 4; i++) {
		const char text[] = {"bcde"[i], '\n', '\0'};
		const char expected[] = {"bcde"[i], '|', '\0'};

		assert_int_equal(rename(fixture->path, fixture->moved), 0);
		append(fixture->path, text);
		assert_lines(fixture, i == 0 ? "a|b|" : expected);
	}
}

TAIL_TEST(a_file_that_is_gone_is_waited_for)
{
	append(fixture->path, "a\n");
	begin(fixture);
	assert_lines(fixture, "a|");
	assert_int_equal(unlink(fixture->path), 0);
	assert_lines(fixture, "");
	append(fixture->path, "b\n");

	assert_lines(fixture, "b|");
	assert_told(fixture,
		"is gone: waiting for another file of this name\n"
		"was replaced: lines are counted from 1 again\n");
}

TAIL_TEST(a_file_that_became_smaller_is_read_from_its_beginning)
{
	append(fixture->path, "a\nb\nrest");
	begin(fixture);
	assert_lines(fixture, "a|b|");
	assert_int_equal(truncate(fixture->path, 0), 0);
	append(fixture->path, "c\n");

	assert_lines(fixture, "c|");
	assert_int_equal(fixture->number, 1);
	assert_told(fixture, "became smaller: it is read from its beginning\n");
}

/* Writes @size bytes, and ends the line. */
static void append_long(const char *path, size_t size)
{
	WFS_AUTO_FREE char *line = malloc(size + 2);

	assert_non_null(line);
	memset(line, 'x', size);
	memcpy(line + size, "\n", 2);
	append(path, line);
}

TAIL_TEST(a_line_that_is_too_long_is_dropped_alone)
{
	WFS_AUTO_FREE char *lines = NULL;

	append_long(fixture->path, WFS_LINE_MAX);
	append_long(fixture->path, WFS_LINE_MAX + 1);
	append_long(fixture->path, (size_t)2 * WFS_LINE_MAX);
	append(fixture->path, "after\n");
	begin(fixture);
	lines = read_all(fixture);

	assert_int_equal(strlen(lines), WFS_LINE_MAX + strlen("|LONG|LONG|after|"));
	assert_string_equal(lines + WFS_LINE_MAX, "|LONG|LONG|after|");
	assert_int_equal(fixture->number, 4);
}

TAIL_TEST(a_directory_is_refused)
{
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_int_equal(
		wfs_tail_new(fixture->path, true, tell, fixture, &fixture->tail, &fixture->error),
		-EINVAL);
	assert_non_null(strstr(fixture->error.message, "expected a regular file, or -"));
}

TAIL_TEST(a_file_that_cannot_be_opened_later_is_waited_for)
{
	append(fixture->path, "a\n");
	begin(fixture);
	assert_lines(fixture, "a|");
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_lines(fixture, "");
	assert_int_equal(rmdir(fixture->path), 0);
	append(fixture->path, "b\n");

	assert_lines(fixture, "b|");
	assert_told(fixture,
		"cannot be opened: waiting until it can be\n"
		"was replaced: lines are counted from 1 again\n");
}

TAIL_TEST(without_following_a_file_ends)
{
	append(fixture->path, "a\nlast");
	assert_int_equal(
		wfs_tail_new(fixture->path, false, tell, fixture, &fixture->tail, &fixture->error),
		0);

	assert_lines(fixture, "a|last|");
	assert_true(wfs_tail_ended(fixture->tail));
}
