/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line. */
#include "fs/command/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/clock.h"

#define SHOW_EVERY_NS INT64_C(200000000)
#define SECOND_NS 1e9

void wfs_progress_init(struct wfs_progress *progress, FILE *file)
{
	*progress = (struct wfs_progress){
		.file = file,
		.terminal = isatty(fileno(file)),
		.what = "",
	};
}

void wfs_progress_show(
	struct wfs_progress *progress, const char *what, uint64_t done, uint64_t total)
{
	const int64_t now_ns = progress->terminal ? wfs_clock_monotonic_ns() : 0;

	if (!progress->terminal)
		return;
	if (strcmp(progress->what, what) != 0) {
		progress->what = what;
		progress->started_ns = now_ns;
	}
	if (now_ns - progress->shown_ns < SHOW_EVERY_NS || now_ns == progress->started_ns)
		return;

	const double rate = (double)done / ((double)(now_ns - progress->started_ns) / SECOND_NS);
	progress->shown_ns = now_ns;
	progress->shown = true;
	fprintf(progress->file, "\r%s: %" PRIu64, what, done);
	if (total > 0)
		fprintf(progress->file, " of %" PRIu64, total);
	fprintf(progress->file, ", %.0f/s", rate);
	if (total > done && rate > 0)
		fprintf(progress->file, ", %.0f s left", (double)(total - done) / rate);
	fputs("\033[K", progress->file); /* erase what a longer line left */
	(void)fflush(progress->file);
}

void wfs_progress_clear(struct wfs_progress *progress)
{
	if (!progress->shown)
		return;
	fputs("\r\033[K", progress->file);
	(void)fflush(progress->file);
	progress->shown = false;
}
