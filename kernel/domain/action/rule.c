/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that artifacts name in `access`. */
#include "kernel/domain/action/rule.h"

bool artifact_is_owned(const struct wfs_document_artifact *artifact, const char *actor)
{
	return strcmp(actor, artifact->owner) == 0;
}

bool artifact_use_is_open(enum artifact_use use)
{
	return use == ARTIFACT_USE_READ || use == ARTIFACT_USE_INVOKE;
}

static bool by_public(
	const char *actor, const struct wfs_document_artifact *artifact, enum artifact_use use)
{
	(void)actor;
	(void)artifact;
	(void)use;
	return true;
}

static bool by_freeware(
	const char *actor, const struct wfs_document_artifact *artifact, enum artifact_use use)
{
	return artifact_use_is_open(use) || artifact_is_owned(artifact, actor);
}

/* The `authorized_writer` changes it instead of the owner, which pays for its bytes and can delete
 * it. */
static bool by_transferable_freeware(
	const char *actor, const struct wfs_document_artifact *artifact, enum artifact_use use)
{
	const char *const writer =
		json_string_value(json_object_get(artifact->metadata, "authorized_writer"));

	return artifact_use_is_open(use) || (writer && strcmp(actor, writer) == 0) ||
		((!writer || use == ARTIFACT_USE_DELETE) && artifact_is_owned(artifact, actor));
}

static bool by_self_owned(
	const char *actor, const struct wfs_document_artifact *artifact, enum artifact_use use)
{
	(void)use;
	return artifact_is_owned(artifact, actor) || strcmp(actor, artifact->id) == 0;
}

static bool by_private(
	const char *actor, const struct wfs_document_artifact *artifact, enum artifact_use use)
{
	(void)use;
	return artifact_is_owned(artifact, actor);
}

static const struct artifact_rule rules[] = {
	{"freeware", by_freeware, "only the owner changes it"},
	{"transferable_freeware", by_transferable_freeware,
		"only the authorized writer, or else the owner, changes it"},
	{"self_owned", by_self_owned, "it is for the owner and itself"},
	{"private", by_private, "it is for the owner"},
	{"public", by_public, ""},
};

const struct artifact_rule *artifact_rule_find(const char *access)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(rules); i++)
		if (strcmp(rules[i].name, access) == 0)
			return &rules[i];
	return NULL;
}

bool artifact_is_rule(const char *access)
{
	return artifact_rule_find(access) != NULL;
}

/* A contract is not asked here: only reading by an action may run it. */
bool wfs_artifact_reads(const struct wfs_document_artifact *artifact, const char *principal)
{
	const struct artifact_rule *const rule = artifact_rule_find(artifact->access);

	if (artifact_is_owned(artifact, principal))
		return true;
	return artifact->read_price == 0 && rule &&
		rule->allows(principal, artifact, ARTIFACT_USE_READ);
}

enum wfs_artifact_answer wfs_artifact_invokes(
	const struct wfs_document_artifact *artifact, const char *principal)
{
	const struct artifact_rule *const rule = artifact_rule_find(artifact->access);

	if (artifact_is_owned(artifact, principal))
		return WFS_ARTIFACT_YES;
	if (!rule)
		return WFS_ARTIFACT_CONTRACT;
	return rule->allows(principal, artifact, ARTIFACT_USE_INVOKE) ? WFS_ARTIFACT_YES
								      : WFS_ARTIFACT_NO;
}

bool wfs_artifact_is_open(const struct wfs_document_artifact *artifact)
{
	return wfs_artifact_reads(artifact, "");
}
