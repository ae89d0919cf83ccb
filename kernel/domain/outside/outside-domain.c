/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of outside tools, as a domain. */
#include "kernel/domain/outside/outside-impl.h"

static const struct wfs_action_type actions[] = {
	{"tool", .form = &outside_call_form, .fold = outside_fold_call},
	{"resolve", .form = &outside_resolve_form, .fold = outside_fold_resolve},
	{NULL},
};

static const struct wfs_intent_type intents[] = {
	{"outside", outside_fold_receipt, .takes_unknown = true},
	{NULL},
};

const struct wfs_domain wfs_outside_domain = {
	.name = "outside",
	.actions = actions,
	.intents = intents,
};
