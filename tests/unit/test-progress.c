/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of progress: what they contain, and when they come. */
#include "tests/fixture/test.h"

#include <stdlib.h>
#include <string.h>

#include "fs/command/frame/progress.h"

#define SECOND INT64_C(1000000000)

static int64_t now_ns;

static int64_t fake_clock(void)
{
	return now_ns;
}

struct fixture {
	struct wfs_progress progress;
	FILE *file;
	char *text;
	size_t size;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	fixture->file = open_memstream(&fixture->text, &fixture->size);
	return fixture->file ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)fclose(fixture->file);
	free(fixture->text);
	free(fixture);
	return 0;
}

#define WITH_FILE(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)

/* $WORLDFS_PROGRESS; NULL: not set */
static void set_wait(const char *value)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(
		value ? setenv("WORLDFS_PROGRESS", value, 1) : unsetenv("WORLDFS_PROGRESS"), 0);
}

/* The output is not a terminal, and the clock shows 1000 s. */
static struct wfs_progress *start(struct fixture *fixture)
{
	struct wfs_progress *const progress = &fixture->progress;

	wfs_progress_init(progress, fixture->file);
	assert_false(progress->terminal);
	now_ns = 1000 * SECOND;
	progress->clock_ns = fake_clock;
	progress->next_ns = now_ns + progress->distance_ns;
	return progress;
}

static size_t count_lines(struct fixture *fixture)
{
	size_t count = 0;

	(void)fflush(fixture->file);
	for (size_t i = 0; i < fixture->size; i++)
		count += fixture->text[i] == '\n';
	return count;
}

static void assert_text(struct fixture *fixture, const char *expected)
{
	(void)fflush(fixture->file);
	assert_string_equal(fixture->text, expected);
}

WITH_FILE(a_short_command_is_silent)
{
	struct wfs_progress *progress = start(fixture);

	for (uint64_t done = 1; done < 50; done++) {
		now_ns += SECOND / 10;
		wfs_progress_show(progress, "records", done, 100);
	}
	wfs_progress_clear(progress);

	assert_text(fixture, "");
}

WITH_FILE(a_line_has_count_rate_and_time_left)
{
	struct wfs_progress *progress = start(fixture);

	wfs_progress_show(progress, "records", 1000, 9000);
	now_ns += 10 * SECOND;
	wfs_progress_show(progress, "records", 3000, 9000);
	wfs_progress_clear(progress);

	assert_text(fixture, "records: 3000 of 9000, 200/s, 30 s left\n");
}

WITH_FILE(without_a_total_there_is_no_time_left)
{
	struct wfs_progress *progress = start(fixture);

	wfs_progress_show(progress, "cells", 0, 0);
	now_ns += 10 * SECOND;
	wfs_progress_show(progress, "cells", 50, 0);

	assert_text(fixture, "cells: 50, 5/s\n");
}

WITH_FILE(a_new_count_has_a_rate_of_its_own)
{
	struct wfs_progress *progress = start(fixture);

	wfs_progress_show(progress, "records", 1, 2);
	now_ns += 4 * SECOND;
	wfs_progress_show(progress, "cells", 10, 1000);
	now_ns += 2 * SECOND;
	wfs_progress_show(progress, "cells", 30, 1000);

	assert_text(fixture, "cells: 30 of 1000, 10/s, 97 s left\n");
}

/* A log gets few lines within an hour, however often progress is reported. */
WITH_FILE(a_log_is_not_flooded)
{
	struct wfs_progress *progress = start(fixture);

	for (uint64_t done = 1; done < 36000; done++) {
		now_ns += SECOND / 10;
		wfs_progress_show(progress, "records", done, 40000);
		if (done == 49)
			assert_int_equal(count_lines(fixture), 0);
		if (done == 50)
			assert_int_equal(count_lines(fixture), 1);
		if (done == 600) /* after 5, 15 and 35 s */
			assert_int_equal(count_lines(fixture), 3);
	}

	assert_in_range(count_lines(fixture), 50, 70);
}

WITH_FILE(the_wait_for_the_first_line_can_be_set)
{
	set_wait("0");
	struct wfs_progress *progress = start(fixture);
	set_wait(NULL);
	for (uint64_t done = 1; done <= 3; done++)
		wfs_progress_show(progress, "records", done, 3);

	assert_text(fixture, "records: 1 of 3\nrecords: 2 of 3\nrecords: 3 of 3\n");
}

WITH_FILE(a_setting_that_is_no_number_of_seconds_is_ignored)
{
	static const char *const wrong[] = {"", "-1", "5s", "3601", "99999999999999999999999"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		print_message("%s\n", wrong[i]);
		set_wait(wrong[i]);
		assert_int_equal(start(fixture)->distance_ns, 5 * SECOND);
	}
	set_wait(NULL);
}

WITH_FILE(a_terminal_has_one_line_that_moves_on)
{
	struct wfs_progress *progress = start(fixture);

	progress->terminal = true;
	progress->next_ns = 0;
	wfs_progress_show(progress, "records", 10, 100);
	now_ns += SECOND / 10;
	wfs_progress_show(progress, "records", 15, 100); /* too early for a line */
	now_ns += SECOND;
	wfs_progress_show(progress, "records", 21, 100);
	assert_text(
		fixture, "\rrecords: 10 of 100\033[K\rrecords: 21 of 100, 10/s, 8 s left\033[K");
	wfs_progress_clear(progress);
	wfs_progress_clear(progress);

	(void)fflush(fixture->file);
	assert_string_equal(strrchr(fixture->text, '\r'), "\r\033[K");
	assert_int_equal(count_lines(fixture), 0);
}

WITH_FILE(nobody_has_interrupted)
{
	assert_true(wfs_progress_step(start(fixture), "records", 1, 2));
}
