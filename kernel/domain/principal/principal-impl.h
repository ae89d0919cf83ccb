/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/principal/: makes and removes the cells of principals and grants while
 * record 0 of a fold (the request's own) is folded, and charges the principal that pays for the
 * fold's records. Functions that return int return 0, or -errno with @error filled; a failure may
 * leave a part of the changes, which the caller takes back, or the request fails
 * (kernel/fold/fold-work.h). @id, @name: id of a principal, name of a grant.
 */
#pragma once

#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/fold/fold-work.h"

/* A table of the grants that were passed on from each grant; see grants-passed.c. */
struct grants_passed {
	json_t *children;     /* {from: {name: true}}; owned; NULL: not read yet */
	json_t *parents;      /* {name: from}; owned */
	struct wfs_hash prev; /* hash of the last line of the journal that the table describes */
	bool applying;        /* a record of the fold is being written */
};

/* The domain's memory in a fold (fold_kept). */
struct principal_kept {
	struct wfs_payer payer; /* principal that pays for the request's records */
	struct grants_passed passed;
};

static inline struct principal_kept *principal_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "principal");
}

/** grants_check_id() - check that no artifact, present or deleted, has @id, the id of a new
 *  principal. Return: 0, -EEXIST (already_exists: one has), … */
int grants_check_id(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_principal() - make the cell of a principal and those of its account; the caller has
 *  checked that the principal does not exist
 *  @principal: {id, scrip?, quotas?}: an action `principal`, or a member of a manifest's
 *  `principals` */
int grants_make_principal(struct wfs_fold *fold, const json_t *principal, struct wfs_error *error);

/* Counts in the cell of a principal. */
enum grants_count {
	GRANTS_COUNT_AGENTS,
	GRANTS_COUNT_PASSED_ON,
	GRANTS_COUNT_OUTSIDE,
};

/** grants_count() - add @amount, which may be negative, to the count @what in the cell of a
 *  principal, unless the count would be more than its maximum (kernel/manifest/grant.h); does
 *  nothing for a principal of the kernel itself, which has no cell. Return: 0, -EDQUOT
 *  (quota_exceeded: it would be more), … */
int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error);

/** grants_check_agent() - check that a grant to an agent that does not belong to the sender names
 *  the agent's owner in `to_artifact_of`
 *  @grant: an action `grant`. Return: 0, -ESTALE (conflict: `to_artifact_of` is missing, or is not
 *  the agent's owner), -EINVAL (`to_artifact_of` is given, but `to` is not an agent), … */
int grants_check_agent(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error);

/** grants_check_declared() - check that the sender of a manifest may declare the principal @id,
 *  which an action has made
 *  Only the owner of an agent may declare it. Otherwise an agent could get grants that a manifest
 *  means for another principal with this id. Return: 0, -ESTALE (conflict: @id is an agent of
 *  another owner), … */
int grants_check_declared(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_grant() - make the cell of a grant; no live grant has this name
 *  @from: an action `grant`, or a member of a manifest's `grants` */
int grants_make_grant(
	struct wfs_fold *fold, const char *name, const json_t *from, struct wfs_error *error);

/** grants_passed_on() - get the table of grants that were passed on from each grant, without
 *  changes that the fold makes
 *  @ret_children: {name of a grant: {names of the grants made from it: true}}, borrowed until the
 *  fold is applied */
int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error);

/** grants_remove() - delete the cells of the grants @names, and of all grants that were passed on
 *  from these, directly or not
 *  @names: array of names of live grants; the function appends the names of those passed on
 *  @ret_count: how many grants were removed; also set on failure */
int grants_remove(struct wfs_fold *fold, json_t *names, size_t *ret_count, struct wfs_error *error);

/* --- grants-passed.c: follows what is applied --- */

/** grants_passed_done() - drop the table of grants that were passed on; grants_passed_on() then
 *  reads all grants again. */
void grants_passed_done(struct grants_passed *passed);

/** grants_passed_applying() - before a record is written at @head: drop the table of grants that
 *  were passed on if it describes another journal, or has changes of a record that was not
 *  written. */
void grants_passed_applying(struct wfs_fold *fold, const struct wfs_head *head);

/** grants_passed_changed() - update the table of grants that were passed on: the record that is
 *  being written gives the cell of the grant @name the state @state. A grant whose @state is not
 *  live leaves the table. Without memory the table is dropped. */
void grants_passed_changed(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state);

/** grants_passed_applied() - after a record was written: note that the table of grants that were
 *  passed on describes the journal that ends at @head. */
void grants_passed_applied(struct wfs_fold *fold, const struct wfs_head *head);

/* --- grants.c: actions --- */

/* The next three functions each check the form of an action of one type, as `check` in struct
 * wfs_action_type (kernel/fold/fold-domain.h). Return: 0, -EINVAL (a member is missing or not
 * valid), -ENOENT (not_found: @manifest lacks the capability of a grant), … */
int grants_check_grant(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_revoke(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_principal(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/* The next three functions each do an action of one type (grants.h). @ret_answer: set on success;
 * caller owns it */
int grants_fold_grant(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_revoke(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_principal(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/** grants_fold_charge() - charge one call to the grant @name, and to each grant in the chain that
 *  it was passed on from. Grants without a budget count nothing.
 *  Return: 0, -EDQUOT (quota_exceeded: one of the budgets is spent), -EACCES (not_authorized: a
 *  grant of the chain does not exist any more), … */
int grants_fold_charge(struct wfs_fold *fold, const char *name, struct wfs_error *error);

/* --- grants-declared.c --- */

/** grants_fold_declared() - at genesis: make the principals and grants that the fold's manifest
 *  declares. */
int grants_fold_declared(struct wfs_fold *fold, struct wfs_error *error);

/** grants_fold_manifest() - fold a change of the manifest, from fold->manifest to @to
 *  Makes the principals and grants that are new in @to, replaces grants that differ, and removes
 *  grants that @to leaves out, with each grant that was passed on from them. Principals stay.
 *  Return: 0, -EEXIST (already_exists: an action has made a grant with the name of a new one, or an
 *  artifact has the id of a new principal), -EDQUOT (quota_exceeded: too many principals or
 *  grants), -ESTALE (conflict, as grants_check_declared()), … */
int grants_fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);

/* --- pay.c --- */

/** principal_pay_begin() - before a request is folded: find the principal that pays for its
 *  records, and keep this principal in the domain's memory (struct principal_kept). Nobody pays for
 *  genesis.
 *  Return: 0, -EDQUOT (quota_exceeded: not even the request's own record fits into the quota; never
 *  for a receipt, a timer's last request (WFS_FIRED_LAST in kernel/value/fired.h), or an action
 *  whose wfs_action_type.ends is true), -EIO (a cell is damaged), -ENOMEM. */
int principal_pay_begin(struct wfs_fold *fold, struct wfs_error *error);

/** principal_pay() - after a request was folded: charge the bytes of all its records to the payer's
 *  quota `journal`, if it has one and the request gets a record
 *  The payer's cell changes as part of the request's last record. Return: 0, -EDQUOT
 *  (quota_exceeded: the records do not fit into the quota; never in the cases that
 *  principal_pay_begin() lists, unless such an action was refused), -EIO (a cell is damaged),
 *  -ENOMEM. */
int principal_pay(struct wfs_fold *fold, struct wfs_error *error);
