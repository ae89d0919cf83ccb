/* SPDX-License-Identifier: Apache-2.0 */
/* The table of errors, their messages, and the codes for errors of the system. */
#include "tests/fixture/test.h"

#include <signal.h>
#include <sys/wait.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/base/error.h"

TEST(error_table_gives_name_errno_category_and_retry)
{
	const struct wfs_error_info *const info = wfs_error_info(WFS_E_INSUFFICIENT_FUNDS);

	assert_string_equal(info->name, "insufficient_funds");
	assert_int_equal(info->number, EDQUOT);
	assert_string_equal(info->category, "resource");
	assert_true(info->retriable);
	assert_string_equal(info->text, "not enough scrip");
}

TEST(error_table_answers_internal_error_for_a_code_outside_it)
{
	assert_string_equal(wfs_error_info(WFS_OK)->name, "internal_error");
	assert_string_equal(wfs_error_info(WFS_ERROR_CODE_COUNT)->name, "internal_error");
	assert_string_equal(wfs_error_info((enum wfs_error_code) - 1)->name, "internal_error");
	assert_string_equal(wfs_error_info((enum wfs_error_code)100000)->name, "internal_error");
}

TEST(error_table_is_complete_and_names_are_found_again)
{
	for (int code = WFS_OK + 1; code < WFS_ERROR_CODE_COUNT; code++) {
		const struct wfs_error_info *const info = wfs_error_info((enum wfs_error_code)code);

		assert_non_null(info->name);
		assert_true(info->number > 0);
		assert_non_null(info->category);
		assert_non_null(info->text);
		if ((int)wfs_error_find(info->name) != code)
			fail_msg("'%s' is not found as itself", info->name);
	}
}

TEST(error_find_misses_an_unknown_name)
{
	assert_int_equal(wfs_error_find("no_such_code"), WFS_OK);
	assert_int_equal(wfs_error_find(""), WFS_OK);
}

TEST(error_set_fills_the_error_and_returns_its_errno)
{
	struct wfs_error error = {0};

	assert_int_equal(
		wfs_error_set(&error, WFS_E_TOO_LARGE, "%d bytes, at most %d", 9, 8), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_string_equal(error.message, "9 bytes, at most 8");
}

TEST(error_set_works_without_an_error_to_fill)
{
	assert_int_equal(wfs_error_set(NULL, WFS_E_CONFLICT, "unused %d", 1), -ESTALE);
}

TEST(error_set_turns_a_code_outside_the_table_into_internal_error)
{
	struct wfs_error error = {0};

	assert_int_equal(wfs_error_set(&error, (enum wfs_error_code)9999, "x"), -EIO);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
}

TEST(error_set_may_use_the_old_message)
{
	struct wfs_error error = {0};

	wfs_error_set(&error, WFS_E_NOT_FOUND, "inner");
	wfs_error_set(&error, WFS_E_INVALID_REQUEST, "outer: %s", error.message);

	assert_string_equal(error.message, "outer: inner");
}

TEST(error_message_is_cut_at_its_size)
{
	struct wfs_error error = {0};
	char text[2 * WFS_ERROR_MESSAGE_SIZE];

	memset(text, 'a', sizeof(text));
	wfs_error_set(&error, WFS_E_NOT_FOUND, "%.*s", (int)sizeof(text), text);

	assert_int_equal(strlen(error.message), WFS_ERROR_MESSAGE_SIZE - 1);
}

TEST(error_message_is_cut_at_a_character)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error = {0};

	/* 3 bytes a character: 510 fit into 511, the next byte would begin another. */
	for (int i = 0; i < 300; i++)
		wfs_buffer_append_text(&text, "\u20ac");
	wfs_error_set(&error, WFS_E_NOT_FOUND, "%s", wfs_buffer_text(&text));

	assert_int_equal(strlen(error.message), 510);
	assert_memory_equal(error.message + 507, "\u20ac", 3);
	assert_true(wfs_utf8_valid(error.message, strlen(error.message)));
}

TEST(error_message_that_fits_exactly_is_not_cut)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error = {0};

	for (int i = 0; i < WFS_ERROR_MESSAGE_SIZE - 3; i++)
		wfs_buffer_append_byte(&text, 'a');
	wfs_buffer_append_text(&text, "\u00e9");
	wfs_error_set(&error, WFS_E_NOT_FOUND, "%s", wfs_buffer_text(&text));

	assert_string_equal(error.message, wfs_buffer_text(&text));
}

TEST(error_message_has_a_question_mark_for_each_invalid_byte)
{
	struct wfs_error error = {0};

	wfs_error_set(&error, WFS_E_NOT_FOUND, "a\xff\xc3(\xe2\x82 \u20ac\xed\xa0\x80");

	assert_string_equal(error.message,
		"a?"
		"?(?? \u20ac???");
}

TEST(error_from_errno_keeps_the_number_and_adds_the_reason)
{
	struct wfs_error error = {0};

	assert_int_equal(wfs_error_from_errno(&error, -ENOENT, "open '%s'", "x"), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
	assert_string_equal(error.message, "open 'x': No such file or directory");
}

static enum wfs_error_code code_of(int number)
{
	struct wfs_error error = {0};

	assert_int_equal(wfs_error_from_errno(&error, number, "x"), number);
	return error.code;
}

TEST(error_from_errno_maps_each_errno_with_one_meaning)
{
	assert_int_equal(code_of(-ENOSPC), WFS_E_STORE_FULL);
	assert_int_equal(code_of(-EDQUOT), WFS_E_STORE_FULL);
	assert_int_equal(code_of(-EBUSY), WFS_E_BUSY);
	assert_int_equal(code_of(-EEXIST), WFS_E_ALREADY_EXISTS);
	assert_int_equal(code_of(-ESTALE), WFS_E_CONFLICT);
	assert_int_equal(code_of(-EROFS), WFS_E_READ_ONLY);
	assert_int_equal(code_of(-ETIMEDOUT), WFS_E_TIMEOUT);
	assert_int_equal(code_of(-EINTR), WFS_E_CANCELLED);
	assert_int_equal(code_of(-EAGAIN), WFS_E_OVERLOADED);
	assert_int_equal(code_of(-EOPNOTSUPP), WFS_E_NOT_ENABLED);
	assert_int_equal(code_of(-EACCES), WFS_E_NOT_AUTHORIZED);
	assert_int_equal(code_of(-EPERM), WFS_E_NOT_AUTHORIZED);
	assert_int_equal(code_of(-ENOTDIR), WFS_E_INVALID_ARGUMENT);
	assert_int_equal(code_of(-EISDIR), WFS_E_INVALID_ARGUMENT);
}

TEST(error_from_errno_maps_the_rest_to_internal_error)
{
	assert_int_equal(code_of(-ENOMEM), WFS_E_INTERNAL_ERROR);
	assert_int_equal(code_of(-EINVAL), WFS_E_INTERNAL_ERROR);
	assert_int_equal(code_of(-99999), WFS_E_INTERNAL_ERROR);
}

TEST(error_from_errno_works_without_an_error_to_fill)
{
	assert_int_equal(wfs_error_from_errno(NULL, -ENOSPC, "x"), -ENOSPC);
}

TEST(trace_passes_every_result_unchanged)
{
	assert_int_equal(wfs_trace(-ENOENT), -ENOENT);
	assert_int_equal(wfs_trace(0), 0);
	assert_int_equal(wfs_trace(7), 7);
}

TEST(require_lets_a_true_condition_pass_and_aborts_on_a_false_one)
{
	int status = 0;
	pid_t child = 0;

	wfs_require(1 + 1 == 2);
	child = fork();
	if (child == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		wfs_require(child != 0);
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(guards_of_one_scope_lock_and_unlock_each_their_own_mutex)
{
	pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

	{
		WFS_GUARD(&first);
		WFS_GUARD(&second);

		assert_int_equal(pthread_mutex_trylock(&first), EBUSY);
		assert_int_equal(pthread_mutex_trylock(&second), EBUSY);
	}

	assert_int_equal(pthread_mutex_trylock(&first), 0);
	assert_int_equal(pthread_mutex_trylock(&second), 0);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
}
