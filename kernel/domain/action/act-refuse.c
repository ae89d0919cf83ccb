/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals about artifacts. They follow the rights before the record (author.c), so that folding
 * it again gives the same messages.
 */
#include "kernel/domain/action/invoke.h"

int act_knows(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error)
{
	/* The callee changes nothing of the act but the rights that the nest caches. */
	const struct invocation host = {.act = (struct act *)(uintptr_t)act,
		.id = "",
		.author = act->payer,
		.is_host = true};

	if (strncmp(id, WFS_GENESIS_PREFIX, strlen(WFS_GENESIS_PREFIX)) == 0)
		return 1; /* every world has these principals */
	return wfs_trace(author_knows(act->within ? act->within : &host, entity, id, error));
}

static int not_found(const char *id, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_NOT_FOUND, "Artifact '%.140s' not found", id);
}

int act_artifact(const struct act *act, const char *id, struct wfs_document_artifact *ret_artifact,
	struct wfs_error *error)
{
	int r = artifact_get(act->fold, id, ret_artifact, error);

	if (!r || error->code != WFS_E_DELETED)
		return wfs_trace(r);
	const int knows = act_knows(act, WFS_ENTITY_ARTIFACT, id, error);
	if (knows < 0)
		return wfs_trace(knows);
	return knows ? r : not_found(id, error);
}

int act_refuse_artifact(const struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_error *error)
{
	const int knows = act_knows(act, WFS_ENTITY_ARTIFACT, artifact->id, error);

	if (knows < 0)
		return wfs_trace(knows);
	return knows ? -EACCES : not_found(artifact->id, error);
}

int act_refuse_id(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error)
{
	const int knows = act_knows(act, entity, id, error);

	if (knows < 0)
		return wfs_trace(knows);
	return knows ? -wfs_error_info(error->code)->number
		     : wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			       "'%s' may not write an artifact '%.140s': the id is taken",
			       act->actor, id);
}
