/* SPDX-License-Identifier: Apache-2.0 */
/* The list of domains: the one place that names each of them. */
#include "kernel/world/domains.h"

#include "kernel/domain/action/act.h"

/* One line for each domain; folding calls them in this order. */
#define DOMAINS(X)   \
	X(principal) \
	X(timer)     \
	X(action)    \
	X(memory)    \
	X(service)   \
	X(outside)   \
	X(turn)      \
	X(plan)

#define DECLARE(name) extern const struct wfs_domain wfs_##name##_domain;
DOMAINS(DECLARE)

const struct wfs_domain *const wfs_domains[] = {
#define ADDRESS(name) &wfs_##name##_domain,
	DOMAINS(ADDRESS) NULL,
};

/* Before main(), so that no thread and no world can be earlier. */
__attribute__((constructor)) static void add_domains(void)
{
	wfs_domains_add(wfs_domains);
}

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
