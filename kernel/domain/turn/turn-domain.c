/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of agents as a domain. */
#include "kernel/domain/turn/turn-impl.h"

static const struct wfs_action_type actions[] = {
	{"step", .form = &turn_step_form, .fold = turn_fold_step},
	{"cancel", true, .form = &turn_cancel_form, .fold = turn_fold_cancel},
	{"ask", .form = &turn_ask_form, .fold = turn_fold_ask},
	{"approve", .form = &turn_approve_form, .fold = turn_fold_approve},
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
