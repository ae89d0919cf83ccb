/* SPDX-License-Identifier: Apache-2.0 */
/* Chats and plans, as a domain. */
#include "kernel/domain/plan/plan-impl.h"

static const struct wfs_action_type actions[] = {
	{"chat", .form = &plan_chat_form, .fold = plan_fold_chat},
	{"import", .form = &plan_import_form, .fold = plan_fold_import},
	{"resume", .form = &plan_resume_form, .fold = plan_fold_resume},
	{"stop", true, .form = &plan_stop_form, .fold = plan_fold_cancel},
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
