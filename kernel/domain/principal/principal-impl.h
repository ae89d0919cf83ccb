/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/principal/: makes and removes the cells of principals and grants while
 * record 0 of a fold is folded, and charges the principal that pays for the fold's records.
 */
#pragma once

#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/fold/fold-work.h"

/* The grants that were passed on from each grant; see grants-passed.c. */
struct grants_passed {
	json_t *children;     /* {from: {name: true}}; owned; NULL: not read yet */
	json_t *parents;      /* {name: from}; owned */
	struct wfs_hash prev; /* hash of the last line of the journal that the table describes */
	bool applying;        /* a record of the fold is being written */
};

/* What the domain keeps in a fold. */
struct principal_kept {
	struct wfs_payer payer; /* pays for the request's records */
	struct grants_passed passed;
};

static inline struct principal_kept *principal_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "principal");
}

/** grants_check_id() - check that no artifact, present or deleted, has the id of a new principal.
 *  Return: 0, -EEXIST (already_exists), … */
int grants_check_id(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_principal() - make the cell of a principal and those of its account; the caller has
 *  checked that the principal does not exist
 *  @principal: an action `principal`, or a principal of a manifest */
int grants_make_principal(struct wfs_fold *fold, const json_t *principal, struct wfs_error *error);

/* Counts in the cell of a principal. */
enum grants_count {
	GRANTS_COUNT_AGENTS,
	GRANTS_COUNT_PASSED_ON,
};

/** grants_count() - add @amount, which may be negative, to one of the counts in a principal's
 *  cell.
 *  Return: 0, -EDQUOT (quota_exceeded), … */
int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error);

/** grants_check_agent() - check that a grant to an agent of another owner names that owner in
 *  `to_artifact_of`.
 *  @grant: an action. Return: 0, -ESTALE (conflict), -EINVAL, … */
int grants_check_agent(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error);

/** grants_check_declared() - may a manifest declare a principal that an action has made?
 *  Only the owner of an agent may declare it. Otherwise an agent could get grants that a manifest
 *  means for another principal with this name. Return: 0, -ESTALE (conflict), … */
int grants_check_declared(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_grant() - make the cell of a grant, which is not live yet.
 *  @from: an action `grant`, or a grant of a manifest */
int grants_make_grant(
	struct wfs_fold *fold, const char *name, const json_t *from, struct wfs_error *error);

/**
 * grants_passed_on() - get the grants that were passed on from each grant, before the fold
 * @ret_children: {from: {name: true}}, borrowed until the fold is applied
 */
int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error);

/**
 * grants_remove() - remove grants and each grant that was passed on from them
 * @names: an array; the names of the grants that were passed on are appended
 * @ret_count: how many grants were removed
 */
int grants_remove(struct wfs_fold *fold, json_t *names, size_t *ret_count, struct wfs_error *error);

/* --- grants-passed.c: follows what is applied --- */

void grants_passed_done(struct grants_passed *passed);

/** grants_passed_applying() - a record is about to be written: drop the table if it is of another
 *  journal than @head. */
void grants_passed_applying(struct wfs_fold *fold, const struct wfs_head *head);

/** grants_passed_changed() - the record that is being written gives the cell of grant @name this
 *  state. */
void grants_passed_changed(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state);

/** grants_passed_applied() - the record was written; @head ends with it. */
void grants_passed_applied(struct wfs_fold *fold, const struct wfs_head *head);

/* --- grants.c: actions --- */

/* Each checks the form of an action of its type. Return: 0, -EINVAL, -ENOMEM. */
int grants_check_grant(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_revoke(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_principal(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/* Each folds an action of its type. @ret_answer: caller owns it */
int grants_fold_grant(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_revoke(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_principal(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/**
 * grants_fold_charge() - charge one call to grant @name and to all grants above it
 * The grants above it are those that it was passed on from. Grants without a budget count nothing.
 * Return: 0, -EDQUOT (quota_exceeded: one of the budgets is spent), -EACCES (not_authorized: the
 * grant is gone), …
 */
int grants_fold_charge(struct wfs_fold *fold, const char *name, struct wfs_error *error);

/* --- grants-declared.c --- */

/** grants_fold_declared() - make the principals and grants that the manifest declares. */
int grants_fold_declared(struct wfs_fold *fold, struct wfs_error *error);

/**
 * grants_fold_manifest() - fold the change from the fold's manifest to the manifest @to
 * Makes the principals and grants that are new in @to, replaces grants that differ, and removes
 * grants that @to leaves out, with each grant that was passed on from them. Unchanged ones stay as
 * they are.
 * Return: 0, -EEXIST (already_exists: a grant that no manifest declares has the name), …
 */
int grants_fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);

/* --- pay.c --- */

/** principal_pay_begin() - find the principal that pays for the request's records, before the
 *  request is folded.
 *  Return: 0, -EDQUOT (quota_exceeded: not even the request's own record fits), -EIO, -ENOMEM. */
int principal_pay_begin(struct wfs_fold *fold, struct wfs_error *error);

/** principal_pay() - charge the request's records, which are complete; the last record gets the
 *  change of the payer's cell.
 *  Return: 0, -EDQUOT (quota_exceeded), -EIO, -ENOMEM. */
int principal_pay(struct wfs_fold *fold, struct wfs_error *error);
