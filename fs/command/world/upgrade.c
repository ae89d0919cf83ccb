/* SPDX-License-Identifier: Apache-2.0 */
/* The command that upgrades a world. */
#include <inttypes.h>

#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"
#include "kernel/base/formats.h"

static const char *directory_of(const struct wfs_run *run)
{
	return run->arguments[0] ? run->arguments[0] : run->directory;
}

static int print_json(struct wfs_run *run, const struct wfs_upgraded *upgraded)
{
	const bool done = upgraded->needed && !run->options[WFS_OPTION_DRY_RUN];

	return wfs_run_json(run,
		json_pack("{s:s?, s:i, s:i, s:I, s:b, s:i, s:i, s:b, s:s}", "before",
			done ? upgraded->before : NULL, "from_fold_version",
			upgraded->from_fold_version, "from_store_format", upgraded->from_format,
			"height", (json_int_t)upgraded->height, "needed", (int)upgraded->needed,
			"to_fold_version", WFS_FOLD_VERSION, "to_store_format", WFS_STORE_FORMAT,
			"upgraded", (int)done, "world", directory_of(run)));
}

static void print_text(struct wfs_run *run, const struct wfs_upgraded *upgraded)
{
	if (!upgraded->needed) {
		wfs_run_notice(run, "nothing to do: %s has store format %d, fold version %d",
			directory_of(run), upgraded->from_format, upgraded->from_fold_version);
		return;
	}
	wfs_run_notice(run, "%s: store format %d -> %d, fold version %d -> %d", directory_of(run),
		upgraded->from_format, WFS_STORE_FORMAT, upgraded->from_fold_version,
		WFS_FOLD_VERSION);
	if (run->options[WFS_OPTION_DRY_RUN])
		wfs_run_notice(run,
			"the upgrade takes about %" PRIu64 " bytes; nothing was changed",
			upgraded->needs_bytes);
	else
		wfs_run_notice(run, "the old store is in %s/%s; %s", directory_of(run),
			upgraded->before,
			run->options[WFS_OPTION_KEEP]
				? "it stays until 'worldfs upgrade --drop-old'"
				: "'worldfs gc' removes it after 30 days");
}

static int drop_old(struct wfs_run *run)
{
	const int count = wfs_upkeep_drop_old(directory_of(run), &run->error);

	if (count < 0)
		return count;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, json_pack("{s:i}", "dropped", count));
	wfs_run_notice(run, "removed %d old store%s", count, count == 1 ? "" : "s");
	return 0;
}

int wfs_run_upgrade(struct wfs_run *run)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	struct wfs_progress progress;
	const struct wfs_upgrade_options options = {
		.dry_run = run->options[WFS_OPTION_DRY_RUN] != NULL,
		.keep = run->options[WFS_OPTION_KEEP] != NULL,
		.progress = wfs_progress_step,
		.context = &progress,
	};
	struct wfs_upgraded upgraded;
	int r = run->arguments[0] ? 0 : wfs_run_directory(run);

	if (r)
		return r;
	if (run->options[WFS_OPTION_DROP_OLD])
		return drop_old(run);
	wfs_interrupt_catch();
	wfs_progress_init(&progress, run->err);
	r = wfs_upkeep_upgrade(directory_of(run), &options, &problems, &upgraded, &run->error);
	wfs_progress_clear(&progress);
	if (r && run->error.code == WFS_E_HASH_MISMATCH && problems.lines.size > 0)
		(void)fwrite(problems.lines.data, 1, problems.lines.size, run->err);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return print_json(run, &upgraded);
	print_text(run, &upgraded);
	return 0;
}
