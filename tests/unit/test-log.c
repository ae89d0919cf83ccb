/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines and levels, read back from a redirected stderr. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/base/buffer.h"
#include "kernel/base/clock.h"
#include "kernel/base/error.h"
#include "kernel/base/log.h"

/* stderr is redirected to `file` between capture_begin and capture_end. */
struct capture {
	int file;
	int saved_stderr;
	char text[8192];
};

static void capture_begin(struct capture *capture)
{
	(void)fflush(stderr);
	capture->file = memfd_create("stderr", MFD_CLOEXEC);
	capture->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(capture->file >= 0 && capture->saved_stderr >= 0);
	assert_true(dup2(capture->file, STDERR_FILENO) >= 0);
}

static const char *capture_end(struct capture *capture)
{
	ssize_t size = 0;

	dup2(capture->saved_stderr, STDERR_FILENO);
	close(capture->saved_stderr);
	size = pread(capture->file, capture->text, sizeof(capture->text) - 1, 0);
	close(capture->file);
	assert_true(size >= 0);
	capture->text[size] = '\0';
	return capture->text;
}

static int reset_level(void **state)
{
	(void)state;
	return wfs_log_setup(NULL);
}

#define LOGS(name) TEST_WITH(name, void *state, NULL, reset_level)

LOGS(log_line_has_level_area_and_message)
{
	struct capture capture;

	capture_begin(&capture);
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING, "open failed: '%s': ignoring ino=%d", "x", 7);

	assert_string_equal(
		capture_end(&capture), "warning mount: open failed: 'x': ignoring ino=7\n");
}

LOGS(log_is_silent_above_notice_by_default)
{
	struct capture capture;

	capture_begin(&capture);
	wfs_log(WFS_LOG_BASE, WFS_LOG_INFO, "hidden");
	wfs_log(WFS_LOG_BASE, WFS_LOG_DEBUG, "hidden");
	wfs_log(WFS_LOG_BASE, WFS_LOG_NOTICE, "shown");

	assert_string_equal(capture_end(&capture), "notice base: shown\n");
}

LOGS(log_setup_sets_the_level_of_all_areas)
{
	assert_int_equal(wfs_log_setup("err"), 0);
	assert_true(wfs_log_enabled(WFS_LOG_STORE, WFS_LOG_ERR));
	assert_false(wfs_log_enabled(WFS_LOG_STORE, WFS_LOG_WARNING));

	assert_int_equal(wfs_log_setup("debug"), 0);
	assert_true(wfs_log_enabled(WFS_LOG_BASE, WFS_LOG_DEBUG));
	assert_true(wfs_log_enabled(WFS_LOG_COMMAND, WFS_LOG_DEBUG));
}

LOGS(log_setup_sets_the_level_of_named_areas_only)
{
	assert_int_equal(wfs_log_setup("debug:mount,ctl"), 0);

	assert_true(wfs_log_enabled(WFS_LOG_MOUNT, WFS_LOG_DEBUG));
	assert_true(wfs_log_enabled(WFS_LOG_CTL, WFS_LOG_DEBUG));
	assert_false(wfs_log_enabled(WFS_LOG_STORE, WFS_LOG_INFO));
	assert_true(wfs_log_enabled(WFS_LOG_STORE, WFS_LOG_NOTICE));
}

LOGS(log_setup_refuses_what_it_does_not_know_and_changes_nothing)
{
	assert_int_equal(wfs_log_setup("info"), 0);

	assert_int_equal(wfs_log_setup(""), -EINVAL);
	assert_int_equal(wfs_log_setup("loud"), -EINVAL);
	assert_int_equal(wfs_log_setup("debu"), -EINVAL);
	assert_int_equal(wfs_log_setup("debug "), -EINVAL);
	assert_int_equal(wfs_log_setup("debug:"), -EINVAL);
	assert_int_equal(wfs_log_setup("debug:mount,"), -EINVAL);
	assert_int_equal(wfs_log_setup("debug:nowhere"), -EINVAL);

	assert_true(wfs_log_enabled(WFS_LOG_BASE, WFS_LOG_INFO));
	assert_false(wfs_log_enabled(WFS_LOG_MOUNT, WFS_LOG_DEBUG));
}

LOGS(log_keeps_a_message_with_control_bytes_on_one_line)
{
	struct capture capture;

	capture_begin(&capture);
	wfs_log(WFS_LOG_CTL, WFS_LOG_ERR, "'%s'", "a\nerr ctl: forged\x1b[0m\xff");

	assert_string_equal(capture_end(&capture), "err ctl: 'a?err ctl: forged?[0m?'\n");
}

LOGS(log_cuts_a_long_message_at_a_character_and_ends_the_line)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct capture capture;
	const char *line = NULL;

	for (int i = 0; i < 3000; i++)
		wfs_buffer_append_text(&text, "\u00e9");
	capture_begin(&capture);
	wfs_log(WFS_LOG_CTL, WFS_LOG_ERR, "x%s", wfs_buffer_text(&text));
	line = capture_end(&capture);

	assert_true(strlen(line) <= 2048);
	assert_true(strlen(line) >= 2046);
	assert_string_equal(line + strlen(line) - 3, "\u00e9\n");
}

LOGS(log_leaves_errno_alone)
{
	struct capture capture;
	int after = 0;

	capture_begin(&capture);
	close(STDERR_FILENO); /* so that the write fails with EBADF */
	errno = ENOENT;
	wfs_log(WFS_LOG_BASE, WFS_LOG_ERR, "x");
	after = errno;
	capture_end(&capture);

	assert_int_equal(after, ENOENT);
}

LOGS(trace_logs_where_a_failure_passed_at_debug_level)
{
	struct capture capture;
	const char *text = NULL;

	assert_int_equal(wfs_log_setup("debug:base"), 0);
	capture_begin(&capture);
	wfs_trace(0);
	wfs_trace(-ENOENT);
	text = capture_end(&capture);

	assert_non_null(strstr(text, "debug base: passed up: No such file or directory (-2) at="));
	assert_non_null(strstr(text, "test-log.c:"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

TEST(clocks_go_forward_and_tell_this_century)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();

	assert_true(wfs_clock_monotonic_ns() >= start_ns);
	assert_true(wfs_clock_realtime_ns() > INT64_C(1600000000) * 1000000000);
}
