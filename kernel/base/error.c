/* SPDX-License-Identifier: Apache-2.0 */
/* The closed table of errors, and what fills a struct wfs_error. */
#include "kernel/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/damage.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

static const struct wfs_error_info infos[WFS_ERROR_CODE_COUNT] = {
#define ERROR_INFO(constant_, name_, number_, category_, retriable_, text_) \
	[WFS_E_##constant_] = {                                             \
		.name = (name_),                                            \
		.number = (number_),                                        \
		.category = (category_),                                    \
		.retriable = (retriable_),                                  \
		.text = (text_),                                            \
	},
	WFS_ERRORS(ERROR_INFO)
#undef ERROR_INFO
};

/* What a failed system call means to a user; every other errno is internal_error. */
static const struct {
	int number;
	enum wfs_error_code code;
} meanings[] = {
	{ENOENT, WFS_E_NOT_FOUND},
	{EACCES, WFS_E_NOT_AUTHORIZED},
	{EPERM, WFS_E_NOT_AUTHORIZED},
	{ENOTDIR, WFS_E_INVALID_ARGUMENT}, /* in a path that a user gave */
	{EISDIR, WFS_E_INVALID_ARGUMENT},
	{ELOOP, WFS_E_INVALID_ARGUMENT},
	{ENAMETOOLONG, WFS_E_INVALID_ARGUMENT},
	{EEXIST, WFS_E_ALREADY_EXISTS},
	{EBUSY, WFS_E_BUSY},
	{ESTALE, WFS_E_CONFLICT},
	{EROFS, WFS_E_READ_ONLY},
	{ETIMEDOUT, WFS_E_TIMEOUT},
	{EINTR, WFS_E_CANCELLED},
	{ENOSPC, WFS_E_STORE_FULL},
	{EDQUOT, WFS_E_STORE_FULL}, /* the host's quota on our files, not a principal's */
	{EAGAIN, WFS_E_OVERLOADED},
	{EOPNOTSUPP, WFS_E_NOT_ENABLED},
};

static enum wfs_error_code code_in_table(enum wfs_error_code code)
{
	if ((unsigned int)code >= WFS_ERROR_CODE_COUNT || code == WFS_OK)
		return WFS_E_INTERNAL_ERROR;
	return code;
}

const struct wfs_error_info *wfs_error_info(enum wfs_error_code code)
{
	return &infos[code_in_table(code)];
}

enum wfs_error_code wfs_error_find(const char *name)
{
	for (size_t i = WFS_OK + 1; i < WFS_ERROR_CODE_COUNT; i++)
		if (strcmp(infos[i].name, name) == 0)
			return (enum wfs_error_code)i;
	return WFS_OK;
}

static void message_format(struct wfs_error *error, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static void message_format(struct wfs_error *error, const char *format, va_list arguments)
{
	char *const message = error->message;
	const int size = vsnprintf(message, sizeof(error->message), format, arguments);

	if (size < 0)
		message[0] = '\0';
	else if (size >= (int)sizeof(error->message))
		message[wfs_utf8_cut(message, sizeof(error->message) - 1)] = '\0';
	wfs_utf8_clean(message, strlen(message));
}

int wfs_error_set(struct wfs_error *error, enum wfs_error_code code, const char *format, ...)
{
	/* The arguments may point into *error, when a caller extends a message. */
	struct wfs_error filled = {.code = code_in_table(code)};
	va_list arguments;

	if (error) {
		va_start(arguments, format);
		message_format(&filled, format, arguments);
		va_end(arguments);
		*error = filled;
	}
	return -wfs_error_info(code)->number;
}

static enum wfs_error_code meaning_of(int number)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(meanings); i++)
		if (meanings[i].number == number)
			return meanings[i].code;
	return WFS_E_INTERNAL_ERROR;
}

static const char *reason_of(int number)
{
	const char *const reason = strerrordesc_np(number);

	return reason ? reason : "unknown error";
}

int wfs_error_from_errno(struct wfs_error *error, int number, const char *format, ...)
{
	struct wfs_error what = {0};
	va_list arguments;

	if (!error)
		return number;
	va_start(arguments, format);
	message_format(&what, format, arguments);
	va_end(arguments);

	if (number == -EIO && *wfs_damage_noted())
		wfs_error_set(
			error, WFS_E_HASH_MISMATCH, "%s: %s", what.message, wfs_damage_noted());
	else
		wfs_error_set(
			error, meaning_of(-number), "%s: %s", what.message, reason_of(-number));
	return number;
}

int wfs_trace_at(int r, const char *file, int line)
{
	if (r < 0 && wfs_log_enabled(WFS_LOG_BASE, WFS_LOG_DEBUG))
		wfs_log(WFS_LOG_BASE, WFS_LOG_DEBUG, "passed up: %s (%d) at=%s:%d", reason_of(-r),
			r, file, line);
	return r;
}

void wfs_require_failed(const char *condition, const char *file, int line)
{
	wfs_log(WFS_LOG_BASE, WFS_LOG_ERR, "invariant broken, aborting: '%s' at=%s:%d", condition,
		file, line);
	abort();
}

int wfs_read_describe(struct wfs_error *error, int r)
{
	if (error->code != WFS_OK)
		return r;
	/* Functions that write files set a text, so EIO without a text comes from reading. */
	if (r == -EIO && *wfs_damage_noted())
		return wfs_error_set(error, WFS_E_HASH_MISMATCH, "%s", wfs_damage_noted());
	if (r == -EIO)
		return wfs_error_set(
			error, WFS_E_HASH_MISMATCH, "stored bytes do not have their hash");
	return wfs_error_from_errno(error, r, "the request failed");
}
