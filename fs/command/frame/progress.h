/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress of a long command: count, rate, time left. On a terminal it is one line, updated a few
 * times a second. Elsewhere it is separate lines, so rare that a short command stays silent and a
 * log is not flooded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Plain value; nothing to release. */
struct wfs_progress {
	FILE *file;
	bool terminal;
	bool shown;                /* the line is on the terminal */
	int64_t (*clock_ns)(void); /* monotonic; for tests to replace */
	int64_t next_ns;           /* when the next line is due */
	int64_t distance_ns;       /* separate lines: the last pause; the next one is longer */
	const char *what;          /* what is counted; borrowed; a new one restarts the count */
	int64_t started_ns;        /* of the count */
	uint64_t started_done;
};

/** wfs_progress_init() - prepare to show progress on @file, usually standard error.
 *  $WORLDFS_PROGRESS: seconds before the first line, if @file is not a terminal; 5 if unset. */
void wfs_progress_init(struct wfs_progress *progress, FILE *file);

/** wfs_progress_show() - print how much is done, if the next line is due. @what: what is counted,
 *  such as "records"; @total: 0: unknown */
void wfs_progress_show(
	struct wfs_progress *progress, const char *what, uint64_t done, uint64_t total);

/** wfs_progress_step() - call wfs_progress_show(); a callback for functions that take long.
 *  @context: a struct wfs_progress. Return: may the function continue? False after a signal. */
bool wfs_progress_step(void *context, const char *what, uint64_t done, uint64_t total);

/** wfs_progress_line() - show a text as progress, only on a terminal, and only if the next line is
 *  due. @text: one line */
void wfs_progress_line(struct wfs_progress *progress, const char *text);

/** wfs_progress_clear() - remove the progress line from the terminal, before other text is
 *  printed. */
void wfs_progress_clear(struct wfs_progress *progress);
