/* SPDX-License-Identifier: Apache-2.0 */
/* May the actor use an artifact, by its rule or its contract? */
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/action/rule.h"
#include "kernel/domain/action/service.h"

static const char *const use_names[] = {
#define ARTIFACT_USE_NAME(constant, name) [ARTIFACT_USE_##constant] = (name),
	ARTIFACT_USES(ARTIFACT_USE_NAME)
#undef ARTIFACT_USE_NAME
};

static int deny(const struct act *act, const struct wfs_document_artifact *artifact,
	enum artifact_use use, const char *reason, struct wfs_error *error)
{
	wfs_error_set(error, WFS_E_NOT_AUTHORIZED, "'%s' may not %s '%s' (%s: %.200s)", act->actor,
		use_names[use], artifact->id, artifact->access, reason);
	if (use == ARTIFACT_USE_WRITE)
		return act_refuse_id(act, WFS_ENTITY_ARTIFACT, artifact->id, error);
	return act_refuse_artifact(act, artifact, error);
}

int artifact_permit(struct act *act, const struct wfs_document_artifact *artifact,
	enum artifact_use use, struct wfs_error *error)
{
	const struct artifact_rule *const rule = artifact_rule_find(artifact->access);
	char reason[CONTRACT_REASON_SIZE] = "";
	bool allowed;

	if (!artifact_use_is_open(use) && service_find(act->fold->domains, artifact->owner) &&
		!artifact_is_owned(artifact, act->actor))
		return deny(act, artifact, use, "it is for sale", error);
	if (rule)
		return rule->allows(act->actor, artifact, use)
			? 0
			: deny(act, artifact, use, rule->reason, error);
	int r = contract_permit(act, artifact, use_names[use], &allowed, reason, error);
	if (r || allowed)
		return wfs_trace(r);
	return deny(act, artifact, use, reason, error);
}
