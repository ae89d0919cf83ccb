/* SPDX-License-Identifier: Apache-2.0 */
/* Chats and plans, as a domain. */
#include "kernel/domain/plan/plan-impl.h"

static const struct wfs_action_type actions[] = {
	{"chat", .check = plan_check_chat, .fold = plan_fold_chat},
	{"import", .check = plan_check_import, .fold = plan_fold_import},
	{"resume", .check = plan_check_resume, .fold = plan_fold_resume},
	{"stop", true, plan_check_cancel, plan_fold_cancel},
	{NULL},
};

static const struct wfs_intent_type intents[] = {
	{"chat_id", plan_fold_receipt, plan_fold_called},
	{"plan_id", plan_fold_receipt, plan_fold_called},
	{NULL},
};

const struct wfs_domain wfs_plan_domain = {
	.name = "plan",
	.actions = actions,
	.intents = intents,
};
