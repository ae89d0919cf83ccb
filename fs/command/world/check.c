/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that check a world: verify, replay. They read it beside its owner. */
#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"

/* A check under way. While the world is opened, a signal ends the process. */
struct checking {
	struct wfs_progress progress;
	bool catches; /* a signal ends only the check */
};

static bool step(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct checking *const checking = context;

	if (!checking->catches)
		wfs_interrupt_catch();
	checking->catches = true;
	return wfs_progress_step(&checking->progress, what, done, total);
}

/* Makes {count, problems: [line …]}. */
static json_t *problems_document(const struct wfs_problems *problems)
{
	const char *line = problems->lines.data;
	const char *const end = line ? line + problems->lines.size : NULL;
	json_t *const lines = json_array();

	while (line < end) {
		const char *const newline = memchr(line, '\n', (size_t)(end - line));
		const size_t size = (size_t)((newline ? newline : end) - line);

		json_array_append_new(lines, json_stringn(line, size));
		line += size + 1;
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)problems->count, "problems", lines);
}

static void print_problems(struct wfs_run *run, const struct wfs_problems *problems)
{
	if (problems->lines.size > 0)
		(void)fwrite(problems->lines.data, 1, problems->lines.size, run->out);
}

static int show_problems(struct wfs_run *run, const struct wfs_problems *problems)
{
	int r = 0;

	if (run->options[WFS_OPTION_JSON]) {
		r = wfs_run_json(run, problems_document(problems));
	} else {
		print_problems(run, problems);
		wfs_run_notice(run, "%zu problem%s found", problems->count,
			problems->count == 1 ? "" : "s");
	}
	return r ? r : problems->count > 0;
}

static int check(struct wfs_run *run, bool replays)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	struct checking checking = {.catches = false};
	int r = wfs_run_directory(run);

	if (r)
		return r;
	wfs_progress_init(&checking.progress, run->err);
	r = wfs_upkeep_check(run->directory, replays, &problems, step, &checking, &run->error);
	wfs_progress_clear(&checking.progress);
	/* An interrupted check still reports what it has found. */
	if (r == -EINTR && !run->options[WFS_OPTION_JSON])
		print_problems(run, &problems);
	return r ? r : show_problems(run, &problems);
}

int wfs_run_verify(struct wfs_run *run)
{
	return check(run, false);
}

int wfs_run_replay(struct wfs_run *run)
{
	return check(run, true);
}
