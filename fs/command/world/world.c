/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about a world as a whole: init, status, snapshot. */
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>

#include "caps/upkeep.h"
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

static int make_world(struct wfs_run *run, struct wfs_problems *problems)
{
	const char *const from = run->options[WFS_OPTION_SOURCE];
	const char *name = run->options[WFS_OPTION_NAME];
	char buffer[PATH_MAX];

	if (!from && !name)
		name = last_name(run->arguments[0], buffer, sizeof(buffer));
	int r = wfs_upkeep_create(run->arguments[0], from, name, problems, &run->error);
	if (problems->count > 0)
		return wfs_error_set(&run->error, WFS_E_INVALID_ARGUMENT,
			"'%s' has %zu problem%s, nothing was made", from, problems->count,
			problems->count == 1 ? "" : "s");
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
