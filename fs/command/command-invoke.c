/* SPDX-License-Identifier: Apache-2.0 */
/* invoke: one action. */
#include "fs/command/command-table.h"

int wfs_run_invoke(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	json_t *action;
	int r = wfs_run_value(run, run->arguments[0], &action);

	if (!r)
		r = wfs_run_call(run, "invoke", json_pack("{s:o}", "action", action), &result);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	return wfs_run_print_document(run, result);
}
