/* SPDX-License-Identifier: Apache-2.0 */
/* The list of domains. Folding calls them in this order. */
#include "kernel/world/domains.h"

#include "kernel/domain/memory/memory.h"
#include "kernel/domain/plan/plan.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/service/service-domain.h"
#include "kernel/domain/turn/turn.h"

const struct wfs_domain *const wfs_domains[] = {
	&wfs_principal_domain,
	&wfs_action_domain,
	&wfs_memory_domain,
	&wfs_service_domain,
	&wfs_turn_domain,
	&wfs_plan_domain,
	NULL,
};

int wfs_action_check(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	return wfs_trace(wfs_domain_check(wfs_domains, manifest, action, error));
}

bool wfs_action_ends(const char *action_type)
{
	const struct wfs_action_type *const type = wfs_domain_action(wfs_domains, action_type);

	return type && type->ends;
}

int wfs_privacy_in(struct wfs_view *view, const json_t *action, struct wfs_privacy *ret_privacy,
	struct wfs_error *error)
{
	return wfs_trace(action_privacy(wfs_domains, view, action, ret_privacy, error));
}
