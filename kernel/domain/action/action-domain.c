/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts, scrip, the mint and code that runs, as a domain. */
#include "kernel/domain/action/invoke.h"

static int check(const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	(void)manifest;
	return wfs_action_check_form(action, error);
}

static const struct wfs_action_type actions[] = {
#define ACTION_ROW(constant, member, ...) \
	{&(#member)[sizeof("action_") - 1], .check = check, .fold_whole = action_fold},
	WFS_ACTIONS(ACTION_ROW)
#undef ACTION_ROW
		{NULL},
};

static void done(void *kept)
{
	action_programs_done(kept);
}

const struct wfs_domain wfs_action_domain = {
	.name = "action",
	.actions = actions,
	.kept_size = sizeof(struct action_programs),
	.done = done,
	.fold_answer = action_fold_answer,
	.asker = WFS_BUILTIN_MINT,
};
