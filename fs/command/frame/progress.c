/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of progress. */
#include "fs/command/frame/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/command/frame/interrupt.h"
#include "kernel/base/clock.h"

#define SECOND_NS INT64_C(1000000000)
#define TERMINAL_NS (SECOND_NS / 5)   /* between two updates of the line on a terminal */
#define LINE_FIRST_NS (5 * SECOND_NS) /* before the first line elsewhere */
#define LINE_LAST_NS (60 * SECOND_NS) /* the distance doubles up to this */
#define SETTING_MAX 3600              /* seconds in WORLDFS_PROGRESS */
#define SETTING_NAME "WORLDFS_PROGRESS"

/* How long does the user want to wait for the first line? */
static int64_t first_distance_ns(void)
{
	const char *text = secure_getenv(SETTING_NAME);
	char *end = NULL;
	const unsigned long seconds = text ? strtoul(text, &end, 10) : 0;

	if (!text || end == text || *end || text[0] == '-' || seconds > SETTING_MAX)
		return LINE_FIRST_NS;
	return (int64_t)seconds * SECOND_NS;
}

void wfs_progress_init(struct wfs_progress *progress, FILE *file)
{
	*progress = (struct wfs_progress){
		.file = file,
		.terminal = isatty(fileno(file)),
		.clock_ns = wfs_clock_monotonic_ns,
		.what = "",
	};
	if (progress->terminal)
		return;
	progress->distance_ns = first_distance_ns();
	progress->next_ns = progress->clock_ns() + progress->distance_ns;
}

/* Prints e.g. "records: 5000 of 80000, 1000/s, 75 s left". */
static void print(
	const struct wfs_progress *progress, uint64_t done, uint64_t total, int64_t now_ns)
{
	const double seconds = (double)(now_ns - progress->started_ns) / (double)SECOND_NS;
	const double rate = seconds > 0 ? (double)(done - progress->started_done) / seconds : 0;

	fprintf(progress->file, "%s: %" PRIu64, progress->what, done);
	if (total > 0)
		fprintf(progress->file, " of %" PRIu64, total);
	if (rate > 0)
		fprintf(progress->file, ", %.0f/s", rate);
	if (total > done && rate > 0)
		fprintf(progress->file, ", %.0f s left", (double)(total - done) / rate);
}

void wfs_progress_show(
	struct wfs_progress *progress, const char *what, uint64_t done, uint64_t total)
{
	const int64_t now_ns = progress->clock_ns();

	/* The rate is that since the first call: earlier work took an unknown time. */
	if (strcmp(progress->what, what) != 0 || done < progress->started_done) {
		progress->what = what;
		progress->started_ns = now_ns;
		progress->started_done = done;
	}
	if (now_ns < progress->next_ns || done == 0)
		return;
	if (progress->terminal) {
		fputc('\r', progress->file);
		print(progress, done, total, now_ns);
		fputs("\033[K", progress->file); /* erase the rest of a longer line */
		progress->shown = true;
		progress->next_ns = now_ns + TERMINAL_NS;
	} else {
		print(progress, done, total, now_ns);
		fputc('\n', progress->file);
		progress->distance_ns *= 2;
		if (progress->distance_ns > LINE_LAST_NS)
			progress->distance_ns = LINE_LAST_NS;
		progress->next_ns = now_ns + progress->distance_ns;
	}
	(void)fflush(progress->file);
}

void wfs_progress_line(struct wfs_progress *progress, const char *text)
{
	const int64_t now_ns = progress->clock_ns();

	if (!progress->terminal || now_ns < progress->next_ns)
		return;
	fprintf(progress->file, "\r%s\033[K", text);
	(void)fflush(progress->file);
	progress->shown = true;
	progress->next_ns = now_ns + TERMINAL_NS;
}

bool wfs_progress_step(void *context, const char *what, uint64_t done, uint64_t total)
{
	wfs_progress_show(context, what, done, total);
	return !wfs_interrupted();
}

void wfs_progress_clear(struct wfs_progress *progress)
{
	if (!progress->shown)
		return;
	fputs("\r\033[K", progress->file);
	(void)fflush(progress->file);
	progress->shown = false;
}
