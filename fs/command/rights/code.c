/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for code that ended the process that runs code: ls, lift. */
#include <inttypes.h>

#include "fs/command/rights/commands.h"

static int print_codes(struct wfs_run *run, const json_t *result)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(result, "codes"), i, row) {
		fprintf(run->out, "%s  %6" PRId64 "  %-7s  %s\n", wfs_json_text(row, "code"),
			wfs_run_integer(row, "crashes"),
			json_is_true(json_object_get(row, "refused")) ? "refused" : "runs",
			wfs_json_text(row, "name"));
	}
	return 0;
}

int wfs_run_code_ls(struct wfs_run *run)
{
	return wfs_run_show(run, "code", NULL, print_codes);
}

static int print_lifted(struct wfs_run *run, const json_t *result)
{
	wfs_run_notice(run, "%s may run again", wfs_json_text(result, "lifted"));
	return 0;
}

int wfs_run_code_lift(struct wfs_run *run)
{
	return wfs_run_show(
		run, "code", json_pack("{s:s}", "lift", run->arguments[0]), print_lifted);
}
