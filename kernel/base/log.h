/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-line log messages on stderr: `level area: what failed: 'name': reason key=value`.
 * kernel/ and caps/ log at debug level only; fs/ and agents/ log where a result is consumed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WFS_LOG_AREAS(X)      \
	X(BASE, "base")       \
	X(STORE, "store")     \
	X(KERNEL, "kernel")   \
	X(CAPS, "caps")       \
	X(MOUNT, "mount")     \
	X(CTL, "ctl")         \
	X(SOCKET, "socket")   \
	X(AGENTS, "agents")   \
	X(REPLICA, "replica") \
	X(COMMAND, "command")

enum wfs_log_area {
#define WFS_LOG_ENUM(constant, name) WFS_LOG_##constant,
	WFS_LOG_AREAS(WFS_LOG_ENUM)
#undef WFS_LOG_ENUM
		WFS_LOG_AREA_COUNT
};

enum wfs_log_level {
	WFS_LOG_ERR,     /* an operation failed for good */
	WFS_LOG_WARNING, /* degraded; the line says what happens instead */
	WFS_LOG_NOTICE,  /* starts and stops of the daemon */
	WFS_LOG_INFO,
	WFS_LOG_DEBUG, /* each operation; off by default */
};

/** wfs_log_setup() - set the least important level that is logged, for all areas; called once, at
 *  start-up
 *  @spec: "err", "warning", "notice", "info" or "debug"; or "debug:mount,ctl": debug for these
 *  areas, notice for the others; NULL: notice
 *  Return: 0, or -EINVAL for any other @spec. */
int wfs_log_setup(const char *spec);

bool wfs_log_enabled(enum wfs_log_area area, enum wfs_log_level level);

void wfs_log(enum wfs_log_area area, enum wfs_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** wfs_log_for() - log a line, as wfs_log() does, about a request of @principal, an id that the
 *  function set with wfs_log_divert() gets, too; NULL: not known. */
void wfs_log_for(const char *principal, enum wfs_log_area area, enum wfs_log_level level,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Called for each line that is logged, on the thread that logs. @line: with its newline; borrowed
 * during the call. @principal: as for wfs_log_for(). Return: true: the line is done with; false: it
 * is to be written on stderr. */
typedef bool wfs_log_sink(
	enum wfs_log_level level, const char *principal, const char *line, size_t size);

/** wfs_log_divert() - call @sink for each line from now on; NULL, the default: write all lines on
 *  stderr
 *  Thread: before other threads log. */
void wfs_log_divert(wfs_log_sink *sink);
