/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of scrip, quota and artifacts. */
#include <inttypes.h>

#include "kernel/domain/action/act.h"
#include "kernel/domain/action/service.h"

static int check_taker(struct act *act, const char *id, struct wfs_error *error)
{
	int r = wfs_grant_name_valid(id) && strcmp(id, WFS_PRINCIPAL_MINT) != 0
		? account_exists(act->fold, id, error)
		: 0;

	return r ? wfs_trace(r < 0 ? r : 0)
		 : wfs_error_set(error, WFS_E_NOT_FOUND, "Principal '%.140s' not found", id);
}

int act_action_transfer(struct act *act, struct wfs_error *error)
{
	const char *const to = act->params.action_transfer.to;
	const char *const name = act->params.action_transfer.resource;
	const int64_t amount = act->params.action_transfer.amount;
	const bool scrip = !name || strcmp(name, "scrip") == 0;
	const enum account_resource resource =
		scrip ? ACCOUNT_RESOURCE_COUNT : account_resource_find(name);

	if (amount < 1)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'amount': expected 1 or more, got %" PRId64, amount);
	if (!scrip && resource == ACCOUNT_RESOURCE_COUNT)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"Resource '%.80s' not found. Available: disk, journal, llm_budget, "
			"llm_tokens, scrip",
			name);
	int r = check_taker(act, to, error);
	if (!r)
		r = scrip ? account_move(act->fold, act->actor, to, amount, error)
			  : account_move_quota(act->fold, act->actor, to, resource, amount, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Transferred %" PRId64 " %s to %s", amount,
		scrip ? "scrip" : name, to);
	act->data = json_pack("{s:I, s:s, s:s, s:s}", "amount", (json_int_t)amount, "from",
		act->actor, "resource", scrip ? "scrip" : name, "to", to);
	return act->data ? 0 : fold_no_memory(error);
}

/* Charges the artifact's bytes to the account that pays for the new owner's disk. */
static int move_bytes(struct act *act, struct wfs_document_artifact *artifact, const char *payer,
	struct wfs_error *error)
{
	int64_t size;
	int r = artifact_size(act->fold, artifact, &size, error);

	if (!r)
		r = account_use(act->fold, artifact->charged_to, ACCOUNT_DISK, -size, error);
	if (!r)
		r = account_use(act->fold, payer, ACCOUNT_DISK, size, error);
	artifact->charged_to = payer;
	return wfs_trace(r);
}

static int give(struct act *act, const struct wfs_document_artifact *artifact, const char *to,
	struct wfs_error *error)
{
	struct wfs_document_artifact given = *artifact;
	const bool held = service_find(act->fold->domains, to) != NULL;
	char payer[WFS_ARTIFACT_ID_MAX + 1];
	int r = held ? 0 : artifact_disk_payer(act->fold, to, payer, error);

	/* An artifact held by a service stays charged to its previous owner; otherwise services
	 * would be free disk. */
	if (!r && !held)
		r = move_bytes(act, &given, payer, error);
	if (r)
		return wfs_trace(r);
	/* The giver chose the writer, which would write at the new owner's cost. Services give
	 * back what they got unchanged. */
	if (!held && !service_find(act->fold->domains, act->actor))
		(void)json_object_del(given.metadata, "authorized_writer");
	given.owner = to;
	given.updated_at = act->fold->input.at_ns;
	return wfs_trace(fold_write_artifact(act->fold, &given, error));
}

/* A service never gives back what it has not taken itself. */
static int check_service(const struct act *act, const char *to, struct wfs_error *error)
{
	if (!service_find(act->fold->domains, to) ||
		(act->within && strcmp(act->within->id, to) == 0))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'to': '%s' is a service: invoke it to have it take something", to);
}

int act_action_transfer_ownership(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_transfer_ownership.artifact_id;
	const char *const to = act->params.action_transfer_ownership.to;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = act_artifact(act, id, &artifact, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(act->actor, artifact.owner) != 0) {
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' may not give '%s' away: its owner is '%s'", act->actor, id,
			artifact.owner);
		return act_refuse_artifact(act, &artifact, error);
	}
	if (strcmp(artifact.access, "self_owned") == 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' is self_owned: it cannot be given away", id);
	r = check_service(act, to, error);
	if (!r)
		r = check_taker(act, to, error);
	if (!r)
		r = give(act, &artifact, to, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Artifact %s belongs to %s now", id, to);
	act->data = json_pack("{s:s, s:s, s:s}", "artifact_id", id, "from", act->actor, "to", to);
	return act->data ? 0 : fold_no_memory(error);
}
