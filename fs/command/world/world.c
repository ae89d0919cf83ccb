/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about a world as a whole: init, status, snapshot. */
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>

#include "caps/session.h"
#include "fs/command/world/commands.h"

/* Gets the last name of a path; "world" if it has none. */
static const char *last_name(const char *path, char *buffer, size_t buffer_size)
{
	const char *name;

	snprintf(buffer, buffer_size, "%s", path);
	name = basename(buffer);
	return strcmp(name, "/") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "world"
											   : name;
}

static int load_source(
	struct wfs_run *run, struct wfs_problems *problems, struct wfs_source *ret_source)
{
	const char *const from = run->options[WFS_OPTION_SOURCE];
	const char *name = run->options[WFS_OPTION_NAME];
	char buffer[PATH_MAX];

	if (from)
		return wfs_source_load(from, name, problems, ret_source);
	return wfs_source_empty(name ? name : last_name(run->arguments[0], buffer, sizeof(buffer)),
		ret_source, &run->error);
}

/* Makes the world, which finds all problems of its artifacts. */
static int make_world(struct wfs_run *run, struct wfs_problems *problems)
{
	const struct wfs_world_options options = {.read_only = false};
	WFS_AUTO_SOURCE struct wfs_source source = {.manifest = NULL};
	int r = load_source(run, problems, &source);

	if (!r || source.manifest)
		r = wfs_world_create(run->arguments[0], &source, &options, problems, &run->error);
	if (problems->count > 0)
		return wfs_error_set(&run->error, WFS_E_INVALID_ARGUMENT,
			"'%s' has %zu problem%s, nothing was made", run->options[WFS_OPTION_SOURCE],
			problems->count, problems->count == 1 ? "" : "s");
	return r;
}

int wfs_run_init(struct wfs_run *run)
{
	const char *const directory = run->arguments[0];
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	int r = make_world(run, &problems);

	if (problems.lines.size > 0)
		(void)fwrite(problems.lines.data, 1, problems.lines.size, run->err);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, json_pack("{s:s}", "world", directory));
	wfs_run_notice(run, "made a world in %s", directory);
	wfs_run_tell_trust(run, directory);
	return 0;
}

static int print_status(struct wfs_run *run, const json_t *status)
{
	if (!wfs_access_has_owner(run->access))
		wfs_run_notice(run, "no process owns the world");
	return wfs_run_print_document(run, status);
}

int wfs_run_status(struct wfs_run *run)
{
	return wfs_run_show(run, "status", NULL, print_status);
}

static int print_snapshot(struct wfs_run *run, const json_t *result)
{
	fprintf(run->out, "%s\n", wfs_json_text(result, "snapshot_hash"));
	wfs_run_notice(run, "snapshot of height %" PRId64, wfs_run_integer(result, "height"));
	return 0;
}

int wfs_run_snapshot(struct wfs_run *run)
{
	return wfs_run_show(run, "snapshot", NULL, print_snapshot);
}
