/* SPDX-License-Identifier: Apache-2.0 */
/* The command that makes a world from a copy of a tree. */
#include <inttypes.h>

#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"
#include "kernel/base/hash-text.h"

static int print_json(struct wfs_run *run, const struct wfs_restored *restored)
{
	return wfs_run_json(run,
		json_pack("{s:I, s:I, s:b, s:I, s:s, s:s, s:s}", "first_height",
			(json_int_t)restored->first_height, "height", (json_int_t)restored->height,
			"history", (int)restored->history, "repaired",
			(json_int_t)restored->repaired, "snapshot_hash",
			WFS_HASH_TEXT(&restored->snapshot_hash), "world", run->arguments[1],
			"world_id", restored->world_id));
}

/* Reports actions that cannot be folded again. */
static void print_lost(struct wfs_run *run, const struct wfs_restored *restored)
{
	const struct wfs_refold_lost *const lost = &restored->lost;

	if (lost->seq)
		wfs_run_notice(run,
			"the copy lacks the %s that record %" PRIu64
			" gave artifact '%s' before it was replaced: from there on what actions "
			"changed was taken from the copy, and heights below %" PRIu64
			" cannot be shown",
			lost->code ? "code" : "content", lost->seq, lost->artifact_id,
			restored->first_height);
}

static void print_text(struct wfs_run *run, const struct wfs_restored *restored)
{
	fprintf(run->out, "%s\n", WFS_HASH_TEXT(&restored->snapshot_hash));
	if (restored->history)
		wfs_run_notice(run, "restored %" PRIu64 " records in %s", restored->height,
			run->arguments[1]);
	else if (restored->journal && restored->older)
		wfs_run_notice(run,
			"an earlier version folded the journal, so this one cannot: made a world "
			"from the state alone in %s",
			run->arguments[1]);
	else if (restored->journal)
		wfs_run_notice(run,
			"the journal begins with a baseline, and no copy has its cells: made a "
			"world from the state alone in %s",
			run->arguments[1]);
	else
		wfs_run_notice(run,
			"the copy has no journal: made a world from the state alone in %s",
			run->arguments[1]);
}

int wfs_run_restore(struct wfs_run *run)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	struct wfs_progress progress;
	const struct wfs_restore_options options = {.progress = wfs_progress_step,
		.context = &progress,
		.repair = run->options[WFS_OPTION_REPAIR] != NULL};
	struct wfs_restored restored;

	wfs_interrupt_catch();
	wfs_progress_init(&progress, run->err);
	int r = wfs_upkeep_restore(
		run->arguments[0], run->arguments[1], &options, &problems, &restored, &run->error);
	wfs_progress_clear(&progress);
	if (problems.lines.size > 0)
		(void)fwrite(problems.lines.data, 1, problems.lines.size, run->err);
	if (problems.count > WFS_PROBLEMS_MAX)
		wfs_run_notice(run, "and %zu more", problems.count - WFS_PROBLEMS_MAX);
	if (r)
		return r;
	print_lost(run, &restored);
	if (restored.repaired > 0)
		wfs_run_notice(run,
			"%zu files of the copy differ from what its journal gives, and were not "
			"used",
			restored.repaired);
	if (run->options[WFS_OPTION_JSON])
		return print_json(run, &restored);
	print_text(run, &restored);
	return 0;
}
