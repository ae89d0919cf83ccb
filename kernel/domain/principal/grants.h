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
 * Source: spec 3, "Capabilities and policy".
 * Thread: the one that folds; wfs_action_check: any.
 */
#pragma once

#include "kernel/fold/fold.h"

/**
 * wfs_action_check() - the form of an action, as far as the manifest tells
 * Return: 0, -EINVAL, -ENOENT (not_found: the capability), -EFBIG, -ENOMEM.
 */
int wfs_action_check(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** wfs_action_ends() - does an action of this type end something, which happens once: a grant, a run, a chat, a plan? */
bool wfs_action_ends(const char *type);

/* --- for kernel/fold/fold.c: parts of record 0 of a fold --- */

/** grants_fold_action() - @ret_answer: an object, caller owns it */
int grants_fold_action(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/**
 * grants_fold_charge() - count one call in @name and in all that it was passed on from
 * Counted are grants that have a budget.
 * Return: 0, -EDQUOT (quota_exceeded: one of them is spent), -EACCES (not_authorized: there is no
 *         such grant any more), …
 */
int grants_fold_charge(struct wfs_fold *fold, const char *name, struct wfs_error *error);

/** grants_fold_spent() - count one call that is over, and its tokens, in the same grants; it cannot be
 *  refused any more. */
int grants_fold_spent(
	struct wfs_fold *fold, const char *name, int64_t tokens, struct wfs_error *error);

/** grants_make_agent() - for kernel/domain/action/: the principal of an artifact of type agent; there is none. Its account is
 *  the caller's. @maker: actor; @payer: of the artifact's bytes. Return: 0, -EDQUOT (quota_exceeded), … */
int grants_make_agent(struct wfs_fold *fold, const char *id, const char *maker, const char *payer,
	struct wfs_error *error);

/** grants_fold_declared() - cells for the principals and grants of the manifest. */
int grants_fold_declared(struct wfs_fold *fold, struct wfs_error *error);

/**
 * grants_fold_manifest() - the same when @to comes into force behind that of the fold
 * What it declares anew is granted, what it declares no more is revoked with all that was passed on
 * from it, what it declares otherwise is replaced, and what it declares as before stays as it is.
 * Return: 0, -EEXIST (already_exists: a grant of that name, which no manifest declares), …
 */
int grants_fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);

/* --- for kernel/fold*.c: grants-passed.c follows what is applied --- */

struct grants_passed;

void grants_passed_free(struct grants_passed *passed);

/** grants_passed_begin() - a record is to be applied; forgets what is not of the journal as it ends in @head. */
void grants_passed_begin(struct wfs_fold *fold, const struct wfs_head *head);

/** grants_passed_change() - the record gives the cell of the grant @name this state; of a table that there is */
void grants_passed_change(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state);

/** grants_passed_end() - the record was applied. */
void grants_passed_end(struct wfs_fold *fold, const struct wfs_head *head);
