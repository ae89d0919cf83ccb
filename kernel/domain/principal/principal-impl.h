/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/principal/: cells of principals and grants, made and removed by record 0 of a
 * fold, and who pays for its records.
 */
#pragma once

#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/fold/fold-work.h"

/* The grants that were passed on from each grant; see grants-passed.c. */
struct grants_passed {
	json_t *children;     /* {from: {name: true}}; owned; NULL: not read */
	json_t *parents;      /* {name: from}; owned */
	struct wfs_hash prev; /* of the last line of the journal that the table is of */
	bool applying;        /* a record of the fold is being written */
};

/* What the domain keeps in a fold. */
struct principal_kept {
	struct wfs_payer payer; /* of the request's records */
	struct grants_passed passed;
};

static inline struct principal_kept *principal_kept(const struct wfs_fold *fold)
{
	return fold_kept(fold, "principal");
}

/** grants_check_id() - may a principal be called so, as far as artifacts and the mint go?
 *  Return: 0, -EEXIST (already_exists), … */
int grants_check_id(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_principal() - its cells, those of its account among them, which are not live yet.
 *  @principal: an action, or one of a manifest */
int grants_make_principal(struct wfs_fold *fold, const json_t *principal, struct wfs_error *error);

/* What a principal's cell counts. */
enum grants_count {
	GRANTS_COUNT_AGENTS,
	GRANTS_COUNT_PASSED_ON,
};

/** grants_count() - @amount more, or less. Return: 0, -EDQUOT (quota_exceeded), … */
int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error);

/** grants_check_agent() - one that grants to another's agent says so. @grant: an action.
 *  Return: 0, -ESTALE (conflict), -EINVAL, … */
int grants_check_agent(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error);

/** grants_check_declared() - may a manifest declare this principal, which an action made? An agent is declared only by
 *  its owner: others would give grants to it for its name. Return: 0, -ESTALE (conflict), … */
int grants_check_declared(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_grant() - the same. @from: an action, or a grant of a manifest */
int grants_make_grant(
	struct wfs_fold *fold, const char *name, const json_t *from, struct wfs_error *error);

/**
 * grants_passed_on() - what was passed on from each grant, before the fold
 * @ret_children: {from: {name: true}}, borrowed until the fold is applied
 */
int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error);

/**
 * grants_remove() - remove grants and all that was passed on from them
 * @names: an array; grows by what was passed on
 * @ret_count: how many they were
 */
int grants_remove(struct wfs_fold *fold, json_t *names, size_t *ret_count, struct wfs_error *error);

/* --- grants-passed.c: follows what is applied --- */

void grants_passed_done(struct grants_passed *passed);

/** grants_passed_applying() - a record is to be written; forgets a table of another journal than that of @head. */
void grants_passed_applying(struct wfs_fold *fold, const struct wfs_head *head);

/** grants_passed_changed() - the record gives the cell of the grant @name this state. */
void grants_passed_changed(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state);

/** grants_passed_applied() - the record was written. */
void grants_passed_applied(struct wfs_fold *fold, const struct wfs_head *head);

/* --- grants.c: actions --- */

int grants_check_grant(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_revoke(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_check_principal(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
int grants_fold_grant(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_revoke(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int grants_fold_principal(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);

/**
 * grants_fold_charge() - count one call in @name and in all grants that it was passed on from
 * Only grants that have a budget count.
 * Return: 0, -EDQUOT (quota_exceeded: one of them is spent), -EACCES (not_authorized: the grant is gone), …
 */
int grants_fold_charge(struct wfs_fold *fold, const char *name, struct wfs_error *error);

/* --- grants-declared.c --- */

/** grants_fold_declared() - cells for the principals and grants of the manifest. */
int grants_fold_declared(struct wfs_fold *fold, struct wfs_error *error);

/**
 * grants_fold_manifest() - the manifest @to takes the place of that of the fold
 * What it declares anew is granted, what it declares no more is revoked with all that was passed on
 * from it, what it declares otherwise is replaced, and what it declares as before stays as it is.
 * Return: 0, -EEXIST (already_exists: a grant of that name, which no manifest declares), …
 */
int grants_fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);

/* --- pay.c --- */

/** principal_pay_begin() - find the principal that pays for the request's records, before it is folded.
 *  Return: 0, -EDQUOT (quota_exceeded: not even its own record fits), -EIO, -ENOMEM. */
int principal_pay_begin(struct wfs_fold *fold, struct wfs_error *error);

/** principal_pay() - count the request's records, which are complete; the last one changes the payer's cell.
 *  Return: 0, -EDQUOT (quota_exceeded), -EIO, -ENOMEM. */
int principal_pay(struct wfs_fold *fold, struct wfs_error *error);
