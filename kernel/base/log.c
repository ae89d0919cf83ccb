/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines on stderr. A line is one write, holds no control bytes whatever a file name in it
 * contains, and is cut at LINE_SIZE.
 */
#include "kernel/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

enum { LINE_SIZE = 2048 }; /* bytes, newline included */

static const char *const level_names[] = {
	[WFS_LOG_ERR] = "err",
	[WFS_LOG_WARNING] = "warning",
	[WFS_LOG_NOTICE] = "notice",
	[WFS_LOG_INFO] = "info",
	[WFS_LOG_DEBUG] = "debug",
};

static const char *const area_names[] = {
#define AREA_NAME(constant, name) [WFS_LOG_##constant] = (name),
	WFS_LOG_AREAS(AREA_NAME)
#undef AREA_NAME
};

/* Written at start-up, read by every thread. */
static _Atomic int area_levels[] = {
#define AREA_LEVEL(constant, name) [WFS_LOG_##constant] = WFS_LOG_NOTICE,
	WFS_LOG_AREAS(AREA_LEVEL)
#undef AREA_LEVEL
};

/* Written at start-up, read by every thread. */
static wfs_log_sink *line_sink;

/* Finds the name that equals the @size bytes at @text. Return: its index, or -1. */
static int name_find(const char *const *names, size_t count, const char *text, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0)
			return (int)i;
	return -1;
}

static int areas_parse(const char *text, int level, int levels[static WFS_LOG_AREA_COUNT])
{
	for (;;) {
		const size_t size = strcspn(text, ",");
		const int area = name_find(area_names, WFS_LOG_AREA_COUNT, text, size);

		if (area < 0)
			return -EINVAL;
		levels[area] = level;
		if (text[size] == '\0')
			return 0;
		text += size + 1;
	}
}

int wfs_log_setup(const char *spec)
{
	int levels[WFS_LOG_AREA_COUNT];
	size_t size = 0;
	int level = WFS_LOG_NOTICE;
	int r = 0;

	if (spec) {
		size = strcspn(spec, ":");
		level = name_find(level_names, WFS_ARRAY_COUNT(level_names), spec, size);
		if (level < 0)
			return -EINVAL;
	}

	const bool some_areas = spec && spec[size] == ':';

	for (size_t i = 0; i < WFS_LOG_AREA_COUNT; i++)
		levels[i] = some_areas ? WFS_LOG_NOTICE : level;
	if (some_areas)
		r = areas_parse(spec + size + 1, level, levels);
	if (r < 0)
		return r;

	for (size_t i = 0; i < WFS_LOG_AREA_COUNT; i++)
		atomic_store_explicit(&area_levels[i], levels[i], memory_order_relaxed);
	return 0;
}

bool wfs_log_enabled(enum wfs_log_area area, enum wfs_log_level level)
{
	return (int)level <= atomic_load_explicit(&area_levels[area], memory_order_relaxed);
}

/* A short or failed write is dropped: it cannot be reported anywhere. */
static void write_line(const char *line, size_t size)
{
	while (size > 0) {
		const ssize_t written = write(STDERR_FILENO, line, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		line += written;
		size -= (size_t)written;
	}
}

void wfs_log_divert(wfs_log_sink *sink)
{
	line_sink = sink;
}

__attribute__((format(printf, 4, 0))) static void log_line(const char *principal,
	enum wfs_log_area area, enum wfs_log_level level, const char *format, va_list arguments)
{
	const int saved_errno = errno;
	char line[LINE_SIZE];
	size_t size = 0;
	int part = 0;

	if (!wfs_log_enabled(area, level))
		return;

	size = (size_t)snprintf(
		line, sizeof(line), "%s %s: ", level_names[level], area_names[area]);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): each caller has started it */
	part = vsnprintf(line + size, sizeof(line) - size, format, arguments);

	if (part > 0)
		size += (size_t)part;
	if (size > sizeof(line) - 1)
		size = wfs_utf8_cut(line, sizeof(line) - 1);
	wfs_line_clean(line, size);
	line[size++] = '\n';
	if (!line_sink || !line_sink(level, principal, line, size))
		write_line(line, size);
	errno = saved_errno;
}

void wfs_log(enum wfs_log_area area, enum wfs_log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(NULL, area, level, format, arguments);
	va_end(arguments);
}

void wfs_log_for(const char *principal, enum wfs_log_area area, enum wfs_log_level level,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(principal, area, level, format, arguments);
	va_end(arguments);
}
