/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a long command is: count, rate, time left. On a terminal one line that moves on, a few
 * times a second; elsewhere lines of their own, so rarely that a short command stays silent and a
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
	bool shown;                /* a line stands on the terminal */
	int64_t (*clock_ns)(void); /* monotonic; for tests to replace */
	int64_t next_ns;           /* when the next line is due */
	int64_t distance_ns;       /* lines of their own: between this and the next one */
	const char *what;          /* borrowed; a new one starts the count anew */
	int64_t started_ns;        /* of the count */
	uint64_t started_done;
};

/** wfs_progress_init() - @file: standard error; $WORLDFS_PROGRESS is looked at. */
void wfs_progress_init(struct wfs_progress *progress, FILE *file);

/** wfs_progress_show() - print it if it is time to; @total 0: not known. */
void wfs_progress_show(
	struct wfs_progress *progress, const char *what, uint64_t done, uint64_t total);

/** wfs_progress_step() - the same of a struct wfs_progress, in the form of the kernel's
 *  wfs_progress_fn. Return: go on? */
bool wfs_progress_step(void *context, const char *what, uint64_t done, uint64_t total);

/** wfs_progress_line() - the same with a text, on a terminal alone. @text: one line */
void wfs_progress_line(struct wfs_progress *progress, const char *text);

/** wfs_progress_clear() - take the line away, before something else is printed. */
void wfs_progress_clear(struct wfs_progress *progress);
