/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of agents as a domain. */
#include "kernel/domain/turn/turn-impl.h"

static const struct wfs_action_type actions[] = {
	{"step", .check = turn_check_step, .fold = turn_fold_step},
	{"cancel", true, turn_check_cancel, turn_fold_cancel},
	{"ask", .check = turn_check_ask, .fold = turn_fold_ask},
	{"approve", .check = turn_check_approve, .fold = turn_fold_approve},
	{NULL},
};

static const struct wfs_intent_type intents[] = {
	{"run_id", turn_fold_receipt, turn_fold_called, turn_fold_begun, turn_describe_call},
	{NULL},
};

static void clear(struct wfs_fold *fold)
{
	turn_kept(fold)->run_count = 0;
}

const struct wfs_domain wfs_turn_domain = {
	.name = "turn",
	.actions = actions,
	.intents = intents,
	.kept_size = sizeof(struct turn_kept),
	.clear = clear,
	.apply = turn_index_record,
};
