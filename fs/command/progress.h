/* SPDX-License-Identifier: Apache-2.0 */
/* One line that tells how far a long command is: count, rate, time left. On a terminal only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Plain value; nothing to release. */
struct wfs_progress {
	FILE *file;
	bool terminal;
	bool shown; /* a line stands on the terminal */
	int64_t started_ns;
	int64_t shown_ns;
	const char *what; /* borrowed; a new one starts the count anew */
};

void wfs_progress_init(struct wfs_progress *progress, FILE *file);

/** wfs_progress_show() - at most a few times a second; @total 0: not known. */
void wfs_progress_show(
	struct wfs_progress *progress, const char *what, uint64_t done, uint64_t total);

/** wfs_progress_clear() - take the line away, before something else is printed. */
void wfs_progress_clear(struct wfs_progress *progress);
