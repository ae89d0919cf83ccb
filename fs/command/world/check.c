/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that check a world: verify, replay. They read it beside its owner. */
#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"

typedef int check_fn(struct wfs_world *world, struct wfs_problems *problems,
	wfs_progress_fn *progress, void *context, struct wfs_error *error);

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

static int check(struct wfs_run *run, check_fn *function)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	const struct wfs_world_options options = {
		.read_only = true, .walk_pages = true, .problems = &problems};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;
	struct wfs_progress progress;
	int r = wfs_run_directory(run);

	if (!r)
		r = wfs_world_open(run->directory, &options, &world, &run->error);
	/* A world with damaged pages cannot be opened, but finding them is the task of the
	 * command. */
	if (r && problems.count > 0)
		return show_problems(run, &problems);
	if (r)
		return r;
	wfs_interrupt_catch();
	wfs_progress_init(&progress, run->err);
	r = function(world, &problems, wfs_progress_step, &progress, &run->error);
	wfs_progress_clear(&progress);
	/* An interrupted check still reports what it has found. */
	if (r == -EINTR && !run->options[WFS_OPTION_JSON])
		print_problems(run, &problems);
	return r ? r : show_problems(run, &problems);
}

int wfs_run_verify(struct wfs_run *run)
{
	return check(run, wfs_verify);
}

int wfs_run_replay(struct wfs_run *run)
{
	return check(run, wfs_replay);
}
