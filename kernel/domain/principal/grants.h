/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principals and grants: cells of the built-in reducers sys.principal and sys.grant.
 *
 * They change by actions alone (and by genesis, for those that the manifest declares), and are
 * folded like everything else: an action and the state before it say what it gives. Who may take an
 * action, and whether a grant is inside of the one it is passed on from, is decided in caps/.
 *
 *   sys.principal, key id:   {agent_of?, agents?, created_by, id, passed_on?, requested_by?}; agent_of: it was made with
 *                             an artifact of type agent, whose bytes this principal pays; agents, passed_on: how
 *                             many it made; requested_by: the principal whose request made this agent, if
 *                             that is not agent_of; if an agent requested it, that agent's requested_by or agent_of
 *   sys.grant, key name:     {budget?{calls?,tokens?}, cap, expires_at_ns?, from?, granted_by, name,
 *                             params, to, used?{calls,tokens}}
 *   {action_type "grant", cap, to, params, name?, expires_at_ns?, budget?, from?, to_artifact_of?} -> {name}
 *   {action_type "revoke", name} -> {removed}; with all that was passed on from it
 *   {action_type "principal", id} -> {id}
 * Source: docs/decisions/0016-grants.md.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/fold/fold-domain.h"

extern const struct wfs_domain wfs_principal_domain;

/** grants_make_agent() - for kernel/domain/action/: the principal of an artifact of type agent; there is none. Its account is
 *  the caller's. @maker: actor; @payer: of the artifact's bytes. Return: 0, -EDQUOT (quota_exceeded), … */
int grants_make_agent(struct wfs_fold *fold, const char *id, const char *maker, const char *payer,
	struct wfs_error *error);

/**
 * grants_charge_receipt() - count the answer of a model in the grant that covers the request
 * The answer is paid for already, so the budget cannot refuse it any more. Return: 0, -EIO, -ENOMEM.
 */
int grants_charge_receipt(struct wfs_fold *fold, const json_t *receipt, struct wfs_error *error);
