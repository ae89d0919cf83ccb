/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for code that ended the process that runs code: ls, lift. */
#include <inttypes.h>

#include "fs/command/rights/commands.h"

static void print_row(struct wfs_run *run, const json_t *row)
{
	fprintf(run->out, "%s  %6" PRId64 "  %-7s  %s\n", wfs_json_text(row, "code"),
		wfs_run_integer(row, "crashes"),
		json_is_true(json_object_get(row, "refused")) ? "refused" : "runs",
		wfs_json_text(row, "name"));
}

int wfs_run_code_ls(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	const json_t *row;
	size_t i;
	int r = wfs_run_call(run, "code", NULL, &result);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	json_array_foreach(json_object_get(result, "codes"), i, row)
	{
		print_row(run, row);
	}
	return 0;
}

int wfs_run_code_lift(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_run_call(run, "code", json_pack("{s:s}", "lift", run->arguments[0]), &result);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	wfs_run_notice(run, "%s may run again", wfs_json_text(result, "lifted"));
	return 0;
}
