/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principals and grants: cells of the built-in reducers sys.principal and sys.grant.
 *
 * They change only by actions, and by genesis for those that the manifest declares. Folding an
 * action depends only on the action and the state before it. caps/ decides whether a principal may
 * act, and whether a grant is within the one that it is passed on from: a principal can pass on a
 * part of a grant that it has, which makes a new grant with `from`.
 *
 *   sys.principal, key id: {agent_of?, agents?, created_by, id, outside?, passed_on?,
 *       requested_by?}; agent_of: the principal that pays for the artifact of type agent with which
 *       this principal was made; agents, passed_on: how many agents this principal has made and how
 *       many grants it has passed on; outside: how many of its calls of outside tools
 *       (kernel/domain/outside) are not answered, or unknown; requested_by: the principal whose
 *       request made this agent, if it differs from agent_of; if an agent sent the request, that
 *       agent's requested_by or agent_of
 *   sys.grant, key name: {budget?{calls?,tokens?}, cap, expires_at_ns?, from?, granted_by, name,
 *       params, to, used?{calls,tokens}}
 *
 *   {action_type "grant", cap, to, params, name?, expires_at_ns?, budget?, from?, to_artifact_of?}
 *       -> {name}; to_artifact_of: owner of the agent `to`, see grants_check_agent()
 *   {action_type "revoke", name} -> {removed}; also removes each grant that was passed on from it
 *   {action_type "principal", id, quotas?, scrip?} -> {id}
 *
 * Source: docs/decisions/0016-grants.md.
 * Thread: the thread that folds.
 */
#pragma once

#include "kernel/fold/fold-domain.h"

extern const struct wfs_domain wfs_principal_domain;

/** grants_make_agent() - for kernel/domain/action/: make the cell of the principal of a new
 *  artifact of type agent. The caller has checked that no principal has the id @id, and makes the
 *  account. @maker: id of the principal that acts; @payer: id of the principal that pays for the
 *  artifact's bytes
 *  Return: 0, -EDQUOT (quota_exceeded: too many principals in the world, or agents of @payer), …;
 *  after a failure the caller takes back the changes. */
int grants_make_agent(struct wfs_fold *fold, const char *id, const char *maker, const char *payer,
	struct wfs_error *error);

/** grants_count_outside() - for kernel/domain/outside/: add @amount, 1 or -1, to the number, in
 *  the cell of a principal, of calls of outside tools that are not answered, or whose outcome is
 *  unknown. Return: 0, -EDQUOT (quota_exceeded: the number would be above
 *  WFS_PRINCIPAL_OUTSIDE_MAX, kernel/manifest/grant.h), … */
int grants_count_outside(
	struct wfs_fold *fold, const char *principal, int amount, struct wfs_error *error);

/** grants_charge_receipt() - charge a model's answer, as one call and its tokens, to the grant that
 *  allowed the request to the model (fold->input.charge; NULL: nothing is charged), and to each
 *  grant in the chain that this grant was passed on from
 *  The model has been paid already, so a spent budget does not refuse the answer.
 *  @receipt: body of record 0, the receipt; its payload.usage.total_tokens are the tokens
 *  Return: 0, -EIO (a cell is damaged), -ENOMEM. */
int grants_charge_receipt(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error);
