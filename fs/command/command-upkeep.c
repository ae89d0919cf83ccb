/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that keep a world safe and small: backup. */
#include <inttypes.h>
#include <signal.h>

#include "caps/upkeep.h"
#include "fs/command/command-table.h"
#include "fs/command/progress.h"

/* Signals that end the command. They are held back while there is something to take away, then
 * delivered, so that a shell sees how it ended. */
static void ending_signals(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGINT);
	sigaddset(ret_set, SIGTERM);
	sigaddset(ret_set, SIGHUP);
}

static bool signalled(void *context)
{
	sigset_t ending;
	sigset_t pending;

	(void)context;
	ending_signals(&ending);
	if (sigpending(&pending) || sigandset(&pending, &pending, &ending))
		return false;
	return !sigisemptyset(&pending);
}

static void show(void *context, const char *what, uint64_t done, uint64_t total)
{
	wfs_progress_show(context, what, done, total);
}

static int backup(struct wfs_run *run, struct wfs_backup_figures *ret_figures)
{
	const struct wfs_world_options world_options = {.read_only = true};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;
	struct wfs_progress progress;
	const struct wfs_backup_options options = {show, signalled, &progress};
	int r = wfs_run_directory(run);

	if (!r)
		r = wfs_world_open(run->directory, &world_options, &world, &run->error);
	if (r)
		return r;
	wfs_progress_init(&progress, run->err);
	r = wfs_backup(world, run->arguments[0], &options, ret_figures, &run->error);
	wfs_progress_clear(&progress);
	return r;
}

int wfs_run_backup(struct wfs_run *run)
{
	struct wfs_backup_figures figures = {0};
	sigset_t ending;
	sigset_t before;

	ending_signals(&ending);
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	int r = backup(run, &figures);
	if (r == -EINTR)
		wfs_run_notice(run, "worldfs: %s", run->error.message);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:s, s:I, s:I, s:I, s:I}", "backup", run->arguments[0],
				"data_bytes", (json_int_t)figures.data_bytes, "file_bytes",
				(json_int_t)figures.file_bytes, "file_count",
				(json_int_t)figures.file_count, "height",
				(json_int_t)figures.height));
	wfs_run_notice(run,
		"height %" PRIu64 " is in %s: data.mdb with %" PRIu64 " bytes, %" PRIu64
		" blob file%s with %" PRIu64,
		figures.height, run->arguments[0], figures.data_bytes, figures.file_count,
		figures.file_count == 1 ? "" : "s", figures.file_bytes);
	return 0;
}
